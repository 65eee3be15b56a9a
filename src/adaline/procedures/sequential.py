"""One sample at a time: w <- w + eta(n) g x, pass after pass, until there is nothing to learn.

Called by estimators/online and by streams of LogisticRegression. A State is all that a learner
remembers; `learn` shows it rows once, `sequential` makes passes over all of them.

Letters: X (n, p) samples, Y (n, K) targets or (n, 1) class codes, omega (n,) weights or empty.

A perceptron may be given up by the convergence theorem. Let (u, u0) of length one have
t (u'x + u0) >= gamma for every sample. A correction adds eta t (x, 1) to (w, b), so it lengthens
(w, b) along (u, u0) by eta gamma at least. After M of them

    eta M gamma <= (u, u0)'((w, b) - start) <= |(w, b) - start|

(Novikoff 1962). On classes that overlap, (w, b) hardly grows while M does: soon no margin is left
that is worth a further pass. K classes: Kesler's samples, in which (u, u0) has K parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.criteria import CURVATURE
from adaline.errors import plural
from adaline.kernels import automatic_rates, codes
from adaline.kernels import sequential as kernels
from adaline.linalg import UNIT
from adaline.parameters import is_sparse
from adaline.results import Array, Steps, Stepwise
from adaline.schedules import Absolute, Constant, Schedule

Order = NDArray[np.int64]

BLOCK_NUMBERS = 2**20  # learned between two looks at the keyboard: some milliseconds
EXPLOSION = 1e6  # a mean squared error so many times that of the targets is no learning
FIRST_PASSES = 5  # passes of a perceptron before it may be given up (any small number)
MODERATE = 1e50  # samples of a length below this move finite weights to finite weights
FAR = 2.0**400  # squares of longer samples and corrections, or of shorter ones, leave float64
STALLED = "the mean squared error stopped falling by more than tol"

FIELDS = ["criterion", "targets", "rate", "eta", "tau", "bias", "keep", "curvature"]
COUNTS = ["seen", "corrections", "loss", "inputs", "measured", "centred", "given", "fewest"]
LEARNER = np.dtype((np.record, [(name, np.float64) for name in FIELDS + COUNTS]))
# Values of text ask for the first four, which mostly share a line of the cache.
VALUES = ["gain", "count", "squares", "origin", "centre", "scatter", "was_zero"]
FEATURE = np.dtype((np.record, [(name, np.float64) for name in VALUES]))


class Outcome(NamedTuple):
    """How a run of passes ended."""

    passes: int  # complete ones, the last of them included
    stopped: str  # why, as a sentence
    converged: bool  # by its own rule rather than at max_iter or in divergence


@dataclass(frozen=True)
class Recipe:
    """criterion × schedule × what is kept, for K neurons of p inputs; codes as in kernels."""

    criterion: int
    targets: int
    schedule: Schedule
    keep: int
    intercept: bool
    K: int
    p: int

    @property
    def is_automatic(self) -> bool:
        return self.schedule.code()[0] == codes.AUTO

    def shapes(self) -> tuple[tuple[int], tuple[int]]:
        weights = self.K * (self.p + 1)
        if self.is_automatic:
            size = 2 * weights + (1 + len(VALUES)) * (self.p + 1)
        else:
            size = weights * (1 + (self.keep != codes.LAST))
        return (len(FIELDS + COUNTS) + 2 * self.K,), (size,)


class State:
    """Weights, what is kept beside them, and counters, in two arrays that kernels change in place.

    `head` holds the record `counters`, and the present and the longest `runs` of right answers
    (2, K). `theta` holds the `last` weights (K, p + 1), bias last; what is kept `beside` them, of
    the same shape. For automatic rates it holds the tables of `kernels.automatic_rates`.
    """

    def __init__(self, recipe: Recipe):
        self.recipe = recipe
        head, theta = (np.zeros(shape) for shape in recipe.shapes())
        rule = recipe.criterion, recipe.targets, *recipe.schedule.code(), recipe.intercept
        head[: len(FIELDS)] = *rule, recipe.keep, CURVATURE.get(recipe.criterion, 1.0)
        self._place(head, theta)

    def _place(self, head: Array, theta: Array) -> None:
        """Name the parts of both arrays."""
        K, p, counts = self.recipe.K, self.recipe.p, len(FIELDS + COUNTS)
        self.head, self.theta = head, theta
        self.counters, self.runs = head[:counts].view(LEARNER)[0], head[counts:].reshape(2, K)
        self._arrays: tuple[Any, ...]
        if self.recipe.is_automatic:
            now, aside, features = np.split(theta, [(K + 1) * (p + 1), (2 * K + 1) * (p + 1)])
            now, aside = now.reshape(p + 1, -1), aside.reshape(p + 1, -1)
            self.last, self.beside = now[:, :K].T, aside.T
            self.features = features.view(FEATURE)
            self._kernel, self._arrays = automatic_rates.learn, (now, aside, self.features)
            return
        weights = theta.reshape(-1, p + 1)
        self.last, self.beside = weights[:K], weights[K:]
        alone = self.recipe.criterion == codes.PERCEPTRON and K == 1
        if alone and self.recipe.keep != codes.POCKET and self.counters.rate != codes.ABSOLUTE:
            self._kernel, self._arrays = kernels.learn_perceptron, (self.last, self.beside)
        else:
            self._kernel, self._arrays = kernels.learn, (self.last, self.beside, self.runs)

    def __getstate__(self) -> dict[str, Any]:
        return {"recipe": self.recipe, "head": self.head, "theta": self.theta}

    def __setstate__(self, parts: dict[str, Any]) -> None:
        self.recipe = parts["recipe"]
        # Arrays that were mapped into memory read-only are copied: learning writes into them.
        self._place(*(np.require(parts[a], requirements=["C", "W"]) for a in ("head", "theta")))

    def copy(self) -> tuple[Array, Array]:
        return self.head.copy(), self.theta.copy()

    def restore(self, saved: tuple[Array, Array]) -> None:
        self.head[:], self.theta[:] = saved

    @property
    def is_perceptron(self) -> bool:
        """Whether learning can come to rest by itself: no error, no correction."""
        return self.recipe.criterion in (codes.PERCEPTRON, codes.MACHINE)

    # The loss is the sum of those met so far, each before its sample was learned.
    seen = property(lambda self: int(self.counters["seen"]))
    corrections = property(lambda self: int(self.counters["corrections"]))
    loss = property(lambda self: float(self.counters["loss"]))

    def mean_square(self, loss: float) -> float:
        """The mean squared error of samples and outputs; the loss is half their squares, summed."""
        return 2.0 * loss / self.recipe.K

    def is_solved(self, loss: float, tol: float) -> bool:
        """Whether sigmoid outputs are on their targets: a mean squared error below tol.

        On separable classes the weights would grow for ever, and the error never stop falling.
        """
        return self.recipe.criterion in (codes.TANH, codes.SQUARED_LOGISTIC) and 2.0 * loss <= tol

    @property
    def _lag(self) -> Array:
        """What the last weights have more than those to predict with, where these are averages."""
        n = self.counters["seen"]
        if self.recipe.keep == codes.LATE_AVERAGE:
            n = automatic_rates.late_weight.py_func(n, self.recipe.p)
        return self.beside / n if n else np.zeros_like(self.last)

    @property
    def _in_pocket(self) -> NDArray[np.bool_]:
        """Which neurons predict with the weights of their longest run."""
        run, longest = self.runs
        better: NDArray[np.bool_] = longest > run
        return np.full_like(better, better[0]) if self.recipe.criterion == codes.MACHINE else better

    def _to_predict(self) -> Array:
        """The last weights, their average, or those in the pocket, (K, p + 1); may be a view."""
        if self.recipe.keep == codes.LAST:
            return self.last
        if self.recipe.keep == codes.POCKET:
            return np.where(self._in_pocket[:, None], self.beside, self.last)
        return np.asarray(self.last - self._lag)

    def kept(self) -> tuple[Array, Array]:
        """W (K, p) and b (K,) to predict with."""
        weights = self._to_predict()
        return weights[:, :-1].copy(), weights[:, -1].copy()

    def go_on_from(self, W: Array, b: Array) -> None:
        """Take W (K, p) and b (K,) for the weights of all samples so far, and learn on from them.

        Averages then are of these weights and those to come, and the pocket is empty.
        """
        self.last[:, :-1], self.last[:, -1] = W, b
        self.beside[...], self.runs[...], self.counters.given = 0.0, 0.0, 1.0

    def run(self, entries: tuple[Any, Any, Any], order: Any, Y: Array, omega: Array) -> None:
        """Learn rows of `entries_of(X)` in this order."""
        self._kernel(*entries, order, Y, omega, self.counters, *self._arrays)

    def learn_one(self, x: Array, y: float) -> bool:
        """Learn one dense sample x (p,) with one target, or one class code.

        False, and nothing is learned, where the sample is not finite or so large that weights might
        not be: the caller looks closer.
        """
        if not (x @ x < MODERATE**2 and abs(y) < MODERATE and isfinite(self.counters["loss"])):
            return False
        Y = np.empty((1, 1))
        Y[0, 0] = y
        self._kernel(x, None, NO_ROWS, FIRST, Y, NO_WEIGHTS, self.counters, *self._arrays)
        return True


NO_ROWS, FIRST, NO_WEIGHTS = np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64), np.empty(0)


def entries_of(X: Any) -> tuple[Array, Any, NDArray[Any]]:
    """Numbers, columns and beginnings of rows, as kernels take them; no columns if X is dense."""
    if is_sparse(X):
        return X.data.astype(np.float64, copy=False), X.indices, X.indptr
    return np.ascontiguousarray(X, dtype=np.float64).reshape(-1), None, NO_ROWS


def learn(state: State, X: Any, Y: Array, omega: Array, order: Any = None) -> None:
    """Learn the rows of X one by one, as they come or in the given order."""
    if order is None:
        order = np.arange(X.shape[0])
    elif X.dtype != np.float64 or not (is_sparse(X) or X.flags.c_contiguous):
        # Only the rows of this block are converted.
        X, Y, omega = X[order], Y[order], omega[order] if len(omega) else omega
        order = np.arange(len(order))
    state.run(entries_of(X), order, Y, omega)


@dataclass(eq=False)
class Learning:
    """What can be looked at while learning goes on."""

    state: State
    X: Any
    Y: Array
    rows: Any = ()  # those learned since the last step
    change: Array | None = None  # of the last weights by batch learning; None for single samples


def blocks(X: Any, rng: np.random.Generator | None, one_by_one: bool = False) -> Iterator[Order]:
    """The rows of each block of a pass; with rng, in random order.

    That is a random order of all rows. Neighbours in random order would not do: of rows sorted by
    label, a block would hold one class.
    """
    n, p = X.shape
    width = X.nnz / max(n, 1) if is_sparse(X) else p
    m = 1 if one_by_one else max(int(BLOCK_NUMBERS // max(width, 1)), 256)  # any small number
    order = np.arange(n) if rng is None else rng.permutation(n)
    for start in range(0, n, m):
        yield order[start : start + m]


class MarginLimit:
    """The largest margin that is still possible, relative to the longest sample (x, 1)."""

    def __init__(self, state: Any, X: Any):
        schedule = state.recipe.schedule
        self.state, self.start, self.made = state, state.last.copy(), state.corrections
        self.eta = schedule.eta if isinstance(schedule, Constant) else 1.0  # absolute: 1 or more
        self._X = X

    @staticmethod
    def serves(state: Any, omega: Array) -> bool:
        """Whether corrections are all of one size at least, and the last weights are wanted."""
        recipe = state.recipe
        perceptron = recipe.criterion == codes.PERCEPTRON and recipe.K == 1
        fixed = isinstance(recipe.schedule, Constant | Absolute) and recipe.keep == codes.LAST
        return (perceptron or recipe.criterion == codes.MACHINE) and fixed and not len(omega)

    @cached_property
    def longest(self) -> float:
        """Length of the longest row (x, 1), or (x, 0); infinite where its square is."""
        X, one = self._X, float(self.state.recipe.intercept)
        with np.errstate(over="ignore"):
            if is_sparse(X):
                rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
                squares = np.bincount(rows, np.square(X.data, dtype=np.float64))
            else:
                squares = np.einsum("ij,ij->i", X, X, dtype=np.float64)
        return sqrt(squares.max(initial=0.0) + one)

    def relative(self) -> float:
        """At most this share of the longest sample; infinite before the first correction."""
        made, step = self.state.corrections - self.made, self.eta * self.longest
        if made == 0 or not all(1 / FAR < size < FAR for size in (self.longest, step)):
            return inf
        moved, far = (
            sqrt(np.vdot(a, a)) for a in ((self.state.last - self.start) / step, self.start / step)
        )
        # Additions round by u |(w, b)| each, and (w, b) is at most |start| + 2 sqrt(M) corrections
        # long: beside a start far away, corrections may be lost. 1.01: so is this limit rounded.
        return float(1.01 * (moved / made + 4 * UNIT * (far + 2 * sqrt(made) + 1)))


@Stepwise
def sequential(
    state: State,
    X: Any,
    Y: Array,
    omega: Array,
    *,
    max_iter: int,
    tol: float,
    rng: np.random.Generator | None = None,
    note: bool = False,
    bound: str = "",
) -> Steps[Outcome]:
    """Passes until one makes no correction, or squared error stops falling, or max_iter.

    A perceptron also ends where no margin above tol times the longest sample is possible any more.

    State is at a complete pass whatever happens: an interrupt or divergence takes it back to the
    last one. `bound` is said of rates that diverged. The steps are the start, every block of rows,
    of one row each with `note`, and every pass.
    """
    learning = Learning(state, X, Y)
    yield 0, learning
    perceptron = state.is_perceptron
    weight = float(omega.sum()) if len(omega) else float(len(Y))
    squares = 0.0 if perceptron else float(np.sum(Y * Y))
    highest = EXPLOSION * squares * max(1.0, float(omega.max(initial=1.0)))
    best, stalled, patience = np.inf, 0, 2 if rng is None else 5
    limit = MarginLimit(state, X) if tol > 0 and MarginLimit.serves(state, omega) else None
    for k in range(1, max_iter + 1):
        saved = state.copy()
        made, loss = state.corrections, state.loss
        try:
            for learning.rows in blocks(X, rng, note):
                learn(state, X, Y, omega, learning.rows)
                yield k - 1, learning
        except BaseException:
            state.restore(saved)
            raise
        learning.rows, made, loss = (), state.corrections - made, state.loss - loss
        if not np.isfinite(state.theta).all() or loss > highest > 0:
            state.restore(saved)
            return diverged(k, bound)
        yield k, learning
        if perceptron and made == 0:
            return Outcome(k, f"pass {k} made no correction.", True)
        if limit is not None and k >= FIRST_PASSES and limit.relative() <= tol:
            why = (
                f"stopped after pass {k} and {plural(state.corrections, 'correction')}, by which "
                f"no (w, b) of length one can have all samples farther than tol={tol:g} times the "
                "longest (x, 1) on the correct side."
            )
            return Outcome(k, why, False)
        stalled = stalled + 1 if best * (1.0 - tol) <= loss <= 2.0 * best else 0
        if state.is_solved(loss / weight, tol):
            return Outcome(k, f"the mean squared error in pass {k} is below tol.", True)
        if stalled == patience and tol > 0 and not perceptron:
            why = f"{STALLED}; {state.mean_square(loss / weight):.4g} in pass {k}."
            return Outcome(k, why, True)
        best = min(best, loss)
    last = plural(made, "correction") if perceptron else missed(state, loss / weight)
    return Outcome(max_iter, f"max_iter={max_iter} passes are done, the last with {last}.", False)


def missed(state: State, loss: float) -> str:
    return f"a mean squared error of {state.mean_square(loss):.4g}"


def diverged(k: int, bound: str) -> Outcome:
    return Outcome(k - 1, f"diverged in pass {k}; weights are those before it. {bound}", False)
