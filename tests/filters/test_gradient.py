"""LMS, NLMS and affine projection: the plain recursions, through silence, spikes and jumps."""

from __future__ import annotations

import numpy as np
import pytest

import reference_filters as slow
from adaline import (
    LMS,
    NLMS,
    AffineProjection,
    Constant,
    DivergenceError,
    FilteredXLMS,
    OverK,
    SearchThenConverge,
)

H = np.array([0.6, -0.4, 0.3, 0.0, 0.2])


def echo(x, h=H):
    return np.convolve(x, h)[: len(x)]


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


@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize("leak", [0.0, 0.3])
@pytest.mark.parametrize("eta", [0.05, OverK(0.3), SearchThenConverge(0.1, 30.0), Constant(0.02)])
def test_lms_is_the_plain_recursion(eta, leak, complex_, rng):
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


def test_a_step_above_the_bound_is_refused_with_the_bound(rng):
    x, d = signals(rng)
    bound = 2 / (5 * np.mean(x**2))
    f = LMS(5, eta=1.01 * bound)
    with pytest.raises(ValueError, match=rf"= {bound:.4g} on this signal"):
        f.process(x, d)
    assert f.samples == 0
    LMS(5, eta=0.2 * bound).process(x, d)


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


@pytest.mark.parametrize("taps", [1, 2, 3, 4, 5, 16, 61])
@pytest.mark.parametrize("eps", ["auto", 0.5])
@pytest.mark.parametrize("complex_", [False, True])
def test_nlms_is_the_plain_recursion(taps, eps, complex_, rng):
    x = rng.standard_normal(500) + (1j * rng.standard_normal(500) if complex_ else 0)
    d = rng.standard_normal(500)
    f = NLMS(taps, 0.7, eps)
    y, _ = f.process(x, d)
    y_slow, _, w_slow = slow.nlms(x, d, taps, 0.7, eps)
    # With noise as d outputs are of the size of d times what x'x may be below its mean.
    assert np.allclose(y, y_slow, rtol=0, atol=1e-11)
    assert np.allclose(f.weights, w_slow, rtol=0, atol=1e-11)


def test_silence_neither_moves_nor_breaks_anything(rng):
    x = rng.standard_normal(3000)
    f = NLMS(5)
    f.process(np.zeros(1000), rng.standard_normal(1000))
    assert not f.weights.any()
    f.process(x, echo(x))
    f.process(np.zeros(5), np.zeros(5))
    w = f.weights
    y, _ = f.process(np.zeros(5000), rng.standard_normal(5000))
    assert not y.any()
    assert np.array_equal(f.weights, w)


MAKERS = {
    "NLMS": lambda taps: NLMS(taps),
    "LMS": lambda taps: LMS(taps),
    "AffineProjection": lambda taps: AffineProjection(taps, 3),
    "FilteredXLMS": lambda taps: FilteredXLMS(taps, [1.0]),
}
each = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@each
@pytest.mark.parametrize("quiet", [1e-2, 1e-3, 1e-6])
@pytest.mark.parametrize("taps", [8, 100])
def test_after_a_quiet_and_noisy_start_no_error_is_louder_than_the_signals(make, quiet, taps, rng):
    x = rng.standard_normal(4000)
    x[:500] *= quiet
    d = echo(x) + 0.1 * rng.standard_normal(4000)
    f = make(taps)
    _, e = f.process(x, d)
    # Weights of noise/quiet would make errors of 0.05/quiet, 50 at 1e-3. From zero, an error is d
    # less what was learned so far, and a step of 0.5 never makes it twice as large; what a jump
    # below four times in x'x lets through adds as much again.
    assert np.abs(e[500:]).max() < 4 * np.abs(d).max()
    # eta/(2 - eta) of the noise on top, and that again for each of three vectors.
    assert np.mean(e[-1000:] ** 2) < 2.5 * 0.1**2


@pytest.mark.parametrize("given", [True, False])
@each
def test_weights_that_were_given_or_set_are_not_thrown_away(make, given, rng):
    x, d = rng.standard_normal((2, 3))
    x[:2] *= 1e-3
    f, g = make(5), make(5)
    f.weights = g.weights = H
    if given:
        f = type(f).from_state(make(5).state() | {"weights": H[None]})
    for filter in (f, g):
        filter.adapting = False
        filter.process(x[:2], d[:2])  # errors as loud as d
        filter.adapting = True
        y, _ = filter.process(x[2:], d[2:])
        assert y[0] == pytest.approx(echo(x)[2], abs=1e-12)


@pytest.mark.parametrize(("pole", "left"), [(0.0, -30), (0.9, -15), (0.99, -4)])
@pytest.mark.parametrize("integers", [False, True])
def test_eps_auto_learns_white_and_coloured_signals_in_any_units(pole, left, integers, rng):
    x, last = np.empty(20_000), 0.0
    for n, v in enumerate(rng.standard_normal(20_000)):
        x[n] = last = pole * last + v
    x *= 3000 / x.std()
    x = np.round(x).astype(np.int16) if integers else x / 3000
    h = rng.standard_normal(64) * np.exp(-np.arange(64) / 10)
    d = np.convolve(x.astype(float), h)[:20_000]
    f = NLMS(64)
    f.process(x, d + 1e-3 * d.std() * rng.standard_normal(20_000))
    # A mode of x with lambda of the mean power learns in taps/(eta lambda) samples; the weakest has
    # 1, 1/19 and 1/199 of the mean, so exp(-20000 * 0.5/64 lambda): all, all, and half of it.
    assert 20 * np.log10(np.linalg.norm(f.weights - h) / np.linalg.norm(h)) < left


def test_an_update_that_overflows_is_divergence_even_in_the_last_sample():
    f = NLMS(1, eps=0.0)
    f.process(np.ones(4, np.float32), np.ones(4, np.float32))
    w = f.weights
    with pytest.raises(DivergenceError):
        f.process(np.array([1e-22], np.float32), np.array([1.0], np.float32))
    assert np.array_equal(f.weights, w)


@pytest.mark.parametrize("order", [1, 2, 4, 7])
@pytest.mark.parametrize("taps", [8, 40])
@pytest.mark.parametrize("complex_", [False, True])
def test_affine_projection_is_the_plain_recursion(order, taps, complex_, rng):
    x = rng.standard_normal((400, 2)) + (1j * rng.standard_normal((400, 2)) if complex_ else 0)
    d = rng.standard_normal(400)
    f = AffineProjection(taps, order, 0.6)
    y, _ = f.process(x, d)
    y_slow, _, w_slow = slow.affine_projection(x, d, taps, order, 0.6)
    # At the start R has cond up to x'x/eps, and so have the outputs.
    assert np.allclose(y, y_slow, rtol=0, atol=1e-9)
    assert np.allclose(f.weights.ravel(), w_slow, rtol=0, atol=1e-9)


def test_it_learns_faster_than_nlms_on_a_coloured_reference(rng):
    noise = rng.standard_normal(4000)
    x = np.zeros(4000)
    for n in range(1, 4000):
        x[n] = 0.95 * x[n - 1] + noise[n]
    f, g = AffineProjection(5, 4), NLMS(5)
    f.process(x[:300], echo(x)[:300])
    g.process(x[:300], echo(x)[:300])
    assert np.linalg.norm(f.weights - H) < 0.1 * np.linalg.norm(g.weights - H)
