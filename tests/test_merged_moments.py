"""Bounds of merged moments cover the doubts of their parts: checked where the bounds are tight.

Parts are written by hand, with doubts of our choice and the worst errors these admit, so that a
term missing in a bound is seen. Errors of rounding alone are so much smaller than their bounds that
they would not show it.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import sparse

import adaline.sums.moments
from adaline import Moments
from test_moments import within_its_bounds


def part(weight, mean, scatter, mean_doubt, doubt, rows=5):
    """Moments of one target and no features, in doubt by so much."""
    numbers = (np.array([float(number)]) for number in (mean, doubt, mean_doubt))
    mean, rounding, mean_rounding = numbers
    zero = np.zeros(1, dtype=np.int64)
    return Moments(
        rows, float(weight), mean, np.array([[float(scatter)]]), zero, rounding, mean_rounding, 1
    )


def components(m, some):
    """Some of the components, the last of them a target."""
    parts = (m.mean, m.scatter[:, some], m.exponent, m.rounding, m.mean_rounding)
    return Moments(m.rows, m.weight, *(a[some] for a in parts), 1)


def merged(a, b, sign=1):
    """Weight, mean and scatter (Fractions) of both, or of a without b."""
    (n, x, s), (m, y, t) = a, b
    total = n + sign * m
    mean = (n * x + sign * m * y) / total
    return total, mean, s + sign * t + sign * Fraction(n * m, total) * (x - y) ** 2


def check(found, exact):
    _, mean, scatter = exact
    assert abs(Fraction(found.mean[0]) - mean) <= Fraction(found.mean_rounding[0])
    assert abs(Fraction(found.scatter[0, 0]) - scatter) <= Fraction(found.rounding[0]) ** 2


WEIGHTS = [(Fraction(2), Fraction(5)), (Fraction(1, 8), Fraction(1, 4))]
SIGNS = list(product((-1, 1), repeat=2))


@pytest.mark.parametrize(("n", "m"), WEIGHTS)
@pytest.mark.parametrize("unsure", SIGNS)
@pytest.mark.parametrize("doubt", [Fraction(1, 2), Fraction(1, 64)])
def test_a_sum_is_in_doubt_by_what_its_parts_are(n, m, unsure, doubt):
    a, b = (n, Fraction(10), Fraction(3)), (m, Fraction(11), Fraction(7))
    # The bounds cover the worst means and scatters that the doubts allow, in all directions.
    for s in (-1, 1):
        parts = [
            part(w, x + side * doubt, t + s * doubt**2, doubt, doubt)
            for (w, x, t), side in zip((a, b), unsure, strict=True)
        ]
        check(parts[0] + parts[1], merged(a, b))


@pytest.mark.parametrize(("n", "m"), WEIGHTS)
@pytest.mark.parametrize("unsure", SIGNS)
@pytest.mark.parametrize("doubt", [Fraction(1, 2), Fraction(1, 64)])
def test_a_difference_is_in_doubt_by_what_its_parts_are(n, m, unsure, doubt):
    left, gone = (n, Fraction(10), Fraction(30)), (m, Fraction(11), Fraction(7))
    whole = merged(left, gone)
    for s in (-1, 1):
        a, b = (
            part(w, x + side * doubt, t + s * doubt**2, doubt, doubt, rows)
            for (w, x, t), side, rows in zip((whole, gone), unsure, (9, 5), strict=True)
        )
        # The mean of the whole is a fraction, and rounded once more.
        a.mean_rounding[0] += 2.0**-50
        check(a - b, left)


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("doubt", [Fraction(0), Fraction(1, 64), Fraction(1, 2)])
@pytest.mark.parametrize("mean", [Fraction(1, 4), Fraction(3)])
def test_about_zero_the_doubt_of_the_mean_becomes_one_of_the_scatter(side, doubt, mean):
    n = Fraction(1, 4)
    found = part(n, mean + side * doubt, 2, doubt, 0).about_zero()
    check(found, (n, Fraction(0), 2 + n * mean**2))


@pytest.mark.parametrize("roundings", [0, 4])
def test_about_zero_a_mean_that_is_right_to_rounding_leaves_a_scatter_that_is(rng, roundings):
    """Doubts of a few roundings, where the two terms of the bound are about equal."""
    for mean in rng.uniform(50.0, 300.0, 50):
        doubt = Fraction(mean) * roundings / 2**53
        n = Fraction(rng.uniform(1.0, 9.0))
        for side in (-1, 1):
            found = part(n, mean, 0, doubt, 0).about_zero()
            check(found, (n, Fraction(0), n * (Fraction(mean) + side * doubt) ** 2))


def test_parts_without_any_doubt_are_merged_within_rounding(rng):
    """Small whole numbers are exact, so that only the merge itself is rounded."""
    for _ in range(300):
        (n, m), (x, y), (s, t) = (
            rng.integers(1, 99, 2),
            rng.integers(-9, 9, 2),
            rng.integers(9, size=2),
        )
        a, b = (
            (Fraction(int(w)), Fraction(int(u)), Fraction(int(v)))
            for w, u, v in zip((n, m), (x, y), (s, t), strict=True)
        )
        check(part(*a, 0, 0) + part(*b, 0, 0), merged(a, b))
        # The whole is exact where the weight of both is a power of two.
        b = (64 * a[0] - a[0], b[1], b[2])
        whole = merged(a, b)
        check(part(*whole, 0, 0, rows=9) - part(*b, 0, 0), a)


def test_the_worst_rounding_of_many_merges_is_within_the_bound():
    """Of 20,000 random pairs this one rounds most: by 7.6 units of 2**-53, of 19 in the bound."""
    n, m, x, y = 0.5066842768296931, 2.5804481372790242, 0.3812086490259572, 2.494521665973199
    a, b = (Fraction(n), Fraction(x), Fraction(0)), (Fraction(m), Fraction(y), Fraction(0))
    check(part(*a, 0, 0) + part(*b, 0, 0), merged(a, b))


def test_what_is_known_exactly_stays_so():
    """A constant of several blocks has no scatter, no doubt, and can be forgotten."""
    whole = part(2, 3, 0, 0, 0) + part(1, 3, 0, 0, 0)
    left = whole - part(1, 3, 0, 0, 0)
    for m in (whole, left):
        assert (m.mean[0], m.scatter[0, 0], m.mean_rounding[0], m.rounding[0]) == (3, 0, 0, 0)


def test_squares_negative_within_their_doubt_are_zero_and_beyond_it_refused():
    whole = part(4, 0, 1, 0, 0, rows=9)
    assert (whole - part(2, 0, 1 + 5e-5, 0, 1e-2)).scatter[0, 0] == 0.0
    with pytest.raises(ValueError, match="component 0 with a negative sum of squares"):
        whole - part(2, 0, 1 + 2e-4, 0, 1e-2)


def test_weights_may_miss_zero_by_rounding_when_all_rows_are_forgotten():
    whole = part(1e6, 0, 1, 0, 1)
    assert (whole - part(1e6 * (1 + 1e-10), 0, 1, 0, 1)).weight == 0.0
    with pytest.raises(ValueError, match="cannot forget"):
        whole - part(1e6 * (1 + 1e-8), 0, 1, 0, 1)


def test_rows_that_are_left_have_weight():
    whole = part(1, 0, 1, 0, 1, rows=9)
    assert (whole - part(0.75, 0, 0.5, 0, 1)).weight == 0.25
    for rows in (5, 8):
        with pytest.raises(ValueError, match="cannot forget"):
            whole - part(1, 0, 0.5, 0, 1, rows)


def test_more_columns_than_sums_can_hold_are_refused(monkeypatch):
    with pytest.raises(ValueError, match=r"their 40000 x 40000 sums would take 12 GiB"):
        Moments.of(sparse.csr_array((1, 40_000)))
    with pytest.raises(ValueError, match="X has 30000 columns; their 30001 x 30001 sums"):
        Moments.of(sparse.csr_array((1, 30_000)), [1.0])
    monkeypatch.setattr(adaline.sums.moments, "MOST", 3)
    assert Moments.of([[1.0, 2.0]], [1.0]).p == 2
    with pytest.raises(ValueError, match="their 4 x 4 sums"):
        Moments.of([[1.0, 2.0, 3.0]], [1.0])


def test_a_scatter_beyond_float64_is_refused_even_if_the_mean_is_not():
    with pytest.raises(ValueError, match="leave the range of float64"):
        Moments.of([[1.9], [-1.9]], None, [8e307, 8e307])


def test_moments_of_nothing():
    m = Moments.empty(2)
    assert (m.rows, m.weight, m.p, m.targets) == (0, 0.0, 2, 0)
    m = Moments.empty(2, 3)
    assert (m.p, m.targets, m.mean.shape, m.scatter.shape) == (2, 3, (5,), (5, 5))
    assert not any(a.any() for a in (m.mean, m.scatter, m.exponent, m.rounding, m.mean_rounding))


def test_other_units_inside_are_the_user_s_units_outside():
    A = np.array([[1e-160, 1000.0], [-1e-160, 3000.0], [2e-160, 2000.0]])
    m = Moments.of(A)
    assert m.exponent[0], "the first column is in other units"
    mean, squares = m.mean_and_squares()
    assert mean[1] == m.mean_x[1] == 2000.0
    assert squares[1] == m.scatter_xx[1, 1] == pytest.approx(2e6, rel=1e-14)
    assert m.scatter_xx[0, 1] == pytest.approx(-2e-157, rel=1e-12, abs=0.0)
    assert m.mean_and_squares(about_zero=True)[1][1] == pytest.approx(14e6, rel=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
def test_products_of_many_targets_are_left_away_and_nothing_else(rng, weighted):
    X, Y = np.round(rng.standard_normal((90, 3)), 2) + 5, np.round(rng.standard_normal((90, 65)), 2)
    omega = rng.integers(0, 3, 90).astype(float) if weighted else None
    apart = Moments.of(X, Y, omega)
    known = np.ones((68, 68), dtype=bool)
    known[3:, 3:] = np.eye(65, dtype=bool)
    assert np.array_equal(np.isnan(apart.scatter), ~known)
    assert apart.targets == 65
    some = [0, 1, 2, 40]
    assert within_its_bounds(components(apart, some), np.column_stack([X, Y])[:, some], omega)


def test_more_columns_than_our_own_loop_takes_are_within_their_bounds(rng):
    A = np.round(rng.standard_normal((70, 66)), 1) + np.arange(66)
    m = Moments.of(A[:, :65], A[:, 65])
    some = [0, 30, 65]
    assert within_its_bounds(components(m, some), A[:, some])


def test_products_with_tiny_weights_lose_no_more_than_the_bounds_say(rng):
    """They are below float64's normal range, where digits go; means of squares are within it."""
    A = np.round(rng.standard_normal((40, 2)), 3) * 1e-33
    weights = np.round(rng.random(40) + 0.5, 2) * 1e-253
    m = Moments.of(A[:, :1], A[:, 1], weights)
    assert not m.exponent.any(), "the numbers themselves are in good units"
    assert within_its_bounds(m, A, weights)


@pytest.mark.parametrize("unit", [1e-145, 1e145])
@pytest.mark.parametrize("weight", [1e-60, 1e60])
def test_units_are_judged_by_means_of_squares_whatever_the_weights(rng, unit, weight):
    A, weights = rng.standard_normal((9, 1)), np.full(9, weight)
    assert Moments.of(A * unit, None, weights).exponent.any()
    assert not Moments.of(A * unit ** (1 / 4), None, weights).exponent.any()
