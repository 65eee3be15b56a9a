"""Little work is done by Python, with the bits of the compiled kernels."""

from __future__ import annotations

from adaline._jit import little

SIZES = [1.0, 1e-160, 1e150]


class _Kernel:
    """As much of a kernel as the choice looks at; uncompiled."""

    overloads = None
    _cache = None

    @staticmethod
    def py_func():
        return "by Python"

    def __call__(self):
        return "compiled"


def test_work_is_compiled_when_it_is_much_or_goes_on_or_the_user_says_so(monkeypatch):
    monkeypatch.setattr(little, "_spent", [0.0])
    monkeypatch.delenv("ADALINE_COMPILE", raising=False)
    kernel = _Kernel()
    assert little.for_work(kernel, 10)() == "by Python"
    assert little.for_work(kernel, 10**6)() == "compiled"
    monkeypatch.setenv("ADALINE_COMPILE", "always")
    assert little.for_work(kernel, 10)() == "compiled"
    monkeypatch.delenv("ADALINE_COMPILE")
    little._spent[0] = 60.0
    assert little.for_work(kernel, 10)() == "compiled"
    little._spent[0] = 0.0
    kernel.overloads = {"float64": "machine code"}
    assert little.for_work(kernel, 10)() == "compiled"


def test_numpy_serves_for_more_work_than_python_until_the_kernel_is_compiled(monkeypatch):
    asked = []

    class Kernel:
        overloads: dict = {}  # noqa: RUF012 (never changed)
        _cache = None

    def by_numpy():
        asked.append("numpy")

    monkeypatch.setattr(little, "uncompiled", lambda kernel: lambda: asked.append("python"))
    monkeypatch.setattr(little, "_spent", [0.0])
    monkeypatch.delenv("ADALINE_COMPILE", raising=False)
    monkeypatch.setattr(little.numba.config, "DISABLE_JIT", 0)
    much = little._LITTLE * 10
    assert little.for_work(Kernel, much) is Kernel
    little.for_work(Kernel, much, by_numpy)()
    little.for_work(Kernel, 10)()
    assert asked == ["numpy", "python"]
    assert little.for_work(Kernel, much * little._BY_NUMPY, by_numpy) is Kernel
    monkeypatch.setattr(Kernel, "overloads", {"float64": 1})
    assert little.for_work(Kernel, 10, by_numpy) is Kernel
