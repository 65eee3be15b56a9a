"""Logistic regression: maximum likelihood, a proof of it, and decisions by cost.

Newton's procedure is the rule. Firth's penalty, the search for a penalty and the question whether a
maximum of the likelihood exists load where they are needed; `stream` learns on-line.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_expit, log_softmax, ndtri
from sklearn.utils.validation import check_is_fitted

from adaline.estimators._labels import CLASS_WEIGHT, encode, labels_of_rows, weights_by_class
from adaline.estimators._progress import (
    FRAMES,
    Audience,
    CallbackSupportMixin,
    passes,
    with_callbacks,
)
from adaline.estimators.costs import decide_by_costs, move_by_costs
from adaline.estimators.declarations import SEEN
from adaline.estimators.newton.newton import NewtonLearner
from adaline.estimators.newton.stream import LogisticStream
from adaline.parameters import LEVEL, NONE, NOT_NEGATIVE, NUMBER, words
from adaline.procedures.newton import newton
from adaline.procedures.steps import finished
from adaline.results import Array, NewtonFit
from adaline.sums.objective import Objective, logistic_objective
from adaline.sums.rows import as_rows
from adaline.sums.scaled_rows import MANY
from adaline.sums.threads import one_blas_thread

if TYPE_CHECKING:
    from adaline.summaries import Summary

SMALL = 2**16  # numbers in X, too few for threads


class LogisticRegression(CallbackSupportMixin, NewtonLearner, LogisticStream):
    """Logistic regression by Newton's procedure: p(classes_[1] | x) = 1 / (1 + exp(-w'x - b)).

    Minimises sum_i loss_i + alpha/2 |w|^2; alpha is scikit-learn's 1/C, and the intercept is not
    penalised. K classes have one w and b each, and softmax. The lecture's class 1 is
    `classes_[1]`: beta is `coef_`, gamma is `intercept_`.

    Lecture: 5.9, the logistic regression. `partial_fit` and `learn_one` learn on-line, a sample at
    a time, without the penalty.

    Parameters
    ----------
    alpha : float >= 0, "auto" or "firth", default=1.0
        The penalty. 0 is maximum likelihood, which does not exist where a hyperplane separates the
        classes: then `fit` raises SeparableError. "auto" has the least approximate leave-one-out
        loss, of columns as they are or in units of their standard deviations, whichever is less;
        see Notes. "firth" is Firth's penalised likelihood, finite on any data (two classes, or more
        and at most 100 parameters).
    fit_intercept : bool, default=True
    max_iter : int, default=100
        Steps, at most.
    tol : float, default=1e-8
        Stop when three things hold: the remaining error of the weights, in standard errors (root
        mean square), is below tol √n; the next step would change no weight by a relative amount
        above tol (100 tol where rows are many); and the distance to the minimum is proven.
    costs : array of shape (K, K), optional
        **costs[i, j] is the cost of deciding class i when class j is true.** Default: 1 - I.
    reject_cost : float, optional
        Where every decision is expected to cost more than this, `predict` answers "reject".
    class_weight : dict or "balanced", optional
        What rows of each class weigh, by label, times `sample_weight`; 1 for those left out.
        "balanced": every class the same, n / (K n_k). Probabilities are those of classes that are
        as common as they then weigh. `costs` keeps probabilities, and moves decisions instead.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    coef_, intercept_ : ndarray of shape (1, p) and (1,), or (K, p) and (K,)
    n_iter_ : ndarray of shape (1,)
    alpha_ : float
        The penalty that was used; 0 with "firth".
    column_scale_ : ndarray of shape (p,) or None
        Where "auto" measures columns in units of their standard deviations: these, and 1 for
        constant columns. The penalty is then sum penalty_j w_j^2 / 2 with
        penalty = alpha_ * column_scale_**2. None where it is alpha_/2 |w|^2. `coef_` is of the
        columns as they are, always.
    certificate_ : Certificate
        "optimal" with a proven bound on the distance to the minimum, else "unproven": so after
        "firth", whose criterion need not be convex. "undecided" after `partial_fit`.
    fit_ : Fit
        The same in the lectures' shapes, and why the procedure stopped.

    Notes
    -----
    A row of weight 2 counts as two rows, with "auto" too, each left out alone. A row of weight
    below 1 is one row of less trust: it is left out whole.

    "auto" searches penalties a decade apart and then between them, down to 1e-4 for columns of
    deviation 1, so that classes which a hyperplane separates have finite weights too. Of penalties
    that are equally good the largest is taken; where rounding hides the minimum, a larger one.
    Where standard deviations differ by less than a factor of 2, columns stay as they are. The
    leave-one-out loss takes one Newton step for each row. Where K classes times (features + 1) are
    more than 320, it takes the classes one by one; where columns are more than 2000, or rows very
    many, it is that of a spread sample of rows. From 256 columns on, 1024 rows at most are left
    out.

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
    _exports = "posterior"
    _effect = "odds"
    _intervals = "probabilities"
    _traces = "steps"
    _error = "mean logistic loss"
    _stored = SEEN | {
        "classes_": "labels",
        "alpha_": "number",
        "column_scale_?": "float+ p | None",
        "_information": "Information | None",
        "n_iter_": "int32 1",
        "_dtype": "dtype",
        "_state?": "State | None",
        "_known": "Fit | NewtonFit | None",
    }
    _title, _share = "Logistic regression", "McFadden R²"
    _parameters = NewtonLearner._parameters | {
        "alpha": NOT_NEGATIVE | words("auto", "firth"),
        "reject_cost": NONE | NUMBER,
        "class_weight": CLASS_WEIGHT,
    }
    _derived = ("_codes", "_labels", "_shape", "_shown")
    column_scale_: Array | None = None

    def __init__(
        self,
        alpha: float | str = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 100,
        tol: float = 1e-8,
        costs: ArrayLike | None = None,
        reject_cost: float | None = None,
        class_weight: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.costs = costs
        self.reject_cost = reject_cost
        self.class_weight = class_weight

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
        weights = self._weights(sample_weight, X)
        weights = weights_by_class(self.class_weight, classes, codes, weights)
        X, _, omega = as_rows(X, None, weights, checked=True)
        require_weight(classes, codes, omega)
        self._check_costs(len(classes))
        self._know(classes)
        with passes(self, self.max_iter, "step") as hear:
            # To limit BLAS for each small matrix would take as long as its factor.
            with one_blas_thread(1) if X.shape[0] * X.shape[1] <= SMALL else nullcontext():
                fit = self._minimise(X, codes, omega, hear)
            if hear.asked:
                fit = replace(fit, stopped=f"a callback asked to stop after step {hear.told}.")
            self._accept(fit, X.dtype)
            if fit.stopped.startswith("interrupted"):
                raise KeyboardInterrupt
        if not hear.asked:
            self._speak_up()
        return self

    def _minimise(self, X: Any, codes: Any, omega: Array, hear: Audience) -> NewtonFit:
        """The weights; sets alpha_, column_scale_, n_iter_ and what `summary` needs."""
        self.alpha_ = 0.0 if isinstance(self.alpha, str) else float(self.alpha)
        self.column_scale_ = None
        loss = self._objective(X, codes, omega)
        self._require_finite(loss)
        if self.alpha == "auto":
            from adaline.procedures.penalty_search import newton_auto

            search = newton_auto.steps(loss, self.max_iter, self.tol)
            fit, (self.alpha_, self.column_scale_) = finished(search, hear)
            loss = loss.with_penalty(self.alpha_, self.column_scale_)
        elif self.alpha == "firth":
            from adaline.procedures.firth import firth

            fit = finished(firth.steps(loss, self.max_iter, self.tol), hear)
        else:
            fit = finished(newton.steps(loss, self.max_iter, self.tol), hear)
        if self.alpha_ == 0 and self.alpha != "firth" and not hear.asked:
            from adaline.estimators.newton.separable import refuse_separable

            rest = fit, bool(self.fit_intercept), self._names()
            fit = refuse_separable(X, codes, self.classes_, omega, *rest)
        self.n_iter_ = np.array([max(fit.steps, 1)], dtype=np.int32)
        self._remember_information(loss, fit)
        return fit

    def _objective(self, X: Any, codes: Any, omega: Array) -> Objective:
        """The logistic loss of these rows, with the penalty that the model has used."""
        K, alpha, units = len(self.classes_), self.alpha_, self.column_scale_
        loss = logistic_objective(X, codes, K, omega, alpha, bool(self.fit_intercept))
        return loss if units is None else loss.with_penalty(alpha, units)

    def decision_function(self, X: Any) -> Array:
        """w'x + b: positive for `classes_[1]`; one column a class when there are more than two.

        With costs it is moved so that it is still positive, or largest, where `predict` says so.
        """
        V = self._class_values(X)
        if self.costs is None:
            return V
        return move_by_costs(V, lambda: _posterior(V), self.costs, len(self.classes_))

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of least expected cost, or "reject"; the first of tied classes."""
        V = self._class_values(X)
        if self.costs is None and self.reject_cost is None:
            chosen: Any = (V > 0).astype(int) if V.ndim == 1 else V.argmax(axis=1)
            return np.asarray(self.classes_[chosen])
        return decide_by_costs(_posterior(V), self.classes_, self.costs, self.reject_cost)

    def predict_proba(self, X: Any) -> Array:
        """p(k | x), columns in the order of classes_."""
        V = self._class_values(X)
        return _posterior(V).astype(V.dtype, copy=False)

    def predict_log_proba(self, X: Any) -> Array:
        """ln p(k | x), accurate where p(k | x) is too small for a float."""
        V = self._values(X)
        if len(self.classes_) == 2:
            return np.asarray(log_expit(np.column_stack([-V[:, 0], V[:, 0]])))
        with np.errstate(over="ignore"):
            return np.asarray(log_softmax(V, axis=1))

    def _row_errors(self, t: Any, V: Any) -> Any:
        return np.asarray(np.logaddexp(0.0, (1.0 - 2.0 * t) * V))

    def summary(
        self,
        level: float = 0.95,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        intervals: str = "wald",
    ) -> Summary:
        """Standard errors, z, p, intervals, deviance, AIC and BIC.

        Standard errors come from the inverse curvature of the penalised loss: with alpha = 0 they
        are the usual ones; with alpha > 0 those of the posterior under a Gaussian prior of
        variance 1/alpha. They are found when they are first asked for, of a copy of the rows that a
        fit of up to 4 MB keeps until then; pickles and model files hold the errors, not the rows. A
        fit of many rows times features squared (n p^2 > 10^8) keeps neither: give `summary` the
        training rows again.

        Parameters
        ----------
        level : float, default=0.95
        X, y, sample_weight : optional
            The training rows.
        intervals : {"wald", "profile"}, default="wald"
            Wald's w +- z error, or all values that the (penalised) likelihood ratio test does not
            reject: better where samples are few or events rare, need not be symmetric, and may be
            infinite. They need the training rows, and two classes. With alpha="firth" the criterion
            need not be convex: then the bounds are the farthest such values that a search found.
        """
        check_is_fitted(self)
        self._refuse_written("standard errors are those of the likeliest weights")
        words("wald", "profile")("intervals", intervals)
        loss = bounds = None
        if X is not None:
            X = self._rows(X, reset=False)
            _, codes = encode(labels_of_rows(y, X), self.classes_)
            weights = self._weights(sample_weight, X)
            weights = weights_by_class(self.class_weight, self.classes_, codes, weights)
            X, _, omega = as_rows(X, None, weights)
            loss = self._objective(X, codes, omega)
        if intervals == "profile":
            bounds = self._profile(loss, float(LEVEL("level", level)))
        outputs = [str(label) for label in self.classes_.tolist()]
        return self._tabulate(level, loss, outputs, self._notes(bounds is not None), bounds)

    def _notes(self, profile: bool) -> list[str]:
        """What a reader of the table must know."""
        notes = []
        if len(self.classes_) > 2:
            notes.append(
                "Each class is held against the mean of all classes; the difference of two "
                "coefficients is the log-odds of one class against the other."
            )
        if self.alpha_ > 0:
            notes.append(
                f"Standard errors include the penalty (alpha = {self.alpha_:.6g}): it pulls "
                "coefficients towards zero, so that p-values are approximate."
            )
        if profile:
            penalised = self.alpha_ > 0 or self.alpha == "firth"
            kind = "penalised likelihood" if penalised else "likelihood"
            notes.append(f"Intervals are those of the profile {kind}; z and p are Wald's.")
            if self.alpha == "firth":
                notes.append(
                    "Firth's criterion need not be convex: the bounds are the farthest values "
                    "found that the test does not reject; it may reject some between them, and "
                    "there may be farther ones."
                )
        return notes

    def _profile(self, loss: Objective | None, level: float) -> tuple[Array, Array]:
        from adaline.procedures.profile import profile_intervals

        fit = self.fit_
        if loss is None:
            raise ValueError(
                "profile intervals are found by fitting the training rows again; give them: "
                "summary(intervals='profile', X=X, y=y)."
            )
        if not isinstance(fit, NewtonFit):
            raise ValueError(
                f"these weights were not found as a maximum of the likelihood by Newton's steps "
                f"({fit.stopped}), so they have no profile intervals; use fit, on dense rows or at "
                f"most {MANY} features."
            )
        return profile_intervals(
            loss, loss.rows.theta(fit.W, fit.b)[0], level, firth=self.alpha == "firth"
        )

    def _interval(self, X: Any, level: float) -> tuple[Any, Any]:
        """Bounds such that low of a class and high of another add up to 1 at most."""
        from adaline.procedures.inference import bounds_of_logits, errors_of_values

        C, centre = self._covariance()
        X = self._rows(X, reset=False)
        z = float(ndtri((1 + level) / 2))
        if len(self.classes_) == 2:
            v = self._values(X)[:, 0]
            wide = z * errors_of_values(X, C[0, :, 0], centre)
            low, high = expit(v - wide), expit(v + wide)
            other_low, other_high = expit(-v - wide), expit(wide - v)
            return np.column_stack([other_low, low]), np.column_stack([other_high, high])
        V = np.asarray(self._values(X), dtype=np.float64)
        low, high = bounds_of_logits(X, V, C, centre, z)
        return expit(low), expit(high)

    def _speak_up(self, frames: int = FRAMES) -> None:
        # fit_ would compare the weights with coef_, which nobody can have written yet.
        self._warn_unless_proven(self._known, 1 + frames)

    def _take_newton(self, fit: NewtonFit, p: int, classes: NDArray[Any]) -> None:
        """Accept weights that `data.fit` found in passes over a source of p columns."""
        self._begin_stream()
        self.n_features_in_, self.alpha_, self._information = p, float(self.alpha), None
        self.column_scale_ = None
        self._know(classes)
        self.n_iter_ = np.array([max(fit.steps, 1)], dtype=np.int32)
        self._accept(fit, np.dtype(np.float64))
        self._speak_up()

    def _take_dtype(self, dtype: Any, column: bool) -> None:
        """Deliver what was learned from sums as rows of this dtype would."""
        self._accept(self.fit_, dtype)

    def _class_values(self, X: Any) -> Array:
        """w'x + b (n,) of two classes, or (n, K) of more."""
        V = self._values(X)
        return V[:, 0] if len(self.classes_) == 2 else V


def require_weight(classes: NDArray[Any], codes: NDArray[np.int64], omega: Array) -> None:
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
    from adaline.estimators._posteriors import softmax  # only several classes need it

    return softmax(V)
