"""LogisticRegression and PoissonRegression in a few passes over a source, with a proof at the end.

The steps are those of `procedures.newton.few_passes`; here are passes, checkpoints and labels.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adaline.data.fitting._gradient_stream import known_labels, wide_logistic
from adaline.data.fitting._loss_sums import (
    Classes,
    Counts,
    Found,
    Start,
    SumsOf,
    Targets,
    begin,
    units_of,
)
from adaline.data.fitting._passes import Passes, RowReader, class_array, union
from adaline.errors import DataError, SeparableError, plural
from adaline.procedures.newton.few_passes import newton_in_passes
from adaline.procedures.newton.pass_sums import Sums
from adaline.results import Array, NewtonFit
from adaline.row_sums.objective_sums import MANY

_NONE = np.empty(0)
_WIDEST = 2 * MANY  # weights of all classes, beyond which a matrix of them is 128 MB a block


class _NewLabels(Exception):
    """A pass met labels that nobody knew of."""


class _TooWide(Exception):
    """The columns of all classes together are too many for a matrix of curvature."""


def logistic(model: Any, passes: Passes, rows: RowReader, classes: Any) -> Any:
    """LogisticRegression on a source that can be read again."""
    if isinstance(model.alpha, str):
        raise ValueError(
            f"alpha={model.alpha!r} needs all rows in memory; on a stream give a number."
        )
    if model.class_weight is not None:
        raise ValueError(
            "class_weight is for rows in memory; for files and rows of Dask leave it out, and give "
            "weights of rows where they can be given."
        )
    known = known_labels(classes)
    if len(rows.names) > MANY:
        return wide_logistic(model, passes, rows, known)
    try:
        fit, labels = _minimum(model, passes, rows, Classes(), known)
    except _TooWide:
        return wide_logistic(model, passes, rows, known)
    if fit.outcome == "separated":
        raise SeparableError(
            "a hyperplane separates the classes, so that maximum likelihood has no finite "
            "weights; give alpha > 0, or use MaxMargin or Perceptron."
        )
    if fit.outcome == "quasi":
        raise SeparableError(
            f"after {plural(fit.steps, 'step')} the weights still grow: the classes seem "
            "separable but for ties, and then maximum likelihood has no finite weights; give "
            "alpha > 0."
        )
    model._take_newton(fit, len(rows.names), class_array(labels, rows.target))
    return model


def poisson(model: Any, passes: Passes, rows: RowReader) -> Any:
    """PoissonRegression on a source that can be read again."""
    fit, _ = _minimum(model, passes, rows, Counts(), ())
    model._take_newton(fit, len(rows.names))
    return model


def _minimum(
    model: Any, passes: Passes, rows: RowReader, targets: Targets, known: tuple[Any, ...]
) -> tuple[NewtonFit, tuple[Any, ...]]:
    """The fit, and all labels; it begins anew where a pass meets labels that nobody knew of."""
    model._check_parameters()
    if not passes.source.again:
        raise DataError(
            f"{passes.source.name} can be read once only, and {type(model).__name__} needs a few "
            "passes; save it to a file first."
        )
    p = len(rows.names)
    if p > MANY:
        raise DataError(f"{p} columns are too many for passes of Newton; {MANY} is the most.")
    while True:
        name = f"start {len(known)}"
        if name not in passes.done:
            passes.keep(name, begin(passes, rows, targets, model, known))
        start = passes.done[name]
        if start.theta.size > _WIDEST and model.alpha > 0 and isinstance(targets, Classes):
            raise _TooWide
        run = _Run(passes, rows, targets, start, bool(model.fit_intercept))
        units = units_of(targets, start, run.intercept).with_penalty(float(model.alpha))
        starts = start.theta, start.plain
        try:
            fit = newton_in_passes(units, run.sums, starts, model.max_iter, float(model.tol))
            return fit, start.labels
        except OverflowError as error:
            raise DataError(f"{passes.source.name}: {error}; rescale the columns.") from None
        except _NewLabels:
            known = run.labels


@dataclass
class _Run:
    """Passes of one descent, counted, so that a checkpoint finds them again."""

    passes: Passes
    rows: RowReader
    targets: Targets
    start: Start
    intercept: bool
    count: int = 0
    top: Array = field(default_factory=lambda: _NONE)
    labels: tuple[Any, ...] = ()

    def sums(self, theta: Array) -> Sums:
        """Sums over all rows at theta: a pass."""
        name = f"newton {len(self.start.labels)} {self.count}"
        self.count += 1
        function = SumsOf(self.targets, self.rows, self.start, theta, self.intercept, self.top)
        found: Found = self.passes.sums(name, function, operator.add)
        if found.strange:
            self.labels = union(self.start.labels, found.strange)
            raise _NewLabels
        self.targets.refuse(found.sums, self.start.labels, self.rows.target)
        self.top = found.sums.top
        return found.sums
