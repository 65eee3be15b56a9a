"""`predict`, `info` and `export`: the same numbers as the library's."""

from __future__ import annotations

import csv
import io
import json
import math
import sys

import numpy as np
import pytest

import adaline
from exported import in_python


@pytest.fixture
def model(command, pumps):
    assert command("fit", pumps, "-t", "failed", "-o", "m.adaline", "-q").code == 0
    return adaline.load("m.adaline")


@pytest.fixture
def rent(command, rents):
    assert command("fit", rents, "-t", "rent", "-o", "r.adaline", "-q").code == 0
    return adaline.load("r.adaline")


def rows_of(result):
    return list(csv.DictReader(io.StringIO(result.out)))


def numbers(rows, head):
    return np.array([float(row[head]) for row in rows])


def table_of(path):
    with open(path) as file:
        rows = list(csv.DictReader(file))
    is_number = lambda text: text.replace(".", "", 1).replace("-", "", 1).isdigit()  # noqa: E731
    return [{k: float(v) if is_number(v) else v or None for k, v in row.items()} for row in rows]


def test_predictions_are_the_models_labels_and_probabilities(command, pumps, model, monkeypatch):
    plain = command("predict", "m.adaline", pumps)
    rows = rows_of(plain)
    assert [row["prediction"] for row in rows] == model.predict(str(pumps)).tolist()
    p = np.column_stack([numbers(rows, "p(no)"), numbers(rows, "p(yes)")])
    np.testing.assert_allclose(p, model.predict_proba(str(pumps)), rtol=1e-14)
    found = command("predict", "m.adaline", pumps, "--json").json
    assert found["columns"] == ["prediction", "p(no)", "p(yes)"]
    assert len(found["rows"]) == found["count"] == 400
    with open(pumps, "rb") as file:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(file))
        assert command("predict", "m.adaline", "-").out == plain.out


@pytest.mark.parametrize("ending", ["csv", "tsv", "ndjson", "parquet"])
def test_every_format_holds_the_same_rows(command, pumps, model, ending, tmp_path):
    pl = pytest.importorskip("polars")
    found = command("predict", "m.adaline", pumps, "-o", f"p.{ending}", "--keep", "hours", "--json")
    assert found.json == {
        "command": "predict",
        "rows": 400,
        "without_prediction": 0,
        "unknown": {},
        "notes": [],
        "out": f"p.{ending}",
        "warnings": [],
    }
    reader = {
        "csv": pl.read_csv,
        "tsv": lambda path: pl.read_csv(path, separator="\t"),
        "ndjson": pl.read_ndjson,
        "parquet": pl.read_parquet,
    }[ending]
    found = reader(tmp_path / f"p.{ending}")
    assert found.columns == ["hours", "prediction", "p(no)", "p(yes)"]
    assert found["prediction"].to_list() == model.predict(str(pumps)).tolist()
    assert found["hours"][0] == 12970


def test_what_is_not_in_a_file_is_named(command, pumps, model, tmp_path):
    text = pumps.read_text()
    (tmp_path / "new.csv").write_text(text.replace("slurry", "honey", 1))
    found = command("predict", "m.adaline", "new.csv", "-o", "p.csv", "--unknown", "refuse")
    assert (found.code, "'honey'" in found.err) == (3, True)
    assert not list(tmp_path.glob("p.csv*"))
    assert command("predict", "m.adaline", pumps, "--keep", "site", "--keep", "site").code == 2


@pytest.mark.usefixtures("rent", "model")
def test_contributions_of_every_column_add_up(command, pumps, rents):
    for file, data, total, first in (("r", rents, "prediction", 1), ("m", pumps, "score", 4)):
        rows = rows_of(command("predict", f"{file}.adaline", data, "--explain"))
        heads = list(rows[0])
        assert heads[first - 1 : first + 1] == [total, "base"]
        assert all(head.startswith("from ") for head in heads[first + 1 :])
        for row in rows:
            parts = [float(row[head]) for head in heads[first:]]
            assert math.fsum(parts) == pytest.approx(float(row[total]), rel=1e-9, abs=1e-12)


