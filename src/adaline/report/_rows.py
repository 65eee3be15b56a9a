"""The rows a report looks at: checked, without gaps, and predicted once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.evaluation.answers import Answers, answers
from adaline.evaluation.quality import Quality, quality_for

SHOWN = 1000  # rows that pictures show
_NUMBERS = 20_000_000  # entries that pictures may spread out in memory


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with their truth and what the model says of them.

    Attributes
    ----------
    X : ndarray or CSR of shape (n, p)
    y : ndarray of shape (n,) or (n, k)
    said : Answers
        What was predicted.
    left_out : int
        Rows that had gaps.
    few : ndarray of int
        Rows to draw, evenly spaced.
    """

    X: Any
    y: NDArray[Any]
    said: Answers
    left_out: int
    few: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.y)

    def quality(self, model: Any) -> Quality:
        """The predictions counted against the truth."""
        found = quality_for(model)
        found.add(self.y, self.said.predicted, self.said.log_p, self.said.scores)
        return found

    @property
    def X_few(self) -> NDArray[np.float64]:
        """The rows to draw, dense."""
        some = self.X[self.few]
        return np.asarray(some.toarray() if hasattr(some, "toarray") else some, dtype=np.float64)

    @property
    def y_few(self) -> NDArray[Any]:
        return np.asarray(self.y[self.few])


def rows_of(model: Any, X: Any, y: Any, found: Any = None) -> Rows:
    """Check rows, leave out those with gaps, and ask the model.

    A cross-validation of these rows has asked already: models that have not seen them.
    """
    if y is None:
        raise ValueError(
            "X came without y; a report compares predictions with the truth. Give both."
        )
    if hasattr(X, "tocsr"):
        if hasattr(X, "check_format"):  # indices inside; on a copy, which the check may change
            X.copy().check_format(full_check=True)
        X = X.tocsr()
        good = np.asarray(np.isfinite(X.sum(axis=1))).ravel()
    else:
        X = _dense(X)
        good = np.isfinite(X).all(axis=1)
    if X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} columns; {type(model).__name__} was fitted on "
            f"{model.n_features_in_}."
        )
    truth = np.asarray(y)
    if truth.ndim == 0:
        raise ValueError(f"y is one value, {str(y)[:40]!r}; give one y for each row of X.")
    if len(truth) != X.shape[0]:
        raise ValueError(
            f"X has {X.shape[0]} rows and y has {len(truth)}; give one y for each row."
        )
    if hasattr(model, "classes_"):
        _check_labels(truth, model.classes_.tolist())
    else:
        truth = _numbers(truth)
        good &= np.isfinite(truth.reshape(len(truth), -1)).all(axis=1)
    left_out = int(np.sum(~good))
    if left_out:
        X, truth = X[good], truth[good]
    if not len(truth):
        raise ValueError("every row has gaps (NaN or infinity); there is nothing to report on.")
    most = int(max(1, min(SHOWN, _NUMBERS // max(X.shape[1], 1))))
    few = np.unique(np.linspace(0, len(truth) - 1, min(most, len(truth))).astype(np.int64))
    if found is None:
        return Rows(X, truth, answers(model, X), left_out, few)
    if left_out or len(truth) != len(found.answers.predicted):
        raise ValueError(
            f"X has {len(truth)} rows that can be used, and the cross-validation predicted "
            f"{len(found.answers.predicted)}; give the same rows."
        )
    return Rows(X, truth, found.answers, left_out, few)


def _check_labels(y: NDArray[Any], known: list[Any]) -> None:
    """Some label of y is one of the model's: 1 is not "1"."""
    if y.ndim != 1:
        raise ValueError(f"y has shape {y.shape}; expected labels, (n,).")
    found = list(dict.fromkeys(y.tolist()))
    if not any(label in known for label in found):
        raise ValueError(
            f"y has the labels {found[:5]}, and the model knows {known[:5]}: none is the same. "
            "Give labels of the same kind as for the fit."
        )


def _dense(X: Any) -> NDArray[np.float64]:
    try:
        found = np.asarray(X, dtype=np.float64)
    except (OverflowError, TypeError, ValueError):
        raise ValueError(
            "X holds things that are no numbers; encode them as for the fit."
        ) from None
    if found.ndim != 2 or not found.size:
        raise ValueError(f"X has shape {found.shape}; expected rows and columns, (n, p).")
    return found


def _numbers(y: NDArray[Any]) -> NDArray[np.float64]:
    try:
        return y.astype(np.float64)
    except (OverflowError, TypeError, ValueError):
        raise ValueError(
            "y holds things that are no numbers, and the model predicts numbers."
        ) from None


def are_apart(learned: Any, tested: Any) -> bool | None:
    """Whether no tested row is among those learned from; False where all are, None where some.

    >>> are_apart(np.eye(3), np.zeros((2, 3))), are_apart(np.eye(3), np.eye(3)[:2])
    (True, False)
    """
    if hasattr(learned, "tocsr") or hasattr(tested, "tocsr"):
        return None
    known, rows = (np.ascontiguousarray(X, np.float64) + 0.0 for X in (learned, tested))  # no -0
    there = {row.tobytes() for row in known}
    seen = sum(row.tobytes() in there for row in rows)
    return None if 0 < seen < len(tested) else not seen
