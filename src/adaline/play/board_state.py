"""What a board is: points, learner, settings, and the step that is shown."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from adaline.play.dropped import Dropped
from adaline.play.learners import LEARNERS, Call, named
from adaline.play.points import Points, View, view_of
from adaline.play.proof import decided, proof
from adaline.play.runs import Run, learned
from adaline.play.settings import Value

MOST_UNDONE = 100  # edits that can be taken back


@dataclass(frozen=True, eq=False)
class State:
    """A board. What follows from points and settings (`run`, `proven`) is made when asked for.

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
    file : Dropped or None
        The table the points are from.
    moving : bool
        Whether a point is on its way, so that only the end of learning is wanted, and fast.
    """

    points: Points
    view: View
    past: tuple[Points, ...] = ()
    future: tuple[Points, ...] = ()
    learner: str = "perceptron"
    all_settings: dict[str, dict[str, Value]] = field(default_factory=dict)
    at: int | None = None
    margins: tuple[float, ...] | None = None
    file: Dropped | None = None
    moving: bool = False
    known: dict[str, Any] = field(default_factory=dict)  # what was computed of this board

    def changed(self, **changes: Any) -> State:
        """Another board; what still follows from its points and settings is kept."""
        kept = dict(self.known)
        if "points" in changes:
            kept = {}
        elif not changes.keys().isdisjoint(("learner", "all_settings", "margins", "moving")):
            kept.pop("run", None)
        return replace(self, **changes, known=kept)

    @property
    def settings(self) -> dict[str, Value]:
        """The settings of the learner that is shown."""
        return self.all_settings.get(self.learner) or named(self.learner).defaults()

    @property
    def call(self) -> Call:
        """The learner as a user would write it."""
        classes = len(self.points.present)
        call = LEARNERS[self.learner].call(self.settings, classes)
        if self.learner == "mse" and self.margins is not None and classes == 2:
            return replace(call, fitting={"margins": list(self.margins)})
        return call

    def run(self) -> Run | str:
        """What the learner did; a sentence where it cannot learn these points."""
        if "run" not in self.known:
            self.known["run"] = _run(self)
        found: Run | str = self.known["run"]
        return found

    def proven(self) -> dict[str, Any]:
        """What is proven of the points."""
        if "proof" not in self.known:
            self.known["decided"] = decided(self.points)
            self.known["proof"] = proof(self.points, self.known["decided"])
        found: dict[str, Any] = self.known["proof"]
        return found

    def step(self) -> int:
        """The number of the step that is shown."""
        run = self.run()
        last = 0 if isinstance(run, str) else run.steps
        return last if self.at is None else min(self.at, last)


def _run(state: State) -> Run | str:
    classes, learner = len(state.points.present), named(state.learner)
    if classes < 2:
        return "Learning needs points of two classes."
    if classes > learner.most_classes:
        return f"{learner.title} separates two classes; there are {classes}."
    try:
        return learned(state.call, state.points, whole=state.moving)
    except (ValueError, TypeError, ArithmeticError) as refusal:
        return str(refusal)


def with_points(state: State, points: Points, *, look: bool = True) -> State:
    """Other points, which can be taken back; `look` moves the view to them."""
    past = (*state.past, state.points)[-MOST_UNDONE:]
    view = view_of(points) if look else state.view
    return state.changed(
        points=points, view=view, past=past, future=(), at=None, margins=None, file=None
    )
