"""The board: what it shows is what the library returns, its code runs, and its links come back."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

import adaline
from adaline.play import board
from adaline.play.learners import LEARNERS
from adaline.play.points import PRESETS, check_points, view_of
from adaline.play.points import preset as points_of
from adaline.play.session import pack, split_bytes

pytestmark = pytest.mark.filterwarnings("ignore")
# Ten points of two classes that overlap.
FEW = check_points(points_of("gaussians").X[75:85], [0] * 5 + [1] * 5)
BOTH = [(preset, learner) for preset in PRESETS for learner in LEARNERS]


def told(state, **event):
    """The state after an event, and the drawing as the page gets it."""
    state, drawing = board.step(state, event)
    pack(drawing)  # whatever is drawn can be sent
    return state, drawing


def shown(preset="or", learner="perceptron", **settings):
    state, _ = told(board.start(), event="preset", name=preset)
    state, drawing = told(state, event="learner", name=learner)
    for name, value in settings.items():
        state, drawing = told(state, event="setting", name=name, value=value)
    return state, drawing


def test_the_or_gate_is_the_lectures_table():
    state, drawing = shown("or")
    steps = adaline.trace(
        adaline.Perceptron(eta=1.0, max_iter=100), state.points.X, state.points.labels
    )
    table = drawing["present"]["table"]
    assert table["head"] == list(steps.columns())
    assert drawing["run"]["steps"] == len(steps) == table["count"]
    assert (
        drawing["run"]["corrections"] == steps.fit.corrections <= drawing["proof"]["bound"]["sharp"]
    )
    assert np.array_equal(drawing["present"]["weights"]["W"], steps.fit.W)


@pytest.mark.parametrize(("preset", "learner"), BOTH)
def test_every_learner_draws_every_preset_and_its_code_gives_the_same_weights(preset, learner):
    state, drawing = shown(preset, learner)
    if drawing["problem"]:
        expected = ("two classes", "no hyperplane has a margin")
        assert any(words in drawing["problem"] for words in expected)
        assert drawing["run"] is None
        return
    run = state.run
    for to in ("first", 1, "last"):
        state, _ = told(state, event="go", to=to)
        _, answer = told(state, event="code")
        found: dict[str, object] = {}
        exec(answer["code"], found)
        if learner == "kernel":
            done = int(run.passes[state.step]) if state.step == run.steps else 0
            if done:
                assert np.array_equal(found["W"], run.model.dual_coef_)
                assert np.array_equal(found["b"], run.model.intercept_)
        else:
            assert np.array_equal(found["W"], run.W[state.step])
            assert np.array_equal(found["b"], run.b[state.step])


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_setting_of_a_learner_learns_or_says_why_not(learner):
    for setting in LEARNERS[learner].settings:
        values = list(setting.choices) or (
            [True, False] if isinstance(setting.default, bool) else [setting.low, setting.high]
        )
        for value in values:
            state = board.State(FEW, view_of(FEW), learner=learner)
            state, drawing = told(state, event="setting", name=setting.name, value=value)
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
    link = json.loads(json.dumps(split_bytes(drawing)[0]["link"]))
    again, found = told(board.start(), event="open", link=link)
    assert again.step == state.step
    assert again.settings == state.settings
    assert np.array_equal(again.points.X, state.points.X)
    assert again.points.labels.tolist() == state.points.labels.tolist()
    _, code = told(state, event="code")
    assert told(again, event="code")[1] == code
    assert found["link"] == drawing["link"]


def test_a_link_may_name_a_preset_and_a_learner():
    state, drawing = told(board.start(), event="open", link={"preset": "xor", "learner": "kernel"})
    assert drawing["proof"]["verdict"] == "overlapping"
    assert state.learner == "kernel"
    assert drawing["presets"]


BAD_LINKS = [
    None,
    [],
    "xor",
    {"preset": 1},
    {"preset": "nothing"},
    {"learner": "nothing"},
    {"x": [1]},
    {"x": [1], "y": [1, 2], "c": "A"},
    {"x": [1], "y": [1], "c": "E"},
    {"x": ["1"], "y": [1], "c": "A"},
    {"x": [1e300], "y": [1], "c": "A"},
    {"preset": "or", "at": -1},
    {"preset": "or", "at": "x"},
    {"preset": "or", "settings": {"eta": "x"}},
    {"preset": "or", "settings": {"eta": 1e9}},
    {"preset": "or", "margins": [1]},
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
    {"event": "add"},
    {"event": "add", "x": 1, "y": None, "label": 0},
    {"event": "add", "x": 1, "y": 1, "label": 4},
    {"event": "add", "x": 1, "y": 1, "label": "A"},
    {"event": "add", "x": float("inf"), "y": 1, "label": 0},
    {"event": "add", "x": True, "y": 1, "label": 0},
    {"event": "move", "index": 9, "x": 1, "y": 1},
    {"event": "delete", "index": -1},
    {"event": "preset"},
    {"event": "delete", "index": 1.5},
    {"event": "relabel", "index": 0, "label": -1},
    {"event": "go", "to": "fly"},
    {"event": "go", "to": None},
    {"event": "go", "to": 1.5},
    {"event": "learner"},
    {"event": "setting"},
    {"event": "setting", "name": "eta", "value": "1"},
    {"event": "margin", "index": 0, "value": 0},
    {"event": "margin", "index": 4, "value": 1},
    {"event": "upload", "name": "a.csv", "bytes": b"a,b\n1,2\n"},
    {"event": "points", "X": [[1]], "codes": [0]},
    {"event": "points", "X": "x", "codes": [0]},
]


@pytest.mark.parametrize("event", BAD_EVENTS, ids=str)
def test_a_bad_event_is_refused_in_a_sentence_and_changes_nothing(event):
    state = board.start()
    with pytest.raises(ValueError, match=r"\w"):
        board.step(state, event)
    assert np.array_equal(state.points.X, points_of("or").X)


def test_edits_are_undone_and_done_again():
    state, _ = told(board.start(), event="add", x=0.0, y=0.5, label=2)
    state, _ = told(state, event="move", index=4, x=0.1, y=0.5)
    state, _ = told(state, event="move", index=4, x=0.2, y=0.5, more=True)  # one drag, one edit
    assert state.points.X[4].tolist() == [0.2, 0.5]
    state, _ = told(state, event="undo")
    assert state.points.X[4].tolist() == [0.0, 0.5]
    state, _ = told(state, event="undo")
    assert len(state.points) == 4
    state, _ = told(state, event="redo")
    state, drawing = told(state, event="redo")
    assert state.points.X[4].tolist() == [0.2, 0.5]
    assert not drawing["redo"]
    assert drawing["undo"]


def test_undo_leaves_the_view_where_all_points_are_in_it():
    state, _ = told(board.start(), event="add", x=1.1, y=0.2, label=0)
    view = state.view
    state, drawing = told(state, event="undo")
    assert drawing["view"] == view
    state, _ = told(state, event="preset", name="four")
    state, drawing = told(state, event="undo")  # the gates are out of that view
    assert drawing["view"] == view


def test_a_point_on_its_way_shows_the_end_of_learning_and_then_all_steps():
    state, drawing = told(board.start(), event="move", index=0, x=-1.0, y=-0.9, last=False)
    assert drawing["run"]["steps"] == 0
    assert np.array_equal(drawing["present"]["weights"]["W"], state.run.W[-1])
    state, drawing = told(state, event="move", index=0, x=-1.0, y=-0.8, more=True, last=True)
    assert drawing["run"]["steps"] > 0
    assert len(state.past) == 1


def test_a_rate_beyond_the_bound_is_named_and_drawn_without_nan():
    _, drawing = shown("gaussians", "adaline", eta=4.0)
    assert "diverged" in drawing["run"]["stopped"]
    assert drawing["run"]["stopped"].endswith("The steps show how the weights diverged.")
    _, quiet = shown("gaussians", "adaline", eta=0.01)
    assert "ran away" not in quiet["run"]["stopped"]
    assert drawing["rates"]["bound"] < 4.0
    assert "NaN" not in str(pack(drawing))


def test_margins_that_are_dragged_make_mse_separate_the_lectures_points():
    state, drawing = shown("four", "mse")
    assert drawing["run"]["certificate"].startswith("unproven")
    state, drawing = told(state, event="margin", index=3, value=10.0)  # lecture: b = (1, 1, 1, 10)
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
        "prior": {"prior": "given", "share": 0.95},
        "cost": {"cost": 20.0},
        "reject": {"reject": True, "reject_cost": 0.1},
    }.items():
        _, drawing = shown("gaussians", "gaussian", **settings)
        codes[name] = np.frombuffer(drawing["present"]["grid"]["codes"], dtype=np.uint8)
        assert len(drawing["run"]["ellipses"]) == 2
    assert (codes["prior"] == 1).sum() > 1.1 * (codes["plain"] == 1).sum()
    assert (codes["cost"] == 1).sum() > 1.1 * (codes["plain"] == 1).sum()
    assert 0 < (codes["reject"] == 255).sum() < len(codes["reject"])


def test_ten_thousand_points_learn_and_their_code_reads_the_saved_file(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 2))
    codes = (X[:, 0] + rng.normal(size=10_000) > 0).astype(int)
    state, _ = told(board.start(), event="points", X=X, codes=codes)
    state, drawing = told(state, event="setting", name="max_iter", value=5)
    assert drawing["link"] is None
    assert drawing["proof"]["verdict"] == "overlapping"
    assert drawing["proof"]["cover"]["log10"] < -2900
    (tmp_path / "points.csv").write_text(told(state, event="save")[1]["csv"])
    monkeypatch.chdir(tmp_path)
    found: dict[str, object] = {}
    exec(told(state, event="code")[1]["code"], found)
    assert np.array_equal(found["W"], state.run.W[-1])


def test_the_weight_space_has_the_path_and_the_error():
    state, _ = shown("separable")
    _, drawing = told(state, event="weights")
    space = drawing["space"]
    assert space["path"][0].tolist() == [0.0, 0.0]
    assert len(space["surface"]) == 4 * space["n"] ** 2
    assert np.allclose(space["path"][-1], state.run.W[-1, 0])


def test_warnings_of_the_library_do_not_stop_a_page():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from adaline.play import Session

    (answer,) = Session().hear({"tab": "board", "event": "open", "link": {"preset": "xor"}})
    assert answer["drawing"]["run"]["stopped"]
