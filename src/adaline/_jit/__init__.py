"""The only `import numba`: the decorator of every kernel, and the fused multiply-add."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import types
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])
_OWN = frozenset(Path(__file__).parent.glob("*.py"))


def cache_directory() -> Path:
    """Where compiled kernels are kept: a directory of the user's own, closed to others.

    numba's cache is pickle, so it must not lie where someone else can write.
    `ADALINE_CACHE_DIR` moves it.
    """
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    directory = Path(os.environ.get("ADALINE_CACHE_DIR") or Path(home) / "adaline")
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = directory.stat()
    if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o022):
        raise PermissionError(f"{directory} can be written by others; kernels are not kept there.")
    return directory


def stamp(function: Callable[..., Any]) -> str:
    """A name for all files that go into a kernel's machine code, besides its own.

    numba compiles a kernel anew when its own file has changed, and does not look at those of the
    kernels it calls: these decide in which directory the machine code lies.
    """
    files, calling = set(_OWN), [function]
    for caller in calling:
        for value in list(getattr(caller, "__globals__", {}).values()):
            called = getattr(value, "py_func", None)
            if called is not None and called.__module__ != caller.__module__:
                file = Path(called.__code__.co_filename)
                calling += [called] if file not in files else []
                files.add(file)
    return sha256("".join(sorted(map(_digest, files))).encode()).hexdigest()[:16]


@cache
def _digest(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()


def kernel(function: F) -> F:
    """Compile on first call, keep the machine code on disk, and let go of the GIL.

    No fastmath: the double-double kernels live on the order of their operations.
    """
    return _compiled(function, fastmath=False)


def sums_kernel(function: F) -> F:
    """A kernel whose sums may be added up in any order, so that they fill vector registers.

    NaN and infinities still mean what they mean.
    """
    return _compiled(function, fastmath={"reassoc", "contract", "nsz"})


def inlined(function: F) -> F:
    """A kernel that becomes part of each kernel that calls it.

    For innermost loops: a call hands arrays over word by word, and counts them in and out.
    """
    return _compiled(function, fastmath=False, forceinline=True)


def _compiled(function: F, fastmath: bool | set[str], **more: bool) -> F:
    before = numba.config.CACHE_DIR
    try:
        # numba picks the directory while it decorates, so only our kernels move there.
        numba.config.CACHE_DIR = str(cache_directory() / stamp(function))
        kept = True
    except (OSError, RuntimeError):  # no home, or one we may not write: compile each time
        kept = False
    try:
        options = {"cache": kept, "nogil": True, "error_model": "numpy", "fastmath": fastmath}
        compiled: F = numba.njit(**options, **more)(function)
        return compiled
    finally:
        numba.config.CACHE_DIR = before


def _fma_exactly(a: float, b: float, c: float) -> float:
    """a*b + c rounded once, in rational arithmetic: the same bits without a compiler."""
    return float(Fraction(a) * Fraction(b) + Fraction(c))


@intrinsic
def _fma_compiled(typing_context, a, b, c):  # type: ignore[no-untyped-def]
    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), code


fma = _fma_exactly if numba.config.DISABLE_JIT else _fma_compiled
