"""Where many rows decide: their weights, from the inner products of all rows.

Wolfe's algorithm finds the deciding rows one by one, and each costs passes over all rows and over
the rows found so far. With the inner products G of the rows, made once by BLAS, there are two
faster ways. Steps between two rows at a time (Mitchell, Demyanov and Malozemov) say soon which
rows decide, but slowly how much. The equations of the rows that decide, solved by Cholesky, say how
much, but only once nearly all of them are known. So steps begin and equations end.

Legend: Z (n, d) rows; t -1 or +1; side as t with a bias, else +1 for one hull, of the rows t z;
a weights, convex for each side; z = sum_i t_i a_i z_i; h_i = t_i z_i'z.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adaline._threads import one_blas_thread
from adaline.kernels.separability import hull_steps
from adaline.linalg import cholesky, solve_cholesky
from adaline.results import Array

_FEW, _MANY = 256, 4096  # rows: below it is no work, and above n x n numbers are too many
_SHARE = 4  # times the columns may be fewer than the rows: many rows decide
_TOL = 1e-2  # of z'z: enough to know nearly all that decide
_STEPS = 16  # for each row, at most
_ROUNDS = 40  # of equations, at most; 2 to 12 were seen where they converged
_RIDGE = 1e-13  # of a row's square: rows that depend on each other share their weight


@dataclass(frozen=True, eq=False)
class ManyRows:
    """Weights of all rows, and passes over the rows made; solved: z'z - min z'v <= tol z'z."""

    weights: Array
    solved: bool
    passes: int


def many_rows(Z: Array, t: Array, bias: bool, tol: float, max_iter: int) -> ManyRows | None:
    """Weights of the nearest points, or at least of points near them; None if not worth it."""
    n, d = Z.shape
    if not _FEW <= n <= _MANY or _SHARE * d < n:
        return None
    with one_blas_thread(1):  # threads of BLAS would change the last digit
        G = Z @ Z.T
        if not bias:
            G *= t * t[:, None]
        side = t if bias else np.ones(n)
        positive = np.count_nonzero(side > 0)
        weights = np.where(side > 0, 1.0 / positive, 1.0 / max(n - positive, 1))
        h = side * (G @ (side * weights))
        hull_steps.approach(G, side, weights, h, _TOL, _STEPS * n)
        return _solved(Z, t, G, side, weights, tol, min(max_iter, _ROUNDS))


def _solved(
    Z: Array, t: Array, G: Array, side: Array, start: Array, tol: float, rounds: int
) -> ManyRows:
    """Solve the equations of the rows with weight; rows leave and come in until all h agree.

    All rows whose weight would be negative leave at once, and all that are nearer to the hyperplane
    than the deciding ones come in at once. That is fast, but may go round in circles: where the
    rows to come in do not become fewer, this gives up, and `start` is the answer.
    """
    E = np.column_stack([side > 0, side < 0]).astype(np.float64)
    E = E[:, E.any(axis=0)]
    active, fewest, passes = start > 0.0, len(start), 0
    for _ in range(rounds):
        own = np.flatnonzero(active)
        equations = _Equations.of(G, side, E, own)
        if equations is None:
            break
        a = equations.weights()
        if not np.isfinite(a).all():
            break
        if (a > 0.0).all():
            passes += 1
            a = equations.corrected(a, (t * (Z @ ((t[own] * a) @ Z[own])))[own])
        if not (a > 0.0).all():
            active[own[~(a > 0.0)]] = False
            continue
        passes += 1
        h = t * (Z @ ((t[own] * a) @ Z[own]))
        levels = (a * h[own]) @ E[own]
        square = float(levels.sum())
        below = E @ levels - h
        gap = square - sum(float(h[e > 0.0].min()) for e in E.T)
        if gap <= tol * square:
            weights = np.zeros(len(start))
            weights[own] = a
            return ManyRows(weights, True, passes)
        below[own] = 0.0
        new = below > tol / 4.0 * square
        if not 0 < np.count_nonzero(new) < fewest:
            break
        fewest = int(np.count_nonzero(new))
        active |= new
    return ManyRows(start, False, passes)


@dataclass(frozen=True, eq=False)
class _Equations:
    """h_i the same on each side, and weights with the sum one on each side, for some rows.

    K_ij = h_i at a = e_j, plus s on each side, which leaves the solution as it is and makes K
    regular where the rows are affinely independent. R'R = K, e (m, sides) tells the side of each
    row, U = K^-1 e.
    """

    e: Array
    R: Array
    U: Array

    @classmethod
    def of(cls, G: Array, side: Array, E: Array, own: NDArray[np.int64]) -> _Equations | None:
        """Those of the rows `own`; None where K is not positive definite."""
        e, s = E[own], float(G.diagonal().mean())
        K = G[np.ix_(own, own)]
        if e.shape[1] > 1:
            K *= side[own] * side[own, None]
        K += s * (e @ e.T)
        K.flat[:: len(K) + 1] += _RIDGE * s * len(K)
        R = cholesky(K.T)
        return None if R is None else cls(e, R, solve_cholesky(R, e))

    def weights(self) -> Array:
        """a, of which some may be negative."""
        return np.asarray(self.U @ np.linalg.solve(self.e.T @ self.U, np.ones(self.e.shape[1])))

    def corrected(self, a: Array, h: Array) -> Array:
        """a after one correction by what h, computed from the rows, says of it."""
        step = solve_cholesky(self.R, self.e @ ((a * h) @ self.e) - h)
        back = np.linalg.solve(self.e.T @ self.U, self.e.T @ step)
        return np.asarray(a + step - self.U @ back)
