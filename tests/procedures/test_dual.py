"""Logistic regression by dual coordinate descent: the optimum, and a gap that bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit

from adaline.kernels.losses import dual as kernels
from adaline.procedures.sparse_logistic import dual as procedure
from adaline.procedures.sparse_logistic.dual import dual_logistic
from adaline.procedures.steps import finished
from reference_dual import logistic_minimum, logistic_value

NONE = np.empty(0)


def problem(rng, n=60, p=8, density=0.4):
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < density)
    t = np.where(X @ rng.standard_normal(p) + rng.standard_normal(n) > 0.5, 1.0, -1.0)
    t[:2] = 1.0, -1.0
    return X, t


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.1, 1.0, 100.0])
def test_the_optimum_is_that_of_a_dense_newton(rng, alpha, intercept):
    X, t = problem(rng)
    w, b, least = logistic_minimum(X, t, np.ones(len(t)), alpha, intercept)
    fit = dual_logistic(sparse.csr_array(X), t, NONE, alpha, intercept, gap=1e-11)
    assert fit.certificate.kind == "optimal"
    assert np.linalg.norm(fit.W[0] - w) <= fit.certificate.evidence["distance"] + 1e-12
    assert fit.b[0] == pytest.approx(b, abs=1e-4)
    assert fit.value == pytest.approx(least, rel=1e-11)


@given(
    seed=st.integers(0, 10**6),
    gap=st.sampled_from([1e-1, 1e-3, 1e-6, 1e-9]),
    alpha=st.sampled_from([0.1, 1.0, 30.0]),
    intercept=st.booleans(),
    max_iter=st.sampled_from([1, 3, 1000]),
)
def test_the_gap_bounds_how_far_the_value_is_from_the_least(seed, gap, alpha, intercept, max_iter):
    rng = np.random.default_rng(seed)
    X, t = problem(rng, n=25, p=4)
    omega = rng.integers(0, 4, len(t)) + 0.5 * (np.arange(len(t)) < 2)
    _, _, least = logistic_minimum(X, t, omega, alpha, intercept)
    fit = dual_logistic(sparse.csr_array(X), t, omega, alpha, intercept, gap, max_iter)
    value = logistic_value(X, t, omega, alpha, fit.W[0], fit.b[0])
    assert value == pytest.approx(fit.value, rel=1e-13)
    assert value - least <= fit.gap * fit.value + 1e-13 * value
    assert (fit.certificate.kind == "optimal") == (fit.gap <= gap)
    assert fit.passes <= max_iter


def test_the_dual_variables_are_feasible_and_give_the_weights(rng):
    X, t = problem(rng)
    omega = rng.uniform(0.5, 2.0, len(t))
    fit = dual_logistic(sparse.csr_array(X), t, omega, 0.7, True)
    assert np.all((fit.dual >= 0) & (fit.dual <= omega))
    assert abs(fit.dual @ t) < 1e-12 * omega.sum()
    np.testing.assert_allclose(fit.W[0], X.T @ (fit.dual * t) / 0.7, rtol=1e-12, atol=1e-14)


def test_weights_are_repetitions(rng):
    X, t = problem(rng)
    omega = rng.integers(0, 4, len(t)).astype(float)
    omega[:2] = 1.0
    times = omega.astype(int)
    weighted = dual_logistic(sparse.csr_array(X), t, omega, 1.0, True, gap=1e-11)
    rows = sparse.csr_array(np.repeat(X, times, axis=0))
    repeated = dual_logistic(rows, np.repeat(t, times), NONE, 1.0, True, gap=1e-11)
    np.testing.assert_allclose(weighted.W, repeated.W, atol=1e-4)
    assert weighted.value == pytest.approx(repeated.value, rel=1e-10)


def test_empty_and_equal_rows_are_rows_like_others(rng):
    X, t = problem(rng, n=30)
    X[5:12] = 0.0
    X[20:] = X[19]
    t[20:] = np.where(np.arange(10) % 3, 1.0, -1.0)
    for intercept in (True, False):
        _, _, least = logistic_minimum(X, t, np.ones(30), 1.0, intercept)
        fit = dual_logistic(sparse.csr_array(X), t, NONE, 1.0, intercept, gap=1e-10)
        assert fit.value == pytest.approx(least, rel=1e-10)


def test_rows_that_are_all_empty_leave_the_log_odds_to_the_bias():
    t = np.array([1.0, 1.0, 1.0, -1.0])
    fit = dual_logistic(sparse.csr_array((4, 3)), t, NONE, 1.0, True)
    assert not fit.W.any()
    assert fit.b[0] == pytest.approx(np.log(3.0))
    assert fit.certificate.kind == "optimal"


def test_large_entries_saturate_nothing(rng):
    X, t = problem(rng)
    fit = dual_logistic(sparse.csr_array(6.0 * X), t, NONE, 1.0, True, gap=1e-6)
    _, _, least = logistic_minimum(6.0 * X, t, np.ones(len(t)), 1.0, True)
    assert fit.certificate.kind == "optimal"
    assert fit.value == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_float32_and_read_only_rows_of_any_index_type_are_taken(rng, index):
    X, t = problem(rng)
    wide = sparse.csr_array(X.astype(np.float32).astype(np.float64))
    narrow = wide.astype(np.float32)
    narrow.indices, narrow.indptr = narrow.indices.astype(index), narrow.indptr.astype(index)
    for part in (narrow.data, narrow.indices, narrow.indptr, t):
        part.setflags(write=False)
    one, two = (dual_logistic(A, t, NONE, 1.0, True) for A in (narrow, wide))
    np.testing.assert_allclose(one.W, two.W, atol=1e-12)
    assert one.W.dtype == np.float64


def test_the_same_rows_give_the_same_bits(rng):
    X, t = problem(rng)
    one, two = (dual_logistic(sparse.csr_array(X), t, NONE, 1.0, True) for _ in range(2))
    assert np.array_equal(one.W, two.W)
    assert one.passes == two.passes


def test_too_few_passes_are_unproven_and_say_so(rng):
    X, t = problem(rng)
    fit = dual_logistic(sparse.csr_array(X), t, NONE, 1e-3, True, max_iter=1)
    assert fit.certificate.kind == "unproven"
    assert "max_iter=1" in fit.stopped
    assert set(fit.certificate.evidence) == {"relative_gap", "value", "passes", "distance"}


def test_a_gap_below_rounding_ends_unproven_instead_of_going_on(rng):
    X, t = problem(rng)
    fit = dual_logistic(sparse.csr_array(X), t, NONE, 1.0, True, gap=1e-18)
    assert fit.certificate.kind == "unproven"
    assert "rounding" in fit.stopped
    assert fit.gap < 1e-12


def test_one_sign_of_target_no_penalty_no_passes_and_huge_rows_are_refused(rng):
    X, t = problem(rng)
    rows = sparse.csr_array(X)
    with pytest.raises(ValueError, match="grows without bound"):
        dual_logistic(rows, np.ones(len(t)), NONE, 1.0, True)
    with pytest.raises(ValueError, match="positive penalty"):
        dual_logistic(rows, t, NONE, 0.0, True)
    with pytest.raises(ValueError, match="max_iter is 0"):
        dual_logistic(rows, t, NONE, 1.0, True, max_iter=0)
    with pytest.raises(ValueError, match="leaves float64"):
        dual_logistic(rows * 1e200, t, NONE, 1.0, True)
    assert dual_logistic(rows, np.ones(len(t)), NONE, 1.0, False).certificate.kind == "optimal"


def test_an_interrupted_descent_gives_what_its_last_pass_proves(rng, monkeypatch):
    X, t = problem(rng)
    three = dual_logistic(sparse.csr_array(X), t, NONE, 0.01, True, max_iter=3)
    passes = []

    def interrupted(*arguments, call=kernels.dual_pass):
        passes.append(1)
        if len(passes) == 4:
            raise KeyboardInterrupt
        return call(*arguments)

    monkeypatch.setattr(kernels, "dual_pass", interrupted)
    fit = dual_logistic(sparse.csr_array(X), t, NONE, 0.01, True)
    assert fit.stopped.startswith("interrupted")
    assert fit.passes == 3
    assert np.array_equal(fit.W, three.W)


@given(st.floats(-1e3, 1e3), st.floats(0.0, 1e6), st.floats(-50.0, 50.0))
def test_the_log_odds_of_a_coordinate_are_found_from_any_guess(c, a, u):
    root, p = kernels.log_odds(c, a, u, float(expit(u)))
    before = min(max(u, -c - a), -c)
    error = abs(before + c + a * expit(before))
    assert p == pytest.approx(expit(root), rel=1e-12)
    assert abs(root + c + a * p) <= 0.01 * error + 1e-9 * (1.0 + abs(c) + a)


def unscaled(rng, n=200):
    """Columns of very different units, which all rows share: the dual's worst case."""
    X = rng.standard_normal((n, 4)) * [1.0, 1e2, 1e4, 1e-2] + [0.0, 300.0, 0.0, 1.0]
    v = X @ [0.5, 0.01, 1e-4, 10.0] - 13.0
    return X, np.where(v + rng.logistic(size=n) > 0, 1.0, -1.0)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_unscaled_columns_are_handed_to_newton_s_steps_and_proven(rng, alpha, intercept):
    X, t = unscaled(rng)
    omega = rng.uniform(0.5, 2.0, len(t))
    _, _, least = logistic_minimum(X, t, omega, alpha, intercept)
    fit = dual_logistic(sparse.csr_array(X), t, omega, alpha, intercept, gap=1e-9)
    assert fit.certificate.kind == "optimal"
    assert fit.passes < 300
    assert fit.value == pytest.approx(least, rel=1e-9)
    # lambda is what goes with w: the slope of the criterion vanishes but for the gap.
    assert np.all((fit.dual >= 0) & (fit.dual <= omega))


