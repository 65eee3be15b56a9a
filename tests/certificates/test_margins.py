"""The interval of the largest margin contains it, whatever rounding does."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adaline.certificates import margins
from adaline.certificates.margins import margin_bounds
from adaline.linalg import UNDERFLOW, UNIT
from reference_margins import squared_margin

SQUARE = np.array([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]])
T = np.array([-1.0, -1.0, 1.0, 1.0])


def bounds(w, support, weights, bias=True, Z=SQUARE):
    return margin_bounds(Z, T, np.asarray(w, float), np.array(support), np.asarray(weights), bias)


def test_the_best_direction_and_the_nearest_points_meet():
    lower, upper = bounds([1, 0], [0, 2], [1.0, 1.0])
    assert 1 - 1e-14 < lower < 1 < upper < 1 + 1e-14


def test_any_other_direction_or_points_only_widen_the_interval():
    lower, upper = bounds([3, 1], [0, 3], [1.0, 1.0])
    assert lower == pytest.approx((2 * 3 - 1) / 2 / np.sqrt(10))
    assert upper == pytest.approx(np.sqrt(5) / 2)


def test_a_direction_that_does_not_separate_gives_no_positive_bound():
    assert bounds([0, 1], [0, 2], [1.0, 1.0])[0] < 0
    assert bounds([0, 0], [0, 2], [1.0, 1.0])[0] == 0


def test_weights_need_not_sum_to_one_exactly():
    lower, upper = bounds([1, 0], [0, 1, 2, 3], [0.2, 0.3, 0.1, 0.4])
    p, q = 0.6 * SQUARE[1], (0.1 * SQUARE[2] + 0.4 * SQUARE[3]) / 0.5
    assert upper == pytest.approx(np.linalg.norm(q - p) / 2)
    assert lower <= 1


def test_without_a_bias_the_rows_t_x_are_combined():
    Z = SQUARE - [1.0, 0.5]
    lower, upper = bounds([1, 0], [0, 1, 2, 3], [0.25] * 4, bias=False, Z=Z)
    assert lower <= 1 <= upper
    assert upper - lower < 1e-14


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


@pytest.mark.parametrize("m", [1, 2, 9])
def test_a_combination_covers_its_roundings(m):
    """m products, their sum, that of the weights, and a quotient: 2 m + 5 at most."""
    point, doubt = margins._combination(np.ones((m, 2)), np.ones(m))
    assert point.tolist() == [1.0, 1.0]
    assert np.all(doubt >= (2 * m + 5) * UNIT)
    assert np.all(doubt <= 1.02 * (2 * m + 5) * UNIT)
    _, lost = margins._combination(np.zeros((m, 2)), np.ones(m))
    assert np.all(lost >= (m + 5) * UNDERFLOW)


@pytest.mark.parametrize("p", [1, 2, 9])
def test_a_length_is_rounded_up(p):
    point, zero = np.zeros(p), np.zeros(p)
    point[0] = 1.0
    assert 1.0 + (p + 6) * UNIT <= margins._length(point, zero) <= 1.0 + 1.1 * (p + 7) * UNIT
    assert margins._length(point, 2 * point) >= 3.0 * (1.0 + (p + 6) * UNIT)


@pytest.mark.parametrize("p", [1, 2, 9])
@pytest.mark.parametrize("bias", [True, False])
def test_the_margin_of_a_direction_is_rounded_down(p, bias):
    Z = np.zeros((2, p))
    Z[:, 0] = -1.0, 1.0
    w = np.zeros(p)
    w[0] = 1.0
    t = np.array([-1.0, 1.0])
    # (p + 4) u off the values, and (p + 6) u of the length of w
    found = margins._margin_of(Z, t, w, bias)
    assert 1.0 - 1.05 * (2 * p + 12) * UNIT <= found <= 1.0 - (2 * p + 9) * UNIT
    wrong = margins._margin_of(Z, -t, w, bias)  # a margin of -1, to the other side
    assert -1.0 - 1.05 * (2 * p + 12) * UNIT <= wrong <= -1.0 - (2 * p + 9) * UNIT


@pytest.mark.parametrize("p", [1, 5])
def test_samples_of_zeros_have_no_margin(p):
    """Products may have underflowed: what they lost is taken off."""
    t, w = np.array([-1.0, 1.0]), np.ones(p)
    found = margins._margin_of(np.zeros((2, p)), t, w, True)
    assert found <= -(p + 4) * UNDERFLOW / np.linalg.norm(w) * (1 - 1e-9)


def test_the_doubts_of_both_points_widen_their_distance():
    """p = (1.5, 1) and q = (1, 1), each of one row: 7 roundings of each component."""
    Z, t = np.array([[1.0, 1.0], [1.5, 1.0]]), np.array([-1.0, 1.0])
    w, ones = np.array([1.0, 0.0]), np.ones(2)
    _, upper = margin_bounds(Z, t, w, np.arange(2), ones, True)
    doubt = 7 * UNIT * np.hypot(2.5, 2.0)
    assert 0.5 + doubt <= 2 * upper <= 0.5 + 1.5 * doubt
