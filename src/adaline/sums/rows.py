"""Rows as users give them: X dense, strided, float32 or CSR, targets Y and weights, checked once.

    z = sqrt(omega) (scale x - shift, 1)

Whatever X is, blocks of z are float64 and their sums have the same bits. Scales are powers of two,
so that only the subtraction rounds. Gradients are summed with twice the digits of float64.

Called by the estimators, by all sums, by closed forms, and by readers of sparse files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from math import isfinite
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from adaline.errors import plural
from adaline.kernels.double_double import LANES, MAX_GROUPS, add_gradients
from adaline.parameters import ParameterError, blocks_of, is_sparse, named, numbers
from adaline.results import Array, Result
from adaline.sums.mapreduce import Reduction
from adaline.sums.threads import over_pieces

T = TypeVar("T")
M = TypeVar("M", bound=Any)

BLOCK = 2**16  # numbers in a block: half a megabyte stays in the cache of a core
TALLEST = 2048  # rows of a block whose products BLAS computes; more do not make it faster
LARGEST_EXPONENT = 1020  # columns can be multiplied by 2^1020; 2^1024 is no number
SAFE_EXPONENT = 150  # squares of numbers within 2^±150 stay far inside float64's range
LONG_ROW = 2048  # numbers that numpy reduces along an axis about as fast as it can
FIRST_ROWS = 256  # whose mean is subtracted from all (any round number)
NONE = np.empty(0)
HEAVY = 0.25  # share of all weight from which a row is nearer to the mean than the other rows'


def is_dask(X: Any) -> bool:
    """Whether X is an array or table of Dask, which is told without loading Dask."""
    return type(X).__module__.startswith("dask")


def as_csr(X: Any) -> Any:
    """Sparse X as CSR without duplicates; X itself stays as it is.

    Raises ValueError where an index points outside: kernels would read and write there.
    """
    if X.dtype.kind not in "fiub":
        raise ParameterError(f"X is sparse of dtype {X.dtype}; expected real numbers.")
    check_two_axes(X)
    X = check_indices(X).tocsr()
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def check_two_axes(X: Any) -> None:
    """Raise ParameterError unless X is (rows, features)."""
    if X.ndim != 2:
        said = f"X has shape {X.shape}; expected (rows, features). Use X.reshape(-1, 1)?"
        raise ParameterError(said)


def check_indices(X: Any) -> Any:
    """The same matrix without unused space; scipy itself trusts indices when it converts."""
    try:
        if X.format == "coo":
            return type(X)((X.data, X.coords), shape=X.shape)  # which looks at every index
        if X.format in ("csr", "csc", "bsr"):
            if np.any(np.diff(X.indptr) < 0):
                raise ValueError("indptr must rise from 0 to the number of entries")
            X = type(X)((X.data, X.indices, X.indptr), shape=X.shape)
            X.check_format(full_check=True)
    except (ValueError, IndexError) as error:
        raise ValueError(
            f"X is no valid sparse matrix in {X.format.upper()}: {error}. Build it again from its "
            "entries, as scipy.sparse.coo_array((data, (rows, columns)), shape).tocsr() does."
        ) from None
    return X


def as_rows(X: Any, y: Any, weights: Any, *, checked: bool = False) -> tuple[Any, Array, Array]:
    """X dense 2-D float or CSR without duplicates, y (n, k), weights (n,) or empty.

    Sparse X that is `checked` comes from `as_csr`: its indices are not looked through again.
    """
    if is_sparse(X):
        X = X if checked else as_csr(X)
    elif getattr(X, "dtype", None) != np.float32:
        X = numbers("X", X, "rows of numbers")
    check_two_axes(X)
    n = X.shape[0]
    Y = np.empty((n, 0)) if y is None else numbers("y", y)
    Y = Y.reshape(-1, 1) if Y.ndim == 1 else Y
    if Y.ndim != 2 or len(Y) != n:
        raise ParameterError(f"X has {n} rows and y has shape {Y.shape}; they need equal lengths.")
    omega = np.empty(0) if weights is None else numbers("weights", weights)
    if weights is not None and omega.shape != (n,):
        said = f"X has {n} rows and weights have shape {omega.shape}; expected ({n},), one a row."
        raise ParameterError(said)
    if not np.all((omega >= 0) & (omega < np.inf)):
        raise ParameterError("weights hold negative or non-finite numbers; they must be >= 0.")
    return X, Y, omega


def check_finite(X: Any, names: Callable[[], list[str]] | None = None, what: str = "X") -> None:
    """Raise ValueError that names the first NaN or infinity by row and column.

    names is asked only then: those of 10^5 columns take as long to make as the rows to learn.
    """
    values = X.data if is_sparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        width = values.shape[1] if values.ndim == 2 else 1
        if values.dtype.kind not in "fc" or isfinite(values.sum(dtype=np.float64)):
            return  # one NaN or infinity would have reached the sum
    bad = ~np.isfinite(values)
    if not bad.any():
        return
    first = int(np.argmax(bad))
    if is_sparse(X):
        row, column = int(np.searchsorted(X.indptr, first, side="right")) - 1, X.indices[first]
    else:
        row, column = divmod(first, width)
    kind = "NaN" if np.isnan(values.flat[first]) else "infinity"
    column_name = f" ({names()[column]})" if names else ""
    raise ValueError(
        f"{what} contains {plural(int(bad.sum()), 'missing or infinite value')}, first {kind} at "
        f"row {row}, column {column}{column_name}. "
        "Drop those rows or fill the values in first."
    )


@dataclass(frozen=True, eq=False)
class Rows:
    """X (n, p), Y (n, k), weights omega > 0 (n,) or (0,), and X_low (n, p) or (0, 0).

    X_low is what rounding left of X, for samples known to more than float64.
    """

    X: Any
    Y: NDArray[Any]
    omega: Array = field(default_factory=lambda: NONE)
    X_low: Array = field(default_factory=lambda: np.empty((0, 0)))

    @classmethod
    def of(cls, X: Any, y: Any = None, weights: Any = None, *, checked: bool = False) -> Rows:
        """Rows as they are; those of weight zero are left out, but must be numbers, too.

        Rows that are `checked` are as estimators make them: y (n, k), numbers all.
        """
        X, Y, omega = (X, y, weights) if checked else as_rows(X, y, weights)
        omega = NONE if omega is None else omega
        if not len(omega) or omega.all():
            return cls(X, Y, omega)
        check_finite(X)
        check_finite(Y, what="y")
        kept = omega > 0
        return cls(X[kept], Y[kept], omega[kept])

    @cached_property
    def n(self) -> int:
        return int(self.X.shape[0])

    @cached_property
    def p(self) -> int:
        return int(self.X.shape[1])

    @cached_property
    def sparse(self) -> bool:
        return is_sparse(self.X)

    @cached_property
    def weight(self) -> float:
        """Sum of the weights; the number of rows without weights."""
        return float(self.omega.sum()) if len(self.omega) else float(self.n)

    @cached_property
    def weights(self) -> Array:
        """(n,), of rows that have none, too."""
        return self.omega if len(self.omega) else np.ones(self.n)

    def dense(self, part: slice = slice(None)) -> Any:
        return self.X[part].toarray() if self.sparse else self.X[part]

    def targets(self, which: Any) -> Rows:
        return replace(self, Y=self.Y[:, which])

    def in_units(self, part: slice, scale: Array, shift: Array, place: Array) -> Array:
        """(scale x - shift, 1) of some rows, in the first rows of `place`; the same bits in any
        layout of X."""
        X = self.dense(part)
        z = place[: len(X)]
        np.multiply(X, scale, dtype=np.float64, out=z[:, :-1])
        z[:, :-1] -= shift
        z[:, -1] = 1.0
        return z

    def blocks(
        self, scale: Array, shift: Array, rows: int, start: int = 0, stop: int | None = None
    ) -> Iterator[tuple[slice, Array, Array]]:
        """Slices of rows, their sqrt(omega) (scale x - shift, 1) and sqrt(omega) (scale y - shift).

        scale and shift are (p + k,), or (p,) for X alone. The first array (rows, p + 1) is reused.
        """
        p, stop = self.p, self.n if stop is None else stop
        place = np.empty((min(rows, stop - start), p + 1))
        for i in range(start, stop, rows):
            part = slice(i, min(i + rows, stop))
            z = self.in_units(part, scale[:p], shift[:p], place)
            y = self.Y[part, : len(scale) - p] * scale[p:] - shift[p:]
            if len(self.omega):
                root = np.sqrt(self.omega[part, None])
                z *= root
                y *= root
            yield part, z, y

    def first_mean(self, scale: Array) -> Array:
        """About where the rows are: the mean of the first ones, exact for constant columns.

        Of a row that outweighs all others that row: of weight 1e60 it leaves no digit of the
        others' squares unless it is zero itself.
        """
        some = slice(FIRST_ROWS)
        if len(self.omega) and self.omega.max() > HEAVY * self.omega.sum():
            i = int(np.argmax(self.omega))
            some = slice(i, i + 1)
        # The same bits whatever X is: a sum over columns of another layout has another order.
        x, y = np.ascontiguousarray(self.dense(some), dtype=np.float64), self.Y[some]
        if not len(x):
            return np.zeros(len(scale))
        means = [each[0] + (each - each[0]).sum(axis=0) / len(each) for each in (x, y)]
        shift = np.concatenate(means) * scale
        return np.where(np.isfinite(shift), shift, 0.0)

    def exponents(self) -> NDArray[np.int64]:
        """Powers of two of columns of X and Y whose squares may leave float64's range; else 0."""
        if not self.n:
            return np.zeros(self.p + self.Y.shape[1], dtype=np.int64)
        low, high = extremes(self.X)
        top = np.append(np.maximum(-low, high), np.abs(self.Y).max(axis=0))
        e = np.where(np.isfinite(top), np.frexp(top)[1], 0).astype(np.int64)
        return np.where(np.abs(e) > SAFE_EXPONENT, np.maximum(e, -LARGEST_EXPONENT), 0)

    def in_safe_units(self, sums: Callable[[NDArray[np.int64]], M]) -> M:
        """sums(exponent) of columns divided by powers of two, which are zero unless sums of
        columns as they are may leave float64's range."""
        zeros = np.zeros(self.p + self.Y.shape[1], dtype=np.int64)
        m = sums(zeros)
        # No number is farther from the mean than the root of the sum of squares, and a column is
        # tiny only if both are: unless weights are very large or small.
        size = (np.abs(m.mean) + m.spread).reshape(-1, len(zeros)).max(axis=0)
        most, least = 2.0**SAFE_EXPONENT, 2.0**-SAFE_EXPONENT
        usual = not len(self.omega) or (self.omega.min() > least and self.omega.max() < most)
        if usual and size.min(initial=1.0) > least and size.max(initial=0.0) < most:
            return m
        e = self.exponents()
        return sums(e) if e.any() else m

    def products(self, scale: Array, mean: Array, V: Array) -> tuple[Array, int]:
        """(A V)'A V, A the rows about the mean, and how many numbers were added up, at most."""
        size, K = block_rows(self.p), np.zeros(V.shape)
        for _, z, _ in self.blocks(scale, mean, size):
            B = z[:, :-1] @ V
            K += B.T @ B
        return K, min(size, self.n) + self.n // size + 16

    def gradient(
        self, scale: Array, which: NDArray[np.int64], theta: Array, low: Array
    ) -> Gradient:
        """Of targets `which`, at theta + low (p + 1, k), for columns times scale (p + k,)."""
        if not self.n:
            return Gradient(np.zeros_like(theta), np.zeros_like(theta), np.zeros(len(which)), 0)
        high, tail = np.ascontiguousarray(theta.T), np.ascontiguousarray(low.T)
        scale_y = scale[self.p :][which]
        size = min(max(BLOCK // (2 * LANES * (self.p + 1)), 4), MAX_GROUPS)

        def of_piece(i: int, j: int) -> Gradient:
            g, squares = np.zeros((2, *high.shape)), np.zeros(len(which))
            groups = min(size, -(-(j - i) // LANES))
            columns = np.empty((groups, self.p + 1 + self.X_low.shape[1], LANES))
            for start in range(i, j, groups * LANES):
                part = slice(start, min(start + groups * LANES, j))
                X = np.ascontiguousarray(self.dense(part), dtype=np.float64)
                Y = np.ascontiguousarray((self.Y[part][:, which] * scale_y).T)
                known = self.X_low[part], scale, Y, self.omega[part], high, tail
                add_gradients(X, *known, columns, *g, squares)
            # Tails of a block lose as many u^2 as its groups squared, blocks some u^2 each.
            added = groups * groups // 4 + (j - i) // (groups * LANES) + LANES
            return Gradient(g[0].T, g[1].T, squares, added)

        return reduce(add, over_pieces(of_piece, self.n, self.p + 1))


@dataclass(frozen=True, eq=False)
class Gradient(Result):
    """Sums of omega (x, 1) r, high and low parts (q, k), and of omega r^2 (k,).

    r = y - (x, 1)'theta. Gradients of blocks merge with +.

    added : how many numbers were added in a row, at most. Sums over column j are off by at most
        8 added u^2 |column j| |r|.
    """

    g: Array
    low: Array
    squares: Array
    added: int

    def __add__(self, other: Gradient) -> Gradient:
        g, low = add_exactly(self.g, self.low + other.low, other.g)
        return Gradient(g, low, self.squares + other.squares, self.added + other.added + 4)


def two_sums(a: Array, b: Array) -> tuple[Array, Array]:
    """a + b = high + low exactly (Knuth 1969)."""
    high = a + b
    t = high - a
    return high, (a - (high - t)) + (b - t)


def add_exactly(high: Array, low: Array, more: Array) -> tuple[Array, Array]:
    """high + low + more with twice the digits of float64."""
    total, error = two_sums(high, more)
    return two_sums(total, low + error)


def extremes(X: Any) -> tuple[Array, Array]:
    """The least and the largest number of every column; CSR X has no duplicates."""
    if is_sparse(X):
        full = np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]
        low, high = np.where(full, np.inf, 0.0), np.where(full, -np.inf, 0.0)
        np.minimum.at(low, X.indices, X.data)
        np.maximum.at(high, X.indices, X.data)
    else:
        # numpy reduces rows of few numbers slowly along an axis: several are compared as one.
        n, p = X.shape
        many = max(LONG_ROW // p, 1) if X.flags.c_contiguous and p else 1
        long = X[: n // many * many].reshape(-1, many * p)
        ends = []
        for f, none in ((np.minimum, np.inf), (np.maximum, -np.inf)):
            most = f.reduce(long, axis=0, initial=none).reshape(many, p)
            ends.append(f.reduce(np.vstack([most, X[n // many * many :]]), axis=0))
        low, high = ends
    return low.astype(np.float64), high.astype(np.float64)


def merged(blocks: Iterable[Any], expected: str, of: Callable[..., T]) -> T:
    """of(*block) of all blocks, merged with + in a tree of fixed shape; errors name the block."""
    sums: Reduction[T] = Reduction(add)
    for i, block in blocks_of(blocks, expected):
        try:
            part = of(*block)
        except (ValueError, TypeError) as error:
            raise named(error, f"blocks[{i}]") from None
        sums.push(part)
    return sums.total()


def block_rows(q: int) -> int:
    """Rows of a block of q columns: so many that to add up q x q products takes little time."""
    return max(min(max(BLOCK // (q + 1), 256), 4096), min(2 * q, TALLEST))
