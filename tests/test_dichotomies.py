"""Cover's count: exact where integers can tell, to sixty digits where they are too long."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaline import capacity, cover
from reference import exact_fraction, precise_log_tail, relative_error


def test_every_labelling_of_few_points_is_separable():
    for d in range(5):
        for n in range(1, d + 2):
            found = cover(n, d)
            assert (found.fraction, found.count, found.log_fraction) == (1.0, 2**n, 0.0)
            assert found.log_complement == -math.inf
    assert cover(3, 2, bias=False).fraction == 0.75


def test_half_of_all_labellings_are_separable_at_the_capacity():
    for d in (1, 2, 10, 1000, 10**6):
        assert capacity(d) == 2 * (d + 1)
        assert capacity(d, bias=False) == 2 * d
        assert cover(capacity(d), d).fraction == 0.5
        assert cover(capacity(d, False), d, False).log_fraction == math.log(0.5)


@settings(max_examples=60)
@given(n=st.integers(1, 2400), data=st.data())
def test_small_counts_are_right_to_the_last_digits(n, data):
    d = data.draw(st.integers(0, n + 3))
    bias = data.draw(st.booleans())
    found, want = cover(n, d, bias), exact_fraction(n, min(d + bias, n))
    assert found.count == want * 2**n
    assert abs(found.fraction - want) <= Fraction(1, 10**12) * want + Fraction(1, 2**1070)
    if 0 < want < 1:
        rest = 1 - want
        log = math.log(want.numerator) - math.log(want.denominator)
        assert found.log_fraction == pytest.approx(log, rel=1e-9, abs=1e-10)
        log = math.log(rest.numerator) - math.log(rest.denominator)
        assert found.log_complement == pytest.approx(log, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("n", [2001, 2002, 9_999, 10**5, 10**6, 10**7])
def test_many_points_keep_eleven_digits_in_both_tails(n, rng):
    away = np.concatenate([[0.0, 1e-3], rng.uniform(0, 17.5, 8)])  # in sqrt(n); 17.5 is 1e-268
    for x in away:
        D = max(int(n / 2 - x * math.sqrt(n)), 1)
        truth = precise_log_tail(n - 1, D)
        few, many = cover(n, D - 1), cover(n, n - D - 1)
        if truth > -690:  # else the fraction is subnormal, and has fewer digits
            assert relative_error(few.fraction, truth) < 1e-11  # scipy's betainc
        assert few.log_fraction == pytest.approx(float(truth), rel=1e-14, abs=1e-11)
        assert many.log_complement == few.log_fraction
        assert many.fraction == 1.0 - few.fraction
        assert many.log_fraction == math.log1p(-few.fraction)


@pytest.mark.parametrize(
    ("n", "D"), [(10**7, 1), (10**7, 3), (10**7, 40), (10**7, 10**6), (3000, 9)]
)
def test_below_float64_the_logarithm_goes_on(n, D):
    found = cover(n, D - 1)
    assert found.fraction == 0.0
    assert found.log_fraction == pytest.approx(float(precise_log_tail(n - 1, D)), rel=1e-14)


def test_counts_of_many_points_are_exact_integers():
    found = cover(10**7, 4).count
    assert found == 2 * sum(math.comb(10**7 - 1, i) for i in range(5))
    most = cover(5000, 4990)
    assert 2**5000 - most.count == 2 * sum(math.comb(4999, i) for i in range(9))
    assert most.count is most.count  # computed once


def test_without_inputs_and_bias_nothing_is_separable():
    assert cover(3, 0).count == 2  # all on one side, or all on the other
    nothing = cover(3, 0, bias=False)
    assert (nothing.count, nothing.fraction, nothing.log_fraction) == (0, 0.0, -math.inf)


def test_a_bias_is_there_or_not():
    with pytest.raises(TypeError, match="True or False"):
        cover(5, 2, bias=1)
    with pytest.raises(ValueError, match="d is -1"):
        capacity(-1)


def test_what_would_take_too_long_is_refused():
    with pytest.raises(ValueError, match="from 1 to"):
        cover(10**300, 10)
    with pytest.raises(ValueError, match="log_fraction"):
        cover(10**9, 10**8).count  # noqa: B018
    assert cover(10**9, 10**8).fraction == 0.0
    assert cover(10**9, 5 * 10**8 - 1).fraction == 0.5
    assert cover(10**9, 10).count > 0
