"""Labels against predictions: counts over blocks of rows, then numbers, a sentence and doubts."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.evaluation.intervals import of_area, wilson
from adaline.evaluation.ranks import Ranks
from adaline.evaluation.words import name, percent, plural
from adaline.results import Result


@dataclass
class Decisions(Result):
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
    ranks: Ranks = field(default_factory=Ranks)  # of two classes
    costs: Any = None  # (K, K), of deciding i where j is true; None where all errors cost the same
    reject_cost: float | None = None

    def add(
        self, truth: NDArray[Any], answer: NDArray[Any], log_p: Any = None, scores: Any = None
    ) -> None:
        """Count the next rows.

        Where there are any, log_p are logarithms of probabilities (n, K), and scores (n,) are the
        larger, the more the second of two classes is meant.
        """
        labels = truth.tolist()
        self.pairs.update(zip(labels, answer.tolist(), strict=True))
        if log_p is None and scores is None:
            return
        places = {label: k for k, label in enumerate(self.classes)}
        known = np.array([places.get(label, -1) for label in labels], dtype=np.int64)
        rows = np.flatnonzero(known >= 0)
        if scores is not None and len(self.classes) == 2:
            self.ranks.add(np.asarray(scores)[rows], known[rows] == 1)
        if log_p is not None:
            self.loss -= float(np.sum(np.asarray(log_p, dtype=np.float64)[rows, known[rows]]))
            self.told += len(rows)

    def cut(self) -> None:
        """What comes now is of another model: scores are not compared across."""
        self.ranks.cut()

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
        # The first of several that are as common, in the order of the classes and not of the rows.
        order = [*self.classes, *sorted((c for c in counts if c not in self.classes), key=str)]
        common = max(order, key=lambda label: counts[label])
        low, high = wilson(right / n, n)
        answers = [*order, *sorted({a for _, a in self.pairs if a not in order}, key=str)]
        shares = [counts[c] / self.told for c in self.classes if counts[c] and self.told]
        return {
            "rows": n,
            "right": right,
            "accuracy": right / n,
            "accuracy_low": float(low),
            "accuracy_high": float(high),
            "balanced_accuracy": float(np.mean([hits[c] / counts[c] for c in order if counts[c]])),
            "most_common": common,
            "most_common_share": counts[common] / n,
            "rejected": sum(c for (_, a), c in self.pairs.items() if a not in self.classes),
            "log_loss": self.loss / self.told if self.told else None,
            "log_loss_of_shares": -sum(s * math.log(s) for s in shares) if shares else None,
            **self._area(),
            **self._priced(counts),
            "per_class": [self._of(label, counts[label], hits[label]) for label in order],
            "labels": order,
            "answers": answers,
            "confusion": [[self.pairs[t, a] for a in answers] for t in order],
        }

    def _area(self) -> dict[str, Any]:
        """The area under the ROC curve with its interval, where there are scores of two classes."""
        found = self.ranks.area()
        if found is None:
            return dict.fromkeys(("auc", "auc_low", "auc_high", "auc_error"))
        area, off = found
        low, high = of_area(area, *self.ranks.counts)
        return {
            "auc": area,
            "auc_low": max(low - off, 0.0),
            "auc_high": min(high + off, 1.0),
            "auc_error": off,
        }

    def _priced(self, counts: Counter[Any]) -> dict[str, Any]:
        """What a decision costs on average, and what the best answer without a model would."""
        if self.costs is None:
            return {"mean_cost": None, "cost_of_constant": None, "constant": None}
        places = {label: k for k, label in enumerate(self.classes)}
        reject: Any = self.reject_cost
        known = [
            (t, a, c)
            for (t, a), c in self.pairs.items()
            if t in places and (a in places or reject is not None)
        ]
        rows = sum(c for _, _, c in known)
        cost = sum(
            c * (self.costs[places[a]][places[t]] if a in places else reject) for t, a, c in known
        )
        always = {
            label: sum(self.costs[k][places[t]] * counts[t] for t in places)
            for label, k in places.items()
        }
        best = min(self.classes, key=lambda label: always[label])
        whole = sum(counts[label] for label in places)
        return {
            "mean_cost": cost / rows if rows else None,
            "cost_of_constant": always[best] / whole if whole else None,
            "constant": best,
        }

    def _of(self, label: Any, rows: int, hits: int) -> dict[str, Any]:
        """How often the answer `label` is right, and how often rows of that label get it."""
        said = sum(count for (_, answer), count in self.pairs.items() if answer == label)
        return {
            "label": label,
            "rows": rows,
            "answers": said,
            **_share("precision", hits, said),
            **_share("recall", hits, rows),
            "f1": 2 * hits / (rows + said) if rows + said else None,
        }

    def sentence(self, words: str) -> str:
        """The facts in a sentence about rows that are called `words`."""
        f = self.facts()
        return (
            f"Right for {percent(f['accuracy'])} of {words} (95 % interval "
            f"{100 * f['accuracy_low']:.1f} to {percent(f['accuracy_high'])}); always answering "
            f"{name(f['most_common'])!r} would be right for {percent(f['most_common_share'])}."
        )

    def doubts(self, separable: bool = False) -> list[str]:
        """What these numbers give reason to doubt; a boundary may separate the rows of the fit."""
        f, said = self.facts(), []
        if f["mean_cost"] is not None and f["mean_cost"] >= f["cost_of_constant"]:
            said.append(
                f"always answering {name(f['constant'])!r} would cost no more than these "
                "predictions; the columns may say too little for such costs."
            )
        elif (
            f["mean_cost"] is None and f["accuracy_low"] <= f["most_common_share"] and self.n >= 10
        ):
            why = (
                "; the columns may say little about the target, or say it in a way that no linear "
                "boundary can use."
            )
            if separable:
                why = ", although the rows learned from are separable: try another learner."
            said.append(
                "the predictions are not clearly better than always answering "
                f"{name(f['most_common'])!r}{why}"
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
            have = "has a label" if count == 1 else "have labels"
            said.append(
                f"{plural(count, 'row')} {have} that the model never saw, such as "
                f"{name(strange[0])!r}; they count as wrong. Learn from rows of every class."
            )
        return said


def _share(what: str, part: int, whole: int) -> dict[str, Any]:
    """A share with its interval; None where there is nothing to divide by."""
    if not whole:
        return {what: None, f"{what}_low": None, f"{what}_high": None}
    low, high = wilson(part / whole, whole)
    return {what: part / whole, f"{what}_low": float(low), f"{what}_high": float(high)}
