"""Logistic and log-linear regression by Newton's method in passes, with a proof at the end.

A pass gives a problem's sums at theta (`Sums`, merged with +); the steps are those of
`procedures.newton`. Units come from a pass of means and squares. Where a matrix of the
columns is too large, L-BFGS takes a gradient in each pass. Called by `fit` and `collections`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import frexp, inf, ldexp, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from adaline.data.fitting.chunks import Chunk, Chunks
from adaline.data.storing.records import storable
from adaline.errors import DataError, SeparableError, plural
from adaline.linalg import Diagonal, length
from adaline.parameters import is_sparse
from adaline.procedures.newton import State, begin, newton, until_proven
from adaline.results import Array, finished
from adaline.sums.losses import Logistic, Loss, Softmax
from adaline.sums.objective import Objective, Sums, Want, penalty_of
from adaline.sums.rows import NONE
from adaline.sums.scaled_rows import MANY, ScaledRows

if TYPE_CHECKING:
    from adaline.estimators.base import Learner

WIDEST = 2 * MANY  # weights of all classes, beyond which a matrix of them is 128 MB a block
MOST_WEIGHTS = 2**27  # of all classes: a gigabyte, of which this process holds about 25
PASSES = 10  # times max_iter: a pass of gradients costs much less than a step with a matrix

storable(Sums)
storable(ScaledRows)


@storable
@dataclass(frozen=True, eq=False)
class Extent:
    """How large and how many the numbers are; merged with +."""

    weight: float
    mean: Array  # of the columns
    scatter: Array  # sums of squares about the mean
    longest: float  # |x| of a row
    heaviest: float  # weight of a row
    target: float  # sums over the rows
    exposure: float

    def __add__(self, b: Extent) -> Extent:
        weight, apart = self.weight + b.weight, b.mean - self.mean
        with np.errstate(over="ignore", invalid="ignore"):
            return Extent(
                weight,
                self.mean + apart * (b.weight / weight),
                self.scatter + b.scatter + apart**2 * (self.weight * (b.weight / weight)),
                max(self.longest, b.longest),
                max(self.heaviest, b.heaviest),
                self.target + b.target,
                self.exposure + b.exposure,
            )


def measure(chunk: Chunk) -> Extent:
    X = chunk.X.astype(np.float64, copy=False)
    omega = np.ones(X.shape[0]) if chunk.weights is None else chunk.weights
    exposure = np.exp(chunk.offset) if len(chunk.offset) else np.ones(X.shape[0])
    weight = float(omega.sum())
    with np.errstate(over="ignore", invalid="ignore"):
        if is_sparse(X):
            squares, mean = X.multiply(X), np.asarray(X.T @ omega).ravel() / weight
            each, at, p = np.repeat(omega, np.diff(X.indptr)), X.indices, X.shape[1]
            scatter: Any = np.bincount(at, each * (X.data - mean[at]) ** 2, p)
            scatter += np.maximum(weight - np.bincount(at, each, p), 0.0) * mean**2  # of zeros
        else:
            squares, away = X * X, X - X[0]  # the mean of a constant column is exact
            mean = X[0] + omega @ away / weight
            scatter = omega @ (X - mean) ** 2
        longest = sqrt(float(np.asarray(squares.sum(axis=1)).max()))
    sums = float(omega @ chunk.y), float(omega @ exposure)
    return Extent(weight, mean, scatter, longest, float(omega.max()), *sums)


def loss_sums(chunk: Chunk, loss: Loss, units: ScaledRows, theta: Array, want: Want) -> Sums:
    omega = NONE if chunk.weights is None else chunk.weights
    rows = units.with_rows(chunk.X, coded(chunk, loss), omega, chunk.offset)
    return Objective(rows, loss, len(theta), np.zeros(len(theta[0]))).bare_sums(theta, want)


def coded(chunk: Chunk, loss: Loss) -> Any:
    """Targets as the loss takes them: -1 and +1 for two classes."""
    return 2.0 * chunk.y - 1.0 if isinstance(loss, Logistic) else chunk.y


class PassesProblem:
    """A `Problem` of `procedures.newton` whose sums are passes over the chunks."""

    def __init__(
        self,
        chunks: Chunks,
        loss: Loss,
        rows: ScaledRows,
        start: Array,
        alpha: float,
        longest: float,
    ) -> None:
        self.chunks, self.loss, self.rows, self.start = chunks, loss, rows, start
        self.K, self.q, self.intercept, self.longest = *start.shape, rows.intercept, longest
        self.penalty = penalty_of(alpha, rows.scale, rows.unit)
        self.is_bare = not self.penalty[:-1].any()
        # Whether a pass sums gradients only.
        self.is_wide = self.q - 1 > MANY or start.size > WIDEST
        self.passes = chunks.count  # of the labels, and of what the units come from
        self._last: tuple[Any, Sums] | None = None
        self._first: Sums | None = None

    @property
    def first(self) -> Sums:
        if self._first is None:
            self.sums(self.start, "thin" if self.is_wide else "joint")
        assert self._first is not None
        return self._first

    @property
    def weight(self) -> float:
        """Sum of the sample weights, which any pass knows."""
        return self.first.weight

    @property
    def spread(self) -> Array:
        """About the sum of omega z_j^2."""
        own = np.append(self.rows.deviation**2, 1.0) * self.weight
        own[:-1] *= max(self.q / self.first.n, 1.0)
        return own

    def price(self, want: Want) -> float:
        """Reading costs so much that a matrix comes with every gradient, or never."""
        return 0.0 if want == "joint" and not self.is_wide else inf

    def sums(self, theta: Array, want: Want = "") -> Sums:
        key = theta.tobytes(), want
        if self._last is None or self._last[0] != key:
            self.passes += 1
            sums = self.chunks.sum(loss_sums, self.loss, self.rows, theta, want)
            self._last = key, sums
            self._first = self._first or replace(sums, H=None)
        return self._last[1].penalised(theta, self.penalty, self.intercept)

    def resume(self, passes: int, sums: Sums) -> None:
        self.passes, self._first = passes, replace(sums, H=None)

    def products(self, theta: Array) -> Callable[[Array], Array] | None:
        """Each would be a pass."""
        return None

    def farthest(self, sums: Sums) -> float:
        """A bound by the longest row: |z - m| <= |scale x| + |shift + m|."""
        assert sums.H is not None
        root = np.sqrt(self.penalty[:-1])
        mean = sums.H[:-1] / sums.H[-1] if self.intercept else 0.0 * root
        scaled = self.longest * float((self.rows.scale / root).max())
        return 1.01 * (scaled + length((self.rows.shift + mean) / root))


def minimise(model: Learner, chunks: Chunks) -> None:
    """Learn from a source that can be read again."""
    require_possible(model, chunks)
    loss, weights = model._loss, dict[Any, float]()
    if loss is None:
        weights = chunks.find_labels()
        loss = Logistic() if len(weights) == 2 else Softmax()
        for label, weight in weights.items():
            if not weight > 0.0:
                raise DataError(
                    f"{chunks.source.name}: only zero sample_weight for the class {label!r}: its "
                    "intercept would be minus infinity. Leave that class out."
                )
    problem = begin_problem(model, chunks, loss, weights)
    if problem.is_wide:
        fit = descend(model, problem)
    else:
        fit = newton(problem, model.max_iter, float(model.tol), problem.start)
    if fit.outcome == "interrupted":  # the estimator stays as it was, and a checkpoint goes on
        raise KeyboardInterrupt
    if fit.outcome in ("separated", "quasi") and weights:
        how = f"after {plural(fit.steps, 'step')} the weights still grow: separable but for ties"
        how = "a hyperplane separates the classes" if fit.outcome == "separated" else how
        raise SeparableError(
            f"{how}, so that maximum likelihood has no finite weights; give alpha > 0, or use "
            "MaxMargin or Perceptron."
        )
    model._take_newton(fit, problem.q - 1, *([np.array(chunks.labels)] if weights else []))


def require_possible(model: Learner, chunks: Chunks) -> None:
    """Raise for parameters that passes cannot serve."""
    model._check_parameters()
    if isinstance(model.alpha, str):
        raise ValueError(
            f"alpha={model.alpha!r} needs all rows in memory; on a stream give a number."
        )
    if getattr(model, "class_weight", None) is not None:
        raise ValueError(
            "class_weight is for rows in memory; for files and rows of Dask leave it out, and give "
            "weights of rows where they can be given."
        )


def begin_problem(
    model: Learner, chunks: Chunks, loss: Loss, weights: dict[Any, float]
) -> PassesProblem:
    """Units from a pass over all rows, and a bias that is right on average."""
    p, K, name = len(chunks.reader.names), max(len(weights), 1), chunks.source.name
    K = 1 if K == 2 else K
    if K * p > MOST_WEIGHTS or (p > MANY and not weights):
        raise DataError(
            f"{name}: {p} columns for {K} outputs are too many; {MANY} columns are the most for "
            f"numbers, and {MOST_WEIGHTS} weights for classes."
        )
    of: Extent = chunks.sum(measure)
    chunks.require_finite(of.scatter, np.array([of.longest, of.target, of.exposure]))
    if not weights and of.target == 0.0:
        unit = loss.unit  # type: ignore[attr-defined]
        raise DataError(
            f"every {unit} in the target {chunks.reader.target!r} is zero; the mean would be zero, "
            f"and log(0) is no intercept. Give rows with {unit}s."
        )
    intercept = bool(model.fit_intercept)
    power = of.scatter / of.weight + (0.0 if intercept else of.mean**2)
    # Below 1e-13 of the mean, what looks like a deviation may be its rounding.
    size = np.sqrt(np.maximum(power, 1e-26 * of.mean**2))
    scale = np.where(size > 0, np.ldexp(1.0, -np.frexp(np.where(size > 0, size, 1.0))[1]), 1.0)
    shift = of.mean * scale * intercept
    unit = ldexp(1.0, frexp(of.heaviest)[1])
    # One row that stands for all has the targets and exposures that they have on average.
    one, target = np.ones(1), np.full(1, of.target / of.weight)
    rows = ScaledRows(
        np.zeros((1, p)),
        target,
        one,
        offset=np.log([of.exposure / of.weight]),
        intercept=intercept,
        scale=scale,
        shift=shift,
        top=np.ones(p + 1),
        deviation=size * scale,
        unit=unit,
    )
    theta = np.zeros((K, p + 1))
    if weights and intercept:
        share = np.log(np.array(list(weights.values())) / of.weight)
        theta[:, -1] = share[1] - share[0] if K == 1 else share - share.mean()
    elif not weights:
        theta = loss.start(rows, K)
    units = replace(rows, X=np.empty((0, p)), Y=NONE, omega=NONE, offset=NONE)
    return PassesProblem(chunks, loss, units, theta, float(model.alpha), of.longest)


def descend(model: Learner, problem: Any) -> Any:
    """L-BFGS until the loss is proven to be near its minimum."""
    if not model.alpha > 0:
        raise DataError(
            f"{problem.q - 1} columns are too many for a matrix of their curvature, and without "
            "a penalty gradients alone prove nothing; give alpha > 0."
        )
    chunks = problem.chunks
    count = chunks.count
    if chunks.state is None:
        state = begin(problem, problem.start, 0.0)
    else:
        passes, fields, diagonal = chunks.state
        problem.resume(passes, fields["sums"])
        state = State(problem, **fields)
        state.model = Diagonal(np.ones(1), np.zeros(1))
        vars(state.model).update(diagonal)

    def keep(done: int, now: State) -> None:
        fields = {
            name: part for name, part in vars(now).items() if name not in ("problem", "model")
        }
        chunks.continue_with(count, (problem.passes, fields, vars(now.model)))

    with np.errstate(over="ignore", invalid="ignore"):  # penalties of 1e-300 leave float64
        return finished(until_proven(state, PASSES * int(model.max_iter), float(model.tol)), keep)
