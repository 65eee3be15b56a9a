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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.cli.errors import DISPLAY_NAMES, UsageError
from adaline.cli.options import Columns, Reading, expand_names, spells_out, suggest
from adaline.cli.printing import Answer, list_some
from adaline.data import Encoding, Look, Source, blocks, look
from adaline.data.outputs import refuse_unwritable
from adaline.data.sharing import labels
from adaline.data.tables import columns_beside, gathered
from adaline.evaluation.words import file, name, number, plural

MOST_NUMBERS = 200_000_000  # of a table in memory: 1.6 GB
# How the bytes of stdin begin, and the ending of a file with such bytes.
_SIGNATURES = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\x93NUMPY": ".npy", b"RIFF": ".wav"}
_SIGNATURES |= {b"\x1f\x8b": ".csv.gz", b"BZh": ".csv.bz2", b"\xfd7zXZ": ".csv.xz"}
_SIGNATURES |= {b"\x28\xb5\x2f\xfd": ".csv.zst"}


def open_table(
    data: str, reading: Reading | None = None, only: Any = None, without: Any = None, jobs: Any = 1
) -> Source:
    """The rows of a file, `-` being stdin, with some of its columns in the file's order.

    `only` are the columns that matter: what others hold cannot stop the command then. `without`
    gives the columns to leave out, called with the source of all.
    """
    options = (reading or Reading()).given() | ({} if jobs == 1 else {"jobs": jobs})
    path = _copy_stdin() if data == "-" else data
    source = blocks(path, **options)
    dropped = set(without(source)) if without is not None else set()
    kept = [column for column in source.names if column not in dropped] if dropped else source.names
    if only is not None and set(only) <= set(kept):
        kept = [column for column in kept if column in set(only)]
    if len(kept) == len(source.names):
        return source
    return source.with_columns(kept) or blocks(path, list(kept), **options)


