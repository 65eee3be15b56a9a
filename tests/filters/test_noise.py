"""Noise cancelling: one choice behind all doors, the gain it tells, and the warning it gives."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from adaline import LMS, NLMS, RLS, AffineProjection, BlockLMS
from adaline.filters import NoiseReduction, cancel, noise_filter, noise_reduction
from sound_scenes import noise, room, snr, speech, through, unit

N = 60_000
VOICE, ENGINE = speech(N, 0), noise(N, 1)


def scene(db, taps=32, paths=1):
    """The voice with so many decibels less noise."""
    heard = through(ENGINE, *(room(taps, k) for k in range(paths)))
    return VOICE + heard * 10 ** (-db / 20)


def gained(d, e, voice=VOICE):
    """By how many decibels the noise fell in the second half."""
    half = slice(len(d) // 2, None)
    return snr(voice[half], e[half]) - snr(voice[half], d[half])


@pytest.mark.parametrize("taps", [10, 400, 4000])
@pytest.mark.parametrize("kind", ["engine", "white", "brown"])
def test_no_more_is_claimed_than_was_achieved_in_rooms_longer_than_the_filter(kind, taps):
    white = np.random.default_rng(taps).standard_normal(N)
    x = {"engine": ENGINE, "white": white, "brown": unit(np.cumsum(white))}[kind]
    d = VOICE + 10 ** (-1.5 / 20) * through(x, room(taps, taps))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = cancel(d, x)
    told, true = found.measures["noise_reduction_db"], gained(d, found.signal)
    assert not told > true + 3
    assert found.measures["coherence_before"] > found.measures["coherence_after"]
    if kind != "brown" and taps >= 400:
        assert told > true - 3
        assert any("more taps, such as 128" in str(w.message) for w in caught)
    if taps == 10:
        assert not caught
        assert told > 14


def test_a_wide_room_is_cleaned_by_more_taps_without_a_warning():
    d = VOICE + through(ENGINE, room(150, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = cancel(d, ENGINE, taps=150, algorithm="wiener")
    assert 12 < found.measures["noise_reduction_db"] < gained(d, found.signal) + 1


@pytest.mark.parametrize("seed", [0, 1])
def test_the_start_of_a_coloured_noise_does_not_decide_the_memory(seed):
    # The path lifts what brown noise hardly has. A long memory learns that in its second pass.
    rng = np.random.default_rng(seed + 100)
    brown, voice = np.cumsum(rng.standard_normal(100_000)), 0.033 * speech(100_000, seed)
    brown = 0.3 * (brown - brown.mean()) / np.abs(brown - brown.mean()).max()
    path = 0.8 ** np.arange(24) * rng.standard_normal(24)
    path[0] -= path.sum()
    d = voice + np.convolve(brown, 30 * path)[:100_000]
    level = 32 * float(np.mean(brown**2))
    chosen = cancel(d, brown)
    best = max(
        snr(voice[50_000:], cancel(d, brown, filter=RLS(32, 1 - 1 / m, level), passes=2).e[50_000:])
        for m in (32_000, 1600)
    )
    assert snr(voice[50_000:], chosen.e[50_000:]) > best - 1
    fixed = cancel(d, brown, algorithm="wiener")
    assert snr(voice[50_000:], fixed.e[50_000:]) > best + 2


@pytest.mark.parametrize(("late", "least"), [(200, -204), (-500, 496), (0, 0)])
@pytest.mark.parametrize("algorithm", ["auto", "wiener"])
def test_a_reference_that_lags_or_leads_is_aligned(late, least, algorithm):
    d = scene(1.5)
    found = cancel(d, np.roll(ENGINE, late), algorithm=algorithm)
    assert found.delay == pytest.approx(least, abs=8)
    assert gained(d, found.signal) > 15
    assert np.array_equal(
        cancel(d, np.roll(ENGINE, late), algorithm=algorithm, delay=found.delay).signal,
        found.signal,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a filter of one's own may do harm
        assert cancel(d, np.roll(ENGINE, late), filter=NLMS(32)).delay == 0


@pytest.mark.parametrize("db", [-5.0, 1.5, 10.0, 19.5])
def test_speech_comes_out_of_the_noise_whatever_its_level(db):
    found = cancel(scene(db), ENGINE)
    # Misadjustment of RLS: 32 weights over twice 32,000 samples is -33 dB; speech is not steady.
    assert snr(VOICE, found.signal) > 27
    # Two standard errors of the coherence are 20 dB below the voice: no more can be claimed.
    told, true = found.measures["noise_reduction_db"], gained(scene(db), found.signal)
    assert true - told < 15 or np.isnan(told)
    assert not told > true + 1


def test_the_default_beats_every_filter_that_stood_behind_another_door():
    d = scene(1.5)
    level = float(np.mean(ENGINE**2))
    others = [
        NLMS(32),
        NLMS(32, eta=0.05),
        RLS(32, 0.999, level),
        RLS(32, 0.9998, 10 * 32 * level),
        RLS(32, forgetting=0.9999),
    ]
    best = max(snr(VOICE, f.process(ENGINE, d)[1]) for f in others)
    assert snr(VOICE, cancel(d, ENGINE).signal) > best + 3


def test_a_noise_that_changes_its_way_is_followed_by_a_short_memory():
    steady, changed = cancel(scene(1.5), ENGINE), cancel(scene(1.5, paths=2), ENGINE)
    assert 1 / (1 - steady.filter.forgetting) == pytest.approx(32_000)
    assert 1 / (1 - changed.filter.forgetting) == pytest.approx(1600)
    assert snr(VOICE, changed.signal) > 12
    with pytest.warns(UserWarning, match="changed faster than it learns"):
        slow = cancel(scene(1.5, paths=2), ENGINE, filter=steady.filter.reset())
    assert snr(VOICE, slow.signal) < 7


@pytest.mark.parametrize(
    ("taps", "algorithm", "kind"),
    [
        (512, "auto", RLS),
        (513, "auto", BlockLMS),
        (8, "block", BlockLMS),
        (8, "nlms", NLMS),
        (8, "affine", AffineProjection),
        (8, "lms", LMS),
        (513, "rls", RLS),
    ],
)
def test_the_filter_is_chosen_by_the_number_of_weights_or_by_name(taps, algorithm, kind):
    assert type(noise_filter(taps, algorithm, level=1.0)) is kind


def test_channels_count_as_weights():
    assert type(noise_filter(256, channels=2)) is RLS
    assert type(noise_filter(257, channels=2)) is BlockLMS


def test_a_later_pass_goes_on_with_rls_and_settles_with_gradients():
    for name in ("rls", "block", "nlms", "affine", "lms"):
        first = noise_filter(8, name, level=1.0)
        first.process(ENGINE[:500], VOICE[:500])
        second = noise_filter(8, name, level=1.0, after=first)
        assert np.array_equal(second.weights, first.weights)
        assert (second is first) == (name == "rls")
        if name != "rls":
            assert second.eta < first.eta
        assert noise_filter(8, name, 0.5, after=first) is first


def test_long_filters_gain_too():
    d = scene(1.5, taps=600)
    found = cancel(d, ENGINE, taps=600)
    assert type(found.filter) is BlockLMS
    assert snr(VOICE[N // 2 :], found.signal[N // 2 :]) > 10


def test_passes_are_those_of_the_filter_by_hand():
    d = scene(10.0)[:5000]
    f = noise_filter(32, level=float(np.mean(ENGINE[:5000] ** 2)), heard=(ENGINE[:5000], d))
    _, once = f.process(ENGINE[:5000], d)
    _, twice = f.process(ENGINE[:5000], d)
    assert np.array_equal(cancel(d, ENGINE[:5000], passes=1).signal, once)
    assert np.array_equal(cancel(d, ENGINE[:5000]).signal, twice)
    given = RLS(32)
    cancel(d, ENGINE[:5000], filter=given)
    assert given.samples == 5000


HARMFUL = {
    "NLMS, noise 10 dB below": (10.0, lambda: NLMS(32)),
    "NLMS, noise 20 dB below": (20.0, lambda: NLMS(32, eta=0.05)),
    "RLS of a short memory": (20.0, lambda: RLS(32, forgetting=0.995)),
    "BlockLMS": (20.0, lambda: BlockLMS(32)),
    "no noise of the reference": (200.0, lambda: NLMS(32)),
}
HELPFUL = {
    "the default": (1.5, lambda: None, 1),
    "the default, noise 20 dB below": (20.0, lambda: None, 1),
    "the default, a change of the path": (1.5, lambda: None, 2),
    "NLMS with a small step": (1.5, lambda: NLMS(32, eta=0.05), 1),
    "RLS of a short memory": (-5.0, lambda: RLS(32), 2),
    "BlockLMS": (-5.0, lambda: BlockLMS(32, eta=0.1), 1),
}


@pytest.mark.parametrize(("db", "make"), HARMFUL.values(), ids=HARMFUL)
def test_a_result_worse_than_the_recording_is_warned_about(db, make):
    d = scene(db)
    with pytest.warns(UserWarning, match="More noise was added than removed"):
        found = cancel(d, ENGINE, filter=make())
    assert snr(VOICE[N // 2 :], found.signal[N // 2 :]) < snr(VOICE[N // 2 :], d[N // 2 :])


@pytest.mark.parametrize(("db", "make", "paths"), HELPFUL.values(), ids=HELPFUL)
def test_a_result_better_than_the_recording_is_not(db, make, paths):
    d = scene(db, paths=paths)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = cancel(d, ENGINE, filter=make())
    assert snr(VOICE[N // 2 :], found.signal[N // 2 :]) > snr(VOICE[N // 2 :], d[N // 2 :])


def test_the_gain_is_told_without_the_clean_signal():
    d = scene(1.5)
    for f in (NLMS(32), NLMS(32, eta=0.05), RLS(32)):
        e = f.process(ENGINE, d)[1]
        told = noise_reduction(d, ENGINE, e, 32, start=N // 2).db
        assert gained(d, e) - 6 < told < gained(d, e) + 1


def test_what_cannot_be_told_is_nan_and_no_warning():
    few = noise_reduction(VOICE[:100], ENGINE[:100], VOICE[:100], 32)
    assert np.isnan(few.db)
    assert not few.worse
    assert "cannot be estimated" in str(few)
    silent = noise_reduction(np.zeros(2000), np.zeros(2000), np.zeros(2000), 4)
    assert np.isnan(silent.db)
    assert not silent.worse
    many = noise_reduction(VOICE, np.stack([ENGINE, VOICE], 1), VOICE, 300)
    assert np.isnan(many.db)
    assert "at least 12 dB" in str(NoiseReduction(12.9, False, 0.5, 0.01))
    assert "50.0%" in str(NoiseReduction(12.9, False, 0.5, 0.01))


def test_complex_signals_and_several_references_are_judged(rng):
    x = rng.normal(size=(8000, 2)) + 1j * rng.normal(size=(8000, 2))
    voice = rng.normal(size=8000) + 1j * rng.normal(size=8000)
    d = voice + x @ [1.0, 0.5j]
    found = cancel(d, x, filter=NLMS(2, eta=0.05))
    true = 10 * np.log10(
        np.sum(np.abs(d - voice)[4000:] ** 2) / np.sum(np.abs(found.signal - voice)[4000:] ** 2)
    )
    assert true - 3 < found.measures["noise_reduction_db"] < true + 1


def test_bad_arguments_are_told():
    with pytest.raises(ValueError, match="algorithm is 'rsl'; expected one of 'auto'"):
        noise_filter(8, "rsl")
    with pytest.raises(ValueError, match="algorithm"):
        cancel(VOICE, ENGINE, algorithm="rsl")
    with pytest.raises(ValueError, match="leave one out"):
        cancel(VOICE, ENGINE, algorithm="rls", filter=RLS(8))
    with pytest.raises(ValueError, match="passes"):
        cancel(VOICE, ENGINE, passes=0)
    with pytest.raises(ValueError, match="level"):
        noise_filter(8, "lms")
    with pytest.raises(ValueError, match="heard"):
        noise_filter(8, "wiener")
    with pytest.raises(ValueError, match="delay"):
        cancel(VOICE, ENGINE, delay=0.5)
    with pytest.raises(TypeError, match="after is 3"):
        noise_filter(8, after=3)
    with pytest.raises(ValueError, match="signal has 3 samples"):
        noise_reduction(VOICE[:4], ENGINE[:4], VOICE[:3], 2)
