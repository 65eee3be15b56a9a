"""How a text table is written, told from its first lines: encoding, separator, decimal mark.

What is usual (UTF-8, the separator that the file's name promises) stays wherever it fits the first
lines; anything else is taken only where the usual does not fit, and it is said in `notes`.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice

from adaline.data.reading.options import ReadingOptions
from adaline.errors import DataError

_SAMPLE, _ROWS = 2**17, 100  # bytes and rows that are looked at
_TITLES = 10  # lines of text that may stand above a table
_EVEN = 0.9  # of the rows have as many fields as most, where titles are looked for
_SEPARATORS = (",", ";", "\t", "|")
NAMED = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "|", " ": "blanks"}
_BLANKS = re.compile(rb"[ \t]+")
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


@dataclass(frozen=True)
class Dialect:
    """How the bytes of a table are read; the default is the usual.

    Attributes
    ----------
    separator : str
        Between fields, one letter.
    decimal : str
        "." or ",".
    windows : bool
        Whether bytes are Windows-1252 and no UTF-8.
    aligned : bool
        Whether any number of blanks separates fields.
    skipped : int
        Lines before the table: comments, empty lines, a line such as sep=;
    comment : str
        The last of these lines that begins with #: it may hold the names.
    notes : tuple of str
        What is not as usual.
    """

    separator: str = ","
    decimal: str = "."
    windows: bool = False
    aligned: bool = False
    skipped: int = 0
    comment: str = ""
    notes: tuple[str, ...] = ()

    def plain(self, data: bytes) -> bytes:
        """The same lines in UTF-8, with one separator between fields."""
        if self.windows and not data.isascii():
            data = codecs.charmap_decode(data, "strict", _WINDOWS)[0].encode()
        if self.aligned:
            data = _EDGES.sub(b"", data)
            if data.find(b'"') < 0:
                return _BLANKS.sub(b"\t", data)
            data = _QUOTED_OR_BLANKS.sub(_tab, data)
        return data


def recognised(
    taste: bytes, whole: bool, usual: str, free: bool, options: ReadingOptions
) -> tuple[Dialect, list[list[str]]]:
    """The dialect of a file that begins so, and its first rows.

    taste : the first bytes; whole : whether they are all; usual : the separator that the name of
    the file promises; free : whether blanks may separate text, as they do in .txt and .dat.
    """
    windows = (
        is_windows(taste, whole) if options.encoding is None else options.encoding == "windows-1252"
    )
    found = Dialect(usual, windows=windows)
    lines = found.plain(_sample(taste, whole)).decode(errors="replace").split("\n")
    if options.skip_rows and options.skip_rows >= len(lines) - 1:
        raise DataError(f"skip_rows={options.skip_rows}: no table begins after so many lines.")
    found, at = _without_preamble(replace(found, skipped=options.skip_rows or 0), lines)
    if options.header is None and options.skip_rows is None and not found.comment:
        found = _without_titles(found, lines, free, options)
    text = "\n".join(lines[found.skipped :])
    found = _separated_as(found, text, free, options)
    rows = rows_of(text, found)
    if found.comment and _names_columns(found, rows):
        found = replace(found, skipped=at, comment="")
    decimal = options.decimal or _decimal(found, rows[1:])
    notes = _notes(found, decimal, usual, options)
    return replace(found, decimal=decimal, notes=notes), rows_of(
        "\n".join(lines[found.skipped :]), found
    )


def _sample(taste: bytes, whole: bool) -> bytes:
    """Whole lines of the first bytes, without a byte order mark."""
    sample = taste[:_SAMPLE].removeprefix(codecs.BOM_UTF8)
    if whole and len(taste) <= _SAMPLE:
        return sample
    return sample[: sample.rfind(b"\n") + 1] or sample


def is_windows(taste: bytes, whole: bool) -> bool:
    """Whether bytes are rather Windows-1252 than UTF-8: no UTF-8, and text all the same."""
    if taste.isascii():
        return False
    if not whole:  # the end may cut a letter
        taste = taste[: taste.rfind(b"\n") + 1] or taste[:-4]
    try:
        taste.decode()
    except UnicodeDecodeError:
        read = taste.decode(errors="replace")
        wrong = read.count("�")
        right = sum(letter > "\x7f" for letter in read) - wrong
        # Mostly UTF-8 is damaged UTF-8, and control characters are no text: both are refused.
        return right < wrong and _CONTROL.search(taste) is None
    return False


def rows_of(text: str, dialect: Dialect) -> list[list[str]]:
    """The fields of the first rows that are not empty, as the dialect has them."""
    if dialect.aligned:
        text = replace(dialect, windows=False).plain(text.encode()).decode()
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=dialect.separator)
        return [row for row in islice(reader, _ROWS) if row and (len(row) > 1 or row[0].strip())]
    except csv.Error:
        return []


def _without_preamble(found: Dialect, lines: list[str]) -> tuple[Dialect, int]:
    """How many lines are before the table, and where the last comment is; a line sep=; decides."""
    k, at, comment = found.skipped, 0, ""
    while k < len(lines) - 1:
        told = _SEPARATOR_LINE.fullmatch(lines[k]) if k == 0 else None
        if told is not None:
            found = replace(found, separator=told[1])
        elif lines[k].startswith("#"):
            comment, at = lines[k].rstrip("\r"), k
        elif lines[k].strip():
            break
        k += 1
    return replace(found, skipped=k, comment=comment), at


def _without_titles(
    found: Dialect, lines: list[str], free: bool, options: ReadingOptions
) -> Dialect:
    """Skip lines of text above the names: one field in each, where the rows below have more."""
    start = found.skipped
    if _is_table(_rows_from(start, lines, found, free, options)):
        return found
    full = [k for k in range(start, len(lines)) if lines[k].strip()][: _TITLES + 1]
    for k, at in enumerate(full):
        rows = _rows_from(at, lines, found, free, options)
        if _is_table(rows) and not any(map(_is_number, _told(rows[0]))):
            below = _separated_as(found, "\n".join(lines[at:]), free, options)
            titles = rows_of("\n".join(lines[j] for j in full[:k]), below)
            are = all(_is_title(row, len(rows[0])) for row in titles)
            return replace(found, skipped=at) if are else found
    return found


def _rows_from(
    at: int, lines: list[str], found: Dialect, free: bool, options: ReadingOptions
) -> list[list[str]]:
    text = "\n".join(lines[at:])
    return rows_of(text, _separated_as(found, text, free, options))


def _is_table(rows: list[list[str]]) -> bool:
    """Whether rows of several fields begin here, the first with a name for most of them."""
    if len(rows) < 2:
        return True  # too little to tell
    ((most, count),) = Counter(map(len, rows[1:])).most_common(1)
    if most == 1 and count == len(rows) - 1 and len(rows[0]) == 1:
        return True  # a single column
    even = most > 1 and count >= _EVEN * (len(rows) - 1) and _has_names_for(most, rows[0])
    return even and len(_told(rows[0])) > 1


def _is_title(row: list[str], width: int) -> bool:
    """One text at the left; of two columns, the second may have no name, and R names no first."""
    alone = len(row) == 1 or width > 2
    return alone and len(_told(row)) == 1 and bool(row[0].strip()) and not _is_number(row[0])


def _told(row: list[str]) -> list[str]:
    return [field for field in row if field.strip()]


def _names_columns(found: Dialect, rows: list[list[str]]) -> bool:
    """Whether a first line with # is the names, "#id,size", and no comment above them.

    It has as many fields as the rows, and the line after it is a row: no text above numbers.
    """
    names = rows_of(found.comment, found)
    if found.aligned or not rows or not names or not len(names[0]) == len(rows[0]) > 1:
        return False
    below = [row for row in rows[1:] if len(row) == len(rows[0])]
    return not any(
        not _is_number(first) and all(_is_number(row[j]) for row in below)
        for j, first in enumerate(rows[0])
        if below
    )


def _with_separator(found: Dialect, separator: str) -> Dialect:
    if separator == " ":
        return replace(found, separator="\t", aligned=True)
    return replace(found, separator=separator)


def _separated_as(found: Dialect, text: str, free: bool, options: ReadingOptions) -> Dialect:
    """With the separator that the user names, or the one that fits the text."""
    if options.separator is not None:
        return _with_separator(found, options.separator)
    return _separated(found, text, free)


def _separated(found: Dialect, text: str, free: bool) -> Dialect:
    """The separator that makes the rows even."""
    best = _evenness(found, text)
    if best == 1.0:
        semicolons = replace(found, separator=";")
        return semicolons if _is_of_comma_numbers(text, found, semicolons) else found
    others = [replace(found, separator=s) for s in _SEPARATORS if s != found.separator]
    for other in others:
        score = _evenness(other, text)
        if score > best:
            found, best = other, score
    if best > 0.0:
        return found
    free = free or (found.separator == "\t" and "\t" not in text)  # .tsv in name only
    aligned = replace(found, separator="\t", aligned=True)
    score = _evenness(aligned, text)
    if score >= 0.9 and (
        free or _QUOTED_NAMES.match(text) or _all_numbers(rows_of(text, aligned)[1:])
    ):
        return aligned
    return found


def _is_of_comma_numbers(text: str, commas: Dialect, semicolons: Dialect) -> bool:
    """Whether "1;2,5" is two numbers in every row, and no names are there to tell."""
    if commas.separator != "," or ";" not in text.partition("\n")[0]:
        return False
    rows = rows_of(text, semicolons)
    even = _evenness(semicolons, text) == 1.0
    return even and _all_numbers([[f.replace(",", ".", 1) for f in row] for row in rows])


def _evenness(dialect: Dialect, text: str) -> float:
    """The share of rows with as many fields as most, if the first row fits; 0 for one column."""
    rows = rows_of(text, dialect)
    if not rows:
        return 0.0
    if len(rows) == 1:
        return float(len(rows[0]) > 1)
    ((most, count),) = Counter(map(len, rows[1:])).most_common(1)
    if most < 2 or not _has_names_for(most, rows[0]):
        return 0.0
    # A first row with one name less (R) fits less well than one with all names.
    return count / (len(rows) - 1) * (1.0 if len(rows[0]) >= most else 0.9)


def _has_names_for(most: int, first: list[str]) -> bool:
    """Whether a first row has a name for each field, or one less; empty ones may follow."""
    return most - 1 <= len(first) and not _told(first[most:])


def _all_numbers(rows: list[list[str]]) -> bool:
    return bool(rows) and all(_is_number(field) for row in rows for field in row)


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return field.strip() in ("", "NA")
    return "_" not in field


def _decimal(dialect: Dialect, rows: list[list[str]]) -> str:
    """A comma where numbers have one, points if any are thousands, and commas are no thousands."""
    if dialect.separator == ",":
        return "."
    fields = [field for row in rows for field in row]
    with_comma = [field for field in fields if _COMMA_NUMBER.fullmatch(field)]
    with_point = [field for field in fields if _POINT_NUMBER.fullmatch(field)]
    if not with_comma or not all(_POINTS.fullmatch(field) for field in with_point):
        return "."
    if dialect.separator != ";" and all(_THOUSANDS.fullmatch(field) for field in with_comma):
        return "."
    return ","


def _notes(found: Dialect, decimal: str, usual: str, options: ReadingOptions) -> tuple[str, ...]:
    """What was found out and is not as usual, in a few words each."""
    told = []
    if found.skipped:
        lines = "1 line" if found.skipped == 1 else f"{found.skipped} lines"
        told.append(f"the table begins after {lines}")
    separator = " " if found.aligned else found.separator
    if options.separator is None and separator != usual:
        told.append(f"separated by {NAMED.get(separator, repr(separator))}")
    if options.decimal is None and decimal == ",":
        told.append("a comma in decimal numbers")
    if options.encoding is None and found.windows:
        told.append("letters of Windows-1252")
    return tuple(told)


def _tab(found: re.Match[bytes]) -> bytes:
    return found[0] if found[0].startswith(b'"') else b"\t"
