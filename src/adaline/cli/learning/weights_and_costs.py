"""Rows that count more, and errors that cost more: --weights, --balanced, --threshold, --costs."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from adaline.cli.printing.errors import Usage
from adaline.cli.printing.words import did_you_mean
from adaline.data import Encoding, Source
from adaline.data.tables import columns_beside
from adaline.data.tables import row_weights as row_weights
from adaline.evaluation.words import name, number


def beside(
    source: Source, encoding: Encoding, target: str, columns: dict[str, str]
) -> dict[str, NDArray[Any]]:
    """Columns that are no inputs, of the rows that are learned from; options say what they are."""
    return columns_beside(source, encoding, target, columns, columns.get("--by-time"))


def without(ignore: Sequence[str], wanted: str | None) -> tuple[list[str], bool]:
    """Columns to ignore but for one that is needed otherwise, and whether it was among them.

    >>> without(["id,day"], "day")
    (['id'], True)
    """
    parts = [part.strip() for text in ignore for part in text.split(",")]
    if wanted in ignore:
        return [text for text in ignore if text != wanted], True
    if wanted in parts:
        return [part for part in parts if part != wanted], True
    return list(ignore), False


def check_learner(kind: Any, weighted: bool, costly: bool) -> None:
    """Say before learning whether this learner can."""
    if weighted and "sample_weight" not in inspect.signature(kind.fit).parameters:
        raise Usage(
            f"{kind._command} takes no weights of rows; leave --weights and --balanced out."
        )
    if costly and "costs" not in kind().get_params():
        raise Usage(
            f"{kind._command} tells no probabilities, and so cannot weigh costs; --threshold and "
            "--costs go with --model logistic or gaussian."
        )


def costs_for(
    classes: list[Any], threshold: float | None, costs: str | None
) -> list[list[float]] | None:
    """costs[i][j] of deciding class i where j is true; None for the usual ones.

    >>> costs_for(["no", "yes"], 0.25, None)
    [[0.0, 0.75], [0.25, 0.0]]
    >>> costs_for(["no", "yes"], None, "yes=5")
    [[0.0, 5.0], [1.0, 0.0]]
    """
    if threshold is not None:
        if len(classes) != 2:
            raise Usage(
                f"--threshold is for two classes, and there are {number(len(classes))}; --costs "
                "takes more."
            )
        # Decide the second where its probability p has p (1 - t) > (1 - p) t, that is p > t.
        return [[0.0, 1.0 - threshold], [threshold, 0.0]]
    if costs is None:
        return None
    price = _prices(costs, classes)
    return [[0.0 if i == j else c for j, c in enumerate(price)] for i in range(len(classes))]


def _prices(text: str, classes: list[Any]) -> list[float]:
    """What an error costs on rows of each class: 1, but for those named as label=cost."""
    places = {str(label): k for k, label in enumerate(classes)}
    found = [1.0] * len(classes)
    for part in text.split(","):
        label, equals, cost = part.rpartition("=")
        label = label.strip()
        if not equals:
            raise Usage(f"--costs {text!r}: expected label=cost, such as --costs yes=5,no=1.")
        if label not in places:
            raise Usage(
                f"--costs {text!r}: there is no class {label!r}; {did_you_mean(label, places)}"
            )
        try:
            found[places[label]] = float(cost)
        except ValueError:
            raise Usage(f"--costs {text!r}: {cost.strip()!r} is no number.") from None
        if not 0 < found[places[label]] < float("inf"):
            raise Usage(f"--costs {text!r}: an error costs more than 0.")
    return found


def said(plan: Any, model: Any) -> str:
    """Half a sentence on weights and costs; empty without any."""
    parts = []
    if plan.weights is not None:
        parts.append(f"rows weighted by {name(plan.weights)!r}")
    if plan.balanced:
        parts.append("classes weighted to count alike")
    if plan.threshold is not None:
        parts.append(
            f"answers {name(model.classes_[1])!r} where its probability exceeds {plan.threshold:g}"
        )
    if plan.costs is not None:
        parts.append(f"decides by the costs {name(plan.costs)}")
    return "; " + "; ".join(parts) if parts else ""
