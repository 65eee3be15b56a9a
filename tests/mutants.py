"""Change one operator, comparison or number of a file at a time, and list what no test notices.

    make mutants ARGS="decisions --jobs 2 --every 1"

A changed file is a mutant; a test that fails kills it. Each mutant is tried in a forked process, so
that numpy, scikit-learn and numba are loaded once. Files are never written. A mutant that survives
is a missing test, dead code, or a change that cannot matter (a generous tolerance, a question of
speed): somebody has to read it. Those that were read and cannot matter are in
tests/harmless_mutants.py, each with its reason, and are not tried.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.abc
import importlib.util
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from harmless_mutants import HARMLESS

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "adaline"
_ENOUGH = 12  # letters of an expression that tell one change from another: `0` alone does not

# What is changed, and the tests that ought to notice.
SUBJECTS = {
    "decisions": (
        ["decisions.py"],
        ["tests/test_decisions.py"],
    ),
    "schedules": (
        ["schedules.py"],
        ["tests/test_schedules.py", "tests/procedures/test_sequential.py"],
    ),
    "moments": (
        ["sums/moments.py", "sums/rows.py"],
        [
            "tests/test_moments.py",
            "tests/test_merged_moments.py",
            "tests/estimators/test_least_squares.py",
            "tests/laws/test_closed_forms.py",
            "tests/procedures/test_many_targets.py",
        ],
    ),
    "certificates": (
        ["certificates/*.py"],
        [
            "tests/certificates",
            "tests/procedures",
            "tests/estimators/test_least_squares.py",
            "tests/estimators/test_logistic.py",
            "tests/estimators/test_mistakes.py",
            "tests/laws/test_certificates_never_lie.py",
            "tests/laws/test_optimality_never_lies.py",
            "tests/laws/test_delivered_weights.py",
        ],
    ),
    "separation": (
        ["certificates/separation/*.py"],
        [
            "tests/certificates",
            "tests/estimators/test_separability.py",
            "tests/procedures/test_separability.py",
            "tests/laws/test_separability.py",
        ],
    ),
    "evaluation": (
        ["evaluation/*.py"],
        ["tests/evaluation", "tests/laws/test_sentences_and_verdicts.py", "tests/cli/test_fit.py"],
    ),
}

# Loaded once, before the first fork.
HEAVY = (
    "hypothesis.extra.numpy",
    "numba",
    "pytest",
    "scipy.linalg",
    "scipy.sparse",
    "scipy.stats",
    "sklearn.utils.estimator_checks",
)

SWAPS: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def changes(node: ast.AST) -> Iterator[tuple[str, object]]:
    """Fields of a node that can be changed, and what they become."""
    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op) | ast.BoolOp(op=op) if type(op) in SWAPS:
            yield "op", SWAPS[type(op)]()
        case ast.Compare(ops=[op]) if type(op) in SWAPS:
            yield "ops", [SWAPS[type(op)]()]
        case ast.Constant(value=bool(value)):
            yield "value", not value
        case ast.Constant(value=int(value)):
            yield "value", value + 1
        case ast.Constant(value=float(value)):
            yield "value", 2.0 * value + 1.0
        case ast.If(test=test) | ast.IfExp(test=test):
            yield "test", ast.UnaryOp(ast.Not(), test)


def mutants(text: str) -> Iterator[tuple[int, str, ast.Module]]:
    """(line, what was changed, the changed tree) of all but annotations, decorators and `strict`.

    The tree is one and the same, changed until the next one is asked for.
    """
    tree = ast.parse(text)
    ignored = {
        id(inner)
        for node in ast.walk(tree)
        for part in (
            getattr(node, "annotation", None),
            getattr(node, "returns", None),
            *getattr(node, "decorator_list", []),  # frozen=True: nobody writes to our results
        )
        if part is not None
        for inner in ast.walk(part)
    } | {
        id(node.value)  # a check of ours: the lists have the same length
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg == "strict"
    }
    seen: Counter[str] = Counter()
    for node, above in list(_places(tree)):
        if id(node) in ignored:
            continue
        shown = _around(node, *above)
        scope = [one.name for one in above if isinstance(one, ast.FunctionDef | ast.ClassDef)]
        for field, value in changes(node):
            kept, before = getattr(node, field), _text(shown)
            setattr(node, field, value)
            said = f"{'.'.join(reversed(scope)) or 'module'}: {before}  ->  {_text(shown)}"
            seen[said] += 1
            said += f"  ({seen[said]})" if seen[said] > 1 else ""
            ast.fix_missing_locations(node)
            yield getattr(node, "lineno", 0), said, tree
            setattr(node, field, kept)


def _places(node: ast.AST, *above: ast.AST) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    """Each node of a tree, and the nodes above it, nearest first."""
    yield node, above
    for child in ast.iter_child_nodes(node):
        yield from _places(child, node, *above)


def _around(*nodes: ast.AST) -> ast.AST:
    """The first expression or statement around a node that tells it from others."""
    found = nodes[0]
    for node in nodes:
        if isinstance(node, ast.stmt) and hasattr(node, "body") and not isinstance(node, ast.If):
            break
        if isinstance(node, ast.expr | ast.stmt):
            found = node
            if len(_text(found)) > _ENOUGH:
                break
    return found


def _text(node: ast.AST) -> str:
    """One line, an `if` without its body."""
    return " ".join(ast.unparse(node.test if isinstance(node, ast.If) else node).split())


class Mutated(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module from a changed tree."""

    def __init__(self, name: str, path: Path, tree: ast.Module) -> None:
        self.name, self.path, self.tree = name, path, tree

    def find_spec(self, name, path=None, target=None):
        if name == self.name:
            return importlib.util.spec_from_file_location(name, self.path, loader=self)
        return None

    def exec_module(self, module) -> None:
        exec(compile(self.tree, str(self.path), "exec"), module.__dict__)


