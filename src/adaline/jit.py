"""Optional compilation: every kernel is plain Python that numba makes fast.

The first call of a kernel imports numba. Without numba, kernels run about a hundred times slower.
numba stores machine code in NUMBA_CACHE_DIR, or else beside the sources or in the user's cache
folder, and replaces it only when the kernel's own file changes. A kernel therefore calls only
kernels of its own file and `fma`, and the constants it imports never change.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial, update_wrapper
from math import isfinite
from typing import Any

import numpy as np


class Kernel:
    """A function that numba compiles once for each combination of argument types."""

    caching = True  # of machine code on disk, for all kernels; False after the first failure

    def __init__(self, function: Callable[..., Any], **options: Any):
        self.py_func, self._options = function, options
        self._versions: dict[bool, Any] = {}
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        caching = Kernel.caching
        try:
            return self.version(caching)(*arguments)
        except Exception as error:
            # Kernels raise nothing, so it was numba, before the first step: it could not read or
            # write its cache (folder read-only, disk full, file damaged), or the kernel is wrong.
            if not caching or load_numba() is None or isinstance(error, MemoryError):
                raise
            Kernel.caching = False
            result = self.version(caching=False)(*arguments)
            warn(
                "Kernels are recompiled in every process, which takes seconds, as numba's cache "
                f"failed ({type(error).__name__}: {error}). Set NUMBA_CACHE_DIR to a new folder."
            )
            return result

    def version(self, caching: bool) -> Any:
        """The function, compiled with or without a cache, or as Python."""
        if caching not in self._versions:
            numba, function = load_numba(), self.py_func
            options = {"cache": caching, "nogil": True, "error_model": "numpy", **self._options}
            options["no_cfunc_wrapper"] = True  # only Python and other kernels call it
            compiled = numba.njit(**options)(function) if numba else partial(run, function)
            self._versions[caching] = compiled
        return self._versions[caching]

    # numba asks this of an object that a kernel refers to, here of another kernel.
    _numba_type_ = property(lambda self: self.version(Kernel.caching)._numba_type_)


# Operations in the order in which they are written: double-double arithmetic depends on it.
kernel = Kernel
# Sums in any order, so that loops can be vectorised; NaN and infinity keep their meaning.
sum_kernel = partial(Kernel, fastmath={"reassoc", "contract", "nsz"})


def run(function: Callable[..., Any], *arguments: Any) -> Any:
    """Run as Python, where division by zero and overflow give infinity or NaN as in a kernel."""
    with np.errstate(all="ignore"):  # numpy's numbers obey this; Python's raise errors
        return function(*[np.float64(a) if type(a) is float else a for a in arguments])


@cache
def load_numba() -> Any:
    """numba, able to compile `fma`; None where it is missing or switched off."""
    try:
        import numba
    except ImportError:  # a Python too new for numba, or a browser
        warn("Without numba, kernels run as plain Python, about a hundred times slower.")
        return None

    @numba.extending.intrinsic
    def fused(typing_context, a, b, c):  # type: ignore[no-untyped-def]
        double = numba.float64
        return double(double, double, double), lambda _, builder, __, abc: builder.fma(*abc)

    numba.extending.overload(fma)(lambda a, b, c: lambda a, b, c: fused(a, b, c))
    return None if numba.config.DISABLE_JIT else numba


def fma(a: float, b: float, c: float) -> float:
    """a b + c, rounded once. In compiled code one instruction of the processor."""
    if isfinite(a) and isfinite(b) and isfinite(c):
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        if exact and abs(exact) < 2**1024 - 2**970:  # above, it is rounded to infinity
            return float(exact)
    return a * b + c  # infinity, NaN, or a zero with its sign


@cache  # once per process
def warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=3)
