"""Machine code kept on disk: checked before it is used, and done without where nothing is kept.

A file holds one kernel for one signature. Its name is a digest of all that decides the machine
code: the sources, the signature, the processor, the compiler and its settings. Neither the place
of the sources nor their dates are among them, so two installations of the same sources share it.

The content begins with a digest of itself. A file that was cut short, or whose bits have changed,
does not match and is compiled anew: the unpickler, and the processor, never see it. This guards
against accidents. Against people who plant files there is another guard: only files that belong
to the user are read, because unpickling runs code.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.cloudpickle import loads
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.environment import Environment
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

_LOG = logging.getLogger("adaline")
_OWN = frozenset(Path(__file__).parent.glob("*.py"))
_PACKAGE = Path(__file__).parents[1]
_FROM = re.compile(
    r"^[ \t]*from\s+(\.*)([\w.]*)\s+import\b((?:[^\n(\\]|\\\n)*(?:\([^)]*\))?)", re.MULTILINE
)
_IMPORT = re.compile(r"^[ \t]*import\s+((?:[^\n\\]|\\\n)*)", re.MULTILINE)
_STAMP = re.compile(r"[0-9a-f]{16}")
_DAY = 86400.0
_UNUSED = 30 * _DAY  # after which machine code is thrown away
_MOST = 256 * 2**20  # bytes of machine code; a version of this package makes about 10 MB
_HEAD = b"adaline kernel\n"
# Settings of the compiler that change its code, and are not options of a kernel.
_SETTINGS = (
    "OPT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "USING_SVML",
    "BOUNDSCHECK",
    "DEBUGINFO_DEFAULT",
)


def cache_directory() -> Path:
    """Where compiled kernels are kept: a directory of the user's own, closed to others.

    Machine code is kept as pickle, so it must not lie where someone else can write.
    `ADALINE_CACHE_DIR` moves it.
    """
    directory = _place()
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not hasattr(os, "getuid"):
        return directory
    found = directory.stat()
    if found.st_uid != os.getuid():
        raise PermissionError("the directory belongs to another user")
    if found.st_mode & 0o022:
        # A umask that lets the group write made it so. Other things may be meant to be shared.
        if not all(_STAMP.fullmatch(name) for name in os.listdir(directory)):
            raise PermissionError("others can write there, and it holds more than compiled kernels")
        directory.chmod(0o700)
    return directory


def _place() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("ADALINE_CACHE_DIR") or Path(home) / "adaline")


@cache
def stamp(file: Path) -> str:
    """A name for the sources that go into the machine code of a file's kernels."""
    digests = sorted(sha256(one.read_bytes()).hexdigest() for one in sources(file))
    return sha256("".join(digests).encode()).hexdigest()[:16]


def sources(file: Path) -> set[Path]:
    """What decides the machine code of a file's kernels.

    It is the file, all that it imports from this package or from beside itself, all that those
    import, and the compiler's decorators.
    """
    found, new = set[Path](), {file, *_OWN}
    while new:
        found |= new
        new = set().union(*(_imported(one) for one in new)) - found
    return found


@cache
def _imported(file: Path) -> frozenset[Path]:
    """Files of this package, or from beside a file, that the file imports."""
    text, found = file.read_text(encoding="utf-8"), set()
    for dots, module, names in _FROM.findall(text):
        place = _module(file, dots, module)
        found |= {place.with_suffix(".py"), place / "__init__.py"}
        found |= {place / f"{name}.py" for name in re.findall(r"\w+", names)}
    for modules in _IMPORT.findall(text):
        for module in re.findall(r"[\w.]+", modules):
            place = _module(file, "", module)
            found |= {place.with_suffix(".py"), place / "__init__.py"}
    return frozenset(one for one in found if one.is_file())


def _module(file: Path, dots: str, module: str) -> Path:
    """Where a module lies, without the ending ".py"."""
    parts = module.split(".") if module else []
    if dots:
        return file.parents[len(dots) - 1].joinpath(*parts)
    if parts[0] == "adaline":
        return _PACKAGE.joinpath(*parts[1:])
    return file.parent.joinpath(*parts)


class KernelCache(_Cache):  # type: ignore[misc]
    """What numba asks for machine code, and gives it to, for one kernel."""

    def __init__(self, function: Callable[..., Any], options: Iterable[tuple[str, Any]]):
        self._function = function
        self._stamp = stamp(Path(function.__code__.co_filename))
        self._options = repr(sorted(options))

    @property
    def cache_path(self) -> str | None:
        with suppress(RuntimeError):
            return str(_place() / self._stamp)
        return None

    def holds_any(self) -> bool:
        """Whether something is kept, for whatever types."""
        with suppress(OSError, RuntimeError):
            return any((cache_directory() / self._stamp).glob(f"{self._words()}-*"))
        return False

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Machine code for a signature, or None: then numba compiles."""
        # Machine code needs what allocates memory, and no more. Not `refresh`: it loads all that
        # the compiler knows, which takes a fifth of a second; compiling does it anyway.
        rtsys.initialize(target_context)
        key = self._key(signature, target_context.codegen())
        try:
            payload = _read(cache_directory() / self._stamp / self._name(key), key)
            return CompileResult._rebuild(target_context, *loads(payload))
        except Exception as error:  # whatever is wrong with it, compiling mends it
            _LOG.debug("no kept machine code for %s: %r", self._function.__qualname__, error)
        _tell_that_kernels_are_compiled()
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep what was compiled; where that is not possible, say so once and go on."""
        if any(not one.can_cache for one in result.lifted) or result.library.has_dynamic_globals:
            return
        key = self._key(signature, result.codegen)
        payload = dumps(_without_the_compiler(result._reduce()))
        try:
            root = cache_directory()
            (root / self._stamp).mkdir(mode=0o700, exist_ok=True)
            _write(root / self._stamp / self._name(key), _sealed(key, payload))
            _clean(root)
        except (OSError, RuntimeError) as error:
            _tell_that_nothing_is_kept(error)

    def _key(self, signature: Any, codegen: Any) -> bytes:
        """All that decides the machine code, besides the sources."""
        code = self._function.__code__
        parts = (
            (self._stamp, self._function.__module__, self._function.__qualname__),
            (code.co_firstlineno, sha256(code.co_code).hexdigest(), self._options),
            (repr(signature), codegen.magic_tuple()),
            (numba.__version__, llvmlite.__version__, sys.implementation.cache_tag),
            [getattr(numba.config, name, None) for name in _SETTINGS],
        )
        return repr(parts).encode()

    def _name(self, key: bytes) -> str:
        return f"{self._words()}-{sha256(key).hexdigest()[:32]}"

    def _words(self) -> str:
        return re.sub(r"\W+", "_", self._function.__qualname__)[-60:]

    def enable(self) -> None:
        """Nothing to do: the cache is always on."""

    def disable(self) -> None:
        """Nothing to do: the cache is always on."""

    def flush(self) -> None:
        """Nothing to do: what is compiled anew replaces what was kept."""