def test_newton_s_steps_find_what_the_dual_finds(rng, monkeypatch):
    X, t = problem(rng)
    rows = sparse.csr_array(X)
    slow = dual_logistic(rows, t, NONE, 0.1, True, gap=1e-11)
    monkeypatch.setattr(procedure, "_slow", lambda seen, goal: True)
    fast = dual_logistic(rows, t, NONE, 0.1, True, gap=1e-11)
    bound = slow.certificate.evidence["distance"] + fast.certificate.evidence["distance"]
    assert fast.certificate.kind == "optimal"
    assert np.linalg.norm(fast.W - slow.W) <= bound
    assert fast.b[0] == pytest.approx(slow.b[0], abs=1e-4)


def test_newton_s_steps_keep_to_the_passes_allowed(rng):
    X, t = unscaled(rng)
    for most in (22, 25, 30, 40):
        fit = dual_logistic(sparse.csr_array(X), t, NONE, 1e-3, True, gap=1e-13, max_iter=most)
        assert fit.passes <= most
        assert fit.certificate.kind == "unproven"
        assert f"max_iter={most}" in fit.stopped


def test_newton_s_steps_end_where_rounding_allows_no_more(rng, monkeypatch):
    X, t = problem(rng)
    monkeypatch.setattr(procedure, "_slow", lambda seen, goal: True)
    fit = dual_logistic(sparse.csr_array(X), t, NONE, 1.0, True, gap=1e-18)
    assert "rounding" in fit.stopped
    assert fit.gap < 1e-12


