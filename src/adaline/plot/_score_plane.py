"""Planes in which what a classifier decides can be read off, however many features there are.

A slice through many features shows what is decided at their means, where the rows are not. The
scores decide; so rows are drawn by their scores, and every row lies on the side of its prediction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.plot import _given
from adaline.plot._canvas import Array

Ints = NDArray[np.int64]
_TURN = 0.6180339887498949  # of the golden ratio: places in a strip that fill it evenly


@dataclass(frozen=True, eq=False)
class Plane:
    """Axes with their names, the regions of the classes, and where the rows lie."""

    x: Array
    y: Array
    decided: Ints
    values: Array | None
    rows: Array
    names: tuple[str, str]
    strips: bool = False


def plane(model: Any, R: Array, answers: Ints, K: int, grid: int) -> Plane:
    """The plane for rows R with these answers; one past the last class is "reject"."""
    scores = _scores(model, R)
    if scores is None or not np.isfinite(scores).all():
        raise ValueError(
            f"{type(model).__name__} tells no scores, and there are {R.shape[1]} columns; name two "
            "of them: features=(first, second)."
        )
    if scores.ndim == 1 and answers.max() < 2:
        cut = _threshold(scores, answers)
        if cut is not None:
            return _by_score(scores, cut, R, grid)
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    if K == 3 and np.array_equal(scores.argmax(axis=1), answers):
        return _three(scores, model.classes_.tolist(), grid)
    return _strips(scores, answers, max(K, int(answers.max()) + 1), grid)


def _scores(model: Any, R: Array) -> Array | None:
    for method in ("decision_function", "predict_log_proba"):
        if hasattr(model, method):
            return np.asarray(_given.ask(model, method, R), dtype=np.float64)
    return None


def _threshold(v: Array, answers: Ints) -> float | None:
    """Scores above it are of the second class: 0, or what costs make of it; None where none is."""
    if np.array_equal(v > 0, answers == 1):
        return 0.0
    below, above = v[answers == 0], v[answers == 1]
    if len(below) and len(above) and below.max() < above.min():
        return float(0.5 * below.max() + 0.5 * above.min())
    return None


def _by_score(v: Array, cut: float, R: Array, grid: int) -> Plane:
    """The score, and the direction in which rows of the same score differ most."""
    across = _beside(R, v)
    x = np.linspace(*_given.frame(np.append(v, cut)), grid)
    y = np.linspace(*_given.frame(across), grid)
    values = np.tile(x - cut, (len(y), 1))
    names = "score w'x + b", "main direction beside the score"
    return Plane(x, y, (values > 0).astype(np.int64), values, np.column_stack([v, across]), names)


def _beside(R: Array, v: Array) -> Array:
    """First principal component of the scaled columns without what goes with the score."""
    spread = R.std(axis=0)
    Z = (R - R.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    s = v - v.mean()
    length = float(np.linalg.norm(s))
    if length > 0:
        s = s / length
        Z = Z - np.outer(s, s @ Z)
    if len(Z) <= Z.shape[1]:
        values, vectors = np.linalg.eigh(Z @ Z.T)
        across = vectors[:, -1] * np.sqrt(max(float(values[-1]), 0.0))
    else:
        across = Z @ np.linalg.eigh(Z.T @ Z)[1][:, -1]
    # A direction has no sign: the row farthest out is above.
    return np.asarray(across if across[np.argmax(np.abs(across))] >= 0 else -across)


def _three(scores: Array, classes: list[Any], grid: int) -> Plane:
    """Scores of three classes without their mean, which decides nothing, lie in a plane."""
    basis = np.array([[-1.0, 1.0, 0.0], [-1.0, -1.0, 2.0]]) / np.sqrt([[2.0], [6.0]])
    rows = scores @ basis.T
    seen = np.vstack([rows, np.zeros((1, 2))])
    x, y = (np.linspace(*_given.frame(seen[:, i]), grid) for i in (0, 1))
    at = np.column_stack([np.tile(x, len(y)), np.repeat(y, len(x))]) @ basis
    decided = at.argmax(axis=1).reshape(len(y), len(x))
    a, b, c = (str(label)[:12] for label in classes)
    names = f"score of {b} against {a}", f"score of {c} against both others"
    return Plane(x, y, decided, None, rows, names)


def _strips(scores: Array, answers: Ints, K: int, grid: int) -> Plane:
    """A strip for each class that is decided, and in it by how much its score leads."""
    n, known = len(answers), answers < scores.shape[1]
    own = np.where(known, answers, 0)
    rest = scores.copy()
    rest[np.arange(n), own] = -np.inf
    lead = np.where(known, scores[np.arange(n), own] - rest.max(axis=1), 0.0)
    inside = (np.arange(n) * _TURN) % 1.0
    x = np.linspace(-0.5, K - 0.5, max(grid, 8 * K) // K * K, endpoint=False)
    x = x + 0.5 * (x[1] - x[0])
    y = np.linspace(*_given.frame(np.append(lead, 0.0)), grid)
    decided = np.tile(np.rint(x).astype(np.int64), (len(y), 1))
    rows = np.column_stack([answers + 0.8 * (inside - 0.5), lead])
    return Plane(x, y, decided, None, rows, ("decided", "lead over the next class"), True)
