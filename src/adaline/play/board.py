"""The board: points to click and drag, a learner watched step by step, and what is proven.

Events of the page, by name: start, open (link), preset (name), points (X, codes), add (x, y,
label), move (index, x, y, more, last), relabel (index, label), delete (index), clear, undo, redo,
learner (name), setting (name, value), margin (index, value), go (to), weights, code, save.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import adaline
from adaline.play import board_drawing
from adaline.play.learners import LEARNERS, Call, find_learner
from adaline.play.points import (
    CLASSES,
    PRESETS,
    Points,
    View,
    check_points,
    fits_view,
    preset,
    view_of,
)
from adaline.play.runs import Run, code_of, learn
from adaline.play.settings import Value, check_number, check_whole, show

Event = Mapping[str, Any]
Drawing = dict[str, Any]
MAX_UNDO = 100  # edits that can be undone; any round number
MAX_MARGIN = 1e6  # any round number beyond what a bar can show
MAX_BARS = 40  # margins that a page can show side by side
MAX_LINKED = 300  # points; some programs cut off longer addresses


@dataclass(frozen=True, eq=False)
class State:
    """A board. What follows from points and settings (`run`, `proof`) is computed on demand.

    Attributes
    ----------
    points : Points
    view : tuple of four floats
        Left, right, bottom and top of the part of the plane that is shown.
    past, future : tuples of Points
        For undo and redo.
    learner : str
    all_settings : dict of dicts
        By learner.
    at : int or None
        The step that is shown; None for the last.
    margins : tuple of float, or None
        The margins b of minimum squared error, where the user has set them.
    moving : bool
        Whether a point is being dragged, so that only the end of learning is wanted, and fast.
    """

    points: Points
    view: View
    past: tuple[Points, ...] = ()
    future: tuple[Points, ...] = ()
    learner: str = "perceptron"
    all_settings: dict[str, dict[str, Value]] = field(default_factory=dict)
    at: int | None = None
    margins: tuple[float, ...] | None = None
    moving: bool = False
    cache: dict[str, Any] = field(default_factory=dict)  # the run and the proof of this board

    def change(self, **changes: Any) -> State:
        """Another board; what still follows from its points and settings is kept."""
        cache = {} if "points" in changes else dict(self.cache)
        if not changes.keys().isdisjoint(("learner", "all_settings", "margins", "moving")):
            cache.pop("run", None)
        return replace(self, **changes, cache=cache)

    def with_points(self, points: Points, *, move_view: bool = True) -> State:
        """Other points; the change can be undone."""
        past = (*self.past, self.points)[-MAX_UNDO:]
        view = view_of(points) if move_view else self.view
        return self.change(points=points, view=view, past=past, future=(), at=None, margins=None)

    @property
    def settings(self) -> dict[str, Value]:
        """The settings of the learner that is shown."""
        return self.all_settings.get(self.learner) or find_learner(self.learner).defaults()

    @property
    def all_margins(self) -> list[float]:
        """The margins b of minimum squared error, 1 unless the user has set them."""
        return list(self.margins or [1.0] * len(self.points))

    @property
    def call(self) -> Call:
        """The learner as a user would write it."""
        classes = len(self.points.present)
        call = LEARNERS[self.learner].call(self.settings, classes)
        if self.learner == "mse" and self.margins is not None and classes == 2:
            return replace(call, fitting={"margins": list(self.margins)})
        return call

    @property
    def run(self) -> Run | str:
        """What the learner did; a sentence where it cannot learn these points."""
        if "run" not in self.cache:
            self.cache["run"] = self._run()
        run: Run | str = self.cache["run"]
        return run

    def _run(self) -> Run | str:
        classes, learner = len(self.points.present), find_learner(self.learner)
        if classes < 2:
            return "Learning needs points of two classes."
        if classes > learner.max_classes:
            return f"{learner.title} separates two classes; there are {classes}."
        try:
            return learn(self.call, self.points, only_end=self.moving)
        except (ValueError, TypeError, ArithmeticError) as error:
            return str(error)

    @property
    def separability(self) -> adaline.Separability | None:
        """What is proven about the points."""
        if "separability" not in self.cache:
            self.cache["separability"] = board_drawing.decide(self.points)
        result: adaline.Separability | None = self.cache["separability"]
        return result

    @property
    def step(self) -> int:
        """The number of the step that is shown."""
        last = 0 if isinstance(self.run, str) else self.run.steps
        return last if self.at is None else min(self.at, last)


def start() -> State:
    """The board that a new page shows: the OR gate and a perceptron."""
    points = preset("or")
    return State(points, view_of(points))


def step(state: State, event: Event) -> tuple[State, Drawing]:
    """The board after an event of the page, and what is to be drawn anew."""
    name = event["event"]
    if name in CHANGES:
        state = CHANGES[name](state, event)
        return state, draw(state) | (_lists() if name in ("start", "open") else {})
    if name == "go":
        state = _go(state, event.get("to"))
        return state, _draw_step(state) | {"link": link_of(state)}
    if name in QUESTIONS:
        return state, QUESTIONS[name](state)
    raise ValueError(f"the board knows no event {show(name)}.")


def _lists() -> Drawing:
    """The choices of the page."""
    return {
        "presets": [[name, words] for name, (words, _) in PRESETS.items()],
        "learners": [learner.describe() for learner in LEARNERS.values()],
    }


def draw(state: State) -> Drawing:
    """All that the page needs to draw the board."""
    points, run = state.points, state.run
    drawing: Drawing = {
        "points": {"X": points.X, "codes": points.codes},
        "view": state.view,
        "undo": bool(state.past),
        "redo": bool(state.future),
        "learner": state.learner,
        "settings": state.settings,
        "classes": len(points.present),
        "proof": board_drawing.draw_proof(points, state.separability),
        "rates": _rates(state),
        "link": link_of(state),
    }
    if isinstance(run, str):
        return drawing | {"run": None, "problem": run}
    drawing["run"] = board_drawing.draw_run(run, points, state.separability)
    return drawing | {"problem": ""} | _draw_step(state)


def _draw_step(state: State) -> Drawing:
    if isinstance(state.run, str):
        return {}
    drawing = board_drawing.draw_step(state.run, state.step, state.points, state.view)
    if state.learner == "mse" and len(state.points.present) == 2 and len(state.points) <= MAX_BARS:
        drawing["bars"] = {"b": state.all_margins}
    return {"present": drawing}


def _rates(state: State) -> Drawing | None:
    """The bound on the rate of squared errors, 2/tr[R], or 2/lambda_max in batch mode."""
    if state.learner != "adaline" or not len(state.points):
        return None
    bound = adaline.stable_rate(state.points.X, bool(state.settings["fit_intercept"]))
    if state.settings["mode"] == "batch":
        return {"bound": bound.batch, "name": "2/λmax(R)"}
    return {"bound": bound.one_sample, "name": "2/tr[R]"}


def _go(state: State, to: Any) -> State:
    """The board at another step: a number, or "first", "last", "next", "back", "pass"."""
    run = state.run
    if isinstance(run, str):
        return state
    here, last = state.step, run.steps
    if isinstance(to, str):
        later = (k for k in range(here + 1, last) if run.passes[k] != run.passes[k + 1])
        places = {"first": 0, "last": last, "next": here + 1, "back": max(0, here - 1)}
        places["pass"] = next(later, last)
        if to not in places:
            raise ValueError(f"there is no step {show(to)}.")
        to = places[to]
    place = min(check_whole(to, "the step"), last)
    return state.change(at=None if place == last else place)


def _edit(change: Callable[[Points, Event], Points]) -> Callable[[State, Event], State]:
    """An edit of the points in the part of the plane that is in view."""

    def edit(state: State, event: Event) -> State:
        points, moving = change(state.points, event), event.get("last") is False
        if event.get("more") is True and state.past:  # a point that is dragged: one edit in all
            return state.change(points=points, at=None, moving=moving)
        return state.with_points(points, move_view=False).change(moving=moving)

    return edit


def _undo(state: State, event: Event) -> State:
    if not state.past:
        return state
    shown = _return_to(state, state.past[-1])
    return shown.change(past=state.past[:-1], future=(state.points, *state.future))


def _redo(state: State, event: Event) -> State:
    if not state.future:
        return state
    return _return_to(state, state.future[0]).change(future=state.future[1:])


def _return_to(state: State, points: Points) -> State:
    return state.with_points(points, move_view=not fits_view(state.view, points))


def _set(state: State, event: Event) -> State:
    name = event.get("name")
    for setting in find_learner(state.learner).settings:
        if setting.name == name:
            values = {**state.settings, setting.name: setting.check(event.get("value"))}
            return state.change(all_settings={**state.all_settings, state.learner: values}, at=None)
    raise ValueError(f"{state.learner} has no setting {show(name)}.")


def _set_margin(state: State, event: Event) -> State:
    margins, at = state.all_margins, check_whole(event.get("index"), "the number of a point")
    value = check_number(event.get("value"), "a margin")
    if at >= len(margins) or not 0.0 < value <= MAX_MARGIN:
        raise ValueError(f"a margin is a positive number up to {MAX_MARGIN:g}, of a point.")
    margins[at] = value
    return state.change(margins=tuple(margins))


def link_of(state: State) -> dict[str, Any] | None:
    """The board as JSON, to be kept in the address; None where it has too many points."""
    points = state.points
    if len(points) > MAX_LINKED:
        return None
    defaults = find_learner(state.learner).defaults()
    changed = {k: v for k, v in state.settings.items() if v != defaults[k]}
    link: dict[str, Any] = {
        "x": points.X[:, 0].tolist(),
        "y": points.X[:, 1].tolist(),
        "c": "".join(points.labels),
        "learner": state.learner,
    }
    more = {"settings": changed, "at": state.at, "margins": list(state.margins or ())}
    return link | {name: value for name, value in more.items() if value not in (None, {}, [])}


def _open(state: State, event: Event) -> State:
    """The board of a link: a complete one, or a preset and a learner by name."""
    link = event.get("link")
    if not isinstance(link, Mapping):
        raise ValueError("this link holds no board.")
    if "preset" in link:
        state = state.with_points(preset(link["preset"]))
    elif "x" in link:
        state = state.with_points(_points_of_link(link))
    learner, given = find_learner(link.get("learner", state.learner)), link.get("settings", {})
    values = learner.defaults()
    for setting in learner.settings:
        if isinstance(given, Mapping) and setting.name in given:
            values[setting.name] = setting.check(given[setting.name])
    at, margins = link.get("at"), link.get("margins") or None
    if margins is not None:
        if not isinstance(margins, list) or len(margins) != len(state.points):
            raise ValueError("this link is damaged: its margins and points do not match.")
        margins = tuple(check_number(value, "a margin") for value in margins)
        if min(margins) <= 0.0:
            raise ValueError("this link is damaged: a margin is not positive.")
    return state.change(
        learner=learner.name,
        all_settings={**state.all_settings, learner.name: values},
        at=None if at is None else check_whole(at, "the step"),
        margins=margins,
    )


def _points_of_link(link: Mapping[str, Any]) -> Points:
    x, y, c = link.get("x"), link.get("y"), link.get("c")
    if not (isinstance(x, list) and isinstance(y, list) and isinstance(c, str)):
        raise ValueError("this link holds no board.")
    if not len(x) == len(y) == len(c) or any(label not in CLASSES for label in c):
        raise ValueError("this link is damaged: its points and classes do not match.")
    X = [(check_number(a, "x"), check_number(b, "y")) for a, b in zip(x, y, strict=True)]
    return check_points(X, [CLASSES.index(label) for label in c])


CHANGES: dict[str, Callable[[State, Event], State]] = {
    "start": lambda state, e: state,
    "open": _open,
    "preset": lambda state, e: state.with_points(preset(e.get("name"))),
    "points": lambda state, e: state.with_points(check_points(e.get("X"), e.get("codes"))),
    "add": _edit(lambda points, e: points.add(e.get("x"), e.get("y"), e.get("label"))),
    "move": _edit(lambda points, e: points.move(e.get("index"), e.get("x"), e.get("y"))),
    "relabel": _edit(lambda points, e: points.relabel(e.get("index"), e.get("label"))),
    "delete": _edit(lambda points, e: points.remove(e.get("index"))),
    "clear": _edit(lambda points, e: preset("empty")),
    "undo": _undo,
    "redo": _redo,
    "learner": lambda s, e: s.change(learner=find_learner(e.get("name")).name, at=None),
    "setting": _set,
    "margin": _set_margin,
}


def _code(state: State) -> Drawing:
    run = state.run
    return {"code": run if isinstance(run, str) else code_of(run, state.step, state.points)}


def _weight_space(state: State) -> Drawing:
    run = state.run
    space = None if isinstance(run, str) else board_drawing.draw_weight_space(run, state.points)
    return {"space": space}


QUESTIONS: dict[str, Callable[[State], Drawing]] = {
    "code": _code,
    "weights": _weight_space,
    "save": lambda state: {"csv": state.points.to_csv()},
}
