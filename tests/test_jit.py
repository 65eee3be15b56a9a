"""Kept machine code follows calls across files, is used only if whole, and is not needed."""

from __future__ import annotations

import errno
import importlib.util
import logging
import os
import pickle
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from numba import float64

from adaline._jit import cache
from adaline.kernels.double_double import products

_KERNEL = "from adaline._jit import kernel\nfrom {} import {}\n@kernel\ndef {}(x):\n    return {}\n"


def test_an_edit_in_a_file_that_kernels_are_made_from_is_an_empty_cache(tmp_path):
    (tmp_path / "called.py").write_text(_KERNEL.format("constant", "C", "f", "x + C"))
    (tmp_path / "calling.py").write_text(_KERNEL.format("called", "f", "g", "f(x)"))
    (tmp_path / "outer.py").write_text(_KERNEL.format("calling", "g", "h", "g(x)"))
    told = []
    for number in (1, 2, 2):
        # Python takes bytecode for current if its source has the same second and the same size.
        (tmp_path / "constant.py").write_text(f"C = {number}\n" * number)
        work = "import outer; print(outer.h(10), sum(outer.h.stats.cache_hits.values()))"
        told.append(process(tmp_path, work).communicate(timeout=60)[0].split())
    assert told == [["11", "0"], ["12", "0"], ["12", "1"]]


SOURCE = """from adaline._jit import kernel
@kernel
def twice(x):
    return 2.0 * x
"""
INSIDE = "import tiny; print(tiny.twice(21.0), sum(tiny.twice.stats.cache_hits.values()))"


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Import a module with one small kernel, as a new process would: fresh, or from the cache."""
    (tmp_path / "tiny.py").write_text(SOURCE)
    monkeypatch.setenv("ADALINE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_warned", [])
    cache._clean.cache_clear()

    def fresh(folder=tmp_path):
        spec = importlib.util.spec_from_file_location("tiny", folder / "tiny.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "tiny", module)
        spec.loader.exec_module(module)
        return module.twice

    fresh.folder = tmp_path
    return fresh


def kept(folder):
    return sorted(file for file in (folder / "cache").rglob("*") if not file.is_dir())


def works(kernel):
    """Whether machine code came from the cache; in any case it does its work."""
    assert kernel(21.0) == 42.0
    return sum(kernel.stats.cache_hits.values()) == 1


def process(folder, work=INSIDE):
    """A process that finds modules in a folder, and this very adaline."""
    path = os.pathsep.join([str(folder), str(Path(products.__file__).parents[3])])
    places = {"PYTHONPATH": path, "ADALINE_CACHE_DIR": str(folder / "cache")}
    return subprocess.Popen(
        [sys.executable, "-c", work],
        env={**os.environ, **places},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_second_process_compiles_nothing(tiny, caplog):
    caplog.set_level(logging.INFO, "adaline")
    cache._tell_that_kernels_are_compiled.cache_clear()
    assert not works(tiny())
    assert [record.levelname for record in caplog.records] == ["INFO"]
    assert "Compiling for this processor" in caplog.text
    assert works(tiny())
    assert len(caplog.records) == 1


def test_loading_machine_code_does_not_wake_the_compiler(tmp_path):
    """Nor does that of kernels which call functions of numba's own, such as np.empty."""
    (tmp_path / "room.py").write_text(
        "import numpy as np\n"
        "from adaline._jit import kernel\n"
        "@kernel\n"
        "def filled(n):\n"
        "    x = np.empty(n)\n"
        "    for i in range(n):\n"
        "        x[i] = np.sqrt(i)\n"
        "    return x\n"
    )
    work = "import room, sys; print(room.filled(5)[4], 'numba.np.arrayobj' in sys.modules)"
    told = [process(tmp_path, work).communicate(timeout=60)[0].split() for _ in range(2)]
    assert told == [["2.0", "True"], ["2.0", "False"]]


