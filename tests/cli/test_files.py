"""Files that commands read and write: dialects, stdin, links, pipes, hostile names and formulas."""

from __future__ import annotations

import bz2
import csv
import errno
import gzip
import io
import lzma
import os
import stat
import sys
import threading

import numpy as np
import pytest
from scipy.io import wavfile

posix = pytest.mark.skipif(os.name != "posix", reason="pipes and modes of POSIX")


@pytest.fixture
def flats(tmp_path, rng):
    """A semicolon file of a German spreadsheet, in Windows-1252, and the same usual."""
    size, floor = rng.uniform(20, 90, 80).round(1), rng.integers(0, 5, 80)
    rent = (10 * size - 5 * floor + rng.normal(size=80)).round(2)
    rows = [f"{a};{b};{c}" for a, b, c in zip(size, floor, rent, strict=True)]
    text = "\r\n".join(["größe;stock;miete", *rows]) + "\r\n"
    (tmp_path / "flats.csv").write_bytes(text.replace(".", ",").encode("cp1252"))
    (tmp_path / "usual.csv").write_bytes(text.replace(";", ",").encode())
    return "flats.csv"


def test_a_dialect_is_described(command, flats):
    found = command("fit", flats, "-t", "miete", "--json").json
    usual = command("fit", "usual.csv", "-t", "miete", "--json").json
    assert found["coefficients"] == usual["coefficients"]
    assert f"File format: {'; '.join(found['data']['notes'])}." in command("look", flats).out
    refused = command("fit", flats, "-t", "rent")
    assert (refused.code, "'miete'" in refused.err, "semicolons" in refused.err) == (2, True, True)
    one = command("fit", "usual.csv", "-t", "miete", "--separator", "|")
    assert (one.code, "--separator" in one.err) == (2, True)


def test_every_command_that_reads_takes_the_options(command, flats, tmp_path):
    text = (tmp_path / flats).read_bytes().decode("cp1252").replace(";", "^")
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
    assert "nonsense" in command("fit", flats, "-t", "miete", "--encoding", "nonsense").err
    wavfile.write(tmp_path / "t.wav", 8000, np.arange(50, dtype=np.int16))
    assert "separator" in command("look", "t.wav", "--separator", ";").err


def as_format(form, usual):
    import polars as pl
    import pyarrow as pa

    table, raw = pl.read_csv(usual), io.BytesIO()
    packed = {"csv": usual, "csv.gz": gzip.compress(usual), "csv.bz2": bz2.compress(usual)}
    packed |= {"csv.xz": lzma.compress(usual), "csv.zst": pa.compress(usual, "zstd", asbytes=True)}
    if form in packed:
        return packed[form]
    writer = {"parquet": table.write_parquet, "arrow": table.write_ipc}
    (writer | {"json": table.write_json, "ndjson": table.write_ndjson})[form](raw)
    return raw.getvalue()


FORMS = ["csv", "csv.gz", "csv.bz2", "csv.xz", "csv.zst", "json", "ndjson", "parquet", "arrow"]


@pytest.mark.usefixtures("flats")
@pytest.mark.parametrize("form", FORMS)
def test_stdin_is_recognised_by_how_it_begins(command, tmp_path, form, monkeypatch):
    pytest.importorskip("polars")
    raw = as_format(form, (tmp_path / "usual.csv").read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    found = command("look", "-", "--json").json
    assert found["source"] == "stdin"
    assert [(c["name"], c["holds"]) for c in found["columns"]] == [
        (name, "number") for name in ("größe", "stock", "miete")
    ]
    assert found["rows"] in (80, None)


HOSTILE = ["[bold red]a[/]\x1b]0;owned\x07", "b\nnew\tline", "\x1b[2J\x9b31m‮wol", "[link=x]y"]


@pytest.fixture
def hostile(tmp_path, rng):
    """Column names and levels that a terminal or rich would obey."""
    path = tmp_path / "hostile.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(HOSTILE)
        for _ in range(120):
            level = str(rng.choice(["\x1b[31mred", "[green]g[/green]", "ok"]))
            rows.writerow([rng.normal(), level, rng.normal(), rng.choice(["\x1b[5mA", "[b]B"])])
    return path


def test_hostile_names_and_labels_are_printed_as_plain_text(command, hostile):
    for tokens in (
        ["fit", hostile, "-t", HOSTILE[3], "-o", "m.adaline", "-v"],
        ["info", "m.adaline"],
        ["evaluate", "m.adaline", hostile],
        ["separable", hostile, "-t", HOSTILE[3]],
        ["path", hostile, "-t", HOSTILE[0]],
        ["trace", hostile, "-t", HOSTILE[3], "--passes", "2"],
        ["fit", hostile, "-t", "a"],
    ):
        found = command(*tokens)
        assert found.code in (0, 1, 2), found.err
        assert all(c.isprintable() for c in (found.out + found.err).replace("\n", ""))
    found = command("fit", hostile, "-t", HOSTILE[3], "-o", "m.adaline", "--json")
    assert found.json["target"] == HOSTILE[3]
    assert found.out.isascii()
    kept = command("predict", "m.adaline", hostile, "--keep", HOSTILE[1], "--json").json
    assert kept["columns"][0] == HOSTILE[1]


EVIL = ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\x1b]0;owned\x07", "\x9b31m", "plain", "-5", "a\tb"]


