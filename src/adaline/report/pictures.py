"""Which pictures a report has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from adaline import plot
from adaline.evaluation.coefficients import Effect
from adaline.evaluation.quality import Thresholds, miss_to_alarm_ratio
from adaline.evaluation.trial import Trial
from adaline.evaluation.words import name, plain
from adaline.plot.draw import COLOURS

MAX_COLUMNS_FOR_DECISIONS = 2000  # beyond, directions of the rows take seconds
MAX_ROWS_DRAWN = 1000  # more are not seen apart
MAX_ENTRIES_DRAWN = 20_000_000  # of rows that are made dense
_PLACES = {colour.lower(): k for k, colour in enumerate(COLOURS)}
_COLOUR = re.compile("(?<=: )(" + "|".join(_PLACES) + ')(?=[;"])')
Wanted = Iterator[tuple[str, Callable[[], plot.Display]]]  # titles, and what draws them


@dataclass(frozen=True)
class Picture:
    """A picture with its heading; drawn when it is first asked for."""

    key: str
    title: str
    display: plot.Display
    section: str = "Pictures"

    @property
    def claim(self) -> str:
        """What the picture shows, in a sentence."""
        return plain(self.display.claim)

    @cached_property
    def svgs(self) -> list[str]:
        """The panels of the picture without its claim, which the page writes itself.

        Colours of classes and curves have names, so that the page can lighten them in the dark.
        """

        def named(colour: re.Match[str]) -> str:
            return f"var(--c{_PLACES[colour[0]]}, {colour[0]})"

        return [_COLOUR.sub(named, svg) for svg in self.display.svgs(self.key)]


def pictures(
    trial: Trial, facts: Mapping[str, Any], counts: Thresholds | None, effects: Iterable[Effect]
) -> tuple[tuple[Picture, ...], tuple[str, ...]]:
    """The pictures, and a sentence for each that is missing.

    What a picture claims about quality is that of `facts`, of all rows and not of those drawn.
    """
    shown: list[Picture] = []
    missing: list[str] = []
    for title, draw in _wanted(trial, facts, counts):
        try:
            shown.append(Picture(title.split()[0].lower(), title, draw()))
        except ValueError as error:
            missing.append(plain(f"There is no picture “{title}”: {error}"))
    for effect in effects:  # a curve for each column that moves the prediction most
        column = np.asarray(trial.seen_X)[:, trial.names.index(effect.name)]
        title, display = name(effect.name), plot.EffectDisplay.of(effect, column)
        shown.append(Picture(f"picture-{len(shown)}", title, display, "What single columns do"))
    return tuple(shown), tuple(missing)


def _wanted(trial: Trial, facts: Mapping[str, Any], counts: Thresholds | None) -> Wanted:
    model, names, X = trial.model, trial.names, None
    if trial.rows is not None and trial.answers is not None:
        # Dense rows to draw, evenly spaced.
        n, p = trial.rows.X.shape
        most = int(max(1, min(MAX_ROWS_DRAWN, MAX_ENTRIES_DRAWN // max(p, 1), n)))
        few = np.unique(np.linspace(0, n - 1, most).astype(np.int64))
        X, y = trial.rows.X[few], trial.rows.y[few]
        X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        if hasattr(model, "classes_"):
            yield from _of_classifier(trial, X, y, facts, counts)
        else:
            yield from _of_regressor(trial, X, y, trial.answers.predicted[few], facts)
    if getattr(model, "coef_", None) is not None and len(np.atleast_2d(model.coef_)) == 1:
        coefficients = plot.CoefficientsDisplay
        yield "Coefficients", lambda: coefficients.from_estimator(model, X, names=names)
    if hasattr(model, "path"):
        yield "Penalty", lambda: plot.RidgePathDisplay.from_estimator(model, names=names)
    if X is not None and getattr(model, "_error", None) == "mean squared error":
        eigen, bias = plot.EigenvalueDisplay, bool(model.fit_intercept)
        yield "Eigenvalues", lambda: eigen.from_data(X, fit_intercept=bias)


def _of_regressor(trial: Trial, X: Any, y: Any, predicted: Any, facts: Mapping[str, Any]) -> Wanted:
    model, kind, show = trial.model, type(trial.model).__name__, plot.PredictionDisplay
    r2 = float("nan") if facts["r2"] is None else facts["r2"]
    seen = np.ravel(y), np.ravel(predicted).astype(np.float64)
    yield "Predicted and true", lambda: show(kind, *seen, r2, facts["rmse"])
    is_training = trial.held_out is False or bool(trial.way)
    # A part of the training rows is not the fit: their leverage is that of new rows.
    is_fit = is_training and trial.rows is not None and len(X) == len(trial.rows.y)
    title = "Residuals of the fit to all rows" if trial.way else "Residuals"
    yield title, lambda: plot.ResidualsDisplay.from_estimator(model, X, y, of_the_fit=is_fit)


def _of_classifier(
    trial: Trial, X: Any, y: Any, facts: Mapping[str, Any], counts: Thresholds | None
) -> Wanted:
    """Pictures of all predictions, and of the rows that are drawn."""
    model, names, kind = trial.model, trial.names, type(trial.model).__name__
    truth: Any = getattr(trial.rows, "y", None)
    scores, log_p = getattr(trial.answers, "scores", None), getattr(trial.answers, "log_p", None)
    # The counts of the quality: of all rows, and of labels that the model does not know, too.
    labels = [str(label) for label in facts["answers"]]
    table = np.zeros((len(labels), len(labels)), dtype=np.int64)
    table[: len(facts["labels"])] = facts["confusion"]
    yield "Confusion matrix", lambda: plot.ConfusionMatrixDisplay(table, labels, kind)
    positive = model.classes_.tolist()[-1]
    if scores is not None:

        def draw_roc() -> plot.Display:
            curve = plot.RocCurveDisplay.from_predictions(truth, scores, positive=positive)
            curve.model = kind
            if facts["auc"] is not None:
                curve.roc_auc = facts["auc"]  # of all rows, each fold by itself
            return curve

        yield "ROC curve", draw_roc
    if log_p is not None and len(model.classes_) == 2:
        p, show, bins = np.exp(log_p[:, 1]), plot.CalibrationDisplay, len(truth) // 20
        settings: Any = {"positive": positive, "n_bins": max(2, min(10, bins))}
        yield "Calibration", lambda: show.from_predictions(truth, p, **settings)
    if X.shape[1] == 2 and hasattr(model, "mahalanobis"):
        gaussian, title = plot.GaussianDisplay, "Posterior and distances"
        yield title, lambda: gaussian.from_estimator(model, X, y, names=names)
    if 2 <= X.shape[1] <= MAX_COLUMNS_FOR_DECISIONS:
        title = "Decisions of the fit to all rows" if trial.way else "Decisions"
        yield title, lambda: plot.DecisionDisplay.from_estimator(model, X, y, names=names)
    if counts is not None:
        ratio = miss_to_alarm_ratio(model)
        yield "Threshold and cost", lambda: plot.ThresholdDisplay(counts, ratio)
