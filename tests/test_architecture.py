"""Imports go down only, a module that begins with an underscore is private to its package, and each
heavy library has one host.

A package is a module or a folder directly below `adaline`; a module that LAYERS names with its
folder counts as a package of its own. Inside a package any module may import any other. The
sources are read with `ast`, so an import inside a function counts like one at the top, and so
does a command given to the command line as the string "adaline.demo:demo". Two places are free of
the rules, because nothing is loaded there: imports under `if TYPE_CHECKING:`, which only a type
checker reads, and the lazy table of `adaline/__init__.py`, which lists where public names live. A
name imported from that table counts as an import of its module. There is no list of exceptions,
and none should be added: move the code to the package it belongs to.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from adaline._names import classes_in

SOURCE = Path(__file__).parents[1] / "src" / "adaline"

# Highest first. Packages on one line are siblings.
LAYERS = [
    ["__main__"],
    ["cli"],
    ["demo"],
    ["play"],
    ["report"],
    ["plot"],
    ["evaluation"],
    ["data"],
    ["groups", "auditing"],
    ["estimators", "filters"],
    ["procedures"],
    ["certificates"],
    ["sums"],
    [
        "criteria",
        "schedules",
        "linalg",
        "integers",
        "decisions",
        "dichotomies",
    ],
    ["sums.rows"],
    ["kernels"],
    ["summaries", "distributed"],
    ["results", "errors", "parameters", "jit", "_names", "sums.mapreduce", "sums.threads"],
]
HEIGHT = {package: -depth for depth, packages in enumerate(LAYERS) for package in packages}

# User interfaces: they use what every user can use, and each other.
INTERFACES = {"__main__", "cli", "demo", "play", "report", "plot"}

# Packages that users import from, too: their names and files are public, their subjects are not.
OPEN = {"data", "filters", "evaluation"}

HOSTS = {
    "numba": "jit",
    "llvmlite": "jit",
    "scipy.linalg": "linalg",
    "sklearn": "estimators evaluation plot",
    "matplotlib": "plot",
    "starlette": "play",
    "uvicorn": "play",
    "anywidget": "play",
    "dask": "distributed",
    "distributed": "distributed",
}

FORBIDDEN = {
    r"\bpickle\.loads?\b": "unpickling runs code",
    r"\ballow_pickle\s*=\s*True": "unpickling runs code",
    r"\bjoblib\.load\b": "unpickling runs code",
    r"(?<!\w)eval\(": "eval runs whatever the text says",
    r"(?<!\w)exec\(": "exec runs whatever the text says",
    r"\byaml\.load\b": "yaml.load builds arbitrary objects",
    r"\bshell\s*=\s*True": "a shell reads more in a string than was meant",
}


@dataclass(frozen=True)
class Import:
    """A dotted name that a line loads, and whether only a type checker reads the line."""

    name: str
    line: int
    for_types: bool = False


def imports_of(path: Path, source: Path = SOURCE) -> list[Import]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = ("adaline", *path.relative_to(source).parent.parts)
    return list(_imports(tree, package, for_types=False))


def _imports(node: ast.AST, package: tuple[str, ...], for_types: bool) -> Iterator[Import]:
    match node:
        case ast.Import(names=names):
            for alias in names:
                yield Import(alias.name, node.lineno, for_types)
        case ast.ImportFrom(module=module, names=names, level=level):
            parts = package[: len(package) - level + 1] if level else ()
            origin = ".".join([*parts, *([module] if module else [])])
            for alias in names:
                yield Import(f"{origin}.{alias.name}", node.lineno, for_types)
        case ast.Attribute(value=ast.Name(id="scipy"), attr=attribute):
            yield Import(f"scipy.{attribute}", node.lineno, for_types)
        case ast.Constant(value=str(text)) if re.fullmatch(r"adaline(\.\w+)+:\w+", text):
            yield Import(text.replace(":", "."), node.lineno, for_types)
        case ast.Call(func=function, args=[ast.Constant(value=str(text)), *_]):
            if ast.unparse(function).split(".")[-1] in ("import_module", "__import__"):
                yield Import(text, node.lineno, for_types)
    if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        for child in node.body:
            yield from _imports(child, package, for_types=True)
        for child in node.orelse:
            yield from _imports(child, package, for_types)
        return
    for child in ast.iter_child_nodes(node):
        yield from _imports(child, package, for_types)


def lazy_table(source: Path = SOURCE) -> dict[str, str]:
    """Public name to the module it lives in, read from `_HOME` in `adaline/__init__.py`."""
    for node in ast.parse((source / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOME":
            table: dict[str, str] = ast.literal_eval(node.value)
            return table | classes_in(str(source / "filters" / "__init__.py"), "Filter")
    raise AssertionError("adaline/__init__.py has no table _HOME of lazy names.")


def modules(source: Path = SOURCE) -> list[Path]:
    """Every module but `adaline/__init__.py`."""
    return [path for path in sorted(source.rglob("*.py")) if path != source / "__init__.py"]


def address(path: Path, source: Path = SOURCE) -> str:
    return path.relative_to(source.parent).as_posix()


def package_of(path: Path, source: Path = SOURCE) -> str:
    return package_in(path.relative_to(source).with_suffix("").parts)


def package_in(parts: Sequence[str]) -> str:
    module = ".".join(parts[:2])
    return module if module in HEIGHT else parts[0]


def find_upward_imports(source: Path = SOURCE) -> Iterator[str]:
    table = lazy_table(source)
    for path in modules(source):
        here = path.relative_to(source).with_suffix("").parts
        package = package_in(here)
        if package not in HEIGHT:
            yield (
                f"{address(path, source)} has no layer: add {package!r} to LAYERS "
                "in tests/test_architecture.py and to ARCHITECTURE.md."
            )
            continue
        for found in imports_of(path, source):
            if found.for_types or found.name.split(".")[0] != "adaline":
                continue
            complaint = _complaint(here, found.name, table)
            if complaint:
                yield f"{address(path, source)}:{found.line} {complaint}"


def _complaint(here: tuple[str, ...], name: str, table: dict[str, str]) -> str | None:
    package, parts = package_in(here), name.split(".")[1:]
    public = len(parts) == 1 and parts[0] in table
    if parts == ["__version__"]:  # a string in `adaline/__init__.py`, nothing is loaded
        return None
    if public:
        parts = table[parts[0]].split(".")[1:]
    if not parts and package in INTERFACES:
        return None
    if not parts:
        return "imports the whole of adaline; name what it needs, from the module where it lives."
    target = package_in(parts)
    if target not in HEIGHT:
        return f"imports {name}, which has no layer; see LAYERS in tests/test_architecture.py."
    if target == package or HEIGHT[target] < HEIGHT[package]:
        folder = _private(parts)
        if folder and here[: len(folder)] != folder:
            return f"imports {name}, which is private to {'/'.join(folder)}."
    if target == package:
        return None
    if HEIGHT[target] == HEIGHT[package]:
        return f"imports {name}; {package} and {target} are siblings and do not import each other."
    if HEIGHT[target] > HEIGHT[package]:
        return f"imports upward: {name} is above {package}. What both need belongs below both."
    if target in OPEN and not (SOURCE / target / "".join(parts[1:2])).is_dir():
        return None
    if package in INTERFACES and target not in {*INTERFACES, "_names"} and not public:
        return f"imports {name}; {package} is a user interface and uses public names only."
    return None


def _private(parts: list[str]) -> tuple[str, ...]:
    """The folder that a dotted name keeps to itself by an underscore; empty where it does not."""
    for k, part in enumerate(parts):
        if k and part.startswith("_") and not part.startswith("__"):
            last = k == len(parts) - 1
            place = SOURCE.joinpath(*parts[: k + 1])
            if not last or place.with_suffix(".py").exists() or place.is_dir():
                return tuple(parts[:k])
    return ()


def loops(source: Path = SOURCE) -> Iterator[str]:
    """Files that import each other in a circle, when they are loaded."""
    names = {".".join(path.relative_to(source.parent).with_suffix("").parts) for path in modules()}
    wanted = {
        name: {
            other
            for found in _imports_at_the_top(source.parent / f"{name.replace('.', '/')}.py")
            for other in (found, found.rpartition(".")[0])
            if other in names and other != name
        }
        for name in names
    }
    try:
        TopologicalSorter(wanted).prepare()
    except CycleError as error:
        yield " -> ".join(error.args[1])


def _imports_at_the_top(path: Path) -> list[str]:
    found: list[str] = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
    return found


def find_misplaced_libraries(source: Path = SOURCE) -> Iterator[str]:
    for path in [source / "__init__.py", *modules(source)]:
        for found in imports_of(path, source):
            for library, host in HOSTS.items():
                if (
                    f"{found.name}.".startswith(f"{library}.")
                    and package_of(path, source) not in host.split()
                ):
                    yield (
                        f"{address(path, source)}:{found.line} imports {found.name}; "
                        f"only {host.replace(' ', ' and ')} may import {library}."
                    )


def find_dangers(source: Path = SOURCE) -> Iterator[str]:
    for path in sorted(source.rglob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            for pattern, why in FORBIDDEN.items():
                if re.search(pattern, line):
                    yield f"{address(path, source)}:{number} {line.strip()!r}: {why}."


def test_imports_go_down_only_and_private_files_stay_private():
    assert not list(find_upward_imports())


def test_no_files_import_each_other_in_a_circle():
    assert not list(loops())


def test_every_layer_exists():
    there = {package_of(path) for path in modules()}
    assert set(HEIGHT) == there


def test_a_folder_fits_on_a_screen_when_listed():
    long = {
        folder.relative_to(SOURCE).as_posix(): count
        for folder in [SOURCE, *(path for path in SOURCE.rglob("*") if path.is_dir())]
        if folder.name != "__pycache__"
        and (count := sum(not p.name.startswith("__") for p in folder.iterdir())) > 30
    }
    assert not long


def test_each_heavy_library_is_imported_by_its_host_only():
    assert not list(find_misplaced_libraries())


def test_the_source_never_runs_what_it_reads():
    assert not list(find_dangers())


def test_the_lazy_table_and_the_types_name_the_same_homes():
    types = {
        name: home
        for found in imports_of(SOURCE / "__init__.py")
        if found.for_types
        for home, _, name in [found.name.rpartition(".")]
    }
    # A filter may do without a line for type checkers.
    assert types | classes_in(str(SOURCE / "filters" / "__init__.py"), "Filter") == lazy_table()


# The checker is itself checked, on small trees that are wrong in one line each.


def tree(folder: Path, **files: str) -> Path:
    source = folder / "adaline"
    files = {"__init__": "_HOME = {'Ridge': 'adaline.estimators.ridge'}", **files}
    for name, text in files.items():
        path = source / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return source


@pytest.mark.parametrize(
    ("package", "text", "words"),
    [
        ("kernels", "def f():\n    import adaline.sums.moments", "imports upward"),
        ("procedures/newton_", "from ..estimators import base", "imports upward"),
        ("linalg", "from adaline import Ridge", "imports upward"),
        ("linalg", "from adaline import integers", "are siblings"),
        ("evaluation/x", "from adaline.estimators._labels import x", "is private to estimators"),
        ("estimators/ridge", "import adaline", "imports the whole"),
        ("cli", "from adaline.linalg import solve", "public names only"),
        ("helpers", "", "has no layer"),
    ],
)
def test_a_wrong_import_is_reported(tmp_path, package, text, words):
    (complaint,) = find_upward_imports(tree(tmp_path, **{package: text}))
    assert words in complaint
    assert complaint.startswith(f"adaline/{package}.py")


def test_a_library_outside_its_host_and_a_danger_are_found(tmp_path):
    assert list(find_misplaced_libraries(tree(tmp_path, procedures="import numba")))
    assert list(find_dangers(tree(tmp_path, data="pickle.load(f)")))


# Lines of src, with docstrings and comments. It only goes down: lower it when code goes.
MOST_LINES = 44389


def test_the_source_does_not_grow():
    lines = sum(len(path.read_bytes().splitlines()) for path in SOURCE.rglob("*.py"))
    assert lines <= MOST_LINES, "remove as much as you add"
