"""Quality of a classifier: scikit-learn's displays with a claim, and the choice of a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn import calibration, metrics
from sklearn.base import BaseEstimator

from adaline.evaluation.probabilities import Thresholds, miss_to_alarm_ratio, thresholds
from adaline.evaluation.probabilities import calibration as judge_calibration
from adaline.evaluation.quality import wilson
from adaline.evaluation.trial import answers
from adaline.evaluation.words import name, number, percent
from adaline.plot import draw, inputs
from adaline.plot.display import Display
from adaline.plot.draw import Array

MOST_COUNTS = 12  # classes up to which every cell has its number: more would overlap


class ConfusionMatrixDisplay(Display, metrics.ConfusionMatrixDisplay):
    """How often each class is predicted as each: scikit-learn's display with a claim.

    Attributes
    ----------
    confusion_matrix : ndarray of int, shape (K, K)
        Rows of true class i that were predicted as j; "reject" is the last class, if there is any.
    display_labels : list of str
    model : str

    Examples
    --------
    >>> from adaline import Perceptron
    >>> from adaline.plot import ConfusionMatrixDisplay
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> picture = ConfusionMatrixDisplay.from_estimator(Perceptron().fit(X, y), X, [0, 1, 1, 1])
    >>> picture.confusion_matrix
    array([[1, 0],
           [1, 2]])
    """

    reserved = 11

    def __init__(self, confusion_matrix: Any, display_labels: Any, model: str = "The classifier"):
        super().__init__(confusion_matrix, display_labels=display_labels)
        self.model = model
        K = len(confusion_matrix)
        self.size = (min(3.7 + 0.22 * K, 7.5), min(2.8 + 0.24 * K, 6.5))

    @classmethod
    def from_estimator(cls, model: BaseEstimator, X: Any, y: Any) -> Self:
        """Predict these rows, and count."""
        R, _ = inputs.check_classifier(model, X, y)
        predicted = inputs.call(model, "predict", R)
        return cls.from_predictions(y, predicted, classes=model.classes_, name=type(model).__name__)

    @classmethod
    def from_predictions(
        cls, y: Any, predicted: Any, *, classes: Any = None, name: str = "The classifier"
    ) -> Self:
        """Count labels and predictions that are known already; what is no class is "reject"."""
        known = np.unique(np.concatenate([y, predicted])) if classes is None else classes
        codes, decided = inputs.encode(y, known, len(y)), inputs.places(predicted, known)
        labels = [str(one) for one in inputs.as_list(known)] + ["reject"]
        labels = labels[: len(known) + bool((decided == len(known)).any())]
        counts = metrics.confusion_matrix(codes, decided, labels=range(len(labels)))
        return cls(counts, labels, name)

    @property
    def claim(self) -> str:
        wrong = self.confusion_matrix.copy()
        right, total = int(np.trace(wrong)), int(wrong.sum())
        words = f"{self.model}: {right} of {total} rows are predicted correctly"
        np.fill_diagonal(wrong, 0)
        if wrong.any():
            i, j = np.unravel_index(int(wrong.argmax()), wrong.shape)
            a, b = (draw.shorten(self.display_labels[int(k)], 16) for k in (i, j))
            words += f"; the most frequent error is {b} for {a} ({wrong[i, j]})"
        return words

    def _draw(self, ax: draw.Axes) -> None:
        names = [draw.label(one, 14) for one in self.display_labels]
        few = len(names) <= MOST_COUNTS
        metrics.ConfusionMatrixDisplay.plot(
            self, ax=ax, include_values=few, cmap="Blues", colorbar=False
        )
        turned = len(names) > 3 or max(map(len, names)) > 8
        every = slice(None, None, -(-len(names) // 25))  # at most 25 names fit
        at = np.arange(len(names))[every]
        ax.set_xticks(at, names[every], rotation=90 if not few else 30 if turned else 0)
        ax.set_yticks(at, names[every])
        ax.set(xlabel="predicted", ylabel="true", aspect="auto")


class RocCurveDisplay(Display, metrics.RocCurveDisplay):
    """True against false positives over all thresholds: scikit-learn's display with a claim.

    Attributes
    ----------
    fpr, tpr : ndarray of shape (m,)
        Shares of the negative and of the positive rows at or above each threshold.
    roc_auc : float
        How often a positive row has the larger score than a negative one.
    name, pos_label : str

    Examples
    --------
    >>> from adaline.plot import RocCurveDisplay
    >>> RocCurveDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).roc_auc
    0.75
    """

    size = (4.4, 3.8)
    from_cv_results = None  # the claim is about one curve

    @classmethod
    def from_estimator(cls, model: BaseEstimator, X: Any, y: Any) -> Self:
        """The curve of a classifier of two classes; `classes_[1]` is positive."""
        method = "decision_function" if hasattr(model, "decision_function") else "predict_proba"
        R, codes = inputs.check_classifier(model, X, y, method, binary=True)
        scores = np.asarray(inputs.call(model, method, R))
        scores = scores if scores.ndim == 1 else scores[:, 1]
        positive, model_name = model.classes_.tolist()[1], type(model).__name__
        return cls.from_predictions(codes, scores, positive=1, name=model_name)._named(positive)

    @classmethod
    def from_predictions(
        cls, y: Any, scores: Any, *, positive: Any = None, name: str = "The score"
    ) -> Self:
        """The curve of known scores; `positive` is by default the larger label."""
        known = np.unique(np.asarray(y))
        if len(known) != 2:
            raise ValueError(
                f"y has {len(known)} classes; a ROC curve is of two, not of one class."
            )
        positive = known[1] if positive is None else positive
        v = inputs.check_vector(scores, "scores")
        inputs.check_length(len(v), y, "y")
        fpr, tpr, _ = metrics.roc_curve(np.asarray(y) == positive, v)
        area = float(metrics.auc(fpr, tpr))
        return cls(fpr=fpr, tpr=tpr, roc_auc=area, name=name, pos_label=str(positive))

    def _named(self, positive: Any) -> Self:
        self.pos_label = str(positive)
        return self

    @property
    def claim(self) -> str:
        share = percent(self.roc_auc)
        positive = draw.shorten(self.pos_label, 16)
        return (
            f"{self.name}: a row of {positive} scores above one of the other class {share} of the "
            f"time (AUC {self.roc_auc:.3f})"
        )

    def _draw(self, ax: draw.Axes) -> None:
        look = {"color": draw.colour(0), "label": f"area {self.roc_auc:.3f}"}
        metrics.RocCurveDisplay.plot(self, ax=ax, curve_kwargs=look)
        ax.plot([0, 1], [0, 1], ":", color="k", linewidth=0.9, label="guessing")
        ax.set(xlabel="false positive rate", aspect="auto")
        ax.set_ylabel(f"true positive rate ({draw.label(self.pos_label, 16)})")
        draw.legend(ax, loc="lower right")


class CalibrationDisplay(Display, calibration.CalibrationDisplay):
    """Whether what has probability p happens p of the time: scikit-learn's display with a claim.

    Attributes
    ----------
    prob_pred, prob_true : ndarray of shape (m,)
        Mean probability of the rows of each bin, and the share of them that are positive.
    low, high : ndarray of shape (m,)
        Wilson's 95 % interval of that share.
    y_prob : ndarray of shape (n,)
    brier : float
        Mean squared difference of probability and what happened.
    estimator_name, pos_label : str
    verdict : str
        Whether the probabilities are right on average and neither too bold nor too timid.

    Examples
    --------
    >>> from adaline.plot import CalibrationDisplay
    >>> CalibrationDisplay.from_predictions([0, 0, 1, 1], [0.25, 0.25, 0.75, 0.75], n_bins=2).brier
    0.0625
    """

    size = (4.4, 3.8)

    def __init__(
        self,
        y: Any,
        p: Array,
        n_bins: int = 10,
        *,
        name: str = "The probability",
        positive: str = "1",
    ) -> None:
        happened = np.asarray(y, dtype=bool)
        share, mean = calibration.calibration_curve(happened, p, n_bins=n_bins, strategy="quantile")
        super().__init__(share, mean, p, estimator_name=name, pos_label=positive)
        counts = np.bincount(np.searchsorted(np.quantile(p, np.arange(1, n_bins) / n_bins), p))
        self.low, self.high = wilson(share, counts[counts > 0])
        self.brier = float(np.mean((p - happened) ** 2))
        self.verdict = judge_calibration(happened, log_odds(p)).sentence

    @classmethod
    def from_estimator(cls, model: BaseEstimator, X: Any, y: Any, *, n_bins: int = 10) -> Self:
        """Probabilities of `classes_[1]`, two classes, in bins of about equally many rows."""
        R, codes = inputs.check_classifier(model, X, y, "predict_proba", binary=True)
        p = np.asarray(inputs.call(model, "predict_proba", R), dtype=np.float64)[:, 1]
        positive, name = str(model.classes_.tolist()[1]), type(model).__name__
        return cls(
            codes == 1, p, inputs.check_count(n_bins, "n_bins"), name=name, positive=positive
        )

    @classmethod
    def from_predictions(
        cls, y: Any, p: Any, *, positive: Any = 1, n_bins: int = 10, name: str = "The probability"
    ) -> Self:
        """Known probabilities of the label `positive`."""
        p, n_bins = check_probabilities(p, y), inputs.check_count(n_bins, "n_bins")
        return cls(np.asarray(y) == positive, p, n_bins, name=name, positive=str(positive))

    @property
    def claim(self) -> str:
        inside = int(np.sum((self.low <= self.prob_pred) & (self.prob_pred <= self.high)))
        return (
            f"{self.estimator_name}: in {inside} of {len(self.prob_pred)} bins the probability is "
            f"within the 95 % interval of what happened (Brier score {number(self.brier, 3)}). "
            f"{self.verdict.rstrip('.')}"
        )

    def _draw(self, ax: draw.Axes) -> None:
        look = {"color": draw.colour(0), "marker": "o", "markersize": 5, "linewidth": 1.0}
        calibration.CalibrationDisplay.plot(self, ax=ax, name="95 % intervals", **look)
        reach = np.maximum([self.prob_true - self.low, self.high - self.prob_true], 0.0)
        ax.errorbar(
            self.prob_pred, self.prob_true, reach, fmt="none", color=draw.colour(0), capsize=2
        )
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="mean predicted probability")
        ax.set_ylabel(f"share of {draw.label(self.pos_label, 16)}")
        draw.legend(ax, loc="upper left")


@dataclass(eq=False, repr=False)
class ThresholdDisplay(Display):
    """Recall, precision and mean cost over the probability from which on a class is predicted.

    Attributes
    ----------
    counts : Thresholds
        True and false positives at every threshold.
    ratio : float
        How many false positives a false negative costs.

    Examples
    --------
    >>> from adaline.plot import ThresholdDisplay
    >>> picture = ThresholdDisplay.from_predictions(["a", "b", "b"], [0.2, 0.4, 0.9], positive="b")
    >>> picture.counts.at(0.3), picture.threshold
    ((2, 0), 0.5)
    """

    counts: Thresholds
    ratio: float = 1.0
    size = (4.6, 3.8)

    @classmethod
    def from_estimator(
        cls, model: BaseEstimator, X: Any, y: Any, *, ratio: float | None = None
    ) -> Self:
        """A classifier of two classes with probabilities; `classes_[1]` is the class predicted.

        By default `ratio` is that of the costs of the model, or 1.
        """
        R, codes = inputs.check_classifier(model, X, y, "predict_proba", binary=True)
        counts = thresholds(codes == 1, answers(model, R).scores, model.classes_.tolist()[1])
        return cls._of(counts, miss_to_alarm_ratio(model) if ratio is None else ratio)

    @classmethod
    def from_predictions(cls, y: Any, p: Any, *, positive: Any = 1, ratio: float = 1.0) -> Self:
        """Known probabilities of the label `positive`."""
        odds = log_odds(check_probabilities(p, y))
        return cls._of(thresholds(np.asarray(y) == positive, odds, positive), ratio)

    @classmethod
    def _of(cls, counts: Thresholds | None, ratio: float) -> Self:
        if counts is None:
            raise ValueError("the rows are of one class; a threshold needs both.")
        if not ratio > 0 or not np.isfinite(ratio):
            raise ValueError(f"ratio is {ratio!r}; expected how many false alarms a miss costs.")
        return cls(counts, float(ratio))

    @property
    def threshold(self) -> float:
        """Where both errors are expected to cost the same: 1 / (1 + ratio)."""
        return 1.0 / (1.0 + self.ratio)

    @property
    def claim(self) -> str:
        c, positive = self.counts, repr(name(self.counts.label))
        hits, alarms = c.at(self.threshold)
        precision = "–" if hits + alarms == 0 else percent(hits / (hits + alarms))
        return (
            f"Predicting {positive} from {percent(self.threshold)} on: recall "
            f"{percent(hits / c.positive)}, precision {precision}, mean cost "
            f"{number(c.mean_cost(self.ratio), 3)}; without a model "
            f"{number(c.constant_cost(self.ratio), 3)}"
        )

    def _draw(self, ax: draw.Axes) -> None:
        c, at = self.counts, np.append(self.counts.thresholds, 1.0)
        costs = (self.ratio * (c.positive - c.hits) + c.alarms) / (c.positive + c.others)
        costs = costs / self.counts.constant_cost(self.ratio)
        curves = {"recall": c.recall, "precision": c.precision, "cost against no model": costs}
        for k, (words, values) in enumerate(curves.items()):
            steps = np.append(values, values[-1])
            ax.step(
                at, steps, where="post", label=words, color=draw.colour(k), linestyle=draw.line(k)
            )
        draw.reference(ax, self.threshold, "threshold", along="v")
        top = min(2.0, 1.05 * max(1.0, float(np.nanmax(costs))))
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.02, top))
        ax.set_xlabel(f"probability of {draw.label(c.label, 16)}, at least")
        ax.set_ylabel("share, or cost")
        draw.legend(ax)


def check_probabilities(p: Any, y: Any) -> Array:
    """A vector of probabilities, one for each label."""
    v: Array = inputs.check_vector(p, "probabilities")
    inputs.check_length(len(v), y, "y")
    if v.min() < 0 or v.max() > 1:
        raise ValueError(
            f"probabilities lie between 0 and 1; these reach {v.min():g} and {v.max():g}."
        )
    return v


def log_odds(p: Array) -> Array:
    """log(p / (1 - p))."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(p) - np.log1p(-p))
