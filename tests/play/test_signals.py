"""The tab of signals: every filter draws, the code makes the same weights, bad input is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from adaline.play import signals
from adaline.play.session import to_json

SCENES = ("system", "engine", "echo")


def after(*settings, state=None):
    """State and drawing after some settings."""
    state = state or signals.start()
    drawing = {}
    for given in settings:
        state, drawing = signals.step(state, {"event": "set", "settings": given})
    return state, drawing


def run(code: str):
    """What the lines that the page shows make."""
    names: dict = {}
    exec(compile(code, "shown", "exec"), names)
    return names["result"]


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("learner", ["lms", "nlms", "rls", "wiener", "auto"])
def test_every_filter_draws_every_scene(scene, learner):
    _, drawing = after({"scene": scene, "learner": learner, "change": True, "taps": 24})
    assert drawing["verdict"]
    assert not drawing["diverged"]
    assert len(drawing["curve"]["floor"]) == 2
    assert np.isfinite(drawing["curve"]["db"]).all()
    json.dumps(to_json(drawing), allow_nan=False)


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
    shown = signals.run_filter(state)
    if drawing["diverged"]:
        with pytest.raises(ArithmeticError, match="diverged"):
            run(drawing["code"])
        return
    result = run(drawing["code"])
    assert np.array_equal(result.filter.weights, shown.filter.weights)
    assert np.array_equal(result.e, shown.e)
    assert capsys.readouterr().out


def test_lms_comes_near_the_floor_of_the_wiener_filter():
    _, drawing = after({"share": 0.02})
    curve = drawing["curve"]
    assert np.mean(curve["db"][-100:]) == pytest.approx(curve["floor"][0]["db"], abs=1.5)
    assert curve["db"][5] > curve["floor"][0]["db"] + 10


@pytest.mark.parametrize("share", [1.1, 2.0])
def test_a_rate_beyond_the_bound_is_named_and_gives_no_nan(share):
    state, drawing = after({"share": share})
    assert drawing["diverged"]
    assert "diverged at sample" in drawing["verdict"][0]
    assert f"{share:.3g} times the bound" in drawing["rate"]
    shown = signals.run_filter(state)
    assert 0 < len(shown.e) < len(shown.scene.d)
    assert np.isfinite(drawing["curve"]["db"]).all()
    assert max(drawing["curve"]["db"]) > 20  # it is seen to grow
    assert drawing["spectrogram"] is None


def test_a_rate_near_the_bound_is_doubted():
    assert "A third of the bound is safe" in after({"share": 0.6})[1]["rate"]
    assert "safe" not in after({"share": 0.3})[1]["rate"]
    assert "safe" not in after({"learner": "nlms", "share": 0.6})[1]["rate"]


def test_a_link_brings_the_same_settings_back():
    state, drawing = after({"scene": "echo", "learner": "nlms", "taps": 64, "change": True})
    link = json.loads(json.dumps(drawing["link"]))
    again, _ = signals.step(signals.start(), {"event": "open", "link": link})
    assert again == state
