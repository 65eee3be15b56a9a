"""`fit`: any learner that sums or streams, on files larger than memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from adaline.data.columns.encoding import Encoding
from adaline.data.columns.options import MISSING, Missing
from adaline.data.fitting.chunks import Chunks, Progress
from adaline.data.fitting.closed import CLOSED_FORMS
from adaline.data.fitting.newton import minimise
from adaline.data.fitting.order import learn_in_order
from adaline.data.fitting.readers import TableReader, feature_reader, plain_encoding
from adaline.data.reading.blocks import opened
from adaline.data.reading.checks import (
    check_call,
    check_choice,
    check_jobs,
    check_labels,
    check_names,
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
from adaline.sums.mapreduce import Executor

FORMAT = 7  # of what checkpoints hold; another number refuses those of older versions


def fit(
    estimator: Any,
    source: Any,
    target: str | None = None,
    *,
    encoding: Encoding | None = None,
    columns: Any = None,
    missing: Missing = "refuse",
    read: Mapping[str, str] | None = None,
    na: Sequence[str] | None = None,
    use: Sequence[str] | None = None,
    formula: str | None = None,
    exact_levels: bool = False,
    jobs: int | Executor = 1,
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
) -> Any:
    """Learn from a file, table or stream, block by block; the rows never have to fit in memory.

    `LeastSquares`, `Ridge`, `LeastSquaresClassifier` and `GaussianClassifier` take one pass of
    mergeable sums, `LogisticRegression` and `PoissonRegression` a few passes of Newton's steps
    (until the loss is proven to be within 1e-3 tol of the least). With more than 2000 columns
    `LogisticRegression` takes passes of gradients, until the loss is proven to be within tol of the
    least. `Perceptron`, `Adaline`, `SigmoidPerceptron` and `WidrowHoff` learn the rows in their
    order.

    Parameters
    ----------
    estimator : estimator
        One of the above; it is fitted in place and returned.
    source : path, table, array, iterable, or what `blocks` gave
        A path may be a folder, a pattern such as `data/*.parquet`, a URL, or a list of paths.
    target : str
        The name of the column to learn; of LIBSVM files it is "y", and may be left out.
    encoding : Encoding, optional
        How columns become numbers; learned from the source by default, which takes a pass where
        there is text.
    columns : sequence of str, optional
        The input columns, all but the target by default.
    missing : {"refuse", "drop", "mean", "auto"}
        What to do with missing values, where no encoding is given.
    read, na, use : optional
        How to read columns, texts that stand for missing values, and columns to use whatever they
        look like: as in `Encoding.learn`, where no encoding is given.
    formula : str, optional
        What to make of the columns, such as "log(size) + rooms*garden": as in `Encoding.learn`.
    exact_levels : bool
        Whether levels that differ only in case or blanks stay apart: as in `Encoding.learn`.
    jobs : int
        Processes that read and sum; the answer has the same bits with any number of them.
        Learners that take the rows in their order need one.
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
    name, way = type(estimator).__name__, _way(estimator, online)
    reading = read, na, use, formula
    _check(target, encoding, columns, missing, *reading, jobs, checkpoint, every, progress, passes)
    check_truth("exact_levels", exact_levels)
    if encoding is not None and exact_levels:
        raise ValueError("exact_levels and encoding are both given; the encoding has its levels.")
    check_labels("classes", classes)
    check_whole("seed", seed, 0)
    check_number("scratch", scratch, 0.0)
    who = _executor(client, timeout, jobs, name, way)
    with kept_in(scratch, who) as place:
        source = opened(source, ReadingOptions(n_features=n_features), who, place)
        target = _label_of(source) if target is None else target
        if not isinstance(who, int):
            _must_travel(source)
        place_of(target, source.names, source.name, "target column")
        if exposure is not None:
            _check_exposure(exposure, source, target, encoding, columns, estimator)
        reader: Any = None
        sums_classes = way == "newton" and estimator._learns == "classes"
        takes_features = sums_classes or (way == "order" and missing == "refuse")
        if takes_features and columns is None and not any(reading):
            reader = feature_reader(source, target, encoding)
        if reader is not None:
            encoding = encoding or plain_encoding(reader)
        elif encoding is None:
            beside = None if exposure is None else [exposure]
            options: dict[str, Any] = {"missing": missing, "read": read, "na": na, "use": use}
            options |= {"ignore": beside, "formula": formula, "exact_levels": exact_levels}
            encoding = _learned(source, target, columns, options, who)
        elif target in {entry.name for entry in encoding.inputs}:
            raise ValueError(f"the encoding has the target {target!r} among its inputs.")
        store = None
        if checkpoint is not None:
            learning = estimator.get_params(), passes, online, classes, seed
            facts = {
                "the data": (source if reader else encoding.prepare(source)).fingerprint,
                "the learner": [FORMAT, name, *learning],
                "the columns": [reader or encoding.to_dict(), target, exposure],
            }
            store = Checkpoint(checkpoint, facts, every)
        if reader is None:
            source = encoding.prepare(source)
            loss = estimator._loss if way == "newton" else None
            reader = TableReader(encoding, target, exposure, source.name, loss)
        with _all_or_nothing(estimator), nullcontext() if store is None else store.trusted():
            chunks = Chunks(source, reader, who, progress, store)
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


