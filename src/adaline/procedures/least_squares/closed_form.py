"""Least squares in closed form: w = S^-1 c, with all its digits where the rows are at hand.

    S w = c,    S = sum (x - m)(x - m)',    c = sum (x - m)(y - m_y),    b = m_y - w'm

Two factorisations give W with W'SW = I: the Cholesky factor of S, and, where squaring has cost
too many digits, the triangle R of a QR. Neither has to be accurate: the weights are then
corrected by residuals in double-double until float64 can hold no better. float32 rows get float32
weights, which moments in float64 nearly always prove on their own (`from_moments`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from adaline._threads import between_passes
from adaline.linalg import condition, eigen, inverse_triangle
from adaline.moments import Moments
from adaline.procedures.iterative.minimum_norm import iterative_least_squares
from adaline.procedures.iterative.sparse_rows import SparseRows, is_large_and_sparse
from adaline.procedures.least_squares.from_moments import (
    float32_from_moments,
    from_moments,
    known_to_float64,
)
from adaline.procedures.least_squares.minimum_norm import (
    minimum_norm,
    tall_minimum_norm,
    wide_minimum_norm,
)
from adaline.procedures.least_squares.normal_equations import (
    Normal,
    drowned,
    in_unit_columns,
    normal_equations,
    rank_of,
    triangle_equations,
)
from adaline.procedures.least_squares.penalised import penalised_least_squares
from adaline.procedures.least_squares.refinement import refine
from adaline.results import Array, Certificate, ClosedFit
from adaline.tiles import Rows
from adaline.triangle import Triangle

PROVABLE = 0.1  # a contraction below this gains at least a digit a correction
_FEW = 64  # columns up to which moments prove float32 weights more often than not
_LONG = 2**18  # numbers of float32 whose second pass takes longer than proofs from moments
_HEAVY = 2.0**400  # weights beyond this take double-double products out of float64's range


def least_squares(
    m: Moments | None,
    rows: Rows | None = None,
    *,
    intercept: bool = True,
    ridge: float | Array = 0.0,
    refined: bool = True,
) -> ClosedFit:
    """min |y - Xw - b|^2 + ridge |w|^2 from moments; to the last digit where rows are given.

    Parameters
    ----------
    m : Moments or None
        Of all rows and targets; None for rows with so many columns that none were made.
    rows : Rows, optional
        The rows themselves, where they are at hand.
    intercept : bool
        Whether there is a bias b.
    ridge : float or ndarray of shape (p,)
        The penalty lambda, or that of each weight: sum ridge_j w_j^2.
    refined : bool
        Whether to correct the weights by the rows even where the moments suffice.
    """
    if m is None:
        if rows is None:
            raise ValueError("least squares needs moments or rows.")
        if is_large_and_sparse(rows.X):
            return iterative_least_squares(SparseRows.of(rows, intercept))
        return wide_minimum_norm(rows, intercept)
    enough = m.rows >= m.p + intercept or bool(np.all(ridge > 0))
    if rows is not None and refined and 1 / _HEAVY < m.weight < _HEAVY:
        found = penalised_least_squares(m, rows, intercept, ridge)
        if found is not None:
            return found
    with between_passes(0 if rows is None else m.rows, m.p + 1):
        normal = normal_equations(m, intercept, ridge) if enough else None
    if rows is None or not 1 / _HEAVY < m.weight < _HEAVY:
        fit = from_moments(normal) if normal else _deficient_moments(m, intercept)
        return _told(fit, drowned(m, intercept))
    if normal is None or normal.alpha > PROVABLE:
        better = triangle_equations(m, rows, intercept, ridge) if enough else None
        fit = refine(better, rows) if better else minimum_norm(m, rows, intercept)
        return _or_from_moments(fit, normal)
    if not refined:
        return from_moments(normal)
    if rows.X.dtype == np.float32 and m.p <= _FEW and rows.X.shape[0] * m.p >= _LONG:
        found = float32_from_moments(normal, rows)
        if found is not None:
            return found
    return _or_from_moments(refine(normal, rows, by_sums=True), normal)


def _or_from_moments(fit: ClosedFit, normal: Normal | None) -> ClosedFit:
    """The fit from rows, or that from moments where only they prove a digit.

    This happens where one row outweighs all others by far: its residual hides theirs in rounding,
    while moments about that row keep them.
    """
    if normal is None or fit.certificate.kind != "unproven":
        return fit
    plain = from_moments(normal)
    return plain if plain.certificate.kind != "unproven" else fit


def _told(fit: ClosedFit, lost: NDArray[np.intp]) -> ClosedFit:
    """The fit, with a weaker certificate where rounding has left columns without digits."""
    if not len(lost):
        return fit
    said = (
        f"rounding has left no digit of the variance of {len(lost)} of {fit.W.shape[1]} columns "
        "certain, so no digit of the weights is: fit anew from the rows themselves."
    )
    evidence = {**fit.certificate.evidence, "digits": 0.0, "drowned": lost}
    return replace(fit, certificate=Certificate("unproven", said, evidence), dependent=())


def least_squares_from_triangle(t: Triangle, *, intercept: bool = True) -> ClosedFit:
    """The same from a mergeable QR: R w = z, the digits estimated from its condition number."""
    R = t.centred() if intercept else t.about_zero()
    p, e = t.p, t.exponent
    if rank_of(R[:p, :p]) < p or t.rows < p + intercept:
        return tall_minimum_norm(R, t.mean, e, p, intercept)
    W = inverse_triangle(R[:p, :p])
    assert W is not None  # rank_of has looked
    w = W @ R[:p, p:]
    kappa = condition(R[:p, :p] / np.linalg.norm(R[:p, :p], axis=0))
    digits = float(np.clip(15.5 - np.log10(kappa), 0, 15))
    b = t.mean[p:] - t.mean[:p] @ w if intercept else np.zeros(t.targets)
    return known_to_float64(
        np.ldexp(w, e[None, p:] - e[:p, None]),
        np.ldexp(b, e[p:]),
        stopped="solved in closed form from a triangle.",
        certificate=Certificate(
            "unproven",
            f"about {digits:.0f} digits are to be expected at a scaled condition number of "
            f"{kappa:.1e}; a triangle without its rows proves none.",
            {"condition": kappa, "expected_digits": digits},
        ),
        rank=p,
        kappa=kappa,
        squares=np.ldexp((R[p:, p:] ** 2).sum(axis=0), 2 * e[p:]),
        root=np.ldexp(W, -e[:p, None]),
    )


def _deficient_moments(m: Moments, intercept: bool) -> ClosedFit:
    """The minimum-norm solution of dependent columns from their moments alone."""
    unit = in_unit_columns(m, intercept)
    p = unit.p
    values, V = eigen(unit.scatter[:p, :p])
    R = np.zeros((p + unit.targets, p + unit.targets))
    R[:p, :p] = np.sqrt(np.maximum(values, 0.0))[:, None] * V.T
    keep = values > 64 * p * 2.0**-53 * max(values.max(initial=0.0), 1e-300)
    R[:p][~keep] = 0.0
    inverse = np.where(keep, 1 / np.sqrt(np.where(keep, values, 1.0)), 0.0)
    R[:p, p:] = inverse[:, None] * (V.T @ unit.scatter[:p, p:])
    return tall_minimum_norm(R, unit.mean, unit.exponent, p, intercept)
