"""The pseudoinverse solution where columns are dependent, or outnumber the rows; and solutions from
triangles alone.

Of all w that minimise |y - Xw - b|^2, the one with the least |w|, in the user's units. Called by
`procedures.least_squares` and, for triangles, by `LeastSquares`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from adaline import linalg
from adaline.errors import plural
from adaline.linalg import UNIT, condition
from adaline.procedures.krylov import CentredRows
from adaline.results import Array, Certificate, ClosedFit
from adaline.sums.moments import Moments
from adaline.sums.rows import Rows
from adaline.sums.triangle import Triangle

WELL = 1e4  # condition numbers up to which two corrections by the residual recover all digits
MIX = 1e-8  # coefficients below this are rounding, and not named


def minimum_norm(u: Moments, rows: Rows, intercept: bool) -> ClosedFit:
    """By a triangle for tall data, in the units of u; by the rows themselves for wide."""
    if u.rows < u.p + intercept:
        return wide_minimum_norm(rows, intercept)
    t = Triangle.of(rows.X, rows.Y, rows.omega if len(rows.omega) else None).in_units(u.exponent)
    R = t.centred() if intercept else t.about_zero()
    return tall_minimum_norm(R, u.mean, u.exponent, u.p, intercept)


def minimum_norm_of_moments(u: Moments, intercept: bool) -> ClosedFit:
    p = u.p
    values, V = linalg.eigen(u.scatter[:p, :p])
    keep = values > 64 * p * UNIT * max(values.max(initial=0.0), np.finfo(np.float64).tiny)
    root = np.sqrt(values[keep])
    R = np.zeros((p + u.targets, p + u.targets))
    R[:p][keep, :p] = root[:, None] * V[:, keep].T
    R[:p][keep, p:] = V[:, keep].T @ u.scatter[:p, p:] / root[:, None]
    return tall_minimum_norm(R, u.mean, u.exponent, p, intercept)


def rank_tolerance(R: Array) -> float:
    """Singular values below this share of the largest are rounding noise of the factorisation."""
    return float(8 * np.sqrt(R.shape[1]) * UNIT)


def rank_of(R: Array) -> int:
    """Independent columns among those of R, each taken at unit length."""
    length = np.linalg.norm(R, axis=0)
    with np.errstate(invalid="ignore"):  # infinite columns are refused below
        _, s, _ = linalg.singular(R / np.where(length > 0, length, 1.0))
    return int(np.count_nonzero(s > rank_tolerance(R) * s.max(initial=0.0)))


def tall_minimum_norm(
    R: Array, mean: Array, e: NDArray[np.int64], p: int, intercept: bool
) -> ClosedFit:
    """From the triangle R of (x, y) in units 2**e; the norm is that in the user's."""
    length = np.linalg.norm(R[:p, :p], axis=0)
    # What centring leaves of a constant column is the rounding noise of its mean.
    moving = length > 16 * UNIT * np.abs(mean[:p]) if intercept else length > 0
    length = np.where(moving, length, 1.0)
    A = np.where(moving, R[:p, :p] / length, 0.0)
    U, s, Vt = linalg.singular(A)
    rank = int(np.count_nonzero(s > rank_tolerance(A) * s.max(initial=0.0)))
    w = (Vt[:rank].T / s[:rank]) @ (U[:, :rank].T @ R[:p, p:]) / length[:, None]
    null = Vt[rank:] / length
    # In the user's units w_j is 2**-e_j times as long; a common power of two changes nothing.
    down = e[:p].min(initial=0) - e[:p]
    w, null = np.ldexp(w, down[:, None]), np.ldexp(null, down)
    if rank < p:
        _, _, basis = linalg.singular(null / np.linalg.norm(null, axis=1, keepdims=True))
        w -= basis.T @ (basis @ w)
    w[~moving] = 0.0
    unit_w = np.ldexp(w, -down[:, None])
    left = R[:, p:].copy()
    left[:p] -= R[:p, :p] @ unit_w
    b = mean[p:] - mean[:p] @ unit_w if intercept else np.zeros(R.shape[1] - p)
    return minimum_norm_fit(
        np.ldexp(w, e[None, p:] - e[:p].min(initial=0)),
        np.ldexp(b, e[p:]),
        rank,
        float(s[0] / s[rank - 1]) if rank else 1.0,
        np.ldexp((left**2).sum(axis=0), 2 * e[p:]),
        dependent_columns(A, rank),
    )


