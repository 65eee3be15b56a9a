"""Every file that adaline writes: whole or not at all, and never in place of what is no file.

A file is written under a random name beside its target, which nobody can have planted, synced, and
renamed over the target. Pipes, terminals and what `/dev/stdout` stands for are written into.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import secrets
import shutil
import stat
import tempfile
from pathlib import Path
from types import TracebackType
from typing import IO

# Names of files that this process has open already: a rename would take them from whoever reads.
_OPEN_ALREADY = re.compile(r"/dev/(fd/.*|stdin|stdout|stderr)|/proc/[^/]+(/task/\d+)?/fd/.*")
_MOST_LINKS = 40  # as many as Linux follows


class Output:
    """Bytes into a file that appears whole when the block ends, or stays as it was on an error.

    An existing file keeps its mode, and a new one has what the umask leaves. A link stays a link:
    the file that it leads to is written. A pipe, a terminal or another character device is never
    replaced: all bytes are sent into it when the block ends, none on an error. Directories,
    sockets and disks are refused, and so are files that may not be written to.

    Parameters
    ----------
    path : str or path
    previous : str or path, optional
        A second name in the same directory, under which the file that was there before is kept.

    Examples
    --------
    >>> import tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Output(os.path.join(folder, "numbers.txt")) as file:
    ...         _ = file.write(b"1 2 3")
    ...     os.listdir(folder)
    ['numbers.txt']
    """

    def __init__(
        self, path: str | os.PathLike[str], previous: str | os.PathLike[str] | None = None
    ) -> None:
        self.path = os.fspath(path)
        self.previous = None if previous is None else Path(previous)
        self._there = _status(self.path)
        self._sink: IO[bytes] | None = None  # what takes the bytes at the end: a pipe, a terminal
        self._temporary: Path | None = None

    def __enter__(self) -> IO[bytes]:
        there = self._there
        if there is not None and (not stat.S_ISREG(there.st_mode) or _is_open_already(self.path)):
            self._sink = open(self.path, "wb")
            self.file: IO[bytes] = tempfile.TemporaryFile()
            return self.file
        self._target = Path(os.path.realpath(self.path))  # a link stays a link
        name = f".{self._target.name[:60]}.{secrets.token_hex(8)}.tmp"
        temporary = self._target.with_name(name)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
        for extra in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
            flags |= getattr(os, extra, 0)
        # What replaces a private file is never readable by others, not even while it is written.
        try:
            handle = os.open(temporary, flags, 0o666 if there is None else 0o600)
        except OSError as error:
            raise self._named(error) from None
        self._temporary = temporary
        self.file = os.fdopen(handle, "w+b")
        return self.file

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            self._close()

    def _finish(self) -> None:
        self.file.flush()
        if self._sink is not None:
            self.file.seek(0)
            shutil.copyfileobj(self.file, self._sink, 2**20)
            self._sink.flush()
            return
        assert self._temporary is not None
        if self._there is not None:
            _same_rights(self.file.fileno(), self._there)
        os.fsync(self.file.fileno())
        self.file.close()
        if self.previous is not None and self._target.exists():
            _keep(self._target, self.previous)
        try:
            os.replace(self._temporary, self._target)
        except OSError as error:  # Windows replaces no file that another program holds open
            raise self._named(error) from None
        self._temporary = None
        _sync_directory(self._target.parent)

    def _named(self, error: OSError) -> OSError:
        """The error, told with the name that was asked for instead of the temporary one."""
        return error if error.errno is None else OSError(error.errno, error.strerror, self.path)

    def _close(self) -> None:
        for file in (self.file, self._sink):
            if file is not None:
                with contextlib.suppress(OSError):
                    file.close()
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)


def write_atomically(
    path: str | os.PathLike[str],
    data: bytes,
    *,
    previous: str | os.PathLike[str] | None = None,
) -> None:
    """Write a file so that a crash at any moment leaves the old one or the new one, whole.

    As `Output`, for bytes that are all there already.
    """
    with Output(path, previous) as file:
        file.write(data)


def as_text(file: IO[bytes]) -> io.TextIOWrapper:
    """UTF-8 text into a file of bytes, lines as they are; `detach` it at the end."""
    return io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=False)


def refuse_unwritable(path: str | os.PathLike[str]) -> None:
    """Raise OSError with a sentence where `Output` would: before work is done in vain."""
    there = _status(os.fspath(path))
    folder = os.path.dirname(os.path.realpath(path)) or "."
    if there is None and not os.path.isdir(folder):
        raise FileNotFoundError(
            errno.ENOENT, f"there is no directory {folder!r} to write it in; make it first", path
        )


def _status(path: str) -> os.stat_result | None:
    """What is there now, links followed; None where nothing is; an error where it must stay."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    mode = found.st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "this is a directory; name a file in it", path)
    if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        what = "a disk" if stat.S_ISBLK(mode) else "a socket"
        raise OSError(errno.EINVAL, f"this is {what}, which is not written to; name a file", path)
    if stat.S_ISREG(mode) and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "this file may not be written to", path)
    return found


def _is_open_already(path: str) -> bool:
    """Whether a path leads through `/dev/stdout` and the like."""
    for _ in range(_MOST_LINKS):
        path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        if _OPEN_ALREADY.fullmatch(path):
            return True
        if not os.path.islink(path):
            return False
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    return False


def _same_rights(handle: int, there: os.stat_result) -> None:
    """Owner, group and mode of the file that was there, as far as the system allows."""
    if os.name != "posix":
        return
    mode, ours = stat.S_IMODE(there.st_mode), os.fstat(handle)
    if (ours.st_uid, ours.st_gid) != (there.st_uid, there.st_gid):
        try:
            os.fchown(handle, there.st_uid, there.st_gid)
        except OSError:  # another group may do no more than everybody may
            mode = mode & 0o707 | (mode & 0o007) << 3
    os.fchmod(handle, mode)


def _keep(target: Path, previous: Path) -> None:
    """The file under a second name; where links are not possible, under that name only."""
    link = previous.with_name(f".{previous.name[:60]}.{secrets.token_hex(8)}.tmp")
    try:
        os.link(target, link)
    except OSError:
        link = target
    try:
        os.replace(link, previous)
    except OSError:
        if link != target:
            link.unlink(missing_ok=True)
        raise


def _sync_directory(folder: Path) -> None:
    if os.name != "posix":  # elsewhere a directory cannot be opened
        return
    with contextlib.suppress(OSError):  # the file is there; some systems cannot sync its name
        directory = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
