"""The interval of the largest margin contains it, whatever rounding does."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adaline.certificates.margins import margin_bounds
from reference_classifiers import squared_margin

SQUARE = np.array([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]])
T = np.array([-1.0, -1.0, 1.0, 1.0])


def bounds(w, support, weights, bias=True, Z=SQUARE):
    return margin_bounds(Z, T, np.asarray(w, float), np.array(support), np.asarray(weights), bias)


def test_the_best_direction_and_the_nearest_points_meet():
    lower, upper = bounds([1, 0], [0, 2], [1.0, 1.0])
    assert 1 - 1e-14 < lower < 1 < upper < 1 + 1e-14


def test_a_direction_that_does_not_separate_gives_no_positive_bound():
    assert bounds([0, 1], [0, 2], [1.0, 1.0])[0] < 0
    assert bounds([0, 0], [0, 2], [1.0, 1.0])[0] == 0


@pytest.mark.parametrize("bias", [True, False])
def test_random_directions_and_combinations_never_lie(rng, bias):
    for _ in range(40):
        n, p = int(rng.integers(2, 7)), int(rng.integers(1, 4))
        Z = rng.standard_normal((n, p)) * 10.0 ** rng.integers(-3, 4)
        t = np.where(np.arange(n) % 2, 1.0, -1.0)
        Z += t[:, None] * rng.standard_normal(p) * 3 * np.abs(Z).max()
        weights, w = rng.random(n), t @ Z + rng.standard_normal(p) * np.abs(Z).max()
        lower, upper = margin_bounds(Z, t, w, np.arange(n), weights, bias)
        square = squared_margin(Z.tolist(), t.tolist(), bias)
        assert (1 + bias) ** 2 * Fraction(upper) ** 2 >= square
        assert lower <= 0 or (1 + bias) ** 2 * Fraction(lower) ** 2 <= square
