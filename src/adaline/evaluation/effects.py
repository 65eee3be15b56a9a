"""What a column does to the answer, all others at their averages: a curve with an interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.evaluation.answers import asked
from adaline.evaluation.coefficients import Coefficients
from adaline.evaluation.prediction_intervals import interval
from adaline.evaluation.words import cell, name, number, percent
from adaline.results import Array, Result

_POINTS = 41
_COLUMNS = 1000  # up to which every column is tried
_TRIFLE = 0.005  # change of a probability below which nobody needs a picture
_CLASSES = 6  # whose probabilities are drawn


@dataclass(frozen=True, eq=False)
class Effect(Result):
    """The answer of a model as one column changes and the others stay at their averages.

    Attributes
    ----------
    name : str
        The column.
    x : ndarray of shape (g,)
        Its values: from the 2nd to the 98th percentile, or the two that it has.
    y : ndarray of shape (g, k)
        The prediction; probabilities of k classes, or k targets.
    low, high : ndarray of shape (g, k), or None
        95 % intervals of `y`, where a theory has them: of what the column adds to the prediction
        of an average row, of a mean count, or of a probability.
    of : tuple of k str
        What each column of `y` is.
    usual : tuple of two float
        A standard deviation below and above the mean, or the two values.
    share : bool
        Whether `y` are probabilities.
    """

    name: str
    x: Array
    y: Array
    low: Array | None
    high: Array | None
    of: tuple[str, ...]
    usual: tuple[float, float]
    share: bool

    @property
    def move(self) -> float:
        """The largest change of the answer over the usual values."""
        ends = np.array([np.interp(self.usual, self.x, column) for column in self.y.T])
        return float(np.abs(ends[:, 1] - ends[:, 0]).max())

    @property
    def sentence(self) -> str:
        """From where to where the answer goes, over the usual values of the column."""
        ends = np.array([np.interp(self.usual, self.x, column) for column in self.y.T])
        k = int(np.argmax(np.abs(ends[:, 1] - ends[:, 0])))
        a, b = (percent(v) if self.share else number(float(v), 3) for v in ends[k])
        what = f"the probability of {name(self.of[k])!r}" if self.share else name(self.of[k])
        low, high = (cell(float(v), self.name, 3) for v in self.usual)
        return f"From {name(self.name)} {low} to {high}, {what} goes from {a} to {b}"


def effects(
    model: Any, found: Coefficients, X: Any, names: list[str], target: str | None, most: int = 4
) -> tuple[Effect, ...]:
    """The `most` columns that move the answer most, the largest first.

    Parameters
    ----------
    model : fitted estimator
        Of numbers, or of classes with probabilities.
    found : Coefficients
        Its weights, for intervals of a regression.
    X : ndarray of shape (n, p)
        Rows learned from: averages and usual values.
    names : list of p str
    target : str, optional
        What is predicted.
    """
    if hasattr(X, "toarray") or X.shape[1] > _COLUMNS or len(X) < 3:
        return ()
    if hasattr(model, "classes_") and not hasattr(model, "predict_proba"):
        return ()
    R = np.asarray(X, dtype=np.float64)
    with np.errstate(all="ignore"):
        mean, spread = R.mean(axis=0), R.std(axis=0)
    if not (np.isfinite(mean).all() and np.isfinite(spread).all()):
        return ()
    moves = _moves(model, R, mean, spread)
    least = _TRIFLE if hasattr(model, "classes_") else 0.0
    order = [j for j in np.argsort(-moves, kind="stable").tolist() if moves[j] > least][:most]
    return tuple(effect_of(model, found, R, names, j, target) for j in order)


def _answers(model: Any, rows: Array) -> Array:
    """Probabilities (n, K), or predictions (n, k)."""
    method = "predict_proba" if hasattr(model, "classes_") else "predict"
    return np.asarray(asked(model, method, rows), dtype=np.float64).reshape(len(rows), -1)


def _moves(model: Any, R: Array, mean: Array, spread: Array) -> Array:
    """How far a usual change of each column moves the answer."""
    p = len(mean)
    low, high = np.tile(mean, (p, 1)), np.tile(mean, (p, 1))
    ends = [_usual(R[:, j], mean[j], spread[j]) for j in range(p)]
    low[np.arange(p), np.arange(p)], high[np.arange(p), np.arange(p)] = np.array(ends).T
    with np.errstate(all="ignore"):
        change = np.abs(_answers(model, high) - _answers(model, low)).max(axis=1)
    return np.asarray(np.nan_to_num(change))


def _is_pair(column: Array) -> bool:
    return bool(np.all((column == column.min()) | (column == column.max())))


def _usual(column: Array, mean: float, spread: float) -> tuple[float, float]:
    low, high = float(column.min()), float(column.max())
    if _is_pair(column):
        return low, high
    return max(low, float(mean - spread)), min(high, float(mean + spread))


def effect_of(
    model: Any, found: Coefficients, R: Array, names: list[str], j: int, target: str | None = None
) -> Effect:
    """The effect of column j of rows R; the rest as in `effects`."""
    mean, values, column = R.mean(axis=0), R[:, j], names[j]
    row = next((row for row in found.rows if row["name"] == column), {})
    pair = _is_pair(values)
    ends = (values.min(), values.max()) if pair else np.quantile(values, [0.02, 0.98])
    usual = _usual(values, mean[j], float(values.std()))
    ends = min(ends[0], usual[0]), max(ends[1], usual[1])
    x = np.array(ends) if pair else np.linspace(*ends, _POINTS)
    at = np.tile(mean, (len(x), 1))
    at[:, j] = x
    y = _answers(model, at)
    low, high = _interval(model, at, y, x - mean[j], row)
    classes = getattr(model, "classes_", None)
    if classes is None:
        of = tuple([target or "the prediction"] * y.shape[1])
        return Effect(column, x, y, low, high, of, usual, False)
    labels = [str(label) for label in classes.tolist()]
    if len(labels) == 2:
        below, above = (None if v is None else v[:, 1:] for v in (low, high))
        return Effect(column, x, y[:, 1:], below, above, (labels[1],), usual, True)
    # The classes whose probabilities change most; bands of several would hide each other.
    part = np.sort(np.argsort(-np.ptp(y, axis=0), kind="stable")[:_CLASSES])
    told = tuple(labels[k] for k in part.tolist())
    return Effect(column, x, y[:, part], None, None, told, usual, True)


def _interval(model: Any, at: Array, y: Array, away: Array, row: Any) -> Any:
    """Ends of intervals: of the slope for numbers, else of the mean count or the probability."""
    kind = getattr(model, "_intervals", None)
    if kind in ("means", "probabilities"):
        try:
            found = interval(model, at)
        except ValueError:
            return None, None
        return found.low.reshape(y.shape), found.high.reshape(y.shape)
    low, high = row.get("low"), row.get("high")
    if kind != "values" or low is None or high is None or y.shape[1] != 1:
        return None, None
    ends = np.sort(np.outer(away, [low - row["coef"], high - row["coef"]]), axis=1)
    return y + ends[:, :1], y + ends[:, 1:]
