"""Every format gives the same numbers, in blocks that can be read again and in any order."""

from __future__ import annotations

import datetime as dt
import gc
import gzip
import io
import json
import pickle
import sys
import warnings
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
import statsmodels
from pyarrow import dataset, feather, parquet
from scipy import sparse
from scipy.io import wavfile

from adaline import LeastSquares, Moments
from adaline.data import blocks, fit
from adaline.errors import DataError, MissingExtra
from corpus import differences, key_of, tables
from python_tables import columns_of as read

ROWS = 1000


@pytest.fixture
def table(rng) -> pl.DataFrame:
    """Numbers of awkward sizes, whole numbers, and text with commas, quotes and umlauts."""
    words = np.array(["red", "blue", 'say "no", please', "grün"])
    return pl.DataFrame(
        {
            "x": rng.standard_normal(ROWS) * 10.0 ** rng.integers(-300, 300, ROWS),
            "n": rng.integers(-1000, 1000, ROWS),
            "word": words[rng.integers(0, 4, ROWS)],
        }
    )


def write(table: pl.DataFrame, path) -> str:
    kind = path.name.partition(".")[2]
    if kind in ("csv", "tsv"):
        table.write_csv(path, separator="\t" if kind == "tsv" else ",")
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(table.write_csv().encode()))
    elif kind == "parquet":
        table.write_parquet(path, row_group_size=137)
    elif kind == "feather":
        feather.write_feather(table.to_arrow(), str(path), chunksize=100)
    elif kind == "ndjson":
        table.write_ndjson(path)
    return str(path)


FORMATS = ["csv", "tsv", "csv.gz", "parquet", "feather", "ndjson"]


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_gives_the_table_back(table, tmp_path, kind):
    source = blocks(write(table, tmp_path / f"t.{kind}"), rows=150)
    assert source.kinds == ("number", "number", "text")
    for again in (source, pickle.loads(pickle.dumps(source))):  # sources can be read again
        assert read(again) == table.to_dict(as_series=False)
    pieces = list(source.descriptors())
    assert len(pieces) > 3
    values = [source.read(piece).columns[0].values.tolist() for piece in reversed(pieces)]
    assert [x for part in reversed(values) for x in part] == table["x"].to_list()


def test_row_groups_of_any_sizes_are_covered_once(rng, tmp_path):
    path = str(tmp_path / "t.parquet")
    sizes = [1, 5000, 3, 20, 150_000, 150_000, 7]
    schema = pa.schema([("a", pa.float64())])
    with parquet.ParquetWriter(path, schema) as writer:
        for size in sizes:
            writer.write_table(pa.table({"a": rng.standard_normal(size)}))
    source = blocks(path)
    pieces = list(source.descriptors())
    assert source.rows == sum(sizes)
    assert [p.start for p in pieces[1:]] == [p.stop for p in pieces[:-1]]
    assert (pieces[0].start, pieces[-1].stop) == (0, sum(sizes))
    whole = np.concatenate([block.columns[0].values for block in source])
    assert np.array_equal(whole, pl.read_parquet(path)["a"].to_numpy())


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.float32])
def test_a_streamed_wav_file_is_read_to_its_end(rng, tmp_path, dtype):
    sound = (100 * rng.random((300, 2))).astype(dtype)
    wavfile.write(tmp_path / "a.wav", 8000, sound)
    content = bytearray((tmp_path / "a.wav").read_bytes())
    at = content.index(b"data") + 4
    content[4:8] = content[at : at + 4] = b"\xff" * 4  # as ffmpeg writes into a pipe
    (tmp_path / "b.wav").write_bytes(content)
    whole, streamed = (
        np.concatenate([block.matrix for block in blocks(tmp_path / name)])
        for name in ("a.wav", "b.wav")
    )
    np.testing.assert_array_equal(streamed[:300], whole)


def test_tables_arrays_and_streams_of_python_are_sources(table):
    x = table["x"].to_list()
    for given in (table, table.to_arrow(), table.to_pandas()):
        assert read(blocks(given, rows=99))["x"] == x
    assert read(blocks([table[:400], table[400:]]))["x"] == x
    assert read(blocks(part for part in (table[:400], table[400:])))["x"] == x
    reader = pa.RecordBatchReader.from_batches(
        table.to_arrow().schema, table.to_arrow().to_batches(100)
    )
    assert read(blocks(reader))["x"] == x
    pipe = io.BytesIO(table.write_csv().encode())
    assert read(blocks(pipe))["x"] == x
    X = np.arange(6.0).reshape(3, 2)
    assert np.array_equal(next(iter(blocks(X))).matrix, X)
    assert np.array_equal(next(iter(blocks(sparse.csr_array(X)))).matrix.toarray(), X)


