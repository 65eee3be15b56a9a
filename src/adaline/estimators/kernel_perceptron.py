"""The perceptron in dual variables, with kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from adaline.errors import plural, warn_caller
from adaline.estimators.base import (
    Classifier,
    callbacks,
    lazy_for_dask,
    read_only,
    unchanged_on_error,
)
from adaline.estimators.labels import check_labels, check_stream_classes, encode
from adaline.estimators.online import warn_of_runs
from adaline.estimators.registry import SEEN, demand
from adaline.parameters import COUNT, NUMBER, POSITIVE, is_sparse, words
from adaline.procedures.kernel_perceptron import (
    Kernel,
    certified,
    kernel_perceptron,
    one_pass,
    outputs,
)
from adaline.procedures.sequential import Outcome
from adaline.procedures.steps import Steps, finished
from adaline.results import Array, Certificate, Fit

KERNELS = ("linear", "poly", "rbf")


class KernelPerceptron(CallbackSupportMixin, Classifier):
    """The perceptron in dual variables, with a kernel: v = sum lambda t (k(x^mu, x) + 1).

    lambda_mu counts how often pattern mu was corrected (while t v <= 0, one row after the other, in
    their order, starting from zero), each time by its sample_weight. Patterns enter in inner
    products only, so that a kernel can take their place: what no hyperplane separates, such as XOR,
    a polynomial or Gaussian kernel may.
    The bias is the 1 that is added to the kernel. With kernel="linear" this is the incremental
    perceptron of the lecture, with w = sum lambda t x and b = sum lambda t.

    K > 2 classes: one machine a class, against the rest; the largest output decides.

    Lecture: 002, dual variables and the inner-product form of the output.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf"}, default="rbf"
        x'y, (gamma x'y + coef0)^degree, or exp(-gamma |x - y|^2).
    degree : int, default=3
        Of "poly"; other kernels do not use it.
    gamma : float or "scale", default="scale"
        "scale" is 1 / (p times the variance of all entries of X); in a stream, of the first block.
    coef0 : float, default=1.0
        The constant of "poly", not negative; other kernels do not use it.
    max_iter : int, default=1000
        Passes at most; fewer when a pass makes no correction.

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
        "kernel": words(*KERNELS),
        "degree": COUNT,
        "gamma": POSITIVE | words("scale"),
        "coef0": NUMBER,
        "max_iter": COUNT,
    }
    _command = "kernel-perceptron"
    _exports = "sides"
    _traces = "duals"
    _stored = SEEN | {
        "classes_": "labels",
        "_rows_seen": "count",
        "_kernel": "Kernel",
        "support_": "int+ m",
        "support_vectors_": "rows m p",
        "n_iter_": "count",
        "fit_": "Fit p:m",
    }
    _derived = ()
    _order_matters = True  # of the rows; see expected_failed_checks

    def __init__(
        self,
        kernel: str = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 1.0,
        max_iter: int = 1000,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.max_iter = max_iter

    @with_callbacks
    @unchanged_on_error
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Visit the rows again and again, until a pass makes no correction.

        A row of weight s is corrected by s; of weight zero, it is left out. Interrupted (Ctrl-C),
        it keeps what the last complete pass has learned.
        """
        self._check_parameters()
        rows = self._check_patterns(X, y, sample_weight, None, reset=True)
        self.classes_, self._rows_seen = rows.classes, rows.n
        self._kernel = self._make_kernel(rows.X)
        with callbacks(self, self.max_iter) as hear:
            A, outcome = finished(self._steps(rows), hear)
            interrupted = outcome.stopped.startswith("interrupted")
            T = None if interrupted else rows.T
            self._keep_supports(rows.X, rows.at, A, outcome.passes, outcome.stopped, T)
            if interrupted:
                raise KeyboardInterrupt
        codes = rows.T[0] if len(rows.T) == 1 else rows.T.argmax(axis=0)
        warn_of_runs(self, codes, self.fit_.certificate)
        if not outcome.converged:
            warn_caller(
                f"KernelPerceptron did not converge: {outcome.stopped} Give a larger max_iter, or "
                "a richer kernel.",
                ConvergenceWarning,
            )
        return self

    def _steps(self, rows: Patterns) -> Steps[tuple[Array, Outcome]]:
        """The rows to begin with, and then the steps of the procedure."""
        yield 0, rows
        settings = rows.omega, self.max_iter, self._look is not None
        steps = kernel_perceptron.steps(self._kernel, rows.X, rows.T, *settings)
        return (yield from steps)

    @unchanged_on_error
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Visit these rows once. The first call names all `classes` that will ever come."""
        self._check_parameters()
        first = not hasattr(self, "fit_")
        stream = check_stream_classes(classes, None if first else self.classes_)
        rows = self._check_patterns(X, y, sample_weight, stream, reset=first)
        K, m = len(rows.T), rows.X.shape[0]
        if first:
            self.classes_, self._kernel, self._rows_seen = (
                rows.classes,
                self._make_kernel(rows.X),
                0,
            )
            A, pool, at = np.empty((K, 0)), rows.X, np.empty(0, dtype=np.int64)
        else:
            A, at, old = self.fit_.W, self.support_, self.support_vectors_
            if is_sparse(old) or is_sparse(rows.X):
                parts = sparse.csr_array(old), sparse.csr_array(rows.X)
                pool = sparse.vstack(parts, format="csr")
            else:
                pool = np.vstack([old, rows.X])
        A = np.hstack([A, np.zeros((K, m))])
        A, corrections = one_pass(self._kernel, pool, rows.T, rows.omega, A)
        at = np.concatenate([at, self._rows_seen + rows.at])
        self._rows_seen += rows.n
        passes = getattr(self, "n_iter_", 0) + 1
        stopped = f"{plural(corrections, 'correction')} in the last {plural(rows.n, 'row')}."
        self._keep_supports(pool, at, A, passes, stopped)
        return self

    @lazy_for_dask
    def decision_function(self, X: Any) -> Array:
        """v: positive for `classes_[1]`; one column a class when there are more than two."""
        check_is_fitted(self, "fit_")
        X = self._rows(X, reset=False)
        A = np.asarray(self.dual_coef_, dtype=np.float64)
        V = outputs(self._kernel, X, self.support_vectors_, A).astype(X.dtype)
        return V[:, 0] if len(self.classes_) == 2 else V

    @property
    def dual_coef_(self) -> Array:
        return self._in_precision(self.fit_.W)

    @property
    def lambda_(self) -> Array:
        A = np.abs(self.fit_.W)
        return self._in_precision(A[0] if len(A) == 1 else A)

    @property
    def intercept_(self) -> Array:
        return self._in_precision(self.fit_.b)

    @property
    def coef_(self) -> Array:  # type: ignore[override]
        """w = sum lambda t x, for the linear kernel."""
        check_is_fitted(self, "fit_")
        if self._kernel.name != "linear":
            raise AttributeError("coef_ exists for kernel='linear' only; see dual_coef_.")
        A = np.asarray(self.dual_coef_, dtype=np.float64)
        return self._in_precision(np.asarray((self.support_vectors_.T @ A.T).T))

    @property
    def gamma_(self) -> float:
        return self._kernel.gamma

    def _in_precision(self, part: Array) -> Array:
        return np.asarray(read_only(part, self.support_vectors_.dtype))

    def _is_written(self) -> bool:
        return False  # its attributes cannot be assigned

    def _check_patterns(
        self, X: Any, y: Any, sample_weight: Any, classes: Any, *, reset: bool
    ) -> Patterns:
        X = self._rows(X, reset=reset)
        n = X.shape[0]
        omega, at = self._weights(sample_weight, X), np.arange(n)
        labels, codes = encode(check_labels(y, n), classes, omega)
        if omega is not None and not omega.all():
            at = np.flatnonzero(omega)
            X, codes, omega = X[at], codes[at], omega[at]
        machines = [1] if len(labels) == 2 else range(len(labels))
        T = np.array([np.where(codes == k, 1.0, -1.0) for k in machines])
        return Patterns(X, T, np.empty(0) if omega is None else omega, at, n, labels)

    def _keep_supports(
        self, pool: Any, at: Any, A: Array, passes: int, stopped: str, T: Any = None
    ) -> None:
        """Keep the patterns that were corrected, in the order of their rows."""
        kept = np.flatnonzero(A.any(axis=0))
        A = np.ascontiguousarray(A[:, kept])
        self.support_, self.support_vectors_, self.n_iter_ = at[kept], pool[kept], passes
        certificate = Certificate(
            "undecided",
            "not all rows are at hand to see on which side they lie; separability is undecided.",
            {"supports": len(kept)},
        )
        if T is not None:  # the certificate speaks of dual_coef_ as it is rounded
            rounded = A.astype(self.support_vectors_.dtype).astype(np.float64)
            certificate = certified(self._kernel, pool, T, self.support_vectors_, rounded)
        self.fit_ = Fit(A, A.sum(axis=1), stopped, certificate)

    def _restored(self, dtype: Any) -> None:
        demand(self._kernel.name in KERNELS, "no kernel has this name.")

    def _exported_weights(self) -> tuple[Any, Any] | None:
        if self._kernel.name != "linear":
            return None
        A = np.asarray(self.dual_coef_, dtype=np.float64)
        return np.asarray((self.support_vectors_.astype(np.float64).T @ A.T).T), A.sum(axis=1)

    def _make_kernel(self, X: Any) -> Kernel:
        gamma: Any = self.gamma
        if isinstance(gamma, str):
            gamma = 1.0 / (X.shape[1] * (variance_of_entries(X) or 1.0))
        return Kernel(self.kernel, self.degree, float(gamma), float(self.coef0))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.kernel == "poly" and not self.coef0 >= 0:
            raise ValueError(
                f"coef0 is {self.coef0}: (gamma x'y + coef0)^degree is a positive kernel for "
                "coef0 >= 0 only. Give 0 or more."
            )


@dataclass(frozen=True, eq=False)
class Patterns:
    """Rows of positive weight: targets T (K, n), weights or none, and their places `at` in X."""

    X: Any
    T: Array
    omega: Array
    at: NDArray[np.int64]
    n: int
    classes: NDArray[Any]


def variance_of_entries(X: Any) -> float:
    """Variance of all entries of a matrix, those that CSR does not store included."""
    entries, n = X.data if is_sparse(X) else X.ravel(), X.shape[0] * X.shape[1]
    with np.errstate(over="ignore"):
        mean = entries.sum(dtype=np.float64) / n
        squares = np.square(entries - mean).sum() + (n - len(entries)) * mean**2
        return float(squares / n)
