"""Vector registers by hand: numbers side by side, for loops that a compiler does not pack well.

Legend: v, a, b, c vectors; array (n,) without gaps; i a place in it. A vector holds four numbers,
or eight of single precision, side by side as they lie in memory. Kernels use these functions as
they use numbers; sums and products have names, because each meaning of + is one more that the
compiler tries at every + of every kernel. Without a compiler they are numpy, and vectors are short
arrays.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic, models, register_model

_INDEX = ir.IntType(32)


def width(array: Any) -> int:
    """How many numbers of an array a vector holds."""
    return 8 if array.dtype == np.float32 else 4


def load(array: Any, i: Any) -> Any:
    """The numbers of an array from i on."""
    return array[int(i) : int(i) + width(array)].copy()


def four(array: Any, i: Any) -> Any:
    """Four numbers of an array from i on, in double precision."""
    return array[int(i) : int(i) + 4].astype(np.result_type(array, np.float64))


def store(array: Any, i: Any, v: Any) -> None:
    """Write v to an array of its own kind, from i on."""
    array[int(i) : int(i) + len(v)] = v


def spread(array: Any, number: Any) -> Any:
    """One number in all places of a vector, of the kind of the array."""
    return np.full(width(array), number, array.dtype)


def conj(v: Any) -> Any:
    """The conjugate of each number."""
    return np.conj(v)


def last(v: Any) -> Any:
    """The last number."""
    return v[-1]


def sums(a: Any, b: Any, c: Any, d: Any) -> Any:
    """The sum over the numbers of each of four vectors."""
    return a.sum(), b.sum(), c.sum(), d.sum()


def plus(v: Any, w: Any) -> Any:
    """The sum of two vectors, number by number."""
    return v + w


def minus(v: Any, w: Any) -> Any:
    """The difference."""
    return v - w


def times(v: Any, w: Any) -> Any:
    """The product."""
    return v * w


def multiply_add(a: Any, b: Any, c: Any) -> Any:
    """a b + c of vectors or numbers; real products are rounded once where the processor can."""
    return a * b + c


class Lanes(types.Type):
    """The compiler's type of a vector: `count` numbers of one kind, of one real part or two."""

    def __init__(self, kind: Any) -> None:
        self.kind, self.parts = kind, 2 if isinstance(kind, types.Complex) else 1
        self.bits = kind.bitwidth // self.parts
        self.count = 8 if kind == types.float32 else 4
        real = ir.FloatType() if self.bits == 32 else ir.DoubleType()
        self.vector = ir.VectorType(real, self.count * self.parts)
        super().__init__(f"Lanes({kind})")

    def picked(self, builder: Any, a: Any, b: Any, places: Iterable[int]) -> Any:
        """Numbers of a, followed by those of b, by their places."""
        parts = [self.parts * k + j for k in places for j in range(self.parts)]
        return _picked(builder, a, b, parts)

    def number(self, builder: Any, v: Any, k: int) -> Any:
        """Number k of v, as numba has it."""
        places = (ir.Constant(_INDEX, self.parts * k + j) for j in range(self.parts))
        return _joined(builder, [builder.extract_element(v, place) for place in places])


@register_model(Lanes)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    """A register, or two, as the machine has them."""

    def __init__(self, manager: Any, lanes: Lanes) -> None:
        super().__init__(manager, lanes, lanes.vector)


def _picked(builder: Any, a: Any, b: Any, places: Iterable[int]) -> Any:
    """Real parts of a, followed by those of b, by their places."""
    mask = [*places]
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_INDEX, len(mask)), mask))


def _parts(builder: Any, number: Any) -> list[Any]:
    """Real and imaginary part of a number, or the one part of a real one."""
    pair = isinstance(number.type, ir.BaseStructType)
    return [builder.extract_value(number, k) for k in range(2)] if pair else [number]


def _joined(builder: Any, parts: list[Any]) -> Any:
    """The other way round."""
    if len(parts) == 1:
        return parts[0]
    pair = ir.Constant(ir.LiteralStructType([part.type for part in parts]), ir.Undefined)
    return builder.insert_value(builder.insert_value(pair, parts[0], 0), parts[1], 1)


def _address(context: Any, builder: Any, array: Any, value: Any, i: Any, vector: Any) -> Any:
    """Where a vector begins in an array."""
    data = context.make_array(array)(context, builder, value).data
    return builder.bitcast(builder.gep(data, [i]), vector.as_pointer())


