"""The penalty of least approximate leave-one-out loss, and the units in which it measures columns.

One Newton step from the minimum for all rows to that without row i moves its value v_i by

    B s / (1 - B c),    B = z'H^-1 z,  s = dloss/dv,  c = d2loss/dv2    (matrices for K classes)

so that no fit is repeated for a row. A row of weight omega is omega rows, of which one is left out;
one of weight below 1 is a row of less trust, and left out whole.

From larger penalties to smaller ones, a decade at a time, each fit starts at the last. The search
ends where a few decades were no better, or where next to nothing is left of the loss (classes that
a hyperplane separates); a parabola finishes it. Two searches are made: in units of the columns'
standard deviations, and with columns as they are, which begins where the first found the best.
Where rows are too many, a spread sample of them is searched.

Called by `estimators.newton` for alpha="auto" of logistic regression. Constants: bench_logistic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from adaline.certificates.bounds import regular
from adaline.linalg import Factor
from adaline.parameters import is_sparse
from adaline.procedures.krylov import standard_units
from adaline.procedures.newton import begin, descend, newton
from adaline.procedures.starts import row_space
from adaline.results import Array, NewtonFit, Steps, Stepwise, finished
from adaline.sums.objective import JOINT, Objective

FIRST, LEAST, LARGEST = 1.0, -6.0, 6.0  # decades about the middle: where to begin, and the bounds
WEAKEST = 1e-4  # penalty of columns of deviation 1, at least: weights of 100 are not unexpected
WORSE = 3  # decades in a row, no better than the best, that end a search; 2 where rows are large
LARGE = 2**22  # numbers in the rows, times classes, from which a decade more is dear
NEAR = 1.1  # times the least loss: other units with more than that lose, without a parabola
NOTHING = 1e-3  # share of the loss without features that is next to nothing
WORK = 5e10  # products for the curvature of one fit that are affordable
SAMPLE = 500  # rows of a wide table that are searched, at most
LEFT_OUT = 1024  # rows that are left out, at most, of 256 columns or more
NEARNESS = 1e-3  # nu at a minimum, over the root of the weight of all rows

Penalty = tuple[float, Array | None]  # alpha, and the units (p,) of the columns where not their own


@Stepwise
def newton_auto(
    objective: Objective, max_iter: int, tol: float
) -> Steps[tuple[NewtonFit, Penalty]]:
    """The fit of least approximate leave-one-out loss, and its penalty.

    Where it is so small that rounding hides the minimum, a larger one is taken.
    """
    penalties, start = best_penalty(objective, max_iter)
    for penalty in penalties:
        fit = yield from newton.steps(objective.with_penalty(*penalty), max_iter, tol, start)
        if fit.outcome not in ("rounding", "max_iter"):
            break
        start = None
    return fit, penalty


def best_penalty(objective: Objective, max_iter: int) -> tuple[list[Penalty], Array | None]:
    """Penalties, the best first, and a theta near its minimum.

    The others are for where rounding hides that minimum: larger ones, then those in other units.
    """
    rows = _sample(objective)
    searches = [_Search.of(rows, units, max_iter) for units in _units(objective)]
    first = FIRST
    for search in searches:
        first = search.scan(first)
    searches.sort(key=_Search.least)
    for search in searches:
        if search.least() <= NEAR * searches[0].least():
            search.refine()
    searches.sort(key=_Search.least)
    searches[0].refine()
    ranked = [(s.middle * 10.0 ** (s.best() + d), s.units) for s in searches for d in (0, 1, 2, 4)]
    return ranked, searches[0].theta() if rows is objective else None


def scatters(objective: Objective) -> Array:
    """Sum of omega (x_j - mean_j)^2 of each column of X, (p,); with no bias, of omega x_j^2.

    The mean is weighted too, so that a weight of 2 is a row given twice. Infinite where the sum
    leaves float64.
    """
    rows = objective.rows

    def of(blocks: Iterator[tuple[slice, Array]]) -> Array:
        each = ((rows.weights[k], Z[:, :-1]) for k, Z in blocks)
        return sum(np.stack([omega @ (Z * Z), omega @ Z]) for omega, Z in each)  # type: ignore[return-value]

    G = np.sum(rows.over_blocks(of, True), axis=0)
    about = G[1] ** 2 / rows.weight if rows.intercept else 0.0
    with np.errstate(over="ignore"):
        scatter = np.maximum(G[0] - about, 0.0) / rows.scale / rows.scale * rows.unit
    return np.asarray(scatter)


def _units(objective: Objective) -> list[Array | None]:
    """Standard deviations (1 of constants) where they differ and can be used; the own units."""
    rows = objective.rows
    if is_sparse(rows.X) and rows.is_wide:
        return [None]
    units = standard_units(np.sqrt(scatters(objective) / (rows.weight * rows.unit)))
    return [None] if units is None else [units, None]


def _sample(objective: Objective) -> Objective:
    """The rows, or a spread sample of so many that a search is affordable.

    alpha does not depend on how many rows there are: it is 1 / variance of a prior.
    """
    few = max(int(WORK / (objective.K * objective.q**2)), SAMPLE)
    stride = -(-objective.rows.n // (SAMPLE if objective.rows.is_wide else few))
    return objective if stride == 1 else objective.every(stride)


@dataclass
class _Search:
    """Leave-one-out losses by penalty, in decades about `middle`, in one kind of units.

    back gives weights of all columns from those of as many numbers as rows, where these are
    searched.
    """

    of_rows: Objective
    units: Array | None
    middle: float
    max_iter: int
    back: Callable[[Array], Array] | None = None
    scores: dict[float, float] = field(default_factory=dict)
    thetas: dict[float, Array] = field(default_factory=dict)

    @classmethod
    def of(cls, objective: Objective, units: Array | None, max_iter: int) -> _Search:
        """In the columns' own units, or in these (p,)."""
        rows = objective.rows
        middle = rows.weight * rows.unit
        if units is None:
            middle = float(np.median(scatters(objective)))
        middle = middle if 0.0 < middle < np.inf else 1.0
        if rows.n >= objective.q:
            return cls(objective, units, middle, max_iter)
        few, back = row_space(objective.with_penalty(middle, units))
        return cls(few, units, middle, max_iter, back)

    def score(self, decade: float) -> float:
        """The loss at the penalty middle * 10**decade."""
        if decade not in self.scores:
            problem = self._at(decade)
            near = min(self.thetas, key=lambda d: abs(d - decade), default=None)
            first = problem.loss.start(problem.rows, problem.K)
            start = first if near is None else self.thetas[near]
            goal = NEARNESS * float(np.sqrt(problem.weight))
            state = begin(problem, start, goal)
            ended = finished(descend(state, goal, self.max_iter))
            loss = leave_one_out(problem, state.theta) if ended == "converged" else np.inf
            self.scores[decade] = loss if np.isfinite(loss) else np.inf
            if np.isfinite(loss):
                self.thetas[decade] = state.theta
        return self.scores[decade]

    def _at(self, decade: float) -> Objective:
        if self.back:
            penalty = np.append(np.full(self.of_rows.q - 1, 10.0**decade), 0.0)
            return replace(self.of_rows, penalty=penalty)
        return self.of_rows.with_penalty(self.middle * 10.0**decade, self.units)

    def scan(self, first: float) -> float:
        """Whole decades from the first down, and up where the first was the best.

        The answer is where a search in other units may begin: a decade above the best, or at the
        first where next to nothing is left of the loss. Where columns outnumber the rows there may
        be several minima, and all decades are tried.
        """
        rows, K = self.of_rows.rows, self.of_rows.K
        nothing = NOTHING * self.of_rows.loss.null(rows, K) / rows.weight
        worse, least, decade = 0, np.inf, first
        last = max(LEAST, np.log10(WEAKEST / (rows.weight * rows.unit)))
        most = np.inf if self.back else WORSE - (K * rows.n * rows.q > LARGE)
        while decade >= last and worse < most and least > nothing:
            score = self.score(decade)
            worse, least, decade = worse + 1 if score >= least else 0, min(score, least), decade - 1
        decade = first
        while self.best() == decade < LARGEST:
            decade += 1
            self.score(decade)
        return FIRST if least <= nothing or self.back else self.best() + 1

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
        return self.scores[self.best()]

    def theta(self) -> Array | None:
        theta = self.thetas.get(self.best())
        return theta if theta is None or self.back is None else self.back(theta)


