"""What a user may say of the columns of a table, and what is said about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from adaline.cli.printing.errors import Usage
from adaline.cli.printing.printer import Out
from adaline.cli.printing.words import did_you_mean
from adaline.evaluation.words import name, number

if TYPE_CHECKING:
    from adaline.data import Look, Source

_GROUP = Group("The columns", sort_key=40)
_ORDERS = ("ymd", "dmy", "mdy", "ym", "my", "yq")
_SHOWN = 8  # columns that a sentence names

_List = list[str] | None


@Parameter(name="*", group=_GROUP)
@dataclass(frozen=True)
class Columns:
    """Options of every command that learns from a table; without them the columns tell.

    Each may be given more than once, and takes names with commas between them; * and ? stand for
    any letters.
    """

    only: Annotated[
        _List, Parameter(negative="", help="The columns to learn from, exactly these: --only a,b*.")
    ] = None
    ignore: Annotated[
        _List,
        Parameter(negative="", help="Columns to leave out; may be given more than once."),
    ] = None
    use: Annotated[
        _List,
        Parameter(negative="", help="Columns to use, though they look like numbers of rows."),
    ] = None
    text: Annotated[
        _List, Parameter(negative="", help="Columns to take as text, such as codes of digits.")
    ] = None
    number: Annotated[
        _List,
        Parameter(
            negative="",
            help="Columns to read as numbers; --number 'a=.,' has a decimal comma.",
        ),
    ] = None
    date: Annotated[
        _List, Parameter(negative="", help="Columns to read as dates; --date sold=dmy: day first.")
    ] = None
    na: Annotated[
        _List,
        Parameter(
            negative="",
            allow_leading_hyphen=True,
            help="What stands for a missing value beside the usual marks, such as -999.",
        ),
    ] = None
    missing: Annotated[
        Literal["auto", "refuse", "drop", "mean"],
        Parameter(
            help="What to do with missing values: auto fills in means, marks gaps where they are "
            "many and makes them a level of text; refuse; drop their rows; or fill in the mean."
        ),
    ] = "auto"

    formula: Annotated[
        str | None,
        Parameter(
            help='Which columns to use, and what to make of them: "log(size) + rooms*garden". It '
            "knows + - : * ^2 log sqrt poly(x, 3), and . for all columns."
        ),
    ] = None

    exact_levels: Annotated[
        bool,
        Parameter(
            negative="",
            help="Keep levels apart that differ only in case or blanks, as West and ' west' do.",
        ),
    ] = False

    @property
    def marks(self) -> list[str]:
        """Texts that stand for missing values."""
        given = [part.strip() for text in self.na or () for part in text.split(",")]
        return [mark for mark in given if mark]

    def read(self, names: Sequence[str]) -> dict[str, str]:
        """How columns are to be read, by name."""
        found = dict.fromkeys(expanded("--text", self.text, names), "text")
        for text in self.number or ():
            bare, _, how = text.rpartition("=")
            noted = bool(bare) and text not in names
            for column in expanded("--number", [bare if noted else text], names):
                _once(found, column, "--number")
                found[column] = f"number {how}" if noted else "number"
        for text in self.date or ():
            bare, _, order = text.rpartition("=")
            dated = bool(bare) and text not in names
            if dated and order not in _ORDERS:
                raise Usage(f"--date {text!r}: expected ymd, dmy, mdy, ym, my or yq after the '='.")
            for column in expanded("--date", [bare if dated else text], names):
                _once(found, column, "--date")
                found[column] = f"date {order}" if dated else "date"
        return found

    def options(
        self, names: Sequence[str], target: str | None, beside: Sequence[str]
    ) -> dict[str, Any]:
        """What was said, as `adaline.data.look` and `Encoding.learn` take it."""
        only = [c for c in expanded("--only", self.only, names) if c != target]
        said = {
            "columns": [column for column in only if column not in beside],
            "read": self.read(names),
            "na": self.marks,
            "use": expanded("--use", self.use, names),
            "formula": self.formula,
            "exact_levels": self.exact_levels,
        }
        return {"missing": self.missing} | {key: value for key, value in said.items() if value}


def expanded(option: str, given: Sequence[str] | None, names: Sequence[str]) -> list[str]:
    """Names of columns: as they are, with commas between them, or by wildcards."""
    found: list[str] = []
    for text in given or ():
        for part in [text] if text in names else [p.strip() for p in text.split(",")]:
            alike = [part] if part in names else [n for n in names if fnmatchcase(n, part)]
            if not alike:
                raise Usage(
                    f"{option} {part!r}: there is no such column; {did_you_mean(part, names)}"
                )
            found += [column for column in alike if column not in found]
    return found


def ignored(given: Sequence[str], names: Sequence[str], keep: Sequence[str]) -> list[str]:
    """Columns to leave out; one that is needed may be matched by a wildcard, but not named."""
    found = expanded("--ignore", given, names)
    spelled = {part.strip() for text in given for part in (text, *text.split(","))}
    for column in keep:
        if column in found and column in spelled:
            raise Usage(f"--ignore {column!r}: this column is needed.")
    return [column for column in found if column not in keep]


def _once(found: dict[str, str], column: str, option: str) -> None:
    if column in found:
        raise Usage(f"{option} {column!r}: this column is said to be {found[column]} already.")


def looked_at(
    source: Source,
    target: str | None,
    columns: Columns,
    *,
    beside: Sequence[str] = (),
    jobs: Any = 1,
) -> Look:
    """What the columns are, and the encoding to learn with; levels not seen before are zeros."""
    from adaline.data import look  # with all that reads: not for a help text

    options = columns.options(source.names, target, beside)
    return look(source, target, unknown="zeros", ignore=list(beside), jobs=jobs, **options)


def tell(seen: Look, out: Out) -> None:
    """Say in a line each what was recognised, what was filled in, merged and left out."""
    for line in lines(seen):
        out.say(line)


def lines(seen: Look) -> list[str]:
    """Sentences about the columns, none where they are plain numbers and text."""
    said = []
    found = [f"{name(column)!r} as {_told(seen, column, how)}" for column, how in seen.recognised]
    if found:
        said.append(f"Recognised: {_some(found)} (--text NAME takes a column as text).")
    gaps = _gaps(seen)
    if gaps:
        said.append(f"Gaps filled in: {_some(gaps)} (--missing drop leaves such rows out).")
    merged = [f"{number(count)} of {name(column)!r}" for column, count in seen.merged]
    if merged:
        said.append(f"Rare levels taken together as (other): {_some(merged)}.")
    gone = [f"{name(column)!r} {name(why)}" for column, why in seen.encoding.left_out]
    if gone:
        said.append(f"Left out: {_some(gone)} (--use NAME takes it in).")
    return said


def doubts(seen: Look) -> list[str]:
    """What was guessed or looks wrong, with what to do about it."""
    return [f"{text}{_what_to_do(text)}" for text in seen.warnings]


def _what_to_do(doubt: str) -> str:
    if "says nearly the same" in doubt:
        return " See --ignore."
    if "were read as thousands" in doubt:
        return " See --text."
    says_itself = ("--text", "--exact-levels", "so delete it")
    return "" if any(map(doubt.__contains__, says_itself)) else " See --na, --number and --date."


def facts(seen: Look) -> dict[str, Any]:
    """The same for machines."""
    return {
        "recognised": dict(seen.recognised),
        "left_out": dict(seen.encoding.left_out),
        "gaps": {column.name: column.gaps for column in _used(seen) if column.gaps},
        "merged": dict(seen.merged),
    }


def _told(seen: Look, column: str, how: str) -> str:
    target = seen.encoding.target
    dated = target is not None and target.name == column and target.is_date
    return f"{how}: a number of days since 1970-01-01" if dated else how


def _used(seen: Look) -> list[Any]:
    inputs = {entry.name for entry in seen.encoding.inputs}
    return [column for column in seen.columns if column.name in inputs]


def _gaps(seen: Look) -> list[str]:
    if seen.encoding.missing not in ("auto", "mean"):
        return []
    marked = {entry.name for entry in seen.encoding.inputs if entry.gaps}
    text = {entry.name for entry in seen.encoding.inputs if entry.levels is not None}
    return [
        f"{number(column.gaps)} in {name(column.name)!r}"
        + (" (marked by a column of their own)" if column.name in marked else "")
        + (" (a level of their own)" if column.name in text else "")
        for column in _used(seen)
        if column.gaps
    ]


def gaps(seen: Look) -> dict[str, Any]:
    """Missing values of each column that is used: how many, and what was done about them."""
    how = seen.encoding.missing
    marked = {entry.name for entry in seen.encoding.inputs if entry.gaps}
    text = {entry.name for entry in seen.encoding.inputs if entry.levels is not None}
    found = {}
    for column in _used(seen):
        if column.gaps:
            done = "mean filled in" + (", and marked" if column.name in marked else "")
            done = "a level of their own" if column.name in text else done
            found[column.name] = (column.gaps, "rows left out" if how == "drop" else done)
    return found


def _some(parts: Sequence[str]) -> str:
    more = f"; and {len(parts) - _SHOWN} more" if len(parts) > _SHOWN else ""
    return "; ".join(parts[:_SHOWN]) + more


def count_unknown(found: dict[str, int], block: dict[str, int]) -> None:
    """Add what a block has of values that the model does not know."""
    for column, count in block.items():
        found[column] = found.get(column, 0) + count


def strays_line(found: Mapping[str, Sequence[str]]) -> str:
    """Say which texts among numbers were taken as missing."""
    told = [f"{name(texts[0])!r} in {name(column)!r}" for column, texts in found.items()]
    return f"No numbers, and taken as missing: {_some(told)}; --unknown refuse stops at them."


def unknown_line(found: dict[str, int]) -> str:
    """Say how many values the model has never seen, and what was done with them."""
    told = [f"{number(count)} in {name(column)!r}" for column, count in found.items()]
    return (
        f"Values that the model has never seen: {_some(told)}. They count as none of the levels "
        "that were learned; --unknown refuse stops at them."
    )
