"""Ridge at one given penalty where columns outnumber rows: one Cholesky factor of the n x n side.

    w = A'(A A' + lam)^-1 y,    (A'A + lam)^-1 g = (g - A'(A A' + lam)^-1 A g) / lam

A spectrum serves every penalty and costs ten times as much. The second equation corrects w by
gradients in double-double; where lam is so small that it cancels, `wide` does better. Bounds rest
on these gradients alone, so that well-conditioned rows are factored in float32, in half the time,
and the factor is made good by products with A.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.digits import certificate_together, gamma, in_users_units
from adaline.kernels.double_double import double_double
from adaline.linalg import UNDERFLOW, cholesky, condition, solve_cholesky
from adaline.procedures.least_squares.refinement import outward
from adaline.procedures.ridge.spectrum import CentredRows
from adaline.procedures.ridge.wide import pull
from adaline.results import Array, ClosedFit
from adaline.tiles import Rows, is_sparse

_ROOM = 2**22  # numbers of the weights that are corrected together
_CANCELS = 1e10  # sums of squares over lam, beyond which the correction has too few digits
_PROVEN = 1e-13  # of the largest weight: a bound that a spectrum would hardly better
_ENOUGH = 2.0**-54  # of the largest weight: rounding the weights to float64 costs as much
_MOST = 3  # corrections
_NEAR = 1e-4  # share of B that a solution in float32 may leave: two corrections end in float64


def dual_ridge(c: CentredRows, rows: Rows, alpha: float) -> ClosedFit | None:
    """w and b of all targets, corrected in double-double; None where `wide_ridge` is surer."""
    lam = float(np.ldexp(alpha, -2 * c.e))
    if not 1e-100 < lam < 1e100:
        return None
    for rough in (True, False):
        factor = _Factor.of(c, lam, rough)
        found = None if factor is None else _fit(c, rows, factor)
        if found is not None:
            return found
    return None


@dataclass(frozen=True)
class _Factor:
    """R'R is about K = A A' + lam + ones root root', in float32 or float64; trace is that of A A'.

    The weighted ones, root, are in no centred column: any number there will do.
    """

    c: CentredRows
    R: Array
    lam: float
    ones: float
    trace: float

    @property
    def rounding(self) -> float:
        """(A'A + lam) d is found within lam rounding |d| in float64."""
        A = self.c.A
        size = self.trace + 4 * self.c.weight * float(A.mean @ A.mean) + self.lam
        return gamma(4 * (len(A.mean) + len(self.c.root))) * size / self.lam

    @classmethod
    def of(cls, c: CentredRows, lam: float, rough: bool) -> _Factor | None:
        """A factor; None where squaring costs too many digits, in float32 if rough."""
        if rough and is_sparse(c.A.X):
            return None
        K = c.A.gram(np.float32 if rough else np.float64)
        trace = 1.01 * c.A.squares() if rough else 1.01 * float(np.trace(K))
        if not trace < _CANCELS * lam:
            return None
        ones = trace / len(c.root) / c.weight if c.intercept else 0.0
        K.flat[:: len(K) + 1] += lam
        if c.intercept:
            K += np.multiply.outer((c.root * ones).astype(K.dtype), c.root.astype(K.dtype))
        R = cholesky(K)
        return None if R is None else cls(c, R, lam, ones, trace)

    def solved(self, B: Array, enough: float) -> Array:
        """K^-1 B with a share of B left that is about enough, or as float64 can tell.

        NaN where float32 is too far off for corrections to lead there.
        """
        if self.R.dtype == np.float64:
            return solve_cholesky(self.R, B)
        x, size = self._roughly(B), np.linalg.norm(B)
        for _ in range(2 if size > 0 else 0):
            left = self._left(B, x)
            share = float(np.linalg.norm(left) / size)
            if not share <= _NEAR:
                return np.full(B.shape, np.nan)
            x += self._roughly(left)  # which leaves as small a share of left
            if share * share <= enough:
                break
        return x

    def _roughly(self, B: Array) -> Array:
        size = np.abs(B).max(axis=0, initial=1e-300)
        return np.asarray(solve_cholesky(self.R, (B / size).astype(np.float32)) * size)

    def _left(self, B: Array, X: Array) -> Array:
        """B - K X."""
        A, root = self.c.A, self.c.root
        ones = np.multiply.outer(self.ones * root, root @ X)
        return np.asarray(B - A.times(A.transposed(X)) - self.lam * X - ones)


def _fit(c: CentredRows, rows: Rows, factor: _Factor) -> ClosedFit | None:
    p, k = len(c.A.mean), c.B.shape[1]
    # One correction in double-double has to do: one more costs as much as ten products.
    start = factor.solved(c.B * c.root[:, None], _ENOUGH / (factor.rounding * np.sqrt(p)))
    if np.isnan(start).any():
        return None
    parts = [
        _targets(c, rows, factor, start, np.arange(i, min(i + max(_ROOM // p, 1), k)))
        for i in range(0, k, max(_ROOM // p, 1))
    ]
    theta, low, bounds, squares = (
        np.concatenate([part[i] for part in parts], axis=-1) for i in range(4)
    )
    if not np.all(bounds <= _PROVEN * np.abs(theta[:p]).max(axis=0)):
        return None
    e = np.vstack([np.tile(c.e_y - c.e, (p, 1)), c.e_y])
    bounds = in_users_units(bounds + p * UNDERFLOW, c.e_y - c.e) + p * UNDERFLOW
    theta, low, kappa = np.ldexp(theta, e), np.ldexp(low, e), condition(factor.R)
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
    c: CentredRows, rows: Rows, factor: _Factor, start: Array, which: NDArray[np.int64]
) -> tuple[Array, Array, Array, Array]:
    """theta = (w, b) as high and low parts, bounds on |w - exact|, sums of squared residuals."""
    A, p, k, lam = c.A, len(c.A.mean), len(which), factor.lam
    ones, power = np.ones(p), np.full(p, c.e)  # columns keep their own units
    theta, low = np.zeros((p + 1, k)), np.zeros((p + 1, k))
    theta[:p] = A.transposed(start[:, which])
    theta[p] = c.mean[p + which] - c.mean[:p] @ theta[:p]
    bound, squares = np.full(k, np.inf), np.zeros(k)
    on, penalty = np.arange(k), np.full(k, lam)
    for _ in range(_MOST):
        high, tail = theta[:, on], low[:, on]
        g, doubt, squares[on] = pull(
            c, factor.trace, rows, which[on], penalty[on], high, tail, ones, power
        )
        step, left = _step(c, factor, g)
        bound[on] = 1.01 * (left + doubt) / lam
        high, carry = double_double.two_sums(high, step)
        high, tail = double_double.two_sums(high, tail + carry)
        theta[:, on], low[:, on] = high, tail
        on = on[left / lam > _ENOUGH * np.abs(high[:p]).max(axis=0)]
        if not len(on):
            break
    return theta, low, bound, np.maximum(squares, 0.0)


def _step(c: CentredRows, factor: _Factor, g: Array) -> tuple[Array, Array]:
    """Corrections of (w, b), and bounds on what they leave of the gradient g of w.

    The exact error of w solves (S + lam) d = g. For any d the rest is at most
    |g - (S + lam) d|/lam, since S + lam >= lam; d only has to make it small.
    """
    A, p, lam = c.A, len(g) - 1, factor.lam
    d = (g[:p] - A.transposed(factor.solved(A.times(g[:p]), _NEAR))) / lam
    rest = np.linalg.norm(g[:p] - A.transposed(A.times(d)) - lam * d, axis=0)
    own = factor.rounding * lam * np.linalg.norm(d, axis=0)
    db = g[p] / c.weight - c.mean[:p] @ d if c.intercept else np.zeros(g.shape[1])
    return np.vstack([d, db]), rest + own
