"""Closed forms from one pass of moments: LeastSquares, Ridge, LeastSquaresClassifier, Gaussian.

Called by `fit` and, for rows of Dask, by `collections`. Hard least-squares problems take a few
more passes in `refined`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from adaline.data.fitting.chunks import Chunk, Chunks
from adaline.data.fitting.refined import ENOUGH_DIGITS, refined
from adaline.errors import DataError
from adaline.sums.class_moments import ClassMoments
from adaline.sums.moments import Moments


def moments(chunk: Chunk) -> Moments:
    """Of X and numbers."""
    return Moments.of(chunk.X, chunk.y, chunk.weights_or_none)


def class_target_moments(chunk: Chunk, K: int) -> Moments:
    """Of X and targets ±1 for two classes, and an indicator of each of more."""
    Y = 2.0 * chunk.y - 1.0 if K == 2 else np.eye(K)[chunk.y]
    return Moments.of(chunk.X, Y, chunk.weights_or_none)


def class_moments(chunk: Chunk, K: int, covariance: Any) -> ClassMoments:
    """Means and scatter of the classes."""
    return ClassMoments.of(chunk.X, chunk.y, K, chunk.weights_or_none, covariance)


def regress(model: Any, chunks: Chunks, classes: Any = None) -> None:
    """LeastSquares and Ridge; hard problems get more passes."""
    try:
        learn = model.fit_moments
    except AttributeError as error:  # a rule for the penalty that needs the rows
        raise ValueError(str(error.__cause__ or error)) from None
    m = require_finite(chunks.sum(moments, order="F"), chunks)
    learn(m)
    criterion = model._refinement() if m.targets == 1 else None
    stopped = model.fit_.stopped
    short = model.fit_.certificate.evidence.get("digits", 0.0) < ENOUGH_DIGITS
    if criterion is not None and short and chunks.source.again:
        better = refined(m, chunks, *criterion)
        if better is not None:
            rule = stopped.partition(". ")[0] + ". " if ". " in stopped else ""
            how = better.stopped[0].upper() + better.stopped[1:] if rule else better.stopped
            model._take_refined(replace(better, stopped=rule + how))
    model._speak_up()


def linear_machine(model: Any, chunks: Chunks, classes: Any = None) -> None:
    """LeastSquaresClassifier."""
    chunks.find_labels(classes)
    m = chunks.sum(class_target_moments, len(chunks.labels), order="F")
    sides = np.array([1.0 - m.mean_y[0], 1.0 + m.mean_y[0]])
    require_rows(chunks, sides if len(chunks.labels) == 2 else m.mean_y)
    model.fit_moments(require_finite(m, chunks), np.array(chunks.labels))
    model._speak_up()


def gaussian(model: Any, chunks: Chunks, classes: Any = None) -> None:
    """GaussianClassifier."""
    if model.shrinkage == "auto":
        raise ValueError(
            "shrinkage='auto' measures every row against the covariance and needs them in memory; "
            "give a number, or None."
        )
    chunks.find_labels(classes)
    m = chunks.sum(class_moments, len(chunks.labels), model.covariance)
    require_rows(chunks, m.rows)
    if not np.isfinite(m.spread).all():
        raise DataError("sums over a column leave the range of float64; rescale it.")
    model.fit_moments(m, np.array(chunks.labels))


def require_rows(chunks: Chunks, shares: Any) -> None:
    """Rows of each class, where nobody counted them: `classes` were given for rows read once."""
    none = [label for label, share in zip(chunks.labels, shares, strict=True) if not share > 0]
    if none and not chunks.source.again:
        raise DataError(f"{chunks.source.name}: no row has the class {none[0]!r} of classes=.")


def require_finite(m: Moments, chunks: Chunks) -> Moments:
    """Moments within the range of float64; products of one target with another are never made."""
    if not (np.isfinite(m.mean).all() and np.isfinite(m.scatter[: m.p]).all()):
        names = (*chunks.reader.names, chunks.reader.target)
        j = int(np.argmin(np.isfinite(np.diag(m.scatter))))
        raise DataError(
            f"sums over the column {names[min(j, len(names) - 1)]!r} leave the range of float64; "
            "rescale it."
        )
    return m


CLOSED_FORMS = {"moments": regress, "machine": linear_machine, "class_moments": gaussian}
