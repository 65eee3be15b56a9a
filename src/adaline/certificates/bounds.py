"""How far theta can be from the minimiser: theorem (b), for losses of changing curvature.

Called by `procedures.newton`. Nothing here trusts the procedure that found theta: a bound takes any
theta, the sums there, and the sums at any other theta.

**Theorem.** Let f be convex, with a curvature that changes by at most the factor e^s where no value
moves by more than s (no two values of K classes move apart by more than s). Let g be the gradient
at theta, M <= H(theta) a matrix, nu = |g| in the metric M^-1, and rho the largest length in that
metric of z_i (of (e_k - e_m) z_i for classes k, m): by at most rho delta do values move on a way
of length delta. If rho nu < 1, f has a minimiser theta*, and in the metric M

    |theta* - theta| <= delta = -log(1 - rho nu) / rho.

*Proof.* On a way d of length delta values move by at most rho delta (Cauchy-Schwarz), so that

    d'f'(theta + d) >= -nu delta + integral_0^1 e^(-t rho delta) delta^2 dt
                     = delta ((1 - e^(-rho delta)) / rho - nu),

which is positive beyond the bound: there f rises in all directions.

**Three choices of M.**

1. The Hessian at an earlier theta_0 where values differ by at most s: H(theta) >= e^-s H(theta_0).
   So the matrix of a step proves the next theta.
2. K classes, one matrix for all: H >= (sum_i omega_i min_k p_ik z z' + penalty) x (I - 11'/K).
3. Weights penalised, bias not, no matrix at all: H >= diag(alpha, 0) + h (m, 1)(m, 1)' with h and m
   the sum of the curvatures and their mean row (Jensen).

A shift of all classes together changes no probability; it is left out of d.

**Rounding.** H as computed is off by E, |E_jk| <= c u sqrt(H_jj H_kk): c additions and a few
functions (Cauchy-Schwarz), and q more for its Cholesky factor R. Scaled to a unit diagonal,
|E| <= c q u. With A = R^-1, |R^-T E R^-1| <= eps = c q u |A|_F^2, so that
H >= (1 - eps) R'R. Where eps >= 1/2, H is singular to rounding and proves nothing. Values off by
`off` change curvatures by e^off. The gradient's own error bound is added to nu.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import exp, hypot, inf, isfinite, log1p, sqrt
from typing import Any

import numpy as np

from adaline.linalg import UNDERFLOW, UNIT, cholesky, inverse_triangle, length, lengths
from adaline.results import Array, Certificate
from adaline.sums.objective import FUNCTIONS, Objective, Sums, Want
from adaline.sums.scaled_rows import ScaledRows
from adaline.sums.threads import one_blas_thread

SLACK = 1.01  # the bounds themselves are computed in float64
TINIEST = 4 * float(np.finfo(np.float64).smallest_subnormal)  # a product may lose this much
DEAR = 12.0  # passes that a matrix may cost before cheaper metrics are tried
FARTHEST = 4.0  # that values may have moved since a matrix of use: curvatures fall to e^-4 of it
WIDEST = 4000  # columns of a matrix that is made where nothing else proves the minimum
USEFUL = 1e-4  # times the length of the weights: a distance that needs no better proof
JENSEN = 1e-3  # share of the curvature at the mean row that pays for the rounding of the mean


# A metric M is a lower bound on the Hessian. For g (K, q), `length` is |g| in M^-1, and `doubt` a
# bound on it where |g_kj| <= rounding_j. `fastest` is rho, for rows |z_j| <= top_j. `deviations`
# (K or 1, q) are how far each weight can be where delta = 1.


@dataclass(frozen=True, eq=False)
class Matrix:
    """M = R'R / factor with A = R^-1: (q, q), or (Kq, Kq) of all K classes together."""

    A: Array
    factor: float
    K: int
    q: int

    @classmethod
    def of(cls, H: Array, sums: Sums, moved: float, K: int) -> Matrix | None:
        """H of these sums with its penalty; values have moved by `moved` since. None proves
        nothing."""
        # exp(4 off): curvatures of both classes of an entry, here and at the earlier theta.
        away = moved + 4.0 * sums.off
        if not away < FARTHEST:
            return None
        diagonal = np.diagonal(H)
        # Below this, underflow may have taken a part of an entry that counts.
        if not np.all(diagonal > sums.n * UNDERFLOW / UNIT) or not np.isfinite(H).all():
            return None
        d = np.sqrt(diagonal)
        with one_blas_thread(len(H)):  # more threads would change the last digit
            R = cholesky(H / d / d[:, None])
            A = None if R is None else inverse_triangle(R)
        if A is None:
            return None
        q = len(H)
        with np.errstate(over="ignore"):
            # 8: of the products, and of z itself.
            terms = sums.depth + FUNCTIONS + 8.0 + 8.0 * q
            eps = terms * q * UNIT * float(np.einsum("ij,ij->", A, A))
        if not eps < 0.5:
            return None
        factor = SLACK * (1.0 + eps) ** 2 / (1.0 - eps) * exp(away)
        return cls(A / d[:, None], factor, K, len(sums.top))

    @property
    def joint(self) -> bool:
        return len(self.A) > self.q

    def length(self, G: Array) -> float:
        size = length(G.ravel() @ self.A) if self.joint else length(lengths(G @ self.A))
        return sqrt(self.factor) * size

    def doubt(self, rounding: Array, K: int) -> float:
        if self.joint:
            return float(np.sum(self.deviations() * rounding))
        return sqrt(K) * float(self.deviations()[0] @ rounding)

    def fastest(self, top: Array) -> float:
        if not self.joint:
            return sqrt(self.factor * min(self.K, 2)) * length(top @ np.abs(self.A))
        A = self.A.reshape(self.K, self.q, -1)
        pairs = ((k, m) for k in range(self.K) for m in range(k))
        return sqrt(self.factor) * max(length(top @ np.abs(A[k] - A[m])) for k, m in pairs)

    def deviations(self) -> Array:
        return self._deviations

    @cached_property
    def _deviations(self) -> Array:
        each = lengths(self.A) if len(self.A) < 64 else np.linalg.norm(self.A, axis=1)
        return np.asarray(sqrt(self.factor) * each.reshape(-1, self.q))


