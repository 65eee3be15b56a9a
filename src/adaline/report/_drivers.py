"""What drives a model, in plain words: the columns that move its answers most."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.verdicts.coefficients import PER_SD, Coefficients
from adaline.verdicts.words import name, number

_TOLD = 5  # columns, at most


def drivers(
    model: Any, found: Coefficients, X: Any, spreads: Any, target: str | None
) -> tuple[str, ...]:
    """A sentence each for the columns whose usual change moves the answer most.

    A usual change is a standard deviation; of a column of 0 and 1 it is from 0 to 1.
    """
    if spreads is None or PER_SD not in found.more:
        return ()
    rows = [row for row in found.rows if row["name"] != "intercept"]
    moves = np.array([abs(row[PER_SD]) for row in rows])
    order = [j for j in np.argsort(-moves, kind="stable").tolist() if moves[j] > 0]
    sure = [j for j in order if not _may_be_none(rows[j])][:_TOLD]
    said = [
        f"{name(rows[j]['name'])}: {_said(model, rows[j], _step(X, spreads, j), target)}."
        for j in sure
    ]
    unsure = [name(rows[j]["name"]) for j in order if _may_be_none(rows[j])]
    if unsure and len(said) < _TOLD:
        more = f" and {len(unsure) - _TOLD} more" if len(unsure) > _TOLD else ""
        lead = "These may or may not have an effect of their own"
        if not said:
            lead = "No column is sure to have an effect of its own, beside the others"
        said.append(f"{lead}: {', '.join(unsure[:_TOLD])}{more}.")
    return tuple(said)


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
    change = "1 instead of 0" if step is None else f"{number(step, 3)} more"
    kind = getattr(model, "_exports", None)
    if kind in ("posterior", "exponential"):
        with np.errstate(over="ignore"):
            ratio = number(float(np.exp(effect)), 3)
        what = "the rate"
        if kind == "posterior":
            what = f"the odds of {name(model.classes_[1])!r}"
        return f"{change} multiplies {what} by {ratio}"
    if hasattr(model, "classes_"):
        side = name(model.classes_[1] if effect > 0 else model.classes_[0])
        return f"{change} moves the score by {number(abs(effect), 3)} towards {side!r}"
    way = "more" if effect > 0 else "less"
    what = "" if target is None else f" {name(target)}"
    return f"{change} goes with {number(abs(effect), 3)} {way}{what}"
