"""NLMS: the recursion at any level, through silence, spikes and quiet passages."""

from __future__ import annotations

import numpy as np
import pytest

import reference_filters as slow
from adaline import LMS, NLMS, AffineProjection, DivergenceError, FilteredXLMS

H = np.array([0.6, -0.4, 0.3, 0.0, 0.2])


def echo(x, h=H):
    return np.convolve(x, h)[: len(x)]


@pytest.mark.parametrize("taps", [1, 2, 3, 4, 5, 16, 61])
@pytest.mark.parametrize("eps", ["auto", 0.5])
@pytest.mark.parametrize("complex_", [False, True])
def test_the_kernel_is_the_plain_recursion(taps, eps, complex_, rng):
    x = rng.standard_normal(500) + (1j * rng.standard_normal(500) if complex_ else 0)
    d = rng.standard_normal(500)
    f = NLMS(taps, 0.7, eps)
    y, _ = f.process(x, d)
    y_slow, _, w_slow = slow.nlms(x, d, taps, 0.7, eps)
    # With noise as d outputs are of the size of d times what x'x may be below its mean.
    assert np.allclose(y, y_slow, rtol=0, atol=1e-11)
    assert np.allclose(f.weights, w_slow, rtol=0, atol=1e-11)


@pytest.mark.parametrize("kind", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("taps", [3, 4, 7, 8, 12, 15, 33])
def test_weights_that_fill_vectors_and_those_left_over_in_any_kind(taps, kind, rng):
    x, d = rng.standard_normal((2, 300)).astype(kind)
    x = x + 1j * rng.standard_normal(300).astype(x.real.dtype) if kind[0] == "c" else x
    whole, parts = NLMS(taps, 0.7), NLMS(taps, 0.7)
    y, _ = whole.process(x, d)
    cut = np.split(np.arange(300), [1, 3, 130, 131, 257])
    assert np.array_equal(np.concatenate([parts.process(x[at], d[at])[0] for at in cut]), y)
    assert np.array_equal(parts.weights, whole.weights)
    y_slow, _, w_slow = slow.nlms(x.astype(complex), d.astype(complex), taps, 0.7)
    # As above, where double precision leaves 1e-11.
    near = 1e-11 / np.finfo(float).eps * np.finfo(kind).eps
    assert np.allclose(y, y_slow, rtol=0, atol=near)
    assert np.allclose(whole.weights, w_slow, rtol=0, atol=near)


def test_float32_follows_float64(rng):
    x, d = rng.standard_normal((2, 2000)).astype(np.float32)
    y, _ = NLMS(32).process(x, d)
    z, _ = NLMS(32).process(x.astype(float), d.astype(float))
    assert np.abs(y - z).max() < 1e-4 * np.abs(z).max()  # float32 has 7 digits, 32 products


def test_one_full_step_brings_the_own_error_to_zero(rng):
    x, d = rng.standard_normal((2, 50))
    f = NLMS(4, eta=1.0, eps=0.0)
    f.process(x, d)
    line = x[:-5:-1]
    assert f.weights @ line == pytest.approx(d[-1], abs=1e-12)


@pytest.mark.parametrize("at", [1000, 1024, 1027, 1500])
def test_after_a_spike_it_is_the_plain_recursion_still(at, rng):
    x, d = rng.standard_normal((2, 4000))
    d += echo(x)
    x[at] = 1e9
    f = NLMS(16, 0.5)
    y, _ = f.process(x, d)
    y_slow, _, w_slow = slow.nlms(x, d, 16, 0.5)
    late = at + 16  # the spike has left the delay line
    assert np.allclose(y[:at], y_slow[:at], rtol=0, atol=1e-10)
    assert np.allclose(y[late:], y_slow[late:], rtol=0, atol=1e-6)  # 1e9 kept 1e-7 of its digits
    assert np.allclose(y[-500:], y_slow[-500:], rtol=0, atol=1e-10)
    assert np.allclose(f.weights, w_slow, rtol=0, atol=1e-10)


@pytest.mark.parametrize("level", [1e-6, 1e6])
def test_a_level_step_of_120_db_does_not_show_in_the_weights(level, rng):
    x = rng.standard_normal(10_000)
    x[5000:] *= level
    f = NLMS(5)
    _, e = f.process(x, echo(x))
    assert np.abs(e[4000:5000]).max() < 1e-12
    assert np.abs(e[5000:]).max() < 1e-9 * max(level, 1.0)
    assert np.allclose(f.weights, H, rtol=0, atol=1e-9)


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


def test_a_quiet_reference_with_a_loud_error_leaves_the_weights(rng):
    x = rng.standard_normal(15_000)
    x[5000:] *= 1e-3
    d = echo(x)
    d[5005:] += rng.standard_normal(9995)  # someone speaks once the reference has gone quiet
    f, bold = NLMS(5), NLMS(5, eps=0.0)
    f.process(x, d)
    bold.process(x, d)
    # A walk of 10,000 steps of eta |e| |x|/eps = 0.5 * 2e-3/(10 to 100 times 5): some 1e-3.
    assert np.linalg.norm(f.weights - H) < 1e-2
    assert np.linalg.norm(bold.weights - H) > 10  # what "auto" is there for


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


@each
def test_it_does_not_start_over_where_the_weights_are_of_use(make, rng):
    x = rng.standard_normal(6000)
    x[:3000] *= 1e-3  # quiet, but d is nothing but the echo of it
    f = make(8)
    _, e = f.process(x[:3000], echo(x)[:3000])
    before = f.weights
    _, e = f.process(x[3000:], echo(x)[3000:])
    assert np.abs(e).max() < 0.1
    assert np.allclose(before[:5], H, rtol=0, atol=0.05)


def test_clicks_are_learned_and_do_not_start_it_over_again_and_again(rng):
    x = np.zeros(60_000)
    x[500::1000] = rng.standard_normal(60) + 2.0
    d = echo(x) + 1e-3 * rng.standard_normal(60_000)
    f = NLMS(5)
    f.process(x, d)
    # Each click moves each weight half of the way.
    assert np.linalg.norm(f.weights - H) < 0.01


@each
@pytest.mark.parametrize("cut", [1, 130, 499, 501, 502, 503, 512])
def test_starting_over_does_not_depend_on_the_cutting(make, cut, rng):
    x, d = rng.standard_normal((2, 1000))
    x[:500] *= 1e-3
    whole, parts = make(6), make(6)
    y, _ = whole.process(x, d)
    first, second = parts.process(x[:cut], d[:cut]), parts.process(x[cut:], d[cut:])
    assert np.array_equal(np.append(first[0], second[0]), y)
    assert np.array_equal(parts.weights, whole.weights)
    scaled = make(6)
    z, _ = scaled.process(2.0**20 * x, 2.0**-30 * d)
    assert np.array_equal(z, 2.0**-30 * y)


def test_rows_start_over_too(rng):
    x, d = rng.standard_normal((2, 1000))
    x[:500] *= 1e-3
    rows = slow.delay_line(x, 6)
    for make in (NLMS, LMS, AffineProjection):
        y, _ = make(6).process_rows(rows, d)
        z, _ = make(6).process(x, d)
        # The same recursion, but that rows look at the power every 32 rows of a call.
        assert np.allclose(y, z, rtol=0, atol=1e-6 * np.abs(z).max())


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


def test_after_a_quiet_start_it_learns_at_the_new_level(rng):
    x = rng.standard_normal(6000)
    x[:3000] *= 1e-9
    f = NLMS(5)
    f.process(x, echo(x))
    assert np.allclose(f.weights, H, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("eps", ["auto", 0.0])
def test_silence_before_the_first_sound_in_any_kind(kind, eps, rng):
    x, d = rng.standard_normal((2, 528)).astype(kind)
    x[:128] = 0.0
    f, later = NLMS(16, eps=eps), NLMS(16, eps=eps)
    y, e = f.process(x, d)
    assert not y[:128].any()
    assert np.array_equal(e[:128], d[:128])
    # Silence teaches nothing. After 128 samples, the period of all sums, the bits are the same.
    assert np.array_equal(later.process(x[128:], d[128:])[0], y[128:])
    assert np.array_equal(later.weights, f.weights)


def test_a_spike_that_squared_overflows_float32_is_survived(rng):
    x = rng.standard_normal(4000)
    x[2000] = 1e25
    f = NLMS(5)
    f.process(x.astype(np.float32), echo(x).astype(np.float32))
    assert np.allclose(f.weights, H, rtol=0, atol=1e-4)


def test_an_update_that_overflows_is_divergence_even_in_the_last_sample():
    f = NLMS(1, eps=0.0)
    f.process(np.ones(4, np.float32), np.ones(4, np.float32))
    w = f.weights
    with pytest.raises(DivergenceError):
        f.process(np.array([1e-22], np.float32), np.array([1.0], np.float32))
    assert np.array_equal(f.weights, w)


def test_constant_input(rng):
    f = NLMS(4)
    y, _ = f.process(np.full(500, 3.0), np.full(500, 6.0))
    assert y[-1] == pytest.approx(6.0, abs=1e-9)
    assert f.weights.sum() == pytest.approx(2.0, abs=1e-9)


@pytest.mark.parametrize("scale", [1e-30, 1e-100, 1e30, 1e100])
def test_units_far_from_one_work(scale, rng):
    x = rng.standard_normal(2000)
    f = NLMS(5)
    _, e = f.process(scale * x, scale * echo(x))
    assert np.abs(e[-100:]).max() < 1e-9 * scale
    assert np.allclose(f.weights, H, rtol=0, atol=1e-9)


def test_long_streams_do_not_drift(rng):
    x = rng.standard_normal(300_000)
    x *= 1 + 100 * (np.sin(np.arange(300_000) / 3000) > 0.9)
    f = NLMS(32)
    f.process(x, echo(x))
    assert np.allclose(f.weights[:5], H, rtol=0, atol=1e-11)
    assert np.abs(f.weights[5:]).max() < 1e-11


@pytest.mark.parametrize("eta", [0.0, -0.5, 2.0, np.nan, "auto", True])
def test_eta_is_between_zero_and_two(eta):
    with pytest.raises(ValueError, match="eta is"):
        NLMS(4, eta)


@pytest.mark.parametrize("eps", [-1.0, np.inf, "small", None])
def test_eps_is_a_number_or_auto(eps):
    with pytest.raises(ValueError, match="eps is"):
        NLMS(4, eps=eps)
