"""Errors that cost more than others: --threshold and --costs of `adaline fit`."""

from __future__ import annotations

from typing import Any

from adaline.cli.errors import UsageError
from adaline.cli.options import suggest
from adaline.evaluation.words import number


def cost_matrix(
    classes: list[Any], threshold: float | None, costs: str | None
) -> list[list[float]] | None:
    """costs[i][j] of deciding class i where j is true; None for the usual ones.

    >>> cost_matrix(["no", "yes"], 0.25, None)
    [[0.0, 0.75], [0.25, 0.0]]
    >>> cost_matrix(["no", "yes"], None, "yes=5")
    [[0.0, 5.0], [1.0, 0.0]]
    """
    if threshold is not None and len(classes) != 2:
        raise UsageError(
            f"--threshold is for two classes, and there are {number(len(classes))}; --costs takes "
            "more."
        )
    if threshold is not None:
        # Decide the second where its probability p has p (1 - t) > (1 - p) t, that is p > t.
        return [[0.0, 1.0 - threshold], [threshold, 0.0]]
    if costs is None:
        return None
    prices = _parse_prices(costs, classes)
    return [[0.0 if i == j else c for j, c in enumerate(prices)] for i in range(len(classes))]


def _parse_prices(text: str, classes: list[Any]) -> list[float]:
    """What an error costs on rows of each class: 1, but for those named as label=cost."""
    prices = {str(label): 1.0 for label in classes}
    for part in text.split(","):
        label, equals, cost = (piece.strip() for piece in part.rpartition("="))
        if not equals:
            raise UsageError(f"--costs {text!r}: expected label=cost, such as --costs yes=5,no=1.")
        if label not in prices:
            raise UsageError(f"--costs {text!r}: no class {label!r}; {suggest(label, prices)}")
        try:
            prices[label] = float(cost)
        except ValueError:
            raise UsageError(f"--costs {text!r}: {cost!r} is no number.") from None
        if not 0 < prices[label] < float("inf"):
            raise UsageError(f"--costs {text!r}: an error costs more than 0.")
    return list(prices.values())
