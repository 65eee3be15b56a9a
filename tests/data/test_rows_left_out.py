"""Rows that are left out: a total, lines above the table, and rows that a condition drops."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import adaline
from adaline.data import blocks, fit, look, table
from adaline.errors import DataError

SHOPS = ["north", "south", "west"] * 8
SALES = [round(1000 + 37.25 * k, 2) for k in range(24)]
SOLD = [f"{1 + k:02d}/03/2024" for k in range(24)]


def frame(**total):
    data = pd.DataFrame({"shop": SHOPS, "sales": SALES, "size": [k % 7 for k in range(24)]})
    return pd.concat([data, pd.DataFrame([total])]) if total else data


@pytest.fixture(params=["csv", "xlsx", "semicolons", "quoted"])
def write(request, tmp_path):
    def to_file(data):
        path = tmp_path / f"t.{'xlsx' if request.param == 'xlsx' else 'csv'}"
        if request.param == "xlsx":
            data.to_excel(path, index=False)
        elif request.param == "semicolons":
            data.to_csv(path, index=False, sep=";", decimal=",")
        else:
            data.to_csv(path, index=False, quoting=int(request.param == "quoted"))
        return path

    return to_file


def rows_of(source):
    return sum(block.rows for block in source)


TOTALS = [
    {"shop": "Total", "sales": sum(SALES), "size": sum(k % 7 for k in range(24))},
    {"shop": "Summe", "sales": sum(SALES)},
    {"sales": sum(SALES), "size": sum(k % 7 for k in range(24))},
]


@pytest.mark.parametrize("total", TOTALS)
def test_a_total_is_left_out_and_said(write, total):
    path = write(frame(**total))
    source = blocks(path)
    assert rows_of(source) == 24
    assert any("keep_total" in note for note in source.notes)
    assert rows_of(blocks(path, keep_total=True)) == 25
    assert len(table(path, "sales").y) == 24
    assert len(table(blocks(path, keep_total=True), "sales").y) == 25
    assert look(path, "sales").encoding.inputs[0].levels == ("north", "south", "west")


@pytest.mark.parametrize(
    "row",
    [
        {"shop": "west", "sales": sum(SALES), "size": 3},  # a sum, and nothing else says so
        {"shop": "Total", "sales": 12.0, "size": 3},  # a word, and no sum
        {"shop": None, "sales": 1000.0, "size": 3},
    ],
)
def test_other_last_rows_are_kept(write, row):
    source = blocks(write(frame(**row)))
    assert rows_of(source) == 25
    assert not any("total" in note for note in source.notes)


def test_few_rows_and_many_files_keep_what_may_be_a_total(tmp_path):
    frame()[:4].to_csv(tmp_path / "few.csv", index=False)
    with open(tmp_path / "few.csv", "a") as file:
        file.write(f"Total,{sum(SALES[:4])},\n")
    assert rows_of(blocks(tmp_path / "few.csv")) == 5
    for name in ("a", "b"):
        frame(**TOTALS[0]).to_csv(tmp_path / f"part-{name}.csv", index=False)
    assert rows_of(blocks(tmp_path / "part-*.csv")) == 50


def test_rows_are_skipped_above_the_names(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("made by,us\nin,2024\n" + frame().to_csv(index=False))
    assert blocks(path).names != ("shop", "sales", "size")
    source = blocks(path, skip_rows=2)
    assert (source.names, rows_of(source)) == (("shop", "sales", "size"), 24)
    with pytest.raises(DataError, match="skip_rows"):
        blocks(path, skip_rows=500)
    sheet = tmp_path / "t.xlsx"
    frame().to_excel(sheet, index=False, startrow=3)
    whole = pd.read_excel(sheet, header=None)
    whole.iloc[0] = ["a", "b", "c"]
    whole.to_excel(sheet, index=False, header=False)
    skipped = int(np.flatnonzero(whole[0] == "shop")[0])
    assert blocks(sheet, skip_rows=skipped).names == ("shop", "sales", "size")
    with pytest.raises(ValueError, match="skip_rows"):
        blocks(np.eye(3), skip_rows=1)


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ("shop != north", [shop != "north" for shop in SHOPS]),
        ("shop == 'south'", [shop == "south" for shop in SHOPS]),
        ("sales>=1200", [v >= 1200 for v in SALES]),
        ("sales < 1111.75", [v < 1111.75 for v in SALES]),
        ("`size` = 3", [k % 7 == 3 for k in range(24)]),
    ],
)
def test_a_condition_chooses_rows(write, where, kept):
    path = write(frame())
    assert rows_of(blocks(path, where=where)) == sum(kept)
    assert rows_of(blocks(frame(), where=where)) == sum(kept)
    (block,) = blocks(path, ["size"], where=where)
    assert block.names == ("size",)
    assert np.array_equal(block.columns[0].values, np.arange(24)[kept] % 7)
    learned = table(blocks(path, where=where), "size", columns=["sales"])
    assert np.allclose(learned.X[:, 0], np.array(SALES)[kept])


def test_dates_are_compared_as_they_are_read(write):
    dated = frame().assign(sold=SOLD)
    assert rows_of(blocks(write(dated), where="sold > 20/03/2024")) == 4
    with pytest.raises(DataError, match="sold"):
        rows_of(blocks(write(dated), where="sold > 2024-03-20"))
    typed = dated.assign(sold=pd.to_datetime(dated["sold"], format="%d/%m/%Y"))
    assert rows_of(blocks(typed, where="sold > 2024-03-20")) == 4


def test_missing_values_are_unequal_to_any(write):
    gaps = frame().assign(size=[None if k % 3 else k for k in range(24)])
    assert rows_of(blocks(write(gaps), where="size != 3")) == 23
    assert rows_of(blocks(gaps, where="size < 100")) == 8


def test_conditions_that_mean_nothing_are_refused(write):
    path = write(frame())
    for where, word in (
        ("shop", "expected"),
        ("shopp == 1", "shop"),
        ("shop < 3", "shop"),
        ("sales > much", "much"),
    ):
        with pytest.raises((ValueError, DataError), match=word):
            rows_of(blocks(path, where=where))


def test_matrices_and_streams_are_filtered_too():
    X = np.arange(12.0).reshape(6, 2)
    for source in (X, scipy.sparse.csr_array(X)):
        assert rows_of(blocks(source, where="x0 > 4")) == 3
        (block,) = blocks(source, ["x1"], where="x0 > 4")
        assert block.matrix.shape == (3, 1)
    assert rows_of(blocks(iter([frame(), frame()]), where="shop == north")) == 16


def test_a_fit_of_a_condition_is_that_of_the_rows(write):
    model = fit(adaline.LeastSquares(), blocks(write(frame()), where="shop!=west"), "sales")
    ours = fit(adaline.LeastSquares(), frame()[frame()["shop"] != "west"], "sales")
    assert np.array_equal(model.coef_, ours.coef_)
