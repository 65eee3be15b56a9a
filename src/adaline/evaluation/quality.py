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
from scipy.optimize import brentq

from adaline.evaluation.words import (
    capitalised,
    listed,
    name,
    number,
    percent,
    percent_range,
    plural,
)
from adaline.results import Array, Result

NORMAL_95 = 1.959963984540054  # quantile 0.975 of the standard normal distribution
MAX_ROWS_KEPT = 1_000_000  # of these each row is kept: for the AUC, and for intervals of errors
DOMINANT_ROW_SHARE = 0.9  # if one row has more of a sum of squares, an interval is meaningless
MIN_ROWS_TO_DOUBT = 10  # with fewer, every row has much of a sum, and no comparison is clear


def wilson(share: Any, n: Any) -> tuple[Any, Any]:
    """Wilson's 95% interval of a share of n trials; it stays between 0 and 1.

    >>> [round(float(end), 3) for end in wilson(0.5, 10)]
    [0.237, 0.763]
    """
    z2 = NORMAL_95 * NORMAL_95
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = NORMAL_95 * np.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    # For shares of 0 and 1 an end is the share itself, which rounding must not leave outside.
    return np.clip(middle - half, 0.0, share), np.clip(middle + half, share, 1.0)


def auc_interval(area: float, positive: int, negative: int) -> tuple[float, float]:
    """95% interval of an area under the ROC curve: Newcombe's fifth method.

    Hanley and McNeil's variance is taken at the ends of the interval instead of its middle, so
    that an area of 1 has an interval, too (Newcombe, Statistics in Medicine 25, 2006).
    """
    n = (positive + negative) / 2 - 1

    def excess(a: float) -> float:
        """|a - area| beyond what the deviation at a allows: the ends are its roots."""
        variance = a * (1 - a) * (1 + n * ((1 - a) / (2 - a) + a / (1 + a)))
        return abs(a - area) - NORMAL_95 * math.sqrt(max(variance / (positive * negative), 0.0))

    inside = min(max(area, 1e-9), 1 - 1e-9)  # at 0 and 1 itself the variance is zero
    low, high = brentq(excess, 0.0, inside, xtol=1e-15), brentq(excess, inside, 1.0, xtol=1e-15)
    return min(low, area), max(high, area)


def ratio_interval(above: Array, below: Array | None = None) -> tuple[float, float] | None:
    """95% interval of mean(above) / mean(below), by the deviation of the ratio's logarithm.

    `below` is 1 if not given. None if there are fewer than three rows, or a mean is zero.
    """
    n, below = len(above), np.ones(len(above)) if below is None else below
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        top, bottom = float(np.mean(above)), float(np.mean(below))
        if n < 3 or not (0 < top < math.inf and 0 < bottom < math.inf):
            return None
        moves = above / top - below / bottom
        half = NORMAL_95 * math.sqrt(float(np.sum(moves * moves)) / (n - 1) / n)
    if not half < 300:  # exp would leave the range of float64
        return None
    return top / bottom * math.exp(-half), top / bottom * math.exp(half)


