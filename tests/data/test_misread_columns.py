"""Columns that were read as something else: durations, large ids, short years, thousands."""

from __future__ import annotations

import datetime
import warnings

import numpy as np
import polars as pl
import pytest

from adaline.data import Encoding, blocks, look
from adaline.errors import DataError, DataWarning


def encoded(encoding, source):
    return np.concatenate([encoding.encode(block) for block in encoding.prepare(source)])


@pytest.mark.parametrize("library", ["polars", "pyarrow", "parquet"])
def test_durations_and_times_of_day_are_numbers_of_days(library, tmp_path):
    lasted = [datetime.timedelta(hours=6 * k) for k in range(80)]
    at = [datetime.time(k % 24) for k in range(80)]
    table = pl.DataFrame({"lasted": lasted, "at": at, "y": np.arange(80.0) ** 2})
    table.write_parquet(tmp_path / "t.parquet")
    source = {"polars": table, "pyarrow": table.to_arrow()}.get(library, tmp_path / "t.parquet")
    seen = look(source, "y")
    assert [column.kind for column in seen.columns[:2]] == ["number", "number"]
    assert seen.encoding.names == ("lasted", "at")
    X = encoded(seen.encoding, source)
    assert np.allclose(X[:3], [[0, 0], [0.25, 1 / 24], [0.5, 2 / 24]])


def test_ids_beyond_what_floats_hold_are_no_numbers_to_learn_from(tmp_path):
    lines = [f"{2**53 + k},{k % 3},{k}" for k in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["id,a,y", *lines]) + "\n")
    seen = look(tmp_path / "t.csv", "y")
    assert seen.encoding.names == ("a",)
    assert seen.columns[0].different is None


def test_look_counts_different_values_over_the_same_rows(tmp_path):
    lines = [f"{k},w{k % 40000},{k % 7}" for k in range(200_000)]
    (tmp_path / "t.csv").write_text("\n".join(["a,word,y", *lines]) + "\n")
    number, word, _ = look(tmp_path / "t.csv", "y", use=["a"], ignore=["word"]).columns
    rows = next(iter([blocks(tmp_path / "t.csv").head().rows]))
    assert number.different == rows
    assert word.different == min(rows, 40000)


def test_the_century_of_two_digits_is_said(tmp_path):
    days = [f"{k % 28 + 1}/{k // 28 + 1}/{k % 90 + 10}" for k in range(80)]
    (tmp_path / "t.csv").write_text(
        "\n".join(["d,y", *(f"{d},{k}" for k, d in enumerate(days))]) + "\n"
    )
    with pytest.warns(DataWarning, match="1969 to 2068"):
        Encoding.learn(tmp_path / "t.csv", "y", missing="auto")
    full = [f"{d[:-2]}20{d[-2:]}" for d in days]
    (tmp_path / "t.csv").write_text(
        "\n".join(["d,y", *(f"{d},{k}" for k, d in enumerate(full))]) + "\n"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Encoding.learn(tmp_path / "t.csv", "y", missing="auto")


def test_thousands_that_come_late_are_numbers_and_no_gaps(tmp_path):
    lines = [f'"{k % 900 + 0.25}",{k}' for k in range(1500)] + ['"1,234.5",1500', '"12,345",1501']
    (tmp_path / "t.csv").write_text("\n".join(["a,y", *lines]) + "\n")
    encoding = Encoding.learn(tmp_path / "t.csv", "y", missing="auto")
    assert encoding.inputs[0].reading == "number ,."
    assert encoded(encoding, tmp_path / "t.csv")[-2:, 0].tolist() == [1234.5, 12345.0]
    with pytest.raises(DataError, match="number ,"):
        list(blocks(tmp_path / "t.csv"))
    encoding = Encoding.learn(tmp_path / "t.csv", "y", read={"a": "number ,."})
    assert encoded(encoding, tmp_path / "t.csv")[-1, 0] == 12345.0
