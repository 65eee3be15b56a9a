"""`fit`: any learner that sums or streams, on files larger than memory.

It opens the source, learns how its columns become numbers, and gives `Chunks` to the module of the
learner's kind: `closed`, `newton` or `order`. The command and `adaline.data` call it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from adaline.data.columns.encoding import Encoding
from adaline.data.columns.options import ColumnOptions
from adaline.data.fitting.chunks import Chunks, Progress
from adaline.data.fitting.closed import CLOSED_FORMS
from adaline.data.fitting.newton import minimise
from adaline.data.fitting.order import learn_in_order
from adaline.data.fitting.readers import TableReader, feature_reader, plain_encoding
from adaline.data.reading.blocks import opened
from adaline.data.reading.checks import (
    check_call,
    check_labels,
    check_number,
    check_path,
    check_text,
    check_truth,
    check_whole,
    wrong_type,
)
from adaline.data.reading.libsvm import FeatureNames
from adaline.data.reading.options import ReadingOptions
from adaline.data.reading.scratch import SCRATCH, kept_in
from adaline.data.reading.source import Source, place_of
from adaline.data.storing.checkpoint import Checkpoint
from adaline.distributed.executor import TIMEOUT, Workers
from adaline.errors import DataError
from adaline.estimators.registry import is_public, names_with
from adaline.sums.mapreduce import Executor, open_executor

FORMAT = 8  # of what checkpoints hold; another number refuses those of older versions


def fit(
    estimator: Any,
    source: Any,
    target: str | None = None,
    options: ColumnOptions | None = None,
    *,
    encoding: Encoding | None = None,
    client: Any = None,
    timeout: float = TIMEOUT,
    checkpoint: Any = None,
    every: float = 2.0,
    progress: Progress | None = None,
    passes: int = 1,
    online: bool = False,
    classes: Any = None,
    seed: int = 0,
    exposure: str | None = None,
    n_features: int | None = None,
    scratch: float = SCRATCH,
    **given: Any,
) -> Any:
    """Learn from a file, table or stream, block by block; the rows never have to fit in memory.

    `LeastSquares` and `Ridge` take one pass of mergeable sums, `LeastSquaresClassifier` and
    `GaussianClassifier` one more for the classes, `LogisticRegression` and `PoissonRegression` a
    few passes of Newton's steps (until the loss is proven to be within 1e-3 tol of the least). With
    more than 2000 columns `LogisticRegression` takes passes of gradients, until the loss is proven
    to be within tol of the least. `Perceptron`, `Adaline`, `SigmoidPerceptron` and `WidrowHoff`
    learn the rows in their order.

    Parameters
    ----------
    estimator : estimator
        One of the above; it is fitted in place and returned.
    source : path, table, array, iterable, or what `blocks` gave
        A path may be a folder, a pattern such as `data/*.parquet`, a URL, or a list of paths.
    target : str
        The name of the column to learn; of LIBSVM files it is "y", and may be left out.
    options : ColumnOptions, optional
        What is known of the columns, where no encoding is given.
    encoding : Encoding, optional
        How columns become numbers; learned from the source by default, which takes a pass where
        there is text.
    client : distributed.Client, optional
        Of a Dask cluster whose workers read and sum the files, which must have the same paths or
        URLs there. The answer has the same bits as without it, and so it has when workers die.
    timeout : float
        Seconds without any worker after which a run on a cluster ends with TimeoutError.
    checkpoint : path, optional
        A directory. After a crash the same call goes on from the last block that was saved, and
        ends with the same bits as a run without a crash.
    every : float
        Seconds between two savings, at least.
    progress : callable, optional
        Called with the rows done in this pass, and all rows or None. Where it has a method
        `resumed`, that is called with a sentence when the run goes on from a checkpoint.
    passes : int
        Of learners that take the rows in their order: how often, at most. They stop when a pass
        makes no correction.
    online : bool
        Whether `LogisticRegression` learns the rows in their order too, each by the gradient of
        its own loss: one pass instead of a few, no penalty, and nothing is proven.
    classes : sequence, optional
        All labels, where they are known; saves a pass for the learners of rows in order.
    seed : int
        For learners with shuffle=True: every pass takes the blocks in a random order, and the
        rows of a block too. That is less than an order of all rows, which a stream cannot have:
        of a file sorted by label most blocks hold one class. Mix the rows of such a file first.
    exposure : str, optional
        Of `PoissonRegression`: the column of times, areas or people that the counts are
        proportional to. It is no input.
    n_features : int, optional
        Of LIBSVM files: how many features there are, counted from 1; saves the pass that finds the
        largest index.
    scratch : float
        Bytes of temporary files that text may be kept in as numbers, so that later passes
        need not read text; at most half of what is free there. What finds no room is read from the
        text again, and so is all of it on a cluster. 0 writes none. They are removed at the end.
    **given
        Fields of `ColumnOptions`: columns, missing, unknown, most_levels, rare, read, na, use,
        formula, exact_levels; and jobs, the processes that read and sum: the answer has the same
        bits with any number of them. Learners that take the rows in their order need one.

    Returns
    -------
    estimator
        With `encoding_`, and `feature_names_in_` the names of the encoded columns.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import LeastSquares
    >>> from adaline.data import fit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((1000, 2))
    >>> rows = np.column_stack([X, X @ [2.0, -1.0] + 3.0])
    >>> model = fit(LeastSquares(), rows, "x2")
    >>> model.coef_.round(6), float(model.intercept_.round(6))
    (array([ 2., -1.]), 3.0)
    """
    way = require_stream(estimator, online)
    check_labels("classes", classes)
    for name, whole, least in (("passes", passes, 1), ("seed", seed, 0)):
        check_whole(name, whole, least)
    for name, number in (("every", every), ("timeout", timeout), ("scratch", scratch)):
        check_number(name, number, 0.0)
    check_call("progress", progress)
    if checkpoint is not None:
        check_path("checkpoint", checkpoint)
    if target is not None:
        check_text("target", target, "the name of the column to learn")
    if exposure is not None:
        check_text("exposure", exposure, "the name of a column")
        if not estimator._takes_exposure:
            raise ValueError(
                f"exposure={exposure!r} is of {names_with('_takes_exposure')}; "
                f"{type(estimator).__name__} has none."
            )
    columns = choose_options(options, target, given, encoding)
    who = choose_executor(client, float(timeout), columns.jobs, estimator, way)
    with kept_in(scratch, who) as place:
        source = opened(source, ReadingOptions(n_features=n_features), who, place)
        if not isinstance(who, int) and (source.held_here or not source.again):
            raise ValueError(
                f"{source.name} is in the memory of this process, and workers read files "
                "themselves; give files that they can reach, or fit the estimator to a dask array "
                "or DataFrame."
            )
        reader: Any = None
        if target is None:
            if not isinstance(source.names, FeatureNames):
                raise wrong_type("target", None, "the name of the column to learn")
            target = source.names[0]
        place_of(target, source.names, source.name, "target column")
        if exposure is not None:
            place_of(exposure, source.names, source.name, "exposure column")
            if exposure == target:
                raise ValueError(f"the target {target!r} is named as the exposure, too.")
        is_plain = columns.inputs is None and not (columns.read or columns.na or columns.use)
        in_order = way == "order" and columns.missing == "refuse"
        if is_plain and (in_order or (way == "newton" and estimator._learns == "classes")):
            reader = feature_reader(source, target, encoding)
        if reader is not None:
            encoding = encoding or plain_encoding(reader)
        elif encoding is None:
            encoding = learn_encoding(source, target, exposure, columns)
        inputs = {entry.name for entry in encoding.inputs} if reader is None else set()
        for what, column in (("target", target), ("exposure", exposure)):
            if column in inputs or column in (columns.columns or ()):
                raise ValueError(f"the {what} {column!r} is among the inputs.")
        store = None
        if reader is None:
            source = encoding.prepare(source)
            loss = estimator._loss if way == "newton" else None
            reader = TableReader(encoding, target, exposure, source.name, loss)
        if checkpoint is not None:
            learning = estimator.get_params(), passes, online, classes, seed
            described = encoding.to_dict() if inputs else len(source.names)
            facts = {
                "the data": source.fingerprint,
                "the learner": [FORMAT, type(estimator).__name__, *learning],
                "the columns": [described, target, exposure],
            }
            store = Checkpoint(checkpoint, facts, every)
        with (
            unchanged_on_error(estimator),
            nullcontext() if store is None else store.trusted(),
            open_executor(who) as executor,
        ):
            chunks = Chunks(source, reader, executor, progress, store)
            # Named before it learns, so that whatever is said on the way names the right columns.
            names: Any = np.array(list(reader.names), dtype=object)
            estimator.feature_names_in_ = names
            if way == "order":
                learn_in_order(estimator, chunks, classes, passes, seed)
            else:
                CLOSED_FORMS.get(way, minimise)(estimator, chunks, classes)
    # Named again: blocks are arrays, and a learner forgets the names of the table before it.
    estimator.feature_names_in_, estimator.encoding_ = names, encoding
    return estimator


def counted_rows(
    source: Source, encoding: Encoding, target: str, exposure: str | None, loss: Any
) -> Any:
    """X, the targets and the logarithms of the exposures, of a source that fits in memory."""
    reader = TableReader(encoding, target, exposure, source.name, loss)
    chunks = [reader.read(block, "C") for block in source]
    columns = ([chunk.X for chunk in chunks], [c.y for c in chunks], [c.offset for c in chunks])
    return tuple(map(np.concatenate, columns))


def require_stream(estimator: Any, online: Any) -> str:
    """How the estimator declares to learn from blocks of rows; TypeError where it cannot."""
    if isinstance(estimator, type):
        made = f"{estimator.__name__}()"
        raise TypeError(f"estimator is the class {estimator.__name__}; give an object, {made}.")
    check_truth("online", online)
    way = estimator._streams if is_public(estimator) else None
    if way is None:
        raise TypeError(
            f"{type(estimator).__name__} cannot learn from blocks of rows; these can: "
            f"{names_with('_streams')}. Read the file and use fit where it is small enough."
        )
    if way == "newton" and online:
        if not hasattr(estimator, "partial_fit"):
            raise ValueError(
                f"online=True learns the rows in their order, and {type(estimator).__name__} has "
                "no such procedure; leave online=False."
            )
        return "order"
    return str(way)


def choose_options(
    options: ColumnOptions | None, target: str | None, given: Mapping[str, Any], encoding: Any
) -> ColumnOptions:
    """What is known of the columns; an encoding has its own answers."""
    if encoding is not None:
        if not isinstance(encoding, Encoding):
            raise wrong_type(
                "encoding", encoding, "an Encoding, such as Encoding.learn(source) gives"
            )
        extra = [name for name, value in given.items() if value is not None and name != "jobs"]
        if extra:
            raise ValueError(f"{extra[0]} and encoding are both given; the encoding has its own.")
    return ColumnOptions.of(options, target, given)


def choose_executor(
    client: Any, timeout: float, jobs: int | Executor, estimator: Any, way: str
) -> int | Executor:
    """Who reads and sums: so many processes, or the workers of a cluster."""
    if client is None and isinstance(jobs, int):
        return jobs
    if client is not None and jobs != 1:
        raise ValueError(f"client and jobs={jobs} are both given; a cluster has its own workers.")
    if way == "order":
        raise ValueError(
            f"{type(estimator).__name__} learns the rows in their order, which only one process "
            "can do; leave the client out, or use a learner that sums: LogisticRegression or "
            "LeastSquares, for example."
        )
    return Workers(client, timeout=timeout) if client is not None else jobs


def learn_encoding(
    source: Source, target: str, exposure: str | None, options: ColumnOptions
) -> Encoding:
    """The encoding of the inputs; DataError where that would take a pass that there is not."""
    ignored = [*options.ignore, *([] if exposure is None else [exposure])]
    has_text = any(
        kind != "number"
        and name not in (target, *ignored)
        and (options.columns is None or name in options.columns)
        for name, kind in zip(source.names, source.kinds, strict=True)
    )
    if not source.again and (has_text or options.missing in ("mean", "auto")):
        raise DataError(
            f"{source.name} can be read once only, and its text columns and means need a pass of "
            "their own; save it to a file first, give an encoding=, or choose columns= of numbers."
        )
    return Encoding.learn(source, target, options, ignore=ignored)


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """What does not end well, or is stopped, leaves the estimator as it was."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
