"""One sample at a time: w + eta(n) g(n) x(n), pass after pass, until there is nothing to learn.

Letters: X (n, p) samples, Y (n, k) targets or (n, 1) class codes, omega (n,) weights or empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import plural
from adaline.procedures.sequential.margin_limit import MarginLimit
from adaline.procedures.sequential.state import (
    NO_ROWS,
    Learning,
    Outcome,
    State,
    asked,
    diverged,
    learn,
    learn_each,
)
from adaline.procedures.steps import Steps, Stepwise
from adaline.results import Array
from adaline.tiles import is_sparse

Order = NDArray[np.int64]

_BLOCK = 2**15  # numbers in a block of rows that is gathered: it stays in cache
_EXPLODES = 1e6  # errors so many times the targets are no learning
_FEWEST = 5  # passes of a perceptron before it is given up
STALLED = "the mean squared error stopped falling by more than tol"
_SLIM = (
    "stopped after pass {} and {}, by which no (w, b) of length one can have all "
    "samples farther than tol={} times the longest (x, 1) on their right side."
)


def missed(state: State, loss: float) -> str:
    """The mean squared error, where max_iter ended learning."""
    return f"a mean squared error of {state.mean_square(loss):.4g}"


def blocks(X: Any, rng: np.random.Generator | None) -> Iterator[tuple[int, int, Order]]:
    """(start, stop, rows) of the blocks of a pass; no rows where they come as they are.

    With rng, a block holds the places start..stop of a random permutation of all rows. Blocks of
    neighbours in random order would not do: of rows sorted by label, each would hold one class.
    """
    n, p = X.shape
    width = X.nnz / max(n, 1) if is_sparse(X) else p
    size = _BLOCK if rng is not None else 32 * _BLOCK  # between two blocks, Ctrl-C is heard
    m = min(max(int(size // max(width, 1)), 256), 65536)
    order = NO_ROWS if rng is None else rng.permutation(n)
    for start in range(0, n, m):
        stop = min(start + m, n)
        yield start, stop, order[start:stop]


def learn_rows(
    state: State, X: Any, Y: Array, omega: Array, start: int, stop: int, rows: Order
) -> None:
    """Learn the rows of these numbers, in this order; without numbers, start..stop."""
    if not len(rows):
        learn(state, _rows(X, start, stop), Y[start:stop], omega[start:stop])
    elif is_sparse(X) and X.dtype == np.float64:
        learn(state, X, Y, omega, rows)
    else:
        # Gathering fetches many rows from memory at a time; the kernel would wait for each.
        gathered = X[rows] if is_sparse(X) else X.take(rows, axis=0)
        learn(state, gathered, Y.take(rows, axis=0), omega[rows] if len(omega) else omega)


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
    with a note of each row where that is asked for, and every pass.
    """
    here = Learning(state, X, Y)
    yield 0, here
    perceptron = state.is_perceptron
    weight = float(omega.sum()) if len(omega) else float(len(Y))
    squares = 0.0 if perceptron else float(np.sum(Y * Y))
    scale = _EXPLODES * squares * max(1.0, float(omega.max(initial=1.0)))
    best, stalled, patience = np.inf, 0, 2 if rng is None else 5
    limit = MarginLimit(state, X) if tol > 0 and MarginLimit.serves(state, omega) else None
    for k in range(1, max_iter + 1):
        saved = state.copy()
        try:
            made, loss = state.corrections, state.loss
            for start, stop, rows in blocks(X, rng):
                here.rows = rows if len(rows) else range(start, stop)
                if note:
                    here.notes = learn_each(state, X, Y, omega, here.rows)
                else:
                    learn_rows(state, X, Y, omega, start, stop, rows)
                yield k - 1, here
        except BaseException:
            state.restore(saved)
            raise
        here.rows, made, loss = (), state.corrections - made, state.loss - loss
        if not np.isfinite(state.theta).all() or loss > scale > 0:
            state.restore(saved)
            return diverged(k, bound)
        enough = yield k, here
        if perceptron and made == 0:
            return Outcome(k, f"pass {k} made no correction.", True)
        if limit is not None and k >= _FEWEST and limit.relative() <= tol:
            return Outcome(
                k, _SLIM.format(k, plural(state.corrections, "correction"), f"{tol:g}"), False
            )
        stalled = stalled + 1 if best * (1.0 - tol) <= loss <= 2.0 * best else 0
        if state.is_solved(loss / weight, tol):
            return Outcome(k, f"the mean squared error in pass {k} is below tol.", True)
        if stalled == patience and tol > 0 and not perceptron:
            why = f"{STALLED}; {state.mean_square(loss / weight):.4g} in pass {k}."
            return Outcome(k, why, True)
        if enough:
            return asked(k)
        best = min(best, loss)
    last = plural(made, "correction") if perceptron else missed(state, loss / weight)
    return Outcome(max_iter, f"max_iter={max_iter} passes are done, the last with {last}.", False)


def _rows(X: Any, start: int, stop: int) -> Any:
    """Rows of X; those of a CSR matrix without a copy of its entries."""
    return _Sparse(X, start, stop) if is_sparse(X) else X[start:stop]


class _Sparse:
    """Consecutive rows of a CSR matrix: all entries, and the part of indptr."""

    def __init__(self, X: Any, start: int, stop: int):
        self.data, self.indices, self.indptr = X.data, X.indices, X.indptr[start : stop + 1]
        self.shape = stop - start, X.shape[1]
