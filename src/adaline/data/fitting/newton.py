"""Logistic and log-linear regression by Newton's method in passes, with a proof at the end.

A pass gives a problem's sums at theta (`Sums`, merged with +); the steps are those of
`procedures.newton`. Units and a first theta come from a sample of rows. Where a matrix of the
columns is too large, `wide` takes over. Called by `fit` and `collections`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
from scipy import sparse

from adaline.data.fitting.chunks import Chunk, Chunks
from adaline.data.fitting.wide import descend, start_from_sizes
from adaline.data.storing.records import storable
from adaline.errors import DataError, SeparableError, plural
from adaline.linalg import length
from adaline.parameters import is_sparse
from adaline.procedures.newton import newton
from adaline.results import Array
from adaline.sums.losses import Logistic, Loss, Softmax
from adaline.sums.objective import Objective, Sums, Want, penalty_of
from adaline.sums.scaled_rows import MANY, NONE, ScaledRows

WIDEST = 2 * MANY  # weights of all classes, beyond which a matrix of them is 128 MB a block
SAMPLE_ROWS, SAMPLE_NUMBERS = 2**16, 2**24  # at most in the sample: 128 MB
SAMPLE_PIECES = 64  # pieces of the source that are sampled, or an eighth, at least 4

storable(Sums)
storable(ScaledRows)


@storable
@dataclass(frozen=True, eq=False)
class Start:
    """Where to begin, and in which units; `plain` is a start without weights.

    longest bounds |x| of a row, where a pass has told; else it is infinite. `is_varied` is whether
    the sample has all classes, or counts that are not zero.
    """

    theta: Array
    plain: Array
    units: ScaledRows
    longest: float
    is_varied: bool = True


@dataclass(frozen=True, eq=False)
class Sample:
    """Every so many-th row of some blocks, at most `most`: merged samples are thinned alike."""

    chunk: Chunk
    stride: int
    most: int

    def thinned(self, stride: int) -> Chunk:
        """The rows that a larger stride keeps."""
        step = stride // self.stride
        parts = (self.chunk.X, self.chunk.y, self.chunk.weights, self.chunk.offset)
        return Chunk(*(part if step == 1 else part[::step].copy() for part in parts))

    def __add__(self, other: Sample) -> Sample:
        stride = max(self.stride, other.stride)
        rows = sum(len(one.chunk.y) * one.stride for one in (self, other))
        while rows > self.most * stride:
            stride *= 2
        a, b = self.thinned(stride), other.thinned(stride)
        stack: Any = sparse.vstack if is_sparse(a.X) else np.concatenate
        X = stack([a.X, b.X])
        pairs = ((a.y, b.y), (a.weights, b.weights), (a.offset, b.offset))
        columns = [np.concatenate(pair) for pair in pairs]
        return Sample(Chunk(X.tocsr() if is_sparse(X) else X, *columns), stride, self.most)


def sample(chunk: Chunk, most: int) -> Sample:
    """Of one block."""
    stride = 1
    while len(chunk.y) > most * stride:
        stride *= 2
    return Sample(Sample(chunk, 1, most).thinned(stride), stride, most)


def loss_sums(chunk: Chunk, loss: Loss, units: ScaledRows, theta: Array, want: Want) -> Sums:
    """Loss, gradient and what else is wanted, at theta."""
    rows = units.with_rows(chunk.X, coded(chunk, loss), chunk.weights, chunk.offset)
    return Objective(rows, loss, len(theta), np.zeros(len(theta[0]))).bare_sums(theta, want)


def target_total(chunk: Chunk) -> float:
    """The sum of the targets."""
    return float(chunk.y.sum())


def coded(chunk: Chunk, loss: Loss) -> Any:
    """Targets as the loss takes them: -1 and +1 for two classes."""
    return 2.0 * chunk.y - 1.0 if isinstance(loss, Logistic) else chunk.y


class PassesProblem:
    """A `Problem` of `procedures.newton` whose sums are passes over the chunks."""

    def __init__(self, chunks: Chunks, loss: Loss, start: Start, alpha: float) -> None:
        self.chunks, self.loss, self.start = chunks, loss, start
        self.rows, self.K, self.intercept = start.units, len(start.theta), start.units.intercept
        self.penalty = penalty_of(alpha, self.rows.scale, self.rows.unit)
        # The labels took a pass, and so did the sizes of wide columns.
        self.passes = int(chunks.labels is not None) + int(np.isfinite(start.longest))
        self._last: tuple[Any, Sums] | None = None
        self._first: Sums | None = None

    @property
    def q(self) -> int:
        """Weights of one output, and its bias."""
        return int(self.start.theta.shape[1])

    @property
    def is_wide(self) -> bool:
        """Whether a pass sums gradients only."""
        return self.q - 1 > MANY or self.start.theta.size > WIDEST

    @property
    def is_bare(self) -> bool:
        """Whether there is no penalty."""
        return not self.penalty[:-1].any()

    @property
    def first(self) -> Sums:
        """Of the first pass."""
        if self._first is None:
            self.sums(self.start.theta, "thin" if self.is_wide else "joint")
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
        """A pass."""
        key = theta.tobytes(), want
        if self._last is None or self._last[0] != key:
            self.passes += 1
            sums = self.chunks.sum(loss_sums, self.loss, self.rows, theta, want)
            self._last = key, sums
            self._first = self._first or replace(sums, H=None)
        return self._last[1].penalised(theta, self.penalty, self.intercept)

    def resume(self, passes: int, sums: Sums) -> None:
        """Continue after so many passes, of which these are sums."""
        self.passes, self._first = passes, replace(sums, H=None)

    def products(self, theta: Array) -> Callable[[Array], Array] | None:
        """Each would be a pass."""
        return None

    def farthest(self, sums: Sums) -> float:
        """A bound by the longest row: |z - m| <= |scale x| + |shift + m|."""
        assert sums.H is not None
        root = np.sqrt(self.penalty[:-1])
        mean = sums.H[:-1] / sums.H[-1] if self.intercept else 0.0 * root
        scaled = self.start.longest * float((self.rows.scale / root).max())
        return 1.01 * (scaled + length((self.rows.shift + mean) / root))


def minimise(model: Any, chunks: Chunks, classes: Any = None) -> None:
    """Learn from a source that can be read again."""
    require_possible(model, chunks)
    loss, weights = model._loss, {}
    if model._learns == "classes" and loss is None:
        weights = chunks.find_labels(classes)
        loss = Logistic() if len(weights) == 2 else Softmax()
        known = [] if classes is None else np.unique(np.asarray(classes)).tolist()
        for label in [*weights, *known]:
            if not weights.get(label, 0.0) > 0.0:
                why = (
                    "only zero sample_weight for" if label in weights else "no row that counts has"
                )
                raise DataError(
                    f"{chunks.source.name}: {why} the class {label!r}: its intercept would be "
                    "minus infinity. Leave that class out."
                )
    elif loss is None:
        raise TypeError(f"{type(model).__name__} declares no loss to minimise in passes.")
    p, K = len(chunks.reader.names), len(weights) if len(weights) > 2 else 1
    is_wide = p > MANY or K * (p + 1) > WIDEST
    if is_wide:
        start = Start(*start_from_sizes(model, chunks, weights))
    else:
        start = start_from_sample(model, chunks, loss, K)
    problem = PassesProblem(chunks, loss, start, float(model.alpha))
    fit = descend(model, problem) if is_wide else solve(model, problem)
    if fit.outcome == "interrupted":  # the estimator stays as it was, and a checkpoint goes on
        raise KeyboardInterrupt
    if fit.outcome in ("separated", "quasi") and weights:
        refuse_separable(fit)
    model._take_newton(fit, p, *([np.array(chunks.labels)] if weights else []))


def require_possible(model: Any, chunks: Chunks) -> None:
    """Parameters that passes can serve, and rows that can be read several times."""
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
    if not chunks.source.again:
        raise DataError(
            f"{chunks.source.name} can be read once only, and {type(model).__name__} needs a few "
            "passes; save it to a file first."
        )


def refuse_separable(fit: Any) -> None:
    """Raise SeparableError."""
    if fit.outcome == "separated":
        raise SeparableError(
            "a hyperplane separates the classes, so that maximum likelihood has no finite "
            "weights; give alpha > 0, or use MaxMargin or Perceptron."
        )
    raise SeparableError(
        f"after {plural(fit.steps, 'step')} the weights still grow: the classes seem separable "
        "but for ties, and then maximum likelihood has no finite weights; give alpha > 0."
    )


def solve(model: Any, problem: PassesProblem) -> Any:
    """Newton's steps from the sample's minimum, or from no weights where the sample misleads."""
    theta = problem.start.theta
    if not np.isfinite(problem.sums(theta, "joint").f):
        theta = problem.start.plain
        if not np.isfinite(problem.sums(theta, "joint").f):
            name = problem.chunks.source.name
            raise DataError(
                f"{name}: sums over the rows leave the range of float64; rescale the columns."
            )
    return newton(problem, model.max_iter, float(model.tol), theta)


def start_from_sample(model: Any, chunks: Chunks, loss: Loss, K: int) -> Start:
    """Units from rows spread over the source, and the minimum of their loss."""
    start: Start = chunks.once(lambda: minimise_sample(model, chunks, loss, K))
    if not chunks.labels and not start.is_varied and chunks.sum(target_total) == 0.0:
        unit, target = model._loss.unit, chunks.reader.target
        raise DataError(
            f"every {unit} in the target {target!r} is zero; the mean would be zero, and log(0) is "
            f"no intercept. Give rows with {unit}s."
        )
    return start


def minimise_sample(model: Any, chunks: Chunks, loss: Loss, K: int) -> Start:
    """A start; without weights where classes or counts are missing in the sample."""
    chunk, share = draw_sample(chunks)
    classes = len(chunks.labels or ())
    is_varied = len(np.unique(chunk.y)) == classes if classes else bool(chunk.y.any())
    rest = coded(chunk, loss), chunk.weights, float(model.alpha) * share, bool(model.fit_intercept)
    few = Objective.of(loss, chunk.X, *rest, K=K, offset=chunk.offset)
    rows = few.rows
    if not np.isfinite(rows.top).all():
        raise DataError("sums over a column leave the range of float64; rescale it.")
    theta = plain = np.zeros((K, rows.q))
    if is_varied:
        theta = plain = loss.start(rows, K)
        fit = newton(few, 30, 1e-5, plain)
        theta = plain if fit.outcome in ("separated", "quasi") else fit.theta
    empty = np.empty((0, rows.q - 1))
    units = replace(rows, X=empty, y=NONE, omega=NONE, offset=NONE, top=NONE)
    return Start(theta, plain, units, inf, is_varied)


def draw_sample(chunks: Chunks) -> tuple[Chunk, float]:
    """Rows of pieces spread over the source, and which share of all rows they are."""
    source = chunks.source
    pieces: list[Any] = list(source.descriptors())
    most = min(SAMPLE_ROWS, max(SAMPLE_NUMBERS // (len(chunks.reader.names) + 1), 1024))
    few = min(max(4, len(pieces) // 8), SAMPLE_PIECES, len(pieces))
    some = [pieces[k] for k in np.unique(np.linspace(0, len(pieces) - 1, few).astype(int))]
    part = chunks.sum_of_pieces(some, sample, most)
    if not part.rows:  # the rows to learn from are elsewhere
        some = pieces
        part = chunks.sum_of_pieces(some, sample, most)
    if not part.rows:
        raise DataError(f"{source.name}: no rows are left to learn from.")
    drawn: Chunk = part.value.chunk
    rows = source.rows or part.rows * len(pieces) / len(some)
    return drawn, min(len(drawn.y) / rows, 1.0)
