"""The board: points to click and drag, a learner watched step by step, and what is proven.

Events of the page, by name: start; open (link), which begins anew; set (link), which changes what
the link holds; add (x, y, label), move (index, x, y), relabel (index, label), delete (index);
go (to), code, weights, save, export.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import adaline
from adaline.play import drawing
from adaline.play.learners import LEARNERS, find_learner
from adaline.play.points import PRESETS, Array, Points, View, edit_points, link_points, view_of
from adaline.play.recording import record
from adaline.play.runs import Run, code_of, learn
from adaline.play.settings import Value, change_values, check_number, check_whole, defaults, show
from adaline.play.tasks import TASKS, solved

Event = Mapping[str, Any]
Drawing = dict[str, Any]


@dataclass(frozen=True, eq=False)
class State:
    """Points, a learner with its settings, and what it did with the points."""

    points: Points
    view: View
    learner: str = "perceptron"
    settings: Mapping[str, Value] = field(
        default_factory=lambda: defaults(LEARNERS["perceptron"].settings)
    )
    # The margins b of minimum squared error; empty unless the user has set them.
    margins: tuple[float, ...] = ()
    at: int | None = None  # the step that is shown; None for the last
    run: Run | str = ""  # what the learner did; a sentence where it cannot learn these points

    @property
    def has_margins(self) -> bool:
        """Whether this is minimum squared error, whose margins can be set."""
        return self.learner == "mse" and len(self.points.present) == 2

    @property
    def step(self) -> int:
        """The number of the step that is shown."""
        last = 0 if isinstance(self.run, str) else self.run.steps
        return last if self.at is None else min(self.at, last)

    @property
    def weights(self) -> tuple[Array, Array] | None:
        """W (K, 2) and b (K,) at the step that is shown; None for learners without."""
        return None if isinstance(self.run, str) else self.run.weights(self.step)

    @property
    def code(self) -> str:
        """The Python lines that end with the same W and b."""
        return self.run if isinstance(self.run, str) else code_of(self.run, self.step, self.points)


def start() -> State:
    """The board that a new page shows: the OR gate and a perceptron before its first step."""
    points = link_points({"preset": "or"})
    return _learn(State(points, view_of(points), at=0))


def _learn(state: State) -> State:
    """The board once its learner has learned its points."""
    learner, classes = LEARNERS[state.learner], len(state.points.present)
    if classes < 2:
        return replace(state, run="Learning needs points of two classes.")
    if classes > learner.max_classes:
        words = f"{learner.title} separates two classes; there are {classes}."
        return replace(state, run=words)
    call = learner.call(state.settings, classes)
    if state.has_margins and state.margins:
        call = replace(call, fitting={"margins": list(state.margins)})
    try:
        return replace(state, run=learn(call, state.points))
    except (ValueError, TypeError, ArithmeticError) as error:
        return replace(state, run=str(error))


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
            return state, _draw_step(state) | {"link": link_of(state), "solved": solved(state)}
        case "code":
            return state, {"code": state.code}
        case "weights":
            run = state.run
            space = None if isinstance(run, str) else drawing.draw_weight_space(run, state.points)
            return state, {"space": space}
        case "save":
            return state, {"csv": state.points.csv()}
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
    points, run, settings = state.points, state.run, state.settings
    rates = None
    if state.learner == "adaline" and len(points):
        bound, batch = adaline.stable_rate(points.X, bool(settings["fit_intercept"])), "batch"
        rates = {"bound": bound.one_sample, "name": "2/tr[R]"}
        if settings["mode"] == batch:
            rates = {"bound": bound.batch, "name": "2/λmax(R)"}
    shown: Drawing = {
        "points": {"X": points.X, "codes": points.codes},
        "view": state.view,
        "learner": state.learner,
        "settings": settings,
        "classes": len(points.present),
        "proof": drawing.draw_proof(points),
        "rates": rates,
        "link": link_of(state),
        "solved": solved(state),
    }
    if isinstance(run, str):
        return shown | {"run": None, "problem": run}
    return shown | {"run": drawing.draw_run(run, points), "problem": ""} | _draw_step(state)


def _draw_step(state: State) -> Drawing:
    if isinstance(state.run, str):
        return {}
    present = drawing.draw_step(state.run, state.step, state.points, state.view)
    if state.has_margins and len(state.points) <= 40:  # bars that a page can show side by side
        present["bars"] = {"b": list(state.margins) or [1.0] * len(state.points)}
    return {"present": present}


def export(state: State) -> str:
    """The board as one HTML file with every step of its learner, to be opened anywhere."""
    run = state.run
    if isinstance(run, str):
        raise ValueError(run)

    def draw_moment(k: int) -> Drawing:
        moment = replace(state, at=k)
        return _draw_step(moment) | {"code": moment.code}

    first = draw(replace(state, at=0)) | _lists()
    first["space"] = drawing.draw_weight_space(run, state.points)
    return record(first, draw_moment, run.steps, LEARNERS[state.learner].title)


def _find_step(state: State, to: Any) -> int | None:
    """The number of another step: given, or "first", "last", "next", "back", "pass"."""
    run = state.run
    if isinstance(run, str):
        return None
    at, last = state.step, run.steps
    if isinstance(to, str):
        later = (k for k in range(at + 1, last) if run.pass_at(k) != run.pass_at(k + 1))
        places = {"first": 0, "last": last, "next": at + 1, "back": max(0, at - 1)}
        places["pass"] = next(later, last)
        if to not in places:
            raise ValueError(f"there is no step {show(to)}.")
        to = places[to]
    place = check_whole(to, "the step")
    return None if place >= last else place


def link_of(state: State) -> dict[str, Any] | None:
    """The board as JSON, to be kept in the address; None where it has too many points."""
    points = state.points
    if len(points) > 300:  # some programs cut off longer addresses
        return None
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
    if "learner" in link:
        learner = find_learner(link["learner"])
        state = replace(state, learner=learner.name, settings=defaults(learner.settings))
    if "settings" in link:
        settings = LEARNERS[state.learner].settings
        values = change_values(settings, state.settings, link["settings"])
        state = replace(state, settings=values)
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
