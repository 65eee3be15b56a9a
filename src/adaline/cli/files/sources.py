"""Data for a command: a file, or stdin put aside in a file; and rows held out of it."""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from adaline.cli.files.column_options import ignored
from adaline.cli.files.file_options import Reading
from adaline.cli.printing.errors import Usage
from adaline.cli.printing.words import did_you_mean
from adaline.data import Source, blocks
from adaline.data.outputs import refuse_unwritable
from adaline.data.sharing import Share as Share
from adaline.data.sharing import column as column
from adaline.data.sharing import held_out as held_out
from adaline.data.sharing import labels as labels

_COUNTED = 5_000_000  # numbers of a packed file that are read only to count its rows
_WHOLLY_MARKED, _MARKED_PART = 64 * 2**20, 2**20  # bytes of a file that its mark reads
_ASIDE = "adaline-stdin-"  # directories for what came from stdin


def opened(
    path: str,
    ignore: Sequence[str] = (),
    keep: Sequence[str] = (),
    reading: Reading | None = None,
    only: Sequence[str] | None = None,
    jobs: Any = 1,
) -> Source:
    """The rows of a file, `-` being stdin; without the columns to ignore, in the file's order.

    `only` names the columns that matter, where all of them are there: what the others hold cannot
    stop the command then.
    """
    place = spooled() if path == "-" else path
    options: dict[str, Any] = {} if reading is None else reading.options()
    if jobs != 1:  # of many files
        options["jobs"] = jobs
    source = blocks(place, **options)
    try:
        gone = ignored(ignore, source.names, keep)
    except Usage as error:
        raise Usage(f"{error}{_as_read(source)}") from None
    kept = [n for n in source.names if n not in set(gone)]
    if only is not None and set(only) <= set(kept):
        kept = [n for n in kept if n in set(only)]
    if len(kept) == len(source.names):
        return source
    return source.with_columns(kept) or blocks(place, kept, **options)


def title(source: Source) -> str:
    """What to call a source for people: stdin, wherever it was put aside."""
    inside = os.path.basename(os.path.dirname(source.name)).startswith(_ASIDE)
    is_stdin = inside and os.path.basename(source.name).startswith("stdin.")
    return "stdin" if is_stdin else readable(source.name)


def readable(path: str) -> str:
    """A path as text that any file can hold: names of files may be other bytes than UTF-8."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _as_read(source: Source) -> str:
    """How the file was read, where that may be why a column is not there."""
    if source.notes:
        return f" The file was read so: {'; '.join(source.notes)}."
    if len(source.names) == 1:
        return " If these are several columns, --separator says what is between them."
    return ""


def spooled() -> str:
    """stdin in a file that goes with the process: a fit may read its rows more than once."""
    if sys.stdin is None or sys.stdin.isatty():
        raise Usage("'-' reads stdin, and nothing is piped into it; pipe a file, or name one.")
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise Usage("'-' reads stdin, which gives no bytes here; name a file.")
    folder = tempfile.mkdtemp(prefix=_ASIDE)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    head = stream.read(64)
    path = os.path.join(folder, f"stdin{_ending(head)}")
    with open(path, "wb") as file:
        file.write(head)
        shutil.copyfileobj(stream, file, 2**20)
    return path


def _ending(head: bytes) -> str:
    """What bytes are, by how they begin."""
    known = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\x93NUMPY": ".npy", b"RIFF": ".wav"}
    for begin, ending in known.items():
        if head.startswith(begin):
            return ending
    if head.startswith(b"PK\x03\x04"):
        return ".npz" if b".npy" in head else ".xlsx"
    packed = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
    for begin, ending in packed.items():
        if head.startswith(begin):
            return f".csv{ending}"
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if re.match(rb"\{|\[\s*[{\]]", text):
        return ".json"  # or NDJSON, which is told by its second line
    return ".csv"


def about_rows(source: Source) -> int | None:
    """How many rows there are, about, where nothing tells: from the first block's bytes a row.

    The rows of a packed file are counted where they are few: so it is learned from as the same
    file unpacked is.
    """
    if source.rows is not None:
        return int(source.rows)
    if source.about is not None:  # of many files
        return source.about
    if not os.path.isfile(path_of(source)):
        return None
    pieces = iter(source.descriptors())
    first, second = next(pieces, None), next(pieces, None)
    if first is None:
        return None
    rows = source.read(first).rows
    if second is None:
        return rows
    if getattr(getattr(source, "text", None), "forward", False):
        return _counted(source, rows, [second], pieces)
    width = max(first.stop - first.start, 1) / max(rows, 1)
    return max(rows, int(os.path.getsize(path_of(source)) / width))


def _counted(source: Source, rows: int, *pieces: Iterable[Any]) -> int | None:
    """So many rows and those of the pieces; None where they are too many to have in memory."""
    for piece in chain(*pieces):
        if rows * len(source.names) > _COUNTED:
            return None
        rows += source.read(piece).rows
    return rows


def path_of(source: Source) -> str:
    """Where a source lies, if it is a file."""
    return str(getattr(getattr(source, "text", None), "path", source.name))


def not_the_data(path: str | None, *read: str) -> None:
    """Refuse to write over what is read, or where nothing can be written: before the work."""
    if path is None or path == "-":
        return
    if not path:
        raise Usage("the name of a file to write to is empty; give one.")
    if os.path.realpath(path) in {os.path.realpath(r) for r in read if r != "-"}:
        raise Usage(f"{path} is a file to read from; give another name to write to.")
    try:
        refuse_unwritable(path)
    except OSError as error:
        raise Usage(f"{path}: {error.strerror}.") from None


def known_column(source: Source, wanted: str, option: str = "--target") -> str:
    """The name of a column that is there."""
    if wanted not in source.names:
        raise Usage(
            f"{source.name}: {option} {wanted!r}: there is no such column; "
            f"{did_you_mean(wanted, source.names)}{_as_read(source)}"
        )
    return wanted


def mark_of(path: str) -> str | None:
    """The mark of a file that a model keeps, so that nobody judges it on the rows it learned.

    SHA-256 of a file, of large ones of the size, the first and the last MiB; None for no file.

    >>> mark_of("/no/such/file") is None
    True
    """
    if not os.path.isfile(path):
        return None
    digest = hashlib.sha256()
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        if size <= _WHOLLY_MARKED:
            while part := file.read(_MARKED_PART):
                digest.update(part)
            return digest.hexdigest()
        digest.update(size.to_bytes(8, "little") + file.read(_MARKED_PART))
        file.seek(size - _MARKED_PART)
        digest.update(file.read(_MARKED_PART))
    return f"{digest.hexdigest()} of parts"
