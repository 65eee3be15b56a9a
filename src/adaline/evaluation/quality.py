"""How good predictions are: sums over blocks of rows, then numbers, a sentence and doubts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from adaline.evaluation._decisions import Decisions
from adaline.evaluation._errors import Errors
from adaline.evaluation.intervals import NORMAL_95, wilson
from adaline.evaluation.words import HOLD_OUT, name, number, percent, plural

__all__ = [
    "NORMAL_95",
    "Decisions",
    "Errors",
    "Quality",
    "beside",
    "by_class",
    "quality_for",
    "shown",
    "wilson",
    "words_for",
]

Quality = Decisions | Errors

_POOLED = (
    "All rows together are compared with one mean, each single fold with the mean of its own rows: "
    "where the mean of the target moves from fold to fold, the folds explain less."
)


def quality_for(model: Any) -> Quality:
    """Empty sums for this kind of model."""
    if hasattr(model, "classes_"):
        costs, reject = getattr(model, "costs", None), getattr(model, "reject_cost", None)
        if costs is None and reject is not None:
            costs = 1.0 - np.eye(len(model.classes_))
        priced = None if costs is None else np.asarray(costs, dtype=np.float64).tolist()
        return Decisions(model.classes_.tolist(), costs=priced, reject_cost=reject)
    return Errors()


def words_for(rows: int, held_out: bool | None, way: str = "") -> str:
    """What the rows of a quality are called; `way` is how each was predicted without itself.

    >>> words_for(80, True), words_for(1, False)
    ('80 held-out rows', 'the row it has learned from')
    >>> words_for(80, None)  # nobody knows which
    '80 rows'
    >>> words_for(80, True, "10-fold cross-validation")
    '80 rows in 10-fold cross-validation'
    """
    if way and way != HOLD_OUT:
        return f"{plural(rows, 'row')} in {way}"
    if held_out is None:
        return plural(rows, "row")
    if held_out:
        return plural(rows, "held-out row")
    return "the row it has learned from" if rows == 1 else f"the {rows:,} rows it has learned from"


def shown(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The numbers of a quality under names for people, as text."""
    rows = _of_errors(facts) if "rmse" in facts else _of_decisions(facts)
    spread = facts.get("folds")
    if spread:
        least, most = (
            number(end, 3) if "rmse" in facts else percent(end)
            for end in (spread["least"], spread["largest"])
        )
        rows.append((f"{spread['measure']} of single folds", f"{least} to {most}"))
        if _moves(facts):
            rows.append(("why these differ from R²", _POOLED))
    return rows


