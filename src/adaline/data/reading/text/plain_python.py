"""Fields to columns with nothing but Python, for where neither polars nor pyarrow is installed."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np

from adaline.data.reading.source import Column, Kind

MISSING = ["", "NA", "N/A", "null", "NULL", "None"]


class PlainTable:
    """The rows in some lines of text, as columns.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    columns : tuple of Column
    """

    def __init__(
        self,
        data: bytes,
        separator: str,
        width: int,
        places: Sequence[int],
        kinds: Sequence[Kind],
        points: bool,
        missing: Sequence[str] = MISSING,
    ):
        text = io.StringIO(data.decode(), newline="")
        rows = [row for row in csv.reader(text, delimiter=separator, strict=True) if row]
        if any(len(row) != width for row in rows):
            raise ValueError("its lines have different numbers of fields")
        self.shape = (len(rows), len(places))
        self.columns = tuple(
            _column([row[j] for row in rows], kind, points, missing)
            for j, kind in zip(places, kinds, strict=True)
        )


def _column(fields: list[str], kind: Kind, points: bool, marks: Sequence[str]) -> Column:
    gone = np.array([field in marks for field in fields], dtype=bool)
    missing = gone if gone.any() else None
    if kind == "number":
        values = [0.0 if field in MISSING else _number(field, points) for field in fields]
        return Column(kind, np.array(values), missing=missing)
    levels = tuple(sorted({field for field in fields if field not in marks}))
    places = {level: k for k, level in enumerate(levels)}
    codes = np.array([places.get(field, 0) for field in fields], dtype=np.int32)
    return Column(kind, codes, levels, missing)


def _number(field: str, points: bool) -> float:
    if "_" in field or (not points and "." in field):
        raise ValueError(f"{field!r} is no number")
    return float(field if points else field.replace(",", "."))
