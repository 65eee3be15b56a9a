"""Rows of a table as closed forms read them: X dense or CSR, targets Y, weights, in blocks.

    z = sqrt(omega) (scale x - shift, 1)

Scales are powers of two, so that only the subtraction rounds. Blocks are float64, whatever X is:
dense, CSR, float32, strided and Fortran rows have the same sums to the last bit. Called by
`moments`, `triangle`, `gradient`, `procedures.ridge` and `procedures.ho_kashyap`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.results import Array
from adaline.tiles import as_rows, check_finite, is_sparse

BLOCK = 2**16  # numbers in a block: half a megabyte stays in the cache of a core
TALLEST = 2048  # rows of a block whose products BLAS makes; more do not make it faster
SAFE_EXPONENT = 300  # squares of numbers within 2^±300 stay far inside float64's range
LARGEST_EXPONENT = 1020  # columns can be multiplied by 2^1020; 2^1024 is no number
HEAVY = 0.25  # share of all weight from which a row is nearer to the mean than the other rows'


@dataclass(frozen=True, eq=False)
class Table:
    """X (n, p), Y (n, k), weights omega > 0 (n,) or (0,), and X_low (n, p) or (0, 0).

    X_low is what rounding left of X, for samples known to more than float64.
    """

    X: Any
    Y: Array
    omega: Array = field(default_factory=lambda: np.empty(0))
    X_low: Array = field(default_factory=lambda: np.empty((0, 0)))

    @classmethod
    def of(cls, X: Any, y: Any = None, weights: Any = None, *, checked: bool = False) -> Table:
        """Rows as they are; those of weight zero are left out, but must be numbers, too."""
        X, Y, omega = as_rows(X, y, weights, checked=checked)
        if not len(omega) or omega.all():
            return cls(X, Y, omega)
        check_finite(X)
        check_finite(Y, what="y")
        kept = omega > 0
        return cls(X[kept], Y[kept], omega[kept])

    @property
    def n(self) -> int:
        """Rows."""
        return int(self.X.shape[0])

    @property
    def p(self) -> int:
        """Columns of X."""
        return int(self.X.shape[1])

    @property
    def weight(self) -> float:
        """Sum of the weights; the number of rows without weights."""
        return float(self.omega.sum()) if len(self.omega) else float(self.n)

    @property
    def sparse(self) -> bool:
        """Whether X is CSR."""
        return is_sparse(self.X)

    def dense(self, part: slice) -> Any:
        """Some rows of X, not sparse."""
        return self.X[part].toarray() if self.sparse else self.X[part]

    def targets(self, which: Any) -> Table:
        """The same rows with some of the targets."""
        return Table(self.X, self.Y[:, which], self.omega, self.X_low)

    def blocks(
        self, scale: Array, shift: Array, rows: int, start: int = 0, stop: int | None = None
    ) -> Iterator[tuple[slice, Array, Array]]:
        """Slices of rows, their sqrt(omega) (scale x - shift, 1) and sqrt(omega) (scale y - shift).

        scale and shift are (p + k,), or (p,) for X alone. The first array (rows, p + 1) is reused.
        """
        p, stop = self.p, self.n if stop is None else stop
        room, plain = np.empty((min(rows, stop - start), p + 1)), bool((scale[:p] == 1.0).all())
        for i in range(start, stop, rows):
            part = slice(i, min(i + rows, stop))
            z = room[: part.stop - i]
            if plain:
                np.subtract(self.dense(part), shift[:p], out=z[:, :p])
            else:
                np.multiply(self.dense(part), scale[:p], out=z[:, :p])
                z[:, :p] -= shift[:p]
            z[:, p] = 1.0
            y = self.Y[part] * scale[p:] - shift[p:] if len(scale) > p else self.Y[part, :0]
            if len(self.omega):
                root = np.sqrt(self.omega[part, None])
                z *= root
                y *= root
            yield part, z, y


def block_rows(q: int) -> int:
    """Rows of a block of q columns: so many that to add up q x q products takes little time."""
    return max(min(max(BLOCK // (q + 1), 256), 4096), min(2 * q, TALLEST))


def first_mean(t: Table, scale: Array, rows: int) -> Array:
    """About where the rows are: the mean of the first ones, exact for constant columns.

    Of a row that outweighs all others that row: of weight 1e60 it leaves no digit of the others'
    squares unless it is zero itself.
    """
    some = slice(rows)
    if len(t.omega) and t.omega.max() > HEAVY * t.omega.sum():
        i = int(np.argmax(t.omega))
        some = slice(i, i + 1)
    # The same bits whatever X is: a sum over columns of another layout has another order.
    x, y = np.ascontiguousarray(t.dense(some), dtype=np.float64), t.Y[some]
    if not len(x):
        return np.zeros(len(scale))
    shift = np.concatenate([each[0] + (each - each[0]).sum(axis=0) / len(each) for each in (x, y)])
    shift *= scale
    return np.where(np.isfinite(shift), shift, 0.0)


def largest(t: Table) -> Array:
    """The largest |number| of every column of X and Y."""
    if t.sparse and t.n:
        top = np.asarray(abs(t.X).max(axis=0).todense(), dtype=np.float64).ravel()
    else:
        top = np.zeros(t.p)
        for i in range(0, t.n, TALLEST):
            np.maximum(top, np.abs(t.X[i : i + TALLEST]).max(axis=0), out=top)
    return np.concatenate([top, np.abs(t.Y).max(axis=0, initial=0.0)])


def exponents(t: Table) -> NDArray[np.int64]:
    """Powers of two that bring every column's largest number to about one."""
    top = largest(t)
    e = np.where(np.isfinite(top), np.frexp(top)[1], 0).astype(np.int64)
    return np.maximum(e, -LARGEST_EXPONENT)


def are_safe(t: Table, squares: Array) -> bool:
    """Whether no square can have left float64's range, by the mean squares of the columns.

    A sum that is zero may have lost numbers that are not: their squares underflowed.
    """
    low, high = 2.0**-SAFE_EXPONENT, 2.0**SAFE_EXPONENT
    if not np.all((squares < high) & ((squares > low) | (squares == 0.0))):
        return False
    return bool((squares > low).all()) or not largest(t)[squares == 0.0].any()