@dataclass(frozen=True, eq=False)
class Thin:
    """M = (diag(alpha, 0) + h (m, 1)(m, 1)') / factor; without a bias h is zero."""

    alpha: Array
    mean: Array
    h: float
    farthest: float  # the largest |z_i - m| in the metric diag(alpha)^-1
    factor: float
    K: int

    @classmethod
    def of(
        cls, sums: Sums, farthest: float, penalty: Array, intercept: bool, K: int
    ) -> Thin | None:
        """By sums of "thin"; farthest is the largest |z - m| / sqrt(alpha), m the mean of those
        sums."""
        alpha, v = penalty[:-1], sums.H
        if v is None or not np.all(alpha > 0) or not isfinite(farthest) or not sums.off < 1.0:
            return None
        if not intercept:
            return cls(alpha, np.zeros(len(alpha)), 0.0, farthest, SLACK, K)
        h = float(v[-1])
        if not (h > sums.n * UNDERFLOW / UNIT and isfinite(h)):
            return None
        mean = v[:-1] / h
        # The mean is off by e: (1 - JENSEN) h ((m + e)'w + b)^2 <= h (m'w + b)^2 + 2 h / JENSEN
        # (e'w)^2, and (e'w)^2 is at most |e|^2 in the metric diag(alpha)^-1 times that of w.
        e = 4.0 * (sums.depth + sums.n + FUNCTIONS) * UNIT * sums.top[:-1]
        off = length(e / np.sqrt(alpha))
        factor = SLACK * (1.0 + 2.0 * h / JENSEN * off * off) * exp(4.0 * sums.off)
        return cls(alpha, mean, h * (1.0 - 2.0 * JENSEN), farthest, factor, K)

    def _lengths(self, w: Array, b: Array) -> Array:
        """|g| of each g = (w + b m, b)."""
        bias = b / sqrt(self.h) if self.h > 0 else 0.0 * b
        parts = np.column_stack([w / np.sqrt(self.alpha), bias])  # squares of g may underflow
        return np.asarray(sqrt(self.factor) * lengths(parts))

    def length(self, G: Array) -> float:
        return length(self._lengths(G[:, :-1] - G[:, -1:] * self.mean, G[:, -1]))

    def doubt(self, rounding: Array, K: int) -> float:
        worst = rounding[:-1] + rounding[-1] * np.abs(self.mean)
        return sqrt(K) * float(self._lengths(worst[None], rounding[-1:])[0])

    def fastest(self, top: Array) -> float:
        bias = 1.0 / sqrt(self.h) if self.h > 0 else 0.0
        return sqrt(self.factor * min(self.K, 2)) * hypot(self.farthest, bias)

    def deviations(self) -> Array:
        own = 1.0 / np.sqrt(self.alpha)
        bias = hypot(length(self.mean * own), 1.0 / sqrt(self.h) if self.h > 0 else 0.0)
        return np.asarray(sqrt(self.factor) * np.append(own, bias))[None]


