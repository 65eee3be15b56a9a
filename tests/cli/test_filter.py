"""`adaline filter`: the library's filter, on sound files."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.io import wavfile

from adaline.filters import cancel

N, RATE = 20_000, 8000
FILTER = ("filter", "in.wav", "-r", "noise.wav", "-o", "o.wav")


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


@pytest.mark.parametrize("algorithm", ["auto", "nlms", "lms", "affine", "block", "wiener"])
def test_the_output_is_the_librarys_in_the_recordings_own_format(
    command, sounds, tmp_path, algorithm
):
    found = command(*FILTER, "--algorithm", algorithm, "--json").json
    d, x = (read(tmp_path / f) / 32768.0 for f in ("in.wav", "noise.wav"))
    e, half = cancel(d, x, algorithm=algorithm).signal, N // 2
    assert read("o.wav").dtype == np.int16
    np.testing.assert_array_equal(read("o.wav"), np.rint(e * 32768))
    assert found["removed_db_second_half"] == pytest.approx(
        10 * np.log10(np.sum(d[half:] ** 2) / np.sum(e[half:] ** 2)), rel=1e-9
    )
    shown = command("filter", "floats.wav", *FILTER[2:], "--algorithm", algorithm).out
    assert "of channel 2, " in shown
    out = read("o.wav")
    assert (out.dtype, out.shape) == (np.float32, (N, 2))
    # At least 6 dB better than the noise that was there, at the end.
    assert np.mean((out[-5000:, 0] - sounds[-5000:]) ** 2) < 0.01 * 0.38 / 4


def test_what_cannot_be_is_refused_and_leaves_no_file(command, sounds, tmp_path):
    wavfile.write(tmp_path / "slow.wav", 4000, np.zeros(100, np.int16))
    wavfile.write(tmp_path / "short.wav", RATE, read("noise.wav")[:5000])
    (tmp_path / "text.wav").write_text("no sound")
    for reference, words in {
        "slow.wav": "not 4000",
        "short.wav": "5,000 samples",
        "text.wav": "not a wav file",
        "nois.wav": "noise.wav",
        "noise.csv": "no such file",
    }.items():
        found = command("filter", "in.wav", "-r", reference, "-o", "o.wav")
        assert (found.code, words in found.err) == (3, True), found.err
    assert command("filter", "in.wav", "-r", "noise.wav", "-o", "in.wav").code == 2
    assert command(*FILTER, "--taps", 0).code == 2
    assert command(*FILTER, "--eta", 5).code == 3
    assert command(*FILTER, "--eta", 0.5, "--algorithm", "wiener").code == 2
    for name in ("x.mp3", "x", "x.wav.ogg"):
        found = command("filter", "none.wav", "-r", "none.wav", "-o", name)
        assert (found.code, "wav only" in found.err) == (2, True)
    assert not [*tmp_path.glob("o*"), *tmp_path.glob("x*")]


def test_doubtful_references_are_warned_about(command, sounds, tmp_path, rng):
    wavfile.write(tmp_path / "short.wav", RATE, read("noise.wav")[:-100])
    assert (
        "first 19,900 were used" in command("filter", "in.wav", "-r", "short.wav", *FILTER[4:]).out
    )
    assert len(read("o.wav")) == 19_900
    assert "signal itself" in command("filter", "in.wav", "-r", "in.wav", *FILTER[4:]).out
    wavfile.write(tmp_path / "silence.wav", RATE, np.zeros(N, np.int16))
    silence = command("filter", "in.wav", "-r", "silence.wav", *FILTER[4:]).out
    assert "0.0 dB" in silence
    assert "-0.0" not in silence
    noise, voice = 0.1 * rng.standard_normal((2, N))
    for name, x in (("d.wav", voice + 0.1 * noise), ("x.wav", noise)):
        wavfile.write(tmp_path / name, RATE, x.astype(np.float32))
    words = ("filter", "d.wav", "-r", "x.wav", "-o", "o.wav", "--json", "--taps", 16)
    bad, good = command(*words, "--algorithm", "nlms", "--eta", 0.5).json, command(*words).json
    assert any("added than removed" in text for text in bad["warnings"])
    assert not any("added" in text for text in good["warnings"])
