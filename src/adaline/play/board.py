"""The board: points of the plane, and what is proven of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from adaline.play import presets
from adaline.play.points import Points, View, added, made, moved, relabelled, removed, view_of
from adaline.play.proof import proof

MOST_UNDONE = 100  # edits that can be taken back


@dataclass(frozen=True, eq=False)
class State:
    """What a board is: its points, the part of the plane in view, and edits before and after."""

    points: Points
    view: View
    past: tuple[Points, ...] = ()
    future: tuple[Points, ...] = ()


def start() -> State:
    """The board that a new page shows."""
    points = presets.named("or")
    return State(points, view_of(points))


def step(state: State, event: Mapping[str, Any]) -> tuple[State, dict[str, Any]]:
    """The board after an event of the page, and what is to be drawn anew."""
    name = event["event"]
    if name in _EDITS:
        state = edited(state, _EDITS[name](state.points, event))
    elif name == "preset":
        points = presets.named(event.get("name", ""))
        state = replace(edited(state, points), view=view_of(points))
    elif name == "points":
        points = made(event.get("X"), event.get("codes"))
        state = replace(edited(state, points), view=view_of(points))
    elif name != "start":
        raise ValueError(f"the board knows no event {name!r}.")
    return state, drawn(state)


_EDITS: dict[str, Any] = {
    "add": lambda points, e: added(points, e.get("x"), e.get("y"), e.get("label")),
    "move": lambda points, e: moved(points, e.get("index"), e.get("x"), e.get("y")),
    "relabel": lambda points, e: relabelled(points, e.get("index"), e.get("label")),
    "delete": lambda points, e: removed(points, e.get("index")),
    "clear": lambda points, e: made([], []),
}


def edited(state: State, points: Points) -> State:
    """Other points; the ones before can come back."""
    return replace(state, points=points, past=(*state.past, state.points)[-MOST_UNDONE:], future=())


def drawn(state: State) -> dict[str, Any]:
    """All that the page needs to draw the board."""
    return {
        "points": {"X": state.points.X, "codes": state.points.codes, "names": state.points.names},
        "view": state.view,
        "presets": [[name, words] for name, (words, _) in presets.PRESETS.items()],
        "proof": proof(state.points),
    }
