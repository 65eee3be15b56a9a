"""Closed forms in one pass over the blocks of a source, and a second one for their last digits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.fitting._passes import Passes, RowReader, class_array, union
from adaline.data.fitting._refined_stream import ENOUGH, refined
from adaline.data.fitting._returned import Part
from adaline.data.reading.source import Block
from adaline.data.storing.checkpoint import storable
from adaline.errors import DataError
from adaline.sums.class_moments import ClassMoments
from adaline.sums.moments import Moments


@storable
@dataclass(frozen=True, eq=False)
class Labelled:
    """Statistics of the classes met so far: `Moments` with an indicator each, or `ClassMoments`."""

    labels: tuple[Any, ...]
    value: Any

    def among(self, labels: tuple[Any, ...]) -> Any:
        """The same statistics for more classes; those not met have no rows."""
        if labels == self.labels:
            return self.value
        places = np.array([labels.index(label) for label in self.labels], dtype=np.int64)
        widen = _moments_among if isinstance(self.value, Moments) else _class_moments_among
        return widen(self.value, places, len(labels))

    def __add__(self, other: Labelled) -> Labelled:
        labels = union(self.labels, other.labels)
        return Labelled(labels, self.among(labels) + other.among(labels))


def _moments_among(m: Moments, places: NDArray[np.int64], K: int) -> Moments:
    """Indicators of classes that did not come are zero throughout, and known exactly."""
    to = np.concatenate([np.arange(m.p), m.p + places])
    q = m.p + K

    def vector(v: Any) -> Any:
        wide = np.zeros(q, dtype=v.dtype)
        wide[to] = v
        return wide

    scatter = np.full((q, q), np.nan)  # of one target with another
    scatter[: m.p] = scatter[:, : m.p] = 0.0
    np.fill_diagonal(scatter, 0.0)
    scatter[np.ix_(to, to)] = m.scatter
    return replace(
        m,
        mean=vector(m.mean),
        scatter=scatter,
        exponent=vector(m.exponent),
        rounding=vector(m.rounding),
        mean_rounding=vector(m.mean_rounding),
        targets=K,
    )


def _class_moments_among(m: ClassMoments, places: NDArray[np.int64], K: int) -> ClassMoments:
    def wide(a: Any) -> Any:
        more = np.zeros((K, *a.shape[1:]), dtype=a.dtype)
        more[places] = a
        return more

    shared = m.covariance == "shared"
    return replace(
        m,
        rows=wide(m.rows),
        weight=wide(m.weight),
        mean=wide(m.mean),
        scatter=m.scatter if shared else wide(m.scatter),
        rounding=m.rounding if shared else wide(m.rounding),
        mean_rounding=wide(m.mean_rounding),
    )


@dataclass(frozen=True)
class MomentsOf:
    """Moments of a block of numbers."""

    rows: RowReader

    def __call__(self, block: Block) -> Part:
        X, y = self.rows.numbers(block, "F", check=False)
        try:
            m = Moments.of(X, y, self.rows.weights(block) if self.rows.weighted else None)
        except ValueError:  # the sums tell, which saves a pass
            self.rows.numbers(block, "F")
            raise
        return Part(len(y), _checked(m, self.rows))


@dataclass(frozen=True)
class IndicatorMomentsOf:
    """Moments of a block with an indicator for each class."""

    rows: RowReader

    def __call__(self, block: Block) -> Part:
        X, labels, codes = self.rows.labels(block, "F")
        Y = np.zeros((len(codes), len(labels)))
        Y[np.arange(len(codes)), codes] = 1.0
        m = Moments.of(X, Y, self.rows.weights(block) if self.rows.weighted else None)
        return Part(len(codes), Labelled(labels, _checked(m, self.rows)))


@dataclass(frozen=True)
class ClassMomentsOf:
    """Means and scatter of the classes of a block."""

    rows: RowReader
    covariance: Any

    def __call__(self, block: Block) -> Part:
        X, labels, codes = self.rows.labels(block, "C")
        if not labels:
            return Part(0, None)  # no rows, so no class
        omega = self.rows.weights(block) if self.rows.weighted else None
        m = ClassMoments.of(X, codes, len(labels), omega, self.covariance)
        if not np.isfinite(m.spread).all():
            raise DataError("sums over a column leave the range of float64; rescale it.")
        return Part(len(codes), Labelled(labels, m))


def _checked(m: Moments, rows: RowReader) -> Moments:
    if not (np.isfinite(m.mean).all() and np.isfinite(m.scatter[: m.p]).all()):
        names = (*rows.names, rows.target)
        j = int(np.argmin(np.isfinite(np.diag(m.scatter))))
        raise DataError(
            f"sums over the column {names[min(j, len(names) - 1)]!r} leave the range of float64; "
            "rescale it."
        )
    return m


def _plus(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b


def regress(model: Any, passes: Passes, rows: RowReader) -> Any:
    """LeastSquares and Ridge from moments of all blocks; hard ones get more passes."""
    try:
        learn = model.fit_moments
    except AttributeError as error:  # a rule that needs the rows, in a sentence
        raise ValueError(str(error.__cause__ or error)) from None
    m = passes.sums("moments", MomentsOf(rows), _plus)
    learn(m)
    criterion = model._refinement() if m.targets == 1 else None
    stopped = model.fit_.stopped
    short = model.fit_.certificate.evidence.get("digits", 0.0) < ENOUGH
    if criterion is not None and short and passes.source.again:
        better = refined(m, passes, rows, *criterion)
        if better is not None:
            rule = stopped.partition(". ")[0] + ". " if ". " in stopped else ""
            how = better.stopped[0].upper() + better.stopped[1:] if rule else better.stopped
            model._take_refined(replace(better, stopped=rule + how))
    model._speak_up()
    return model


def linear_machine(model: Any, passes: Passes, rows: RowReader) -> Any:
    """LeastSquaresClassifier: targets ±1 for two classes, 0 and 1 for more."""
    found: Labelled = passes.sums("moments", IndicatorMomentsOf(rows), _plus)
    m = found.value
    _check_weights(found.labels, m.mean[m.p :], rows.target)
    if len(found.labels) == 2:
        m = _signed(m)
    model.fit_moments(m, class_array(found.labels, rows.target))
    model._speak_up()
    return model


def _signed(m: Moments) -> Moments:
    """Of t = 2 e_1 - 1 instead of the two indicators: powers of two, so nothing is rounded."""
    pick, p = np.append(np.arange(m.p), m.p + 1), m.p
    double = np.append(np.ones(p), 2.0)
    mean = m.mean[pick] * double
    mean[p] -= np.ldexp(1.0, -int(m.exponent[p + 1]))
    return replace(
        m,
        mean=mean,
        scatter=m.scatter[np.ix_(pick, pick)] * np.outer(double, double),
        exponent=m.exponent[pick],
        rounding=m.rounding[pick] * double,
        mean_rounding=m.mean_rounding[pick] * double + 2.0**-53 * np.abs(mean),
        targets=1,
    )


def gaussian(model: Any, passes: Passes, rows: RowReader) -> Any:
    """GaussianClassifier from the means and scatter of the classes."""
    if model.shrinkage == "auto":
        raise ValueError(
            "shrinkage='auto' measures every row against the covariance and needs them in memory; "
            "give a number, or None."
        )
    found: Labelled = passes.sums("classes", ClassMomentsOf(rows, model.covariance), _plus)
    _check_weights(found.labels, found.value.weight, rows.target)
    return model.fit_moments(found.value, class_array(found.labels, rows.target))


def _check_weights(labels: tuple[Any, ...], weight: Any, target: str) -> None:
    """Two classes at least must have rows that weigh something."""
    present = [label for label, one in zip(labels, weight, strict=True) if one > 0]
    if len(present) < 2 <= len(labels):
        raise DataError(
            f"all rows of positive sample_weight are of one class, {present}; rows of weight zero "
            f"are left out, and telling classes of {target!r} apart needs at least two."
        )