def least_squares_from_triangle(t: Triangle, *, intercept: bool = True) -> ClosedFit:
    """The same from a mergeable QR, the digits estimated from its condition number."""
    R, p, e = t.centred() if intercept else t.about_zero(), t.p, t.exponent
    fit = tall_minimum_norm(R, t.mean, e, p, intercept)
    V = linalg.inverse_triangle(R[:p, :p])
    if V is None or fit.rank < p or t.rows < p + intercept:
        return fit
    kappa = condition(R[:p, :p] / np.linalg.norm(R[:p, :p], axis=0))
    digits = float(np.clip(15.5 - np.log10(kappa), 0, 15))
    said = (
        f"about {digits:.0f} digits are to be expected at a scaled condition number of "
        f"{kappa:.1e}; a triangle without its rows proves none."
    )
    return replace(
        fit,
        stopped="solved in closed form from a triangle.",
        certificate=Certificate("unproven", said, {"condition": kappa, "expected_digits": digits}),
        condition=kappa,
        root=np.ldexp(V, -e[:p, None]),
    )


def dependent_columns(A: Array, rank: int) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Columns that are combinations of others, with the ones they are combinations of."""
    order = linalg.pivots(A)
    basis, others = np.sort(order[:rank]), np.sort(order[rank:])
    U, s, Vt = linalg.singular(A[:, basis])
    mix = (Vt.T / s) @ (U.T @ A[:, others])
    return tuple(
        (int(j), tuple(int(i) for i in basis[np.abs(mix[:, q]) > MIX]))
        for q, j in enumerate(others)
    )


def wide_minimum_norm(rows: Rows, intercept: bool) -> ClosedFit:
    """The w of least norm among those that fit best, for rows about their mean."""
    dense = Rows(rows.dense(), rows.Y, rows.omega)
    A = CentredRows.of(dense, intercept)
    constant = (dense.X[:1] == dense.X).all(axis=0) & intercept
    A.X[:, constant] = 0.0  # where rounding of the mean has left a trace
    w, rank, kappa = least_norm(A)
    b = A.mean[A.p :] - A.mean[: A.p] @ w
    squares = np.ldexp(((A.B - A.X @ w) ** 2).sum(axis=0), 2 * A.e_y)
    return minimum_norm_fit(np.ldexp(w, A.e_y - A.e), np.ldexp(b, A.e_y), rank, kappa, squares, ())


def least_norm(A: CentredRows) -> tuple[Array, int, float]:
    """w = A^+ B for a wide A, its rank and its condition number.

    With R'R = A A', w = A' (R'R)^-1 B needs no orthogonal factor, and corrections by the residual
    make up for that while A is well conditioned. Else by Jacobi rotations, which keep the digits of
    directions that are small only because their columns' units are.
    """
    X, B, K = A.X, A.B, A.gram()
    ones = A.root / np.linalg.norm(A.root) * A.intercept  # A' takes them to zero, and B is without
    R = linalg.cholesky(K + np.trace(K) / max(len(K), 1) * np.outer(ones, ones))
    if R is not None and (kappa := condition(R)) < WELL:
        w = X.T @ linalg.solve_cholesky(R, B)
        for _ in range(2):
            w += X.T @ linalg.solve_cholesky(R, B - X @ w)
        return w, len(K) - A.intercept, kappa
    length = np.linalg.norm(X, axis=0)
    _, s, _ = linalg.singular(X / np.where(length > 0, length, 1.0))
    rank = int(np.count_nonzero(s > 2 * max(X.shape) * UNIT * s.max(initial=0.0)))
    if rank == 0:
        return np.zeros((A.p, B.shape[1])), 0, 1.0
    U, s, V = linalg.graded_both(X.T)
    w = (U[:, :rank] / s[:rank]) @ (V[:, :rank].T @ B)
    return w, rank, float(s[0] / s[rank - 1])


def minimum_norm_fit(
    w: Array,
    b: Array,
    rank: int,
    kappa: float,
    squares: Array,
    dependent: tuple[tuple[int, tuple[int, ...]], ...],
) -> ClosedFit:
    """From w (p, k) in the user's units."""
    W = np.ascontiguousarray(w.T)
    directions = plural(rank, "independent direction")
    return ClosedFit(
        W=W,
        b=b,
        stopped=f"minimum-norm solution: {directions} among {plural(len(w), 'column')}.",
        certificate=Certificate(
            "unproven",
            "of the many solutions this is the one of least norm, to the digits of the "
            f"factorisation (condition number {kappa:.1e} on its {rank} directions).",
            {"rank": rank, "condition": kappa},
        ),
        rank=rank,
        condition=kappa,
        W_low=np.zeros_like(W),
        b_low=np.zeros_like(b),
        squares=np.asarray(squares),
        dependent=dependent,
    )