def _copy_stdin() -> str:
    """The path of a copy of stdin that is removed at exit; a fit may read its rows repeatedly."""
    if sys.stdin is None or sys.stdin.isatty() or not hasattr(sys.stdin, "buffer"):
        raise UsageError("'-' reads stdin, and nothing is piped into it; pipe a file, or name one.")
    folder = tempfile.mkdtemp(prefix="adaline-stdin-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    head = sys.stdin.buffer.read(64)
    # JSON begins with an object or a list of objects; NDJSON is recognised by its second line.
    is_json = re.match(rb"(\xef\xbb\xbf)?\s*(\{|\[\s*[{\]])", head)
    ending = ".json" if is_json else ".csv"
    if head.startswith(b"PK\x03\x04"):
        ending = ".npz" if b".npy" in head else ".xlsx"
    ending = next((end for start, end in _SIGNATURES.items() if head.startswith(start)), ending)
    path = os.path.join(folder, f"stdin{ending}")
    with open(path, "wb") as copy:
        copy.write(head)
        shutil.copyfileobj(sys.stdin.buffer, copy, 2**20)
    DISPLAY_NAMES[path] = "stdin"
    return path


def title(source: Source) -> str:
    """What to call a source for people; names of files may be other bytes than UTF-8."""
    path = DISPLAY_NAMES.get(source.name, source.name)
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def hash_file(source: Source) -> str | None:
    """SHA-256 of a source's file, which a model keeps; None where it is no single file."""
    if not os.path.isfile(source.name):
        return None
    with open(source.name, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


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
    """Refuse a column that is not there; how the file was read may be the reason."""
    if column not in source.names:
        advice = suggest(column, source.names)
        if source.notes:
            advice += f" The file was read as follows: {'; '.join(source.notes)}."
        elif len(source.names) == 1:
            advice += " If these are several columns, --separator says what is between them."
        raise UsageError(f"{source.name}: {option} {column!r}: no such column; {advice}")


@dataclass(frozen=True, eq=False)
class StudiedTable:
    """A table whose columns were looked at, ready to be read as numbers."""

    source: Source
    target: str
    look: Look
    encoding: Encoding  # how columns become numbers
    rows: int | None  # where they are known, at least approximately
    named: dict[str, str]  # columns that options such as --group name, by the options
    beside: tuple[str, ...]  # columns that are read and not learned from

    @property
    def numbers(self) -> int | None:
        """How many numbers the rows become, with the target."""
        return None if self.rows is None else self.rows * (len(self.encoding.names) + 1)

    def gather(
        self, classes: bool, counts: bool = False, source: Any = None, encoding: Any = None
    ) -> Any:
        """X, y and the number of rows left out, of all rows in memory."""
        if self.numbers is not None and self.numbers > MOST_NUMBERS:
            raise ValueError(
                f"{self.source.name}: {self.numbers:,} numbers are too many to have in memory at "
                "once, which this needs; take some of the rows."
            )
        parts = (self.source if source is None else source, encoding or self.encoding)
        X, values, left_out = gathered(*parts, self.target, counts=counts)
        if classes:
            return X, labels(values), left_out
        if values.dtype.kind == "O":
            raise ValueError(
                f"the target {self.target!r} holds text such as {values[0]!r}; take a classifier, "
                "such as --model logistic, or another target."
            )
        y = values.astype(np.float64)
        if not np.isfinite(y).all():
            raise ValueError(f"the target {self.target!r} has an infinite value; see --na inf.")
        return X, y, left_out

    def named_columns(self, source: Any = None) -> dict[str, Any]:
        """The columns that options name, of the rows to learn from; times so that they sort."""
        if not self.named:
            return {}
        source = self.source if source is None else source
        by_time = self.named.get("--by-time")
        return columns_beside(source, self.encoding, self.target, self.named, by_time)

    def describe(self, answer: Answer, rows: int | None = None, more: str = "") -> None:
        """Say what was read, how the file is written, and what became of the columns."""
        if rows is not None or more:
            counted = "" if rows is None else f"{plural(rows, 'row')}, "
            counted += f"{plural(len(self.encoding.names), 'column')} of numbers{more}"
            answer.say(f"Read {file(title(self.source))}: {counted}.")
        describe_notes(self.source, answer)
        for line in self.sentences():
            answer.say(line)

    def sentences(self) -> list[str]:
        """What was recognised, filled in, merged and left out; none for plain numbers and text."""
        target = self.encoding.target
        dated = target.name if target is not None and target.is_date else None
        days = ": a number of days since 1970-01-01"
        parts = {
            "Recognised: {} (--text NAME takes a column as text).": [
                f"{name(c)!r} as {how}{days * (c == dated)}" for c, how in self.look.recognised
            ],
            "Missing values: {} (--missing drop leaves such rows out).": [
                f"{number(count)} in {name(c)!r} ({how})" for c, (count, how) in self.gaps().items()
            ],
            "Rare levels taken together as (other): {}.": [
                f"{number(count)} of {name(c)!r}" for c, count in self.look.merged
            ],
            "Left out: {} (--use NAME takes it in).": [
                f"{name(c)!r} {name(why)}" for c, why in self.encoding.left_out
            ],
        }
        return [text.format(list_some(cells)) for text, cells in parts.items() if cells]

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
        options = {"--text": "", "--exact-levels": "", "so delete it": ""}
        options |= {"nearly the same": " See --ignore.", "as thousands": " See --text."}
        usual = " See --na, --number and --date."
        texts = self.look.warnings
        return [t + next((o for part, o in options.items() if part in t), usual) for t in texts]

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

    def without(source: Source) -> Iterable[str]:
        ignored = expand_names("--ignore", columns.ignore, source.names)
        for column in (target, *beside):
            if column in ignored and spells_out(columns.ignore, column):
                raise UsageError(f"--ignore {column!r}: this column is needed.")
        beside.update({by_time} & set(ignored))
        return set(ignored) - {target, *needed.values()}

    source = open_table(data, reading, without=without, jobs=jobs)
    for option, column in {"--target": target, **needed}.items():
        require_column(source, column, option)
        if column == target and option != "--target":
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
    rows = next((n for n in (source.rows, found.rows, source.about) if n is not None), None)
    return StudiedTable(
        source, target or "", found, found.encoding, rows, named or {}, tuple(beside)
    )


def describe_notes(source: Source, answer: Answer) -> None:
    """Say how a file is written, where that is unusual."""
    if source.notes:
        answer.say(f"Noticed: {'; '.join(source.notes)}.")
