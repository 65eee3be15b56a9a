"""Options that commands share: output, reading a file, and the columns of a table.

Cyclopts makes command-line options of the fields of these classes, and help of their docstrings.
`Reading.for_blocks` and `Columns.for_look` are keywords of `adaline.data.blocks` and `look`.
"""

from __future__ import annotations

import difflib
import importlib.util
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter
from cyclopts.validators import Number

from adaline import MissingExtra
from adaline.cli.errors import UsageError, refuse_conflicts

if TYPE_CHECKING:
    from adaline.data import Table


def _whole(kind: Any, tokens: Any) -> int:
    """A whole number as it is written: cyclopts would round 2.5."""
    return int(tokens[0].value)


Whole = Annotated[int, Parameter(converter=_whole)]
Count = Annotated[int, Parameter(converter=_whole, validator=Number(gte=1))]
Folds = Annotated[int, Parameter(converter=_whole, validator=Number(gte=2))]
Seconds = Annotated[float, Parameter(validator=Number(gte=0))]
Chance = Annotated[float, Parameter(validator=Number(gt=0, lt=1))]
_DATA = "A file as for fit, or - for stdin."
Data = Annotated[str, Parameter(allow_leading_hyphen=True, help=_DATA)]
ModelFile = Annotated[str, Parameter(help="A model file.")]
Target = Annotated[str | None, Parameter(name=["--target", "-t"], help="The column to predict.")]
OptionalFile = Annotated[str | None, Parameter(name=["--out", "-o"])]
_JOBS = "Processes that read and sum a large file."
Jobs = Annotated[Count, Parameter(name=["--jobs", "-j"], help=_JOBS)]
Settings = Annotated[list[str] | None, Parameter(name="--set")]
_Names = list[str] | None


@Parameter(name="*")
@dataclass(frozen=True)
class Common:
    """Options of every command.

    Parameters
    ----------
    json
        Print one JSON object on stdout, for programs.
    quiet
        Print the result only.
    verbose
        Print the details, too: coefficients, certificates, all warnings.
    seed
        The random seed, which decides, for example, which rows are held out.
    debug
        Print a traceback for errors.
    """

    json: bool = False
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"])] = False
    verbose: Annotated[bool, Parameter(name=["--verbose", "-v"])] = False
    seed: Whole = 0
    debug: bool = False


@Parameter(name="*", group=Group("Reading the table", sort_key=40))
@dataclass(frozen=True)
class Reading:
    """Options of every command that reads a table; by default the first lines decide.

    Parameters
    ----------
    separator
        The separator of fields: comma, semicolon, tab, pipe, blanks, or a character.
    decimal
        The decimal mark of numbers, a point or a comma.
    encoding
        The character encoding: utf-8, windows-1252, utf-16, ...
    header
        Whether the first line has the names of the columns.
    sheet
        The Excel sheet (default: the first).
    skip_rows
        Lines to skip at the top of the file; the next line is the header row.
    keep_total
        Keep a last row that is the total of all rows above.
    """

    separator: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None
    decimal: Literal[".", ","] | None = None
    encoding: str | None = None
    header: Literal["yes", "no"] | None = None
    sheet: str | None = None
    skip_rows: int | None = None
    keep_total: bool = False

    def for_blocks(self) -> dict[str, Any]:
        """The options that were given, as keyword arguments of `blocks`."""
        options = {field.name: getattr(self, field.name) for field in fields(Reading)}
        options["header"] = None if self.header is None else self.header == "yes"
        return {name: value for name, value in options.items() if value not in (None, False)}


