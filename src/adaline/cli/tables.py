"""Tables for commands: files or stdin opened, and what was recognised in their columns.

`open_table` reads a file as the options ask; `study_table` adds what commands that learn from a
table have in common: the columns of the target and others, their encoding, sentences about them.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.cli.answer import Answer
from adaline.cli.errors import DISPLAY_NAMES, UsageError
from adaline.cli.options import Columns, Reading, expand_names, spells_out, suggest
from adaline.data import Encoding, Look, Source, blocks, look
from adaline.data.outputs import refuse_unwritable
from adaline.data.sharing import labels
from adaline.data.tables import gathered
from adaline.evaluation.words import name, number, plural

MOST_NUMBERS = 200_000_000  # of a table in memory: 1.6 GB
_LISTED = 8  # columns that a sentence names
# How the bytes of stdin begin, and the ending of a file with such bytes.
_SIGNATURES = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\x93NUMPY": ".npy", b"RIFF": ".wav"}
_SIGNATURES |= {b"\x1f\x8b": ".csv.gz", b"BZh": ".csv.bz2", b"\xfd7zXZ": ".csv.xz"}
_SIGNATURES |= {b"\x28\xb5\x2f\xfd": ".csv.zst"}


def open_table(
    data: str,
    reading: Reading | None = None,
    *,
    only: Sequence[str] | None = None,
    without: Any = None,
    jobs: Any = 1,
) -> Source:
    """The rows of a file, `-` being stdin, with some of its columns in the file's order.

    `only` are the columns that matter: what others hold cannot stop the command then. `without`
    gives the columns to leave out, called with the names of all.
    """
    options = (reading or Reading()).given()
    if jobs != 1:
        options["jobs"] = jobs
    path = copy_stdin() if data == "-" else data
    source = blocks(path, **options)
    dropped = set(without(source) if without is not None else ())
    kept = [column for column in source.names if column not in dropped] if dropped else source.names
    if only is not None and set(only) <= set(kept):
        kept = [column for column in kept if column in set(only)]
    if len(kept) == len(source.names):
        return source
    return source.with_columns(kept) or blocks(path, list(kept), **options)


def copy_stdin() -> str:
    """The path of a copy of stdin that is removed at exit; a fit may read its rows repeatedly."""
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("'-' reads stdin, and nothing is piped into it; pipe a file, or name one.")
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise UsageError("'-' reads stdin, which gives no bytes here; name a file.")
    folder = tempfile.mkdtemp(prefix="adaline-stdin-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    head = stream.read(64)
    path = os.path.join(folder, f"stdin{_guess_ending(head)}")
    with open(path, "wb") as file:
        file.write(head)
        shutil.copyfileobj(stream, file, 2**20)
    DISPLAY_NAMES[path] = "stdin"
    return path


def _guess_ending(head: bytes) -> str:
    for beginning, ending in _SIGNATURES.items():
        if head.startswith(beginning):
            return ending
    if head.startswith(b"PK\x03\x04"):
        return ".npz" if b".npy" in head else ".xlsx"
    # An object or a list of objects; NDJSON is recognised by its second line.
    is_json = re.match(rb"(\xef\xbb\xbf)?\s*(\{|\[\s*[{\]])", head)
    return ".json" if is_json else ".csv"


def title(source: Source) -> str:
    """What to call a source for people; names of files may be other bytes than UTF-8."""
    path = DISPLAY_NAMES.get(source.name, source.name)
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def hash_file(source: Source) -> str | None:
    """SHA-256 of a source's file, which a model keeps; None where it is no single file."""
    if not os.path.isfile(source.name):
        return None
    with open(source.name, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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


def require_column(source: Source, column: str, option: str = "--target") -> None:
    """Refuse a column that is not there."""
    if column not in source.names:
        advice = f"{suggest(column, source.names)}{_how_it_was_read(source)}"
        raise UsageError(f"{source.name}: {option} {column!r}: no such column; {advice}")


def _how_it_was_read(source: Source) -> str:
    """How the file was read, where that may be why a column is not there."""
    if source.notes:
        return f" The file was read as follows: {'; '.join(source.notes)}."
    if len(source.names) == 1:
        return " If these are several columns, --separator says what is between them."
    return ""


@dataclass(frozen=True, eq=False)
class StudiedTable:
    """A table whose columns were looked at, ready to be read as numbers.

    Attributes
    ----------
    source : Source
    target : str
    look : Look
        What the columns are.
    encoding : Encoding
        How they become numbers.
    rows : int or None
        Where they are known, at least approximately.
    named : dict of str
        Columns that options such as --group name, by the options.
    beside : tuple of str
        Columns that are read and not learned from.
    """

    source: Source
    target: str
    look: Look
    encoding: Encoding
    rows: int | None
    named: dict[str, str]
    beside: tuple[str, ...]

    @property
    def numbers(self) -> int | None:
        """How many numbers the rows become, with the target."""
        return None if self.rows is None else self.rows * (len(self.encoding.names) + 1)

    def gather(self, classes: bool, counts: bool = False, source: Any = None) -> Any:
        """X, y and the number of rows left out, of all rows in memory."""
        if self.numbers is not None and self.numbers > MOST_NUMBERS:
            raise ValueError(
                f"{self.source.name}: {self.rows:,} rows of {len(self.encoding.names)} numbers are "
                "too many to have in memory at once, which this needs; take some of the rows."
            )
        X, values, left_out = gathered(
            source or self.source, self.encoding, self.target, counts=counts
        )
        return X, labels(values) if classes else _finite_numbers(values, self.target), left_out

    def describe(self, answer: Answer) -> None:
        """Say how the file is written where that is unusual, and what became of the columns."""
        describe_notes(self.source, answer)
        for line in self.sentences():
            answer.say(line)

    def sentences(self) -> list[str]:
        """What was recognised, filled in, merged and left out; none for plain numbers and text."""
        target = self.encoding.target
        dated = target.name if target is not None and target.is_date else None
        days = ": a number of days since 1970-01-01"
        read = [f"{name(c)!r} as {how}{days * (c == dated)}" for c, how in self.look.recognised]
        gaps = [f"{number(n)} in {name(c)!r} ({how})" for c, (n, how) in self.gaps().items()]
        merged = [f"{number(count)} of {name(c)!r}" for c, count in self.look.merged]
        left_out = [f"{name(c)!r} {name(why)}" for c, why in self.encoding.left_out]
        parts = {
            "Recognised: {} (--text NAME takes a column as text).": read,
            "Missing values: {} (--missing drop leaves such rows out).": gaps,
            "Rare levels taken together as (other): {}.": merged,
            "Left out: {} (--use NAME takes it in).": left_out,
        }
        return [text.format(_list_some(cells)) for text, cells in parts.items() if cells]

    def gaps(self) -> dict[str, tuple[int, str]]:
        """Missing values of each column that is used: how many, and what was done about them."""
        gaps = {}
        inputs = {entry.name: entry for entry in self.encoding.inputs}
        for column in self.look.columns:
            entry = inputs.get(column.name)
            if entry is not None and column.gaps:
                marked = ", and marked" if entry.gaps else ""
                how = "a level of their own" if entry.levels else f"mean filled in{marked}"
                how = how if self.encoding.missing in ("auto", "mean") else "rows left out"
                gaps[column.name] = (column.gaps, how)
        return gaps

    def doubts(self) -> list[str]:
        """What was guessed or looks wrong, with the option that helps."""
        return [f"{text}{_option_for(text)}" for text in self.look.warnings]

    def facts(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "recognised": dict(self.look.recognised),
            "left_out": dict(self.encoding.left_out),
            "gaps": {column: count for column, (count, _) in self.gaps().items()},
            "merged": dict(self.look.merged),
        }


def study_table(
    data: str,
    target: str,
    columns: Columns | None,
    reading: Reading | None,
    *,
    named: Mapping[str, str | None] | None = None,
    jobs: Any = 1,
    scratch: Any = None,
) -> StudiedTable:
    """Open a table, check the columns that options name, and look at all others."""
    columns = columns or Columns()
    needed = {option: column for option, column in (named or {}).items() if column is not None}
    # A time may be learned from, too; where it is ignored, it is still there to sort by.
    by_time = needed.get("--by-time", "")
    beside = {column for column in needed.values() if column != by_time}

    def without(source: Source) -> Collection[str]:
        try:
            ignored = expand_names("--ignore", columns.ignore, source.names)
        except UsageError as error:
            raise UsageError(f"{error}{_how_it_was_read(source)}") from None
        for column in (target, *beside):
            if column in ignored and spells_out(columns.ignore, column):
                raise UsageError(f"--ignore {column!r}: this column is needed.")
        beside.update({by_time} & set(ignored))
        return set(ignored) - {target, *needed.values()}

    source = open_table(data, reading, without=without, jobs=jobs)
    require_column(source, target)
    for option, column in needed.items():
        require_column(source, column, option)
        if column == target:
            raise UsageError(f"{option} {column!r} is the target; name another column.")
    source = source if scratch is None else source.keeping(scratch)
    return study_source(source, target, columns, sorted(beside), needed, jobs)


def study_source(
    source: Source,
    target: str | None,
    columns: Columns,
    beside: Sequence[str],
    named: dict[str, str] | None = None,
    jobs: Any = 1,
) -> StudiedTable:
    """Look at all columns but those that are not learned from."""
    options = columns.given(source.names, target, beside)
    found = look(source, target, unknown="zeros", jobs=jobs, **options)
    source = found.encoding.prepare(source)
    rows = found.rows if source.rows is None else source.rows
    rows = source.about if rows is None else rows
    return StudiedTable(
        source, target or "", found, found.encoding, rows, named or {}, tuple(beside)
    )


def describe_notes(source: Source, answer: Answer) -> None:
    """Say how a file is written, where that is unusual."""
    if source.notes:
        answer.say(f"Noticed: {'; '.join(source.notes)}.")


def count_read(rows: int | None, columns: int) -> str:
    """Rows and columns of numbers in words."""
    counted = "" if rows is None else f"{plural(rows, 'row')}, "
    return f"{counted}{plural(columns, 'column')} of numbers"


def _list_some(parts: Sequence[str]) -> str:
    more = f"; and {len(parts) - _LISTED} more" if len(parts) > _LISTED else ""
    return "; ".join(parts[:_LISTED]) + more


def _option_for(doubt: str) -> str:
    if "says nearly the same" in doubt:
        return " See --ignore."
    if "were read as thousands" in doubt:
        return " See --text."
    names_one = ("--text", "--exact-levels", "so delete it")
    return "" if any(map(doubt.__contains__, names_one)) else " See --na, --number and --date."


def _finite_numbers(values: Any, target: str) -> Any:
    if values.dtype.kind == "O":
        raise ValueError(
            f"the target {target!r} holds text such as {values[0]!r}; a regressor needs numbers. "
            "Take a classifier, such as --model logistic, or another target."
        )
    y = values.astype(np.float64)
    if not np.isfinite(y).all():
        raise ValueError(
            f"the target {target!r} has an infinite value; correct it, or leave such rows out: "
            "--na inf."
        )
    return y
