"""`Trial`: a fitted model, rows with known targets, and what the model predicted for them.

The verdict, its checks, the report and the command look at one trial, so that rows are checked and
predicted once, and columns are named in one place.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from adaline.evaluation.quality import Quality, quality_for
from adaline.evaluation.words import DateColumn
from adaline.parameters import (
    FLAG,
    NONE,
    Expected,
    ParameterError,
    array,
    is_sparse,
    numbers,
    shown,
    weights_of,
)
from adaline.results import Array, Result
from adaline.sums.rows import as_csr

if TYPE_CHECKING:
    from adaline.evaluation.cross_validation import CrossValidated

TEXT = NONE | Expected("text", lambda value: isinstance(value, str))
MAPPING = NONE | Expected("a mapping, such as {'age': 12}", lambda v: isinstance(v, Mapping))
TEXTS = Expected(
    "a sequence of texts or Warnings",
    lambda v: isinstance(v, Iterable) and not isinstance(v, str | bytes | Mapping),
)
SEPARABILITY = NONE | Expected(
    "what `separability(X, y)` returns", lambda s: isinstance(getattr(s, "verdict", None), str)
)
QUALITY = NONE | Expected("Decisions or Errors", lambda value: isinstance(value, Quality))
CROSS_VALIDATED = NONE | Expected(
    "what `cross_validated` returns", lambda value: hasattr(value, "per_fold")
)


@dataclass(frozen=True, eq=False)
class Answers(Result):
    """What a model predicts for rows.

    `predicted` is (n,) or (n, k); `log_p` (n, K) are log-probabilities of the classes, if the model
    has any; `scores` (n,) of two classes are larger, the more likely the second one is.
    """

    predicted: NDArray[Any]
    log_p: Array | None = None
    scores: Array | None = None


def ask(model: Any, method: str, X: Any, *more: Any) -> Any:
    """model.method(X, ...) for an X whose columns are in order, but may have no names."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return getattr(model, method)(X, *more)


def answers(model: Any, X: Any) -> Answers:
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

    Attributes
    ----------
    model : fitted estimator
    names : list of str
        The columns.
    rows, answers : Rows and Answers, or None
        Rows that were predicted, and what was predicted for them.
    quality : Decisions or Errors, or None
        Predictions against the truth, of `rows` or of more.
    held_out : bool or None
        Whether the model was not trained on these rows; None if unknown.
    folds : CrossValidated or None
        If training rows were predicted by models without them.
    learned : Rows or None
        Training rows.
    target : str or None
    separability : Separability or None
        Of the training rows.
    converged : bool or None
        False if a warning said so; otherwise the fit is asked.
    left_out : int
        Rows with NaN or infinity.

    Examples
    --------
    >>> from adaline import Ridge
    >>> trial = Trial.of(Ridge(1.0).fit([[0.0], [1.0]], [0.0, 1.0]), [[2.0]], [2.0], held_out=True)
    >>> trial.answers.predicted.round(2), trial.quality.n
    (array([1.]), 1)
    """

    model: Any
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
    left_out: int = 0

    @classmethod
    def of(
        cls,
        model: Any,
        X: Any = None,
        y: Any = None,
        *,
        held_out: bool | None = None,
        names: Sequence[Any] | None = None,
        target: str | None = None,
        separability: Any = None,
        converged: bool | None = True,
        quality: Quality | None = None,
        cross_validated: CrossValidated | None = None,
        learned: Any = None,
        learned_y: Any = None,
        learned_weight: Any = None,
    ) -> Self:
        """Check rows, leave out those with NaN or infinity, and predict the others.

        `quality` may count more rows than X has. `cross_validated` is the result on X and y, which
        then are training rows. Training rows are `learned`, or else X and y if held_out=False.
        """
        require_fitted(model)
        TEXT("target", target), SEPARABILITY("separability", separability)
        QUALITY("quality", quality), CROSS_VALIDATED("cross_validated", cross_validated)
        held_out = None if (FLAG | NONE)("held_out", held_out) is None else bool(held_out)
        if X is None and y is not None:
            raise ParameterError("y is given and X is not; give the rows that y belongs to.")
        if X is not None and y is None:
            raise ParameterError("X is given and y is not; quality compares predictions with y.")
        if learned is None and (learned_y is not None or learned_weight is not None):
            raise ParameterError("learned_y and learned_weight need their rows: give learned, too.")
        rows, predicted, left_out, named = None, None, 0, column_names(model, X, names)
        if X is not None:
            rows, left_out = checked_rows(model, X, y)
        training = rows if held_out is False or cross_validated is not None else None
        if cross_validated is not None and rows is not None:
            rows = _rows_of_folds(rows, left_out, cross_validated)
            quality, predicted, held_out = cross_validated.quality, cross_validated.answers, True
        elif rows is not None:
            predicted = _predicted(model, rows)
            if quality is None:
                quality = quality_for(model)
                quality.add(rows.y, predicted.predicted, predicted.log_p, predicted.scores)
        if learned is not None:
            called = "learned", "learned_y", "learned_weight"
            training, _ = checked_rows(model, learned, learned_y, learned_weight, called)
        return cls(
            model,
            named,
            rows,
            predicted,
            quality,
            held_out,
            cross_validated,
            training,
            target,
            separability,
            converged,
            left_out,
        )

    @property
    def way(self) -> str:
        """How rows were predicted by models without them: "10-fold cross-validation", or ""."""
        return "" if self.folds is None else self.folds.way

    @property
    def seen_X(self) -> Any:
        """Training rows, or else those that were predicted, to describe the columns by."""
        rows = self.rows if self.learned is None else self.learned
        return None if rows is None else rows.X


def require_fitted(model: Any) -> None:
    """Refuse what predicts nothing."""
    if not hasattr(model, "predict") or not hasattr(model, "n_features_in_"):
        raise ParameterError(f"model is {shown(model)}; expected a fitted estimator: fit it first.")


def checked_rows(
    model: Any,
    X: Any,
    y: Any = None,
    weight: Any = None,
    called: tuple[str, str, str] = ("X", "y", "weight"),
) -> tuple[Rows, int]:
    """Rows of the model's columns without NaN and infinity, and how many others there are."""
    X = as_csr(X) if is_sparse(X) else numbers(called[0], X)
    p = int(model.n_features_in_)
    if X.ndim != 2 or X.shape[1] != p:
        raise ParameterError(
            f"{called[0]} has shape {X.shape}; {type(model).__name__} was fitted on {p} columns."
        )
    n = X.shape[0]
    sums = np.asarray(X.sum(axis=1) if is_sparse(X) else X)  # np.matrix has no vectors
    finite = np.isfinite(sums).reshape(n, -1).all(axis=1)
    if y is not None:
        y = array(called[1], y) if hasattr(model, "classes_") else numbers(called[1], y)
        if y.ndim not in (1, 2) or len(y) != n:
            raise ParameterError(
                f"{called[0]} has {n} rows and {called[1]} has shape {y.shape}; give one target "
                "for each row."
            )
        if y.dtype.kind == "f":
            finite &= np.isfinite(y.reshape(n, -1)).all(axis=1)
    weight = weights_of(called[2], weight, n)
    if not finite.any():
        raise ParameterError(f"{called[0]} has NaN or infinity in every row; none can be used.")
    if finite.all():
        return Rows(X, y, weight), 0
    X, y, weight = (None if v is None else v[finite] for v in (X, y, weight))
    return Rows(X, y, weight), int(np.sum(~finite))


