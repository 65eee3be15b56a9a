"""The only `import numba`: the decorator of every kernel, and the fused multiply-add."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import types
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])


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


def _compiled(function: F, fastmath: bool | set[str]) -> F:
    before = numba.config.CACHE_DIR
    try:
        # numba picks the directory while it decorates, so only our kernels move there.
        numba.config.CACHE_DIR = str(cache_directory())
        cache = True
    except (OSError, RuntimeError):  # no home, or one we may not write: compile each time
        cache = False
    try:
        options = {"cache": cache, "nogil": True, "error_model": "numpy", "fastmath": fastmath}
        compiled: F = numba.njit(**options)(function)
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
