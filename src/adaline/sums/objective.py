"""A penalised loss summed over rows: value, gradient and curvature at theta.

    f(theta) = sum_i omega_i loss(theta'z_i + offset_i, y_i) + sum_j penalty_j theta_j^2 / 2

`Sums` of blocks of rows merge with +, and carry bounds on their own rounding. Rows in memory are an
`Objective`; rows in files and on clusters provide the same sums (`data.fitting`), and the
procedures do not ask which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from math import exp, frexp, inf, ldexp
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from adaline.linalg import UNDERFLOW, UNIT, inner
from adaline.parameters import is_sparse
from adaline.results import Array
from adaline.sums.losses import Logistic, Loss, Softmax
from adaline.sums.rows import NONE
from adaline.sums.scaled_rows import ScaledRows, gram_of

Want = Literal["", "joint", "blocks", "mean", "least", "thin"]
"""Which curvature to sum; for one output all matrices are the Hessian (q, q).

"joint": the Hessian of all classes (Kq, Kq). "blocks": its diagonal blocks (K, q, q), times
K / (K - 1). "mean": one matrix for all classes. "least": sum of min_k p_k z z', a lower bound on
the differences of classes. "thin": only the last column of that, a vector (q,).
"""

JOINT = 320  # K q up to which the Hessian of K classes is one matrix
STEEPEST = 2.0**1000  # curvature of a penalty, at most
LARGE = 2.0**300  # root of a curvature that is measured in a larger unit
FAINTEST = float(np.finfo(np.float64).smallest_subnormal)
# Nanoseconds on one core (bench_map): the calls of numpy in a pass, a number read for a gradient,
# and a product of a matrix. The functions of a row cost as much as 60 numbers more, the copy of a
# row for a matrix as 48 columns more, and a factor twice the products of its matrix.
CALLS, READ, PRODUCT = 6e4, 0.35, 0.021
FUNCTIONS = 24.0  # units that exponentials, quotients and products of a row are off by, at most


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums at theta, which merge with +."""

    f: float
    g: Array  # (K, q)
    H: Array | None  # the curvature that was asked for
    least: float  # lead of a row's own class; -inf where there are no classes
    size: float  # about the sum of the sizes of the terms of f
    rounding: Array  # bounds on the errors of the components of g, (q,)
    depth: float  # rounded additions behind an entry of H, at most
    off: float  # error of a value v, at most
    top: Array  # bounds on |z_j|, and on the terms of sums over z_j, (q,)
    n: int
    weight: float

    def __add__(self, other: Sums) -> Sums:
        with np.errstate(over="ignore", invalid="ignore"):  # a trial may have gone too far
            g = self.g + other.g
            more = 2.0 * UNIT * np.abs(g).max(axis=0)  # by this addition
            return Sums(
                self.f + other.f,
                g,
                None if self.H is None or other.H is None else self.H + other.H,
                min(self.least, other.least),
                self.size + other.size,
                self.rounding + other.rounding + more,
                max(self.depth, other.depth) + 1.0,
                max(self.off, other.off),
                np.maximum(self.top, other.top),
                self.n + other.n,
                self.weight + other.weight,
            )

    def penalised(self, theta: Array, penalty: Array, intercept: bool) -> Sums:
        """With the penalty. A bias that is not there gets slope 0 and curvature 1."""
        pull = penalty * theta
        g = self.g + pull
        if not intercept:
            g[:, -1] = 0.0
        own = 0.5 * inner(pull, theta)
        # Infinite where the penalty had to be lowered: nothing is proven then.
        # A penalty that is subnormal, or was raised to FAINTEST, is off by as much.
        error = 4.0 * UNIT * np.abs(pull).max(axis=0) + FAINTEST * (1.0 + np.abs(theta).max(axis=0))
        error[penalty >= STEEPEST] = inf
        error += self.rounding + 2.0 * UNIT * np.abs(g).max(axis=0)
        H = self.H
        if H is not None and H.ndim > 1:  # a vector of "thin" stays as it is
            H = with_penalty(H.copy(), penalty, intercept)
        return replace(self, f=self.f + own, g=g, H=H, size=self.size + own, rounding=error)


def with_penalty(H: Array, penalty: Array, intercept: bool) -> Array:
    """Add the penalty to all blocks (q, q) of the diagonal, in place."""
    q = len(penalty)
    for block in H if H.ndim == 3 else [H[k : k + q, k : k + q] for k in range(0, len(H), q)]:
        block.flat[:: q + 1] += penalty
    for k in range(q - 1, 0 if intercept else H.shape[-1], q):
        H[..., k, :], H[..., :, k] = 0.0, 0.0
        H[..., k, k] = 1.0
    return H


