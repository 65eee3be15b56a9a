"""Learners by Newton's method in passes over a source, with a proof at the end.

A pass is a problem's sums at theta: blocks give `Sums`, which merge with +. The steps are those of
`procedures.newton`; here are units, labels, passes and checkpoints. Where a matrix of the columns
is too large, each pass sums a gradient only, and L-BFGS steps.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.data.fitting._passes import Both, Passes, Reader, class_array, union
from adaline.data.fitting._returned import Part, check_returned
from adaline.data.reading.source import Block
from adaline.data.storing.checkpoint import storable
from adaline.errors import DataError, SeparableError, plural
from adaline.linalg import Diagonal, inner, length
from adaline.parameters import is_sparse
from adaline.procedures.newton import State, begin, newton, until_proven
from adaline.procedures.steps import finished
from adaline.results import Array
from adaline.sums.losses import Logistic, Loss, Softmax
from adaline.sums.mapreduce import mapreduce
from adaline.sums.objective import Objective, Sums, Want, penalty_of
from adaline.sums.scaled_rows import MANY, NONE, ScaledRows

WIDEST = 2 * MANY  # weights of all classes, beyond which a matrix of them is 128 MB a block
MOST_WEIGHTS = 2**27  # of all classes: a gigabyte, of which this process holds about 25
PASSES = 10  # times max_iter: a pass of gradients costs much less than a step with a matrix
SAMPLE, SHARE = 2**16, 16  # rows that a sample has at least, or one in so many where that is more
LARGEST_SAMPLE = 2**24  # numbers in it, at most
PIECES = 8  # one in so many pieces of the source is looked into for it, four at least

storable(Sums)


class _NewLabels(Exception):
    """A pass met labels that nobody knew of."""


@dataclass(frozen=True)
class Targets:
    """How a learner reads its targets: class labels, or numbers that its loss takes."""

    rows: Any  # a RowReader
    loss: Any  # of numbers; None for labels

    @classmethod
    def of(cls, model: Any, rows: Any) -> Targets:
        """As the estimator declares; TypeError where it declares nothing."""
        if model._learns == "classes" and model._loss is None:
            return cls(rows, None)
        if model._loss is None:
            raise TypeError(f"{type(model).__name__} declares no loss to minimise in passes.")
        return cls(rows, model._loss)

    def loss_of(self, labels: tuple[Any, ...]) -> Loss:
        """The loss of the criterion; for labels that of two classes or more."""
        if self.loss is not None:
            return self.loss  # type: ignore[no-any-return]
        return Logistic() if len(labels) <= 2 else Softmax()

    def read(self, block: Block) -> tuple[Any, tuple[Any, ...], NDArray[Any], Array]:
        """X, the labels in the block, the target of each row, and the offset (n,) or (0,)."""
        if self.loss is None:
            X, labels, codes = self.rows.labels(block, "C")
            return X, labels, codes, NONE
        X, y, offset = self.rows.targets(block, "C", self.loss)
        return X, (), y, offset

    def coded(self, y: NDArray[Any], own: tuple[Any, ...], known: tuple[Any, ...]) -> NDArray[Any]:
        """The targets of rows with these labels of their own, among all that are known."""
        if self.loss is not None:
            return y
        codes = np.array([known.index(label) for label in own], dtype=np.int64)[y]
        return np.asarray(2.0 * codes - 1.0 if len(known) <= 2 else codes)

    def outputs(self, labels: tuple[Any, ...]) -> int:
        """K."""
        return 1 if len(labels) <= 2 else len(labels)


@storable
@dataclass(frozen=True, eq=False)
class Found:
    """Sums over blocks, labels in them that nobody knew of, and whether a target is not zero."""

    sums: Sums | None
    strange: tuple[Any, ...] = ()
    told: bool = False

    def __add__(self, other: Found) -> Found:
        both = self.sums if other.sums is None else other.sums
        both = both if self.sums is None or other.sums is None else self.sums + other.sums
        return Found(both, union(self.strange, other.strange), self.told or other.told)


@storable
@dataclass(frozen=True, eq=False)
class Study:
    """A first pass where columns are too many for a sample: labels, and how large the columns are.

    weight, rows and total hold a number, a sum of rows, for each label or for all rows.
    """

    labels: tuple[Any, ...]
    n: int
    weight: Array
    total: Array
    squares: Array
    largest: Array
    longest: float

    @classmethod
    def of(cls, X: Any, labels: tuple[Any, ...], codes: NDArray[Any], omega: Array) -> Study:
        """Of a block."""
        omega, X = omega if len(omega) else np.ones(X.shape[0]), X.astype(np.float64, copy=False)
        squares, ends = X.multiply(X) if is_sparse(X) else X * X, abs(X).max(axis=0)
        return cls(
            labels,
            X.shape[0],
            np.asarray(np.bincount(codes, omega, minlength=len(labels)), dtype=np.float64),
            np.asarray(X.T @ omega).ravel(),
            np.asarray(squares.T @ omega).ravel(),
            ends.toarray().ravel() if is_sparse(X) else ends,
            sqrt(float(np.asarray(squares.sum(axis=1)).max())),
        )

    def __add__(self, other: Study) -> Study:
        labels = union(self.labels, other.labels)
        weight = np.zeros(len(labels))
        for part in (self, other):
            np.add.at(weight, [labels.index(label) for label in part.labels], part.weight)
        with np.errstate(over="ignore", invalid="ignore"):
            return Study(
                labels,
                self.n + other.n,
                weight,
                self.total + other.total,
                self.squares + other.squares,
                np.maximum(self.largest, other.largest),
                max(self.longest, other.longest),
            )


@storable
@dataclass(frozen=True, eq=False)
class Start:
    """Where to begin and in which units, and the labels met so far; plain is a start of no weights.

    top bounds |z_j| (p + 1,) and longest |x| of a row, where a pass has told; else top is empty.
    """

    theta: Array
    plain: Array
    scale: Array
    shift: Array
    deviation: Array
    unit: float
    labels: tuple[Any, ...]
    top: Array
    longest: float


@dataclass(frozen=True, eq=False)
class StudyOf:
    """The `Study` of a block."""

    targets: Targets

    def __call__(self, block: Block) -> Part:
        X, labels, codes = self.targets.rows.labels(block, "C")
        if len(labels) * X.shape[1] > MOST_WEIGHTS:
            raise DataError(
                f"the target {self.targets.rows.target!r} has {len(labels)} classes or more, and "
                f"there are {X.shape[1]} columns: more than {MOST_WEIGHTS} weights. Use fewer."
            )
        if not len(codes):
            return Part(0, None)
        return Part(len(codes), Study.of(X, labels, codes, self.targets.rows.weights(block)))


@dataclass(frozen=True, eq=False)
class SumsOf:
    """Sums of a block at theta, in the units of the start."""

    targets: Targets
    start: Start
    intercept: bool
    theta: Array
    want: Want

    def __call__(self, block: Block) -> Part:
        X, own, y, offset = self.targets.read(block)
        known = self.start.labels
        strange = tuple(label for label in own if label not in known)
        if strange or not len(y):
            return Part(len(y), Found(None, strange))
        y = self.targets.coded(y, own, known)
        rows = units_of(self.start, self.intercept).with_rows(
            X, y, self.targets.rows.weights(block), offset
        )
        objective = Objective(
            rows, self.targets.loss_of(known), len(self.theta), np.zeros(len(self.theta[0]))
        )
        sums = objective.bare_sums(self.theta, self.want)
        return Part(len(y), Found(sums, (), bool(np.any(y))))


def units_of(start: Start, intercept: bool) -> ScaledRows:
    """The units of the start, of no rows."""
    p = len(start.scale)
    rest = intercept, start.scale, start.shift, start.top, start.deviation, start.unit
    return ScaledRows(np.empty((0, p)), NONE, NONE, NONE, *rest)


class PassesProblem:
    """A `Problem` whose sums are passes over a source, counted, so that a checkpoint finds them."""

    def __init__(self, run: Passes, targets: Targets, start: Start, alpha: float, intercept: bool):
        self.run, self.targets, self.start, self.intercept = run, targets, start, intercept
        self.rows = units_of(start, intercept)
        self.loss, self.K = targets.loss_of(start.labels), len(start.theta)
        self.penalty = penalty_of(alpha, start.scale, start.unit)
        self.passes = int(np.isfinite(start.longest))  # the study of wide rows was one
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
    def weight(self) -> float:
        """Sum of the sample weights, which any pass tells."""
        return self._any().weight

    def _any(self) -> Sums:
        """The first pass."""
        if self._first is None:
            self.sums(self.start.theta, "thin" if self.is_wide else "joint")
        assert self._first is not None
        return self._first

    @property
    def is_bare(self) -> bool:
        """Whether there is no penalty."""
        return not self.penalty[:-1].any()

    @property
    def spread(self) -> Array:
        """About the sum of omega z_j^2."""
        own = np.append(self.start.deviation**2, 1.0) * self.weight
        own[:-1] *= max(self.q / self._any().n, 1.0)
        return own

    def price(self, want: Want) -> float:
        """Reading costs so much that a matrix comes with every gradient, or never."""
        return 0.0 if want == "joint" and not self.is_wide else inf

    def sums(self, theta: Array, want: Want = "") -> Sums:
        """A pass."""
        key = theta.tobytes(), want
        if self._last is None or self._last[0] != key:
            function = SumsOf(self.targets, self.start, self.intercept, theta, want)
            self.passes += 1
            found: Found = self.run.sums(self.name, function, operator.add)
            if found.strange:
                raise _NewLabels(found.strange)
            if self.targets.loss is not None and not found.told:
                unit, target = self.targets.loss.unit, self.targets.rows.target
                raise DataError(
                    f"every {unit} in the target {target!r} is zero; the mean would be zero, and "
                    f"log(0) is no intercept. Give rows with {unit}s."
                )
            assert found.sums is not None
            self._last = key, found.sums
            self._first = self._first or replace(found.sums, H=None)
        return self._last[1].penalised(theta, self.penalty, self.intercept)

    def take_up(self, passes: int, sums: Sums) -> None:
        """Go on after so many passes, of which these are sums."""
        self.passes, self._first = passes, replace(sums, H=None)

    @property
    def name(self) -> str:
        """Of the last pass, in a checkpoint."""
        return f"pass {len(self.start.labels)} {self.passes}"

    def products(self, theta: Array) -> Callable[[Array], Array] | None:
        """Each would be a pass."""
        return None

    def lower_bound(self) -> None:
        """Some of the rows cost as much to read as all."""
        return

    def farthest(self, sums: Sums) -> float:
        """A bound by the longest row: |z - m| <= |scale x| + |shift + m|."""
        assert sums.H is not None
        root = np.sqrt(self.penalty[:-1])
        mean = sums.H[:-1] / sums.H[-1] if self.intercept else 0.0 * root
        scaled = self.start.longest * float((self.start.scale / root).max())
        return 1.01 * (scaled + length((self.start.shift + mean) / root))


def fit_in_passes(model: Any, run: Passes, rows: Any, classes: Any = None) -> Any:
    """Learn from a source that can be read again."""
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
    if not run.source.again:
        raise DataError(
            f"{run.source.name} can be read once only, and {type(model).__name__} needs a few "
            "passes; save it to a file first."
        )
    targets = Targets.of(model, rows)
    alpha, intercept = float(model.alpha), bool(model.fit_intercept)
    known: tuple[Any, ...] = () if classes is None else tuple(np.unique(classes).tolist())
    wide = len(rows.names) > MANY
    while True:
        try:
            start = _start(model, run, targets, known, wide)
            problem = PassesProblem(run, targets, start, alpha, intercept)
            if problem.is_wide and not wide and targets.loss is None:
                wide = True
                continue
            fit = _wide(model, problem) if wide else _narrow(model, problem)
            break
        except _NewLabels as error:
            known = union(start.labels, error.args[0])
    if fit.outcome == "interrupted":  # the estimator stays as it was, and a checkpoint goes on
        raise KeyboardInterrupt
    if fit.outcome in ("separated", "quasi") and targets.loss is None:
        _refuse_separable(fit)
    labels = () if targets.loss is not None else (class_array(start.labels, rows.target),)
    model._take_newton(fit, len(rows.names), *labels)
    return model


def _refuse_separable(fit: Any) -> None:
    if fit.outcome == "separated":
        raise SeparableError(
            "a hyperplane separates the classes, so that maximum likelihood has no finite "
            "weights; give alpha > 0, or use MaxMargin or Perceptron."
        )
    raise SeparableError(
        f"after {plural(fit.steps, 'step')} the weights still grow: the classes seem separable "
        "but for ties, and then maximum likelihood has no finite weights; give alpha > 0."
    )


def _narrow(model: Any, problem: PassesProblem) -> Any:
    theta = problem.start.theta
    if not np.isfinite(problem.sums(theta, "joint").f):  # the sample misleads
        theta = problem.start.plain
    if not np.isfinite(problem.sums(theta, "joint").f):
        name = problem.run.source.name
        raise DataError(
            f"{name}: sums over the rows leave the range of float64; rescale the columns."
        )
    return newton(problem, model.max_iter, float(model.tol), theta)


@storable
@dataclass(frozen=True, eq=False)
class Descent:
    """All that is known between two steps of a wide problem: plain arrays, to be written down."""

    theta: Array
    sums: Sums
    own: Array
    size: float
    steps: Array
    changes: Array
    history: Array
    made: int
    passes: int
    stuck: int
    finer: int
    goal: float
    tries: int


def _wide(model: Any, problem: PassesProblem) -> Any:
    """L-BFGS: only the state between two steps is kept, however many passes there are."""
    if not model.alpha > 0:
        raise DataError(
            f"{problem.q - 1} columns are too many for a matrix of their curvature, and without "
            "a penalty gradients alone prove nothing; give alpha > 0."
        )
    run, tol = problem.run, float(model.tol)
    saved = run.done.get("descent")
    if saved is None:
        state = begin(problem, problem.start.theta, 0.0)
    else:
        problem.take_up(saved.passes, saved.sums)
        diagonal = Diagonal(saved.own, 0.0 * saved.own)
        diagonal.size = saved.size
        state = State(problem, saved.theta, saved.sums, diagonal)
        pairs = zip(saved.steps, saved.changes, strict=True)
        state.pairs = [(s, y, inner(s, y)) for s, y in pairs]
        state.history, state.steps, state.stuck = list(saved.history), saved.made, saved.stuck
        state.finer, state.goal, state.tries = saved.finer, saved.goal, saved.tries

    def keep(done: int, here: State) -> None:
        for name in [name for name in run.done if name.startswith("pass ")]:
            run.done.pop(name)
        none = np.empty((0, *here.theta.shape))
        steps, changes = (np.array([p[i] for p in here.pairs] or none) for i in (0, 1))
        assert isinstance(here.model, Diagonal)
        diagonal = here.theta, here.sums, here.model.own, here.model.size, steps, changes
        rest = np.array(here.history), here.steps, problem.passes, here.stuck
        run.keep("descent", Descent(*diagonal, *rest, here.finer, here.goal, here.tries))

    with np.errstate(over="ignore", invalid="ignore"):  # penalties of 1e-300 leave float64
        return finished(until_proven(state, PASSES * int(model.max_iter), tol), keep)


def _start(model: Any, run: Passes, targets: Targets, known: tuple[Any, ...], wide: bool) -> Start:
    name = f"start {len(known)} {wide}"
    if name not in run.done:
        made = _studied if wide else _sampled
        run.keep(name, made(model, run, targets, known))
    return run.done[name]  # type: ignore[no-any-return]


def _studied(model: Any, run: Passes, targets: Targets, known: tuple[Any, ...]) -> Start:
    """Units from a pass over all rows, and the bias of each class."""
    if targets.loss is not None:
        raise DataError(f"{len(targets.rows.names)} columns are too many; {MANY} is the most.")
    study: Study = run.sums("study", StudyOf(targets), _added)
    labels = study.labels
    class_array(labels, targets.rows.target)
    none = [label for label in known if label not in labels]
    none += [label for label, weight in zip(labels, study.weight, strict=True) if not weight > 0.0]
    if none:
        raise DataError(
            f"{run.source.name}: no row that counts has the class {none[0]!r}; its intercept would "
            "be minus infinity. Leave that class out."
        )
    if not np.isfinite(study.squares).all() or not np.isfinite(study.longest):
        raise DataError(
            f"{run.source.name}: sums over the rows leave the range of float64; rescale the "
            "columns."
        )
    weight = float(study.weight.sum())
    mean = study.total / weight if model.fit_intercept else 0.0 * study.total
    size = np.sqrt(np.maximum(study.squares / weight - mean**2, 1e-8 * study.squares / weight))
    scale = np.where(size > 0, np.ldexp(1.0, -np.frexp(np.where(size > 0, size, 1.0))[1]), 1.0)
    theta = np.zeros((targets.outputs(labels), len(size) + 1))
    plain = theta.copy()
    if model.fit_intercept:
        share = np.log(study.weight / weight)
        theta[:, -1] = share[1] - share[0] if len(theta) == 1 else share - share.mean()
    top = np.append(1.01 * (study.largest * scale + np.abs(mean * scale)), 1.0)
    rest = mean * scale, size * scale, 1.0, labels, top, study.longest
    return Start(theta, plain, scale, *rest)


def _added(a: Study | None, b: Study | None) -> Study | None:
    return b if a is None else a if b is None else a + b


@dataclass(frozen=True, eq=False)
class Sampled:
    """Some rows of a block, and how many it has."""

    X: Any
    labels: tuple[Any, ...]
    y: NDArray[Any]
    offset: Array
    omega: Array
    rows: int


@dataclass(frozen=True, eq=False)
class SampleOf:
    """Every so many-th row of a block, where so many pieces of so many are looked into."""

    targets: Targets
    looked_into: int
    pieces: int
    piece_rows: int | None  # on average, about; None where nobody knows: then a piece is a block

    def __call__(self, block: Block) -> Part:
        n, p = block.rows, len(self.targets.rows.names)
        of_piece = n if self.piece_rows is None else self.piece_rows
        k = max(1, of_piece * self.looked_into // _wanted(of_piece * self.pieces, p))
        step = k if block.columns else 1  # of a table: other rows need not become numbers
        block, k = block.part(0, n, step) if block.columns else block, k // step
        X, labels, y, offset = self.targets.read(block)
        omega = self.targets.rows.weights(block)
        some = X if k <= 1 else X[::k].copy()  # a view would keep all of X
        k = max(k, 1)
        sampled = Sampled(some, labels, y[::k], offset[::k], omega[::k], step * X.shape[0])
        return Part(len(sampled.y), (sampled,))


def _wanted(rows: int, p: int) -> int:
    """How many rows a sample of so many should have."""
    return min(max(SAMPLE, rows // SHARE), max(LARGEST_SAMPLE // (p + 1), 1024))


def _sampled(model: Any, run: Passes, targets: Targets, known: tuple[Any, ...]) -> Start:
    """Units from rows spread over the source, and the minimum of their loss."""
    parts, share = _sample(run, targets)
    labels = known
    for part in parts:
        labels = union(labels, part.labels)
    stack: Any = sparse.vstack if is_sparse(parts[0].X) else np.concatenate
    X = stack([part.X for part in parts])
    X = X.tocsr() if is_sparse(X) else X
    y = np.concatenate([targets.coded(part.y, part.labels, labels) for part in parts])
    offset = np.concatenate([part.offset for part in parts])
    omega = np.concatenate([part.omega for part in parts])
    loss, K = targets.loss_of(labels), targets.outputs(labels)
    rest = y, omega, float(model.alpha) * share, bool(model.fit_intercept)
    few = Objective.of(loss, X, *rest, K=K, offset=offset)
    rows = few.rows
    if not np.isfinite(rows.top).all():
        raise DataError("sums over a column leave the range of float64; rescale it.")
    theta = plain = loss.start(rows, K)
    enough = (
        bool(np.any(y)) if targets.loss is not None else len(np.unique(y)) == max(len(labels), 2)
    )
    if enough:
        found = newton(few, 30, 1e-5, plain)
        if found.outcome not in ("separated", "quasi"):
            theta = found.theta
    return Start(theta, plain, rows.scale, rows.shift, rows.deviation, rows.unit, labels, NONE, inf)


def _sample(run: Passes, targets: Targets) -> tuple[list[Sampled], float]:
    """Rows from blocks spread over the source, and which share of all rows they are."""
    source = run.source
    pieces: list[Any] = list(source.descriptors())
    about, p = source.rows or source.about, len(targets.rows.names)
    average = None if about is None else -(-about // len(pieces))
    both = Both(operator.add)

    def look(places: list[int]) -> Any:
        function = SampleOf(targets, len(places), len(pieces), average)
        reader, chosen = Reader(source.for_reading(), function, both), [pieces[k] for k in places]
        return mapreduce(reader, chosen, both, run.jobs, check=check_returned)

    some = min(max(4, len(pieces) // PIECES), 512)
    if about is not None:
        some = max(some, _wanted(about, p) * (p + 1) // (5 * 2**18) + 1)  # 10 MB from each piece
    places = np.unique(np.linspace(0, len(pieces) - 1, some).astype(int)).tolist()
    whole = look(places)
    if not whole.rows:  # the rows to learn from are elsewhere
        places = list(range(len(pieces)))
        whole = look(places)
    if not whole.rows:
        raise DataError(f"{source.name}: no rows are left to learn from.")
    parts: list[Sampled] = [part for part in whole.value if len(part.y)]
    rows = source.rows or sum(part.rows for part in whole.value) * len(pieces) / len(places)
    return parts, whole.rows / rows
