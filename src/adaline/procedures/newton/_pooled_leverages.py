"""Approximate leave-one-out losses of many penalties from one matrix, for two classes.

Where columns are many, the Hessian and the leverages of all rows cost more than a fit. They are
pooled here: the Hessian G + alpha P at the minimum, G = Z'DZ, is taken for c G0 + alpha P, with G0
that of theta = 0, and a row for one of many draws, of which only the length counts. Without the row
z_i, its z_i'H^-1 z_i is then g_i = s |z_i|^2r, in units of P, and with it g_i / (1 + D_i g_i). A
sample of the rows tells r, which is 1 for a large alpha; sums of leverages tell s and c (Marchenko
& Pastur 1967, of rows of unequal weight):

    sum_i c D0_i g_i / (1 + c D0_i g_i)  =  sum_i D_i g_i / (1 + D_i g_i)  =  tr (S + t I)^-1 S

with S = P^-1/2 G0 P^-1/2 and t = alpha / c. Of S a tridiagonal form is made, once: it also turns
gradients into steps, at any alpha. The bias, which is not penalised, is eliminated from S.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adaline._threads import one_blas_thread
from adaline.linalg import Tridiagonal, inner, tridiagonal
from adaline.objective import Objective
from adaline.procedures.newton._leave_one_out import binary_losses
from adaline.procedures.newton.curvature import Curvature
from adaline.procedures.newton.rows import projected, rows_about, squared_lengths
from adaline.results import Array

_CLOSE = 1e-4  # relative accuracy of c, and of s
_ROUNDS = 30  # in which they are found, at most; it takes about four
_SAMPLE, _LEAST = 128, 1e-6  # rows that tell r, about, and times the mean |z|^2: theirs, at least
_FINE = 1e-4  # times the largest eigenvalue of S: of a larger t, digits of float32 tell enough
_FARTHEST = 3.0  # logarithm of how much s changes in one round, at most

Turned = tuple[Tridiagonal, Array]


@dataclass(frozen=True, eq=False)
class PooledCurvature(Curvature):
    """H = c G0 + alpha P."""

    pooled: PooledLeverages | None = None
    alpha: float = 1.0
    c: float = 1.0

    def solve(self, g: Array) -> Array:
        """H^-1 g, for g (1, q)."""
        assert self.pooled is not None
        return self.pooled.solve(self.alpha, self.c, g[0])[None]


@dataclass(frozen=True, eq=False)
class PooledLeverages:
    """What all penalties alpha P have in common, and what is made of it for one of them.

    D0 : curvature of each row at theta = 0, its weight included.
    squares : |z_i|^2 of the rows about their mean, in units of P.
    some : every stride-th of these rows, (p, m).
    weight, middle : sum of D0, and mean of z with these weights; where there is no bias, 1 and 0.
    own : P^-1/2.
    S : G0 in units of P.
    rough : its tridiagonal form, in float32, and `some` turned to it.
    """

    D0: Array
    squares: Array
    some: Array
    stride: int
    weight: float
    middle: Array
    own: Array
    S: Array
    rough: Turned

    @classmethod
    def of(cls, loss: Objective, G0: Array, D0: Array) -> PooledLeverages | None:
        """For multiples alpha P of the penalty P of this loss; None where S leaves float32."""
        with np.errstate(all="ignore"):
            own = 1.0 / np.sqrt(loss.penalty[:-1])
            weight, middle = float(G0[-1, -1]), G0[-1, :-1] / G0[-1, -1]
            S = (G0[:-1, :-1] - weight * np.outer(middle, middle)) * own * own[:, None]
            squares = squared_lengths(loss, middle, own * own)
            stride = -(-loss.n // _SAMPLE)
            some = (rows_about(loss.thinned(stride), middle) * own).T
            rough = _turned(S.astype(np.float32), some)
        if rough is None or not rough[0].values[-1] > 0.0 or not 0.0 < squares.sum() < np.inf:
            return None
        return cls(D0, squares, some, stride, weight, middle, own, S, rough)

    def _form(self, t: float) -> Turned:
        """The tridiagonal form of S, of as many digits as S + t I needs."""
        return self.rough if t > _FINE * self.rough[0].values[-1] else self._fine

    @cached_property
    def _fine(self) -> Turned:
        return _turned(self.S, self.some) or self.rough

    def curvature(self, alpha: float, c: float) -> Curvature:
        """H = c G0 + alpha P, which turns gradients into steps."""
        return PooledCurvature((), False, pooled=self, alpha=alpha, c=c)

    def solve(self, alpha: float, c: float, g: Array) -> Array:
        """(c G0 + alpha P)^-1 g, (q,)."""
        right = self.own * (g[:-1] - self.middle * g[-1])
        with one_blas_thread(1):
            w = self.own * self._form(alpha / c)[0].solve(alpha / c, right) / c
        return np.append(w, g[-1] / (c * self.weight) - inner(self.middle, w))

    def leave_one_out(
        self, loss: Objective, theta: Array, root: Array, alpha: float
    ) -> tuple[float, float]:
        """Mean leave-one-out loss at the minimum theta of the penalty alpha P; and c."""
        each, c = self.left_out(loss, theta, root, alpha)
        omega = loss.omega if len(loss.omega) else np.ones(len(each))
        return inner(omega, each) / loss.weight, c

    def left_out(
        self, loss: Objective, theta: Array, root: Array, alpha: float
    ) -> tuple[Array, float]:
        """Losses of the rows (n,), each without one copy of itself; root as `Objective.at` left it.

        And c.
        """
        D = root * root
        c, g = self._pooled(D, alpha)
        g = g + 1.0 / (c * self.weight) if loss.intercept else g
        omega = loss.omega if len(loss.omega) else np.ones(len(D))
        v = projected(loss, theta.T)[:, 0]
        return binary_losses(loss, v, g / (1.0 + D * g), np.minimum(omega, 1.0)), c

    def _pooled(self, D: Array, alpha: float) -> tuple[float, Array]:
        """c, by the secant method for its logarithm, and g."""
        x = float(np.log(max(D.sum() / self.D0.sum(), np.finfo(float).tiny)))
        sizes = self._sizes(alpha / float(np.exp(x)))
        g, off = self._at(x, D, alpha, sizes)
        before = x, off
        x += off
        for _ in range(_ROUNDS):
            if abs(before[1]) <= _CLOSE:
                break
            g, off = self._at(x, D, alpha, sizes)
            slope = (off - before[1]) / (x - before[0]) if x != before[0] else -1.0
            before = x, off
            x -= float(np.clip(off / min(slope, -0.1), -_FARTHEST, _FARTHEST))
        return float(np.exp(before[0])), g

    def _sizes(self, t: float) -> Array:
        """|z_i|^2r of all rows, up to a factor: r, from 0 to 1, by least squares of logarithms."""
        S, some = self._form(t)
        B, x = S.forms(t, some), self.squares[:: self.stride]
        g = B / np.maximum(1.0 - self.D0[:: self.stride] * B, 1e-3)
        seen = (x > _LEAST * x.mean()) & (g > 0.0)
        if not seen.any():
            return self.squares
        x, g = np.log(x[seen]), np.log(g[seen])
        x -= x.mean()
        r = inner(x, g) / max(inner(x, x), np.finfo(float).tiny)
        return np.asarray(self.squares ** min(max(r, 0.0), 1.0))

    def _at(self, x: float, D: Array, alpha: float, sizes: Array) -> tuple[Array, float]:
        """g for c = exp(x), and the logarithm of how much larger the sum with D is."""
        c = float(np.exp(x))
        values = self._form(alpha / c)[0].values
        most = 0.999 * np.count_nonzero(self.D0 * sizes)  # each leverage is below 1
        total = min(float((values / (values + alpha / c)).sum()), most)
        g = _scaled(c * self.D0, sizes, total)
        return g, float(np.log(_sum(D * g) / total))


def _turned(S: Array, some: Array) -> Turned | None:
    """The tridiagonal form of S, and columns turned to it; None where it is not finite."""
    with one_blas_thread(1):  # threads of BLAS would change the last digit
        found = tridiagonal(S)
        return None if found is None else (found, found.rotated(some))


def _sum(x: Array) -> float:
    return max(float((x / (1.0 + x)).sum()), np.finfo(float).tiny)


def _scaled(D: Array, sizes: Array, total: float) -> Array:
    """g = s sizes whose leverages D g / (1 + D g) have this sum: Newton for the logarithms."""
    x = D * sizes
    s = total / float(x.sum())
    for _ in range(_ROUNDS):
        h = s * x / (1.0 + s * x)
        found, rise = float(h.sum()), float((h / (1.0 + s * x)).sum())
        step = float(np.log(total / found)) * found / rise
        s *= float(np.exp(np.clip(step, -_FARTHEST, _FARTHEST)))
        if abs(step) <= 0.1 * _CLOSE:
            break
    return np.asarray(s * sizes)
