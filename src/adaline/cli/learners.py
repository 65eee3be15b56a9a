"""Which learner: the one asked for, or the one that the target suggests, and its settings."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import adaline
from adaline._names import public_homes
from adaline.cli.errors import UsageError
from adaline.cli.options import suggest
from adaline.data import Source
from adaline.data.sharing import column, labels
from adaline.evaluation.words import name, number, plural

FEW_VALUES = 10  # whole numbers with at most so many different values are taken for classes
MANY_CLASSES = 30  # above which a Gaussian classifier, one pass, is less work than a softmax
SEARCHED = 1_000_000  # numbers up to which logistic regression searches its penalty

# What to take instead of well-known methods that adaline lacks, or has under another name.
ADVICE = {
    "ridge shrinks the weights as well, but sets none of them to zero: --model ridge.": (
        "lasso lassocv elasticnet elasticnetcv lars"
    ),
    "logistic is the nearest, kernel-perceptron has kernels, and Python has max_margin(X, y).": (
        "svm svc linearsvc nusvc"
    ),
    "ridge is the nearest, linear in its columns; --formula adds powers and products.": (
        "svr linearsvr kernelridge gaussianprocess kriging spline gam polynomial"
    ),
    "poisson is the nearest for numbers that are not negative.": "negativebinomial gamma tweedie",
    "least-squares and ridge are the nearest, and sensitive to outliers.": "huber ransac quantile",
    "every model of adaline is linear in its columns: --model ridge or logistic, and --formula.": (
        "randomforest forest rf tree decisiontree extratrees xgboost xgb gbm lightgbm catboost "
        "adaboost gradientboosting histgradientboosting knn kneighbors mlp nn neuralnetwork"
    ),
    "it needs no target, and every learner of adaline needs one.": "pca kmeans dbscan tsne umap",
    "take --model least-squares.": "ols linear lm linearregression regression",
    "take --model logistic.": "logit softmax maxent multinomial probit glm",
    "take --model gaussian.": "lda lineardiscriminantanalysis bayes",
    "take --model gaussian --set covariance=full.": "qda quadraticdiscriminantanalysis",
    "take --model gaussian --set covariance=diagonal.": "naivebayes gaussiannb gnb",
    "take --model ridge.": "ridgecv tikhonov bayesianridge ard",
    "take --model widrow-hoff for numbers, or adaline for classes.": "sgd lms deltarule",
}
_ENDINGS = ("", "classifier", "regressor", "regression", "model")


@dataclass(frozen=True)
class Choice:
    """A learner's class, and the reason to take it."""

    kind: Any
    why: str

    @property
    def model(self) -> str:
        """The learner's name on the command line."""
        return str(self.kind._command)

    @property
    def classes(self) -> bool:
        """Whether the learner is a classifier."""
        return bool(self.kind._learns == "classes")

    @property
    def in_order(self) -> bool:
        """Whether it learns blocks of rows in their order."""
        return bool(self.kind._streams == "order")


def iterate_learners(similar: str = "") -> Iterator[Any]:
    """Classes with a name for the command, those whose own name contains `similar` first.

    Each class is imported when its turn comes, which takes a while for all of them.
    """
    homes = sorted(public_homes("adaline.estimators"), key=lambda n: similar not in n.lower())
    for kind in (getattr(adaline, home) for home in homes):
        if getattr(kind, "_command", None) is not None:
            yield kind


def find_learner(model: str) -> Any:
    """The class of a learner, by its name on the command line, or by that of the class."""
    plain = model.strip().lower().replace("_", "-")
    bare = plain.replace("-", "")
    for kind in iterate_learners(bare):
        if plain == kind._command or bare == kind.__name__.lower():
            return kind
    advice = advice_for(plain)
    if not advice:
        names = sorted(kind._command for kind in iterate_learners())
        advice = suggest(plain, names, len(names))
    raise UsageError(f"--model {model!r}: no such learner; {advice}")


def advice_for(model: str) -> str:
    """What to take instead of a method by another name; "" where the name is not known.

    >>> advice_for("Naive-Bayes")
    'take --model gaussian --set covariance=diagonal.'
    >>> advice_for("ridgge")
    ''
    """
    bare = "".join(letter for letter in model.lower() if letter.isalnum())
    names = {bare.removesuffix(ending) for ending in _ENDINGS}
    return next((text for text, known in ADVICE.items() if names & set(known.split())), "")


