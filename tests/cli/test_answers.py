"""`predict --interval` and `--explain`: the library's numbers, beside the predictions."""

from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest

import adaline
from exported import in_python, in_sqlite


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def numbers(rows, head):
    return np.array([float(row[head]) for row in rows])


def test_contributions_of_every_column_add_up_to_the_prediction(command, rents):
    command("fit", rents, "-t", "rent", "-o", "m.adaline", "-q")
    rows = rows_of(command("predict", "m.adaline", rents, "--explain").out)
    heads = list(rows[0])
    assert heads[:2] == ["prediction", "base"]
    assert "from district" in heads
    for row in rows:
        parts = [float(row[head]) for head in heads[1:]]
        assert math.fsum(parts) == pytest.approx(float(row["prediction"]), rel=1e-12)


def test_two_classes_have_a_score(command, pumps):
    command("fit", pumps, "-t", "failed", "-o", "m.adaline", "-q")
    rows = rows_of(command("predict", "m.adaline", pumps, "--explain").out)
    heads = list(rows[0])
    assert heads[3:5] == ["score", "base"]
    for row in rows:
        parts = [float(row[head]) for head in heads[4:]]
        assert math.fsum(parts) == pytest.approx(float(row["score"]), rel=1e-9, abs=1e-12)
        assert (float(row["score"]) > 0) == (row["prediction"] == "yes")


def test_intervals_are_the_librarys(command, pumps, rents):
    command("fit", rents, "-t", "rent", "-o", "m.adaline", "-q")
    rows = rows_of(command("predict", "m.adaline", rents, "--interval", "--level", "0.8").out)
    found = adaline.interval(adaline.load("m.adaline"), str(rents), 0.8)
    assert np.array_equal(numbers(rows, "low"), found.low)
    assert np.array_equal(numbers(rows, "high"), found.high)
    command("fit", pumps, "-t", "failed", "-o", "p.adaline", "-q")
    rows = rows_of(command("predict", "p.adaline", pumps, "--interval").out)
    found = adaline.interval(adaline.load("p.adaline"), str(pumps))
    assert np.array_equal(numbers(rows, "p(yes) low"), found.low[:, 1])
    assert np.array_equal(numbers(rows, "p(yes) high"), found.high[:, 1])


def test_a_file_is_explained_in_words_too(command, pumps):
    command("fit", pumps, "-t", "failed", "-o", "m.adaline", "-q")
    told = command("predict", "m.adaline", pumps, "--explain", "--interval", "-o", "o.csv").out
    assert "A positive score speaks for yes" in told
    assert "0.95 of all cases" in told


@pytest.mark.parametrize("option", ["--interval", "--explain"])
def test_what_a_model_cannot_say_is_refused_before_anything_is_written(
    command, pumps, option, tmp_path
):
    settings = ["--set", "covariance=full"] if option == "--explain" else []
    name = "gaussian" if option == "--explain" else "perceptron"
    command("fit", pumps, "-t", "failed", "-o", "m.adaline", "-m", name, *settings, "-q")
    told = command("predict", "m.adaline", pumps, option, "-o", "o.csv")
    assert told.code == 3
    assert "no theory" in told.err or "no contributions" in told.err
    assert not (tmp_path / "o.csv").exists()


def test_a_level_is_a_share(command, rents):
    command("fit", rents, "-t", "rent", "-o", "m.adaline", "-q")
    told = command("predict", "m.adaline", rents, "--interval", "--level", "95")
    assert told.code == 2
    assert "--level" in told.err


def test_rows_without_a_prediction_have_no_parts(command, tmp_path):
    (tmp_path / "a.csv").write_text(
        "x,z,y\n" + "".join(f"{i * i},{i % 7},{3 * i + i % 3}\n" for i in range(40))
    )
    (tmp_path / "b.csv").write_text("x,z\n1,2\n,3\n4,5\n")
    command("fit", "a.csv", "-t", "y", "-o", "m.adaline", "--missing", "drop", "-q")
    rows = rows_of(command("predict", "m.adaline", "b.csv", "--explain", "--interval").out)
    assert [row["from x"] == "" for row in rows] == [False, True, False]
    assert [row["low"] == "" for row in rows] == [False, True, False]


