"""How good predictions are: sums over blocks of rows, then numbers, a sentence and doubts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.verdicts.words import name, number, percent, plural

NORMAL_95 = 1.959963984540054  # 95 % of a normal distribution lie within so many deviations


def wilson(share: Any, n: Any) -> tuple[Any, Any]:
    """Wilson's 95 % interval of a share of n trials; it stays between 0 and 1.

    >>> [round(float(end), 3) for end in wilson(0.5, 10)]
    [0.237, 0.763]
    """
    z2 = NORMAL_95 * NORMAL_95
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = NORMAL_95 * np.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


@dataclass
class Decisions:
    """Labels against predictions, block by block.

    Examples
    --------
    >>> import numpy as np
    >>> found = Decisions(["no", "yes"])
    >>> found.add(np.array(["no", "yes", "no"]), np.array(["no", "yes", "yes"]))
    >>> round(found.facts()["accuracy"], 3), found.facts()["most_common"]
    (0.667, 'no')
    """

    classes: list[Any]
    pairs: Counter[tuple[Any, Any]] = field(default_factory=Counter)  # (truth, answer)
    loss: float = 0.0
    told: int = 0  # rows whose label has a probability

    def add(self, truth: NDArray[Any], answer: NDArray[Any], log_p: Any = None) -> None:
        """Count the next rows; log_p are logarithms of probabilities, where there are any."""
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
        n, counts, hits = self.n, Counter[Any](), Counter[Any]()
        for (truth, answer), count in self.pairs.items():
            counts[truth] += count
            hits[truth] += count * (truth == answer)
        right = hits.total()
        common, most = counts.most_common(1)[0]
        low, high = wilson(right / n, n)
        order = [*self.classes, *(label for label in counts if label not in self.classes)]
        answers = [*order, *sorted({a for _, a in self.pairs if a not in order}, key=str)]
        shares = [counts[c] / self.told for c in self.classes if counts[c] and self.told]
        return {
            "rows": n,
            "right": right,
            "accuracy": right / n,
            "accuracy_low": float(low),
            "accuracy_high": float(high),
            "balanced_accuracy": float(np.mean([hits[c] / counts[c] for c in counts])),
            "most_common": common,
            "most_common_share": most / n,
            "rejected": sum(c for (_, a), c in self.pairs.items() if a not in self.classes),
            "log_loss": self.loss / self.told if self.told else None,
            "log_loss_of_shares": -sum(s * math.log(s) for s in shares) if shares else None,
            "labels": order,
            "answers": answers,
            "confusion": [[self.pairs[t, a] for a in answers] for t in order],
        }

    def sentence(self, words: str) -> str:
        """The facts in a sentence about rows that are called `words`."""
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
                "the predictions are not clearly better than always answering "
                f"{name(f['most_common'])!r}; the columns may say little about the target, or say "
                "it in a way that no hyperplane can use."
            )
        seen = {truth for truth, _ in self.pairs}
        unseen = [repr(name(c)) for c in self.classes if c not in seen]
        if unseen:
            more = ", ..." if len(unseen) > 5 else ""
            said.append(
                f"no row has the label {', '.join(unseen[:5])}{more}: nothing is known about the "
                "quality there."
            )
        strange = [c for c in f["labels"] if c not in self.classes]
        if strange:
            count = sum(c for (truth, _), c in self.pairs.items() if truth in strange)
            said.append(
                f"{plural(count, 'row')} have labels that the model never saw, such as "
                f"{name(strange[0])!r}; they count as wrong. Learn from rows of every class."
            )
        return said


@dataclass
class Errors:
    """Numbers against predictions, block by block; k targets side by side, spreads about a mean."""

    n: int = 0
    mean: Any = 0.0
    spread: Any = 0.0  # sums of squares about the mean, (k,)
    squares: Any = 0.0  # sums of squared errors, (k,)
    absolute: float = 0.0
    worst: float = 0.0

    def add(self, truth: NDArray[Any], answer: NDArray[Any], log_p: Any = None) -> None:
        """Add the next rows; squares beyond float64 are infinite."""
        m = len(truth)
        if m == 0:
            return
        y = truth.astype(np.float64).reshape(m, -1)
        e = y - np.asarray(answer, dtype=np.float64).reshape(y.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            middle = y[0] + np.mean(y - y[0], axis=0)
            step = middle - self.mean
            spread = np.sum((y - middle) ** 2, axis=0) + step * step * (self.n * m / (self.n + m))
            self.spread = self.spread + spread
            self.mean = self.mean + step * (m / (self.n + m))
            self.squares = self.squares + np.sum(e * e, axis=0)
            self.absolute = float(self.absolute + np.abs(e).sum())
        self.n += m
        self.worst = max(self.worst, float(np.abs(e).max()))

    def facts(self) -> dict[str, Any]:
        """Numbers by stable names; of several targets, means over them."""
        spread, squares = np.atleast_1d(self.spread), np.atleast_1d(self.squares)
        told = np.isfinite(spread).all() and np.isfinite(squares).all() and (spread > 0).all()
        with np.errstate(over="ignore"):
            mean = np.mean(squares), np.mean(spread)
        return {
            "rows": self.n,
            "targets": len(spread),
            "r2": float(np.mean(1.0 - squares / spread)) if told else None,
            "rmse": math.sqrt(float(mean[0]) / self.n),
            "mae": self.absolute / (self.n * len(spread)),
            "worst": self.worst,
            "rmse_of_mean": math.sqrt(float(mean[1]) / self.n),
        }

    def sentence(self, words: str) -> str:
        """The facts in a sentence about rows that are called `words`."""
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


def shown(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The numbers of a quality under names for people, as text."""
    if "rmse" in facts:
        rows = [
            ("R²", number(facts["r2"])),
            ("root mean squared error", number(facts["rmse"])),
            ("mean absolute error", number(facts["mae"])),
            ("largest error", number(facts["worst"])),
            ("root mean squared error of the mean", number(facts["rmse_of_mean"])),
        ]
        if facts["targets"] > 1:
            rows.append(("targets", f"{facts['targets']}; numbers are means over them"))
        return rows
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
    if facts["log_loss"] is not None:
        rows.append(("mean log loss", number(facts["log_loss"])))
        rows.append(("log loss of the shares alone", number(facts["log_loss_of_shares"])))
    return rows
