"""What a fitted model claims: that its weights minimise a criterion. Called by `audit`.

Models are read by the names of their classes and their public attributes; no library is imported.
All criteria become sums over rows, of weights W (K, p) and biases b (K,):

    sum_i omega_i loss(W x_i + b, y_i) + alpha / 2 |W|^2

and for squares, the sum of squares + alpha |W|^2. scikit-learn's C is 1 / alpha; PoissonRegressor
and the SGD learners divide the sum of losses by the number of rows, so that their alpha is ours
divided by it (`per_row`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from adaline.parameters import ParameterError, number, numbers
from adaline.results import Array

if TYPE_CHECKING:
    from adaline.evaluation.trial import BaseEstimator

Criterion = Literal["least-squares", "logistic", "poisson", "separation"]

AUDITED = (
    "audit reads scikit-learn's LinearRegression, Ridge, RidgeCV, RidgeClassifier, "
    "LogisticRegression(CV), PoissonRegressor, SGDClassifier, SGDRegressor, Perceptron, LinearSVC "
    "and linear SVC, a Pipeline or search that ends in one of them, statsmodels' OLS, WLS, Logit, "
    "MNLogit, Poisson and GLM, and adaline's own; or give coef, intercept, criterion and alpha."
)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Weights, and the criterion that they are said to minimise."""

    criterion: Criterion
    W: Array
    b: Array
    title: str
    alpha: float = 0.0
    per_row: bool = False  # alpha is to be multiplied by the total weight
    intercept: bool = True
    classes: Any = None
    class_weight: Any = None
    signs: bool = False  # least squares of -1 and +1, one output a class
    reported: dict[str, Any] = field(default_factory=dict)  # std err and the like, as the model has
    data: tuple[Any, ...] = ()  # X, y, weights, offset and names that the model itself keeps


def read_claim(model: BaseEstimator, X: Any) -> tuple[Claim, Any]:
    """The claim of a fitted model, and the rows as its last step sees them."""
    while hasattr(model, "best_estimator_") or hasattr(model, "steps"):
        if hasattr(model, "steps"):
            X = X if X is None or len(model.steps) == 1 else model[:-1].transform(X)
            model = model.steps[-1][1]
        else:
            model = model.best_estimator_
    package, kind = type(model).__module__.partition(".")[0], type(model).__name__
    if package == "statsmodels" and hasattr(model, "model"):
        return read_statsmodels(model), X
    reader = (READERS if package == "sklearn" else OWN if package == "adaline" else {}).get(kind)
    if reader is None:
        raise ParameterError(f"{package}'s {kind} cannot be audited; {AUDITED}")
    if not hasattr(model, "coef_"):
        raise ParameterError(f"this {kind} is not fitted, or has no coef_; call fit first.")
    claim = reader(model)
    library = {"sklearn": "scikit-learn"}.get(package, package)
    return replace(claim, title=f"{library}'s {claim.title or kind}"), X


def of_model(model: BaseEstimator, criterion: Criterion, **more: Any) -> Claim:
    """A claim with the weights of a model that has coef_ and intercept_."""
    W = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    b = np.broadcast_to(np.ravel(np.asarray(model.intercept_, dtype=np.float64)), len(W))
    more.setdefault("title", type(model).__name__)
    classes = getattr(model, "classes_", None)
    intercept = bool(getattr(model, "fit_intercept", True))
    more = {"classes": classes, "intercept": intercept} | more
    return Claim(criterion=criterion, W=W, b=np.array(b), **more)


def refuse(what: str) -> ParameterError:
    return ParameterError(f"{what} cannot be audited: only squared penalties, or none. {AUDITED}")


def as_number(alpha: Any, name: str = "alpha") -> float:
    values = np.unique(np.asarray(alpha, dtype=np.float64))
    if len(values) != 1:
        raise refuse(f"several values of {name}")
    return float(values[0])


def read_linear(model: BaseEstimator) -> Claim:
    if getattr(model, "positive", False):
        raise refuse("positive=True")
    return of_model(model, "least-squares")