@pytest.mark.parametrize("made", [np.array, sparse.csr_array, pl.DataFrame])
def test_what_comes_once_can_be_read_again(made):
    source = blocks(made([[1.0, k], [2.0, k]]) for k in range(2))
    for _ in range(2):
        columns = [np.concatenate([b.column(j).values for b in source]).tolist() for j in (0, 1)]
        assert columns in ([[1, 2, 1, 2], [0, 0, 1, 1]], [[1, 0, 1, 1], [2, 0, 2, 1]])
    with pytest.raises(DataError, match="the same columns"):
        blocks(made(np.ones((2, width))) for width in (1, 2))


def test_a_fingerprint_changes_with_the_content_and_not_with_time(table, tmp_path):
    for kind in FORMATS:
        path = tmp_path / f"t.{kind}"
        first = blocks(write(table, path)).fingerprint
        assert blocks(str(path)).fingerprint == first
        write(table.with_columns(x=pl.col("x") * 2), path)
        assert blocks(str(path)).fingerprint != first


def test_without_the_extra_the_sentence_says_what_to_install(table, tmp_path, monkeypatch):
    path = write(table, tmp_path / "t.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match="pyarrow") as told:
        blocks(path)
    assert MissingExtra.how_to_install("io") in str(told.value)


@pytest.mark.parametrize(
    "give",
    [
        lambda t: t.to_batches()[0],
        lambda t: t,
        dataset.dataset,
        lambda t: t.to_pandas(),
        lambda t: t.to_pandas().set_index("b").reset_index(),
        pl.DataFrame,
        lambda t: pl.DataFrame(t).lazy(),
    ],
)
def test_tables_of_any_library_are_read(give):
    source = blocks(give(pa.table({"a": [1, 2, 3], "b": ["x", None, "y"]})))
    (block,) = source
    numbers, words = (block.column(source.names.index(name)) for name in "ab")
    assert sorted(source.names) == ["a", "b"]
    assert numbers.values.tolist() == [1, 2, 3]
    assert (words.levels, words.missing.tolist()) == (("x", "y"), [False, True, False])


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "ndjson", "svm", "utf16.csv"])
def test_no_file_stays_open(tmp_path, kind):
    text = "1 1:2\n2 2:3\n" if kind == "svm" else "a,b\n1,2\n3,4\n"
    text = '{"a": 1}\n{"a": 2}\n' if kind == "ndjson" else text
    data = text.encode("utf-16" if kind == "utf16.csv" else "utf-8")
    (tmp_path / f"t.{kind}").write_bytes(gzip.compress(data) if kind == "csv.gz" else data)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        source = blocks(tmp_path / f"t.{kind}")
        source.head()
        assert sum(block.rows for block in source) == 2
        del source
        gc.collect()


def test_a_first_line_of_other_things_is_told_how_to_skip(tmp_path):
    (tmp_path / "t.csv").write_text("20,3,good,bad\n" + "1.5,2,3,4,5,0\n2.5,3,4,5,6,1\n" * 10)
    with pytest.raises(DataError, match="skip_rows=1"):
        list(blocks(tmp_path / "t.csv"))
    assert blocks(tmp_path / "t.csv", skip_rows=1).names == ("x0", "x1", "x2", "x3", "x4", "x5")


NOON = dt.datetime(1970, 1, 3, 12)
VALUES = {  # values of a column, its kind, and what is read
    "decimal": ([Decimal("1.25"), None, Decimal("2.50")], "number", [1.25, 0.0, 2.5]),
    "nothing": ([None, None, None], "number", None),
    "truth": ([True, None, False], "text", [1, 0, 0]),
    "text": (["b", None, "a"], "text", [1, 0, 0]),
    "no text": ([None, None, None], "text", [0, 0, 0]),
    "day": ([NOON.date(), None, dt.date(1970, 1, 1)], "date", [2.0, 0.0, 0.0]),
    "moment": ([NOON, None, dt.datetime(1970, 1, 1)], "date", [2.5, 0.0, 0.0]),
    "time": ([dt.time(6), None, dt.time(18)], "number", [0.25, 0.0, 0.75]),
    "duration": ([dt.timedelta(hours=36), None, dt.timedelta(0)], "number", [1.5, 0.0, 0.0]),
    "list": ([[1], None, [2]], "other", [0, 0, 0]),
}
ARROW = {
    "decimal": [pa.decimal128(10, 2)],
    "nothing": [pa.null()],
    "truth": [pa.bool_()],
    "text": [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())],
    "no text": [pa.string()],
    "day": [pa.date32(), pa.date64()],
    "moment": [pa.timestamp("ms"), pa.timestamp("ns"), pa.timestamp("us", "UTC")],
    "time": [pa.time32("s"), pa.time64("ns")],
    "duration": [pa.duration("ms"), pa.duration("ns")],
    "list": [pa.list_(pa.int64())],
}


