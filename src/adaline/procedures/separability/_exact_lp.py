"""The last resort: a simplex in whole numbers, on as many rows as it needs and no more.

    minimise sum a    with  Y'lambda + S a = 0,  1'lambda = 1,  lambda, a >= 0

with one artificial a_j a column, of sign S_j. Its optimum is zero where rows sum to zero with
positive multipliers lambda; else its prices w have y'w > 0 on every row it knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adaline._jit.working_time import working_time
from adaline.integers import Matrix, Vector, dot, reduced


@dataclass(frozen=True)
class Answer:
    """Either weights w that are positive on the rows, or multipliers of rows that sum to zero."""

    w: Vector | None
    rows: list[int]
    multipliers: Vector


class OutOfTime(Exception):
    """The deadline passed."""


class ExactSimplex:
    """A basis of k + 1 columns and its inverse in whole numbers, kept while rows are added.

    The inverse is `inverse / scale` (integer pivoting: entries are minors of the basis, every
    division leaves no rest). Basic variables are rows (numbers >= 0) or artificials (-1 - j).
    """

    def __init__(self, width: int, deadline: float | None = None) -> None:
        self.k, self.deadline = width, deadline
        self.rows: Matrix = []
        self.basis: list[int] = []
        self.inverse: Matrix = []
        self.scale = 1

    def add(self, rows: Sequence[Vector]) -> None:
        """Know further rows; the first of all begins the basis."""
        for row in rows:
            if not self.rows:
                self._begin(row)
            self.rows.append(row)

    def _begin(self, y: Vector) -> None:
        k = self.k
        signs = [-1 if a > 0 else 1 for a in y]
        self.inverse = [
            [*(signs[j] if i == j else 0 for i in range(k)), -signs[j] * y[j]] for j in range(k)
        ]
        self.inverse.append([*([0] * k), 1])
        self.basis = [*(-1 - j for j in range(k)), 0]

    def solve(self) -> Answer:
        """Pivot until the rows known so far are all positive, or some sum to zero."""
        degenerate = False
        while True:
            if self.deadline is not None and working_time() > self.deadline:
                raise OutOfTime
            # Prices times the scale: the sum of the artificials' rows of the inverse.
            artificial = [r for b, r in zip(self.basis, self.inverse, strict=True) if b < 0]
            prices = [sum(column) for column in zip(*artificial, strict=True)] or [0] * (self.k + 1)
            if prices[-1] == 0:  # the optimum so far: artificials are all zero
                return self._multipliers()
            if (entering := self._entering(prices, degenerate)) is None:
                return Answer(reduced([-a for a in prices[:-1]]), [], [])
            degenerate = self._pivot(entering)

    def _entering(self, prices: Vector, degenerate: bool) -> int | None:
        """A row with y'w < t: the worst, or the first after a pivot without change (Bland)."""
        best, found = 0, None
        for i, y in enumerate(self.rows):
            value = dot(prices, y) + prices[-1]  # the last price is that of the 1
            if value > best:
                best, found = value, i
                if degenerate:
                    break
        return found

    def _pivot(self, entering: int) -> bool:
        """Exchange; true where the solution stays where it is."""
        column = [*self.rows[entering], 1]
        d = [dot(row, column) for row in self.inverse]
        r, best = -1, (0, 1)
        for i, a in enumerate(d):
            if a > 0:
                x = self.inverse[i][-1]
                lower = x * best[1] - best[0] * a
                if r < 0 or lower < 0 or (lower == 0 and self.basis[i] < self.basis[r]):
                    r, best = i, (x, a)
        head, pivot, scale = self.inverse[r], d[r], self.scale
        for i, row in enumerate(self.inverse):
            if i != r and d[i]:
                f = d[i]
                self.inverse[i] = [
                    (a * pivot - f * b) // scale for a, b in zip(row, head, strict=True)
                ]
            elif i != r:
                self.inverse[i] = [a * pivot // scale for a in row]
        self.scale, self.basis[r] = pivot, entering
        return best[0] == 0

    def _multipliers(self) -> Answer:
        found = [
            (b, row[-1])
            for b, row in zip(self.basis, self.inverse, strict=True)
            if b >= 0 and row[-1] > 0
        ]
        return Answer(None, [b for b, _ in found], reduced([x for _, x in found]))
