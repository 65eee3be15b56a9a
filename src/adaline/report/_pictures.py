"""Which pictures a model asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from adaline import plot
from adaline.evaluation.effects import Effect
from adaline.evaluation.thresholds import Thresholds, ratio_of
from adaline.evaluation.words import plain
from adaline.plot.draw import COLOURS
from adaline.report._rows import Rows

_BROAD = 2000  # columns up to which a direction of rows is looked for


_PLACES = {colour.lower(): k for k, colour in enumerate(COLOURS)}
_COLOUR = re.compile("(?<=: )(" + "|".join(_PLACES) + ')(?=[;"])')


def _named(found: re.Match[str]) -> str:
    return f"var(--c{_PLACES[found[0]]}, {found[0]})"


@dataclass(frozen=True)
class Picture:
    """A picture with its heading; drawn when it is first asked for."""

    key: str
    title: str
    display: plot.Display
    section: str = "Pictures"

    @property
    def claim(self) -> str:
        """What the picture says, in a sentence."""
        return plain(self.display.claim)

    @cached_property
    def svgs(self) -> list[str]:
        """The panels of the picture without its claim, which the page writes itself.

        Colours of classes and curves have names, so that the page can lighten them in the dark.
        """
        return [_COLOUR.sub(_named, svg) for svg in self.display.svgs(self.key)]

    @property
    def bytes(self) -> int:
        """How much of a page it takes."""
        return sum(len(svg) for svg in self.svgs)

    @property
    def width(self) -> float:
        """Inches of a panel."""
        return float(self.display.size[0])

    @property
    def least(self) -> int:
        """Pixels below which its letters, of ten points, would be smaller than nine pixels."""
        return round(66 * self.width)

    @property
    def broad(self) -> bool:
        """Whether it needs the page's whole width."""
        return bool(self.display.panels > 1)


def effect_pictures(effects: tuple[Effect, ...], X: Any, names: list[str]) -> list[Picture]:
    """A curve for each column that moves the answer most."""
    return [
        Picture(
            f"effect-{k}",
            plain(effect.name, 60),
            plot.EffectDisplay.of(effect, np.asarray(X)[:, names.index(effect.name)]),
            "What single columns do",
        )
        for k, effect in enumerate(effects)
    ]


def pictures(
    model: Any,
    rows: Rows | None,
    names: list[str],
    held_out: bool | None,
    facts: Mapping[str, Any],
    counts: Thresholds | None = None,
) -> tuple[list[Picture], list[str]]:
    """The pictures, and a sentence for each that there is not.

    What a picture claims about quality is what `facts` say, of all rows and not of those drawn.
    """
    found, missing = [], []
    for key, title, make in _wanted(model, rows, names, held_out, facts, counts):
        try:
            found.append(Picture(key, title, make()))
        except ValueError as error:
            missing.append(plain(f"There is no picture “{title}”: {error}"))
    return found, missing


Wanted = Iterator[tuple[str, str, Callable[[], plot.Display]]]


def _wanted(
    model: Any,
    rows: Rows | None,
    names: list[str],
    held_out: bool | None,
    facts: Mapping[str, Any],
    counts: Thresholds | None,
) -> Wanted:
    if rows is not None and hasattr(model, "classes_"):
        yield from _of_classifier(model, rows, names, facts)
        if counts is not None:
            ratio = ratio_of(model)
            yield "threshold", "Threshold and cost", lambda: plot.ThresholdDisplay(counts, ratio)
    elif rows is not None:
        yield from _of_regressor(model, rows, held_out, facts)
    if getattr(model, "coef_", None) is not None and len(np.atleast_2d(model.coef_)) == 1:
        X = None if rows is None else rows.X_few
        yield (
            "coefficients",
            "Coefficients",
            lambda: plot.CoefficientsDisplay.from_estimator(model, X, names=names),
        )
    if hasattr(model, "path"):
        yield "ridge", "Penalty", lambda: plot.RidgePathDisplay.from_estimator(model, names=names)
    if rows is not None and getattr(model, "_error", None) == "mean squared error":
        bias = bool(model.fit_intercept)
        yield (
            "eigenvalues",
            "Eigenvalues",
            lambda: plot.EigenvalueDisplay.from_data(rows.X_few, fit_intercept=bias),
        )


