"""Dates look like dates wherever they are shown, and can be typed as such."""

from __future__ import annotations

import re
from datetime import date, timedelta

import numpy as np
import pytest

import adaline
from adaline.cli import run_command
from adaline.data import table
from adaline.play import tables
from adaline.plot import DecisionDisplay, EffectDisplay

DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@pytest.fixture
def sales(rng):
    days = [date(2019, 1, 1) + timedelta(int(k)) for k in np.sort(rng.integers(0, 2000, 80))]
    size = rng.normal(5, 1, 80).round(3).tolist()
    y = [
        0.01 * (d - days[0]).days + s + e
        for d, s, e in zip(days, size, rng.normal(0, 0.1, 80), strict=True)
    ]
    return {"day": days, "size": size, "sales": y}


@pytest.fixture
def workbook(sales, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(list(sales))
    for row in zip(*sales.values(), strict=True):
        book.active.append(row)
    book.save(tmp_path / "sales.xlsx")
    return tmp_path / "sales.xlsx"


def as_csv(sales, path):
    lines = [",".join(map(str, row)) for row in zip(*sales.values(), strict=True)]
    path.write_text("\n".join([",".join(sales), *lines]))
    return path


def test_the_report_shows_dates_of_a_date_column(sales, tmp_path):
    rows = table(as_csv(sales, tmp_path / "sales.csv"), "sales")
    X, names = rows.X, rows.encoding.labels
    X[5, names.index("day")] = 1.0  # a stray of 1970, so that rows and their sentences differ
    model = adaline.Ridge().fit(X, rows.y)
    report = adaline.Report.of(model, X, rows.y, names=names, held_out=False, target="sales")
    (effect,) = [p for p in report.pictures if p.title == "day"]
    assert len(DAY.findall(effect.claim)) == 2
    assert re.search(r">20(19|20|21|22|23|24)", effect.svgs[0])  # the axis
    (columns,) = [t for t in report.tables if t.caption.startswith("Columns")]
    (cells,) = [row for row in columns.rows if row[0] == "day"]
    assert all(DAY.fullmatch(cell) for cell in cells[1:4])
    assert cells[4].endswith("days")
    assert any("days more" in text for text in report.drivers if text.startswith("day"))
    (single,) = [c for c in report.checks if c.key == "influence"]
    if "where the mean" in single.sentence:
        assert "1970-01-02" in single.sentence


def test_pictures_of_two_columns_have_dates_along_their_axes(sales, tmp_path):
    rows = table(as_csv(sales, tmp_path / "sales.csv"), "sales")
    X, names = rows.X[:, :2], rows.encoding.labels[:2]
    y = X[:, names.index("day")] > np.median(X[:, names.index("day")])
    model = adaline.GaussianClassifier().fit(X, y)
    (svg,) = DecisionDisplay.from_estimator(model, X, y, names=names).svgs("decision")
    assert re.search(r">20(19|20|21|22|23|24)", svg)
    line = adaline.LeastSquares().fit(X, X[:, 0])
    claim = EffectDisplay.from_estimator(line, X, "day", names=names).claim
    assert len(DAY.findall(claim)) == 2


@pytest.mark.parametrize("kind", ["xlsx", "csv"])
def test_a_date_is_shown_and_typed_as_a_date_on_the_page(sales, workbook, tmp_path, kind):
    path = workbook if kind == "xlsx" else as_csv(sales, tmp_path / "sales.csv")
    rows = table(path, "sales")
    model = adaline.LeastSquares().fit(rows.X, rows.y)
    adaline.save(model, tmp_path / "m.adaline", rows.encoding)
    prepared = adaline.load(tmp_path / "m.adaline")
    fields = {f["name"]: f for f in tables.trial_form.fields(prepared, path)}
    assert fields["day"]["value"] == str(sales["day"][0])
    given = {name: field["value"] for name, field in fields.items()}
    first = tables.trial_form.answer(prepared, given, tmp_path)["prediction"]
    assert first == pytest.approx(model.predict(rows.X[:1])[0])
    given["day"] = "2024-06-01"
    later = tables.trial_form.answer(prepared, given, tmp_path)["prediction"]
    days = (date(2024, 6, 1) - sales["day"][0]).days
    assert later == pytest.approx(first + 0.01 * days, abs=0.5)


def test_the_command_writes_dates_into_its_report_and_plain_names_into_the_model(
    sales, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    as_csv(sales, tmp_path / "sales.csv")
    tokens = ("fit", "sales.csv", "-t", "sales", "--out", "m.adaline", "--report", "r.html")
    assert run_command(tokens) == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert re.search(r"From day \d{4}-\d{2}-\d{2} to \d{4}-\d{2}-\d{2}", page)
    prepared = adaline.load("m.adaline")
    assert all(type(name) is str for name in prepared.encoding.names)
