"""`fit`: any learner that sums or streams, on files larger than memory.

It opens the source, learns how its columns become numbers, and gives `Chunks` to the module of the
learner's kind: `closed`, `newton` or `order`. The command and `adaline.data` call it.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from adaline import parameters
from adaline.data.columns.encoding import Encoding
from adaline.data.columns.inputs import Input
from adaline.data.columns.options import ColumnOptions
from adaline.data.fitting.chunks import Chunks, Progress, Reader
from adaline.data.fitting.closed import CLOSED_FORMS
from adaline.data.fitting.newton import minimise
from adaline.data.fitting.order import learn_in_order
from adaline.data.reading.blocks import blocks
from adaline.data.reading.libsvm import FeatureNames
from adaline.data.reading.scratch import SCRATCH, kept_in
from adaline.data.reading.source import Source, place_of
from adaline.data.storing.checkpoint import Checkpoint
from adaline.distributed.clusters import TIMEOUT, Workers
from adaline.estimators.registry import is_public, names_with
from adaline.sums.mapreduce import Executor, open_executor
from adaline.sums.scaled_rows import MANY

FORMAT = 10  # of what checkpoints hold; another number refuses those of older versions


ANY_SIZE = parameters.NOT_NEGATIVE | parameters.Expected(
    "inf", lambda value: isinstance(value, float) and value == np.inf
)
EXPECTED = {
    "passes": parameters.count(1),
    "seed": parameters.count(0),
    "online": parameters.FLAG,
    **dict.fromkeys(("every", "timeout", "scratch"), ANY_SIZE),
    "progress": parameters.NONE | parameters.Expected("a function", callable),
    "checkpoint": parameters.NONE | parameters.PATH,
    "exposure": parameters.NONE | parameters.text("the name of a column"),
}


@dataclass(frozen=True)
class FitOptions:
    """How `fit` goes over the rows, and who does the work.

    Parameters
    ----------
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
        Of learners that take the rows in their order: all labels, which saves a pass.
    seed : int
        For learners with shuffle=True: every pass takes the blocks in a random order, and the
        rows of a block too. That is less than an order of all rows, which a stream cannot have:
        of a file sorted by label most blocks hold one class. Mix the rows of such a file first.
    exposure : str, optional
        Of `PoissonRegression`: the column of times, areas or people that the counts are
        proportional to. It is no input.
    scratch : float
        Bytes of temporary files for the rows of text, which is parsed once; at most half of what is
        free there. Rows that find no room stay in memory. 0 writes no files. They are removed at
        the end.
    """

    client: Any = None
    timeout: float = TIMEOUT
    checkpoint: Any = None
    every: float = 2.0
    progress: Progress | None = None
    passes: int = 1
    online: bool = False
    classes: Any = None
    seed: int = 0
    exposure: str | None = None
    scratch: float = SCRATCH

    def __post_init__(self) -> None:
        parameters.check(EXPECTED, self)

    def executor(self, jobs: int | Executor) -> int | Executor:
        """Who reads and sums: so many processes, or the workers of a cluster."""
        if self.client is None:
            return jobs
        if jobs != 1:
            raise ValueError(
                f"client and jobs={jobs} are both given; a cluster has its own workers."
            )
        return Workers(self.client, timeout=float(self.timeout))


def fit(
    estimator: Any,
    source: Any,
    target: str | None = None,
    options: ColumnOptions | None = None,
    *,
    encoding: Encoding | None = None,
    run: FitOptions | None = None,
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
    run : FitOptions, optional
        Who reads and sums, how often, and where a checkpoint is.
    **given
        Fields of `FitOptions`: client, timeout, checkpoint, every, progress, passes, online,
        classes, seed, exposure, scratch. Fields of `ColumnOptions`: columns, missing,
        unknown, most_levels, rare, read, na, use, formula, exact_levels; and jobs, the processes
        that read and sum: the answer has the same bits with any number of them. Learners that take
        the rows in their order need one.

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
    (parameters.NONE | parameters.text("the name of the column to learn"))("target", target)
    if run is not None and not isinstance(run, FitOptions):
        raise parameters.wrong_type("run", run, "FitOptions, or None")
    own = {field.name: given.pop(field.name) for field in fields(FitOptions) if field.name in given}
    run = replace(run or FitOptions(), **own)
    way = choose_way(estimator, run)
    if encoding is not None:
        if not isinstance(encoding, Encoding):
            raise parameters.wrong_type(
                "encoding", encoding, "an Encoding, as Encoding.learn(source) gives"
            )
        if extra := [name for name, v in given.items() if v is not None and name != "jobs"]:
            raise ValueError(f"{extra[0]} and encoding are both given; the encoding has its own.")
    columns = ColumnOptions.of(options, target, given)
    who = run.executor(columns.jobs)
    if way == "order" and not isinstance(who, int):
        raise ValueError(
            f"{type(estimator).__name__} learns the rows in their order, which only one process "
            "can do; leave the client out, or use a learner that sums: LogisticRegression or "
            "LeastSquares, for example."
        )
    with kept_in(run.scratch, who) as scratch:
        source = blocks(source, jobs=who, scratch=scratch)
        if not isinstance(who, int) and source.held_here:
            raise ValueError(
                f"{source.name} is in the memory of this process, and workers read files "
                "themselves; give files that they can reach, or fit the estimator to a dask array "
                "or DataFrame."
            )
        source, reader, encoding = choose_reader(estimator, source, columns, encoding, run, way)
        store = None
        if run.checkpoint is not None:
            learning = estimator.get_params(), run.passes, run.online, run.classes, run.seed
            described = len(source.names) if reader.encoding is None else encoding
            facts = {
                "the data": source.fingerprint,
                "the learner": [FORMAT, type(estimator).__name__, *learning],
                "the columns": [described, reader.target, run.exposure],
            }
            store = Checkpoint(run.checkpoint, facts, run.every)
        model = copy(estimator)  # what does not end well leaves the estimator as it was
        # Named before it learns, so that whatever is said on the way names the right columns.
        names: Any = np.array(list(reader.names), dtype=object)
        model.feature_names_in_ = names
        with open_executor(who) as executor:
            chunks = Chunks(source, reader, executor, run.progress, store)
            if way == "order":
                learn_in_order(model, chunks, run.classes, run.passes, run.seed)
            else:
                CLOSED_FORMS.get(way, minimise)(model, chunks)
    # Named again: blocks are arrays, and a learner forgets the names of the table before it.
    model.feature_names_in_, model.encoding_ = names, encoding
    vars(estimator).clear()
    vars(estimator).update(vars(model))
    return estimator


def choose_way(estimator: Any, run: FitOptions) -> str:
    """How the estimator declares to learn from blocks of rows; TypeError where it cannot."""
    name = type(estimator).__name__
    if isinstance(estimator, type):
        made = f"{estimator.__name__}()"
        raise TypeError(f"estimator is the class {estimator.__name__}; give an object, {made}.")
    way = estimator._streams if is_public(estimator) else None
    if way is None:
        raise TypeError(
            f"{name} cannot learn from blocks of rows; these can: {names_with('_streams')}. Read "
            "the file and use fit where it is small enough."
        )
    if run.exposure is not None and not estimator._takes_exposure:
        raise ValueError(
            f"exposure={run.exposure!r} is of {names_with('_takes_exposure')}; {name} has none."
        )
    if way == "newton" and run.online:
        if not hasattr(estimator, "partial_fit"):
            raise ValueError(
                f"online=True learns the rows in their order, and {name} has no such procedure; "
                "leave online=False."
            )
        way = "order"
    return str(way)


def choose_reader(
    estimator: Any,
    source: Source,
    columns: ColumnOptions,
    encoding: Encoding | None,
    run: FitOptions,
    way: str,
) -> tuple[Source, Reader, Encoding]:
    """The source as the reader reads it, the reader, and the encoding, which may be learned."""
    target, exposure, names = columns.target, run.exposure, source.names
    if target is None and isinstance(names, FeatureNames):
        target = names[0]
    if target is None:
        raise parameters.wrong_type("target", None, "the name of the column to learn")
    special = {"target": target} | ({} if exposure is None else {"exposure": exposure})
    for what, name in special.items():
        place_of(name, names, source.name, f"{what} column")
    if exposure == target:
        raise ValueError(f"the target {target!r} is named as the exposure, too.")
    loss = estimator._loss if way == "newton" else None
    if isinstance(names, FeatureNames) and names.size > MANY and target == names[0]:
        # Millions of columns are too many to be studied and encoded one by one.
        plain = Encoding(tuple(map(Input, names.features())))
        if encoding is None:
            own = columns.inputs is None and not (columns.read or columns.na or columns.use)
            own = own and columns.missing == "refuse"
        else:
            own = (encoding.inputs, encoding.terms, encoding.na) == (plain.inputs, (), ())
        if own and loss is None and way in ("order", "newton"):
            return source, Reader(names.features(), target, source.name), encoding or plain
    if encoding is None:
        ignored = [*columns.ignore, *list(special.values())[1:]]
        encoding = Encoding.learn(source, target, replace(columns, ignore=ignored))
    inputs = {*(entry.name for entry in encoding.inputs), *(columns.columns or ())}
    for what, name in special.items():
        if name in inputs:
            raise ValueError(f"the {what} {name!r} is among the inputs.")
    source = encoding.prepare(source)
    return source, Reader(encoding.names, target, source.name, encoding, exposure, loss), encoding
