"""What processors have and Python has not: a product and a sum rounded once, and a look ahead."""

from __future__ import annotations

from fractions import Fraction
from math import fsum, inf, isfinite
from typing import Any

import numba
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

_SPLIT = 2.0**27 + 1.0  # times a number: its upper half of bits
_TINY, _HUGE = 2.0**-900, 2.0**900


def fma_exactly(a: float, b: float, c: float) -> float:
    """a*b + c rounded once: the same bits without a compiler.

    The product is a float and its rounding error, another float (Dekker), and `fsum` rounds their
    sum with c once. Where the error might be too small for a float, or a part of it too large,
    fractions do the same, ten times slower.
    """
    a, b, c = float(a), float(b), float(c)  # numpy's are slow
    product = a * b
    if _TINY < abs(product) < _HUGE and abs(a) < _HUGE and abs(b) < _HUGE and abs(c) < _HUGE:
        s, t = _SPLIT * a, _SPLIT * b
        s, t = s - (s - a), t - (t - b)
        u, v = a - s, b - t
        return fsum((product, ((s * t - product) + s * v + u * t) + u * v, c))
    if a == 0.0 or b == 0.0 or not (isfinite(a) and isfinite(b) and isfinite(c)):
        return product + c  # not rounded: exact, infinite or NaN, and zeros keep their signs
    total = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return float(total)
    except OverflowError:
        return inf if total > 0 else -inf


@intrinsic
def _fma_compiled(typing_context, a, b, c):  # type: ignore[no-untyped-def]
    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), code


def _prefetch_nothing(array: Any, i: Any) -> None:
    """Without a compiler there is nothing to be gained."""


@intrinsic
def _prefetch_compiled(typing_context, array, i):  # type: ignore[no-untyped-def]
    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", (byte,), kind)
        # To be read; often, so that it is brought next to the processor; data, not code.
        builder.call(fetch, [place, *(ir.Constant(number, k) for k in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(array, i), code


fma = fma_exactly if numba.config.DISABLE_JIT else _fma_compiled
# Begin to fetch array[i] from memory, which takes a hundred times as long as to add it.
prefetch = _prefetch_nothing if numba.config.DISABLE_JIT else _prefetch_compiled
