"""`adaline filter`: the library's filter, on sound files, block by block."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.io import wavfile

import adaline
from adaline.cli import filter as filtering

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
    _, e = adaline.NLMS(8, 0.05).process(x, d)
    out = read(tmp_path / "out.wav")
    assert out.dtype == np.int16
    np.testing.assert_array_equal(out, np.rint(e * 32768))
    half = N // 2
    assert found.json["removed_db_second_half"] == pytest.approx(
        10 * np.log10(np.sum(d[half:] ** 2) / np.sum(e[half:] ** 2)), rel=1e-9
    )


@pytest.mark.parametrize("algorithm", ["nlms", "lms", "rls", "affine", "block"])
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


def test_the_size_of_blocks_makes_no_difference(command, sounds, tmp_path, monkeypatch):
    command("filter", "in.wav", "-r", "noise.wav", "-o", "a.wav", "-q")
    monkeypatch.setattr(filtering, "_BLOCK", 777)
    command("filter", "in.wav", "-r", "noise.wav", "-o", "b.wav", "-q")
    np.testing.assert_array_equal(read(tmp_path / "a.wav"), read(tmp_path / "b.wav"))


def test_what_cannot_be_is_told_and_leaves_no_file(command, sounds, tmp_path):
    wavfile.write(tmp_path / "slow.wav", 4000, np.zeros(100, np.int16))
    (tmp_path / "text.wav").write_text("no sound")
    for reference, words, code in [
        ("slow.wav", "one rate", 3),
        ("text.wav", "no whole wav", 3),
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
    wavfile.write(tmp_path / "short.wav", RATE, read(tmp_path / "noise.wav")[:5000])
    assert (
        "first 5,000 were used" in command("filter", "in.wav", "-r", "short.wav", "-o", "o.wav").out
    )
    assert len(read(tmp_path / "o.wav")) == 5000
    same = command("filter", "in.wav", "-r", "in.wav", "-o", "o.wav")
    assert "hold the signal itself" in same.out
