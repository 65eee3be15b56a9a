"""How good predictions are: sums over blocks of rows, then numbers, a sentence and warnings.

`Trial` counts the rows of a trial; the command counts files block by block. The intervals take
rows to be independent: predictions of a cross-validation share most of their training rows, so
that they are approximate there.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.base import BaseEstimator

from adaline.evaluation import words
from adaline.evaluation.words import listed, name, number, percent, plural
from adaline.results import Array, Result

NORMAL_95 = float(ndtri(0.975))
MAX_ROWS_KEPT = 1_000_000  # for areas under the ROC curve and intervals of R²; then every other


def wilson(share: Any, n: Any) -> tuple[Any, Any]:
    """Wilson's 95% interval of a share of n trials; it stays between 0 and 1."""
    z2 = NORMAL_95 * NORMAL_95
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = NORMAL_95 * np.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    # For shares of 0 and 1 an end is the share itself, which rounding must not leave outside.
    return np.clip(middle - half, 0.0, share), np.clip(middle + half, share, 1.0)


def ratio_interval(above: Array, below: Array) -> tuple[float, float] | None:
    """95% interval of mean(above) / mean(below), by the deviation of the ratio's logarithm.

    None if there are fewer than three rows, a mean is zero, or one row has nearly all of a sum.
    """
    if (n := len(above)) < 3:
        return None
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        ratio, a, b = float(np.mean(above) / np.mean(below)), above.sum(), below.sum()
        half = NORMAL_95 * math.sqrt(float(np.sum((above / a - below / b) ** 2)) * n / (n - 1))
        share = max(float(above.max() / a), float(below.max() / b))
    # exp of 300 is far inside the range of float64; NaN fails every comparison.
    if not (half < 300 and 0 < ratio < math.inf and share <= 0.9):
        return None
    return ratio * math.exp(-half), ratio * math.exp(half)


@dataclass
class KeptRows(Result):
    """Rows of numbers, block by block; of more than a million every second one, and so on."""

    rows: Array
    step: int = 1

    def add(self, rows: Array) -> None:
        """Keep some of these rows."""
        self.rows = np.concatenate([self.rows, rows[:: self.step]])
        while len(self.rows) > MAX_ROWS_KEPT:
            self.rows, self.step = self.rows[::2], 2 * self.step


