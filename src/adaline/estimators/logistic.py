"""Logistic regression: maximum likelihood with a proof, decisions by cost, and on-line learning.

What few fits need, such as Firth's penalty, is imported where it is needed.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, ndtri

from adaline import decisions
from adaline.certificates.digits import delivered
from adaline.estimators.base import unchanged_on_error
from adaline.estimators.costs import CLASS_WEIGHT, PosteriorClassifier, weights_by_class
from adaline.estimators.glm import NewtonLearner
from adaline.estimators.registry import WEIGHTS
from adaline.estimators.streams import StreamClassifier, check_stream_classes
from adaline.parameters import NONE, NOT_NEGATIVE, NUMBER, one_row, words
from adaline.procedures.inference import bounds_of_logits, errors_of_values
from adaline.procedures.newton import newton
from adaline.results import Array, Fit, NewtonFit, finished
from adaline.sums.objective import Objective, logistic_objective
from adaline.sums.rows import as_rows
from adaline.sums.threads import one_blas_thread

if TYPE_CHECKING:
    from adaline.summaries import Summary


class LogisticRegression(NewtonLearner, PosteriorClassifier, StreamClassifier):
    """Logistic regression by Newton's procedure: p(classes_[1] | x) = 1 / (1 + exp(-w'x - b)).

    Minimises sum_i loss_i + alpha/2 |w|^2; alpha is scikit-learn's 1/C, and the intercept is not
    penalised. K classes have one w and b each, and softmax. The lecture's class 1 is `classes_[1]`:
    beta is `coef_`, gamma is `intercept_`.

    Lecture: 5.9, the logistic regression. `partial_fit` and `learn_one` learn on-line, a sample at
    a time, without the penalty.

    Parameters
    ----------
    alpha : float >= 0, "auto" or "firth", default=1.0
        The penalty. 0 is maximum likelihood: SeparableError where it does not exist. "auto" has the
        least approximate leave-one-out loss, of columns as they are or in units of their standard
        deviations. "firth" is Firth's penalised likelihood, finite on any data (two classes, or at
        most 100 parameters).
    fit_intercept : bool, default=True
    max_iter : int, default=100
        Maximum number of steps.
    tol : float, default=1e-8
        Stop when the remaining error of the weights, in standard errors (root mean square), is
        below tol √n, and the distance to the minimum is proven.
    costs, reject_cost : array of shape (K, K), and float, optional
        As in `BayesClassifier`: **costs[i, j] is the cost of deciding class i when class j is
        true.**
    class_weight : dict or "balanced", optional
        Weights of classes, by label, times `sample_weight`; 1 for those left out. "balanced":
        n / (K n_k). Probabilities follow these weights; `costs` moves decisions only.

    Attributes
    ----------
    classes_, n_iter_ : ndarray of shape (K,) and (1,)
    coef_, intercept_ : ndarray of shape (1, p) and (1,), or (K, p) and (K,)
    alpha_ : float
        The penalty that was used; 0 with "firth".
    column_scale_ : ndarray of shape (p,) or None
        Where "auto" measures columns in units of their standard deviations: these. The penalty is
        then sum alpha_ (column_scale_[j] w_j)^2 / 2.
    certificate_ : Certificate
        "optimal" with a proven bound on the distance to the minimum, else "unproven", as after
        "firth"; "undecided" after `partial_fit`.
    fit_ : Fit
        The same in the lectures' shapes, and why the procedure stopped.

    Notes
    -----
    A row of weight 2 counts as two rows, with "auto" too; one of weight below 1 is left out whole.
    "auto" searches down to 1e-4 for columns of deviation 1; from 256 columns on, by 1024 rows.

    Examples
    --------
    >>> from adaline import LogisticRegression
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> model = LogisticRegression(alpha=0).fit(X, [0, 0, 1, 0, 1, 1])
    >>> model.coef_.round(4), model.intercept_.round(4), model.certificate_.kind
    (array([[1.214]]), array([-3.0351]), 'optimal')
    """

    _command = "logistic"
    _exports = "posterior"
    _effect = "odds"
    _intervals = "probabilities"
    _traces = "steps"
    _error = "mean logistic loss"
    _stored = WEIGHTS | {
        "classes_": "labels",
        "alpha_": "float",
        "column_scale_?": "float p | None",
        "_information": "Information | None",
        "_state?": "State | None",
        "_known": "SequentialFit | NewtonFit | None",
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
        self.alpha, self.fit_intercept = alpha, fit_intercept
        self.max_iter, self.tol = max_iter, tol
        self.costs, self.reject_cost, self.class_weight = costs, reject_cost, class_weight

    @unchanged_on_error
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from all rows: X (n, p) dense or CSR, labels y (n,).

        Interrupted (Ctrl-C), the weights are those after the last complete step.
        """
        self._check_parameters()
        X, classes, codes, omega = self._encode(X, y, sample_weight, None, reset=True)
        X, _, omega = as_rows(X, None, omega, checked=True)
        seen = np.bincount(codes, omega if len(omega) else None, minlength=len(classes)) > 0
        if not seen.all():
            unseen = classes[~seen].tolist()[0]
            raise ValueError(f"only zero sample_weight for the class {unseen!r}; drop its rows.")
        self.classes_ = classes
        # To limit BLAS takes as long as a factor of a small matrix; threads take longer: up to
        # 2^16 numbers in X (bench_logistic).
        small = X.shape[0] * X.shape[1] <= 2**16
        with one_blas_thread(1) if small else nullcontext():
            fit, loss = self._minimise(X, codes, omega)
            return self._end(fit, X.dtype, loss)

    def _encode(self, X: Any, y: Any, sample_weight: Any, known: Any, *, reset: bool) -> Any:
        """X, the classes, the code of each row, and its weight times that of its class."""
        rows, classes, codes, omega = self._labelled_rows(X, y, sample_weight, known, reset=reset)
        if self.costs is not None:
            decisions.checked_costs(self.costs, len(classes))
        if self.class_weight is not None:
            omega = weights_by_class(self.class_weight, classes, codes, omega)
        return rows, classes, codes, omega

    n_iter_ = property(
        lambda self: np.array([self._steps], dtype=np.int32), doc="Steps of Newton's procedure."
    )

    def _minimise(self, X: Any, codes: Any, omega: Array) -> tuple[NewtonFit, Objective]:
        """The weights and their loss; sets alpha_ and column_scale_."""
        self.alpha_ = 0.0 if isinstance(self.alpha, str) else float(self.alpha)
        self.column_scale_ = None
        loss, options = self._objective(X, codes, omega), (self.max_iter, self.tol)
        if self.alpha == "auto":
            from adaline.procedures.penalty_search import newton_auto

            search = newton_auto.steps(loss, *options)
            fit, (self.alpha_, self.column_scale_) = finished(search, self._look)
            loss = loss.with_penalty(self.alpha_, self.column_scale_)
        elif self.alpha == "firth":
            from adaline.procedures.firth import firth

            fit = finished(firth.steps(loss, *options), self._look)
        else:
            fit = finished(newton.steps(loss, *options), self._look)
        if self.alpha_ == 0 and self.alpha != "firth":
            from adaline.estimators.separation import refuse_separable

            used = np.flatnonzero(omega) if len(omega) else np.arange(len(codes))
            rows = X[used], codes[used], tuple(self.classes_.tolist()), used
            fit = refuse_separable(rows, fit, bool(self.fit_intercept), self._names())
        return fit, loss

    def _objective(self, X: Any, codes: Any, omega: Array) -> Objective:
        K, alpha, units = len(self.classes_), self.alpha_, self.column_scale_
        loss = logistic_objective(X, codes, K, omega, alpha, bool(self.fit_intercept))
        return loss if units is None else loss.with_penalty(alpha, units)

    @unchanged_on_error
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn these rows too, each once, by the gradient of its own loss (on-line learning).

        The first call names all `classes`. The weights do not depend on how rows are batched, bit
        for bit. After `fit`, learning goes on from the fitted weights, at the rates of
        `Auto`, without a penalty.
        """
        self._check_parameters()
        if isinstance(self.class_weight, str):
            raise ValueError("class_weight='balanced' needs all rows at once; give a dict.")
        first = not hasattr(self, "fit_")
        stream = check_stream_classes(classes, None if first else self.classes_)
        X, labels, codes, weights = self._encode(X, y, sample_weight, stream, reset=first)
        if self._state is None:
            self._state, self.classes_ = self._new_state(len(labels), X.shape[1]), labels
            self.alpha_, self._information = 0.0, None
        before = self._learn_block(*as_rows(X, codes, weights, checked=True))
        if not np.isfinite(self._state.counters.inputs):
            self._state.restore(before)
            raise ValueError("X has values beyond 1e154, whose squares overflow; rescale it.")
        self._dtype, self._known = X.dtype, None
        return self

    def _new_state(self, K: int, p: int) -> Any:
        """A new stream, from the weights of the last fit where there is one."""
        from adaline.kernels.codes import BITS, CROSS_ENTROPY, LATE_AVERAGE, SOFTMAX
        from adaline.procedures.sequential import Recipe, State
        from adaline.schedules import Auto

        K, criterion = (1, CROSS_ENTROPY) if K == 2 else (K, SOFTMAX)
        state = State(Recipe(criterion, BITS, Auto(), LATE_AVERAGE, bool(self.fit_intercept), K, p))
        if self._known is not None:
            state.go_on_from(self._known.W, self._known.b)
        return state

    def predict_one(self, x: Any) -> Any:
        """The label of one sample x (p,), as `predict` would give it, with low overhead."""
        if self.costs is not None or self.reject_cost is not None:
            return self.predict(one_row(x))[0]
        return super().predict_one(x)

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

        Errors come from the inverse curvature of the penalised loss. After a fit with n p^2 > 10^8,
        which does not compute them, give the training rows.

        Parameters
        ----------
        level : float, default=0.95
        X, y, sample_weight : optional
            The training rows.
        intervals : {"wald", "profile"}, default="wald"
            Wald's w +- z error, or all values that the (penalised) likelihood ratio test does not
            reject: better where events are rare; they need the training rows, and two classes.
        """
        level, loss, bounds = self._require_likeliest(level), None, None
        words("wald", "profile")("intervals", intervals)
        if X is not None:
            X, _, codes, omega = self._encode(X, y, sample_weight, self.classes_, reset=False)
            X, _, omega = as_rows(X, None, omega, checked=True)
            loss = self._objective(X, codes, omega)
        if intervals == "profile":
            bounds = self._profile(loss, level)
        outputs = [str(label) for label in self.classes_.tolist()]
        return self._tabulate(level, loss, outputs, self._notes(bounds is not None), bounds)

    def _notes(self, profile: bool) -> list[str]:
        firth = self.alpha == "firth"
        notes = {
            "Each class is held against the mean of all classes; the difference of two "
            "coefficients is the log-odds of one class against the other.": len(self.classes_) > 2,
            f"Standard errors include the penalty (alpha = {self.alpha_:.6g}): it pulls "
            "coefficients towards zero, so that p-values are approximate.": self.alpha_ > 0,
            f"Intervals are those of the profile {'penalised ' * (firth or self.alpha_ > 0)}"
            "likelihood; z and p are Wald's.": profile,
            "Firth's criterion need not be convex: the bounds are the nearest values on each side "
            "that the test rejects; it may not reject farther ones.": profile and firth,
        }
        return [note for note, holds in notes.items() if holds]

    def _profile(self, loss: Objective | None, level: float) -> tuple[Array, Array]:
        from adaline.procedures.profile import profile_intervals

        fit = self.fit_
        if loss is None:
            raise ValueError("profile intervals need the training rows; give them as X and y.")
        if not isinstance(fit, NewtonFit):
            raise ValueError(f"profile intervals need weights of fit; here: {fit.stopped}")
        theta = loss.rows.theta(fit.W, fit.b)[0]
        return profile_intervals(loss, theta, level, firth=self.alpha == "firth")

    def _interval(self, X: Any, level: float) -> tuple[Any, Any]:
        C, centre = self._covariance()
        X, z = self._rows(X, reset=False), float(ndtri((1 + level) / 2))
        V = np.asarray(self._values(X), dtype=np.float64)
        if len(self.classes_) > 2:
            low, high = bounds_of_logits(X, V, C, centre, z)
        else:
            V = np.column_stack([-V[:, 0], V[:, 0]])
            half = z * errors_of_values(X, C[0, :, 0], centre)[:, None]
            low, high = V - half, V + half
        return expit(low), expit(high)

    def _accept(self, fit: Fit, dtype: Any) -> Any:
        """Take what a fit of all rows has learned; a stream before it is over."""
        self._state, self._known, self._dtype = None, delivered(fit, dtype), np.dtype(dtype)
        return self._known

    def _take_newton(self, fit: NewtonFit, p: int, classes: NDArray[Any]) -> None:
        self.n_features_in_, self.classes_ = p, classes
        self.alpha_, self.column_scale_ = float(self.alpha), None
        self._end(fit, np.float64)