def _of_regressor(
    model: Any, rows: Rows, held_out: bool | None, facts: Mapping[str, Any]
) -> Wanted:
    X, y, kind = rows.X_few, rows.y_few, type(model).__name__
    predicted = np.asarray(rows.said.predicted[rows.few], dtype=np.float64)
    if y.ndim == 1 and predicted.shape == y.shape:
        r2 = float("nan") if facts["r2"] is None else facts["r2"]
        yield (
            "prediction",
            "Predicted and true",
            lambda: plot.PredictionDisplay(kind, y, predicted, r2, facts["rmse"]),
        )
    else:
        yield (
            "prediction",
            "Predicted and true",
            lambda: plot.PredictionDisplay.from_estimator(model, X, y),
        )
    learned = held_out is False or "way" in facts
    yield (
        "residuals",
        "Residuals of the fit to all rows" if "way" in facts else "Residuals",
        # A part of the rows of the fit is not the fit: their leverage is that of new rows.
        lambda: plot.ResidualsDisplay.from_estimator(
            model, X, y, of_the_fit=learned and len(rows.few) == len(rows)
        ),
    )


def _confusion(facts: Mapping[str, Any], kind: str) -> plot.ConfusionMatrixDisplay:
    """The counts of the quality: of all rows, and those of labels that no model knows, too."""
    counts, K = np.array(facts["confusion"], dtype=np.int64), len(facts["labels"])
    labels = [str(label) for label in facts["labels"]]
    if counts[:, K:].any():
        square = np.zeros((K + 1, K + 1), dtype=np.int64)
        square[:K, :K], square[:K, K] = counts[:, :K], counts[:, K:].sum(axis=1)
        return plot.ConfusionMatrixDisplay(square, [*labels, "reject"], kind)
    return plot.ConfusionMatrixDisplay(counts[:, :K].copy(), labels, kind)


def _of_classifier(model: Any, rows: Rows, names: list[str], facts: Mapping[str, Any]) -> Wanted:
    kind = type(model).__name__
    yield "confusion", "Confusion", lambda: _confusion(facts, kind)
    if len(model.classes_) == 2:
        yield from _of_two_classes(model, rows, kind, facts)
    X, y, p = rows.X_few, rows.y_few, int(model.n_features_in_)
    if p == 2 and hasattr(model, "mahalanobis"):
        yield (
            "gaussian",
            "Posterior and distances",
            lambda: plot.GaussianDisplay.from_estimator(model, X, y, names=names),
        )
    if 2 <= p <= _BROAD:
        yield (
            "decision",
            "Decisions of the fit to all rows" if "way" in facts else "Decisions",
            lambda: plot.DecisionDisplay.from_estimator(model, X, y, names=names),
        )


def _of_two_classes(model: Any, rows: Rows, kind: str, facts: Mapping[str, Any]) -> Wanted:
    positive, said = model.classes_.tolist()[1], rows.said
    if said.scores is not None:
        scores = said.scores
        yield "roc", "Hits and false alarms", lambda: _roc(rows, scores, positive, kind, facts)
    if said.log_p is not None:
        chances = np.exp(said.log_p[:, 1])
        yield (
            "calibration",
            "Calibration",
            lambda: plot.CalibrationDisplay.from_predictions(
                rows.y,
                chances,
                positive=positive,
                name=kind,
                n_bins=max(2, min(10, len(rows) // 20)),
            ),
        )


def _roc(
    rows: Rows, scores: Any, positive: Any, kind: str, facts: Mapping[str, Any]
) -> plot.RocCurveDisplay:
    """The curve of these rows; the area is that of the quality."""
    found = plot.RocCurveDisplay.from_predictions(rows.y, scores, positive=positive, name=kind)
    if facts["auc"] is not None:
        found.roc_auc = facts["auc"]
    return found
