"""`predict`, `evaluate`, `info` and `export`: the same numbers as the library's."""

from __future__ import annotations

import csv
import io
import json
import sys

import numpy as np
import pytest

import adaline


@pytest.fixture
def model(command, pumps):
    assert command("fit", pumps, "-t", "failed", "-o", "m.adaline", "-q").code == 0
    return adaline.load("m.adaline")


def test_predictions_are_the_models_labels_and_probabilities(command, pumps, model):
    rows = list(csv.DictReader(io.StringIO(command("predict", "m.adaline", pumps).out)))
    assert [row["prediction"] for row in rows] == model.predict(str(pumps)).tolist()
    p = np.array([[float(row["p(no)"]), float(row["p(yes)"])] for row in rows])
    np.testing.assert_allclose(p, model.predict_proba(str(pumps)), rtol=1e-14)


@pytest.mark.parametrize("ending", ["csv", "tsv", "ndjson", "parquet"])
def test_every_format_holds_the_same_rows(command, pumps, model, ending, tmp_path):
    pytest.importorskip("polars")
    import polars as pl

    told = command("predict", "m.adaline", pumps, "-o", f"p.{ending}", "--keep", "hours", "--json")
    assert told.json == {
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
    assert not list(tmp_path.glob("*.part"))


def test_json_on_stdout_is_one_strict_object(command, pumps, model):
    found = command("predict", "m.adaline", pumps, "--json").json
    assert found["columns"] == ["prediction", "p(no)", "p(yes)"]
    assert len(found["rows"]) == found["count"] == 400


def test_rows_may_come_from_stdin(command, pumps, model, monkeypatch):
    plain = command("predict", "m.adaline", pumps).out
    with open(pumps, "rb") as file:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(file))
        assert command("predict", "m.adaline", "-").out == plain


def test_a_level_never_seen_is_named(command, pumps, model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text(pumps.read_text().replace("slurry", "honey", 1))
    found = command("predict", "m.adaline", path, "-o", "p.csv", "--unknown", "refuse")
    assert found.code == 3
    assert "'honey'" in found.err
    assert not list(tmp_path.glob("p.csv*"))


def test_a_missing_column_is_named_with_those_that_look_alike(command, pumps, model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text(pumps.read_text().replace("vibration", "vibrations", 1))
    found = command("predict", "m.adaline", path)
    assert found.code == 3
    assert "did you mean 'vibrations'?" in found.err


def test_evaluate_has_the_librarys_score(command, pumps, model):
    found = command("evaluate", "m.adaline", pumps, "--json").json["quality"]
    with open(pumps, newline="") as file:
        y = np.array([row["failed"] for row in csv.DictReader(file)])
    answer = model.predict(str(pumps))
    assert found["accuracy"] == np.mean(answer == y)
    log_p = model.predict_log_proba(str(pumps))
    loss = -np.mean(np.where(y == "yes", log_p[:, 1], log_p[:, 0]))
    assert found["log_loss"] == pytest.approx(loss, rel=1e-12)
    assert found["confusion"] == [
        [int(np.sum((y == t) & (answer == a))) for a in ("no", "yes")] for t in ("no", "yes")
    ]


def test_evaluate_of_a_regressor_has_sklearns_r2(command, rents):
    command("fit", rents, "-t", "rent", "-o", "r.adaline", "-q")
    found = command("evaluate", "r.adaline", rents, "--json").json["quality"]
    with open(rents, newline="") as file:
        y = np.array([float(row["rent"]) for row in csv.DictReader(file)])
    e = y - adaline.load("r.adaline").predict(str(rents))
    assert found["r2"] == pytest.approx(1 - (e @ e) / np.sum((y - y.mean()) ** 2), rel=1e-12)
    assert found["worst"] == np.abs(e).max()


def test_a_label_the_model_never_saw_counts_as_wrong(command, pumps, model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text(pumps.read_text().replace(",yes\n", ",perhaps\n"))
    found = command("evaluate", "m.adaline", path, "--json").json
    assert found["quality"]["labels"] == ["no", "yes", "perhaps"] or "perhaps" in str(found)
    assert "never saw" in " ".join(found["warnings"])


def test_a_model_saved_from_python_without_an_encoding_predicts(command, tmp_path):
    X = np.arange(12.0).reshape(6, 2) ** 2
    model = adaline.LeastSquares().fit(X, X @ [1.0, 2.0])
    adaline.save(model, tmp_path / "m.adaline")
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="a,b", comments="")
    lines = command("predict", "m.adaline", "x.csv").out.split()[1:]
    np.testing.assert_allclose([float(v) for v in lines], X @ [1.0, 2.0], atol=1e-9)


def test_info_tells_columns_and_target(command, model):
    found = command("info", "m.adaline", "--json").json
    assert found["target"] == "failed"
    assert found["classes"] == ["no", "yes"]
    assert found["coefficients"][0]["name"] == "intercept"
    assert "days_since_service" in command("info", "m.adaline").out


def test_export_to_json_has_weights_by_name(command, model):
    found = json.loads(command("export", "m.adaline", "--to", "json").out)
    assert found["neurons"][0]["weights"]["vibration"] == model.model.coef_[0][7]


def test_export_to_onnx_is_written_beside_the_model(command, model, tmp_path):
    pytest.importorskip("onnx")
    found = command("export", "m.adaline", "--to", "onnx", "--json").json
    assert (tmp_path / "m.onnx").stat().st_size == found["bytes"]
    assert found["inputs"][0] == "site=north"
