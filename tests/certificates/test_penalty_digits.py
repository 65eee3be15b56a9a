"""Bounds from penalties hold for any step, and each of their parts is needed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from adaline import Moments
from adaline.certificates.penalty_digits import PenalisedColumns
from adaline.linalg import UNIT
from reference import exact_least_squares, exact_moments, solve_exactly


def columns_of(X, y, D, intercept=True, weights=None):
    m = Moments.of(X, y, weights)
    m = m if intercept else m.about_zero()
    lengths = np.append(np.linalg.norm(X, axis=0), np.sqrt(m.weight)) * 1.01
    return PenalisedColumns.of(m, np.asarray(D, dtype=float), lengths, intercept)


def kinds_of_rows(rng):
    """Rows of few columns: well and badly conditioned, in uneven units, far from zero."""
    for p in (1, 2, 4):
        X = rng.standard_normal((9, p))
        yield X
        yield np.vander(np.linspace(1.0, 2.0, 9), p + 1)[:, :p]
        yield X * 10.0 ** -np.arange(p)
        yield X + 1e5
        yield np.repeat(X[:, :1], p, axis=1)  # only the penalty tells these columns apart


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("share", [1.0, 1e-4])
def test_any_step_leaves_no_more_than_its_bound(rng, intercept, share):
    """Good steps, bad ones and none, beside the exact weights in rational arithmetic."""
    for X in kinds_of_rows(rng):
        n, p = X.shape
        y = rng.standard_normal(n) + 3.0
        alpha = float(share * (X**2).sum())
        c = columns_of(X, y, np.full(p, alpha), intercept)
        exact = exact_least_squares(X, y, intercept=intercept, ridge=alpha)
        w, b = rng.standard_normal(p), float(intercept)
        at = [Fraction(v) for v in [*w, b]]
        left = [
            Fraction(y[i]) - sum(Fraction(a) * v for a, v in zip([*X[i], 1.0], at, strict=True))
            for i in range(n)
        ]
        mean = [Fraction(float(a)) for a in c.m.mean[:p]]
        total = sum(left)
        pulls = [
            sum((Fraction(x) - mean[j] * intercept) * r for x, r in zip(X[:, j], left, strict=True))
            - Fraction(alpha) * Fraction(w[j])
            for j in range(p)
        ]
        g = np.array([float(v) for v in [*pulls, total if intercept else 0]])
        noise = c.noise(g, g[:p], np.append(w, b), 0.0)
        G = c.S + np.diag(c.D)
        for d in (np.linalg.solve(G, g[:p]), np.zeros(p), rng.standard_normal(p)):
            step = np.append(d, 0.0)
            step[p] = g[p] / n - c.m.mean[:p] @ d if intercept else 0.0
            rest = g[:p] - c.S @ d - c.D * d
            bounds, _ = c.after_step(g, noise, 0.0, step, rest)
            moved = [Fraction(v) + Fraction(s) for v, s in zip([*w, b], step, strict=True)]
            for at, truth, bound in zip(moved, exact, bounds, strict=False):
                assert abs(at - truth) <= Fraction(float(bound))


def one_column(squares=1.0, D=1.0, weight=4.0, mean=0.0, mean_rounding=0.0, rounding=0.0):
    """x with these moments about its mean, and y of which nothing is asked."""
    two = {
        "mean": np.array([mean, 0.0]),
        "scatter": np.diag([squares, 1.0]),
        "rounding": np.array([rounding, 0.0]),
        "mean_rounding": np.array([mean_rounding, 0.0]),
    }
    m = replace(Moments.empty(1, 1), rows=4, weight=weight, **two)
    return PenalisedColumns.of(m, np.array([D]), np.array([1.0, 2.0]), True)


def bounds_of(c, g=(0.0, 0.0), noise=(0.0, 0.0), doubt=0.0, d=(0.0, 0.0), left=0.0):
    given = np.array(g), np.array(noise), doubt, np.array(d), np.array([left])
    return c.after_step(*given)[0]


def test_every_part_of_a_bound_is_there():
    """Each case is an error that one part alone covers; what is expected is the truth."""
    # No step, and nearly no scatter: the whole of g / (S + D) is left.
    assert 2.0 <= bounds_of(one_column(1e-9, D=0.5), g=(1.0, 0.0), left=1.0)[0] <= 2.03
    # g is wrong by its noise.
    assert 2.0 <= bounds_of(one_column(1e-9, D=0.5), noise=(1.0, 0.0))[0] <= 2.03
    # Residuals wrong by f, |f| = doubt: x'f / (S + D) with x along f, at S = D.
    assert bounds_of(one_column(0.25, D=0.25), doubt=1.0)[0] >= 1.0
    # S is wrong by rounding^2, so that a step of 1 leaves that much.
    c = one_column(1e-9, D=0.5, rounding=0.1)
    assert 0.01 / 0.51 <= bounds_of(c, d=(1.0, 0.0))[0] <= 0.03
    # A bias has the errors of the weights times the mean ...
    c = one_column(1e-9, D=1.0, mean=3.0, mean_rounding=0.5)
    assert bounds_of(c, left=1.0)[1] >= 3.5
    # ... a step times the error of the mean ...
    assert bounds_of(c, d=(1.0, 0.0))[1] >= 0.5
    # ... the error of the sum of residuals, and of the residuals themselves, of their number.
    c = one_column()
    assert 0.25 <= bounds_of(c, noise=(0.0, 1.0))[1] <= 0.26
    assert bounds_of(c, doubt=1.0)[1] >= 0.5
    # A mean that is not exact leaves that much of the sum of residuals in g.
    c = one_column(mean_rounding=0.5)
    assert c.noise(np.array([0.0, 3.0]), np.zeros(1), np.zeros(2), 0.0)[0] >= 1.5
    # Sums are each within far times their column's length; that of ones counts with the mean, too.
    c = one_column(mean=-7.0)
    found = c.noise(np.zeros(2), np.zeros(1), np.zeros(2), 1.0)
    assert found[0] >= 1.0 + 7.0 * 2.0
    assert found[1] >= 2.0
    # g is rounded once, and its parts are in twice the working precision.
    found = one_column().noise(np.array([1.0, 0.0]), np.ones(1), np.ones(2), 0.0)
    assert UNIT <= found[0] <= 1.01 * UNIT
    for sums, theta in (((1e9, 0.0), 0.0), ((0.0, 1e9), 0.0), ((0.0, 0.0), 1e9)):
        found = c.noise(np.array(sums), np.zeros(1), np.array([theta, 0.0]), 0.0)
        assert found[0] >= 4 * UNIT**2 * 1e9
    # The low part of the sum of residuals is left away, and its step of the bias is rounded.
    assert c.noise(np.array([0.0, 1.0]), np.zeros(1), np.zeros(2), 0.0)[1] >= UNIT
    assert bounds_of(c, g=(0.0, 4.0), d=(0.0, 1.0))[1] >= 3 * UNIT
    assert bounds_of(c, d=(1.0, -7.0))[1] >= 3 * UNIT * 7.0


def test_every_rounding_of_what_a_step_leaves_counts():
    """g - S d - D d of one column: two subtractions and two products, each rounded once."""
    three = ((1.0, 0.0, 1.0), 2.0), ((0.0, 4.0, 1.0), 3.0), ((0.0, 1e-9, 9.0), 2.0)
    for (g, squares, D), times in three:
        c, d = one_column(squares, D), np.array([float(g == 0.0), 0.0])
        rest = c.after_step(np.array([g, 0.0]), np.zeros(2), 0.0, d, np.zeros(1))[1]
        assert rest * np.sqrt(D) >= times * UNIT * max(g, squares, D * d[0])
    # A sum of residuals that is not exact counts with the error of the mean, too.
    c = one_column(mean_rounding=0.5)
    assert c.noise(np.zeros(2), np.zeros(1), np.zeros(2), 1.0)[0] >= 1.0 + 0.5 * 2.0
    # Products below float64's range are lost without a trace.
    assert one_column().noise(np.zeros(2), np.zeros(1), np.zeros(2), 0.0)[0] > 0.0


def test_no_part_counts_without_a_bias():
    c = replace(one_column(mean=3.0), intercept=False)
    assert bounds_of(c, g=(1.0, 5.0), noise=(1.0, 1.0), doubt=1.0, left=1.0)[1] == 0.0


def test_rounding_hides_part_of_what_a_step_leaves(rng):
    """g - (S + D) d is computed in float64: where it cancels, its rounding is all that is left."""
    hidden = 0
    for _ in range(40):
        p = 6
        X = np.round(rng.standard_normal((12, p)), 1)
        y = rng.standard_normal(12)
        c = columns_of(X, y, rng.uniform(0.5, 2.0, p))
        c = replace(c, m=replace(c.m, rounding=np.zeros(p + 1)))  # so that S is what it is
        g = rng.standard_normal(p + 1)
        d = np.append(np.linalg.solve(c.S + np.diag(c.D), g[:p]), 0.0)
        left = g[:p] - c.S @ d[:p] - c.D * d[:p]
        rest = [
            Fraction(g[j])
            - sum(Fraction(c.S[j, i]) * Fraction(d[i]) for i in range(p))
            - Fraction(c.D[j]) * Fraction(d[j])
            for j in range(p)
        ]
        truth = sum(r * r / Fraction(v) for r, v in zip(rest, c.D, strict=True))
        found = c.after_step(g, np.zeros(p + 1), 0.0, d, left)[1]
        assert truth <= Fraction(found) ** 2
        hidden += truth > sum(
            Fraction(v) ** 2 / Fraction(s) for v, s in zip(left, c.D, strict=True)
        )
    assert hidden >= 3


def test_the_error_of_weights_is_that_of_the_exact_scatter(rng):
    """S as computed is not S; what rounding may have done to it is part of the bound."""
    X, y = rng.standard_normal((9, 2)) + 1e7, rng.standard_normal(9)
    c = columns_of(X, y, [0.1, 0.1])
    _, _, scatter = exact_moments(np.column_stack([X, y]))
    G = [[scatter[i][j] + Fraction(0.1) * (i == j) for j in range(2)] for i in range(2)]
    e = solve_exactly(G, [Fraction(1), Fraction(-1)])
    d = np.append([float(v) for v in e], 0.0)
    left = np.array([1.0, -1.0]) - c.S @ d[:2] - c.D * d[:2]
    bounds, _ = c.after_step(np.array([1.0, -1.0, 0.0]), np.zeros(3), 0.0, d, left)
    assert np.all(bounds[:2] > 0)
    for at, truth, bound in zip(d, e, bounds, strict=False):
        assert abs(Fraction(at) - truth) <= Fraction(float(bound))
