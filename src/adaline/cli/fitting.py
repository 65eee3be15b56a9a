"""The work of `adaline fit`: plan, learn, measure the quality, write the files.

`run_fit` is called by `adaline fit` and `adaline demo`; `learn` and `make_estimator` by others.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import adaline
from adaline.cli.errors import Stopped, UsageError, describe_error
from adaline.cli.fit import FitOptions, FitRequest
from adaline.cli.learners import Choice, choose_learner, cost_matrix, iterate_learners, make_learner
from adaline.cli.models import Measured, measure
from adaline.cli.options import Common
from adaline.cli.outcome import FitResult, describe_fit, write_files
from adaline.cli.printing import Answer, Progress, with_names
from adaline.cli.tables import StudiedTable, require_writable, study_table
from adaline.data import Encoding, cluster, workers
from adaline.data import fit as fit_blocks
from adaline.data.sharing import Share, Spread
from adaline.data.tables import SCRATCH, counted_rows, kept_in, row_weights
from adaline.evaluation.cross_validation import (
    CrossValidated,
    fit_in_order,
    folds,
    hold_out,
    predict_folds,
)
from adaline.evaluation.fit_evidence import is_proven

MEMORY = 5_000_000  # numbers that are learned from at once: 40 MB
SMALL = 50  # rows below which none are held out: too few to measure with
FEW = 500  # rows below which all are predicted in cross-validation, instead of a fifth held out
MANY_NUMBERS = 200_000  # from which five folds are enough, and ten take long
STRATIFIED = 100_000  # rows up to which each class is shared out alike
SEARCHED = 1_000_000  # numbers up to which logistic regression searches its penalty
FEW_CLASSES = 30  # up to which a proof of separability is tried
PATIENCE = 2.0  # CPU seconds for a verdict on separability; `adaline separable` takes longer
MEASURED_BLOCKS = 64  # of files on a cluster, whose held-out rows measure the quality
REPORTED = 2_000_000  # numbers of held-out rows that checks and a report look at
SCHEDULER_TIMEOUT = 30.0  # seconds in which a scheduler that is there answers
LIBRARIES_ONLY = (DeprecationWarning, FutureWarning, ResourceWarning)  # of no use to users


@dataclass(frozen=True)
class Plan:
    """How to learn, and how the quality is measured."""

    choice: Choice
    in_memory: bool  # whether all rows are learned from at once, rather than block by block
    share: float = 0.0  # of the rows, held out for good
    cv: int = 0  # folds of a cross-validation; 0 for none
    apart: bool = False  # whether a model learned from four fifths of the rows predicts the others
    stratified: bool = False  # whether each class keeps its share among rows held out
    seed: int = 0
    jobs: Any = 1  # processes, or the workers of a cluster


@dataclass(frozen=True, eq=False)
class Learned:
    """A model, and what was seen on the way; X, y and weights where rows were in memory."""

    model: Any
    encoding: Encoding
    rows: int | None
    left_out: int = 0
    messages: tuple[str, ...] = ()
    converged: bool | None = True  # None: unknown
    separability: Any = None
    X: Any = None
    y: Any = None
    omega: Any = None  # weights of the rows
    beside: dict[str, Any] = field(default_factory=dict)  # columns for folds, by their options
    shuffled: bool = False  # before learning, as labels came in runs


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
                return _fit(request, workers(client, options.timeout))
        with kept_in(SCRATCH, options.jobs) as scratch:
            return _fit(request, options.jobs, scratch)


def _fit(request: FitRequest, jobs: Any, scratch: Any = None) -> Answer:
    options, common, files = request.options, request.common, (request.columns, request.reading)
    named = {"--exposure": options.exposure, **options.beside}
    table = study_table(request.data, options.target, *files, named, jobs, scratch)
    usual = "poisson" if options.exposure is not None else None
    choice = choose_learner(options.model or usual, table.source, options.target)
    plan = make_plan(options, table, choice, common.seed, jobs)
    _refuse_useless(options, plan)
    estimator = make_estimator(plan, table.numbers, options.set_ or ())
    learned = learn(estimator, table, plan, options, common)
    folded = None
    if plan.cv or plan.apart:
        learned, folded = _cross_validate(learned, plan, options, common)
    if folded is not None:
        tested = Measured(folded.quality, learned.X, learned.y, learned.left_out)
    else:
        tested = _measure(learned, table, plan, options, common)
        if tested.quality.n == 0:  # no row is held out, of very few
            plan = replace(plan, share=0.0)
            tested = _measure(learned, table, plan, options, common)
    is_held_out = folded is not None or plan.share > 0
    result = FitResult(request, table, plan, learned, tested, is_held_out, folded)
    return describe_fit(result, write_files(result))


def make_plan(
    options: FitOptions, table: StudiedTable, choice: Choice, seed: int, jobs: Any = 1
) -> Plan:
    """Decide how to learn from so many rows, and how to measure the quality."""
    rows, numbers = table.rows, table.numbers
    in_memory = numbers is not None and numbers <= MEMORY and not options.by_blocks
    stratified = choice.classes and rows is not None and rows <= STRATIFIED
    plan = Plan(choice, in_memory, stratified=stratified, seed=seed, jobs=jobs)
    if options.test is not None:
        return replace(plan, share=options.test)
    if not in_memory or rows is None or numbers is None:
        return replace(plan, share=0.0 if rows is not None and rows < SMALL else 0.2)
    if options.asks_for_folds or rows < FEW:
        return replace(plan, cv=options.cv or usual_folds(rows, numbers))
    return replace(plan, apart=True)


def usual_folds(rows: int, numbers: int) -> int:
    """How many folds for so many rows and numbers: as many as are quick."""
    return max(2, min(10 if numbers <= MANY_NUMBERS else 5, rows))


def make_estimator(plan: Plan, numbers: int | None, settings: Any) -> Any:
    """The learner; logistic regression searches its penalty where rows are few enough."""
    is_free = not any(setting.partition("=")[0].strip() == "alpha" for setting in settings)
    is_small = plan.in_memory and numbers is not None and numbers <= SEARCHED
    estimator = make_learner(plan.choice.kind, settings, plan.seed)
    if plan.choice.kind is adaline.LogisticRegression and is_free and is_small:
        estimator.set_params(alpha="auto")
    return estimator


def learn(
    estimator: Any, table: StudiedTable, plan: Plan, options: FitOptions, common: Common
) -> Learned:
    """The fitted model, with the warnings of learning as messages."""
    source: Any = _share(table, plan, out=False) if plan.share else table.source
    if plan.share:  # means that stand for gaps are of the rows learned from
        table = replace(table, encoding=table.encoding.with_means(source, plan.jobs))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if plan.in_memory:
            learned = _learn_at_once(estimator, table, source, plan, options)
        else:
            learned = _learn_by_blocks(estimator, table, source, plan, options, common)
    # The end of an iteration is left to the verdict, which knows the certificate, too.
    texts = [str(w.message) for w in caught if not issubclass(w.category, LIBRARIES_ONLY)]
    # Rows in memory are an array, whose columns are x0, x1, ...; blocks have names already.
    names = table.encoding.names if plan.in_memory else ()
    messages = [with_names(text, names) for text in texts if "did not converge" not in text]
    converged: bool | None = hasattr(getattr(learned.model, "fit_", None), "converged") or not any(
        w.category.__name__ == "ConvergenceWarning" for w in caught
    )
    proven = is_proven(getattr(learned.model, "certificate_", None))
    if not plan.in_memory and plan.choice.in_order and not proven:
        converged = None  # the passes were made as asked; whether more would help is unknown
    return replace(learned, messages=tuple(dict.fromkeys(messages)), converged=converged)


def _share(table: StudiedTable, plan: Plan, out: bool) -> Share:
    by = table.target if plan.stratified else None
    return Share(table.source, plan.seed, plan.share, out, by)


def _learn_at_once(
    estimator: Any, table: StudiedTable, source: Any, plan: Plan, options: FitOptions
) -> Learned:
    classes, names = plan.choice.classes, table.encoding.names
    X, y, left_out = table.gather(classes, bool(plan.choice.kind._takes_exposure), source)
    if classes and len(np.unique(y)) < 2:
        raise ValueError(f"the target {table.target!r} has one class among the rows to learn from.")
    beside = table.named_columns(source)
    omega = row_weights(y, beside.get("--weights"), options.weights, options.balanced)
    if options.threshold is not None or options.costs is not None:
        costs = cost_matrix(np.unique(y).tolist(), options.threshold, options.costs)
        estimator.set_params(costs=costs)
    try:
        shuffled = fit_in_order(estimator, X, y, omega, plan.seed % 2**63)
    except ValueError as error:
        raise ValueError(with_names(str(error), names)) from error
    estimator.feature_names_in_ = np.array(names, dtype=object)
    proof = None
    if classes and y.dtype.kind in "iubUO" and len(estimator.classes_) <= FEW_CLASSES:
        limits: dict[str, Any] = {"time_limit": PATIENCE, "pairwise": False}
        proof = adaline.separability(X, y, sample_weight=omega, **limits)
    rows = {"X": X, "y": y, "omega": omega, "beside": beside, "shuffled": shuffled}
    return Learned(estimator, table.encoding, len(y), left_out, separability=proof, **rows)


def _learn_by_blocks(
    estimator: Any,
    table: StudiedTable,
    source: Any,
    plan: Plan,
    options: FitOptions,
    common: Common,
) -> Learned:
    encoding, target, exposure = table.encoding, table.target, options.exposure
    if plan.choice.kind._streams is None:
        others = sorted(other._command for other in iterate_learners() if other._streams)
        raise UsageError(
            f"{plan.choice.model} needs all rows in memory; use a smaller file, no --checkpoint "
            f"and --jobs 1, or one of {', '.join(others)}."
        )
    is_small = table.numbers is not None and table.numbers <= MEMORY
    if is_small and exposure and plan.jobs == 1 and options.checkpoint is None:
        # At once the fit knows how uncertain its weights are.
        X, y, offset = counted_rows(source, encoding, target, exposure, estimator._loss)
        estimator.fit(X, y, offset=offset)
        estimator.feature_names_in_ = np.array(encoding.names, dtype=object)
        return Learned(estimator, encoding, len(y))
    in_order = plan.choice.in_order
    rows = None if table.rows is None else int(table.rows * (1 - plan.share))
    # Others sum in one pass, or take steps until one is small enough: their number is unknown.
    with Progress(common, rows, options.passes if in_order else None, "learning") as progress:
        model = fit_blocks(
            estimator,
            source,
            target,
            encoding=encoding,
            jobs=1 if in_order else plan.jobs,
            checkpoint=options.checkpoint,
            progress=progress,
            passes=options.passes,
            seed=plan.seed % 2**64,
            exposure=exposure,
        )
    return Learned(model, encoding, progress.rows or None)


def _cross_validate(
    learned: Learned, plan: Plan, options: FitOptions, common: Common
) -> tuple[Learned, CrossValidated | None]:
    """Each row predicted by a fit without it; None where that fails and nobody asked for it."""
    model, X, y, seed = learned.model, learned.X, learned.y, plan.seed % 2**63
    groups, times = learned.beside.get("--group"), learned.beside.get("--by-time")
    try:
        parts = hold_out(y, seed=seed)
        if not plan.apart:
            parts = folds(y, plan.cv, groups=groups, times=times, seed=seed)
        with Progress(common, len(y), doing="cross-validation") as progress:
            after = lambda done, count: progress(len(y) * done // count)  # noqa: E731
            return learned, predict_folds(model, model, X, y, parts, learned.omega, after, seed)
    except ValueError as error:
        if options.asks_for_folds:
            raise
        text = f"the rows are too few to predict some from the others: {describe_error(error)}"
        return replace(learned, messages=(*learned.messages, text)), None


def _measure(
    learned: Learned, table: StudiedTable, plan: Plan, options: FitOptions, common: Common
) -> Measured:
    """The quality on the rows held out, or on those learned from where none are."""
    rows: Any = _share(table, plan, out=True) if plan.share else table.source
    if not isinstance(plan.jobs, int):  # of a cluster: this process reads no more than it can
        rows = Spread(rows, MEASURED_BLOCKS)
    numbers = MEMORY if table.numbers is None else table.numbers
    every, how = max(1, round(numbers * (plan.share or 1) / REPORTED)), "measuring the quality"
    what = (learned.model, learned.encoding, rows, table.target)
    with Progress(common, doing=how) as progress:
        return measure(*what, every=every, progress=progress, exposure=options.exposure)


def _refuse_useless(options: FitOptions, plan: Plan) -> None:
    """Refuse, before learning, options that this learner or rows in blocks have no use for."""
    kind, model, exposure = plan.choice.kind, plan.choice.model, options.exposure
    decided = {"--threshold": options.threshold, "--costs": options.costs}
    weighted = {"--weights": options.weights, "--balanced": options.balanced or None}
    if exposure is not None and not kind._takes_exposure:
        raise UsageError(f"--exposure {exposure!r} is for --model poisson; not {model}.")
    takes_weights = "sample_weight" in inspect.signature(kind.fit).parameters
    takes_costs = "costs" in kind().get_params()
    in_memory = {"--cv": options.cv, "--group": options.group, "--by-time": options.by_time}
    for option, value in {**weighted, **decided, **in_memory}.items():
        if value is None:
            continue
        if option in ("--balanced", *decided) and not plan.choice.classes:
            raise UsageError(f"{option} is for classes; {model} predicts numbers.")
        if option in weighted and not takes_weights:
            raise UsageError(f"{model} takes no weights of rows; leave {option} out.")
        if option in decided and not takes_costs:
            raise UsageError(
                f"{model} has no probabilities; {option} goes with --model logistic or gaussian."
            )
        if exposure is not None:
            raise UsageError(
                f"{option} does not go with --exposure here; in Python, PoissonRegression takes "
                "sample_weight and exposure together."
            )
        if not plan.in_memory:
            raise UsageError(
                f"{option} needs all rows in memory; take some of them, without --jobs and "
                "--checkpoint."
            )


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
