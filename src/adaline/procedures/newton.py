"""Newton's method with few Hessians, for logistic, softmax and log-linear regression.

A step is -B g. B is a model of the inverse curvature made at some theta, corrected by the gradients
seen since (L-BFGS, Nocedal 1980). A gradient costs one pass over the rows and a model its `price`
in passes, so a better one is made only where the remaining steps, at the present rate, would cost
more. Models, from cheap to dear: a diagonal, one matrix for all classes, a matrix for each class,
the whole Hessian; and for sparse rows of many columns conjugate gradients on products with the
Hessian.

Called by `estimators.newton`, and by `data.fitting` with a problem whose sums are passes over a
file or a cluster. Constants: bench/bench_map.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from math import inf, isfinite, log, sqrt
from typing import Any, Protocol

import numpy as np

from adaline._threads import one_blas_thread
from adaline.certificates.bounds import Distance, Matrix, Metric, Thin, distance, optimality
from adaline.errors import plural
from adaline.linalg import (
    UNIT,
    add_multiple,
    cholesky,
    condition,
    eigen,
    inner,
    inverse_triangle,
    length,
    solve_cholesky,
)
from adaline.procedures.steps import Steps, Stepwise, finished
from adaline.results import Array, Certificate, NewtonFit, Outcome
from adaline.sums.objective import Objective, Sums, Want

PAIRS = 20  # steps that L-BFGS remembers
SUFFICIENT_DECREASE = 1e-4  # share of what the slope promises (Nocedal & Wright 2006, section 3.1)
HALVINGS = 40  # of a step: 2^-40 of a Newton step hides any decrease
DEAR = 12.0  # passes; a model that costs more is made only where steps without it are slow
DEPENDENT = 1e-13  # eigenvalues of the scaled curvature below this are rounding
ROWS_PER_WEIGHT, STRIDE = 10, 16  # rows of a sample to start from, and at most every 16th
MOST_ROWS, TRIAL = 3000, 60  # rows whose n x n side is a way, and steps before it is taken
FEW_ROWS = 512  # whose n x n side costs less than about 30 passes over them
FINER = 8  # further steps for the relative accuracy of the weights
FINE, COARSE = 0.1, 1.0  # of tol, on small and large tables; see `is_fine`
SMALL = 2**18  # numbers in X up to which a further step costs next to nothing
WIDEST = 4000  # columns of a matrix that is made where nothing else proves the minimum
USEFUL = 1e-3  # times the largest weight: a distance that needs no better proof
NEARER = 10.0  # how much smaller nu is at least when a proof is tried again
PROOFS = 4  # times that a proof is tried, each after a smaller goal
TINY = float(np.finfo(np.float64).tiny)
NOISE = 1e3  # times the rounding of f: a decrease still possible that is lost in it
ENDLESS = 20  # steps after which weights without a penalty that still grow have no end

SAID = {
    "converged": "the gradient is within the tolerance",
    "max_iter": "max_iter steps were made",
    "rounding": "rounding allows no further step",
    "separated": "a hyperplane separates the classes, and without a penalty no minimum exists",
    "interrupted": "interrupted; these are the weights after the last complete step",
}


class Problem(Protocol):
    """What is minimised: sums at theta, wherever the rows are."""

    @property
    def K(self) -> int: ...
    @property
    def penalty(self) -> Array: ...
    @property
    def q(self) -> int: ...
    @property
    def weight(self) -> float: ...
    @property
    def is_bare(self) -> bool: ...
    @property
    def intercept(self) -> bool: ...
    def price(self, want: Want) -> float: ...
    @property
    def spread(self) -> Array:
        """About the sum of omega z_j^2, (q,)."""
        ...

    def sums(self, theta: Array, want: Want = "") -> Sums: ...
    def products(self, theta: Array) -> Callable[[Array], Array] | None:
        """d -> H d at theta, where that is worth conjugate gradients."""
        ...

    def farthest(self, sums: Sums) -> float:
        """The largest |z - m| / sqrt(penalty) of a row, m the mean row of sums of "thin"."""
        ...

    def lower_bound(self) -> Any:
        """Some of the rows, where their Hessian is much cheaper than that of all."""
        ...


class Model(Protocol):
    """A model of the curvature: turns a gradient into a step, made at theta."""

    rank: int

    def solve(self, g: Array) -> Array:
        """About H^-1 g, for g (K, q)."""
        ...


class Factor:
    """H = R'R, scaled to a unit diagonal; by eigenvectors where columns depend on each other."""

    def __init__(self, H: Array):
        with one_blas_thread(len(H)):  # more threads would change the last digit
            self._factor(H)

    def _factor(self, H: Array) -> None:
        d = np.sqrt(np.maximum(H.diagonal(), 0.0))
        d[d == 0.0] = 1.0
        C = H / d / d[:, None]
        self.d, self.rank, self._vectors = d, len(H), None  # type: Array, int, Array | None
        self.R = cholesky(C)
        if self.R is None or condition(self.R) ** 2 > 1.0 / DEPENDENT:
            values, vectors = eigen(C)
            keep = values > DEPENDENT * len(H) * values[-1]
            self.rank = int(np.count_nonzero(keep))
            self._vectors = vectors[:, keep] / np.sqrt(values[keep])

    def solve(self, g: Array) -> Array:
        flat = g.ravel() / self.d
        with one_blas_thread(len(flat)):
            if self._vectors is None:
                assert self.R is not None
                x = solve_cholesky(self.R, flat)
            else:
                x = self._vectors @ (self._vectors.T @ flat)
        return np.asarray((x / self.d).reshape(g.shape))

    def left_over(self, g: Array) -> Array:
        """The part of g, in units of the diagonal, that is outside the range of H."""
        flat = g.ravel() / self.d
        if self._vectors is None:
            return 0.0 * flat
        U = self._vectors / np.sqrt(np.einsum("ij,ij->j", self._vectors, self._vectors))
        return np.asarray(flat - U @ (U.T @ flat))

    def root(self) -> Array:
        """A with A A' = H^-1, on the range of H."""
        if self._vectors is not None:
            return np.asarray(self._vectors / self.d[:, None])
        assert self.R is not None
        A = inverse_triangle(self.R)
        assert A is not None
        return A / self.d[:, None]

    def log_determinant(self) -> float:
        """Of H, which has full rank."""
        assert self.R is not None
        return 2.0 * float(np.sum(np.log(self.d)) + np.sum(np.log(np.diagonal(self.R))))


