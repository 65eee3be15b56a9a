"""Batch gradient descent: all samples are seen before each update.

Squared errors move along the *mean* of e(n) x(n), so that stable rates do not depend on N; the
perceptron moves by the sum over its errors, as lecture 002 has it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline import criteria
from adaline.errors import plural
from adaline.kernels.sequential import neurons
from adaline.procedures.sequential.sequential import STALLED, missed
from adaline.procedures.sequential.state import Learning, Outcome, State, asked, diverged
from adaline.procedures.steps import Steps, Stepwise
from adaline.results import Array
from adaline.schedules import Auto
from adaline.tiles import is_sparse

_EXPLODES = 1e6  # errors so many times the targets are no learning
_ROWS = 4096
_UNPACKED = 2048  # columns up to which CSR rows are unpacked, block by block


@dataclass(frozen=True)
class Descent:
    """Of all samples: -gradient G (K, p + 1), bias last, loss, and errors to correct."""

    G: Array
    loss: float
    wrong: int


def _blocks(X: Any) -> Iterator[tuple[int, int, Any]]:
    """(start, stop, rows) for sums over all rows, the same bits for dense rows and CSR.

    Automatic steps are tried and taken back, and at a tie the last bit decides which: sums in
    another order would end in other weights. Beyond so many columns CSR stays sparse.
    """
    n, p = X.shape
    if is_sparse(X) and p > _UNPACKED:
        yield 0, n, X
        return
    for i in range(0, n, _ROWS):
        rows = X[i : i + _ROWS].toarray() if is_sparse(X) else X[i : i + _ROWS]
        yield i, min(i + _ROWS, n), np.ascontiguousarray(rows, dtype=np.float64)


def batch_gradient(state: State, X: Any, Y: Array, omega: Array) -> Descent:
    """Sum of omega g x over all rows, g = -dE/dv, at the weights of the state."""
    recipe = state.recipe
    T = Y if recipe.criterion == neurons.MACHINE else criteria.targets(recipe.targets, Y, recipe.K)
    G, loss, wrong = np.zeros((recipe.K, recipe.p + 1)), 0.0, 0
    with np.errstate(over="ignore", invalid="ignore"):  # divergence is told by its result
        for i, j, rows in _blocks(X):
            V = np.asarray(rows @ state.W.T, dtype=np.float64) + state.b
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
        for i, j, rows in _blocks(X):
            squares = rows.multiply(rows) if is_sparse(rows) else rows * rows
            mean += np.asarray(squares.T @ weights[i:j], dtype=np.float64).ravel()
        mean /= weights.sum()
        self.D = np.append(mean, float(recipe.intercept))
        self.inverse = np.divide(1.0, self.D, out=np.zeros_like(self.D), where=self.D > 0)
        self.safe = 1.0 / (state.head[neurons.CURVATURE] * max(np.count_nonzero(self.D), 1))
        self.best, self.at, self.recent = np.inf, state.last.copy(), deque([np.inf], 8)
        self.last: tuple[Array, Array] | None = None

    def change(self, theta: Array, G: Array, loss: float) -> Array:
        """What to add to theta, where -gradient and loss are G and loss."""
        if loss > max(self.recent):
            back = self.at - theta
            self.last, self.recent = None, deque([self.best], 8)
            return np.asarray(back)
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
    state: State,
    X: Any,
    Y: Array,
    omega: Array,
    *,
    max_iter: int,
    tol: float,
    bound: str = "",
) -> Steps[Outcome]:
    """Passes until none is wrong, or the error stops falling, or max_iter.

    The steps are the start, every pass, and the way back to the best weights, if there is one.
    """
    here = Learning(state, X, Y)
    yield 0, here
    total = float(omega.sum()) if len(omega) else float(X.shape[0])
    steps = AutomaticSteps(state, X, omega) if isinstance(state.recipe.schedule, Auto) else None
    limit = _EXPLODES * float(np.sum(Y * Y)) * max(1.0, float(omega.max(initial=1.0)))
    saved, before, stalled = state.copy(), np.inf, 0
    for k in range(1, max_iter + 1):
        found = batch_gradient(state, X, Y, omega)
        exploded = not state.is_perceptron and found.loss > limit > 0 and steps is None
        if exploded or not (np.isfinite(found.G).all() and np.isfinite(found.loss)):
            state.restore(saved)
            return diverged(k, bound)
        saved = state.copy()
        if steps is not None:
            change = steps.change(state.last, found.G / total, found.loss / total)
        else:
            eta = state.recipe.schedule(state.seen, 1)[0]  # type: ignore[operator]
            change = eta * (found.G if state.is_perceptron else found.G / total)
        rests = found.wrong == 0 if state.is_perceptron else not change.any()
        # A loss that grows is not at rest: it will be caught when it has exploded.
        stalled = stalled + 1 if before * (1.0 - tol) <= found.loss <= 2.0 * before else 0
        _count(state, change, found)
        if not rests:
            state.last[:] += change
        here.change = change
        enough = yield k, here
        if rests:
            return Outcome(k, f"pass {k} found no error to correct.", True)
        if state.is_solved(found.loss / total, tol):
            yield from _best(here, steps, k, found.loss)
            return Outcome(k, f"the mean squared error in pass {k} is below tol.", True)
        if stalled == (10 if steps else 2) and tol > 0 and not state.is_perceptron:
            loss = yield from _best(here, steps, k, found.loss / total)
            why = f"{STALLED}; {state.mean_square(loss):.4g} in pass {k}."
            return Outcome(k, why, True)
        if enough:
            yield from _best(here, steps, k, found.loss / total)
            return asked(k)
        before = min(before, found.loss)
    loss = yield from _best(here, steps, max_iter, before / total)
    last = plural(found.wrong, "error") if state.is_perceptron else missed(state, loss)
    return Outcome(max_iter, f"max_iter={max_iter} passes are done, the last with {last}.", False)


def _best(here: Learning, steps: AutomaticSteps | None, k: int, loss: float) -> Steps[float]:
    """Automatic steps end where the loss was least: go there, and tell its loss."""
    if steps is None:
        return loss
    here.change = steps.at - here.state.last
    here.state.last[:] = steps.at
    if here.change.any():
        yield k, here
    return steps.best


def _count(state: State, change: Array, found: Descent) -> None:
    """One more pass: the average and the pocket learn of it."""
    K, head, n = state.recipe.K, state.head, state.seen
    if state.recipe.keep == neurons.AVERAGE:
        state.beside[:] += n * change
    if state.recipe.keep == neurons.POCKET and (n == 0 or found.wrong < head[neurons.FEWEST]):
        head[neurons.FEWEST] = found.wrong
        head[neurons.RUNS + K :] = 1.0
        state.beside[:] = state.last
    head[neurons.SEEN] += 1.0
    head[neurons.CORRECTIONS] += found.wrong > 0
    head[neurons.LOSS] += found.loss
