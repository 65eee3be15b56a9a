"""The penalty of least approximate leave-one-out loss, and the units in which it measures columns.

From larger penalties to smaller ones, a decade at a time, each fit starts at the last. The search
ends where the loss has risen twice, where next to nothing is left of it (classes that a hyperplane
separates), or where a fit does not converge; parabolas finish it. Two searches are made: with
columns as they are, and in units of their standard deviations. Where rows are too many, or columns
too many for a matrix of columns x columns, a spread sample of rows is searched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from adaline.objective import Objective
from adaline.procedures.newton._leave_one_out import leave_one_out
from adaline.procedures.newton._row_space import row_space
from adaline.procedures.newton.newton import Minimum, Penalty
from adaline.procedures.newton.rows import scatters
from adaline.results import Array
from adaline.tiles import is_sparse

_FIRST, _LEAST, _LARGEST = 1, -6, 6  # decades about the middle: where to begin, and the bounds
_WEAKEST = 1e-4  # penalty of columns of deviation 1, at least: weights of 100 are not unexpected
_LARGE = 2**22  # numbers in the rows, times classes, from which a search ends after _WORSE decades
_WORSE = 3  # that are no better than the best before; there may be several minima
_NOTHING = 1e-3  # share of the loss without features that is next to nothing
_ALIKE = 2.0  # deviations that differ by less make no choice worth its time
_RANGE = 1e100  # deviations from 1/_RANGE to _RANGE have squares well inside float64
_SAMPLE = 500  # rows of which the n x n side is searched, at most
_WORK = 5e10  # products for the curvature of one fit that are affordable

Solve = Callable[[Objective, Array | None], Minimum]


def best_penalty(loss: Objective, minimum: Solve) -> tuple[list[Penalty], Array | None]:
    """Penalties, the best first, and a theta near its minimum, from minimum(objective, start).

    The others are for where rounding hides that minimum: larger ones, then those in other units.
    """
    rows = _sample(loss)
    searches = [_Search.of(rows, units, minimum) for units in _units(loss)]
    for search in searches:
        search.scan()
        search.refine()
    searches.sort(key=lambda search: search.scores[search.best()])
    searches[0].refine()
    found = [(s.middle * 10.0 ** (s.best() + d), s.units) for s in searches for d in (0, 1, 2, 4)]
    return found, searches[0].theta() if rows is loss else None


def _units(loss: Objective) -> list[Array | None]:
    """Standard deviations (1 of constants) where they differ and can be used; the own units."""
    deviation = np.sqrt(scatters(loss) / loss.weight)
    some = deviation[deviation > 0]
    if not len(some) or (is_sparse(loss.X) and loss.is_wide):
        return [None]
    low, high = float(some.min()), float(some.max())
    if low < 1.0 / _RANGE or not high < _RANGE or high <= _ALIKE * low:
        return [None]
    return [np.where(deviation > 0, deviation, 1.0), None]


def _sample(loss: Objective) -> Objective:
    """The rows, or a spread sample of so many that a search is affordable."""
    n, q = loss.X.shape[0], len(loss.penalty)
    few = _SAMPLE if loss.is_wide else max(int(_WORK / (loss.K * q * q)), _SAMPLE)
    stride = -(-n // few)
    if stride == 1:
        return loss
    thin = loss.thinned(stride)
    # alpha does not depend on how many rows there are: it is 1 / variance of a prior.
    omega = loss.omega[::stride] if len(loss.omega) else np.ones(thin.X.shape[0])
    return replace(thin, omega=np.ascontiguousarray(omega))


@dataclass
class _Search:
    """Leave-one-out losses by penalty, in decades about `middle`, in one kind of units.

    back : weights of all columns from those of as many numbers as rows, where these are searched.
    """

    loss: Objective
    units: Array | None
    middle: float
    minimum: Solve
    back: Callable[[Array, Array], Array] | None = None
    scores: dict[float, float] = field(default_factory=dict)
    thetas: dict[float, Array] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Objective, units: Array | None, minimum: Solve) -> _Search:
        """In the columns' own units, or in these (p,)."""
        middle = rows.weight if units is not None else float(np.median(scatters(rows)))
        middle = middle if 0.0 < middle < np.inf else 1.0
        if rows.X.shape[0] >= len(rows.penalty):
            return cls(rows, units, middle, minimum)
        few, back = row_space(rows.with_penalty(middle, units))
        return cls(few, units, middle, minimum, back)

    def score(self, decade: float) -> float:
        """The loss at the penalty middle * 10**decade."""
        if decade not in self.scores:
            alpha = 10.0**decade if self.back else self.middle * 10.0**decade
            here = self.loss.with_penalty(alpha, None if self.back else self.units)
            near = min(self.thetas, key=lambda d: abs(d - decade), default=None)
            start = None if near is None else self.thetas[near]
            theta, root, converged = self.minimum(here, start)
            found = leave_one_out(here, theta, root) if converged else np.inf
            self.scores[decade] = found if np.isfinite(found) else np.inf
            if np.isfinite(found):
                self.thetas[decade] = theta
        return self.scores[decade]

    def scan(self) -> None:
        """Whole decades from the first down, and up where the first was the best."""
        nothing = _NOTHING * self.loss.loss.null(self.loss) / self.loss.weight
        worse, least, decade = 0, np.inf, float(_FIRST)
        last = max(_LEAST, np.log10(_WEAKEST / self.loss.weight))
        large = self.loss.K * self.loss.n * len(self.loss.penalty) > _LARGE
        while decade >= last and not (large and worse == _WORSE) and least > nothing:
            here = self.score(decade)
            worse, least, decade = worse + 1 if here >= least else 0, min(here, least), decade - 1
        decade = float(_FIRST)
        while self.best() == decade < _LARGEST:
            decade += 1
            self.score(decade)

    def refine(self) -> None:
        """One more penalty: the vertex of the parabola through the best one and its neighbours."""
        x = self.best()
        below, above = [d for d in self.scores if d < x], [d for d in self.scores if d > x]
        if not below or not above:
            return
        u, v = max(below) - x, min(above) - x
        f, g = self.scores[x + u] - self.scores[x], self.scores[x + v] - self.scores[x]
        if np.isfinite(f) and np.isfinite(g) and f * v - g * u > 0:
            vertex = 0.5 * (f * v * v - g * u * u) / (f * v - g * u)
            # On a flat curve the last digits of a vertex are rounding of f and g.
            self.score(x + round(vertex, 3))

    def best(self) -> float:
        """The decade of least loss; of equal ones the largest penalty."""
        return min(self.scores, key=lambda decade: (self.scores[decade], -decade))

    def theta(self) -> Array | None:
        """The minimum at the best penalty, for all columns."""
        theta = self.thetas.get(self.best())
        if theta is None or self.back is None:
            return theta
        return self.back(*self.loss.original(theta))
