"""Files in other dialects and programs: the command reads them, and says what it noticed."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest

from adaline.cli.tables import open_table


@pytest.fixture
def rents(tmp_path, rng):
    """A semicolon file of a German spreadsheet, in Windows-1252, and the same usual."""
    size, floor = rng.uniform(20, 90, 80).round(1), rng.integers(0, 5, 80)
    rent = (10 * size - 5 * floor + rng.normal(size=80)).round(2)
    lines = ["größe;stock;miete", *(f"{a};{b};{c}" for a, b, c in zip(size, floor, rent))]  # noqa: B905
    text = "\r\n".join(lines) + "\r\n"
    (tmp_path / "rents.csv").write_bytes(text.replace(".", ",").encode("cp1252"))
    (tmp_path / "usual.csv").write_bytes(text.replace(";", ",").encode())
    return "rents.csv"


def test_a_fit_says_what_it_noticed_and_gives_the_same(command, rents):
    found = command("fit", rents, "-t", "miete")
    assert found.code == 0, found.err
    noticed = "separated by semicolons; a comma in decimal numbers; letters of Windows-1252"
    assert f"Noticed: {noticed}." in found.out
    told = command("fit", rents, "-t", "miete", "--json").json
    assert told["data"]["notes"] == noticed.split("; ")
    usual = command("fit", "usual.csv", "-t", "miete", "--json").json
    assert usual["data"]["notes"] == []
    assert told["coefficients"] == usual["coefficients"]
    assert "Noticed" not in command("fit", "usual.csv", "-t", "miete").out


def test_a_wrong_name_in_a_semicolon_file_is_told_with_what_there_is(command, rents):
    found = command("fit", rents, "-t", "rent")
    assert found.code == 2
    assert "'miete'" in found.err
    assert "separated by semicolons" in found.err
    forced = command("fit", rents, "-t", "miete", "--separator", ",", "--header", "yes")
    assert forced.code in (2, 3)
    one = command("fit", "usual.csv", "-t", "miete", "--separator", "|")
    assert one.code == 2
    assert "--separator" in one.err


def test_every_command_that_reads_takes_the_options(command, rents, tmp_path):
    text = (tmp_path / rents).read_bytes().decode("cp1252").replace(";", "^")
    (tmp_path / "odd.csv").write_text(text, encoding="cp1252")
    options = ["--separator", "^", "--decimal", ",", "--encoding", "windows-1252"]
    options += ["--header", "yes"]
    assert command("fit", "odd.csv", "-t", "miete", "-o", "m.adaline", *options).code == 0
    assert command("predict", "m.adaline", "odd.csv", "-o", "p.csv", *options).code == 0
    assert command("evaluate", "m.adaline", "odd.csv", *options).code == 0
    assert command("path", "odd.csv", "-t", "miete", *options).code == 0
    for name in ("separable", "trace"):
        found = command(name, "odd.csv", "-t", "stock", *options)
        assert found.code in (0, 1), (name, found.err)


def test_rows_without_names_are_all_read(command, tmp_path, rng):
    X = rng.normal(size=(60, 3)).round(3)
    np.savetxt(tmp_path / "bare.csv", X, "%.3f", ",")
    found = command("fit", "bare.csv", "-t", "x2", "--test", "0", "--json").json
    assert found["data"]["rows_learned_from"] == 60
    assert "no line of column names" in found["data"]["notes"][0]
    wrong = command("fit", "bare.csv", "-t", "y")
    assert "no line of column names" in wrong.err
    named = command(
        "fit", "bare.csv", "-t", f"{X[0, 2]:.3f}", "--header", "yes", "--test", "0", "--json"
    )
    assert named.json["data"]["rows_learned_from"] == 59  # fmt: skip


def test_options_that_mean_nothing_are_told_in_words_of_the_command(command, rents, tmp_path):
    pl = pytest.importorskip("polars")
    pl.DataFrame({"a": [1.0, 2.0], "y": [1.0, 2.0]}).write_parquet(tmp_path / "t.parquet")
    found = command("fit", "t.parquet", "-t", "y", "--separator", ";")
    assert found.code == 3
    assert "separator=';' is of text tables" in found.err
    found = command("fit", rents, "-t", "miete", "--encoding", "nonsense")
    assert found.code == 3
    assert "nonsense" in found.err


@pytest.mark.parametrize("form", ["csv.bz2", "csv.xz", "csv.zst", "json", "rents"])
def test_stdin_is_told_by_how_it_begins_in_other_forms(rents, tmp_path, form, monkeypatch):
    import bz2
    import lzma

    import polars as pl
    import pyarrow as pa

    usual = (tmp_path / "usual.csv").read_bytes()
    raw = {
        "csv.bz2": lambda: bz2.compress(usual),
        "csv.xz": lambda: lzma.compress(usual),
        "csv.zst": lambda: pa.compress(usual, "zstd", asbytes=True),
        "json": lambda: pl.read_csv(usual).write_json().encode(),
        "rents": lambda: (tmp_path / rents).read_bytes(),
    }[form]()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    source = open_table("-")
    assert tuple(source.names) == ("größe", "stock", "miete")
    assert source.kinds == ("number",) * 3
    assert sum(block.rows for block in source) == 80


def test_a_report_repeats_the_options(command, rents, tmp_path):
    pytest.importorskip("jinja2")
    tokens = ["fit", rents, "-t", "miete", "--separator", ";", "--report", "r.html"]
    found = command(*tokens)
    assert found.code == 0, found.err
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "separator=" in page
    assert "import blocks, table" in page