Metric = Matrix | Thin


@dataclass(frozen=True, eq=False)
class Distance:
    """nu, rho and delta of the theorem, and the metric; delta is inf where nothing is proven."""

    nu: float
    rho: float
    delta: float
    metric: Metric

    @property
    def proven(self) -> bool:
        return isfinite(self.delta)


def distance(metric: Metric, sums: Sums) -> Distance:
    """What the gradient of these sums proves, its rounding included."""
    with one_blas_thread(sums.g.size):
        nu = SLACK * (metric.length(sums.g) + metric.doubt(sums.rounding, len(sums.g)))
    nu += sums.g.size * sums.g.shape[1] * TINIEST  # products that underflowed
    rho = SLACK * metric.fastest(sums.top)
    x = rho * nu
    if not x < 1.0:
        return Distance(nu, rho, inf, metric)
    # -log(1 - x) / rho is nu times a factor near 1, also where x underflows.
    return Distance(nu, rho, SLACK * nu * (-log1p(-x) / x if x > 1e-8 else 1.0), metric)


def penalised(problem: Any) -> bool:
    return bool((problem.penalty[:-1] > 0).all())


def regular(H: Array, K: int) -> Array:
    """The Hessian of K classes plus c 11' for each column, which acts on what all classes share."""
    if K == 1:
        return H
    H, q = H.copy(), len(H) // K
    c = H.diagonal().reshape(K, q).sum(axis=0) / K**2
    views = np.einsum("kjmj->kmj", H.reshape(K, q, K, q))
    views += np.where(c > 0.0, c, 1.0)
    return H


def prove(
    problem: Any,
    theta: Array,
    sums: Sums,
    earlier: tuple[Array, Sums] | None = None,
    last: bool = True,
) -> Distance | None:
    """How far the minimum is from theta, by the cheapest metric that proves it; None where none.

    The problem is an `Objective`, or passes over a file; sums are those at theta, and earlier is
    another theta with the sums and the Hessian there.
    """
    best: Distance | None = None
    for metric in metrics(problem, theta, sums, earlier, last):
        if metric is not None:
            proof = distance(metric, sums)
            best = proof if best is None or proof.delta < best.delta else best
            if best.proven and shortfall(best, theta) <= 1.0:
                break
    return best


def shortfall(proof: Distance, theta: Array) -> float:
    """By how much the gradient must shrink until the distance is proven and of use."""
    each = proof.metric.deviations()[:, :-1]
    together = length(each) if isinstance(proof.metric, Matrix) else float(each.max(initial=0.0))
    far = proof.nu * together
    return max(2.0 * proof.rho * proof.nu, far / max(USEFUL * length(theta[:, :-1]), TINIEST))


