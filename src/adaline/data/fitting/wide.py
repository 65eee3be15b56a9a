"""Logistic regression of more columns than a matrix can hold: L-BFGS, a gradient in each pass.

Called by `newton.minimise`. Only the state between two steps is saved, however many passes there
are.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from adaline.data.fitting.chunks import Chunk, Chunks
from adaline.data.storing.records import storable
from adaline.errors import DataError
from adaline.linalg import Diagonal, inner
from adaline.parameters import is_sparse
from adaline.procedures.newton import State, begin, until_proven
from adaline.procedures.steps import finished
from adaline.results import Array
from adaline.sums.objective import Sums
from adaline.sums.scaled_rows import MANY, NONE, ScaledRows

MOST_WEIGHTS = 2**27  # of all classes: a gigabyte, of which this process holds about 25
PASSES = 10  # times max_iter: a pass of gradients costs much less than a step with a matrix


@storable
@dataclass(frozen=True, eq=False)
class ColumnSizes:
    """Sums of the columns and of their squares, their largest numbers, and the longest row."""

    total: Array
    squares: Array
    largest: Array
    longest: float

    def __add__(self, other: ColumnSizes) -> ColumnSizes:
        with np.errstate(over="ignore", invalid="ignore"):
            return ColumnSizes(
                self.total + other.total,
                self.squares + other.squares,
                np.maximum(self.largest, other.largest),
                max(self.longest, other.longest),
            )


def column_sizes(chunk: Chunk) -> ColumnSizes:
    """Of a block."""
    X = chunk.X.astype(np.float64, copy=False)
    omega = chunk.weights if len(chunk.weights) else np.ones(X.shape[0])
    squares, ends = X.multiply(X) if is_sparse(X) else X * X, abs(X).max(axis=0)
    return ColumnSizes(
        np.asarray(X.T @ omega).ravel(),
        np.asarray(squares.T @ omega).ravel(),
        ends.toarray().ravel() if is_sparse(X) else ends,
        sqrt(float(np.asarray(squares.sum(axis=1)).max())),
    )


def start_from_sizes(
    model: Any, chunks: Chunks, weights: dict[Any, float]
) -> tuple[Array, Array, ScaledRows, float]:
    """The fields of a `Start`: units from a pass over all rows, and the bias of each class."""
    p, K = len(chunks.reader.names), 1 if len(weights) <= 2 else len(weights)
    if not weights:
        raise DataError(f"{p} columns are too many; {MANY} is the most.")
    if K * p > MOST_WEIGHTS:
        raise DataError(
            f"the target {chunks.reader.target!r} has {len(weights)} classes, and there are {p} "
            f"columns: more than {MOST_WEIGHTS} weights. Use fewer."
        )
    sizes: ColumnSizes = chunks.sum(column_sizes)
    if not np.isfinite(sizes.squares).all() or not np.isfinite(sizes.longest):
        raise DataError(
            f"{chunks.source.name}: sums over the rows leave the range of float64; rescale the "
            "columns."
        )
    weight = sum(weights.values())
    mean = sizes.total / weight if model.fit_intercept else 0.0 * sizes.total
    power = sizes.squares / weight
    size = np.sqrt(np.maximum(power - mean**2, 1e-8 * power))
    scale = np.where(size > 0, np.ldexp(1.0, -np.frexp(np.where(size > 0, size, 1.0))[1]), 1.0)
    theta = np.zeros((K, p + 1))
    plain = theta.copy()
    if model.fit_intercept:
        share = np.log(np.array(list(weights.values())) / weight)
        theta[:, -1] = share[1] - share[0] if K == 1 else share - share.mean()
    top = np.append(1.01 * (sizes.largest * scale + np.abs(mean * scale)), 1.0)
    units = bool(model.fit_intercept), scale, mean * scale, top, size * scale
    return theta, plain, ScaledRows(np.empty((0, p)), NONE, NONE, NONE, *units), sizes.longest


@storable
@dataclass(frozen=True, eq=False)
class Descent:
    """All that is known between two steps: plain arrays, to be written down."""

    theta: Array
    sums: Sums
    own: Array
    size: float
    pairs: Array  # (pairs, 2, K, p + 1): steps and changes of the gradient
    history: Array
    counts: tuple[Any, ...]  # steps, stuck, finer, goal, tries
    passes: int


def descend(model: Any, problem: Any) -> Any:
    """L-BFGS until the loss of a `PassesProblem` is proven to be near its minimum."""
    if not model.alpha > 0:
        raise DataError(
            f"{problem.q - 1} columns are too many for a matrix of their curvature, and without "
            "a penalty gradients alone prove nothing; give alpha > 0."
        )
    chunks, saved = problem.chunks, problem.chunks.state
    kept = chunks.count
    if saved is None:
        state = begin(problem, problem.start.theta, 0.0)
    else:
        problem.resume(saved.passes, saved.sums)
        diagonal = Diagonal(saved.own, 0.0 * saved.own)
        diagonal.size = saved.size
        state = State(problem, saved.theta, saved.sums, diagonal)
        state.pairs = [(s, y, inner(s, y)) for s, y in saved.pairs]
        state.history = list(saved.history)
        state.steps, state.stuck, state.finer, state.goal, state.tries = saved.counts

    def keep(done: int, now: State) -> None:
        pairs = np.array([p[:2] for p in now.pairs] or np.empty((0, 2, *now.theta.shape)))
        assert isinstance(now.model, Diagonal)
        counts = now.steps, now.stuck, now.finer, now.goal, now.tries
        own, history = (now.model.own, now.model.size), np.array(now.history)
        state = Descent(now.theta, now.sums, *own, pairs, history, counts, problem.passes)
        chunks.replace_results(kept, state)

    with np.errstate(over="ignore", invalid="ignore"):  # penalties of 1e-300 leave float64
        return finished(until_proven(state, PASSES * int(model.max_iter), float(model.tol)), keep)
