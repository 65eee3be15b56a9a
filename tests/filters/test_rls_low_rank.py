"""RLS on signals that excite fewer directions than it has weights: nothing explodes."""

from __future__ import annotations

import numpy as np
import pytest

import reference_filters as slow
from adaline import RLS
from adaline.errors import DivergenceError


def syllables(n, rng):
    """Harmonics that glide, in syllables that fade in and out, with pauses of exact zeros."""
    x, at = np.zeros(n), 0
    while at < n:
        length = int(rng.integers(900, 2400))
        glide = rng.uniform(0.012, 0.024) * np.linspace(1.0, rng.uniform(0.85, 1.15), length)
        turns = np.cumsum(glide)
        sound = sum(np.sin(2 * np.pi * k * turns) / k for k in range(1, 16))
        x[at : at + length] = (sound * np.hanning(length))[: n - at]
        at += length + int(rng.integers(0, 2)) * 1000
    return x


def scene(seed, n, length=48):
    rng = np.random.default_rng(seed)
    x = syllables(n, rng)
    h = rng.standard_normal((2, length)) * np.exp(-4 * np.arange(length) / length)
    d = np.convolve(x, h[0])[:n]
    d[n // 2 :] = np.convolve(x, h[1])[:n][n // 2 :]  # the path changes
    d[n // 2 + n // 8 :] += 0.5 * syllables(n, rng)[n // 2 + n // 8 :]  # double talk
    return x, d


@pytest.mark.parametrize("kind", ["real", "complex"])
def test_without_forgetting_it_is_least_squares_after_every_sample(kind):
    x, d = scene(0, 3000)
    if kind == "complex":
        turn = np.exp(0.1j * np.arange(len(x)))
        x, d = x * turn, d * turn
    f = RLS(64, 1.0)
    _, e = f.process(x, d)
    delta = 0.01 * abs(x[np.flatnonzero(x)[0]]) ** 2
    for n in (300, 1501, 2999):
        w = slow.weighted_least_squares(x[:n], d[:n], 64, 1.0, delta)
        expected = d[n] - np.vdot(w, slow.delay_line(x[: n + 1], 64)[-1])
        # cond(R) is 1e9 to 1e10 here, times some thousand roundings.
        assert abs(e[n] - expected) < 1e-4 * np.abs(d).max()


@pytest.mark.parametrize("forgetting", [1.0, 0.99995, 0.999])
def test_errors_stay_in_proportion_to_the_signals(forgetting):
    for seed in range(4):
        x, d = scene(seed, 6000)
        _, e = RLS(128, forgetting).process(x, d)
        assert np.abs(e).max() < 3 * np.abs(d).max()


def test_an_indefinite_inverse_keeps_errors_in_proportion_or_is_refused(rng):
    x, d = rng.standard_normal((2, 400))
    f = RLS(8, 1.0)
    f.process(x[:100], d[:100])
    for share in (1e-9, 1e-3, 2.0):
        state = f.state()
        P = state["memory.matrix"]
        sizes, turns = np.linalg.eigh(P)
        P -= (1.0 + share) * sizes[0] * np.outer(turns[:, 0], turns[:, 0])  # one is below zero
        g = RLS.from_state(state)
        try:
            _, e = g.process(x[100:], d[100:])
        except DivergenceError:
            continue
        assert np.abs(e).max() < 10 * np.abs(d).max()


def test_an_error_of_divergence_says_what_helps_with_rls(rng):
    x, d = rng.standard_normal((2, 60))
    f = RLS(3)
    f.process(x[:20], d[:20])
    f.weights = [1e200, 0.0, 0.0]
    f = RLS.from_state(f.state() | {"memory.gain": 0.0})  # as if they had grown by themselves
    with pytest.raises(DivergenceError, match="larger delta"):
        f.process(x[20:], d[20:])
