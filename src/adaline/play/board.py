"""The board: points to click and drag, a learner that is watched step by step, and what is proven.

Events of the page, by name: start, open (link), preset (name), points (X, codes), add (x, y,
label), move (index, x, y, more, last), relabel (index, label), delete (index), clear, undo, redo,
learner (name), setting (name, value), margin (index, value), go (to), upload (name, bytes), columns
(x, y, label), weights, code, save.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from adaline.play import dropped, links, pictures, presets
from adaline.play.board_state import State, with_points
from adaline.play.code import as_csv, code_of
from adaline.play.learners import LEARNERS, named
from adaline.play.points import (
    Points,
    added,
    made,
    moved,
    number,
    relabelled,
    removed,
    shows,
    view_of,
    whole,
)

Event = Mapping[str, Any]
Drawing = dict[str, Any]
LARGEST_MARGIN = 1e6
MOST_BARS = 40  # margins that a page can show side by side


def start() -> State:
    """The board that a new page shows: the OR gate and a perceptron."""
    points = presets.named("or")
    return State(points, view_of(points))


def step(state: State, event: Event) -> tuple[State, Drawing]:
    """The board after an event of the page, and what is to be drawn anew."""
    name = event["event"]
    if name in _CHANGES:
        state = _CHANGES[name](state, event)
        return state, {**drawn(state), **(_lists() if name in ("start", "open") else {})}
    if name == "go":
        state = gone(state, event.get("to"))
        return state, moved_on(state)
    if name in _ASKED:
        return state, _ASKED[name](state)
    raise ValueError(f"the board knows no event {str(name)[:40]!r}.")


def _lists() -> Drawing:
    """What there is to choose from."""
    return {
        "presets": [[name, words] for name, (words, _) in presets.PRESETS.items()],
        "learners": [learner.described() for learner in LEARNERS.values()],
    }


def drawn(state: State) -> Drawing:
    """All that the page needs to draw the board."""
    points, run, proof = state.points, state.run(), state.proven()
    found: Drawing = {
        "points": {"X": points.X, "codes": points.codes, "names": points.names},
        "view": state.view,
        "undo": bool(state.past),
        "redo": bool(state.future),
        "learner": state.learner,
        "settings": state.settings,
        "classes": len(points.present),
        "proof": proof,
        "file": None if state.file is None else state.file.described(),
        "rates": _rates(state),
        "link": links.link_of(state),
    }
    if isinstance(run, str):
        return found | {"run": None, "problem": run}
    return (
        found
        | {"run": pictures.of_run(run, points, state.known["decided"]), "problem": ""}
        | _present(state)
    )


def moved_on(state: State) -> Drawing:
    """What another step changes."""
    return {**_present(state), "link": links.link_of(state)}


def _present(state: State) -> Drawing:
    run = state.run()
    if isinstance(run, str):
        return {}
    found = pictures.at_step(run, state.step(), state.points, state.view)
    if state.learner == "mse" and len(state.points.present) == 2 and len(state.points) <= MOST_BARS:
        found["bars"] = {"b": list(state.margins or [1.0] * len(state.points))}
    return {"present": found}


def _rates(state: State) -> Drawing | None:
    """The bound on the rate of squared errors, 2/tr[R], or 2/lambda_max in batch mode."""
    if state.learner != "adaline" or not len(state.points):
        return None
    from adaline import stable_rate

    found = stable_rate(state.points.X, bool(state.settings["fit_intercept"]))
    if state.settings["mode"] == "batch":
        return {"bound": found.batch, "name": "2/λmax(R)"}
    return {"bound": found.one_sample, "name": "2/tr[R]"}


def gone(state: State, to: Any) -> State:
    """The board at another step: a number, or "first", "last", "next", "back", "pass"."""
    run = state.run()
    if isinstance(run, str):
        return state
    here, last = state.step(), run.steps
    if isinstance(to, str):
        words = {"first": 0, "last": last, "next": here + 1, "back": here - 1}
        if to == "pass":
            later = [k for k in range(here + 1, last + 1) if k == last or _ends_pass(run, k)]
            words["pass"] = later[0] if later else last
        if to not in words:
            raise ValueError(f"there is no step {to[:20]!r}.")
        to = max(0, words[to])
    place = min(whole(to, "the step"), last)
    return state.changed(at=None if place == last else place)


def _ends_pass(run: Any, k: int) -> bool:
    return bool(run.passes[k] != run.passes[k + 1])


def _edit(change: Callable[[Points, Event], Points]) -> Callable[[State, Event], State]:
    """A change of the points in the part of the plane that is in view."""

    def edited(state: State, event: Event) -> State:
        points = change(state.points, event)
        moving = event.get("last") is False
        if event.get("more") is True and state.past:  # a point on its way: one edit in all
            return state.changed(points=points, at=None, moving=moving)
        return with_points(state, points, look=False).changed(moving=moving)

    return edited


def _undone(state: State, event: Event) -> State:
    if not state.past:
        return state
    points = state.past[-1]
    found = with_points(state, points, look=not shows(state.view, points))
    return found.changed(past=state.past[:-1], future=(state.points, *state.future))


def _redone(state: State, event: Event) -> State:
    if not state.future:
        return state
    points = state.future[0]
    found = with_points(state, points, look=not shows(state.view, points))
    return found.changed(future=state.future[1:])


def _with_learner(state: State, event: Event) -> State:
    return state.changed(learner=named(event.get("name")).name, at=None)


def _with_setting(state: State, event: Event) -> State:
    name = event.get("name")
    for setting in named(state.learner).settings:
        if setting.name == name:
            values = {**state.settings, name: setting.checked(event.get("value"))}
            return state.changed(
                all_settings={**state.all_settings, state.learner: values}, at=None
            )
    raise ValueError(f"{state.learner} has no setting {str(name)[:40]!r}.")


def _with_margin(state: State, event: Event) -> State:
    margins = list(state.margins or [1.0] * len(state.points))
    at = whole(event.get("index"), "the number of a point")
    value = number(event.get("value"), "a margin")
    if at >= len(margins) or not 0.0 < value <= LARGEST_MARGIN:
        raise ValueError(f"a margin is a positive number up to {LARGEST_MARGIN:g}, of a point.")
    margins[at] = value
    return state.changed(margins=tuple(margins))


def _with_file(state: State, file: dropped.Dropped) -> State:
    file, points = dropped.points_of(file)
    return with_points(state, points).changed(file=file)


def _with_columns(state: State, event: Event) -> State:
    if state.file is None:
        raise ValueError("no file was dropped on the board.")
    chosen = dropped.chosen(state.file, event.get("x"), event.get("y"), event.get("label"))
    return _with_file(state, chosen)


def _of_numbers(event: Event) -> Points:
    return made(event.get("X"), event.get("codes"))


_CHANGES: dict[str, Callable[[State, Event], State]] = {
    "start": lambda state, e: state,
    "open": lambda state, e: links.opened(state, e.get("link")),
    "preset": lambda state, e: with_points(state, presets.named(e.get("name", ""))),
    "points": lambda state, e: with_points(state, _of_numbers(e)),
    "add": _edit(lambda points, e: added(points, e.get("x"), e.get("y"), e.get("label"))),
    "move": _edit(lambda points, e: moved(points, e.get("index"), e.get("x"), e.get("y"))),
    "relabel": _edit(lambda points, e: relabelled(points, e.get("index"), e.get("label"))),
    "delete": _edit(lambda points, e: removed(points, e.get("index"))),
    "clear": _edit(lambda points, e: made([], [])),
    "undo": _undone,
    "redo": _redone,
    "learner": _with_learner,
    "setting": _with_setting,
    "margin": _with_margin,
    "upload": lambda state, e: _with_file(state, dropped.opened(e["name"], e["bytes"])),
    "columns": _with_columns,
}


def _code(state: State) -> Drawing:
    run = state.run()
    return {"code": run if isinstance(run, str) else code_of(run, state.step(), state.points)}


def _weight_space(state: State) -> Drawing:
    run = state.run()
    return {"space": None if isinstance(run, str) else pictures.weight_space(run, state.points)}


_ASKED: dict[str, Callable[[State], Drawing]] = {
    "code": _code,
    "weights": _weight_space,
    "save": lambda state: {"csv": as_csv(state.points)},
}