def _without_the_compiler(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """Parts of a compiled kernel, as numba unpickles them, which load no modules of the compiler.

    The last are environments: of each function in the machine code, its module and constants. Only
    code that goes back to Python reads the module, and kernels do not. Those of numba's own
    functions would be loaded, and with them all that the compiler knows: a tenth of a second.
    """
    *others, environments = parts
    light = []
    for one in environments:
        if one.globals["__name__"].startswith("numba."):
            full, one = one, Environment({"__name__": "numba"})
            one.env_name, one.consts[:] = full.env_name, full.consts
        light.append(one)
    return *others, tuple(light)


def _sealed(key: bytes, payload: bytes) -> bytes:
    return _HEAD + sha256(key + payload).digest() + payload


def _read(file: Path, key: bytes) -> bytes:
    """The payload of a file that is the user's own, and whole."""
    # Neither a link nor a pipe is followed: one may lead elsewhere, the other waits for a writer.
    flags = ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
    number = os.open(file, os.O_RDONLY | sum(getattr(os, flag, 0) for flag in flags))
    with open(number, "rb") as opened:
        found = os.fstat(number)
        if not stat.S_ISREG(found.st_mode):
            raise OSError("not a file")
        if hasattr(os, "getuid") and found.st_uid != os.getuid():
            raise PermissionError("the file belongs to another user")
        content = opened.read()
    payload = content[len(_HEAD) + 32 :]
    if content != _sealed(key, payload):
        raise OSError("the content does not match its digest")
    with suppress(OSError):
        if time.time() - file.parent.stat().st_mtime > _DAY:
            os.utime(file.parent)  # still in use: see _clean
    return payload


def _write(file: Path, content: bytes) -> None:
    """Write all or nothing: other processes read, and write, the same file at the same time."""
    part = file.with_name(f".{file.name}.{secrets.token_hex(8)}.part")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with open(os.open(part, flags, 0o600), "wb") as opened:
            opened.write(content)
        os.replace(part, file)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


@cache
def _clean(root: Path) -> None:
    """Throw away, once a process, machine code that nobody has used for a month, or is too much.

    Former versions leave theirs behind. Whatever is thrown away by mistake is compiled again.
    """
    now, found = time.time(), []
    for one in root.iterdir():
        if not _STAMP.fullmatch(one.name) or one.is_symlink() or not one.is_dir():
            continue
        found.append((now - max(_times(one), default=now), _size(one), one))
        for part in one.glob(".*.part"):  # of processes that were killed while they wrote
            with suppress(OSError):
                if now - part.stat().st_mtime > _DAY:
                    part.unlink()
    room = _MOST
    for unused, size, one in sorted(found):  # what was used last stays
        room -= size
        if unused > _UNUSED or (room < 0 and unused > _DAY):
            shutil.rmtree(one, ignore_errors=True)


def _size(directory: Path) -> int:
    """Bytes of the files in a directory."""
    total = 0
    for one in directory.rglob("*"):
        with suppress(OSError):
            total += one.lstat().st_size
    return total


def _times(directory: Path) -> Iterator[float]:
    """When a directory, and the files in it, were written or read."""
    for one in [directory, *directory.rglob("*")]:
        with suppress(OSError):
            found = one.lstat()
            yield found.st_mtime
            if stat.S_ISREG(found.st_mode):
                yield found.st_atime


@cache
def _tell_that_kernels_are_compiled() -> None:
    _LOG.info(
        "Compiling for this processor, once: about 2 s for each kind of learner "
        "(`adaline warm-up` compiles everything beforehand)."
    )


def _tell_that_nothing_is_kept(error: Exception) -> None:
    try:
        place = str(_place())
    except RuntimeError:
        place = "the user's cache directory"
    why = getattr(error, "strerror", None) or str(error)
    _warn_once(f"{place}: {why.rstrip('.')}")


_warned: list[str] = []


def _warn_once(place_and_reason: str) -> None:
    """A line in the log, not a Python warning: one made an error would stop a fit for a cache."""
    if not _warned:
        _warned.append(place_and_reason)
        _LOG.warning(
            "Compiled kernels cannot be kept in %s. Every process compiles them again, some "
            "seconds each; set ADALINE_CACHE_DIR to a directory of your own.",
            place_and_reason,
        )