@dataclass
class Decisions(Result):
    """Labels against predictions, block by block.

    `costs[i, j]` is the cost of deciding class i when j is true, None for equal costs; `pairs`
    counts (truth, prediction).

    >>> quality = Decisions(["no", "yes"])
    >>> quality.add(np.array(["no", "yes", "no"]), np.array(["no", "yes", "yes"]))
    >>> round(quality.facts()["accuracy"], 3), quality.facts()["most_common"]
    (0.667, 'no')
    """

    classes: list[Any]
    costs: Any = None
    reject_cost: float | None = None
    pairs: Counter[tuple[Any, Any]] = field(default_factory=Counter)
    loss: float = 0.0
    rows_with_probability: int = 0
    # Score, 1 if positive, fold.
    scores: KeptRows = field(default_factory=lambda: KeptRows(np.empty((0, 3))), repr=False)

    def add(
        self, truth: Any, predicted: Any, log_p: Any = None, scores: Any = None, fold: int = 0
    ) -> None:
        """Count the next rows: log-probabilities (n, K), and scores (n,) of two classes, if any.

        Scores are compared within a `fold` only, as those of another model may mean something else.
        """
        labels, codes = truth.tolist(), {label: k for k, label in enumerate(self.classes)}
        self.pairs.update(zip(labels, predicted.tolist(), strict=True))
        code = np.array([codes.get(label, -1) for label in labels], dtype=np.int64)
        known = np.flatnonzero(code >= 0)
        if scores is not None and len(codes) == 2:
            v = np.asarray(scores, dtype=np.float64)
            ranked = known[~np.isnan(v[known])]
            self.scores.add(np.column_stack([v[ranked], code[ranked], 0 * ranked + fold]))
        if log_p is not None:
            self.loss -= float(np.sum(np.asarray(log_p, dtype=np.float64)[known, code[known]]))
            self.rows_with_probability += len(known)

    @property
    def n(self) -> int:
        """Rows so far."""
        return self.pairs.total()

    def facts(self) -> dict[str, Any]:
        """Numbers by stable names."""
        n, K = self.n, len(self.classes)
        labels = list(dict.fromkeys([*self.classes, *sorted((t for t, _ in self.pairs), key=str)]))
        answers = list(dict.fromkeys([*labels, *sorted((a for _, a in self.pairs), key=str)]))
        C = np.array([[self.pairs[t, a] for a in answers] for t in labels])
        rows, hits, common = C.sum(axis=1), C.diagonal(), int(np.argmax(C.sum(axis=1)))
        right, seen = int(hits.sum()), rows > 0
        return {
            "rows": n,
            "right": right,
            **_share("accuracy", right, n),
            "balanced_accuracy": float(np.mean(hits[seen] / rows[seen])),
            "most_common": labels[common],
            "most_common_share": int(rows[common]) / n,
            "rejected": sum(c for (_, a), c in self.pairs.items() if a not in self.classes),
            "log_loss": self.loss / with_p if (with_p := self.rows_with_probability) else None,
            "auc": self._auc(),
            **self._costs(C[:K]),
            "per_class": [
                {
                    "label": label,
                    "rows": int(rows[k]),
                    "answers": (predicted := int(C[:, k].sum())),
                    **_share("precision", int(hits[k]), predicted),
                    **_share("recall", int(hits[k]), int(rows[k])),
                    "f1": float(2 * hits[k] / both) if (both := rows[k] + predicted) else None,
                }
                for k, label in enumerate(labels)
            ],
            "labels": labels,
            "answers": answers,
            "confusion": C.tolist(),
        }

    def _auc(self) -> float | None:
        """The share of pairs of rows, one of each class, whose scores are in order."""
        ordered, pairs = 0.0, 0
        scores, is_positive, folds = self.scores.rows.T
        for fold in np.unique(folds):
            yes = is_positive[folds == fold] == 1
            p = int(yes.sum())
            # Mann and Whitney's U; rankdata also takes infinite scores, as roc_auc_score does not.
            ordered += float(rankdata(scores[folds == fold])[yes].sum()) - p * (p + 1) / 2
            pairs += p * (len(yes) - p)
        return ordered / pairs if pairs else None

    def _costs(self, C: NDArray[Any]) -> dict[str, Any]:
        """The mean cost of a decision, and that of the best constant answer; C (K, answers)."""
        if self.costs is None or not C.any():
            return {"mean_cost": None, "cost_of_constant": None, "constant": None}
        costs = np.asarray(self.costs, dtype=np.float64)
        price = np.full(C.shape, self.reject_cost or 0.0)
        price[:, : len(costs)] = costs.T
        always = costs @ C.sum(axis=1)
        return {
            "mean_cost": float(np.sum(C * price) / C.sum()),
            "cost_of_constant": float(always.min() / C.sum()),
            "constant": self.classes[int(np.argmin(always))],
        }

    def sentence(self, rows: str) -> str:
        """Accuracy of `rows`, as they are described, beside that of the best constant."""
        f = self.facts()
        interval = words.percent_range(f["accuracy_low"], f["accuracy_high"])
        return (
            f"Accuracy {percent(f['accuracy'])} ({rows}; 95% interval {interval}); always "
            f"predicting {name(f['most_common'])!r} scores {percent(f['most_common_share'])}."
        )

    def warnings(self) -> list[str]:
        """What these numbers give reason to doubt."""
        f, texts = self.facts(), []
        if f["mean_cost"] is not None:
            if f["mean_cost"] >= f["cost_of_constant"]:
                texts.append(
                    f"always predicting {name(f['constant'])!r} would cost no more than these "
                    "predictions; the columns may not be informative enough for such costs."
                )
        elif f["accuracy_low"] <= f["most_common_share"]:
            texts.append(
                "the predictions are not clearly better than always predicting "
                f"{name(f['most_common'])!r}; the columns may not be informative."
            )
        counts = {label: sum(row) for label, row in zip(f["labels"], f["confusion"], strict=True)}
        if unseen := [label for label in self.classes if not counts[label]]:
            listing = listed(unseen, quoted=True)
            texts.append(f"no row has the label {listing}: the quality is unknown there.")
        if new := f["labels"][len(self.classes) :]:
            have = plural(sum(counts[label] for label in new), "row", "have")
            text = f"{have} a label that the model never saw, such as {name(new[0])!r}; they count"
            texts.append(f"{text} as wrong. Train on rows of every class.")
        return texts


def _share(what: str, part: int, total: int) -> dict[str, float | None]:
    """A share with its interval; None where there is nothing to divide by."""
    if not total:
        return {what: None, f"{what}_low": None, f"{what}_high": None}
    low, high = wilson(part / total, total)
    return {what: part / total, f"{what}_low": float(low), f"{what}_high": float(high)}


