"""Which learner: the one asked for, or the one that the target suggests, and its settings."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

import adaline
from adaline._names import public_homes
from adaline.cli.errors import UsageError
from adaline.cli.options import suggest
from adaline.data import Source
from adaline.data.sharing import column, labels
from adaline.evaluation.compare import kind_of_target
from adaline.evaluation.words import listed, name, number

# What to take instead of well-known methods that adaline lacks, or has under another name.
ADVICE = {
    "lasso elasticnet lars": "ridge shrinks the weights as well, but sets none of them to zero.",
    "svm svc linearsvc": "logistic is the nearest, and kernel-perceptron has kernels.",
    "svr kernelridge gaussianprocess spline gam polynomial": "take ridge, and --formula.",
    "huber ransac quantile": "least-squares and ridge are the nearest, and sensitive to outliers.",
    "randomforest forest decisiontree tree xgboost lightgbm catboost gradientboosting knn mlp": (
        "every model of adaline is linear in its columns: ridge or logistic, and --formula."
    ),
    "pca kmeans dbscan": "it needs no target, and every learner of adaline needs one.",
    "ols linear lm linearregression regression": "take least-squares.",
    "logit softmax maxent multinomial probit glm": "take logistic.",
    "lda lineardiscriminantanalysis bayes": "take gaussian.",
    "qda quadraticdiscriminantanalysis": "take gaussian --set covariance=full.",
    "naivebayes gaussiannb": "take gaussian --set covariance=diagonal.",
    "sgd lms deltarule": "take widrow-hoff for numbers, or adaline for classes.",
}


def list_learners() -> list[Any]:
    """Classes with a name for the command."""
    kinds = (getattr(adaline, name) for name in sorted(public_homes("adaline.estimators")))
    return [kind for kind in kinds if getattr(kind, "_command", None) is not None]


def find_learner(model: str) -> Any:
    """The class of a learner, by its name on the command line, or by that of the class."""
    bare = "".join(filter(str.isalnum, model.lower()))
    learners = {kind._command: kind for kind in list_learners()}
    for command, kind in learners.items():
        if bare in (command.replace("-", ""), kind.__name__.lower()):
            return kind
    method = bare.removesuffix("classifier").removesuffix("regressor")
    advice = next((text for methods, text in ADVICE.items() if method in methods.split()), "")
    advice = advice or suggest(model.strip().lower(), sorted(learners), len(learners))
    raise UsageError(f"--model {model!r}: no such learner; {advice}")


def choose_learner(model: str | None, source: Source, target: str) -> tuple[Any, str]:
    """The class that was asked for, or that the first rows of the target suggest; and why."""
    if model is not None:
        return find_learner(model), "as requested"
    values, who = _first_values(source, target), f"because {name(target)!r} "
    different = np.unique(labels(values))
    K, shown = len(different), listed(different.tolist(), most=4)
    if K == 1:
        raise ValueError(f"the target {target!r} has one value, {shown}: nothing to learn.")
    if kind_of_target(labels(values)) != "classes":
        return adaline.Ridge, f"{who}is numeric ({number(K)} different values in the first rows)"
    if K == 2:
        return adaline.LogisticRegression, f"{who}has two classes ({shown})"
    if K > 30:  # the one pass of a Gaussian classifier is less work than a softmax
        return adaline.GaussianClassifier, f"{who}has many classes, and it needs one pass"
    advice = "; if it is a quantity, use --model ridge" * (values.dtype.kind != "O")
    return adaline.LogisticRegression, f"{who}has {K} classes ({shown}){advice}"


def _first_values(source: Source, target: str) -> Any:
    """Values of the target in the first blocks, until two are different: files may be sorted."""
    known: list[Any] = []
    for block in source:
        values, missing = column(block, target)
        known.append(values[~missing])
        if len(np.unique(labels(np.concatenate(known)))) > 1:
            break
    if not sum(map(len, known)):
        raise ValueError(f"{source.name}: the target {target!r} has no value in any row.")
    return np.concatenate(known)


def make_learner(kind: Any, settings: Sequence[str], seed: int, numbers: int | None = None) -> Any:
    """The learner, with `name=value` settings; for so many numbers in memory."""
    known, given = kind().get_params(), dict[str, Any]()
    for setting in settings:
        parameter, equals, text = setting.partition("=")
        parameter = parameter.strip().replace("-", "_")
        if not equals:
            raise UsageError(f"--set {setting!r}: expected name=value, such as --set alpha=1.")
        if parameter not in known:
            similar = suggest(parameter, known)
            raise UsageError(f"--set {setting!r}: {kind._command} has no such setting; {similar}")
        given[parameter] = _parse(text.strip())
    if "random_state" in known:
        given.setdefault("random_state", seed)
    # The search of a penalty takes seconds up to a million numbers.
    if kind is adaline.LogisticRegression and numbers is not None and numbers <= 1_000_000:
        given.setdefault("alpha", "auto")
    return kind(**given)


def _parse(text: str) -> Any:
    """Numbers, true, false, none and lists; anything else is a word."""
    is_name = text.lower() in ("true", "false", "none")
    try:
        return ast.literal_eval(text.capitalize() if is_name else text)
    except (ValueError, SyntaxError):
        return text


def cost_matrix(classes: list[Any], threshold: float | None, costs: str | None) -> Any:
    """costs[i][j] of deciding class i where j is true.

    >>> cost_matrix(["no", "yes"], 0.25, None)
    [[0.0, 0.75], [0.25, 0.0]]
    >>> cost_matrix(["no", "yes"], None, "yes=5")
    [[0.0, 5.0], [1.0, 0.0]]
    """
    prices = dict.fromkeys(map(str, classes), 1.0)
    if threshold is not None:
        if len(classes) != 2:
            raise UsageError(f"--threshold is for two classes, and there are {len(classes)}.")
        # Decide the second if its probability p has p (1 - t) > (1 - p) t, that is p > t.
        prices = dict(zip(prices, (threshold, 1.0 - threshold), strict=True))
    for part in costs.split(",") if costs is not None else ():
        label, _, cost = (piece.strip() for piece in part.rpartition("="))
        price = _parse(cost)
        if label not in prices:
            raise UsageError(f"--costs {costs!r}: no class {label!r}; {suggest(label, prices)}")
        if not isinstance(price, int | float) or not 0 < price < float("inf"):
            raise UsageError(f"--costs {costs!r}: expected costs above 0, such as yes=5,no=1.")
        prices[label] = float(price)
    rows = range(len(classes))
    return [[0.0 if i == j else c for j, c in enumerate(prices.values())] for i in rows]
