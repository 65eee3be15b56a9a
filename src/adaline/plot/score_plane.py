"""Projections for classifiers of more than two features, used by `DecisionDisplay`.

Axes are decision scores, not features, so that every row is drawn on the side of its prediction.
A slice at the means of the other features would not do that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.plot import inputs
from adaline.plot.draw import Array, Ints

GOLDEN_RATIO = 0.6180339887498949  # multiples modulo 1 fill a strip evenly


@dataclass(frozen=True, eq=False)
class Plane:
    """Axes with their names, the class decided at each point, and where the rows lie."""

    x: Array
    y: Array
    decided: Ints
    values: Array | None  # the score of two classes less its threshold
    rows: Array
    names: tuple[str, str]
    strips: bool = False


def project(model: Any, R: Array, predicted: Ints, K: int, grid: int) -> Plane:
    """The plane for rows R with these predictions; one past the last class is "reject"."""
    scores = _scores(model, R)
    if scores.ndim == 1 and predicted.max() < 2:
        threshold = _threshold(scores, predicted)
        if threshold is not None:
            return _score_and_direction(scores, threshold, R, grid)
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    if K == 3 and np.array_equal(scores.argmax(axis=1), predicted):
        return _three_scores(scores, model.classes_.tolist(), grid)
    return _strips(scores, predicted, max(K, int(predicted.max()) + 1), grid)


def _scores(model: Any, R: Array) -> Array:
    for method in ("decision_function", "predict_log_proba"):
        if hasattr(model, method):
            scores = np.asarray(inputs.call(model, method, R), dtype=np.float64)
            if np.isfinite(scores).all():
                return scores
    raise ValueError(
        f"{type(model).__name__} has no finite scores, and there are {R.shape[1]} columns; name "
        "two of them: features=(first, second)."
    )


def _threshold(v: Array, predicted: Ints) -> float | None:
    """Scores above it are of the second class: 0, or as costs shift it; None if there is none."""
    if np.array_equal(v > 0, predicted == 1):
        return 0.0
    below, above = v[predicted == 0], v[predicted == 1]
    if len(below) and len(above) and below.max() < above.min():
        return float(0.5 * below.max() + 0.5 * above.min())
    return None


def _score_and_direction(v: Array, threshold: float, R: Array, grid: int) -> Plane:
    """The score, and the direction in which rows of the same score differ most."""
    across = _principal_component(R, v)
    x = np.linspace(*inputs.limits(np.append(v, threshold)), grid)
    y = np.linspace(*inputs.limits(across), grid)
    values = np.tile(x - threshold, (len(y), 1))
    names = "score w'x + b", "main direction beside the score"
    return Plane(x, y, (values > 0).astype(np.int64), values, np.column_stack([v, across]), names)


def _principal_component(R: Array, v: Array) -> Array:
    """First principal component of the standardised columns, orthogonal to the score."""
    deviation = R.std(axis=0)
    Z = (R - R.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    s = v - v.mean()
    length = float(np.linalg.norm(s))
    if length > 0:
        Z = Z - np.outer(s / length, s / length @ Z)
    U, sizes, _ = np.linalg.svd(Z, full_matrices=False)
    across = U[:, 0] * sizes[0]
    # A direction has no sign: the row farthest out is above.
    return np.asarray(across if across[np.argmax(np.abs(across))] >= 0 else -across)


def _three_scores(scores: Array, classes: list[Any], grid: int) -> Plane:
    """Scores of three classes less their mean, which decides nothing, lie in a plane."""
    basis = np.array([[-1.0, 1.0, 0.0], [-1.0, -1.0, 2.0]]) / np.sqrt([[2.0], [6.0]])
    rows = scores @ basis.T
    seen = np.vstack([rows, np.zeros((1, 2))])
    x, y = (np.linspace(*inputs.limits(seen[:, i]), grid) for i in (0, 1))
    decided = (inputs.grid_points(x, y) @ basis).argmax(axis=1).reshape(len(y), len(x))
    a, b, c = (str(label)[:12] for label in classes)
    names = f"score of {b} against {a}", f"score of {c} against both others"
    return Plane(x, y, decided, None, rows, names)


def _strips(scores: Array, predicted: Ints, K: int, grid: int) -> Plane:
    """A strip for each predicted class, and in it by how much its score leads."""
    n, known = np.arange(len(predicted)), predicted < scores.shape[1]
    own = np.where(known, predicted, 0)
    others = scores.copy()
    others[n, own] = -np.inf
    lead = np.where(known, scores[n, own] - others.max(axis=1), 0.0)
    width = max(grid, 8 * K) // K  # grid points per strip
    x = (np.arange(K * width) + 0.5) / width - 0.5
    y = np.linspace(*inputs.limits(np.append(lead, 0.0)), grid)
    decided = np.tile(np.rint(x).astype(np.int64), (len(y), 1))
    rows = np.column_stack([predicted + 0.8 * ((n * GOLDEN_RATIO) % 1.0 - 0.5), lead])
    return Plane(x, y, decided, None, rows, ("predicted", "lead over the next class"), True)
