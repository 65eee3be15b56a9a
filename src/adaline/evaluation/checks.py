"""All checks of a fit that its rows allow, each with a verdict in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.estimators.registry import scatter_of
from adaline.evaluation import influence as single_rows
from adaline.evaluation import leakage
from adaline.evaluation.answers import Answers
from adaline.evaluation.calibration import calibration
from adaline.evaluation.check import Check
from adaline.evaluation.drift import drift
from adaline.evaluation.residual_checks import residual_checks
from adaline.evaluation.words import name


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with their truth.

    Attributes
    ----------
    X : ndarray or CSR of shape (n, p)
    y : ndarray of shape (n,) or (n, k), or None
    weight : ndarray of shape (n,), or None
        Weights of the rows in learning.
    said : Answers, or None
        What was predicted for them.
    """

    X: Any
    y: Any = None
    weight: Any = None
    said: Answers | None = None


def checks(
    model: Any,
    names: list[str],
    learned: Rows | None = None,
    tested: Rows | None = None,
    target: str | None = None,
    apart: bool = True,
) -> tuple[Check, ...]:
    """What can be checked: probabilities or residuals, drift, single rows, and leakage.

    `learned` are rows of the fit, `tested` rows that were predicted; `apart` says that the model
    has not learned from these, so that the two can be compared.
    """
    found: list[Check] = []
    if tested is not None and tested.said is not None and tested.y is not None:
        if hasattr(model, "classes_"):
            found += _probabilities(model, np.asarray(tested.y), tested.said)
        elif np.ndim(tested.y) == 1:
            found += residual_checks(tested.y, tested.said.predicted, scatter_of(model))
    if learned is not None and tested is not None and apart:
        found += _drift(learned.X, tested.X, names)
    if learned is not None and learned.y is not None:
        found += _single_rows(model, learned, names, target or "the target")
    known = learned if learned is not None and learned.y is not None else tested
    if known is not None and known.y is not None:
        found += _leakage(known, names, target or "the target", hasattr(model, "classes_"))
    return tuple(found)


def _leakage(rows: Rows, names: list[str], target: str, classes: bool) -> list[Check]:
    columns = leakage.columns_alone(rows.X, rows.y, names, classes)
    if columns is None:
        return []
    said = leakage.sentence(columns, target if target == "the target" else name(target))
    fine, count = not columns, {"columns": float(len(columns))}
    return [Check("leakage", "No column gives the target away", fine, said, count, not fine)]


def _probabilities(model: Any, y: Any, said: Answers) -> list[Check]:
    """Those of the second of two classes, or of the likeliest of several."""
    if said.log_p is None or y.ndim != 1:
        return []
    log_p, classes = said.log_p, model.classes_
    if len(classes) == 2:
        yes, best = y == classes[1], log_p[:, 1]
        what = f"of {name(classes[1])!r}"
    else:
        yes, best = y == classes[log_p.argmax(axis=1)], log_p.max(axis=1)
        what = "of the likeliest class"
    with np.errstate(all="ignore"):
        odds = best - np.log(-np.expm1(np.minimum(best, 0.0)))
        odds = log_p[:, 1] - log_p[:, 0] if len(classes) == 2 else odds
    found = calibration(yes, odds)
    fine = None if found.kind == "unknown" else found.kind == "right"
    numbers = {"told": found.told, "happened": found.happened, "slope": found.slope}
    return [Check("calibration", f"Probabilities {what}", fine, found.sentence, numbers)]


def _drift(before: Any, after: Any, names: list[str]) -> list[Check]:
    found = drift(before, after, names)
    if found is None:
        return []
    j = int(found.order[0])
    numbers = {"distance": float(found.distance[j]), "p": float(found.p[j])}
    fine = not found.moved
    return [Check("drift", "Like the rows learned from", fine, found.sentence, numbers, not fine)]


def _single_rows(model: Any, learned: Rows, names: list[str], target: str) -> list[Check]:
    found = single_rows.influence(model, learned.X, learned.y, learned.weight)
    if found is None:
        return []
    fine = not len(found.decisive)
    said = single_rows.sentence(found, model, learned.X, learned.y, names, target)
    i = int(found.rows[0])
    numbers = {"cook": float(found.cook[i]), "row": float(i)}
    return [Check("influence", "Single rows", fine, said, numbers, not fine)]
