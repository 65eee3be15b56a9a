"""Text is parsed once: later passes read numbers from temporary files, the same bits."""

from __future__ import annotations

import tempfile

import pyarrow as pa
import pytest
from pyarrow import csv

from adaline import LogisticRegression
from adaline.data import blocks, fit
from adaline.errors import DataError


@pytest.fixture
def folder(rng, tmp_path):
    (tmp_path / "rows").mkdir()
    for k in range(3):
        lines = [f"{a:.4f},{b:.4f},{a + b > 0:d}\n" for a, b in rng.standard_normal((40, 2))]
        (tmp_path / "rows" / f"part.{k}.csv").write_text("a,b,y\n" + "".join(lines))
    return tmp_path / "rows"


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Where temporary files are made."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path / "temporary"


def bits(model):
    return model.coef_.tobytes() + model.intercept_.tobytes()


def test_a_folder_is_parsed_once_and_gives_the_same_bits(folder, temporary, monkeypatch):
    texts, plain = [], csv.read_csv

    def counted(text, *options):
        texts.append(text)
        return plain(text, *options)

    monkeypatch.setattr(csv, "read_csv", counted)
    kept = fit(LogisticRegression(tol=1e-2), folder, "y")
    assert len(texts) == 3
    again = fit(LogisticRegression(tol=1e-2), folder, "y", scratch=0)
    assert len(texts) > 3
    assert bits(kept) == bits(again)
    assert not list(temporary.iterdir())


def test_a_full_disk_stops_further_writing(folder, monkeypatch):
    source = blocks(folder, rows=20)
    whole = fit(LogisticRegression(), source, "y", scratch=0)

    def full(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pa.ipc, "new_file", full)
    assert bits(fit(LogisticRegression(), source, "y")) == bits(whole)


def test_files_are_gone_whatever_happens(folder, temporary):
    def stop(done, rows):
        assert any(path.is_file() for path in temporary.rglob("*"))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(LogisticRegression(), folder, "y", progress=stop)
    (folder / "part.9.csv").write_text("a,b,y\n1,2,0\n1,2\n")
    with pytest.raises(DataError, match="line 3 has 2 fields"):
        fit(LogisticRegression(), folder, "y")
    assert not list(temporary.iterdir())


def test_a_file_read_in_two_encodings_has_the_text_of_each(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("w,y\nä,1\nb,2\nä,3\n".encode())
    assert next(iter(blocks(path))).columns[0].levels == ("b", "ä")
    (block,) = blocks(path, encoding="latin-1")
    assert block.columns[0].levels == ("b", "Ã¤")
