"""What drives a model, in plain words: the columns that move its answers most."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.estimators.registry import effect_of
from adaline.evaluation.coefficients import PER_SD, Coefficients
from adaline.evaluation.intervals import NORMAL_95
from adaline.evaluation.words import change as more_of
from adaline.evaluation.words import name, number
from adaline.results import Array

_TOLD = 5  # columns, at most


def drivers(
    model: Any, found: Coefficients, X: Any, spreads: Any, target: str | None, names: list[str]
) -> tuple[str, ...]:
    """A sentence each for the columns whose usual change moves the answer most.

    A usual change is a standard deviation; of a column of 0 and 1 it is from 0 to 1.
    """
    if spreads is None or not found.rows:
        return ()
    if PER_SD in found.more:
        return _of_one_output(model, found, X, spreads, target)
    W = np.asarray(model.coef_, dtype=np.float64)
    if not hasattr(model, "classes_") or W.ndim != 2 or len(W) != len(model.classes_):
        return ()
    return _of_classes(model, W, X, spreads, names)


def _of_one_output(
    model: Any, found: Coefficients, X: Any, spreads: Any, target: str | None
) -> tuple[str, ...]:
    rows = [row for row in found.rows if row["name"] != "intercept"]
    moves = np.array([abs(row[PER_SD]) for row in rows])
    order = [j for j in np.argsort(-moves, kind="stable").tolist() if moves[j] > 0]
    sure = [j for j in order if not _may_be_none(rows[j])][:_TOLD]
    said = [
        f"{name(rows[j]['name'])}: {_said(model, rows[j], _step(X, spreads, j), target)}."
        for j in sure
    ]
    unsure = [name(rows[j]["name"]) for j in order if _may_be_none(rows[j])]
    return (*said, *_unsure(unsure, said))


def _unsure(unsure: list[str], said: list[str]) -> list[str]:
    """Columns whose interval holds zero, where there is room to tell."""
    if not unsure or len(said) >= _TOLD:
        return []
    more = f" and {len(unsure) - _TOLD} more" if len(unsure) > _TOLD else ""
    lead = "These may or may not have an effect of their own"
    if not said:
        lead = "No column is sure to have an effect of its own, beside the others"
    return [f"{lead}: {', '.join(unsure[:_TOLD])}{more}."]


def _of_classes(model: Any, W: Array, X: Any, spreads: Any, names: list[str]) -> tuple[str, ...]:
    """Of K classes: the two that a column tells apart most, by the difference of their weights."""
    high, low = W.argmax(axis=0), W.argmin(axis=0)
    every = np.arange(W.shape[1])
    apart = W[high, every] - W[low, every]
    errors = _errors_of_differences(model, high, low)
    moves = apart * np.asarray(spreads)
    order = [j for j in np.argsort(-moves, kind="stable").tolist() if moves[j] > 0]
    unclear = [] if errors is None else [j for j in order if apart[j] < NORMAL_95 * errors[j]]
    odds = effect_of(model) == "odds"
    said = []
    for j in [j for j in order if j not in unclear][:_TOLD]:
        step = _step(X, spreads, j)
        change = "1 instead of 0" if step is None else more_of(step, names[j])
        effect = float(apart[j] * (1.0 if step is None else step))
        up, down = (repr(name(model.classes_[k])) for k in (high[j], low[j]))
        if odds:
            told = f"{change} multiplies the odds of {up} against {down} by {_times(effect)}"
        else:
            told = f"{change} moves the score by {number(effect, 3)} from {down} towards {up}"
        said.append(f"{name(names[j])}: {told}.")
    return (*said, *_unsure([name(names[j]) for j in unclear], said))


def _errors_of_differences(model: Any, high: Any, low: Any) -> Array | None:
    """Standard errors of the differences of two classes' weights, where the fit kept them."""
    C = getattr(getattr(model, "_information", None), "covariance", None)
    if C is None or C.shape[0] != len(model.classes_):
        return None
    j = np.arange(len(high))
    variance = C[high, j, high, j] + C[low, j, low, j] - 2 * C[high, j, low, j]
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


def _times(log_ratio: float) -> str:
    """A ratio for people: nobody can picture more than a million.

    >>> _times(0.5), _times(7.0), _times(30.0), _times(-30.0)
    ('1.65', '1,097', 'more than a million', 'less than a millionth')
    """
    if abs(log_ratio) > np.log(1e6):
        return "more than a million" if log_ratio > 0 else "less than a millionth"
    ratio = float(np.exp(log_ratio))
    return number(round(ratio)) if ratio >= 100 else number(ratio, 3)


def _may_be_none(row: dict[str, Any]) -> bool:
    """Whether zero is inside the interval."""
    low, high = row.get("low"), row.get("high")
    return low is not None and high is not None and bool(low <= 0 <= high)


def _step(X: Any, spreads: Any, j: int) -> float | None:
    """A standard deviation of a column; None where it holds 0 and 1 only."""
    column = X[:, [j]]
    values = np.unique(column.toarray() if hasattr(column, "toarray") else np.asarray(column))
    return None if np.isin(values, (0.0, 1.0)).all() else float(spreads[j])


def _said(model: Any, row: dict[str, Any], step: float | None, target: str | None) -> str:
    effect = row["coef"] if step is None else row[PER_SD]
    change = "1 instead of 0" if step is None else more_of(step, row.get("name", ""))
    effect_on = effect_of(model)
    if effect_on in ("odds", "rate", "mean"):
        what = f"the {effect_on}" if target is None else f"the {effect_on} of {name(target)}"
        if effect_on == "odds":
            what = f"the odds of {name(model.classes_[1])!r}"
        return f"{change} multiplies {what} by {_times(effect)}"
    if hasattr(model, "classes_"):
        side = name(model.classes_[1] if effect > 0 else model.classes_[0])
        return f"{change} moves the score by {number(abs(effect), 3)} towards {side!r}"
    way = "more" if effect > 0 else "less"
    what = "" if target is None else f" {name(target)}"
    return f"{change} goes with {number(abs(effect), 3)} {way}{what}"
