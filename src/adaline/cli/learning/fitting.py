"""The work of `adaline fit`: read, learn, measure, write, tell."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import adaline
from adaline.cli.files.column_options import Columns, looked_at
from adaline.cli.files.file_options import Reading
from adaline.cli.files.sources import (
    about_rows,
    known_column,
    mark_of,
    not_the_data,
    opened,
    path_of,
    readable,
    title,
)
from adaline.cli.learning import learner_choice, learning
from adaline.cli.learning.fit_outcome import FitOutcome
from adaline.cli.learning.folds import FEW, cross_validated, default_folds
from adaline.cli.learning.interrupts import interrupts
from adaline.cli.learning.learning import Learned, Plan
from adaline.cli.learning.weights_and_costs import check_learner, without
from adaline.cli.predicting.predictions import Measured, measured
from adaline.cli.printing.errors import Usage
from adaline.cli.printing.printer import Out
from adaline.cli.printing.progress import Progress
from adaline.data import Source, cluster, workers
from adaline.data.sharing import Spread
from adaline.data.tables import SCRATCH, kept_in, no_scratch

_SMALL = 50  # rows from which on some are held out
_STRATIFIED = 100_000  # rows up to which each class is shared out alike
_MEASURED = 64  # blocks of files on a cluster whose held-out rows measure the quality
_REPORTED = 2_000_000  # numbers of held-out rows that a report looks at, about


@dataclass(frozen=True)
class FitRequest:
    """What the command line asks for; see `adaline fit --help`."""

    data: str
    target: str
    model: str | None = None
    out: str | None = None
    report: str | None = None
    columns: Columns = field(default_factory=Columns)
    test: float | None = None
    settings: Sequence[str] = ()
    passes: int = 1
    jobs: int = 1
    cluster: str | None = None
    timeout: float = 300.0
    checkpoint: str | None = None
    exposure: str | None = None
    reading: Reading | None = None
    cv: int | None = None
    group: str | None = None
    by_time: str | None = None
    weights: str | None = None
    balanced: bool = False
    threshold: float | None = None
    costs: str | None = None
    full: bool = False

    @property
    def named(self) -> dict[str, str]:
        """Columns that options name, by the options."""
        wanted = {
            "--exposure": self.exposure,
            "--group": self.group,
            "--by-time": self.by_time,
            "--weights": self.weights,
        }
        return {option: named for option, named in wanted.items() if named is not None}

    @property
    def by_blocks(self) -> bool:
        """Whether rows go block by block, however few they are."""
        large = self.jobs > 1 or self.cluster is not None
        return large or self.checkpoint is not None or self.exposure is not None


def run(request: FitRequest, printer: Out) -> int:
    """Learn, and say what the result is worth."""
    _check_request(request)
    with interrupts(request.checkpoint, request.jobs if request.cluster is None else 2):
        if request.cluster is None:
            with kept_in(SCRATCH, request.jobs) as scratch:
                _run(request, printer, request.jobs, scratch)
        else:
            # A scheduler that is there answers within half a minute.
            with cluster(request.cluster, min(30.0, max(request.timeout, 0.1))) as client:
                _run(request, printer, workers(client, request.timeout))
    return 0


def _run(request: FitRequest, printer: Out, jobs: Any, scratch: Any = no_scratch) -> None:
    source, beside = _opened(request, jobs)
    source = source.keeping(scratch)
    seen = looked_at(source, request.target, request.columns, beside=beside, jobs=jobs)
    source = seen.encoding.prepare(source)
    about = about_rows(source)
    plan = _planned(request, source, about, printer.common.seed, jobs, beside)
    encoding = learning.with_means(seen.encoding, source, plan)
    numbers = (about or learning.MEMORY) * (len(encoding.names) + 1)
    small = about is not None and numbers <= learning.MEMORY
    plan = replace(plan, in_memory=small and not request.by_blocks)
    if not plan.in_memory and request.test is None and not plan.share:
        plan = replace(plan, share=_held_out(about))  # few rows, but of very many columns
        encoding = learning.with_means(seen.encoding, source, plan)
    if plan.in_memory and _by_folds(request, about):
        plan = replace(plan, cv=request.cv or default_folds(about or 2, numbers))
    if plan.in_memory and plan.share and request.test is None:
        # The model that is kept learns from all rows; another one, from 4/5 of them, measures.
        plan, encoding = replace(plan, share=0.0, apart=True), seen.encoding
    _check_memory_options(request, plan)
    estimator = learner_choice.made(plan.choice.kind, request.settings, plan.seed)
    estimator = learning.penalised(estimator, plan, request.settings, numbers)
    found = learning.learned(estimator, source, encoding, plan, printer, about)
    folded = None
    if plan.cv or plan.apart:
        folded = cross_validated(found, plan, printer, _asks_for_folds(request))
    if folded is not None:
        tested, is_held_out, result = folded[0], True, folded[1]
    else:
        for_pictures = request.report is not None or plan.in_memory
        every = max(1, round(numbers * (plan.share or 1) / _REPORTED)) if for_pictures else 0
        (tested, is_held_out), result = _tested(found, source, plan, printer, every), None
    given = request.reading, seen, request.columns, result
    outcome = FitOutcome(request.data, source, plan, found, tested, is_held_out, printer, *given)
    outcome.files = _written(outcome, request.out, request.report)
    outcome.tell(request.out, request.full)


def _opened(request: FitRequest, jobs: Any) -> tuple[Source, list[str]]:
    """The rows, and the columns of them that are read but not learned from."""
    # A time may be learned from, too; a column that is ignored is still there to sort by.
    beside = {column for option, column in request.named.items() if option != "--by-time"}
    ignore, unused = without(request.columns.ignore or (), request.by_time)
    beside |= {request.by_time} if unused and request.by_time else set()
    needed = [request.target, *request.named.values()]
    source = opened(request.data, ignore, needed, request.reading, jobs=jobs)
    known_column(source, request.target)
    for option, column in request.named.items():
        known_column(source, column, option)
        if column == request.target:
            raise Usage(f"{option} {column!r} is the target; name another column.")
    return source, sorted(beside)


def _planned(
    request: FitRequest, source: Source, about: int | None, seed: int, jobs: Any, beside: list[str]
) -> Plan:
    """Which learner, and which rows it learns from."""
    usual = "poisson" if request.exposure is not None else None
    choice = learner_choice.chosen(request.model or usual, source, request.target)
    _check_learner_options(request, choice)
    return Plan(
        request.target,
        choice,
        seed,
        _share(request, about),
        request.columns.missing,
        jobs,
        request.checkpoint,
        request.passes,
        exposure=request.exposure,
        group=request.group,
        by_time=request.by_time,
        weights=request.weights,
        balanced=request.balanced,
        threshold=request.threshold,
        costs=request.costs,
        beside=tuple(beside),
        stratified=choice.classes and about is not None and about <= _STRATIFIED,
    )


def _asks_for_folds(request: FitRequest) -> bool:
    return request.cv is not None or request.group is not None or request.by_time is not None


def _by_folds(request: FitRequest, about: int | None) -> bool:
    """Whether every row is predicted by a model without it: asked for, or as rows are few."""
    few = about is not None and about < FEW and request.test is None and not request.by_blocks
    return _asks_for_folds(request) or few


def _check_learner_options(request: FitRequest, choice: learner_choice.Choice) -> None:
    """Refuse options that this learner has no use for."""
    if request.exposure is not None and not choice.counts:
        raise Usage(
            f"--exposure {request.exposure!r} is of --model poisson; {choice.model} has none."
        )
    costly = request.threshold is not None or request.costs is not None
    if (costly or request.balanced) and not choice.classes:
        raise Usage(
            f"--balanced, --threshold and --costs are for classes; {choice.model} predicts numbers."
        )
    check_learner(choice.kind, request.weights is not None or request.balanced, costly)


def _check_memory_options(request: FitRequest, plan: Plan) -> None:
    """Refuse what only rows in memory allow."""
    if plan.in_memory:
        return
    wanted = {
        "--cv": request.cv,
        "--group": request.group,
        "--by-time": request.by_time,
        "--weights": request.weights,
        "--balanced": request.balanced or None,
        "--threshold": request.threshold,
        "--costs": request.costs,
    }
    for option, value in wanted.items():
        if value is not None and request.exposure is not None:
            raise Usage(
                f"{option} does not go with --exposure here; in Python, PoissonRegression takes "
                "sample_weight and exposure together."
            )
        if value is not None:
            raise Usage(
                f"{option} needs all rows in memory; take some of the rows, and leave out --jobs "
                "and --checkpoint."
            )


def _share(request: FitRequest, about: int | None) -> float:
    if request.test is not None:
        return request.test
    return 0.0 if _by_folds(request, about) else _held_out(about)


def _held_out(about: int | None) -> float:
    return 0.0 if about is not None and about < _SMALL else 0.2


def _check_request(request: FitRequest) -> None:
    """Say before learning what could not be done after it."""
    if request.test is not None and not 0 <= request.test < 1:
        raise Usage(f"--test {request.test}: expected a share of the rows, from 0 to below 1.")
    if _asks_for_folds(request) and request.test is not None:
        raise Usage("--test holds rows out once, --cv, --group and --by-time in turn; choose one.")
    if request.group is not None and request.by_time is not None:
        raise Usage("--group and --by-time: folds follow one of them; choose one.")
    if request.cv is not None and request.cv < 2:
        raise Usage(f"--cv {request.cv}: expected how many folds, 2 or more.")
    if request.threshold is not None and not 0 < request.threshold < 1:
        raise Usage(f"--threshold {request.threshold}: expected a probability between 0 and 1.")
    if request.threshold is not None and request.costs is not None:
        raise Usage("--threshold and --costs say the same in two ways; give one of them.")
    if request.cluster is not None and (request.jobs > 1 or request.data == "-"):
        raise Usage("--cluster has its own workers, which read files: no --jobs, and no stdin.")
    if not request.timeout >= 0:
        raise Usage(f"--timeout {request.timeout}: expected seconds, 0 or more.")
    for option, value in (("--jobs", request.jobs), ("--passes", request.passes)):
        if value < 1:
            raise Usage(f"{option} {value}: expected 1 or more.")
    if request.checkpoint is not None and request.data == "-":
        raise Usage("--checkpoint needs a file that can be read again; stdin cannot.")
    for path in (request.report, request.out):
        not_the_data(path, request.data)
    if request.report is None:
        return
    if request.exposure is not None:
        raise Usage("--report: its pictures know of no exposure; leave out one of the two.")
    for needed in ("jinja2", "matplotlib"):
        if importlib.util.find_spec(needed) is None:
            raise adaline.MissingExtra.of("report", "a report", needed)


def _tested(
    found: Learned, source: Source, plan: Plan, printer: Out, every: int
) -> tuple[Measured, bool]:
    """The quality on the rows held out, or on those learned from where none are; and which."""
    rows: Source = learning.shared(source, plan, out=True) if plan.share else source
    if not isinstance(plan.jobs, int):  # of a cluster: this process reads no more than it can
        rows = Spread(rows, _MEASURED)
    with Progress(printer, doing="measuring the quality") as progress:
        tested = measured(
            found.model,
            found.encoding,
            rows,
            plan.target,
            every=every,
            progress=progress,
            exposure=plan.exposure,
        )
    if tested.quality.n == 0:
        return _tested(found, source, replace(plan, share=0.0), printer, every)
    return tested, bool(plan.share)


def _written(outcome: FitOutcome, out: str | None, report: str | None) -> dict[str, str]:
    files = {}
    if out is not None:
        metadata = {
            "target": outcome.plan.target,
            "data": readable(outcome.data),
            "learned_from": outcome.found.rows,
            "held_out_share": outcome.plan.share,
            "seed": outcome.plan.seed,
            "quality": outcome.printable_quality(),
        }
        mark = mark_of(path_of(outcome.source))
        if mark is not None:
            metadata["fingerprint"] = mark
        if outcome.plan.exposure is not None:
            metadata["exposure"] = outcome.plan.exposure
        adaline.save(outcome.found.model, out, outcome.found.encoding, metadata)
        files["model"] = out
    if report is not None:
        adaline.write_report(
            report,
            outcome.found.model,
            outcome.tested.X,
            outcome.tested.y,
            held_out=outcome.is_held_out,
            names=outcome.found.encoding.labels,
            target=outcome.plan.target,
            title=f"{outcome.plan.target} from {os.path.basename(title(outcome.source))}",
            data=outcome.data_facts(mark_of(path_of(outcome.source))),
            separability=outcome.found.separability,
            quality=outcome.tested.quality,
            cross_validated=outcome.folded,
            warnings=outcome.doubts(),
            code=outcome.code(),
            learned=outcome.found.X,
            learned_y=outcome.found.y,
            learned_weight=outcome.found.omega,
            gaps=outcome.gaps(),
        )
        files["report"] = report
    return files
