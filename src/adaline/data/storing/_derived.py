"""What follows from the stored parts of a model: made again, or compared, when it is read."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from math import comb
from typing import Any

import numpy as np

from adaline import decisions
from adaline.data.storing._nodes import same


def restored(name: str, model: Any, dtype: Any) -> None:
    """Complete a model from its stored parts; ValueError where they contradict each other."""
    if hasattr(model, "_check_parameters"):
        model._check_parameters()
    if name in _RESTORE:
        _RESTORE[name](model, dtype)
    classes = getattr(model, "classes_", None)
    if classes is not None and hasattr(model, "costs"):
        decisions.checked_costs(model.costs, len(classes))
        decisions.checked_reject_cost(model.reject_cost)
    if classes is not None and name != "BayesClassifier":
        _demand(same(np.unique(classes), classes), "its labels are not sorted.")


def _demand(condition: bool, complaint: str) -> None:
    if not condition:
        raise ValueError(complaint)


def _closed(model: Any, dtype: Any) -> None:
    _demand(not model._one_target or len(model.fit_.b) == 1, "several targets and one.")
    model._deliver(model.fit_, dtype)


def _polynomial(model: Any, dtype: Any) -> None:
    p, degree, count = model.n_features_in_, model.degree, model.fit_.W.shape[1]
    # Degrees and columns are bounded by their monomials, which are in the file.
    small = 1 <= p <= count and 1 <= degree <= count and degree * count <= _MOST_FACTORS
    _demand(small and comb(p + degree, degree) - 1 == count, "weights are not one a monomial.")
    model.monomials_ = [
        m for d in range(1, degree + 1) for m in combinations_with_replacement(range(p), d)
    ]
    _closed(model, dtype)


def _linear_machine(model: Any, dtype: Any) -> None:
    model._deliver(model.fit_, dtype)


def _ho_kashyap(model: Any, dtype: Any) -> None:
    fit = model.fit_
    whole = len(fit.iterations) == len(fit.b) and all(type(k) is int for k in fit.iterations)
    _demand(whole and isinstance(fit.iterations, tuple), "iterations are not one a neuron.")
    model._deliver(fit, dtype)
    model.margins_ = fit.margins[0] if len(fit.b) == 1 else fit.margins.T
    model.n_iter_ = max(fit.iterations)


def _dual(model: Any, dtype: Any) -> None:
    A, kind = model._duals.A, model.support_vectors_.dtype
    _demand(model._kernel.name in ("linear", "poly", "rbf"), "no kernel has this name.")
    _demand(same(model.fit_.W, A), "two versions of the dual variables.")
    model.dual_coef_ = A.astype(kind)
    model.lambda_ = np.abs(model.dual_coef_[0] if len(A) == 1 else model.dual_coef_)
    model.intercept_ = A.sum(axis=1).astype(kind)
    model.gamma_ = model._kernel.gamma


def _sequential(model: Any, dtype: Any) -> None:
    model._codes = {label: float(k) for k, label in enumerate(model.classes_.tolist())}
    _stream(model)


def _stream(model: Any) -> None:
    """Parameters that a stream would begin with, and the weights to predict with."""
    fresh = type(model)(**model.get_params(deep=False))
    fresh._begin(model._state.recipe.K, model.n_features_in_, model._dtype)
    model._shape = (model.n_features_in_,)
    model._settle()


def _widrow_hoff(model: Any, dtype: Any) -> None:
    _demand(not model._one_target or model._state.recipe.K == 1, "several targets and one.")
    _stream(model)


def _logistic(model: Any, dtype: Any) -> None:
    _demand(model._known is not None or model._state is not None, "nothing is learned.")
    if model._state is not None and model._known is not None:
        W, b = model._state.kept()
        _demand(same((model._known.W, model._known.b), (W, b)), "two versions of the weights.")
    model._know(model.classes_)
    model._show()


def _gaussian(model: Any, dtype: Any) -> None:
    model._check_parameters()
    g, m = model.model_, model.moments_
    decisions.checked_priors(g.priors, m.K)
    known = same(g.priors, model.priors_) and same(g.exponent, m.exponent)
    _demand(known and m.covariance == model.covariance, "densities are not of these moments.")
    shared = m.covariance == "shared"
    _demand(len(g.metrics) == (1 if shared else m.K), "metrics are not one a density.")
    axes = 1 if m.covariance == "diagonal" else 2
    _demand(all(metric.A.ndim == axes for metric in g.metrics), "metrics of another covariance.")
    _demand(len(g.W) == (m.K if shared else 0), "weights of no linear classifier.")
    _demand(hasattr(model, "coef_") == hasattr(model, "intercept_") == shared, "weights missing.")
    if not hasattr(model, "_dtype") and shared:
        model._dtype = model.coef_.dtype  # older files do not tell
    _demand(hasattr(model, "_dtype") == shared, "a dtype of no weights.")


def _bayes(model: Any, dtype: Any) -> None:
    if not hasattr(model, "model_"):
        model.classes_  # noqa: B018  makes the model of fixed tables, or says what is wrong
        return
    found, names = model.model_, model.model_.classes.tolist()
    decisions.checked_priors(found.priors, len(names))
    if isinstance(found.family, tuple):
        _demand([f.label for f in found.family] == names, "densities are not one a class.")
        _demand(not any(f.discrete for f in found.family), "discrete densities.")
        _demand(isinstance(model.densities, str), "densities learned and given.")
    else:
        sums = found.family.probabilities.sum(axis=1)
        _demand(bool(np.abs(sums - 1.0).max() < 1e-9), "probabilities that do not sum to one.")
        symbols, columns = found.family.symbols, found.family.probabilities.shape[1]
        _demand(len(set(symbols)) == len(symbols) == columns, "symbols are not one a column.")


def _text(model: Any, dtype: Any) -> None:
    _demand(bool((model.df_ <= model.n_documents_).all()), "words in more documents than seen.")
    config = getattr(model, "_sklearn_output_config", {})
    known = set(config) <= {"transform"} and all(v in _OUTPUTS for v in config.values())
    _demand(known, "an output that is none.")


def written(model: Any, weights: dict[str, Any]) -> None:
    """Put back coef_ and intercept_ that were written after the fit."""
    _demand(set(weights) == {"coef_", "intercept_"}, "one of coef_ and intercept_.")
    vars(model).update(weights)
    _demand(model._is_written(), "weights that were written, and are those learned.")


_MOST_FACTORS = 2**24  # of all monomials of a polynomial: some hundred megabytes
_OUTPUTS = ("default", "pandas", "polars")
_COEF = ("coef_", "intercept_", "_dtype")
FOLLOWS: dict[str, tuple[str, ...]] = {
    "HoKashyap": (*_COEF, "margins_", "n_iter_"),
    "KernelPerceptron": ("dual_coef_", "lambda_", "intercept_", "gamma_"),
    "LeastSquares": _COEF,
    "LeastSquaresClassifier": _COEF,
    "LogisticRegression": ("_codes", "_labels", "_shape", "_shown"),
    "PoissonRegression": _COEF,
    "PolynomialLeastSquares": (*_COEF, "monomials_"),
    "Ridge": _COEF,
    "WidrowHoff": ("_known", "_shape", "_shown"),
} | dict.fromkeys(
    ("Adaline", "Perceptron", "SigmoidPerceptron"), ("_codes", "_known", "_shape", "_shown")
)

_RESTORE: dict[str, Callable[[Any, Any], None]] = {
    "Adaline": _sequential,
    "BayesClassifier": _bayes,
    "GaussianClassifier": _gaussian,
    "HoKashyap": _ho_kashyap,
    "KernelPerceptron": _dual,
    "LeastSquares": _closed,
    "LeastSquaresClassifier": _linear_machine,
    "LogisticRegression": _logistic,
    "Perceptron": _sequential,
    "PoissonRegression": _closed,
    "PolynomialLeastSquares": _polynomial,
    "Ridge": _closed,
    "SigmoidPerceptron": _sequential,
    "TfDf": _text,
    "WidrowHoff": _widrow_hoff,
}