def test_what_was_cut_short_or_changed_is_never_unpickled(tiny, rng):
    works(tiny())
    (file,) = kept(tiny.folder)
    key = key_of(tiny())
    whole = file.read_bytes()
    assert cache._read(file, key)
    with pytest.raises(OSError, match="does not match"):
        cache._read(file, key + b"?")
    cuts = {*range(64), *rng.integers(0, len(whole), 200).tolist(), len(whole) - 1}
    damaged = [whole[:cut] for cut in cuts] + [whole + b"\0"]
    for place in {*range(64), *rng.integers(0, len(whole), 300).tolist(), len(whole) - 1}:
        bit = 1 << int(rng.integers(8))
        damaged.append(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
    for content in damaged:
        file.write_bytes(content)
        with pytest.raises(OSError, match="does not match"):
            cache._read(file, key)


def key_of(kernel):
    context = kernel.targetctx
    return kernel._cache._key((float64,), context.codegen())


@pytest.mark.parametrize("damage", ["empty", "cut", "changed", "pickle of something else"])
def test_damaged_machine_code_is_compiled_again_and_replaced(tiny, damage):
    works(tiny())
    (file,) = kept(tiny.folder)
    whole = file.read_bytes()
    half = len(whole) // 2
    seal = cache._sealed(key_of(tiny()), pickle.dumps([1, 2]))
    contents = {"empty": b"", "cut": whole[:half], "pickle of something else": seal}
    changed = whole[:half] + bytes([whole[half] ^ 1]) + whole[half + 1 :]
    file.write_bytes(contents.get(damage, changed))
    assert not works(tiny())
    assert works(tiny())


def test_a_directory_in_the_place_of_a_file_costs_the_cache_only(tiny, caplog):
    works(tiny())
    (file,) = kept(tiny.folder)
    file.unlink()
    (file / "inside").mkdir(parents=True)
    assert not works(tiny())
    assert "cannot be kept" in caplog.text
    assert kept(tiny.folder) == []  # no part is left lying about


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_or_a_link_in_the_place_of_a_file_is_not_read(tiny):
    works(tiny())
    (file,) = kept(tiny.folder)
    whole = file.read_bytes()
    file.unlink()
    os.mkfifo(file)
    assert not works(tiny())
    (tiny.folder / "elsewhere").write_bytes(whole)
    file.unlink()
    file.symlink_to(tiny.folder / "elsewhere")
    assert not works(tiny())
    assert not file.is_symlink()


def test_a_full_disk_stops_no_fit_and_is_told_once(tiny, monkeypatch, caplog):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    assert not works(tiny())
    assert not works(tiny())
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert str(tiny.folder / "cache") in record.message
    assert "No space left" in record.message
    assert "ADALINE_CACHE_DIR" in record.message
    assert kept(tiny.folder) == []


def test_where_no_directory_can_be_made_nothing_is_kept_beside_the_sources(
    tiny, monkeypatch, caplog
):
    (tiny.folder / "file").touch()
    monkeypatch.setenv("ADALINE_CACHE_DIR", str(tiny.folder / "file" / "cache"))
    assert not works(tiny())
    assert "cannot be kept" in caplog.text
    assert {one.name for one in tiny.folder.iterdir()} <= {"tiny.py", "file", "__pycache__"}
    assert not [one for one in tiny.folder.rglob("*") if one.suffix in (".nbi", ".nbc")]


def test_without_a_home_nothing_is_kept(tiny, monkeypatch, caplog):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("ADALINE_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert not works(tiny())
    assert "cannot be kept" in caplog.text


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no numbers of users")
def test_directories_and_files_of_another_user_are_left_alone(tiny, monkeypatch, caplog):
    works(tiny())
    own = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: own + 1)
    assert not works(tiny())
    assert "belongs to another user" in caplog.text
    monkeypatch.setattr(cache, "cache_directory", cache._place)  # a file planted in one of our own
    with pytest.raises(PermissionError, match="belongs to another user"):
        cache._read(kept(tiny.folder)[0], key_of(tiny()))


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="modes mean something else here")
def test_a_directory_that_a_umask_has_opened_is_closed(tiny):
    directory = tiny.folder / "cache"
    directory.mkdir()
    directory.chmod(0o775)
    works(tiny())
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert works(tiny())


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="modes mean something else here")
def test_an_open_directory_with_other_things_in_it_stays_as_it_is(tiny, caplog):
    directory = tiny.folder / "cache"
    directory.mkdir()
    directory.chmod(0o775)
    (directory / "shared with colleagues").touch()
    works(tiny())
    assert stat.S_IMODE(directory.stat().st_mode) == 0o775
    assert "holds more than compiled kernels" in caplog.text


