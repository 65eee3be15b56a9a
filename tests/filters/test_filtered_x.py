"""Filtered-x LMS: beside its slow twin, in simulation and in a loop, and with a wrong model."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaline import NLMS, FilteredXLMS
from adaline.errors import DivergenceError
from adaline.filters import misalignment
from adaline.filters.filtered_x import safe_step
from reference_filters2 import filtered_x

PATH = np.array([0.0, 0.0, 0.8, 0.3, -0.1])
KINDS = [np.float32, np.float64, np.complex64, np.complex128]


def normal(rng, shape, kind=np.float64):
    z = rng.normal(size=shape)
    return (z + 1j * rng.normal(size=shape) if np.dtype(kind).kind == "c" else z).astype(kind)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    taps=st.integers(1, 7),
    path=st.integers(1, 5),
    model=st.integers(1, 5),
    eps=st.sampled_from([0.0, 0.5]),
    kind=st.sampled_from([np.float64, np.complex128]),
)
def test_it_is_the_plain_loop(seed, taps, path, model, eps, kind):
    rng = np.random.default_rng(seed)
    x, d = normal(rng, 60, kind), normal(rng, 60, kind)
    s, estimate = normal(rng, path, kind), normal(rng, model, kind)
    f = FilteredXLMS(taps, s, estimate, eta=0.05, eps=eps)
    slow_y, slow_e, slow_w = filtered_x(x, d, taps, s, estimate, 0.05, eps)
    blown = np.flatnonzero(~(np.abs(slow_e) <= 1e8 * np.abs(d).max()))
    if len(blown):  # a wrong model, which drives the loop apart
        with pytest.raises(DivergenceError, match=f"at sample {blown[0]} "):
            f.process(x, d)
        return
    y, e = f.process(x, d)
    # A wrong model may make the loop grow; rounding grows with it.
    scale = 1e-11 * max(1.0, np.abs(slow_e).max())
    assert np.allclose(y, slow_y, rtol=0, atol=scale)
    assert np.allclose(e, slow_e, rtol=0, atol=scale)
    assert np.allclose(f.weights, slow_w, rtol=0, atol=scale * 10)


def test_without_a_path_it_is_nlms(rng):
    x, d = rng.normal(size=500), rng.normal(size=500)
    f, g = FilteredXLMS(8, [1.0], eta=0.3, eps=0.1), NLMS(8, eta=0.3, eps=0.1)
    assert np.allclose(f.process(x, d), g.process(x, d), rtol=0, atol=1e-11)
    assert np.allclose(f.weights, g.weights, rtol=0, atol=1e-12)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 1),
    cuts=st.lists(st.integers(0, 120), max_size=6),
    channels=st.integers(1, 2),
    kind=st.sampled_from(KINDS),
)
def test_any_cutting_gives_the_same_bits(seed, cuts, channels, kind):
    rng = np.random.default_rng(seed)
    x, d = normal(rng, (120, channels), kind), normal(rng, 120, kind)
    whole, parts = (FilteredXLMS(6, PATH.astype(kind)) for _ in range(2))
    y, e = whole.process(x, d)
    pieces = [parts.process(x[a:b], d[a:b]) for a, b in pairwise(sorted([0, *cuts, 120]))]
    assert y.dtype == kind
    assert np.array_equal(np.concatenate([p[0] for p in pieces]), y)
    assert np.array_equal(np.concatenate([p[1] for p in pieces]), e)
    assert np.array_equal(parts.weights, whole.weights)


def test_broadband_noise_is_controlled(rng):
    x = rng.normal(size=40_000)
    primary = np.concatenate([np.zeros(6), rng.normal(size=20) * 0.8 ** np.arange(20)])
    d = np.convolve(x, primary)[: len(x)]
    _, e = FilteredXLMS(64, PATH).process(x, d)
    assert np.mean(e[-4000:] ** 2) < 1e-4 * np.mean(d**2)


def test_at_a_microphone_sound_adds_up_so_the_path_changes_sign(rng):
    x = rng.normal(size=20_000)
    d = np.convolve(x, [0, 0, 0, 0, 1.0, -0.5])[: len(x)]
    f = FilteredXLMS(32, -PATH)
    heard, drives, last = [], [], np.zeros(len(PATH))
    for a, b in zip(x, d, strict=True):
        u = f.drive(a)
        last = np.append(u, last[:-1])
        drives.append(u)
        heard.append(b + PATH @ last)  # the air adds
        f.hear(heard[-1])
    assert np.mean(np.square(heard[-2000:])) < 1e-4 * np.mean(d**2)
    simulated = FilteredXLMS(32, -PATH)
    _, e = simulated.process(x, d)
    assert np.allclose(e, heard, rtol=0, atol=1e-10)
    assert np.allclose(f.weights, simulated.weights, rtol=0, atol=1e-10)
    assert f.samples == simulated.samples == len(x)


def test_a_model_of_the_wrong_sign_diverges_and_is_told(rng):
    x = np.sin(0.3 * np.arange(100_000))
    f = FilteredXLMS(8, PATH, estimate=-PATH)
    f.process(x[:50], x[:50])
    before = f.weights
    with pytest.raises(DivergenceError, match="FilteredXLMS diverged at sample"):
        f.process(x, x)
    assert np.array_equal(f.weights, before)


def test_the_rule_of_thumb_is_the_bound_of_one_delayed_weight():
    for delay in (0, 1, 4, 9):
        bound = safe_step(np.eye(delay + 1)[-1])
        for eta, stable in ((0.99 * bound, True), (1.01 * bound, False)):
            polynomial = np.zeros(delay + 2)  # z^(D+1) - z^D + eta
            polynomial[0] += 1.0
            polynomial[1] -= 1.0
            polynomial[-1] += eta
            assert (np.abs(np.roots(polynomial)).max() < 1) == stable


@pytest.mark.parametrize("delay", [0, 1, 2, 4, 9, 20])
def test_half_of_the_rule_of_thumb_controls_sinusoids_and_noise(rng, delay):
    path, n = np.eye(delay + 1)[-1], np.arange(40_000)
    for x in (
        *(np.sin(omega * n) for omega in (0.1, 0.5, 0.9, 1.57, 2.5)),
        rng.normal(size=40_000),
    ):
        d = np.concatenate([np.zeros(delay + 2), x])[:40_000]
        for eta in ("auto", 0.5 * safe_step(path)):
            _, e = FilteredXLMS(16, path, eta=eta).process(x, d)
            assert np.mean(e[-2000:] ** 2) < 1e-3 * np.mean(d**2)


def test_silence_and_a_constant_are_harmless(rng):
    f = FilteredXLMS(8, PATH)
    f.process(np.zeros(200), rng.normal(size=200))
    assert not f.weights.any()
    _, e = FilteredXLMS(8, PATH).process(np.ones(20_000), np.full(20_000, 3.0))
    assert abs(e[-1]) < 1e-6


def test_it_goes_on_from_its_state_to_the_bit(rng):
    x, d = rng.normal(size=300), rng.normal(size=300)
    f = FilteredXLMS(8, PATH, estimate=PATH * 0.9)
    f.process(x[:133], d[:133])
    g = FilteredXLMS.from_state(f.state())
    assert np.array_equal(f.process(x[133:], d[133:]), g.process(x[133:], d[133:]))
    y, _ = f.reset().process(x, d)
    assert np.array_equal(y, FilteredXLMS(8, PATH, estimate=PATH * 0.9).process(x, d)[0])


def test_frozen_it_only_filters(rng):
    x, w = rng.normal(size=100), rng.normal(size=4)
    f = FilteredXLMS(4, PATH, weights=w)
    f.adapting = False
    y, _ = f.process(x)
    assert np.allclose(y, np.convolve(np.convolve(x, w), PATH)[:100])
    f.drive(1.0)
    f.hear(5.0)
    assert np.array_equal(f.weights, w)


@pytest.mark.parametrize("how", ["hold", "skip"])
def test_missing_samples_do_not_spoil_the_weights(rng, how):
    x = rng.normal(size=10_000)
    d = np.convolve(x, [0, 0, 0, 1.0])[:10_000]
    whole, f = FilteredXLMS(16, PATH), FilteredXLMS(16, PATH, on_nan=how)
    whole.process(x, d)
    x[5000], d[6000] = np.nan, np.nan
    y, e = f.process(x, d)
    assert np.isfinite(y).all()
    assert np.array_equal(np.flatnonzero(np.isnan(e)), [6000] if how == "skip" else [])
    # The gap disturbs a few errors, which 4000 samples of learning then remove.
    assert misalignment(f.weights, whole.weights) < -100
    assert np.abs(e[-100:]).max() < 2e-3


def test_bad_input_is_told_in_a_sentence(rng):
    f = FilteredXLMS(4, PATH)
    with pytest.raises(ValueError, match="follows drive"):
        f.hear(1.0)
    f.process(np.ones(5), np.ones(5))
    with pytest.raises(ValueError, match="follows drive"):
        f.hear(1.0)
    with pytest.raises(ValueError, match=r"x\[1\] is nan"):
        f.process([1.0, np.nan], [1.0, 1.0])
    with pytest.raises(ValueError, match=r"d\[0\] is inf"):
        f.process([1.0], [np.inf])
    with pytest.raises(ValueError, match="nan"):
        f.drive(np.nan)
    f.drive(1.0)
    with pytest.raises(ValueError, match="nan"):
        f.hear(np.nan)
    with pytest.raises(ValueError, match="x has 2 samples and d has 3"):
        f.process([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="complex"):
        f.process([1j], [1.0])
    with pytest.raises(TypeError, match="complex"):
        FilteredXLMS(4, 1j * PATH).process([1.0], [1.0])
    assert len(FilteredXLMS(4, PATH).process([], [])[0]) == 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"secondary_path": []}, "at least one sample"),
        ({"secondary_path": [0.0, 0.0]}, "zero everywhere"),
        ({"secondary_path": [np.nan]}, "is nan"),
        ({"estimate": [0.0]}, "zero everywhere"),
        ({"eta": 2.5}, "0 < eta < 2"),
        ({"eta": "fast"}, "eta"),
        ({"eps": -1.0}, "eps"),
        ({"taps": 0}, "taps"),
    ],
)
def test_bad_settings_are_told_in_a_sentence(settings, words):
    with pytest.raises(ValueError, match=words):
        FilteredXLMS(**{"taps": 4, "secondary_path": PATH} | settings)
