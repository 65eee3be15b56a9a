"""adaline: linear learning, fast and streaming, where every fit can prove what it claims.

Every name loads on first use, so that `import adaline` costs a few milliseconds.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "BayesClassifier": "adaline.estimators.bayes",
    "Certificate": "adaline.results",
    "ClassMoments": "adaline.class_moments",
    "GaussianClassifier": "adaline.estimators.gaussian",
    "IllConditionedWarning": "adaline.errors",
    "LeastSquares": "adaline.estimators.least_squares",
    "LeastSquaresClassifier": "adaline.estimators.least_squares_classifier",
    "Moments": "adaline.moments",
    "PolynomialLeastSquares": "adaline.estimators.polynomial",
    "RankDeficientWarning": "adaline.errors",
    "Ridge": "adaline.estimators.ridge",
    "Triangle": "adaline.triangle",
}

# Spelled out, for type checkers; a test compares it with the table above.
__all__ = [
    "BayesClassifier",
    "Certificate",
    "ClassMoments",
    "GaussianClassifier",
    "IllConditionedWarning",
    "LeastSquares",
    "LeastSquaresClassifier",
    "Moments",
    "PolynomialLeastSquares",
    "RankDeficientWarning",
    "Ridge",
    "Triangle",
    "__version__",
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
    from adaline.class_moments import ClassMoments
    from adaline.errors import IllConditionedWarning, RankDeficientWarning
    from adaline.estimators.bayes import BayesClassifier
    from adaline.estimators.gaussian import GaussianClassifier
    from adaline.estimators.least_squares import LeastSquares
    from adaline.estimators.least_squares_classifier import LeastSquaresClassifier
    from adaline.estimators.polynomial import PolynomialLeastSquares
    from adaline.estimators.ridge import Ridge
    from adaline.moments import Moments
    from adaline.results import Certificate
    from adaline.triangle import Triangle
