"""How good predictions are: sums over blocks of rows, then a sentence and numbers."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.cli._words import name, number, percent, plural

_Z = 1.959963984540054  # 95 % of the normal lie within


def wilson(right: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share.

    >>> [round(end, 3) for end in wilson(5, 10)]
    [0.237, 0.763]
    """
    p, z = right / n, _Z
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


@dataclass
class Decisions:
    """Labels against predictions, block by block."""

    classes: list[Any]
    pairs: Counter[tuple[Any, Any]] = field(default_factory=Counter)  # (truth, answer)
    loss: float = 0.0
    told: int = 0  # rows whose label has a probability

    def add(self, truth: NDArray[Any], answer: NDArray[Any], log_p: Any = None) -> None:
        """The next rows; log_p are logarithms of probabilities, where there are any."""
        self.pairs.update(zip(truth.tolist(), answer.tolist(), strict=True))
        if log_p is None:
            return
        places = {label: k for k, label in enumerate(self.classes)}
        known = np.array([places.get(label, -1) for label in truth.tolist()], dtype=np.int64)
        rows = np.flatnonzero(known >= 0)
        self.loss -= float(np.sum(np.asarray(log_p, dtype=np.float64)[rows, known[rows]]))
        self.told += len(rows)

    @property
    def n(self) -> int:
        """Rows so far."""
        return sum(self.pairs.values())

    def facts(self) -> dict[str, Any]:
        """Numbers by stable names."""
        n = self.n
        right = sum(count for (truth, answer), count in self.pairs.items() if truth == answer)
        counts: Counter[Any] = Counter()
        hits: Counter[Any] = Counter()
        for (truth, answer), count in self.pairs.items():
            counts[truth] += count
            hits[truth] += count * (truth == answer)
        common, most = counts.most_common(1)[0]
        low, high = wilson(right, n)
        order = [*self.classes, *(label for label in counts if label not in self.classes)]
        answers = [*order, *sorted({a for _, a in self.pairs if a not in order}, key=str)]
        return {
            "rows": n,
            "accuracy": right / n,
            "accuracy_low": low,
            "accuracy_high": high,
            "balanced_accuracy": float(np.mean([hits[c] / counts[c] for c in counts])),
            "most_common": common,
            "most_common_share": most / n,
            "log_loss": self.loss / self.told if self.told else None,
            "labels": order,
            "answers": answers,
            "confusion": [[self.pairs[t, a] for a in answers] for t in order],
        }

    def sentence(self, words: str) -> str:
        """The facts in a sentence."""
        f = self.facts()
        return (
            f"Right for {percent(f['accuracy'])} of {words} (95 % interval "
            f"{100 * f['accuracy_low']:.1f} to {percent(f['accuracy_high'])}); always answering "
            f"{name(f['most_common'])!r} would be right for {percent(f['most_common_share'])}."
        )

    def doubts(self) -> list[str]:
        """What these numbers give reason to doubt, with advice."""
        f, said = self.facts(), []
        if f["accuracy_low"] <= f["most_common_share"] and self.n >= 10:
            said.append(
                f"the predictions are not clearly better than always answering "
                f"{name(f['most_common'])!r}; the columns may say little about the target, or say "
                "it in a way that no hyperplane can use."
            )
        strange = [c for c in f["labels"] if c not in self.classes]
        if strange:
            said.append(
                f"some rows have labels that the model never saw, such as {name(strange[0])!r}; "
                "they count as wrong."
            )
        return said


@dataclass
class Errors:
    """Numbers against predictions, block by block; spreads about a running mean."""

    n: int = 0
    mean: float = 0.0
    spread: float = 0.0  # sum of squares about the mean
    squares: float = 0.0
    absolute: float = 0.0
    worst: float = 0.0

    def add(self, truth: NDArray[Any], answer: NDArray[Any], log_p: Any = None) -> None:
        """The next rows; squares beyond float64 are infinite."""
        y, e = truth.astype(np.float64), truth - np.asarray(answer, dtype=np.float64)
        m = len(y)
        if m == 0:
            return
        with np.errstate(over="ignore", invalid="ignore"):
            middle = np.float64(y[0]) + np.mean(y - y[0])
            step = middle - np.float64(self.mean)
            spread = np.sum((y - middle) ** 2) + step * step * (self.n * m / (self.n + m))
            self.spread = float(self.spread + spread)
            self.mean = float(self.mean + step * (m / (self.n + m)))
            self.squares = float(self.squares + e @ e)
            self.absolute = float(self.absolute + np.abs(e).sum())
        self.n += m
        self.worst = max(self.worst, float(np.abs(e).max()))

    def facts(self) -> dict[str, Any]:
        """Numbers by stable names."""
        finite = math.isfinite(self.spread) and math.isfinite(self.squares)
        return {
            "rows": self.n,
            "r2": 1.0 - self.squares / self.spread if finite and self.spread > 0 else None,
            "rmse": math.sqrt(self.squares / self.n),
            "mae": self.absolute / self.n,
            "worst": self.worst,
            "rmse_of_mean": math.sqrt(self.spread / self.n),
        }

    def sentence(self, words: str) -> str:
        """The facts in a sentence."""
        f = self.facts()
        off = f"off by {number(f['rmse'], 3)} (root mean square)"
        if f["r2"] is None:
            equal = ", which are all equal" if f["rmse_of_mean"] == 0 else ""
            return f"Predictions are {off} on {words}{equal}."
        alone = f"their mean alone would be off by {number(f['rmse_of_mean'], 3)}"
        if f["r2"] > 0:
            share = percent(f["r2"])
            return f"Explains {share} of the variance of {words} and is {off}; {alone}."
        return f"Explains nothing of {words}: it is {off}, and {alone}."

    def doubts(self) -> list[str]:
        """What these numbers give reason to doubt, with advice."""
        r2 = self.facts()["r2"]
        if r2 is not None and r2 <= 0:
            return [
                "the predictions are worse than the mean of these rows; they may come from "
                "elsewhere than the rows of the fit, or the columns say nothing about the target."
            ]
        return []


Quality = Decisions | Errors


def quality_for(model: Any) -> Quality:
    """Empty sums for this kind of model."""
    if hasattr(model, "classes_"):
        return Decisions(model.classes_.tolist())
    return Errors()


def words_for(rows: int, held_out: bool) -> str:
    """What the rows of a quality are called.

    >>> words_for(80, True), words_for(1, False)
    ('80 held-out rows', 'the row it has learned from')
    """
    if held_out:
        return plural(rows, "held-out row")
    return "the row it has learned from" if rows == 1 else f"the {rows:,} rows it has learned from"
