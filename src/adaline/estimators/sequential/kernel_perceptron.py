"""The perceptron in dual variables, with kernels."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from adaline.errors import plural
from adaline.estimators._base import Classifier
from adaline.estimators._delivered import WRITTEN, rounded_to
from adaline.estimators._labels import announced, encode, labels_of_rows
from adaline.estimators._progress import FRAMES, CallbackSupportMixin, passes, with_callbacks
from adaline.estimators.declarations import SEEN, demand, same_bits
from adaline.estimators.sequential._dual_rows import Patterns, signs, stacked, variance
from adaline.estimators.sequential.runs import warn_of_runs
from adaline.parameters import COUNT, NONE, NUMBER, POSITIVE, Expected, words
from adaline.procedures.kernel_perceptron import (
    Duals,
    Kernel,
    certified,
    kernel_perceptron,
    one_pass,
    outputs,
)
from adaline.procedures.sequential import Outcome
from adaline.procedures.steps import Steps, finished
from adaline.results import Array, Certificate, Fit

_NAMES = ("linear", "poly", "rbf")
_FUNCTION = Expected("a function of two blocks of rows", callable)


class KernelPerceptron(CallbackSupportMixin, Classifier):
    """The perceptron in dual variables, with a kernel: v = sum lambda t (k(x^mu, x) + 1).

    lambda_mu counts how often pattern mu was corrected (while t v <= 0, one row after the other, in
    their order, starting from zero), each time by its sample_weight. Patterns enter in inner
    products only, so any kernel can take their place: what no hyperplane separates, such as XOR, a
    polynomial or Gaussian kernel may.
    The bias is the 1 that is added to the kernel. With kernel="linear" this is the incremental
    perceptron of the lecture, with w = sum lambda t x and b = sum lambda t.

    K > 2 classes: one machine a class, against the rest; the largest output decides.

    Lecture: 002, dual variables and the inner-product form of the output.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf"} or callable, default="rbf"
        x'y, (gamma x'y + coef0)^degree, exp(-gamma |x - y|^2), or a function kernel(X, Y) that
        gives the matrix of k(x, y) for two blocks of rows. It must be positive (an inner product).
    degree : int, default=3
        Of "poly"; other kernels do not ask.
    gamma : float or "scale", default="scale"
        "scale" is 1 / (p times the variance of all entries of X); in a stream, of the first block.
    coef0 : float, default=1.0
        The constant of "poly"; other kernels do not ask.
    max_iter : int, default=1000
        Passes at most; fewer when a pass makes no correction.
    budget : int, optional
        Supports kept at most. One too many makes the least useful be forgotten: that of the
        smallest lambda, of these the oldest, and never the newest. Default: no bound.
    cache_size : float, default=200
        Megabytes of kernel values held at a time, about; the rows are worked on in blocks.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    support_ : ndarray of shape (m,)
        Rows with lambda > 0, counted from the first row ever seen.
    support_vectors_ : ndarray or CSR of shape (m, p)
    lambda_ : ndarray of shape (m,), or (K, m)
        How often each support was corrected, times its sample_weight.
    dual_coef_ : ndarray of shape (1, m), or (K, m)
        lambda t.
    intercept_ : ndarray of shape (1,), or (K,)
        b = sum lambda t; decision_function is dual_coef_ k(support_vectors_, x) + intercept_.
    coef_ : ndarray of shape (1, p), or (K, p)
        w = sum lambda t x; for kernel="linear" only.
    gamma_ : float
    n_iter_ : int
    fit_ : Fit
        W (K, m) and b (K,) are dual_coef_ and intercept_, in float64.
    certificate_ : Certificate
        "separable" when all rows of `fit` are provably on their right side, else "undecided".

    Notes
    -----
    Without weights lambda are whole numbers, so any cutting of the rows into `partial_fit` calls
    gives the same ones, but for outputs so close to zero that rounding gives them their sign.
    `trace` shows every row that was met: its lambda, its output, and whether it was corrected.

    Examples
    --------
    >>> from adaline import KernelPerceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"]
    >>> model = KernelPerceptron(kernel="poly", degree=2, gamma=1.0).fit(X, y)
    >>> model.predict(X)
    array(['no', 'yes', 'yes', 'no'], dtype='<U3')
    >>> model.certificate_.kind
    'separable'
    """

    _parameters = {
        "kernel": words(*_NAMES) | _FUNCTION,
        "degree": COUNT,
        "gamma": POSITIVE | words("scale"),
        "coef0": NUMBER,
        "max_iter": COUNT,
        "budget": COUNT | NONE,
        "cache_size": POSITIVE,
    }
    _command = "kernel-perceptron"
    _exports = "sides"
    _traces = "duals"
    _stored = SEEN | {
        "classes_": "labels",
        "_rows_seen": "count",
        "_kernel": "Kernel",
        "_duals": "Duals",
        "support_": "int+ m",
        "support_vectors_": "rows m p",
        "n_iter_": "count",
        "fit_": "Fit p:m",
    }
    _derived = ("dual_coef_", "lambda_", "intercept_", "gamma_")
    _order_matters = True  # of the rows; see expected_failed_checks

    def __init__(
        self,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 1.0,
        max_iter: int = 1000,
        budget: int | None = None,
        cache_size: float = 200.0,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.max_iter = max_iter
        self.budget = budget
        self.cache_size = cache_size

    def _present(
        self, X: Any, y: Any, sample_weight: Any, classes: Any, *, reset: bool
    ) -> Patterns:
        """The rows of positive weight: those of weight zero are as good as absent."""
        X = self._rows(X, reset=reset)
        n = X.shape[0]
        omega, at = self._weights(sample_weight, X), np.arange(n)
        found, codes = encode(labels_of_rows(y, X), classes, omega)
        if omega is not None and not omega.all():
            at = np.flatnonzero(omega)
            X, codes, omega = X[at], codes[at], omega[at]
        weights = np.empty(0) if omega is None else omega
        return Patterns(X, signs(codes, len(found)), weights, at, n, found)

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Visit the rows again and again, until a pass makes no correction.

        A row of weight s is corrected by s; of weight zero, it is left out. Interrupted (Ctrl-C),
        it keeps what the last complete pass has learned.
        """
        self._check_parameters()
        rows = self._present(X, y, sample_weight, None, reset=True)
        self.classes_, self._rows_seen = rows.classes, rows.n
        self._kernel = self._kernel_of(rows.X)
        with passes(self, self.max_iter) as hear:
            duals, outcome = finished(self._steps(rows), hear)
            interrupted = outcome.stopped.startswith("interrupted")
            T = None if interrupted else rows.T
            self._accept(rows.X, rows.at, duals, outcome.passes, outcome.stopped, T)
            if interrupted:
                raise KeyboardInterrupt
        codes = rows.T[0] if len(rows.T) == 1 else rows.T.argmax(axis=0)
        warn_of_runs(self, codes, self.fit_.certificate)
        if not outcome.converged:
            warnings.warn(
                f"KernelPerceptron did not converge: {outcome.stopped} Give a larger max_iter, a "
                "richer kernel, or a larger budget.",
                ConvergenceWarning,
                stacklevel=2 + FRAMES,
            )
        return self

    def _steps(self, rows: Patterns) -> Steps[tuple[Duals, Outcome]]:
        """The rows to begin with, and then the steps of the procedure."""
        yield 0, rows
        settings = self.budget or 0, self._numbers(), self.max_iter, self._look is not None
        steps = kernel_perceptron.steps(self._kernel, rows.X, rows.T, rows.omega, *settings)
        return (yield from steps)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Visit these rows once. The first call names all `classes` that will ever come."""
        self._check_parameters()
        first = not hasattr(self, "fit_")
        if not first:
            self._refuse_written("a kernel's dual variables belong to their rows")
        stream = announced(classes, None if first else self.classes_)
        rows = self._present(X, y, sample_weight, stream, reset=first)
        K, m = len(rows.T), rows.X.shape[0]
        if first:
            self.classes_, self._kernel, self._rows_seen = rows.classes, self._kernel_of(rows.X), 0
            duals, pool = Duals(np.empty((K, 0)), np.empty(0, dtype=np.int64)), rows.X
            at = np.empty(0, dtype=np.int64)
        else:
            duals, at = self._duals, self.support_
            pool = stacked(self.support_vectors_, rows.X)
        wider = np.hstack([duals.A, np.zeros((K, m))])
        born = np.concatenate([duals.born, np.full(m, -1)])
        state = rows.T, rows.omega, Duals(wider, born, duals.clock)
        after, made = one_pass(self._kernel, pool, *state, self.budget or 0, self._numbers())
        at = np.concatenate([at, self._rows_seen + rows.at])
        self._rows_seen += rows.n
        done = getattr(self, "n_iter_", 0) + 1
        stopped = f"{plural(made, 'correction')} in the last {plural(rows.n, 'row')}."
        self._accept(pool, at, after, done, stopped)
        return self

    def decision_function(self, X: Any) -> Array:
        """v: positive for `classes_[1]`; one column a class when there are more than two."""
        check_is_fitted(self, "fit_")
        self._refuse_written("a kernel's dual variables belong to their rows")
        X = self._rows(X, reset=False)
        numbers = self._numbers()
        V = outputs(self._kernel, X, self.support_vectors_, self._dual(), numbers).astype(X.dtype)
        return V[:, 0] if len(self.classes_) == 2 else V

    @property
    def coef_(self) -> Array:  # type: ignore[override]
        """w = sum lambda t x, for the linear kernel."""
        check_is_fitted(self, "fit_")
        if self._kernel.name != "linear":
            raise AttributeError("coef_ exists for kernel='linear' only; see dual_coef_.")
        support = self.support_vectors_
        found = np.asarray((support.T @ self._dual().T).T, dtype=support.dtype)
        found.flags.writeable = False  # it follows from dual_coef_, and writing it would be lost
        return found

    def _dual(self) -> Array:
        """dual_coef_, as float64."""
        return np.asarray(self.dual_coef_, dtype=np.float64)

    def _is_written(self) -> bool:
        A = rounded_to(self.fit_.W, self.support_vectors_.dtype)
        b = rounded_to(self.fit_.b, A.dtype)
        shown = self.dual_coef_, self.intercept_
        return not all(np.array_equal(a, c) for a, c in zip(shown, (A, b), strict=True))

    def _refuse_written(self, what: str) -> None:
        if self._is_written():
            raise ValueError(
                f"dual_coef_ or intercept_ was changed after the fit, and {what}. Fit again, or "
                "set them back to fit_.W and fit_.b."
            )

    @property
    def certificate_(self) -> Certificate:
        """Evidence for the last fit."""
        check_is_fitted(self, "fit_")
        return WRITTEN if self._is_written() else self.fit_.certificate

    def _accept(
        self, pool: Any, at: Any, duals: Duals, passes: int, stopped: str, T: Any = None
    ) -> None:
        """Keep the supports only, in the order of their rows."""
        kept = np.flatnonzero(duals.born >= 0)
        A = np.ascontiguousarray(duals.A[:, kept])
        self._duals = Duals(A, duals.born[kept], duals.clock)
        self.support_, self.support_vectors_, self.n_iter_ = at[kept], pool[kept], passes
        self._show_duals()
        certificate = Certificate(
            "undecided",
            "not all rows are at hand to see on which side they lie; separability is undecided.",
            {"supports": len(kept)},
        )
        if T is not None:
            rows = self._kernel, pool, T, self.support_vectors_, self._dual()
            certificate = certified(*rows, self._numbers())
        self.fit_ = Fit(A, A.sum(axis=1), stopped, certificate)

    def _show_duals(self) -> None:
        """The attributes that follow from the dual variables and the kernel."""
        A, dtype = self._duals.A, self.support_vectors_.dtype
        self.dual_coef_ = A.astype(dtype)
        self.lambda_ = np.abs(self.dual_coef_[0] if len(A) == 1 else self.dual_coef_)
        self.intercept_ = A.sum(axis=1).astype(dtype)
        self.gamma_ = self._kernel.gamma

    def _restored(self, dtype: Any) -> None:
        demand(self._kernel.name in _NAMES, "no kernel has this name.")
        demand(same_bits(self.fit_.W, self._duals.A), "two versions of the dual variables.")
        self._show_duals()

    def _exported_weights(self) -> tuple[Any, Any] | None:
        if self._kernel.name != "linear":
            return None
        self._refuse_written("weights follow from the dual variables that were learned")
        A = self._dual()
        return np.asarray((self.support_vectors_.astype(np.float64).T @ A.T).T), A.sum(axis=1)

    def _numbers(self) -> int:
        return max(1, int(min(float(self.cache_size), 2.0**40) * 2**20 / 8))

    def _kernel_of(self, X: Any) -> Kernel:
        gamma = self.gamma
        if isinstance(gamma, str):
            gamma = 1.0 / (X.shape[1] * (variance(X) or 1.0))
        return Kernel(self.kernel, self.degree, float(gamma), float(self.coef0))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.kernel == "poly" and not self.coef0 >= 0:
            raise ValueError(
                f"coef0 is {self.coef0}: (gamma x'y + coef0)^degree is a positive kernel for "
                "coef0 >= 0 only. Give 0 or more."
            )