@Parameter(name="*", group=Group("Reading the table", sort_key=40))
@dataclass(frozen=True)
class Columns(Reading):
    """Options of every command that learns from a table; by default the columns decide.

    Names of columns may have commas between them, and * and ? stand for any characters.

    Parameters
    ----------
    only
        Use these columns and no others: --only a,b*.
    ignore
        Ignore these columns; may be given more than once.
    use
        Include these columns even if they look like row numbers.
    text
        Read these columns as text, such as codes of digits.
    number
        Read these columns as numbers; --number 'a=.,' has a decimal comma.
    date
        Read these columns as dates; --date sold=dmy: day first.
    na
        Markers of missing values in addition to the usual ones, such as -999.
    missing
        What to do with missing values. auto: impute numbers by the mean (with an indicator if many
        are missing), treat text as a category; refuse; drop their rows; or impute the mean.
    formula
        The columns to use, and transformations of them, as in R: "log(size) + rooms * garden",
        with : ^2 sqrt poly(x, 3), and . for all columns.
    exact_levels
        Treat categories that differ only in case or blanks, as West and ' west', as different.
    """

    only: _Names = None
    ignore: _Names = None
    use: _Names = None
    text: _Names = None
    number: _Names = None
    date: _Names = None
    na: Annotated[_Names, Parameter(allow_leading_hyphen=True)] = None
    missing: Literal["auto", "refuse", "drop", "mean"] = "auto"
    formula: str | None = None
    exact_levels: bool = False

    def for_look(self, names: Sequence[str], target: str, beside: Any) -> dict[str, Any]:
        """The options as keyword arguments of `look`; columns `beside` are no inputs."""
        only = expand_names("--only", self.only, names)
        marks = [mark.strip() for text in self.na or () for mark in text.split(",")]
        options: dict[str, Any] = {"missing": self.missing, "read": self._notations(names)}
        options["columns"] = [name for name in only if name != target and name not in beside]
        options |= {"na": list(filter(None, marks)), "ignore": list(beside)}
        options |= {"formula": self.formula, "exact_levels": self.exact_levels}
        options["use"] = expand_names("--use", self.use, names)
        return {name: value for name, value in options.items() if value}

    def _notations(self, names: Sequence[str]) -> dict[str, str]:
        """How columns are to be read, by name: text, number, date, or a notation of these."""
        notations = dict.fromkeys(expand_names("--text", self.text, names), "text")
        for kind, given in (("number", self.number), ("date", self.date)):
            for text in given or ():
                bare, _, notation = ("", "", "") if text in names else text.rpartition("=")
                how = f"{kind} {notation if bare else ''}".rstrip()
                notations |= dict.fromkeys(expand_names(f"--{kind}", [bare or text], names), how)
        return notations


