"""adaline: linear learning, fast and streaming, where every fit can prove what it claims.

Every name loads on first use, so that `import adaline` costs a few milliseconds.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "Adaline": "adaline.estimators.adaline",
    "Auto": "adaline.schedules",
    "BayesClassifier": "adaline.estimators.bayes",
    "Certificate": "adaline.results",
    "ClassMoments": "adaline.class_moments",
    "Constant": "adaline.schedules",
    "GaussianClassifier": "adaline.estimators.gaussian",
    "IllConditionedWarning": "adaline.errors",
    "KernelPerceptron": "adaline.estimators.kernel_perceptron",
    "LeastSquares": "adaline.estimators.least_squares",
    "LeastSquaresClassifier": "adaline.estimators.least_squares_classifier",
    "LogisticRegression": "adaline.estimators.logistic",
    "Moments": "adaline.moments",
    "OverK": "adaline.schedules",
    "Perceptron": "adaline.estimators.perceptron",
    "PolynomialLeastSquares": "adaline.estimators.polynomial",
    "RankDeficientWarning": "adaline.errors",
    "Ridge": "adaline.estimators.ridge",
    "SearchThenConverge": "adaline.schedules",
    "SeparableError": "adaline.errors",
    "SigmoidPerceptron": "adaline.estimators.sigmoid_perceptron",
    "TfDf": "adaline.estimators.text",
    "Triangle": "adaline.triangle",
    "WidrowHoff": "adaline.estimators.widrow_hoff",
    "mistake_bound": "adaline.certificates.mistakes",
    "stable_rate": "adaline.schedules",
    "trace": "adaline.estimators.tracing",
}

# Spelled out, for type checkers; a test compares it with the table above.
__all__ = [
    "Adaline",
    "Auto",
    "BayesClassifier",
    "Certificate",
    "ClassMoments",
    "Constant",
    "GaussianClassifier",
    "IllConditionedWarning",
    "KernelPerceptron",
    "LeastSquares",
    "LeastSquaresClassifier",
    "LogisticRegression",
    "Moments",
    "OverK",
    "Perceptron",
    "PolynomialLeastSquares",
    "RankDeficientWarning",
    "Ridge",
    "SearchThenConverge",
    "SeparableError",
    "SigmoidPerceptron",
    "TfDf",
    "Triangle",
    "WidrowHoff",
    "__version__",
    "mistake_bound",
    "stable_rate",
    "trace",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'adaline' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from adaline.certificates.mistakes import mistake_bound
    from adaline.class_moments import ClassMoments
    from adaline.errors import IllConditionedWarning, RankDeficientWarning, SeparableError
    from adaline.estimators.adaline import Adaline
    from adaline.estimators.bayes import BayesClassifier
    from adaline.estimators.gaussian import GaussianClassifier
    from adaline.estimators.kernel_perceptron import KernelPerceptron
    from adaline.estimators.least_squares import LeastSquares
    from adaline.estimators.least_squares_classifier import LeastSquaresClassifier
    from adaline.estimators.logistic import LogisticRegression
    from adaline.estimators.perceptron import Perceptron
    from adaline.estimators.polynomial import PolynomialLeastSquares
    from adaline.estimators.ridge import Ridge
    from adaline.estimators.sigmoid_perceptron import SigmoidPerceptron
    from adaline.estimators.text import TfDf
    from adaline.estimators.tracing import trace
    from adaline.estimators.widrow_hoff import WidrowHoff
    from adaline.moments import Moments
    from adaline.results import Certificate
    from adaline.schedules import Auto, Constant, OverK, SearchThenConverge, stable_rate
    from adaline.triangle import Triangle
