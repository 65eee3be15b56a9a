"""New rows are read in the notation that the model has learned, or rejected: by the command and in
Python alike."""

from __future__ import annotations

import csv
import io

import numpy as np
import polars as pl
import pytest

import adaline
from adaline import Ridge
from adaline.data import Encoding, blocks, fit

pytestmark = pytest.mark.filterwarnings("ignore::adaline.errors.DataWarning")
N = 60
VALUES = [1_345_870 + 23_456 * k for k in range(N)]


def grouped(value: int, mark: str) -> str:
    return f"{value:,}".replace(",", mark)


LEARNED = {  # how the model's file writes 1345870 or so, and what new rows mean by it
    "dots": [grouped(v, ".") for v in VALUES],
    "decimal comma": [grouped(v, ".") + ",5" for v in VALUES],
    "euros": [grouped(v // 10, ".") + " €" for v in VALUES],
    "commas": [grouped(v, ",") for v in VALUES],
    "plain": [f"{v / 1000:.3f}" for v in VALUES],
    "dates": [f"2023-{1 + k // 28:02d}-{1 + k % 28:02d}" for k in range(N)],
    "percent": [f"{20 + k + 0.4:.1f}%" for k in range(N)],
}
NEW = {  # the model, what a new row has, and the number that it means; None: no such number
    "a file below a million": ("dots", ["845.870", "12.345"], [845870.0, 12345.0]),
    "decimals for dots": ("dots", ["845.87", "12.345"], None),
    "no dots at all": ("dots", ["845870", "987"], [845870.0, 987.0]),
    "dots for a decimal comma": ("decimal comma", ["845.870", "12.345"], [845870.0, 12345.0]),
    "decimals for a decimal comma": ("decimal comma", ["845.5", "1.25"], None),
    "no euros": ("euros", ["743.892", "851.172"], None),
    "dollars": ("euros", ["743.892 $", "851.172 $"], None),
    "euros": ("euros", ["743.892 €", "851 €"], [743892.0, 851.0]),
    "commas": ("commas", ["845,870", "12"], [845870.0, 12.0]),
    "no commas": ("commas", ["845.870", "12"], [845.87, 12.0]),
    "decimals with hundreds": (
        "plain",
        ["743.892", "851.172", "987", "512", "300", "421.105"],
        [743.892, 851.172, 987.0, 512.0, 300.0, 421.105],
    ),
    "thousands for decimals": ("plain", ["1,743.892", "851.172"], None),
    "decimal commas for decimals": ("plain", ["743,892", "851,17"], None),
    "days as numbers": ("dates", ["20230102", "20230103"], None),
    "days of a spreadsheet": ("dates", ["44928", "44929"], None),
    "days in another order": ("dates", ["31/12/2023", "1/12/2023"], None),
    "days": ("dates", ["2023-01-05", "2023-02-06"], [19362.0, 19394.0]),
    "shares": ("percent", ["0.634", "0.5"], None),
    "percent": ("percent", ["63.4%", "5 %"], [63.4, 5.0]),
}


def learned(path, how):
    """A model that answers about what it is asked: y is x."""
    rows = [f'"{text}";{k}' for k, text in enumerate(LEARNED[how])]
    path.write_text("\n".join(["x;y", *rows]) + "\n", encoding="utf-8")
    encoding = Encoding.learn(path, "y", missing="auto")
    p = len(encoding.names)
    model = Ridge(alpha=0.0).fit(np.eye(p + 2, p), np.eye(p + 2, p)[:, 0])
    return encoding, model


def answers(make):
    try:
        return make()
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("case", NEW)
def test_command_and_python_read_new_rows_as_the_model_has_learned(
    case, separator, command, tmp_path
):
    how, texts, meant = NEW[case]
    encoding, model = learned(tmp_path / "learned.csv", how)
    adaline.save(model, tmp_path / "m.adaline", encoding)
    new = tmp_path / "new.csv"
    rows = [separator.join((f'"{text}"', "a")) for text in texts]
    new.write_text("\n".join([f"x{separator}z", *rows]) + "\n", encoding="utf-8")
    ran = command("predict", "m.adaline", new)
    python = answers(lambda: adaline.load(tmp_path / "m.adaline").predict(str(new)))
    if meant is None:
        assert ran.code != 0, ran.out
        assert "'x'" in ran.err
        assert isinstance(python, str)
        assert "'x'" in python
        return
    asked = [float(row["prediction"]) for row in csv.DictReader(io.StringIO(ran.out))]
    assert not isinstance(python, str), python
    assert asked == python.tolist()
    np.testing.assert_allclose(python, meant, rtol=1e-9)
    (block,) = encoding.prepare(new)
    assert encoding.encode(block)[:, 0].tolist() == meant


@pytest.mark.parametrize("how", ["dates", "percent", "euros"])
def test_numbers_of_a_table_have_no_unit_and_are_no_dates(how, tmp_path):
    encoding, _ = learned(tmp_path / "learned.csv", how)
    for table in (pl.DataFrame({"x": [0.634, 44928.0]}), pl.DataFrame({"x": [20230102, 3]})):
        (block,) = blocks(table)
        with pytest.raises(ValueError, match="'x'"):
            encoding.encode(block)


def test_numbers_of_a_table_are_what_they_are_where_the_model_knows_no_unit(tmp_path):
    encoding, _ = learned(tmp_path / "learned.csv", "decimal comma")
    (block,) = blocks(pl.DataFrame({"x": [0.634, 44928.0]}))
    assert encoding.encode(block)[:, 0].tolist() == [0.634, 44928.0]


def test_a_block_of_another_notation_is_rejected(tmp_path):
    encoding, _ = learned(tmp_path / "learned.csv", "dots")
    (tmp_path / "new.csv").write_text("x\n845.870\n12.345\n")
    for block in blocks(tmp_path / "new.csv"):
        with pytest.raises(ValueError, match="'x'"):
            encoding.encode(block)


def test_many_files_that_are_written_in_different_ways_are_read_as_the_model_has_learned(tmp_path):
    encoding, _ = learned(tmp_path / "learned.csv", "dots")
    (tmp_path / "new-1.csv").write_text("x;z\n12;1,5\n845.870;2,5\n")
    (tmp_path / "new-2.csv").write_text("x;z\n845.000;1.5\n987;2\n")
    for order in ((1, 2), (2, 1)):
        paths = [tmp_path / f"new-{k}.csv" for k in order]
        found = {1: [12.0, 845870.0], 2: [845000.0, 987.0]}
        encoded = [encoding.encode(block)[:, 0].tolist() for block in encoding.prepare(paths)]
        assert encoded == [found[k] for k in order]


def test_decimal_commas_are_read_for_plain_numbers_where_the_user_says_so(command, tmp_path):
    encoding, model = learned(tmp_path / "learned.csv", "plain")
    adaline.save(model, tmp_path / "m.adaline", encoding)
    (tmp_path / "new.csv").write_text("x;z\n743,892;1,5\n851,17;2\n")
    ran = command("predict", "m.adaline", "new.csv", "--decimal", ",")
    asked = [float(row["prediction"]) for row in csv.DictReader(io.StringIO(ran.out))]
    source = blocks(tmp_path / "new.csv", decimal=",")
    assert asked == adaline.load(tmp_path / "m.adaline").predict(source).tolist()
    np.testing.assert_allclose(asked, [743.892, 851.17], rtol=1e-9)
    ran = command("predict", "m.adaline", "new.csv")
    assert ran.code != 0
    assert "decimal" in ran.err


def test_a_file_with_decimal_commas_gives_a_model_that_reads_dots_as_thousands(tmp_path):
    rows = [f"{grouped(v, '.')};{k},5" for k, v in enumerate(VALUES)]
    (tmp_path / "t.csv").write_text("\n".join(["x;y", *rows]) + "\n")
    model = fit(Ridge(alpha=0.0), tmp_path / "t.csv", "y")
    adaline.save(model, tmp_path / "m.adaline")
    (tmp_path / "new.csv").write_text("x\n1.345.870\n1.369.326\n")
    (tmp_path / "low.csv").write_text("x\n845.870\n12.345\n")
    found = adaline.load(tmp_path / "m.adaline")
    np.testing.assert_allclose(found.predict(tmp_path / "new.csv"), [0.5, 1.5], atol=1e-9)
    slope = 1 / 23_456
    expected = [0.5 + slope * (v - VALUES[0]) for v in (845_870, 12_345)]
    np.testing.assert_allclose(found.predict(tmp_path / "low.csv"), expected, rtol=1e-9)


def test_a_target_is_evaluated_in_the_notation_of_the_model(command, tmp_path):
    lines = [f"{k % 7}.5,{k * 100.125:.3f}" for k in range(80)]
    (tmp_path / "t.csv").write_text("\n".join(["x,y", *lines]) + "\n")
    assert command("fit", "t.csv", "-t", "y", "-o", "m.adaline", "-q").code == 0
    other = [line.replace(",", ";") for line in lines[:9]]
    (tmp_path / "new.csv").write_text("\n".join(["x;y", *other]) + "\n")
    (tmp_path / "odd.csv").write_text("x;y;z\n1;743.892;1,5\n2;851.172;2,5\n3;900.100;7,5\n")
    ran = command("evaluate", "m.adaline", "odd.csv", "--json")
    assert ran.code == 0
    assert ran.json["quality"]["rmse"] < 1e5
    assert command("evaluate", "m.adaline", "new.csv").code == 0


def test_one_strange_word_is_a_gap_for_command_and_python_and_a_strange_number_is_none(
    command, tmp_path
):
    encoding, model = learned(tmp_path / "learned.csv", "plain")
    encoding = Encoding.from_dict({**encoding.to_dict(), "unknown": "zeros"})
    adaline.save(model, tmp_path / "m.adaline", encoding)
    loaded = adaline.load(tmp_path / "m.adaline")
    (tmp_path / "word.csv").write_text("x\n1.5\n2.5\nlow\n")
    ran = command("predict", "m.adaline", "word.csv")
    asked = [float(row["prediction"]) for row in csv.DictReader(io.StringIO(ran.out))]
    with pytest.warns(adaline.DataWarning, match="missing"):
        python = loaded.predict(tmp_path / "word.csv")
    assert asked == python.tolist()
    (tmp_path / "number.csv").write_text("x\n1.5\n2.5\n3 kg\n")
    assert command("predict", "m.adaline", "number.csv").code != 0
    with pytest.raises(ValueError, match="3 kg"):
        loaded.predict(tmp_path / "number.csv")