def test_another_place_and_another_date_of_the_same_source_share_machine_code(tiny):
    works(tiny())
    other = tiny.folder / "copy"
    other.mkdir()
    (other / "tiny.py").write_text(SOURCE)
    os.utime(other / "tiny.py", (1e9, 1e9))
    assert works(tiny(other))
    (other / "tiny.py").write_text(SOURCE + "# an edit\n")
    cache.stamp.cache_clear()
    assert not works(tiny(other))


def test_machine_code_unused_for_a_month_is_thrown_away(tiny):
    old, new, others = (tiny.folder / "cache" / name for name in ("0" * 16, "1" * 16, "mine"))
    long_ago = time.time() - 40 * 86400
    for directory in (old, new, others):
        directory.mkdir(parents=True)
        (directory / "kernel").touch()
        (directory / ".kernel.part").touch()
        for one in (directory / "kernel", directory / ".kernel.part", directory):
            os.utime(one, (long_ago, long_ago))
    os.utime(new / "kernel", (time.time(), long_ago))  # read today
    (tiny.folder / "cache").chmod(0o700)
    works(tiny())
    assert not old.exists()
    assert [one.name for one in new.iterdir()] == ["kernel"]
    assert len(list(others.iterdir())) == 2


def test_of_too_much_machine_code_the_oldest_is_thrown_away(tiny, monkeypatch):
    monkeypatch.setattr(cache, "_MOST", 5000)
    (tiny.folder / "cache").mkdir(mode=0o700)
    ages = {"0": 0.1, "1": 3, "2": 5, "3": 4, "4": 0.5}  # in days
    for name, days in ages.items():
        directory = tiny.folder / "cache" / (16 * name)
        directory.mkdir()
        (directory / "kernel").write_bytes(bytes(2000))
        then = time.time() - days * 86400
        os.utime(directory / "kernel", (then, then))
        os.utime(directory, (then, then))
    cache._clean(tiny.folder / "cache")
    left = {one.name[0] for one in (tiny.folder / "cache").iterdir()}
    assert left == {"0", "4"}  # 1 would be too much, and what was used today stays in any case


