"""adaline: linear learning, fast and streaming, where every fit can prove what it claims.

Every name loads on first use, so that `import adaline` costs a few milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adaline._lazy import lazily

__version__ = "0.1.0"

_HOME = {
    "Adaline": "adaline.estimators.adaline",
    "AffineProjection": "adaline.filters.affine_projection",
    "Auto": "adaline.schedules",
    "BayesClassifier": "adaline.estimators.bayes",
    "BlockLMS": "adaline.filters.block_lms",
    "Certificate": "adaline.results",
    "ClassMoments": "adaline.class_moments",
    "Constant": "adaline.schedules",
    "Cover": "adaline.dichotomies",
    "DataError": "adaline.errors",
    "DivergenceError": "adaline.errors",
    "FilteredXLMS": "adaline.filters.filtered_x",
    "GaussianClassifier": "adaline.estimators.gaussian",
    "HoKashyap": "adaline.estimators.ho_kashyap",
    "IllConditionedWarning": "adaline.errors",
    "KernelPerceptron": "adaline.estimators.kernel_perceptron",
    "LMS": "adaline.filters.lms",
    "LeastSquares": "adaline.estimators.least_squares",
    "LeastSquaresClassifier": "adaline.estimators.least_squares_classifier",
    "LogisticRegression": "adaline.estimators.logistic",
    "MaxMargin": "adaline.estimators.max_margin",
    "MissingExtra": "adaline.errors",
    "ModelFileError": "adaline.errors",
    "Moments": "adaline.moments",
    "NLMS": "adaline.filters.nlms",
    "OverK": "adaline.schedules",
    "Perceptron": "adaline.estimators.perceptron",
    "PoissonRegression": "adaline.estimators.poisson",
    "PolynomialLeastSquares": "adaline.estimators.polynomial",
    "RLS": "adaline.filters.rls",
    "RankDeficientWarning": "adaline.errors",
    "Report": "adaline.report",
    "Ridge": "adaline.estimators.ridge",
    "SearchThenConverge": "adaline.schedules",
    "Separability": "adaline.certificates.separation",
    "SeparableError": "adaline.errors",
    "SigmoidPerceptron": "adaline.estimators.sigmoid_perceptron",
    "TfDf": "adaline.estimators.text",
    "Triangle": "adaline.triangle",
    "Verdict": "adaline.verdicts.verdict",
    "WidrowHoff": "adaline.estimators.widrow_hoff",
    "WienerFilter": "adaline.filters.wiener",
    "capacity": "adaline.dichotomies",
    "cover": "adaline.dichotomies",
    "expected_failed_checks": "adaline.estimators.contract",
    "load": "adaline.data.model_files",
    "max_margin": "adaline.estimators.max_margin",
    "mistake_bound": "adaline.estimators.mistakes",
    "save": "adaline.data.model_files",
    "separability": "adaline.estimators.separability",
    "stable_rate": "adaline.schedules",
    "trace": "adaline.estimators.tracing",
    "verdict": "adaline.verdicts.verdict",
    "write_report": "adaline.report",
}

# Spelled out, for type checkers; a test compares it with the table above.
__all__ = [
    "LMS",
    "NLMS",
    "RLS",
    "Adaline",
    "AffineProjection",
    "Auto",
    "BayesClassifier",
    "BlockLMS",
    "Certificate",
    "ClassMoments",
    "Constant",
    "Cover",
    "DataError",
    "DivergenceError",
    "FilteredXLMS",
    "GaussianClassifier",
    "HoKashyap",
    "IllConditionedWarning",
    "KernelPerceptron",
    "LeastSquares",
    "LeastSquaresClassifier",
    "LogisticRegression",
    "MaxMargin",
    "MissingExtra",
    "ModelFileError",
    "Moments",
    "OverK",
    "Perceptron",
    "PoissonRegression",
    "PolynomialLeastSquares",
    "RankDeficientWarning",
    "Report",
    "Ridge",
    "SearchThenConverge",
    "Separability",
    "SeparableError",
    "SigmoidPerceptron",
    "TfDf",
    "Triangle",
    "Verdict",
    "WidrowHoff",
    "WienerFilter",
    "__version__",
    "capacity",
    "cover",
    "expected_failed_checks",
    "load",
    "max_margin",
    "mistake_bound",
    "save",
    "separability",
    "stable_rate",
    "trace",
    "verdict",
    "write_report",
]

__getattr__, __dir__ = lazily(globals(), _HOME)

if TYPE_CHECKING:
    from adaline.certificates.separation import Separability
    from adaline.class_moments import ClassMoments
    from adaline.data.model_files import load, save
    from adaline.dichotomies import Cover, capacity, cover
    from adaline.errors import (
        DataError,
        DivergenceError,
        IllConditionedWarning,
        MissingExtra,
        ModelFileError,
        RankDeficientWarning,
        SeparableError,
    )
    from adaline.estimators.adaline import Adaline
    from adaline.estimators.bayes import BayesClassifier
    from adaline.estimators.contract import expected_failed_checks
    from adaline.estimators.gaussian import GaussianClassifier
    from adaline.estimators.ho_kashyap import HoKashyap
    from adaline.estimators.kernel_perceptron import KernelPerceptron
    from adaline.estimators.least_squares import LeastSquares
    from adaline.estimators.least_squares_classifier import LeastSquaresClassifier
    from adaline.estimators.logistic import LogisticRegression
    from adaline.estimators.max_margin import MaxMargin, max_margin
    from adaline.estimators.mistakes import mistake_bound
    from adaline.estimators.perceptron import Perceptron
    from adaline.estimators.poisson import PoissonRegression
    from adaline.estimators.polynomial import PolynomialLeastSquares
    from adaline.estimators.ridge import Ridge
    from adaline.estimators.separability import separability
    from adaline.estimators.sigmoid_perceptron import SigmoidPerceptron
    from adaline.estimators.text import TfDf
    from adaline.estimators.tracing import trace
    from adaline.estimators.widrow_hoff import WidrowHoff
    from adaline.filters.affine_projection import AffineProjection
    from adaline.filters.block_lms import BlockLMS
    from adaline.filters.filtered_x import FilteredXLMS
    from adaline.filters.lms import LMS
    from adaline.filters.nlms import NLMS
    from adaline.filters.rls import RLS
    from adaline.filters.wiener import WienerFilter
    from adaline.moments import Moments
    from adaline.report import Report, write_report
    from adaline.results import Certificate
    from adaline.schedules import Auto, Constant, OverK, SearchThenConverge, stable_rate
    from adaline.triangle import Triangle
    from adaline.verdicts.verdict import Verdict, verdict
