"""Learning curves, misalignment, echo loss, step bounds, and theory beside simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from adaline.filters.measures import erle, learning_curve, max_step, misalignment, theory
from reference_filters import delay_line as delay_lines
from reference_filters import learning_curve as slow_curve

ERRORS = arrays(np.float64, st.integers(1, 60), elements=st.floats(-1e3, 1e3, width=32))


@given(ERRORS, st.integers(1, 80))
def test_the_learning_curve_is_the_plain_loop_s(e, window):
    # Both add at most 60 squares of at most 1e6.
    assert np.allclose(learning_curve(e, window), slow_curve(e, window), rtol=1e-13, atol=1e-300)


def test_a_loud_sample_leaves_the_curve_with_the_window():
    e = np.full(300, 1e-3)
    e[50] = 1e9
    curve = learning_curve(e, 100)
    assert curve[149] > 1e15
    # Only additions: after the window has passed, nothing of 1e18 is left.
    assert np.allclose(curve[150:], 1e-6, rtol=1e-14, atol=0)


def test_several_runs_are_averaged_and_decibels_are_ten_log_ten(rng):
    runs = rng.normal(size=(7, 50))
    mean = np.mean([learning_curve(run, 5) for run in runs], axis=0)
    assert np.allclose(learning_curve(runs, 5), mean, rtol=1e-14)
    assert np.allclose(learning_curve(runs, 5, db=True), 10 * np.log10(mean))
    assert learning_curve([0.0, 0.0], db=True).tolist() == [-np.inf, -np.inf]
    column = runs[0][:, None]
    assert np.array_equal(learning_curve(column, 5), learning_curve(runs[0], 5))


def test_misalignment_pads_the_shorter_and_knows_channels():
    assert misalignment([1.0, 0.0], [1.0]) == -np.inf
    assert misalignment([0.0], [3.0, 4.0]) == 0.0
    assert misalignment([[1.0, 0.0]], [1.0]) == -np.inf
    assert misalignment([1j], [1.0]) == pytest.approx(20 * np.log10(2**0.5))
    two = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert misalignment(two * 1.1, two) == pytest.approx(-20.0)
    with pytest.raises(ValueError, match="channels differ"):
        misalignment(two, [1.0, 2.0])
    with pytest.raises(ValueError, match="h is zero"):
        misalignment([1.0], [0.0, 0.0])


def test_echo_loss_is_the_ratio_of_powers(rng):
    d = rng.normal(size=1000)
    assert erle(d, d / 10) == pytest.approx(20.0)
    assert erle(d, np.zeros(1000)) == np.inf
    assert np.isnan(erle(np.zeros(3), np.zeros(3)))
    assert np.allclose(erle(d, d / 10, window=50), 20.0)


def test_step_bounds_are_those_of_the_explicit_matrix(rng):
    x = np.convolve(rng.normal(size=500), [1.0, 0.9, 0.5])
    padded = np.concatenate([x, np.zeros(7)])
    U = delay_lines(padded, 8)
    R = U.T @ U / len(x)
    bounds = max_step(x, 8)
    assert bounds.mean_square == pytest.approx(2 / np.trace(R), rel=1e-12)
    assert bounds.mean == pytest.approx(2 / np.linalg.eigvalsh(R)[-1], rel=1e-12)
    assert bounds.mean_square == pytest.approx(2 / (8 * np.mean(x**2)), rel=1e-12)
    assert bounds.mean_square <= bounds.mean
    assert "2/tr[R]" in str(bounds)


def lms(x, d, taps, eta):
    """Errors (runs, N) and weights (runs, N, taps) of plain LMS, all runs side by side."""
    runs, N = x.shape
    padded = np.concatenate([np.zeros((runs, taps - 1)), x], axis=1)
    w, e, weights = np.zeros((runs, taps)), np.empty((runs, N)), np.empty((runs, N, taps))
    for n in range(N):
        line = padded[:, n : n + taps][:, ::-1]
        e[:, n] = d[:, n] - np.einsum("rk,rk->r", w, line)
        w = w + eta * e[:, n, None] * line
        weights[:, n] = w
    return e, weights


def test_misadjustment_is_what_simulation_gives(rng):
    runs, N, taps, eta, noise = 400, 1500, 8, 0.02, 0.25
    h = rng.normal(size=taps)
    x = rng.normal(size=(runs, N))
    d = np.array([np.convolve(row, h)[:N] for row in x]) + noise**0.5 * rng.normal(size=(runs, N))
    e, _ = lms(x, d, taps, eta)
    predicted = theory(x.ravel(), taps, eta, noise)
    assert predicted.misadjustment == pytest.approx(0.087, rel=0.01)  # 0.16/(2 - 0.16)
    # The power of the last 500 errors of 400 runs: 2e5 samples, correlated over some
    # 1/(2 eta) = 25, so the mean is known to about sqrt(2/2e5) = 0.3 %, and we allow 5 sigma.
    # Theory of small steps itself is off by about (eta tr R)^2 = 2.6 % of the excess.
    final = float(np.mean(e[:, 1000:] ** 2))
    assert final == pytest.approx(predicted.final_error, rel=0.016)
    assert final > noise * (1 + 0.5 * predicted.misadjustment)
