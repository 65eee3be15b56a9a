"""Pictures: displays in scikit-learn's style, each plain data and a `plot(ax=None)`.

A display is created by `from_estimator`, `from_trace`, `from_signals` and the like. What it shows
are named arrays, so that it can be checked without looking at it. `plot` draws on the given axes or
on a new figure and never calls `show`; `svg` returns the picture as text. Some displays also have
`animate`, which returns an `Animation`. Needs the extra `plot`.

Every name loads on first use.
"""

from __future__ import annotations

from adaline._names import lazily

_HOME = {
    "Animation": "adaline.plot.animation",
    "CalibrationDisplay": "adaline.plot.classification",
    "CoefficientsDisplay": "adaline.plot.regression",
    "ConfusionMatrixDisplay": "adaline.plot.classification",
    "CoverDisplay": "adaline.plot.lectures",
    "DecisionDisplay": "adaline.plot.decision",
    "Display": "adaline.plot.display",
    "EffectDisplay": "adaline.plot.regression",
    "EigenvalueDisplay": "adaline.plot.lectures",
    "GaussianDisplay": "adaline.plot.separation",
    "LearningCurveDisplay": "adaline.plot.signals",
    "MarginsDisplay": "adaline.plot.lectures",
    "PredictionDisplay": "adaline.plot.regression",
    "ResidualsDisplay": "adaline.plot.regression",
    "ResponseDisplay": "adaline.plot.signals",
    "RidgePathDisplay": "adaline.plot.regression",
    "RocCurveDisplay": "adaline.plot.classification",
    "SeparabilityDisplay": "adaline.plot.separation",
    "SpectrogramDisplay": "adaline.plot.signals",
    "ThresholdDisplay": "adaline.plot.classification",
    "WeightPathDisplay": "adaline.plot.lectures",
}

__all__ = sorted(_HOME)

__getattr__, __dir__ = lazily(globals(), _HOME)
