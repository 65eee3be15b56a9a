"""Every factorisation; the only scipy.linalg. Symmetric matrices come and go whole."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, svd
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dgejsv, dpotrf, dtrcon, dtrtri

from adaline.results import Array

UNIT = 2.0**-53  # the largest relative error of one rounded operation


def add_gram(G: Array, tile: Array) -> Array:
    """G + tile' tile in the upper triangle of G (Fortran order), in place where BLAS can."""
    return np.asarray(dsyrk(1.0, tile.T, beta=1.0, c=G, overwrite_c=1))


def symmetric(upper: Array) -> Array:
    """The whole matrix whose upper triangle is given."""
    return np.triu(upper) + np.triu(upper, 1).T


def inverse_triangle(R: Array) -> Array | None:
    """W = R^-1 of an upper triangle, or None where R is singular."""
    W, info = dtrtri(R)
    return None if info != 0 or not np.isfinite(W).all() else np.triu(W)


def inverse_cholesky(G: Array) -> Array | None:
    """W upper triangular with W' G W = I, or None where G is not positive definite."""
    R, info = dpotrf(G, lower=0, clean=1)
    return None if info != 0 or not np.isfinite(R).all() else inverse_triangle(R)


def condition(W: Array) -> float:
    """Condition number (1-norm, estimated by LAPACK) of a triangle, given itself or its inverse."""
    if not len(W):
        return 1.0
    rcond, _ = dtrcon(W)
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
    values, vectors = np.linalg.eigh(S)
    return values, vectors


def singular(A: Array) -> tuple[Array, Array, Array]:
    """U, s, V' of the thin singular value decomposition; slower but surer when LAPACK gives up."""
    try:
        U, s, Vt = svd(A, full_matrices=False, check_finite=False)
    except np.linalg.LinAlgError:
        U, s, Vt = svd(A, full_matrices=False, check_finite=False, lapack_driver="gesvd")
    return U, s, Vt


def pivots(R: Array) -> Array:
    """Columns of R, the most independent first (QR with column pivoting)."""
    _, order = qr(R, mode="r", pivoting=True, check_finite=False)
    return np.asarray(order)


def graded(A: Array) -> tuple[Array, Array]:
    """s (descending) and V of a square A, by Jacobi rotations.

    Where columns differ only in their units, tiny singular values keep their digits too.
    """
    s, _, V, work, _, info = dgejsv(A, joba=1, jobu=3, jobv=0)
    if info != 0:
        raise np.linalg.LinAlgError("the Jacobi rotations did not converge.")
    return s * (work[1] / work[0]), V


def graded_both(A: Array) -> tuple[Array, Array, Array]:
    """U, s (descending) and V of a tall A = U diag(s) V', by Jacobi rotations.

    Where rows or columns differ only in their units, tiny singular values keep their digits.
    """
    s, U, V, work, _, info = dgejsv(A, joba=2, jobu=0, jobv=0)
    if info != 0:
        raise np.linalg.LinAlgError("the Jacobi rotations did not converge.")
    return U, s * (work[1] / work[0]), V
