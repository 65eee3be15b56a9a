"""The board: what it shows is what the library returns, its code runs, and its links come back."""

from __future__ import annotations

import json

import numpy as np
import pytest

import adaline
from adaline.play import board
from adaline.play.learners import LEARNERS
from adaline.play.points import PRESETS
from adaline.play.points import preset as points_of
from adaline.play.session import to_json

pytestmark = pytest.mark.filterwarnings("ignore")
# Ten points of two classes that overlap.
FEW = {
    "x": points_of("gaussians").X[75:85, 0].tolist(),
    "y": points_of("gaussians").X[75:85, 1].tolist(),
    "c": "AAAAABBBBB",
}
BOTH = [(preset, learner) for preset in PRESETS for learner in LEARNERS]


def told(state, **event):
    """The state after an event, and the drawing as the page gets it."""
    state, drawing = board.step(state, event)
    json.dumps(to_json(drawing), allow_nan=False)  # whatever is drawn can be sent
    return state, drawing


def shown(preset="or", learner="perceptron", **settings):
    """The board at the last step of a learner."""
    link = {"preset": preset, "learner": learner, "settings": settings}
    state, drawing = told(board.start(), event="open", link=link)
    state, step = told(state, event="go", to="last")
    return state, drawing | step


def test_a_preset_is_shown_before_the_first_step():
    for state, drawing in (
        told(board.start(), event="start"),
        told(board.start(), event="open", link={"preset": "or"}),
    ):
        assert state.step == drawing["present"]["at"] == 0
        assert drawing["run"]["end"] == "At the end no point is on the wrong side."
        assert drawing["proof"]["short"].startswith("Yes")


def test_a_recording_holds_every_step_and_no_address():
    state, drawing = shown("gaussians", "logistic")
    _, answer = told(state, event="export")
    text = answer["html"]
    data = json.loads(text.partition('type="application/json">')[2].partition("</script>")[0])
    assert len(data["frames"]) == drawing["run"]["steps"] + 2  # the whole board, and each step
    assert 'from "./' not in text
    assert "http://" not in text.replace("http://www.w3.org", "")
    state, _ = shown("gaussians", "perceptron")
    with pytest.raises(ValueError, match="at most 400 steps"):
        told(state, event="export")


def test_the_or_gate_is_the_lectures_table():
    state, drawing = shown("or")
    steps = adaline.trace(
        adaline.Perceptron(eta=1.0, max_iter=100), state.points.X, state.points.labels
    )
    table = drawing["present"]["table"]
    assert table["head"] == list(steps.columns())
    assert drawing["run"]["steps"] == len(steps) == table["count"]
    assert drawing["run"]["corrections"] == steps.fit.corrections <= drawing["proof"]["bound"]
    assert np.array_equal(drawing["present"]["weights"]["W"], steps.fit.W)


@pytest.mark.parametrize(("preset", "learner"), BOTH)
def test_every_learner_draws_every_preset_and_its_code_gives_the_same_weights(preset, learner):
    state, drawing = shown(preset, learner)
    if drawing["problem"]:
        expected = ("two classes", "no hyperplane has a margin")
        assert any(words in drawing["problem"] for words in expected)
        assert drawing["run"] is None
        return
    for to in ("first", 1, "last"):
        state, _ = told(state, event="go", to=to)
        _, answer = told(state, event="code")
        found: dict[str, object] = {}
        exec(answer["code"], found)
        if learner == "kernel":
            if state.step == state.run.steps:
                assert np.array_equal(found["W"], state.run.model.dual_coef_)
                assert np.array_equal(found["b"], state.run.model.intercept_)
        else:
            W, b = state.run.weights(state.step)
            assert np.array_equal(found["W"], W)
            assert np.array_equal(found["b"], b)


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_setting_of_a_learner_learns_or_says_why_not(learner):
    for setting in LEARNERS[learner].settings:
        values = list(setting.choices) or (
            [True, False] if isinstance(setting.default, bool) else [setting.low, setting.high]
        )
        for value in values:
            link = {**FEW, "learner": learner, "settings": {setting.name: value}}
            _, drawing = told(board.start(), event="open", link=link)
            assert drawing["run"] or drawing["problem"].endswith(".")
            assert drawing["settings"][setting.name] == value


@pytest.mark.parametrize(
    "settings", [{"fit_intercept": False}, {"step": "absolute"}, {"mode": "batch"}]
)
def test_corrections_stand_beside_the_bound_only_where_it_holds(settings):
    _, drawing = shown("or", "perceptron")
    assert drawing["run"]["corrections"] == 3
    _, drawing = shown("or", "perceptron", **settings)
    assert drawing["run"]["corrections"] is None


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_link_brings_the_board_back(learner):
    preset = "three" if learner == "machine" else "separable"
    state, _ = shown(
        preset, learner, **({"fit_intercept": False} if learner == "perceptron" else {})
    )
    state, _ = told(state, event="add", x=0.125, y=-0.3, label=1)
    state, drawing = told(state, event="go", to=2)
    link = json.loads(json.dumps(to_json(drawing["link"])))
    again, found = told(board.start(), event="open", link=link)
    assert again.step == state.step
    assert again.settings == state.settings
    assert np.array_equal(again.points.X, state.points.X)
    assert again.points.labels.tolist() == state.points.labels.tolist()
    _, code = told(state, event="code")
    assert told(again, event="code")[1] == code
    assert found["link"] == drawing["link"]


