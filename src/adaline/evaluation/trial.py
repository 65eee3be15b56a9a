"""`Trial`: a fitted model, rows with known targets, and what the model predicted for them.

The verdict, its checks, the report and the command look at one trial, so that rows are checked and
predicted once, and columns are named in one place.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator as BaseEstimator

from adaline.evaluation.quality import Quality, quality_for
from adaline.evaluation.words import DateColumn
from adaline.parameters import (
    FLAG,
    MAPPING,
    NONE,
    ParameterError,
    array,
    finite,
    is_sparse,
    numbers,
    shown,
    text,
    weights_of,
)
from adaline.results import Array, Result
from adaline.sums.rows import as_csr

if TYPE_CHECKING:
    from adaline.evaluation.cross_validation import CrossValidated

TEXT = NONE | text("text")
FACTS = NONE | MAPPING


@dataclass(frozen=True, eq=False)
class Answers(Result):
    """What a model predicts for rows.

    `predicted` is (n,) or (n, k); `log_p` (n, K) are log-probabilities of the classes, if the model
    has any; `scores` (n,) of two classes are larger, the more likely the second one is.
    """

    predicted: NDArray[Any]
    log_p: Array | None = None
    scores: Array | None = None


def ask(model: BaseEstimator, method: str, X: Any, *more: Any) -> Any:
    """model.method(X, ...) for an X whose columns are in order, but may have no names."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return getattr(model, method)(X, *more)


def answers(model: BaseEstimator, X: Any) -> Answers:
    """Ask a fitted model about rows."""
    log_p = scores = None
    if hasattr(model, "predict_log_proba"):
        log_p = np.asarray(ask(model, "predict_log_proba", X), dtype=np.float64)
    if len(getattr(model, "classes_", ())) == 2:
        if log_p is not None:
            with np.errstate(invalid="ignore"):
                scores = np.asarray(log_p[:, 1] - log_p[:, 0])
        elif hasattr(model, "decision_function"):
            scores = np.asarray(ask(model, "decision_function", X), dtype=np.float64).ravel()
    return Answers(np.asarray(ask(model, "predict", X)), log_p, scores)


@dataclass(frozen=True, eq=False)
class Rows(Result):
    """Rows X (n, p), dense or CSR, with targets (n,) or (n, k) and weights (n,), if known."""

    X: Any
    y: Any = None
    weight: Any = None


@dataclass(frozen=True, eq=False)
class Trial(Result):
    """A fitted model, rows to try it on, and its predictions.

    `rows` (some of them, if there are many) were predicted, with `answers`, and `quality` counts
    all; `held_out` says whether they are no training rows, None if unknown. With `folds`, training
    rows were predicted by models without them. `learned` are the training rows, `separability` is
    theirs, and `converged` is False if a warning said so. `names` are those of the columns.

    >>> from adaline import Ridge
    >>> trial = Trial.of(Ridge(1.0).fit([[0.0], [1.0]], [0.0, 1.0]), [[2.0]], [2.0], held_out=True)
    >>> trial.answers.predicted.round(2), trial.quality.n
    (array([1.]), 1)
    """

    model: BaseEstimator
    names: list[str]
    rows: Rows | None = None
    answers: Answers | None = None
    quality: Quality | None = None
    held_out: bool | None = None
    folds: CrossValidated | None = None
    learned: Rows | None = None
    target: str | None = None
    separability: Any = None
    converged: bool | None = True

    @classmethod
    def of(
        cls,
        model: BaseEstimator,
        X: Any = None,
        y: Any = None,
        *,
        held_out: bool | None = None,
        names: Sequence[Any] | None = None,
        quality: Quality | None = None,
        cross_validated: CrossValidated | None = None,
        learned: Any = None,
        learned_y: Any = None,
        learned_weight: Any = None,
        **more: Any,
    ) -> Self:
        """Check rows, and predict them.

        `quality` may count more rows than X has. `cross_validated` is the result on X and y, which
        then are training rows. Training rows are `learned`, or else X and y if held_out=False;
        `more` are target, separability and converged.
        """
        require_fitted(model)
        (NONE | FLAG)("held_out", held_out)
        TEXT("target", more.get("target"))
        if (X is None) != (y is None):
            raise ParameterError("one of X and y is given, the other is not; quality needs both.")
        held_out = None if held_out is None else bool(held_out)
        rows = predicted = training = None
        if X is not None:
            rows = check_rows(model, X, y)
            if held_out is False or cross_validated is not None:
                training = rows
            if cross_validated is None:
                predicted = answers(model, rows.X)
                _check_targets(model, rows.y, predicted.predicted)
                if quality is None:
                    quality = quality_for(model)
                    quality.add(rows.y, predicted.predicted, predicted.log_p, predicted.scores)
            else:
                at, n = cross_validated.rows, len(rows.y)
                if at[-1] >= n or (len(at) == at[-1] + 1 != n):
                    raise ParameterError(
                        f"X has {n} rows, and cross_validated is about {at[-1] + 1} or more. Give "
                        "the same rows."
                    )
                rows, held_out = Rows(rows.X[at], rows.y[at]), True
                quality, predicted = cross_validated.quality, cross_validated.answers
        if learned is not None:
            training = check_rows(model, learned, learned_y, learned_weight, "learned")
        tried: dict[str, Any] = {"rows": rows, "answers": predicted, "quality": quality}
        tried |= {"held_out": held_out, "folds": cross_validated, "learned": training}
        return cls(model, column_names(model, X, names), **tried, **more)

    @property
    def way(self) -> str:
        """How rows were predicted by models without them: "10-fold cross-validation", or ""."""
        return "" if self.folds is None else self.folds.way

    @property
    def seen_X(self) -> Any:
        """Training rows, or else those that were predicted, to describe the columns by."""
        rows = self.rows if self.learned is None else self.learned
        return None if rows is None else rows.X


