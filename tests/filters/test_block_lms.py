"""BlockLMS: beside its slow twin, cut anywhere, on silence, clicks, tones, and what it refuses."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaline import BlockLMS, WienerFilter
from adaline.filters import misalignment
from reference_filters import block_lms

KINDS = [np.float32, np.float64, np.complex64, np.complex128]


def normal(rng, shape, kind):
    z = rng.normal(size=shape)
    return (z + 1j * rng.normal(size=shape) if np.dtype(kind).kind == "c" else z).astype(kind)


def room(rng, taps):
    h = rng.normal(size=taps) * np.exp(-6.0 * np.arange(taps) / taps)
    return h / np.linalg.norm(h)


def echo(x, h):
    return np.convolve(x, h)[: len(x)]


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    block=st.integers(1, 5),
    taps=st.integers(1, 13),
    blocks=st.integers(1, 10),
    eta=st.floats(0.05, 1.9),
    eps=st.sampled_from(["auto", 0.0, 0.3]),
    kind=st.sampled_from([np.float64, np.complex128]),
)
def test_it_is_the_plain_loop(seed, block, taps, blocks, eta, eps, kind):
    rng = np.random.default_rng(seed)
    x, d = normal(rng, block * blocks, kind), normal(rng, block * blocks, kind)
    f = BlockLMS(taps, block, eta=eta, eps=eps)
    y, e = f.process(x, d)
    rule = {"relative": 0.01} if eps == "auto" else {"eps": eps}
    slow_y, slow_h = block_lms(x, d, taps, block, eta, **rule)
    # Ten updates at most; a bin of little power divides by it, and rounding grows with the weights.
    scale = 1e-9 * max(1.0, np.abs(slow_h).max())
    assert np.allclose(y, slow_y, rtol=0, atol=10 * scale)
    assert np.allclose(f.weights.conj(), slow_h, rtol=0, atol=scale)
    assert np.array_equal(e, d - y)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    block=st.integers(1, 20),
    taps=st.integers(1, 50),
    cuts=st.lists(st.integers(0, 200), max_size=8),
    channels=st.integers(1, 2),
    kind=st.sampled_from(KINDS),
)
def test_any_cutting_gives_the_same_weights_to_the_bit(seed, block, taps, cuts, channels, kind):
    rng = np.random.default_rng(seed)
    x, d = normal(rng, (200, channels), kind), normal(rng, 200, kind)
    whole, parts = BlockLMS(taps, block), BlockLMS(taps, block)
    y, e = whole.process(x, d)
    pieces = [parts.process(x[a:b], d[a:b]) for a, b in pairwise(sorted([0, *cuts, 200]))]
    assert np.array_equal(parts.weights, whole.weights)
    # y of a part of a block is made in the time domain: the same but for rounding, relative to
    # the sizes that were added up.
    digits = 1e-12 if np.dtype(kind).itemsize // (1 + (np.dtype(kind).kind == "c")) == 8 else 1e-4
    size = np.abs(x).max() * max(1.0, np.abs(whole.weights).sum())
    for k, together in enumerate((y, e)):
        joined = np.concatenate([piece[k] for piece in pieces])
        assert joined.dtype == together.dtype == kind
        assert np.abs(joined - together).max() <= digits * size


def test_y_does_not_depend_on_samples_to_come(rng):
    x, d = rng.normal(size=100), rng.normal(size=100)
    later = x.copy()
    later[70:] += 5.0
    a, b = (BlockLMS(30, 16).process(v, d)[0] for v in (x, later))
    assert np.allclose(a[:70], b[:70], rtol=0, atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_it_learns_a_room_and_approaches_the_wiener_filter(rng, kind):
    h = room(rng, 300)
    x = normal(rng, 30_000, kind)
    d = (echo(x, h) + 0.01 * normal(rng, 30_000, kind)).astype(kind)
    f = BlockLMS(300, 64)
    f.process(x, d)
    assert f.weights.dtype == kind
    # NLMS theory: misalignment of eta/(2 - eta) times the noise over the signal, -45 dB here.
    assert misalignment(f.weights.conj(), h) < -40
    best = WienerFilter.from_signals(x, d, 300)
    assert misalignment(f.weights, best.weights) < -40


@pytest.mark.parametrize(("pole", "left"), [(0.0, -65), (0.9, -55), (0.99, -45)])
def test_eps_auto_leaves_weak_bins_their_own_level(rng, pole, left):
    # 512 taps, noise 60 dB below x. Theory leaves eta/(2 - eta) = 1/3 of noise over signal in each
    # bin, and the weakest bin of the pole 0.99 has 1/200 of the mean power, the strongest 200: some
    # -65, -57 and -50 dB in all. A floor that is the same in every bin left -27 dB at 0.99.
    h, x = room(rng, 512), np.empty(60_000)
    last = 0.0
    for n, v in enumerate(rng.normal(size=60_000)):
        x[n] = last = pole * last + v
    x /= x.std()
    f = BlockLMS(512, 128)
    f.process(x, echo(x, h) + 1e-3 * rng.normal(size=60_000))
    assert misalignment(f.weights, h) < left


@pytest.mark.parametrize("quiet", [1e-2, 1e-4, 1e-8])
def test_what_was_learned_from_next_to_nothing_is_forgotten_when_the_reference_comes(rng, quiet):
    h = room(rng, 64)
    x = rng.normal(size=6000)
    x[:500] *= quiet
    d = echo(x, h) + 0.1 * rng.normal(size=6000)
    f = BlockLMS(64, 32)
    _, e = f.process(x, d)
    # The first two blocks are answered with weights that fit noise; then it starts over.
    assert np.mean(e[564:] ** 2) < 2 * np.mean(d[564:] ** 2)
    assert misalignment(f.weights, h) < -20


def test_the_block_follows_from_the_taps():
    assert BlockLMS(4096).block == 1024
    assert BlockLMS(5).block == 64
