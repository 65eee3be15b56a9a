"""`adaline fit --by` and `--rolling`: a table of coefficients, a page, and what is refused."""

import csv

import numpy as np
import pytest

from adaline import LeastSquares


@pytest.fixture
def sales(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "sales.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["shop", "year", "price", "sold"])
        for _ in range(200):
            shop, year, price = rng.choice(["A", "B"]), rng.choice([2024, 2025]), rng.uniform(1, 3)
            writer.writerow([shop, year, price, 100 - 20 * price * (shop == "A") + rng.normal()])
    return path


def test_a_table_of_coefficients_and_a_page_are_written(sales, tmp_path, command):
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    line = ["fit", str(sales), "--target", "sold", "--by", "shop,year", "--only", "price"]
    out, page = str(tmp_path / "coefs.csv"), tmp_path / "page.html"
    shown = command(*line, "--out", out, "--report", page).out
    assert "4 fits of LeastSquares: 4 ok (proven: 4)" in shown
    with open(out, newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 8
    rows = np.genfromtxt(sales, delimiter=",", skip_header=1, dtype=None, encoding="utf-8")
    own = np.array([(r[0], r[1]) == ("A", 2024) for r in rows.tolist()])
    price, sold = rows["f2"][own][:, None], rows["f3"][own]
    slope = next(r for r in lines if (r["shop"], r["name"]) == ("A", "price"))
    assert slope["year"].startswith("2024")
    assert float(slope["coef"]) == pytest.approx(LeastSquares().fit(price, sold).coef_[0])
    text = page.read_text(encoding="utf-8")
    assert [text.count(part) for part in ("<svg", " ok ")] == [1, 4]


def test_rolling_windows_are_one_line_of_json(sales, command):
    line = ["fit", sales, "-t", "sold", "--only", "price", "--rolling", "50", "--json"]
    assert command(*line).json["groups"] == 151


@pytest.mark.parametrize("more", [["--by", "nosuch"], ["--by", "shop", "--cv", "3"]])
def test_wrong_options_are_refused(sales, more, command):
    refused = command("fit", sales, "-t", "sold", *more)
    assert (refused.code, "--by" in refused.err) == (2, True)