@dataclass
class Errors(Result):
    """Numbers against predictions, block by block, of one target or of k side by side."""

    n: int = 0
    mean: Any = 0.0  # of the targets, (k,)
    spread: Any = 0.0  # sums of squares about the mean, (k,)
    squares: Any = 0.0  # sums of squared errors, (k,)
    absolute: float = 0.0
    worst: float = 0.0
    # Truth and error; of one target.
    rows: KeptRows = field(default_factory=lambda: KeptRows(np.empty((0, 2))), repr=False)

    def add(self, truth: NDArray[Any], predicted: NDArray[Any], *_: Any, fold: int = 0) -> None:
        """Add the next rows; sums beyond float64 are infinite."""
        if (m := len(truth)) == 0:
            return
        y = truth.astype(np.float64).reshape(m, -1)
        e = y - np.asarray(predicted, dtype=np.float64).reshape(y.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            # Chan, Golub and LeVeque: merge sums of squares about two means.
            middle, n = y[0] + np.mean(y - y[0], axis=0), self.n + m
            step = middle - self.mean
            self.spread += np.sum((y - middle) ** 2, axis=0) + step * step * (self.n * m / n)
            self.mean += step * (m / n)
            self.squares += np.sum(e * e, axis=0)
            self.absolute += float(np.abs(e).sum())
        self.n, self.worst = n, max(self.worst, float(np.abs(e).max()))
        if y.shape[1] == 1:
            self.rows.add(np.column_stack([y, e]))

    def facts(self) -> dict[str, Any]:
        """Numbers by stable names; of several targets, means over them."""
        spread, squares = np.atleast_1d(self.spread), np.atleast_1d(self.squares)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            mse, variance = float(np.mean(squares)) / self.n, float(np.mean(spread)) / self.n
            r2 = float(np.mean(1.0 - squares / spread))  # NaN or infinite if a spread is 0 or inf
            truth, error = self.rows.rows.T
            ends = ratio_interval(error**2, (truth - np.ravel(self.mean)[0]) ** 2)
        return {
            "rows": self.n,
            "targets": len(spread),
            "r2": r2 if math.isfinite(r2) else None,
            "r2_low": None if ends is None else 1.0 - ends[1],
            "r2_high": None if ends is None else 1.0 - ends[0],
            "rmse": math.sqrt(mse),
            "mae": self.absolute / (self.n * len(spread)),
            "worst": self.worst,
            "rmse_of_mean": math.sqrt(variance),
        }

    def sentence(self, rows: str) -> str:
        """R² and RMSE of `rows`, as they are described, beside those of the mean."""
        f = self.facts()
        rmse = f"root mean squared error {number(f['rmse'], 3)}"
        if f["r2"] is None:
            equal = "; all targets are equal" * (f["rmse_of_mean"] == 0)
            return f"{words.capitalised(rmse)} ({rows}){equal}."
        share = f"{percent(f['r2'])} of" if f["r2"] > 0 else "nothing of"
        mean = f"always predicting the mean scores {number(f['rmse_of_mean'], 3)}"
        return f"Explains {share} the variance ({rows}); {rmse}, {mean}."

    def warnings(self) -> list[str]:
        """What these numbers give reason to doubt, with advice."""
        text = (
            "the predictions are worse than the mean of these rows; the rows may come from another "
            "source than those of the fit, or the columns are not informative."
        )
        r2 = self.facts()["r2"]
        return [] if r2 is None or r2 > 0 else [text]


Quality = Decisions | Errors


def quality_for(model: BaseEstimator) -> Quality:
    """Empty sums for this kind of model."""
    if not hasattr(model, "classes_"):
        return Errors()
    costs, reject_cost = getattr(model, "costs", None), getattr(model, "reject_cost", None)
    if costs is None and reject_cost is not None:
        costs = 1.0 - np.eye(len(model.classes_))
    return Decisions(model.classes_.tolist(), costs, reject_cost)


@dataclass(frozen=True, eq=False)
class Thresholds(Result):
    """Two classes at every threshold: a row is positive if its probability exceeds it.

    `positive` and `others` are the probabilities of the rows of both classes, sorted, and `label`
    is the positive class.

    >>> found = thresholds(np.array([True, False, True]), np.array([0.9, 0.5, 0.25]), "ill")
    >>> found.at(np.array([0.3, 0.6]))  # hits and false alarms
    (array([1, 1]), array([1, 0]))
    """

    positive: Array
    others: Array
    label: Any

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.positive) + len(self.others)

    def at(self, threshold: Any) -> tuple[Any, Any]:
        """Hits and false alarms if the probability has to exceed a threshold, or each of many."""
        above = [np.searchsorted(p, threshold, side="right") for p in (self.positive, self.others)]
        return len(self.positive) - above[0], len(self.others) - above[1]

    def mean_cost(self, ratio: float, threshold: Any) -> Any:
        """Of a decision, if a miss costs `ratio` false alarms."""
        hits, alarms = self.at(threshold)
        return (ratio * (len(self.positive) - hits) + alarms) / self.rows

    def constant_cost(self, ratio: float) -> float:
        """The same of the better of two constant predictions."""
        return min(ratio * len(self.positive), len(self.others)) / self.rows


def miss_to_alarm_ratio(model: BaseEstimator) -> float:
    """How many false alarms a miss costs, by the costs of a model; 1 without."""
    costs = getattr(model, "costs", None)
    C: Array = np.asarray([[0, 1], [1, 0]] if costs is None else costs, dtype=np.float64)
    miss, alarm = C[0, 1] - C[1, 1], C[1, 0] - C[0, 0]  # C[i, j]: deciding i when j is true
    return float(miss / alarm) if alarm > 0 and miss > 0 else 1.0


def thresholds(yes: Any, p: Array, label: Any = True) -> Thresholds | None:
    """What each threshold makes of probabilities p of the class `label`; None for one class."""
    y = np.asarray(yes, dtype=bool)
    return Thresholds(np.sort(p[y]), np.sort(p[~y]), label) if y.any() and not y.all() else None