@pytest.mark.parametrize(
    ("name", "dtype"), [(name, dtype) for name in ARROW for dtype in ARROW[name]], ids=str
)
def test_columns_of_pyarrow(name, dtype):
    given, kind, values = VALUES[name]
    whole = pa.table({"x": pa.array(given, type=dtype)})
    gaps = np.array([value is None for value in given])
    for table in (whole, pa.concat_tables([whole[:1], whole[1:]])):  # in two pieces
        (column,) = blocks(table).head().columns
        assert column.kind == kind
        assert column.missing.tolist() == gaps.tolist()
        if values is not None:
            np.testing.assert_allclose(column.values[~gaps], np.array(values)[~gaps])
        if name in ("text", "truth"):
            assert column.levels == (("a", "b") if name == "text" else ("false", "true"))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (pd.DataFrame({"a": [1.0, 2.0], "p": [1 + 1j, 2j]}), "a column that cannot be read"),
        (pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), "the column name 'a' comes twice"),
        (pd.Series([1.0, 2.0], name="a"), "to_frame"),
        (pl.Series("a", [1.0, 2.0]), "to_frame"),
    ],
)
def test_tables_that_no_library_reads_are_refused_in_our_words(given, words):
    with pytest.raises(DataError, match=words):
        blocks(given)


def test_tables_of_packages_are_read_as_recorded():
    """`make corpus` reads 1,000."""
    record = json.loads(Path(__file__).with_name("corpus.json").read_text())
    folders = [Path(package.__file__).parent for package in (sklearn, statsmodels)]
    paths = [path for path in tables(folders) if key_of(path) in record]
    assert len(paths) > 20
    assert list(differences(record, paths)) == []


# A large row group is read and summed a few rows at a time.


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """One row group of more numbers than are read at once, and one of fewer; 170 columns."""
    rng, n, p = np.random.default_rng(1), 60_000, 170
    X = rng.integers(-3, 4, (n, p)).astype(np.float32)  # few different numbers make a small file
    y = X @ np.linspace(-1.0, 1.0, p, dtype=np.float32) + rng.integers(-9, 10, n)
    names = [f"x{j}" for j in range(p)]
    columns = dict(zip(names, X.T, strict=True))
    word = np.array(["low", "high", "none"])[rng.integers(0, 3, n)]
    made = pa.table(columns | {"y": y.astype(float), "word": word})
    path = str(tmp_path_factory.mktemp("large") / "t.parquet")
    with parquet.ParquetWriter(path, made.schema) as out:
        for start, stop in ((0, 50_000), (50_000, n)):
            out.write_table(made.slice(start, stop - start), row_group_size=n)
    return path, names, X, y


def test_slices_are_the_rows_of_their_piece_in_order(large):
    source = blocks(large[0])
    for piece in source.descriptors():
        slices, whole = list(source.slices(piece)), source.read(piece)
        for j in (3, -1):
            values = [block.columns[j].values for block in slices]
            assert np.array_equal(np.concatenate(values), whole.columns[j].values)
        places = [block.place(i) for block in slices for i in (0, block.rows - 1)]
        assert (places[0], places[-1]) == (whole.place(0), whole.place(whole.rows - 1))


def test_one_process_and_a_pool_sum_slices_to_the_same_bits(large):
    path, names, X, y = large
    source = blocks(path)
    assert [len(list(source.slices(piece))) for piece in source.descriptors()] == [5, 1]
    alone = fit(LeastSquares(), path, "y", columns=names)
    pool = fit(LeastSquares(), path, "y", columns=names, jobs=2)
    assert np.array_equal(alone.coef_, pool.coef_)
    assert alone.intercept_ == pool.intercept_
    assert alone.moments_.rows == len(X)
    whole = Moments.of(X.astype(float), y.astype(float))
    scale = np.sqrt(np.diag(whole.scatter))
    apart = np.abs(alone.moments_.scatter - whole.scatter) / np.outer(scale, scale)
    assert apart.max() < 1e-12


def test_damage_in_a_large_row_group_is_told_with_file_and_rows(large, tmp_path):
    bad = bytearray(Path(large[0]).read_bytes())
    bad[20_000:60_000] = bytes(40_000)
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(bytes(bad))
    source = blocks(str(broken))
    with pytest.raises(DataError, match=r"broken.parquet: rows 0 to \d+ cannot be read"):
        list(source.slices(next(iter(source.descriptors()))))