def test_an_interrupt_among_newton_s_steps_keeps_the_last_one(rng):
    X, t = unscaled(rng)
    calls = []

    def hear(done, here):
        calls.append(done)
        if len(calls) == 24:
            raise KeyboardInterrupt

    fit = finished(dual_logistic.steps(sparse.csr_array(X), t, NONE, 1.0, True), hear)
    assert calls == sorted(set(calls))
    assert fit.stopped.startswith("interrupted")
    whole = dual_logistic(sparse.csr_array(X), t, NONE, 1.0, True)
    assert whole.value < fit.value < len(t) * np.log(2.0)
    assert fit.value * (1.0 - fit.gap) <= whole.value


def test_a_caller_may_ask_to_stop_after_any_pass(rng):
    X, t = problem(rng)
    steps = dual_logistic.steps(sparse.csr_array(X), t, NONE, 0.01, True)
    fit = finished(steps, lambda done, here: True)
    assert fit.passes == 1
    assert fit.stopped.startswith("a callback asked to stop")


@pytest.mark.parametrize("unit", [1e-150, 1e-5, 1e5, 1e120])
def test_units_of_all_columns_change_nothing_but_units(rng, unit):
    X, t = problem(rng)
    plain = dual_logistic(sparse.csr_array(X), t, NONE, 1.0, True)
    other = dual_logistic(sparse.csr_array(X * unit), t, NONE, unit**2, True)
    assert other.value == pytest.approx(plain.value, rel=1e-7)
    np.testing.assert_allclose(other.W * unit, plain.W, atol=1e-3)


@pytest.mark.parametrize("n", [100, 300, 1000])
@pytest.mark.parametrize("alpha", [0.1, 1.0])
def test_a_bias_costs_few_passes_whatever_the_number_of_rows(rng, n, alpha):
    # A bias held back by a hundred rows took 30 passes for as few, at alpha = 0.1.
    X = sparse.random_array((n, 2500), density=0.03, rng=rng, format="csr")
    X.data /= np.sqrt((X.data**2).sum() / n)
    v = X @ rng.standard_normal(2500)
    t = np.where(4 * (v - v.mean()) / v.std() + 1.0 + rng.logistic(size=n) > 0, 1.0, -1.0)
    with_bias, without = (dual_logistic(X, t, NONE, alpha, bias) for bias in (True, False))
    assert with_bias.certificate.kind == "optimal"
    assert with_bias.passes <= 2 * without.passes + 6


@pytest.mark.parametrize("places", [np.int32, np.int64])
def test_the_width_of_indices_changes_no_bit(rng, places):
    X, t = problem(rng)
    want = dual_logistic(sparse.csr_array(X), t, NONE, 1.0, True)
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(places), wide.indptr.astype(places)
    fit = dual_logistic(wide, t, NONE, 1.0, True)
    assert np.array_equal(fit.W, want.W)
    assert np.array_equal(fit.b, want.b)
