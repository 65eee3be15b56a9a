"""How many mistakes a perceptron can make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from adaline.linalg import UNDERFLOW, UNIT, length
from adaline.parameters import NONE, NUMBER, array, is_sparse, named, numbers
from adaline.results import Result
from adaline.sums.rows import as_rows


@dataclass(frozen=True)
class MistakeBound(Result):
    """Upper bounds on the corrections of the fixed-increment perceptron from w = 0.

    Attributes
    ----------
    lecture : float
        beta/D^2 with beta = sum |x|^2 and D the distance of the closest sample from the hyperplane.
    sharp : float
        (R/gamma)^2 with R the longest sample; gamma is the lecture's D.
    D, R : float
        Both with the bias's input 1 counted in x and w where there is a bias.
    """

    lecture: float
    sharp: float
    D: float
    R: float


def mistake_bound(X: Any, y: ArrayLike, w: ArrayLike, b: float | None = None) -> MistakeBound:
    """How often the perceptron can be wrong at most, given a hyperplane (w, b) that separates.

    N <= beta/D^2, and sharper N <= (R/gamma)^2, for any order of the samples, any constant eta and
    any number of passes. b is None for a learner without a bias. Public as `adaline.mistake_bound`.

    >>> X = [[-1, -1, -1], [1, -1, -1], [-1, 1, -1], [1, 1, -1]]
    >>> bound = mistake_bound(X, [-1, 1, 1, 1], w=[1, 1, -1])
    >>> round(bound.lecture, 9), round(bound.sharp, 9)
    (36.0, 9.0)
    """
    X, _, _ = as_rows(X, None, None)
    (NUMBER | NONE)("b", b)
    b = None if b is None else float(b)
    labels, weights = array("y", y), numbers("w", w).ravel()
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise named(error, "y") from None
    integral = labels.dtype.kind != "f" or bool(np.all(classes == np.rint(classes)))
    if (
        len(classes) != 2
        or labels.shape != (X.shape[0],)
        or not integral
        or labels.dtype.kind in "cV"
    ):
        raise ValueError(
            f"X has {X.shape[0]} rows and y has {labels.size} labels of {len(classes)} classes; "
            "the bound is for two classes, one label a sample."
        )
    if weights.shape != (X.shape[1],) or not np.isfinite(weights).all():
        raise ValueError(
            f"X has {X.shape[1]} columns and w has shape {weights.shape}; expected as many finite "
            "numbers."
        )
    if not np.isfinite(_largest(X)):
        raise ValueError("X contains NaN or infinity; drop those rows or fill the values in first.")
    # One power of two for all samples and one for (w, b): what is squared stays in range, and
    # quotients do not change.
    n, p = X.shape
    e = int(np.frexp(max(_largest(X), float(b is not None)))[1])
    f = int(np.frexp(max(float(np.abs(weights).max(initial=0.0)), abs(b or 0.0)))[1])
    X, weights, b = _scaled(X, -e), np.ldexp(weights, -f), None if b is None else np.ldexp(b, -f)
    bias = float(np.ldexp(b or 0.0, -e))
    values = np.asarray(X @ weights, dtype=np.float64) + bias
    # What rounding may have added to the margin is taken off: a bound must not be too small.
    doubt = 1.01 * (p + 4) * UNIT * (np.asarray(abs(X) @ np.abs(weights)) + abs(bias))
    margin = float((np.where(codes == 1, values, -values) - doubt - (p + 4) * UNDERFLOW).min())
    if not margin > 0.0:
        with np.errstate(over="ignore"):
            least = float(np.ldexp(margin, e + f))
        raise ValueError(
            f"(w, b) does not separate: the least t (w'x + b) is {least:.4g}. The bound needs a "
            "hyperplane with every sample on its right side."
        )
    grow = 1.0 + 1.01 * (p + 6) * UNIT
    size = length(np.append(weights, b or 0.0)) * grow
    squares = X.multiply(X).sum(axis=1) if is_sparse(X) else np.einsum("ij,ij->i", X, X)
    one = float(np.ldexp(1.0, -e)) if b is not None else 0.0
    squares = np.asarray(squares, dtype=np.float64).ravel() + one * one
    D, R2 = margin / size, float(squares.max()) * grow
    beta = float(squares.sum()) * grow * (1.0 + 1.01 * n * UNIT)
    with np.errstate(over="ignore"):  # a length that no float64 can be is infinite
        R, distance = float(np.ldexp(np.sqrt(R2), e)), float(np.ldexp(D, e))
        # Quotients of numpy's numbers are infinite where they overflow, not an error.
        lecture, sharp = (float(np.float64(a) / D / D) for a in (beta, R2))
    return MistakeBound(lecture, sharp, distance, R)


def _largest(X: Any) -> float:
    values = X.data if is_sparse(X) else X
    return float(np.maximum(values.max(initial=0.0), -values.min(initial=0.0)))  # NaN stays NaN


def _scaled(X: Any, e: int) -> Any:
    """X 2**e in float64."""
    if is_sparse(X):
        X = X.astype(np.float64)
        X.data = np.ldexp(X.data, e)
        return X
    return np.ldexp(X.astype(np.float64), e)
