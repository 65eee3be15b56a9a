"""Logistic regression: maximum likelihood, a proof of it, and decisions by cost."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning

from adaline import decisions
from adaline.errors import RankDeficientWarning
from adaline.estimators._base import check_finite
from adaline.estimators._labels import encode, labels_of_rows
from adaline.estimators._progress import FRAMES, Heard, passes, watching, with_callbacks
from adaline.estimators.declarations import SEEN
from adaline.estimators.newton._separable import refusal, verdict
from adaline.estimators.newton._summary import SummarisedLogistic
from adaline.objective import MANY
from adaline.parameters import COUNT, FLAG, NOT_NEGATIVE, POSITIVE, words
from adaline.procedures.firth.firth import firth
from adaline.procedures.inference.wald import affordable, information
from adaline.procedures.newton.newton import newton, newton_auto
from adaline.procedures.newton.newton_fit import NewtonFit
from adaline.procedures.sparse_logistic.dual import dual_logistic
from adaline.results import Array, Fit
from adaline.tiles import as_rows, is_sparse


class LogisticRegression(SummarisedLogistic):
    """Logistic loss × Newton × logistic output: p(classes_[1] | x) = 1 / (1 + exp(-w'x - b)).

    Minimises sum_i loss_i + alpha/2 |w|^2; alpha is scikit-learn's 1/C, and the intercept is not
    penalised. K classes have one w and b each, and softmax. **The lecture's class 1 is
    `classes_[1]`**: beta is `coef_`, gamma is `intercept_`.

    Lecture: 5.9, the logistic regression. `partial_fit` and `learn_one` learn on-line, a sample at
    a time, without the penalty.

    Parameters
    ----------
    alpha : float >= 0, "auto" or "firth", default=1.0
        The penalty. 0 is maximum likelihood, which does not exist where a hyperplane separates the
        classes: then `fit` raises SeparableError. "auto" has the least approximate leave-one-out
        loss. "firth" is Firth's penalised likelihood, finite on any data (two classes, or more
        and at most 100 parameters).
    fit_intercept : bool, default=True
    max_iter : int, default=100
        Steps, at most.
    tol : float, default=1e-8
        Stop when weights are off by no more standard errors (root of mean square) than this times
        the root of the number of samples, the next step would change none by more than this part
        (up to 100 times as much where rows are many), and the minimum is proven to be near. For
        sparse rows of more than 2000 features, two classes: when the duality gap, roundings
        included, is below this part of the loss.
    costs : array of shape (K, K), optional
        **costs[i, j] is the cost of deciding class i when class j is true.** Default: 1 - I.
    reject_cost : float, optional
        Where every decision is expected to cost more than this, `predict` answers "reject".

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    coef_, intercept_ : ndarray of shape (1, p) and (1,), or (K, p) and (K,)
    n_iter_ : ndarray of shape (1,)
    alpha_ : float
        The penalty that was used; 0 with "firth".
    certificate_ : Certificate
        "optimal" with a proven bound on the distance to the minimum, else "unproven": so after
        "firth", whose criterion need not be convex. "undecided" after `partial_fit`.
    fit_ : Fit
        The same in the lectures' shapes, and why the procedure stopped.

    Notes
    -----
    A row of weight 2 counts as two rows, with "auto" too, each left out alone. A row of weight
    below 1 is one row of less trust: it is left out whole.

    Examples
    --------
    >>> from adaline import LogisticRegression
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> model = LogisticRegression(alpha=0).fit(X, [0, 0, 1, 0, 1, 1])
    >>> model.coef_.round(4), model.intercept_.round(4)
    (array([[1.214]]), array([-3.0351]))
    >>> model.certificate_.kind
    'optimal'
    >>> model.predict_proba([[2.5]]).round(6)
    array([[0.5, 0.5]])
    """

    _command = "logistic"
    _streams = "newton"
    _exports = "posterior"
    _traces = "steps"
    _error = "mean logistic loss"
    _stored = SEEN | {
        "classes_": "labels",
        "alpha_": "number",
        "_information": "Information | None",
        "n_iter_": "int32 1",
        "_dtype": "dtype",
        "_state?": "State | None",
        "_known": "Fit | NewtonFit | DualFit | None",
    }
    _parameters = {
        "alpha": NOT_NEGATIVE | words("auto", "firth"),
        "fit_intercept": FLAG,
        "max_iter": COUNT,
        "tol": POSITIVE,
        "reject_cost": decisions.REJECT_COST,
    }
    _watch: Any = None  # set by `trace`, which looks on while fit learns

    def __init__(
        self,
        alpha: float | str = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 100,
        tol: float = 1e-8,
        costs: ArrayLike | None = None,
        reject_cost: float | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.costs = costs
        self.reject_cost = reject_cost

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from all rows: X (n, p) dense or CSR, labels y (n,).

        scikit-learn's callbacks hear of every step, and may ask to stop. Interrupted (Ctrl-C), the
        weights are those after the last complete step.
        """
        self._check_parameters()
        self._state = self._known = self._shown = None  # of an earlier stream or fit
        X = self._rows(X, reset=True, finite=False)
        classes, codes = encode(labels_of_rows(y, X), None)
        X, _, omega = as_rows(X, None, self._weights(sample_weight, X))
        _check_weights(classes, codes, omega)
        decisions.checked_costs(self.costs, len(classes))
        self._know(classes)
        with passes(self, self.max_iter * (10 if self._is_wide(X) else 1), "step") as after:
            fit = self._learned(X, codes, omega, after)
            if after.asked:
                fit = replace(fit, stopped=f"a callback asked to stop after step {after.passes}.")
            self._accept(fit, X.dtype)
            if fit.stopped.startswith("interrupted"):
                raise KeyboardInterrupt
        if not after.asked:
            self._speak_up()
        return self

    def decision_function(self, X: Any) -> Array:
        """w'x + b: positive for `classes_[1]`; one column a class when there are more than two.

        With costs it is moved so that it is still positive, or largest, where `predict` says so.
        """
        V = self._values(X)
        V = V[:, 0] if len(self.classes_) == 2 else V
        if self.costs is None:
            return V
        c = decisions.checked_costs(self.costs, len(self.classes_))
        if len(c) == 2 and c[0, 1] > c[1, 1] and c[1, 0] > c[0, 0]:
            return np.asarray(V + V.dtype.type(np.log(decisions.threshold([0.5, 0.5], c))))
        R = decisions.expected_costs(_posterior(V), c)
        return np.asarray(R[:, 0] - R[:, 1] if len(c) == 2 else -R, dtype=V.dtype)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of least expected cost, or "reject"; the first of tied classes."""
        V = self._values(X)
        V = V[:, 0] if len(self.classes_) == 2 else V
        if self.costs is None and self.reject_cost is None:
            chosen: Any = (V > 0).astype(int) if V.ndim == 1 else V.argmax(axis=1)
            return np.asarray(self.classes_[chosen])
        c = decisions.checked_costs(self.costs, len(self.classes_))
        reject = decisions.checked_reject_cost(self.reject_cost)
        label = None if reject is None else decisions.REJECT_LABEL
        return decisions.labels_of(decisions.decide(_posterior(V), c, reject), self.classes_, label)

    def predict_proba(self, X: Any) -> Array:
        """p(k | x), columns in the order of classes_."""
        V = self._values(X)
        return _posterior(V[:, 0] if len(self.classes_) == 2 else V).astype(V.dtype, copy=False)

    def predict_log_proba(self, X: Any) -> Array:
        """ln p(k | x), accurate where p(k | x) is too small for a float."""
        V = self._values(X)
        if len(self.classes_) == 2:
            return np.asarray(log_expit(np.column_stack([-V[:, 0], V[:, 0]])))
        return np.asarray(log_softmax(V, axis=1))

    def _row_errors(self, t: Any, V: Any) -> Any:
        return np.asarray(np.logaddexp(0.0, (1.0 - 2.0 * t) * V))

    def _is_wide(self, X: Any) -> bool:
        """Whether the dual procedure, for wide sparse rows, is to learn."""
        sparse = is_sparse(X) and X.shape[1] > MANY and len(self.classes_) == 2
        return sparse and not isinstance(self.alpha, str) and self.alpha > 0

    def _learned(self, X: Any, codes: Any, omega: Array, after: Heard) -> Fit:
        """The weights, by the procedure that suits alpha and the rows."""
        alpha = 0.0 if isinstance(self.alpha, str) else self.alpha
        self.alpha_, self._information = float(alpha), None
        if is_sparse(X):
            check_finite(X, self._names)
        if self._is_wide(X) and self._watch is None:
            t = np.where(codes == 1, 1.0, -1.0)
            # A pass of the dual is much cheaper than a step of Newton's.
            most = 10 * self.max_iter
            rest = omega, self.alpha_, self.fit_intercept, self.tol, most, after
            sparse = dual_logistic(X, t, *rest)
            self.n_iter_ = np.array([max(sparse.passes, 1)], dtype=np.int32)
            return sparse
        loss = self._loss(X, codes, omega, self.alpha_)
        if not np.isfinite(loss.length).all():  # its sums tell, which saves a pass
            check_finite(X, self._names)
            raise ValueError("sums over X leave the range of float64; rescale the columns.")
        watch = watching(self._watch, after)
        if self.alpha == "auto":
            fit, self.alpha_ = newton_auto(loss, self.max_iter, self.tol, watch)
            loss = loss.with_penalty(self.alpha_)
        elif self.alpha == "firth":
            fit = firth(loss, self.max_iter, self.tol, after)
        else:
            fit = newton(loss, self.max_iter, self.tol, watch=watch)
        if self.alpha_ == 0 and self.alpha != "firth" and not after.asked:
            fit = self._existing(fit, X, codes, omega)
        self.n_iter_ = np.array([max(fit.steps, 1)], dtype=np.int32)
        if affordable(loss) and fit.rank == fit.theta.size:
            self._information = information(loss, fit.theta)
        return fit

    def _existing(self, fit: NewtonFit, X: Any, codes: Any, omega: Array) -> NewtonFit:
        """The fit, if there is a maximum of the likelihood at all; SeparableError where not."""
        if fit.certificate.kind == "optimal" or fit.outcome == "interrupted":
            return fit
        found = verdict(X, codes, self.classes_, omega, self.fit_intercept)
        if error := refusal(found, fit, self._names()):
            raise error
        if fit.outcome in ("separated", "quasi"):
            said = "the classes overlap, so a maximum exists, but so far out that rounding hides it"
            return replace(fit, stopped=f"{said} ({fit.steps} steps).")
        return fit

    def _take_newton(self, fit: NewtonFit, p: int, classes: NDArray[Any]) -> None:
        """Accept weights that `data.fit` found in passes over a source of p columns."""
        self._begin_stream()
        self.n_features_in_, self.alpha_, self._information = p, float(self.alpha), None
        self._know(classes)
        self.n_iter_ = np.array([max(fit.steps, 1)], dtype=np.int32)
        self._accept(fit, np.dtype(np.float64))
        self._speak_up()

    def _speak_up(self) -> None:
        """Warn of weights that are not proven, and of columns that depend on others."""
        fit = self.fit_
        if isinstance(fit, NewtonFit):
            if fit.rank < fit.theta.size:
                warnings.warn(
                    f"columns depend on others (rank {fit.rank} of {fit.theta.size}, the intercept "
                    "included) and there is no penalty: many weights have the same likelihood, and "
                    "these are one choice. Drop columns, or give alpha > 0.",
                    RankDeficientWarning,
                    stacklevel=3 + FRAMES,
                )
                return
            if fit.outcome == "converged":
                return
        if fit.certificate.kind != "optimal":
            warnings.warn(
                f"{fit.stopped} {fit.certificate.statement} Give more steps (max_iter is "
                f"{self.max_iter}), or a larger alpha.",
                ConvergenceWarning,
                stacklevel=3 + FRAMES,
            )


def _check_weights(classes: NDArray[Any], codes: NDArray[np.int64], omega: Array) -> None:
    """Every class needs a row that counts."""
    if not len(omega):
        return
    weight = np.bincount(codes, omega, minlength=len(classes))
    if np.any(weight == 0):
        raise ValueError(
            f"only zero sample_weight for the class {classes[weight == 0].tolist()[0]!r}: its "
            "intercept would be minus infinity. Every class needs a row of positive weight, and "
            "telling classes apart needs at least two classes; drop those rows."
        )


def _posterior(V: Array) -> Array:
    """p(k | x) from values (n,) of two classes or (n, K) of more."""
    if V.ndim == 1:
        return np.asarray(expit(np.column_stack([-V, V])))
    return np.asarray(softmax(V, axis=1))