def test_counts_have_intervals_for_their_exposure(command, tmp_path, rng):
    lines = [f"{x},{t},{rng.poisson(t * 2)}" for x, t in rng.integers(1, 9, (60, 2)).tolist()]
    (tmp_path / "c.csv").write_text("\n".join(["x,years,n", *lines]) + "\n")
    command("fit", "c.csv", "-t", "n", "-m", "poisson", "-o", "m.adaline", "-q")
    rows = rows_of(command("predict", "m.adaline", "c.csv", "--interval", "--explain").out)
    p, low, high = (numbers(rows, head) for head in ("prediction", "low", "high"))
    assert np.all((low < p) & (p < high))
    assert np.allclose(np.exp(numbers(rows, "score")), p)


def table_of(path):
    with open(path) as file:
        rows = list(csv.DictReader(file))
    return [{k: float(v) if _is_number(v) else v or None for k, v in row.items()} for row in rows]


def _is_number(text):
    return text.replace(".", "", 1).replace("-", "", 1).isdigit()


def test_exported_sql_and_python_take_the_table_as_it_is(command, pumps):
    command("fit", pumps, "-t", "failed", "-o", "m.adaline", "-q")
    model, rows = adaline.load("m.adaline"), table_of(pumps)
    told = in_sqlite(command("export", "m.adaline", "--to", "sql").out, rows)
    assert [row["prediction"] for row in told] == model.predict(str(pumps)).tolist()
    p = np.array([[row["p(no)"], row["p(yes)"]] for row in told])
    assert np.allclose(p, model.predict_proba(str(pumps)), rtol=1e-12)
    text = command("export", "m.adaline", "--to", "python", "--name", "fails").out
    module = in_python(text)
    assert [module["fails"](row) for row in rows] == model.predict(str(pumps)).tolist()


def test_exported_c_is_written_to_a_file(command, rents, tmp_path):
    command("fit", rents, "-t", "rent", "--only", "area,floor", "-o", "m.adaline", "-q")
    told = command("export", "m.adaline", "--to", "c", "--name", "rent", "-o", "rent.c").out
    assert "Fill a rent_row and call rent" in told
    assert "double rent(const rent_row *row)" in (tmp_path / "rent.c").read_text()


def test_a_name_is_of_sources_only(command, rents):
    command("fit", rents, "-t", "rent", "-o", "m.adaline", "-q")
    assert command("export", "m.adaline", "--to", "json", "--name", "x").code == 2
    assert command("export", "m.adaline", "--to", "c", "--name", "a b").code != 0


def test_counts_are_exported_with_their_exposure(command, tmp_path, rng):
    lines = [f"{x},{t},{rng.poisson(t * 2)}" for x, t in rng.integers(1, 9, (60, 2)).tolist()]
    (tmp_path / "c.csv").write_text("\n".join(["x,years,n", *lines]) + "\n")
    command("fit", "c.csv", "-t", "n", "--exposure", "years", "-o", "m.adaline", "-q")
    told = rows_of(command("predict", "m.adaline", "c.csv").out)
    found = in_sqlite(
        command("export", "m.adaline", "--to", "sql").out, table_of(tmp_path / "c.csv")
    )
    assert np.allclose([row["prediction"] for row in found], numbers(told, "prediction"))


def test_a_formula_is_learned_kept_and_exported(command, rents, tmp_path):
    told = command("fit", rents, "-t", "rent", "-o", "m.adaline", "--formula", "log(area)*rooms")
    assert "log(area):rooms" in told.out
    model = adaline.load("m.adaline")
    assert model.encoding.names == ("log(area)", "rooms", "log(area):rooms")
    rows = rows_of(command("predict", "m.adaline", rents, "--explain").out)
    assert "from log(area):rooms" in rows[0]
    assert np.array_equal(numbers(rows, "prediction"), model.predict(str(rents)))
    found = in_sqlite(command("export", "m.adaline", "--to", "sql").out, table_of(rents))
    assert np.allclose([row["prediction"] for row in found], model.predict(str(rents)))
    by_blocks = command(
        "fit", rents, "-t", "rent", "--formula", ". + poly(area, 2)", "--checkpoint", "k"
    )
    assert "area^2" in by_blocks.out


def test_a_wrong_formula_is_told_in_a_sentence(command, rents):
    for formula, words in (("exp(area)", "expected"), ("log(heating)", "is text"), ("a +", "")):
        told = command("fit", rents, "-t", "rent", "--formula", formula)
        assert told.code in (2, 3)
        assert "formula" in told.err
        assert words in told.err
    told = command("fit", rents, "-t", "rent", "--formula", "arae")
    assert told.code in (2, 3)
    assert "arae" in told.err
