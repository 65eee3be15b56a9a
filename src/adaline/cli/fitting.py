"""The work of `adaline fit`: plan, learn, and measure the quality.

`run_fit` is called by `adaline fit` and `adaline demo`; `outcome` says and writes what came of it.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import adaline
from adaline.cli.errors import Stopped, UsageError, describe_error
from adaline.cli.fit import FitRequest
from adaline.cli.learners import choose_learner, cost_matrix, iterate_learners, make_learner
from adaline.cli.models import Measured, measure
from adaline.cli.outcome import describe_fit, write_files
from adaline.cli.printing import Answer, Progress, with_names
from adaline.cli.tables import require_writable, study_table
from adaline.data import cluster, workers
from adaline.data import fit as fit_blocks
from adaline.data.sharing import Share, Spread
from adaline.data.tables import SCRATCH, counted_rows, kept_in, row_weights
from adaline.evaluation import cross_validation
from adaline.evaluation.fit_evidence import is_proven
from adaline.evaluation.trial import Trial
from adaline.evaluation.verdict import judge

MEMORY = 5_000_000  # numbers that are learned from at once: 40 MB
SMALL = 50  # rows below which none are held out: too few to measure with
FEW = 500  # rows below which all are predicted in cross-validation, instead of a fifth held out
MANY_NUMBERS = 200_000  # from which five folds are enough, and ten take long
STRATIFIED = 100_000  # rows up to which each class is shared out alike
FEW_CLASSES = 30  # up to which a proof of separability is tried
PATIENCE = 2.0  # CPU seconds for a verdict on separability; `adaline separable` takes longer
MEASURED_BLOCKS = 64  # of files on a cluster, whose held-out rows measure the quality
REPORTED = 2_000_000  # numbers of held-out rows that checks and a report look at
SCHEDULER_TIMEOUT = 30.0  # seconds in which a scheduler that is there answers
LIBRARIES_ONLY = (DeprecationWarning, FutureWarning, ResourceWarning)  # of no use to users


def run_fit(request: FitRequest) -> Answer:
    """Learn, measure, write files, and say what the result is worth."""
    options = request.options
    options.check(request.data)
    for path in (options.report, options.out):
        require_writable(path, request.data)
    with explain_interrupts(options.checkpoint):
        if options.cluster is not None:
            patience = min(SCHEDULER_TIMEOUT, max(options.timeout, 0.1))
            with cluster(options.cluster, patience) as client:
                return _finish(Fit(request, workers(client, options.timeout)))
        with kept_in(SCRATCH, options.jobs) as scratch:
            return _finish(Fit(request, options.jobs, scratch))


def _finish(fit: Fit) -> Answer:
    fit.learn()
    fit.measure()
    return describe_fit(fit, write_files(fit))


class Fit:
    """A run of `adaline fit`: what was asked, decided and found."""

    share = 0.0  # of the rows, held out for good
    cv = 0  # folds of a cross-validation; 0 for none
    apart = False  # whether a model learned from four fifths of the rows predicts the others
    X: Any = None  # the rows learned from, where they are in memory
    y: Any = None
    omega: Any = None  # their weights
    beside: Any = None  # their columns that options such as --group name
    rows: int | None = None
    left_out, shuffled = 0, False
    converged: bool | None = True  # None: unknown
    separability: Any = None
    folded: cross_validation.CrossValidated | None = None

    def __init__(self, request: FitRequest, jobs: Any, scratch: Any = None) -> None:
        self.request, self.options, self.jobs = request, request.options, jobs
        self.common, self.seed, options = request.common, request.common.seed, request.options
        named = {"--exposure": options.exposure, **options.beside}
        files = (request.columns, request.reading)
        self.table = study_table(request.data, options.target, *files, named, jobs, scratch)
        self.encoding, self.target = self.table.encoding, options.target
        usual = "poisson" if options.exposure is not None else None
        self.choice = choose_learner(options.model or usual, self.table.source, self.target)
        rows, numbers = self.table.rows, self.table.numbers
        self.in_memory = numbers is not None and numbers <= MEMORY and not options.by_blocks
        self.stratified = self.choice.classes and rows is not None and rows <= STRATIFIED
        if options.test is not None:
            self.share = options.test
        elif not self.in_memory or rows is None or numbers is None:
            self.share = 0.0 if rows is not None and rows < SMALL else 0.2
        elif options.asks_for_folds or rows < FEW:
            self.cv = options.cv or usual_folds(rows, numbers)
        else:
            self.apart = True
        self._refuse_useless_options()
        # The penalty is searched where rows are in memory.
        known = numbers if self.in_memory else None
        self.model = make_learner(self.choice.kind, options.set_ or (), self.seed, known)

    def learn(self) -> None:
        """Fit the model, with the warnings of learning as messages."""
        if self.share:  # means that stand for gaps are of the rows learned from
            self.encoding = self.encoding.with_means(self.part(out=False), self.jobs)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if self.in_memory:
                self._learn_at_once()
            else:
                self._learn_by_blocks()
        # The end of an iteration is left to the verdict, which knows the certificate, too.
        texts = [str(w.message) for w in caught if not issubclass(w.category, LIBRARIES_ONLY)]
        # Rows in memory are an array, whose columns are x0, x1, ...; blocks have names already.
        names = self.encoding.names if self.in_memory else ()
        texts = [with_names(text, names) for text in texts if "did not converge" not in text]
        self.messages = list(dict.fromkeys(texts))
        if not hasattr(getattr(self.model, "fit_", None), "converged"):
            self.converged = "ConvergenceWarning" not in {w.category.__name__ for w in caught}
        proven = is_proven(getattr(self.model, "certificate_", None))
        if not self.in_memory and self.choice.in_order and not proven:
            self.converged = None  # the passes were made; whether more would help is unknown

    def part(self, out: bool) -> Any:
        """The rows that are held out, or the others."""
        by = self.target if self.stratified else None
        source = self.table.source
        return Share(source, self.seed, self.share, out, by) if self.share else source

    def _learn_at_once(self) -> None:
        source, options, names = self.part(out=False), self.options, self.encoding.names
        classes, counts = self.choice.classes, bool(self.choice.kind._takes_exposure)
        X, y, self.left_out = self.table.gather(classes, counts, source, self.encoding)
        if classes and len(np.unique(y)) < 2:
            raise ValueError(
                f"the target {self.target!r} has one class among the rows to learn from."
            )
        self.beside = self.table.named_columns(source)
        omega = row_weights(y, self.beside.get("--weights"), options.weights, options.balanced)
        if options.threshold is not None or options.costs is not None:
            costs = cost_matrix(np.unique(y).tolist(), options.threshold, options.costs)
            self.model.set_params(costs=costs)
        try:
            fit_in_order = cross_validation.fit_in_order
            self.shuffled = fit_in_order(self.model, X, y, omega, self.seed % 2**63)
        except ValueError as error:
            raise ValueError(with_names(str(error), names)) from error
        self.model.feature_names_in_ = np.array(names, dtype=object)
        if classes and y.dtype.kind in "iubUO" and len(self.model.classes_) <= FEW_CLASSES:
            self.separability = adaline.separability(
                X, y, sample_weight=omega, time_limit=PATIENCE, pairwise=False
            )
        self.X, self.y, self.omega, self.rows = X, y, omega, len(y)

    def _learn_by_blocks(self) -> None:
        options, encoding, in_order = self.options, self.encoding, self.choice.in_order
        source, numbers = self.part(out=False), self.table.numbers
        if self.choice.kind._streams is None:
            others = sorted(other._command for other in iterate_learners() if other._streams)
            raise UsageError(
                f"{self.choice.model} needs all rows in memory; use a smaller file, no "
                f"--checkpoint and --jobs 1, or one of {', '.join(others)}."
            )
        is_small = numbers is not None and numbers <= MEMORY
        if is_small and options.exposure and self.jobs == 1 and options.checkpoint is None:
            # At once the fit knows how uncertain its weights are.
            rows = (source, encoding, self.target, options.exposure, self.model._loss)
            X, y, offset = counted_rows(*rows)
            self.model.fit(X, y, offset=offset)
            self.model.feature_names_in_ = np.array(encoding.names, dtype=object)
            self.rows = len(y)
            return
        total = None if self.table.rows is None else int(self.table.rows * (1 - self.share))
        # Others sum in one pass, or take steps until one is small enough: nobody knows how many.
        passes = options.passes if in_order else None
        with Progress(self.common, total, passes, "learning") as progress:
            self.model = fit_blocks(
                self.model,
                source,
                self.target,
                encoding=encoding,
                jobs=1 if in_order else self.jobs,
                checkpoint=options.checkpoint,
                progress=progress,
                passes=options.passes,
                seed=self.seed % 2**64,
                exposure=options.exposure,
            )
        self.rows = progress.rows or None

    def measure(self) -> None:
        """Measure the quality, by folds or on the rows that are held out."""
        if self.cv or self.apart:
            self._cross_validate()
        if self.folded is not None:
            self.tested = Measured(self.folded.quality, self.X, self.y)
        else:
            self.tested = self._measure()
            if self.tested.quality.n == 0:  # no row is held out, of very few
                self.share = 0.0
                self.tested = self._measure()
        self.is_held_out = self.folded is not None or self.share > 0
        self.trial = Trial.of(
            self.model,
            self.tested.X,
            self.tested.y,
            held_out=self.is_held_out,
            names=self.encoding.labels,
            target=self.target,
            separability=self.separability,
            converged=self.converged,
            quality=self.tested.quality,
            cross_validated=self.folded,
            learned=self.X,
            learned_y=self.y,
            learned_weight=self.omega,
        )
        self.verdict = judge(self.trial)

    def _cross_validate(self) -> None:
        """Each row is predicted by a fit without it, unless that fails and nobody asked for it."""
        y, seed = self.y, self.seed % 2**63
        groups, times = self.beside.get("--group"), self.beside.get("--by-time")
        try:
            parts = cross_validation.hold_out(y, seed=seed)
            if not self.apart:
                parts = cross_validation.folds(y, self.cv, groups=groups, times=times, seed=seed)
            with Progress(self.common, len(y), doing="cross-validation") as progress:
                after = lambda done, count: progress(len(y) * done // count)  # noqa: E731
                self.folded = cross_validation.predict_folds(
                    self.model, self.model, self.X, y, parts, self.omega, after, seed
                )
        except ValueError as error:
            if self.options.asks_for_folds:
                raise
            why = describe_error(error)
            self.messages.append(f"the rows are too few to predict some from the others: {why}")

    def _measure(self) -> Measured:
        rows = self.part(out=True)
        if not isinstance(self.jobs, int):  # of a cluster: this process reads no more than it can
            rows = Spread(rows, MEASURED_BLOCKS)
        numbers = MEMORY if self.table.numbers is None else self.table.numbers
        every = max(1, round(numbers * (self.share or 1) / REPORTED))
        if self.table.numbers is None and self.options.report is None:
            every = 0  # nobody knows how many rows there are, and they are kept in memory
        what = (self.model, self.encoding, rows, self.target)
        with Progress(self.common, doing="measuring the quality") as progress:
            exposure = self.options.exposure
            return measure(*what, every=every, progress=progress, exposure=exposure)

    def _refuse_useless_options(self) -> None:
        """Refuse options that this learner or rows in blocks have no use for."""
        options, kind, model = self.options, self.choice.kind, self.choice.model
        decided = {"--threshold": options.threshold, "--costs": options.costs}
        weighted = {"--weights": options.weights, "--balanced": options.balanced or None}
        if options.exposure is not None and not kind._takes_exposure:
            raise UsageError(
                f"--exposure {options.exposure!r} is for --model poisson; not {model}."
            )
        takes_weights = "sample_weight" in inspect.signature(kind.fit).parameters
        takes_costs = "costs" in kind().get_params()
        in_memory = {"--cv": options.cv, "--group": options.group, "--by-time": options.by_time}
        for option, value in {**weighted, **decided, **in_memory}.items():
            why = ""
            if option in ("--balanced", *decided) and not self.choice.classes:
                why = f"is for classes; {model} predicts numbers."
            elif option in weighted and not takes_weights:
                why = f"does not go with {model}, which takes no weights of rows."
            elif option in decided and not takes_costs:
                why = f"goes with logistic or gaussian; {model} has no probabilities."
            elif options.exposure is not None:
                why = "does not go with --exposure here; in Python, sample_weight does."
            elif not self.in_memory:
                why = "needs all rows in memory; take some, without --jobs and --checkpoint."
            if value is not None and why:
                raise UsageError(f"{option} {why}")


def usual_folds(rows: int, numbers: int) -> int:
    """How many folds for so many rows and numbers: as many as are quick."""
    return max(2, min(10 if numbers <= MANY_NUMBERS else 5, rows))


@contextmanager
def explain_interrupts(checkpoint: str | None) -> Iterator[None]:
    """Say what is left of the work when Ctrl-C ends the block."""
    try:
        yield
    except KeyboardInterrupt:
        text = f"The checkpoint {checkpoint} keeps what was learned: the same command goes on."
        if checkpoint is None:
            text = "Nothing was written; with --checkpoint DIR the same command could go on."
        elif not any(Path(checkpoint).glob("*.checkpoint")):
            text = f"Nothing was learned yet, and the checkpoint {checkpoint} is empty."
        raise Stopped(text) from None
