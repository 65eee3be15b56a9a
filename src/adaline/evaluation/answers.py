"""What a model says of rows: predictions, probabilities, and scores to rank rows by."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.results import Result


@dataclass(frozen=True, eq=False)
class Answers(Result):
    """What a model says of rows.

    Attributes
    ----------
    predicted : ndarray of shape (n,) or (n, k)
    log_p : ndarray of shape (n, K), or None
        Logarithms of the probabilities of the classes, where the model tells any.
    scores : ndarray of shape (n,), or None
        Of two classes: the larger, the more the second is meant.
    """

    predicted: NDArray[Any]
    log_p: NDArray[np.float64] | None = None
    scores: NDArray[np.float64] | None = None


def answers(model: Any, X: Any) -> Answers:
    """Ask a fitted model about rows."""
    log_p = log_probabilities(model, X)
    return Answers(np.asarray(asked(model, "predict", X)), log_p, scores(model, X, log_p))


def asked(model: Any, method: str, X: Any, *more: Any) -> Any:
    """model.method(X, ...), where X are the model's columns in order, though they bear no names."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return getattr(model, method)(X, *more)


def log_probabilities(model: Any, X: Any) -> NDArray[np.float64] | None:
    """Logarithms of the probabilities that the model tells, if it tells any."""
    if not hasattr(model, "predict_log_proba"):
        return None
    return np.asarray(asked(model, "predict_log_proba", X), dtype=np.float64)


def scores(model: Any, X: Any, log_p: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """What ranks rows between two classes: the log odds, or else the decision function."""
    if len(getattr(model, "classes_", ())) != 2:
        return None
    if log_p is not None:
        with np.errstate(invalid="ignore"):
            return np.asarray(log_p[:, 1] - log_p[:, 0])
    if not hasattr(model, "decision_function"):
        return None
    return np.asarray(asked(model, "decision_function", X), dtype=np.float64).ravel()
