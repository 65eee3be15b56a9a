"""The decorators of kernels: how numba compiles them, and what is done to have it done soon.

What Python calls is compiled whole: with all that it calls, as one piece of machine code, which is
kept on disk. What kernels call is a part: it is translated, linked into each kernel that calls it,
and optimised as a whole only there. Parts have no machine code of their own, which saves a tenth to
a quarter of the time to compile, and the code of a kernel depends on its sources alone. Else a
kernel would end in the copy of a part that happens to be in memory; where sums may be added up in
any order, copies differ in their last bits, and answers would depend on what the cache holds.

Parts do get the passes that clean up single functions: without them RLS and NLMS run a third to a
half slower.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature
from numba.core.types.misc import unliteral
from numba.extending import intrinsic

from adaline._jit.cache import KernelCache

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


def seldom(kernel: F) -> F:
    """A kernel that others call once a block of rows or less: it is not copied into them.

    The compiler copies what looks short into every place that calls it, and then optimises the
    copies: half of the time that it takes over the machine code of a filter.
    """
    _SELDOM.add(getattr(kernel, "py_func", kernel))
    return kernel


_SELDOM: set[Any] = set()


def _compiled(function: F, fastmath: bool | set[str], forceinline: bool = False) -> F:
    if numba.config.DISABLE_JIT:
        return function
    # All are named: what is not would be as in the kernel that calls this one first.
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    options |= {"fastmath": fastmath, "forceinline": forceinline}
    compiled = _Kernel(function, targetoptions={"nopython": True, **options})
    options["fastmath"] = sorted(fastmath) if isinstance(fastmath, set) else fastmath
    # Not cache=True: where numba cannot write, it keeps machine code beside the sources.
    with suppress(OSError):  # no sources to be read, as in a zip archive: compile each time
        compiled._cache = KernelCache(function, options.items())
    return cast(F, compiled)


class _Whole(JITCodeLibrary):  # type: ignore[misc]
    """The machine code of one kernel. The names of all that it calls are private."""

    def finalize(self) -> None:
        self._own = _defined(self._final_module)
        super().finalize()

    def _finalize_final_module(self) -> None:
        for name in _defined(self._final_module) - self._own:
            self._final_module.get_function(name).linkage = llvm.Linkage.internal
        super()._finalize_final_module()


class _Part(JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel that others link: neither optimised as a whole, nor machine code."""

    seldom = False

    def add_ir_module(self, module: Any) -> None:
        # Written into the text: older llvmlite give an attribute to what a function returns.
        for function in module.functions if self.seldom else ():
            if not function.is_declaration:
                function.attributes.add("noinline")
        super().add_ir_module(module)

    def _optimize_functions(self, module: Any) -> None:
        if not self.seldom:  # what is copied nowhere is optimised in the kernel that links this
            super()._optimize_functions(module)

    def _optimize_final_module(self) -> None:
        """Nothing to do: the kernel that links this is optimised."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


def _defined(module: Any) -> set[str]:
    return {one.name for one in module.functions if not one.is_declaration}


class _Flags(Flags):  # type: ignore[misc]
    """Settings of the compiler, compared quickly.

    numba asks some ten thousand times whether the settings are still the same, and compares a
    hundred values each time: a tenth of the time to compile.
    """

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _Flags) and self._values == other._values:
            return True
        return bool(super().__eq__(other))

    def __hash__(self) -> int:  # equal to that of equal settings of numba's own
        return _HASH


_HASH = hash(Flags())
# Passes for what kernels do not contain: closures, `with`, generators of code, parallel loops,
# sums of whole arrays; and types written down for people to read.
_SPARED = {
    "AnnotateTypes",
    "DumpParforDiagnostics",
    "FindLiterallyCalls",
    "InlineClosureLikes",
    "InlineInlinables",
    "InlineOverloads",
    "LiteralPropagationSubPipelinePass",
    "LiteralUnroll",
    "MakeFunctionToJitFunction",
    "RewriteDynamicRaises",
    "WithLifting",
}


class _LeanCompiler(Compiler):  # type: ignore[misc]
    def __init__(self, typingctx: Any, targetctx: Any, library: Any, args: Any, *more: Any) -> None:
        return_type, flags, locals = more
        super().__init__(typingctx, targetctx, library, args, return_type, _Flags(flags), locals)

    def define_pipelines(self) -> list[Any]:
        pipelines = super().define_pipelines()
        for one in pipelines:
            one.passes = [each for each in one.passes if each[0].__name__ not in _SPARED]
        return list(pipelines)


def _doing_less() -> AbstractContextManager[None]:
    from adaline._jit._spared_work import spared_work  # only where something is compiled

    return spared_work()


class _WholeCompiler(_LeanCompiler):
    def __init__(self, *arguments: Any) -> None:
        with _doing_less():
            super().__init__(*arguments)

    def compile_extra(self, func: Any) -> Any:
        self.state.flags.no_cfunc_wrapper = True  # only Python calls it
        self.state.library = _Whole(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        with _doing_less():
            return super().compile_extra(func)


class _PartCompiler(_LeanCompiler):
    def compile_extra(self, func: Any) -> Any:
        flags, context = self.state.flags, self.state.targetctx
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.no_compile = True
        self.state.library = _Part(context.codegen(), func.__qualname__)
        self.state.library.seldom = func in _SELDOM
        result = super().compile_extra(func)
        # numba knows a function by its entry point. This one stands for the part, and runs nothing.
        result = result._replace(entry_point=object())
        context.insert_user_function(result.entry_point, result.fndesc, [result.library])
        return result


class _PartDispatcher(CPUDispatcher):  # type: ignore[misc]
    def compile(self, sig: Any) -> Any:
        """As numba's own, without clocks for each part, which every call of LLVM would start."""
        args, return_type = normalize_signature(sig)
        if args not in self.overloads:
            self.add_overload(self._compiler.compile(args, return_type))
        return self.overloads[args].entry_point

    def add_overload(self, cres: Any) -> None:
        self.overloads[tuple(cres.signature.args)] = cres  # not for calls from Python


class _Kernel(CPUDispatcher):  # type: ignore[misc]
    """A compiled function. Python calls the whole; kernels call a part."""

    def __init__(self, py_func: Any, locals: Any = None, targetoptions: Any = None) -> None:
        locals = locals or {}  # older releases of numba want a dictionary
        super().__init__(py_func, locals, targetoptions, _WholeCompiler)
        self._part = _PartDispatcher(py_func, locals, dict(targetoptions), _PartCompiler)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        # One part for all integers, where numba would translate one for each 0, 1 and True.
        args = tuple(unliteral(one) for one in args)
        return self._part.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        return self._part.get_overload(sig)


def _scaled_exactly(x: float, power: float) -> float:
    bits = np.array([x, power]).view(np.int64)
    bits[0] += bits[1] << 52
    return float(bits[:1].view(np.float64)[0])


@intrinsic
def _scaled_compiled(typing_context, x, power):  # type: ignore[no-untyped-def]
    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        whole = ir.IntType(64)
        bits, powers = (builder.bitcast(one, whole) for one in arguments)
        moved = builder.add(bits, builder.shl(powers, ir.Constant(whole, 52)))
        return builder.bitcast(moved, ir.DoubleType())

    return types.float64(types.float64, types.float64), code


# x times two to the number in the lowest bits of a float64: its exponent, by adding integers.
scaled = _scaled_exactly if numba.config.DISABLE_JIT else _scaled_compiled
