"""Newton's method with few Hessians, for logistic, softmax and log-linear regression.

A step is -B g. B is a model of the inverse curvature made at some theta, corrected by the gradients
seen since (L-BFGS, Nocedal 1980). A gradient costs one pass over the rows and a model its `price`
in passes, so a better model is made only where the remaining steps, at the present rate, would cost
more. Models, from cheap to dear: a diagonal, one matrix for all classes, a matrix for each class,
the whole Hessian; and for sparse rows of many columns conjugate gradients on products with the
Hessian.

Called by generalised linear models, and by `data.fitting` with a problem whose sums are passes over
a file or a cluster. Constants: bench/bench_map.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf, isfinite, log, sqrt
from typing import Any

import numpy as np

from adaline.certificates import bounds
from adaline.certificates.bounds import Distance, penalised
from adaline.errors import plural
from adaline.linalg import (
    UNIT,
    Diagonal,
    Factor,
    ForEachClass,
    Products,
    inner,
    length,
)
from adaline.results import Array, Certificate, NewtonFit, Outcome, Steps, Stepwise, finished
from adaline.sums.objective import Objective, Sums, Want

PAIRS = 20  # steps that L-BFGS remembers
SUFFICIENT_DECREASE = 1e-4  # share of what the slope promises (Nocedal & Wright 2006, section 3.1)
STRIDE, SAMPLE_ROWS = 64, 20  # of a sample: at most every 64th row, at least 20 for each column
HALVINGS = 40  # of a step: 2^-40 of a Newton step hides any decrease
FEW_ROWS, MOST_ROWS = 512, 3000  # whose n x n side is where to begin, or a way out of slow steps
DIAGONAL_TRIAL, MEAN_TRIAL = 8, 3  # steps with a model before it is judged; 1 with a Hessian
DUAL_GAP = 0.01  # of tol times the null loss: one pass over text more, and most need no step
FINE, COARSE = 0.1, 100.0  # of tol, on small and large tables; see `is_fine`
PROOFS = 4  # times that a proof is tried, each after a goal at least ten times smaller
NOISE = 1e3  # times the rounding of f: a decrease still possible that is lost in it
PATIENCE = 12  # steps of little gain before that is looked at, and further ones for `is_fine`
TINY = float(np.finfo(np.float64).tiny)

STOPPED = {
    "converged": "the gradient is within the tolerance",
    "max_iter": "max_iter steps were made",
    "rounding": "rounding allows no further step",
    "separated": "a hyperplane separates the classes, and without a penalty no minimum exists",
    "interrupted": "interrupted; these are the weights after the last complete step",
}


# What is minimised gives sums at theta, wherever the rows are: `Objective`, which explains the
# members, and those that take its place for passes over files, Firth's criterion and profiles.
Problem = Any
# A model of the curvature has `solve` and the rank of a whole Hessian, -1 where it is not known.
Model = Factor | ForEachClass | Diagonal | Products


@dataclass(eq=False)
class State:
    """theta, the sums there, and what is known of the curvature.

    `hessian` is a theta and the sums there with the Hessian of all rows, for proofs; `pairs` are
    the steps and changes of gradient since the model was made, and `history` is nu after each of
    them.
    """

    problem: Problem
    theta: Array
    sums: Sums
    model: Model = field(init=False)
    hessian: tuple[Array, Sums] | None = None
    pairs: list[tuple[Array, Array, float]] = field(default_factory=list)
    history: list[float] = field(default_factory=list)
    steps: int = 0
    rank: int = 0  # of the first Hessian
    stuck: int = 0  # steps in a row that gained little
    finer: int = 0  # steps after nu <= goal
    goal: float = 0.0  # of nu, once the first proof was tried
    tries: int = 0  # proofs that failed

    def direction(self) -> Array:
        """-B g; the history takes down nu = sqrt(g'Bg)."""
        g = self.sums.g
        d = -correct(g, self.pairs, self.model.solve)
        self.history.append(sqrt(max(-inner(g, d), 0.0)))
        return d

    @property
    def nu(self) -> float:
        """The Newton decrement: about the distance from the minimum."""
        return self.history[-1]

    @property
    def lost(self) -> bool:
        """Whether the curvature has become singular to rounding on the way."""
        return isinstance(self.model, Factor) and self.model.rank < self.rank

    def take(self, sums: Sums, want: Want) -> None:
        """Make a model of the curvature in the sums, and forget the pairs, which it contains."""
        self.sums, self.pairs, self.history = sums, [], []
        assert sums.H is not None
        if want == "joint" or self.problem.K == 1:
            self.model, self.hessian = (
                Factor(bounds.regular(sums.H, self.problem.K)),
                (self.theta, sums),
            )
            self.rank = self.rank or self.model.rank
        else:
            self.model = ForEachClass(sums.H)

    def move(self, theta: Array, sums: Sums, want: Want) -> None:
        """Make a step; `want` is the curvature that comes with every gradient."""
        s, y = theta - self.theta, sums.g - self.sums.g
        self.theta, self.sums, self.steps = theta, sums, self.steps + 1
        little = len(self.history) > 1 and self.nu > 0.9 * self.history[-2]
        self.stuck = self.stuck + 1 if little else 0
        sy = inner(s, y)
        if isinstance(self.model, Products):
            multiply = self.problem.products(theta)
            assert multiply is not None
            self.model.multiply = multiply
        elif want:
            history = self.history
            self.take(sums, "joint")
            self.history = history
        elif sy > 0.0:  # else rounding has destroyed the curvature along s
            self.pairs = [*self.pairs[1 - PAIRS :], (s, y, sy)]
            if isinstance(self.model, Diagonal):
                self.model.size = sy / inner(y, y / self.model.own)

    def better(self) -> Want:
        """The next model: the same again where it is the best there is."""
        if isinstance(self.model, Products):
            return ""
        if isfinite(self.problem.price("joint")):
            return "joint"
        # Blocks leave out what couples the classes: newer ones make steps no better.
        coarse = self.problem.K > 1 and isinstance(self.model, Diagonal) and penalised(self.problem)
        return "blocks" if coarse and isfinite(self.problem.price("blocks")) else ""

    def pays(self, goal: float, max_iter: int) -> bool:
        """Whether a better model costs less than the steps without it, or too few are left."""
        k, want = len(self.history) - 1, self.better()
        trial = DIAGONAL_TRIAL if isinstance(self.model, Diagonal) else MEAN_TRIAL
        if not want or k < (1 if self.hessian else trial) or not self.nu > goal > 0:
            return False
        # The rate so far, or that of the latter half.
        falls = [log(max(self.history[i] / self.nu, 1.0)) / max(k - i, 1) for i in (0, k // 2)]
        left = log(self.nu / goal) / max(*falls, UNIT)
        short = self.steps > 0.8 * max_iter and left > max_iter - self.steps - 5
        return short or left > self.problem.price(want) + log(self.nu / goal) / 3.0


def begin(problem: Any, theta: Array, goal: float) -> State:
    """The state at theta, with the cheapest model that is good enough to begin with."""
    wanted: list[Want] = ["joint", "mean"] if problem.K > 1 else ["joint"]
    most = bounds.DEAR if penalised(problem) else np.finfo(np.float64).max
    want: Want = next((one for one in wanted if problem.price(one) <= most), "")
    state = State(problem, theta, problem.sums(theta, want or "thin"))
    if want:
        state.take(state.sums, want)
        return state
    assert state.sums.H is not None
    own = problem.spread * float(state.sums.H[-1] / max(problem.weight, UNIT))
    state.model = model = Diagonal(own, problem.penalty)
    multiply = problem.products(theta) if penalised(problem) else None
    if multiply is not None:
        nu = sqrt(inner(state.sums.g, state.sums.g / model.own))
        state.model = Products(multiply, model.own, goal, nu)
    return state


def descend(state: State, goal: float, max_iter: int, tol: float = inf) -> Steps[Outcome]:
    """Steps, each of which lowers f, until nu <= goal, and why they ended.

    They go on until a step would change no weight by a relative amount above tol.
    """
    problem, bare = state.problem, state.problem.is_bare
    want: Want = "joint" if problem.price("joint") <= 1.0 else ""  # with every gradient
    while True:
        if bare and state.sums.least > 0.0:
            return "separated"
        d = state.direction()
        if state.nu <= goal:
            if state.finer >= PATIENCE or is_fine(state, d, tol) or state.steps >= max_iter:
                return "converged"
            state.finer += 1
        if state.steps >= max_iter:
            return "max_iter"
        if bare and (state.lost or (state.nu <= goal and state.steps > PATIENCE + 8)):
            return "quasi"  # weights without a penalty that still grow have no end
        if not want and state.pays(goal, max_iter):
            state.take(problem.sums(state.theta, state.better()), state.better())
            continue
        place = search_line(problem, state, d, want)
        if place is None:
            if state.nu > goal and state.pairs and (better := state.better()):
                state.take(problem.sums(state.theta, better), better)
                continue
            return "converged" if state.nu <= goal else "rounding"
        nu = state.nu
        state.move(*place, want)
        yield state.steps, state
        noise = UNIT * (state.sums.size + problem.weight * UNIT)
        if state.stuck > PATIENCE and nu * nu < NOISE * noise:
            return "rounding"


def search_line(problem: Problem, state: State, d: Array, want: Want) -> tuple[Array, Sums] | None:
    """Halve the step until f decreases as the slope predicts (Armijo), up to its rounding."""
    start, slope, size = state.sums, inner(state.sums.g, d), 1.0
    noise = 64.0 * UNIT * (start.size + problem.weight * UNIT)
    for _ in range(HALVINGS):
        theta = state.theta + size * d
        there = problem.sums(theta, want)
        enough = there.f <= start.f + SUFFICIENT_DECREASE * size * slope + noise
        if enough and np.isfinite(there.g).all():
            return theta, there
        size *= 0.5 if isfinite(there.f) else 0.1
    return None


def is_fine(state: State, d: Array, tol: float) -> bool:
    """Whether the step d would change no weight w_j by more than FINE tol max(|w_j|, its error).

    A small nu says that the error is small compared with the standard errors, not with the weights:
    where columns are nearly dependent, standard errors are large. On large tables, where a step is
    dear, the change may be COARSE tol times the root mean square of the weights.
    """
    d, w = d[:, :-1], state.theta[:, :-1]
    if tol == inf or not w.size or isinstance(state.model, Products):
        return True
    if state.sums.n * w.size > 2**18 or not isinstance(state.model, Factor):
        return bool(np.abs(d).max() <= COARSE * tol * length(w) / sqrt(w.size))
    if d.any() and not w.any():
        return False
    A = state.model.root()
    error = np.sqrt(np.einsum("ij,ij->i", A, A)).reshape(state.theta.shape)[:, :-1]
    return bool((np.abs(d) <= FINE * tol * np.maximum(np.abs(w), error)).all())


def correct(g: Array, pairs: Any, solve: Callable[[Array], Array]) -> Array:
    """About H^-1 g, where solve(g) is a first guess of it: the two loops of L-BFGS.

    >>> correct(np.array([4.0]), [(np.array([1.0]), np.array([2.0]), 2.0)], np.copy)
    array([2.])
    """
    if not pairs:
        return solve(g)
    r, shares = np.array(g, order="C"), []
    for s, y, sy in reversed(pairs):
        shares.append(inner(s, r) / sy)
        r -= shares[-1] * y
    r = np.array(solve(r), order="C")
    for (s, y, sy), share in zip(pairs, reversed(shares), strict=True):
        r += (share - inner(y, r) / sy) * s
    return r


@Stepwise
def newton(
    problem: Any, max_iter: int = 100, tol: float = 1e-8, start: Array | None = None
) -> Steps[NewtonFit]:
    """theta that minimises f, with a bound on its distance from the minimum.

    Ends where nu = sqrt(g'H^-1 g) is at most tol sqrt(n K q), so that weights are off by at most
    tol sqrt(n) standard errors (root mean square), and where the distance is proven: a proof that
    fails asks for a smaller nu. It yields its State, at the start and after each step.
    """
    tol = float(tol)  # it may be a Fraction, which numpy does not know
    theta = first_theta(problem, tol) if start is None else start
    state = begin(problem, theta, tol * sqrt(problem.weight * theta.size))
    yield 0, state
    few = start is None and isinstance(state.model, Diagonal) and problem.rows.n < problem.q
    few = few and problem.rows.n * problem.K <= MOST_ROWS
    fit = yield from until_proven(state, max_iter // 2 if few else max_iter, tol)
    if few and fit.outcome == "max_iter":  # steps are slow: by way of an n x n matrix
        steps = state.steps
        state = begin(problem, through_rows(problem, tol), tol)
        state.steps = steps
        fit = yield from until_proven(state, max_iter, tol)
    return fit


def until_proven(state: State, max_iter: int, tol: float) -> Steps[NewtonFit]:
    """`newton` from a state on."""
    goal = tol * sqrt(state.problem.weight * state.theta.size)
    proof: Distance | None = None
    if isinstance(state.model, Products):  # weights are far more than rows: as near as f can tell
        goal = max(goal, sqrt(2.0 * tol * abs(state.sums.f)))
    state.goal = state.goal or goal
    outcome: Outcome = "max_iter"
    try:
        if isinstance(state.model, Products):  # a step takes many passes: maybe none is needed
            proof = bounds.prove(state.problem, state.theta, state.sums)
            if proof is not None and bounds.shortfall(proof, state.theta) <= 1.0:
                return fit_of(state, "converged", proof)
        while True:
            outcome = yield from descend(state, state.goal, max_iter, tol)
            last = state.tries == PROOFS - 1 or outcome != "converged" or state.steps >= max_iter
            there = state.problem, state.theta, state.sums, state.hessian
            proof = None if outcome in ("separated", "quasi") else bounds.prove(*there, last)
            if outcome == "converged" and proof is None and state.problem.is_bare and state.lost:
                outcome = "quasi"
            if last or proof is None or (short := bounds.shortfall(proof, state.theta)) <= 1.0:
                break
            state.goal = max(min(state.goal, state.nu) / max(short, 10.0), TINY)
            state.tries, state.finer = state.tries + 1, 0
    except KeyboardInterrupt:
        outcome, proof = "interrupted", None  # a proof is of the theta that it was tried at
    return fit_of(state, outcome, proof)


def first_theta(problem: Objective, tol: float) -> Array:
    """Where to begin: where the loss says, unless the rows suggest a better place.

    Where rows are few, and columns more, that is the minimum over as many numbers as rows; of
    sparse text, where coordinate descent on the rows ends; of very many rows, the minimum of a
    sample of them (0.65 to 0.85 of the time for 50,000 rows and more).
    """
    rows, K = problem.rows, problem.K
    if penalised(problem) and rows.n <= min(FEW_ROWS, problem.q // 2):
        return through_rows(problem, tol)
    if rows.is_wide and K == 1:
        from adaline.procedures.starts import dual_start, is_text  # few fits need it

        if is_text(problem):
            return dual_start(problem, DUAL_GAP * tol * problem.loss.null(rows, 1))
    theta = problem.loss.start(rows, K)
    stride = min(STRIDE, rows.n // max(2048, SAMPLE_ROWS * problem.q))
    if stride < 8 or not 1.0 < problem.price("mean") < inf:
        return theta
    few = problem.every(stride)
    few = replace(few, penalty=problem.penalty / stride)
    state = begin(few, theta, goal := 0.1 * sqrt(few.weight * theta.size / stride))
    is_endless = finished(descend(state, goal, 30)) in ("separated", "quasi")
    return theta if is_endless or 0 <= state.model.rank < problem.q else state.theta


def through_rows(problem: Objective, tol: float) -> Array:
    """theta at the minimum over as many numbers as rows."""
    from adaline.procedures.starts import row_space  # few fits need it

    few, back = row_space(problem)
    goal = tol * sqrt(few.weight * few.K * few.q)
    state = begin(few, few.loss.start(few.rows, few.K), goal)
    finished(descend(state, goal, 300))
    return back(state.theta)


def fit_of(state: State, outcome: Outcome, proof: Distance | None) -> NewtonFit:
    """The weights in the units of X, why steps ended, and what is proven."""
    problem: Any = state.problem
    rows, theta = problem.rows, state.theta
    rank = state.model.rank if state.model.rank >= 0 else theta.size
    certificate = bounds.optimality(proof, state.sums, theta, rows)
    if rank < theta.size and (certificate.kind == "optimal" or proof is None):
        why = "columns depend on others, so many weights give the same least loss; these are one "
        certificate = Certificate("unproven", why + "choice.", certificate.evidence)
    if passes := getattr(problem, "passes", 0):
        certificate = replace(certificate, evidence={**certificate.evidence, "passes": passes})
    why = problem.loss.endless if outcome == "quasi" else STOPPED[outcome]
    read = f", {plural(passes, 'pass')} over the rows" if passes else ""
    stopped = f"{why} ({plural(state.steps, 'step')}{read})."
    rest = theta, outcome, state.steps, state.sums.f * rows.unit, rank
    W, b = rows.original(theta)
    return NewtonFit(W, b, stopped, certificate, *rest)
