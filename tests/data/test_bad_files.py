"""Files that are wrong are refused with a sentence that says where, and what to do."""

from __future__ import annotations

import gzip
import io

import numpy as np
import polars as pl
import pytest

from adaline import LeastSquares
from adaline.data import blocks, fit
from adaline.errors import DataError


def fitted(path, target="y", **options):
    return fit(LeastSquares(), blocks(path), target, **options)


TEXTS = {
    "empty": (b"", "empty"),
    "header only": (b"a,y\n", "no rows"),
    "header without an end": (b"a,y", "no rows"),
    "ragged, too many": (b"a,y\n1,2\n3,4,5\n6,7\n", "line 3 has 3 fields"),
    "ragged, too few": (b"a,y\n1,2\n3,4\n6\n", "line 4 has 1 fields"),
    "too large": (b"a,y\n1,2\n1e400,4\n", "'a' has an infinite value at line 3"),
    "infinite": (b"a,y\n1,2\n2,2\ninf,4\n", "'a' has an infinite value at line 4"),
    "not a number": (b"a,y\n1,2\nnan,4\n", "'a' has a missing value at line 3"),
    "missing": (b"a,y\n1,2\n,4\n", "'a' has a missing value at line 3"),
    "missing target": (b"a,y\n1,2\n3,\n", "target 'y' is missing at line 3"),
    "infinite target": (b"a,y\n1,2\n3,inf\n", "target 'y' is inf at line 3"),
    "no target": (b"a,yy\n1,2\n", "no target column 'y'; did you mean 'yy'"),
    "NUL": (b"a,y\n1,2\n3,\x004\n", "line 3 has a NUL byte"),
    "Latin-1 in UTF-8": ("a,y\né,2\nü,3\n".encode() + b"\xe9,4\n", "line 4 has the byte 0xe9"),
    "Latin-1 in no text": (b"a,y\n1,2\n\xe9\x07,4\n", "line 3 has the byte 0xe9"),
    "UTF-16 without its mark": ("a,y\n1,2\n".encode("utf-16-le"), "NUL"),
    "UTF-16, cut": ("a,y\n1,2\n".encode("utf-16")[:-1], "another encoding"),
    "text as target": (b"a,y\n1,red\n2,blue\n", "a regressor needs numbers"),
}


@pytest.mark.parametrize(("content", "words"), TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_a_wrong_csv_is_refused_in_a_sentence(tmp_path, content, words, packed):
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(DataError, match=words) as told:
        fitted(path)
    assert str(told.value).endswith((".", "?"))


def test_a_missing_file_offers_one_that_looks_alike(tmp_path):
    (tmp_path / "train.csv").write_text("a,y\n1,2\n")
    with pytest.raises(DataError, match=r"no such file; did you mean .*train\.csv"):
        blocks(tmp_path / "trian.csv")
    (tmp_path / "t.xls").write_bytes(b"\xd0\xcf")
    with pytest.raises(DataError, match=r"save the table as \.xlsx or \.csv"):
        blocks(tmp_path / "t.xls")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no file is there"):
        blocks(tmp_path / "empty", format=".csv")


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_cut_and_foreign_binary_files_are_refused(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    table = pl.DataFrame({"a": np.arange(1000.0), "y": np.arange(1000.0)})
    table.write_parquet(path) if ending == "parquet" else table.write_ipc(path)
    whole = path.read_bytes()
    for wrong in (whole[: len(whole) // 2], b"hello", whole[:-1]):
        path.write_bytes(wrong)
        with pytest.raises(DataError, match="no whole"):
            blocks(path)


JSON_LINES = {
    "a NaN": (b'{"a": 1, "y": 2}\n{"a": NaN, "y": 2}\n', "line 2"),
    "no object": (b'{"a": 1, "y": 2}\n[1, 2]\n', "line 2"),
    "cut": (b'{"a": 1, "y": 2}\n{"a": 1,\n', "line 2"),
    "nothing": (b"\n\n", "no rows"),
    "missing": (b'{"a": 1, "y": 2}\n{"y": 2}\n', "missing"),
    "too large": (b'{"a": 1.5, "y": 2}\n{"a": 1e400, "y": 2}\n', "infinite|line 2|missing"),
}


@pytest.mark.parametrize(("content", "words"), JSON_LINES.values(), ids=JSON_LINES)
def test_wrong_json_lines_are_refused(tmp_path, content, words):
    (tmp_path / "t.ndjson").write_bytes(content)
    with pytest.raises(DataError, match=words):
        fitted(tmp_path / "t.ndjson")


LIBSVM = {
    "no pair": (b"1 1:2\n0 three\n", "line 2 has 'three'"),
    "no number": (b"1 1:2\n0 1:x\n", "line 2 has '1:x'"),
    "no whole index": (b"1 1:2\n0 1.5:3\n", "line 2 has '1.5:3'"),
    "qid": (b"1 qid:3 1:2\n", "line 1 has 'qid:3'"),
    "too large": (b"1 1:2\n0 1:1e400\n", "'x1' has an infinite value at line 2"),
    "nothing": (b"# only a comment\n", "no rows"),
    "negative": (b"1 -1:2\n", "index -1"),
}


@pytest.mark.parametrize(("content", "words"), LIBSVM.values(), ids=LIBSVM)
def test_wrong_libsvm_text_is_refused(tmp_path, content, words):
    (tmp_path / "t.libsvm").write_bytes(content)
    with pytest.raises(DataError, match=words):
        fitted(tmp_path / "t.libsvm")


def test_numbers_in_arrays_and_tables_are_checked_too():
    X = np.ones((10, 3))
    X[7, 1] = np.inf
    with pytest.raises(DataError, match="'x1' has an infinite value at row 7"):
        fitted(X, "x2")
    table = pl.DataFrame({"a": [1.0, None, float("nan")], "y": [1.0, 2.0, 3.0]})
    with pytest.raises(DataError, match=r"'a' has a missing value at row 1"):
        fitted(table)
    with pytest.raises(TypeError, match="expected a path"):
        blocks(3)
    with pytest.raises(DataError, match="numbers in"):
        blocks(np.array([["a", "b"]]))


def test_an_empty_pipe_is_refused():
    with pytest.raises(DataError, match="empty"):
        blocks(io.BytesIO(b""))
    pipe = io.BytesIO(b"a,y\n" + b"1,2\n" * 10 + b"1,2,3\n")
    with pytest.raises(DataError, match="line 12 has 3 fields"):
        fit(LeastSquares(), pipe, "y")
