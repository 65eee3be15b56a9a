"""Random labels on random points are separable as often as Cover counts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from adaline import capacity, cover, separability


def separable(X, y, bias):
    if len(set(y)) == 1:  # one class is on one side: with a bias always, else where all x can be
        if bias:
            return True
        X, y = np.vstack([X[:1] * -1, X[1:]]), [1 - y[0], *y[1:]]
        if len(set(y)) == 1:
            return True
    return separability(X, y, fit_intercept=bias).verdict == "separable"


@pytest.mark.parametrize(
    ("n", "d", "bias"), [(4, 2, True), (6, 2, True), (5, 3, True), (6, 3, False)]
)
def test_every_labelling_of_a_few_points_is_counted(rng, n, d, bias):
    X = rng.standard_normal((n, d))
    found = sum(separable(X, list(y), bias) for y in product([0, 1], repeat=n))
    assert found == cover(n, d, bias).count


@pytest.mark.parametrize(("n", "d"), [(8, 5), (12, 5), (16, 5), (24, 9), (40, 19)])
def test_labels_drawn_at_random_are_separable_in_the_predicted_fraction(rng, n, d):
    """Within five standard deviations of a count, which fails once in two million runs."""
    trials, p = 300, cover(n, d).fraction
    found = sum(
        separable(rng.standard_normal((n, d)), rng.integers(0, 2, n).tolist(), True)
        for _ in range(trials)
    )
    assert abs(found - trials * p) <= 5 * np.sqrt(trials * p * (1 - p)) + 1


def test_at_the_capacity_it_is_half_of_them_whatever_the_points(rng):
    """Points in general position on a curve, in a lattice's neighbourhood, of many units."""
    d, trials = 3, 200
    n = capacity(d)
    s = np.linspace(-1, 1, n)
    curve = np.column_stack([s, s**2, s**3])
    units = rng.standard_normal((n, d)) * [1e-6, 1.0, 1e6]
    for X in (curve, units):
        found = sum(separable(X, rng.integers(0, 2, n).tolist(), True) for _ in range(trials))
        assert abs(found - trials / 2) <= 5 * np.sqrt(trials / 4)
