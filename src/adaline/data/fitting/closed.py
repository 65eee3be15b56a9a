"""Closed forms from one pass of moments: LeastSquares, Ridge, LeastSquaresClassifier, Gaussian.

Least squares whose proof leaves few digits is corrected by residuals, each correction one more
pass: sums over chunks for `procedures.least_squares`, with the same proof as for rows in memory.
Where the moments have lost the digits, a pass makes a triangle instead, and one more bounds how
nearly it inverts. Called by `fit` and, for rows of Dask, by `collections`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adaline.data.fitting.chunks import Chunk, Chunks
from adaline.data.storing.records import storable
from adaline.errors import plural
from adaline.procedures.least_squares import RowSums, solve, unit_columns
from adaline.results import Array, ClosedFit
from adaline.sums.class_moments import ClassMoments
from adaline.sums.moments import Moments
from adaline.sums.rows import Gradient, Rows
from adaline.sums.triangle import Triangle

if TYPE_CHECKING:
    from adaline.estimators.base import Learner

ENOUGH_DIGITS = 6.0  # proven digits with which no further pass is made
MOST_CORRECTIONS = 4  # passes; each gains about as many digits as the first solution has

storable(Triangle)
storable(Gradient)


def sum_moments(chunk: Chunk, K: int = 0) -> Moments:
    """Of X and numbers; of K classes targets are ±1 for two, and an indicator of each of more."""
    y = chunk.y
    if K:
        y = 2.0 * y - 1.0 if K == 2 else np.eye(K)[y]
    return Moments.of(chunk.X, y, chunk.weights)


def sum_class_moments(chunk: Chunk, K: int, covariance: Any) -> ClassMoments:
    return ClassMoments.of(chunk.X, chunk.y, K, chunk.weights, covariance)


def regress(model: Learner, chunks: Chunks) -> None:
    """LeastSquares and Ridge; hard problems get more passes."""
    try:
        learn = model.fit_moments
    except AttributeError as error:  # a rule for the penalty that needs the rows
        raise ValueError(str(error.__cause__ or error)) from None
    m: Moments = chunks.sum(sum_moments)
    chunks.require_finite(m.mean, m.scatter[: m.p])
    learn(m)
    criterion = model._refinement() if m.targets == 1 else None
    digits = model.fit_.certificate.evidence.get("digits", 0.0)
    if criterion is not None and digits < ENOUGH_DIGITS:
        rule, dot, _ = model.fit_.stopped.partition(". ")  # how the penalty was chosen
        better = correct(m, chunks, *criterion)
        if better is not None:
            how = better.stopped
            how = f"{rule}. {how[0].upper()}{how[1:]}" if dot else how
            model._take_refined(replace(better, stopped=how))
    model._speak_up()


def classify_by_squares(model: Learner, chunks: Chunks) -> None:
    chunks.find_labels()
    m: Moments = chunks.sum(sum_moments, len(chunks.labels))
    chunks.require_finite(m.mean, m.scatter[: m.p])
    model.fit_moments(m, np.array(chunks.labels))
    model._speak_up()


def classify_by_means(model: Learner, chunks: Chunks) -> None:
    if model.shrinkage == "auto":
        raise ValueError(
            "shrinkage='auto' measures every row against the covariance and needs them in memory; "
            "give a number, or None."
        )
    chunks.find_labels()
    m: ClassMoments = chunks.sum(sum_class_moments, len(chunks.labels), model.covariance)
    chunks.require_finite(m.spread)
    model.fit_moments(m, np.array(chunks.labels))


CLOSED_FORMS = {
    "moments": regress,
    "machine": classify_by_squares,
    "class_moments": classify_by_means,
}


def rows_of(chunk: Chunk) -> Rows:
    return Rows.of(chunk.X, chunk.y, chunk.weights)


def sum_gradient(chunk: Chunk, *at: Any) -> Gradient:
    return rows_of(chunk).gradient(*at)


def sum_triangle(chunk: Chunk) -> Triangle:
    """R of the QR factorisation of the centred columns."""
    return Triangle.of(chunk.X, None, chunk.weights)


def sum_products(chunk: Chunk, *at: Any) -> Array:
    """(A V)'A V, and how many numbers were added in a row."""
    K, added = rows_of(chunk).products(*at)
    return np.append(K.ravel(), float(added))


def correct(m: Moments, chunks: Chunks, ridge: float | Array, intercept: bool) -> ClosedFit | None:
    """The solution to the digits that float64 can hold, or None where columns depend on others."""
    if m.rows < m.p + intercept and not np.all(ridge > 0):
        return None
    u, D = unit_columns(m, intercept, ridge)
    corrections = 0

    def gradients(*at: Any) -> Gradient:
        nonlocal corrections
        corrections += 1
        total: Gradient = chunks.sum(sum_gradient, *at)
        return total

    def products(*at: Any) -> tuple[Array, int]:
        sums = chunks.sum(sum_products, *at)
        return sums[:-1].reshape(u.p, u.p), int(sums[-1]) + 64

    sums = RowSums(gradients, lambda: chunks.sum(sum_triangle), products)
    fit = solve(u, D, intercept, sums, "full", MOST_CORRECTIONS)
    if fit is None:
        return None
    how = "then corrected in " + plural(corrections, "more pass")
    return replace(fit, stopped=f"solved in closed form, {how} in double-double.")
