"""The tab of signals: every filter draws, the code makes the same weights, bad input is refused."""

from __future__ import annotations

import json
import struct
import tempfile
from pathlib import Path

import numpy as np
import pytest

from adaline.filters import erle
from adaline.play import signals
from adaline.play.session import pack
from adaline.play.signal_settings import CONTROLS
from wav_files import tones, wav

SCENES = ("system", "engine", "echo")


def after(*settings, state=None):
    """State and drawing after some settings."""
    state = state or signals.start()
    drawing = {}
    for given in settings:
        state, drawing = signals.step(state, {"event": "set", "settings": given})
    return state, drawing


def upload(content, name="my voice.wav", state=None):
    event = {"event": "upload", "name": name, "bytes": content}
    return signals.step(state or signals.start(), event)


def run(code: str):
    """What the lines that the page shows make."""
    names: dict = {}
    exec(compile(code, "shown", "exec"), names)
    return names["result"]


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("learner", CONTROLS["learner"].choices)
def test_every_filter_draws_every_scene(scene, learner):
    _, drawing = after({"scene": scene, "learner": learner, "change": True, "taps": 24})
    assert drawing["verdict"]
    assert not drawing["diverged"]
    assert len(drawing["curve"]["floor"]) == 2
    assert np.isfinite(drawing["curve"]["db"]).all()
    frame = pack({"tab": "signals", "drawing": drawing})
    length = int.from_bytes(frame[:4], "little")
    assert "NaN" not in frame[4 : 4 + length].decode()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"share": 1.5},
        {"learner": "nlms", "change": True, "seed": 7},
        {"learner": "rls", "memory": 300.0, "colour": 0.9},
        {"learner": "rls", "memory": 100_000},
        {"learner": "wiener", "taps": 5},
        {"learner": "auto"},
        {"scene": "tone", "learner": "nlms"},
        {"scene": "engine", "level": 12.5},
        {"scene": "engine", "learner": "auto"},
        {"scene": "echo", "learner": "lms", "change": True},
        {"scene": "echo", "learner": "auto"},
    ],
)
def test_the_code_gives_the_same_weights(settings, capsys):
    state, drawing = after(settings)
    if drawing["diverged"]:
        with pytest.raises(ArithmeticError, match="diverged"):
            run(drawing["code"])
        return
    result = run(drawing["code"])
    assert np.array_equal(result.filter.weights, state.run.weights)
    assert np.array_equal(result.e, state.run.e)
    assert capsys.readouterr().out