@pytest.fixture
def evil(command, tmp_path, rng):
    """A table whose text and names are formulas, and a model of it."""
    with open(tmp_path / "t.csv", "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["x", "=name", "y"])
        for i in range(90):
            x = rng.normal()
            rows.writerow([x, EVIL[i % len(EVIL)], "=yes()" if x > 0 else "\x1b[31mno"])
    assert command("fit", "t.csv", "-t", "y", "--ignore", "=name", "-o", "m.adaline").code == 0
    return command


@pytest.mark.parametrize("end", ["csv", "tsv"])
def test_formulas_are_counted_and_disarmed_if_asked(evil, tmp_path, end):
    tokens = ["predict", "m.adaline", "t.csv", "--keep", "=name", "--keep", "x", "-o", f"p.{end}"]
    assert "--disarm" in evil(*tokens).out
    first = (tmp_path / f"p.{end}").read_text(encoding="utf-8")
    assert first.startswith("=name")  # as it came, for programs
    assert "--disarm" not in evil(*tokens, "--disarm").out
    with open(tmp_path / f"p.{end}", newline="", encoding="utf-8") as file:
        names, *rows = list(csv.reader(file, delimiter="," if end == "csv" else "\t"))
    assert names[0] == "'=name"
    for row, came in zip(rows, EVIL * 10, strict=True):
        assert row[0] == (f"'{came}" if came[0] in "=+-@" and came != "-5" else came)
        float(row[1])  # a number stays one


def test_predictions_on_a_terminal_are_shown_and_not_obeyed(evil, monkeypatch):
    assert "\x1b" in evil("predict", "m.adaline", "t.csv", "--keep", "=name").out  # a pipe
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    for more in ([], ["--format", "tsv"], ["--format", "ndjson"], ["--json"]):
        shown = evil("predict", "m.adaline", "t.csv", "--keep", "=name", "-q", *more).out
        assert shown.replace("\n", "").replace("\t", "").isprintable()


WRITERS = {
    "model": ("out.adaline", ["fit", "PUMPS", "-t", "failed", "-o"], b"ADALINE"),
    "report": ("out.html", ["fit", "PUMPS", "-t", "failed", "--report"], b"<!DOCTYPE"),
    "csv": ("out.csv", ["predict", "m.adaline", "PUMPS", "-o"], b"prediction,"),
    "ndjson": ("out.ndjson", ["predict", "m.adaline", "PUMPS", "-o"], b"{"),
    "parquet": ("out.parquet", ["predict", "m.adaline", "PUMPS", "-o"], b"PAR1"),
    "proof": ("out.json", ["separable", "PUMPS", "-t", "failed", "--proof"], b"{"),
    "onnx": ("out.onnx", ["export", "m.adaline", "--to", "onnx", "-o"], b""),
    "wav": ("out.wav", ["filter", "a.wav", "-r", "b.wav", "-o"], b"RIFF"),
}


@posix
@pytest.mark.parametrize(("name", "tokens", "begins"), WRITERS.values(), ids=WRITERS)
def test_files_are_written_whole_and_links_modes_and_pipes_stay(
    command, pumps, tmp_path, rng, monkeypatch, name, tokens, begins
):
    assert command("fit", pumps, "-t", "failed", "-o", "m.adaline").code == 0
    for sound in ("a.wav", "b.wav"):
        wavfile.write(tmp_path / sound, 8000, (rng.standard_normal(500) * 1000).astype(np.int16))
    run = lambda path: command(*(pumps if t == "PUMPS" else t for t in tokens), path)  # noqa: E731
    real, link, pipe = tmp_path / "elsewhere", tmp_path / name, tmp_path / f"pipe-{name}"
    real.write_bytes(b"old")
    real.chmod(0o600)
    link.symlink_to(real)
    before = set(os.listdir(tmp_path))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", full)
        failed = run(link)
        assert (failed.code, "no space left" in failed.err) == (3, True)
        assert real.read_bytes() == b"old"
    assert run(link).code in (0, 1)
    assert link.is_symlink()
    assert real.read_bytes().startswith(begins)
    assert real.read_bytes() != b"old"
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert set(os.listdir(tmp_path)) == before  # nothing is left behind
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert run(pipe).code in (0, 1)
    reader.join(20)
    assert stat.S_ISFIFO(os.lstat(pipe).st_mode)
    assert got[0].startswith(begins)
    (tmp_path / f"folder-{name}").mkdir()
    assert "is a directory" in run(tmp_path / f"folder-{name}").err


def test_a_broken_run_leaves_no_predictions(command, pumps, tmp_path):
    assert command("fit", pumps, "-t", "failed", "-o", "m.adaline").code == 0
    lines = pumps.read_text().splitlines()
    (tmp_path / "bad.csv").write_text("\n".join([*lines, lines[1] + ",more"]) + "\n")
    before = set(os.listdir(tmp_path))
    for name in ("p.csv", "p.parquet", "p.ndjson"):
        assert command("predict", "m.adaline", "bad.csv", "-o", name).code == 3
    assert set(os.listdir(tmp_path)) == before
