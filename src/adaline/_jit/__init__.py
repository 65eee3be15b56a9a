"""The only `import numba`: the decorator of every kernel, and the fused multiply-add."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Any, TypeVar, cast

import numba
from numba.core import types
from numba.extending import intrinsic

from adaline._jit.cache import KernelCache
from adaline._jit.dispatch import Kernel

F = TypeVar("F", bound=Callable[..., Any])


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
    if numba.config.DISABLE_JIT:
        return function
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fastmath, **more}
    compiled = Kernel(function, **options)
    options["fastmath"] = sorted(fastmath) if isinstance(fastmath, set) else fastmath
    # Not cache=True: where numba cannot write, it keeps machine code beside the sources.
    with suppress(OSError):  # no sources to be read, as in a zip archive: compile each time
        compiled._cache = KernelCache(function, options.items())
    return cast(F, compiled)


def _fma_exactly(a: float, b: float, c: float) -> float:
    """a*b + c rounded once, in rational arithmetic: the same bits without a compiler."""
    return float(Fraction(a) * Fraction(b) + Fraction(c))


@intrinsic
def _fma_compiled(typing_context, a, b, c):  # type: ignore[no-untyped-def]
    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), code


fma = _fma_exactly if numba.config.DISABLE_JIT else _fma_compiled