@pytest.mark.parametrize("use", ["voice", "noise", "pair"])
def test_the_code_of_a_sound_file_gives_the_same_weights(use, tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    sound = np.column_stack([tones(), 0.2 * rng.standard_normal(4000)])
    content = wav(sound)
    state, _ = upload(content)
    state, drawing = after({"use": use, "learner": "nlms"}, state=state)
    (tmp_path / "my voice.wav").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    result = run(drawing["code"])
    assert np.array_equal(result.filter.weights, state.run.weights)


def test_lms_comes_near_the_floor_of_the_wiener_filter():
    _, drawing = after({"share": 0.02})
    curve = drawing["curve"]
    assert np.mean(curve["db"][-100:]) == pytest.approx(curve["floor"][0]["db"], abs=1.5)
    assert curve["db"][5] > curve["floor"][0]["db"] + 10


def test_a_change_in_the_middle_is_followed():
    _, drawing = after({"learner": "nlms", "share": 0.02, "change": True})
    off = np.array(drawing["misalignment"]["db"])
    middle = len(off) // 2
    assert off[middle - 1] < -25
    assert off[middle : middle + 3].max() > -15
    assert off[-1] < -25
    assert set(drawing["weights"]["path"]) == {0, 1}


def test_the_weights_of_every_moment_are_drawn():
    state, drawing = after({"taps": 7})
    learned = np.frombuffer(drawing["weights"]["learned"], "<f4").reshape(-1, 7)
    assert len(learned) == len(drawing["weights"]["at"])
    assert np.allclose(learned[-1], state.run.history[-1], rtol=1e-6)
    assert len(drawing["weights"]["true"][0]) == 16  # the path is longer than the filter


@pytest.mark.parametrize("share", [1.1, 2.0])
def test_a_rate_beyond_the_bound_is_named_and_gives_no_nan(share):
    state, drawing = after({"share": share})
    assert drawing["diverged"]
    assert "diverged at sample" in drawing["verdict"][0]
    assert f"{share:.3g} times the bound" in drawing["verdict"][1]
    assert drawing["eta"] == pytest.approx(share * drawing["bound"])
    assert 0 < len(state.run.e) < len(state.scene.d)
    assert np.isfinite(drawing["curve"]["db"]).all()
    assert max(drawing["curve"]["db"]) > 20  # it is seen to grow
    assert drawing["spectrogram"] is None
    assert drawing["sounds"] == ["before"]


def test_a_rate_near_the_bound_is_doubted():
    assert "A third of it is safe" in after({"share": 0.6})[1]["verdict"][-1]
    assert len(after({"share": 0.3})[1]["verdict"]) == 1
    assert len(after({"learner": "nlms", "share": 0.6})[1]["verdict"]) == 1


def test_nlms_beyond_its_bound_is_refused_by_the_library_and_changes_nothing():
    state, _ = after({"learner": "nlms"})
    with pytest.raises(ValueError, match="stable for 0 < eta < 2"):
        after({"share": 1.5}, state=state)
    assert state.settings.share != 1.5


def test_before_is_after_and_difference():
    state, drawing = after({"scene": "engine"})
    heard = {}
    for which in drawing["sounds"]:
        same, answer = signals.step(state, {"event": "listen", "which": which})
        assert same is state
        sound = answer["sound"]
        assert (sound["which"], sound["rate"]) == (which, 8000)
        heard[which] = np.frombuffer(sound["samples"], "<f4")
    assert set(heard) == {"before", "after", "difference", "wanted"}
    assert np.abs(heard["before"]).max() == 1.0
    # A float32 of size up to 1 is off by 6e-8 at most.
    assert np.abs(heard["before"] - heard["after"] - heard["difference"]).max() < 3e-7
    gain = float(erle(state.scene.d - state.scene.wanted, state.run.e - state.scene.wanted))
    assert gain > 3


def test_spectrograms_have_a_shade_for_every_cell():
    picture = after({"scene": "tone"})[1]["spectrogram"]
    for which in ("before", "after"):
        assert len(picture[which]) == picture["columns"] * picture["rows"]
    before = np.frombuffer(picture["before"], np.uint8).reshape(picture["rows"], -1)
    loudest = before.mean(axis=1).argmax() * picture["highest"] / (picture["rows"] - 1)
    assert loudest == pytest.approx(100, abs=40)  # the hum


def test_a_link_brings_the_same_weights_back():
    state, drawing = after({"scene": "echo", "learner": "nlms", "taps": 64, "change": True})
    link = json.loads(json.dumps(drawing["link"]))
    again, _ = signals.step(signals.start(), {"event": "open", "link": link})
    assert again.settings == state.settings
    assert np.array_equal(again.run.weights, state.run.weights)


def test_a_link_to_a_sound_file_opens_without_the_file():
    link = upload(wav(tones()))[1]["link"]
    state, drawing = signals.step(signals.start(), {"event": "open", "link": link})
    assert (state.settings.scene, drawing["wav"]) == ("engine", None)


@pytest.mark.parametrize(
    "settings",
    [
        None,
        [],
        "taps",
        {"taps": 0},
        {"taps": 257},
        {"taps": 2.5},
        {"taps": True},
        {"taps": "16"},
        {"taps": None},
        {"taps": 10**400},
        {"share": float("nan")},
        {"share": float("inf")},
        {"share": -1},
        {"memory": 1},
        {"colour": 1.0},
        {"level": 1e300},
        {"seed": -1},
        {"change": 1},
        {"scene": "moon"},
        {"scene": ["system"]},
        {"scene": "wav"},
        {"learner": "__class__"},
        {"use": "pair\x00"},
        {"__dict__": {}},
        {"x" * 10_000: 1},
    ],
)
def test_settings_that_are_none_are_refused_with_a_short_sentence(settings):
    state = signals.start()
    with pytest.raises(ValueError) as refused:  # noqa: PT011  the sentence is looked at below
        signals.step(state, {"event": "set", "settings": settings})
    assert 10 < len(str(refused.value)) < 300
    assert state.settings == signals.start().settings


@pytest.mark.parametrize("event", ["", "fit", "x" * 5000, None])
def test_an_unknown_event_is_refused(event):
    with pytest.raises(ValueError, match="no event"):
        signals.step(signals.start(), {"event": event})


def test_a_sound_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="nothing to hear"):
        signals.step(signals.start(), {"event": "listen", "which": "before"})
    state, _ = after({})
    for which in ("all", None, ["before"], {}):
        with pytest.raises(ValueError, match="no sound"):
            signals.step(state, {"event": "listen", "which": which})