BAD_LINKS = [
    None,
    "xor",
    {"preset": "nothing"},
    {"learner": "nothing"},
    {"x": [1], "y": [1, 2], "c": "A"},
    {"x": [1], "y": [1], "c": "E"},
    {"x": [0] * 501, "y": [0] * 501, "c": "A" * 501},
    {"x": ["1"], "y": [1], "c": "A"},
    {"x": [1e300], "y": [1], "c": "A"},
    {"preset": "or", "at": -1},
    {"preset": "or", "settings": {"eta": 1e9}},
    {"preset": "or", "margins": [1, 1, 1, -1]},
    {"preset": "or", "settings": {"mode": "fly"}},
    {"preset": "or", "settings": {"fit_intercept": 1}},
]


@pytest.mark.parametrize("link", BAD_LINKS)
def test_a_damaged_link_is_refused_in_a_sentence(link):
    with pytest.raises(ValueError, match=r"\.$"):
        board.step(board.start(), {"event": "open", "link": link})


BAD_EVENTS = [
    {"event": "fly"},
    {"event": "add", "x": 1, "y": None, "label": 0},
    {"event": "add", "x": 1, "y": 1, "label": 4},
    {"event": "add", "x": float("inf"), "y": 1, "label": 0},
    {"event": "move", "index": 9, "x": 1, "y": 1},
    {"event": "delete", "index": -1},
    {"event": "set"},
    {"event": "relabel", "index": 0, "label": -1},
    {"event": "go", "to": "fly"},
    {"event": "set", "link": {"settings": {"eta": "1"}}},
    {"event": "set", "link": {"settings": {"speed": 1}}},
]


@pytest.mark.parametrize("event", BAD_EVENTS, ids=str)
def test_a_bad_event_is_refused_in_a_sentence_and_changes_nothing(event):
    state = board.start()
    with pytest.raises(ValueError, match=r"\w"):
        board.step(state, event)
    assert np.array_equal(state.points.X, points_of("or").X)


def test_points_are_added_moved_relabelled_and_deleted_in_the_same_view():
    state, _ = told(board.start(), event="add", x=0.0, y=0.5, label=2)
    view = state.view
    state, _ = told(state, event="move", index=4, x=0.1, y=0.5)
    state, _ = told(state, event="relabel", index=4, label=3)
    assert (state.points.X[4].tolist(), state.points.labels[4]) == ([0.1, 0.5], "D")
    state, drawing = told(state, event="delete", index=0)
    assert len(state.points) == 4
    assert drawing["view"] == view


def test_a_rate_beyond_the_bound_is_named_and_drawn_without_nan():
    _, drawing = shown("gaussians", "adaline", eta=4.0)
    assert "diverged" in drawing["run"]["stopped"]
    assert drawing["run"]["stopped"].endswith("The steps show how the weights diverged.")
    _, quiet = shown("gaussians", "adaline", eta=0.01)
    assert "ran away" not in quiet["run"]["stopped"]
    assert drawing["rates"]["bound"] < 4.0
    json.dumps(to_json(drawing), allow_nan=False)


def test_margins_that_are_dragged_make_mse_separate_the_lectures_points():
    state, drawing = shown("four", "mse")
    assert drawing["run"]["certificate"].startswith("unproven")
    state, drawing = told(state, event="set", link={"margins": [1, 1, 1, 10]})  # the lecture's b
    assert drawing["run"]["certificate"].startswith("separable")
    assert drawing["present"]["bars"]["b"] == [1.0, 1.0, 1.0, 10.0]


def test_ho_kashyap_shows_margins_until_it_proves_that_nothing_separates():
    state, drawing = shown("xor", "ho-kashyap")
    assert drawing["run"]["certificate"].startswith("overlapping")
    state, drawing = told(state, event="go", to="first")
    assert len(drawing["present"]["bars"]["b"]) == len(drawing["present"]["bars"]["e"]) == 4


def test_priors_and_costs_move_the_boundary_and_a_band_is_rejected():
    codes = {}
    for name, settings in {
        "plain": {},
        "prior": {"share": 0.95},
        "cost": {"cost": 20.0},
        "reject": {"reject": True, "reject_cost": 0.1},
    }.items():
        _, drawing = shown("gaussians", "gaussian", **settings)
        codes[name] = np.frombuffer(drawing["present"]["grid"]["codes"], dtype=np.uint8)
        assert len(drawing["run"]["ellipses"]) == 2
    assert (codes["prior"] == 1).sum() > 1.1 * (codes["plain"] == 1).sum()
    assert (codes["cost"] == 1).sum() > 1.1 * (codes["plain"] == 1).sum()
    assert 0 < (codes["reject"] == 255).sum() < len(codes["reject"])


SOLUTIONS = [
    [{"event": "go", "to": "last"}],
    [{"event": "move", "index": 3, "x": -3.0, "y": -3.0}],
    [{"event": "set", "link": {"learner": "kernel"}}],
    [{"event": "move", "index": 1, "x": -0.8, "y": -0.95}],
    [{"event": "set", "link": {"settings": {"eta": 4.0}}}],
    [{"event": "set", "link": {"learner": "max-margin"}}],
]


@pytest.mark.parametrize(("k", "events"), list(enumerate(SOLUTIONS)), ids=str)
def test_a_task_is_open_at_first_and_solved_by_its_solution(k, events):
    state, drawing = told(board.start(), event="start")
    state, drawing = told(state, event="set", link=drawing["tasks"][k]["link"])
    assert not drawing["solved"][k]
    for event in events:
        state, drawing = told(state, **event)
    assert drawing["solved"][k]
