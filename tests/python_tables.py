"""Sources as lists of Python: columns by name, and rows; None for what is missing."""

from __future__ import annotations

from typing import Any


def columns_of(source: Any) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {name: [] for name in source.names}
    for block in source:
        for name, column in zip(block.names, block.columns, strict=True):
            values = column.values.tolist()
            if column.kind == "text":
                values = [column.levels[k] if column.levels else None for k in values]
            gone = column.missing if column.missing is not None else [False] * len(values)
            columns[name] += [None if g else v for g, v in zip(gone, values, strict=True)]
    return columns


def rows_of(source: Any) -> list[tuple[Any, ...]]:
    return list(zip(*columns_of(source).values(), strict=True))
