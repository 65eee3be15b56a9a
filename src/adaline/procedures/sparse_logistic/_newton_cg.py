"""Newton's steps for wide sparse rows: conjugate gradients instead of a matrix, and no bias.

The bias is always the best one for w, which leaves f(w) = min_b P(w, b). With s_i = omega_i p_i
(1 - p_i) and m the mean of the rows weighted by s, its slope and curvature are

    g = alpha w - sum lambda_i t_i x_i,        H = alpha I + sum s_i (x_i - m)(x_i - m)'.

A step is H^-1 g to a third of its length, by conjugate gradients in units of the diagonal of H:
columns of any scale cost the same. The dual point lambda_i = omega_i / (1 + exp(t_i v_i)) goes with
w, and their gap is |g|^2 / (2 alpha): it keeps falling where P itself is all rounding.
"""

from __future__ import annotations

import numpy as np

from adaline.kernels.losses import dual as kernels
from adaline.procedures.sparse_logistic._dual_proof import EPS, DualRows, Proof, proven
from adaline.results import Array

_FORCE = 0.3  # how much shorter a step leaves the slope, at least
_STUCK = 3  # steps in a row that lower neither the value nor the gap: rounding is to blame


class TruncatedNewton:
    """Where the walk is: w, its values v = w'x and best bias, and the gap as computed."""

    def __init__(self, rows: DualRows, w: Array, most: int) -> None:
        self.rows, self.w, self.most, self.passes = rows, w, most, 0
        self.v = kernels.products(*rows.entries, w)
        self.b = self._best_bias(self.v)
        self.value = self._value(w, self.v, self.b)
        self.stuck, self.gap = 0, np.inf
        self._look()

    def proof(self) -> Proof:
        """What the dual point that goes with w proves."""
        u = -self.rows.t * (self.v + self.b)
        return proven(self.rows, u, self.w, self.b)

    @property
    def tired(self) -> bool:
        """Whether rounding allows no more."""
        return self.stuck >= _STUCK

    def step(self, goal: float) -> None:
        """One step towards a gap of `goal`; passes over the rows are counted."""
        d, vd = self._direction(goal)
        slope, size, gap, value_before = float(self.g @ d), 1.0, self.gap, self.value
        noise = 64.0 * EPS * self.value
        for _ in range(40):
            w, v = self.w + size * d, self.v + size * vd
            b = self._best_bias(v)
            value = self._value(w, v, b)
            if value <= self.value + 1e-4 * size * slope + noise:
                v = kernels.products(*self.rows.entries, w)  # sums of steps would drift
                self.w, self.v, self.b, self.value = w, v, b, value
                break
            size *= 0.5
        self._look()
        lower = self.value < value_before - noise or self.gap < 0.5 * gap
        self.stuck = 0 if lower else self.stuck + 1

    def _look(self) -> None:
        """Slope, curvatures of the rows, and the gap at w."""
        rows, m = self.rows, self.rows.t * (self.v + self.b)
        lam = rows.omega * np.exp(-np.logaddexp(0.0, m))
        self.s = lam * np.exp(-np.logaddexp(0.0, -m))
        self.g = rows.alpha * self.w - kernels.combination(*rows.entries, lam * rows.t, len(self.w))
        self.gap = float(self.g @ self.g) / (2.0 * rows.alpha)
        self.passes += 1

    def _direction(self, goal: float) -> tuple[Array, Array]:
        """d with |g + H d| <= a third of |g|, or |g + H d|^2 <= what the goal allows; and X d."""
        rows, s, alpha = self.rows, self.s, self.rows.alpha
        D, total = self._diagonal()
        d, r = np.zeros(len(self.w)), -self.g
        y = r / D
        q, ry = y, float(r @ y)
        enough = min(_FORCE, (2.0 * ry / max(self.value, EPS)) ** 0.25) ** 2 * ry
        while self.passes < self.most - 1:
            values = kernels.products(*rows.entries, q)
            if total > 0.0:
                values -= float(s @ values) / total
            Hq = kernels.combination(*rows.entries, s * values, len(d)) + alpha * q
            self.passes += 1
            curvature = float(q @ Hq)
            if not curvature > 0.0:
                break
            d, r = d + ry / curvature * q, r - ry / curvature * Hq
            y = r / D
            before, ry = ry, float(r @ y)
            if ry <= enough or float(r @ r) <= 0.2 * alpha * goal:
                break
            q = y + ry / before * q
        return d, kernels.products(*rows.entries, d)

    def _diagonal(self) -> tuple[Array, float]:
        """Diagonal of H, and the sum of s where there is a bias, else 0."""
        rows, p = self.rows, len(self.w)
        X, s = rows.entries, self.s
        squares = kernels.square_combination(*X, s, p)
        total, D = float(s.sum()) if rows.intercept else 0.0, squares
        if total > 0.0:  # columns far from zero lose the digits of their variance
            D = np.maximum(squares - kernels.combination(*X, s, p) ** 2 / total, 1e-12 * squares)
        self.passes += 1
        return D + rows.alpha, total

    def _best_bias(self, v: Array) -> float:
        rows = self.rows
        return -float(kernels.balance(rows.t, rows.omega, -rows.t * v)) if rows.intercept else 0.0

    def _value(self, w: Array, v: Array, b: float) -> float:
        rows = self.rows
        loss = float(kernels.logistic_loss(rows.t, rows.omega, v + b))
        return loss + 0.5 * rows.alpha * float(w @ w)
