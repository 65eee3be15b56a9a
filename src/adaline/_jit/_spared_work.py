"""Work that numba is spared while it compiles our kernels, which takes a third less time then.

Methods of numba answer from memory what they were asked before, and write less code. They are
replaced while one of our kernels is compiled, under the lock of numba's compiler; then numba, which
others use too, is as before. They are known from inside up to the version below: a later numba is
left as it is, and compiles the same kernels in more time.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import pairwise
from typing import Any

import numba
from numba.core import cgutils, types
from numba.core.base import BaseContext
from numba.core.lowering import Lower
from numba.core.types.functions import BaseFunction

_KNOWN = (0, 68)  # the latest minor version


@contextmanager
def spared_work() -> Iterator[None]:
    """As long as this lasts, numba does less."""
    if numba.version_info.short > _KNOWN:
        yield
        return
    _spare_blas()
    with _no_collections(), _replaced(*_methods()):
        yield


def _spare_blas() -> None:
    """Do not let numba look whether scipy has BLAS: it has, and looking imports 0.2 s of scipy."""
    if "numba.np.arraymath" not in sys.modules:
        with _replaced((import_module("numba.np.linalg"), "ensure_blas", lambda: None)):
            import_module("numba.np.arraymath")


@contextmanager
def _no_collections() -> Iterator[None]:
    """Do not look for garbage: a compiler keeps nearly all it makes, and looking takes a tenth."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            # What was made counts as old now: else Python would look through all of it at once.
            if gc.get_freeze_count() == 0:
                gc.freeze()
                gc.unfreeze()
            gc.enable()


@contextmanager
def _replaced(*methods: tuple[Any, str, Any]) -> Iterator[None]:
    """Methods (class, name, other) are replaced for a while, where they are there."""
    there = [(owner, name, one) for owner, name, one in methods if name in vars(owner)]
    before = [(owner, name, vars(owner)[name]) for owner, name, _ in there]
    try:
        for owner, name, one in there:
            setattr(owner, name, one)
        yield
    finally:
        for owner, name, one in before:
            setattr(owner, name, one)


def _methods() -> list[tuple[Any, str, Any]]:
    """What replaces which method.

    - What + of two floats is: numba tries a dozen definitions at every +, and as many of other
      functions. A sixth of the time to compile.
    - How many bytes a type has: numba writes a module, and LLVM reads it, for every variable.
    - Which definitions are new: numba imports all its files again, some hundred times.
    """
    call_type = _remembered(
        BaseFunction.get_call_type, lambda f, to, args, kws: (f, to, (*args,), (*kws.items(),))
    )
    bytes_of = _remembered(BaseContext.get_abi_sizeof, lambda context, kind: str(kind))
    return [
        (BaseFunction, "get_call_type", call_type),
        (BaseContext, "get_abi_sizeof", bytes_of),
        (BaseContext, "refresh", _known_only(BaseContext.refresh)),
        (Lower, "lower_getitem", _reading(Lower.lower_getitem)),
        (Lower, "lower_setitem", _writing(Lower.lower_setitem)),
    ]


def _reading(lower_getitem: Any) -> Any:
    """a[i] and a[i, j] in four instructions: numba's own copy the description of a first."""

    def read(self: Any, kind: Any, expr: Any, array: Any, index: Any, signature: Any) -> Any:
        place = _place(self, array, index, signature)
        if place is None:
            return lower_getitem(self, kind, expr, array, index, signature)
        number = self.context.unpack_value(self.builder, signature.args[0].dtype, place)
        return self.context.cast(self.builder, number, signature.return_type, kind)

    return read


def _writing(lower_setitem: Any) -> Any:
    """a[i] = v and a[i, j] = v, likewise."""

    def write(self: Any, array: Any, index: Any, value: Any, signature: Any) -> Any:
        place = _place(self, array, index, signature)
        if place is None:
            return lower_setitem(self, array, index, value, signature)
        context, builder, dtype = self.context, self.builder, signature.args[0].dtype
        number = self.loadvar(value.name)
        for before, after in pairwise((self.typeof(value.name), signature.args[2], dtype)):
            number = context.cast(builder, number, before, after)
        context.pack_value(builder, dtype, number, place)
        return context.get_dummy_value()

    return write


def _place(lower: Any, array: Any, index: Any, signature: Any) -> Any:
    """Address of one number of an array without gaps, or None where an index means something else.

    As in numpy, a negative index counts from the end.
    """
    kind, at = signature.args[:2]
    kinds = at.types if isinstance(at, types.containers.BaseTuple) else (at,)
    plain = isinstance(kind, types.Array) and kind.layout == "C" and kind.aligned
    if not plain or len(kinds) != kind.ndim or not all(isinstance(k, types.Integer) for k in kinds):
        return None
    from numba.np.arrayobj import fix_integer_index

    context, builder = lower.context, lower.builder
    value, i = lower.loadvar(array.name), lower.loadvar(index.name)
    i = context.cast(builder, i, lower.typeof(index.name), at)
    indices = [i] if at is kinds[0] else cgutils.unpack_tuple(builder, i, len(kinds))
    field = context.data_model_manager[kind].get_field_position
    shape = cgutils.unpack_tuple(builder, builder.extract_value(value, field("shape")), kind.ndim)
    data = builder.extract_value(value, field("data"))
    each = zip(kinds, indices, shape, strict=True)
    places = [fix_integer_index(context, builder, *one) for one in each]
    return cgutils.get_item_pointer2(context, builder, data, shape, None, "C", places)


def _remembered(method: Any, key_of: Any) -> Any:
    """A method that keeps its answers, by a key made of its arguments."""
    found = dict[Any, Any]()

    def answer(*arguments: Any) -> Any:
        if (key := key_of(*arguments)) not in found:
            found[key] = method(*arguments)
        return found[key]

    return answer


def _known_only(refresh: Any) -> Any:
    """A method that the second time looks for new definitions only where there were some before."""
    done = list[None]()

    def look(self: Any) -> None:
        if not done:
            done.append(refresh(self))
        for registry in [*self._registries]:
            self.install_registry(registry)

    return look
