"""The gap that a gradient proves is never less than the distance from the least loss."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.certificates.strong_convexity import Gap, RowSizes, certificate_of, gap_of
from adaline.linalg import UNDERFLOW, UNIT
from adaline.procedures.sparse_logistic.gradient_sums import (
    GradientSums,
    in_own_units,
    sizes_of,
)
from reference_wide_logistic import minimum, penalised_loss, wide_data


def proven(theta, X, y, alpha, intercept):
    K = len(theta)
    target = 2.0 * y - 1.0 if K == 1 else y
    sums = GradientSums.of(in_own_units(X, target, np.empty(0), K, intercept), theta)
    g = sums.g + alpha * np.column_stack([theta[:, :-1], np.zeros(K)])
    sizes = sizes_of(X, np.empty(0))
    return gap_of(g, sums.curvature, sums.reach, sizes, theta, alpha)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("rare", [False, True])
def test_the_gap_is_never_below_the_truth_and_not_far_above_it(rng, K, intercept, rare):
    X, y = wide_data(rng, n=120, p=60, K=K, each=6)
    if rare:  # one row has the last class
        y[y == K - 1] = 0
        y[7] = K - 1
    best, least = minimum(X, y, 0.7, intercept)
    for size in (3.0, 0.3, 1e-2, 1e-3, 1e-4, 1e-6):
        for at in ("weights", "bias", "both"):
            d = size * rng.standard_normal(best.shape)
            d[:, -1] *= intercept and at != "weights"
            d[:, :-1] *= at != "bias"
            theta = best + d
            gap = proven(theta, X, y, 0.7, intercept)
            f = penalised_loss(theta, X, y, 0.7, intercept)[0]
            truth = f - least
            assert gap.gap >= truth - 1e-12 * f
            assert gap.distance >= np.linalg.norm(d[:, :-1]) - 1e-9
            if size <= 1e-4:  # loss of curvature 0.7 to 100 or so, and its square
                assert gap.gap <= 3e4 * truth + 1e-12 * f


def test_where_the_bias_may_be_anywhere_nothing_is_proven(rng):
    X, y = wide_data(rng, n=50, p=20)
    theta = np.zeros((1, 21))
    theta[0, -1] = 30.0  # all curvature is gone
    assert proven(theta, X, y, 1.0, True).gap == np.inf


def test_values_so_large_that_rounding_may_hide_all_prove_nothing(rng):
    X, y = wide_data(rng, n=50, p=20)
    theta = np.zeros((1, 21))
    theta[0, :-1] = 1e13 * rng.standard_normal(20)
    found = proven(theta, X, y, 1.0, True)
    assert found.gap == np.inf or found.gap >= 1e26 / 2


def test_rounding_of_long_sums_is_part_of_the_gap(rng):
    X, y = wide_data(rng, n=200, p=40)
    best, _ = minimum(X, y)
    small = proven(best, X, y, 1.0, True)
    assert 0.0 < small.rounding <= small.gap
    units = np.append(np.full(40, 1e-6), 1.0)
    large = proven(best * units, X * 1e6, y, 1e12, True)  # the same loss in other units
    assert large.gap == pytest.approx(small.gap, rel=1e-2, abs=0.0)


# Each number by hand.


def sizes(**change):
    """No rows, but for what is given."""
    nothing = dict.fromkeys(
        ("weight", "lengths", "terms", "terms_lengths", "terms_squares", "longest", "most"), 0.0
    )
    return RowSizes(**({"n": 0, "blocks": 0, "deepest": 0} | nothing | change))


def test_sizes_of_rows_are_sums_and_largest():
    squares, entries = np.array([4.0, 9.0, 0.0]), np.array([1, 2, 0])
    one = RowSizes.of(squares, entries, np.array([1.0, 2.0, 0.5]))
    assert one == RowSizes(3, 1, 3.5, 8.0, 19.0, 46.0, 128.0, 3.0, 6.0, 3)
    bare = RowSizes.of(squares[:1], entries[:1], np.empty(0))
    assert bare == RowSizes(1, 1, 1.0, 2.0, 5.0, 10.0, 20.0, 2.0, 5.0, 1)
    assert one + bare == RowSizes(4, 2, 4.5, 10.0, 24.0, 56.0, 148.0, 3.0, 6.0, 3)
    assert bare + one == one + bare


@pytest.mark.parametrize(
    ("given", "of_W", "of_b", "of_v"),
    [
        # sqrt(2) (deepest + blocks + K + 24) roundings of sums, times |x| or 1
        ({"deepest": 10, "blocks": 3, "lengths": 2.0}, 2 * np.sqrt(2) * 38, 0.0, 0.0),
        ({"deepest": 10, "blocks": 3, "weight": 2.0}, 0.0, 2 * np.sqrt(2) * 38, 0.0),
        # half of (m + 4) (|w| |x| + |b|) a row; |w| is 5 and |b| is 13
        ({"terms_squares": 2.0}, 5.0, 0.0, 0.0),
        ({"terms_lengths": 2.0}, 13.0, 5.0, 0.0),
        ({"terms": 2.0}, 0.0, 13.0, 0.0),
        ({"most": 6.0, "longest": 3.0}, 0.0, 0.0, 6 * (5 * 3 + 13)),
    ],
)
def test_roundings_are_counted_by_the_sizes_of_rows(given, of_W, of_b, of_v):
    W, b = np.array([[3.0], [4.0]]).T.reshape(1, 2), np.array([13.0])
    found = sizes(**given).rounding(W, b, 0.0)
    np.testing.assert_allclose(found, 1.01 * UNIT * np.array([of_W, of_b, of_v]), rtol=1e-12)
    K = np.array([[3.0, 0.0], [0.0, 4.0]]), np.array([5.0, 12.0])  # the same of two classes
    two = sizes(**given).rounding(*K, 0.0)
    grown = 39 / 38 if "deepest" in given else 1.0
    expected = 1.01 * UNIT * np.array([of_W * grown, of_b * grown, of_v])
    np.testing.assert_allclose(two, expected, rtol=1e-12)


def test_penalties_and_underflow_are_part_of_the_roundings():
    W = np.array([[3.0, 4.0]])
    of_W, of_b, _ = sizes().rounding(W, np.zeros(1), 2.0)
    np.testing.assert_allclose(of_W, 1.01 * UNIT * 4 * 2 * 5)
    assert of_b == 0.0
    lost = sizes(n=7).rounding(W, np.zeros(1), 0.0)
    np.testing.assert_allclose(lost[:2], 7 * UNDERFLOW * np.sqrt(3))


NOTHING = sizes()


def test_without_a_bias_the_slope_alone_bounds_the_gap():
    """f - f* <= |g|^2 / (2 alpha), |W - W*| <= |g| / alpha."""
    g, theta = np.array([[3.0, 4.0, 99.0]]), np.zeros((1, 3))
    found = gap_of(g, np.empty((0, 0)), 0.0, NOTHING, theta, 0.5)
    assert found.gap == pytest.approx(1.01**3 * 25.0, rel=1e-9)
    assert found.distance == pytest.approx(1.01**2 * 10.0, rel=1e-9)
    assert found.rounding == 0.0
    off = sizes(lengths=1e9, blocks=1, deepest=100)
    hidden = off.rounding(theta[:, :-1], theta[:, -1], 0.5)[0]
    found = gap_of(0 * g, np.empty((0, 0)), 0.0, off, theta, 0.5)
    np.testing.assert_allclose(found.rounding, (1.01 * hidden) ** 2)
    assert found.gap >= found.rounding
    np.testing.assert_allclose(found.distance, 1.01**2 * hidden / 0.5)
    rough = sizes(lengths=1e13, blocks=1, deepest=100)
    hidden = rough.rounding(theta[:, :-1], theta[:, -1], 0.5)[0]
    assert hidden > 0.1
    both = gap_of(g, np.empty((0, 0)), 0.0, rough, theta, 0.5)
    np.testing.assert_allclose(both.gap, 1.01**3 * (5.0 + hidden) ** 2)


@pytest.mark.parametrize("alpha", [0.0, -1.0, np.nan])
def test_without_a_penalty_nothing_is_proven(alpha):
    found = gap_of(np.ones((1, 2)), np.empty((0, 0)), 0.0, NOTHING, np.zeros((1, 2)), alpha)
    assert found.gap == found.distance == np.inf


@pytest.mark.parametrize("K", [1, 2])
def test_a_bias_moves_the_slope_by_as_much_as_its_curvature_allows(K):
    """nu = |g_b| / sqrt(h), delta = -log(1 - rho nu) / rho; |g_W| + exp(s) delta sqrt(R)."""
    # Of two classes there is no curvature along (1, 1), and 4 along (1, -1).
    H = np.array([[4.0]]) if K == 1 else 2.0 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    g = np.zeros((K, 2))
    g[:, -1] = [0.2] if K == 1 else [0.2 / np.sqrt(2), -0.2 / np.sqrt(2)]
    g[0, 0] = 0.3
    found = gap_of(g, H, 9.0, NOTHING, np.zeros((K, 2)), 0.5)
    h = 0.98 * 4.0
    rho = np.sqrt((1.0 if K == 1 else 2.0) / h)
    nu = 0.2 / 2.0
    delta = -np.log1p(-rho * nu) / rho
    slope = 0.3 + np.exp(rho * delta) * delta * 3.0
    for bound, truth in ((found.gap, nu * delta + slope**2), (found.distance, slope / 0.5)):
        assert truth <= bound <= 1.1 * truth


def test_a_bias_that_may_be_far_away_proves_nothing():
    H, theta = np.array([[1.0]]), np.zeros((1, 2))
    near, far = (gap_of(np.array([[0.0, g]]), H, 1.0, NOTHING, theta, 1.0) for g in (0.9, 1.1))
    assert np.isfinite(near.gap)
    assert far.gap == far.distance == np.inf
    for bad in (np.array([[0.0]]), np.array([[np.nan]]), np.array([[np.inf]])):
        assert gap_of(np.array([[0.0, 0.1]]), bad, 1.0, NOTHING, theta, 1.0).gap == np.inf
    assert gap_of(np.array([[np.nan, 0.1]]), H, 1.0, NOTHING, theta, 1.0).gap == np.inf
    # Values that may be off by a thousandth have curvatures that nobody knows.
    for most, finite in ((0.98e-3 / UNIT, True), (1.0e-3 / UNIT, False)):
        unsure = sizes(most=most, longest=0.0)
        theta = np.array([[0.0, 1.0]])
        gap = gap_of(np.array([[0.0, 0.1]]), H, 1.0, unsure, theta, 1.0).gap
        assert np.isfinite(gap) == finite


def test_a_gap_is_told_relative_to_the_loss():
    found = certificate_of(Gap(1.0, 0.25, 0.0), 4.0, 1.01 * 0.25, 7)
    assert found.kind == "optimal"
    assert found.evidence == {
        "relative_gap": 1.01 * 0.25,
        "value": 4.0,
        "passes": 7,
        "distance": 0.25,
    }
    assert found.statement == (
        "the penalised loss 4 is within 0.25 of its least value, relative to it, and |w - w*| is "
        "at most 0.25."
    )
    less = certificate_of(Gap(1.0, 0.25, 0.0), 4.0, 0.25, 7)
    assert less.kind == "unproven"
    assert less.statement.endswith("; 0.25 of the loss was wanted.")
    assert certificate_of(Gap(0.01, 0.0, 0.0), 0.5, 0.1, 1).kind == "optimal"
    for f in (0.0, np.inf, np.nan):
        assert certificate_of(Gap(0.0, 0.0, 0.0), f, 1.0, 1).kind == "unproven"


def test_roundings_are_those_of_all_weights_and_of_the_bias():
    off, theta = sizes(terms_squares=1e9, terms_lengths=1e9), np.array([[3.0, 4.0, 13.0]])
    hidden = off.rounding(theta[:, :2], theta[:, 2], 0.5)[0]
    np.testing.assert_allclose(hidden, 1.01 * UNIT * (0.5e9 * (5.0 + 13.0) + 4 * 0.5 * 5.0))
    found = gap_of(np.zeros((1, 3)), np.empty((0, 0)), 0.0, off, theta, 0.5)
    np.testing.assert_allclose(found.rounding, (1.01 * hidden) ** 2)


def test_at_the_minimum_underflow_is_left():
    found = gap_of(np.zeros((1, 2)), np.empty((0, 0)), 0.0, NOTHING, np.zeros((1, 2)), 0.5)
    assert found.distance == UNDERFLOW


@pytest.mark.parametrize(("largest", "finite"), [(1e8, True), (1e9, False)])
def test_a_curvature_that_rounding_of_a_larger_one_may_hide_is_none(largest, finite):
    """Eigenvalues 0, 1 and `largest`: a billionth of the last may be an error of the first."""
    u, v = np.array([1.0, -1.0, 0.0]) / np.sqrt(2), np.array([1.0, 1.0, -2.0]) / np.sqrt(6)
    H = np.outer(u, u) + largest * np.outer(v, v)
    g = np.column_stack([np.zeros(3), 1e-3 * u])
    found = gap_of(g, H, 1.0, NOTHING, np.zeros((3, 2)), 1.0)
    assert np.isfinite(found.gap) == finite


@pytest.mark.parametrize("alpha", [0.125, 2.0])
def test_a_larger_penalty_leaves_less_room(alpha):
    rough, theta = sizes(lengths=1e13, blocks=1, deepest=100), np.zeros((1, 2))
    hidden = rough.rounding(theta[:, :1], theta[:, 1], alpha)[0]
    found = gap_of(np.array([[3.0, 0.0]]), np.empty((0, 0)), 0.0, rough, theta, alpha)
    np.testing.assert_allclose(found.gap, 1.01**3 * (3.0 + hidden) ** 2 / (2 * alpha))
    np.testing.assert_allclose(found.distance, 1.01**2 * (3.0 + hidden) / alpha)
    np.testing.assert_allclose(found.rounding, (1.01 * hidden) ** 2 / (2 * alpha))
