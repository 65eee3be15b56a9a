"""Files read whole, and never larger than wanted."""

from __future__ import annotations

import os
import stat

from adaline.errors import ModelFileError

LIMIT = 2**32  # bytes of a file, unless the caller says otherwise
_NO_FILE = "is not a regular file; copy what it gives to a file first"


def read_file(path: str | os.PathLike[str], *, limit: int = LIMIT) -> bytes:
    """All bytes of a regular file that is not larger than the limit."""
    # Opened without waiting: a pipe put in a file's place must not make the reader hang.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags)
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        os.close(handle)
        what = "is a directory, not a file" if stat.S_ISDIR(found.st_mode) else _NO_FILE
        raise ModelFileError(f"{os.fspath(path)!r} {what}.")
    with os.fdopen(handle, "rb") as file:
        refuse_large(found.st_size, limit)
        data = file.read(limit + 1)
    refuse_large(len(data), limit)
    return data


def refuse_large(size: int, limit: int) -> None:
    """Raise ModelFileError where a file has more bytes than the limit."""
    if size > limit:
        raise ModelFileError(
            f"The file has {size} bytes and the limit is {limit}; pass a larger limit if you "
            "trust where it comes from."
        )
