"""Where files are: paths of this machine, and URLs that fsspec can open (s3://, http://, ...)."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable
from typing import IO, Any

from adaline.errors import DataError, MissingExtra

_LOCAL = "file://"


def is_url(path: str) -> bool:
    """Whether fsspec has to open it.

    >>> is_url("s3://bucket/rows.parquet"), is_url("rows.parquet"), is_url("file:///rows.parquet")
    (True, False, False)
    """
    return "://" in path and not path.startswith(_LOCAL)


def bare(path: str) -> str:
    """The path of a file:// URL; any other path as it is."""
    return path.removeprefix(_LOCAL) if path.startswith(_LOCAL) else path


def open_binary(path: str) -> IO[bytes]:
    """A file object that can be read at any place."""
    if not is_url(path):
        return open(path, "rb")
    system, inside = _system(path)
    file: IO[bytes] = system.open(inside, "rb")
    return file


def size_of(path: str) -> int:
    """Bytes of a file."""
    if not is_url(path):
        return os.path.getsize(path)
    system, inside = _system(path)
    size = system.size(inside)
    if size is None:
        raise DataError(
            f"{path}: the server does not tell how large the file is, and it is read in parts; "
            "copy it to a file first."
        )
    return int(size)


def is_file(path: str) -> bool:
    """Whether a file is there."""
    if not is_url(path):
        return os.path.isfile(path)
    system, inside = _system(path)
    return bool(system.isfile(inside))


def stamp(path: str) -> tuple[Any, ...]:
    """What changes when a file does: its size, and when it was written where that is known."""
    if not is_url(path):
        found = os.stat(path)
        return found.st_size, found.st_mtime_ns
    return (size_of(path),)


def expanded(path: str) -> list[str] | None:
    """The files of a folder or a pattern, part.2 before part.10; None where it names one file."""
    if is_url(path):
        system, inside = _system(path)
        if not glob.has_magic(inside) and not system.isdir(inside):
            return None
        found = system.glob(inside) if glob.has_magic(inside) else system.find(inside)
        return _in_order(path, [system.unstrip_protocol(name) for name in found], is_file)
    if os.path.isdir(path):
        walked = os.walk(path)
        return _in_order(
            path, [os.path.join(at, name) for at, _, names in walked for name in names]
        )
    if os.path.lexists(path) or not glob.has_magic(path):
        return None
    return _in_order(path, glob.glob(path, recursive=True))


def _in_order(path: str, found: Iterable[str], is_file: Any = os.path.isfile) -> list[str]:
    """Files that hold rows; names that begin with a dot or an underscore are of other programs."""
    names = [name for name in found if os.path.basename(name)[:1] not in (".", "_")]
    for name in names:
        if re.search(r"[/\\][^/\\]+=[^/\\]*[/\\]", name.removeprefix(os.path.dirname(path))):
            raise DataError(
                f"{name}: its folder is named like a column (NAME=VALUE), and such columns are not "
                "read. Write them into the files."
            )
    names = [name for name in names if is_file(name)]
    if not names:
        raise DataError(f"{path}: no file is there; give a directory or a pattern that has some.")
    return sorted(names, key=_natural)


def _natural(name: str) -> list[Any]:
    """Numbers in names by their value.

    >>> sorted(["part.10", "part.2"], key=_natural)
    ['part.2', 'part.10']
    """
    parts = re.split(r"(\d+)", name)
    return [(int(part), part) if k % 2 else (0, part) for k, part in enumerate(parts)]


def _system(path: str) -> tuple[Any, str]:
    """The file system of a URL, and what the URL is called there."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingExtra.of("io", f"{path}: reading a URL", "fsspec") from None
    try:
        system, inside = url_to_fs(path)
    except ImportError as error:  # fsspec names the package that knows this protocol
        if path.startswith(("http://", "https://")):
            raise MissingExtra.of("io", f"{path}: reading a URL", "aiohttp") from None
        raise DataError(f"{path}: it cannot be opened here: {error}.") from None
    except ValueError as error:
        raise DataError(f"{path}: this URL cannot be opened: {error}.") from None
    return system, str(inside)
