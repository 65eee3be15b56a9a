"""How a source is read, as its caller states it: what `blocks`, its files and the command share."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from adaline import parameters
from adaline.data.reading.checks import check_names, check_text
from adaline.parameters import FLAG, NONE, Expected, count, words

_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|"}
_WORDS |= {"blank": " ", "blanks": " ", "space": " "}
# Latin-1 is Windows-1252 with control characters for 27 letters, which text has not.
_ENCODINGS = {"cp1252": "windows-1252", "iso8859-1": "windows-1252", "utf-8-sig": "utf-8"}
_ENCODINGS |= {"ascii": "utf-8"}
_TABLE = {
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
    """The parameters of `blocks`, in one spelling; None where the first lines are to tell."""

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
        check_names("columns", self.columns)
        parameters.check(_TABLE, self)
        columns = None if self.columns is None else tuple(self.columns)
        for name, value in (
            ("columns", columns),
            ("separator", None if self.separator is None else _separator(self.separator)),
            ("encoding", None if self.encoding is None else _encoding(self.encoding)),
        ):
            object.__setattr__(self, name, value)  # in one spelling, and hashable
        if self.decimal == self.separator == ",":
            raise ValueError("decimal and separator are both ','; a file can have one of the two.")

    def refuse_all_but(self, what: str, *options: str) -> None:
        """Refuse options that are not about this kind of source."""
        for name, kind in _OF.items():
            value = getattr(self, name)
            if value is not None and name not in options:
                raise ValueError(f"{name}={value!r} is of {kind}; leave it out for {what}.")


def _separator(given: Any) -> str:
    check_text("separator", given, "one letter, such as ';'")
    separator: str = _WORDS.get(given.lower(), given)
    if len(separator) != 1 or not separator.isascii() or separator in "\"\r\n\0'":
        raise ValueError(
            f"separator is {separator!r}; expected one letter, such as ',', ';', '|', "
            "'tab', or ' ' for any number of blanks."
        )
    return separator


def _encoding(name: Any) -> str:
    """The encoding by the name that we use for it."""
    check_text("encoding", name, "the name of an encoding, such as 'windows-1252'")
    try:
        info = codecs.lookup(name)
    except (LookupError, ValueError):
        info = None
    if info is None or not getattr(info, "_is_text_encoding", True):
        raise ValueError(
            f"encoding is {name[:40]!r}; expected the name of an encoding, such as 'utf-8', "
            "'windows-1252', 'latin-1' or 'utf-16'."
        )
    return _ENCODINGS.get(info.name, info.name)
