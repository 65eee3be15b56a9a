"""The first lines of a page, and what the model is for and where it ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from adaline.evaluation.words import name, number, percent, plural

Tile = tuple[str, str]
_LISTED = 6  # classes that a sentence names


def question(
    model: Any, target: str | None, columns: int, facts: Mapping[str, Any], learned: int | None
) -> str:
    """What was asked: which column from how many others, by which learner, from which rows."""
    what = "the target" if target is None else name(target)
    classes = getattr(model, "classes_", None)
    if classes is not None:
        labels = [repr(name(label)) for label in classes.tolist()]
        more = f" and {len(labels) - _LISTED} more" if len(labels) > _LISTED else ""
        kind = f"one of {len(labels)} classes ({', '.join(labels[:_LISTED])}{more})"
    else:
        counts = getattr(model, "_learns", None) == "counts"
        kind = "a count" if counts else "a number"
    said = f"The question: predict {what}, {kind}, from {plural(columns, 'column')}."
    rows = "" if learned is None else f" from {plural(learned, 'row')}"
    measured = ""
    if facts:
        known = {True: " that it has not seen", False: " that it has learned from", None: ""}
        held = f" in {facts['way']}" if "way" in facts else known[facts["held_out"]]
        measured = f"; tried on {plural(facts['rows'], 'row')}{held}"
    return f"{said} Answered by {type(model).__name__}, learned{rows}{measured}."


def tiles(facts: Mapping[str, Any]) -> tuple[Tile, ...]:
    """The three numbers that a reader in a hurry takes away."""
    if not facts:
        return ()
    if "rmse" in facts:
        off = number(facts["rmse"], 3), "typical error (root mean square)"
        alone = number(facts["rmse_of_mean"], 3), "error without a model, answering the mean"
        if facts["r2"] is None:
            return off, alone
        return (percent(max(facts["r2"], 0.0)), "of the variance explained"), off, alone
    found = [
        (percent(facts["accuracy"]), "right answers"),
        (
            percent(facts["most_common_share"]),
            f"right without a model, always {name(facts['most_common'])!r}",
        ),
    ]
    if facts.get("mean_cost") is not None:
        least = number(facts["cost_of_constant"], 3)
        cost = number(facts["mean_cost"], 3)
        found.append((cost, f"mean cost of a decision; without a model {least}"))
    elif facts.get("auc") is not None:
        found.append((f"{facts['auc']:.3f}", "area under the ROC curve; 0.5 is guessing"))
    else:
        found.append((percent(facts["balanced_accuracy"]), "right on average over the classes"))
    return tuple(found)


def limits(
    target: str | None, facts: Mapping[str, Any], rows: Any, learned: bool
) -> tuple[str, ...]:
    """What the model is for, and where what is known of it ends."""
    what = "the target" if target is None else name(target)
    said = [
        f"For telling {what} of rows that come about as these did: the same source, the same "
        "columns, the same time and place. What happens elsewhere is not known from these rows."
    ]
    if learned:
        said.append(
            "For columns within the ranges of the table of columns. Beyond them a linear model "
            "goes straight on, and nobody has checked."
        )
    said += _how_far(facts, rows)
    said.append(
        "For answers, not for decisions about causes: that a column goes with the target does not "
        "say that changing the column changes the target."
    )
    said.append("Not looked at: whether the answers are as good for every group of people.")
    return tuple(said)


def _how_far(facts: Mapping[str, Any], rows: Any) -> list[str]:
    """What to expect of single answers."""
    if not facts:
        return ["Nobody knows how good it is: there were no rows to measure that."]
    if "rmse" in facts:
        if rows is None or np.ndim(rows.y) != 1 or len(rows.y) < 20:
            return []
        errors = np.abs(np.asarray(rows.y, dtype=np.float64) - rows.said.predicted)
        half, most = (number(float(np.quantile(errors, q)), 3) for q in (0.5, 0.95))
        return [f"Half of the answers were off by at most {half}, and 19 of 20 by at most {most}."]
    wrong = round(100 * (1 - facts["accuracy"] - facts["rejected"] / facts["rows"]))
    said = f"Expect about {wrong} wrong answers in 100" if wrong else "Expect few wrong answers"
    known = [one for one in facts["per_class"] if one["recall"] is not None]
    if len(known) > 1:
        worst = min(known, key=lambda one: one["recall"])
        said += (
            f"; rows of {name(worst['label'])!r} are recognised least often, "
            f"{percent(worst['recall'])} of {plural(worst['rows'], 'row')}"
        )
    return [f"{said}."]
