"""Logistic regression: maximum likelihood with a proof, decisions by cost, and on-line learning.

What few fits need, such as Firth's penalty, is imported where it is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, ndtri
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils.validation import check_is_fitted

from adaline import decisions
from adaline.certificates.statements import delivered
from adaline.estimators.base import Audience, callbacks, unchanged_on_error
from adaline.estimators.costs import PosteriorClassifier
from adaline.estimators.labels import (
    CLASS_WEIGHT,
    check_labels,
    check_stream_classes,
    encode,
    weights_by_class,
)
from adaline.estimators.newton import NewtonLearner
from adaline.estimators.registry import SEEN
from adaline.estimators.streams import StreamClassifier
from adaline.parameters import LEVEL, NONE, NOT_NEGATIVE, NUMBER, one_row, words
from adaline.procedures.newton import newton
from adaline.procedures.steps import finished
from adaline.results import Array, Fit, NewtonFit
from adaline.sums.objective import Objective, logistic_objective
from adaline.sums.rows import as_rows
from adaline.sums.scaled_rows import MANY
from adaline.sums.threads import one_blas_thread

if TYPE_CHECKING:
    from adaline.summaries import Summary

SMALL_TABLE = 2**16  # numbers in X; to limit BLAS for each small matrix takes as long as its factor


class LogisticRegression(
    CallbackSupportMixin, NewtonLearner, PosteriorClassifier, StreamClassifier
):
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
        loss, of columns as they are or in units of their standard deviations; see Notes. "firth" is
        Firth's penalised likelihood, finite on any data (two classes, or at most 100 parameters).
    fit_intercept : bool, default=True
    max_iter : int, default=100
        Maximum number of steps.
    tol : float, default=1e-8
        Stop when the remaining error of the weights, in standard errors (root mean square), is
        below tol √n, and the distance to the minimum is proven.
    costs : array of shape (K, K), optional
        **costs[i, j] is the cost of deciding class i when class j is true.** Default: 1 - I.
    reject_cost : float, optional
        Where every decision is expected to cost more than this, `predict` answers "reject".
    class_weight : dict or "balanced", optional
        Weights of classes, by label, times `sample_weight`; 1 for those left out. "balanced":
        n / (K n_k). Probabilities follow these weights; `costs` moves decisions only.

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
        penalty = alpha_ * column_scale_**2.
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
    deviation 1, so that classes which a hyperplane separates have finite weights too. The
    leave-one-out loss takes one Newton step for each row; from 256 columns on, for 1024 rows.

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
    @unchanged_on_error
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from all rows: X (n, p) dense or CSR, labels y (n,).

        Interrupted (Ctrl-C), the weights are those after the last complete step.
        """
        self._check_parameters()
        self._begin_stream()
        X = self._rows(X, reset=True, finite=False)
        classes, codes = encode(check_labels(y, X.shape[0]), None)
        weights = self._weights(sample_weight, X)
        weights = weights_by_class(self.class_weight, classes, codes, weights)
        X, _, omega = as_rows(X, None, weights, checked=True)
        require_weight(classes, codes, omega)
        if self.costs is not None:
            decisions.checked_costs(self.costs, len(classes))
        self._set_classes(classes)
        small = X.shape[0] * X.shape[1] <= SMALL_TABLE
        with callbacks(self, self.max_iter, "step") as hear:
            with one_blas_thread(1) if small else nullcontext():
                fit = self._minimise(X, codes, omega, hear)
            if hear.asked:
                fit = replace(fit, stopped=f"a callback asked to stop after step {hear.heard}.")
            self._accept(fit, X.dtype)
            if fit.outcome == "interrupted" and not hear.asked:
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
            from adaline.estimators.separation import refuse_separable

            kept = np.flatnonzero(omega) if len(omega) else np.arange(len(codes))
            rows = X[kept], codes[kept], tuple(self.classes_.tolist()), kept
            fit = refuse_separable(rows, fit, bool(self.fit_intercept), self._names())
        self.n_iter_ = np.array([max(fit.steps, 1)], dtype=np.int32)
        self._set_information(loss, fit)
        return fit

    def _objective(self, X: Any, codes: Any, omega: Array) -> Objective:
        """The logistic loss of these rows, with the penalty that the model has used."""
        K, alpha, units = len(self.classes_), self.alpha_, self.column_scale_
        loss = logistic_objective(X, codes, K, omega, alpha, bool(self.fit_intercept))
        return loss if units is None else loss.with_penalty(alpha, units)

    @unchanged_on_error
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn these rows too, each once, by the gradient of its own loss (on-line learning).

        The first call names all `classes`. Any cutting of the rows into calls gives the same
        weights, bit for bit. After `fit`, learning goes on from the fitted weights. The rates are
        those of `Auto`, and there is no penalty: its share of the loss vanishes as a stream grows.
        """
        self._check_parameters()
        first = not self.__sklearn_is_fitted__()
        X = self._rows(X, reset=first)
        stream = check_stream_classes(classes, None if first else self.classes_)
        weights = self._weights(sample_weight, X)
        labels, codes = encode(check_labels(y, X.shape[0]), stream, weights)
        if self.costs is not None:
            decisions.checked_costs(self.costs, len(labels))
        if isinstance(self.class_weight, str):
            raise ValueError("class_weight='balanced' needs all rows at once; give a dict.")
        weights = weights_by_class(self.class_weight, labels, codes, weights)
        state = self._state
        if state is None:
            state = self._new_state(len(labels), X.shape[1])
            self._set_classes(labels)
            self._shape, self.alpha_, self._information = (X.shape[1],), 0.0, None
            self.n_iter_ = np.array([1], dtype=np.int32)
        X, Y, omega = as_rows(X, codes, weights, checked=True)
        saved = state.copy()
        self._learn_block(state, X, Y, omega)
        if not np.isfinite(state.counters.inputs):
            state.restore(saved)
            raise ValueError(
                "X has values beyond 1e154, whose squares overflow; measure them in larger units."
            )
        self._state, self._dtype, self._known = state, X.dtype, None
        return self

    def _new_state(self, K: int, p: int) -> Any:
        """A new stream, from the weights of the last fit where there is one."""
        from adaline.kernels.codes import BITS, CROSS_ENTROPY, LATE_AVERAGE, SOFTMAX
        from adaline.procedures.sequential import Recipe, State
        from adaline.schedules import Auto

        K = 1 if K == 2 else K
        criterion = CROSS_ENTROPY if K == 1 else SOFTMAX
        state = State(Recipe(criterion, BITS, Auto(), LATE_AVERAGE, bool(self.fit_intercept), K, p))
        if self._known is not None:
            state.go_on_from(self._known.W, self._known.b)
        return state

    def _takes_single_samples(self) -> bool:
        return self.class_weight is None

    def predict_one(self, x: Any) -> Any:
        """The label of one sample x (p,), as `predict` would give it: a thin call."""
        if self._state is None or self.costs is not None or self.reject_cost is not None:
            check_is_fitted(self)
            return self.predict(one_row(x))[0]
        return super().predict_one(x)

    def _from_scores(self, X: Any, function: Callable[[Array], Any]) -> tuple[Any, Any]:
        V = self._values(X)
        return function(V[:, 0] if V.shape[1] == 1 else V), V.dtype

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

        Standard errors come from the inverse curvature of the penalised loss: with alpha > 0 those
        of the posterior under a Gaussian prior of variance 1/alpha.

        Parameters
        ----------
        level : float, default=0.95
        X, y, sample_weight : optional
            The training rows, after a fit that did not compute the errors (n p^2 > 10^8).
        intervals : {"wald", "profile"}, default="wald"
            Wald's w +- z error, or all values that the (penalised) likelihood ratio test does not
            reject: better where samples are few or events rare, need not be symmetric, and may be
            infinite. They need the training rows, and two classes.
        """
        check_is_fitted(self)
        self._refuse_written("standard errors are those of the likeliest weights")
        words("wald", "profile")("intervals", intervals)
        loss = bounds = None
        if X is not None:
            X = self._rows(X, reset=False)
            _, codes = encode(check_labels(y, X.shape[0]), self.classes_)
            weights = self._weights(sample_weight, X)
            weights = weights_by_class(self.class_weight, self.classes_, codes, weights)
            X, _, omega = as_rows(X, None, weights)
            loss = self._objective(X, codes, omega)
        if intervals == "profile":
            bounds = self._profile(loss, float(LEVEL("level", level)))
        outputs = [str(label) for label in self.classes_.tolist()]
        return self._tabulate(level, loss, outputs, self._notes(bounds is not None), bounds)

    def _notes(self, profile: bool) -> list[str]:
        penalised = self.alpha_ > 0 or self.alpha == "firth"
        kind = "penalised likelihood" if penalised else "likelihood"
        notes = {
            "Each class is held against the mean of all classes; the difference of two "
            "coefficients is the log-odds of one class against the other.": len(self.classes_) > 2,
            f"Standard errors include the penalty (alpha = {self.alpha_:.6g}): it pulls "
            "coefficients towards zero, so that p-values are approximate.": self.alpha_ > 0,
            f"Intervals are those of the profile {kind}; z and p are Wald's.": profile,
            "Firth's criterion need not be convex: the bounds are the farthest values found that "
            "the test does not reject; it may reject some between them, and there may be farther "
            "ones.": profile and self.alpha == "firth",
        }
        return [note for note, holds in notes.items() if holds]

    def _profile(self, loss: Objective | None, level: float) -> tuple[Array, Array]:
        from adaline.procedures.profile import profile_intervals

        fit = self.fit_
        if loss is None:
            raise ValueError("profile intervals need the training rows; give them as X and y.")
        if not isinstance(fit, NewtonFit):
            raise ValueError(
                f"these weights are no maximum of the likelihood by Newton's steps ({fit.stopped}),"
                f" so they have no profile intervals; use fit, on dense rows or {MANY} features."
            )
        theta = loss.rows.theta(fit.W, fit.b)[0]
        return profile_intervals(loss, theta, level, firth=self.alpha == "firth")

    def _interval(self, X: Any, level: float) -> tuple[Any, Any]:
        """Bounds such that low of a class and high of another add up to 1 at most."""
        from adaline.procedures.inference import bounds_of_logits, errors_of_values

        C, centre = self._covariance()
        X, z = self._rows(X, reset=False), float(ndtri((1 + level) / 2))
        V = np.asarray(self._values(X), dtype=np.float64)
        if len(self.classes_) == 2:
            half_widths = z * errors_of_values(X, C[0, :, 0], centre)
            low, high = V[:, 0] - half_widths, V[:, 0] + half_widths
            low, high = np.column_stack([-high, low]), np.column_stack([-low, high])
        else:
            low, high = bounds_of_logits(X, V, C, centre, z)
        return expit(low), expit(high)

    def _accept(self, fit: Fit, dtype: Any) -> None:
        """Take what a fit of all rows has learned; a stream before it is over."""
        self._state, self._known = None, delivered(fit, dtype)
        self._dtype, self._shape = np.dtype(dtype), (self.n_features_in_,)

    def _take_newton(self, fit: NewtonFit, p: int, classes: NDArray[Any]) -> None:
        """Accept weights that `data.fit` found in passes over a source of p columns."""
        self.n_features_in_, self.alpha_, self._information = p, float(self.alpha), None
        self.column_scale_ = None
        self._set_classes(classes)
        self.n_iter_ = np.array([max(fit.steps, 1)], dtype=np.int32)
        self._accept(fit, np.dtype(np.float64))
        self._speak_up()


def require_weight(classes: NDArray[Any], codes: NDArray[np.int64], omega: Array) -> None:
    """Every class needs a row that counts."""
    if not len(omega):
        return
    weight = np.bincount(codes, omega, minlength=len(classes))
    if np.any(weight == 0):
        raise ValueError(
            f"only zero sample_weight for the class {classes[weight == 0].tolist()[0]!r}; drop its "
            "rows. At least two classes are needed."
        )
