"""Dates look like dates wherever they are shown, and names in model files stay plain texts."""

from __future__ import annotations

import re
from datetime import date, timedelta

import adaline
from adaline.cli import run_command
from adaline.data import table

DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def test_reports_show_dates_of_a_date_column(rng, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    days, size = 17897 + rng.integers(0, 2000, 80), rng.normal(5, 1, 80)
    y = 0.01 * days + size + rng.normal(0, 0.1, 80)
    lines = [
        f"{date(1970, 1, 1) + timedelta(int(d))},{s},{t}"
        for d, s, t in zip(days, size, y, strict=True)
    ]
    (tmp_path / "sales.csv").write_text("\n".join(["day,size,sales", *lines]))
    rows = table("sales.csv", "sales")
    names = rows.encoding.labels
    model = adaline.Ridge().fit(rows.X, rows.y)
    report = adaline.Report.of(model, rows.X, rows.y, names=names, held_out=False, target="sales")
    (effect,) = [p for p in report.pictures if p.title == "day"]
    assert len(DAY.findall(effect.claim)) == 2
    assert re.search(r">20(19|20|21|22|23|24)", effect.svgs[0])  # the axis
    (columns,) = [t for t in report.tables if t.caption.startswith("Columns")]
    (cells,) = [row for row in columns.rows if row[0] == "day"]
    assert all(DAY.fullmatch(cell) for cell in cells[1:4])
    assert cells[4].endswith("days")
    tokens = ("fit", "sales.csv", "-t", "sales", "--out", "m.adaline", "--report", "r.html")
    assert run_command(tokens) == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert re.search(r"From day \d{4}-\d{2}-\d{2} to \d{4}-\d{2}-\d{2}", page)
    assert all(type(name) is str for name in adaline.load("m.adaline").encoding.names)