def _label_of(source: Source) -> str:
    """The name of the target, where the format of the file says which column that is."""
    if isinstance(source.names, FeatureNames):
        return source.names[0]
    raise wrong_type("target", None, "the name of the column to learn")


def _way(estimator: Any, online: Any) -> str:
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


def _executor(
    client: Any, timeout: Any, jobs: int | Executor, name: str, way: str
) -> int | Executor:
    """Who reads and sums: so many processes, or the workers of a cluster."""
    check_number("timeout", timeout, 0.0)
    if client is None and isinstance(jobs, int):
        return jobs
    if client is not None and jobs != 1:
        raise ValueError(f"client and jobs={jobs} are both given; a cluster has its own workers.")
    if way == "order":
        raise ValueError(
            f"{name} learns the rows in their order, which only one process can do; leave the "
            "client out, or use a learner that sums: LogisticRegression or LeastSquares, for "
            "example."
        )
    return Workers(client, timeout=float(timeout)) if client is not None else jobs


def _must_travel(source: Source) -> None:
    """Refuse rows that would have to be sent to every worker with every block."""
    if source.held_here or not source.again:
        raise ValueError(
            f"{source.name} is in the memory of this process, and workers read files themselves; "
            "give files that they can reach, or fit the estimator to a dask array or DataFrame."
        )


def _check_exposure(
    exposure: Any,
    source: Source,
    target: str,
    encoding: Encoding | None,
    columns: Any,
    estimator: Any,
) -> None:
    """Refuse an exposure that is no column of its own, or that the learner has no use for."""
    check_text("exposure", exposure, "the name of a column")
    if not estimator._takes_exposure:
        raise ValueError(
            f"exposure={exposure!r} is of {names_with('_takes_exposure')}; "
            f"{type(estimator).__name__} has none."
        )
    place_of(exposure, source.names, source.name, "exposure column")
    if exposure == target:
        raise ValueError(f"the target {target!r} is named as the exposure, too.")
    inputs = columns if encoding is None else [entry.name for entry in encoding.inputs]
    if inputs is not None and exposure in inputs:
        raise ValueError(f"the exposure {exposure!r} is among the inputs; it has no weight.")


def _learned(
    source: Source, target: str, columns: Any, options: Any, jobs: int | Executor
) -> Encoding:
    text = any(
        kind != "number"
        and name not in (target, *(options["ignore"] or ()))
        and (columns is None or name in columns)
        for name, kind in zip(source.names, source.kinds, strict=True)
    )
    if not source.again and (text or options["missing"] in ("mean", "auto")):
        raise DataError(
            f"{source.name} can be read once only, and its text columns and means need a pass of "
            "their own; save it to a file first, give an encoding=, or choose columns= of numbers."
        )
    return Encoding.learn(source, target, columns=columns, jobs=jobs, **options)


def _check(
    target: Any,
    encoding: Any,
    columns: Any,
    missing: Any,
    read: Any,
    na: Any,
    use: Any,
    formula: Any,
    jobs: Any,
    checkpoint: Any,
    every: Any,
    progress: Any,
    passes: Any,
) -> None:
    """Refuse wrong options by their names, before anything is read or written."""
    if target is not None:
        check_text("target", target, "the name of the column to learn")
    if encoding is not None and not isinstance(encoding, Encoding):
        raise wrong_type("encoding", encoding, "an Encoding, such as Encoding.learn(source) gives")
    check_names("columns", columns)
    if encoding is not None and columns is not None:
        raise ValueError("columns and encoding are both given; the encoding has its columns.")
    for name, value in (("read", read), ("na", na), ("use", use), ("formula", formula)):
        if encoding is not None and value is not None:
            raise ValueError(f"{name} and encoding are both given; the encoding has its readings.")
    check_choice("missing", missing, MISSING)
    check_jobs(jobs)
    check_whole("passes", passes, 1)
    check_number("every", every, 0.0)
    check_call("progress", progress)
    if checkpoint is not None:
        check_path("checkpoint", checkpoint)


@contextmanager
def _all_or_nothing(estimator: Any) -> Iterator[None]:
    """What does not end well, or is stopped, leaves the estimator as it was."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
