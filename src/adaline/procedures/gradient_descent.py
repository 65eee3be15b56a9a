"""Batch gradient descent: all samples are seen before each update.

Called by estimators/online where mode="batch". Squared errors move along the *mean* of
e(n) x(n), so that stable rates do not depend on N; the perceptron moves by the sum over its errors,
as lecture 002 has it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from adaline import criteria
from adaline.errors import plural
from adaline.kernels import codes
from adaline.parameters import is_sparse
from adaline.procedures import sequential as single
from adaline.procedures.sequential import Learning, Outcome, State
from adaline.results import Array, Steps, Stepwise
from adaline.schedules import Auto

BLOCK_ROWS = 4096  # any large number
MAX_UNPACKED = 2048  # columns up to which CSR rows are unpacked, block by block


class Descent(NamedTuple):
    """Of all samples: -gradient G (K, p + 1), bias last, loss, and errors to correct."""

    G: Array
    loss: float
    wrong: int


def dense_blocks(X: Any) -> Iterator[tuple[int, int, Any]]:
    """(start, stop, rows) for sums over all rows, the same bits for dense rows and CSR.

    Automatic steps are tried and taken back, and at a tie the last bit decides which: sums in
    another order would end in other weights. Beyond MAX_UNPACKED columns CSR stays sparse.
    """
    n, p = X.shape
    if is_sparse(X) and p > MAX_UNPACKED:
        yield 0, n, X
        return
    for i in range(0, n, BLOCK_ROWS):
        rows = X[i : i + BLOCK_ROWS].toarray() if is_sparse(X) else X[i : i + BLOCK_ROWS]
        yield i, min(i + BLOCK_ROWS, n), np.ascontiguousarray(rows, dtype=np.float64)


def batch_gradient(state: State, X: Any, Y: Array, omega: Array) -> Descent:
    """Sum of omega g x over all rows, g = -dE/dv, at the weights of the state."""
    recipe, W, b = state.recipe, state.last[:, :-1], state.last[:, -1]
    T = Y if recipe.criterion == codes.MACHINE else criteria.targets(recipe.targets, Y, recipe.K)
    G, loss, wrong = np.zeros((recipe.K, recipe.p + 1)), 0.0, 0
    with np.errstate(over="ignore", invalid="ignore"):  # divergence shows in the result
        for i, j, rows in dense_blocks(X):
            V = np.asarray(rows @ W.T, dtype=np.float64) + b
            S, E = criteria.slopes(recipe.criterion, T[i:j], V)
            if len(omega):
                S, E = S * omega[i:j, None], E * omega[i:j, None]
            wrong += int(np.count_nonzero(S.any(axis=1)))
            G[:, :-1] += np.asarray((rows.T @ S).T, dtype=np.float64)
            G[:, -1] += S.sum(axis=0) * recipe.intercept
            loss += float(E.sum())
    return Descent(G, loss, wrong)


class AutomaticSteps:
    """Barzilai and Borwein's, in units of each feature's root mean square.

    The first step is 1/tr of the scaled R over the curvature, which cannot raise the error; a
    step that raised it above the last eight errors is taken back, and that safe one follows.
    """

    def __init__(self, state: State, X: Any, omega: Array):
        recipe, weights = state.recipe, omega if len(omega) else np.ones(X.shape[0])
        mean = np.zeros(recipe.p)
        for i, j, rows in dense_blocks(X):
            squares = rows.multiply(rows) if is_sparse(rows) else rows * rows
            mean += np.asarray(squares.T @ weights[i:j], dtype=np.float64).ravel()
        self.D = np.append(mean / weights.sum(), float(recipe.intercept))
        self.inverse = np.divide(1.0, self.D, out=np.zeros_like(self.D), where=self.D > 0)
        self.safe = 1.0 / (state.counters.curvature * max(np.count_nonzero(self.D), 1))
        self.best, self.at, self.recent = np.inf, state.last.copy(), deque([np.inf], 8)
        self.last: tuple[Array, Array] | None = None

    def change(self, theta: Array, G: Array, loss: float) -> Array:
        """What to add to theta, where -gradient and loss are G and loss."""
        if loss > max(self.recent):
            self.last, self.recent = None, deque([self.best], 8)
            return np.asarray(self.at - theta)
        if loss <= self.best:
            self.best, self.at = loss, theta.copy()
        self.recent.append(loss)
        rate = np.full((len(theta), 1), self.safe)
        if self.last is not None:
            s, y = theta - self.last[0], self.last[1] - G
            length, bend = ((s * s) @ self.D), np.sum(s * y, axis=1)
            bent = bend > 1e-300
            rate[bent, 0] = length[bent] / bend[bent]
        self.last = theta.copy(), G
        return np.asarray(rate * G * self.inverse)


@Stepwise
def batch(
    state: State, X: Any, Y: Array, omega: Array, *, max_iter: int, tol: float, bound: str = ""
) -> Steps[Outcome]:
    """Passes until none is wrong, or the error stops falling, or max_iter.

    The steps are the start, every pass, and the way back to the best weights, if there is one.
    """
    learning = Learning(state, X, Y)
    yield 0, learning
    perceptron = state.is_perceptron
    total = float(omega.sum()) if len(omega) else float(X.shape[0])
    steps = AutomaticSteps(state, X, omega) if isinstance(state.recipe.schedule, Auto) else None
    highest = single.EXPLOSION * float(np.sum(Y * Y)) * max(1.0, float(omega.max(initial=1.0)))
    saved, least, stalled = state.copy(), np.inf, 0
    for k in range(1, max_iter + 1):
        sums = batch_gradient(state, X, Y, omega)
        exploded = not perceptron and sums.loss > highest > 0 and steps is None
        if exploded or not (np.isfinite(sums.G).all() and np.isfinite(sums.loss)):
            state.restore(saved)
            return single.diverged(k, bound)
        saved, loss = state.copy(), sums.loss / total
        if steps is not None:
            learning.change = steps.change(state.last, sums.G / total, loss)
        else:
            eta = state.recipe.schedule(state.seen, 1)[0]
            learning.change = eta * (sums.G if perceptron else sums.G / total)
        rests = sums.wrong == 0 if perceptron else not learning.change.any()
        # A loss that grows is not at rest: it will be caught when it has exploded.
        stalled = stalled + 1 if least * (1.0 - tol) <= sums.loss <= 2.0 * least else 0
        count_pass(state, learning.change, sums)
        if not rests:
            state.last[:] += learning.change
        yield k, learning
        if rests:
            return Outcome(k, f"pass {k} found no error to correct.", True)
        is_solved = state.is_solved(loss, tol)
        is_stalled = stalled == (10 if steps else 2) and tol > 0 and not perceptron
        least = min(least, sums.loss)
        if not (is_solved or is_stalled or k == max_iter):
            continue
        if steps is not None:  # end where the loss was least
            learning.change, loss = steps.at - state.last, steps.best
            state.last[:] = steps.at
            if learning.change.any():
                yield k, learning
        if is_solved:
            return Outcome(k, f"the mean squared error in pass {k} is below tol.", True)
        if is_stalled:
            return Outcome(k, f"{single.STALLED}; {state.mean_square(loss):.4g} in pass {k}.", True)
    least = steps.best if steps else least / total
    last = plural(sums.wrong, "error") if perceptron else single.missed(state, least)
    return Outcome(max_iter, f"max_iter={max_iter} passes are done, the last with {last}.", False)


def count_pass(state: State, change: Array, sums: Descent) -> None:
    """One more pass: the average and the pocket learn of it."""
    counters = state.counters
    if state.recipe.keep == codes.AVERAGE:
        state.beside[:] += counters.seen * change
    first = counters.seen == 0.0
    if state.recipe.keep == codes.POCKET and (first or sums.wrong < counters.fewest):
        counters.fewest = sums.wrong
        state.runs[1] = 1.0
        state.beside[:] = state.last
    counters.seen += 1.0
    counters.corrections += sums.wrong > 0
    counters.loss += sums.loss