def test_intervals_are_the_librarys(command, pumps, rents, rent, model):
    rows = rows_of(command("predict", "r.adaline", rents, "--interval", "--level", "0.8"))
    found = adaline.interval(rent, str(rents), 0.8)
    assert np.array_equal(numbers(rows, "low"), found.low)
    assert np.array_equal(numbers(rows, "high"), found.high)
    rows = rows_of(command("predict", "m.adaline", pumps, "--interval"))
    found = adaline.interval(model, str(pumps))
    assert np.array_equal(numbers(rows, "p(yes) low"), found.low[:, 1])
    assert np.array_equal(numbers(rows, "p(yes) high"), found.high[:, 1])
    refused = command("predict", "r.adaline", rents, "--interval", "--level", "95")
    assert (refused.code, "--level" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("option", "name"), [("--interval", "perceptron"), ("--explain", "kernel-perceptron")]
)
def test_what_a_model_cannot_say_is_refused_before_anything_is_written(
    command, pumps, option, name, tmp_path
):
    command("fit", pumps, "-t", "failed", "-o", "m.adaline", "-m", name, "-q")
    assert command("predict", "m.adaline", pumps, option, "-o", "o.csv").code == 3
    assert not (tmp_path / "o.csv").exists()


def test_rows_without_a_prediction_are_empty(command, tmp_path):
    rows = "".join(f"{i * i},{i % 7},{3 * i + i % 3}\n" for i in range(40))
    (tmp_path / "a.csv").write_text("x,z,y\n" + rows)
    (tmp_path / "b.csv").write_text("x,z\n1,2\n,3\n4,5\n")
    command("fit", "a.csv", "-t", "y", "-o", "m.adaline", "--missing", "drop", "-q")
    rows = rows_of(command("predict", "m.adaline", "b.csv", "--explain", "--interval"))
    for head in ("prediction", "from x", "low"):
        assert [row[head] == "" for row in rows] == [False, True, False]


def test_a_model_saved_from_python_without_an_encoding_predicts(command, tmp_path):
    X = np.arange(12.0).reshape(6, 2) ** 2
    adaline.save(adaline.LeastSquares().fit(X, X @ [1.0, 2.0]), tmp_path / "m.adaline")
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="a,b", comments="")
    rows = rows_of(command("predict", "m.adaline", "x.csv"))
    np.testing.assert_allclose(numbers(rows, "prediction"), X @ [1.0, 2.0], atol=1e-9)
    np.savetxt(tmp_path / "x.csv", X[:, :1], delimiter=",", header="a", comments="")
    assert command("predict", "m.adaline", "x.csv").code == 3


def test_info_has_columns_and_target(command, model):
    found = command("info", "m.adaline", "--json").json
    assert found["target"] == "failed"
    assert found["classes"] == ["no", "yes"]
    assert found["coefficients"][0]["name"] == "intercept"
    assert "days_since_service" in command("info", "m.adaline").out


def test_exports_are_named_and_written(command, pumps, model, tmp_path):
    export = ("export", "m.adaline", "--to")
    found = json.loads(command(*export, "json").out)
    assert found["neurons"][0]["weights"]["vibration"] == model.model.coef_[0][7]
    assert command(*export, "json", "--name", "x").code == 3
    assert command(*export, "python", "--name", "a b").code != 0
    command(*export, "python", "--name", "fails", "-o", "fails.py")
    module = in_python((tmp_path / "fails.py").read_text())
    predicted = [module["fails"](row) for row in table_of(pumps)]
    assert predicted == model.predict(str(pumps)).tolist()
    pytest.importorskip("onnx")
    found = command(*export, "onnx", "--json").json
    assert (tmp_path / "m.onnx").stat().st_size == found["bytes"]


def test_a_formula_is_learned_and_saved(command, rents):
    tokens = ["fit", rents, "-t", "rent", "-o", "m.adaline", "--formula"]
    assert "log(area):rooms" in command(*tokens, "log(area)*rooms", "-v").out
    rows = rows_of(command("predict", "m.adaline", rents, "--explain"))
    assert "from log(area):rooms" in rows[0]
    model = adaline.load("m.adaline")
    assert np.array_equal(numbers(rows, "prediction"), model.predict(str(rents)))
    assert "area^2" in command(*tokens, ". + poly(area, 2)", "--checkpoint", "k", "-v").out
    assert "exp(area)" in command(*tokens, "exp(area)").err