def _loaded(array: Any, i: Any, lanes: Lanes) -> Any:
    """How to read lanes from an array, and widen them where the array is of single precision."""
    narrow = Lanes(array.dtype)
    memory = ir.VectorType(narrow.vector.element, lanes.vector.count)

    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        value, i = arguments
        address = _address(context, builder, array, value, i, memory)
        v = builder.load(address, align=narrow.bits // 8, typ=memory)  # aligned to numbers only
        return v if memory == lanes.vector else builder.fpext(v, lanes.vector)

    return lanes(array, i), code


@intrinsic
def _load(_, array, i):  # type: ignore[no-untyped-def]
    return _loaded(array, i, Lanes(array.dtype))


@intrinsic
def _four(_, array, i):  # type: ignore[no-untyped-def]
    pair = isinstance(array.dtype, types.Complex)
    return _loaded(array, i, Lanes(types.complex128 if pair else types.float64))


@intrinsic
def _store(_, array, i, v):  # type: ignore[no-untyped-def]
    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        value, i, numbers = arguments
        address = _address(context, builder, array, value, i, v.vector)
        builder.store(numbers, address, align=v.bits // 8)
        return context.get_dummy_value()

    return (types.void(array, i, v), code) if array.dtype == v.kind else None


@intrinsic
def _spread(_, array, number):  # type: ignore[no-untyped-def]
    lanes = Lanes(array.dtype)

    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        v = ir.Constant(lanes.vector, ir.Undefined)
        number_ = context.cast(builder, arguments[1], number, lanes.kind)
        for k, part in enumerate(_parts(builder, number_)):
            v = builder.insert_element(v, part, ir.Constant(_INDEX, k))
        return lanes.picked(builder, v, v, [0] * lanes.count)

    return lanes(array, number), code


@intrinsic
def _width(_, array):  # type: ignore[no-untyped-def]
    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return context.get_constant(types.uintp, Lanes(array.dtype).count)

    return types.uintp(array), code


def _signed(builder: Any, v: Any, minus: int) -> Any:
    """v with its real parts (0) or its imaginary parts (1) negative."""
    n = v.type.count
    return _picked(builder, v, builder.fneg(v), [k + n * (k % 2 == minus) for k in range(n)])


@intrinsic
def _conj(_, v):  # type: ignore[no-untyped-def]
    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return arguments[0] if v.parts == 1 else _signed(builder, arguments[0], 1)

    return v(v), code


@intrinsic
def _last(_, v):  # type: ignore[no-untyped-def]
    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return v.number(builder, arguments[0], v.count - 1)

    return v.kind(v), code


def _added(lanes: Lanes, builder: Any, v: Any, w: Any, step: int) -> Any:
    """Halves of each stretch of 2 * step numbers added, v's sums and w's taking turns."""
    n = lanes.count
    low = [k + j + h for k in range(0, n, 2 * step) for h in (0, n) for j in range(step)]
    high = [k + step for k in low]
    return builder.fadd(lanes.picked(builder, v, w, low), lanes.picked(builder, v, w, high))


@intrinsic
def _sums(_, a, b, c, d):  # type: ignore[no-untyped-def]
    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        x, y, z, u = arguments
        s = _added(a, builder, _added(a, builder, x, y, 1), _added(a, builder, z, u, 1), 2)
        if a.count == 8:  # each sum is in two halves still
            s = builder.fadd(s, a.picked(builder, s, s, [*range(4, 8), *range(4)]))
        numbers = [a.number(builder, s, k) for k in range(4)]
        return context.make_tuple(builder, signature.return_type, numbers)

    return types.containers.UniTuple(a.kind, 4)(a, b, c, d), code


def _fused(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """a b + c of real parts."""
    vector = isinstance(a.type, ir.VectorType)
    real = (a.type.element if vector else a.type).intrinsic_name
    name = f"llvm.fmuladd.{f'v{a.type.count}' if vector else ''}{real}"
    kind = ir.FunctionType(a.type, [a.type] * 3)
    return builder.call(get_or_insert_function(builder.module, kind, name), [a, b, c])


def _halves(builder: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    """a b = x b + y z of complex vectors, with products part by part: x, y and z."""
    n = a.type.count
    x, y = (_picked(builder, a, a, [k - k % 2 + j for k in range(n)]) for j in range(2))
    turned = _picked(builder, b, b, [k + 1 - 2 * (k % 2) for k in range(n)])
    return x, _signed(builder, y, 0), turned


@intrinsic
def _multiply_add(_, a, b, c):  # type: ignore[no-untyped-def]
    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        v, w, s = arguments
        if isinstance(a, Lanes):
            if a.parts == 1:
                return _fused(builder, v, w, s)
            x, y, z = _halves(builder, v, w)
            return _fused(builder, y, z, _fused(builder, x, w, s))
        (x, *xi), (y, *yi), (z, *zi) = (_parts(builder, number) for number in arguments)
        re = _fused(builder, x, y, z)
        if not xi:
            return re
        re = _fused(builder, builder.fneg(xi[0]), yi[0], re)
        return _joined(builder, [re, _fused(builder, xi[0], y, _fused(builder, x, yi[0], zi[0]))])

    return (a(a, b, c), code) if a == b == c else None


@intrinsic
def _plus(_, a, b):  # type: ignore[no-untyped-def]
    return a(a, b), lambda context, builder, signature, pair: builder.fadd(*pair)


@intrinsic
def _minus(_, a, b):  # type: ignore[no-untyped-def]
    return a(a, b), lambda context, builder, signature, pair: builder.fsub(*pair)


@intrinsic
def _times(_, a, b):  # type: ignore[no-untyped-def]
    def code(context, builder, signature, pair):  # type: ignore[no-untyped-def]
        if a.parts == 1:
            return builder.fmul(*pair)
        x, y, z = _halves(builder, *pair)
        return builder.fadd(builder.fmul(x, pair[1]), builder.fmul(y, z))

    return a(a, b), code


if not numba.config.DISABLE_JIT:
    width, load, four, store, spread = _width, _load, _four, _store, _spread
    conj, last, sums, multiply_add = _conj, _last, _sums, _multiply_add
    plus, minus, times = _plus, _minus, _times
