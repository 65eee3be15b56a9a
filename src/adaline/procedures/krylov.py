"""Rows about their means as an operator A = diag(root) (X - 1 mean'), and what its products solve.

Products with A cost two multiplications with X, and a bias costs no nonzero: the mean is subtracted
from the products. Conjugate gradients minimise |y - A w|^2 + lam |w|^2, Lanczos steps estimate
what a spectrum would tell of penalties; no matrix of p x p or n x n numbers is made. Many targets
go together, each with its own step and end.

Called by `procedures.least_squares` and by the estimators for large sparse rows, and by
`procedures.ridge` and `procedures.ridge`, for which rows are dense, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.certificates.digits import SLACK, in_users_units, stated_together
from adaline.errors import plural
from adaline.linalg import UNIT
from adaline.parameters import is_sparse
from adaline.results import Array, Certificate, ClosedFit
from adaline.sums.rows import Rows

DENSE_UP_TO = 1024  # columns up to which a p x p matrix costs little
GRAM_UP_TO = 4096  # columns of tall data up to which a p x p matrix pays: it proves all digits
LARGE = 2**21  # entries, zeros counted, up to which the dense procedures take milliseconds
THIN = 8  # entries to a nonzero, from which on products with sparse rows are cheaper
SHARE = 1e-8  # of lam |w|, or of the first gradient, at which steps end
MOST_STEPS = 5000  # well-posed data take some dozens
ROUNDING = 1e-14  # share of the first gradient below which only rounding is left
SAFE = 1e100  # penalties beyond this, or below its inverse, in units of X, may leave float64
MOST_WEIGHTS = 2**22  # numbers of the weights that are found together
UNDERFLOWN = 1e-150  # products below this may be lost
ALIKE = 2.0  # deviations that differ by less make no choice worth its time
RANGE = 1e100  # deviations from 1/RANGE to RANGE have squares well inside float64
FAR = 0.999  # share of the squares about zero that is the mean's, beyond which zeros do not pay


def is_large_and_sparse(X: Any, gram_up_to: int = GRAM_UP_TO) -> bool:
    """Whether X is better left sparse than filled in for a factorisation."""
    if not is_sparse(X):
        return False
    n, p = X.shape
    wide = p > DENSE_UP_TO and n <= p
    return bool((wide or p > gram_up_to) and n * p > LARGE and X.nnz * THIN < n * p)


@dataclass(frozen=True, eq=False)
class CentredRows:
    """A and weighted targets B (n, k) about their means; columns are divided by 2**e, and by units.

    X : ndarray, centred and weighted, or CSR of the rows as they are; root (n,) the roots of the
        weights; mean (p + k,) of (x, y), zeros without a bias; flat (k,) whether y is constant.
    """

    X: Any
    B: Array
    root: Array
    mean: Array
    weight: float
    intercept: bool
    flat: NDArray[np.bool_]
    e: int
    e_y: NDArray[np.int64]

    @classmethod
    def of(cls, t: Rows, intercept: bool, units: Array | None = None) -> CentredRows:
        """Sparse rows stay sparse where that costs no digits."""
        X, Y, p, root, weight = t.X, t.Y, t.p, np.sqrt(t.weights), t.weight
        top = max(float(X.max()), -float(X.min())) if 0 not in X.shape else 0.0
        e = max(int(np.frexp(top)[1]), -1000)
        e_y = np.asarray(np.frexp(np.abs(Y).max(axis=0, initial=0.0))[1], dtype=np.int64)
        B, mean = np.ldexp(Y, -e_y), np.zeros(p + Y.shape[1])
        flat = np.asarray(np.ptp(B, axis=0) == 0 if intercept else ~B.any(axis=0))
        if t.sparse:
            X = sparse.csr_array(X).astype(np.float64) * np.ldexp(1.0, -e)
            mean[:p] = (root**2 @ X) / weight * intercept
            squares = float(root**2 @ X.power(2).sum(axis=1))
            if weight * float(mean[:p] @ mean[:p]) > FAR * squares and not is_large_and_sparse(X):
                X = X.toarray()
        unit = np.ones(p) if units is None else np.ldexp(units, -e)
        if is_sparse(X):
            X = sparse.csr_array(X @ sparse.diags_array(1.0 / unit))
        else:
            X = np.multiply(X, 1.0 if t.sparse else np.ldexp(1.0, -e), dtype=np.float64)
            mean[:p] = centre(X, root, weight) if intercept else 0.0
            X *= root[:, None]
            X /= unit  # after the mean is gone: rounding is that of what is left
        mean[:p] /= unit
        mean[p:] = centre(B, root, weight) if intercept else 0.0
        B = B * root[:, None]
        return cls(X, B, root, mean, weight, intercept, flat, e if units is None else 0, e_y)

    def targets(self, which: NDArray[np.intp]) -> CentredRows:
        mean = np.append(self.mean[: self.p], self.mean[self.p :][which])
        some: dict[str, Any] = {v: getattr(self, v)[which] for v in ("flat", "e_y")}
        return replace(self, mean=mean, B=self.B[:, which], **some)

    @property
    def p(self) -> int:
        return int(self.X.shape[1])

    @cached_property
    def sparse(self) -> bool:
        """Whether the mean is subtracted from products."""
        return is_sparse(self.X)

    @cached_property
    def centre(self) -> Array:
        """Means of x that products with X still hold, (p,)."""
        return self.mean[: self.p] if self.sparse else np.zeros(self.p)

    def times(self, W: Array) -> Array:
        V = np.asarray(self.X @ W)
        if self.sparse:
            V -= self.centre @ W
            V *= self.root[:, None]
        return V

    def transposed(self, C: Array) -> Array:
        if not self.sparse:
            return np.asarray(self.X.T @ C)
        G = np.asarray(self.X.T @ (C * self.root[:, None]))
        return G - np.multiply.outer(self.centre, self.root @ C) if self.intercept else G

    def scatter(self, W: Array) -> Array:
        return self.transposed(self.times(W))

    def gram(self) -> Array:
        if not self.sparse:
            return np.asarray(self.X @ self.X.T)
        K, side = (self.X @ self.X.T).toarray(), (self.X @ self.centre)[:, None]
        K = K - side - side.T + self.centre @ self.centre
        return np.asarray(K * np.outer(self.root, self.root))

    def scatter_matrix(self) -> Array:
        if not self.sparse:
            return np.asarray(self.X.T @ self.X)
        S = (self.X.T @ (sparse.diags_array(self.root**2) @ self.X)).toarray()
        return np.asarray(S - self.weight * np.multiply.outer(self.centre, self.centre))

    @cached_property
    def raw_squares(self) -> Array:
        """Sums of squares of the weighted columns as X holds them, (p,)."""
        if self.sparse:
            return np.asarray(self.root**2 @ self.X.power(2))
        return np.asarray(np.einsum("ij,ij->j", self.X, self.X))

    @cached_property
    def squares(self) -> Array:
        return np.maximum(self.raw_squares - self.weight * self.centre**2, 0.0)

    @cached_property
    def norm(self) -> float:
        """A bound on the spectral norm of sparse diag(root) |X|, and so of A."""
        size = abs(self.X)
        tall = float(np.max(self.root @ size, initial=0.0))
        longest = float(np.max(self.root * (size @ np.ones(self.p)), initial=0.0))
        return SLACK * sqrt(min(tall * longest, float(self.raw_squares.sum())))


def centre(C: Array, root: Array, weight: float) -> Array:
    """Subtract the weighted mean in place; a second time what rounding left of it, if it counts.

    C is at most about 1.
    """
    mean = root**2 @ C / weight
    C -= mean
    left = root**2 @ C / weight
    if np.abs(left).max(initial=0.0) > 4 * UNIT:
        C -= left
    return np.asarray(mean + left)


def solve(A: CentredRows, lam: Array, D: Array) -> tuple[Array, Array, NDArray[np.int64]]:
    """W (p, k) that minimises |B - A W|^2 + lam |W|^2, A'B, and the steps of each target.

    Conjugate gradients (Hestenes & Stiefel 1952) with the preconditioner 1/(D + lam), D (p, 1). Of
    a penalised target they end where |gradient| <= SHARE lam |w|: then w is within that share of
    the solution. Without penalties they start at zero and stay in the span of the rows, where the
    solution of least norm lies, if D is constant: other units would change what is least.
    """
    C, k = A.transposed(A.B), A.B.shape[1]
    solution, steps, together = np.zeros_like(C), np.zeros(k, np.int64), max(MOST_WEIGHTS // A.p, 1)
    for i in range(0, k, together):
        on = i + np.flatnonzero(lengths_of(C[:, i : i + together]) > 0.0)
        W, R, G, scale = np.zeros((A.p, len(on))), A.B[:, on], C[:, on], 1.0 / (D + lam[on])
        first, V = lengths_of(G), scale * G
        size = dots(G, V)
        for step in range(1, MOST_STEPS + 1):
            if not len(on):
                break
            Q = A.times(V)
            a = size / (dots(Q, Q) + lam[on] * dots(V, V))
            W, R = W + a * V, R - a * Q
            G = A.transposed(R) - lam[on] * W
            left = np.sqrt(dots(G, G))
            enough = SHARE * np.where(lam[on] > 0, lam[on] * np.sqrt(dots(W, W)), first)
            more = (left > enough) & (left > ROUNDING * first) & np.isfinite(left)
            if step == MOST_STEPS or not more.all():
                solution[:, on], steps[on] = W, step
                on, first, size = on[more], first[more], size[more]
                W, R, G, V, scale = (M[:, more] for M in (W, R, G, V, scale))
            Z = scale * G
            before, size = size, dots(G, Z)
            V = Z + size / before * V
    return solution, C, steps


def lengths_of(A: Array) -> Array:
    return np.asarray(np.linalg.norm(A, axis=0))


def dots(A: Array, B: Array) -> Array:
    """a'b of each column."""
    return np.asarray(np.einsum("ij,ij->j", A, B))


