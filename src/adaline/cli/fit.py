"""`adaline fit`: learn a column of a table from the others, and say what the result is worth."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, field
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from adaline import MissingExtra
from adaline.cli.errors import UsageError
from adaline.cli.options import (
    Chance,
    Columns,
    Common,
    Count,
    Folds,
    Jobs,
    OptionalFile,
    Reading,
    Seconds,
    Settings,
    Target,
)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """Options of `adaline fit` beside those of files and columns.

    Parameters
    ----------
    model
        The learner: ridge, least-squares or widrow-hoff for numbers, poisson for counts; logistic,
        gaussian, perceptron, adaline, sigmoid, least-squares-classifier, ho-kashyap or
        kernel-perceptron for classes; --model ? lists them all. Without it the target decides.
    out
        Where to keep the model, such as model.adaline.
    report
        Where to write a page about the fit, such as report.html.
    test
        Share of the rows to hold out for good; 0 measures the quality on rows learned from.
    set_
        A setting of the learner as name=value, such as alpha=0; may be given more than once.
    passes
        How often to read a large file (learners that go row by row: perceptron, adaline, ...).
    cluster
        A Dask cluster whose workers read and sum the files: tcp://HOST:8786 or tls://HOST:8786, the
        path of a scheduler file, or local:4 for four processes of this machine.
    timeout
        Seconds without any worker of the cluster after which to give up.
    checkpoint
        A directory that keeps what was learned; after Ctrl-C the same command goes on from there.
    exposure
        Of poisson: the column of times, areas or people that the counts are proportional to.
    cv
        Cross-validate with so many folds; 10 is the default below 500 rows.
    group
        A column whose equal values stay together in cross-validation, such as patients or sites.
    by_time
        A column of times: in cross-validation, each span is predicted from what came before it.
    weights
        A column of weights of the rows; a row of weight 2 counts twice in learning.
    balanced
        Let every class count the same in learning, however many rows it has.
    threshold
        Of two classes: answer the second where its probability exceeds this; 0.5 otherwise.
    costs
        What an error costs on rows of each class, such as yes=5,no=1; those not named cost 1.
    coefficients
        full shows odds ratios, and coefficients per standard deviation of the column.
    """

    target: Target
    model: Annotated[str | None, Parameter(name=["--model", "-m"])] = None
    out: OptionalFile = None
    report: str | None = None
    test: Annotated[float | None, Parameter(validator=Number(gte=0, lt=1))] = None
    set_: Settings = None
    passes: Count = 1
    jobs: Jobs = 1
    cluster: str | None = None
    timeout: Seconds = 300.0
    checkpoint: str | None = None
    exposure: str | None = None
    cv: Folds | None = None
    group: str | None = None
    by_time: str | None = None
    weights: str | None = None
    balanced: bool = False
    threshold: Chance | None = None
    costs: str | None = None
    coefficients: Literal["short", "full"] = "short"

    @property
    def beside(self) -> dict[str, str | None]:
        """Columns for folds and weights, by their options."""
        return {"--group": self.group, "--by-time": self.by_time, "--weights": self.weights}

    @property
    def asks_for_folds(self) -> bool:
        """Whether cross-validation was asked for."""
        return self.cv is not None or self.group is not None or self.by_time is not None

    @property
    def by_blocks(self) -> bool:
        """Whether rows are learned block by block, however few they are."""
        is_shared = self.jobs > 1 or self.cluster is not None
        return is_shared or self.checkpoint is not None or self.exposure is not None

    def check(self, data: str) -> None:
        """Refuse, before learning, options that do not go together."""
        in_turn = "holds rows out once, --cv, --group and --by-time in turn; choose one."
        conflicts = [
            (self.asks_for_folds and self.test is not None, f"--test {in_turn}"),
            (
                self.group and self.by_time,
                "--group and --by-time: folds follow one of them; choose one.",
            ),
            (self.threshold and self.costs, "--threshold and --costs: give one of them."),
            (self.cluster and self.jobs > 1, "--cluster has its own workers: no --jobs."),
            (self.cluster and data == "-", "--cluster reads files, and no stdin."),
            (self.checkpoint and data == "-", "--checkpoint needs a file, not stdin."),
            (self.report and self.exposure, "--report knows of no exposure; leave one out."),
        ]
        for is_given, text in conflicts:
            if is_given:
                raise UsageError(text)
        for needed in ("jinja2", "matplotlib") if self.report is not None else ():
            if importlib.util.find_spec(needed) is None:
                raise MissingExtra.of("report", "a report", needed)


@dataclass(frozen=True)
class FitRequest:
    """Everything that a command line of `adaline fit` says."""

    data: str
    options: FitOptions
    columns: Columns = field(default_factory=Columns)
    reading: Reading = field(default_factory=Reading)
    common: Common = field(default_factory=Common)


def fit(
    data: Annotated[str, Parameter(allow_leading_hyphen=True)],
    /,
    *,
    options: FitOptions,
    columns: Columns | None = None,
    reading: Reading | None = None,
    common: Common | None = None,
) -> int:
    """Learn a column of a table from the others, and say what the result is worth.

    Numbers are used as they are, also those written as 12.5%, $3.10 or 1.234,5; dates become days,
    and text one indicator a level. Columns that count or name the rows are left out; see adaline
    look. The quality is measured by cross-validation below 500 rows, and on a fifth of more rows,
    by models that have not seen the rows that they predict; then the model learns from all rows. Of
    rows that do not fit in memory a fifth is held out for good. Files may be larger than memory.

    Parameters
    ----------
    data
        A file (CSV and other text tables, Excel, Parquet, Arrow, JSON, NDJSON, LIBSVM, npy, npz;
        text also as .gz, .bz2, .xz or .zst), a folder or a pattern in quotes ('data/*.parquet'), a
        URL, or - for stdin.
    """
    from adaline.cli.fitting import run_fit  # with all that learns: not for a help text

    given = (columns or Columns(), reading or Reading(), common or Common())
    answer = run_fit(FitRequest(data, options, *given))
    return answer.finish(**answer.facts)