def test_a_dropped_voice_stays_in_what_is_left():
    state, drawing = upload(wav(tones(16_000)))
    state, drawing = after({"learner": "auto"}, state=state)
    assert drawing["wav"]["channels"] == 1
    assert drawing["settings"]["scene"] == "wav"
    wanted = state.scene.wanted
    assert np.allclose(wanted, tones(16_000), atol=1e-4)  # 16 bits
    half = slice(8000, None)
    assert np.mean((state.run.e - wanted)[half] ** 2) < 0.2 * np.mean(
        (state.scene.d - wanted)[half] ** 2
    )


def test_two_channels_are_a_recording_and_its_reference():
    rng = np.random.default_rng(3)
    noise = 0.2 * rng.standard_normal(8000)
    recording = 0.1 * tones(8000) + np.convolve(noise, [0.5, 0.2])[:8000]
    state, _ = upload(wav(np.column_stack([recording, noise])))
    state, drawing = after({"use": "pair", "learner": "rls", "taps": 8}, state=state)
    assert state.scene.wanted is None
    assert state.run.weights[:2] == pytest.approx([0.5, 0.2], abs=0.02)
    assert "wanted" not in drawing["sounds"]


def test_one_channel_is_no_recording_with_a_reference():
    state, _ = upload(wav(tones()))
    with pytest.raises(ValueError, match="one channel"):
        after({"use": "pair"}, state=state)


def _float_wav(values):
    data = np.asarray(values, "<f4").tobytes()
    head = struct.pack("<IHHIIHH", 16, 3, 1, 8000, 32000, 4, 32)
    return (
        b"RIFF"
        + struct.pack("<I", 36 + len(data))
        + b"WAVEfmt "
        + head
        + b"data"
        + struct.pack("<I", len(data))
        + data
    )


BAD_WAVS = {
    "empty": b"",
    "text": b"size,price\n1,2\n",
    "a head alone": wav(tones())[:30],
    "cut short": wav(tones())[:3000],
    "claims 4 GB": wav(tones())[:40] + b"\xff\xff\xff\xff" + b"\0" * 800,
    "few samples": wav(tones(100)),
    "silence": wav(np.zeros(4000)),
    "not a number": _float_wav([0.1, np.nan] * 500),
    "a rate that browsers do not play": wav(tones(), rate=100),
    "zeros": b"\0" * 5000,
}


@pytest.mark.parametrize("content", BAD_WAVS.values(), ids=BAD_WAVS.keys())
def test_what_is_no_sound_is_refused_and_nothing_stays(content):
    before = set(Path(tempfile.gettempdir()).glob("adaline-play-*"))
    state = signals.start()
    with pytest.raises(ValueError) as refused:  # noqa: PT011  the sentence is looked at below
        upload(content, name="../../odd.wav", state=state)
    assert "odd.wav" in str(refused.value)
    assert tempfile.gettempdir() not in str(refused.value)
    assert set(Path(tempfile.gettempdir()).glob("adaline-play-*")) <= before


def test_a_long_sound_is_cut_and_heavy_work_on_it_is_refused():
    state, drawing = upload(wav(np.tile(tones(8000), 70), rate=48_000))
    assert drawing["samples"] == 480_000
    assert drawing["wav"]["used"] < drawing["wav"]["seconds"]
    with pytest.raises(ValueError, match="at most"):
        after({"learner": "rls", "taps": 256}, state=state)


def test_a_name_of_a_file_is_text_in_the_code():
    hostile = "'); import os; os.system('x') #.wav"
    _, drawing = upload(wav(tones()), name=hostile)
    assert "os.system(" not in drawing["code"]
    compile(drawing["code"], "shown", "exec")
