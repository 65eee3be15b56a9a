"""Rows as users give them: dense, float32, strided or CSR, checked once, with one way in.

Called by the estimators, by sums that users call themselves, and by readers of sparse files.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline import parameters
from adaline.errors import plural
from adaline.parameters import ParameterError
from adaline.results import Array
from adaline.sums.threads import over_pieces

_LARGEST = 1020  # sums of two terms below 2**1020 are in the range of float64


is_sparse = parameters.is_sparse


def is_dask(X: Any) -> bool:
    """Whether X is an array or table of Dask, which is told without loading Dask."""
    return type(X).__module__.startswith("dask")


def as_csr(X: Any) -> Any:
    """Sparse X as CSR without duplicates; X itself stays as it is.

    Raises ValueError where an index points outside: the kernels would read and write there.
    """
    if X.dtype.kind not in "fiub":
        raise ParameterError(f"X is sparse of dtype {X.dtype}; expected real numbers.")
    if X.ndim != 2:
        raise ParameterError(
            f"X has shape {X.shape}; expected (rows, features). Use X.reshape(1, -1)?"
        )
    _check_indices(X)  # before a conversion, which trusts them too
    X = X.tocsr()
    if len(X.data) != X.indptr[-1] or len(X.indices) != len(X.data):  # room that is not used
        entries = X.data[: X.indptr[-1]], X.indices[: X.indptr[-1]], X.indptr
        X = type(X)(entries, shape=X.shape)
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _check_indices(X: Any) -> None:
    """Look at every index once: that takes a small part of the time of any sum over the rows."""
    n, p = X.shape
    if X.format == "coo":
        for indices, size, what in zip(X.coords, (n, p), ("row", "column"), strict=True):
            _check_inside(X, indices, size, what)
        return
    if X.format not in ("csr", "csc", "bsr"):
        return
    height, width = X.blocksize if X.format == "bsr" else (1, 1)
    lines, size, what = n // height, p // width, "column"
    if X.format == "csc":
        lines, size, what = p, n, "row"
    ends, entries = X.indptr, min(len(X.indices), len(X.data))
    if ends.shape != (lines + 1,):
        raise _malformed(X, f"indptr has shape {ends.shape} instead of ({lines + 1},)")
    if ends[0] != 0 or ends[-1] > entries or np.any(ends[1:] < ends[:-1]):
        raise _malformed(X, f"indptr must rise from 0 to the number of entries, at most {entries}")
    _check_inside(X, X.indices[: ends[-1]], size, what)


def _check_inside(X: Any, indices: NDArray[Any], size: int, what: str) -> None:
    if not len(indices):
        return
    # Seen as unsigned, a negative index is a large one: one pass finds both.
    if _unsigned(indices).max() >= size:
        bad = indices[(indices < 0) | (indices >= size)][0]
        raise _malformed(X, f"it has {what} index {bad} and {size} {what}s")


def _unsigned(indices: NDArray[Any]) -> NDArray[Any]:
    """The same bits as unsigned numbers of the same size; nothing is copied."""
    return indices.view(f"u{indices.dtype.itemsize}")


def _malformed(X: Any, why: str) -> ValueError:
    return ValueError(
        f"X is no valid sparse matrix in {X.format.upper()}: {why}. Build it again from its "
        "entries, for example with scipy.sparse.coo_array((data, (rows, columns)), shape).tocsr()."
    )


def as_rows(X: Any, y: Any, weights: Any, *, checked: bool = False) -> tuple[Any, Array, Array]:
    """X dense 2-D float or CSR without duplicates, y (n, k), weights (n,) or empty.

    Sparse X that is `checked` comes from `as_csr`: its indices are not looked through again.
    """
    if is_sparse(X):
        X = X if checked else as_csr(X)
    elif getattr(X, "dtype", None) != np.float32:
        X = parameters.numbers("X", X, "rows of numbers")
    if X.ndim != 2:
        raise ParameterError(
            f"X has shape {X.shape}; expected (rows, features). Use X.reshape(-1, 1)?"
        )
    n = X.shape[0]
    Y = np.empty((n, 0)) if y is None else parameters.numbers("y", y)
    Y = Y.reshape(-1, 1) if Y.ndim == 1 else Y
    if Y.ndim != 2 or len(Y) != n:
        raise ParameterError(f"X has {n} rows and y has shape {Y.shape}; they need equal lengths.")
    if weights is None:
        return X, Y, np.empty(0)
    omega = parameters.numbers("weights", weights)
    if omega.shape != (n,):
        raise ParameterError(
            f"X has {n} rows and weights have shape {omega.shape}; expected ({n},), one a row."
        )
    if np.any(~np.isfinite(omega)) or np.any(omega < 0):
        raise ParameterError("weights hold negative or non-finite numbers; they must be >= 0.")
    return X, Y, omega


def _total(values: NDArray[Any]) -> float:
    """The sum of numbers, (n,) or (n, p), by threads."""
    width = values.shape[1] if values.ndim == 2 else 1
    parts = over_pieces(lambda i, j: values[i:j].sum(dtype=np.float64), len(values), width)
    return float(sum(parts))


def check_finite(X: Any, names: Callable[[], list[str]] | None = None, what: str = "X") -> None:
    """Raise ValueError that names the first NaN or infinity by row and column.

    names is asked only then: those of 10^5 columns take as long to make as the rows to learn.
    """
    values = X.data if is_sparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        if values.dtype.kind not in "fc" or isfinite(_total(values)):
            return  # one NaN or infinity would have reached the sum
    bad = ~np.isfinite(values)
    if not bad.any():
        return
    if is_sparse(X):
        q = int(np.argmax(bad))
        row = int(np.searchsorted(X.indptr, q, side="right")) - 1
        column, value = int(X.indices[q]), values[q]
    else:
        row = int(np.argmax(bad.any(axis=1)))
        column = int(np.argmax(bad[row]))
        value = X[row, column]
    kind = "NaN" if np.isnan(value) else "infinity"
    column_name = f" ({names()[column]})" if names else ""
    raise ValueError(
        f"{what} contains {kind} (inf or NaN is not a number to learn from), first at row {row}, "
        f"column {column}{column_name}; {plural(int(bad.sum()), 'such value')} in all. "
        "Drop those rows or fill the values in first."
    )


def linear_values(
    X: Any, W: Any, b: Any, *, comparable: bool, names: Callable[[], list[str]] | None = None
) -> Array:
    """v = W x + b of each row of X, dense or CSR; (n, K) in the dtype of X.

    X that is not finite is refused, as by `check_finite`. Products beyond the range of X's dtype
    may have a sum within it. Where v itself is beyond, it is infinite; if v are to be `comparable`,
    all K of that row are divided by one number instead.

    >>> X, W = np.array([[1e308, 1e308]]), np.array([[3.0, -2.5], [4.0, 5.0]])
    >>> linear_values(X, W, np.zeros(2), comparable=False)
    array([[5.e+307,     inf]])
    """
    if not is_sparse(X) and np.count_nonzero(W) < W.size:
        check_finite(X, names)  # BLAS may leave out a column without weight, NaN and all
    with np.errstate(over="ignore", invalid="ignore"):
        V: Array = np.asarray(X @ W.T)
        V = np.asarray(np.add(V, b, out=V if V.dtype == np.result_type(V, b) else None))
        if isfinite(np.add.reduce(V, axis=None)):  # NaN and infinity would have reached the sum
            return V
        check_finite(X, names)
        finite = np.isfinite(V)
        if finite.all() or not (np.isfinite(W).all() and np.isfinite(b).all()):
            return V
        far = ~finite.all(axis=1)
        rows, W, b = (part.astype(np.float64) for part in (X[far], W, b))
        sizes = np.abs(rows).max(), np.abs(W).max(), np.abs(b).max(), float(W.shape[1])
        x, w, bias, p = (int(np.frexp(size)[1]) for size in sizes)
        s = max(x + w + p - _LARGEST, bias - _LARGEST, 0)
        scaled = (rows * 2.0**-s) @ W.T + b * 2.0**-s
        V[far] = np.ldexp(scaled, s)
        beyond = ~np.isfinite(V[far]).all(axis=1)
        if comparable and beyond.any():
            top = np.frexp(np.abs(scaled[beyond]).max(axis=1))[1]
            room = np.finfo(V.dtype).maxexp - 2  # so that differences are finite
            V[np.flatnonzero(far)[beyond]] = np.ldexp(scaled[beyond], (room - top)[:, None])
    return V
