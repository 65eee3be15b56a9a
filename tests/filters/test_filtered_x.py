"""Filtered-x LMS: beside its slow twin, in simulation and in a loop, and with a wrong model."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaline import FilteredXLMS
from adaline.errors import DivergenceError
from adaline.filters.filtered_x import safe_step
from reference_filters import filtered_x

PATH = np.array([0.0, 0.0, 0.8, 0.3, -0.1])


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


def test_hear_follows_drive_and_paths_are_not_zero():
    f = FilteredXLMS(4, PATH)
    f.process(np.ones(5), np.ones(5))
    with pytest.raises(ValueError, match="follows drive"):
        f.hear(1.0)
    with pytest.raises(ValueError, match="nan"):
        f.drive(np.nan)
    f.drive(1.0)
    with pytest.raises(ValueError, match="nan"):
        f.hear(np.nan)
    with pytest.raises(TypeError, match="complex"):
        FilteredXLMS(4, 1j * PATH).process([1.0], [1.0])
    for name in ("secondary_path", "estimate"):
        with pytest.raises(ValueError, match=f"{name} is zero"):
            FilteredXLMS(**{"taps": 4, "secondary_path": PATH} | {name: [0.0, 0.0]})
