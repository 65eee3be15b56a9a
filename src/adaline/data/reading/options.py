"""`ReadingOptions`: how a source is read, as its caller states it, for all that open files."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from adaline import parameters
from adaline.parameters import FLAG, NAMES, NONE, Expected, count, text, words

_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|", "blanks": " "}
# Latin-1 is Windows-1252 with control characters for 27 letters, which text has not.
_ENCODINGS = {"cp1252": "windows-1252", "iso8859-1": "windows-1252"}
_ENCODINGS |= {"utf-8-sig": "utf-8", "ascii": "utf-8"}
_TABLE = {
    "columns": NONE | NAMES,
    "rows": NONE | count(1),
    "decimal": NONE | words(".", ","),
    "header": NONE | FLAG,
    "sheet": NONE | Expected("the name of a sheet", lambda value: isinstance(value, str)),
    "skip_rows": NONE | count(0),
    "keep_total": NONE | FLAG,
    "n_features": NONE | count(1),
}
_OF = {  # what an option is about, where it is not about all formats
    **dict.fromkeys(("separator", "decimal", "encoding"), "text tables such as CSV"),
    **dict.fromkeys(("header", "skip_rows"), "text tables and sheets"),
    **{"sheet": "Excel files", "n_features": "LIBSVM files"},
}


@dataclass(frozen=True)
class ReadingOptions:
    """How a source is read: for `blocks`, which opens it; by default the first lines decide.

    Parameters
    ----------
    columns : sequence of str, optional
        Which columns to read; all by default.
    rows : int, optional
        Rows of a block (about so many for text). By default some megabytes, and in Parquet and
        Arrow files the row groups that are there.
    format : str, optional
        ".csv", ".parquet", ... where a file's name does not tell.
    separator, decimal, encoding : str, optional
        Of text tables: the letter between fields (" " for any number of blanks), "." or "," in
        numbers, and an encoding such as "windows-1252".
    header : bool, optional
        Of text tables and sheets: whether the first line has the names of the columns; without
        them they are x0, x1, ...
    sheet : str, optional
        Name of the sheet to read from an Excel file; the first by default.
    skip_rows : int, optional
        Of text tables and sheets: lines to skip at the top; the next one has the column names.
    keep_total : bool, optional
        Of one text table or sheet: whether to keep a last row of totals, which is left out by
        default, and told in `notes`.
    n_features : int, optional
        Of LIBSVM files: how many features there are, counted from 1. Without it a pass over all
        files finds the largest index, and whether they count from 0.
    """

    columns: Sequence[str] | None = None
    rows: int | None = None
    format: str | None = None
    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    header: bool | None = None
    sheet: str | None = None
    skip_rows: int | None = None
    keep_total: bool | None = None
    n_features: int | None = None
    scratch: Any = field(default=None, compare=False)  # for readers that parse when they open

    def __post_init__(self) -> None:
        parameters.check(_TABLE, self)
        # In one spelling, and hashable.
        if self.columns is not None:
            object.__setattr__(self, "columns", tuple(self.columns))
        if self.separator is not None:
            object.__setattr__(self, "separator", _separator(self.separator))
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _encoding(self.encoding))
        if self.decimal == self.separator == ",":
            raise ValueError("decimal and separator are both ','; a file can have one of the two.")

    def refuse_all_but(self, what: str, *options: str) -> None:
        """Refuse options that are not about this kind of source."""
        for name, kind in _OF.items():
            value = getattr(self, name)
            if value is not None and name not in options:
                raise ValueError(f"{name}={value!r} is of {kind}; leave it out for {what}.")


def _separator(given: Any) -> str:
    text("one letter, such as ';'")("separator", given)
    separator: str = _WORDS.get(given.lower(), given)
    if len(separator) != 1 or not separator.isascii() or separator in "\"\r\n\0'":
        raise ValueError(
            f"separator is {separator!r}; expected one letter, such as ',', ';', '|', "
            "'tab', or ' ' for any number of blanks."
        )
    return separator


def _encoding(name: Any) -> str:
    """The encoding by the name that we use for it."""
    text("the name of an encoding, such as 'windows-1252'")("encoding", name)
    try:
        "".encode(name)  # a codec of bytes, such as hex, is no encoding of text
        return _ENCODINGS.get(codecs.lookup(name).name, codecs.lookup(name).name)
    except (LookupError, ValueError):
        raise ValueError(
            f"encoding is {name[:40]!r}; expected the name of an encoding, such as 'utf-8', "
            "'windows-1252', 'latin-1' or 'utf-16'."
        ) from None
