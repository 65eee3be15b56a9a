"""Options that commands share: output, reading a file, and the columns of a table.

Cyclopts makes command-line options of the fields of these classes, and help of their docstrings.
Names are those of `data.ReadingOptions` and `data.ColumnOptions`, which check the values.
"""

from __future__ import annotations

import difflib
import importlib.util
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter
from cyclopts.validators import Number

from adaline import MissingExtra
from adaline.cli.errors import UsageError, refuse_conflicts
from adaline.data.outputs import refuse_unwritable

if TYPE_CHECKING:
    from adaline.data import Table


def _whole(kind: Any, tokens: Any) -> int:
    """A whole number as it is written: cyclopts would round 2.5."""
    return int(tokens[0].value)


Whole = Annotated[int, Parameter(converter=_whole)]
Count = Annotated[int, Parameter(converter=_whole, validator=Number(gte=1))]
Folds = Annotated[int, Parameter(converter=_whole, validator=Number(gte=2))]
Seed = Annotated[int, Parameter(converter=_whole, validator=Number(gte=0, lt=2**32))]
Seconds = Annotated[float, Parameter(validator=Number(gte=0))]
Chance = Annotated[float, Parameter(validator=Number(gt=0, lt=1))]
_DATA = "A file as for fit, or - for stdin."
Data = Annotated[str, Parameter(allow_leading_hyphen=True, help=_DATA)]
ModelFile = Annotated[str, Parameter(help="A model file.")]
Target = Annotated[str | None, Parameter(name=["--target", "-t"])]
OptionalFile = Annotated[str | None, Parameter(name=["--out", "-o"])]
_JOBS = "Processes that read and sum a large file."
Jobs = Annotated[Count, Parameter(name=["--jobs", "-j"], help=_JOBS)]
Settings = Annotated[list[str] | None, Parameter(name="--set")]
_Names = list[str] | None
_READING = Group("Reading the table", sort_key=40)


@Parameter(name="*", group=Group("Output", sort_key=50))
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
    seed: Seed = 0
    debug: bool = False


@Parameter(name="*", group=_READING)
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
    common: Common = Common()

    def for_blocks(self) -> dict[str, Any]:
        """The options as keyword arguments of `blocks`."""
        names = "separator decimal encoding sheet skip_rows keep_total"
        header = None if self.header is None else self.header == "yes"
        return {name: getattr(self, name) for name in names.split()} | {"header": header}


@Parameter(name="*", group=_READING)
@dataclass(frozen=True)
class Columns(Reading):
    """Options of every command that learns from a table; by default the columns decide.

    Names of columns may have commas between them, and * and ? stand for any characters.

    Parameters
    ----------
    target
        The column to predict.
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

    target: Annotated[Target, Parameter(group="Parameters")] = None
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

    def for_look(self, names: Sequence[str], beside: Any) -> dict[str, Any]:
        """The options as keyword arguments of `look`; columns `beside` are no inputs."""
        only = expand_names("--only", self.only, names)
        return {
            "columns": [name for name in only if name not in (self.target, *beside)] or None,
            "ignore": list(beside),
            "use": expand_names("--use", self.use, names),
            "read": self._notations(names),
            "na": [mark for text in self.na or () for mark in text.split(",") if mark.strip()],
            "missing": self.missing,
            "formula": self.formula,
            "exact_levels": self.exact_levels,
        }

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
@dataclass(frozen=True)
class FitOptions:
    """Options of `adaline fit`.

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

    columns: Columns = Columns()
    evaluation: Evaluation = Evaluation()
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

    def check(self, data: str) -> None:
        """Refuse, before learning, options that do not go together."""
        folds, holds_out = self.evaluation.asks_for_folds, self.test is not None
        many, out_of_memory = self.by or self.rolling, self.cluster or self.checkpoint
        refuse_conflicts(
            (folds and holds_out, "--test does not go with folds."),
            (many and (folds or holds_out), "--by and --rolling have no hold-out."),
            (many and out_of_memory, "--by and --rolling need the rows in memory."),
            (self.threshold and self.costs, "--threshold and --costs: choose one."),
            (self.cluster and self.jobs > 1, "--cluster has its own workers: no --jobs."),
            (out_of_memory and data == "-", "--cluster and --checkpoint read files, not stdin."),
            (self.report and self.exposure, "--report does not support --exposure."),
        )
        for needed in ("jinja2", "matplotlib") if self.report is not None else ():
            if importlib.util.find_spec(needed) is None:
                raise MissingExtra.of("report", "a report", needed)
        for path in (self.report, self.out):
            require_writable(path, data)


def require_writable(path: str | None, *inputs: str) -> None:
    """Refuse, before the work, to write over what is read, or where nothing can be written."""
    if path is None or path == "-":
        return
    if not path:
        raise UsageError("the name of a file to write to is empty; give one.")
    if os.path.realpath(path) in {os.path.realpath(p) for p in inputs if p != "-"}:
        raise UsageError(f"{path} is a file to read from; give another name to write to.")
    try:
        refuse_unwritable(path)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}.") from None


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
