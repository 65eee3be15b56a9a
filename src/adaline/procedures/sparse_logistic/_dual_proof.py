"""What a dual point proves of a primal one, roundings counted.

Letters: P(w, b) = L + alpha/2 |w|^2 with the loss L = sum omega_i log(1 + exp(-t_i v_i)). For any
lambda with 0 <= lambda_i <= omega_i, entropy E, z = sum lambda_i t_i x_i and s = sum lambda_i t_i,

    P* >= E - |z|^2 / (2 alpha) - b* s          (each loss lies above its tangents)

where b* is the best bias. With e = z - alpha w, the distance of P(w, b) from its minimum P* is
therefore at most

    gap = L - E + alpha |w|^2 + w'e + |e|^2 / (2 alpha) + |s| |b*|.

Without a bias there is no s. With one, s = 0 up to rounding, and what is left is paid for: the
loss of the rows of either sign is at least -sum omega_i t_i v_i and at most P. With Omega the
lesser weight of a sign, r the larger mean |x| of one, and m the larger mean |v|, therefore

    |b*| <= P / Omega + r |w*|,                      |w*| <= sqrt(2 P / alpha),
    |b*| <= |b| + P / Omega + m + r |w* - w|,        |w* - w| <= sqrt(2 gap / alpha):

a bound on the gap gives a better one.

Every sum is computed with a bound on its rounding error: functions to 8 units each, sums
compensated. Nothing is assumed of how w, b and lambda were found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.kernels.losses import dual_proof as kernels
from adaline.kernels.losses.dual import row_squares
from adaline.results import Array
from adaline.tiles import entries

EPS = float(np.finfo(np.float64).eps)  # 2^-52, twice what one rounding can do
_TINY = 1e-250  # more than underflow can do to one term
_SLACK = 1.01  # the bounds themselves are computed in float64


@dataclass(frozen=True, eq=False)
class DualRows:
    """CSR rows, their targets and weights, and the penalty."""

    X: Any
    t: Array
    omega: Array
    alpha: float
    intercept: bool

    @property
    def entries(self) -> tuple[Any, Any, Any]:
        """What kernels take."""
        return entries(self.X)


@dataclass(frozen=True, eq=False)
class Proof:
    """A primal point, a dual point, and what lies between them.

    Attributes
    ----------
    w, b : ndarray of shape (p,), and float
    lam : ndarray of shape (n,)
    value : float
        P(w, b), as computed.
    gap : float
        (P - P*) / P is at most this; infinite where nothing is proven.
    rounding : float
        The part of the gap that only rounding may have made.
    """

    w: Array
    b: float
    lam: Array
    value: float
    gap: float
    rounding: float


def proven(rows: DualRows, u: Array, w: Array | None, b: Any) -> Proof:
    """The gap between (w, b) and the dual point of log-odds u; w = z / alpha where it is None.

    b is a number, or a function that gives one for w.
    """
    n, alpha = len(rows.t), rows.alpha
    lam, entropies = kernels.dual_point(rows.omega, u)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        z, size = kernels.combined(*rows.entries, lam * rows.t, rows.X.shape[1])
        w = np.asarray(z / alpha) if w is None else w
        b = float(b(w)) if callable(b) else float(b)
        losses, doubts, margins = kernels.primal_point(*rows.entries, rows.t, rows.omega, w, b, EPS)
        L, E = kernels.added(losses), kernels.added(entropies)
        square = alpha * kernels.added(w * w)
        e = z - alpha * w
        # lambda is off by 4 units, products by 1, their sum by 1 and (n EPS)^2 of their size.
        off = (6.0 * EPS + (n * EPS) ** 2) * size + EPS * (alpha * np.abs(w) + np.abs(e))
        apart = kernels.added((np.abs(e) + off) ** 2) / (2.0 * alpha)
        P = L + 0.5 * square
        doubt = 16.0 * EPS * (L + E + square) + kernels.added(doubts)
        doubt += kernels.added(np.abs(w) * (off + 4.0 * EPS * np.abs(e))) + 8.0 * EPS * apart
        doubt += (n + len(w)) * _TINY * (1.0 + float(np.max(np.abs(w), initial=0.0)))
        found = max(L - E + square + kernels.added(w * e) + apart, 0.0)
        if rows.intercept:
            s = abs(kernels.added(lam * rows.t))
            s += (4.0 * EPS + (n * EPS) ** 2) * kernels.added(lam)
            doubt += s * _bias_bound(rows, P, b, margins, found + _SLACK * doubt, s)
        gap, doubt = found + _SLACK * doubt, _SLACK * doubt
        relative = float(gap / P) * (1.0 + 4.0 * EPS) if P > 0.0 and np.isfinite(P) else np.inf
        rounding = float(doubt / P) if np.isfinite(relative) else np.inf
    return Proof(w, b, lam, float(P), relative if np.isfinite(relative) else np.inf, rounding)


def _bias_bound(rows: DualRows, P: float, b: float, margins: Array, gap: float, s: float) -> float:
    """How large the best bias can be, where the gap is at most `gap` and s times that bound."""
    data, _, indptr = rows.entries
    length = np.sqrt(row_squares(data, indptr) + _TINY)
    least, r, m = np.inf, 0.0, 0.0
    for sign in (-1.0, 1.0):
        own = np.where(rows.t == sign, rows.omega, 0.0)
        total = float(own.sum())
        if not total > 0.0:
            return float(np.inf)
        least, r = min(least, total), max(r, float(own @ length) / total)
        m = max(m, float(own @ np.abs(margins)) / total)
    bound = _SLACK * (P / least + r * float(np.sqrt(2.0 * P / rows.alpha)))
    for _ in range(3):
        distance = float(np.sqrt(2.0 * (gap + s * bound) / rows.alpha))
        bound = min(bound, _SLACK * (abs(b) + P / least + m + r * distance))
    return bound
