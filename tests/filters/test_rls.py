"""RLS: the recursion, the least squares it must equal, and the ways in which it used to die."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import reference_filters as slow
from adaline import RLS
from adaline.errors import DivergenceError

H = np.array([0.6, -0.4, 0.3, 0.0, 0.2])


def echo(x, h=H):
    return np.convolve(x, h)[: len(x)]


@pytest.mark.parametrize("forgetting", [1.0, 0.99, 0.9])
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("complex_", [False, True])
def test_the_kernel_is_the_plain_recursion(forgetting, channels, complex_, rng):
    shape = (300, channels)
    x = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if complex_ else 0)
    d = rng.standard_normal(300)
    f = RLS(7, forgetting, delta=0.5)
    y, _ = f.process(x, d)
    y_slow, _, w_slow, P_slow = slow.rls(x, d, 7, forgetting, 0.5)
    # 14 weights from a window of 10 samples: outputs of some tens, and so their rounding.
    assert np.allclose(y, y_slow, rtol=0, atol=1e-10)
    assert np.allclose(f.weights.ravel(), w_slow, rtol=0, atol=1e-10)
    assert np.allclose(f.inverse, P_slow, rtol=0, atol=1e-10)


@pytest.mark.parametrize("complex_", [False, True])
def test_it_is_weighted_least_squares(complex_, rng):
    x = rng.standard_normal(500) + (1j * rng.standard_normal(500) if complex_ else 0)
    d = echo(x) + rng.standard_normal(500)
    f = RLS(6, 0.98, delta=0.3)
    f.process(x, d)
    assert np.allclose(f.weights, slow.weighted_least_squares(x, d, 6, 0.98, 0.3), atol=1e-11)


@pytest.mark.parametrize("taps", [1, 2, 3, 7, 8, 9, 16, 31, 64, 100])
def test_the_inverse_is_symmetric_to_the_last_bit(taps, rng):
    x, d = rng.standard_normal((2, 1003))
    f = RLS(taps, 0.99)
    f.process(x, d)
    assert np.array_equal(f.inverse, f.inverse.T)


def test_a_complex_inverse_is_hermitian_to_the_last_bit(rng):
    x = rng.standard_normal(503) + 1j * rng.standard_normal(503)
    f = RLS(9, 0.95)
    f.process(x, x)
    assert np.array_equal(f.inverse, f.inverse.conj().T)


@pytest.mark.parametrize("taps", [17, 65, 129, 264, 300])
@pytest.mark.parametrize("complex_", [False, True])
def test_long_filters_are_the_plain_recursion_however_they_are_cut(taps, complex_, rng):
    n = 333
    x = rng.standard_normal(n) + (1j * rng.standard_normal(n) if complex_ else 0)
    d = rng.standard_normal(n)
    f, parts = RLS(taps, 0.999, delta=0.5), RLS(taps, 0.999, delta=0.5)
    y, _ = f.process(x, d)
    cuts = [0, 1, 2, 3, 5, 10, 129, 130, n]
    pieces = [parts.process(x[a:b], d[a:b])[0] for a, b in pairwise(cuts)]
    assert np.array_equal(np.concatenate(pieces), y)
    assert np.array_equal(parts.inverse, f.inverse)
    y_slow, _, w_slow, P_slow = slow.rls(x, d, taps, 0.999, 0.5)
    # About as many weights as samples: P has a condition of some thousands, and y of some tens.
    assert np.allclose(y, y_slow, rtol=0, atol=1e-9)
    assert np.allclose(f.weights, w_slow, rtol=0, atol=1e-9)
    assert np.allclose(f.inverse, P_slow, rtol=0, atol=1e-9)


@pytest.mark.parametrize("taps", [5, 70])
def test_looking_at_it_changes_nothing(taps, rng):
    x, d = rng.standard_normal((2, 90))
    f, watched = RLS(taps, 0.97), RLS(taps, 0.97)
    y, _ = f.process(x, d)
    seen = []
    for k in range(0, 90, 3):
        seen.append(watched.process(x[k : k + 3], d[k : k + 3])[0])
        watched.state()
        P = watched.inverse
        assert np.array_equal(P, P.T)
        watched.weights = watched.weights
        watched = RLS.from_state(watched.state())
    assert np.array_equal(np.concatenate(seen), y)
    assert np.array_equal(watched.weights, f.weights)
    assert np.array_equal(watched.inverse, f.inverse)


@pytest.mark.parametrize("taps", [4, 90])
@pytest.mark.parametrize("start", [100, 101, 103])
@pytest.mark.parametrize("length", [1, 3, 9])
def test_a_block_that_fails_leaves_every_bit(taps, start, length, rng):
    x, d = rng.standard_normal((2, start + 40))
    f = RLS(taps, 0.99)
    f.process(x[:start], d[:start])
    f.weights = 1e200 * np.ones(taps)
    f = RLS.from_state(f.state() | {"memory.gain": 0.0})  # as if it had grown to that by itself
    untouched = RLS.from_state(f.state())
    before = f.state()
    with pytest.raises(DivergenceError):
        f.process(np.ones(length), np.ones(length))
    after = f.state()
    assert all(np.array_equal(before[name], after[name]) for name in before)
    for g in (f, untouched):
        g.weights = np.zeros(taps)
    y, _ = f.process(x[start:], d[start:])
    assert np.array_equal(y, untouched.process(x[start:], d[start:])[0])


@pytest.mark.parametrize("forgetting", [0.01, 1e-6])
def test_what_forgets_at_once_still_learns_and_stays_finite(forgetting, rng):
    x, d = rng.standard_normal((2, 3000))
    f = RLS(3, forgetting)
    _, e = f.process(x, d)
    # An update by x multiplies the error at x by lambda/(lambda + x^H P x).
    assert abs(d[-1] - f.weights @ x[:-4:-1]) < abs(e[-1])
    assert np.isfinite(f.inverse).all()
    assert np.linalg.eigvalsh(f.inverse).min() > 0


def decibels(error, oracle):
    return 10 * np.log10(np.sum(np.abs(error) ** 2) / np.sum(np.abs(oracle) ** 2))


@pytest.mark.parametrize(
    ("taps", "forgetting", "kind"),
    [
        (16, 0.99, "float64"),
        (16, 0.99, "float32"),
        (16, 1.0, "float32"),
        (64, 0.999, "float64"),
        (64, 0.999, "float32"),
        (64, 1.0, "float64"),
        (256, 0.999, "float32"),
    ],
)
def test_after_200_000_samples_it_is_as_good_as_least_squares(taps, forgetting, kind, rng):
    n = 200_000
    h = rng.standard_normal(taps) * 0.9 ** np.arange(taps)
    x = rng.standard_normal(n)
    x[1:] += 0.8 * x[:-1]
    x = x.astype(kind)
    d = (echo(x, h) + 0.1 * rng.standard_normal(n)).astype(kind)
    f = RLS(taps, forgetting)
    f.process(x, d)
    # What is older than 40/(1 - forgetting) samples counts less than rounding.
    window = n if forgetting == 1.0 else int(40 / (1 - forgetting))
    before = np.append(np.zeros(taps - 1), x)
    rows = np.lib.stride_tricks.sliding_window_view(before, taps)[-window:, ::-1]
    root = np.sqrt(forgetting ** np.arange(len(rows) - 1, -1, -1.0))[:, None]
    gram = (rows * root).T @ (rows * root)
    oracle = np.linalg.solve(gram, (rows * root).T @ (d[-len(rows) :, None] * root))[:, 0]
    assert abs(decibels(f.weights - h, oracle - h)) < 0.5
    assert decibels(f.weights - oracle, oracle - h) < -40


@pytest.mark.parametrize("forgetting", [0.9, 0.99, 0.999])
def test_80_000_zeros_do_not_wind_it_up(forgetting, rng):
    x = rng.standard_normal(2000)
    f = RLS(16, forgetting)
    f.process(x, echo(x))
    f.process(np.zeros(16), np.zeros(16))
    before = f.inverse
    y, _ = f.process(np.zeros(80_000), rng.standard_normal(80_000))
    assert not y.any()
    assert np.abs(f.inverse).max() <= np.abs(before).max() * (1 + 1e-12)
    x = rng.standard_normal(20_000)
    _, e = f.process(x, -2 * echo(x))
    assert np.allclose(f.weights[:5], -2 * H, rtol=0, atol=1e-6)
    assert np.abs(e[-500:]).max() < 1e-6


def test_silence_first_is_no_trouble(rng):
    x = rng.standard_normal(1000)
    f = RLS(5)
    y, _ = f.process(np.zeros(1001), rng.standard_normal(1001))
    assert not y.any()
    f.process(x, echo(x))
    # What delta, a hundredth of one sample, weighs against some 600.
    assert np.allclose(f.weights, H, rtol=0, atol=1e-4)


def test_a_tone_excites_two_directions_and_the_rest_stays_bounded(rng):
    t = np.arange(200_000)
    tone, wanted = np.sin(0.3 * t), np.sin(0.3 * t + 1.0)
    f = RLS(16, 0.99)
    _, e = f.process(tone, wanted)
    assert np.abs(e[-1000:]).max() < 1e-6
    assert np.isfinite(f.inverse).all()
    assert f.inverse.max() < 1e12
    _, e = f.process(tone, -3 * wanted)  # and it still follows
    assert np.abs(e[3000:]).max() < 1e-6
    x = rng.standard_normal(5000)
    f.process(x, echo(x))
    assert np.allclose(f.weights[:5], H, rtol=0, atol=1e-6)


@pytest.mark.parametrize("signal", ["constant", "spike", "louder", "quieter", "few bits"])
@pytest.mark.parametrize("forgetting", [0.99, 1.0])
def test_signals_that_break_naive_code(signal, forgetting, rng):
    x = rng.standard_normal(30_000)
    special = {
        "constant": np.full(10_000, 3.0),
        "spike": np.where(np.arange(10_000) == 5003, 1e9, x[10_000:20_000]),
        "louder": 1e6 * x[10_000:20_000],
        "quieter": 1e-6 * x[10_000:20_000],
        "few bits": np.sign(x[10_000:20_000]),
    }
    x[10_000:20_000] = special[signal]
    f = RLS(8, forgetting)
    _, e = f.process(x, echo(x))
    assert np.isfinite(e).all()
    assert np.abs(e[25_000:]).max() < 1e-6
    assert np.allclose(f.weights[:5], H, rtol=0, atol=1e-6)
    assert np.linalg.eigvalsh(f.inverse).min() > 0


def test_the_textbook_recursion_dies_where_this_one_lives(rng):
    x = rng.standard_normal(40_000)
    f = RLS(16, 0.98)
    f.process(x, echo(x))
    assert np.allclose(f.weights[:5], H, rtol=0, atol=1e-9)
    assert np.linalg.eigvalsh(f.inverse).min() > 0


def test_rows_are_the_delay_line_spelled_out(rng):
    x = rng.standard_normal(203)
    d = echo(x) + rng.standard_normal(203)
    f, g = RLS(5, 0.99, 0.1), RLS(5, 0.99, 0.1)
    y, _ = f.process(x, d)
    rows = slow.delay_line(x, 5)
    got = [g.process_rows(rows[:77], d[:77])[0], g.process_rows(rows[77:], d[77:])[0]]
    assert np.array_equal(np.concatenate(got), y)
    assert np.array_equal(f.weights, g.weights)


def test_squares_that_underflow_are_silence(rng):
    x = rng.standard_normal(1000)
    f = RLS(5)
    y, _ = f.process(1e-160 * x, x)
    assert not y.any()
    f.process(x, echo(x))
    assert np.allclose(f.weights, H, rtol=0, atol=1e-4)


def test_the_inverse_is_unknown_before_the_first_block():
    with pytest.raises(ValueError, match="first block"):
        RLS(4).inverse  # noqa: B018


@pytest.mark.parametrize("forgetting", [0.0, -0.1, 1.01, np.nan, "auto"])
def test_forgetting_is_a_factor(forgetting):
    with pytest.raises(ValueError, match="forgetting is"):
        RLS(4, forgetting)


@pytest.mark.parametrize("delta", [0.0, -1.0, np.inf, "small"])
def test_delta_is_positive_or_auto(delta):
    with pytest.raises(ValueError, match="delta is"):
        RLS(4, delta=delta)