def _predicted(model: Any, rows: Rows) -> Answers:
    """The answers for rows whose targets are of the same kind."""
    predicted = answers(model, rows.X)
    if rows.y.shape != predicted.predicted.shape:
        raise ParameterError(
            f"y has shape {rows.y.shape}; predictions have {predicted.predicted.shape}: give one y "
            "for each."
        )
    if hasattr(model, "classes_"):
        labels, known = list(dict.fromkeys(rows.y.tolist())), model.classes_.tolist()
        if not any(label in known for label in labels):  # 1 is not "1"
            raise ParameterError(
                f"y has the labels {labels[:5]}, and the model was trained on {known[:5]}: none is "
                "the same. Give labels of the same type as for the fit."
            )
    return predicted


def _rows_of_folds(rows: Rows, left_out: int, folds: CrossValidated) -> Rows:
    """The rows that a cross-validation predicted."""
    last = int(folds.rows[-1])
    if left_out or last >= len(rows.y) or (len(folds.rows) == last + 1 != len(rows.y)):
        raise ParameterError(
            f"X has {len(rows.y)} rows, and cross_validated is about {last + 1} rows or more. Give "
            "the same rows."
        )
    return Rows(rows.X[folds.rows], rows.y[folds.rows])


def column_names(model: Any, X: Any, names: Sequence[Any] | None) -> list[str]:
    """Names given, those of the fit, those of the table, or x0, x1, ..."""
    p = int(model.n_features_in_)
    if names is not None and (
        isinstance(names, str | bytes | dict) or not hasattr(names, "__len__")
    ):
        raise ParameterError(f"names is {shown(names)}; expected a sequence of {p} names.")
    for given in (names, getattr(model, "feature_names_in_", None), getattr(X, "columns", None)):
        if given is not None:
            if len(given) != p:
                raise ParameterError(
                    f"names: there are {len(given)} names for {p} columns; give one for each."
                )
            return [name if isinstance(name, DateColumn) else str(name) for name in given]
    return [f"x{j}" for j in range(p)]
