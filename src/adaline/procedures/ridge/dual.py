"""Ridge at one given penalty where columns outnumber rows: one Cholesky factor of the n x n side.

    w = A'(A A' + lam)^-1 y,    (A'A + lam)^-1 g = (g - A'(A A' + lam)^-1 A g) / lam

A spectrum serves every penalty and costs ten times as much. The second equation corrects w by
gradients in double-double; where lam is so small that it cancels, `wide` does better.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.digits import certificate_together, gamma, in_users_units
from adaline.kernels.double_double import double_double
from adaline.linalg import UNDERFLOW, cholesky, condition, solve_cholesky
from adaline.procedures.least_squares.refinement import outward
from adaline.procedures.ridge.spectrum import CentredRows
from adaline.procedures.ridge.wide import pull
from adaline.results import Array, ClosedFit
from adaline.tiles import Rows

_ROOM = 2**22  # numbers of the weights that are corrected together
_CANCELS = 1e10  # sums of squares over lam, beyond which the correction has too few digits
_PROVEN = 1e-13  # of the largest weight: a bound that a spectrum would hardly better
_ENOUGH = 2.0**-54  # of the largest weight: rounding the weights to float64 costs as much
_MOST = 3  # corrections


def dual_ridge(c: CentredRows, rows: Rows, alpha: float) -> ClosedFit | None:
    """w and b of all targets, corrected in double-double; None where `wide_ridge` is surer."""
    p, k, lam = len(c.A.mean), c.B.shape[1], float(np.ldexp(alpha, -2 * c.e))
    K = c.A.gram()
    trace = 1.01 * float(np.trace(K))
    if not (1e-100 < lam < 1e100 and trace < _CANCELS * lam):
        return None
    K[np.diag_indices_from(K)] += lam
    if c.intercept:  # the ones are in no centred column: any number there will do
        K += np.multiply.outer(c.root, c.root) * (trace / len(c.root) / c.weight)
    R = cholesky(K)
    if R is None:
        return None
    kappa = condition(R)
    parts = [
        _targets(c, rows, R, lam, trace, np.arange(i, min(i + max(_ROOM // p, 1), k)))
        for i in range(0, k, max(_ROOM // p, 1))
    ]
    theta, low, bounds, squares = (
        np.concatenate([part[i] for part in parts], axis=-1) for i in range(4)
    )
    if np.any(bounds > _PROVEN * np.abs(theta[:p]).max(axis=0)):
        return None
    e = np.vstack([np.tile(c.e_y - c.e, (p, 1)), c.e_y])
    bounds = in_users_units(bounds + p * UNDERFLOW, c.e_y - c.e) + p * UNDERFLOW
    theta, low = np.ldexp(theta, e), np.ldexp(low, e)
    return ClosedFit(
        W=theta[:p].T.copy(),
        b=theta[p].copy(),
        stopped="solved through the n x n side, then corrected in double-double.",
        certificate=certificate_together(theta[:p].T, outward(bounds), low[:p].T, kappa),
        rank=min(len(c.root) - c.intercept, p),
        condition=kappa,
        W_low=low[:p].T.copy(),
        b_low=low[p].copy(),
        squares=np.ldexp(squares, 2 * c.e_y),
    )


def _targets(
    c: CentredRows, rows: Rows, R: Array, lam: float, trace: float, which: NDArray[np.int64]
) -> tuple[Array, Array, Array, Array]:
    """theta = (w, b) as high and low parts, bounds on |w - exact|, sums of squared residuals."""
    A, p, k = c.A, len(c.A.mean), len(which)
    ones, power = np.ones(p), np.full(p, c.e)  # columns keep their own units
    theta, low = np.zeros((p + 1, k)), np.zeros((p + 1, k))
    theta[:p] = A.transposed(solve_cholesky(R, c.B[:, which] * c.root[:, None]))
    theta[p] = c.mean[p + which] - c.mean[:p] @ theta[:p]
    bound, squares = np.full(k, np.inf), np.zeros(k)
    on, penalty = np.arange(k), np.full(k, lam)
    for _ in range(_MOST):
        high, tail = theta[:, on], low[:, on]
        g, doubt, squares[on] = pull(
            c, trace, rows, which[on], penalty[on], high, tail, ones, power
        )
        step, left = _step(c, R, lam, trace, g)
        bound[on] = 1.01 * (left + doubt) / lam
        high, carry = double_double.two_sum(high, step)
        high, tail = double_double.two_sum(high, tail + carry)
        theta[:, on], low[:, on] = high, tail
        on = on[left / lam > _ENOUGH * np.abs(high[:p]).max(axis=0)]
        if not len(on):
            break
    return theta, low, bound, np.maximum(squares, 0.0)


def _step(c: CentredRows, R: Array, lam: float, trace: float, g: Array) -> tuple[Array, Array]:
    """Corrections of (w, b), and bounds on what they leave of the gradient g of w.

    The exact error of w solves (S + lam) d = g. For any d the rest is at most
    |g - (S + lam) d|/lam, since S + lam >= lam; d only has to make it small.
    """
    A, p = c.A, len(g) - 1
    d = (g[:p] - A.transposed(solve_cholesky(R, A.times(g[:p])))) / lam
    rest = np.linalg.norm(g[:p] - A.transposed(A.times(d)) - lam * d, axis=0)
    size = trace + 4 * c.weight * (A.mean @ A.mean) + lam
    own = gamma(4 * (p + len(c.root))) * size * np.linalg.norm(d, axis=0)
    db = g[p] / c.weight - c.mean[:p] @ d if c.intercept else np.zeros(g.shape[1])
    return np.vstack([d, db]), rest + own