def read_ridge(model: BaseEstimator) -> Claim:
    alpha = as_number(getattr(model, "alpha_", model.alpha if hasattr(model, "alpha") else 0.0))
    if getattr(model, "positive", False):
        raise refuse("positive=True")
    own = {"class_weight": getattr(model, "class_weight", None)}
    title, signs = f"{type(model).__name__}(alpha={alpha:g})", hasattr(model, "classes_")
    return of_model(model, "least-squares", alpha=alpha, signs=signs, title=title, **own)


def read_logistic(model: BaseEstimator) -> Claim:
    ratio = getattr(model, "l1_ratio_", getattr(model, "l1_ratio", 0.0))
    penalty = getattr(model, "penalty", "l2")
    if penalty in ("l1", "elasticnet") or np.any(np.asarray(ratio, dtype=np.float64) > 0.0):
        raise refuse("an l1 penalty")
    C = as_number(getattr(model, "C_", getattr(model, "C", 1.0)), "C")
    alpha = 0.0 if penalty is None or np.isinf(C) else 1.0 / C
    title = f"{type(model).__name__}(C={C:g}, solver={model.solver!r})"
    return of_model(model, "logistic", alpha=alpha, class_weight=model.class_weight, title=title)


def read_poisson(model: BaseEstimator) -> Claim:
    title = f"PoissonRegressor(alpha={model.alpha:g})"
    return of_model(model, "poisson", alpha=float(model.alpha), per_row=True, title=title)


def read_sgd(model: BaseEstimator) -> Claim:
    if model.penalty not in ("l2", None):
        raise refuse("an l1 penalty")
    loss = {"log_loss": "logistic", "squared_error": "least-squares"}.get(model.loss)
    if loss is None and model.loss not in ("hinge", "perceptron", "squared_hinge"):
        raise refuse(f"the loss {model.loss!r}")
    alpha = float(model.alpha) if model.penalty else 0.0
    own = {"class_weight": getattr(model, "class_weight", None)}
    criterion: Any = loss or "separation"
    return of_model(model, criterion, alpha=alpha, per_row=loss is not None, **own)


def read_separator(model: BaseEstimator) -> Claim:
    if getattr(model, "kernel", "linear") != "linear":
        raise refuse(f"the kernel {model.kernel!r}")
    return of_model(model, "separation")


READERS: dict[str, Callable[[Any], Claim]] = {
    "LinearRegression": read_linear,
    **dict.fromkeys(("Ridge", "RidgeCV", "RidgeClassifier", "RidgeClassifierCV"), read_ridge),
    **dict.fromkeys(("LogisticRegression", "LogisticRegressionCV"), read_logistic),
    "PoissonRegressor": read_poisson,
    **dict.fromkeys(("SGDClassifier", "SGDRegressor"), read_sgd),
    **dict.fromkeys(("Perceptron", "LinearSVC", "SVC"), read_separator),
}


def read_own(model: BaseEstimator) -> Claim:
    """A learner of ours; penalties in units of columns have certificates of their own only."""
    if getattr(model, "column_scale_", None) is not None:
        raise refuse("a penalty in units of the columns' deviations")
    alpha = getattr(model, "alpha_", getattr(model, "alpha", 0.0))
    if isinstance(alpha, str):
        raise refuse(f"alpha={alpha!r}")
    criterion: Any = OWN_CRITERIA[type(model).__name__]
    own = {"class_weight": getattr(model, "class_weight", None)}
    return of_model(model, criterion, alpha=as_number(alpha), **own)


OWN_CRITERIA = {
    **dict.fromkeys(("LeastSquares", "Ridge"), "least-squares"),
    "LogisticRegression": "logistic",
    "PoissonRegression": "poisson",
    **dict.fromkeys(("Perceptron", "Adaline", "SigmoidPerceptron"), "separation"),
}
OWN: dict[str, Callable[[Any], Claim]] = dict.fromkeys(OWN_CRITERIA, read_own)