def penalty_of(alpha: float, scale: Array, unit: float = 1.0) -> Array:
    """Curvature (p + 1,) of alpha / 2 |w|^2 / unit for w = theta scale; zero for the bias.

    It stays positive where alpha is: a loss with a penalty has a minimum on any data.
    """
    # Mantissas and exponents apart: alpha / unit alone may be subnormal, and lose its digits.
    (a, k), (s, m), (u, n) = np.frexp(alpha), np.frexp(scale), np.frexp(unit)
    with np.errstate(over="ignore"):  # columns of 1e-200: as good as no column
        own = np.minimum(np.ldexp(a / u * s * s, k + 2 * m - n), STEEPEST)
    return np.append(np.maximum(own, FAINTEST if alpha > 0 else 0.0), 0.0)


@dataclass(frozen=True, eq=False)
class Objective:
    """Rows in memory, their loss and its penalty (p + 1,)."""

    rows: ScaledRows
    loss: Loss
    K: int
    penalty: Array

    @classmethod
    def of(
        cls,
        loss: Loss,
        X: Any,
        y: NDArray[Any],
        omega: Array,
        alpha: float,
        intercept: bool,
        *,
        K: int = 1,
        offset: Array = NONE,
    ) -> Objective:
        """In units that fit the columns, with the penalty alpha / 2 |w|^2."""
        rows = ScaledRows.choose(X, y, omega, offset, intercept=intercept)
        if not np.isfinite(rows.top).all():
            raise ValueError("sums over X leave the range of float64; rescale the columns.")
        with np.errstate(over="ignore", invalid="ignore"):
            steepest = float(np.max(np.sqrt(alpha / rows.unit) * rows.scale, initial=0.0))
        if LARGE < steepest < inf:  # weights are tiny beside the penalty: measure both in its unit
            exponent = frexp(rows.unit)[1] + 2 * frexp(steepest / LARGE)[1]
            most = frexp(rows.unit)[1] + 600  # beyond, weights would vanish
            rows = rows.in_unit(ldexp(1.0, min(exponent, most, 1000)))
        return cls(rows, loss, K, penalty_of(alpha, rows.scale, rows.unit))

    def with_penalty(self, alpha: float, units: Array | None = None) -> Objective:
        """The same rows with another penalty, alpha / 2 |w|^2 in the units of X.

        With units (p,) it is sum penalty_j w_j^2 / 2, penalty = alpha * units**2.
        """
        own = self.rows.scale if units is None else self.rows.scale * units
        return replace(self, penalty=penalty_of(alpha, own, self.rows.unit))

    def every(self, stride: int) -> Objective:
        """Every stride-th row, with its own weight: its Hessian is a lower bound on the whole."""
        return replace(self, rows=self.rows.taking(slice(None, None, stride)))

    @property
    def q(self) -> int:
        return self.rows.q

    @property
    def intercept(self) -> bool:
        return self.rows.intercept

    @cached_property
    def is_bare(self) -> bool:
        return not self.penalty[:-1].any()

    @cached_property
    def weight(self) -> float:
        return self.rows.weight

    @property
    def spread(self) -> Array:
        """About the sum of omega z_j^2, (q,); more where rows are too few to tell columns apart."""
        own = np.append(self.rows.deviation**2, 1.0) * self.weight
        own[:-1] *= max(self.q / self.rows.n, 1.0)
        return own

    def products(self, theta: Array) -> Callable[[Array], Array] | None:
        """d -> H d at theta, for sparse rows of so many columns that a matrix is out of reach."""
        rows, K = self.rows, self.K
        if not (rows.is_wide and is_sparse(rows.X)):
            return None
        bent = self.curvatures(theta)
        more = rows.omega[:, None] if K > 1 and len(rows.omega) else 1.0

        def multiply(d: Array) -> Array:
            V = rows.project(d.T)
            if K == 1:
                R = V * bent[:, None]
            else:
                R = more * bent * (V - np.einsum("ij,ij->i", bent, V)[:, None])
            Hd = rows.combine(R) + self.penalty * d
            if not rows.intercept:
                Hd[:, -1] = d[:, -1]
            return Hd

        return multiply

    def farthest(self, sums: Sums) -> float:
        """The largest |z - m| / sqrt(penalty) of a row, m the mean row of sums of "thin"."""
        assert sums.H is not None
        mean = sums.H[:-1] / sums.H[-1] if self.rows.intercept else np.zeros(self.q - 1)
        return self.rows.farthest_from(mean, self.penalty[:-1])

    def price(self, want: Want) -> float:
        """What a curvature costs, in passes for a gradient."""
        rows, q, K = self.rows, self.q, self.K
        if want in ("", "thin"):
            return 1.0
        if rows.is_wide or (want == "joint" and K > 1 and K * q > JOINT):
            return inf
        matrices, side = (K, q) if want == "blocks" else (1, K * q if want == "joint" else q)
        width = rows.X.nnz / max(rows.n, 1) if is_sparse(rows.X) else q
        one = CALLS / 2 + PRODUCT * side * (rows.n * (side + 48) + 2 * side**2)
        return matrices * one / (CALLS + READ * rows.n * K * (width + 60))

    def sums(self, theta: Array, want: Want = "") -> Sums:
        """Value, gradient and the curvature that is wanted, with the penalty."""
        return self.bare_sums(theta, want).penalised(theta, self.penalty, self.rows.intercept)

    def bare_sums(self, theta: Array, want: Want = "") -> Sums:
        """The same without the penalty: of a block, to be merged."""
        rows, matrix = self.rows, want not in ("", "thin")
        with np.errstate(over="ignore", invalid="ignore"):  # a trial may have gone too far
            parts = rows.over_blocks(lambda b: self._sums_of(b, theta, want), matrix, self.K)
            f, terms, leads, Gs, Hs = zip(*parts, strict=True)
            g, least, size = reduce(np.add, Gs), min(leads), sum(terms)
            H: Array | None = reduce(np.add, Hs) if want else None
            off = rows.value_error(theta)
            # Sums of terms of the size |slope| |z|, whose slopes are off by the curvature times off
            # (which is at most terms e^off), and by the rounding of functions.
            each = (rows.depths[0] + self.K + FUNCTIONS) * UNIT + off * exp(min(off, 1.0))
            each = each if off < 1.0 else inf
            rounding = 1.01 * each * size * rows.extent + rows.n * UNDERFLOW
        least = least if least < inf else -inf
        known = rows.depths[1], off, rows.extent, rows.n, self.weight
        return Sums(sum(f), g, H, least, abs(sum(f)) + size, rounding, *known)

    def _sums_of(
        self, blocks: Iterator[tuple[slice, Any]], theta: Array, want: Want
    ) -> tuple[float, float, float, Array, Array | None]:
        """f, terms, the smallest lead, G and the curvature of some blocks."""
        rows, K, bare, weights = self.rows, self.K, self.is_bare, self.rows.weights
        f, terms, least, G = 0.0, 0.0, inf, np.zeros((K, self.q))
        H: Array | None = None
        for where, Z in blocks:
            y, omega = rows.Y[where], weights[where]
            V = rows.values(Z, theta)
            V = V + rows.offset[where] if len(rows.offset) else V
            V = V[0] if K == 1 else V
            part = self.loss.parts(V, y)
            if bare and (leads := self.loss.leads(V, y)) is not None:
                least = min(least, float(np.min(leads[omega > 0], initial=inf)))
            rows.add_products(G, (part.slope * omega).reshape(K, -1), Z)
            f += float(omega @ part.value)
            terms += float(omega @ part.terms)
            if want:
                own = self._curvature(want, Z, part.curvature, omega)
                H = own if H is None else np.add(H, own, out=H)
        return f, terms, least, G, H

    def _curvature(self, want: Want, Z: Any, bent: Array, omega: Array) -> Array:
        """One block's share of the curvature; bent is that of `Parts`."""
        K, q = len(bent), self.q
        if want == "thin":
            thin = np.zeros((1, q))
            weights = np.atleast_2d(bent).min(axis=0) * omega
            self.rows.add_products(thin, weights[None], Z)
            return np.asarray(thin[0])
        if bent.ndim == 1:
            return gram_of(Z, np.sqrt(omega * bent))
        if want == "least":
            return gram_of(Z, np.sqrt(omega * bent.min(axis=0)))
        if want == "mean":
            each = (1.0 - np.einsum("ij,ij->j", bent, bent)) / (K - 1)
            return gram_of(Z, np.sqrt(omega * each))
        if want == "blocks":
            each = omega * bent * (1.0 - bent) * (K / (K - 1))
            return np.array([gram_of(Z, np.sqrt(c)) for c in each])
        # The sums of p_k p_m z z' are the products of one matrix. Its diagonal blocks are left out:
        # p_k (1 - p_k) is the sum of p_k p_m over the other classes m, without a difference.
        B = gram_of(Z, np.sqrt(omega) * bent).reshape(K, q, K, q)
        B[np.arange(K), :, np.arange(K)] = 0.0
        H = -B
        H[np.arange(K), :, np.arange(K)] = B.sum(axis=2)
        return H.reshape(K * q, K * q)

    def values(self, theta: Array) -> Array:
        V = self.rows.project(theta.T)
        return V + self.rows.offset[:, None] if len(self.rows.offset) else V

    def curvatures(self, theta: Array) -> Array:
        """omega times the curvature of every row (n,); for K classes the probabilities (n, K)."""
        V, rows = self.values(theta), self.rows
        with np.errstate(over="ignore"):
            found = self.loss.parts(V[:, 0] if self.K == 1 else V.T, rows.Y).curvature
        if self.K > 1:
            return np.ascontiguousarray(found.T)
        return found * rows.omega if len(rows.omega) else found


def logistic_objective(
    X: Any, codes: NDArray[np.int64], K: int, omega: Array, alpha: float, intercept: bool
) -> Objective:
    """The logistic loss of rows with class codes: one output for two classes, K for more."""
    if K == 2:
        return Objective.of(Logistic(), X, 2.0 * codes - 1.0, omega, alpha, intercept)
    codes = np.ascontiguousarray(codes)
    return Objective.of(Softmax(), X, codes, omega, alpha, intercept, K=K)
