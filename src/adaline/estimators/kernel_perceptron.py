"""The perceptron in dual variables, with kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from adaline.errors import plural, warn_caller
from adaline.estimators.base import Classifier, lazy_for_dask, read_only, unchanged_on_error
from adaline.estimators.online import warn_of_runs
from adaline.estimators.registry import SEEN, demand
from adaline.estimators.streams import check_stream_classes
from adaline.parameters import COUNT, NUMBER, POSITIVE, is_sparse, words
from adaline.procedures import kernel_perceptron as dual
from adaline.results import Array, Certificate, Fit, finished

KERNELS = ("linear", "poly", "rbf")


class KernelPerceptron(Classifier):
    """The perceptron in dual variables, with a kernel: v = sum lambda t (k(x^mu, x) + 1).

    lambda_mu counts how often pattern mu was corrected (while t v <= 0, one row after the other,
    starting from zero), each time by its sample_weight. The bias is the 1 that is added to the
    kernel. With kernel="linear" this is the incremental perceptron, with w = sum lambda t x and b =
    sum lambda t. K > 2 classes: one machine a class, against the rest.

    Lecture: 002, dual variables and the inner-product form of the output.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf"}, default="rbf"
        x'y, (gamma x'y + coef0)^degree, or exp(-gamma |x - y|^2).
    degree, coef0 : int and float >= 0, default=3 and 1.0
        Of "poly"; other kernels do not use them.
    gamma : float or "scale", default="scale"
        "scale" is 1 / (p times the variance of all entries of X); in a stream, of the first block.
    max_iter : int, default=1000
        Passes at most; fewer when a pass makes no correction.

    Attributes
    ----------
    classes_, gamma_, n_iter_ : ndarray of shape (K,), float and int
    support_, support_vectors_ : ndarray of shape (m,), and ndarray or CSR of shape (m, p)
        Rows with lambda > 0, counted from the first row ever seen.
    lambda_ : ndarray of shape (m,), or (K, m)
        How often each support was corrected, times its sample_weight.
    dual_coef_, intercept_ : ndarray of shape (1, m) and (1,), or (K, m) and (K,)
        lambda t, and b = sum lambda t: W and b of `fit_`.
    coef_ : ndarray of shape (1, p), or (K, p)
        w = sum lambda t x; for kernel="linear" only.
    certificate_ : Certificate
        "separable" when all rows of `fit` are provably on the correct side, else "undecided".

    Notes
    -----
    Without weights lambda are whole numbers: any cutting of the rows into `partial_fit` calls gives
    the same ones, but for outputs so close to zero that rounding gives them their sign.

    Examples
    --------
    >>> from adaline import KernelPerceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"]
    >>> model = KernelPerceptron(kernel="poly", degree=2, gamma=1.0).fit(X, y)
    >>> model.predict(X), model.certificate_.kind
    (array(['no', 'yes', 'yes', 'no'], dtype='<U3'), 'separable')
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
        "n_features_in_": "int =d",
        "feature_names_in_?": "names d",
        "_rows_seen": "int",
        "_kernel": "Kernel",
        "support_": "int p",
        "support_vectors_": "rows p d",
        "n_iter_": "int",
        "fit_": "Fit",  # p weights, one a support vector
    }

    def __init__(
        self,
        kernel: str = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 1.0,
        max_iter: int = 1000,
    ) -> None:
        self.kernel, self.max_iter = kernel, max_iter
        self.degree, self.gamma, self.coef0 = degree, gamma, coef0

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
        if self._look is not None:
            self._look(0, rows)
        settings = rows.omega, self.max_iter, self._look is not None
        steps = dual.kernel_perceptron.steps(self._kernel, rows.X, rows.T, *settings)
        A, outcome = finished(steps, self._look)
        if outcome.stopped.startswith("interrupted"):
            self._keep_supports(rows.X, rows.at, A, outcome.passes, outcome.stopped)
            raise KeyboardInterrupt
        self._keep_supports(rows.X, rows.at, A, outcome.passes, outcome.stopped, rows.T)
        if self.fit_.certificate.kind != "separable":
            warn_of_runs(self, rows.T[0] if len(rows.T) == 1 else rows.T.argmax(axis=0))
        if not outcome.converged:
            what = f"KernelPerceptron did not converge: {outcome.stopped}"
            advice = "Give a larger max_iter, or a richer kernel."
            warn_caller(f"{what} {advice}", ConvergenceWarning)
        return self

    @unchanged_on_error
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Visit these rows once. The first call names all `classes` that will ever come."""
        self._check_parameters()
        first = not hasattr(self, "fit_")
        stream = check_stream_classes(classes, None if first else self.classes_)
        rows = self._check_patterns(X, y, sample_weight, stream, reset=first)
        if first:
            self.classes_, self._rows_seen = rows.classes, 0
            self._kernel = self._make_kernel(rows.X)
            self.support_, self.support_vectors_ = np.empty(0, dtype=np.int64), rows.X[:0]
        A = np.zeros(rows.T.shape)
        A = A if first else np.hstack([self.fit_.W, A])
        at = np.concatenate([self.support_, rows.at + self._rows_seen])
        both = self.support_vectors_, rows.X
        pool = sparse.vstack(both).tocsr() if any(map(is_sparse, both)) else np.vstack(both)
        A, corrections = dual.one_pass(self._kernel, pool, rows.T, rows.omega, A)
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
        V = dual.outputs(self._kernel, X, self.support_vectors_, A).astype(X.dtype)
        return V[:, 0] if len(self.classes_) == 2 else V

    dual_coef_ = property(lambda self: self._in_precision(self.fit_.W))
    intercept_: Any = property(lambda self: self._in_precision(self.fit_.b))
    gamma_ = property(lambda self: self._kernel.gamma)

    @property
    def lambda_(self) -> Array:
        A = np.abs(self.fit_.W)
        return self._in_precision(A[0] if len(A) == 1 else A)

    @property
    def coef_(self) -> Array:
        """w = sum lambda t x, for the linear kernel."""
        check_is_fitted(self, "fit_")
        if self._kernel.name != "linear":
            raise AttributeError("coef_ exists for kernel='linear' only; see dual_coef_.")
        return self._in_precision(self._exported_weights()[0])

    def _in_precision(self, part: Array) -> Array:
        return np.asarray(read_only(part, self.support_vectors_.dtype))

    def _check_patterns(
        self, X: Any, y: Any, sample_weight: Any, classes: Any, *, reset: bool
    ) -> Patterns:
        X, labels, codes, omega = self._labelled_rows(X, y, sample_weight, classes, reset=reset)
        n, at = X.shape[0], np.arange(X.shape[0])
        if omega is not None and not omega.all():
            at = np.flatnonzero(omega)
            X, codes, omega = X[at], codes[at], omega[at]
        T = np.where(codes == np.arange(len(labels) == 2, len(labels))[:, None], 1.0, -1.0)
        return Patterns(X, T, np.empty(0) if omega is None else omega, at, n, labels)

    def _keep_supports(
        self, pool: Any, at: Any, A: Array, passes: int, stopped: str, T: Any = None
    ) -> None:
        kept = np.flatnonzero(A.any(axis=0))
        A = np.ascontiguousarray(A[:, kept])
        self.support_, self.support_vectors_, self.n_iter_ = at[kept], pool[kept], passes
        what = "not all rows are at hand to see on which side they lie; separability is undecided."
        certificate = Certificate("undecided", what, {"supports": len(kept)})
        if T is not None:  # the certificate speaks of dual_coef_ as it is rounded
            rounded = A.astype(self.support_vectors_.dtype).astype(np.float64)
            certificate = dual.certified(self._kernel, pool, T, self.support_vectors_, rounded)
        self.fit_ = Fit(A, A.sum(axis=1), stopped, certificate)

    def _learns_in_order(self) -> bool:
        return True

    def _restored(self) -> None:
        demand(self._kernel.name in KERNELS, "no kernel has this name.")

    def _exported_weights(self) -> Any:
        if self._kernel.name != "linear":
            return None
        A = np.asarray(self.dual_coef_, dtype=np.float64)
        return np.asarray((self.support_vectors_.astype(np.float64).T @ A.T).T), A.sum(axis=1)

    def _make_kernel(self, X: Any) -> dual.Kernel:
        gamma: Any = self.gamma
        if isinstance(gamma, str):
            # Entries that CSR does not store are zeros, which count.
            entries, size = X.data if is_sparse(X) else X.ravel(), X.shape[0] * X.shape[1]
            with np.errstate(over="ignore"):
                mean = entries.sum(dtype=np.float64) / size
                squares = np.square(entries - mean).sum() + (size - len(entries)) * mean**2
            gamma = 1.0 / (X.shape[1] * (float(squares / size) or 1.0))
        return dual.Kernel(self.kernel, self.degree, float(gamma), float(self.coef0))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.kernel == "poly" and not self.coef0 >= 0:
            raise ValueError(f"coef0 is {self.coef0}; a positive kernel needs coef0 >= 0.")


@dataclass(frozen=True, eq=False)
class Patterns:
    """Rows of positive weight: targets T (K, n), weights or none, and their places `at` in X."""

    X: Any
    T: Array
    omega: Array
    at: NDArray[np.int64]
    n: int
    classes: NDArray[Any]