def require_fitted(model: BaseEstimator) -> None:
    """Raise ParameterError for what predicts nothing."""
    if not hasattr(model, "predict") or not hasattr(model, "n_features_in_"):
        raise ParameterError(f"model is {shown(model)}; expected a fitted estimator: fit it first.")


def check_rows(
    model: BaseEstimator, X: Any, y: Any = None, weight: Any = None, called: str = "X"
) -> Rows:
    """Finite rows of the model's columns, with their targets and weights."""
    X = as_csr(X) if is_sparse(X) else numbers(called, X)
    n, p = X.shape[:1], int(model.n_features_in_)
    if X.shape != (*n, p):
        raise ParameterError(f"{called} has shape {X.shape}; the model was fitted on {p} columns.")
    finite(called, X.data if is_sparse(X) else X)
    if y is not None:
        called_y = "y" if called == "X" else f"{called}_y"
        y = array(called_y, y) if hasattr(model, "classes_") else finite(called_y, y)
        if y.ndim not in (1, 2) or y.shape[:1] != n:
            raise ParameterError(
                f"{called} has {n[0]} rows and {called_y} has shape {y.shape}; give one for each."
            )
    return Rows(X, y, weights_of(f"{called}_weight", weight, *n))


def _check_targets(model: BaseEstimator, y: NDArray[Any], predicted: NDArray[Any]) -> None:
    """Raise ParameterError for targets of another shape or kind than those of the fit."""
    if y.shape != predicted.shape:
        raise ParameterError(
            f"y has shape {y.shape}; predictions have {predicted.shape}: give one y for each."
        )
    if hasattr(model, "classes_") and not set(y.tolist()) & set(model.classes_.tolist()):
        raise ParameterError(
            f"y has labels such as {y[0]!r}, and the model was trained on {model.classes_[:5]}: "
            "none is the same. Give labels of the same type as for the fit."
        )


def column_names(
    model: Any, X: Any, names: Sequence[Any] | None = None, p: int | None = None
) -> list[str]:
    """Names of p columns: those given, of the fit, of the table, or x0, x1, ..."""
    p = int(model.n_features_in_) if p is None else p
    for given in (names, getattr(model, "feature_names_in_", None), getattr(X, "columns", None)):
        if given is not None:
            if isinstance(given, str | bytes | dict) or np.shape(given) != (p,):
                raise ParameterError(f"names is {shown(given)}; expected a sequence of {p} names.")
            return [name if isinstance(name, DateColumn) else str(name) for name in given]
    return [f"x{j}" for j in range(p)]
