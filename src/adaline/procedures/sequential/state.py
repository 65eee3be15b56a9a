"""All that a sequential learner remembers, in two arrays that the kernels change in place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.criteria import CURVATURE
from adaline.kernels.sequential import automatic, gains, neurons, sequential
from adaline.results import Array
from adaline.schedules import Schedule

NO_ROWS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Outcome:
    """How a run of passes ended.

    Attributes
    ----------
    passes : int
        Complete passes, the last of them included.
    stopped : str
        Why, as a sentence.
    converged : bool
        Whether it stopped by its own rule rather than at max_iter or in divergence.
    """

    passes: int
    stopped: str
    converged: bool


def diverged(k: int, bound: str) -> Outcome:
    """The outcome of a pass whose weights were thrown away."""
    return Outcome(k - 1, f"diverged in pass {k}; weights are those before it. {bound}", False)


def asked(k: int) -> Outcome:
    """The outcome where a callback said that it was enough."""
    return Outcome(k, f"a callback asked to stop after pass {k}.", True)


@dataclass(frozen=True)
class Recipe:
    """criterion × schedule × what is kept, for K neurons of p inputs; codes as in the kernels."""

    criterion: int
    targets: int
    schedule: Schedule
    keep: int
    intercept: bool
    K: int
    p: int

    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Those of head and theta; automatic rates have a layout of their own."""
        head, rows = (neurons.RUNS + 2 * self.K,), self.K * (1 + (self.keep != neurons.LAST))
        if self.schedule.code()[0] == neurons.AUTO:
            return head, ((self.p + 1) * (2 * self.K + 6),)
        return head, (rows, self.p + 1)


class State:
    """Weights, what is kept beside them, and the counters that travel with them.

    head and theta are laid out as `kernels.sequential` or `kernels.automatic` says.
    """

    def __init__(self, recipe: Recipe):
        keep, K = recipe.keep, recipe.K
        self.recipe = recipe
        self.head, self.theta = (np.zeros(shape) for shape in recipe.shapes())
        rate, targets = recipe.schedule.code(), recipe.targets
        self.head[:8] = recipe.criterion, targets, *rate, recipe.intercept, keep, K
        self.head[neurons.CURVATURE] = CURVATURE.get(recipe.criterion, 1.0)

    @property
    def is_perceptron(self) -> bool:
        """Whether learning can come to rest by itself: no error, no correction."""
        return self.recipe.criterion in (neurons.PERCEPTRON, neurons.MACHINE)

    def is_solved(self, loss: float, tol: float) -> bool:
        """Whether sigmoid outputs are on their targets: a mean squared error below tol.

        On separable classes the weights would grow for ever, and the error never stop falling.
        """
        sigmoid = self.recipe.criterion in (neurons.TANH, neurons.SQUARED_LOGISTIC)
        return sigmoid and 2.0 * loss <= tol

    def mean_square(self, loss: float) -> float:
        """The mean squared error of samples and outputs; the loss is half their squares, summed."""
        return 2.0 * loss / self.recipe.K

    @property
    def kernels(self) -> Any:
        """The compiled file that knows this layout of theta."""
        return automatic if self.theta.ndim == 1 else sequential

    @property
    def last(self) -> Array:
        """The last weights, those that learning goes on from, the bias last; (K, p + 1), a view."""
        K = self.recipe.K
        if self.theta.ndim == 1:
            now: Array = automatic.tables(self.theta, K)[0]
            return now[:, :K].T
        return self.theta[:K]

    @property
    def beside(self) -> Array:
        """What is kept beside them: what an average lacks, or the pocket; (K, p + 1), a view."""
        K = self.recipe.K
        if self.theta.ndim == 1:
            aside: Array = automatic.tables(self.theta, K)[1]
            return aside[:, :K].T
        return self.theta[K : 2 * K]

    @property
    def W(self) -> Array:
        """The last weights without their biases, (K, p), a view."""
        return self.last[:, :-1]

    @property
    def b(self) -> Array:
        """The last biases, (K,), a view."""
        return self.last[:, -1]

    @property
    def seen(self) -> int:
        """Samples learned so far, all passes together."""
        return int(self.head[neurons.SEEN])

    @property
    def corrections(self) -> int:
        """Corrections made so far, all passes together."""
        return int(self.head[neurons.CORRECTIONS])

    @property
    def loss(self) -> float:
        """Sum of the losses met so far, each before its sample was learned."""
        return float(self.head[neurons.LOSS])

    def kept(self) -> tuple[Array, Array]:
        """W and b to predict with: the last, their average, or those in the pocket; copies."""
        K, p, keep = self.recipe.K, self.recipe.p, int(self.head[neurons.KEEP])
        kept, n = self.last.copy(), self.head[neurons.SEEN]
        if keep == neurons.AVERAGE and n:
            kept -= self.beside / n
        elif keep == neurons.LATE_AVERAGE and (weight := automatic.late_weight(n, p)):
            kept -= self.beside / weight
        elif keep == neurons.POCKET:
            run, best = self.head[neurons.RUNS :].reshape(2, K)
            if self.recipe.criterion == neurons.MACHINE:  # one run for all neurons
                run, best = np.full(K, run[0]), np.full(K, best[0])
            kept[best > run] = self.beside[best > run]
        return kept[:, :p].copy(), kept[:, p].copy()

    def go_on_from(self, W: Array, b: Array) -> None:
        """Take W (K, p) and b (K,) for the weights of all samples so far, and learn on from them.

        Averages then are of these weights and those to come, and the pocket is empty.
        """
        self.last[:, :-1], self.last[:, -1] = W, b
        if self.recipe.keep != neurons.LAST:
            self.beside[...] = 0.0
        self.head[neurons.RUNS :] = 0.0
        if self.theta.ndim == 1:
            self.head[neurons.GIVEN] = 1.0

    def __setstate__(self, parts: dict[str, Any]) -> None:
        """Arrays that were mapped into memory read-only are copied: learning writes into them."""
        self.__dict__.update(parts)
        arrays = from_older_files(self.recipe, self.head, self.theta)
        self.head, self.theta = (np.require(a, requirements=["C", "W"]) for a in arrays)

    def copy(self) -> tuple[Array, Array]:
        """What `restore` takes."""
        return self.head.copy(), self.theta.copy()

    def restore(self, saved: tuple[Array, Array]) -> None:
        """Back to what `copy` gave."""
        self.head[:], self.theta[:] = saved