def choose_learner(model: str | None, source: Source, target: str) -> Choice:
    """What was asked for, or what the first rows of the target suggest."""
    if model is not None:
        return Choice(find_learner(model), "as requested")
    values = _first_values(source, target)
    different = np.unique(labels(values))
    K, who = len(different), f"{name(target)!r}"
    if K == 1:
        raise ValueError(
            f"the target {who} is {name(different[0])!r} in every row; there is nothing to learn."
        )
    are_numbers, are_whole = values.dtype.kind != "O", different.dtype.kind in "iub"
    if are_numbers and K > 2 and (not are_whole or K > FEW_VALUES or len(values) / 3 < K):
        why = f"because {who} is numeric ({number(K)} different values in the first rows)"
        return Choice(adaline.Ridge, why)
    shown = ", ".join(name(label) for label in different[:4].tolist()) + ", ..." * (K > 4)
    if K == 2:
        why = f"because {who} has two classes ({shown})"
        return Choice(adaline.LogisticRegression, why)
    if K > MANY_CLASSES:
        why = f"because {who} has {plural(K, 'class')}, and Gaussian classes need one pass"
        return Choice(adaline.GaussianClassifier, why)
    kind = "whole numbers, " if are_numbers else ""
    why = f"because {who} has {kind}{K} classes ({shown})"
    why += "; if it is a quantity, use --model ridge" if are_numbers else ""
    return Choice(adaline.LogisticRegression, why)


def _first_values(source: Source, target: str) -> NDArray[Any]:
    """Values of the target in the first blocks, until two are different: files may be sorted."""
    known: list[NDArray[Any]] = []
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
    known = kind().get_params()
    given: dict[str, Any] = {}
    for setting in settings:
        parameter, equals, text = setting.partition("=")
        parameter = parameter.strip().replace("-", "_")
        if not equals:
            raise UsageError(f"--set {setting!r}: expected name=value, such as --set alpha=1.")
        if parameter not in known:
            raise UsageError(
                f"--set {setting!r}: {kind._command} has no setting {parameter!r}; "
                f"{suggest(parameter, known)}"
            )
        given[parameter] = _parse(text.strip())
    if "random_state" in known:
        given.setdefault("random_state", seed)
    if kind is adaline.LogisticRegression and numbers is not None and numbers <= SEARCHED:
        given.setdefault("alpha", "auto")
    return kind(**given)


def _parse(text: str) -> Any:
    """Numbers, true, false, none and lists; anything else is a word."""
    is_name = text.lower() in ("true", "false", "none")
    try:
        return ast.literal_eval(text.capitalize() if is_name else text)
    except (ValueError, SyntaxError):
        return text


def cost_matrix(
    classes: list[Any], threshold: float | None, costs: str | None
) -> list[list[float]] | None:
    """costs[i][j] of deciding class i where j is true; None for the usual ones.

    >>> cost_matrix(["no", "yes"], 0.25, None)
    [[0.0, 0.75], [0.25, 0.0]]
    >>> cost_matrix(["no", "yes"], None, "yes=5")
    [[0.0, 5.0], [1.0, 0.0]]
    """
    if threshold is not None:
        if len(classes) != 2:
            raise UsageError(f"--threshold is for two classes, and there are {len(classes)}.")
        # Decide the second where its probability p has p (1 - t) > (1 - p) t, that is p > t.
        return [[0.0, 1.0 - threshold], [threshold, 0.0]]
    if costs is None:
        return None
    prices = {str(label): 1.0 for label in classes}
    for part in costs.split(","):
        label, _, cost = (piece.strip() for piece in part.rpartition("="))
        try:
            price = float(cost)
        except ValueError:
            price = -1.0
        if label not in prices or not 0 < price < float("inf"):
            similar = "" if label in prices else f" For {label!r}, {suggest(label, prices)}"
            text = "expected label=cost and costs above 0, such as yes=5,no=1."
            raise UsageError(f"--costs {costs!r}: {text}{similar}")
        prices[label] = price
    rows = range(len(classes))
    return [[0.0 if i == j else c for j, c in enumerate(prices.values())] for i in rows]