@dataclass
class Decisions(Result):
    """Labels against predictions, block by block.

    `costs[i, j]` is the cost of deciding class i when j is true, None for equal costs; `pairs`
    counts (truth, prediction). Scores compare within one model only: `folds` has a list for each.

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
    folds: list[list[tuple[Any, Any]]] = field(default_factory=lambda: [[]], repr=False)
    step: int = 1  # every so many-th score is kept

    def add(
        self, truth: NDArray[Any], predicted: NDArray[Any], log_p: Any = None, scores: Any = None
    ) -> None:
        """Count the next rows: log-probabilities (n, K), and scores (n,) of two classes, if any."""
        labels, codes = truth.tolist(), {label: k for k, label in enumerate(self.classes)}
        self.pairs.update(zip(labels, predicted.tolist(), strict=True))
        code = np.array([codes.get(label, -1) for label in labels], dtype=np.int64)
        known = np.flatnonzero(code >= 0)
        if scores is not None and len(codes) == 2:
            v = np.asarray(scores, dtype=np.float64)
            ranked = known[~np.isnan(v[known])][:: self.step]
            self.folds[-1].append((v[ranked], code[ranked] == 1))
            while sum(len(v) for fold in self.folds for v, _ in fold) > MAX_ROWS_KEPT:
                self.folds = [[(v[::2], yes[::2]) for v, yes in fold] for fold in self.folds]
                self.step *= 2
        if log_p is not None:
            self.loss -= float(np.sum(np.asarray(log_p, dtype=np.float64)[known, code[known]]))
            self.rows_with_probability += len(known)

    def start_fold(self) -> None:
        """The next rows are predicted by another model: scores are not compared across."""
        self.folds.append([])

    @property
    def n(self) -> int:
        """Rows so far."""
        return self.pairs.total()

    def facts(self) -> dict[str, Any]:
        """Numbers by stable names."""
        n, K = self.n, len(self.classes)
        labels = _in_order(self.classes, {truth for truth, _ in self.pairs})
        answers = _in_order(labels, {answer for _, answer in self.pairs})
        C = np.array([[self.pairs[t, a] for a in answers] for t in labels])
        rows, hits, common = C.sum(axis=1), C.diagonal(), int(np.argmax(C.sum(axis=1)))
        seen, right, with_p = rows > 0, int(hits.sum()), self.rows_with_probability
        shares = rows[:K][seen[:K]] / max(with_p, 1)
        return {
            "rows": n,
            "right": right,
            **_share("accuracy", right, n),
            "balanced_accuracy": float(np.mean(hits[seen] / rows[seen])),
            "most_common": labels[common],
            "most_common_share": int(rows[common]) / n,
            "rejected": sum(c for (_, a), c in self.pairs.items() if a not in self.classes),
            "log_loss": self.loss / with_p if with_p else None,
            "log_loss_of_shares": float(-np.sum(shares * np.log(shares))) if with_p else None,
            **self._auc(),
            **self._costs(C[:K]),
            "per_class": [
                {
                    "label": label,
                    "rows": int(rows[k]),
                    "answers": (said := int(C[:, k].sum())),
                    **_share("precision", int(hits[k]), said),
                    **_share("recall", int(hits[k]), int(rows[k])),
                    "f1": float(2 * hits[k] / (rows[k] + said)) if rows[k] + said else None,
                }
                for k, label in enumerate(labels)
            ],
            "labels": labels,
            "answers": answers,
            "confusion": C.tolist(),
        }

    def _auc(self) -> dict[str, float | None]:
        """The share of pairs of rows, one of each class, whose scores are in order."""
        ordered, pairs, positive, negative = 0.0, 0.0, 0, 0
        for fold in filter(None, self.folds):
            scores, yes = (np.concatenate(parts) for parts in zip(*fold, strict=True))
            p, m = int(yes.sum()), int((~yes).sum())
            # Mann and Whitney: negative rows below each positive one, and half of its equals.
            values, code = np.unique(scores, return_inverse=True)
            equals = np.bincount(code[~yes], minlength=len(values))
            ordered += float(np.sum((np.cumsum(equals) - equals / 2)[code[yes]]))
            pairs, positive, negative = pairs + p * m, positive + p, negative + m
        if not pairs:
            return dict.fromkeys(("auc", "auc_low", "auc_high"))
        low, high = auc_interval(ordered / pairs, positive, negative)
        return {"auc": ordered / pairs, "auc_low": low, "auc_high": high}

    def _costs(self, C: NDArray[Any]) -> dict[str, Any]:
        """The mean cost of a decision, and that of the best constant answer; C (K, answers)."""
        if self.costs is None:
            return {"mean_cost": None, "cost_of_constant": None, "constant": None}
        costs = np.asarray(self.costs, dtype=np.float64)
        price = np.full(C.shape, np.nan if self.reject_cost is None else self.reject_cost)
        price[:, : len(costs)] = costs.T
        known, rows, always = ~np.isnan(price), int(C.sum()), costs @ C.sum(axis=1)
        counted, best = int(C[known].sum()), int(np.argmin(always))
        return {
            "mean_cost": float(np.sum(C[known] * price[known])) / counted if counted else None,
            "cost_of_constant": float(always[best]) / rows if rows else None,
            "constant": self.classes[best],
        }

    def sentence(self, words: str) -> str:
        """Accuracy of rows that are described by `words`, beside that of the best constant."""
        f = self.facts()
        interval = percent_range(f["accuracy_low"], f["accuracy_high"])
        return (
            f"Accuracy {percent(f['accuracy'])} ({words}; 95% interval {interval}); always "
            f"predicting {name(f['most_common'])!r} scores {percent(f['most_common_share'])}."
        )

    def warnings(self, separable: bool = False) -> list[str]:
        """What these numbers give reason to doubt; whether the training rows are separable."""
        f, texts = self.facts(), []
        if f["mean_cost"] is not None:
            if f["mean_cost"] >= f["cost_of_constant"]:
                texts.append(
                    f"always predicting {name(f['constant'])!r} would cost no more than these "
                    "predictions; the columns may not be informative enough for such costs."
                )
        elif f["accuracy_low"] <= f["most_common_share"] and self.n >= MIN_ROWS_TO_DOUBT:
            why = "; the columns may not be informative, or not in a way a linear boundary can use."
            if separable:
                why = ", although the training rows are separable: try another learner."
            constant = name(f["most_common"])
            texts.append(
                f"the predictions are not clearly better than always predicting {constant!r}{why}"
            )
        counts = dict(zip(f["labels"], (sum(row) for row in f["confusion"]), strict=True))
        if unseen := [label for label in self.classes if not counts[label]]:
            listing = listed(unseen, quoted=True)
            texts.append(f"no row has the label {listing}: the quality is unknown there.")
        if new := f["labels"][len(self.classes) :]:
            have = plural(sum(counts[label] for label in new), "row", "have")
            texts.append(
                f"{have} a label that the model never saw, such as {name(new[0])!r}; they count as "
                "wrong. Train on rows of every class."
            )
        return texts


def _in_order(first: list[Any], others: set[Any]) -> list[Any]:
    return [*first, *sorted((label for label in others if label not in first), key=str)]


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
    kept: list[Any] | None = field(default_factory=list, repr=False)  # blocks of (truth, error)

    def add(
        self, truth: NDArray[Any], predicted: NDArray[Any], log_p: Any = None, scores: Any = None
    ) -> None:
        """Add the next rows; sums beyond float64 are infinite."""
        if (m := len(truth)) == 0:
            return
        y = truth.astype(np.float64).reshape(m, -1)
        e = y - np.asarray(predicted, dtype=np.float64).reshape(y.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            # Chan, Golub and LeVeque: merge sums of squares about two means.
            middle, n = y[0] + np.mean(y - y[0], axis=0), self.n + m
            step = middle - self.mean
            within = self.spread + np.sum((y - middle) ** 2, axis=0)
            self.spread = within + step * step * (self.n * m / n)
            self.mean = self.mean + step * (m / n)
            self.squares = self.squares + np.sum(e * e, axis=0)
            self.absolute = float(self.absolute + np.abs(e).sum())
        self.n, self.worst = n, max(self.worst, float(np.abs(e).max()))
        if self.kept is not None:
            few = y.shape[1] == 1 and n <= MAX_ROWS_KEPT
            self.kept = [*self.kept, np.column_stack([y, e])] if few else None

    def start_fold(self) -> None:
        """The next rows are predicted by another model; errors add up all the same."""

    def facts(self) -> dict[str, Any]:
        """Numbers by stable names; of several targets, means over them. Intervals of kept rows."""
        spread, squares = np.atleast_1d(self.spread), np.atleast_1d(self.squares)
        finite = np.isfinite(spread).all() and np.isfinite(squares).all()
        has_r2 = bool(finite and (spread > 0).all())
        with np.errstate(over="ignore"):
            mse, variance = float(np.mean(squares)) / self.n, float(np.mean(spread)) / self.n
        r2_ends, rmse_ends = None, None
        if self.kept and has_r2 and self._largest_share() <= DOMINANT_ROW_SHARE:
            errors, distances = self._squares_of_rows()
            rmse_ends, r2_ends = ratio_interval(errors), ratio_interval(errors, distances)
        return {
            "rows": self.n,
            "targets": len(spread),
            "r2": float(np.mean(1.0 - squares / spread)) if has_r2 else None,
            "r2_low": None if r2_ends is None else 1.0 - r2_ends[1],
            "r2_high": None if r2_ends is None else 1.0 - r2_ends[0],
            "rmse_low": None if rmse_ends is None else math.sqrt(rmse_ends[0]),
            "rmse_high": None if rmse_ends is None else math.sqrt(rmse_ends[1]),
            "rmse": math.sqrt(mse),
            "mae": self.absolute / (self.n * len(spread)),
            "worst": self.worst,
            "rmse_of_mean": math.sqrt(variance),
        }

    def _squares_of_rows(self) -> tuple[Array, Array]:
        """Squared errors, and squared distances from the mean, of the rows that are kept."""
        rows = np.concatenate(self.kept or [])
        with np.errstate(over="ignore", invalid="ignore"):
            return rows[:, 1] ** 2, (rows[:, 0] - self.mean) ** 2

    def _largest_share(self) -> float:
        """The share of one row in a sum of squares, if there are enough rows to look at it."""
        if not self.kept or self.n < MIN_ROWS_TO_DOUBT:
            return 0.0
        sums = [v for v in self._squares_of_rows() if 0 < v.sum() < math.inf]
        return max((float(v.max() / v.sum()) for v in sums), default=0.0)

    def sentence(self, words: str) -> str:
        """R² and RMSE of rows that are described by `words`, beside those of the mean."""
        f = self.facts()
        rmse = f"root mean squared error {number(f['rmse'], 3)}"
        if f["r2"] is None:
            equal = "; all targets are equal" if f["rmse_of_mean"] == 0 else ""
            return f"{capitalised(rmse)} ({words}){equal}."
        share = f"{percent(f['r2'])} of" if f["r2"] > 0 else "nothing of"
        mean = f"always predicting the mean scores {number(f['rmse_of_mean'], 3)}"
        return f"Explains {share} the variance ({words}); {rmse}, {mean}."

    def warnings(self, separable: bool = False) -> list[str]:
        """What these numbers give reason to doubt, with advice."""
        r2 = self.facts()["r2"]
        if r2 is not None and self._largest_share() > DOMINANT_ROW_SHARE:
            return [
                f"one row has {percent(self._largest_share())} of a sum of squares, so that R² is "
                "about that row, and has no interval. Check whether it is right, or a total."
            ]
        if r2 is not None and r2 <= 0:
            return [
                "the predictions are worse than the mean of these rows; the rows may come from "
                "another source than those of the fit, or the columns are not informative."
            ]
        return []


Quality = Decisions | Errors


def quality_for(model: Any) -> Quality:
    """Empty sums for this kind of model."""
    if not hasattr(model, "classes_"):
        return Errors()
    costs, reject_cost = getattr(model, "costs", None), getattr(model, "reject_cost", None)
    if costs is None and reject_cost is not None:
        costs = 1.0 - np.eye(len(model.classes_))
    return Decisions(model.classes_.tolist(), costs, reject_cost)
