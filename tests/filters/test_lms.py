"""LMS: the lectures' recursion, its bound, its schedules and its sign forms."""

from __future__ import annotations

import numpy as np
import pytest

import reference_filters as slow
from adaline import LMS, Constant, OverK, SearchThenConverge
from adaline.schedules import Absolute

H = np.array([0.6, -0.4, 0.3, 0.0, 0.2])


def signals(rng, n=400, complex_=False):
    x = rng.standard_normal(n) + (1j * rng.standard_normal(n) if complex_ else 0)
    noise = rng.standard_normal(n) + (1j * rng.standard_normal(n) if complex_ else 0)
    return x, np.convolve(x, H)[:n] + 0.1 * noise


def test_two_samples_by_hand():
    f = LMS(2, eta=0.5, allow_unstable=True)
    # w = (0, 0): y = 0, e = 2, w = 0.5 * 2 * (1, 0) = (1, 0).
    # x(1) = (2, 1): y = 2, e = 1, w = (1, 0) + 0.5 * 1 * (2, 1) = (2, 0.5).
    y, e = f.process([1.0, 2.0], [2.0, 3.0])
    assert (y.tolist(), e.tolist(), f.weights.tolist()) == ([0, 2], [2, 1], [2, 0.5])


def test_complex_weights_are_conjugated_in_the_output():
    f = LMS(1, eta=0.5, weights=[1j], allow_unstable=True)
    y, e = f.process([2.0 + 0j], [1.0])  # y = conj(1j) * 2
    assert (y[0], e[0]) == (-2j, 1 + 2j)
    assert f.weights[0] == 1j + 0.5 * (1 - 2j) * 2


@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize("leak", [0.0, 0.3])
@pytest.mark.parametrize("eta", [0.05, OverK(0.3), SearchThenConverge(0.1, 30.0), Constant(0.02)])
def test_the_kernel_is_the_plain_recursion(eta, leak, complex_, rng):
    x, d = signals(rng, complex_=complex_)
    f = LMS(7, eta, leak)
    y, e = f.process(x, d)
    rate = eta if callable(eta) else Constant(eta)
    y_slow, e_slow, w_slow = slow.lms(x, d, 7, lambda n, u: rate(n, 1)[0], leak)
    # Both round some 50 operations a sample, and a stable recursion forgets them.
    assert np.allclose(y, y_slow, rtol=0, atol=1e-12)
    assert np.allclose(e, e_slow, rtol=0, atol=1e-12)
    assert np.allclose(f.weights, w_slow, rtol=0, atol=1e-12)


@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize("sign", ["error", "data", "both"])
def test_sign_forms_are_the_plain_recursion(sign, complex_, rng):
    x, d = signals(rng, 100, complex_)
    f = LMS(5, 0.01, sign=sign)
    y, _ = f.process(x, d)
    y_slow, _, w_slow = slow.lms(x, d, 5, lambda n, u: 0.01, sign=sign)
    # The sign of a small complex error magnifies its rounding errors.
    assert np.allclose(y, y_slow, rtol=0, atol=1e-9)
    assert np.allclose(f.weights, w_slow, rtol=0, atol=1e-9)


def test_automatic_steps_are_a_tenth_of_the_bound(rng):
    x, d = signals(rng)
    f = LMS(6)
    y, _ = f.process(x, d)
    U = slow.delay_line(x, 6)
    y_slow, _, w_slow = slow.lms_rows(U, d, slow.automatic_rate(U))
    assert np.allclose(y, y_slow, rtol=0, atol=1e-12)
    assert np.allclose(f.weights, w_slow, rtol=0, atol=1e-12)


def test_rows_are_the_delay_line_spelled_out(rng):
    x, d = signals(rng)
    for f, g in [(LMS(5, 0.03), LMS(5, 0.03)), (LMS(5), LMS(5))]:
        assert np.allclose(f.process(x, d), g.process_rows(slow.delay_line(x, 5), d), atol=1e-12)
        assert np.allclose(f.weights, g.weights, rtol=0, atol=1e-12)


