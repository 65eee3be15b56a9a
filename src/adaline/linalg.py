"""Every factorisation; the only scipy.linalg. Symmetric matrices come and go whole."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, lapack, qr, svd
from scipy.linalg import toeplitz as toeplitz
from scipy.linalg.blas import ddot

from adaline.results import Array
from adaline.sums.threads import one_blas_thread

SHORT = 2**10  # numbers of a vector that is multiplied by one thread
DEPENDENT = 1e-13  # eigenvalues of a scaled matrix below this, times its size, are rounding
_OUT_OF_RANGE = "sums over X leave the range of float64; rescale the columns or the weights."
UNIT = 2.0**-53  # the unit roundoff: the largest relative error of one rounded operation

UNDERFLOW = 2.0**-1020
"""More than a product, or a number scaled by a power of two, can lose below float64's range.

It is a few times the least normal number, so that processors that flush to zero are covered too.
"""


def length(a: Array) -> float:
    """Euclidean length of all numbers in a, also where their squares leave float64's range."""
    flat = a.ravel()
    size = math.sqrt(ddot(flat, flat)) if len(flat) else 0.0
    if 1e-140 < size < 1e140:
        return size
    top = float(np.max(np.abs(a), initial=0.0))
    if top == 0.0 or not np.isfinite(top):
        return top
    e = int(np.frexp(top)[1])
    return float(np.ldexp(np.linalg.norm(np.ldexp(a, -e)), e))


def inner(a: Array, b: Array) -> float:
    """Sum of a b over all their numbers, with the same bits whatever threads BLAS may use."""
    if a.size > SHORT:
        return float((a * b).sum())
    return float(ddot(a.ravel(), b.ravel()))


def lengths(A: Array) -> Array:
    """`length` of each row of A."""
    return np.array([length(row) for row in A])


def inverse_triangle(R: Array) -> Array | None:
    """W = R^-1 of an upper triangle, or None where R is singular."""
    W, info = lapack.dtrtri(R)
    return None if info != 0 or not np.isfinite(W).all() else np.asarray(W)


def inverse_cholesky(G: Array) -> Array | None:
    """W upper triangular with W' G W = I, or None where G is not positive definite."""
    R = cholesky(G)
    return None if R is None else inverse_triangle(R)


def cholesky(G: Array, *, overwrite: bool = False) -> Array | None:
    """R upper triangular with R'R = G, or None where G is not positive definite.

    R may take the place of G, if G has Fortran order.
    """
    R, info = lapack.dpotrf(G, lower=0, clean=1, overwrite_a=overwrite)
    return None if info != 0 or not np.isfinite(R).all() else np.asarray(R)


def solve_cholesky(R: Array, B: Array) -> Array:
    """(R'R)^-1 B."""
    # scipy's cho_solve takes longer to look at its arguments than to solve for 200 unknowns.
    x, _ = lapack.dpotrs(R, B, lower=0)
    return np.asarray(x)


def condition(W: Array) -> float:
    """Condition number (1-norm, estimated by LAPACK) of a triangle, given itself or its inverse."""
    if not len(W):
        return 1.0
    rcond, _ = lapack.dtrcon(W)
    return float(1.0 / rcond) if rcond > 0 else np.inf


def triangle_of(rows: Array) -> Array:
    """R with R'R = rows' rows and as many rows as columns (padded with zeros)."""
    (R,) = qr(rows, mode="r", check_finite=False, overwrite_a=True)
    q = rows.shape[1]
    square = np.zeros((q, q))
    square[: min(q, len(R))] = R[:q]
    return square


def eigen(S: Array) -> tuple[Array, Array]:
    """Eigenvalues (ascending) and vectors of a symmetric matrix."""
    try:
        values, vectors = np.linalg.eigh(S)
    except np.linalg.LinAlgError:
        raise ValueError(_OUT_OF_RANGE) from None
    return values, vectors


def singular(A: Array) -> tuple[Array, Array, Array]:
    """U, s, V' of the thin singular value decomposition; slower but surer when LAPACK gives up."""
    if not np.isfinite(A).all():
        raise ValueError(_OUT_OF_RANGE)
    try:
        U, s, Vt = svd(A, full_matrices=False, check_finite=False)
    except np.linalg.LinAlgError:
        U, s, Vt = svd(A, full_matrices=False, check_finite=False, lapack_driver="gesvd")
    return U, s, Vt


def pivots(R: Array) -> Array:
    """Columns of R, the most independent first (QR with column pivoting)."""
    _, order = qr(R, mode="r", pivoting=True, check_finite=False)
    return np.asarray(order)


def graded_both(A: Array) -> tuple[Array, Array, Array]:
    """U, s (descending) and V of a tall A = U diag(s) V', by Jacobi rotations.

    Where rows or columns differ only in their units, tiny singular values keep their digits.
    """
    if A.shape[0] < A.shape[1]:
        V, s, U = graded_both(np.ascontiguousarray(A.T))
        return U, s, V
    s, U, V, work, _, info = lapack.dgejsv(A, joba=2, jobu=0, jobv=0)
    if info != 0:
        raise ValueError(_OUT_OF_RANGE)
    return U, s * (work[1] / work[0]), V


