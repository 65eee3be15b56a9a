"""Runs what `export` writes: SQL in sqlite3 and DuckDB, C once compiled, Python as a module."""

from __future__ import annotations

import ctypes
import itertools
import math
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest

from adaline.data import export

COMPILER = shutil.which("cc")
_COUNT = itertools.count()


def in_sqlite(text: str, rows: list[dict[str, Any]], table: str = "data") -> list[dict[str, Any]]:
    """The answers of a statement on a table of these rows."""
    base = sqlite3.connect(":memory:")
    base.row_factory = sqlite3.Row
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in rows[0])
    quoted = '"' + table.replace('"', '""') + '"'
    base.execute(f"CREATE TABLE {quoted} ({names})")
    marks = ", ".join("?" for _ in rows[0])
    base.executemany(f"INSERT INTO {quoted} VALUES ({marks})", [tuple(r.values()) for r in rows])
    if base.execute("SELECT sqlite_compileoption_used('ENABLE_MATH_FUNCTIONS')").fetchone()[0] != 1:
        base.create_function("EXP", 1, math.exp)
        base.create_function("FLOOR", 1, math.floor)
    return [dict(row) for row in base.execute(text.rstrip().rstrip(";"))]


def in_duckdb(text: str, rows: list[dict[str, Any]], table: str = "data") -> list[dict[str, Any]]:
    duckdb = pytest.importorskip("duckdb")
    base = duckdb.connect()
    kinds = {
        name: "VARCHAR" if any(isinstance(r[name], str) for r in rows) else "DOUBLE"
        for name in rows[0]
    }
    columns = ", ".join('"' + n.replace('"', '""') + '" ' + kind for n, kind in kinds.items())
    quoted = '"' + table.replace('"', '""') + '"'
    base.execute(f"CREATE TABLE {quoted} ({columns})")
    marks = ", ".join("?" for _ in rows[0])
    base.executemany(f"INSERT INTO {quoted} VALUES ({marks})", [tuple(r.values()) for r in rows])
    found = base.execute(text)
    heads = [column[0] for column in found.description]
    return [dict(zip(heads, row, strict=True)) for row in found.fetchall()]


def in_python(text: str) -> dict[str, Any]:
    """The names of the module that was written."""
    found: dict[str, Any] = {}
    exec(compile(text, "exported", "exec"), found)
    return found


class InC:
    """The function, compiled; a row is a list of floats."""

    def __init__(self, text: str, folder: Path, columns: int) -> None:
        if COMPILER is None:
            pytest.skip("there is no C compiler")
        place = folder / f"model{next(_COUNT)}"  # a library of the same path would be the old one
        place.with_suffix(".c").write_text(text)
        library = place.with_suffix(".so")
        flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-trigraphs", "-O0"]
        flags += ["-shared", "-fPIC", "-o", str(library), str(place.with_suffix(".c")), "-lm"]
        done = subprocess.run([COMPILER, *flags], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        self.library, self.columns = ctypes.CDLL(str(library)), columns

    def __call__(self, values: list[float], outputs: int = 1) -> tuple[int, list[float]]:
        row = (ctypes.c_double * self.columns)(*values)
        out = (ctypes.c_double * outputs)()
        code = self.library.predict(row, out)
        assert code == self.library.predict(row, None)
        return code, list(out)

    def labels(self, count: int) -> list[str]:
        return [
            s.decode() for s in (ctypes.c_char_p * count).in_dll(self.library, "predict_labels")
        ]


def text_of(model: Any, to: str, **options: Any) -> str:
    return export(model, to, **options).decode()
