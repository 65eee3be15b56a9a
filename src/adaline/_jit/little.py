"""Little work, done by Python itself: the same bits, and nobody waits for a compiler.

Python's floats round as the processor does, so a kernel that may not reorder its sums gives the
same bits uncompiled. It then takes some ten microseconds a step, and compiling it takes a second:
for a table of a few hundred rows, which is what a first call mostly gets, Python is faster. Work
that goes on is compiled all the same, once it has taken Python as long as compiling would. With
ADALINE_COMPILE=always in the environment all is compiled, which is how `adaline warm-up` does it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

import numba
import numpy as np

from adaline._jit import kernel as compiled
from adaline._jit.processor import fma, fma_exactly

_LITTLE = 2**13  # steps, each some ten microseconds
_BY_NUMPY = 2**9  # steps that numpy makes in the time of one of Python's
_ENOUGH = 1.0  # seconds in which Python does the work of a process, altogether
_spent = [0.0]


def for_sums(kernel: Any, steps: int) -> Callable[..., Any]:
    """A kernel whose sums may be added up in any order, and in which order: the size decides.

    Short sums fill no vector registers. They are added up in the order in which they are written,
    which Python can do as well, with the same bits; so bits depend on the size of the work alone.
    """
    return for_work(in_order(kernel), steps) if steps <= _LITTLE else kernel


@cache
def in_order(kernel: Any) -> Any:
    """A kernel that adds up as it is written, and so do those that it calls."""
    if numba.config.DISABLE_JIT:
        return kernel
    function = kernel.py_func
    called = {
        name: in_order(one)
        for name, one in function.__globals__.items()
        if name in function.__code__.co_names and hasattr(one, "py_func")
    }
    names = {**function.__globals__, **called}
    copy = FunctionType(function.__code__, names, function.__name__)
    copy.__qualname__ = f"{function.__name__}_in_order"  # machine code is kept under this name
    copy.__module__ = function.__module__
    return compiled(copy)


def for_work(
    kernel: Any, steps: int, by_numpy: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """A kernel as it is, or to be run by Python where that is sooner done.

    by_numpy does the same with numpy, which serves for far more steps than Python alone. Only for
    kernels without `sums_kernel` and without functions such as exp: their bits differ.
    """
    most = _LITTLE if by_numpy is None else _LITTLE * _BY_NUMPY
    if numba.config.DISABLE_JIT or kernel.overloads or steps > most or _spent[0] > _ENOUGH:
        return kernel  # type: ignore[no-any-return]
    if os.environ.get("ADALINE_COMPILE") == "always" or _is_kept(kernel):
        return kernel  # type: ignore[no-any-return]
    return _timed(by_numpy or uncompiled(kernel))


@cache
def _is_kept(kernel: Any) -> bool:
    """Whether there is machine code of a kernel on disk, for whatever types."""
    return bool(getattr(kernel._cache, "holds_any", bool)())


@cache
def _timed(function: Callable[..., Any]) -> Callable[..., Any]:
    def timed(*arguments: Any) -> Any:
        began = time.perf_counter()
        try:
            with np.errstate(all="ignore"):  # kernels go on with infinities, and say nothing
                return function(*arguments)
        finally:
            _spent[0] += time.perf_counter() - began

    return timed


@cache
def uncompiled(kernel: Any) -> Callable[..., Any]:
    """The Python function of a kernel, which calls the Python functions of others."""
    function = kernel.py_func
    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        one = names.get(name)
        if one is fma:
            names[name] = fma_exactly
        elif hasattr(one, "py_func"):
            names[name] = uncompiled(one)
    return FunctionType(function.__code__, names, function.__name__)
