"""Rows held out, stdin put aside, and CSV without polars."""

from __future__ import annotations

import gzip
import io
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaline.cli.tables import open_table, title
from adaline.data import blocks
from adaline.data.sharing import Share, column, held_out


@given(st.integers(0, 1000), st.integers(0, 2**70), st.floats(0.01, 0.99))
def test_a_row_is_held_out_whatever_comes_after_it(piece, seed, share):
    whole = held_out(piece, 500, seed, share)
    np.testing.assert_array_equal(whole[:100], held_out(piece, 100, seed, share))
    # Six standard deviations of a binomial share of 500 rows.
    assert abs(whole.mean() - share) < 6 * np.sqrt(share * (1 - share) / 500) + 1e-9


def test_seeds_and_pieces_draw_independently():
    drawn = [held_out(piece, 4000, seed, 0.5) for seed in range(4) for piece in range(4)]
    agreement = np.corrcoef(np.array(drawn, dtype=float)) - np.eye(16)
    assert np.abs(agreement).max() < 6 / np.sqrt(4000)


def test_held_out_rows_and_the_others_are_the_whole(rng):
    X = rng.normal(size=(1000, 2))
    source = blocks(X, rows=97)
    parts = [Share(source, 3, 0.3, out=out) for out in (True, False)]
    rows = [np.concatenate([block.matrix for block in part]) for part in parts]
    assert 200 < len(rows[0]) < 400
    together = np.concatenate(rows)
    np.testing.assert_array_equal(np.sort(together, axis=0), np.sort(X, axis=0))
    assert parts[0].fingerprint != parts[1].fingerprint


def test_places_of_shared_rows_are_those_of_the_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,y\n" + "".join(f"{i},{i}\n" for i in range(50)))
    (block,) = Share(blocks(path), 0, 0.5, out=True)
    values, _ = column(block, "a")
    assert [block.place(i) for i in range(3)] == [f"line {int(v) + 2}" for v in values[:3]]


def test_a_small_packed_file_is_fitted_as_the_same_file_unpacked(command, pumps, tmp_path):
    packed = tmp_path / "pumps.csv.gz"
    packed.write_bytes(gzip.compress(pumps.read_bytes()))
    plain = command("fit", pumps, "-t", "failed", "--json").json
    found = command("fit", packed, "-t", "failed", "--json")
    assert found.code == 0, found.err
    assert found.json["data"]["in_memory"]
    assert found.json["coefficients"] == plain["coefficients"]


@pytest.mark.parametrize("form", ["csv", "csv.gz", "ndjson", "parquet", "arrow"])
def test_stdin_is_told_by_how_it_begins(pumps, form, monkeypatch):
    pl = pytest.importorskip("polars")
    table, raw = pl.read_csv(pumps), io.BytesIO()
    match form:
        case "csv" | "csv.gz":
            raw.write(pumps.read_bytes() if form == "csv" else gzip.compress(pumps.read_bytes()))
        case "ndjson":
            table.write_ndjson(raw)
        case "parquet":
            table.write_parquet(raw)
        case "arrow":
            table.write_ipc(raw)
    raw.seek(0)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(raw))
    source = open_table("-")
    assert title(source) == "stdin"
    assert tuple(source.names) == tuple(table.columns)
    assert sum(block.rows for block in source) == 400


def test_without_pyarrow_the_command_says_what_to_install(command, pumps, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    found = command("fit", pumps, "-t", "failed")
    assert found.code == 2
    assert "pyarrow" in found.err
    assert "[cli]" in found.err


@pytest.mark.parametrize(
    "text", ["", "a,b\n", 'a,b\n1,2\n"3,4\n', "a,b\n1,2\n3\n", "a\n" + "1\n" * 60 + "x\n"]
)
def test_text_that_is_no_table_is_refused(tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"a\.csv"):
        list(blocks(path))
