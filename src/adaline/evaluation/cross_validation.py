"""Quality by cross-validation: every row is predicted by a model that has not seen it."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.estimators.online import goes_in_order
from adaline.estimators.online import runs_of as runs_of
from adaline.evaluation.answers import Answers, answers
from adaline.evaluation.folds import Folds, folds
from adaline.evaluation.quality import Decisions, Quality, quality_for, words_for
from adaline.evaluation.words import HOLD_OUT
from adaline.parameters import ParameterError, array, shown, weights_of
from adaline.results import Result


@dataclass(frozen=True, eq=False)
class CrossValidated(Result):
    """What a cross-validation found.

    Attributes
    ----------
    model : fitted estimator
        Fitted on all rows.
    quality : Decisions or Errors
        Predictions of all folds, counted together.
    rows : ndarray of int
        The rows that were predicted: all, but for folds of time.
    answers : Answers
        What was predicted for them, each by a model that has not learned from that row.
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
        measure = "accuracy" if isinstance(self.quality, Decisions) else "r2"
        if measure == "r2" and any(f["r2"] is None for f in self.per_fold):
            measure = "rmse"
        found = [f[measure] for f in self.per_fold]
        if min(f["rows"] for f in self.per_fold) < 2 or self.way == HOLD_OUT:
            return {}
        return {
            "count": len(found),
            "measure": {"r2": "R²", "rmse": "root mean squared error"}.get(measure, measure),
            "least": min(found),
            "largest": max(found),
            "deviation": float(np.std(found, ddof=1)) if len(found) > 1 else None,
        }

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

    Whatever the learner finds by itself, such as a penalty, it finds anew in every fold, so that
    the quality includes the search.

    Parameters
    ----------
    model : estimator
        It is copied, not changed.
    X, y : array-like or CSR of shape (n, p), and (n,) or (n, k)
    cv : int or Folds
        How many folds; n leaves out one row at a time.
    groups, times : array-like of shape (n,), optional
        Rows that stay together, or times: each fold is predicted from what came before; see
        `adaline.evaluation.folds.folds`.
    sample_weight : array-like of shape (n,), optional
        Weights to learn with; the quality counts every row once.
    seed : int
        Of the folds, and of the order in which a classifier that goes row by row takes rows whose
        labels come in runs, as in a sorted file: it would remember the last class only.

    Returns
    -------
    CrossValidated

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import Ridge, cross_validated
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 2))
    >>> y = X @ [1.0, 2.0] + 0.5 * rng.standard_normal(60)
    >>> found = cross_validated(Ridge(), X, y)
    >>> print(found)
    Explains 94.6 % of the variance of 60 rows in 10-fold cross-validation and is off by ...
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
    whole = fitted(model, X, truth, omega, seed)  # which refuses what no learner takes
    parts = checked_folds(cv, truth, groups, times, seed)
    return measured(model, whole, X, truth, parts, omega, seed=seed)


def checked_folds(cv: Any, y: Any, groups: Any, times: Any, seed: int) -> Folds:
    """Folds as they are given, or so many of them."""
    if not isinstance(cv, Folds):
        return folds(y, cv, groups=groups, times=times, seed=seed)
    if max(int(max(train[-1], test[-1])) for train, test in cv) >= len(y):
        raise ParameterError(f"cv has rows beyond the {len(y)} that X has; make it for these rows.")
    return cv


def measured(
    model: Any,
    whole: Any,
    X: Any,
    y: Any,
    parts: Folds,
    omega: Any = None,
    after: Callable[[int, int], None] | None = None,
    seed: int = 0,
) -> CrossValidated:
    """Predict each fold from the others; `whole` is fitted on all rows, `after` hears of each.

    `seed` is that of `fit_in_order`.
    """
    classes = getattr(whole, "classes_", None)
    quality, found, per_fold = quality_for(whole), [], []
    for j, (train, test) in enumerate(parts):
        here = None if omega is None else omega[train]
        with warnings.catch_warnings():
            # What is to be said of the learner, the fit to all rows has said.
            warnings.simplefilter("ignore")
            try:
                part = fitted(model, X[train], y[train], here, seed)
            except ValueError as error:
                raise ValueError(
                    f"fold {j + 1} of {len(parts)} cannot be learned from ({error}) Take fewer "
                    "folds, or more rows."
                ) from error
            said = _as_whole(answers(part, X[test]), part, classes)
        one = quality_for(whole)
        for sums in (quality, one):
            sums.add(y[test], said.predicted, said.log_p, said.scores)
        quality.cut()
        per_fold.append(one.facts())
        found.append(said)
        if after is not None:
            after(j + 1, len(parts))
    tested = np.concatenate([test for _, test in parts])
    order = np.argsort(tested, kind="stable")
    return CrossValidated(
        whole, quality, tested[order], _joined(found, order), tuple(per_fold), parts.way
    )


def fitted(model: Any, X: Any, y: Any, omega: Any = None, seed: int = 0) -> Any:
    """A fresh estimator with the parameters of `model`, fitted on rows by `fitted_in_order`."""
    made = type(model)(**copy.deepcopy(model.get_params(deep=False)))
    if omega is not None and not takes_weights(made):
        raise ParameterError(f"{type(model).__name__} takes no sample_weight; leave it out.")
    fit_in_order(made, X, y, omega, seed)
    return made


def fit_in_order(model: Any, X: Any, y: Any, omega: Any = None, seed: int = 0) -> bool:
    """Fit, in a random order where the model goes row by row and labels come in runs.

    Whether it was a random order: `numpy.random.default_rng(seed).permutation(len(y))`.
    """
    mixed = goes_in_order(model) and np.ndim(y) == 1 and runs_of(y) is not None
    if not mixed:
        model.fit(X, y) if omega is None else model.fit(X, y, sample_weight=omega)
        return False
    order = np.random.default_rng(seed).permutation(len(y))
    weighted = {} if omega is None else {"sample_weight": omega[order]}
    model.fit(X[order], y[order], **weighted)
    if hasattr(model, "support_"):  # numbers of rows, as they were given
        model.support_ = order[model.support_]
    return True


def takes_weights(model: Any) -> bool:
    """Whether a learner's fit takes weights of rows."""
    return "sample_weight" in inspect.signature(model.fit).parameters


def rows_of(X: Any) -> Any:
    """X such that X[rows] are rows: an array, or CSR."""
    if hasattr(X, "tocsr"):
        return X.tocsr()
    found = array("X", X)
    if found.ndim != 2:
        raise ParameterError(f"X has shape {found.shape}; expected rows and columns, (n, p).")
    return found


def _as_whole(said: Answers, part: Any, classes: Any) -> Answers:
    """Answers of a fold in the classes of all rows: a class it has not seen has probability 0."""
    if classes is None or np.array_equal(part.classes_, classes):
        return said
    if said.log_p is None:
        return Answers(said.predicted)
    log_p = np.full((len(said.predicted), len(classes)), -np.inf)
    log_p[:, np.searchsorted(classes, part.classes_)] = said.log_p
    return Answers(said.predicted, log_p)


def _joined(found: list[Answers], order: Any) -> Answers:
    def joined(parts: list[Any]) -> Any:
        return None if any(p is None for p in parts) else np.concatenate(parts)[order]

    return Answers(
        joined([a.predicted for a in found]),
        joined([a.log_p for a in found]),
        joined([a.scores for a in found]),
    )
