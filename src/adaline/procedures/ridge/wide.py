"""Ridge where columns outnumber rows, through the n x n side, with a bound on its error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.digits import certificate_together, gamma, in_users_units
from adaline.kernels.double_double import double_double
from adaline.linalg import UNDERFLOW, UNIT
from adaline.procedures.least_squares.gradients import additions, gradients, minus_product
from adaline.procedures.least_squares.refinement import outward
from adaline.procedures.ridge.spectrum import CentredRows, Spectrum
from adaline.results import Array, ClosedFit
from adaline.tiles import Rows

_ROOM = 2**22  # numbers of the weights that are corrected together
_ENOUGH = 2.0**-60  # of the largest weight: less than float64 could show
_SMALL = 1e-150  # lengths below this may be lost, as their squares are


def wide_ridge(f: Spectrum, rows: Rows, alpha: Array, units: Array | None = None) -> ClosedFit:
    """w = A'(A A' + lam)^-1 y for each target, corrected in double-double; f is of these rows.

    With units (p,), f is of x / units, and the penalty is fl(alpha fl(units_j^2)) w_j^2. Then w is
    that of columns divided by the powers of two above units, `rest` what of units is left, in
    [1/2, 1): weights w of these columns have lam sum (rest_j w_j)^2 for a penalty.
    """
    lams, p = f.in_units(alpha), rows.X.shape[1]
    rest, power = (np.ones(p), np.full(p, f.e)) if units is None else np.frexp(units)
    most = max(_ROOM // (p + 1), 1)
    blocks = [np.arange(i, min(i + most, len(lams))) for i in range(0, len(lams), most)]
    parts = [_wide_targets(f, rows, which, lams[which], rest, power) for which in blocks]
    theta, low, bounds, squares = (
        np.concatenate([part[i] for part in parts], axis=-1) for i in range(4)
    )
    e = np.vstack([f.e_y - power[:, None], f.e_y])
    # Lengths of p numbers, each of which may have underflowed here or in the units of X.
    bounds = in_users_units(bounds + p * UNDERFLOW, f.e_y - power.min()) + p * UNDERFLOW
    theta, low = np.ldexp(theta, e), np.ldexp(low, e)
    lam, top = lams.min(), f.s.max(initial=0.0)
    least = lam if not f.full else lam + f.s[f.s > 0].min()
    kappa = float(np.sqrt((top + lam) / least)) if least > 0 else np.inf
    return ClosedFit(
        W=theta[:p].T.copy(),
        b=theta[p].copy(),
        stopped="solved through the n x n side, then corrected in double-double.",
        certificate=certificate_together(theta[:p].T, outward(bounds), low[:p].T, kappa),
        rank=int(np.count_nonzero(f.s)),
        condition=kappa,
        W_low=low[:p].T.copy(),
        b_low=low[p].copy(),
        squares=np.ldexp(squares, 2 * f.e_y),
    )


def _wide_targets(
    f: Spectrum, rows: Rows, which: NDArray[np.int64], lam: Array, rest: Array, power: Any
) -> tuple[Array, Array, Array, Array]:
    """theta = (w, b) as high and low parts, bounds on |w - exact|, sums of squared residuals.

    The exact error of w solves (S + lam) d = g. For any d the rest is at most
    |g - (S + lam) d|/lam, since S + lam >= lam; d only has to make it small. This holds for the
    weights rest w of A; those of the columns are at most twice as far.
    """
    A, p, k = f.A, rows.X.shape[1], len(which)
    assert A is not None
    part = np.zeros((len(f.s), k))
    np.divide(1.0, f.s[:, None] + lam, where=f.s[:, None] > 0, out=part)
    theta, low = np.zeros((p + 1, k)), np.zeros((p + 1, k))
    bound, squares = np.full(k, np.inf), np.zeros(k)
    theta[:p] = A.transposed(f.U @ (part * f.a[:, which]))
    theta[p] = f.mean[p + which] - f.mean[:p] @ theta[:p]
    theta[:p] /= rest[:, None]
    twice = 1.0 if np.all(rest == 1.0) else 2.0
    on = np.arange(k)
    for _ in range(4):
        high, tail = theta[:, on], low[:, on]
        g, doubt, squares[on] = pull(
            f, f.s.sum(), rows, which[on], lam[on], high, tail, rest, power
        )
        g[:p] /= rest[:, None]
        step, own = _wide_step(f, part[:, on], lam[on], g, twice * doubt)
        step[:p] /= rest[:, None]
        bound[on] = np.where(lam[on] > 0, twice * own, bound[on])
        high, carry = double_double.two_sums(high, step)
        high, tail = double_double.two_sums(high, tail + carry)
        theta[:, on], low[:, on] = high, tail
        moved = np.abs(step).max(axis=0) > _ENOUGH * np.abs(high).max(axis=0)
        unsure = ~(bound[on] <= _ENOUGH * np.abs(high[:p]).max(axis=0))
        on = on[moved & unsure]
        if not len(on):
            break
    return theta, low, bound, np.maximum(squares, 0.0)


def _wide_step(f: Spectrum, part: Array, lam: Array, g: Array, doubt: Array) -> tuple[Array, Array]:
    """Corrections of (w, b), and bounds on |w - exact| after them where lam > 0."""
    A, U, p = f.A, f.U, len(g) - 1
    assert A is not None
    inverse = np.divide(1.0, f.s, where=f.s > 0, out=np.zeros_like(f.s))
    along = inverse[:, None] * (U.T @ A.times(g[:p]))
    d = A.transposed(U @ (part * along))
    # What lies outside the span of the rows; below this it would be rounding alone.
    out = lam > 1e-10 * f.s.max(initial=0.0)
    if out.any():
        d[:, out] += (g[:p, out] - A.transposed(U @ along[:, out])) / lam[out]
    rest = np.linalg.norm(g[:p] - A.transposed(A.times(d)) - lam * d, axis=0)
    size = f.s.sum() + 4 * f.weight * (A.mean @ A.mean) + lam
    own = gamma(4 * (p + len(U))) * size * np.linalg.norm(d, axis=0)
    bound = 1.01 * (rest + own + doubt) / np.where(lam > 0, lam, 1.0)
    db = g[p] / f.weight - f.mean[:p] @ d if f.intercept else np.zeros(len(lam))
    return np.vstack([d, db]), bound


def pull(
    f: Spectrum | CentredRows,
    trace: float,
    rows: Rows,
    which: NDArray[np.int64],
    lam: Array,
    theta: Array,
    low: Array,
    rest: Array,
    power: Any,
) -> tuple[Array, Array, Array]:
    """g = A'(y - A w) - lam rest^2 w and sum r, bounds on |error of g|, and sums of squares.

    trace bounds the sum of squares of A. Columns here are x / 2**power, which are not longer than
    those of f.
    """
    p, n, k = rows.X.shape[1], rows.X.shape[0], len(which)
    scale, mean = np.ldexp(1.0, -power), np.append(f.mean[:p] * rest, 0.0)
    g, g_low, squares = gradients(rows, which, scale, np.ldexp(1.0, -f.e_y[which]), theta, low)
    # Lengths of all columns together, about zero: rows enter the sums before they are centred.
    reach = float(np.sqrt(trace + f.weight * (1.0 + mean @ mean)))
    target = np.sqrt(squares) + reach * np.linalg.norm(theta, axis=0)
    steps = 8 * additions(n, p) + 2 * (p + 3) ** 2
    doubt = 4 * steps * UNIT**2 * reach * target
    if f.intercept:
        drift = (
            (n + 4 * (1 + np.any(rest < 1.0))) * UNIT * reach / np.sqrt(f.weight)
        )  # how far the means are from exact
        doubt += drift * np.abs(g[p])
        c, c_low = (np.repeat(v[None, p], p + 1, axis=0) for v in (g, g_low))
        g, g_low = minus_product(g, g_low, np.repeat(mean[:, None], k, axis=1), c, c_low)
    penalty = np.vstack([lam * (rest**2)[:, None], np.zeros(k)])
    g, _ = minus_product(g, g_low, penalty, theta, low)
    doubt += UNIT * np.linalg.norm(g[:p], axis=0) + _SMALL
    doubt += 8 * UNIT**2 * lam * np.linalg.norm(theta, axis=0)
    return g, doubt, squares
