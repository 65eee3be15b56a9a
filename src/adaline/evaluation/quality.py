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

from adaline.evaluation.words import listed, name, number, percent, percent_range, plural
from adaline.results import Result

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

    >>> [round(end, 3) for end in auc_interval(1.0, 20, 20)]
    [0.899, 1.0]
    """
    n = (positive + negative) / 2 - 1

    def excess(a: float) -> float:
        """|a - area| beyond what the deviation at a allows: the ends are its roots."""
        variance = a * (1 - a) * (1 + n * ((1 - a) / (2 - a) + a / (1 + a)))
        return abs(a - area) - NORMAL_95 * math.sqrt(max(variance / (positive * negative), 0.0))

    inside = min(max(area, 1e-9), 1 - 1e-9)  # at 0 and 1 itself the variance is zero
    low, high = brentq(excess, 0.0, inside, xtol=1e-15), brentq(excess, inside, 1.0, xtol=1e-15)
    return min(low, area), max(high, area)


def ratio_interval(
    above: NDArray[Any], below: NDArray[Any] | None = None
) -> tuple[float, float] | None:
    """95% interval of mean(above) / mean(below), by the deviation of the ratio's logarithm.

    `below` is 1 if not given. None if there are fewer than three rows, or a mean is zero.

    >>> low, high = ratio_interval(np.array([1.0, 2.0, 3.0, 2.0]))
    >>> round(low, 2), round(high, 2)
    (1.34, 2.98)
    """
    n = len(above)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        top = float(np.mean(above))
        bottom = 1.0 if below is None else float(np.mean(below))
        if n < 3 or not (0 < top < math.inf and 0 < bottom < math.inf):
            return None
        moves = above / top - (1.0 if below is None else below / bottom)
        half = NORMAL_95 * math.sqrt(float(np.sum(moves * moves)) / (n - 1) / n)
    if not half < 300:  # exp would leave the range of float64
        return None
    return top / bottom * math.exp(-half), top / bottom * math.exp(half)


@dataclass
class Decisions(Result):
    """Labels against predictions, block by block.

    `costs[i, j]` is the cost of deciding class i when j is true, None for equal costs; `pairs`
    counts (truth, prediction). Scores compare within one model only: `folds` has a list for each.

    Examples
    --------
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
        labels = truth.tolist()
        self.pairs.update(zip(labels, predicted.tolist(), strict=True))
        codes = {label: k for k, label in enumerate(self.classes)}
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
        labels = _in_order(self.classes, {truth for truth, _ in self.pairs})
        answers = _in_order(labels, {answer for _, answer in self.pairs})
        C = np.array([[self.pairs[t, a] for a in answers] for t in labels])
        n, rows, answered, hits = self.n, C.sum(axis=1), C.sum(axis=0), C.diagonal()
        right, K = int(hits.sum()), len(self.classes)
        low, high = wilson(right / n, n)
        common = int(np.argmax(rows))  # the first one, if several are as common
        seen = rows > 0
        shares = rows[:K][seen[:K]] / max(self.rows_with_probability, 1)
        has_loss = self.rows_with_probability > 0
        return {
            "rows": n,
            "right": right,
            "accuracy": right / n,
            "accuracy_low": float(low),
            "accuracy_high": float(high),
            "balanced_accuracy": float(np.mean(hits[seen] / rows[seen])),
            "most_common": labels[common],
            "most_common_share": int(rows[common]) / n,
            "rejected": sum(c for (_, a), c in self.pairs.items() if a not in self.classes),
            "log_loss": self.loss / self.rows_with_probability if has_loss else None,
            "log_loss_of_shares": float(-np.sum(shares * np.log(shares))) if has_loss else None,
            **self._auc(),
            **self._costs(C[:K]),
            "per_class": [
                {
                    "label": label,
                    "rows": int(rows[k]),
                    "answers": int(answered[k]),
                    **_share("precision", int(hits[k]), int(answered[k])),
                    **_share("recall", int(hits[k]), int(rows[k])),
                    "f1": float(2 * hits[k] / total) if (total := rows[k] + answered[k]) else None,
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
        for fold in self.folds:
            if not fold:
                continue
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
        K, costs = len(self.classes), np.asarray(self.costs, dtype=np.float64)
        price = np.full(C.shape, np.nan if self.reject_cost is None else self.reject_cost)
        price[:, :K] = costs.T
        known = ~np.isnan(price)
        counted, always = int(C[known].sum()), costs @ C.sum(axis=1)
        best, rows = int(np.argmin(always)), int(C.sum())
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
        """What these numbers give reason to doubt; `separable` training rows are a riddle then."""
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
            texts.append(
                "the predictions are not clearly better than always predicting "
                f"{name(f['most_common'])!r}{why}"
            )
        known, truths = set(self.classes), {truth for truth, _ in self.pairs}
        if unseen := [label for label in self.classes if label not in truths]:
            texts.append(
                f"no row has the label {listed(unseen, quoted=True)}: the quality is unknown there."
            )
        if new := [label for label in f["labels"] if label not in known]:
            count = sum(c for (truth, _), c in self.pairs.items() if truth not in known)
            texts.append(
                f"{plural(count, 'row', 'have')} a label that the model never saw, such as "
                f"{name(new[0])!r}; they count as wrong. Train on rows of every class."
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
        m = len(truth)
        if m == 0:
            return
        y = truth.astype(np.float64).reshape(m, -1)
        e = y - np.asarray(predicted, dtype=np.float64).reshape(y.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            # Chan, Golub and LeVeque: merge sums of squares about two means.
            middle = y[0] + np.mean(y - y[0], axis=0)
            step, n = middle - self.mean, self.n + m
            self.spread = self.spread + np.sum((y - middle) ** 2, axis=0)
            self.spread = self.spread + step * step * (self.n * m / n)
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
        """Numbers by stable names; of several targets, means over them."""
        spread, squares = np.atleast_1d(self.spread), np.atleast_1d(self.squares)
        finite = np.isfinite(spread).all() and np.isfinite(squares).all()
        has_r2 = bool(finite and (spread > 0).all())
        with np.errstate(over="ignore"):
            mse, variance = float(np.mean(squares)) / self.n, float(np.mean(spread)) / self.n
        return {
            "rows": self.n,
            "targets": len(spread),
            "r2": float(np.mean(1.0 - squares / spread)) if has_r2 else None,
            **self._intervals(has_r2),
            "rmse": math.sqrt(mse),
            "mae": self.absolute / (self.n * len(spread)),
            "worst": self.worst,
            "rmse_of_mean": math.sqrt(variance),
        }

    def _intervals(self, has_r2: bool) -> dict[str, float | None]:
        """95% intervals of R² and RMSE, if the rows are kept and none of them dominates."""
        ends: dict[str, float | None]
        ends = dict.fromkeys(("r2_low", "r2_high", "rmse_low", "rmse_high"))
        if not self.kept or not has_r2:
            return ends
        squares, spread = self._squares_of_rows()
        dominated = max(_largest_share(squares), _largest_share(spread)) > DOMINANT_ROW_SHARE
        if dominated and self.n >= MIN_ROWS_TO_DOUBT:
            return ends
        if (mse := ratio_interval(squares)) is not None:
            ends |= {"rmse_low": math.sqrt(mse[0]), "rmse_high": math.sqrt(mse[1])}
        if (unexplained := ratio_interval(squares, spread)) is not None:
            ends |= {"r2_low": 1.0 - unexplained[1], "r2_high": 1.0 - unexplained[0]}
        return ends

    def _squares_of_rows(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Squared errors, and squared distances from the mean, of the rows that are kept."""
        rows = np.concatenate(self.kept or [np.zeros((0, 2))])
        with np.errstate(over="ignore", invalid="ignore"):
            return rows[:, 1] ** 2, (rows[:, 0] - self.mean) ** 2

    def sentence(self, words: str) -> str:
        """R² and RMSE of rows that are described by `words`, beside those of the mean."""
        f = self.facts()
        rmse = f"root mean squared error {number(f['rmse'], 3)}"
        mean = f"always predicting the mean scores {number(f['rmse_of_mean'], 3)}"
        if f["r2"] is None:
            equal = "; all targets are equal" if f["rmse_of_mean"] == 0 else ""
            return f"{rmse[0].upper()}{rmse[1:]} ({words}){equal}."
        share = f"{percent(f['r2'])} of" if f["r2"] > 0 else "nothing of"
        return f"Explains {share} the variance ({words}); {rmse}, {mean}."

    def warnings(self, separable: bool = False) -> list[str]:
        """What these numbers give reason to doubt, with advice."""
        r2 = self.facts()["r2"]
        share = _largest_share(self._squares_of_rows()[1]) if self.kept and r2 is not None else 0.0
        if share > DOMINANT_ROW_SHARE and self.n >= MIN_ROWS_TO_DOUBT:
            return [
                f"one row has {percent(share)} of the variance, so that R² is about that row, and "
                "has no interval. Check whether it is right, or a total."
            ]
        if r2 is not None and r2 <= 0:
            return [
                "the predictions are worse than the mean of these rows; the rows may come from "
                "another source than those of the fit, or the columns are not informative."
            ]
        return []


def _largest_share(squares: NDArray[Any]) -> float:
    """The share of the largest term in a sum of squares."""
    total = float(squares.sum())
    return float(squares.max()) / total if 0 < total < math.inf else 0.0


Quality = Decisions | Errors


def quality_for(model: Any) -> Quality:
    """Empty sums for this kind of model."""
    if not hasattr(model, "classes_"):
        return Errors()
    costs, reject_cost = getattr(model, "costs", None), getattr(model, "reject_cost", None)
    if costs is None and reject_cost is not None:
        costs = 1.0 - np.eye(len(model.classes_))
    return Decisions(model.classes_.tolist(), costs, reject_cost)
