"""Files as a whole: written completely or not at all, and read up to a limit.

`open_output` writes a random name beside the target, which nobody can have planted, syncs it, and
renames it over the target. Pipes, terminals and what `/dev/stdout` stands for are written into.
Everything that adaline writes goes through it: models, checkpoints, predictions, reports.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from adaline.errors import ModelFileError

LIMIT = 2**32  # bytes of a file that is read, unless the caller says otherwise
_Path = str | os.PathLike[str]


@contextlib.contextmanager
def open_output(path: _Path) -> Iterator[IO[bytes]]:
    """Bytes into a file that appears complete when the block ends, or stays as it was on an error.

    An existing file keeps its mode, and a new one has what the umask leaves. A link stays a link:
    the file that it leads to is written. A pipe, a terminal or another character device is never
    replaced: all bytes are sent into it when the block ends, none on an error. Directories,
    sockets and disks are refused, and so are files that may not be written to.

    Examples
    --------
    >>> import tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_output(os.path.join(folder, "numbers.txt")) as file:
    ...         _ = file.write(b"1 2 3")
    ...     os.listdir(folder)
    ['numbers.txt']
    """
    existing = _writable_status(os.fspath(path))
    if existing and (not stat.S_ISREG(existing.st_mode) or _is_open_already(os.fspath(path))):
        with open(path, "wb") as sink, tempfile.TemporaryFile() as file:
            yield file
            file.seek(0)
            shutil.copyfileobj(file, sink, 2**20)
        return
    target = Path(os.path.realpath(path))  # a link stays a link
    temporary = target.with_name(f".{target.name[:60]}.{secrets.token_hex(8)}.tmp")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
    for extra in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, extra, 0)
    with _naming(path):
        # What replaces a private file is never readable by others, even while it is written.
        handle = os.open(temporary, flags, 0o600 if existing else 0o666)
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
            file.flush()
            if existing and os.name == "posix":
                mode, own = stat.S_IMODE(existing.st_mode), os.fstat(handle)
                # The rights of a group are not those of another group.
                os.fchmod(handle, mode if own.st_gid == existing.st_gid else mode & 0o707)
            os.fsync(handle)
        with _naming(path):  # Windows replaces no file that another program holds open
            os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # not all systems can sync a directory
        directory = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


@contextlib.contextmanager
def _naming(path: _Path) -> Iterator[None]:
    """Errors name the file that was asked for instead of the temporary one."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


def write_atomically(path: _Path, data: bytes) -> None:
    """Write a file such that a crash leaves the old one or the new one; see `open_output`."""
    with open_output(path) as file:
        file.write(data)


def refuse_unwritable(path: _Path) -> None:
    """Raise OSError with a sentence if `open_output` would: before work is done in vain."""
    folder = os.path.dirname(os.path.realpath(path)) or "."
    if _writable_status(os.fspath(path)) is None and not os.path.isdir(folder):
        message = f"there is no directory {folder!r} to write it in; make it first"
        raise FileNotFoundError(errno.ENOENT, message, path)


def _writable_status(path: str) -> os.stat_result | None:
    """What is there now, links followed; None if nothing is; an error if it must stay."""
    try:
        existing = os.stat(path)
    except FileNotFoundError:
        return None
    mode = existing.st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "this is a directory; name a file in it", path)
    if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        what = "a disk" if stat.S_ISBLK(mode) else "a socket"
        raise OSError(errno.EINVAL, f"this is {what}, which is not written to; name a file", path)
    if stat.S_ISREG(mode) and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "this file may not be written to", path)
    return existing


def _is_open_already(path: str) -> bool:
    """Whether it is `/dev/stdout` and the like, or a link to it: a file that somebody reads now."""
    target = os.readlink(path) if os.path.islink(path) else path
    return os.path.join(os.path.dirname(path), target).startswith(("/dev/", "/proc/"))


def read_file(path: _Path, *, limit: int = LIMIT) -> bytes:
    """All bytes of a regular file that is not larger than the limit; else ModelFileError."""
    # Opened without waiting: a pipe put in a file's place must not make the reader hang.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags)
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        what = "not a regular file; copy what it gives to a file first"
        what = "a directory, not a file" if stat.S_ISDIR(status.st_mode) else what
        raise ModelFileError(f"{os.fspath(path)!r} is {what}.")
    with os.fdopen(handle, "rb") as file:
        refuse_large(status.st_size, limit)
        data = file.read(limit + 1)
    refuse_large(len(data), limit)
    return data


def refuse_large(size: int, limit: int) -> None:
    """Raise ModelFileError if a file has more bytes than the limit."""
    if size > limit:
        raise ModelFileError(
            f"The file has {size} bytes and the limit is {limit}; pass a larger limit if you "
            "trust where it comes from."
        )
