"""`adaline filter`: the library's filter, on sound files, block by block."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.io import wavfile

from adaline.filters import cancel

N, RATE = 20_000, 8000


@pytest.fixture
def sounds(tmp_path, rng):
    """A tone in noise (16 bits, and two channels of floats), and the noise."""
    noise = 0.1 * rng.standard_normal(N)
    tone = 0.2 * np.sin(0.3 * np.arange(N))
    both = tone + np.convolve(noise, [0.5, 0.3, -0.2])[:N]
    wavfile.write(tmp_path / "in.wav", RATE, np.rint(both * 32768).astype(np.int16))
    wavfile.write(tmp_path / "floats.wav", RATE, np.stack([both, 0.5 * both], 1).astype("f4"))
    wavfile.write(tmp_path / "noise.wav", RATE, np.rint(noise * 32768).astype(np.int16))
    return tone


def read(path):
    rate, x = wavfile.read(path)
    assert rate == RATE
    return x


def test_the_output_is_the_filters_error_in_the_recordings_own_format(command, sounds, tmp_path):
    found = command("filter", "in.wav", "-r", "noise.wav", "-o", "out.wav", "--taps", 8, "--json")
    assert found.code == 0, found.err
    d, x = (read(tmp_path / f) / 32768.0 for f in ("in.wav", "noise.wav"))
    e = cancel(d, x, taps=8).signal  # the command and the library are one
    out = read(tmp_path / "out.wav")
    assert out.dtype == np.int16
    np.testing.assert_array_equal(out, np.rint(e * 32768))
    half = N // 2
    assert found.json["removed_db_second_half"] == pytest.approx(
        10 * np.log10(np.sum(d[half:] ** 2) / np.sum(e[half:] ** 2)), rel=1e-9
    )


@pytest.mark.parametrize("algorithm", ["auto", "nlms", "lms", "rls", "affine", "block", "wiener"])
def test_every_algorithm_leaves_the_tone(command, sounds, tmp_path, algorithm):
    found = command(
        "filter", "floats.wav", "-r", "noise.wav", "-o", "o.wav", "--algorithm", algorithm
    )
    assert found.code == 0, found.err
    out = read(tmp_path / "o.wav")
    assert out.dtype == np.float32
    assert out.shape == (N, 2)
    # At least 6 dB better than the noise that was there, at the end.
    rest = np.mean((out[-5000:, 0] - sounds[-5000:]) ** 2)
    assert rest < 0.01 * 0.38 / 4


def test_what_cannot_be_is_told_and_leaves_no_file(command, sounds, tmp_path):
    wavfile.write(tmp_path / "slow.wav", 4000, np.zeros(100, np.int16))
    (tmp_path / "text.wav").write_text("no sound")
    for reference, words, code in [
        ("slow.wav", "one rate", 3),
        ("text.wav", "not a wav file", 3),
        ("nois.wav", "noise.wav", 3),
        ("noise.csv", "no such file", 3),
    ]:
        found = command("filter", "in.wav", "-r", reference, "-o", "out.wav")
        assert (found.code, words in found.err) == (code, True), found.err
    assert command("filter", "in.wav", "-r", "noise.wav", "-o", "in.wav").code == 2
    assert command("filter", "in.wav", "-r", "noise.wav", "-o", "o.wav", "--taps", 0).code == 2
    assert command("filter", "in.wav", "-r", "noise.wav", "-o", "o.wav", "--eta", 5).code == 3
    assert not list(tmp_path.glob("o*"))


def test_a_shorter_reference_and_a_reference_with_the_signal_are_warned_about(
    command, sounds, tmp_path
):
    wavfile.write(tmp_path / "short.wav", RATE, read(tmp_path / "noise.wav")[:-100])
    short = command("filter", "in.wav", "-r", "short.wav", "-o", "o.wav")
    assert "first 19,900 were used" in short.out
    assert len(read(tmp_path / "o.wav")) == 19_900
    wavfile.write(tmp_path / "short.wav", RATE, read(tmp_path / "noise.wav")[:5000])
    refused = command("filter", "in.wav", "-r", "short.wav", "-o", "short-out.wav")
    assert refused.code == 3
    assert "5,000 samples" in refused.err
    assert not (tmp_path / "short-out.wav").exists()
    same = command("filter", "in.wav", "-r", "in.wav", "-o", "o.wav")
    assert "hold the signal itself" in same.out


@pytest.mark.parametrize("name", ["x.mp3", "x.flac", "x", "x.wav.ogg"])
def test_a_result_that_is_no_wav_is_refused_before_the_work(command, sounds, tmp_path, name):
    found = command("filter", "in.wav", "-r", "noise.wav", "-o", name)
    assert found.code == 2
    assert "written as wav only" in found.err
    assert not (tmp_path / name).exists()
    assert command("filter", "none.wav", "-r", "none.wav", "-o", name).code == 2
    assert command("filter", "in.wav", "-r", "noise.wav", "-o", "X.WAV").code == 0


@pytest.mark.parametrize("algorithm", ["auto", "nlms", "lms", "affine", "block", "wiener"])
def test_a_name_means_the_same_in_the_command_and_in_the_library(
    command, sounds, tmp_path, algorithm
):
    command("filter", "in.wav", "-r", "noise.wav", "-o", "o.wav", "--algorithm", algorithm)
    d, x = (read(tmp_path / f) / 32768.0 for f in ("in.wav", "noise.wav"))
    e = cancel(d, x, algorithm=algorithm).signal
    np.testing.assert_array_equal(read(tmp_path / "o.wav"), np.rint(e * 32768))


def test_what_was_chosen_and_achieved_is_said(command, sounds):
    found = command("filter", "in.wav", "-r", "noise.wav", "-o", "o.wav")
    assert "RLS with 32 taps and a memory of 32,000 samples, 2 passes" in " ".join(
        found.out.split()
    )
    assert "coherent with the reference" in " ".join(found.out.split())
    assert "noise fell" not in found.out
    told = command("filter", "in.wav", "-r", "noise.wav", "-o", "o.wav", "--json").json
    assert told["noise_reduction_db"] > 1  # 20,000 samples of a tone cannot prove more
    assert told["coherence_before"] > 0.1 > told["coherence_after"]
    assert told["delay"] == 0
    two = " ".join(command("filter", "floats.wav", "-r", "noise.wav", "-o", "o.wav").out.split())
    assert "of channel 1, " in two
    assert "of channel 2, " in two
    assert told["worse"] is False
    assert told["filter"].startswith("RLS(taps=32")


def test_a_result_worse_than_the_recording_is_warned_about(command, tmp_path, rng):
    noise = 0.1 * rng.standard_normal(N)
    voice = 0.1 * rng.standard_normal(N)
    for name, x in (("d.wav", voice + 0.1 * noise), ("x.wav", noise)):
        wavfile.write(tmp_path / name, RATE, x.astype(np.float32))
    words = ("filter", "d.wav", "-r", "x.wav", "-o", "o.wav", "--json", "--taps", 16)
    bad = command(*words, "--algorithm", "nlms", "--eta", 0.5).json
    assert bad["worse"]
    assert any("more noise was added than removed" in text for text in bad["warnings"])
    good = command(*words).json
    assert not good["worse"]
    assert not any("added" in text for text in good["warnings"])


def test_a_reference_that_is_late_is_advanced_as_in_the_library(command, sounds, tmp_path):
    late = np.roll(read(tmp_path / "noise.wav"), 200)
    wavfile.write(tmp_path / "late.wav", RATE, late)
    words = ("filter", "in.wav", "-r", "late.wav", "-o", "o.wav", "--taps", 16)
    found = command(*words)
    assert "reference advanced by 202 samples" in " ".join(found.out.split())
    d, x = read(tmp_path / "in.wav") / 32768.0, late / 32768.0
    e = cancel(d, x, taps=16).signal
    np.testing.assert_array_equal(read(tmp_path / "o.wav"), np.rint(e * 32768))
    told = command(*words, "--json", "--delay", 0).json
    assert told["delay"] == 0
    assert told["removed_db"] < 0.5


def test_noise_that_lasts_longer_than_the_taps_is_not_counted_as_removed(command, tmp_path, rng):
    noise, room = rng.standard_normal(N), rng.standard_normal(400) / 20
    voice = np.sin(0.3 * np.arange(N))
    d = voice + np.convolve(noise, room)[:N]
    for name, x in (("d.wav", d), ("x.wav", noise)):
        wavfile.write(tmp_path / name, RATE, (0.1 * x).astype(np.float32))
    told = command("filter", "d.wav", "-r", "x.wav", "-o", "o.wav", "--json").json
    e, half = read(tmp_path / "o.wav") * 10, slice(N // 2, None)
    true = 10 * np.log10(np.mean((d - voice)[half] ** 2) / np.mean((e - voice)[half] ** 2))
    assert told["noise_reduction_db"] < true + 3
    assert any("more taps" in text for text in told["warnings"])


def test_silence_has_no_negative_zero(command, sounds, tmp_path):
    wavfile.write(tmp_path / "other.wav", RATE, np.zeros(N, np.int16))
    found = command("filter", "in.wav", "-r", "other.wav", "-o", "o.wav")
    assert "-0.0" not in found.out
    assert "0.0 dB" in found.out
