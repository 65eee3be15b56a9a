"""The work of `adaline fit`: plan, learn, and measure the quality.

`run_fit` is called by `adaline fit` and `adaline demo`; `outcome` says and writes what came of it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

import adaline
from adaline.cli.errors import LIBRARIES_ONLY, describe_error, refuse_conflicts
from adaline.cli.learners import choose_learner, cost_matrix, make_learner
from adaline.cli.models import Measured, measure
from adaline.cli.options import Columns, Common, Evaluation, FitOptions
from adaline.cli.outcome import describe_fit, write_files
from adaline.cli.printing import Answer, Progress, pick
from adaline.cli.tables import StudiedTable, require_writable, study_table
from adaline.data import Table, cluster, workers
from adaline.data import fit as fit_blocks
from adaline.data.sharing import Share, Spread
from adaline.data.tables import SCRATCH, counted_rows, kept_in
from adaline.evaluation import cross_validation
from adaline.evaluation.fit_evidence import is_proven
from adaline.evaluation.trial import Trial
from adaline.evaluation.verdict import judge
from adaline.evaluation.words import name

MEMORY = 5_000_000  # numbers that are learned from at once: 40 MB
SMALL = 50  # rows below which none are held out: too few to measure with
FEW = 500  # rows below which all are predicted in cross-validation, instead of a fifth held out
MANY_NUMBERS = 200_000  # from which five folds are enough, and ten take long
STRATIFIED = 100_000  # rows up to which each class is shared out alike
FEW_CLASSES = 30  # up to which a proof of separability is tried
PATIENCE = 2.0  # CPU seconds for a verdict on separability; `adaline separable` takes longer
MEASURED_BLOCKS = 64  # of files on a cluster, whose held-out rows measure the quality
REPORTED = 2_000_000  # numbers of held-out rows that checks and a report look at


def run_fit(
    data: str, options: FitOptions, evaluation: Evaluation, columns: Columns, common: Common
) -> Answer:
    """Learn, measure, write files, and say what the result is worth."""
    options.check(data, evaluation.asks_for_folds)
    for path in (options.report, options.out):
        require_writable(path, data)
    with ExitStack() as stack:
        jobs: Any = options.jobs
        scratch = None
        if options.cluster is not None:
            patience = max(min(options.timeout, 30.0), 0.1)
            client = stack.enter_context(cluster(options.cluster, patience))
            jobs = workers(client, options.timeout)
        else:
            scratch = stack.enter_context(kept_in(SCRATCH, jobs))
        named = {**evaluation.named, "--exposure": options.exposure}
        table = study_table(data, options.target, columns, named, jobs, scratch)
        fit = Fit(table, options, evaluation, columns, common, jobs)
        fit.learn()
        fit.measure()
        return describe_fit(fit, write_files(fit))


@dataclass(eq=False)
class Fit:
    """A run of `adaline fit`: what was asked, decided and found."""

    table: StudiedTable
    options: FitOptions
    evaluation: Evaluation
    columns: Columns
    common: Common
    jobs: Any
    share: float = 0.0  # of the rows, held out permanently
    cv: int = 0  # folds of a cross-validation; 0 for none
    apart: bool = False  # whether a model fitted to four fifths of the rows predicts the others
    # The training rows and their weights, if they are in memory.
    X: Any = None
    y: Any = None
    omega: Any = None
    trained_on: int | None = None
    left_out: int = 0
    shuffled: bool = False
    separability: Any = None
    converged: bool | None = True  # None: unknown
    folded: cross_validation.CrossValidated | None = None

    def __post_init__(self) -> None:
        table, options, evaluation = self.table, self.options, self.evaluation
        self.target, self.seed = table.target, self.common.seed
        usual = "poisson" if options.exposure is not None else None
        self.kind, self.why = choose_learner(options.model or usual, table.source, self.target)
        self.is_classifier = self.kind._learns == "classes"
        self.in_order = self.kind._streams == "order"
        rows, numbers = table.rows, table.numbers
        self.in_memory = numbers is not None and numbers <= MEMORY and not options.by_blocks
        self.stratified = self.is_classifier and rows is not None and rows <= STRATIFIED
        if options.test is not None:
            self.share = options.test
        elif not self.in_memory or rows is None or numbers is None:
            self.share = 0.0 if rows is not None and rows < SMALL else 0.2
        elif evaluation.asks_for_folds or rows < FEW:
            self.cv = evaluation.cv or usual_folds(rows, numbers)
        else:
            self.apart = True
        self._refuse_useless_options()
        self.rows = table.all_rows
        if self.share:  # means for imputation are those of the training rows
            by, source = self.target if self.stratified else None, table.source
            out, learned = (Share(source, self.seed, self.share, out, by) for out in (True, False))
            encoding = table.encoding.with_means(learned, self.jobs)
            self.rows = Table(self.target, encoding, learned, out)
        # The penalty is searched if the rows are in memory.
        known = numbers if self.in_memory else None
        self.model = make_learner(self.kind, options.set_ or (), self.seed, known)

    def learn(self) -> None:
        """Fit the model, with the warnings of learning as messages."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if self.in_memory:
                self._learn_at_once()
            else:
                self._learn_by_blocks()
        # Whether it converged is left to the verdict, which knows the certificate, too.
        texts = [str(w.message) for w in caught if not issubclass(w.category, LIBRARIES_ONLY)]
        # Rows in memory are an array, whose columns are x0, x1, ...; blocks have names already.
        names = self.rows.names if self.in_memory else ()
        texts = [name_columns(t, names) for t in texts if "did not converge" not in t]
        self.messages = list(dict.fromkeys(texts))
        if not hasattr(getattr(self.model, "fit_", None), "converged"):
            self.converged = "ConvergenceWarning" not in {w.category.__name__ for w in caught}
        proven = is_proven(getattr(self.model, "certificate_", None))
        if not self.in_memory and self.in_order and not proven:
            self.converged = None  # the passes were made; whether more would help is unknown

    def _learn_at_once(self) -> None:
        options, rows, model = self.options, self.rows, self.model
        X, y, self.left_out = rows.X, rows.y, rows.left_out
        if not self.is_classifier and y.dtype.kind == "U":
            text = f"the target {self.target!r} is text such as {y[0]!r}"
            raise ValueError(f"{text}; use a classifier, such as --model logistic.")
        self.groups, self.times, self.omega = self.evaluation.columns_of(rows)
        if options.threshold is not None or options.costs is not None:
            costs = cost_matrix(np.unique(y).tolist(), options.threshold, options.costs)
            model.set_params(costs=costs)
        seed = self.seed % 2**63
        try:
            self.shuffled = cross_validation.fit_in_order(model, X, y, self.omega, seed)
        except ValueError as error:
            raise ValueError(name_columns(str(error), rows.names)) from error
        model.feature_names_in_ = np.array(rows.names, dtype=object)
        if self.is_classifier and len(model.classes_) <= FEW_CLASSES:
            self.separability = adaline.separability(
                X, y, sample_weight=self.omega, time_limit=PATIENCE, pairwise=False
            )
        self.X, self.y, self.trained_on = X, y, len(y)

    def _learn_by_blocks(self) -> None:
        options, model, rows = self.options, self.model, self.rows
        is_small = self.table.numbers is not None and self.table.numbers <= MEMORY
        if is_small and options.exposure and self.jobs == 1 and options.checkpoint is None:
            # At once, the fit knows how uncertain its weights are.
            read = (rows.learned, rows.encoding, self.target, options.exposure, model._loss)
            X, y, offset = counted_rows(*read)
            model.fit(X, y, offset=offset)
            model.feature_names_in_ = np.array(rows.names, dtype=object)
            self.trained_on = len(y)
            return
        total = None if self.table.rows is None else int(self.table.rows * (1 - self.share))
        with Progress(self.common, total, "learning") as progress:
            given: dict[str, Any] = {"passes": options.passes, "seed": self.seed % 2**64}
            given |= {"exposure": options.exposure, "checkpoint": options.checkpoint}
            given |= {"jobs": 1 if self.in_order else self.jobs, "encoding": rows.encoding}
            fit_blocks(model, rows.learned, self.target, progress=progress, **given)
        self.trained_on = progress.rows or None

    def measure(self) -> None:
        """Measure the quality, by folds or on the rows that are held out."""
        if self.cv or self.apart:
            self._cross_validate()
        if self.folded is not None:
            self.tested = Measured(self.folded.quality, self.X, self.y)
        else:
            self.tested = self._measure()
            if self.tested.quality.n == 0:  # no row is held out, of very few
                self.share, self.rows = 0.0, self.table.all_rows
                self.tested = self._measure()
        self.is_held_out = self.folded is not None or self.share > 0
        known: dict[str, Any] = {"held_out": self.is_held_out, "names": self.rows.encoding.labels}
        known |= {"quality": self.tested.quality, "cross_validated": self.folded}
        known |= {"learned": self.X, "learned_y": self.y, "learned_weight": self.omega}
        known |= pick(self, "target separability converged")
        self.trial = Trial.of(self.model, self.tested.X, self.tested.y, **known)
        self.verdict = judge(self.trial)

    def _cross_validate(self) -> None:
        """Each row is predicted by a fit without it, unless that fails and nobody asked for it."""
        y, seed = self.y, self.seed % 2**63
        try:
            parts = cross_validation.hold_out(y, seed=seed)
            if not self.apart:
                beside = {"groups": self.groups, "times": self.times}
                parts = cross_validation.folds(y, self.cv, **beside, seed=seed)
            with Progress(self.common, len(y), "cross-validation") as progress:
                after = lambda done, count: progress(len(y) * done // count)  # noqa: E731
                what = (self.model, self.model, self.X, y, parts, self.omega)
                self.folded = cross_validation.predict_folds(*what, after, seed)
        except ValueError as error:
            if self.evaluation.asks_for_folds:
                raise
            self.messages.append(f"too few rows for cross-validation: {describe_error(error)}")

    def _measure(self) -> Measured:
        rows = self.rows.held_out or self.rows.learned
        if not isinstance(self.jobs, int):  # of a cluster: this process reads no more than it can
            rows = Spread(rows, MEASURED_BLOCKS)
        # Without a report, rows of unknown number are not kept: there may be too many.
        numbers, every = self.table.numbers, 0
        if numbers is not None or self.options.report is not None:
            every = max(1, round((numbers or MEMORY) * (self.share or 1) / REPORTED))
        what = (self.model, self.rows.encoding, rows, self.target)
        with Progress(self.common, doing="measuring the quality") as progress:
            return measure(*what, progress, self.options.exposure, every)

    def _refuse_useless_options(self) -> None:
        """Refuse options that this learner or rows in blocks have no use for."""
        options, by, kind, model = self.options, self.evaluation, self.kind, self.kind._command
        counts, weighs = options.exposure is not None, by.weights is not None or by.balanced
        decides = options.threshold is not None or options.costs is not None
        for_classes = (decides or by.balanced) and not self.is_classifier
        lacks_costs = decides and "costs" not in kind().get_params()
        in_memory = weighs or decides or by.asks_for_folds
        fewer = "all rows in memory; use fewer, without --jobs and --checkpoint."
        refuse_conflicts(
            (counts and not kind._takes_exposure, f"--exposure is for poisson, not {model}."),
            (counts and weighs, "--exposure and --weights: Python has them, as sample_weight."),
            (for_classes, f"--balanced, --threshold and --costs are for classes, not {model}."),
            (lacks_costs, f"--threshold and --costs need probabilities, which {model} lacks."),
            (in_memory and not self.in_memory, f"folds, weights and costs need {fewer}"),
            (kind._streams is None and not self.in_memory, f"{model} needs {fewer}"),
        )


def usual_folds(rows: int, numbers: int) -> int:
    """As many folds as are quick."""
    return max(2, min(10 if numbers <= MANY_NUMBERS else 5, rows))


def name_columns(text: str, names: Sequence[str]) -> str:
    """A sentence about x0, x1, ... with the names of the columns.

    >>> name_columns("x1 is a combination of x0.", ["age", "size"])
    "'size' is a combination of 'age'."
    """

    known = {f"x{j}": repr(name(column)) for j, column in enumerate(names)}
    return re.sub(r"(?<![\w=])x\d+\b", lambda match: known.get(match[0], match[0]), text)
