"""Noise cancelling: the choice of the filter, the reduction it claims, and the warning it gives."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from adaline import LMS, NLMS, RLS, AffineProjection, BlockLMS
from adaline.filters import NoiseReduction, cancel, noise_filter, noise_reduction
from sound_scenes import noise, room, snr, speech, through, unit

N = 60_000
VOICE, ENGINE = speech(N, 0), noise(N, 1)
HALF = slice(N // 2, None)


def scene(db, taps=32, paths=1):
    """The voice with so many decibels less noise."""
    heard = through(ENGINE, *(room(taps, k) for k in range(paths)))
    return VOICE + heard * 10 ** (-db / 20)


def measure_gain(d, e, voice=VOICE):
    """By how many decibels the noise fell in the second half."""
    return snr(voice[HALF], e[HALF]) - snr(voice[HALF], d[HALF])


@pytest.mark.parametrize("taps", [10, 400, 4000])
@pytest.mark.parametrize("kind", ["engine", "white", "brown"])
def test_no_more_is_claimed_than_was_achieved_in_rooms_longer_than_the_filter(kind, taps):
    white = np.random.default_rng(taps).standard_normal(N)
    x = {"engine": ENGINE, "white": white, "brown": unit(np.cumsum(white))}[kind]
    d = VOICE + 10 ** (-1.5 / 20) * through(x, room(taps, taps))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = cancel(d, x)
    claimed, true = result.measures["noise_reduction_db"], measure_gain(d, result.signal)
    assert not claimed > true + 3
    assert result.measures["coherence_before"] > result.measures["coherence_after"]
    if kind != "brown" and taps >= 400:
        assert claimed > true - 3
        assert any("more taps, such as 128" in str(w.message) for w in caught)
    if taps == 10:
        assert not caught
        assert claimed > 14


@pytest.mark.parametrize(("late", "delay"), [(200, -204), (-500, 496), (0, 0)])
def test_a_reference_that_lags_or_leads_is_aligned(late, delay):
    d, x = scene(1.5), np.roll(ENGINE, late)
    result = cancel(d, x)
    assert result.delay == pytest.approx(delay, abs=8)
    assert measure_gain(d, result.signal) > 15
    assert np.array_equal(cancel(d, x, delay=result.delay).signal, result.signal)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a filter of one's own may do harm
        assert cancel(d, x, filter=NLMS(32)).delay == 0


@pytest.mark.parametrize("db", [-5.0, 1.5, 19.5])
def test_speech_comes_out_of_the_noise_whatever_its_level(db):
    result = cancel(scene(db), ENGINE)
    # Misadjustment of RLS: 32 weights over twice 32,000 samples is -33 dB; speech is not steady.
    assert snr(VOICE, result.signal) > 27
    # Two standard errors of the coherence are 20 dB below the voice: no more can be claimed.
    claimed, true = result.measures["noise_reduction_db"], measure_gain(scene(db), result.signal)
    assert true - claimed < 15 or np.isnan(claimed)
    assert not claimed > true + 1


def test_a_path_that_changes_is_followed_by_a_short_memory():
    steady, changed = cancel(scene(1.5), ENGINE), cancel(scene(1.5, paths=2), ENGINE)
    assert 1 / (1 - steady.filter.forgetting) == pytest.approx(32_000)
    assert 1 / (1 - changed.filter.forgetting) == pytest.approx(1600)
    assert snr(VOICE, changed.signal) > 12
    with pytest.warns(UserWarning, match="faster"):
        slow = cancel(scene(1.5, paths=2), ENGINE, filter=steady.filter.reset())
    assert snr(VOICE, slow.signal) < 7


KINDS = {"auto": RLS, "rls": RLS, "block": BlockLMS, "nlms": NLMS, "affine": AffineProjection}


@pytest.mark.parametrize(("algorithm", "kind"), [*KINDS.items(), ("lms", LMS)])
def test_every_algorithm_gains_and_is_chosen_by_its_name(algorithm, kind):
    result = cancel(scene(-5.0), ENGINE, 8, algorithm=algorithm)
    assert type(result.filter) is kind
    assert type(noise_filter(ENGINE, VOICE, 8, algorithm, 0.5)) is kind
    assert measure_gain(scene(-5.0), result.signal) > 1


@pytest.mark.parametrize(("taps", "channels", "kind"), [(512, 1, RLS), (513, 1, BlockLMS)])
def test_channels_count_as_weights(taps, channels, kind):
    assert type(noise_filter(ENGINE[:600], VOICE[:600], taps)) is kind
    two = np.stack([ENGINE, VOICE], axis=1)[:600]
    assert type(noise_filter(two, VOICE[:600], taps // 2 + taps % 2)) is kind


def test_long_filters_gain_too():
    d = scene(1.5, taps=600)
    result = cancel(d, ENGINE, taps=600)
    assert type(result.filter) is BlockLMS
    assert snr(VOICE[HALF], result.signal[HALF]) > 10


def test_passes_are_those_of_the_filter_by_hand():
    d, x = scene(10.0)[:5000], ENGINE[:5000]
    f = noise_filter(x, d)
    _, once = f.process(x, d)
    _, twice = f.process(x, d)
    assert np.array_equal(cancel(d, x, passes=1).signal, once)
    assert np.array_equal(cancel(d, x).signal, twice)
    given = RLS(32)
    cancel(d, x, filter=given)
    assert given.samples == 5000


HARMFUL = {
    "NLMS, noise 10 dB below": (10.0, lambda: NLMS(32)),
    "RLS of a short memory": (20.0, lambda: RLS(32, forgetting=0.995)),
    "BlockLMS": (20.0, lambda: BlockLMS(32)),
    "no noise of the reference": (200.0, lambda: NLMS(32)),
}
HELPFUL = {
    "the default": (20.0, lambda: None, 1),
    "the default, a change of the path": (1.5, lambda: None, 2),
    "NLMS with a small step": (1.5, lambda: NLMS(32, eta=0.05), 1),
    "RLS of a short memory": (-5.0, lambda: RLS(32), 2),
}


@pytest.mark.parametrize(("db", "make"), HARMFUL.values(), ids=HARMFUL)
def test_a_result_worse_than_the_recording_is_warned_about(db, make):
    d = scene(db)
    with pytest.warns(UserWarning, match="noise was added"):
        result = cancel(d, ENGINE, filter=make())
    assert measure_gain(d, result.signal) < 0


@pytest.mark.parametrize(("db", "make", "paths"), HELPFUL.values(), ids=HELPFUL)
def test_a_result_better_than_the_recording_is_not(db, make, paths):
    d = scene(db, paths=paths)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = cancel(d, ENGINE, filter=make())
    assert measure_gain(d, result.signal) > 0


def test_the_reduction_is_estimated_without_the_clean_signal():
    d = scene(1.5)
    for f in (NLMS(32), NLMS(32, eta=0.05), RLS(32)):
        e = f.process(ENGINE, d)[1]
        claimed = noise_reduction(d, ENGINE, e, 32, start=N // 2).db
        assert measure_gain(d, e) - 6 < claimed < measure_gain(d, e) + 1


def test_what_is_unknown_is_nan_and_no_warning():
    few = noise_reduction(VOICE[:100], ENGINE[:100], VOICE[:100], 32)
    silent = noise_reduction(np.zeros(2000), np.zeros(2000), np.zeros(2000), 4)
    many = noise_reduction(VOICE, np.stack([ENGINE, VOICE], 1), VOICE, 300)
    for result in (few, silent, many):
        assert np.isnan(result.db)
        assert not result.worse
        assert "unknown" in str(result)
    assert "at least 12 dB" in str(NoiseReduction(12.9, False, 0.5, 0.01))
    assert "50.0%" in str(NoiseReduction(12.9, False, 0.5, 0.01))
