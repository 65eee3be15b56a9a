"""Laws of adaptive filters: streams, scales, limits, and what equals what."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_filters as slow
from adaline import (
    LMS,
    NLMS,
    RLS,
    AffineProjection,
    BlockLMS,
    LeastSquares,
    OverK,
    SearchThenConverge,
)
from adaline.errors import DivergenceError

MAKERS = {
    "LMS": lambda taps: LMS(taps),
    "LMS, constant": lambda taps: LMS(taps, 0.1 / taps),
    "LMS, schedule and leak": lambda taps: LMS(taps, SearchThenConverge(0.1 / taps, 20.0), 0.1),
    "LMS, sign of error": lambda taps: LMS(taps, OverK(0.1), sign="error"),
    "LMS, sign of data": lambda taps: LMS(taps, 0.01 / taps, sign="data"),
    "NLMS": lambda taps: NLMS(taps),
    "NLMS, fixed eps": lambda taps: NLMS(taps, 1.0, 0.1),
    "affine projection": lambda taps: AffineProjection(taps, 3),
    "RLS": lambda taps: RLS(taps, 0.98),
    "RLS, no forgetting": lambda taps: RLS(taps, 1.0, 0.1),
}
each = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
seeds = st.integers(0, 2**32 - 1)
tap_counts = st.sampled_from([1, 2, 3, 4, 5, 8, 17])


def noise(seed, n=200, channels=1, kind="real"):
    """Noise with silent stretches, and a noisy linear function of it."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, channels))
    if kind == "complex":
        x = x + 1j * rng.standard_normal((n, channels))
    if seed % 3 == 0:
        x[n // 4 : n // 2] = 0.0
    h = rng.standard_normal(6)
    return x, np.convolve(x.sum(axis=1), h)[:n] + 0.1 * rng.standard_normal(n)


def joined(blocks):
    return [np.concatenate(part) for part in zip(*blocks, strict=True)]


@each
@settings(max_examples=15)
@given(
    seed=seeds,
    taps=tap_counts,
    channels=st.integers(1, 2),
    kind=st.sampled_from(["real", "real", "complex"]),
    data=st.data(),
)
def test_any_cutting_equals_one_shot_bit_for_bit(make, seed, taps, channels, kind, data):
    x, d = noise(seed, channels=channels, kind=kind)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(d)), max_size=8)))
    whole, parts = make(taps), make(taps)
    y, e = whole.process(x, d)
    got = []
    for part in np.split(np.arange(len(d)), cuts):
        got.append(parts.process(x[part], d[part]))
        if data.draw(st.booleans()):
            parts = type(parts).from_state(parts.state())
    y_parts, e_parts = joined(got)
    assert np.array_equal(y_parts, y)
    assert np.array_equal(e_parts, e)
    assert np.array_equal(parts.weights, whole.weights)


@pytest.mark.parametrize(
    "make",
    [MAKERS[k] for k in ("LMS", "NLMS", "affine projection", "RLS")],
    ids=["LMS", "NLMS", "affine projection", "RLS"],
)
@settings(max_examples=15)
@given(seed=seeds, taps=tap_counts, a=st.integers(-40, 40), b=st.integers(-40, 40))
def test_units_of_x_and_d_scale_the_weights_and_nothing_else(make, seed, taps, a, b):
    x, d = noise(seed)
    plain, scaled = make(taps), make(taps)
    y, _ = plain.process(x, d)
    y_scaled, _ = scaled.process(x * 2.0**a, d * 2.0**b)
    assert np.array_equal(y_scaled, y * 2.0**b)  # powers of two round like one
    assert np.array_equal(scaled.weights, plain.weights * 2.0 ** (b - a))


@settings(max_examples=20)
@given(seed=seeds, taps=tap_counts, eta=st.floats(0.1, 1.9), fixed=st.booleans())
def test_nlms_is_affine_projection_of_order_one(seed, taps, eta, fixed):
    x, d = noise(seed)
    eps = 0.1 if fixed else "auto"
    f, g = NLMS(taps, eta, eps), AffineProjection(taps, 1, eta, eps)
    y, _ = f.process(x, d)
    z, _ = g.process(x, d)
    # The same mathematics in another order; each sample rounds some 10 * taps operations.
    scale = max(1.0, np.abs(y).max())
    assert np.allclose(y, z, rtol=0, atol=1e-10 * scale)
    assert np.allclose(f.weights, g.weights, rtol=0, atol=1e-10 * scale)


@settings(max_examples=20)
@given(seed=seeds, taps=tap_counts, delta=st.sampled_from([1e-3, 0.1, 10.0]))
def test_rls_without_forgetting_is_least_squares_on_the_rows(seed, taps, delta):
    x, d = noise(seed)
    f = RLS(taps, 1.0, delta)
    f.process(x, d)
    padded = np.append(np.zeros(taps - 1), x[:, 0])
    rows = np.lib.stride_tricks.sliding_window_view(padded, taps)[:, ::-1]
    # delta |w|^2 is what taps more rows, sqrt(delta) I with target 0, add to the squares.
    X = np.vstack([rows, np.sqrt(delta) * np.eye(taps)])
    fit = LeastSquares(fit_intercept=False).fit(X, np.append(d, np.zeros(taps)))
    # RLS keeps P, and loses what its condition takes; 1e-8 of the largest weight is far above.
    size = np.abs(fit.coef_).max()
    assert np.allclose(f.weights, fit.coef_, rtol=0, atol=1e-8 * max(size, 1e-3))


