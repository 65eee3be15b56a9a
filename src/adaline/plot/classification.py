"""Quality of a classifier: scikit-learn's displays with a claim, and the choice of a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy.special import logit
from sklearn import calibration, metrics
from sklearn.base import BaseEstimator
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_consistent_length

from adaline.evaluation.diagnostics import calibration as check_calibration
from adaline.evaluation.quality import Thresholds, miss_to_alarm_ratio, thresholds, wilson
from adaline.evaluation.trial import answers, ask
from adaline.evaluation.words import name, number, percent, plain
from adaline.plot import draw
from adaline.plot.display import Display


class ConfusionMatrixDisplay(Display, metrics.ConfusionMatrixDisplay):
    """How often each class is predicted as each: scikit-learn's display with a claim.

    `confusion_matrix[i, j]` counts rows of true class i that were predicted as j; "reject" is the
    last of `display_labels`, if there is any.

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

    def __init__(self, confusion_matrix: Any, display_labels: Any, model: str = "The classifier"):
        super().__init__(confusion_matrix, display_labels=display_labels)
        self.model, K = model, len(confusion_matrix)
        self.size = (min(3.7 + 0.22 * K, 7.5), min(2.8 + 0.24 * K, 6.5))

    @classmethod
    def from_estimator(cls, model: BaseEstimator, X: Any, y: Any) -> Self:
        """Predict these rows, and count; what is no class is "reject"."""
        R, codes = draw.check_classifier(model, X, y)
        decided = draw.places(ask(model, "predict", R), model.classes_)
        labels = [
            *map(str, model.classes_),
            *["reject"] * bool(decided.max() == len(model.classes_)),
        ]
        C = metrics.confusion_matrix(codes, decided, labels=range(len(labels)))
        return cls(C, labels, type(model).__name__)

    from_predictions = None  # which labels are classes is known to the model

    @property
    def claim(self) -> str:
        wrong = self.confusion_matrix.copy()
        right, total = int(np.trace(wrong)), int(wrong.sum())
        words = f"{self.model}: {right} of {total} rows are predicted correctly"
        np.fill_diagonal(wrong, 0)
        if wrong.any():
            i, j = np.unravel_index(int(wrong.argmax()), wrong.shape)
            a, b = (plain(self.display_labels[int(k)], 16) for k in (i, j))
            words += f"; the most frequent error is {b} for {a} ({wrong[i, j]})"
        return words

    def _draw(self, ax: draw.Axes) -> None:
        names = [draw.label(one, 14) for one in self.display_labels]
        few = len(names) <= 12  # numbers of more cells would overlap
        show = metrics.ConfusionMatrixDisplay.plot
        show(self, ax=ax, include_values=few, cmap="Blues", colorbar=False)
        every = slice(None, None, -(-len(names) // 25))  # at most 25 names fit
        at, turned = np.arange(len(names))[every], len(names) > 3 or max(map(len, names)) > 8
        ax.set_xticks(at, names[every], rotation=90 if not few else 30 * turned)
        ax.set_yticks(at, names[every])
        draw.describe(ax, "predicted", "true", aspect="auto")


class BinaryDisplay(Display):
    """A display of two classes, of scores or probabilities of the second one."""

    model = "The model"
    _method = "predict_proba"

    @classmethod
    def from_estimator(cls, model: BaseEstimator, X: Any, y: Any, **options: Any) -> Self:
        """What a classifier of two classes predicts; `classes_[1]` is the positive one.

        `options` are those of `from_predictions`.
        """
        R, codes = draw.check_classifier(model, X, y, cls._method, binary=True)
        scored: Any = answers(model, R)
        values = np.exp(scored.log_p[:, 1]) if cls._method == "predict_proba" else scored.scores
        positive = model.classes_.tolist()[1]
        picture = cls.from_predictions(model.classes_[codes], values, positive=positive, **options)
        picture.model = type(model).__name__
        return picture

    @classmethod
    def from_predictions(cls, y: Any, values: Any, *, positive: Any) -> Self:
        raise NotImplementedError


class RocCurveDisplay(BinaryDisplay, metrics.RocCurveDisplay):
    """True against false positives over all thresholds: scikit-learn's display with a claim.

    `fpr` and `tpr` are the shares of the negative and of the positive rows at or above each
    threshold, `roc_auc` how often a positive row has the larger score than a negative one.

    Examples
    --------
    >>> from adaline.plot import RocCurveDisplay
    >>> RocCurveDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).roc_auc
    0.75
    """

    size = (4.4, 3.8)
    from_cv_results = None  # the claim is about one curve
    _method = "predict"

    @classmethod
    def from_predictions(cls, y: Any, scores: Any, *, positive: Any = None) -> Self:
        """The curve of known scores; `positive` is by default the larger label."""
        known = np.unique(y)
        if len(known) != 2:
            raise ValueError(f"y has {len(known)} classes; a ROC curve needs two, not one class.")
        positive = known[1] if positive is None else positive
        fpr, tpr, _ = metrics.roc_curve(np.asarray(y) == positive, scores)
        area = float(metrics.auc(fpr, tpr))
        return cls(fpr=fpr, tpr=tpr, roc_auc=area, pos_label=str(positive))

    @property
    def claim(self) -> str:
        return (
            f"{self.model}: a row of {plain(self.pos_label, 16)} scores above one of the "
            f"other class {percent(self.roc_auc)} of the time (AUC {self.roc_auc:.3f})"
        )

    def _draw(self, ax: draw.Axes) -> None:
        look = {"color": draw.colour(0), "label": f"area {self.roc_auc:.3f}"}
        metrics.RocCurveDisplay.plot(self, ax=ax, curve_kwargs=look)
        draw.reference(ax, None, "guessing")
        label = f"true positive rate ({plain(self.pos_label, 16)})"
        draw.describe(ax, "false positive rate", label, aspect="auto")


class CalibrationDisplay(BinaryDisplay, calibration.CalibrationDisplay):
    """Whether what has probability p happens p of the time: scikit-learn's display with a claim.

    `prob_pred` and `prob_true` are the mean probability of the rows of each bin and the share of
    them that are positive, `low` and `high` Wilson's 95% interval of that share, `brier` the mean
    squared difference of probability and what happened. `verdict` says whether the probabilities
    are right on average and neither too bold nor too timid.

    Examples
    --------
    >>> from adaline.plot import CalibrationDisplay
    >>> CalibrationDisplay.from_predictions([0, 0, 1, 1], [0.25, 0.25, 0.75, 0.75], n_bins=2).brier
    0.0625
    """

    size = (4.4, 3.8)

    @classmethod
    def from_predictions(cls, y: Any, p: Any, *, positive: Any = 1, n_bins: int = 10) -> Self:
        """Known probabilities of the label `positive`, in bins of about equally many rows."""
        p, happened = np.asarray(p, dtype=np.float64), np.asarray(y) == positive
        share, mean = calibration.calibration_curve(happened, p, n_bins=n_bins, strategy="quantile")
        picture = cls(share, mean, p, pos_label=str(positive))
        counts = np.bincount(np.searchsorted(np.quantile(p, np.arange(1, n_bins) / n_bins), p))
        picture.low, picture.high = wilson(share, counts[counts > 0])
        picture.brier = float(np.mean((p - happened) ** 2))
        picture.verdict = check_calibration(happened, logit(p)).sentence
        return picture

    @property
    def claim(self) -> str:
        inside = int(np.sum((self.low <= self.prob_pred) & (self.prob_pred <= self.high)))
        return (
            f"{self.model}: in {inside} of {len(self.prob_pred)} bins the probability is "
            f"within the 95% interval of what happened (Brier score {number(self.brier, 3)}). "
            f"{self.verdict.rstrip('.')}"
        )

    def _draw(self, ax: draw.Axes) -> None:
        look = {"color": draw.colour(0), "marker": "o", "markersize": 5, "linewidth": 1.0}
        calibration.CalibrationDisplay.plot(self, ax=ax, name="95% intervals", **look)
        reach = np.maximum([self.prob_true - self.low, self.high - self.prob_true], 0.0)
        bars: dict[str, Any] = {"fmt": "none", "color": draw.colour(0), "capsize": 2}
        ax.errorbar(self.prob_pred, self.prob_true, reach, **bars)
        label, unit = f"share of {plain(self.pos_label, 16)}", (-0.02, 1.02)
        draw.describe(ax, "mean predicted probability", label, xlim=unit, ylim=unit)


@dataclass(eq=False, repr=False)
class ThresholdDisplay(BinaryDisplay):
    """Recall, precision and mean cost over the probability from which on a class is predicted.

    Examples
    --------
    >>> from adaline.plot import ThresholdDisplay
    >>> picture = ThresholdDisplay.from_predictions(["a", "b", "b"], [0.2, 0.4, 0.9], positive="b")
    >>> picture.counts.at(np.array([0.1, 0.3])), picture.threshold
    ((array([2, 2]), array([1, 0])), 0.5)
    """

    counts: Thresholds  #: True and false positives at every threshold.
    ratio: float = 1.0  #: How many false positives a false negative costs.
    size = (4.6, 3.8)

    @classmethod
    def from_estimator(cls, model: BaseEstimator, X: Any, y: Any, **options: Any) -> Self:
        """A classifier of two classes; by default `ratio` is that of its costs, or 1."""
        return super().from_estimator(
            model, X, y, **{"ratio": miss_to_alarm_ratio(model)} | options
        )

    @classmethod
    def from_predictions(cls, y: Any, p: Any, *, positive: Any = 1, ratio: float = 1.0) -> Self:
        """Known probabilities of the label `positive`."""
        v = draw.check_signal(p, "probabilities")
        check_consistent_length(v, y)
        if v.min() < 0 or v.max() > 1:
            raise ValueError(
                f"probabilities lie between 0 and 1; these reach {v.min():g} and {v.max():g}."
            )
        check_scalar(ratio, "ratio", Real, min_val=0, include_boundaries="neither")
        counts = thresholds(np.asarray(y) == positive, v, positive)
        if counts is None:
            raise ValueError("the rows are of one class; a threshold needs both.")
        return cls(counts, ratio)

    @property
    def threshold(self) -> float:
        """Where both errors are expected to cost the same: 1 / (1 + ratio)."""
        return 1.0 / (1.0 + self.ratio)

    @property
    def claim(self) -> str:
        c, positive = self.counts, repr(name(self.counts.label))
        hits, alarms = c.at(self.threshold)
        precision = percent(hits / (hits + alarms)) if hits + alarms else "–"
        return (
            f"Predicting {positive} from {percent(self.threshold)} on: recall "
            f"{percent(hits / len(c.positive))}, precision {precision}, mean cost "
            f"{number(c.mean_cost(self.ratio, self.threshold), 3)}; without a model "
            f"{number(c.constant_cost(self.ratio), 3)}"
        )

    def _draw(self, ax: draw.Axes) -> None:
        c = self.counts
        at = np.unique(np.concatenate([[0.0, 1.0], c.positive, c.others]))
        hits, alarms = c.at(at)
        costs = c.mean_cost(self.ratio, at) / c.constant_cost(self.ratio)
        with np.errstate(invalid="ignore"):  # without a positive prediction there is no precision
            precision = hits / (hits + alarms)
        shares = {"recall": hits / len(c.positive), "precision": precision}
        for k, (words, y) in enumerate((shares | {"cost against no model": costs}).items()):
            draw.curve(ax, at, y, k, drawstyle="steps-post", label=words)
        draw.reference(ax, self.threshold, "threshold", along="v")
        top = min(2.0, 1.05 * max(1.0, float(np.nanmax(costs))))
        label = f"probability of {plain(c.label, 16)}, at least"
        draw.describe(ax, label, "share, or cost", xlim=(-0.01, 1.01), ylim=(-0.02, top))