def test_rows_and_signal_can_be_mixed(rng):
    x, d = signals(rng)
    f = LMS(5, 0.03)
    f.process(x[:101], d[:101])
    w = f.weights
    _, _, after = slow.lms_rows(slow.delay_line(x, 5)[:50], d[:50], lambda n, u: 0.03, w=w)
    f.process_rows(slow.delay_line(x, 5)[:50], d[:50])
    assert np.allclose(f.weights, after, rtol=0, atol=1e-12)
    y, _ = f.process(x[101:102], d[101:102])
    assert y[0] == pytest.approx(after @ x[101:96:-1], abs=1e-12)


def test_a_step_above_the_bound_is_refused_with_the_bound(rng):
    x, d = signals(rng)
    bound = 2 / (5 * np.mean(x**2))
    f = LMS(5, eta=1.01 * bound)
    with pytest.raises(ValueError, match=rf"= {bound:.4g} on this signal"):
        f.process(x, d)
    assert f.samples == 0
    LMS(5, eta=0.2 * bound).process(x, d)


def test_a_spike_breaks_the_bound_before_it_breaks_the_filter(rng):
    x, d = signals(rng)
    f = LMS(5, eta=0.05)
    f.process(x, d)
    w = f.weights
    x[200] = 1e9
    with pytest.raises(ValueError, match="stable for"):
        f.process(x, d)
    assert np.array_equal(f.weights, w)


@pytest.mark.parametrize("level", [1e-6, 1e6])
def test_automatic_steps_survive_a_level_step_of_120_db(level, rng):
    x, d = signals(rng, 20_000)
    x[10_000:] *= level
    d = np.convolve(x, H)[:20_000]
    f = LMS(5)
    _, e = f.process(x[:10_000], d[:10_000])
    loud = np.abs(d[:10_000]).max()
    assert np.abs(e[-100:]).max() < 1e-6 * loud
    _, e = f.process(x[10_000:], d[10_000:])
    assert np.abs(e).max() < 1e-3 * max(loud, np.abs(d[10_000:]).max())
    assert np.allclose(f.weights, H, rtol=0, atol=1e-5)


def test_automatic_steps_survive_a_spike(rng):
    x, d = signals(rng, 20_000)
    x[5000] = 1e9
    d[5000] = np.nan
    f = LMS(5, on_nan="hold")
    f.process(x, d)
    assert np.allclose(f.weights, H, rtol=0, atol=0.1)


def test_constant_input_finds_the_sum_of_the_weights():
    f = LMS(4)
    y, _ = f.process(np.ones(3000), np.full(3000, 5.0))
    assert y[-1] == pytest.approx(5.0, abs=1e-9)
    assert f.weights.sum() == pytest.approx(5.0, abs=1e-9)


def test_leak_sends_unused_weights_to_zero(rng):
    f = LMS(3, 0.1, leak=0.5, weights=[1.0, 1.0, 1.0])
    f.process(np.zeros(500), np.zeros(500))
    assert f.weights == pytest.approx([(1 - 0.1 * 0.5) ** 500] * 3, rel=1e-10)


def test_silence_then_signal(rng):
    x, d = signals(rng, 6000)
    x[:2000] = d[:2000] = 0.0
    for f in (LMS(5), LMS(5, 0.05)):
        y, _ = f.process(x, d)
        assert not y[:2000].any()
        assert np.allclose(f.weights, H, rtol=0, atol=0.15)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"eta": -1.0}, "above 0"),
        ({"eta": "fast"}, "expected a positive number"),
        ({"eta": Absolute()}, "no absolute correction"),
        ({"eta": True}, "expected a positive number"),
        ({"leak": -0.1}, "leak"),
        ({"sign": "x"}, "sign is 'x'"),
        ({"sign": "error"}, "eta='auto' is for plain LMS"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        LMS(4, **settings)