def solve_hermitian(R: NDArray[Any], r: NDArray[Any]) -> tuple[NDArray[Any], int, float]:
    """w with R w = r for R positive semidefinite, the rank of R, and its condition (1-norm).

    Rank and condition are those of R scaled to a unit diagonal, so that units of measurement do
    not count. Where R is singular, w is the shortest solution of the part that is not.
    """
    M = len(r)
    diagonal = np.sqrt(np.maximum(R.diagonal().real, 0.0))
    scale = np.divide(1.0, diagonal, out=np.zeros(M), where=diagonal > 0)
    S = R * np.outer(scale, scale)
    complex_ = np.iscomplexobj(R)
    potrf, trcon = (getattr(lapack, "dz"[complex_] + name) for name in ("potrf", "trcon"))
    factor, info = potrf(S, lower=0, clean=1)
    rcond = trcon(factor)[0] ** 2 if info == 0 and M else 0.0
    if rcond > 4 * M * UNIT or not M:
        z = cho_solve((factor, False), scale * r, check_finite=False)
        z += cho_solve((factor, False), scale * r - S @ z, check_finite=False)
        return scale * z, M, 1.0 / rcond if M else 1.0
    values, V = np.linalg.eigh(S)
    kept = values > 4 * M * UNIT * values[-1]
    w = scale * (V[:, kept] @ ((V[:, kept].conj().T @ (scale * r)) / values[kept]))
    # What R does not see, in the units of w: dropping that part makes w the shortest.
    unseen = np.linalg.qr(np.where(scale > 0, scale, 1.0)[:, None] * V[:, ~kept])[0]
    return w - unseen @ (unseen.conj().T @ w), int(kept.sum()), np.inf


def eigenvalues(S: NDArray[Any]) -> Array:
    """Eigenvalues (descending) of a Hermitian matrix."""
    return np.asarray(np.linalg.eigvalsh(S)[::-1])


class Factor:
    """H = R'R, scaled to a unit diagonal; by eigenvectors where columns depend on each other."""

    def __init__(self, H: Array):
        with one_blas_thread(len(H)):  # more threads would change the last digit
            self._factor(H)

    def _factor(self, H: Array) -> None:
        d = np.sqrt(np.maximum(H.diagonal(), 0.0))
        d[d == 0.0] = 1.0
        C = H / d / d[:, None]
        self.d, self.rank, self._vectors = d, len(H), None  # type: Array, int, Array | None
        self.R = cholesky(C)
        if self.R is None or condition(self.R) ** 2 > 1.0 / DEPENDENT:
            values, vectors = eigen(C)
            keep = values > DEPENDENT * len(H) * values[-1]
            self.rank = int(np.count_nonzero(keep))
            self._vectors = vectors[:, keep] / np.sqrt(values[keep])

    def solve(self, g: Array) -> Array:
        flat = g.ravel() / self.d
        with one_blas_thread(len(flat)):
            if self._vectors is None:
                assert self.R is not None
                x = solve_cholesky(self.R, flat)
            else:
                x = self._vectors @ (self._vectors.T @ flat)
        return np.asarray((x / self.d).reshape(g.shape))

    def root(self) -> Array:
        """A with A A' = H^-1, on the range of H."""
        if self._vectors is not None:
            return np.asarray(self._vectors / self.d[:, None])
        assert self.R is not None
        A = inverse_triangle(self.R)
        assert A is not None
        return A / self.d[:, None]

    def log_determinant(self) -> float:
        """Of H, which has full rank."""
        assert self.R is not None
        return 2.0 * float(np.sum(np.log(self.d)) + np.sum(np.log(np.diagonal(self.R))))


class ForEachClass:
    """A matrix for each class, or one for all, on what the classes do not share."""

    rank = -1

    def __init__(self, H: Array):
        self.factors = [Factor(each) for each in (H if H.ndim == 3 else H[None])]

    def solve(self, g: Array) -> Array:
        g = g - g.mean(axis=0)  # what all classes share changes nothing
        many = self.factors if len(self.factors) == len(g) else self.factors * len(g)
        d = np.array([factor.solve(each) for factor, each in zip(many, g, strict=True)])
        return np.asarray(d - d.mean(axis=0))


class Diagonal:
    """The penalty, and a curvature for each column as if columns were independent.

    Where columns outnumber the rows, the curvature along the rows is larger than on average: `size`
    is what the last step says of that.
    """

    rank = -1

    def __init__(self, own: Array, penalty: Array):
        own = own + penalty
        self.own, self.size = np.where(own > 0.0, own, 1.0), 1.0

    def solve(self, g: Array) -> Array:
        return np.asarray(self.size * g / self.own)


class Products:
    """Conjugate gradients on products with the Hessian, each as dear as a gradient.

    A step is solved for only as well as it is worth far from the minimum (Dembo, Eisenstat &
    Steihaug 1982). `multiply` gives H d at theta, and nu is first that of the diagonal `own`.
    """

    rank = -1
    most = 250  # products of one step

    def __init__(self, multiply: Callable[[Array], Array], own: Array, goal: float, nu: float):
        self.multiply, self.own, self.goal, self.first = multiply, own, goal, nu

    def solve(self, g: Array) -> Array:
        from scipy.sparse.linalg import LinearOperator, cg  # few fits need it

        # In these units own is the identity.
        unit = np.broadcast_to(np.sqrt(self.own), g.shape).ravel()
        b = g.ravel() / unit
        nu = length(b)
        if nu == 0.0:
            return np.zeros_like(g)
        share = min(max(math.sqrt(nu / max(self.first, nu)), 0.02 * self.goal / nu), 0.3)

        def multiply(e: Array) -> Array:
            return np.asarray(self.multiply((e.ravel() / unit).reshape(g.shape)).ravel() / unit)

        H = LinearOperator((len(b), len(b)), multiply, dtype=np.float64)
        e, _ = cg(H, b, rtol=share, maxiter=self.most)
        return np.asarray((e / unit).reshape(g.shape))
