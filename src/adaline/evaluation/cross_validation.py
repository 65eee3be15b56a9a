"""Quality by cross-validation: every row is predicted by a model that was trained without it.

`folds` chooses scikit-learn's splitter by what is known of the rows; `cross_validated` counts.
"""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)

from adaline.estimators.online import goes_in_order
from adaline.estimators.online import runs_of as runs_of
from adaline.evaluation.quality import Decisions, Quality, quality_for
from adaline.evaluation.trial import Answers, answers
from adaline.evaluation.words import HOLD_OUT, plural, words_for
from adaline.parameters import (
    Expected,
    ParameterError,
    array,
    count,
    is_sparse,
    is_whole,
    shown,
    weights_of,
)
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
    count(2)("cv", cv)
    Expected("a whole number", is_whole)("seed", seed)
    if groups is not None and times is not None:
        raise ParameterError("groups and times are both given; folds follow one of them.")
    if times is not None:
        return _spans_of_time(codes_of("times", times, n), int(cv))
    classes = codes_of("y", truth if truth.ndim == 1 else truth[:, 0], n)
    splitter: Any
    group: Any = None
    shuffled: dict[str, Any] = {"shuffle": True, "random_state": int(seed) % 2**32}
    if groups is not None:
        group = codes_of("groups", groups, n)
        many = int(group.max()) + 1
        if many < 2:
            raise ParameterError("groups holds one group; folds need two or more.")
        k = min(int(cv), many)
        splitter = GroupKFold(k)  # unshuffled, folds are of about equal size
        if _is_stratified(classes, k):
            splitter = StratifiedGroupKFold(k, **shuffled)
        way = f"{k}-fold cross-validation over {plural(many, 'group')}"
    elif cv >= n:
        splitter, way = LeaveOneOut(), "leave-one-out cross-validation"
    else:
        kind = StratifiedKFold if _is_stratified(classes, int(cv)) else KFold
        splitter, way = kind(int(cv), **shuffled), f"{cv}-fold cross-validation"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        pairs = splitter.split(classes, classes, group)
        return Folds(tuple(pair for pair in pairs if len(pair[1])), way)


def _is_stratified(codes: Index, k: int) -> bool:
    """Whether few different values look like classes, one of which has rows for each fold."""
    sizes = np.bincount(codes)
    return 3 * len(sizes) <= len(codes) and int(sizes.max()) >= k


def _spans_of_time(when: Index, k: int) -> Folds:
    """Spans of about equally many different times, so that equal times stay together."""
    last = int(when.max())
    if last < 1:
        raise ParameterError("times holds one time; folds need two or more.")
    spans: Any = [(np.array([0]), np.array([1]))]  # TimeSeriesSplit makes two folds or more
    if min(k, last) > 1:
        spans = TimeSeriesSplit(min(k, last)).split(np.arange(last + 1))
    pairs = tuple((np.isin(when, a).nonzero()[0], np.isin(when, b).nonzero()[0]) for a, b in spans)
    return Folds(pairs, f"{plural(len(pairs), 'span')} of time predicted from what came before")


def hold_out(y: Any, cv: int = 5, *, seed: int = 0) -> Folds:
    """The first of `folds(y, cv, seed=seed)` alone: of five, a fifth of the rows is predicted."""
    return Folds(folds(y, cv, seed=seed).pairs[:1], HOLD_OUT)


@dataclass(frozen=True, eq=False)
class CrossValidated(Result):
    """The result of a cross-validation.

    Attributes
    ----------
    model : fitted estimator
        Fitted on all rows.
    quality : Decisions or Errors
        Predictions of all folds, counted together.
    rows : ndarray of int
        The rows that were predicted: all, but for folds of time.
    answers : Answers
        What was predicted for them, each by a model that was trained without that row.
    per_fold : tuple of dict
        The numbers of each fold.
    way : str
        What it is called, such as "10-fold cross-validation".
    """

    model: Any
    quality: Quality
    rows: Any
    answers: Answers
    per_fold: tuple[dict[str, Any], ...]
    way: str

    @property
    def spread(self) -> dict[str, Any]:
        """How the measure differs from fold to fold; empty for one fold, or folds of few rows."""
        key = "accuracy" if isinstance(self.quality, Decisions) else "r2"
        if key == "r2" and any(facts["r2"] is None for facts in self.per_fold):
            key = "rmse"
        values = [facts[key] for facts in self.per_fold]
        if min(f["rows"] for f in self.per_fold) < 2 or self.way == HOLD_OUT:
            return {}
        ends = {"least": min(values), "largest": max(values)}
        deviation = float(np.std(values, ddof=1)) if values[1:] else None
        return {"count": len(values), "measure": MEASURES[key], **ends, "deviation": deviation}

    @property
    def sentence(self) -> str:
        """How good the predictions are."""
        return self.quality.sentence(words_for(self.quality.n, True, self.way))

    def __str__(self) -> str:
        return self.sentence


