"""RLS beside least squares in rational arithmetic: at every level, after quiet and loud starts."""

from __future__ import annotations

import numpy as np
import pytest

import reference_filters as slow
from adaline import RLS
from adaline.errors import DivergenceError

LEVELS = [1e-8, 1e-4, 1.0, 1e4, 1e8]


def off(f, x, d, delta=None):
    """The error of the weights, relative to the largest."""
    delta = f.delta if delta is None else delta
    w = slow.exact_least_squares(x, d, f.taps, f.forgetting, delta)
    return np.abs(f.weights - w).max() / np.abs(w).max()


def auto_delta(x):
    return 0.01 * abs(np.asarray(x)[np.flatnonzero(x)[0]]) ** 2


def test_two_loud_samples_count_the_same():
    f = RLS(1, forgetting=1.0, delta=1.0)
    f.process([1e6, 1e6], [2e6, 3e6])
    assert f.weights[0] == pytest.approx(2.5, rel=1e-12)  # 2.5 less 1e-12 of it, by delta


@pytest.mark.parametrize("n", [10, 100])
def test_audio_that_begins_with_one_step_of_its_converter(n):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = np.round(8000 * rng.standard_normal(n))
        x[0] = 1.0
        d = np.convolve(x, [0.5, 0.3, -0.2, 0.1])[:n] + np.round(100 * rng.standard_normal(n))
        f = RLS(4, forgetting=1.0)
        f.process(x.astype(np.int16), d)
        # Rotations: some n roundings; the plain recursion is 2e-7 off.
        assert off(f, x, d, delta=0.01) < 1e-12


# P is used where x^H P x <= 1e6: its digits are then 1e-16 * 1e6, and innovations may be sqrt(1e6)
# times what is left of them in w. A product of both is 1e-7; factors lose only rounding.
CLOSE = 1e-6


@pytest.mark.parametrize("forgetting", [1.0, 0.875])
@pytest.mark.parametrize("taps", [1, 3])
@pytest.mark.parametrize("first", LEVELS)
@pytest.mark.parametrize("then", LEVELS)
def test_after_every_sample_it_is_the_minimiser(forgetting, taps, first, then, rng):
    for delta in ("auto", 1.0, 1e-12):
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


@pytest.mark.parametrize("kind", ["rows", "channels", "complex"])
def test_the_same_for_rows_channels_and_complex_signals(kind, rng):
    for first, then in ((1.0, 1e8), (1e-6, 1.0), (1e8, 1.0)):
        x, d = rng.standard_normal((12, 2)), rng.standard_normal(12)
        x = x[:, 0] + 1j * x[:, 1] if kind == "complex" else x
        x = x * np.where(np.arange(12) < 4, first, then).reshape(-1, *[1] * (x.ndim - 1))
        f = RLS(2, 1.0, 1e-3)
        if kind == "rows":
            f.process_rows(x, d)
            g = RLS(1, 1.0, 1e-3)
            g.process(x, d)  # two channels of one tap are rows of two
            assert np.array_equal(f.weights, g.weights.ravel())
        else:
            f.process(x, d)
            w = slow.exact_least_squares(x, d, 2, 1.0, 1e-3)
            assert np.abs(f.weights.ravel() - w).max() < CLOSE * np.abs(w).max()


def test_levels_that_rise_step_by_step_along_one_direction(rng):
    # No sample is far louder than the one before, but along (1, 1) all of them add up to 1e18.
    rows = np.ones((220, 2)) * 1.1 ** np.arange(220)[:, None]
    rows[:20:7, 1] *= -1.0
    d = rows @ [0.3, -0.2] + 0.1 * rng.standard_normal(220)
    f = RLS(2, 1.0, 1.0)
    f.process_rows(rows, d)
    w = slow.exact_least_squares(rows, d, 1, 1.0, 1.0)  # two channels of one tap
    # P is looked at every 32 samples: 1e-16 of 1e9, times 1.1^64 until the next look.
    assert np.abs(f.weights - w).max() < 1e-4 * np.abs(w).max()


