"""Columns that were read as something else: durations, large ids, short years, thousands."""

from __future__ import annotations

import datetime
import warnings

import numpy as np
import polars as pl
import pytest

from adaline import GaussianClassifier, LeastSquares
from adaline.data import Encoding, blocks, export, fit, look
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


def test_merged_cells_of_a_sheet_have_their_value_in_every_row(tmp_path):
    pytest.importorskip("python_calamine")
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Sales of the year", None, None])
    sheet.append(["region", "n", "y"])
    for k in range(12):
        sheet.append([{0: "north", 6: "south"}.get(k), k % 5, 1.5 * k])
    for cells in ("A3:A8", "A9:A14", "A1:C1", "B100000:B900000"):
        sheet.merge_cells(cells)
    book.save(tmp_path / "t.xlsx")
    source = blocks(tmp_path / "t.xlsx")
    (block,) = source
    region = block.columns[0]
    assert [region.levels[k] for k in region.values] == ["north"] * 6 + ["south"] * 6
    assert region.missing is None
    assert any("merged" in note for note in source.notes)


def test_a_dask_table_is_refused_with_what_to_do():
    dask = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    table = dask.from_pandas(pandas.DataFrame({"a": [1.0, 2.0], "y": [1.0, 2.0]}), npartitions=2)
    for source in (table, table.to_dask_array(lengths=True)):
        with pytest.raises(TypeError, match=r"dask.*model\.fit"):
            fit(LeastSquares(), source, "y")


@pytest.mark.parametrize("covariance", ["shared", "full", "diagonal"])
@pytest.mark.parametrize("unit", [1.0, 1e150])
def test_onnx_of_a_gaussian_has_labels_and_probabilities_however_far_a_row_is(covariance, unit):
    runtime = pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) * unit
    y = (X[:, 0] / unit + 0.5 * rng.normal(size=200) > 0) * 1
    model = GaussianClassifier(covariance=covariance).fit(X, y)
    far = [[1e300, 0], [-1e300, 1e299], [1e160, 1e160], [1e10, 2.0], [1e308, 1e308], [0.5, -0.5]]
    rows = np.concatenate([np.array(far), X])
    session = runtime.InferenceSession(export(model, "onnx"))
    label, decision, p = session.run(["label", "decision", "probabilities"], {"X": rows})
    assert not np.isnan(decision).any()
    with np.errstate(over="ignore"):
        assert label.tolist() == model.predict(rows).tolist()
        np.testing.assert_allclose(p, model.predict_proba(rows), atol=1e-9)
