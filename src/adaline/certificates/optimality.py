"""How far weights can be from the minimum of the (penalised) logistic loss, proven.

The curvature of the logistic loss changes slowly: if no value v moves by more than s, then
H(theta + d) >= exp(-s) H(theta) (the third derivative is bounded by the second; for softmax s is
the largest change of a difference of two values). So let M <= H(theta) be any matrix, and

    nu = |g| in the metric M^-1,        rho = the largest |z_i| in the metric M^-1.

If theta + d is the minimum and delta = |d| in the metric M, then values move by at most rho delta,
and

    nu delta >= -g'd >= integral_0^1 exp(-t rho delta) delta^2 dt
                      = delta (1 - exp(-rho delta)) / rho,

so that rho nu < 1 implies that the minimum exists and delta <= -log(1 - rho nu) / rho. Nothing
here trusts the procedure that found theta. For softmax, H >= M (x) (I - 11'/K) with M the sum of
omega min_k p_k z z' and the penalty, and values differ by at most sqrt(2) times their distance.

Where some p_k is about 0 in every row, that M is too small to prove anything. Then M is H(theta)
itself, of all classes together (`JointBound`), plus a term that acts only on what all classes
share: shifts of all classes together change no probability, and are left out of d.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import hypot, isfinite, log1p, sqrt

import numpy as np

from adaline.linalg import UNIT, column_lengths, length, lengths
from adaline.results import Array, Certificate

_SLACK = 1.01  # the bounds themselves are computed in float64
_LOST = 4 * float(np.finfo(np.float64).smallest_subnormal)  # a product may lose this much


@dataclass(frozen=True, eq=False)
class CurvatureBound:
    """A matrix M with M / loss <= H(theta), for a factor loss >= 1; A A' = M^-1.

    A is (q, q). Where q is too large for a matrix, A is empty and M = alpha I + h (m, 1)(m, 1)':
    the penalty, and the curvature h of all rows at their weighted mean m.
    """

    A: Array
    loss: float = 1.0
    alpha: Array | None = None
    mean: Array | None = None
    h: float = 0.0
    far: float = 0.0  # the largest |z_i - m|^2 / alpha, where A is empty

    def lengths(self, G: Array) -> Array:
        """|g| in the metric M^-1 of each row g of G (K, q)."""
        if len(self.A):
            return np.asarray(sqrt(self.loss) * lengths(G @ self.A))
        assert self.mean is not None
        return self._length(G[:, :-1] - G[:, -1:] * self.mean, G[:, -1])

    def _length(self, w: Array, b: Array) -> Array:
        """|g| for g = (w + b m, b), where A is empty."""
        assert self.alpha is not None
        bias = b / sqrt(self.h) if self.h > 0 else 0.0 * b
        parts = np.column_stack([w / np.sqrt(self.alpha), bias])  # squares of g may underflow
        return np.asarray(sqrt(self.loss) * lengths(parts))

    def doubt(self, rounding: Array, K: int) -> float:
        """A bound on |e| in the metric M^-1 for e (K, q) with |e_kj| <= rounding_j."""
        if len(self.A):
            return sqrt(K) * float((self.deviations() * rounding).sum())
        assert self.mean is not None
        worst = rounding[:-1] + rounding[-1] * np.abs(self.mean)  # of what `lengths` is made of
        return sqrt(K) * float(self._length(worst[None], rounding[-1:])[0])

    def fastest(self, top: Array, K: int) -> float:
        """rho: how fast a value, or the difference of two, can move, for rows |z_j| <= top_j."""
        return self.farthest(top) * (np.sqrt(2.0) if K > 1 else 1.0)

    def farthest(self, top: Array) -> float:
        """The largest |z| in the metric M^-1, for rows with |z_j| <= top_j."""
        if len(self.A):
            return sqrt(self.loss) * length(top @ np.abs(self.A))
        bias = 1.0 / self.h if self.h > 0 else 0.0
        return float(np.sqrt(self.loss * (self.far + bias)))

    def deviations(self) -> Array:
        """Root of the diagonal of M^-1: how far each weight can be where delta = 1."""
        return self._deviations

    @cached_property
    def _deviations(self) -> Array:
        if len(self.A):
            return np.asarray(sqrt(self.loss) * column_lengths(self.A.T))
        assert self.alpha is not None
        assert self.mean is not None
        own = 1.0 / np.sqrt(self.alpha)
        bias = hypot(length(self.mean * own), 1.0 / sqrt(self.h) if self.h > 0 else 0.0)
        return np.asarray(sqrt(self.loss) * np.append(own, bias))

    def reach(self, scale: Array) -> float:
        """How long w scale can be where delta = 1."""
        if len(self.A):
            return length(self.deviations()[:-1] * scale)
        assert self.alpha is not None
        return float(np.sqrt(self.loss) * np.max(scale / np.sqrt(self.alpha)))


@dataclass(frozen=True, eq=False)
class JointBound(CurvatureBound):
    """The same for all K classes together: A is (K q, K q)."""

    K: int = 1

    def lengths(self, G: Array) -> Array:
        """|g| in the metric M^-1, of all rows of G (K, q) together."""
        return np.asarray([np.sqrt(self.loss) * length(G.ravel() @ self.A)])

    def doubt(self, rounding: Array, K: int) -> float:
        """A bound on |e| in the metric M^-1 for e (K, q) with |e_kj| <= rounding_j."""
        return float(np.sum(self._each() * rounding))

    def fastest(self, top: Array, K: int) -> float:
        """How fast the difference of the values of two classes can move."""
        A = self.A.reshape(K, -1, len(self.A))
        pairs = ((k, m) for k in range(K) for m in range(k))
        return float(np.sqrt(self.loss)) * max(
            length(np.abs(A[k] - A[m]).T @ top) for k, m in pairs
        )

    def deviations(self) -> Array:
        """Of the class where each weight can be farthest off, (q,)."""
        return np.asarray(self._each().max(axis=0))

    def reach(self, scale: Array) -> float:
        """How long w scale can be, of all classes together, where delta = 1."""
        return length((self._each()[:, :-1] * scale).ravel())

    def _each(self) -> Array:
        """Root of the diagonal of M^-1, (K, q)."""
        return np.asarray(np.sqrt(self.loss) * lengths(self.A).reshape(self.K, -1))


Within = tuple[float, float, float]  # nu, rho and delta of the proof


def radius(bound: CurvatureBound, g: Array, rounding: Array, top: Array) -> Within:
    """nu, rho and delta of the proof above; delta is inf where rho nu >= 1.

    g (K, q) is the gradient, off by at most rounding (q,) in each row.
    """
    K = len(g)
    if not isfinite(bound.loss):
        return np.inf, np.inf, np.inf
    nu = length(bound.lengths(g))
    nu += bound.doubt(rounding, K)
    rho = bound.fastest(top, K) * _SLACK
    nu *= _SLACK
    if not rho * nu < 1.0:
        return nu, rho, np.inf
    return nu, rho, -log1p(-rho * nu) / rho * _SLACK if rho > 0 else nu


def optimality(
    bound: CurvatureBound,
    within: Within,
    g: Array,
    scale: Array,
    shift: Array,
    theta: Array,
    value: float,
) -> Certificate:
    """Whether theta is provably near the minimum, and how near each weight is.

    within is what `radius` tells of this bound and g. Weights in the units of X are theta scale,
    and the bias is theta_0 - theta'shift.
    """
    nu, rho, delta = within
    w, away = theta[:, :-1], np.abs(shift)
    with np.errstate(invalid="ignore", over="ignore"):
        each = bound.deviations()
        W, far = w * scale, each[:-1] * scale
        coef = delta * far + 2 * UNIT * np.abs(W).max(axis=0) + _LOST
        bias = delta * (each[-1] + each[:-1] @ away)
        bias += (len(scale) + 2) * UNIT * float((np.abs(w) @ away).max()) + len(scale) * _LOST
        distance = delta * bound.reach(scale) + 2 * UNIT * length(W) + len(scale) * _LOST
        if len(theta) > 1:
            # What all classes share is nothing at the minimum; here rounding has left this much.
            shared = np.abs(W.mean(axis=0))
            coef, distance = coef + shared, distance + sqrt(len(theta)) * length(shared)
        steepness = hypot(length((g[:, :-1] + g[:, -1:] * shift) / scale), length(g[:, -1]))
        convexity = hypot(length(far), each[-1]) ** -2.0
    evidence = {
        "gradient_norm": steepness,
        "newton_decrement": nu,
        "self_concordance": rho,
        "strong_convexity": convexity,
        "distance_bound": distance,
        "coef_bound": coef,
        "intercept_bound": bias,
        "value": value,
    }
    if not isfinite(delta):
        return Certificate(
            "unproven",
            f"how far the minimum is cannot be proven: the gradient has norm {steepness:.1e}, too "
            f"large for the curvature here (rho nu = {rho * nu:.1e}, and it must be below 1).",
            evidence,
        )
    return Certificate(
        "optimal",
        f"the weights are within {distance:.1e} of those that minimise the (penalised) loss, "
        f"|w - w*|, and the bias is within {bias:.1e}.",
        evidence,
    )