def read_statsmodels(result: Any) -> Claim:
    """Results of statsmodels, whose models keep their rows; a constant is a column like others."""
    model = result.model
    kind, family = type(model).__name__, type(getattr(model, "family", None)).__name__
    names = {"Gaussian": "least-squares", "Binomial": "logistic", "Poisson": "poisson"}
    kinds: dict[str, str | None] = {"OLS": "least-squares", "WLS": "least-squares"}
    kinds |= {"Logit": "logistic", "MNLogit": "logistic", "Poisson": "poisson"}
    criterion: Any = names.get(family) if kind == "GLM" else kinds.get(kind)
    if criterion is None or (kind == "GLM" and not is_canonical(model.family)):
        raise ParameterError(f"statsmodels' {kind} of {family} cannot be audited; {AUDITED}")
    y, X = np.asarray(model.endog, dtype=np.float64), np.asarray(model.exog, dtype=np.float64)
    weights: Any = None
    if kind == "WLS":
        weights = np.asarray(model.weights, dtype=np.float64)
    elif kind == "GLM":
        weights = np.asarray(model.freq_weights * model.var_weights, dtype=np.float64)
    offset = np.zeros(len(y))
    for name in ("offset", "exposure"):  # statsmodels keeps the logarithm of an exposure
        more = getattr(model, name, None)
        offset = offset + np.asarray(more) if more is not None and np.ndim(more) else offset
    params = np.asarray(result.params, dtype=np.float64)
    W = np.vstack([np.zeros(len(params)), params.T]) if params.ndim == 2 else params[None]
    if criterion == "logistic" and not np.all(np.isin(np.unique(y), np.arange(max(len(W), 2)))):
        raise ParameterError("a binomial model of shares cannot be audited; give a row a trial.")
    if kind == "WLS":  # whose errors are the same for all multiples of the weights
        weights = weights / weights.mean()
    reported: dict[str, Any] = {}
    is_counted = weights is None or bool(np.all(weights == weights.astype(int)))
    if is_counted and kind != "WLS" and family != "Gaussian":
        reported["log-likelihood"] = float(result.llf)
    usual = getattr(result, "cov_type", "nonrobust") == "nonrobust" and params.ndim == 1
    if usual and (is_counted or kind == "WLS"):
        reported["std err"] = np.asarray(result.bse, dtype=np.float64)
    if kind == "OLS" and getattr(result, "k_constant", False):
        reported["R²"] = float(result.rsquared)
    return Claim(
        criterion=criterion,
        W=W,
        b=np.zeros(len(W)),
        title=f"statsmodels' {kind}{f' ({family})' if kind == 'GLM' else ''}",
        intercept=False,
        classes=np.arange(max(len(W), 2)) if criterion == "logistic" else None,
        reported=reported,
        data=(X, y, weights, offset if offset.any() else None, list(model.exog_names)),
    )


def is_canonical(family: Any) -> bool:
    link = type(family.link).__name__
    canonical = {"Gaussian": "Identity", "Binomial": "Logit", "Poisson": "Log"}
    return canonical.get(type(family).__name__) == link


def claim_numbers(coef: Any, intercept: Any, criterion: Any, alpha: Any, y: Any) -> Claim:
    """Plain numbers, as another program printed them."""
    if criterion not in ("least-squares", "logistic", "poisson", "separation"):
        raise ParameterError(
            f"criterion is {criterion!r}; expected 'least-squares', 'logistic', 'poisson' or "
            "'separation'."
        )
    W = np.atleast_2d(numbers("coef", coef))
    fits_intercept = intercept is not None and not np.all(np.asarray(intercept) == 0.0)
    b = np.ravel(numbers("intercept", 0.0 if intercept is None else intercept))
    if len(b) not in (1, len(W)):
        raise ParameterError(f"intercept has {len(b)} numbers, and coef has {len(W)} rows.")
    classes = np.unique(np.asarray(y)) if criterion in ("logistic", "separation") else None
    return Claim(
        criterion=criterion,
        W=W,
        b=np.array(np.broadcast_to(b, len(W))),
        title="the given model",
        alpha=number(0.0)("alpha", alpha),
        intercept=fits_intercept,
        classes=classes,
    )
