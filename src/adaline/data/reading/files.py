"""Where files are: paths of this machine, and URLs that fsspec can open (s3://, http://, ...)."""

from __future__ import annotations

import difflib
import glob
import hashlib
import os
import re
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from adaline.errors import DataError, MissingExtra

# A fingerprint reads the head of a file and some places after it, in bytes.
FINGERPRINT_HEAD, FINGERPRINT_SAMPLES, FINGERPRINT_SAMPLE = 2**20, 32, 4096


def is_url(path: str) -> bool:
    """Whether fsspec has to open it."""
    return "://" in path


def open_binary(path: str) -> IO[bytes]:
    """A file object that can be read at any place."""
    if not is_url(path):
        return open(path, "rb")
    system, inside = _file_system(path)
    file: IO[bytes] = system.open(inside, "rb")
    return file


def stamp(path: str) -> tuple[Any, ...]:
    """What changes when a file does: its size, and when it was written where that is known."""
    if not is_url(path):
        facts = os.stat(path)
        return facts.st_size, facts.st_mtime_ns
    system, inside = _file_system(path)
    size = system.size(inside)
    if size is None:
        raise DataError(
            f"{path}: the server does not tell how large the file is, and it is read in parts; "
            "copy it to a file first."
        )
    return (int(size),)


def existing(path: str) -> str:
    """The path of a regular file that is there and not empty."""
    system, inside = (os.path, path) if not is_url(path) else _file_system(path)
    if not system.exists(inside):
        folder, name = os.path.split(path)
        others = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
        alike = difflib.get_close_matches(name, others, 1)
        hint = f"; did you mean {os.path.join(folder, alike[0])!r}?" if alike else "."
        raise DataError(f"{path}: there is no such file{hint}")
    if system is os.path and not os.path.isfile(path):  # opening a pipe may wait for ever
        raise DataError(
            f"{path}: this is a directory, pipe or device; give a file, or pipe it as stdin."
        )
    if stamp(path)[0] == 0:
        raise DataError(f"{path}: the file is empty; it needs column names and rows.")
    return path


def expanded(path: str) -> list[str] | None:
    """The files of a folder or a pattern, part.2 before part.10; None where it names one file."""
    if is_url(path):
        system, inside = _file_system(path)
        if not glob.has_magic(inside) and not system.isdir(inside):
            return None
        names = system.glob(inside) if glob.has_magic(inside) else system.find(inside)
        files = [system.unstrip_protocol(name) for name in names if system.isfile(name)]
    elif os.path.isdir(path):
        names = (os.path.join(at, name) for at, _, inner in os.walk(path) for name in inner)
        files = list(filter(os.path.isfile, names))
    elif os.path.lexists(path) or not glob.has_magic(path):
        return None
    else:
        files = list(filter(os.path.isfile, glob.glob(path, recursive=True)))
    # Names that begin with a dot or an underscore are of other programs.
    files = [name for name in files if os.path.basename(name)[:1] not in (".", "_")]
    for name in files:
        if re.search(r"[/\\][^/\\]+=[^/\\]*[/\\]", name.removeprefix(os.path.dirname(path))):
            raise DataError(
                f"{name}: its folder is named like a column (NAME=VALUE), and such columns are not "
                "read. Write them into the files."
            )
    if not files:
        raise DataError(f"{path}: no file is there; give a directory or a pattern that has some.")
    return sorted(files, key=_natural)


def _natural(name: str) -> list[Any]:
    """Numbers in names by their value."""
    parts = re.split(r"(\d+)", name)
    return [(int(part), part) if k % 2 else (0, part) for k, part in enumerate(parts)]


def _file_system(path: str) -> tuple[Any, str]:
    """The file system of a URL, and what the URL is called there."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingExtra.of("io", f"{path}: reading a URL", "fsspec") from None
    try:
        system, inside = url_to_fs(path)
    except (ImportError, ValueError) as error:  # it names the package that knows this protocol
        raise DataError(f"{path}: this URL cannot be opened: {error}.") from None
    return system, str(inside)


class TemporaryPath:
    """A temporary file that goes with this object; copies in other processes do not own it."""

    def __init__(self) -> None:
        handle, self.path = tempfile.mkstemp(prefix="adaline-")
        os.close(handle)
        weakref.finalize(self, Path(self.path).unlink, missing_ok=True)


def fingerprint_of_file(path: str, *facts: Any) -> str:
    """SHA-256 of a file's size, head, tail and some places between, and of how it is read."""
    size = stamp(path)[0]
    digest = hashlib.sha256(repr((facts, size)).encode())
    last = max(size - FINGERPRINT_SAMPLE, FINGERPRINT_HEAD)
    with open_binary(path) as file:
        digest.update(file.read(FINGERPRINT_HEAD))
        for place in np.linspace(FINGERPRINT_HEAD, last, FINGERPRINT_SAMPLES).astype(int).tolist():
            file.seek(place)
            digest.update(file.read(FINGERPRINT_SAMPLE))
    return digest.hexdigest()


@contextmanager
def reading(what: str, advice: str = "it is damaged, or of another format") -> Iterator[None]:
    """Turn whatever the libraries below raise into a DataError."""
    try:
        yield
    except (DataError, MissingExtra, MemoryError):
        raise
    except Exception as error:
        # Damaged pages are an OSError of pyarrow, without the number that the system's have.
        if isinstance(error, OSError) and (type(error) is not OSError or error.errno is not None):
            raise
        why = " ".join(str(error).split())[:150] or type(error).__name__
        raise DataError(f"{what} ({why}); {advice}.") from error
