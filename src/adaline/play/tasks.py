"""Six tasks for a class: points and a learner to begin with, and when the board has solved it.

The page shows them beside the board. Each is decided by what `separability` and the learner's fit
say of the board, so that no task can be talked through.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adaline.play.points import preset

if TYPE_CHECKING:
    from adaline.play.board import State


@dataclass(frozen=True)
class Task:
    """Words for a student, the board to begin with, and whether a board solves it."""

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


def _corrections(state: State) -> int:
    return 0 if state.run.problem else int(state.run.model.fit_.corrections)


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
        lambda s: s.learner == "perceptron" and _is_separable(s) and _corrections(s) > 20,
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


def solved(state: State) -> list[bool]:
    """Which tasks a board solves."""
    return [task.is_solved(state) for task in TASKS]
