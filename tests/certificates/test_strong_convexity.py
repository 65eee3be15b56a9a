"""The gap that a gradient proves is never less than the distance from the least loss."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.certificates.strong_convexity import gap_of
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
    assert large.gap == pytest.approx(small.gap, rel=1e-2)
