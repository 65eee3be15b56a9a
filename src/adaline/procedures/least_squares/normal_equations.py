"""The normal equations in good units, and two ways to a matrix W that nearly inverts them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.digits import (
    contraction,
    contraction_of_rows,
    contraction_with_ones,
)
from adaline.linalg import (
    UNIT,
    add_gram,
    condition,
    inverse_cholesky,
    inverse_triangle,
    singular,
    symmetric,
    times_power,
    triangle_of,
)
from adaline.moments import Moments
from adaline.results import Array
from adaline.tiles import Rows, tile_rows, tiles
from adaline.triangle import Triangle

_FEW = 64  # targets whose products with each other cost nothing to keep
_NOTHING = 2.0**-500  # a variance below this is none: columns are in units of about one


@dataclass(frozen=True)
class Normal:
    """(S + ridge) w = c in units where columns have about length one, and its inverse W W'.

    m : Moments in those units, about zero where there is no bias.
    ridge (p,) : the penalty on each weight in those units.
    W (p, p) : upper triangular, W'(S + ridge)W = I nearly; alpha bounds by how much not, and how
        far columns are from centred; alpha_of_sums, known from moments, the former alone.
    """

    m: Moments
    ridge: Array
    W: Array
    alpha: float
    condition: float
    intercept: bool
    from_moments: bool
    alpha_of_sums: float = np.inf

    @property
    def root(self) -> Array:
        """W in the user's units: the inverse of S + ridge is root @ root.T."""
        return np.asarray(np.ldexp(self.W, -self.m.exponent[: self.m.p, None]))

    @property
    def weights_exponent(self) -> NDArray[np.int64]:
        """w in the user's units is w here times 2**this, (p, k)."""
        e = self.m.exponent
        return np.asarray(e[None, self.m.p :] - e[: self.m.p, None])


def in_unit_columns(m: Moments, intercept: bool) -> Moments:
    """Moments in units where columns have about length one; about zero without a bias.

    Products of one target with another are not kept where targets are many.
    """
    squares = m.scatter.diagonal()
    if not intercept:
        squares = squares + m.weight * m.mean**2
    # A column that is constant up to rounding has no length to be measured by.
    length = np.where(squares > m.rounding**2, np.sqrt(np.maximum(squares, 0.0)), 0.0)
    exponent = np.asarray(m.exponent + np.frexp(length)[1], dtype=np.int64)
    scaled = m.in_units(exponent) if m.targets <= _FEW else _targets_apart(m, exponent)
    return scaled if intercept else scaled.about_zero()


def drowned(m: Moments, intercept: bool) -> NDArray[np.intp]:
    """Columns for which rounding hides whether they vary; constants are exact and not listed.

    This happens after forgetting rows of far larger numbers.
    """
    about = m if intercept else m.about_zero()
    squares, doubt = np.diag(about.scatter)[: m.p], about.rounding[: m.p] ** 2
    return np.flatnonzero(~(squares > doubt) & ~(doubt <= _NOTHING * m.weight))


def _targets_apart(m: Moments, exponent: NDArray[np.int64]) -> Moments:
    """`m.in_units`, with zeros for the k x k block of the targets: nobody reads it, and for many
    targets it would cost more than all else.
    """
    p, shift = m.p, m.exponent - exponent
    scatter = np.zeros(m.scatter.shape)
    scatter[:p] = times_power(m.scatter[:p], shift[:p, None] + shift)
    scatter[p:, :p] = scatter[:p, p:].T
    own = np.arange(p, len(shift))
    scatter[own, own] = np.ldexp(m.scatter[own, own], 2 * shift[p:])
    vectors = {v: np.ldexp(getattr(m, v), shift) for v in ("mean", "rounding", "mean_rounding")}
    return replace(m, scatter=scatter, exponent=exponent, **vectors)


