"""The only `import numba`: the decorator of every kernel, and the fused multiply-add."""

from __future__ import annotations

import os
import re
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
_IMPORTED = re.compile(r"^from (?:\w+\.)*(\w+) import", re.MULTILINE)


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


@cache
def stamp(file: Path) -> str:
    """A name for all that goes into the machine code of a file's kernels, besides the file itself.

    numba compiles a kernel anew when its own file has changed, and does not look at those from
    which it imports: these decide in which directory the machine code lies.
    """
    used, found = set(_OWN), [file]
    for one in found:
        for module in _IMPORTED.findall(one.read_text(encoding="utf-8")):
            other = one.with_name(f"{module}.py")
            if other.exists() and other not in found:
                found.append(other)
                used.add(other)
    digests = sorted(sha256(one.read_bytes()).hexdigest() for one in used)
    return sha256("".join(digests).encode()).hexdigest()[:16]


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
        numba.config.CACHE_DIR = str(cache_directory() / stamp(Path(function.__code__.co_filename)))
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