def cross_validated(
    model: Any,
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
    cv : int or Folds
        How many folds; n leaves out one row at a time.
    groups, times : array-like of shape (n,), optional
        Rows that stay together, or times: each fold is predicted from what came before; see
        `adaline.evaluation.cross_validation.folds`.
    sample_weight : array-like of shape (n,), optional
        Weights to train with; the quality counts every row once.
    seed : int
        Of the folds, and of the order in which a classifier that learns row by row takes rows that
        are sorted by class, as it would remember the last class only.

    Returns
    -------
    CrossValidated

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
    X, truth = rows_of(X), array("y", y)
    if not hasattr(model, "fit") or not hasattr(model, "get_params") or isinstance(model, type):
        raise ParameterError(f"model is {shown(model)}; expected an estimator, such as Ridge().")
    if truth.ndim not in (1, 2) or len(truth) != X.shape[0]:
        raise ParameterError(
            f"X has {X.shape[0]} rows and y has shape {truth.shape}; give one y for each row."
        )
    omega = weights_of("sample_weight", sample_weight, len(truth))
    whole = fitted(model, X, truth, omega, seed)  # which rejects what no learner accepts
    parts = as_folds(cv, truth, groups, times, seed)
    return predict_folds(model, whole, X, truth, parts, omega, seed=seed)


def as_folds(cv: Any, y: Any, groups: Any, times: Any, seed: int) -> Folds:
    """Folds as they are given, or so many of them."""
    if not isinstance(cv, Folds):
        return folds(y, cv, groups=groups, times=times, seed=seed)
    if max(int(max(train[-1], test[-1])) for train, test in cv) >= len(y):
        raise ParameterError(f"cv has rows beyond the {len(y)} that X has; make it for these rows.")
    return cv


def predict_folds(
    model: Any,
    whole: Any,
    X: Any,
    y: Any,
    parts: Folds,
    omega: Any = None,
    after: Callable[[int, int], None] | None = None,
    seed: int = 0,
) -> CrossValidated:
    """Predict each fold from the others; `whole` is fitted on all rows, `after` counts folds.

    `seed` is that of `fit_in_order`.
    """
    quality, predicted, per_fold = quality_for(whole), [], []
    for j, (train, test) in enumerate(parts):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit to all rows has warned already
            weight = None if omega is None else omega[train]
            try:
                part = fitted(model, X[train], y[train], weight, seed)
            except ValueError as error:
                raise ValueError(
                    f"fold {j + 1} of {len(parts)} cannot be trained on ({error}) Use fewer folds, "
                    "or more rows."
                ) from error
            found = _in_classes(answers(part, X[test]), part, getattr(whole, "classes_", None))
        one = quality_for(whole)
        quality.start_fold()
        for sums in (quality, one):
            sums.add(y[test], found.predicted, found.log_p, found.scores)
        per_fold.append(one.facts())
        predicted.append(found)
        if after is not None:
            after(j + 1, len(parts))
    tested = np.concatenate([test for _, test in parts])
    order = np.argsort(tested, kind="stable")

    def joined(values: list[Any]) -> Any:
        return None if any(v is None for v in values) else np.concatenate(values)[order]

    all_answers = Answers(
        joined([a.predicted for a in predicted]),
        joined([a.log_p for a in predicted]),
        joined([a.scores for a in predicted]),
    )
    return CrossValidated(whole, quality, tested[order], all_answers, tuple(per_fold), parts.way)


def fitted(model: Any, X: Any, y: Any, omega: Any = None, seed: int = 0) -> Any:
    """A fresh estimator with the parameters of `model`, fitted by `fit_in_order`."""
    fresh = type(model)(**copy.deepcopy(model.get_params(deep=False)))
    if omega is not None and not accepts_weights(fresh):
        raise ParameterError(f"{type(model).__name__} takes no sample_weight; leave it out.")
    fit_in_order(fresh, X, y, omega, seed)
    return fresh


def fit_in_order(model: Any, X: Any, y: Any, omega: Any = None, seed: int = 0) -> bool:
    """Fit, and return whether in the order `numpy.random.default_rng(seed).permutation(len(y))`.

    So a model that learns row by row takes rows whose labels come in runs.
    """
    weighted = {} if omega is None else {"sample_weight": omega}
    if not (goes_in_order(model) and np.ndim(y) == 1 and runs_of(y) is not None):
        model.fit(X, y, **weighted)
        return False
    order = np.random.default_rng(seed).permutation(len(y))
    model.fit(X[order], y[order], **{key: w[order] for key, w in weighted.items()})
    if hasattr(model, "support_"):  # row numbers, as they were given
        model.support_ = order[model.support_]
    return True


def accepts_weights(model: Any) -> bool:
    """Whether a learner's fit takes weights of rows."""
    return "sample_weight" in inspect.signature(model.fit).parameters


def rows_of(X: Any) -> Any:
    """X such that X[rows] are rows: an array, or CSR."""
    if is_sparse(X):
        return X.tocsr()
    rows = array("X", X)
    if rows.ndim != 2:
        raise ParameterError(f"X has shape {rows.shape}; expected rows and columns, (n, p).")
    return rows


def _in_classes(found: Answers, part: Any, classes: Any) -> Answers:
    """Answers of a fold in the classes of all rows; one it has not seen has probability 0."""
    if classes is None or np.array_equal(part.classes_, classes):
        return found
    if found.log_p is None:
        return Answers(found.predicted)
    log_p = np.full((len(found.predicted), len(classes)), -np.inf)
    log_p[:, np.searchsorted(classes, part.classes_)] = found.log_p
    return Answers(found.predicted, log_p)


def codes_of(name: str, values: Any, n: int) -> NDArray[np.int64]:
    """The place of each value among the different ones, sorted."""
    found = array(name, values)
    if found.shape != (n,):
        raise ParameterError(f"{name} has shape {found.shape}; expected one for each of {n} rows.")
    if found.dtype.kind == "O" and not any(v is None or v != v for v in found.tolist()):
        found = np.array(found.tolist())
        found = found.astype(str) if found.dtype.kind == "O" else found
    if found.dtype.kind == "O" or (found.dtype.kind in "fmM" and np.any(found != found)):
        raise ParameterError(f"{name} has missing values; fill them in, or leave their rows out.")
    return np.unique(found, return_inverse=True)[1].astype(np.int64)
