"""The perceptron in dual variables, with kernels."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from adaline.estimators._base import Classifier
from adaline.estimators._labels import announced, encode, labels_of_rows
from adaline.procedures.kernel_perceptron import (
    Duals,
    Kernel,
    certified,
    one_pass,
    outputs,
    whole_gram,
)
from adaline.results import Array, Certificate, Fit
from adaline.tiles import is_sparse

_NAMES = ("linear", "poly", "rbf")


class KernelPerceptron(Classifier):
    """Perceptron criterion × sequential × dual variables: v = sum lambda t (k(x^mu, x) + 1).

    lambda_mu counts how often pattern mu was corrected (while t v <= 0, one row after the other, in
    their order, starting from zero). Patterns enter in inner products only, so any kernel can take
    their place: what no hyperplane separates, such as XOR, a polynomial or Gaussian kernel may.
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
    gamma : float or "scale", default="scale"
        "scale" is 1 / (p times the variance of all entries of X); in a stream, of the first block.
    coef0 : float, default=1.0
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
        How often each support was corrected.
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
    lambda are whole numbers, so any cutting of the rows into `partial_fit` calls gives the same
    ones, but for outputs so close to zero that rounding gives them their sign.

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

    def fit(self, X: Any, y: Any) -> Self:
        """Visit the rows again and again, until a pass makes no correction.

        Interrupted (Ctrl-C), it keeps what the last complete pass has learned.
        """
        self._check_parameters()
        X = self._rows(X, reset=True)
        self.classes_, codes = encode(labels_of_rows(y, X), None)
        self._kernel = self._kernel_of(X)
        self._rows_seen = X.shape[0]
        T, at = _targets(codes, len(self.classes_)), np.arange(X.shape[0])
        duals = Duals(np.zeros((len(T), X.shape[0])), np.full(X.shape[0], -1))
        budget, numbers = self.budget or 0, self._numbers()
        passes, corrections = 0, 1
        try:
            gram = whole_gram(self._kernel, X, numbers)
            while corrections and passes < self.max_iter:
                duals, corrections = one_pass(self._kernel, X, T, duals, budget, numbers, gram)
                passes += 1
        except KeyboardInterrupt:
            self._accept(X, at, duals, passes, f"interrupted after {passes} complete passes.")
            raise
        if corrections:
            stopped = f"max_iter={self.max_iter} passes were made, {corrections} corrections in "
            self._accept(X, at, duals, passes, stopped + "the last.", T)
            warnings.warn(
                f"KernelPerceptron did not converge: {self.fit_.stopped} Give a larger max_iter, a "
                "richer kernel, or a larger budget.",
                ConvergenceWarning,
                stacklevel=2,
            )
        else:
            stopped = f"pass {passes} made no correction."
            self._accept(X, at, duals, passes, stopped, T)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Visit these rows once. The first call names all `classes` that will ever come."""
        self._check_parameters()
        first = not hasattr(self, "fit_")
        X = self._rows(X, reset=first)
        stream = announced(classes, None if first else self.classes_)
        known, codes = encode(labels_of_rows(y, X), stream)
        T, n = _targets(codes, len(known)), X.shape[0]
        if first:
            self.classes_, self._kernel, self._rows_seen = known, self._kernel_of(X), 0
            duals, pool = Duals(np.empty((len(T), 0)), np.empty(0, dtype=np.int64)), X
            at = np.empty(0, dtype=np.int64)
        else:
            duals, at = self._duals, self.support_
            pool = _stacked(self.support_vectors_, X)
        wider = np.hstack([duals.A, np.zeros((len(T), n))])
        born = np.concatenate([duals.born, np.full(n, -1)])
        start = Duals(wider, born, duals.clock)
        after, corrections = one_pass(
            self._kernel, pool, T, start, self.budget or 0, self._numbers()
        )
        at = np.concatenate([at, self._rows_seen + np.arange(n)])
        self._rows_seen += n
        passes = getattr(self, "n_iter_", 0) + 1
        self._accept(pool, at, after, passes, f"{corrections} corrections in the last {n} rows.")
        return self

    def decision_function(self, X: Any) -> Array:
        """v: positive for `classes_[1]`; one column a class when there are more than two."""
        check_is_fitted(self, "fit_")
        X = self._rows(X, reset=False)
        numbers = self._numbers()
        V = outputs(self._kernel, X, self.support_vectors_, self.fit_.W, numbers).astype(X.dtype)
        return V[:, 0] if len(self.classes_) == 2 else V

    @property
    def coef_(self) -> Array:  # type: ignore[override]
        """w = sum lambda t x, for the linear kernel."""
        check_is_fitted(self, "fit_")
        if self._kernel.name != "linear":
            raise AttributeError("coef_ exists for kernel='linear' only; see dual_coef_.")
        support = self.support_vectors_
        return np.asarray((support.T @ self.fit_.W.T).T, dtype=support.dtype)

    def _accept(
        self, pool: Any, at: Any, duals: Duals, passes: int, stopped: str, T: Any = None
    ) -> None:
        """Keep the supports only, in the order of their rows."""
        kept = np.flatnonzero(duals.born >= 0)
        A = np.ascontiguousarray(duals.A[:, kept])
        self._duals = Duals(A, duals.born[kept], duals.clock)
        self.support_, self.support_vectors_ = at[kept], pool[kept]
        self.dual_coef_ = A.astype(pool.dtype)
        self.lambda_ = np.abs(self.dual_coef_[0] if len(A) == 1 else self.dual_coef_)
        self.intercept_ = A.sum(axis=1).astype(pool.dtype)
        self.gamma_, self.n_iter_ = self._kernel.gamma, passes
        certificate = Certificate(
            "undecided",
            "not all rows are at hand to see on which side they lie; separability is undecided.",
            {"supports": len(kept)},
        )
        if T is not None:
            rows = self._kernel, pool, T, self.support_vectors_, A
            certificate = certified(*rows, self._numbers())
        self.fit_ = Fit(A, A.sum(axis=1), stopped, certificate)

    def _numbers(self) -> int:
        return max(1, int(self.cache_size * 2**20 / 8))

    def _kernel_of(self, X: Any) -> Kernel:
        gamma = self.gamma
        if gamma == "scale":
            gamma = 1.0 / (X.shape[1] * (_variance(X) or 1.0))
        return Kernel(self.kernel, self.degree, float(gamma), float(self.coef0))

    def _check_parameters(self) -> None:
        if not callable(self.kernel) and self.kernel not in _NAMES:
            raise ValueError(
                f"kernel is {self.kernel!r}; give one of {', '.join(_NAMES)}, or a function."
            )
        if isinstance(self.gamma, str) and self.gamma != "scale":
            raise ValueError(f"gamma is {self.gamma!r}; give a positive number or 'scale'.")
        numbers = {"max_iter": self.max_iter, "cache_size": self.cache_size}
        numbers |= {"degree": self.degree, "budget": 1 if self.budget is None else self.budget}
        numbers |= {} if isinstance(self.gamma, str) else {"gamma": self.gamma}
        for name, value in numbers.items():
            if not (value > 0 and np.isfinite(value)):
                raise ValueError(f"{name} is {value}; it must be a positive number.")
        for name in ("degree", "max_iter", "budget"):
            if numbers[name] != int(numbers[name]):
                raise ValueError(f"{name} is {numbers[name]}; it must be a whole number.")
        if self.kernel == "poly" and not self.coef0 >= 0:
            raise ValueError(
                f"coef0 is {self.coef0}: (gamma x'y + coef0)^degree is a positive kernel for "
                "coef0 >= 0 only. Give 0 or more."
            )


def _targets(codes: Any, K: int) -> Array:
    """+1 for the own class and -1 for others, a row a machine: (1, n) or (K, n)."""
    machines = [1] if K == 2 else range(K)
    return np.array([np.where(codes == k, 1.0, -1.0) for k in machines])


def _stacked(top: Any, X: Any) -> Any:
    if is_sparse(top) or is_sparse(X):
        return sparse.vstack([sparse.csr_array(top), sparse.csr_array(X)], format="csr")
    return np.vstack([top, X])


def _variance(X: Any) -> float:
    if not is_sparse(X):
        return float(np.var(X, dtype=np.float64))
    entries, total = X.data.astype(np.float64), X.shape[0] * X.shape[1]
    return float((entries @ entries) / total - (entries.sum() / total) ** 2)
