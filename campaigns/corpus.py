"""What the reader makes of real text tables: recorded once, compared after every change.

    python campaigns/corpus.py record FILE FOLDER ...     write FILE: one line for each table
    python campaigns/corpus.py compare FILE FOLDER ...    say which tables are read otherwise now

A table is known by the digest of its bytes, so that a record outlives moves and new versions of
the packages that ship the tables. `make corpus FOLDER=...` compares with `tests/data/corpus.json`,
which holds 1,000 tables of statsmodels 0.15, scikit-learn 1.9, pydataset 0.2 (its resources.tar.gz,
unpacked) and vega_datasets 0.9; `tests/data/test_readers.py` reads those that are installed.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from adaline.data import blocks

ENDINGS = (".csv", ".tsv", ".dat", ".data", ".csv.gz", ".json")
DIGITS = 9  # of a sum, which may be added up in another order


def tables(folders: Iterable[Path]) -> Iterator[Path]:
    """Text tables below the folders, in the order of their names."""
    for folder in folders:
        found = (p for p in folder.rglob("[!.]*") if p.name.lower().endswith(ENDINGS))
        yield from sorted(path for path in found if path.is_file())


def key_of(path: Path) -> str:
    """What a table is known by."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def read(path: Path) -> str:
    """Rows, columns, a letter for each kind, a digest of names and levels, and of the sums."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            source = blocks(path)
            columns: list[Any] = [[0, 0.0, set()] for _ in source.names]
            rows = 0
            for block in source:
                rows += block.rows
                for total, column in zip(columns, block.columns, strict=True):
                    _add(total, column)
    except Exception as error:
        return f"refused: {type(error).__name__}"
    named = hashlib.sha256(repr((list(source.names), [sorted(c[2]) for c in columns])).encode())
    sums = " ".join(f"{c[0]}:{_rounded(c[1])}" for c in columns)
    kinds = "".join(kind[0] for kind in source.kinds)
    summed = hashlib.sha256(sums.encode()).hexdigest()[:8]
    return f"{rows} x {len(columns)} {kinds[:20]} {named.hexdigest()[:8]} {summed}"


def _add(total: list[Any], column: Any) -> None:
    gone = column.missing
    there = column.values if gone is None else column.values[~gone]
    total[0] += len(column.values) - len(there)
    if column.kind == "number":
        total[1] += math.fsum(v for v in there.tolist() if math.isfinite(v))
    elif column.kind == "text":
        total[2] |= {column.levels[k] for k in set(there.tolist())}


def _rounded(value: float) -> str:
    return f"{value:.{DIGITS}g}"


def differences(record: dict[str, str], paths: Iterable[Path]) -> Iterator[tuple[Path, str, str]]:
    """Tables of the record that are read otherwise: path, as recorded, as read now."""
    for path in paths:
        before = record.get(key_of(path))
        if before is not None and (now := read(path)) != before:
            yield path, before, now


def main(how: str, file: str, *folders: str) -> int:
    paths = list(tables(map(Path, folders)))
    if how == "record":
        found = {key_of(path): read(path) for path in paths}
        lines = ",\n".join(f'"{key}": {json.dumps(value)}' for key, value in sorted(found.items()))
        Path(file).write_text(f"{{\n{lines}\n}}\n")
        print(f"{len(found)} tables of {len(paths)} files are in {file}")
        return 0
    record = json.loads(Path(file).read_text())
    changed = 0
    for path, before, now in differences(record, paths):
        print(f"{path}\n  before: {before}\n  now:    {now}")
        changed += 1
    print(f"{len(paths)} files, {changed} read otherwise than recorded")
    return int(changed > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
