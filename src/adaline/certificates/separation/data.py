"""Labelled data made ready for proofs: exact float64, codes for labels, a hash of every row.

Called by `separability`, `Separability.check` and the learners that ask for a verdict.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.parameters import array, is_sparse, weights_of
from adaline.sums.rows import as_csr, as_rows, check_finite

Label = str | int | float | bool

SHOWN = 5  # pairs of equal rows that are named


@dataclass(frozen=True, eq=False)
class Data:
    """Rows that count, with codes 0..K-1 for their labels."""

    X: Any  # (n, p) float64 or CSR, free of NaN and infinities
    codes: NDArray[np.int64]
    labels: tuple[Label, ...]  # of the K classes, sorted
    numbers: NDArray[np.int64]  # where the rows are in the user's data

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any = None) -> Data:
        """Validated data; rows of weight zero are left out. What float64 would round is refused."""
        matrix = as_float64(X)
        labels = validate_labels(y, matrix.shape[0])
        numbers = np.arange(len(labels))
        if sample_weight is not None:
            omega = array("sample_weight", sample_weight)
            if omega.ndim == 0:
                raise ValueError("sample_weight is one number; expected a list, one for each row.")
            numbers = np.flatnonzero(np.asarray(weights_of("sample_weight", omega, len(labels))))
            matrix, labels = matrix[numbers], labels[numbers]
        try:
            # With counts, numpy sorts labels, which takes less time than its hash table.
            classes, _ = np.unique(labels, return_counts=True)
        except TypeError:
            raise ValueError(
                "y mixes labels that have no order, such as numbers and strings."
            ) from None
        if len(classes) < 2:
            raise ValueError(
                f"y has one class, {classes.tolist()}; separability is about two classes or more."
            )
        names = [a.item() if isinstance(a, np.generic) else a for a in classes.tolist()]
        codes = np.searchsorted(classes, labels).astype(np.int64)
        return cls(matrix, codes, tuple(names), numbers)

    def only(self, *labels: Label) -> Data:
        wanted = [self.labels.index(label) for label in sorted(labels, key=self.labels.index)]
        rows = np.flatnonzero(np.isin(self.codes, wanted))
        codes = np.searchsorted(wanted, self.codes[rows]).astype(np.int64)
        return Data(self.X[rows], codes, tuple(self.labels[c] for c in wanted), self.numbers[rows])

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """A 64-bit key of each row: equal rows have equal keys, dense or CSR, with 0 and -0 alike.

        The sum modulo 2^64 of the entries' bits times random odd numbers, one for each column. Only
        low bits of a number reach all bits of a product, hence the shift.
        """
        factors = np.arange(1, self.X.shape[1] + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        factors = (factors ^ (factors >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        factors = (factors ^ (factors >> np.uint64(27))) | np.uint64(1)  # random: splitmix64

        def mix(entries: NDArray[np.float64]) -> NDArray[np.uint64]:
            bits = (entries + 0.0).view(np.uint64)  # no -0
            bits ^= bits >> np.uint64(31)
            return bits

        if is_sparse(self.X):
            csr = (mix(self.X.data), self.X.indices, self.X.indptr)
            return np.asarray(sparse.csr_array(csr, shape=self.X.shape) @ factors)
        cuts = range(0, len(self.X), 4096)  # blocks that stay in cache
        return np.concatenate([mix(self.X[i : i + 4096]) @ factors for i in cuts])

    @cached_property
    def fingerprint(self) -> str:
        """A hash of rows, labels and their order; the same for dense and CSR.

        It tells which data a proof is about. The proof does not rest on it: whatever the hash,
        weights and multipliers are checked on the data themselves.
        """
        total = hashlib.sha256(repr((self.X.shape, self.labels)).encode())
        total.update(self.codes.astype("<i8").tobytes())
        total.update(self.keys.astype("<u8").tobytes())
        return total.hexdigest()

    def places(self, numbers: Any) -> list[int | None]:
        """Where rows of the user's data are among these; None for rows that are not."""
        at = np.searchsorted(self.numbers, numbers)
        inside = (at < len(self.numbers)) & (self.numbers[at % len(self.numbers)] == numbers)
        return [i if ok else None for i, ok in zip(at.tolist(), inside.tolist(), strict=True)]

    def are_equal(self, i: int, j: int) -> bool:
        if self.codes[i] == self.codes[j]:
            return False
        difference = self.X[[i]] != self.X[[j]]
        return not (difference.nnz if is_sparse(difference) else difference.any())

    def duplicates(self) -> tuple[tuple[int, int], ...]:
        """Up to five pairs of equal rows with different labels, by their numbers.

        The simplest reason why nothing separates.
        """
        ordered = np.sort(self.keys)
        same = np.flatnonzero(ordered[1:] == ordered[:-1])
        order = np.argsort(self.keys, kind="stable") if len(same) else same
        # Equal rows are neighbours; where labels change in a run, they change between neighbours.
        pairs: list[tuple[int, int]] = []
        for k in same.tolist():
            i, j = sorted(order[k : k + 2].tolist())
            if self.are_equal(i, j):
                pairs.append((int(self.numbers[i]), int(self.numbers[j])))
                if len(pairs) == SHOWN:
                    break
        return tuple(sorted(pairs))


def as_float64(X: Any) -> Any:
    """X as float64 or CSR without duplicates, if that changes no number."""
    given: Any = as_csr(X) if is_sparse(X) else array("X", X)
    rows, _, _ = as_rows(given, None, None, checked=True)
    rows = rows.astype(np.float64) if is_sparse(X) else np.ascontiguousarray(rows, np.float64)
    if 0 in rows.shape:
        raise ValueError(f"X has shape {rows.shape}; at least one row and one feature are needed.")
    check_finite(rows)
    entries: Any = rows.data if is_sparse(X) else rows
    before: Any = given.data if is_sparse(X) else given
    if before.dtype.kind in "iu":  # numpy would compare in float64, Python compares exactly
        large = np.abs(entries) >= 2.0**53
        entries, before = entries[large].astype(object), before[large].astype(object)
    if before.dtype != np.float64 and not np.all(entries == before):
        raise ValueError(
            "X holds numbers that float64 would round, and the verdict might depend on it; "
            "round them yourself, with np.asarray(X, dtype=float)."
        )
    return rows


def validate_labels(y: Any, n: int) -> NDArray[Any]:
    """Labels (n,): strings, integers, booleans, or real numbers that are whole."""
    labels: NDArray[Any] = array("y", y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.shape != (n,):
        raise ValueError(f"X has {n} rows and y has shape {labels.shape}; expected ({n},).")
    if labels.dtype.kind not in "iubUfO":
        raise ValueError(f"y has dtype {labels.dtype}; expected strings, integers or booleans.")
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            raise ValueError("y holds NaN or infinite numbers; every row needs a label.")
        if np.any(labels != np.floor(labels)):
            raise ValueError("y holds real numbers, not labels; separability is about classes.")
    for label in labels if labels.dtype.kind == "O" else ():
        missing = label is None or type(label).__name__ in ("NAType", "NaTType")  # pandas'
        if missing or (isinstance(label, float) and not np.isfinite(label)):
            raise ValueError("y holds None or NaN; every row needs a label.")
        if not isinstance(label, str | int | float | np.generic):
            raise ValueError("y holds labels that are neither strings nor numbers.")
    return labels
