"""Schedules: their formulas, what they refuse, and the lectures' bounds on rates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adaline.schedules import (
    Auto,
    Constant,
    OverK,
    SearchThenConverge,
    as_schedule,
    stable_rate,
)


@pytest.mark.parametrize("schedule", [Constant(0.3), OverK(2.0), SearchThenConverge(1.0, 7.0)])
def test_rates_of_parts_are_the_rates_of_the_whole(schedule):
    whole = schedule(0, 10)
    assert np.array_equal(np.concatenate([schedule(0, 4), schedule(4, 6)]), whole)


def test_the_formulas_of_the_lectures():
    assert OverK(3.0)(0, 3).tolist() == [3.0, 1.5, 1.0]
    assert SearchThenConverge(1.0, 2.0)(0, 3).tolist() == [1.0, 1 / 1.5, 0.5]


@pytest.mark.parametrize("eta", [0, -1.0, float("nan"), float("inf")])
def test_rates_that_are_none_are_refused(eta):
    for make in (Constant, OverK, as_schedule, lambda e: SearchThenConverge(e, 1.0)):
        with pytest.raises(ValueError, match="above zero"):
            make(eta)


@pytest.mark.parametrize("eta", ["fast", None, [1.0], True])
def test_what_is_no_schedule_is_refused_by_name(eta):
    with pytest.raises(ValueError, match="expected a positive number"):
        as_schedule(eta)


def test_names_and_numbers_become_schedules():
    assert as_schedule("auto") == Auto()
    assert as_schedule(np.float32(0.5)) == Constant(0.5)


@pytest.mark.parametrize("bias", [True, False])
def test_the_bounds_are_those_of_the_correlation_matrix(rng, bias):
    X = rng.standard_normal((200, 4)) * [1e6, 1, 1e-3, 5] + [0, 3, 0, 0]
    A = np.column_stack([X, np.ones(200)]) if bias else X
    R = A.T @ A / 200
    for form in (X, sparse.csr_array(X)):
        rates = stable_rate(form, fit_intercept=bias)
        assert rates.one_sample == pytest.approx(2 / np.trace(R), rel=1e-12)
        assert rates.batch == pytest.approx(2 / np.linalg.eigvalsh(R)[-1], rel=1e-6)
        assert rates.one_sample <= rates.batch * (1 + 1e-9)
    assert "one sample" in str(rates)
