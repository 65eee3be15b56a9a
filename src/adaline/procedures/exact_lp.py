"""Separating weights in whole numbers: a simplex for rows y, and the spaces of weights it searches.

Called by separability, for what floats cannot decide. The simplex solves

    minimise sum a    with  Y'lambda + S a = 0,  1'lambda = 1,  lambda, a >= 0

with one artificial a_j for each column, of sign S_j. Its optimum is zero where rows sum to zero
with positive multipliers lambda; else its prices w have y'w > 0 on every row it knows.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from adaline import integers
from adaline.certificates.separation import checking
from adaline.certificates.separation.checking import TooLarge
from adaline.certificates.separation.rows import Ints, SignedRows
from adaline.integers import Matrix, Vector
from adaline.results import Array


@dataclass(frozen=True)
class Answer:
    """Either weights w that are positive on the rows, or multipliers of rows that sum to zero."""

    w: Vector | None
    rows: list[int]
    multipliers: Vector


class OutOfTime(Exception):
    """The deadline passed."""


def require_time(deadline: float | None) -> None:
    if deadline is not None and time.thread_time() > deadline:
        raise OutOfTime


class ExactSimplex:
    """A basis of k + 1 columns and its inverse in whole numbers, kept while rows are added.

    The inverse is `inverse / scale` (integer pivoting: entries are minors of the basis, and every
    division is exact). Basic variables are rows (numbers >= 0) or artificials (-1 - j).
    """

    def __init__(self, width: int, deadline: float | None = None) -> None:
        self.k, self.deadline = width, deadline
        self.rows: Matrix = []
        self.basis: list[int] = []
        self.inverse: Matrix = []
        self.scale = 1

    def add(self, rows: Sequence[Vector]) -> None:
        """Know further rows; the first of all begins the basis, together with all artificials."""
        if not self.rows:
            y, k = rows[0], self.k
            signs = [-1 if a > 0 else 1 for a in y]
            self.inverse = [
                [*(signs[j] if i == j else 0 for i in range(k)), -signs[j] * y[j]] for j in range(k)
            ]
            self.inverse.append([*([0] * k), 1])
            self.basis = [*(-1 - j for j in range(k)), 0]
        self.rows += rows

    def solve(self) -> Answer:
        """Pivot until the rows known so far are all positive, or some sum to zero."""
        degenerate = False
        while True:
            require_time(self.deadline)
            # Prices times the scale: the sum of the artificials' rows of the inverse.
            artificial = [r for b, r in zip(self.basis, self.inverse, strict=True) if b < 0]
            prices = [sum(column) for column in zip(*artificial, strict=True)] or [0] * (self.k + 1)
            if prices[-1] == 0:  # the optimum so far: artificials are all zero
                basic = zip(self.basis, self.inverse, strict=True)
                used = [(b, row[-1]) for b, row in basic if b >= 0 and row[-1] > 0]
                return Answer(None, [b for b, _ in used], integers.reduced([x for _, x in used]))
            entering = self.choose_entering(prices, degenerate)
            if entering is None:
                return Answer(integers.reduced([-a for a in prices[:-1]]), [], [])
            degenerate = self.pivot(entering)

    def choose_entering(self, prices: Vector, degenerate: bool) -> int | None:
        """A row with y'w < t: the worst, or the first after a pivot without change (Bland)."""
        best, entering = 0, None
        for i, y in enumerate(self.rows):
            value = integers.dot(prices, y) + prices[-1]  # the last price is that of the 1
            if value > best:
                best, entering = value, i
                if degenerate:
                    break
        return entering

    def pivot(self, entering: int) -> bool:
        """Exchange a basic variable; true where the solution stays where it is."""
        column = [*self.rows[entering], 1]
        d = [integers.dot(row, column) for row in self.inverse]
        r, best = -1, (0, 1)
        for i, a in enumerate(d):
            if a > 0:
                x = self.inverse[i][-1]
                lower = x * best[1] - best[0] * a
                if r < 0 or lower < 0 or (lower == 0 and self.basis[i] < self.basis[r]):
                    r, best = i, (x, a)
        head, pivot, scale = self.inverse[r], d[r], self.scale
        for i, row in enumerate(self.inverse):
            if i != r:
                f = d[i]
                pairs = zip(row, head, strict=True)
                self.inverse[i] = [(a * pivot - f * b) // scale for a, b in pairs]
        self.scale, self.basis[r] = pivot, entering
        return best[0] == 0


class WeightSpace:
    """All weights, or those orthogonal to the rows of a support, in integer coordinates.

    Where there are more columns than rows, independent columns are enough: what any weights can
    do, weights of these can. `basis` is that of the weights orthogonal to the support, and `chosen`
    says that independent columns were chosen, modulo a prime.
    """

    def __init__(self, rows: SignedRows) -> None:
        self.rows = rows
        self.basis: Matrix | None = None
        self.chosen = False

    @cached_property
    def columns(self) -> Ints:
        """Columns that carry weights."""
        columns = checking.used_columns(self.rows)
        if len(columns) <= self.rows.n:
            return columns
        if self.rows.n > checking.WIDEST:
            raise TooLarge(
                f"{self.rows.n} rows of {len(columns)} columns are too many for integers"
            )
        X, columns = self.rows.samples(np.arange(self.rows.n))
        _, chosen = integers.independent(integers.integer_rows(X, integers.least_exponents(X)))
        self.chosen = True
        return np.asarray(columns[chosen])

    @property
    def full(self) -> int:
        return (self.rows.K - 1) * len(self.columns)

    @property
    def width(self) -> int:
        return self.full if self.basis is None else len(self.basis)

    def signed(self, numbers: list[int]) -> Matrix:
        """Signed rows in integers, before any restriction."""
        return self.rows.integers(numbers, self.rows.grains, self.columns)[0]

    def matrix(self, numbers: list[int]) -> Matrix:
        """Signed rows in the coordinates of this space."""
        matrix = self.signed(numbers)
        if self.basis is None:
            return matrix
        return [[integers.dot(row, z) for z in self.basis] for row in matrix]

    def weights(self, coordinates: list[int]) -> list[list[int]]:
        """Weights W (K - 1, D) of the samples."""
        z = coordinates if self.basis is None else integers.combination(coordinates, self.basis)
        rows = self.rows
        return checking.weights_of(
            integers.reduced(z), self.columns, rows.grains[self.columns], rows.K, rows.D
        )

    def restrict(self, support: list[int]) -> bool:
        """Keep only weights orthogonal to the support's rows; False where none are left."""
        if len(support) > self.full:
            matrix, _, _ = self.rows.integers(support)
            if len(integers.independent(matrix)[0]) == self.full:
                return False
        if self.full > checking.WIDEST:
            raise TooLarge(
                f"{self.full} weights are more than the {checking.WIDEST} with exact null spaces"
            )
        self.basis = integers.null_space(self.signed(support), self.full)
        return bool(self.basis)

    def beyond(self, active: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which active rows some weights of this space are not orthogonal to."""
        assert self.basis is not None
        rng = np.random.default_rng(2)
        mixed = self.weights([int(a) for a in rng.integers(1, 2**20, len(self.basis))])
        signs, _ = self.rows.sides(mixed, ~active)
        left = np.asarray(active & (signs != 0))
        rest, k = np.flatnonzero(active & ~left), len(self.basis)
        units = (self.weights([int(i == j) for i in range(k)]) for j in range(k))
        left[rest] = checking.are_moved(self.rows, units, rest)
        return left

    # ---- in floats

    def orthonormal(self) -> Array:
        """Q, an orthonormal basis of this space for float rows."""
        assert self.basis is not None
        rows, columns, self.shifts = self.rows, [], list[int]()
        grains = rows.grains[self.columns]
        for z in self.basis:
            U, f = rows.floats(checking.weights_of(z, self.columns, grains, rows.K, rows.D))
            columns.append(U.ravel())
            self.shifts.append(f - int(grains.max()))  # as checking.weights_of multiplied by it
        Q, self.R = np.linalg.qr(np.array(columns).T)
        return Q

    def rounded(self, u: Array, least: float) -> list[list[int]] | None:
        """Weights of the samples that are, exactly, in this space and about u in floats."""
        if self.basis is None:
            return self.rows.from_floats(to_integers(u, least))
        a = np.linalg.lstsq(self.R, u, rcond=None)[0]
        if not a.any() or not np.isfinite(a).all():
            return None
        factors = zip(to_integers(a), self.shifts, strict=True)
        return self.weights([b << (max(self.shifts) - f) for b, f in factors])


def to_integers(u: Array, least: float = 0.0) -> list[int]:
    """Whole numbers proportional to about u, in no more bits than needed.

    Rounding u moves u'z by less than a quarter of `least` for unit z; it keeps 8 bits at least.
    """
    top = math.frexp(float(np.abs(u).max()))[1]
    grain = top - 62
    if least > 0.0:
        grain = max(grain, math.frexp(least / math.sqrt(len(u)))[1] - 3)
    grain = min(grain, top - 8)
    m, e = integers.dyadic(np.rint(np.ldexp(u, -grain)))
    lowest = int(e[m != 0].min())
    return [a << (b - lowest) if a else 0 for a, b in zip(m.tolist(), e.tolist(), strict=True)]
