"""Ridge where columns outnumber rows, through the n x n side, with a bound on its error."""

from __future__ import annotations

import numpy as np

from adaline.certificates.digits import gamma
from adaline.kernels import double_double
from adaline.linalg import UNIT
from adaline.procedures._spectrum import Spectrum
from adaline.results import Array, Certificate, ClosedFit
from adaline.tiles import Rows, gradient


def wide_ridge(f: Spectrum, rows: Rows, alpha: Array) -> ClosedFit:
    """w = A'(A A' + lam)^-1 y for each target, corrected in double-double; f is of these rows."""
    columns = [_wide_target(f, rows, t, float(lam)) for t, lam in enumerate(f.in_units(alpha))]
    p = rows.X.shape[1]
    theta, low = (np.column_stack([c[i] for c in columns]) for i in range(2))
    e = np.vstack([np.tile(f.e_y - f.e, (p, 1)), f.e_y])
    theta, low = np.ldexp(theta, e), np.ldexp(low, e)
    bounds = np.array([c[2] for c in columns])
    lam, top = f.in_units(alpha).min(), f.s.max(initial=0.0)
    least = lam if not f.full else lam + f.s[f.s > 0].min()
    kappa = float(np.sqrt((top + lam) / least)) if least > 0 else np.inf
    return ClosedFit(
        W=theta[:p].T.copy(),
        b=theta[p].copy(),
        stopped="solved through the n x n side, then corrected in double-double.",
        certificate=_certificate(theta[:p], np.ldexp(bounds, f.e_y - f.e), kappa),
        rank=int(np.count_nonzero(f.s)),
        condition=kappa,
        W_low=low[:p].T.copy(),
        b_low=low[p].copy(),
        squares=np.ldexp([c[3] for c in columns], 2 * f.e_y),
    )


def _wide_target(f: Spectrum, rows: Rows, t: int, lam: float) -> tuple[Array, Array, float, float]:
    """theta = (w, b) as high and low parts, a bound on |w - exact|, sum of squared residuals.

    The exact error of w solves (S + lam) d = g. For any d the rest is at most
    |g - (S + lam) d|/lam, since S + lam >= lam; d only has to make it small.
    """
    A, U, p = f.A, f.U, rows.X.shape[1]
    assert A is not None
    inverse = np.divide(1.0, f.s, where=f.s > 0, out=np.zeros_like(f.s))
    part = np.divide(1.0, f.s + lam, where=f.s > 0, out=np.zeros_like(f.s))
    theta, low, bound = np.zeros(p + 1), np.zeros(p + 1), np.inf
    theta[:p] = A.transposed(U @ (part * f.a[:, t]))
    theta[p] = f.mean[p + t] - f.mean[:p] @ theta[:p]
    for _ in range(4):
        g, doubt, squares = _pull(f, rows, t, lam, theta, low)
        along = inverse * (U.T @ A.times(g[:p]))
        d = A.transposed(U @ (part * along))
        if lam > 1e-10 * f.s.max(initial=0.0):
            # What lies outside the span of the rows; below this it would be rounding alone.
            d += (g[:p] - A.transposed(U @ along)) / lam
        if lam > 0:
            rest = np.linalg.norm(g[:p] - A.transposed(A.times(d)) - lam * d)
            size = f.s.sum() + 4 * f.weight * (A.mean @ A.mean) + lam
            own = gamma(4 * (p + len(U))) * size * np.linalg.norm(d)
            bound = float(1.01 * (rest + own + doubt) / lam)
        step = np.append(d, g[p] / f.weight - f.mean[:p] @ d) if f.intercept else np.append(d, 0.0)
        theta, carry = double_double.two_sum(theta, step)
        theta, low = double_double.two_sum(theta, low + carry)
        if np.abs(step).max() <= 2.0**-60 * np.abs(theta).max():
            break
    return theta, low, bound, max(squares, 0.0)


def _pull(
    f: Spectrum, rows: Rows, t: int, lam: float, theta: Array, low: Array
) -> tuple[Array, float, float]:
    """g = A'(y - A w) - lam w and sum r, a bound on |error of g|, and the sum of squares."""
    p, n = rows.X.shape[1], rows.X.shape[0]
    scale, mean = np.full(p, np.ldexp(1.0, -f.e)), np.append(f.mean[:p], 0.0)
    unit = float(np.ldexp(1.0, -f.e_y[t]))
    g, g_low, squares = gradient(rows, t, scale, unit, theta, low)
    # Lengths of all columns together, about zero: rows enter the sums before they are centred.
    reach = float(np.sqrt(f.s.sum() + f.weight * (1.0 + mean @ mean)))
    target = float(np.sqrt(squares) + reach * np.linalg.norm(theta))
    steps = 8 * (n // double_double.LANES + double_double.LANES + 16) + 2 * (p + 3) ** 2
    doubt = 4 * steps * UNIT**2 * reach * target
    if f.intercept:
        drift = (n + 4) * UNIT * reach / np.sqrt(f.weight)  # how far the means are from exact
        doubt += drift * abs(float(g[p]))
        g, g_low = double_double.minus_product(
            g, g_low, mean, np.full(p + 1, g[p]), np.full(p + 1, g_low[p])
        )
    penalty = np.append(np.full(p, lam), 0.0)
    g, _ = double_double.minus_product(g, g_low, penalty, theta, low)
    doubt += UNIT * np.linalg.norm(g[:p]) + 8 * UNIT**2 * lam * np.linalg.norm(theta)
    return g, float(doubt), squares


def _certificate(w: Array, bounds: Array, kappa: float) -> Certificate:
    evidence = {"error_bound": bounds, "condition": kappa}
    size = np.abs(w).max(axis=0, initial=0.0)
    share = np.max(np.where(bounds > 0, bounds / np.where(size > 0, size, 1.0), 0.0))
    if not share < 0.1:
        return Certificate(
            "unproven",
            f"no digits are proven at a condition number of {kappa:.1e}; a larger alpha is surer.",
            evidence | {"digits": 0.0},
        )
    digits = float(np.clip(-np.log10(share), 0.0, 15.95)) if share > 0 else 15.95
    return Certificate(
        "exact",
        f"all weights together are within {np.max(bounds):.1e} of the exact ridge solution before "
        f"rounding to float64: {digits:.1f} digits of the largest weight.",
        evidence | {"digits": digits},
    )