def nearest(path: Path, tests: list[str]) -> tuple[list[str], list[str]]:
    """The examples of a file and the tests named after it, which kill most mutants; the others."""
    files = [
        str(file)
        for place in map(Path, tests)
        for file in (sorted(place.rglob("test_*.py")) if place.is_dir() else [place])
    ]
    own = [file for file in files if path.stem.strip("_") in Path(file).stem]
    return [str(path), *own], [file for file in files if file not in own]


def survives(path: Path, tree: ast.Module, tests: list[str], seconds: int) -> bool:
    """Whether all tests pass in this (forked) process; a mutant that hangs is killed."""
    import pytest

    name = ".".join(("adaline", *path.relative_to(SOURCE).with_suffix("").parts))
    sys.meta_path.insert(0, Mutated(name, path, tree))
    signal.alarm(seconds)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    importlib.import_module(name)  # pytest would read the file itself to run its examples
    options = ["-x", "-q", "-p", "no:cacheprovider", "--no-header"]
    return pytest.main([*options, *tests]) == 0


def _without_line(text: str) -> tuple[str, str]:
    """File and change of a line that was printed; the number of the line may be another today."""
    place, _, said = text.partition("  ")
    return place.rpartition(":")[0], said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("subjects", nargs="*", default=list(SUBJECTS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--every", type=int, default=1, help="try every n-th mutant only")
    parser.add_argument("--start", type=int, default=0, help="number of the first one tried")
    parser.add_argument("--seconds", type=int, default=300, help="for one mutant")
    parser.add_argument("--like", default="", help="try only changes that contain this text")
    parser.add_argument("--near", action="store_true", help="run only the tests of a file's name")
    parser.add_argument("--again", type=Path, help="try only what this log of an earlier run lists")
    parser.add_argument("--list", action="store_true", help="print the changes, and try none")
    given = parser.parse_args()
    os.chdir(ROOT)
    os.environ["CI"] = "1"  # Hypothesis looks at the same examples each time
    for heavy in HEAVY:
        importlib.import_module(heavy)

    again = None if given.again is None else given.again.read_text(encoding="utf-8").splitlines()
    listed = None if again is None else {_without_line(text) for text in again}
    running: dict[int, str] = {}
    tried = survived = 0

    def wait() -> None:
        nonlocal survived
        pid, status = os.wait()
        said = running.pop(pid)
        if status == 0:
            survived += 1
            print(said, flush=True)

    for subject in given.subjects:
        patterns, tests = SUBJECTS[subject]
        for path in sorted(path for pattern in patterns for path in SOURCE.glob(pattern)):
            name, (near, far) = path.relative_to(SOURCE).as_posix(), nearest(path, tests)
            chosen = near if given.near else [*near, *far]
            for count, (line, said, tree) in enumerate(mutants(path.read_text(encoding="utf-8"))):
                if (count - given.start) % given.every or given.like not in f"{name}  {said}":
                    continue
                if said in HARMLESS.get(name, {}):
                    continue
                if listed is not None and (name, said) not in listed:
                    continue
                if given.list:
                    print(f"{name}:{line}  {said}")
                    continue
                if len(running) >= given.jobs:
                    wait()
                tried += 1
                pid = os.fork()
                if pid == 0:
                    try:
                        os._exit(0 if survives(path, tree, chosen, given.seconds) else 1)
                    finally:
                        os._exit(1)  # it cannot even be imported
                running[pid] = f"{name}:{line}  {said}"
    while running:
        wait()
    print(f"{tried} mutants, {survived} survived")


if __name__ == "__main__":
    main()