def metrics(
    problem: Any, theta: Array, sums: Sums, earlier: tuple[Array, Sums] | None, last: bool
) -> Iterator[Metric | None]:
    """Lower bounds on the Hessian at theta, cheap ones first; None where one proves nothing.

    Unless this is the last try, no matrix is made where one is dear.
    """
    K, joint, in_memory = problem.K, problem.price("joint"), isinstance(problem, Objective)

    def matrix(want: Want) -> Matrix | None:
        there = problem.sums(theta, want)
        return Matrix.of(regular(there.H, K) if want == "joint" else there.H, there, 0.0, K)

    if earlier is not None:
        origin, there = earlier
        step = theta - origin
        step = 2.0 * (step - step.mean(axis=0)) if K > 1 else step  # a range is at most twice that
        moved = 1.01 * float((np.abs(step) @ there.top).max())
        assert there.H is not None
        yield Matrix.of(regular(there.H, K), there, moved, K)
    if penalised(problem) and not joint <= DEAR:
        thin = sums if sums.H is not None and sums.H.ndim == 1 else problem.sums(theta, "thin")
        with np.errstate(all="ignore"):  # what is no number proves nothing
            far = problem.farthest(thin)
            yield Thin.of(thin, far, problem.penalty, problem.intercept, K)
        if not last:
            return
    narrow = K == 1 and last and problem.q <= WIDEST and in_memory
    if isfinite(joint) or narrow:
        yield matrix("joint")
    elif isfinite(problem.price("least")):
        yield matrix("least")


def optimality(proof: Distance | None, sums: Sums, theta: Array, rows: ScaledRows) -> Certificate:
    """What is proven of weights for the columns of X, which are theta scale and b - theta'shift."""
    scale, away, unit, w = rows.scale, np.abs(rows.shift), rows.unit, theta[:, :-1]
    with np.errstate(invalid="ignore", over="ignore"):
        slope = (sums.g[:, :-1] + sums.g[:, -1:] * rows.shift) / scale
        steepness = hypot(length(slope), length(sums.g[:, -1])) * unit
    evidence = {"gradient_norm": steepness, "value": sums.f * unit}
    if proof is None:
        return Certificate(
            "unproven",
            f"the curvature is singular to rounding, so that the gradient (norm {steepness:.1e}) "
            "proves no distance from the minimum.",
            evidence,
        )
    each = proof.metric.deviations()
    with np.errstate(invalid="ignore", over="ignore"):
        far = each[:, :-1] * scale
        coef = proof.delta * far.max(axis=0) + 2 * UNIT * np.abs(w * scale).max(axis=0) + TINIEST
        bias = proof.delta * float((each[:, -1] + each[:, :-1] @ away).max())
        bias += (rows.q + 1) * UNIT * float((np.abs(w) @ away).max()) + rows.q * TINIEST
        # Of all classes together: each has the deviations of one matrix, or its own.
        together = length(far) if isinstance(proof.metric, Matrix) else float(far.max())
        apart = proof.delta * together + 2 * UNIT * length(w * scale) + rows.q * TINIEST
        if len(theta) > 1:
            # What all classes share is nothing at the minimum; here rounding has left this much.
            shared = np.abs((w * scale).mean(axis=0))
            coef, apart = coef + shared, apart + sqrt(len(theta)) * length(shared)
        stiff = hypot(length(far), length(each[:, -1]))
        convexity = (1.0 / stiff) / stiff * unit if stiff > 0.0 else inf
    evidence |= {
        "newton_decrement": proof.nu * sqrt(unit),
        "self_concordance": proof.rho / sqrt(unit),
        "strong_convexity": convexity,
        "distance_bound": apart,
        "coef_bound": coef,
        "intercept_bound": bias,
    }
    if not proof.proven:
        return Certificate(
            "unproven",
            f"how far the minimum is cannot be proven: the gradient has norm {steepness:.1e}, too "
            f"large for the curvature here (rho nu = {proof.rho * proof.nu:.1e}, and it must be "
            "below 1).",
            evidence,
        )
    return Certificate(
        "optimal",
        f"the weights are within {apart:.1e} of those that minimise the (penalised) loss, "
        f"|w - w*|, and the bias is within {bias:.1e}.",
        evidence,
    )
