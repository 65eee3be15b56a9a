"""The work of `adaline fit`: read, learn, measure, write, tell."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import adaline
from adaline.cli import _choose, _learn
from adaline.cli._ask import Measured, measured
from adaline.cli._columns import Columns, looked_at
from adaline.cli._costly import able, without
from adaline.cli._errors import Usage
from adaline.cli._folded import FEW, default_folds, tried
from adaline.cli._interrupts import interrupts
from adaline.cli._learn import Learned, Plan
from adaline.cli._output import Out
from adaline.cli._progress import Progress
from adaline.cli._reading import Reading
from adaline.cli._source import (
    about_rows,
    known_column,
    mark_of,
    not_the_data,
    opened,
    path_of,
    title,
)
from adaline.cli._story import Story
from adaline.data import Source, cluster, workers
from adaline.data.sharing import Spread

_SMALL = 50  # rows from which on some are held out
_STRATIFIED = 100_000  # rows up to which each class is shared out alike
_MEASURED = 64  # blocks of files on a cluster whose held-out rows measure the quality
_REPORTED = 2_000_000  # numbers of held-out rows that a report looks at, about


@dataclass(frozen=True)
class Asked:
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


def run(asked: Asked, printer: Out) -> int:
    """Learn, and say what the result is worth."""
    _able(asked)
    with interrupts(asked.checkpoint, asked.jobs if asked.cluster is None else 2):
        if asked.cluster is None:
            _run(asked, printer, asked.jobs)
        else:
            with cluster(asked.cluster) as client:
                _run(asked, printer, workers(client, asked.timeout))
    return 0


def _run(asked: Asked, printer: Out, jobs: Any) -> None:
    # A time may be learned from, too; a column that is ignored is still there to sort by.
    beside = {named for option, named in asked.named.items() if option != "--by-time"}
    ignore, unused = without(asked.columns.ignore or (), asked.by_time)
    beside |= {asked.by_time} if unused and asked.by_time else set()
    needed = [asked.target, *asked.named.values()]
    source = opened(asked.data, ignore, needed, asked.reading, jobs=jobs)
    known_column(source, asked.target)
    for option, named in asked.named.items():
        known_column(source, named, option)
        if named == asked.target:
            raise Usage(f"{option} {named!r} is the target; name another column.")
    seen = looked_at(source, asked.target, asked.columns, beside=sorted(beside), jobs=jobs)
    source = seen.encoding.prepare(source)
    counts = asked.exposure is not None
    choice = _choose.chosen(asked.model or ("poisson" if counts else None), source, asked.target)
    _suits(asked, choice)
    about = about_rows(source)
    plan = Plan(
        asked.target,
        choice,
        printer.common.seed,
        _share(asked, about),
        asked.columns.missing,
        jobs,
        asked.checkpoint,
        asked.passes,
        exposure=asked.exposure,
        group=asked.group,
        by_time=asked.by_time,
        weights=asked.weights,
        balanced=asked.balanced,
        threshold=asked.threshold,
        costs=asked.costs,
        beside=tuple(sorted(beside)),
        stratified=choice.classes and about is not None and about <= _STRATIFIED,
    )
    encoding = _learn.with_means(seen.encoding, source, plan)
    numbers = (about or _learn.MEMORY) * (len(encoding.names) + 1)
    small = about is not None and numbers <= _learn.MEMORY
    plan = replace(plan, in_memory=small and not asked.by_blocks)
    if not plan.in_memory and asked.test is None and not plan.share:
        plan = replace(plan, share=_held_out(about))  # few rows, but of very many columns
        encoding = _learn.with_means(seen.encoding, source, plan)
    if plan.in_memory and _by_folds(asked, about):
        plan = replace(plan, cv=asked.cv or default_folds(about or 2, numbers))
    _needs_rows(asked, plan)
    estimator = _choose.made(choice.kind, asked.settings, plan.seed)
    estimator = _learn.penalised(estimator, plan, asked.settings, numbers)
    found = _learn.learned(estimator, source, encoding, plan, printer, about)
    wanted = asked.report is not None or plan.in_memory
    every = max(1, round(numbers * (plan.share or 1) / _REPORTED)) if wanted else 0
    folded = tried(found, plan, printer, _asks_for_folds(asked)) if plan.cv else None
    if folded is not None:
        tested, is_held_out, result = folded[0], True, folded[1]
    else:
        (tested, is_held_out), result = _tested(found, source, plan, printer, every), None
    said = asked.reading, seen, asked.columns, result
    story = Story(asked.data, source, plan, found, tested, is_held_out, printer, *said)
    story.files = _written(story, asked.out, asked.report)
    story.tell(asked.out, asked.full)


def _asks_for_folds(asked: Asked) -> bool:
    return asked.cv is not None or asked.group is not None or asked.by_time is not None


def _by_folds(asked: Asked, about: int | None) -> bool:
    """Whether every row is predicted by a model without it: asked for, or as rows are few."""
    few = about is not None and about < FEW and asked.test is None and not asked.by_blocks
    return _asks_for_folds(asked) or few


def _suits(asked: Asked, choice: _choose.Choice) -> None:
    """Refuse options that this learner has no use for."""
    if asked.exposure is not None and not choice.counts:
        raise Usage(
            f"--exposure {asked.exposure!r} is of --model poisson; {choice.model} has none."
        )
    costly = asked.threshold is not None or asked.costs is not None
    if (costly or asked.balanced) and not choice.classes:
        raise Usage(
            f"--balanced, --threshold and --costs are for classes; {choice.model} predicts numbers."
        )
    able(choice.kind, asked.weights is not None or asked.balanced, costly)


def _needs_rows(asked: Asked, plan: Plan) -> None:
    """Refuse what only rows in memory allow."""
    if plan.in_memory:
        return
    wanted = {
        "--cv": asked.cv,
        "--group": asked.group,
        "--by-time": asked.by_time,
        "--weights": asked.weights,
        "--balanced": asked.balanced or None,
        "--threshold": asked.threshold,
        "--costs": asked.costs,
    }
    for option, value in wanted.items():
        if value is not None:
            raise Usage(
                f"{option} needs all rows in memory; take some of the rows, and leave out --jobs, "
                "--checkpoint and --exposure."
            )


def _share(asked: Asked, about: int | None) -> float:
    if asked.test is not None:
        return asked.test
    return 0.0 if _by_folds(asked, about) else _held_out(about)


def _held_out(about: int | None) -> float:
    return 0.0 if about is not None and about < _SMALL else 0.2


def _able(asked: Asked) -> None:
    """Say before learning what could not be done after it."""
    if asked.test is not None and not 0 <= asked.test < 1:
        raise Usage(f"--test {asked.test}: expected a share of the rows, from 0 to below 1.")
    if _asks_for_folds(asked) and asked.test is not None:
        raise Usage("--test holds rows out once, --cv, --group and --by-time in turn; choose one.")
    if asked.group is not None and asked.by_time is not None:
        raise Usage("--group and --by-time: folds follow one of them; choose one.")
    if asked.cv is not None and asked.cv < 2:
        raise Usage(f"--cv {asked.cv}: expected how many folds, 2 or more.")
    if asked.threshold is not None and not 0 < asked.threshold < 1:
        raise Usage(f"--threshold {asked.threshold}: expected a probability between 0 and 1.")
    if asked.threshold is not None and asked.costs is not None:
        raise Usage("--threshold and --costs say the same in two ways; give one of them.")
    if asked.cluster is not None and (asked.jobs > 1 or asked.data == "-"):
        raise Usage("--cluster has its own workers, which read files: no --jobs, and no stdin.")
    if not asked.timeout >= 0:
        raise Usage(f"--timeout {asked.timeout}: expected seconds, 0 or more.")
    for option, value in (("--jobs", asked.jobs), ("--passes", asked.passes)):
        if value < 1:
            raise Usage(f"{option} {value}: expected 1 or more.")
    if asked.checkpoint is not None and asked.data == "-":
        raise Usage("--checkpoint needs a file that can be read again; stdin cannot.")
    for path in (asked.report, asked.out):
        not_the_data(path, asked.data)
    if asked.report is None:
        return
    if asked.exposure is not None:
        raise Usage("--report: its pictures know of no exposure; leave out one of the two.")
    for needed in ("jinja2", "matplotlib"):
        if importlib.util.find_spec(needed) is None:
            raise adaline.MissingExtra.of("report", "a report", needed)


def _tested(
    found: Learned, source: Source, plan: Plan, printer: Out, every: int
) -> tuple[Measured, bool]:
    """The quality on the rows held out, or on those learned from where none are; and which."""
    rows: Source = _learn.shared(source, plan, out=True) if plan.share else source
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


def _written(story: Story, out: str | None, report: str | None) -> dict[str, str]:
    files = {}
    if out is not None:
        metadata = {
            "target": story.plan.target,
            "data": story.data,
            "learned_from": story.found.rows,
            "held_out_share": story.plan.share,
            "seed": story.plan.seed,
            "quality": story.printable_quality(),
        }
        mark = mark_of(path_of(story.source))
        if mark is not None:
            metadata["fingerprint"] = mark
        if story.plan.exposure is not None:
            metadata["exposure"] = story.plan.exposure
        adaline.save(story.found.model, out, story.found.encoding, metadata)
        files["model"] = out
    if report is not None:
        adaline.write_report(
            report,
            story.found.model,
            story.tested.X,
            story.tested.y,
            held_out=story.is_held_out,
            names=list(story.found.encoding.names),
            target=story.plan.target,
            title=f"{story.plan.target} from {os.path.basename(title(story.source))}",
            data=story.data_facts(mark_of(path_of(story.source))),
            separability=story.found.separability,
            quality=story.tested.quality,
            cross_validated=story.folded,
            warnings=story.doubts(),
            code=story.code(),
            learned=story.found.X,
            learned_y=story.found.y,
            learned_weight=story.found.omega,
            gaps=story.gaps(),
        )
        files["report"] = report
    return files