@settings(max_examples=20)
@given(seed=seeds, taps=tap_counts, forgetting=st.sampled_from([1.0, 0.99, 0.9]))
def test_rls_errors_never_ask_for_more_than_least_squares_can_give(seed, taps, forgetting):
    x, d = noise(seed)
    f = RLS(taps, forgetting)
    f.process(x, d)
    P = f.inverse
    assert np.array_equal(P, P.T)
    assert np.linalg.eigvalsh(P).min() > 0


@settings(max_examples=5)
@given(seed=seeds)
def test_lms_with_falling_steps_approaches_the_wiener_solution(seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(40_000)
    x[1:] += 0.5 * x[:-1]
    d = np.convolve(x, [1.0, 0.5, -0.3, 0.1])[:40_000] + 0.1 * rng.standard_normal(40_000)
    taps = 3  # one too few: the Wiener solution is not the system
    rows = np.lib.stride_tricks.sliding_window_view(x, taps)[:, ::-1]
    wiener = np.linalg.lstsq(rows, d[taps - 1 :], rcond=None)[0]
    falling, constant = LMS(taps, SearchThenConverge(0.05, 400.0)), LMS(taps, 0.05, history=100)
    for f in (falling, constant):
        f.process(x, d)
    # A constant step stays some eta e |x| away, sqrt(0.05) * 0.15, and is near by chance only, so
    # its mean over the second half counts; a falling one does not.
    assert np.linalg.norm(falling.weights - wiener) < 0.02
    away = np.linalg.norm(constant.history[200:] - wiener, axis=1).mean()
    assert np.linalg.norm(falling.weights - wiener) < away


@each
@settings(max_examples=10)
@given(seed=seeds, taps=tap_counts)
def test_a_filter_that_rests_and_resumes_is_one_that_was_frozen(make, seed, taps):
    x, d = noise(seed)
    f = make(taps)
    f.process(x[:70], d[:70])
    w = f.weights
    f.adapting = False
    y, _ = f.process(x[70:103], d[70:103])
    assert np.array_equal(f.weights, w)
    padded = np.append(np.zeros(taps - 1), x[:103, 0])
    rows = np.lib.stride_tricks.sliding_window_view(padded, taps)[70:, ::-1]
    assert np.allclose(y, rows @ w, rtol=0, atol=1e-10 * max(1.0, np.abs(y).max()))


N, SLOWLY = 1500, np.arange(1500) / 1500
FADE = np.sin(np.pi * SLOWLY) ** 2
HOSTILE = {
    "a voice that fades in and out": lambda rng: voice(N, rng) * FADE,
    "a voice with silence": lambda rng: voice(N, rng) * np.hanning(300)[np.arange(N) % 300] ** 2,
    "zeros, then a voice": lambda rng: voice(N, rng) * np.maximum(0.0, SLOWLY - 0.3) ** 3,
    "a tone": lambda rng: np.sin(0.3 * np.arange(N) + rng.uniform(0, 6)),
    "a tone that rises": lambda rng: np.sin(0.3 * np.arange(N)) * 10.0 ** (16 * SLOWLY - 12),
    "a constant": lambda rng: np.full(N, rng.uniform(1e-3, 1e3)),
    "steps": lambda rng: np.repeat(10.0 ** rng.integers(-6, 7, N // 100), 100),
    "a ramp": lambda rng: SLOWLY**3,
    "pulses": lambda rng: (np.arange(N) % 32 == 5) * 10.0 ** rng.integers(-4, 5, N),
    "a huge range": lambda rng: rng.standard_normal(N) * 10.0 ** rng.integers(-9, 1, N),
}
LEARNERS = {
    "RLS, no forgetting": (lambda: RLS(24, 1.0), 1.0),
    "RLS": (lambda: RLS(24, 0.999), 0.999),
    "RLS, given delta": (lambda: RLS(24, 1.0, 1e-10), 1.0),
    "NLMS": (lambda: NLMS(24), 1.0),
    "affine projection": (lambda: AffineProjection(24, 6), 1.0),
    "block LMS": (lambda: BlockLMS(24), 1.0),
}


def voice(n, rng):
    """A few harmonics that glide: far fewer directions than taps, to the last digits."""
    turns = np.cumsum(rng.uniform(0.01, 0.02) * np.linspace(1.0, 1.05, n))
    return sum(np.sin(2 * np.pi * k * turns) / k for k in range(1, 6))


@pytest.mark.parametrize("signal", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize(("make", "forgetting"), LEARNERS.values(), ids=LEARNERS)
def test_errors_on_hostile_signals_are_those_of_least_squares_or_refused(
    make, forgetting, signal, rng
):
    for kind in ("real", "complex"):
        x = signal(rng)
        x = x * np.exp(0.2j * np.arange(N)) if kind == "complex" else x
        h = rng.standard_normal((2, 18))
        d = np.convolve(x, h[0])[:N]
        d[N // 2 :] = np.convolve(x, h[1])[:N][N // 2 :]  # the path changes
        f = make()
        try:
            y, e = f.process(x, d)
        except DivergenceError:
            continue
        first = 0.01 * abs(x[np.flatnonzero(x)[0]]) ** 2
        delta = f.delta if getattr(f, "delta", "auto") != "auto" else first
        twin, _ = slow.rls_by_qr(x, d, 24, forgetting, delta)
        assert np.isfinite(y).all()
        assert np.isfinite(f.weights).all()
        # Learners differ, and a change of path may cost each some times its level.
        assert np.abs(e).max() <= 30 * max(np.abs(twin).max(), np.abs(d).max())
