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
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import Any

from adaline.cli.errors import DISPLAY_NAMES, UsageError
from adaline.cli.options import Columns, Reading, expand_names, suggest
from adaline.cli.printing import Answer, list_some
from adaline.data import Encoding, Look, Source, Table, blocks, look
from adaline.evaluation.words import file, listed, name, number, plural

# How the bytes of stdin begin, and the ending of a file with such bytes. JSON begins with an object
# or a list of objects; NDJSON is recognised by its second line.
_ENDINGS = {rb"PAR1": ".parquet", rb"ARROW1": ".arrow", rb"\x93NUMPY": ".npy"}
_ENDINGS |= {rb"PK.*\.npy": ".npz", rb"PK": ".xlsx", rb"\x1f\x8b": ".csv.gz", rb"BZh": ".csv.bz2"}
_ENDINGS |= {rb"\xfd7zXZ": ".csv.xz", rb"\x28\xb5\x2f\xfd": ".csv.zst"}
_ENDINGS |= {rb"(\xef\xbb\xbf)?\s*(\{|\[\s*[{\]])": ".json", rb"": ".csv"}


def open_table(
    data: str,
    reading: Reading,
    choose: Callable[[Source], Container[str]] = lambda source: source.names,
    jobs: Any = 1,
) -> Source:
    """The rows of a file, `-` being stdin; `choose` checks the names and gives those to read.

    What other columns hold cannot stop the command then.
    """
    path = _copy_stdin() if data == "-" else data
    source = blocks(path, **reading.for_blocks(), jobs=jobs)
    wanted = choose(source)
    used = [column for column in source.names if column in wanted]
    if len(used) == len(source.names):
        return source
    return source.with_columns(used) or blocks(path, used, **reading.for_blocks(), jobs=jobs)


def _copy_stdin() -> str:
    """The path of a copy of stdin that is removed at exit; a fit may read its rows repeatedly."""
    if sys.stdin is None or sys.stdin.isatty() or not hasattr(sys.stdin, "buffer"):
        raise UsageError("'-' reads stdin, and nothing is piped into it; pipe a file, or name one.")
    folder = tempfile.mkdtemp(prefix="adaline-stdin-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    head = sys.stdin.buffer.read(64)
    ending = next(end for start, end in _ENDINGS.items() if re.match(start, head, re.DOTALL))
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
    """SHA-256 of a source's file, which a model keeps; None if it is no single file."""
    if not os.path.isfile(source.name):
        return None
    with open(source.name, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def require_column(source: Source, column: str | None, option: str = "--target") -> None:
    """Refuse a column that is not there; how the file was read may be the reason."""
    if column is None:
        columns = listed(source.names, 30, quoted=True)
        raise UsageError(f"which column is to be predicted? Give --target NAME: one of {columns}.")
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
    all_rows: Table  # to learn from
    rows: int | None  # if known, at least approximately
    numbers: int | None  # that the rows become, with the target

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
        """What was recognised, imputed, merged and ignored; none for plain numbers and text."""
        target = self.encoding.target
        dated = target.name if target is not None and target.is_date else None
        days = ": a number of days since 1970-01-01"
        parts = {
            "Recognised: {} (--text NAME reads a column as text).": [
                f"{name(c)!r} as {how}{days * (c == dated)}" for c, how in self.look.recognised
            ],
            "Missing values: {} (--missing drop skips these rows).": [
                f"{number(count)} in {name(c)!r} ({how})" for c, (count, how) in self.gaps().items()
            ],
            "Rare categories merged into (other): {}.": [
                f"{number(count)} of {name(c)!r}" for c, count in self.look.merged
            ],
            "Ignored: {} (--use NAME includes it).": [
                f"{name(c)!r} {name(why)}" for c, why in self.encoding.left_out
            ],
        }
        return [text.format(list_some(cells)) for text, cells in parts.items() if cells]

    def gaps(self) -> dict[str, tuple[int, str]]:
        """Missing values of each column that is used: how many, and what was done about them."""
        gaps, inputs = {}, {entry.name: entry for entry in self.encoding.inputs}
        for column in self.look.columns:
            entry = inputs.get(column.name)
            if entry is not None and column.gaps:
                how = "imputed with the mean" + ", with an indicator" * entry.gaps
                how = "treated as a separate category" if entry.levels else how
                how = how if self.encoding.missing in ("auto", "mean") else "rows skipped"
                gaps[column.name] = (column.gaps, how)
        return gaps

    def doubts(self) -> list[str]:
        """What was guessed or looks wrong, with the options that help."""
        options = " See --na, --number, --date and --ignore."
        return [text + options * ("--" not in text) for text in self.look.warnings]

    def facts(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "source": title(self.source),
            "columns": list(self.source.names),
            "notes": list(self.source.notes),
            "recognised": dict(self.look.recognised),
            "left_out": dict(self.encoding.left_out),
            "gaps": {column: count for column, (count, _) in self.gaps().items()},
            "merged": dict(self.look.merged),
        }


def study_table(
    data: str,
    columns: Columns,
    named: Mapping[str, str | None] | None = None,
    jobs: Any = 1,
    scratch: Any = None,
    needs_target: bool = True,
) -> StudiedTable:
    """Open a table, check the columns that options name, and look at all others."""
    target = columns.target
    needed = {option: column for option, column in (named or {}).items() if column is not None}
    # A time may be an input, too; if it is ignored, it is still there to sort by.
    by_time = needed.get("--by-time", "")
    beside = {column for column in needed.values() if column != by_time}

    def choose(source: Source) -> Container[str]:
        if needs_target or target is not None:
            require_column(source, target)
        for option, column in needed.items():
            require_column(source, column, option)
            if column == target:
                raise UsageError(f"{option} {column!r} is the target; name another column.")
        ignored = set(expand_names("--ignore", columns.ignore, source.names))
        spelled_out = {part.strip() for text in columns.ignore or () for part in text.split(",")}
        for one in {target, *beside} & spelled_out:
            raise UsageError(f"--ignore {one!r}: this column is needed.")
        beside.update({by_time} & ignored)
        return (set(source.names) - ignored) | {str(target), *needed.values()}

    source = open_table(data, columns, choose, jobs)
    source = source if scratch is None else source.keeping(scratch)
    options = columns.for_look(source.names, sorted(beside))
    seen = look(source, target, unknown="zeros", jobs=jobs, **options)
    source = seen.encoding.prepare(source)
    rows = seen.rows if source.rows is None else source.rows
    numbers = None if rows is None else rows * (len(seen.encoding.names) + 1)
    every = Table(target or "", seen.encoding, source)
    return StudiedTable(source, target or "", seen, seen.encoding, every, rows, numbers)


def describe_notes(source: Source, answer: Answer) -> None:
    """Say how a file is written, if that is unusual."""
    if source.notes:
        answer.say(f"File format: {'; '.join(source.notes)}.")
