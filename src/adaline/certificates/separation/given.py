"""Data as they were given, made ready for proofs: exact float64, codes for labels, a hash."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline._jit.little import for_work
from adaline.kernels.sums import row_keys
from adaline.parameters import array, numbers
from adaline.tiles import as_csr, is_sparse

Label = str | int | float | bool

_MISSING = ("NAType", "NaTType")  # what pandas puts where nothing is


@dataclass(frozen=True, eq=False)
class Given:
    """Rows that count, with codes 0..K-1 for their labels.

    Attributes
    ----------
    X : ndarray (n, p) float64 or CSR, free of NaN and infinities
    codes : ndarray (n,) of int64
    labels : tuple of the K labels, sorted
    numbers : ndarray (n,) of int64
        Where the rows are in the data that came.
    """

    X: Any
    codes: NDArray[np.int64]
    labels: tuple[Label, ...]
    numbers: NDArray[np.int64]

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """A 64-bit key of each row."""
        X = self.X
        with np.errstate(over="ignore"):  # sums modulo 2^64 are meant, with a compiler or without
            if is_sparse(X):
                entries = np.ascontiguousarray(X.data)
                run = for_work(row_keys.keys_sparse, X.nnz + X.shape[0])
                keys = run(entries, entries.view(np.uint64), X.indices, X.indptr)
            else:
                run = for_work(row_keys.keys_dense, X.size, row_keys.keys_by_numpy)
                keys = run(X, X.view(np.uint64))
        return np.asarray(keys)

    def only(self, *labels: Label) -> Given:
        """The rows with these labels."""
        wanted = [self.labels.index(label) for label in sorted(labels, key=self.labels.index)]
        rows = np.flatnonzero(np.isin(self.codes, wanted))
        codes = np.searchsorted(wanted, self.codes[rows]).astype(np.int64)
        chosen = tuple(self.labels[c] for c in wanted)
        return Given(self.X[rows], codes, chosen, self.numbers[rows])


def given(X: Any, y: Any, sample_weight: Any = None) -> Given:
    """Checked data; rows of weight zero are left out. What float64 cannot hold is refused."""
    matrix = as_float64(X)
    labels = _labels(y, matrix.shape[0])
    numbers = np.arange(len(labels))
    if sample_weight is not None:
        numbers = np.flatnonzero(_weights(sample_weight, len(labels)))
        matrix, labels = matrix[numbers], labels[numbers]
    classes, codes = _encoded(labels)
    if len(classes) < 2:
        raise ValueError(
            f"y has one class, {classes.tolist()}; separability is about two classes or more."
        )
    names = [a.item() if isinstance(a, np.generic) else a for a in classes.tolist()]
    return Given(matrix, codes, tuple(names), numbers)


def _encoded(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Sorted classes, and the index among them of each label; few integers are not sorted."""
    if labels.dtype.kind in "iu" and len(labels):
        low, high = int(labels.min()), int(labels.max())
        if high - low <= 1000:
            places = labels.astype(np.int64) - low if low else labels.astype(np.int64)
            present = np.flatnonzero(np.bincount(places))
            table = np.zeros(high - low + 1, dtype=np.int64)
            table[present] = np.arange(len(present))
            return present + low, table[places]
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        raise ValueError(
            "y mixes labels that have no order, such as numbers and strings."
        ) from None
    return classes, codes.astype(np.int64).ravel()


def as_float64(X: Any) -> Any:
    """X as float64 or CSR without duplicates, if that changes no number."""
    if is_sparse(X):
        rows = as_csr(X)
        entries = _exactly(rows.data)
        rows = sparse.csr_matrix((entries, rows.indices, rows.indptr), shape=rows.shape)
    else:
        rows = array("X", X)
        if rows.ndim != 2:
            raise ValueError(
                f"X has shape {rows.shape}; expected (rows, features). Use X.reshape(-1, 1)?"
            )
        rows = np.ascontiguousarray(_exactly(rows))
        entries = rows
    if 0 in rows.shape:
        raise ValueError(f"X has shape {rows.shape}; at least one row and one feature are needed.")
    if not np.isfinite(entries).all():
        raise ValueError("X holds NaN or infinite numbers; separability is about finite ones.")
    return rows


def _exactly(A: NDArray[Any]) -> NDArray[np.float64]:
    """A as float64; ValueError where that would round."""
    if A.dtype == np.float64:
        return A
    if A.dtype.kind == "c":
        raise ValueError("Complex data not supported: X is complex; give real numbers.")
    if A.dtype.kind not in "fiubO":
        raise ValueError(f"X has dtype {A.dtype}; expected numbers.")
    try:
        result = A.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("X holds entries that are no numbers of float64's range.") from None
    rounds = A.dtype.kind == "O" or (A.dtype.kind in "iu" and A.dtype.itemsize == 8)
    rounds = rounds or (A.dtype.kind == "f" and A.dtype.itemsize > 8)
    if rounds and not _same(A, result):
        raise ValueError(
            "X holds numbers that float64 would round, and the verdict might depend on it; "
            "round them yourself, with np.asarray(X, dtype=float)."
        )
    return result


def _same(A: NDArray[Any], B: NDArray[np.float64]) -> bool:
    """Whether A, of any kind of number, is B exactly; NaN is told elsewhere."""
    if A.dtype.kind in "iu":
        small = np.abs(B) < 2.0**53
        pairs = zip(A[~small].ravel().tolist(), B[~small].ravel().tolist(), strict=True)
        return all(a == int(b) for a, b in pairs)
    return bool(np.all((A == B) | (B != B)))


def _labels(y: Any, n: int) -> NDArray[Any]:
    labels: NDArray[Any] = array("y", y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.shape != (n,):
        raise ValueError(f"X has {n} rows and y has shape {labels.shape}; expected ({n},).")
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            raise ValueError("y holds NaN or infinite numbers; every row needs a label.")
        if np.any(labels != np.floor(labels)):
            raise ValueError("y holds real numbers, not labels; separability is about classes.")
    elif labels.dtype.kind == "O":
        if any(label is None or type(label).__name__ in _MISSING for label in labels):
            raise ValueError("y holds None or NaN; every row needs a label.")
        if any(isinstance(label, float) and not np.isfinite(label) for label in labels):
            raise ValueError("y holds NaN or infinite numbers; every row needs a label.")
        if not all(isinstance(label, str | int | float | np.generic) for label in labels):
            raise ValueError("y holds labels that are neither strings nor numbers.")
    elif labels.dtype.kind not in "iubU":
        raise ValueError(f"y has dtype {labels.dtype}; expected strings, integers or booleans.")
    return labels


def _weights(sample_weight: Any, n: int) -> NDArray[np.float64]:
    omega = numbers("sample_weight", sample_weight)
    if omega.shape != (n,):
        raise ValueError(f"sample_weight has shape {omega.shape}; expected ({n},), one a row.")
    if not np.isfinite(omega).all() or np.any(omega < 0):
        raise ValueError("sample_weight holds negative or non-finite numbers; they must be >= 0.")
    if not omega.any():
        raise ValueError("sample_weight is zero for every row; no row is left.")
    return omega


def fingerprint(data: Given) -> str:
    """A hash of rows, labels and their order; the same for dense and CSR.

    It tells which data a proof is about. The proof does not rest on it: whatever the hash, weights
    and multipliers are checked on the data themselves.
    """
    total = hashlib.sha256(repr((data.X.shape, data.labels)).encode())
    total.update(data.codes.astype("<i8").tobytes())
    total.update(data.keys.astype("<u8").tobytes())
    return total.hexdigest()
