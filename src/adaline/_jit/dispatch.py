"""A kernel for Python, and the same kernel for other kernels.

What Python calls is compiled whole: with all that it calls, as one piece of machine code, which is
kept on disk. What kernels call is a part: it is translated, linked into each kernel that calls it,
and optimised only there. Parts have no machine code of their own, which saves a third of the time
to compile, and the code of a kernel depends on its sources alone. Else a kernel would end in the
copy of a part that happens to be in memory; where sums may be added up in any order, copies differ
in their last bits, and answers would depend on what the cache holds.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher


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

    def _optimize_final_module(self) -> None:
        """Nothing to do: the kernel that links this is optimised."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


def _defined(module: Any) -> set[str]:
    return {one.name for one in module.functions if not one.is_declaration}


class _WholeCompiler(Compiler):  # type: ignore[misc]
    def compile_extra(self, func: Any) -> Any:
        self.state.library = _Whole(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(func)


class _PartCompiler(Compiler):  # type: ignore[misc]
    def compile_extra(self, func: Any) -> Any:
        flags, context = self.state.flags, self.state.targetctx
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.no_compile = True
        self.state.library = _Part(context.codegen(), func.__qualname__)
        result = super().compile_extra(func)
        # numba knows a function by its entry point. This one stands for the part, and runs nothing.
        result = result._replace(entry_point=object())
        context.insert_user_function(result.entry_point, result.fndesc, [result.library])
        return result


class _PartDispatcher(CPUDispatcher):  # type: ignore[misc]
    def add_overload(self, cres: Any) -> None:
        self.overloads[tuple(cres.signature.args)] = cres  # not for calls from Python


class Kernel(CPUDispatcher):  # type: ignore[misc]
    """A compiled function. Python calls the whole; kernels call a part."""

    def __init__(self, py_func: Any, **options: Any) -> None:
        options["nopython"] = True
        super().__init__(py_func, targetoptions=options, pipeline_class=_WholeCompiler)
        self._part = _PartDispatcher(
            py_func, targetoptions=dict(options), pipeline_class=_PartCompiler
        )

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return self._part.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        return self._part.get_overload(sig)
