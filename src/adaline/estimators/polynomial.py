"""Polynomial regression whose powers are kept in double-double."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement
from math import comb
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from adaline.errors import refuse_beyond_memory
from adaline.estimators.least_squares import LeastSquares
from adaline.estimators.registry import demand
from adaline.kernels import double_double
from adaline.parameters import COUNT, FLAG
from adaline.results import Array
from adaline.sums.rows import Rows

MAX_MONOMIALS = 2**20  # each is a tuple, a column of two numbers, and a coefficient


class PolynomialLeastSquares(LeastSquares):
    """Least squares on all monomials up to a degree, the powers kept to 32 digits.

    Lecture: polynomial features. Rounding x^k to float64 moves the exact solution of an
    ill-conditioned fit. Here each monomial is a pair of float64, so the solution is that of the
    polynomial itself.

    Parameters
    ----------
    degree : int, default=2
        Highest total degree.
    fit_intercept : bool, default=True

    Attributes
    ----------
    monomials_ : list of tuple of int
        For each coefficient the columns multiplied: (0, 0, 1) is x0² x1.
    coef_, intercept_, certificate_, rank_, condition_, fit_
        As in `LeastSquares`.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import PolynomialLeastSquares
    >>> x = np.linspace(-1, 1, 9).reshape(-1, 1)
    >>> PolynomialLeastSquares(degree=3).fit(x, (1 + 2 * x - x**3).ravel()).coef_.round(15) + 0.0
    array([ 2.,  0., -1.])
    """

    _exports = "monomials"
    _command = _streams = _intervals = None  # type: ignore[assignment]
    refine = True
    _stored = LeastSquares._stored | {
        "n_features_in_": "int =d",
        "feature_names_in_?": "names d",
    }
    _derived = ("monomials_",)
    _parameters = {"degree": COUNT, "fit_intercept": FLAG}

    def __init__(self, degree: int = 2, fit_intercept: bool = True):
        self.degree = degree
        self.fit_intercept = fit_intercept

    def _observe(self, X: Any, y: Any, omega: Any, classes: Any = None, *, reset: bool) -> Rows:
        rows = super()._observe(X, y, omega, reset=reset)
        dense = rows.dense()
        check_size(len(dense), dense.shape[1], int(self.degree))
        self.monomials_ = monomials(dense.shape[1], self.degree)
        high, low = self._expand(dense)
        return replace(rows, X=high, X_low=low)

    def _expand(self, X: Array) -> tuple[Array, Array]:
        check_size(len(X), X.shape[1], len(self.monomials_[-1]))
        # Each monomial is an earlier one times one more column.
        place = {m: j for j, m in enumerate(self.monomials_)}
        parent = np.array([place.get(m[:-1], -1) for m in self.monomials_], dtype=np.int64)
        factor = np.array([m[-1] for m in self.monomials_], dtype=np.int64)
        high, low = np.empty((len(X), len(parent))), np.empty((len(X), len(parent)))
        double_double.monomials(
            np.ascontiguousarray(X, dtype=np.float64), parent, factor, high, low
        )
        if not np.isfinite(high).all():
            raise ValueError("powers leave the range of float64; rescale X, or lower the degree.")
        return high, low

    def _values(self, X: Any) -> Array:
        check_is_fitted(self, "fit_")
        X = self._rows(X, reset=False)
        high, low = self._expand(X.toarray() if hasattr(X, "toarray") else X)
        f = self.fit_
        parts: Any = f.W, f.W_low, f.b, f.b_low  # they round to coef_ and intercept_
        if self._is_written():
            W, b = (np.asarray(part, dtype=np.float64) for part in self._exported_weights())
            parts = W, np.zeros_like(W), b, np.zeros_like(b)
        columns = [double_double.values(high, low, *part) for part in zip(*parts, strict=True)]
        return np.column_stack(columns).astype(X.dtype)

    def _restored(self) -> None:
        p, degree, count = self.n_features_in_, self.degree, self.fit_.W.shape[1]
        # Degrees and columns are bounded by their monomials, which are in the file: 2^24 factors
        # of them take some hundred megabytes.
        small = 1 <= p <= count and 1 <= degree <= count and degree * count <= 2**24
        demand(small and comb(p + degree, degree) - 1 == count, "weights are not one a monomial.")
        self.monomials_ = monomials(p, degree)
        super()._restored()

    def _names(self) -> list[str]:
        names = super()._names()
        counts = [{j: m.count(j) for j in m} for m in getattr(self, "monomials_", [])]
        parts = [[names[j] + (f"^{k}" if k > 1 else "") for j, k in c.items()] for c in counts]
        return [" ".join(factors) for factors in parts] or names


def check_size(n: int, p: int, degree: int) -> None:
    """Refuse more monomials than can be held: C(p + degree, p) - 1 of them."""
    few = min(p, degree) < MAX_MONOMIALS.bit_length()  # as C(p + degree, p) >= 2^min(p, degree)
    number = comb(p + degree, p) if few else MAX_MONOMIALS + 1
    what = f"all monomials of {p} columns up to degree {degree}"
    if number > MAX_MONOMIALS:
        raise ValueError(f"degree is {degree}: {what} are more than {MAX_MONOMIALS}. Lower it.")
    # Each is a column of two numbers.
    refuse_beyond_memory(16.0 * n * number, f"{what}, and {n} rows of them", "Lower the degree.")


def monomials(p: int, degree: int) -> list[tuple[int, ...]]:
    return [m for d in range(1, degree + 1) for m in combinations_with_replacement(range(p), d)]