def test_every_file_of_a_cache_may_be_cut_short(tiny):
    kernel = tiny()
    assert (kernel(21.0), kernel(21), kernel(21.0j)) == (42.0, 42.0, 42.0j)
    files = kept(tiny.folder)
    assert len(files) == 3
    for file in files:
        whole = file.read_bytes()
        for cut in (0, 1, 20, len(whole) // 2, len(whole) - 1):
            file.write_bytes(whole[:cut])
            kernel = tiny()
            assert (kernel(21.0), kernel(21), kernel(21.0j)) == (42.0, 42.0, 42.0j)
            assert sum(kernel.stats.cache_hits.values()) == 2


def test_machine_code_in_use_stays_young(tiny):
    works(tiny())
    (file,) = kept(tiny.folder)
    os.utime(file.parent, (1e9, 1e9))
    works(tiny())
    assert time.time() - file.parent.stat().st_mtime < 86400


IMPORTS = {
    "from a package": "from adaline.kernels.double_double import products\n",
    "in brackets": "from adaline.kernels.double_double import (\n    products,\n)\n",
    "after a backslash": "from adaline.kernels.double_double import \\\n    products\n",
    "by its whole name": "import adaline.kernels.double_double.products\n",
    "under another name": "import numpy, adaline.kernels.double_double.products\n",
    "names of it": "from adaline.kernels.double_double.products import target\n",
    "in a function": "def f():\n    from adaline.kernels.double_double import products\n",
}


@pytest.mark.parametrize("statement", IMPORTS.values(), ids=IMPORTS)
def test_the_stamp_sees_every_way_to_import(tmp_path, statement):
    (tmp_path / "one.py").write_text(statement)
    assert Path(products.__file__) in cache._imported(tmp_path / "one.py")


@pytest.mark.parametrize("statement", ["from . import two", "from .two import f", "import two"])
def test_the_stamp_sees_files_beside(tmp_path, statement):
    (tmp_path / "one.py").write_text(statement)
    (tmp_path / "two.py").touch()
    assert cache._imported(tmp_path / "one.py") == {tmp_path / "two.py"}


def test_the_stamp_of_every_kernel_follows_what_python_imports():
    """What `sys.modules` says a kernel file has loaded of the package is in its stamp."""
    folder = Path(products.__file__).parents[1]
    for file in sorted(folder.glob("*/*.py")):
        name = f"adaline.kernels.{file.parent.name}.{file.stem}"
        module = importlib.import_module(name.removesuffix(".__init__"))
        used = {getattr(value, "__module__", "") or "" for value in vars(module).values()}
        used = {name for name in used if name.startswith("adaline.kernels.")}
        files = {Path(sys.modules[name].__file__) for name in used} - {file}
        assert files <= cache._imported(file), file.name


def test_the_stamp_of_a_kernel_rests_on_kernels_alone():
    """An edit of a page's text recompiles nothing, and no process reads all sources to start."""
    package = Path(products.__file__).parents[2]
    for file in sorted(package.glob("kernels/*/*.py")):
        rooms = {one.relative_to(package).parts[0] for one in cache.sources(file)}
        assert rooms <= {"_jit", "kernels"}, file.name


def test_processes_that_compile_at_once_and_one_that_is_killed_leave_a_sound_cache(tiny):
    killed = "import os; os.replace = lambda *_: os.kill(os.getpid(), 9)\n" + INSIDE
    first = process(tiny.folder, killed)  # alone, or another may have compiled before it
    first.communicate(timeout=60)
    assert first.returncode == -9 if os.name == "posix" else True
    together = [process(tiny.folder) for _ in range(2)]
    told = [one.communicate(timeout=60) for one in together]
    assert [out.split()[0] for out, _ in told] == ["42.0", "42.0"]
    (part, _) = kept(tiny.folder)
    assert part.name.endswith(".part")
    assert works(tiny())


ORDER = """from adaline._jit import {kind}
@{kind}
def total(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * x[i]
    return s
"""
CALLS = """import numpy as np
from adaline._jit import sums_kernel
from order import total
@sums_kernel
def both(x):
    s = total(x)
    for i in range(len(x)):
        s += x[i]
    return s
answer = both(np.random.default_rng(0).standard_normal(1001)).hex()
"""


@pytest.mark.parametrize("kind", ["sums_kernel", "inlined"])
def test_the_bits_do_not_depend_on_what_the_cache_holds(tmp_path, monkeypatch, kind):
    (tmp_path / "order.py").write_text(ORDER.format(kind=kind))
    (tmp_path / "calls.py").write_text(CALLS)
    monkeypatch.setenv("ADALINE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(tmp_path)
    told = []
    for forgotten in ("*.none", "both*", "total*", "*.none"):  # the first finds an empty cache
        for file in (tmp_path / "cache").rglob(forgotten):
            file.unlink()
        for name in ("order", "calls"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        told.append(importlib.import_module("calls").answer)
    assert told == [told[0]] * 4


PARTED = """import numpy as np
from adaline._jit import kernel, sums_kernel
@sums_kernel
def total(x, y, out):
    s = t = x[0] * 0
    for i in range(len(x)):
        s += x[i] * y[i]
    for i in range(len(x)):
        out[i] = out[i] * s + x[i]
    for i in range(len(x)):
        t += np.conj(out[i]) * y[i]
    for i in range(len(x)):
        out[i] += t * y[i]
    for i in range(len(x)):
        s += out[i] * y[i] * t
    return s * t
@kernel
def several(x, y, out):
    s = total(x, y, out)
    for k in range(1, 4):
        s += total(x[k:], y[k:], out[k:])
    return s + total(y, x, out) + total(out, x, out) * total(out, y, x)
rng = np.random.default_rng(0)
for n in range(7, 200):
    z = (rng.standard_normal((3, n)) + 1j * rng.standard_normal((3, n))) / 20
    print(several(*z))
print(sum(several.stats.cache_hits.values()))
"""


def test_a_process_that_compiles_and_one_that_loads_give_the_same_bits(tmp_path):
    """A call must not end in the callee's own machine code where that happens to be in memory."""
    (tmp_path / "parted.py").write_text(PARTED)
    cold, warm = (
        process(tmp_path, "import parted").communicate(timeout=60)[0].split() for _ in range(2)
    )
    assert (cold.pop(), warm.pop()) == ("0", "1")
    assert cold == warm


ARRAYS = """
import numpy as np
from numba.core.base import BaseContext
from adaline._jit import kernel

@kernel
def made(n, x):
    both = np.zeros((n, 2))
    both[0, 0], both[0, 1] = np.exp(x[0]), np.dot(x, x)
    return both, both[:, 1].sum(), np.hypot(x[0], x[1])

refreshed, refresh = [], BaseContext.refresh
BaseContext.refresh = lambda self: refreshed.append(1) or refresh(self)
for dtype in (np.float64, np.float32):
    print(made(3, np.arange(1, 3).astype(dtype)), bool(refreshed))
    del refreshed[:]
made._cache.save_overload = lambda *_: None
print(made(3, np.ones(2, np.float64)[::-1]))  # a type that nothing is kept for
"""


def test_loading_leaves_the_compiler_asleep_and_it_wakes_where_it_is_needed(tmp_path):
    """Loaded code allocates, calls BLAS and the mathematical library; a new type is compiled."""
    (tmp_path / "arrays.py").write_text(ARRAYS)
    work = "import arrays"
    cold, warm = (process(tmp_path, work).communicate(timeout=60)[0] for _ in range(2))
    assert "True" in cold
    assert cold.replace("True", "False") == warm != ""


def test_a_kernel_that_kernels_call_serves_python_too(tiny):
    (tiny.folder / "calls.py").write_text(_KERNEL.format("tiny", "twice", "g", "twice(x)"))
    work = "import calls, tiny; print(calls.g(1.0), tiny.twice(4.0), tiny.twice.signatures)"
    told = process(tiny.folder, work).communicate(timeout=60)[0]
    assert told.split("\n")[0] == "2.0 8.0 [(float64,)]"


LEAN = """import numpy as np
from numba.core.types.functions import BaseFunction
from adaline._jit import inlined, kernel, seldom

@kernel
def shifted(x, k):
    return x + k

@seldom
@kernel
def far(x):
    return shifted(x, 5)

@inlined
def near(x):
    return far(x) + shifted(x, True)

@kernel
def whole(x, n):
    return near(x) + far(x) + shifted(x, 1) + shifted(x, 2) + shifted(x, n)

@kernel
def wrong(x):
    return x + shifted(x, "text")

asked = BaseFunction.get_call_type
print(whole(1.0, 4))
print(*sorted(str(types[1]) for types in shifted._part.overloads))
code = whole.inspect_llvm(whole.signatures[0]).splitlines()
print([name for name in ("3far", "4near", "7shifted") if any(
    line.startswith("define") and f"4lean{name}" in line for line in code)])
for function in (near, far, shifted):
    (part,) = list(function._part.overloads.values())[:1]
    print(part.fndesc.inline, end=" ")
try:
    wrong(1.0)
except Exception as error:
    print(type(error).__name__)
print(BaseFunction.get_call_type is asked)
"""


def test_a_part_is_made_once_for_all_integers_and_copied_only_where_it_says(tmp_path):
    """Not once for every 1, 2 and 5; what an inlined kernel calls is not inlined for that alone."""
    (tmp_path / "lean.py").write_text(LEAN)
    told = process(tmp_path, "import lean").communicate(timeout=60)[0].splitlines()
    assert told[0] == "24.0"
    assert told[1] == "bool int64"
    assert told[2] == "['3far']"
    assert told[3] == "True False False TypingError"
    assert told[4] == "True"


ITEMS = """
import numpy as np
from adaline._jit import kernel
from adaline._jit.little import uncompiled

@kernel
def ends(a, i, k):
    return a[i], a[-1], a[k], a[0], a[-i - 1]

@kernel
def corners(A, i, k):
    return A[i, k], A[-1, k], A[k, -2], A[0, 1], A[i][k], A[i, k:][0], A[(k, k)]

@kernel
def deep(T, i, k):
    return T[i, k, -1], T[k, -2, 0], T[1, i, k]

@kernel
def written(a, A, T, i, k, v):
    a[i] = v
    a[-1] += 2
    A[k, -1] = A[i, k] = v
    A[i] = 3
    T[i, k, -1] = v

k = np.uintp(1)
for dtype in ("f8", "c8", "?"):
    a, A = np.arange(5).astype(dtype), np.arange(12).reshape(3, 4).astype(dtype)
    T = np.arange(24).reshape(2, 3, 4).astype(dtype)
    rows, gaps = np.asfortranarray(A), np.repeat(a, 2)[::2]
    for i in (0, 1, -2):
        for one in (a, gaps) if dtype == "f8" else (a,):
            assert ends(one, i, k) == uncompiled(ends)(one, i, k), (dtype, i)
        for one in (A, rows, A[:, ::2]) if dtype == "f8" else (A,):
            assert corners(one, i, k) == uncompiled(corners)(one, i, k), (dtype, i)
        assert deep(T, i, k) == uncompiled(deep)(T, i, k)
    copies = [[x.copy() for x in (a, A, T)] for _ in range(2)]
    for run, one in zip((written, uncompiled(written)), copies):
        run(*one, 1, k, 7)
    assert all(np.array_equal(*pair) for pair in zip(*copies)), dtype
print("same")
"""


def test_numbers_of_arrays_are_read_and_written_where_numpy_has_them(tmp_path):
    """Negative indices, several dimensions, gaps, and every kind of number."""
    (tmp_path / "items.py").write_text(ITEMS)
    told, errors = process(tmp_path, "import items").communicate(timeout=120)
    assert told == "same\n", errors


COMPILED = """
import gc
import sys
from numba.core import base
from numba.core.lowering import Lower
from numba.core.types.functions import BaseFunction
from adaline._jit import kernel

@kernel
def root(x):
    return abs(x) ** 0.5

@kernel
def wrong(x):
    return x + "text"

owners = BaseFunction, base.BaseContext, Lower
before = [dict(vars(owner)) for owner in owners]
if sys.argv[1:] == ["frozen"]:
    gc.freeze()
frozen = gc.get_freeze_count()
print(root(4.0))
try:
    wrong(1.0)
except Exception as error:
    print(type(error).__name__)
print([dict(vars(owner)) for owner in owners] == before)
print(gc.isenabled(), (gc.get_freeze_count() > frozen // 2) == (frozen > 0))
print("scipy.linalg" in sys.modules)
import numba
import numpy as np
print(numba.njit(lambda a: np.dot(a, a))(np.ones(3)))
"""


@pytest.mark.parametrize("frozen", ["", "frozen"])
def test_what_compiling_changes_in_numba_and_python_is_as_before_then(tmp_path, frozen):
    """Also where compiling fails, or the user has frozen objects. Others' kernels find BLAS."""
    (tmp_path / "compiled.py").write_text(COMPILED)
    program = f"import sys; sys.argv[1:] = {[frozen]!r}; import compiled"
    told = process(tmp_path, program).communicate(timeout=60)[0].splitlines()
    assert told == ["2.0", "TypingError", "True", "True True", "False", "3.0"]


def test_a_later_numba_than_we_know_is_left_as_it_is(tmp_path):
    program = """
from adaline._jit import _spared_work
_spared_work._KNOWN = (0, 0)
_spared_work._methods = None  # who asks for them fails
import numpy as np, later
print(later.second(np.array([1.0, 2.0])))
"""
    source = "from adaline._jit import kernel\n@kernel\ndef second(a):\n    return a[1]\n"
    (tmp_path / "later.py").write_text(source)
    assert process(tmp_path, program).communicate(timeout=60)[0].split() == ["2.0"]
