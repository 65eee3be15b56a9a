"""The work of `adaline fit`: read, learn, measure, write, tell."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import adaline
from adaline.cli import _choose, _learn
from adaline.cli._ask import Measured, measured
from adaline.cli._columns import Columns, looked_at
from adaline.cli._errors import Usage
from adaline.cli._interrupts import interrupts
from adaline.cli._learn import Learned, Plan
from adaline.cli._output import Out
from adaline.cli._progress import Progress
from adaline.cli._reading import Reading
from adaline.cli._source import Share, about_rows, known_column, not_the_data, opened, title
from adaline.cli._story import Story
from adaline.data import Source

_SMALL = 50  # rows from which on some are held out
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
    checkpoint: str | None = None
    exposure: str | None = None
    reading: Reading | None = None


def run(asked: Asked, printer: Out) -> int:
    """Learn, and say what the result is worth."""
    _able(asked)
    with interrupts(asked.checkpoint, asked.jobs):
        _run(asked, printer)
    return 0


def _run(asked: Asked, printer: Out) -> None:
    beside = [] if asked.exposure is None else [asked.exposure]
    ignore, keep = asked.columns.ignore or (), [asked.target, *beside]
    source = opened(asked.data, ignore, keep, asked.reading)
    known_column(source, asked.target)
    for column in beside:
        known_column(source, column, "--exposure")
    seen = looked_at(source, asked.target, asked.columns, beside=beside, jobs=asked.jobs)
    source = seen.encoding.prepare(source)
    choice = _choose.chosen(asked.model or ("poisson" if beside else None), source, asked.target)
    if beside and not choice.counts:
        raise Usage(
            f"--exposure {asked.exposure!r} is of --model poisson; {choice.model} has none."
        )
    about = about_rows(source)
    plan = Plan(
        asked.target,
        choice,
        printer.common.seed,
        _share(asked.test, about),
        asked.columns.missing,
        asked.jobs,
        asked.checkpoint,
        asked.passes,
        exposure=asked.exposure,
    )
    encoding = _learn.with_means(seen.encoding, source, plan)
    numbers = (about or _learn.MEMORY) * (len(encoding.names) + 1)
    small = about is not None and numbers <= _learn.MEMORY
    by_blocks = asked.jobs > 1 or asked.checkpoint is not None or asked.exposure is not None
    plan = replace(plan, in_memory=small and not by_blocks)
    estimator = _choose.made(choice.kind, asked.settings, plan.seed)
    estimator = _learn.penalised(estimator, plan, asked.settings, numbers)
    found = _learn.learned(estimator, source, encoding, plan, printer, about)
    every = 0 if asked.report is None else max(1, round(numbers * (plan.share or 1) / _REPORTED))
    tested, is_held_out = _tested(found, source, plan, printer, every)
    said = asked.reading, seen, asked.columns
    story = Story(asked.data, source, plan, found, tested, is_held_out, printer, *said)
    story.files = _written(story, asked.out, asked.report)
    story.tell(asked.out)


def _share(test: float | None, about: int | None) -> float:
    if test is not None:
        return test
    return 0.0 if about is not None and about < _SMALL else 0.2


def _able(asked: Asked) -> None:
    """Say before learning what could not be done after it."""
    if asked.test is not None and not 0 <= asked.test < 1:
        raise Usage(f"--test {asked.test}: expected a share of the rows, from 0 to below 1.")
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
    rows: Source = Share(source, plan.seed, plan.share, out=True) if plan.share else source
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
            data={"source": title(story.source), "rows learned from": story.found.rows or "many"},
            separability=story.found.separability,
            quality=story.tested.quality,
            warnings=story.found.said,
            code=story.code(),
        )
        files["report"] = report
    return files
