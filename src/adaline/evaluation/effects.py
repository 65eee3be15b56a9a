"""What a column does to the prediction, all others at their averages: a curve with an interval.

Reports and `plot.EffectDisplay` show it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.evaluation.coefficients import Coefficients
from adaline.evaluation.explain import interval
from adaline.evaluation.trial import ask
from adaline.evaluation.words import cell, name, number, percent
from adaline.parameters import is_sparse
from adaline.results import Array, Result

CURVE_POINTS = 41  # smooth to the eye; any round number
MAX_COLUMNS = 1000
MIN_CHANGE_OF_PROBABILITY = 0.005  # below, nobody needs a picture
MAX_CLASSES = 6  # curves in one picture


@dataclass(frozen=True, eq=False)
class Effect(Result):
    """The prediction as one column changes and the others stay at their averages.

    `x` (g,) are values of the column `name`, from the 2nd to the 98th percentile or the two that it
    has, and `y` (g, k) predictions, probabilities if `share`, of what `of` says; `low` and `high`
    are their 95% intervals, if known: of what the column adds to the prediction of an average row,
    of a mean count, or of a probability. `usual` are the ends of a usual change: a standard
    deviation about the mean.
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
    def sentence(self) -> str:
        """From where to where the prediction goes, over the usual values of the column."""
        ends = np.array([np.interp(self.usual, self.x, column) for column in self.y.T])
        k = int(np.argmax(np.abs(ends[:, 1] - ends[:, 0])))
        a, b = (percent(v) if self.share else number(float(v), 3) for v in ends[k])
        what = f"the probability of {name(self.of[k])!r}" if self.share else name(self.of[k])
        low, high = (cell(float(v), self.name, 3) for v in self.usual)
        return f"From {name(self.name)} {low} to {high}, {what} goes from {a} to {b}"


def effects(
    model: Any, table: Coefficients, X: Any, names: list[str], target: str | None, most: int = 4
) -> tuple[Effect, ...]:
    """The `most` columns of rows X that move the prediction most, the largest first.

    `table` has the coefficients, for intervals of a regression.
    """
    has_classes = hasattr(model, "classes_")
    if is_sparse(X) or X.shape[1] > MAX_COLUMNS or len(X) < 3:
        return ()
    if not np.isfinite(X).all() or (has_classes and not hasattr(model, "predict_proba")):
        return ()
    X, p = np.asarray(X, dtype=np.float64), X.shape[1]
    low, high = np.tile(X.mean(axis=0), (p, 1)), np.tile(X.mean(axis=0), (p, 1))
    for j in range(p):
        low[j, j], high[j, j] = _usual(X[:, j])
    with np.errstate(all="ignore"):
        moves = np.abs(_predictions(model, high) - _predictions(model, low)).max(axis=1)
    moves, least = np.nan_to_num(moves), MIN_CHANGE_OF_PROBABILITY if has_classes else 0.0
    order = [j for j in np.argsort(-moves, kind="stable").tolist() if moves[j] > least][:most]
    return tuple(effect_of_column(model, table, X, names, j, target) for j in order)


def _predictions(model: Any, X: Array) -> Array:
    """Probabilities (n, K), or predictions (n, k)."""
    method = "predict_proba" if hasattr(model, "classes_") else "predict"
    return np.asarray(ask(model, method, X), dtype=np.float64).reshape(len(X), -1)


def _has_two_values(column: Array) -> bool:
    return bool(np.all((column == column.min()) | (column == column.max())))


def _usual(column: Array) -> tuple[float, float]:
    """A standard deviation about the mean, inside the range of the values; or the two values."""
    low, high, mean, deviation = column.min(), column.max(), column.mean(), column.std()
    if not _has_two_values(column):
        low, high = max(low, mean - deviation), min(high, mean + deviation)
    return float(low), float(high)


def effect_of_column(
    model: Any, table: Coefficients, X: Array, names: list[str], j: int, target: str | None = None
) -> Effect:
    """The effect of column j of rows X; the rest as in `effects`."""
    usual, label = _usual(X[:, j]), names[j]
    x = np.array(usual)
    if not _has_two_values(X[:, j]):
        ends = np.quantile(X[:, j], [0.02, 0.98])
        x = np.linspace(min(ends[0], usual[0]), max(ends[1], usual[1]), CURVE_POINTS)
    at = np.tile(X.mean(axis=0), (len(x), 1))
    at[:, j] = x
    y = _predictions(model, at)
    row = next((row for row in table.rows if row["name"] == label), {})
    low, high = _interval(model, at, y, x - X[:, j].mean(), row)
    classes = getattr(model, "classes_", None)
    if classes is None:
        of = tuple([target or "the prediction"] * y.shape[1])
        return Effect(label, x, y, low, high, of, usual, False)
    labels = [str(label) for label in classes.tolist()]
    if len(labels) == 2:
        low, high = (None if v is None else v[:, 1:] for v in (low, high))
        return Effect(label, x, y[:, 1:], low, high, (labels[1],), usual, True)
    # The classes whose probabilities change most; bands of several would hide each other.
    part = np.sort(np.argsort(-np.ptp(y, axis=0), kind="stable")[:MAX_CLASSES])
    of = tuple(labels[k] for k in part.tolist())
    return Effect(label, x, y[:, part], None, None, of, usual, True)


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
