"""What a caller states about how a file is written, checked."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, replace

from adaline.data.reading.checks import check_choice, check_text, check_truth, check_whole

_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|"}
_WORDS |= {"blank": " ", "blanks": " ", "space": " "}


@dataclass(frozen=True)
class FileOptions:
    """How a file is written, as the caller states it; None where the first lines are to tell."""

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    header: bool | None = None
    sheet: str | None = None
    skip_rows: int | None = None
    keep_total: bool | None = None


def checked(options: FileOptions) -> FileOptions:
    """The options in one spelling; a wrong one raises an error that says what is expected."""
    separator, encoding = options.separator, options.encoding
    if separator is not None:
        check_text("separator", separator, "one letter, such as ';'")
        separator = _WORDS.get(separator.lower(), separator)
        if len(separator) != 1 or not separator.isascii() or separator in "\"\r\n\0'":
            raise ValueError(
                f"separator is {separator!r}; expected one letter, such as ',', ';', '|', "
                "'tab', or ' ' for any number of blanks."
            )
    if options.decimal is not None:
        check_choice("decimal", options.decimal, [".", ","])
        if options.decimal == "," and separator == ",":
            raise ValueError("decimal and separator are both ','; a file can have one of the two.")
    if options.header is not None:
        check_truth("header", options.header)
    if options.skip_rows is not None:
        check_whole("skip_rows", options.skip_rows, 0)
    if options.keep_total is not None:
        check_truth("keep_total", options.keep_total)
    if options.sheet is not None:
        check_text("sheet", options.sheet, "the name of a sheet")
    if encoding is not None:
        check_text("encoding", encoding, "the name of an encoding, such as 'windows-1252'")
        encoding = _encoding(encoding)
    return replace(options, separator=separator, encoding=encoding)


def _encoding(name: str) -> str:
    """The encoding by the name that we use for it."""
    try:
        info = codecs.lookup(name)
    except (LookupError, ValueError):
        info = None
    if info is None or not getattr(info, "_is_text_encoding", True):
        raise ValueError(
            f"encoding is {name[:40]!r}; expected the name of an encoding, such as 'utf-8', "
            "'windows-1252', 'latin-1' or 'utf-16'."
        )
    # Latin-1 is Windows-1252 with control characters for 27 letters, which text has not.
    usual = {"cp1252": "windows-1252", "iso8859-1": "windows-1252", "utf-8-sig": "utf-8"}
    usual["ascii"] = "utf-8"
    return usual.get(info.name, info.name)
