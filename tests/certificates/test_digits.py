"""Bounds on digits hold whatever is put in: bad factors prove less, never something false."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adaline.certificates.digits import (
    cholesky_defect,
    triangle_defect,
)
from adaline.linalg import cholesky, inverse_triangle
from adaline.procedures.least_squares import Factor, from_moments, unit_columns
from adaline.procedures.refinement import Problem, refine
from adaline.sums.moments import Moments
from adaline.sums.rows import Rows
from reference import exact_least_squares


@pytest.mark.parametrize("spoil", [0.0, 1e-6, 1e-2, 0.3])
@pytest.mark.parametrize("corrections", [0, 1, 3])
def test_any_factor_gives_a_true_bound_or_none(rng, spoil, corrections):
    X, y = rng.standard_normal((30, 3)), rng.standard_normal(30)
    t = Rows.of(X, y)
    u, D = unit_columns(Moments.of(X, y), True)
    good = Factor.of(u, D)
    V = good.V * (1 + spoil * rng.standard_normal((3, 3)))
    S, rho = u.scatter[:3, :3], u.rounding[:3]
    sizes = np.sqrt(np.diag(S)) + rho
    alpha = triangle_defect(V.T @ S @ V, 30, V, sizes, D, u.mean_rounding[:3] * np.sqrt(30))
    alpha = min(alpha + float(np.sum((rho @ np.abs(V)) ** 2)), 1.0)
    problem, factor = Problem.of(u, D, True), Factor(V, alpha, 1.0, 0.0)
    scale = np.ldexp(1.0, -u.exponent)

    def gradients(on, theta, low):
        return t.gradient(scale, on, theta, low)

    def never(s):
        return np.zeros(1, dtype=bool)

    s = from_moments(u, problem, good if spoil else factor)
    s.theta[:3] *= 1 + 1e-9 * rng.standard_normal((3, 1))
    s.bound[:] = np.inf
    s = refine(problem, factor, gradients, s, never, corrections)
    exact = exact_least_squares(X * scale[:3], y * scale[3])
    for high, low, truth, bound in zip(
        s.theta[:, 0], s.low[:, 0], exact, s.bound[:, 0], strict=True
    ):
        found = Fraction(float(high)) + Fraction(float(low))
        assert not np.isfinite(bound) or abs(found - truth) <= Fraction(float(bound))
    if corrections:
        assert np.isfinite(s.bound).all() == (alpha < 1)


def exact_defect(G, W):
    """|W'GW - I| in Frobenius norm, squared, without rounding."""
    G, W = ([[Fraction(x) for x in row] for row in A.tolist()] for A in (G, W))
    p = len(G)
    GW = [[sum(G[i][k] * W[k][j] for k in range(p)) for j in range(p)] for i in range(p)]
    E = [[sum(W[k][i] * GW[k][j] for k in range(p)) - (i == j) for j in range(p)] for i in range(p)]
    return sum(e * e for row in E for e in row)


def gram_matrices():
    """Positive definite matrices, of good and bad condition, in even and in uneven units."""
    rng = np.random.default_rng(5)
    for p in (1, 2, 3, 5, 8):
        A = rng.standard_normal((3 * p, p))
        hilbert = 1.0 / (np.arange(p)[:, None] + np.arange(p) + 1.0)
        graded = A.T @ A * np.multiply.outer(10.0 ** -np.arange(p), 10.0 ** -np.arange(p))
        for G in (A.T @ A, hilbert, graded, A.T @ A + np.diag(10.0 ** np.arange(0, 2 * p, 2))):
            yield (G + G.T) / 2


def test_the_defect_of_a_cholesky_factor_covers_what_rounding_hides():
    for G in gram_matrices():
        R = cholesky(G)
        V = None if R is None else inverse_triangle(R)
        if V is None:
            continue
        alpha = cholesky_defect(np.diagonal(G), V, np.zeros(len(G)))
        assert alpha == 1.0 or Fraction(alpha) ** 2 >= exact_defect(G, V)


def test_the_defect_of_a_cholesky_factor_covers_what_is_not_known_of_a_matrix(rng):
    A = rng.standard_normal((20, 4))
    G, rho = A.T @ A, 1e-4 * rng.random(4)
    R = cholesky(G)
    V = inverse_triangle(R)
    alpha = cholesky_defect(np.diagonal(G), V, rho)
    for signs in (np.ones(4), rng.choice([-1.0, 1.0], 4)):
        other = G + np.multiply.outer(rho * signs, rho * signs)
        assert np.linalg.norm(V.T @ other @ V - np.eye(4), 2) <= alpha


def test_a_factor_without_a_proof_proves_nothing():
    assert cholesky_defect(np.ones(2), np.full((2, 2), 1e200), np.zeros(2)) == 1.0
    assert triangle_defect(np.full((2, 2), np.nan), 1, np.eye(2), *np.zeros((3, 2))) == 1.0
