"""Quality by cross-validation: every row is predicted by a model that was trained without it.

`folds` chooses scikit-learn's splitter by what is known of the rows; `predict_folds` is the loop of
`cross_validated`, `compare` and the command.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold
from sklearn.utils.validation import check_array, has_fit_parameter

from adaline.estimators.online import runs_in as runs_in
from adaline.evaluation.quality import Quality, quality_for
from adaline.evaluation.trial import Answers, answers
from adaline.evaluation.words import HOLD_OUT, plural, words_for
from adaline.parameters import Expected, ParameterError, array, count, is_whole, weights_of
from adaline.results import Result

Index = NDArray[np.intp]
MEASURES = {"accuracy": "accuracy", "r2": "R²", "rmse": "root mean squared error"}


@dataclass(frozen=True, eq=False)
class Folds(Result):
    """Pairs of row numbers, (training, test), and what to call them in a sentence."""

    pairs: tuple[tuple[Index, Index], ...]
    way: str

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Any:
        return iter(self.pairs)


def folds(y: Any, cv: int = 10, *, groups: Any = None, times: Any = None, seed: int = 0) -> Folds:
    """Folds for cross-validation, of classes with about the same share in each.

    `cv` is how many, n or more to leave out one row at a time. Rows of one of `groups` stay
    together. With `times`, which are numbers, dates or text that sorts by time, each fold is
    predicted from what came before it, and equal times stay together.

    >>> parts = folds(["a", "b"] * 6, 3)
    >>> print(parts.way, [len(test) for _, test in parts])
    3-fold cross-validation [4, 4, 4]
    >>> folds([1.0, 2.0, 3.0], 2, times=[2001, 2003, 2002]).pairs[-1]
    (array([0, 2]), array([1]))
    """
    truth = array("y", y)
    n = len(truth) if truth.ndim in (1, 2) else 0
    if n < 2:
        raise ParameterError(f"y has shape {truth.shape}; folds need two rows or more.")
    k = min(int(count(2)("cv", cv)), n)
    Expected("a whole number", is_whole)("seed", seed)
    if groups is not None and times is not None:
        raise ParameterError("groups and times are both given; folds follow one of them.")
    if times is not None:
        when = codes_of("times", times, n)
        # Of equally many different times; TimeSeriesSplit would tear equal times apart.
        spans = np.array_split(np.unique(when), min(k, int(when.max())) + 1)[1:]
        pairs = [(np.flatnonzero(when < s[0]), np.flatnonzero(np.isin(when, s))) for s in spans]
        way = f"{plural(len(spans), 'span')} of time predicted from what came before"
        return Folds(tuple(pairs), way)
    codes, group = codes_of("y", truth.reshape(n, -1)[:, 0], n), None
    way = "leave-one-out cross-validation" if k == n else f"{k}-fold cross-validation"
    if groups is not None:
        group = codes_of("groups", groups, n)
        m = int(group.max()) + 1
        k = min(k, m)
        way = f"{k}-fold cross-validation over {plural(m, 'group')}"
    sizes = np.bincount(codes)
    # Few different values are classes, if the largest has a row for each fold.
    is_class = 3 * len(sizes) <= n and int(sizes.max()) >= k
    shuffled = {"shuffle": True, "random_state": int(seed) % 2**32}
    if group is None:
        splitter: Any = (StratifiedKFold if is_class else KFold)(k, **shuffled)
    else:  # unshuffled, GroupKFold makes folds of about equal size
        splitter = StratifiedGroupKFold(k, **shuffled) if is_class else GroupKFold(k)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        return Folds(tuple(p for p in splitter.split(codes, codes, group) if len(p[1])), way)


def hold_out(y: Any, cv: int = 5, *, seed: int = 0) -> Folds:
    """The first of `folds(y, cv, seed=seed)` alone: of five, a fifth of the rows is predicted."""
    return Folds(folds(y, cv, seed=seed).pairs[:1], HOLD_OUT)


@dataclass(frozen=True, eq=False)
class CrossValidated(Result):
    """The result of a cross-validation.

    `model` is fitted on all rows; `rows` (all, but for folds of time) were predicted, with
    `answers`, each by a model that was trained without that row. `quality` counts all folds
    together, `per_fold` has the numbers of each, and `way` is such as "10-fold cross-validation".
    """

    model: BaseEstimator
    quality: Quality
    rows: Any
    answers: Answers
    per_fold: tuple[dict[str, Any], ...]
    way: str

    @property
    def spread(self) -> dict[str, Any]:
        """How the measure differs from fold to fold; empty for one fold, or folds of one row."""
        if min(f["rows"] for f in self.per_fold) < 2 or len(self.per_fold) < 2:
            return {}
        # The first that each fold has: R² is unknown where all targets are equal.
        key = next(k for k in MEASURES if all(facts.get(k) is not None for facts in self.per_fold))
        values = [facts[key] for facts in self.per_fold]
        ends = {"least": min(values), "largest": max(values)}
        deviation = float(np.std(values, ddof=1))
        return {"count": len(values), "measure": MEASURES[key], **ends, "deviation": deviation}

    @property
    def sentence(self) -> str:
        """How good the predictions are."""
        return self.quality.sentence(words_for(self.quality.n, True, self.way))

    def __str__(self) -> str:
        return self.sentence


def cross_validated(
    model: BaseEstimator,
    X: Any,
    y: Any,
    cv: Any = 10,
    *,
    groups: Any = None,
    times: Any = None,
    sample_weight: Any = None,
    seed: int = 0,
) -> CrossValidated:
    """Fit on all rows, and measure by folds: each row is predicted by a fit without it.

    Whatever the learner chooses by itself, such as a penalty, it chooses anew in every fold, so
    that the quality includes the search.

    Parameters
    ----------
    model : estimator
        It is copied, not changed.
    X, y : array-like or CSR of shape (n, p), and (n,) or (n, k)
    cv, groups, times
        As for `adaline.evaluation.cross_validation.folds`, which are taken, too: how many folds,
        rows that stay together, or times, where each fold is predicted from what came before.
    sample_weight : array-like of shape (n,), optional
        Weights to train with; the quality counts every row once.
    seed : int
        Of the folds, and of the order in which a classifier that learns row by row takes rows that
        are sorted by class, as it would remember the last class only.

    Examples
    --------
    >>> from adaline import Ridge, cross_validated
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 2))
    >>> y = X @ [1.0, 2.0] + 0.5 * rng.standard_normal(60)
    >>> found = cross_validated(Ridge(), X, y)
    >>> print(found)
    Explains 94...% of the variance (10-fold cross-validation, 60 rows); root mean squared ...
    >>> found.model.predict([[1.0, 1.0]]).round(1)
    array([2.9])
    """
    X = check_array(X, accept_sparse="csr", dtype=None, ensure_all_finite=False)
    truth = array("y", y)
    if truth.ndim not in (1, 2) or len(truth) != X.shape[0]:
        raise ParameterError(f"X has {X.shape[0]} rows and y has shape {truth.shape}.")
    omega = weights_of("sample_weight", sample_weight, len(truth))
    trained = fitted(model, X, truth, omega, seed)  # which rejects what no learner accepts
    if not isinstance(cv, Folds):
        cv = folds(truth, cv, groups=groups, times=times, seed=seed)
    return predict_folds(model, trained, X, truth, cv, omega, seed=seed)


def predict_folds(
    model: BaseEstimator,
    trained: BaseEstimator,
    X: Any,
    y: Any,
    parts: Folds,
    omega: Any = None,
    after: Callable[[int, int], None] | None = None,
    seed: int = 0,
) -> CrossValidated:
    """Predict each fold from the others; `trained` is fitted on all rows, `after` counts folds.

    `seed` is that of `fit_in_order`.
    """
    quality, predicted, per_fold = quality_for(trained), [], []
    for j, (train, test) in enumerate(parts, start=1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit to all rows has warned already
            weight = None if omega is None else omega[train]
            try:
                part = fitted(model, X[train], y[train], weight, seed)
            except ValueError as error:
                lead = f"fold {j} of {len(parts)} cannot be trained on ({error})"
                raise ValueError(f"{lead} Use fewer folds, or more rows.") from error
            one = _in_classes(answers(part, X[test]), part, getattr(trained, "classes_", None))
        predicted.append((one.predicted, one.log_p, one.scores))
        own = quality_for(trained)
        for sums in (quality, own):
            sums.add(y[test], *predicted[-1], fold=j)
        per_fold.append(own.facts())
        if after is not None:
            after(j, len(parts))
    tested = np.concatenate([test for _, test in parts])
    order = np.argsort(tested, kind="stable")
    joined: list[Any] = [
        None if any(v is None for v in values) else np.concatenate(values)[order]
        for values in zip(*predicted, strict=True)
    ]
    return CrossValidated(
        trained, quality, tested[order], Answers(*joined), tuple(per_fold), parts.way
    )


def fitted(model: BaseEstimator, X: Any, y: Any, omega: Any = None, seed: int = 0) -> BaseEstimator:
    """A fresh estimator with the parameters of `model`, fitted by `fit_in_order`."""
    fresh = clone(model)
    if omega is not None and not has_fit_parameter(fresh, "sample_weight"):
        raise ParameterError(f"{type(model).__name__} takes no sample_weight; leave it out.")
    fit_in_order(fresh, X, y, omega, seed)
    return fresh


def fit_in_order(model: BaseEstimator, X: Any, y: Any, omega: Any = None, seed: int = 0) -> bool:
    """Fit, and return whether in the order `numpy.random.default_rng(seed).permutation(len(y))`.

    So a model that learns row by row takes rows whose labels come in runs.
    """
    weighted = {} if omega is None else {"sample_weight": omega}
    in_order = getattr(model, "_learns_in_order", None)
    if in_order is None or not in_order() or np.ndim(y) != 1 or not runs_in(y):
        model.fit(X, y, **weighted)
        return False
    order = np.random.default_rng(seed).permutation(len(y))
    model.fit(X[order], y[order], **{key: w[order] for key, w in weighted.items()})
    if hasattr(model, "support_"):  # row numbers, as they were given
        model.support_ = order[model.support_]
    return True


def _in_classes(given: Answers, part: Any, classes: Any) -> Answers:
    """Answers of a fold in the classes of all rows; one it has not seen has probability 0."""
    if classes is None or np.array_equal(part.classes_, classes):
        return given
    if given.log_p is None:
        return Answers(given.predicted)
    log_p = np.full((len(given.predicted), len(classes)), -np.inf)
    log_p[:, np.searchsorted(classes, part.classes_)] = given.log_p
    return Answers(given.predicted, log_p)


def codes_of(name: str, values: Any, n: int) -> NDArray[np.int64]:
    """The place of each value among the different ones, sorted; two or more, but of y."""
    column = array(name, values)
    if column.shape != (n,):
        raise ParameterError(f"{name} has shape {column.shape}; expected one for each of {n} rows.")
    if any(v is None or v != v for v in column.tolist()):
        raise ParameterError(f"{name} has missing values; fill them in, or leave their rows out.")
    if column.dtype.kind == "O":
        column = np.array(column.tolist())  # of one type, if they are
    column = column.astype(str) if column.dtype.kind == "O" else column
    codes = np.unique(column, return_inverse=True)[1].astype(np.int64)
    if name != "y" and not codes.any():
        raise ParameterError(f"{name} are all equal; folds need two or more different ones.")
    return codes
