"""Files read and written whole: never larger than wanted, never half."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from adaline.errors import ModelFileError

LIMIT = 2**32  # bytes of a file, unless the caller says otherwise


def read_file(path: str | os.PathLike[str], *, limit: int = LIMIT) -> bytes:
    """All bytes of a regular file that is not larger than the limit."""
    # Opened without waiting: a pipe put in a file's place must not make the reader hang.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise ModelFileError(f"{os.fspath(path)!r} is not a regular file.")
        refuse_large(found.st_size, limit)
        data = file.read(limit + 1)
    refuse_large(len(data), limit)
    return data


def write_atomically(
    path: str | os.PathLike[str],
    data: bytes,
    *,
    previous: str | os.PathLike[str] | None = None,
) -> None:
    """Write a file so that a crash at any moment leaves the old one or the new one, whole.

    A temporary file in the same directory is written and synced, renamed over the path, and the
    directory is synced. With `previous` (in the same directory) the file that was there before is
    kept under that name.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
            if previous is not None:
                _keep(target, Path(previous))
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    if os.name == "posix":  # elsewhere a directory cannot be opened
        directory = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def _keep(target: Path, previous: Path) -> None:
    """The file under a second name; where links are not possible, under that name only."""
    link = previous.with_name(f".{previous.name[:100]}.{secrets.token_hex(8)}.tmp")
    try:
        os.link(target, link)
    except OSError:
        link = target
    os.replace(link, previous)


def refuse_large(size: int, limit: int) -> None:
    """Raise ModelFileError where a file has more bytes than the limit."""
    if size > limit:
        raise ModelFileError(
            f"The file has {size} bytes and the limit is {limit}; pass a larger limit if you "
            "trust where it comes from."
        )
