"""A penalised loss summed over rows: value, gradient and curvature at theta.

    f(theta) = sum_i omega_i loss(theta'z_i + offset_i, y_i) + sum_j penalty_j theta_j^2 / 2

`Sums` of blocks of rows merge with +, and carry bounds on their own rounding. Rows in memory are an
`Objective`; rows in files and on clusters provide the same sums (`data.fitting`), and the
procedures do not ask which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, frexp, inf, ldexp
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from adaline.linalg import UNIT, inner
from adaline.parameters import is_sparse
from adaline.results import Array
from adaline.sums.losses import Logistic, Loss, Softmax
from adaline.sums.rows import NONE, Rows, gram

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
# Nanoseconds on one core (bench_map): the calls of a pass, a number read in both products of a
# gradient, the functions of a row; a number copied, a product of a Gram matrix and of a factor.
CALLS, READ, ROW, COPY, GRAM, FACTOR = 6e4, 0.6, 25.0, 1.0, 0.025, 0.1
FUNCTIONS = 24.0  # units that exponentials, quotients and products of a row are off by, at most


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums at theta.

    Attributes
    ----------
    f, g : float, and ndarray of shape (K, q)
    H : ndarray or None
        The curvature that was asked for.
    least : float
        The smallest lead of a row's own class; -inf where there are no classes.
    size : float
        About the sum of the sizes of the terms of f.
    rounding : ndarray of shape (q,)
        Bound on the error of each component of g.
    depth, off : float
        Rounded additions behind an entry of H, and the error of a value v, at most.
    top : ndarray of shape (q,)
        Bounds on |z_j|.
    n, weight : int and float
    """

    f: float
    g: Array
    H: Array | None
    least: float
    size: float
    rounding: Array
    depth: float
    off: float
    top: Array
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
        error = 4.0 * UNIT * np.abs(pull).max(axis=0) + FAINTEST
        if penalty.max() >= STEEPEST:
            error[penalty >= STEEPEST] = inf
        H = None if self.H is None else _with_penalty(self.H, penalty, intercept, len(theta))
        error += self.rounding + 2.0 * UNIT * np.abs(g).max(axis=0)
        rest = self.depth, self.off, self.top, self.n, self.weight
        return Sums(self.f + own, g, H, self.least, self.size + own, error, *rest)


def _with_penalty(H: Array, penalty: Array, intercept: bool, K: int) -> Array:
    """H plus the penalty; a vector of `thin` stays as it is."""
    if H.ndim == 1:
        return H
    q, H = len(penalty), H.copy()
    if H.shape == (q, q) and intercept:
        H.flat[:: q + 1] += penalty
        return H
    views = H if H.ndim == 3 else [H[k : k + q, k : k + q] for k in range(0, len(H), q)]
    for own in views:
        own.flat[:: q + 1] += penalty
    if not intercept:
        for k in range(q - 1, H.shape[-1], q):
            H[..., k, :], H[..., :, k] = 0.0, 0.0
            H[..., k, k] = 1.0
    return H


def penalty_of(alpha: float, scale: Array, unit: float = 1.0) -> Array:
    """Curvature (p + 1,) of alpha / 2 |w|^2 / unit for w = theta scale; zero for the bias.

    It stays positive where alpha is: a loss with a penalty has a minimum on any data.
    """
    with np.errstate(over="ignore"):  # columns of 1e-200: as good as no column
        own = np.minimum(alpha / unit * scale * scale, STEEPEST)
    return np.append(np.maximum(own, FAINTEST if alpha > 0 else 0.0), 0.0)


