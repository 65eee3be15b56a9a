"""The board: points to click and drag, a learner watched step by step, proofs, and six tasks.

Events of the page, by name: start; open (link), which begins anew; set (link), which changes what
the link holds; add (x, y, label), move (index, x, y), relabel (index, label), delete (index);
go (to), code, weights, export.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import adaline
from adaline.play import drawing
from adaline.play.learners import LEARNERS
from adaline.play.points import PRESETS, Points, View, edit_points, link_points, preset, view_of
from adaline.play.runs import Run, run_learner
from adaline.play.session import record
from adaline.play.settings import (
    Value,
    change_values,
    check_number,
    check_whole,
    defaults,
    look_up,
    show,
)

Event = Mapping[str, Any]
Drawing = dict[str, Any]


@dataclass(frozen=True, eq=False)
class State:
    """Points, a learner with its settings, and what it did with the points."""

    points: Points
    view: View
    run: Run
    learner: str = "perceptron"
    settings: Mapping[str, Value] = field(
        default_factory=lambda: defaults(LEARNERS["perceptron"].settings)
    )
    # The margins b of minimum squared error; empty unless the user has set them.
    margins: tuple[float, ...] = ()
    at: int | None = None  # the step that is shown; None for the last

    @property
    def has_margins(self) -> bool:
        """Whether this is minimum squared error, whose margins can be set."""
        return self.learner == "mse" and len(self.points.present) == 2

    @property
    def step(self) -> int:
        """The number of the step that is shown."""
        return self.run.steps if self.at is None else min(self.at, self.run.steps)


def start(points: Points | None = None) -> State:
    """The board of a new page: the OR gate before the first step; points of a user after all."""
    shown = preset("or") if points is None else points
    return _learn(State(shown, view_of(shown), Run(shown), at=0 if points is None else None))


def _learn(state: State) -> State:
    """The board once its learner has learned its points."""
    learner, margins = LEARNERS[state.learner], state.margins if state.has_margins else ()
    return replace(state, run=run_learner(learner, state.settings, state.points, margins))


def step(state: State, event: Event) -> tuple[State, Drawing]:
    """The board after an event of the page, and what is to be drawn anew."""
    match event["event"]:
        case "start":
            return state, draw(state) | _lists()
        case "open":
            state = _change(start(), event.get("link"))
            return state, draw(state) | _lists()
        case "set":
            state = _change(state, event.get("link"))
            return state, draw(state)
        case "add" | "move" | "relabel" | "delete":
            points = edit_points(state.points, event)
            state = _learn(replace(state, points=points, margins=(), at=None))
            return state, draw(state)
        case "go":
            state = replace(state, at=_find_step(state, event.get("to")))
            return state, _draw_step(state)
        case "code":
            return state, {"code": state.run.code(state.step)}
        case "weights":
            return state, {"space": drawing.draw_weight_space(state.run)}
        case "export":
            return state, {"html": export(state)}
    raise ValueError(f"the board knows no event {show(event['event'])}.")


def _lists() -> Drawing:
    """The choices of the page."""
    return {
        "presets": [[name, words] for name, (words, _) in PRESETS.items()],
        "learners": [learner.describe() for learner in LEARNERS.values()],
        "tasks": [{"words": task.words, "link": task.link} for task in TASKS],
    }


def draw(state: State) -> Drawing:
    """All that the page needs to draw the board."""
    points, run, rates = state.points, state.run, None
    if state.learner == "adaline" and len(points):
        bound = adaline.stable_rate(points.X, bool(state.settings["fit_intercept"]))
        rates = {"bound": bound.one_sample, "name": "2/tr[R]"}
        if state.settings["mode"] == "batch":
            rates = {"bound": bound.batch, "name": "2/λmax(R)"}
    return {
        "points": {"X": points.X, "codes": points.codes},
        "view": state.view,
        "learner": state.learner,
        "settings": state.settings,
        "proof": drawing.draw_proof(points),
        "rates": rates,
        "run": None if run.problem else drawing.draw_run(run),
        "problem": run.problem,
    } | _draw_step(state)


def _draw_step(state: State) -> Drawing:
    """What changes with the step."""
    drawn: Drawing = {"link": link_of(state), "solved": [task.is_solved(state) for task in TASKS]}
    if state.run.problem:
        return drawn
    drawn["present"] = drawing.draw_step(state.run, state.step, state.view)
    if state.has_margins and len(state.points) <= 40:  # bars that a page can show side by side
        drawn["present"]["bars"] = {"b": list(state.margins) or [1.0] * len(state.points)}
    return drawn


def export(state: State) -> str:
    """The board as one HTML file with every step of its learner, to be opened anywhere."""
    run = state.run
    if run.problem:
        raise ValueError(run.problem)

    def draw_moment(k: int) -> Drawing:
        return _draw_step(replace(state, at=k)) | {"code": run.code(k)}

    first = draw(replace(state, at=0)) | _lists() | {"space": drawing.draw_weight_space(run)}
    return record(first, draw_moment, run.steps, LEARNERS[state.learner].title)


def _find_step(state: State, to: Any) -> int | None:
    """The number of another step: given, or "first", "last", "next", "back", "pass"."""
    at, last = state.step, state.run.steps
    if isinstance(to, str):
        ends = at + 1 + np.flatnonzero(np.diff(state.run.passes[at + 1 :]))  # of later passes
        steps = {"first": 0, "last": last, "next": at + 1, "back": max(0, at - 1)}
        steps["pass"] = int(ends[0]) if len(ends) else last
        to = look_up(steps, to, "step")
    step = check_whole(to, "the step")
    return None if step >= last else step


def link_of(state: State) -> dict[str, Any]:
    """The board as JSON, to be kept in the address."""
    points = state.points
    usual = defaults(LEARNERS[state.learner].settings)
    more = {
        "settings": {k: v for k, v in state.settings.items() if v != usual[k]},
        "at": state.at,
        "margins": list(state.margins),
    }
    return {
        "x": points.X[:, 0].tolist(),
        "y": points.X[:, 1].tolist(),
        "c": "".join(points.labels),
        "learner": state.learner,
    } | {name: value for name, value in more.items() if value not in (None, {}, [])}


def _change(state: State, link: Any) -> State:
    """The board with what a link holds: points or a preset, learner, settings, margins, a step."""
    if not isinstance(link, Mapping):
        raise ValueError("this link holds no board.")
    state = replace(state, at=None)
    if "preset" in link or "x" in link:
        points = link_points(link)
        # A preset is shown before the first step; a link to a board at its own step.
        at = 0 if "preset" in link else None
        state = replace(state, points=points, view=view_of(points), margins=(), at=at)
    learner = look_up(LEARNERS, link.get("learner", state.learner), "learner")
    values = defaults(learner.settings) if "learner" in link else state.settings
    values = change_values(learner.settings, values, link.get("settings", {}))
    state = replace(state, learner=learner.name, settings=values)
    if "margins" in link:
        given = link["margins"]
        if not isinstance(given, list) or len(given) != len(state.points):
            raise ValueError("the margins do not match the points.")
        margins = tuple(check_number(value, "a margin") for value in given)
        if not all(0.0 < value <= 1e6 for value in margins):  # more than a bar can show
            raise ValueError("a margin is a positive number up to 1e6.")
        state = replace(state, margins=margins)
    if "at" in link:
        state = replace(state, at=check_whole(link["at"], "the step"))
    return _learn(state)


@dataclass(frozen=True)
class Task:
    """Words for a student, the board to begin with, and whether a board solves it.

    What `separability` and the fit say decides, so that no task can be talked through.
    """

    words: str
    link: dict[str, Any]
    is_solved: Callable[[State], bool]


def _is_separable(state: State) -> bool:
    proven = state.points.separability
    return proven is not None and proven.verdict == "separable"


def _is_right(state: State) -> bool:
    return not state.run.problem and state.run.count_wrong() == 0


def _moved(state: State, name: str) -> int:
    """How many points of a preset have another place or class; -1 for another number of points."""
    before = preset(name)
    if len(before) != len(state.points):
        return -1
    same = (before.X == state.points.X).all(axis=1) & (before.codes == state.points.codes)
    return int(np.sum(~same))


TASKS = (
    Task(
        "Let the perceptron learn OR: press Run until it stops.",
        {"preset": "or", "learner": "perceptron"},
        lambda s: s.step == s.run.steps and _is_separable(s) and _moved(s, "or") == 0,
    ),
    Task(
        "Make XOR separable with one drag.",
        {"preset": "xor", "learner": "perceptron"},
        lambda s: _moved(s, "xor") == 1 and _is_separable(s),
    ),
    Task(
        "Solve XOR without moving a point: choose another learner.",
        {"preset": "xor", "learner": "perceptron"},
        lambda s: _moved(s, "xor") == 0 and _is_right(s),
    ),
    Task(
        "Move points so that the perceptron needs more than 20 corrections, and still succeeds.",
        {"preset": "or", "learner": "perceptron"},
        lambda s: (
            s.learner == "perceptron"
            and _is_separable(s)
            and bool(s.run.model.fit_.corrections > 20)
        ),
    ),
    Task(
        "Find a rate at which Adaline diverges.",
        {"preset": "gaussians", "learner": "adaline"},
        lambda s: s.learner == "adaline" and "diverged" in s.run.stopped,
    ),
    Task(
        "One far point misleads minimum squared error. Get every point right, and keep them all.",
        {"preset": "outlier", "learner": "mse"},
        lambda s: _moved(s, "outlier") == 0 and _is_right(s),
    ),
)