def from_older_files(recipe: Recipe, head: Array, theta: Array) -> tuple[Array, Array]:
    """head and theta as they are laid out today; other shapes than older ones stay as they are.

    Older states had no origins of features, and go on learning without them.
    """
    if recipe.schedule.code()[0] != neurons.AUTO:
        return head, theta
    K, rows = recipe.K, recipe.p + 1
    if head.shape == recipe.shapes()[0] and theta.shape == (2, rows, K + 1):
        head, theta = _from_first_files(recipe, head, theta)
    if theta.shape == (rows * (2 * K + 3),):
        theta = np.concatenate([theta, gains.without_origins(rows).ravel()])
    return head, theta


def _from_first_files(recipe: Recipe, head: Array, theta: Array) -> tuple[Array, Array]:
    """Of theta (2, p + 1, K + 1), as the first files hold it.

    Numbers of values were kept as gains times sums of squares, and no gain was divided: the next
    values of a feature do that. Sums of inputs were over all samples.
    """
    K, n = recipe.K, head[neurons.SEEN]
    now, aside = theta.copy()
    counts, squares = np.abs(now[:, K]) * aside[:, K], aside[:, K]
    now[-1, K] = recipe.intercept
    head = head.copy()
    head[neurons.SQUARES] *= gains.measured(n) / max(n, 1.0)
    head[neurons.GIVEN] = 1.0  # perhaps: they do not tell
    aside = np.column_stack([aside[:, :K], np.rint(counts), squares])
    return head, np.concatenate([now.ravel(), aside.ravel()])


@dataclass(eq=False)
class Notes:
    """What rows were learned one by one.

    Attributes
    ----------
    made : ndarray of shape (m,)
        Corrections so far, all passes together, after each row.
    last : ndarray of shape (m, K, p + 1)
        The last weights after each row.
    kept : list of (W, b)
        The weights to predict with after each row, where they are not the last.
    """

    made: Array
    last: Array
    kept: list[tuple[Array, Array]]


@dataclass(eq=False)
class Learning:
    """What can be looked at while learning goes on.

    Attributes
    ----------
    state, X, Y : State, (n, p) samples and (n, k) targets
    rows : sequence of int
        Those learned since the last step.
    notes : Notes
        What was learned from each of them, where that was asked for; else None.
    change : ndarray of shape (K, p + 1)
        What batch learning has added to the last weights; None for single samples.
    """

    state: State
    X: Any
    Y: Array
    rows: Any = ()
    notes: Notes | None = None
    change: Array | None = None


def learn(state: State, X: Any, Y: Array, omega: Array, order: Any = NO_ROWS) -> None:
    """Learn the rows of X one by one, as they come or in the given order."""
    state.kernels.learn(*_entries(X), order, Y, omega, state.head, state.theta)


def learn_each(state: State, X: Any, Y: Array, omega: Array, rows: Any) -> Notes:
    """As `learn`, a call of the kernel for each row: what the weights are after each."""
    data, indices, indptr = _entries(X)
    p, last, theirs = X.shape[1], state.last, state.recipe.keep != neurons.LAST
    learn, head, theta = state.kernels.learn, state.head, state.theta
    notes = Notes(np.empty(len(rows)), np.empty((len(rows), *last.shape)), [])
    for m, i in enumerate(rows):
        x, at = (data, indptr[i : i + 2]) if len(indptr) else (data[i * p : i * p + p], NO_ROWS)
        learn(x, indices, at, NO_ROWS, Y[i : i + 1], omega[i : i + 1], head, theta)
        notes.made[m], notes.last[m] = head[neurons.CORRECTIONS], last
        if theirs:
            notes.kept.append(state.kept())
    return notes


def _entries(X: Any) -> tuple[Array, NDArray[Any], NDArray[Any]]:
    """Numbers, columns and beginnings of rows, as kernels take them; the first alone if dense."""
    if not hasattr(X, "indptr"):
        return np.ascontiguousarray(X, dtype=np.float64).reshape(-1), NO_ROWS, NO_ROWS
    if X.data.dtype == np.float64:
        return X.data, X.indices, X.indptr
    part = slice(X.indptr[0], X.indptr[-1])
    return X.data[part].astype(np.float64), X.indices[part], X.indptr - X.indptr[0]
