"""Schedules: their formulas, what they refuse, and the lectures' bounds on rates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adaline.schedules import (
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


@pytest.mark.parametrize("eta", ["fast", None, [1.0], True])
def test_what_is_no_schedule_is_refused_by_name(eta):
    with pytest.raises(ValueError, match="expected a positive number"):
        as_schedule(eta)


@pytest.mark.parametrize("bias", [True, False])
def test_the_bounds_are_those_of_the_correlation_matrix(rng, bias):
    X = rng.standard_normal((200, 4)) * [1e6, 1, 1e-3, 5] + [0, 3, 0, 0]
    A = np.column_stack([X, np.ones(200)]) if bias else X
    R = A.T @ A / 200
    for form in (X, sparse.csr_array(X)):
        rates = stable_rate(form) if bias else stable_rate(form, fit_intercept=False)
        assert rates.one_sample == pytest.approx(2 / np.trace(R), rel=1e-12)
        assert rates.batch == pytest.approx(2 / np.linalg.eigvalsh(R)[-1], rel=1e-6)
        assert rates.one_sample <= rates.batch * (1 + 1e-9)
    assert "one sample" in str(rates)


@pytest.mark.parametrize(("n", "p"), [(5000, 10), (400, 300), (100, 3000)])
def test_the_batch_bound_has_six_digits_where_eigenvalues_crowd(rng, n, p):
    X = rng.standard_normal((n, p))
    largest = np.linalg.norm(X, 2) ** 2 / n
    assert stable_rate(X, fit_intercept=False).batch == pytest.approx(2 / largest, rel=1e-6)


@pytest.mark.parametrize("unit", [1e-140, 1e150])
def test_huge_and_tiny_units_have_the_bounds_of_other_units(rng, unit):
    X = np.round(rng.standard_normal((30, 3)), 3)
    ours, scaled = stable_rate(X, False), stable_rate(X * unit, False)
    assert scaled.batch * unit * unit == pytest.approx(ours.batch, rel=1e-9)
    assert scaled.one_sample * unit * unit == pytest.approx(ours.one_sample, rel=1e-12)


def test_few_nonzeros_in_many_rows_have_an_exact_bound():
    X = sparse.csr_array(([1.0, 0.9], ([0, 1], [0, 1])), shape=(1_000_000, 2))
    assert stable_rate(X, fit_intercept=False).batch == pytest.approx(2e6, rel=1e-9)


def test_samples_of_zeros_are_stable_at_any_rate():
    rates = stable_rate(np.zeros((3, 2)), fit_intercept=False)
    assert (rates.one_sample, rates.batch) == (np.inf, np.inf)
    rates = stable_rate(np.zeros((3, 2)))
    assert (rates.one_sample, rates.batch) == (2.0, pytest.approx(2.0, rel=1e-12))


@pytest.mark.parametrize("shape", [(0, 2), (2, 0)])
def test_no_samples_and_no_features_have_no_bound(shape):
    with pytest.raises(ValueError, match="an average over samples"):
        stable_rate(np.zeros(shape))
    assert stable_rate([[2.0]], fit_intercept=False).batch == pytest.approx(0.5, rel=1e-12)