def solve_by_products(A: CentredRows, alpha: Array) -> ClosedFit:
    """min |y - Xw - b|^2 + alpha |w|^2 for each target, with a bound on the error of all weights.

    alpha is positive for all targets, or zero for all. Then, of the solutions, w is that of least
    |w|, and nothing bounds the smallest eigenvalue, so that a small gradient proves small residuals
    but no digit of the weights: the certificate says so.
    """
    lam, (n, p) = np.ldexp(alpha, -2 * A.e), A.X.shape
    if penalised := bool(np.any(alpha > 0)):
        if not np.all((lam > 1 / SAFE) & (lam < SAFE)):
            size = f"alpha is {np.min(alpha):g} and the largest entry of X is about 2**{A.e}"
            raise ValueError(f"{size}; sparse rows need them nearer. Scale X, or change alpha.")
        # Columns far above the mean eigenvalue are scaled down to it. Those below stay as they are:
        # dividing by their squares would spread the many equal eigenvalues of wide data.
        W, C, steps = solve(
            A, lam, np.maximum(A.squares, 2.0 * A.squares.sum() / min(n, p))[:, None]
        )
    else:
        W, C, steps = solve(A, lam, np.ones((p, 1)))
    R, first, taken = A.B - A.times(W), lengths_of(C), int(steps.max(initial=0))
    condition = np.nan  # not known: a small eigenvalue may hide from so few steps
    if penalised:
        bounds, G = distance_by_penalty(A, W, R, lam)
        condition = sqrt((A.norm**2 + float(lam.min())) / float(lam.min()))
        R -= np.multiply.outer(A.root, A.root @ R / A.weight) * A.intercept
        bounds = in_users_units(bounds + p * 2.0**-1020, A.e_y - A.e)
        proven = stated_together(np.ldexp(W, A.e_y - A.e).T, bounds, {"condition": condition})
    else:
        G = A.transposed(R)
    share = float(np.max(lengths_of(G) / np.where(first > 0, first, 1.0)))
    if not penalised:
        why = (
            f"the gradient is {share:.1e} of that at zero weights; without a penalty this proves "
            "no digit of the weights. Ridge has a proof."
        )
        proven = Certificate("unproven", why, {})
    evidence = {**proven.evidence, "steps": taken, "gradient_share": share}
    return ClosedFit(
        W=np.ldexp(W, A.e_y - A.e).T.copy(),
        b=np.ldexp(A.mean[p:] - A.mean[:p] @ W, A.e_y),
        stopped=f"solved by {plural(taken, 'step')} of conjugate gradients on sparse rows.",
        certificate=Certificate(proven.kind, proven.statement, evidence),
        rank=min(n - A.intercept, p),
        condition=condition,
        W_low=np.zeros(W.T.shape),
        b_low=np.zeros(W.shape[1]),
        squares=np.ldexp(lengths_of(R) ** 2, 2 * A.e_y),
    )


