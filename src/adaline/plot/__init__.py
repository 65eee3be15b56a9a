"""Pictures: displays in scikit-learn's manner, each plain data and a `plot(ax=None)`.

A display is made by `from_estimator`, `from_trace`, `from_signals` and the like; what it shows are
arrays with names, so that it can be checked without looking. `plot` draws on the axes given, or on
a figure of its own, and never calls `show`; `svg` gives the picture as text. Some also have
`animate`, which gives an `Animation`: the picture as it moves. Needs the extra `plot`.

Every name loads on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adaline._names import lazily

_HOME = {
    "Animation": "adaline.plot.animation",
    "CalibrationDisplay": "adaline.plot.calibration",
    "CoefficientsDisplay": "adaline.plot.coefficients",
    "ConfusionMatrixDisplay": "adaline.plot.confusion",
    "CoverDisplay": "adaline.plot.cover",
    "DecisionDisplay": "adaline.plot.decision",
    "Display": "adaline.plot._canvas",
    "EffectDisplay": "adaline.plot.effects",
    "EigenvalueDisplay": "adaline.plot.eigenvalues",
    "GaussianDisplay": "adaline.plot.gaussian",
    "LearningCurveDisplay": "adaline.plot.learning",
    "MarginsDisplay": "adaline.plot.margins",
    "PredictionDisplay": "adaline.plot.residuals",
    "ResidualsDisplay": "adaline.plot.residuals",
    "ResponseDisplay": "adaline.plot.response",
    "RidgePathDisplay": "adaline.plot.ridge",
    "RocCurveDisplay": "adaline.plot.roc",
    "SeparabilityDisplay": "adaline.plot.separation",
    "SpectrogramDisplay": "adaline.plot.spectrogram",
    "ThresholdDisplay": "adaline.plot.thresholds",
    "WeightPathDisplay": "adaline.plot.descent",
}

# Spelled out, for type checkers; a test compares it with the table above.
__all__ = [
    "Animation",
    "CalibrationDisplay",
    "CoefficientsDisplay",
    "ConfusionMatrixDisplay",
    "CoverDisplay",
    "DecisionDisplay",
    "Display",
    "EffectDisplay",
    "EigenvalueDisplay",
    "GaussianDisplay",
    "LearningCurveDisplay",
    "MarginsDisplay",
    "PredictionDisplay",
    "ResidualsDisplay",
    "ResponseDisplay",
    "RidgePathDisplay",
    "RocCurveDisplay",
    "SeparabilityDisplay",
    "SpectrogramDisplay",
    "ThresholdDisplay",
    "WeightPathDisplay",
]

__getattr__, __dir__ = lazily(globals(), _HOME)

if TYPE_CHECKING:
    from adaline.plot._canvas import Display
    from adaline.plot.animation import Animation
    from adaline.plot.calibration import CalibrationDisplay
    from adaline.plot.coefficients import CoefficientsDisplay
    from adaline.plot.confusion import ConfusionMatrixDisplay
    from adaline.plot.cover import CoverDisplay
    from adaline.plot.decision import DecisionDisplay
    from adaline.plot.descent import WeightPathDisplay
    from adaline.plot.effects import EffectDisplay
    from adaline.plot.eigenvalues import EigenvalueDisplay
    from adaline.plot.gaussian import GaussianDisplay
    from adaline.plot.learning import LearningCurveDisplay
    from adaline.plot.margins import MarginsDisplay
    from adaline.plot.residuals import PredictionDisplay, ResidualsDisplay
    from adaline.plot.response import ResponseDisplay
    from adaline.plot.ridge import RidgePathDisplay
    from adaline.plot.roc import RocCurveDisplay
    from adaline.plot.separation import SeparabilityDisplay
    from adaline.plot.spectrogram import SpectrogramDisplay
    from adaline.plot.thresholds import ThresholdDisplay
