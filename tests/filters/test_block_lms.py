"""BlockLMS: beside its slow twin, cut anywhere, on silence, clicks, tones, and what it refuses."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaline import BlockLMS, WienerFilter
from adaline.errors import DivergenceError
from adaline.filters import misalignment
from reference_filters2 import block_lms

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


def test_one_sample_at_a_time_answers_at_once(rng):
    x, d = rng.normal(size=64), rng.normal(size=64)
    whole, single = BlockLMS(20, 8), BlockLMS(20, 8)
    y, e = whole.process(x, d)
    steps = np.array([single.step(a, b) for a, b in zip(x, d, strict=True)])
    assert np.allclose(steps, np.column_stack([y, e]), rtol=0, atol=1e-13)
    assert single.latency == 0
    empty = single.process(np.empty(0), np.empty(0))
    assert [len(v) for v in empty] == [0, 0]


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
    f = BlockLMS(300, latency=70)
    assert f.block == 64
    f.process(x, d)
    assert f.weights.dtype == kind
    # NLMS theory: misalignment of eta/(2 - eta) times the noise over the signal, -45 dB here.
    assert misalignment(f.weights.conj(), h) < -40
    best = WienerFilter.from_signals(x, d, 300)
    assert misalignment(f.weights, best.weights) < -40


def test_coloured_input_is_learned_nearly_as_fast_as_white(rng):
    h = room(rng, 256)
    white = rng.normal(size=40_000)
    coloured = np.empty_like(white)
    last = 0.0
    for n, v in enumerate(white):
        coloured[n] = last = 0.95 * last + v
    found = []
    for x in (white, coloured):
        f = BlockLMS(256, 64)
        f.process(x, echo(x, h))
        found.append(misalignment(f.weights, h))
    assert max(found) < -40


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


@pytest.mark.parametrize("eta", [0.2, 0.5, 1.0])
@pytest.mark.parametrize(("taps", "block"), [(64, 64), (256, 64), (32, 64)])
def test_what_eta_means(rng, eta, taps, block):
    h = rng.normal(size=taps)
    left = []
    for _ in range(20):
        x = rng.normal(size=block * 40)
        f = BlockLMS(taps, block, eta=eta)
        f.adapting = False  # the powers are learned, the weights are not
        f.process(x[:-block], np.zeros(len(x) - block))
        f.adapting = True
        _, e = f.process(x[-block:], echo(x, h)[-block:])
        again = echo(x, h - f.weights)[-block:]
        left.append(np.linalg.norm(again) / np.linalg.norm(e))
    assert np.mean(left) == pytest.approx(1 - eta / 2, abs=0.2)


def test_speech_like_bursts_and_pauses_leave_what_was_learned(rng):
    h, x = room(rng, 256), np.empty(40_000)
    last = 0.0
    for n, v in enumerate(rng.normal(size=40_000)):
        x[n] = last = 0.9 * last + v
    x *= np.where(np.arange(40_000) // 4000 % 2 == 0, 1.0, 1e-3)
    d = echo(x, h) + 0.03 * rng.normal(size=40_000)
    f = BlockLMS(256, 64)
    _, e = f.process(x, d)
    # In pauses x is 30 times below the noise: e is the noise, and what the weights add is a
    # thousandth of their misalignment.
    pause = np.r_[22_000:24_000, 30_000:32_000]
    assert np.mean(e[pause] ** 2) < 1.1 * 0.03**2
    assert misalignment(f.weights, h) < -30


def test_two_channels_are_two_filters_whose_outputs_add(rng):
    h = rng.normal(size=(2, 40))
    x = rng.normal(size=(20_000, 2))
    f = BlockLMS(40, 16)
    f.process(x, echo(x[:, 0], h[0]) + echo(x[:, 1], h[1]))
    assert f.weights.shape == (2, 40)
    assert misalignment(f.weights, h) < -60


@pytest.mark.parametrize("eta", [0.5, 1.0, 1.9])
@pytest.mark.parametrize("block", [4, 16, 64])
def test_tones_bursts_and_sparse_clicks_do_not_make_it_diverge(rng, eta, block):
    n = np.arange(6000)
    inputs = [
        np.sin(0.7 * n) + 1e-3 * rng.normal(size=6000),
        np.where(rng.random(6000) < 0.01, rng.normal(size=6000), 0.0),
        rng.normal(size=6000) * np.exp(3 * np.sin(n / 700)),
        np.cumsum(rng.normal(size=6000)),
    ]
    for x in inputs:
        d = echo(x, rng.normal(size=100))
        d = d + 0.1 * d.std() * rng.normal(size=6000)
        _, e = BlockLMS(100, block, eta=eta).process(x, d)
        assert np.mean(e[3000:] ** 2) < np.mean(d[3000:] ** 2)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_silence_then_noise_in_d_leaves_the_weights(rng, kind):
    h = room(rng, 100)
    x = rng.normal(size=8000)
    x[4000:] = 0.0
    d = echo(x, h) + 0.01 * rng.normal(size=8000)
    f = BlockLMS(100, 32)
    f.process(x[:4000].astype(kind), d[:4000].astype(kind))
    before = f.weights
    f.process(x[4000:].astype(kind), d[4000:].astype(kind))
    assert np.isfinite(f.weights).all()
    assert misalignment(f.weights, before) < -30
    quiet = BlockLMS(100, 32)
    quiet.process(np.zeros(500), rng.normal(size=500))
    assert not quiet.weights.any()


def test_in_a_quiet_passage_the_weights_stay(rng):
    h = room(rng, 100)
    x = rng.normal(size=12_000)
    x[6000:] *= 1e-3
    d = echo(x, h) + 0.03 * rng.normal(size=12_000)  # 30 times louder than the quiet echo
    f = BlockLMS(100, 32)
    f.process(x, d)
    assert misalignment(f.weights, h) < -15


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


def test_a_pause_of_d_does_not_make_it_start_over(rng):
    h = room(rng, 64)
    x = rng.normal(size=9000)
    d = echo(x, h)
    f = BlockLMS(64, 32, eta=0.1)
    f.process(x[:6000], d[:6000])
    f.process(x[6000:6064], np.zeros(64))  # the microphone is off for two blocks
    assert misalignment(f.weights, h) < -5


def test_a_click_does_not_stop_learning(rng):
    h = room(rng, 60)
    x = rng.normal(size=20_000)
    x[5000] = 1e6
    f = BlockLMS(60, 16)
    f.process(x, echo(x, h))
    assert misalignment(f.weights, h) < -60


def test_units_do_not_matter(rng):
    x = rng.normal(size=2000)
    d = echo(x, room(rng, 50)) + 0.1 * rng.normal(size=2000)
    plain = BlockLMS(50, 16)
    y, _ = plain.process(x, d)
    for a, b in ((2.0**100, 2.0**-100), (2.0**-60, 2.0**60)):
        f = BlockLMS(50, 16)
        scaled, _ = f.process(x * a, d * b)
        assert np.array_equal(scaled, y * b)  # powers of two: to the bit
        assert np.array_equal(f.weights, plain.weights * (b / a))


def test_it_goes_on_from_its_state_to_the_bit(rng):
    x, d = rng.normal(size=500), rng.normal(size=500)
    f = BlockLMS(40, 16)
    f.process(x[:205], d[:205])  # in the middle of a block
    g = BlockLMS.from_state(f.state())
    for one, two in zip(f.process(x[205:], d[205:]), g.process(x[205:], d[205:]), strict=True):
        assert np.array_equal(one, two)
    assert np.array_equal(f.weights, g.weights)
    y, _ = f.reset().process(x, d)
    assert np.array_equal(y, BlockLMS(40, 16).process(x, d)[0])


def test_weights_can_be_given_and_frozen(rng):
    x, h = rng.normal(size=300), rng.normal(size=20)
    f = BlockLMS(20, 8, weights=h)
    f.adapting = False
    y, e = f.process(x)
    assert np.allclose(y, echo(x, h), rtol=0, atol=1e-12)
    assert len(e) == 0
    assert np.allclose(f.weights, h, rtol=0, atol=1e-14)
    f.weights = 2 * h
    assert np.allclose(f.process(x)[0][20:], 2 * echo(x, h)[20:], rtol=0, atol=1e-12)


def test_only_samples_while_adapting_teach(rng):
    x, d = rng.normal(size=64), rng.normal(size=64)
    f, g = BlockLMS(10, 16), BlockLMS(10, 16)
    for k, (a, b) in enumerate(pairwise([0, 5, 20, 40, 64])):
        f.adapting = g.adapting = k % 2 == 0
        wanted = d[a:b].copy()
        if k % 2:
            wanted[:] = 1e3  # must not matter
        f.process(x[a:b], d[a:b])
        g.process(x[a:b], wanted)
    assert np.array_equal(f.weights, g.weights)


def test_history_records_the_weights(rng):
    x, d = rng.normal(size=100), rng.normal(size=100)
    f = BlockLMS(10, 8, history=20)
    f.process(x, d)
    assert f.history.shape == (5, 10)
    g = BlockLMS(10, 8)
    g.process(x[:40], d[:40])
    assert np.array_equal(f.history[1], g.weights)


@pytest.mark.parametrize("how", ["hold", "skip"])
def test_missing_samples_do_not_spoil_the_weights(rng, how):
    h = room(rng, 30)
    x = rng.normal(size=6000)
    d = echo(x, h)
    x[3000], d[3100] = np.nan, np.inf
    f = BlockLMS(30, 16, on_nan=how)
    y, _ = f.process(x, d)
    assert np.isfinite(y).all()
    assert misalignment(f.weights, h) < -40


def test_bad_blocks_are_refused_whole_and_the_filter_goes_on(rng):
    x, d = rng.normal(size=200), rng.normal(size=200)
    f, untouched = BlockLMS(20, 8), BlockLMS(20, 8)
    for g in (f, untouched):
        g.process(x[:100], d[:100])
    for bad_x, bad_d, words in (
        (np.array([1.0, np.nan]), np.ones(2), r"x\[1\] is nan"),
        (np.ones(3), np.array([0.0, 0.0, np.inf]), r"d\[2\] is inf"),
        (np.ones(3), np.ones(2), "x has 3 samples and d has 2"),
        (np.ones((3, 2)), np.ones(3), "channels"),
    ):
        with pytest.raises(ValueError, match=words):
            f.process(bad_x, bad_d)
    with pytest.raises(TypeError, match="complex"):
        f.process(1j * np.ones(3), np.ones(3))
    assert np.array_equal(f.process(x[100:], d[100:])[0], untouched.process(x[100:], d[100:])[0])


@pytest.mark.parametrize("length", [3, 8, 100])
def test_divergence_is_told_and_the_filter_is_as_before(rng, length):
    f, untouched = (BlockLMS(4, 8, eps=0.0) for _ in range(2))
    x, d = rng.normal(size=83), rng.normal(size=83)
    for g in (f, untouched):
        g.process(x, d)
    before = f.weights
    with pytest.raises(DivergenceError, match="sample"):
        # The output of weights of order one cannot be 1e300 where d never was above three.
        f.process(np.full(length, 1e300), np.zeros(length))
    assert np.array_equal(f.weights, before)
    assert np.array_equal(f.process(x, d)[0], untouched.process(x, d)[0])


def test_int16_is_taken_as_numbers(rng):
    x = rng.integers(-30_000, 30_000, 4000).astype(np.int16)
    f = BlockLMS(4, 8)
    f.process(x, echo(x.astype(float), np.array([0.5, 0.25])))
    assert np.allclose(f.weights, [0.5, 0.25, 0.0, 0.0], atol=1e-6)


def test_read_only_and_strided_input_is_not_touched(rng):
    x = rng.normal(size=400)[::2]
    x.setflags(write=False)
    d = np.asfortranarray(rng.normal(size=(200, 2)))[:, 1]
    a, b = BlockLMS(10, 8), BlockLMS(10, 8)
    assert np.array_equal(a.process(x, d)[0], b.process(x.copy(), d.copy())[0])


def test_the_block_follows_from_the_latency_or_the_taps():
    assert BlockLMS(1000, latency=256).block == 256
    assert BlockLMS(1000, latency=300).block == 256
    assert BlockLMS(1000, latency=1).block == 1
    assert BlockLMS(4096).block == 1024
    assert BlockLMS(5).block == 64
    with pytest.raises(ValueError, match="give one of them"):
        BlockLMS(10, block=4, latency=8)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"eta": 2.0}, "0 < eta < 2"),
        ({"eta": 0.0}, "eta"),
        ({"eta": np.nan}, "eta"),
        ({"eps": -1.0}, "eps"),
        ({"block": 0}, "block"),
        ({"block": 2.5}, "block"),
        ({"latency": 0}, "latency"),
        ({"taps": 0}, "taps"),
        ({"on_nan": "ignore"}, "on_nan"),
    ],
)
def test_bad_settings_are_told_in_a_sentence(settings, words):
    with pytest.raises(ValueError, match=words):
        BlockLMS(**{"taps": 10} | settings)
