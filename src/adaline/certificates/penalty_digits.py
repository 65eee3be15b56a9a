"""How far ridge weights are from the exact ones, by their penalties alone: no inverse is needed.

Let A hold the centred samples, S = A'A exactly, and D = diag(penalties) > 0. Where (S + D) e = r,

    |D^1/2 e|^2 <= e'(S + D)e = e'r <= |D^1/2 e| |D^-1/2 r|,    so    |D^1/2 e| <= |D^-1/2 r|

since S has no negative eigenvalue; and |D^1/2 e| <= |f| in the same way where r = A'f. If g is the
gradient A'(y - A w) - D w, then after any step d the exact weights are w + d + e with
r = g - (S + D) d. Whoever found d is not trusted: d only has to make r small.

Legend: u = 2^-53. S is known up to rho rho', the means up to `mean_rounding` (see `Moments`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from adaline.certificates.digits import gamma
from adaline.linalg import UNIT
from adaline.moments import Moments
from adaline.results import Array

_SLACK = 1.01  # the bounds themselves are computed in float64
_LOST = 1e-290  # more than products can lose below float64's range


@dataclass(frozen=True)
class PenalisedColumns:
    """Columns x, their moments and penalties D (p,) > 0, and what bounds need to know of them."""

    m: Moments
    S: Array
    D: Array
    lengths: Array
    intercept: bool

    @classmethod
    def of(cls, m: Moments, D: Array, lengths: Array, intercept: bool) -> PenalisedColumns:
        """lengths (p + 1,) bound those of the columns about zero, and that of the ones."""
        return cls(m, m.scatter[: m.p, : m.p], D, lengths, intercept)

    def noise(self, sums: Array, g: Array, theta: Array, far: float) -> Array:
        """Bounds on the errors of g (p,) and, last, of the sum of residuals.

        g was found from sums of (x, 1) r (p + 1,), each within far times the length of its column,
        in double-double, and rounded at the end.
        """
        p = self.m.p
        mean, total = np.abs(self.m.mean[:p]), abs(float(sums[p]))
        of_total = far * float(self.lengths[p]) + 2 * UNIT * total
        found = np.empty(p + 1)
        found[:p] = far * self.lengths[:p] + UNIT * np.abs(g) + _LOST
        found[:p] += mean * (far * self.lengths[p])
        parts = np.abs(sums[:p]) + mean * total + self.D * np.abs(theta[:p])
        found[:p] += 8 * UNIT * UNIT * parts
        found[:p] += self.m.mean_rounding[:p] * (total + of_total)  # the sums are about the mean
        found[p] = of_total + _LOST
        return found

    def after_step(
        self, g: Array, noise: Array, doubt: float, d: Array, left: Array
    ) -> tuple[Array, float]:
        """Bounds on what a step d (p + 1,) of (w, b) leaves, and |D^-1/2 (g - (S + D) d)|.

        left is g - (S + D) d in float64. noise (p + 1,) bounds the errors of g and of the sum of
        residuals, which is last in g; doubt the length of the residuals' errors.
        """
        m, p = self.m, self.m.p
        weight, step = sqrt(m.weight), np.abs(d[:p])
        root, rho = np.sqrt(self.D), m.rounding[:p]
        # |S_jk| <= size_j size_k, by Cauchy and Schwarz.
        size = np.sqrt(np.maximum(self.S.diagonal(), 0.0)) + 2 * rho
        own = np.abs(g[:p]) + size * (size @ step) + self.D * step
        off = np.abs(left) + gamma(p + 4) * own + rho * (rho @ step)
        rest = float(np.linalg.norm(off / root))
        reach = rest + float(np.linalg.norm(noise[:p] / root)) + doubt
        bounds = np.zeros(p + 1)
        bounds[:p] = _SLACK * reach / root
        if self.intercept:
            mean, unsure = np.abs(m.mean[:p]), m.mean_rounding[:p]
            bounds[p] = float(np.linalg.norm((mean + unsure) / root)) * reach + doubt / weight
            bounds[p] += noise[p] / m.weight + float(unsure @ step)
            # The sum of the weights is rounded, too.
            bounds[p] += gamma(p + m.rows + 4) * (abs(g[p]) / m.weight + float(mean @ step))
            bounds[p] *= _SLACK
        return bounds, rest
