"""LogisticRegression in passes of gradients, where columns are too many for a matrix of them.

The steps are those of `procedures.sparse_logistic.gradient_passes`; here are blocks, classes and
checkpoints. Only the state between two passes is kept, so that this process holds a few vectors as
long as the weights, however many passes there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adaline._threads import one_blas_thread
from adaline.certificates.strong_convexity import RowSizes
from adaline.data.fitting._passes import Passes, class_array, union
from adaline.data.fitting._returned import Part
from adaline.data.reading.source import Block, Source
from adaline.data.storing.checkpoint import storable
from adaline.errors import DataError
from adaline.mapreduce import Pool
from adaline.procedures.sparse_logistic.gradient_passes import Descent, begun, minimum_in_passes
from adaline.procedures.sparse_logistic.gradient_sums import (
    ClassSums,
    GradientSums,
    in_own_units,
)
from adaline.results import Array

_MOST_WEIGHTS = 2**27  # of all classes: a gigabyte, of which this process holds about 25
_PASSES = 10  # times max_iter: a pass of gradients costs much less than a step of Newton's
_STATE = "descent"

for _kind in (RowSizes, ClassSums, GradientSums, Descent):
    storable(_kind)


class LabelledRows(Protocol):
    """Blocks to X, labels and weights."""

    @property
    def names(self) -> Sequence[str]:
        """Of the columns of X."""
        ...

    @property
    def target(self) -> str:
        """What to call the target."""
        ...

    def weights(self, block: Any) -> Array:
        """Of the rows; empty where all count the same."""
        ...

    def labels(self, block: Any, order: Any) -> tuple[Any, tuple[Any, ...], NDArray[np.int64]]:
        """X, the labels in the block (sorted), and which of them each row has."""
        ...


def wide_logistic(
    model: Any, passes: Passes, rows: LabelledRows, known: tuple[Any, ...] = ()
) -> Any:
    """LogisticRegression with a penalty on a source that can be read again, of any width."""
    model._check_parameters()
    _check(model, passes.source, rows)
    alpha, intercept = float(model.alpha), bool(model.fit_intercept)
    # Threads of BLAS would change the last digit.
    with one_blas_thread(1), _kept_processes(passes):
        first = passes.sums("classes", ClassesOf(rows), _both)
        first = _checked(first, known, passes, rows)
        state = passes.done.get(_STATE) or begun(first, alpha, intercept)
        K, p = first.outputs, len(first.squares)
        units = in_own_units(np.empty((0, p)), np.empty(0), np.empty(0), K, intercept)
        run = _Run(passes, rows, first.labels, intercept, state.passes)
        most, tol = _PASSES * int(model.max_iter), float(model.tol)
        units = units.with_penalty(alpha)
        fit = minimum_in_passes(state, run.sums, run.keep, units, most, tol)
    model._take_newton(fit, p, class_array(first.labels, rows.target))
    return model


@contextmanager
def _kept_processes(passes: Passes) -> Iterator[None]:
    """Where processes are to read, all passes have the same ones."""
    jobs = passes.jobs
    if not isinstance(jobs, int) or jobs == 1:
        yield
        return
    with Pool(jobs) as pool:
        passes.jobs = pool
        try:
            yield
        finally:
            passes.jobs = jobs


def known_labels(classes: Any) -> tuple[Any, ...]:
    """The labels that the user named, sorted."""
    return () if classes is None else tuple(np.unique(np.asarray(classes)).tolist())


def _check(model: Any, source: Source, rows: LabelledRows) -> None:
    """Refuse what gradients alone cannot do."""
    if isinstance(model.alpha, str):
        raise ValueError(
            f"alpha={model.alpha!r} needs all rows in memory; on a stream give a number."
        )
    if not source.again:
        raise DataError(
            f"{source.name} can be read once only, and LogisticRegression needs some passes; save "
            "it to a file first."
        )
    if not model.alpha > 0:
        raise DataError(
            f"{len(rows.names)} columns are too many for a matrix of their curvature, and without "
            "a penalty gradients alone prove nothing; give alpha > 0."
        )


def _checked(
    first: ClassSums, known: tuple[Any, ...], passes: Passes, rows: LabelledRows
) -> ClassSums:
    """Sums of two classes or more that stayed in the range of float64."""
    class_array(first.labels, rows.target)
    absent = [label for label in known if label not in first.labels]
    if absent or not (first.weight > 0.0).all():
        none = absent[0] if absent else first.labels[int(np.argmin(first.weight))]
        raise DataError(
            f"{passes.source.name}: no row that counts has the class {none!r}; its intercept would "
            "be minus infinity. Leave that class out."
        )
    if not np.isfinite(first.squares).all() or not np.isfinite(first.sizes.terms_squares):
        raise DataError(
            f"{passes.source.name}: sums over the rows leave the range of float64; rescale the "
            "columns."
        )
    return first


@dataclass
class _Run:
    """Passes of one descent, counted, so that a checkpoint finds them again."""

    passes: Passes
    rows: LabelledRows
    labels: tuple[Any, ...]
    intercept: bool
    count: int

    def sums(self, theta: Array) -> GradientSums:
        """Sums over all rows at theta: a pass."""
        function = GradientOf(self.rows, self.labels, theta, self.intercept)
        found: GradientSums = self.passes.sums(self.name, function, _added)
        return found

    def keep(self, state: Descent) -> None:
        """Write down where the descent is; the sums of the pass are part of that."""
        self.passes.done.pop(self.name, None)
        self.count += 1
        self.passes.keep(_STATE, state)

    @property
    def name(self) -> str:
        """Of the pass."""
        return f"gradient {self.count}"


@dataclass(frozen=True, eq=False)
class ClassesOf:
    """The classes of a block, and the sums of their rows."""

    rows: LabelledRows

    def __call__(self, block: Block) -> Part:
        X, labels, codes = self.rows.labels(block, "C")
        if len(labels) * X.shape[1] > _MOST_WEIGHTS:
            raise DataError(
                f"the target {self.rows.target!r} has {len(labels)} classes or more, and there are "
                f"{X.shape[1]} columns: more than {_MOST_WEIGHTS} weights. Use fewer of either."
            )
        return Part(len(codes), ClassSums.of(X, labels, codes, self.rows.weights(block)))


@dataclass(frozen=True, eq=False)
class GradientOf:
    """Loss and gradient at theta of a block."""

    rows: LabelledRows
    labels: tuple[Any, ...]
    theta: Array
    intercept: bool

    def __call__(self, block: Block) -> Part:
        X, found, codes = self.rows.labels(block, "C")
        target = _coded(codes, found, self.labels)
        K, omega = len(self.theta), self.rows.weights(block)
        loss = in_own_units(X, target, omega, K, self.intercept)
        return Part(len(codes), GradientSums.of(loss, self.theta))


def _coded(
    codes: NDArray[np.int64], found: tuple[Any, ...], known: tuple[Any, ...]
) -> NDArray[Any]:
    """-1 or +1 of two classes, or the place of the class among all of them."""
    strange = [label for label in found if label not in known]
    if strange:
        raise DataError(
            f"the class {strange[0]!r} was not there in the first pass; a file has changed since."
        )
    places = np.array([known.index(label) for label in found], dtype=np.int64)[codes]
    return np.asarray(2.0 * places - 1.0 if len(known) == 2 else places)


def _both(a: ClassSums, b: ClassSums) -> ClassSums:
    return a.plus(b, union(a.labels, b.labels))


def _added(a: GradientSums, b: GradientSums) -> GradientSums:
    return a + b