def _of_errors(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows = [
        ("R²", number(facts["r2"])),
        *_between(facts, "r2"),
        ("root mean squared error", number(facts["rmse"])),
        *_between(facts, "rmse"),
        ("mean absolute error", number(facts["mae"])),
        ("largest error", number(facts["worst"])),
        ("root mean squared error of the mean", number(facts["rmse_of_mean"])),
    ]
    if facts["targets"] > 1:
        rows.append(("targets", f"{facts['targets']}; numbers are means over them"))
    return rows


def _between(facts: Mapping[str, Any], key: str) -> list[tuple[str, str]]:
    low, high = facts.get(f"{key}_low"), facts.get(f"{key}_high")
    if low is None:
        return []
    of = {"r2": "R²", "rmse": "the root mean square"}[key]
    return [(f"95 % interval of {of}", f"{number(low, 3)} to {number(high, 3)}")]


def _of_decisions(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    n, rejected = facts["rows"], facts["rejected"]
    rows = [
        ("right", f"{number(facts['right'])} of {number(n)}, {percent(facts['accuracy'])}"),
        (
            "95 % interval",
            f"{percent(facts['accuracy_low'])} to {percent(facts['accuracy_high'])}",
        ),
        (f"always {name(facts['most_common'])!r}", percent(facts["most_common_share"])),
        ("mean over classes", percent(facts["balanced_accuracy"])),
    ]
    if rejected:
        rows.append(("rejected", f"{number(rejected)} of {number(n)}"))
    if 0 < rejected < n:
        rows.append(("right where not rejected", percent(facts["right"] / (n - rejected))))
    if facts.get("auc") is not None:
        off = f", to ±{facts['auc_error']:.1g}" if facts["auc_error"] else ""
        value = f"{facts['auc']:.3f}{off}"
        interval = f"95 % interval {facts['auc_low']:.3f} to {facts['auc_high']:.3f}"
        rows.append(("area under the ROC curve", f"{value} ({interval})"))
    if facts.get("mean_cost") is not None:
        rows.append(("mean cost of a decision", number(facts["mean_cost"])))
        words = f"mean cost of always {name(facts['constant'])!r}"
        rows.append((words, number(facts["cost_of_constant"])))
    if facts["log_loss"] is not None:
        rows.append(("mean log loss", number(facts["log_loss"])))
        rows.append(("log loss of the shares alone", number(facts["log_loss_of_shares"])))
    return rows


def beside(facts: Mapping[str, Any]) -> str:
    """A line of what the sentence leaves out: the area or the interval of R², and single folds.

    >>> beside({"rmse": 1.0, "r2_low": 0.8, "r2_high": 0.9})
    'Explained variance: 95 % interval 80.0 to 90.0 %.'
    """
    said = []
    if facts.get("auc") is not None:
        ends = f"{facts['auc_low']:.3f} to {facts['auc_high']:.3f}"
        said.append(f"Area under the ROC curve: {facts['auc']:.3f} (95 % interval {ends}).")
    if facts.get("mean_cost") is not None:
        alone = f"always answering {name(facts['constant'])!r} would cost"
        cost = number(facts["mean_cost"], 3)
        said.append(
            f"Mean cost of a decision: {cost}; {alone} {number(facts['cost_of_constant'], 3)}."
        )
    if facts.get("r2_low") is not None and facts["r2_high"] > 0:
        low, high = max(facts["r2_low"], 0.0), facts["r2_high"]
        said.append(f"Explained variance: 95 % interval {100 * low:z.1f} to {percent(high)}.")
    folds = facts.get("folds")
    if folds and folds["measure"] != "root mean squared error":
        ends = f"{100 * folds['least']:.1f} to {percent(folds['largest'])}"
        what = "right" if folds["measure"] == "accuracy" else "explained"
        said.append(f"Single folds: {ends} {what}.")
        if _moves(facts):
            said.append(_POOLED)
    return " ".join(said)


def _moves(facts: Mapping[str, Any]) -> bool:
    """Whether R² of all rows lies outside that of the folds, because the folds' means differ."""
    folds = facts.get("folds")
    if not folds or folds["measure"] != "R²" or facts.get("r2") is None:
        return False
    return not folds["least"] <= facts["r2"] <= folds["largest"]


def by_class(facts: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of a table: precision and recall of each class, with 95 % intervals.

    >>> import numpy as np
    >>> found = Decisions(["no", "yes"])
    >>> found.add(np.array(["no", "yes", "no"]), np.array(["no", "yes", "yes"]))
    >>> by_class(found.facts())[1][1]
    ['yes', '1', '50.0 % (9–91)', '100.0 % (21–100)', '0.667']
    """
    head = ["class", "rows", "precision", "recall", "F1"]
    rows = [
        [
            name(one["label"]),
            number(one["rows"]),
            _range(one, "precision"),
            _range(one, "recall"),
            number(one["f1"], 3),
        ]
        for one in facts["per_class"]
    ]
    return head, rows


def _range(one: Mapping[str, Any], key: str) -> str:
    if one[key] is None:
        return "–"
    low, high = 100 * one[f"{key}_low"], 100 * one[f"{key}_high"]
    return f"{percent(one[key])} ({low:.0f}–{high:.0f})"