class ForEachClass:
    """A matrix for each class, or one for all, on what the classes do not share."""

    def __init__(self, H: Array):
        self.factors = [Factor(each) for each in (H if H.ndim == 3 else H[None])]
        self.rank = -1  # not known: a block says nothing of the others

    def solve(self, g: Array) -> Array:
        g = g - g.mean(axis=0)  # what all classes share changes nothing
        many = self.factors if len(self.factors) == len(g) else self.factors * len(g)
        found = np.array([factor.solve(each) for factor, each in zip(many, g, strict=True)])
        return np.asarray(found - found.mean(axis=0))


class Diagonal:
    """The penalty, and a curvature for each column as if columns were independent.

    Where columns outnumber the rows, the curvature along the rows is larger than on average: `size`
    is what the last step says of that.
    """

    rank = -1

    def __init__(self, own: Array, penalty: Array):
        own = own + penalty
        self.own, self.size = np.where(own > 0.0, own, 1.0), 1.0

    def solve(self, g: Array) -> Array:
        return np.asarray(self.size * g / self.own)


class Products:
    """Conjugate gradients on products with the Hessian, each as dear as a gradient.

    A step is solved for only as well as it is worth far from the minimum (Dembo, Eisenstat &
    Steihaug 1982). `multiply` gives H d at theta.
    """

    rank = -1
    most = 250  # products of one step

    def __init__(self, multiply: Callable[[Array], Array], own: Array, goal: float, first: float):
        self.multiply, self.own, self.goal, self.first = multiply, own, goal, first

    def solve(self, g: Array) -> Array:
        d, r = np.zeros_like(g), g.copy()
        y = r / self.own
        size = inner(r, y)
        nu = sqrt(max(size, 0.0))
        if nu == 0.0:
            return d
        enough = min(max(sqrt(nu / max(self.first, nu)), 0.02 * self.goal / nu), 0.3) * nu
        for _ in range(self.most):
            Hy = self.multiply(y)
            along = inner(y, Hy)
            if not along > 0.0:
                break
            d, r = d + size / along * y, r - size / along * Hy
            other = r / self.own
            before, size = size, inner(r, other)
            if not size > enough * enough:
                break
            y = other + size / before * y
        return d if d.any() else g / self.own


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
    model: Model
    want: Want
    hessian: tuple[Array, Sums] | None = None
    pairs: list[tuple[Array, Array, float]] = field(default_factory=list)
    history: list[float] = field(default_factory=list)
    steps: int = 0
    rank: int = 0  # of the first Hessian
    stuck: int = 0  # steps in a row that gained little
    finer: int = 0  # steps after nu <= goal
    goal: float = 0.0  # of nu, once the first proof was tried
    tries: int = 0  # proofs that failed

    @property
    def size(self) -> int:
        """Number of weights."""
        return self.theta.size

    def direction(self) -> Array:
        """-B g; the history takes down nu = sqrt(g'Bg)."""
        g = self.sums.g
        d = -corrected(g, self.pairs, self.model.solve)
        self.history.append(sqrt(max(-inner(g, d), 0.0)))
        return d

    @property
    def nu(self) -> float:
        """The Newton decrement: about the distance from the minimum."""
        return self.history[-1]

    def renew(self, want: Want) -> None:
        """Make a model at theta, and forget the pairs, which it contains."""
        self.sums = self.problem.sums(self.theta, want)
        self.take(want)

    def take(self, want: Want) -> None:
        """Make a model of the curvature in the sums."""
        self.want, self.pairs, self.history = want, [], []
        if whole(self.problem, want):
            self.model, self.hessian = (
                Factor(regular(self.sums.H, self.problem)),
                (self.theta, self.sums),
            )
            self.rank = self.rank or self.model.rank
        else:
            assert self.sums.H is not None
            self.model = ForEachClass(self.sums.H)

    def remember(self, s: Array, y: Array) -> None:
        """A step s changed the gradient by y."""
        sy = inner(s, y)
        if sy > 0.0:  # else rounding has destroyed the curvature along s
            self.pairs = [*self.pairs[1 - PAIRS :], (s, y, sy)]
            if isinstance(self.model, Diagonal):
                self.model.size = sy / inner(y, y / self.model.own)

    def passes_left(self, goal: float) -> float:
        """Steps that are still needed at the rate so far, or at that of the latter half."""
        k = len(self.history) - 1
        if not 0.0 < goal < self.nu:
            return 0.0
        falls = [log(max(self.history[i] / self.nu, 1.0)) / max(k - i, 1) for i in (0, k // 2)]
        return log(self.nu / goal) / max(*falls, UNIT)

    def better(self) -> Want:
        """The next model: the same again where it is the best there is."""
        penalised = bool((self.problem.penalty[:-1] > 0).all())
        if isfinite(self.problem.price("joint")):
            return "joint"
        # Blocks leave out what couples the classes: newer ones make steps no better.
        coarse = self.problem.K > 1 and isinstance(self.model, Diagonal)
        if coarse and isfinite(self.problem.price("blocks")) and penalised:
            return "blocks"
        return ""


def whole(problem: Problem, want: Want) -> bool:
    """Whether this curvature is the whole Hessian."""
    return want == "joint" or (problem.K == 1 and want != "")


def regular(H: Array | None, problem: Problem) -> Array:
    """The Hessian of K classes plus c 11' for each column, which acts on what all classes share."""
    assert H is not None
    K, q = problem.K, problem.q
    if K == 1:
        return H
    H = H.copy()
    c = H.diagonal().reshape(K, q).sum(axis=0) / K**2
    views = np.einsum("kjmj->kmj", H.reshape(K, q, K, q))
    views += np.where(c > 0.0, c, 1.0)
    return H


def begin(problem: Any, theta: Array, goal: float, model: Model | None = None) -> State:
    """The state at theta, with the cheapest model that is good enough to begin with."""
    penalised = bool((problem.penalty[:-1] > 0).all())
    want: Want = ""
    if model is None:
        for some in ("joint", "mean") if problem.K > 1 else ("joint",):
            if problem.price(some) <= DEAR or (not penalised and isfinite(problem.price(some))):
                want = some
                break
    elif problem.price("joint") <= 1.0:
        want = "joint"
    sums = problem.sums(theta, want or "thin")
    if model is None and not want:
        own = problem.spread * float(sums.H[-1] / max(problem.weight, UNIT))
        model = Diagonal(own, problem.penalty)
        multiply = problem.products(theta) if penalised else None
        if multiply is not None:
            first = sqrt(inner(sums.g, sums.g / model.own))
            model = Products(multiply, model.own, goal, first)
    state = State(problem, theta, sums, model, want)  # type: ignore[arg-type]
    if want:
        state.take(want)
    return state


def descend(state: State, goal: float, max_iter: int, tol: float = inf) -> Steps[Outcome]:
    """Steps, each of which lowers f, until nu <= goal, and why they ended.

    On small tables they go on until a step would change no weight by a relative amount above tol.
    """
    problem, bare = state.problem, state.problem.is_bare
    cheap = problem.price("joint") <= 1.0  # the Hessian comes with every gradient
    while True:
        if bare and state.sums.least > 0.0:
            return "separated"
        d = state.direction()
        nu = state.nu
        if nu <= goal:
            if state.finer >= FINER or is_fine(state, d, tol):
                return "converged"
            state.finer += 1
        if state.steps >= max_iter:
            return "converged" if nu <= goal else "max_iter"
        lost = isinstance(state.model, Factor) and state.model.rank < state.rank
        if bare and (lost or (nu <= goal and state.steps > ENDLESS)):
            return "quasi"
        if not cheap and pays(state, goal, max_iter):
            state.renew(state.better())
            continue
        found = search_line(problem, state, d, "joint" if cheap else "")
        if found is None:
            if nu <= goal:
                return "converged"
            if state.pairs and (want := state.better()):
                state.renew(want)
                continue
            return "rounding"
        theta, sums = found
        s, y = theta - state.theta, sums.g - state.sums.g
        state.theta, state.sums, state.steps = theta, sums, state.steps + 1
        little = len(state.history) > 1 and nu > 0.9 * state.history[-2]
        state.stuck = state.stuck + 1 if little else 0
        noise = UNIT * (sums.size + problem.weight * UNIT)
        if cheap:
            history = state.history
            state.take("joint")
            state.history = history
        elif isinstance(state.model, Products):
            multiply = problem.products(theta)
            assert multiply is not None
            state.model.multiply = multiply
        else:
            state.remember(s, y)
        if (yield state.steps, state):
            return "interrupted"
        if state.stuck > 12 and nu * nu < NOISE * noise:
            return "rounding"


def pays(state: State, goal: float, max_iter: int) -> bool:
    """Whether a better model costs less than the steps without it, of which too few may be left."""
    want, k = state.better(), len(state.history) - 1
    price = state.problem.price(want) if want else inf
    if (
        not isfinite(price)
        or isinstance(state.model, Products)
        or k < (8 if isinstance(state.model, Diagonal) else 1)
    ):
        return False
    if state.want == want and not state.pairs:
        return False
    left = state.passes_left(goal)
    short = left > max_iter - state.steps - 5  # the last steps of max_iter are for the better model
    return left > price + log(max(state.nu / goal, 1.0)) / 3.0 or (
        short and state.steps > 0.8 * max_iter
    )


def search_line(problem: Problem, state: State, d: Array, want: Want) -> tuple[Array, Sums] | None:
    """Halve the step until f decreases as much as the slope predicts (Armijo), up to its
    rounding."""
    here, slope, size = state.sums, inner(state.sums.g, d), 1.0
    noise = 64.0 * UNIT * (here.size + problem.weight * UNIT)
    for _ in range(HALVINGS):
        theta = state.theta + size * d
        there = problem.sums(theta, want)
        if (
            there.f <= here.f + SUFFICIENT_DECREASE * size * slope + noise
            and np.isfinite(there.g).all()
        ):
            return theta, there
        size *= 0.5 if isfinite(there.f) else 0.1
    return None


def is_fine(state: State, d: Array, tol: float) -> bool:
    """Whether the step d would change no weight w_j by more than FINE tol max(|w_j|, its error).

    A small nu says that the error is small compared with the standard errors, not with the weights:
    where columns are nearly dependent, standard errors are large. On large tables, where a step is
    dear, the change may be COARSE tol, and is measured against the root mean square of the weights.
    """
    d, w = d[:, :-1], state.theta[:, :-1]
    if tol == inf or not w.size or isinstance(state.model, Products):
        return True
    if state.sums.n * state.theta.size > SMALL or not isinstance(state.model, Factor):
        return bool(np.abs(d).max() <= COARSE * tol * length(w) / sqrt(w.size))
    if d.any() and not w.any():
        return False
    A = state.model.root()
    error = np.sqrt(np.einsum("ij,ij->i", A, A)).reshape(state.theta.shape)[:, :-1]
    return bool((np.abs(d) <= FINE * tol * np.maximum(np.abs(w), error)).all())


def corrected(g: Array, pairs: Any, solve: Callable[[Array], Array]) -> Array:
    """About H^-1 g, where solve(g) is a first guess of it: the two loops of L-BFGS.

    >>> corrected(np.array([4.0]), [(np.array([1.0]), np.array([2.0]), 2.0)], np.copy)
    array([2.])
    """
    if not pairs:
        return solve(g)
    r, shares = np.array(g, order="C"), []
    for s, y, sy in reversed(pairs):
        shares.append(inner(s, r) / sy)
        add_multiple(r, -shares[-1], y)
    r = np.array(solve(r), order="C")
    for (s, y, sy), share in zip(pairs, reversed(shares), strict=True):
        add_multiple(r, share - inner(y, r) / sy, s)
    return r


def prove(state: State, last: bool = True) -> Distance | None:
    """How far the minimum is, by the cheapest metric that proves it.

    Unless this is the last try, no matrix is made where one is dear.
    """
    best: Distance | None = None
    for metric in metrics(state, last):
        if metric is not None:
            found = distance(metric, state.sums)
            best = found if best is None or found.delta < best.delta else best
        if best is not None and best.proven and shortfall(best, state) <= 1.0:
            break
    return best


def shortfall(found: Distance, state: State) -> float:
    """By how much the gradient must shrink until the distance is proven and of use."""
    short = 2.0 * found.rho * found.nu
    if isinstance(found.metric, Thin):
        far = found.nu * float(found.metric.deviations()[:, :-1].max())
        short = max(short, far / max(USEFUL * length(state.theta[:, :-1]), TINY))
    return short


def metrics(state: State, last: bool) -> Iterator[Metric | None]:
    """Lower bounds on the Hessian at theta, cheap ones first; None where one proves nothing."""
    problem, theta, K = state.problem, state.theta, state.problem.K
    if state.hessian is not None:
        origin, sums = state.hessian
        step = theta - origin
        step = 2.0 * (step - step.mean(axis=0)) if K > 1 else step  # a range is at most twice that
        moved = 1.01 * float((np.abs(step) @ sums.top).max())
        yield Matrix.of(regular(sums.H, problem), sums, moved, K)
    if bool((problem.penalty[:-1] > 0).all()) and not problem.price("joint") <= DEAR:
        sums = problem.sums(theta, "thin")
        with np.errstate(all="ignore"):  # what is no number proves nothing
            far = problem.farthest(sums)
            yield Thin.of(sums, far, problem.penalty, problem.intercept, K)
        if not last:
            return
    few = problem.lower_bound()
    if few is not None:
        sums = few.sums(theta, "joint")
        assert sums.H is not None
        yield Matrix.of(sums.H, sums, 0.0, K)
    if isfinite(problem.price("joint")):
        sums = problem.sums(theta, "joint")
        yield Matrix.of(regular(sums.H, problem), sums, 0.0, K)
    elif K == 1 and last and problem.q <= WIDEST and hasattr(problem, "rows_in_memory"):
        sums = problem.sums(theta, "joint")
        assert sums.H is not None
        yield Matrix.of(sums.H, sums, 0.0, K)
    elif isfinite(problem.price("least")):
        sums = problem.sums(theta, "least")
        assert sums.H is not None
        yield Matrix.of(sums.H, sums, 0.0, K)


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
    theta, model = first_theta(problem, tol) if start is None else (start, None)
    state = begin(problem, theta, tol * sqrt(problem.weight * theta.size), model)
    yield 0, state
    few = start is None and isinstance(state.model, Diagonal) and problem.rows.n < problem.q
    few = few and problem.rows.n <= (MOST_ROWS if problem.K == 1 else MOST_ROWS // 3)
    most = min(max(TRIAL, problem.rows.n // 16), max_iter) if few else max_iter
    fit = yield from _until_proven(state, most, tol)
    if few and fit.outcome == "max_iter":  # steps are slow: by way of an n x n matrix
        steps = state.steps
        state = begin(problem, through_rows(problem, tol), tol)
        state.steps = steps
        fit = yield from _until_proven(state, max_iter, tol)
    return fit


def through_rows(problem: Objective, tol: float) -> Array:
    """theta at the minimum over as many numbers as rows."""
    from adaline.procedures.row_space import row_space  # it stands on this module

    few, back = row_space(problem)
    return back(newton(few, 300, tol, few.loss.start(few.rows, few.K)).theta)


def until_proven(state: State, max_iter: int, tol: float, keep: Any = None) -> NewtonFit:
    """`newton` from a state on; keep hears of every step."""
    return finished(_until_proven(state, max_iter, tol), keep)


def _until_proven(state: State, max_iter: int, tol: float) -> Steps[NewtonFit]:
    goal = tol * sqrt(state.problem.weight * state.size)
    proof: Distance | None = None
    if isinstance(state.model, Products):  # weights are far more than rows: as near as f can tell
        goal = max(goal, sqrt(2.0 * tol * abs(state.sums.f)))
    state.goal = state.goal or goal
    outcome: Outcome = "max_iter"
    try:
        while True:
            outcome = yield from descend(state, state.goal, max_iter, tol)
            last = state.tries == PROOFS - 1 or outcome != "converged" or state.steps >= max_iter
            proof = None if outcome in ("separated", "quasi") else prove(state, last)
            if last or proof is None or (short := shortfall(proof, state)) <= 1.0:
                break
            state.goal = max(min(state.goal, state.nu) / max(short, NEARER), TINY)
            state.tries, state.finer = state.tries + 1, 0
    except KeyboardInterrupt:
        outcome = "interrupted"
    return fit_of(state, outcome, proof)


def first_theta(problem: Objective, tol: float) -> tuple[Array, Model | None]:
    """Where to begin: at the minimum of a sample of the rows, with its Hessian, where rows are
    many.

    Where they are few, and columns more, at the minimum over as many numbers as rows.
    """
    theta = problem.loss.start(problem.rows, problem.K)
    penalised = bool((problem.penalty[:-1] > 0).all())
    if penalised and problem.rows.n <= min(FEW_ROWS, problem.q // 2):
        return through_rows(problem, tol), None
    if problem.rows.is_wide and problem.K == 1:
        from adaline.procedures.dual_text import dual_start, is_text  # it compiles a kernel

        if is_text(problem):
            return dual_start(problem, 0.1 * tol * problem.loss.null(problem.rows, 1)), None
    stride = min(STRIDE, problem.rows.n // max(2048, ROWS_PER_WEIGHT * problem.q))
    if stride < 4 or not 1.0 < problem.price("mean") < inf:
        return theta, None
    few = problem.thinned(stride)
    goal = 0.1 * sqrt(stride * theta.size)  # no nearer than what such a sample knows
    state = begin(few, theta, goal)
    if finished(descend(state, goal, 30)) in ("separated", "quasi"):
        return theta, None
    want: Want = "joint" if problem.K == 1 else "blocks"
    H = few.sums(state.theta, want).H
    assert H is not None
    model = Factor(H) if problem.K == 1 else ForEachClass(H)
    return (
        (theta, None)
        if isinstance(model, Factor) and model.rank < problem.q
        else (state.theta, model)
    )


def fit_of(state: State, outcome: Outcome, proof: Distance | None) -> NewtonFit:
    """The weights in the units of X, why steps ended, and what is proven."""
    problem: Any = state.problem
    rows, theta = problem.rows, state.theta
    rank = state.model.rank if state.model.rank >= 0 else theta.size
    certificate = optimality(proof, state.sums, theta, rows)
    if rank < theta.size and (certificate.kind == "optimal" or proof is None):
        said = (
            "columns depend on others, so many weights give the same least loss; these are one "
            "choice."
        )
        certificate = Certificate("unproven", said, certificate.evidence)
    if passes := getattr(problem, "passes", 0):
        certificate = replace(certificate, evidence={**certificate.evidence, "passes": passes})
    why = problem.loss.endless if outcome == "quasi" else SAID[outcome]
    read = f", {plural(passes, 'pass')} over the rows" if passes else ""
    stopped = f"{why} ({plural(state.steps, 'step')}{read})."
    value = state.sums.f * rows.unit
    W, b = rows.original(theta)
    rest = theta, outcome, state.steps, value, rank
    return NewtonFit(W, b, stopped, certificate, *rest)
