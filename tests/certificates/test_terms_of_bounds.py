"""Bounds are at least those of the textbook, in numbers where each of their terms matters."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from adaline.certificates import margins
from adaline.certificates.mistakes import mistake_bound
from adaline.certificates.statements import delivered, stated, stated_together
from adaline.linalg import UNDERFLOW
from adaline.results import Certificate, Fit

ILL = {"condition": 1e3}


# Digits of single weights, and of all together.


def test_weights_without_an_error_hold_every_digit():
    for dtype, most in ((np.float64, 15.95), (np.float32, 7.22)):
        exact = stated(np.array([0.0, 1.0], dtype), np.zeros(2), np.zeros(2), ILL)
        assert exact.kind == "exact"
        assert exact.evidence["digits"] == most
        together = stated_together(np.array([[3.0, 4.0]], dtype), np.zeros(1), ILL)
        assert together.kind == "accurate"
        assert together.evidence["digits"] == most


def test_a_weight_of_zero_with_an_error_is_not_exact():
    found = stated(np.array([0.0, 1.0]), np.array([1e-30, 0.0]), np.full(2, 1e-3), ILL)
    assert found.kind == "accurate"


def test_weights_below_the_floor_are_told_as_zeros():
    weights, floor = np.array([1.0, 0.25, 0.5]), np.full(3, 0.5)
    found = stated(weights, np.full(3, 1e-9), floor, ILL)
    assert "1 of them zero to rounding" in found.statement
    assert "zero" not in stated(weights, np.full(3, 1e-9), floor / 4, ILL).statement
    told = stated(weights, np.full(3, 1e-9), floor, ILL, missing="the intercept").statement
    assert "; of the intercept nothing is proven." in told


def test_digits_of_all_weights_together_are_a_share_of_the_largest():
    W = np.array([[100.0, -1000.0]])
    assert stated_together(W, np.array([1.0]), ILL).evidence["digits"] == pytest.approx(3.0)
    assert stated_together(W, np.array([99.0]), ILL).kind == "accurate"
    assert stated_together(W, np.array([200.0]), ILL).kind == "unproven"
    assert stated_together(W * np.inf, np.array([0.0]), ILL).kind == "unproven"
    assert stated_together(W * 1e-9, np.array([1e-8]), ILL).evidence["digits"] == pytest.approx(2.0)
    edge = stated_together(np.array([[1.0]]), np.array([0.1]), ILL)
    assert (edge.kind, edge.evidence["digits"]) == ("unproven", 0.0)


@pytest.mark.parametrize("bound", [1e-60, 1e-3, 1.0])
def test_weights_of_zero_have_no_digits_but_those_of_other_targets_have(bound):
    """In float32 a weight of 1e-50 is zero: that it is near the exact one says nothing of it."""
    nothing = stated_together(np.zeros((1, 2)), np.array([bound]), ILL)
    assert (nothing.kind, nothing.evidence["digits"]) == ("unproven", 0.0)
    assert nothing.statement == (
        f"all weights are zero, and the exact ones are within {bound:.1e} of zero: they have no "
        "digits to prove."
    )
    some = stated_together(np.array([[0.0], [2.0], [0.0]]), np.array([bound, 1e-8, 0.0]), ILL)
    assert (some.kind, some.evidence["digits"]) == ("accurate", pytest.approx(8.3, abs=0.01))
    assert some.statement == (
        "all weights together are within 1.0e-08 of the exact ridge solution: 8.3 digits of the "
        f"largest weight; 1 target has weights of zero, and exact ones within {bound:.1e} of zero."
    )


def test_bounds_that_are_no_numbers_prove_nothing():
    W = np.array([[1.0], [2.0]])
    for bad in (np.nan, np.inf):
        assert stated_together(W, np.array([bad, 0.0]), ILL).kind == "unproven"


@pytest.mark.parametrize(
    "evidence",
    [
        {"error_bound": np.zeros((1, 1)), "floor": np.zeros((1, 1)), "digits": 9.0, **ILL},
        {"distance": 1e-9},
    ],
    ids=["digits", "distance"],
)
def test_weights_that_leave_float32_have_no_digits(evidence):
    fit = Fit(np.array([[1e300]]), np.zeros(1), "solved.", Certificate("exact", "right.", evidence))
    found = delivered(fit, np.float32).certificate
    assert found.kind == "unproven"
    assert found.evidence == evidence | ({"digits": 0.0} if "digits" in evidence else {})


# Margins and mistakes.


def test_a_combination_of_zeros_is_off_by_underflow():
    point, doubt = margins._combination(np.zeros((3, 2)), np.ones(3))
    assert not point.any()
    assert np.all(doubt >= 3 * UNDERFLOW)


def test_lengths_of_samples_are_never_too_short_and_margins_never_too_large(rng):
    for _ in range(200):
        p = int(rng.integers(1, 6))
        X, w = rng.integers(-99, 100, (4, p)) / 64, rng.integers(-9, 10, p)
        v = [int(a) for a in (64 * X) @ w]
        if min(v) >= 0 or max(v) <= 0 or 0 in v:
            continue
        found = mistake_bound(X, np.sign(v).astype(int), w)
        squares = [sum(Fraction(float(a)) ** 2 for a in x) for x in X]
        D2 = Fraction(min(abs(a) for a in v), 64) ** 2 / sum(int(a) ** 2 for a in w)
        assert Fraction(found.R) ** 2 >= max(squares) * (1 - Fraction(1, 2**52))
        assert Fraction(found.D) ** 2 <= D2
        assert Fraction(found.sharp) >= max(squares) / D2
        assert Fraction(found.lecture) >= sum(squares) / D2
        assert found.sharp == pytest.approx(float(max(squares) / D2), rel=1e-11)
        assert found.lecture == pytest.approx(float(sum(squares) / D2), rel=1e-11)


def test_lengths_of_samples_are_rounded_up(rng):
    """Samples of many digits, whose squares round down as often as up."""
    for _ in range(100):
        x = rng.random(3) + 0.5
        found = mistake_bound(np.array([x, -x]), [1, 0], [1.0, 1.0, 1.0])
        assert Fraction(found.R) ** 2 >= sum(Fraction(float(a)) ** 2 for a in x) * (
            1 - Fraction(1, 2**52)  # a root is rounded too
        )
        D2 = sum(Fraction(float(a)) for a in x) ** 2 / 3
        assert Fraction(found.D) ** 2 <= D2
        assert Fraction(found.sharp) * D2 >= sum(Fraction(float(a)) ** 2 for a in x)


def test_the_least_value_is_told_in_the_units_of_the_user():
    X, y = np.array([[1.0], [-1024.0]]), [1, 1]
    with pytest.raises(ValueError, match="one label a sample"):
        mistake_bound(X, y, [1.0])
    for of in (np.asarray, sparse.csr_matrix):
        with pytest.raises(ValueError, match=r"least t \(w'x \+ b\) is -4\.194e\+06"):
            mistake_bound(of(X), [0, 1], [4096.0])


def test_labels_may_be_words_and_not_measurements():
    X = np.array([[1.0], [-1.0]])
    assert mistake_bound(X, ["b", "a"], [1.0]).sharp == pytest.approx(1.0)
    assert mistake_bound(X, [1.0, 0.0], [1.0]).sharp == pytest.approx(1.0)
    with pytest.raises(ValueError, match="two classes"):
        mistake_bound(X, [1.5, 0.5], [1.0])