def leave_one_out(objective: Objective, theta: Array) -> float:
    """Mean approximate leave-one-out loss at the minimum.

    Infinite where rounding has spoiled it: no row is predicted better by a fit without it. Where K
    classes make H too large for one matrix, each class is measured by itself, as if its Hessian
    were K/(K - 1) times its own block.
    """
    K, q = objective.K, objective.q
    joint = K == 1 or K * q <= JOINT
    H = objective.sums(theta, "joint" if joint else "blocks").H
    assert H is not None
    roots = [Factor(each).root() for each in ([regular(H, K)] if joint else H)]
    many = q > 256 and objective.rows.n > LEFT_OUT
    some = objective.every(-(-objective.rows.n // LEFT_OUT)) if many else objective
    rows, V = some.rows, some.values(theta)
    # In the weights of X a row of weight 1 is left out whole.
    copy = np.minimum(rows.weights * rows.unit, 1.0) / rows.unit
    fitted = _values(some, V)
    if K == 1:
        _, slope, bent, _ = some.loss.parts(V[:, 0], rows.Y)
        B = copy * rows.squares(roots[0])
        moved = (B * slope / np.maximum(1.0 - bent * B, 1e-3))[:, None]
    else:
        moved = _moved_classes(some, V, roots, copy)
    each = _values(some, V + moved)
    if np.any(each < fitted - 1e-6 * (1.0 + fitted)):
        return np.inf
    return float(rows.weights @ each) / rows.weight


def _values(objective: Objective, V: Array) -> Array:
    return objective.loss.parts(V[:, 0] if objective.K == 1 else V.T, objective.rows.Y).value


def _moved_classes(objective: Objective, V: Array, roots: list[Array], copy: Array) -> Array:
    """How far the values (n, K) of a row move without one copy of it."""
    rows, K, q = objective.rows, objective.K, objective.q
    _, slope, P, _ = objective.loss.parts(V.T, rows.Y)
    slope, P = slope.T, P.T
    if len(roots) > 1:
        more, moved = K / (K - 1), np.empty_like(P)
        for k, A in enumerate(roots):
            B, p = copy * rows.squares(A), P[:, k]
            moved[:, k] = B * slope[:, k] / np.maximum(1.0 - more * p * (1.0 - p) * B, 1e-3)
        return moved
    T = [rows.project(A) for A in roots[0].reshape(K, q, -1)]
    B = np.array([[np.einsum("ij,ij->i", a, b) for a in T] for b in T]).transpose(2, 0, 1)
    B = copy[:, None, None] * B
    # I - S B with S = diag(p) - p p'
    kept = np.eye(K) - P[:, :, None] * (B - np.einsum("ik,ikm->im", P, B)[:, None, :])
    moved = np.linalg.solve(kept, slope[:, :, None])[:, :, 0]
    return np.asarray(np.einsum("ikm,im->ik", B, moved))