def penalty(m: Moments, ridge: float | Array) -> Array:
    """ridge |w|^2, or sum ridge_j w_j^2, on weights in the units of m."""
    if isinstance(ridge, float) and ridge == 0.0:
        return np.zeros(m.p)
    with np.errstate(over="ignore"):  # columns of 1e-160; the factorisation says what to do
        return np.asarray(np.ldexp(ridge, -2 * m.exponent[: m.p]), dtype=np.float64)


def coupling(m: Moments) -> Array:
    """Bound on sqrt(n) |exact mean - mean|: how far the centred columns are from centred."""
    return np.asarray(np.sqrt(m.weight) * m.mean_rounding[: m.p])


def normal_equations(m: Moments, intercept: bool, ridge: float | Array) -> Normal | None:
    """By Cholesky of S + ridge; None where it is not positive definite."""
    m = in_unit_columns(m, intercept)
    p = m.p
    D = penalty(m, ridge)
    G = m.scatter[:p, :p].copy()
    G.flat[:: p + 1] += D
    W = inverse_cholesky(G.T)  # which is G in the order of LAPACK
    if W is None:
        return None
    of_sums = contraction(G, W, m.rounding[:p])
    alpha = contraction_with_ones(of_sums, W, coupling(m))
    return Normal(m, D, W, alpha, condition(W), intercept, True, of_sums)


def triangle_equations(
    m: Moments, rows: Rows, intercept: bool, ridge: float | Array
) -> Normal | None:
    """By the triangle of a QR factorisation; None where columns are dependent."""
    m = in_unit_columns(m, intercept)
    D = penalty(m, ridge)
    R = triangle(m, rows, intercept)[: m.p, : m.p]
    if np.any(ridge):
        R = triangle_of(np.vstack([R, np.diag(np.sqrt(D))]))
    if not np.isfinite(R).all() or rank_of(R) < m.p:
        return None
    W = inverse_triangle(R)
    if W is None:
        return None
    alpha = contraction_by_rows(m, rows, W, D, intercept)
    return Normal(m, D, W, alpha, condition(R), intercept, from_moments=False)


def triangle(m: Moments, rows: Rows, intercept: bool) -> Array:
    """R of (x, y) about the means, or about zero, in the units of m."""
    t = Triangle.of(rows.X, rows.Y, rows.omega if len(rows.omega) else None)
    t = t.in_units(m.exponent)
    return t.centred() if intercept else t.about_zero()


def rank_of(R: Array) -> int:
    """Independent columns among those of R, each taken at unit length."""
    length = np.linalg.norm(R, axis=0)
    with np.errstate(invalid="ignore"):  # infinite columns are refused below
        unit = R / np.where(length > 0, length, 1.0)
    _, s, _ = singular(unit)
    return int(np.count_nonzero(s > rank_tolerance(R) * s.max(initial=0.0)))


def rank_tolerance(R: Array) -> float:
    """Singular values below this share of the largest are rounding noise of the factorisation."""
    return float(8 * np.sqrt(R.shape[1]) * UNIT)


def contraction_by_rows(m: Moments, rows: Rows, W: Array, D: Array, intercept: bool) -> float:
    """alpha from B = ((x - mean) W, 1 / sqrt(n)), formed tile by tile."""
    p, n = m.p, rows.X.shape[0]
    scale, size = np.ldexp(1.0, -m.exponent), tile_rows(m.p + m.targets)
    K = np.zeros((p + intercept, p + intercept), order="F")
    B = np.empty((min(size, n), p + intercept))
    for tile in tiles(rows.X, rows.Y, np.sqrt(rows.omega), scale, m.mean, size):
        b = B[: len(tile)]
        np.matmul(tile[:, :p], W, out=b[:, :p])
        if intercept:
            np.divide(tile[:, -1], np.sqrt(m.weight), out=b[:, p])
        K = add_gram(K, b)
    lengths = np.sqrt(np.diag(m.scatter)[:p]) + m.rounding[:p]
    return contraction_of_rows(symmetric(K), W, lengths, D, min(size, n) + n // size + 16)
