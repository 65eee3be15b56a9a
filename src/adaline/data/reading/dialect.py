"""How a text table is written, told from its first lines: encoding, separator, decimal mark.

What is usual (UTF-8, the separator that the file's name promises) stays wherever it fits the first
lines; anything else is taken only where the usual does not fit, and it is said in `notes`. The
guesses in their order: encoding; comments and a line sep=;; titles; separator; a comment that holds
the names; decimal mark.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice

from adaline.data.reading.options import ReadingOptions
from adaline.errors import DataError

SAMPLE_BYTES, SAMPLE_ROWS = 2**17, 100
MAX_TITLES = 10  # lines of text that may stand above a table
EVEN = 0.9  # of the rows have as many fields as most
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "|", " ": "blanks"}
_QUOTED_OR_BLANKS = re.compile(rb'"[^"\n]*"|[ \t]+')
_EDGES = re.compile(rb"^[ \t]+|[ \t]+(?=\r?$)", re.MULTILINE)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\r?', re.IGNORECASE)  # of spreadsheets
_QUOTED_NAMES = re.compile(r'"[^"\n]*"([ \t]+"[^"\n]*")+[ \t]*\r?\n')
_COMMA_NUMBER = re.compile(r"\s*[-+]?\d+,\d+([eE][-+]?\d+)?\s*")
_POINT_NUMBER = re.compile(r"\s*[-+]?\d*\.\d+([eE][-+]?\d+)?\s*")
_THOUSANDS = re.compile(r"\s*[-+]?[1-9]\d{0,2}(,\d{3})+\s*")
_POINTS = re.compile(r"\s*[-+]?[1-9]\d{0,2}(\.\d{3})+\s*")  # 1.234, perhaps a thousand and more
# Windows-1252 with the five letters that it leaves open as Latin-1 has them, as browsers read it.
_WINDOWS = "".join(
    bytes([k]).decode("cp1252", "ignore") or bytes([k]).decode("latin-1") for k in range(256)
)
Rows = list[list[str]]


@dataclass(frozen=True)
class Dialect:
    """How the bytes of a table are read; the default is the usual."""

    separator: str = ","  # between fields, one letter
    decimal: str = "."
    windows: bool = False  # whether bytes are Windows-1252 and no UTF-8
    aligned: bool = False  # whether any number of blanks separates fields
    skipped: int = 0  # lines before the table: comments, empty lines, a line such as sep=;
    comment: str = ""  # the last of these lines that begins with #: it may hold the names
    notes: tuple[str, ...] = ()  # what is not as usual

    def plain(self, data: bytes) -> bytes:
        """The same lines in UTF-8, with one separator between fields."""
        if self.windows and not data.isascii():
            data = codecs.charmap_decode(data, "strict", _WINDOWS)[0].encode()
        if self.aligned:
            data = _QUOTED_OR_BLANKS.sub(
                lambda match: match[0] if match[0].startswith(b'"') else b"\t",
                _EDGES.sub(b"", data),
            )
        return data


def recognise_dialect(
    beginning: bytes, complete: bool, usual: str, free: bool, options: ReadingOptions
) -> tuple[Dialect, Rows]:
    """The dialect of a file that begins so, and its first rows.

    beginning, complete : the first bytes, and whether they are all.
    usual : the separator that the name of the file promises.
    free : whether blanks may separate text, as they do in .txt and .dat.
    """
    windows = options.encoding == "windows-1252"
    if options.encoding is None:
        windows = is_windows(beginning, complete)
    sample = beginning[:SAMPLE_BYTES].removeprefix(codecs.BOM_UTF8)
    if not complete or len(beginning) > SAMPLE_BYTES:
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    lines = Dialect(windows=windows).plain(sample).decode(errors="replace").split("\n")
    if options.skip_rows and options.skip_rows >= len(lines) - 1:
        raise DataError(f"skip_rows={options.skip_rows}: no table begins after so many lines.")
    start = Dialect(usual, windows=windows, skipped=options.skip_rows or 0)
    dialect, last_comment = _without_preamble(start, lines)

    def separate(at: int) -> tuple[Dialect, Rows]:
        """The dialect with the separator of the lines from here on, and their rows."""
        text = "\n".join(lines[at:])
        if options.separator is None:
            separated = _separated(replace(dialect, skipped=at), text, free)
        else:
            is_blank = options.separator == " "
            separator = "\t" if is_blank else options.separator
            separated = replace(dialect, separator=separator, aligned=is_blank, skipped=at)
        return separated, rows_of(text, separated)

    at = dialect.skipped
    if options.header is None and options.skip_rows is None and not dialect.comment:
        at = _below_titles(at, lines, separate)
    dialect, rows = separate(at)
    if dialect.comment and _names_columns(dialect, rows):
        dialect = replace(dialect, skipped=last_comment, comment="")
        rows = rows_of("\n".join(lines[last_comment:]), dialect)
    decimal = options.decimal or _decimal(dialect, rows[1:])
    notes = []
    if dialect.skipped:
        count = "1 line" if dialect.skipped == 1 else f"{dialect.skipped} lines"
        notes.append(f"the table begins after {count}")
    separator = " " if dialect.aligned else dialect.separator
    if options.separator is None and separator != usual:
        notes.append(f"separated by {SEPARATORS.get(separator, repr(separator))}")
    if options.decimal is None and decimal == ",":
        notes.append("a comma in decimal numbers")
    if options.encoding is None and windows:
        notes.append("letters of Windows-1252")
    return replace(dialect, decimal=decimal, notes=tuple(notes)), rows


def is_windows(beginning: bytes, complete: bool) -> bool:
    """Whether bytes are rather Windows-1252 than UTF-8: no UTF-8, and text all the same."""
    if not complete:  # the end may cut a letter
        beginning = beginning[: beginning.rfind(b"\n") + 1] or beginning[:-4]
    try:
        beginning.decode()
    except UnicodeDecodeError:
        text = beginning.decode(errors="replace")
        wrong = text.count("�")
        right = sum(letter > "\x7f" for letter in text) - wrong
        # Mostly UTF-8 is damaged UTF-8, and control characters are no text: both are refused.
        return right < wrong and _CONTROL.search(beginning) is None
    return False


def rows_of(text: str, dialect: Dialect) -> Rows:
    """The fields of the first rows that are not empty, as the dialect has them."""
    if dialect.aligned:
        text = replace(dialect, windows=False).plain(text.encode()).decode()
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=dialect.separator)
        rows = list(islice(reader, SAMPLE_ROWS))
    except csv.Error:
        return []
    return [row for row in rows if len(row) > 1 or (row and row[0].strip())]


def _without_preamble(dialect: Dialect, lines: list[str]) -> tuple[Dialect, int]:
    """How many lines are before the table, and where the last comment is; a line sep=; decides."""
    k, at, comment = dialect.skipped, 0, ""
    while k < len(lines) - 1:
        match = _SEPARATOR_LINE.fullmatch(lines[k]) if k == 0 else None
        if match is not None:
            dialect = replace(dialect, separator=match[1])
        elif lines[k].startswith("#"):
            comment, at = lines[k].rstrip("\r"), k
        elif lines[k].strip():
            break
        k += 1
    return replace(dialect, skipped=k, comment=comment), at


def _below_titles(
    start: int, lines: list[str], separate: Callable[[int], tuple[Dialect, Rows]]
) -> int:
    """Where the names are: below lines with one field, where the rows below have more."""
    if _is_table(separate(start)[1]):
        return start
    full = [k for k in range(start, len(lines)) if lines[k].strip()][: MAX_TITLES + 1]
    for k, at in enumerate(full):
        dialect, rows = separate(at)
        if _is_table(rows) and not any(map(_is_number, _known(rows[0]))):
            titles = rows_of("\n".join(lines[j] for j in full[:k]), dialect)
            return at if all(_is_title(row, len(rows[0])) for row in titles) else start
    return start


def _is_table(rows: Rows) -> bool:
    """Whether rows of several fields begin here, the first with a name for most of them."""
    if len(rows) < 2:
        return True  # too little to tell
    ((most, count),) = Counter(map(len, rows[1:])).most_common(1)
    if most == 1 and count == len(rows) - 1 and len(rows[0]) == 1:
        return True  # a single column
    even = most > 1 and count >= EVEN * (len(rows) - 1) and _has_names_for(most, rows[0])
    return even and len(_known(rows[0])) > 1


def _is_title(row: list[str], width: int) -> bool:
    """One text at the left; of two columns, the second may have no name, and R names no first."""
    alone = len(row) == 1 or width > 2
    return alone and len(_known(row)) == 1 and bool(row[0].strip()) and not _is_number(row[0])


def _known(row: list[str]) -> list[str]:
    return [field for field in row if field.strip()]


def _names_columns(dialect: Dialect, rows: Rows) -> bool:
    """Whether a first line with # is the names, "#id,size", and no comment above them.

    It has as many fields as the rows, and the line after it is a row: no text above numbers.
    """
    names = rows_of(dialect.comment, dialect)
    if dialect.aligned or not rows or not names or not len(names[0]) == len(rows[0]) > 1:
        return False
    below = [row for row in rows[1:] if len(row) == len(rows[0])]
    return not any(
        not _is_number(first) and all(_is_number(row[j]) for row in below)
        for j, first in enumerate(rows[0])
        if below
    )


def _separated(dialect: Dialect, text: str, free: bool) -> Dialect:
    """The separator that makes the rows even."""
    best = _evenness(dialect, text)
    if best == 1.0:
        semicolons = replace(dialect, separator=";")
        return semicolons if _is_of_comma_numbers(text, dialect, semicolons) else dialect
    for separator in (",", ";", "\t", "|"):
        other = replace(dialect, separator=separator)
        if (score := _evenness(other, text)) > best:
            dialect, best = other, score
    if best > 0.0:
        return dialect
    free = free or (dialect.separator == "\t" and "\t" not in text)  # .tsv in name only
    aligned = replace(dialect, separator="\t", aligned=True)
    if _evenness(aligned, text) < EVEN:
        return dialect
    free = free or bool(_QUOTED_NAMES.match(text)) or _all_numbers(rows_of(text, aligned)[1:])
    return aligned if free else dialect


def _is_of_comma_numbers(text: str, commas: Dialect, semicolons: Dialect) -> bool:
    """Whether "1;2,5" is two numbers in every row, and no names are there to tell."""
    if commas.separator != "," or ";" not in text.partition("\n")[0]:
        return False
    rows = [[f.replace(",", ".", 1) for f in row] for row in rows_of(text, semicolons)]
    return _evenness(semicolons, text) == 1.0 and _all_numbers(rows)


def _evenness(dialect: Dialect, text: str) -> float:
    """The share of rows with as many fields as most, if the first row fits; 0 for one column."""
    rows = rows_of(text, dialect)
    if len(rows) < 2:
        return float(bool(rows) and len(rows[0]) > 1)
    ((most, count),) = Counter(map(len, rows[1:])).most_common(1)
    if most < 2 or not _has_names_for(most, rows[0]):
        return 0.0
    # A first row with one name less (R) fits less well than one with all names.
    return count / (len(rows) - 1) * (1.0 if len(rows[0]) >= most else 0.9)


def _has_names_for(most: int, first: list[str]) -> bool:
    """Whether a first row has a name for each field, or one less; empty ones may follow."""
    return most - 1 <= len(first) and not _known(first[most:])


def _all_numbers(rows: Rows) -> bool:
    return bool(rows) and all(_is_number(field) for row in rows for field in row)


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return field.strip() in ("", "NA")
    return "_" not in field


def _decimal(dialect: Dialect, rows: Rows) -> str:
    """A comma where numbers have one, points if any are thousands, and commas are no thousands."""
    fields = [field for row in rows for field in row]
    commas = [field for field in fields if _COMMA_NUMBER.fullmatch(field)]
    points = [field for field in fields if _POINT_NUMBER.fullmatch(field)]
    if dialect.separator == "," or not commas or not all(map(_POINTS.fullmatch, points)):
        return "."
    thousands = dialect.separator != ";" and all(map(_THOUSANDS.fullmatch, commas))
    return "." if thousands else ","
