"""The penalty of least approximate leave-one-out loss, and the units in which it measures columns.

From larger penalties to smaller ones, a decade at a time, each fit starts at the last, with its
Hessian. The search ends where a few decades were no better, or where next to nothing is left of the
loss (classes that a hyperplane separates); parabolas finish it. Two searches are made: in units of
the columns' standard deviations, and with columns as they are, which begins where the first found
the best. Where rows are too many, or columns too many for a matrix of columns x columns, a spread
sample of rows is searched. Where columns are many, one matrix serves all penalties at first (see
`_pooled_leverages`), and what it tells is checked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from adaline.linalg import inner
from adaline.objective import Objective
from adaline.procedures.newton._leave_one_out import leave_one_out
from adaline.procedures.newton._pooled_leverages import PooledLeverages
from adaline.procedures.newton._row_space import row_space
from adaline.procedures.newton.curvature import Curvature, hessians, with_other_penalty
from adaline.procedures.newton.newton import Minimum, Penalty
from adaline.procedures.newton.rows import scatters
from adaline.results import Array
from adaline.tiles import is_sparse

_FIRST, _LEAST, _LARGEST = 1, -6, 6  # decades about the middle: where to begin, and the bounds
_WEAKEST = 1e-4  # penalty of columns of deviation 1, at least: weights of 100 are not unexpected
_LARGE = 2**22  # numbers in the rows, times classes, from which a decade more is dear
_WORSE, _WORSE_OF_LARGE = 3, 2  # decades in a row, no better than the best, that end a scan
_NEAR = 1.1  # times the least loss: other units with more than that lose, without a parabola
_CLEARLY = 1.03  # times the least loss: pooled leverages tell of no smaller penalty after that
_NOTHING = 1e-3  # share of the loss without features that is next to nothing
_ALIKE = 2.0  # deviations that differ by less make no choice worth its time
_MANY = 256  # columns, from which leverages are pooled
_CHECKED, _AGREED = 1500, 1e-2  # rows of which they are checked, and how wrong a loss may be
_RANGE = 1e100  # deviations from 1/_RANGE to _RANGE have squares well inside float64
_SAMPLE = 500  # rows of which the n x n side is searched, at most
_WORK = 5e10  # products for the curvature of one fit that are affordable

_NEARNESS, _OF_POOLED = 1e-3, 3e-4  # nu at a minimum, over the root of the weight of all rows

Solve = Callable[[Objective, Array | None, Curvature | None, float], Minimum]


def best_penalty(loss: Objective, minimum: Solve) -> tuple[list[Penalty], Array | None]:
    """Penalties, the best first, and a theta near its minimum.

    `minimum` finds that of an objective from a start and a curvature there, where they are known,
    up to a nu.
    The others are for where rounding hides that minimum: larger ones, then those in other units.
    """
    rows = _sample(loss)
    searches = [_Search.of(rows, units, minimum) for units in _units(loss)]
    _pool(rows, searches)
    first = float(_FIRST)
    for search in searches:
        first = search.scan(first)
    searches.sort(key=_Search.least)
    for search in searches:
        if search.least() <= _NEAR * searches[0].least():
            search.refine()
    searches.sort(key=_Search.least)
    searches[0].refine()
    while searches[0].pooled is not None:
        near = (1.0 + 2.0 * _AGREED) * searches[0].least()
        for search in searches:
            if search.least() <= near:
                search.check()
        searches.sort(key=_Search.least)
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
    # alpha does not depend on how many rows there are: it is 1 / variance of a prior.
    return loss if stride == 1 else _spread(loss, stride)


def _spread(loss: Objective, stride: int) -> Objective:
    """Every stride-th row, with the weight that it has."""
    thin = loss.thinned(stride)
    omega = loss.omega[::stride] if len(loss.omega) else np.ones(thin.X.shape[0])
    return replace(thin, omega=np.ascontiguousarray(omega))


def _pool(rows: Objective, searches: list[_Search]) -> None:
    """Where columns are many, let searches begin with leverages that are pooled.

    All begin with one matrix: at theta = 0 units do not count.
    """
    if rows.K > 1 or searches[0].back is not None or len(rows.penalty) < _MANY:
        return
    root = rows.room()
    rows.at(rows.loss.start(rows), root)
    G0 = rows.gram(root)
    for search in searches:
        middle = rows.with_penalty(search.middle, search.units)
        search.pooled = PooledLeverages.of(middle, G0, root * root)


@dataclass
class _Search:
    """Leave-one-out losses by penalty, in decades about `middle`, in one kind of units.

    back : weights of all columns from those of as many numbers as rows, where these are searched.
    last : decade, penalty and Hessians of the last fit, with which the next one starts.
    pooled : how losses are found without the leverages of each row, as long as that is done.
    shares : c of the pooled Hessians.
    """

    loss: Objective
    units: Array | None
    middle: float
    minimum: Solve
    back: Callable[[Array, Array], Array] | None = None
    scores: dict[float, float] = field(default_factory=dict)
    thetas: dict[float, Array] = field(default_factory=dict)
    last: tuple[float, Array, list[Array]] | None = None
    pooled: PooledLeverages | None = None
    shares: dict[float, float] = field(default_factory=dict)

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
            here = self._at(decade)
            near = min(self.thetas, key=lambda d: abs(d - decade), default=None)
            start = None if near is None else self.thetas[near]
            about = self._about(decade, here, near)
            nu = (_OF_POOLED if self.pooled else _NEARNESS) * float(np.sqrt(here.weight))
            theta, root, converged = self.minimum(here, start, about, nu)
            self.last = None
            found = self._left_out(decade, here, theta, root) if converged else np.inf
            self.scores[decade] = found if np.isfinite(found) else np.inf
            if np.isfinite(found):
                self.thetas[decade] = theta
        return self.scores[decade]

    def _at(self, decade: float) -> Objective:
        """The objective with the penalty of this decade."""
        if self.back:
            return self.loss.with_penalty(10.0**decade)
        return self.loss.with_penalty(self.middle * 10.0**decade, self.units)

    def _left_out(self, decade: float, here: Objective, theta: Array, root: Array) -> float:
        """The leave-one-out loss at the minimum theta."""
        if self.pooled is not None:
            found, c = self.pooled.leave_one_out(here, theta, root, 10.0**decade)
            self.shares[decade] = c
            return found
        H = hessians(here, root)
        self.last = decade, here.penalty, H
        return leave_one_out(here, theta, root, H)

    def _about(self, decade: float, here: Objective, near: float | None) -> Curvature | None:
        """The curvature to start with: pooled, or that of the nearest penalty if still there."""
        if self.pooled is not None:
            c = 1.0 if near is None else self.shares[near]
            return self.pooled.curvature(10.0**decade, c)
        if self.last is None or self.last[0] != near:
            return None
        _, penalty, H = self.last
        return with_other_penalty(H, penalty, here)

    def check(self) -> None:
        """Compare the best loss by pooled leverages with that by the leverages of some rows.

        Where they differ by much, the search is made again with the leverages of each row.
        """
        x, off = self.best(), self._error(self.best())
        self.pooled = None
        if abs(off) <= _AGREED * self.least():
            self.scores = {decade: score + off for decade, score in self.scores.items()}
        else:
            self.scores = {}
            self.scan(x + 1.0)
            self.refine()

    def _error(self, decade: float) -> float:
        """How much larger the loss by the leverages of some rows is than by pooled ones."""
        if self.pooled is None or decade not in self.thetas:
            return np.inf
        here, theta, root = self._at(decade), self.thetas[decade], self.loss.room()
        here.at(theta, root)
        each, _ = self.pooled.left_out(here, theta, root, 10.0**decade)
        stride = -(-here.n // _CHECKED)
        some = _spread(here, stride)
        found = leave_one_out(some, theta, root[::stride], hessians(here, root))
        return found - inner(some.omega, each[::stride]) / some.weight

    def scan(self, first: float) -> float:
        """Whole decades from the first down, and up where the first was the best.

        The answer is where a search in other units may begin: a decade above the best, or at the
        first where next to nothing is left of the loss. Where columns outnumber the rows there may
        be several minima, and all decades are tried. Of many columns a penalty that is clearly too
        small is the last: a fit with a smaller one takes the most steps.
        """
        nothing = _NOTHING * self.loss.loss.null(self.loss) / self.loss.weight
        worse, least, decade = 0, np.inf, first
        last = max(_LEAST, np.log10(_WEAKEST / self.loss.weight))
        large = self.loss.K * self.loss.n * len(self.loss.penalty) > _LARGE
        most = np.inf if self.back else _WORSE_OF_LARGE if large else _WORSE
        while decade >= last and worse < most and least > nothing:
            here = self.score(decade)
            worse, least, decade = worse + 1 if here >= least else 0, min(here, least), decade - 1
            if self.pooled is not None and here > _CLEARLY * least:
                break
        decade = first
        while self.best() == decade < _LARGEST:
            decade += 1
            self.score(decade)
        return float(_FIRST) if least <= nothing or self.back else self.best() + 1

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

    def least(self) -> float:
        """The least loss."""
        return self.scores[self.best()]

    def theta(self) -> Array | None:
        """The minimum at the best penalty, for all columns."""
        theta = self.thetas.get(self.best())
        if theta is None or self.back is None:
            return theta
        return self.back(*self.loss.original(theta))