@Parameter(name="*", group=Group("Evaluation and weights", sort_key=30))
@dataclass(frozen=True)
class Evaluation:
    """Options of commands that evaluate learners on the rows of a table.

    Parameters
    ----------
    cv
        The number of folds of cross-validation.
    group
        Keep rows with the same value in this column, such as patients, in the same fold.
    by_time
        A column of times: in cross-validation, predict each period from earlier rows.
    weights
        A column of sample weights; a row with weight 2 counts twice in the fit.
    balanced
        Give all classes the same total weight.
    """

    cv: Folds | None = None
    group: str | None = None
    by_time: str | None = None
    weights: str | None = None
    balanced: bool = False

    @property
    def named(self) -> dict[str, str | None]:
        """Columns that are no inputs, by their options."""
        if self.group is not None and self.by_time is not None:
            raise UsageError("--group and --by-time: choose one.")
        return {"--group": self.group, "--by-time": self.by_time, "--weights": self.weights}

    @property
    def asks_for_folds(self) -> bool:
        """Whether cross-validation was asked for."""
        return self.cv is not None or self.group is not None or self.by_time is not None

    def columns_of(self, rows: Table) -> tuple[Any, Any, Any]:
        """Groups, times and sample weights of the rows, None if they were not asked for."""
        groups = None if self.group is None else rows.column(self.group)
        times = None if self.by_time is None else rows.column(self.by_time, in_order=True)
        is_weighted = self.weights is not None or self.balanced
        omega = rows.weights(self.weights, balanced=self.balanced) if is_weighted else None
        return groups, times, omega


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """Options of `adaline fit` beside those of files and columns.

    Parameters
    ----------
    model
        The learner: ridge, least-squares or widrow-hoff for numbers, poisson for counts; logistic,
        gaussian, perceptron, adaline, sigmoid, least-squares-classifier, ho-kashyap or
        kernel-perceptron for classes; --model ? lists them all. By default the target decides.
    out
        Write the model to this file, such as model.adaline.
    report
        Write a report to this file, such as report.html.
    test
        The share of rows to hold out permanently; 0 evaluates on the training set.
    set_
        A parameter of the learner as name=value, such as alpha=0; may be given more than once.
    passes
        How often to read a large file (learners that go row by row: perceptron, adaline, ...).
    cluster
        A Dask cluster whose workers read and sum the files: tcp://HOST:8786 or tls://HOST:8786, the
        path of a scheduler file, or local:4 for four processes of this machine.
    timeout
        Seconds without any worker of the cluster after which to give up.
    checkpoint
        A directory for checkpoints; after Ctrl-C the same command resumes from there.
    exposure
        For poisson: the column of times, areas or people that the counts are proportional to.
    threshold
        For two classes: predict the second if its probability exceeds this (default: 0.5).
    costs
        The cost of an error for rows of each class, such as yes=5,no=1; 1 if not given.
    by
        Fit a model to each group of rows: a column, or several with commas between them.
    rolling
        Fit a model to the last so many rows, at every row; with --by within groups.
    coefficients
        Print the coefficients: short, with intervals; or full, with odds ratios, and per standard
        deviation.
    """

    target: Target = None
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
    threshold: Chance | None = None
    costs: str | None = None
    by: str | None = None
    rolling: Count | None = None
    coefficients: Literal["short", "full"] | None = None

    @property
    def by_blocks(self) -> bool:
        """Whether rows are learned block by block, however few they are."""
        is_shared = self.jobs > 1 or self.cluster is not None
        return is_shared or self.checkpoint is not None or self.exposure is not None

    def check(self, data: str, asks_for_folds: bool) -> None:
        """Refuse, before learning, options that do not go together."""
        refuse_conflicts(
            (asks_for_folds and self.test is not None, "--test does not go with folds."),
            (self.threshold and self.costs, "--threshold and --costs: choose one."),
            (self.cluster and self.jobs > 1, "--cluster has its own workers: no --jobs."),
            (self.cluster and data == "-", "--cluster reads files, not stdin."),
            (self.checkpoint and data == "-", "--checkpoint needs a file, not stdin."),
            (self.report and self.exposure, "--report does not support --exposure."),
        )
        for needed in ("jinja2", "matplotlib") if self.report is not None else ():
            if importlib.util.find_spec(needed) is None:
                raise MissingExtra.of("report", "a report", needed)


def expand_names(option: str, given: Sequence[str] | None, names: Sequence[str]) -> list[str]:
    """Names of columns: as they are, with commas between them, or by wildcards."""
    expanded: dict[str, None] = {}
    for text in given or ():
        for part in [text] if text in names else [p.strip() for p in text.split(",")]:
            matches = [part] if part in names else [n for n in names if fnmatchcase(n, part)]
            if not matches:
                raise UsageError(f"{option} {part!r}: no such column; {suggest(part, names)}")
            expanded |= dict.fromkeys(matches)
    return list(expanded)


def suggest(word: str, known: Iterable[str], most: int = 12) -> str:
    """A question if something looks alike, else the list of what there is.

    >>> suggest("AGE", ["age", "size"]), suggest("zzz", ["age", "size"])
    ("did you mean 'age'?", "there are 'age', 'size'.")
    """
    names = list(known)
    folded = {name.lower(): name for name in names}
    alike = difflib.get_close_matches(word.lower(), folded, 3, 0.5)
    if alike:
        return f"did you mean {' or '.join(repr(folded[name]) for name in alike)}?"
    return f"there are {', '.join(map(repr, names[:most]))}{', ...' * (len(names) > most)}."
