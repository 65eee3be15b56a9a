"""adaline: linear learning, fast and streaming, where every fit can prove what it claims.

Every name loads on first use, so that `import adaline` costs a few milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adaline._names import lazily
from adaline.filters import FILTERS

__version__ = "0.1.0"

_HOME = {
    "Adaline": "adaline.estimators.sequential.adaline",
    "Auto": "adaline.schedules",
    "BayesClassifier": "adaline.estimators.bayes.bayes",
    "Certificate": "adaline.results",
    "ClassMoments": "adaline.sums.class_moments",
    "Comparison": "adaline.evaluation.comparison",
    "Constant": "adaline.schedules",
    "Cover": "adaline.dichotomies",
    "CrossValidated": "adaline.evaluation.cross_validation",
    "DataError": "adaline.errors",
    "DataWarning": "adaline.errors",
    "DivergenceError": "adaline.errors",
    "Explanation": "adaline.evaluation.explanations",
    "GaussianClassifier": "adaline.estimators.bayes.gaussian",
    "HoKashyap": "adaline.estimators.separation.ho_kashyap",
    "IllConditionedWarning": "adaline.errors",
    "Interval": "adaline.evaluation.prediction_intervals",
    "KernelPerceptron": "adaline.estimators.sequential.kernel_perceptron",
    "LeastSquares": "adaline.estimators.closed_forms.least_squares",
    "LeastSquaresClassifier": "adaline.estimators.closed_forms.least_squares_classifier",
    "LogisticRegression": "adaline.estimators.newton.logistic",
    "MaxMargin": "adaline.estimators.separation.max_margin",
    "MissingExtra": "adaline.errors",
    "ModelFileError": "adaline.errors",
    "Moments": "adaline.sums.moments",
    "OverK": "adaline.schedules",
    "Perceptron": "adaline.estimators.sequential.perceptron",
    "PoissonRegression": "adaline.estimators.newton.poisson",
    "GammaRegression": "adaline.estimators.newton.gamma",
    "PolynomialLeastSquares": "adaline.estimators.closed_forms.polynomial",
    "RankDeficientWarning": "adaline.errors",
    "Report": "adaline.report",
    "Ridge": "adaline.estimators.closed_forms.ridge",
    "SearchThenConverge": "adaline.schedules",
    "Separability": "adaline.certificates.separation.separation",
    "SeparableError": "adaline.errors",
    "SigmoidPerceptron": "adaline.estimators.sequential.sigmoid_perceptron",
    "TfDf": "adaline.estimators.text",
    "Trace": "adaline.estimators.trace",
    "Triangle": "adaline.sums.triangle",
    "Verdict": "adaline.evaluation.verdict",
    "WidrowHoff": "adaline.estimators.sequential.widrow_hoff",
    "capacity": "adaline.dichotomies",
    "compare": "adaline.evaluation.compare",
    "cover": "adaline.dichotomies",
    "cross_validated": "adaline.evaluation.cross_validation",
    "expected_failed_checks": "adaline.estimators.contract",
    "explain": "adaline.evaluation.explanations",
    "interval": "adaline.evaluation.prediction_intervals",
    "load": "adaline.data.storing.model_files",
    "max_margin": "adaline.estimators.separation.max_margin",
    "mistake_bound": "adaline.estimators.separation.mistakes",
    "save": "adaline.data.storing.model_files",
    "separability": "adaline.estimators.separation.separability",
    "stable_rate": "adaline.schedules",
    "trace": "adaline.estimators.trace",
    "verdict": "adaline.evaluation.verdict",
    "write_report": "adaline.report",
}
_HOME |= FILTERS  # each a module of filters/, which names it nowhere else

# Spelled out, for type checkers; a test compares it with the table above.
__all__ = [
    *FILTERS,
    "Adaline",
    "Auto",
    "BayesClassifier",
    "Certificate",
    "ClassMoments",
    "Comparison",
    "Constant",
    "Cover",
    "CrossValidated",
    "DataError",
    "DataWarning",
    "DivergenceError",
    "Explanation",
    "GammaRegression",
    "GaussianClassifier",
    "HoKashyap",
    "IllConditionedWarning",
    "Interval",
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
    "Trace",
    "Triangle",
    "Verdict",
    "WidrowHoff",
    "__version__",
    "capacity",
    "compare",
    "cover",
    "cross_validated",
    "expected_failed_checks",
    "explain",
    "interval",
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

# What a lower room may ask for by name (see `_names.handed_down`).
_HANDED_DOWN = {"fit_collection": "adaline.data.fitting.collections"}

__getattr__, __dir__ = lazily(globals(), _HOME, _HANDED_DOWN)

if TYPE_CHECKING:
    from adaline.certificates.separation.separation import Separability
    from adaline.data.storing.model_files import load, save
    from adaline.dichotomies import Cover, capacity, cover
    from adaline.errors import (
        DataError,
        DataWarning,
        DivergenceError,
        IllConditionedWarning,
        MissingExtra,
        ModelFileError,
        RankDeficientWarning,
        SeparableError,
    )
    from adaline.estimators.bayes.bayes import BayesClassifier
    from adaline.estimators.bayes.gaussian import GaussianClassifier
    from adaline.estimators.closed_forms.least_squares import LeastSquares
    from adaline.estimators.closed_forms.least_squares_classifier import LeastSquaresClassifier
    from adaline.estimators.closed_forms.polynomial import PolynomialLeastSquares
    from adaline.estimators.closed_forms.ridge import Ridge
    from adaline.estimators.contract import expected_failed_checks
    from adaline.estimators.newton.gamma import GammaRegression
    from adaline.estimators.newton.logistic import LogisticRegression
    from adaline.estimators.newton.poisson import PoissonRegression
    from adaline.estimators.separation.ho_kashyap import HoKashyap
    from adaline.estimators.separation.max_margin import MaxMargin, max_margin
    from adaline.estimators.separation.mistakes import mistake_bound
    from adaline.estimators.separation.separability import separability
    from adaline.estimators.sequential.adaline import Adaline
    from adaline.estimators.sequential.kernel_perceptron import KernelPerceptron
    from adaline.estimators.sequential.perceptron import Perceptron
    from adaline.estimators.sequential.sigmoid_perceptron import SigmoidPerceptron
    from adaline.estimators.sequential.widrow_hoff import WidrowHoff
    from adaline.estimators.text import TfDf
    from adaline.estimators.trace import Trace, trace
    from adaline.evaluation.compare import compare
    from adaline.evaluation.comparison import Comparison
    from adaline.evaluation.cross_validation import CrossValidated, cross_validated
    from adaline.evaluation.explanations import Explanation, explain
    from adaline.evaluation.prediction_intervals import Interval, interval
    from adaline.evaluation.verdict import Verdict, verdict
    from adaline.filters.affine_projection import AffineProjection as AffineProjection
    from adaline.filters.block_lms import BlockLMS as BlockLMS
    from adaline.filters.filtered_x import FilteredXLMS as FilteredXLMS
    from adaline.filters.lms import LMS as LMS
    from adaline.filters.lms import NLMS as NLMS
    from adaline.filters.rls import RLS as RLS
    from adaline.filters.wiener import WienerFilter as WienerFilter
    from adaline.report import Report, write_report
    from adaline.results import Certificate
    from adaline.schedules import Auto, Constant, OverK, SearchThenConverge, stable_rate
    from adaline.sums.class_moments import ClassMoments
    from adaline.sums.moments import Moments
    from adaline.sums.triangle import Triangle
