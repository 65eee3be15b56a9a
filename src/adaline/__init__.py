"""adaline: linear learning, fast and streaming, where every fit can prove what it claims.

Every name loads on first use, so that `import adaline` costs a few milliseconds.
"""

# Type checkers read the imports at the end, which nothing else does.
# mypy: implicit-reexport
# ruff: noqa: F401

from __future__ import annotations

from typing import TYPE_CHECKING

from adaline._names import lazily
from adaline.filters import FILTERS

__version__ = "0.1.0"

_HOME = {
    "Adaline": "adaline.estimators.widrow_hoff",
    "Audit": "adaline.auditing.result",
    "Auto": "adaline.schedules",
    "BayesClassifier": "adaline.estimators.bayes",
    "Certificate": "adaline.results",
    "ClassMoments": "adaline.sums.class_moments",
    "Comparison": "adaline.evaluation.compare",
    "Constant": "adaline.schedules",
    "Cover": "adaline.dichotomies",
    "CrossValidated": "adaline.evaluation.cross_validation",
    "DataError": "adaline.errors",
    "DataWarning": "adaline.errors",
    "DivergenceError": "adaline.errors",
    "Explanation": "adaline.evaluation.explain",
    "GaussianClassifier": "adaline.estimators.gaussian",
    "GroupFits": "adaline.groups.fits",
    "HoKashyap": "adaline.estimators.ho_kashyap",
    "IllConditionedWarning": "adaline.errors",
    "Interval": "adaline.evaluation.explain",
    "KernelPerceptron": "adaline.estimators.kernel_perceptron",
    "LeastSquares": "adaline.estimators.least_squares",
    "LeastSquaresClassifier": "adaline.estimators.least_squares",
    "LogisticRegression": "adaline.estimators.logistic",
    "MaxMargin": "adaline.estimators.separation",
    "MissingExtra": "adaline.errors",
    "ModelFileError": "adaline.errors",
    "Moments": "adaline.sums.moments",
    "OverK": "adaline.schedules",
    "Perceptron": "adaline.estimators.perceptron",
    "PoissonRegression": "adaline.estimators.glm",
    "GammaRegression": "adaline.estimators.glm",
    "PolynomialLeastSquares": "adaline.estimators.polynomial",
    "RankDeficientWarning": "adaline.errors",
    "Report": "adaline.report",
    "Ridge": "adaline.estimators.ridge",
    "SearchThenConverge": "adaline.schedules",
    "Separability": "adaline.certificates.separation.separation",
    "SeparableError": "adaline.errors",
    "SigmoidPerceptron": "adaline.estimators.perceptron",
    "TfDf": "adaline.estimators.text",
    "Trace": "adaline.estimators.trace",
    "Triangle": "adaline.sums.triangle",
    "Verdict": "adaline.evaluation.verdict",
    "WidrowHoff": "adaline.estimators.widrow_hoff",
    "audit": "adaline.auditing.audit",
    "capacity": "adaline.dichotomies",
    "compare": "adaline.evaluation.compare",
    "cover": "adaline.dichotomies",
    "cross_validated": "adaline.evaluation.cross_validation",
    "expected_failed_checks": "adaline.estimators.registry",
    "expanding": "adaline.groups.rolling",
    "explain": "adaline.evaluation.explain",
    "fit_groups": "adaline.groups.fitting",
    "interval": "adaline.evaluation.explain",
    "load": "adaline.data.storing.model_files",
    "max_margin": "adaline.estimators.separation",
    "mistake_bound": "adaline.estimators.separation",
    "rolling": "adaline.groups.rolling",
    "save": "adaline.data.storing.model_files",
    "separability": "adaline.estimators.separation",
    "stable_rate": "adaline.schedules",
    "trace": "adaline.estimators.trace",
    "verdict": "adaline.evaluation.verdict",
    "write_report": "adaline.report",
}
_HOME |= FILTERS  # each a module of filters/, which names it nowhere else

__all__ = [*sorted(_HOME), "__version__"]

# What a lower room may ask for by name (see `_names.handed_down`).
_HANDED_DOWN = {"fit_collection": "adaline.data.fitting.collections"}

__getattr__, __dir__ = lazily(globals(), _HOME, _HANDED_DOWN)

if TYPE_CHECKING:
    from adaline.auditing.audit import audit
    from adaline.auditing.result import Audit
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
    from adaline.estimators.bayes import BayesClassifier
    from adaline.estimators.gaussian import GaussianClassifier
    from adaline.estimators.glm import GammaRegression, PoissonRegression
    from adaline.estimators.ho_kashyap import HoKashyap
    from adaline.estimators.kernel_perceptron import KernelPerceptron
    from adaline.estimators.least_squares import LeastSquares, LeastSquaresClassifier
    from adaline.estimators.logistic import LogisticRegression
    from adaline.estimators.perceptron import Perceptron, SigmoidPerceptron
    from adaline.estimators.polynomial import PolynomialLeastSquares
    from adaline.estimators.registry import expected_failed_checks
    from adaline.estimators.ridge import Ridge
    from adaline.estimators.separation import MaxMargin, max_margin, mistake_bound, separability
    from adaline.estimators.text import TfDf
    from adaline.estimators.trace import Trace, trace
    from adaline.estimators.widrow_hoff import Adaline, WidrowHoff
    from adaline.evaluation.compare import Comparison, compare
    from adaline.evaluation.cross_validation import CrossValidated, cross_validated
    from adaline.evaluation.explain import Explanation, Interval, explain, interval
    from adaline.evaluation.verdict import Verdict, verdict
    from adaline.filters.affine_projection import AffineProjection
    from adaline.filters.block_lms import BlockLMS
    from adaline.filters.filtered_x import FilteredXLMS
    from adaline.filters.lms import LMS, NLMS
    from adaline.filters.rls import RLS
    from adaline.filters.wiener import WienerFilter
    from adaline.groups.fits import GroupFits
    from adaline.groups.fitting import fit_groups
    from adaline.groups.rolling import expanding, rolling
    from adaline.report import Report, write_report
    from adaline.results import Certificate
    from adaline.schedules import Auto, Constant, OverK, SearchThenConverge, stable_rate
    from adaline.sums.class_moments import ClassMoments
    from adaline.sums.moments import Moments
    from adaline.sums.triangle import Triangle
