"""A board as a link: JSON that a page keeps behind the # of its address, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adaline.play import presets
from adaline.play.board_state import State, with_points
from adaline.play.learners import named
from adaline.play.points import CLASSES, made, number, whole

MOST_LINKED = 300  # points; a longer address is cut off by some programs


def link_of(state: State) -> dict[str, Any] | None:
    """The board as JSON; None where it has too many points for an address."""
    points = state.points
    if len(points) > MOST_LINKED:
        return None
    usual = named(state.learner).defaults()
    changed = {k: v for k, v in state.settings.items() if v != usual[k]}
    found: dict[str, Any] = {
        "x": points.X[:, 0].tolist(),
        "y": points.X[:, 1].tolist(),
        "c": "".join(points.labels),
        "learner": state.learner,
    }
    more = {"settings": changed, "at": state.at, "margins": list(state.margins or ())}
    return found | {name: value for name, value in more.items() if value not in (None, {}, [])}


def opened(state: State, link: Any) -> State:
    """The board that a link holds: a whole one, or a preset and a learner by name."""
    if not isinstance(link, Mapping):
        raise ValueError("this link holds no board.")
    if "preset" in link:
        state = with_points(state, presets.named(link["preset"]))
    elif "x" in link:
        state = with_points(state, _points(link))
    learner = named(link.get("learner", state.learner))
    settings = learner.defaults()
    for setting in learner.settings:
        given = link.get("settings", {})
        if isinstance(given, Mapping) and setting.name in given:
            settings[setting.name] = setting.checked(given[setting.name])
    at = link.get("at")
    margins = link.get("margins")
    return state.changed(
        learner=learner.name,
        all_settings={**state.all_settings, learner.name: settings},
        at=None if at is None else whole(at, "the step"),
        margins=_margins(margins, len(state.points)),
    )


def _points(link: Mapping[str, Any]) -> Any:
    x, y, c = link.get("x"), link.get("y"), link.get("c")
    if not (isinstance(x, list) and isinstance(y, list) and isinstance(c, str)):
        raise ValueError("this link holds no board.")
    if not len(x) == len(y) == len(c) or any(label not in CLASSES for label in c):
        raise ValueError("this link is damaged: its points and classes do not match.")
    X = [(number(a, "x"), number(b, "y")) for a, b in zip(x, y, strict=True)]
    return made(X, [CLASSES.index(label) for label in c])


def _margins(given: Any, n: int) -> tuple[float, ...] | None:
    if not given:
        return None
    if not isinstance(given, list) or len(given) != n:
        raise ValueError("this link is damaged: its margins and points do not match.")
    margins = tuple(number(value, "a margin") for value in given)
    if min(margins) <= 0.0:
        raise ValueError("this link is damaged: a margin is not positive.")
    return margins
