"""Options that commands share: output, reading a file, and the columns of a table.

Cyclopts makes command-line options of the fields of these classes, and help of their docstrings.
`Reading.given` and `Columns.given` are the keyword arguments of `adaline.data.blocks` and `look`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter
from cyclopts.validators import Number

from adaline.cli.errors import UsageError


def _whole(kind: Any, tokens: Any) -> int:
    """A whole number as it is written; int() of cyclopts would round 2.5."""
    text = tokens[0].value if tokens else ""
    if not re.fullmatch(r"[-+]?\d{1,4000}", text.strip()):
        raise ValueError(f"{text[:40]!r} is not a whole number (int)")
    return int(text)


Whole = Annotated[int, Parameter(converter=_whole)]
Count = Annotated[int, Parameter(converter=_whole, validator=Number(gte=1))]
Folds = Annotated[int, Parameter(converter=_whole, validator=Number(gte=2))]
Seconds = Annotated[float, Parameter(validator=Number(gte=0))]
Chance = Annotated[float, Parameter(validator=Number(gt=0, lt=1))]
_DATA = "A file as for fit, or - for stdin."
Data = Annotated[str, Parameter(allow_leading_hyphen=True, help=_DATA)]
ModelFile = Annotated[str, Parameter(help="A model file.")]
_TARGET = ["--target", "-t"]
Target = Annotated[str, Parameter(name=_TARGET, help="The column to learn.")]
OptionalTarget = Annotated[str | None, Parameter(name=_TARGET)]
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
        One JSON object on stdout, for programs.
    quiet
        The verdict only: no progress, tables or advice.
    seed
        Random seed; it decides, for example, which rows are held out.
    debug
        Show a traceback where something goes wrong.
    """

    json: bool = False
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"])] = False
    seed: Whole = 0
    debug: bool = False


@Parameter(name="*", group=Group("Reading the file", sort_key=50))
@dataclass(frozen=True)
class Reading:
    """Options of every command that reads a table; by default the first lines decide.

    Parameters
    ----------
    separator
        What is between fields: comma, semicolon, tab, pipe, blanks, or a character.
    decimal
        The decimal mark of numbers, a point or a comma.
    encoding
        Of the text: utf-8, windows-1252, utf-16, ...
    header
        Whether the first line has the names of the columns.
    sheet
        Of an Excel file: which sheet; the first by default.
    skip_rows
        Lines to skip at the top of the file; the next line has the names of the columns.
    keep_total
        Keep a last row that is the total of all rows above.
    where
        Rows to read, by a column, == != < <= > or >=, and a value: 'region != north'.
    """

    separator: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None
    decimal: Literal[".", ","] | None = None
    encoding: str | None = None
    header: Literal["yes", "no"] | None = None
    sheet: str | None = None
    skip_rows: int | None = None
    keep_total: bool = False
    where: str | None = None

    def given(self) -> dict[str, Any]:
        """The options that were given, as keyword arguments of `blocks`."""
        header = None if self.header is None else self.header == "yes"
        options = vars(self) | {"header": header, "keep_total": self.keep_total or None}
        return {name: value for name, value in options.items() if value is not None}


@Parameter(name="*", group=Group("The columns", sort_key=40))
@dataclass(frozen=True)
class Columns:
    """Options of every command that learns from a table; by default the columns decide.

    Names of columns may have commas between them, and * and ? stand for any characters.

    Parameters
    ----------
    only
        The columns to learn from, exactly these: --only a,b*.
    ignore
        Columns to leave out; may be given more than once.
    use
        Columns to use, though they look like numbers of rows.
    text
        Columns to take as text, such as codes of digits.
    number
        Columns to read as numbers; --number 'a=.,' has a decimal comma.
    date
        Columns to read as dates; --date sold=dmy: day first.
    na
        What stands for a missing value beside the usual marks, such as -999.
    missing
        What to do with missing values: auto fills in means, marks gaps where they are many and
        makes them a level of text; refuse; drop their rows; or fill in the mean.
    formula
        Which columns to use, and what to make of them: "log(size) + rooms*garden". It knows
        + - : * ^2 log sqrt poly(x, 3), and . for all columns.
    exact_levels
        Keep levels apart that differ only in case or blanks, as West and ' west' do.
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

    def given(self, names: Sequence[str], target: str | None, beside: Any = ()) -> dict[str, Any]:
        """The options as keyword arguments of `look`; columns `beside` are not learned from."""
        only = expand_names("--only", self.only, names)
        marks = [mark.strip() for text in self.na or () for mark in text.split(",")]
        options = {
            "columns": [name for name in only if name != target and name not in beside],
            "read": self._notations(names),
            "na": [mark for mark in marks if mark],
            "use": expand_names("--use", self.use, names),
            "ignore": list(beside),
            "formula": self.formula,
            "exact_levels": self.exact_levels,
        }
        return {"missing": self.missing} | {name: v for name, v in options.items() if v}

    def _notations(self, names: Sequence[str]) -> dict[str, str]:
        """How columns are to be read, by name: text, number, date, or a notation of these."""
        notations = dict.fromkeys(expand_names("--text", self.text, names), "text")
        for kind, given in (("number", self.number), ("date", self.date)):
            for text in given or ():
                bare, _, notation = ("", "", "") if text in names else text.rpartition("=")
                orders = ("", "ymd", "dmy", "mdy", "ym", "my", "yq")
                if kind == "date" and notation not in orders:
                    raise UsageError(f"--date {text!r}: expected {', '.join(orders[1:])} after =.")
                for name in expand_names(f"--{kind}", [bare or text], names):
                    if name in notations:
                        raise UsageError(
                            f"--{kind} {name!r}: this column is already read as {notations[name]}."
                        )
                    notations[name] = f"{kind} {notation}".rstrip()
        return notations


def expand_names(option: str, given: Sequence[str] | None, names: Sequence[str]) -> list[str]:
    """Names of columns: as they are, with commas between them, or by wildcards."""
    expanded: list[str] = []
    for text in given or ():
        for part in [text] if text in names else [p.strip() for p in text.split(",")]:
            matches = [part] if part in names else [n for n in names if fnmatchcase(n, part)]
            if not matches:
                raise UsageError(f"{option} {part!r}: no such column; {suggest(part, names)}")
            expanded += [name for name in matches if name not in expanded]
    return expanded


def spells_out(given: Sequence[str] | None, name: str) -> bool:
    """Whether a column is named, rather than matched by a wildcard."""
    return any(name in (text, *(part.strip() for part in text.split(","))) for text in given or ())


def suggest(word: str, known: Iterable[str], most: int = 12) -> str:
    """A question where something looks alike, else the list of what there is.

    >>> suggest("AGE", ["age", "size"]), suggest("zzz", ["age", "size"])
    ("did you mean 'age'?", "there are 'age', 'size'.")
    """
    names = list(known)
    folded = {name.lower(): name for name in names}
    alike = difflib.get_close_matches(word.lower(), folded, 3, 0.5)
    if alike:
        return f"did you mean {' or '.join(repr(folded[name]) for name in alike)}?"
    return f"there are {', '.join(map(repr, names[:most]))}{', ...' * (len(names) > most)}."
