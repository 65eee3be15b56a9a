"""Everything that is printed: sentences and tables for people, or one JSON object for machines.

Text goes out as it is: no markup is read in it, and what a terminal would obey has been made
visible by `plain`. Colour is for terminals only, and NO_COLOR is honoured.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from adaline.evaluation.words import plain

if TYPE_CHECKING:
    from adaline.evaluation.coefficients import Coefficients

_COEFFICIENTS = 40  # rows of a table of coefficients on a terminal


def _whole(kind: Any, tokens: Any) -> int:
    """A whole number as it is written: 2.5 is none, where int() of cyclopts would round."""
    text = tokens[0].value if tokens else ""
    if not re.fullmatch(r"[-+]?\d{1,4000}", text.strip()):
        raise ValueError(f"{text[:40]!r} is not a whole number (int)")
    return int(text)


Whole = Annotated[int, Parameter(converter=_whole)]


_SEED = "Random seed; it decides, for example, which rows are held out."
_DEBUG = "Show a traceback where something goes wrong."


@Parameter(name="*")
@dataclass(frozen=True)
class Common:
    """Options of every command; the help shows those that it has a use for."""

    json: Annotated[
        bool,
        Parameter(negative="", show_default=False, help="One JSON object on stdout, for machines."),
    ] = False
    quiet: Annotated[
        bool,
        Parameter(
            name=["--quiet", "-q"],
            negative="",
            show_default=False,
            help="The outcome only: no progress, tables or advice.",
        ),
    ] = False
    seed: Annotated[Whole, Parameter(show=False, help=_SEED)] = 0
    debug: Annotated[bool, Parameter(show=False, negative="", show_default=False, help=_DEBUG)] = (
        False
    )


@Parameter(name="*")
@dataclass(frozen=True)
class Working(Common):
    """The same for commands that read rows, where more can go wrong."""

    debug: Annotated[bool, Parameter(negative="", show_default=False, help=_DEBUG)] = False


@Parameter(name="*")
@dataclass(frozen=True)
class Drawing(Working):
    """The same for commands that draw random numbers."""

    seed: Annotated[Whole, Parameter(help=_SEED)] = 0


# A file, or "-" for stdin, which would otherwise be taken for an option.
Data = Annotated[str, Parameter(allow_leading_hyphen=True)]


class Out:
    """The printer of one run."""

    def __init__(self, common: Common | None = None) -> None:
        self.common = common or Common()
        self._console: Any = None

    @property
    def for_people(self) -> bool:
        """Whether people read the output: not with --json."""
        return not self.common.json

    @property
    def at_length(self) -> bool:
        """Whether tables and advice are wanted, too."""
        return self.for_people and not self.common.quiet

    def verdict(self, text: str) -> None:
        """The outcome; said even with --quiet."""
        if self.for_people:
            self._print(text, "bold")

    def say(self, text: str = "", style: str = "") -> None:
        """A sentence beside the outcome."""
        if self.at_length:
            self._print(text, style)

    def warn(self, text: str) -> None:
        """A doubt with advice; not with --quiet, and in its place with --json."""
        if self.at_length:
            self._print(f"Warning: {text}", "yellow")

    def table(
        self, head: Sequence[str], rows: Iterable[Sequence[Any]], *, left: bool = False
    ) -> None:
        """Columns side by side, the first to the left and the others to the right, or all left."""
        if self.at_length:
            for k, line in enumerate(aligned([head, *rows], left)):
                self._print(line, "dim" if k == 0 else "", wrap=False)

    def coefficients(self, found: Coefficients, corner: str = "") -> None:
        """A table of weights, the largest where they are many, with notes on how to read it."""
        if not found.heads:
            return
        cells, notes = found.cells(_COEFFICIENTS)
        self.say()
        self.table([corner, *found.titles], cells)
        notes = [f"{note} --json has them all." for note in notes]
        for text in (*notes, *found.notes):
            self.say(text, "dim")

    def facts(self, rows: Iterable[tuple[str, str]]) -> None:
        """Names and what belongs to them, both to the left."""
        if self.at_length:
            found = [(plain(key), plain(value, most=1000)) for key, value in rows]
            wide = max((len(key) for key, _ in found), default=0)
            for key, value in found:
                self._print(f"{key.ljust(wide)}  {value}", "")

    def json(self, found: Mapping[str, Any]) -> None:
        """One object, strict JSON; nothing where people read."""
        if self.common.json:
            print(json.dumps(strict(found), allow_nan=False, ensure_ascii=True))

    def _print(self, text: str, style: str, wrap: bool = True) -> None:
        lines = plain_lines(text)
        if not sys.stdout.isatty():
            sys.stdout.write("\n".join(lines) + "\n")
            return
        from rich.text import Text

        for line in lines:
            self._rich().print(Text(line, style=style), soft_wrap=not wrap)

    def _rich(self) -> Any:
        if self._console is None:
            from rich.console import Console

            self._console = Console(markup=False, highlight=False, emoji=False)
        return self._console


def plain_lines(text: str) -> list[str]:
    """Lines that a terminal takes as text; breaks between them are ours."""
    return [plain(line, most=10_000) for line in text.split("\n")]


def aligned(rows: Sequence[Sequence[Any]], left: bool = False) -> list[str]:
    """Rows of cells as lines.

    >>> aligned([["", "low"], ["x", 1]])
    ['   low', 'x    1']
    """
    cells = [[plain(cell, most=60) for cell in row] for row in rows]
    widths = [max(len(row[j]) for row in cells) for j in range(len(cells[0]))]
    return [
        "  ".join(
            cell.ljust(width) if j == 0 or left else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def strict(value: Any) -> Any:
    """A value as strict JSON has it: no NaN, no infinity, no numpy."""
    if hasattr(value, "tolist"):  # numpy's arrays and numbers, without loading numpy
        return strict(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        return {str(k): strict(v) for k, v in value.items()}
    if isinstance(value, Sequence | set | frozenset):
        return [strict(v) for v in value]
    return str(value)