def distance_by_penalty(A: CentredRows, W: Array, R: Array, lam: Array) -> tuple[Array, Array]:
    """Bounds on |w - w*| of each target, and the gradients G (p, k), by theorem (a) with least lam.

    R = B - A W in float64. For m nonzeros in a row, products of it are off by gamma(m) |x|'|w|, in
    all by gamma(m) N |w| with N >= the spectral norm of diag(root) |X|; column j with c_j nonzeros
    by gamma(c_j) |x_j| |r|. As A'root is zero exactly, a constant in the residuals does not matter,
    and only the error of the mean times sum root r counts.
    """
    mean, root, size_w = A.centre, A.root, lengths_of(W)
    longest, counts = 0, np.zeros(A.p)
    if A.sparse:
        longest = int(np.max(np.diff(A.X.indptr), initial=0))
        counts = np.bincount(A.X.indices, minlength=A.p).astype(np.float64)
    sums = np.array([fsum(c) for c in (root[:, None] * R).T])
    shifts = np.multiply.outer(mean, sums) * A.intercept
    G = np.asarray(A.X.T @ (root[:, None] * R)) - shifts - lam * W
    size_r, size_b = lengths_of(R), lengths_of(A.B)
    drift = float(np.linalg.norm(UNIT * (counts + 12) * np.sqrt(A.raw_squares)))
    wrong = UNIT * (longest + 8) * A.norm * size_w + 8 * UNIT * (2 * size_r + 2 * size_b)
    off = np.abs(sums) + 4 * UNIT * sqrt(A.weight) * size_r
    doubt = A.norm * wrong + drift * size_r + drift / sqrt(A.weight) * off
    doubt += 4 * UNIT * sqrt(A.weight) * float(np.linalg.norm(mean)) * size_r
    doubt += 4 * UNIT * (lengths_of(G) + 2 * lengths_of(shifts) + 2 * lam * size_w) + UNDERFLOWN
    return SLACK * (lengths_of(G) + doubt) / lam, G


def standard_units(deviation: Array) -> Array | None:
    """Standard deviations, and 1 for constants; None where they are alike, or out of range."""
    some = deviation[deviation > 0]
    if not len(some) or some.min() < 1.0 / RANGE or some.max() > RANGE:
        return None
    return None if some.max() <= ALIKE * some.min() else np.where(deviation > 0, deviation, 1.0)
