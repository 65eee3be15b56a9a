"""What a user may say of how a file is written, where its first lines do not tell it right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

from adaline.cli.printing.printer import Out
from adaline.data import Source

_GROUP = Group("Reading the file", sort_key=50)


@Parameter(name="*", group=_GROUP)
@dataclass(frozen=True)
class Reading:
    """Options of every command that reads a table; without them the first lines tell."""

    separator: Annotated[
        str | None,
        Parameter(
            help="What is between fields: comma, semicolon, tab, pipe, blanks, or a letter.",
            allow_leading_hyphen=True,
        ),
    ] = None
    decimal: Annotated[
        Literal[".", ","] | None, Parameter(help="The decimal mark of numbers, a point or a comma.")
    ] = None
    encoding: Annotated[
        str | None, Parameter(help="Of the letters: utf-8, windows-1252, utf-16, ...")
    ] = None
    header: Annotated[
        Literal["yes", "no"] | None,
        Parameter(help="Whether the first line has the names of the columns."),
    ] = None
    sheet: Annotated[str | None, Parameter(help="Of an Excel file: which sheet; the first.")] = None
    skip_rows: Annotated[
        int | None,
        Parameter(
            help="Lines to skip at the top of the file; the next line has the names of the columns."
        ),
    ] = None
    keep_total: Annotated[
        bool, Parameter(negative="", help="Keep a last row that is the total of all rows above.")
    ] = False
    where: Annotated[
        str | None,
        Parameter(
            help="Rows to read, by a column, == != < <= > or >=, and a value: 'region != north'."
        ),
    ] = None

    def options(self) -> dict[str, Any]:
        """What was said, as `blocks` takes it."""
        header = None if self.header is None else self.header == "yes"
        said = vars(self) | {"header": header, "keep_total": self.keep_total or None}
        return {option: value for option, value in said.items() if value is not None}


def tell_notes(source: Source, out: Out) -> None:
    """Say in a line how a file is written, where that is not as usual."""
    if source.notes:
        out.say(f"Noticed: {'; '.join(source.notes)}.")