@dataclass(frozen=True, eq=False)
class Objective:
    """Rows in memory, their loss and its penalty (p + 1,)."""

    rows: Rows
    loss: Loss
    K: int
    penalty: Array
    rows_in_memory = True

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
        rows = Rows.of(X, y, omega, offset, intercept=intercept)
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

    def thinned(self, stride: int) -> Objective:
        """Every stride-th row, with weights enlarged so that their sum stays the same."""
        few = self.rows.taking(slice(None, None, stride))
        more = self.rows.weight / max(few.weight, FAINTEST)
        return replace(self, rows=replace(few, omega=few.weights * more))

    def every(self, stride: int) -> Objective:
        """Every stride-th row, with its own weight: its Hessian is a lower bound on the whole."""
        return replace(self, rows=self.rows.taking(slice(None, None, stride)))

    @property
    def q(self) -> int:
        """Weights of one output, and its bias."""
        return self.rows.q

    @property
    def intercept(self) -> bool:
        """Whether there is a bias."""
        return self.rows.intercept

    @cached_property
    def is_bare(self) -> bool:
        """Whether there is no penalty."""
        return not self.penalty[:-1].any()

    @cached_property
    def weight(self) -> float:
        """Sum of the sample weights."""
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

    def lower_bound(self) -> Objective | None:
        """Every k-th row of very many, for one output."""
        n, q = self.rows.n, self.q
        k = min(round(1 + q / 25), n // (4 * q))
        return self.every(k) if self.K == 1 and k > 1 and n * q * q > 1e8 else None

    def price(self, want: Want) -> float:
        """What a curvature costs, in passes for a gradient."""
        rows, q, K = self.rows, self.q, self.K
        if want in ("", "thin"):
            return 1.0
        if rows.is_wide or (want == "joint" and K > 1 and K * q > JOINT):
            return inf
        matrices = K * (K - 1) // 2 if want == "joint" and K > 1 else K if want == "blocks" else 1
        side = K * q if want == "joint" else q
        width = rows.X.nnz / max(rows.n, 1) if is_sparse(rows.X) else q
        one = CALLS / 2 + rows.n * (COPY * q + GRAM * q * q)
        gradient = CALLS + rows.n * K * (READ * width + ROW)
        return (matrices * one + FACTOR * side**3) / gradient

    def sums(self, theta: Array, want: Want = "") -> Sums:
        """Value, gradient and the curvature that is wanted, with the penalty."""
        raw = self.bare_sums(theta, want)
        return raw.penalised(theta, self.penalty, self.rows.intercept)

    def bare_sums(self, theta: Array, want: Want = "") -> Sums:
        """The same without the penalty: of a block, to be merged."""
        rows, matrix = self.rows, want not in ("", "thin")
        W, b = rows.weights_of_blocks(theta, matrix)

        def of(blocks: Iterator[tuple[slice, Any]]) -> _Part:
            part = _Part(self, want)
            for where, Z in blocks:
                part.add(where, Z, W, b)
            return part

        with np.errstate(over="ignore", invalid="ignore"):  # a trial may have gone too far
            total, *others = rows.over_blocks(of, matrix)
            for other in others:
                total.merge(other)
            g = rows.sums_of_blocks(total.G, total.total, matrix)
            H = total.H
            if H is not None and want == "thin":
                H = rows.sums_of_blocks(H[None, :-1], H[-1:])[0]
            off = rows.value_error(theta)
            # Sums of terms of the size |slope| |z|, whose slopes are off by the curvature times off
            # (which is at most terms e^off), and by the rounding of functions.
            each = (rows.depth() + self.K + FUNCTIONS) * UNIT + off * exp(min(off, 1.0))
            each = each if off < 1.0 else inf
            rounding = 1.01 * each * total.terms * rows.extent + rows.n * rows.lost
        least = total.least if total.least < inf else -inf
        extent = rows.depth(True), off, rows.top, rows.n, self.weight
        return Sums(total.f, g, H, least, abs(total.f) + total.terms, rounding, *extent)

    def values(self, theta: Array) -> Array:
        """v of every row, (n, K)."""
        V = self.rows.project(theta.T)
        return V + self.rows.offset[:, None] if len(self.rows.offset) else V

    def curvatures(self, theta: Array) -> Array:
        """omega times the curvature of every row (n,); for K classes the probabilities (n, K)."""
        V, rows = self.values(theta), self.rows
        with np.errstate(over="ignore"):
            found = self.loss.parts(V[:, 0] if self.K == 1 else V, rows.y).curvature
        return found * rows.omega if self.K == 1 and len(rows.omega) else found


class _Part:
    """Sums over some blocks, before units are undone."""

    def __init__(self, of: Objective, want: Want):
        self.of, self.want = of, want
        self.G, self.total = np.zeros((of.K, of.q - 1)), np.zeros(of.K)
        self.f = self.terms = 0.0
        self.least, self.H = inf, None  # type: float, Array | None

    def add(self, where: slice, Z: Any, W: Array, b: Array) -> None:
        of, K = self.of, self.of.K
        omega, y = of.rows.omega[where], of.rows.y[where]
        V = Z @ W[:, 0] + b[0] if K == 1 else np.asarray(Z @ W) + b
        if len(of.rows.offset):
            V = V + (of.rows.offset[where] if K == 1 else of.rows.offset[where, None])
        value, slope, bent, terms = of.loss.parts(V, y)
        if of.is_bare:
            self._lead(V, y, omega)
        if len(omega):
            value, terms = value * omega, terms * omega
            slope = slope * (omega if K == 1 else omega[:, None])
        self.f += float(value.sum())
        self.terms += float(terms.sum())
        if K == 1:
            self.G[0] += Z.T @ slope
            self.total[0] += slope.sum()
        else:
            self.G += (Z.T @ slope).T
            self.total += slope.sum(axis=0)
        if self.want:
            H = _curvature(self.want, Z, bent, omega, K)
            self.H = H if self.H is None else np.add(self.H, H, out=self.H)

    def _lead(self, V: Array, y: NDArray[Any], omega: Array) -> None:
        leads = self.of.loss.leads(V, y)
        if leads is not None:
            leads = leads[omega > 0] if len(omega) else leads
            self.least = min(self.least, float(np.min(leads, initial=inf)))

    def merge(self, other: _Part) -> None:
        """Add the sums of later blocks."""
        self.f, self.terms = self.f + other.f, self.terms + other.terms
        self.least = min(self.least, other.least)
        self.G += other.G
        self.total += other.total
        if self.H is not None and other.H is not None:
            self.H += other.H


def _curvature(want: Want, Z: Any, bent: Array, omega: Array, K: int) -> Array:
    """One block's share of the curvature; bent is that of `Parts`."""
    o: Any = omega if len(omega) else 1.0
    if want == "thin":
        c = o * (bent if K == 1 else bent.min(axis=1))
        return np.append(Z.T @ c, c.sum())
    if K == 1:
        return gram(Z, np.sqrt(o * bent))
    if want == "least":
        return gram(Z, np.sqrt(o * bent.min(axis=1)))
    if want == "mean":
        return gram(Z, np.sqrt(o * (1.0 - np.einsum("ij,ij->i", bent, bent)) / (K - 1)))
    if want == "blocks":
        return np.array([gram(Z, np.sqrt(o * p * (1.0 - p) * (K / (K - 1)))) for p in bent.T])
    q = Z.shape[1] + 1
    H = np.zeros((K, q, K, q))
    for k in range(K):
        for m in range(k):
            G = gram(Z, np.sqrt(o * bent[:, k] * bent[:, m]))
            H[k, :, m] = H[m, :, k] = -G
            H[k, :, k] += G  # p (1 - p) is the sum of its products with the others
            H[m, :, m] += G
    return H.reshape(K * q, K * q)


def logistic_objective(
    X: Any, codes: NDArray[np.int64], K: int, omega: Array, alpha: float, intercept: bool
) -> Objective:
    """The logistic loss of rows with class codes: one output for two classes, K for more."""
    if K == 2:
        return Objective.of(Logistic(), X, 2.0 * codes - 1.0, omega, alpha, intercept)
    codes = np.ascontiguousarray(codes)
    return Objective.of(Softmax(), X, codes, omega, alpha, intercept, K=K)
