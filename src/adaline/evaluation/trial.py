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

TEXT = NONE | Expected("text", lambda v: isinstance(v, str))
MAPPING = NONE | Expected("a mapping, such as {'age': 12}", lambda v: isinstance(v, Mapping))
TEXTS = Expected(
    "a sequence of texts",
    lambda v: isinstance(v, Iterable) and not isinstance(v, str | bytes | Mapping),
)
EXPECTED = {  # options of `Trial.of`
    "held_out": NONE | FLAG,
    "target": TEXT,
    "separability": NONE
    | Expected("that of `separability`", lambda v: isinstance(getattr(v, "verdict", None), str)),
    "quality": NONE | Expected("Decisions or Errors", lambda v: isinstance(v, Quality)),
    "cross_validated": NONE
    | Expected("the result of `cross_validated`", lambda v: hasattr(v, "per_fold")),
}


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

    `rows` (some of them, if there are many) were predicted, with `answers`, and `quality` counts
    all; `held_out` says whether they are no training rows, None if unknown, and `left_out` how many
    had NaN or infinity. With `folds`, training rows were predicted by models without them.
    `learned` are the training rows, `separability` is theirs, and `converged` is False if a warning
    said so. `names` are those of the columns.

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
    left_out: int = 0
    target: str | None = None
    separability: Any = None
    converged: bool | None = True

    @classmethod
    def of(
        cls,
        model: Any,
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
        """Check rows, leave out those with NaN or infinity, and predict the others.

        `quality` may count more rows than X has. `cross_validated` is the result on X and y, which
        then are training rows. Training rows are `learned`, or else X and y if held_out=False;
        `more` are target, separability and converged.
        """
        require_fitted(model)
        given = {"held_out": held_out, "quality": quality, "cross_validated": cross_validated}
        for option, expected in EXPECTED.items():
            expected(option, {**more, **given}.get(option))
        if (X is None) != (y is None):
            raise ParameterError("one of X and y is given, the other is not; quality needs both.")
        if learned is None and (learned_y is not None or learned_weight is not None):
            raise ParameterError("learned_y and learned_weight need their rows: give learned, too.")
        named, tested, training, predicted, left_out = column_names(model, X, names), *[None] * 3, 0
        if X is not None:
            tested, left_out = check_rows(model, X, y)
            training = tested if held_out is False or cross_validated is not None else None
        if cross_validated is not None and tested is not None:
            at, n = cross_validated.rows, len(tested.y)
            if left_out or at[-1] >= n or (len(at) == at[-1] + 1 != n):
                raise ParameterError(
                    f"X has {n} rows, and cross_validated is about {at[-1] + 1} or more. Give the "
                    "same rows."
                )
            tested, held_out = Rows(tested.X[at], tested.y[at]), True
            quality, predicted = cross_validated.quality, cross_validated.answers
        elif tested is not None:
            predicted = answers(model, tested.X)
            _check_targets(model, tested.y, predicted.predicted)
            if quality is None:
                quality = quality_for(model)
                quality.add(tested.y, predicted.predicted, predicted.log_p, predicted.scores)
        if learned is not None:
            training, _ = check_rows(model, learned, learned_y, learned_weight, "learned")
        found = tested, predicted, quality, None if held_out is None else bool(held_out)
        return cls(model, named, *found, cross_validated, training, left_out, **more)

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


def check_rows(
    model: Any, X: Any, y: Any = None, weight: Any = None, called: str = "X"
) -> tuple[Rows, int]:
    """Rows of the model's columns without NaN and infinity, and how many others there are."""
    y_name = "y" if called == "X" else f"{called}_y"
    X = as_csr(X) if is_sparse(X) else numbers(called, X)
    n, p = X.shape[:1], int(model.n_features_in_)
    if X.shape != (*n, p):
        kind = type(model).__name__
        raise ParameterError(f"{called} has shape {X.shape}; {kind} was fitted on {p} columns.")
    sums = np.asarray(X.sum(axis=1) if is_sparse(X) else X)  # np.matrix has no vectors
    finite = np.isfinite(sums).reshape(*n, -1).all(axis=1)
    if y is not None:
        y = array(y_name, y) if hasattr(model, "classes_") else numbers(y_name, y)
        if y.ndim not in (1, 2) or y.shape[:1] != n:
            raise ParameterError(
                f"{called} has {n[0]} rows and {y_name} has shape {y.shape}; give one for each."
            )
        if y.dtype.kind == "f":
            finite &= np.isfinite(y.reshape(*n, -1)).all(axis=1)
    weight = weights_of(f"{called}_weight", weight, *n)
    if not finite.any():
        raise ParameterError(f"{called} has NaN or infinity in every row; none can be used.")
    if not finite.all():
        X, y, weight = (None if v is None else v[finite] for v in (X, y, weight))
    return Rows(X, y, weight), int(np.sum(~finite))


def _check_targets(model: Any, y: NDArray[Any], predicted: NDArray[Any]) -> None:
    """Refuse targets of another shape or kind than those of the fit."""
    if y.shape != predicted.shape:
        raise ParameterError(
            f"y has shape {y.shape}; predictions have {predicted.shape}: give one y for each."
        )
    if hasattr(model, "classes_"):
        labels, known = list(dict.fromkeys(y.tolist())), model.classes_.tolist()
        if not any(label in known for label in labels):  # 1 is not "1"
            raise ParameterError(
                f"y has the labels {labels[:5]}, and the model was trained on {known[:5]}: none is "
                "the same. Give labels of the same type as for the fit."
            )


def column_names(model: Any, X: Any, names: Sequence[Any] | None) -> list[str]:
    """Names given, those of the fit, those of the table, or x0, x1, ..."""
    p = int(model.n_features_in_)
    if isinstance(names, str | bytes | dict) or not (names is None or hasattr(names, "__len__")):
        raise ParameterError(f"names is {shown(names)}; expected a sequence of {p} names.")
    for given in (names, getattr(model, "feature_names_in_", None), getattr(X, "columns", None)):
        if given is not None:
            if len(given) != p:
                raise ParameterError(
                    f"names: there are {len(given)} names for {p} columns; give one for each."
                )
            return [name if isinstance(name, DateColumn) else str(name) for name in given]
    return [f"x{j}" for j in range(p)]