@pytest.mark.parametrize("kind", ["float64", "complex128"])
def test_rotations_end_and_any_cutting_gives_the_same_bits(kind, rng):
    x = rng.standard_normal(300).astype(kind)
    x = x * (1 + 0.5j) if kind == "complex128" else x
    x[:5] *= 1e-6
    x[130:170] *= 1e-9
    x[170] *= 1e5
    d = np.convolve(x, [0.5, -0.2, 0.1])[:300]
    whole = RLS(7, 0.98)
    y, e = whole.process(x, d)
    for cuts in ([1, 2, 3, 5, 6, 7, 8, 9, 31, 32, 33], range(300), [64, 171, 172, 200]):
        parts, modes = RLS(7, 0.98), set()
        got = []
        for part in np.split(np.arange(300), list(cuts)):
            got.append(parts.process(x[part], d[part]))
            if part.size:
                modes.add(bool(parts.state()["memory.rotating"]))
                assert np.allclose(parts.inverse, parts.inverse.conj().T, rtol=0, atol=0)
                assert np.linalg.eigvalsh(parts.inverse).min() > 0
            parts = RLS.from_state(parts.state()) if parts.dtype is not None else parts
        assert np.array_equal(np.concatenate([v for v, _ in got]), y)
        assert np.array_equal(np.concatenate([v for _, v in got]), e)
        assert np.array_equal(parts.weights, whole.weights)
    assert modes == {True, False}  # both ways were taken,
    assert not whole.state()["memory.rotating"]  # and the fast one last
    assert np.allclose(whole.weights, [*np.conj([0.5, -0.2, 0.1]), 0, 0, 0, 0], rtol=0, atol=1e-6)


def test_weights_and_state_while_rotations_run(rng):
    x, d = rng.standard_normal((2, 40))
    f = RLS(3, 1.0, 1e-12)
    f.process(x[:5], d[:5])
    assert f.state()["memory.rotating"]
    f.weights = [1.0, 2.0, 3.0]
    assert f.weights.tolist() == [1.0, 2.0, 3.0]
    twin = RLS.from_state(f.state())
    y, _ = f.process(x[5:], d[5:])
    assert y[0] == pytest.approx(np.dot([1.0, 2.0, 3.0], x[5:2:-1]), abs=1e-12)
    assert np.array_equal(twin.process(x[5:], d[5:])[0], y)


def test_a_block_that_fails_while_rotations_run_leaves_every_bit(rng):
    x, d = rng.standard_normal((2, 60))
    f = RLS(3, 1.0, 1e-12)
    f.process(x[:5], d[:5])
    f.weights = [1e200, 0.0, 0.0]
    f = RLS.from_state(f.state() | {"memory.gain": 0.0})  # as if they had grown by themselves
    before = f.state()
    with pytest.raises(DivergenceError):
        f.process(x[5:], d[5:])
    after = f.state()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_a_factor_that_has_no_inverse_is_refused(rng):
    f = RLS(3, 1.0, 1e-12)
    f.process(*rng.standard_normal((2, 5)))
    state = f.state()
    state["memory.matrix"][0, 0] = 0.0
    with pytest.raises(ValueError, match="no inverse"):
        RLS.from_state(state)


def test_forgetting_in_silent_directions_stays_bounded(rng):
    x = np.full(20_000, 1e6)
    f = RLS(4, 0.9, 1e-9)
    y, _ = f.process(x, x)
    assert np.isfinite(f.inverse).all()
    assert y[-1] == pytest.approx(1e6, rel=1e-9)
    x = rng.standard_normal(2000)
    f.process(x, np.convolve(x, [0.5, 0.2])[:2000])
    assert np.allclose(f.weights, [0.5, 0.2, 0.0, 0.0], rtol=0, atol=1e-6)


@pytest.mark.parametrize("level", [1.0, 1e6])
def test_delta_pulls_towards_the_weights_that_were_given(level, rng):
    x, d, w0 = level * rng.standard_normal(6), rng.standard_normal(6), np.array([1.0, -2.0, 0.5])
    f = RLS(3, 0.875, 0.5, weights=w0)
    f.process(x, d)
    # |w - w0| is least for what is left of d.
    left = d - np.convolve(x, w0)[:6]
    expected = w0 + slow.exact_least_squares(x, left, 3, 0.875, 0.5)
    assert np.allclose(f.weights, expected, rtol=0, atol=1e-9 * np.abs(w0).max())
