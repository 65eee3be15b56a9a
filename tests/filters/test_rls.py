"""RLS: the recursion, the least squares it must equal, and the ways in which it used to die."""

from __future__ import annotations

import numpy as np
import pytest

import reference_filters as slow
from adaline import RLS

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


def decibels(error, oracle):
    return 10 * np.log10(np.sum(np.abs(error) ** 2) / np.sum(np.abs(oracle) ** 2))


@pytest.mark.parametrize(
    ("taps", "forgetting", "kind"),
    [
        (16, 0.99, "float64"),
        (16, 1.0, "float32"),
        (64, 0.999, "float32"),
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


LEVELS = [1e-8, 1e-4, 1.0, 1e4, 1e8]


def off(f, x, d, delta=None):
    """The error of the weights, relative to the largest."""
    delta = f.delta if delta is None else delta
    w = slow.exact_least_squares(x, d, f.taps, f.forgetting, delta)
    return np.abs(f.weights - w).max() / np.abs(w).max()


def auto_delta(x):
    return 0.01 * abs(np.asarray(x)[np.flatnonzero(x)[0]]) ** 2


# Weights that a quiet start left huge cancel when x becomes loud: of 16 digits that costs as many
# as the level rises by, half of them for 160 dB (a 24-bit converter spans 144 dB).
CLOSE = 1e-6


@pytest.mark.parametrize("forgetting", [1.0, 0.875])
@pytest.mark.parametrize("taps", [1, 3])
@pytest.mark.parametrize("first", LEVELS)
@pytest.mark.parametrize("then", LEVELS)
def test_after_every_sample_it_is_the_minimiser(forgetting, taps, first, then, rng):
    for delta in ("auto", 1.0, 1e-12):
        start = auto_delta([first]) if delta == "auto" else delta
        if then > 1e8 * first or then**2 > 1e20 * start:
            continue
        for quiet in (1, 3):
            x = then * rng.standard_normal(9)
            x[:quiet] *= first / then
            d = rng.standard_normal(9)
            f = RLS(taps, forgetting, delta)
            for n in range(9):
                f.process(x[n : n + 1], d[n : n + 1])
                if n in (0, 1, 3, 4, 8):
                    so_far = x[: n + 1]
                    given = auto_delta(x) if delta == "auto" else delta
                    assert off(f, so_far, d[: n + 1], given) < CLOSE


def test_a_negative_variance_is_refused(rng):
    f = RLS(3, 1.0, 1e-12)
    f.process(*rng.standard_normal((2, 5)))
    state = f.state()
    state["memory.D"][0] = -1.0
    with pytest.raises(ValueError, match="negative variance"):
        RLS.from_state(state)


@pytest.mark.parametrize("level", [1.0, 1e6])
def test_delta_pulls_towards_the_weights_that_were_given(level, rng):
    x, d, w0 = level * rng.standard_normal(6), rng.standard_normal(6), np.array([1.0, -2.0, 0.5])
    f = RLS(3, 0.875, 0.5, weights=w0)
    f.process(x, d)
    # |w - w0| is least for what is left of d.
    left = d - np.convolve(x, w0)[:6]
    expected = w0 + slow.exact_least_squares(x, left, 3, 0.875, 0.5)
    assert np.allclose(f.weights, expected, rtol=0, atol=1e-9 * np.abs(w0).max())
