"""Every format gives the same numbers, in blocks that can be read again and in any order."""

from __future__ import annotations

import gc
import gzip
import io
import pickle
import sys
import warnings

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import dataset, feather, parquet
from scipy import sparse
from scipy.io import wavfile

from adaline import LogisticRegression
from adaline.data import blocks, fit
from adaline.data import table as made_ready
from adaline.data.reading import fields, text_tables
from adaline.errors import DataError, MissingExtra

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


def read(source) -> dict[str, list]:
    found: dict[str, list] = {name: [] for name in source.names}
    for block in source:
        for name, column in zip(block.names, block.columns, strict=True):
            values = column.values.tolist()
            found[name] += [column.levels[k] for k in values] if column.levels else values
    return found


FORMATS = ["csv", "tsv", "csv.gz", "parquet", "feather", "ndjson"]


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_gives_the_table_back(table, tmp_path, kind):
    source = blocks(write(table, tmp_path / f"t.{kind}"), rows=150)
    assert source.kinds == ("number", "number", "text")
    for _ in range(2):  # twice: sources can be read again
        found = read(source)
        assert found["x"] == table["x"].to_list()
        assert found["n"] == table["n"].to_list()
        assert found["word"] == table["word"].to_list()
    assert len(list(source.descriptors())) > 3


@pytest.mark.parametrize("kind", FORMATS)
def test_pieces_are_pure_picklable_and_read_in_any_order(table, tmp_path, kind):
    source = blocks(write(table, tmp_path / f"t.{kind}"), rows=150)
    pieces = list(source.descriptors())
    in_order = [source.read(piece).columns[0].values.tolist() for piece in pieces]
    copy = pickle.loads(pickle.dumps(source))
    for piece, expected in reversed(list(zip(pieces, in_order, strict=True))):
        again = pickle.loads(pickle.dumps(piece))
        assert copy.read(again).columns[0].values.tolist() == expected


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


def test_columns_are_chosen_by_name_in_the_order_given(table, tmp_path):
    for kind in FORMATS:
        source = blocks(write(table, tmp_path / f"t.{kind}"), columns=["n", "x"])
        assert tuple(source.names) == ("n", "x")
        assert read(source)["n"] == table["n"].to_list()


def test_newlines_inside_quotes_do_not_end_a_record(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f'{i},"first\nsecond, ""{i}"""\n' for i in range(200)]
    path.write_text("a,b\n" + "".join(rows))
    found = read(blocks(path, rows=7))
    assert found["a"] == list(range(200))
    assert found["b"][3] == 'first\nsecond, "3"'


def test_a_record_longer_than_a_chunk_is_one_record(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,x\n2," + "y" * 5000 + "\n3,z\n")
    assert read(blocks(path, rows=1))["a"] == [1, 2, 3]


def test_empty_lines_windows_line_ends_and_a_byte_order_mark_are_fine(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b\r\n1,2\r\n\r\n3,4\r\n\r\n")
    assert read(blocks(path)) == {"a": [1, 3], "b": [2, 4]}


def test_a_last_line_without_its_end_counts(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,4")
    assert read(blocks(path)) == {"a": [1, 3], "b": [2, 4]}


def test_npy_is_mapped_and_npz_puts_arrays_side_by_side(rng, tmp_path):
    X, y = rng.standard_normal((100, 3)), rng.standard_normal(100)
    np.save(tmp_path / "X.npy", X)
    source = blocks(tmp_path / "X.npy", rows=30)
    assert isinstance(source.matrix, np.memmap)
    assert np.array_equal(np.concatenate([b.matrix for b in source]), X)
    assert np.array_equal(pickle.loads(pickle.dumps(source)).matrix, X)
    np.savez_compressed(tmp_path / "t.npz", X=X, y=y)
    source = blocks(tmp_path / "t.npz")
    assert tuple(source.names) == ("x0", "x1", "x2", "y")
    assert np.array_equal(next(iter(source)).matrix[:, 3], y)


def test_a_sparse_npz_stays_sparse(rng, tmp_path):
    X = sparse.random_array((50, 40), density=0.1, rng=rng, format="csr")
    sparse.save_npz(tmp_path / "t.npz", sparse.csr_matrix(X))
    source = blocks(tmp_path / "t.npz", rows=20)
    whole = sparse.vstack([block.matrix for block in source])
    assert np.array_equal(whole.toarray(), X.toarray())


def test_libsvm_is_the_matrix_that_was_written(rng, tmp_path):
    X = sparse.random_array((60, 30), density=0.2, rng=rng, format="csr")
    y = rng.integers(0, 2, 60)
    lines = ["# a comment"]
    for i in range(60):
        row = X[[i]]
        pairs = [f"{j + 1}:{v!r}" for j, v in zip(row.indices, row.data.tolist(), strict=True)]
        lines.append(" ".join([str(y[i]), *pairs]))
    (tmp_path / "t.libsvm").write_text("\n".join(lines) + "\n")
    source = blocks(tmp_path / "t.libsvm", rows=9)
    whole = sparse.vstack([block.matrix for block in source]).toarray()
    assert source.rows == 60
    assert np.array_equal(whole[:, 0], y)
    width = whole.shape[1] - 1
    assert np.array_equal(whole[:, 1:], X.toarray()[:, :width])
    assert not X.toarray()[:, width:].any()


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.float32])
@pytest.mark.parametrize("spare", [0, 1])
def test_a_streamed_wav_file_is_read_to_its_end(rng, tmp_path, dtype, spare):
    sound = (100 * rng.random((300, 2))).astype(dtype)
    wavfile.write(tmp_path / "a.wav", 8000, sound)
    content = bytearray((tmp_path / "a.wav").read_bytes())
    at = content.index(b"data") + 4
    content[4:8] = content[at : at + 4] = b"\xff" * 4  # as ffmpeg writes into a pipe
    (tmp_path / "b.wav").write_bytes(content + b"\0" * spare)  # a part of a sample
    whole, streamed = (
        np.concatenate([block.matrix for block in blocks(tmp_path / name)])
        for name in ("a.wav", "b.wav")
    )
    np.testing.assert_array_equal(streamed[:300], whole)


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.float32])
def test_wav_channels_are_columns_of_full_scale_one(rng, tmp_path, dtype):
    sound = rng.uniform(-1, 1, (500, 2))
    top = 1.0 if dtype == np.float32 else float(np.iinfo(dtype).max)
    wavfile.write(tmp_path / "t.wav", 8000, (sound * top).astype(dtype))
    source = blocks(tmp_path / "t.wav", rows=128)
    assert tuple(source.names) == ("channel0", "channel1")
    assert source.rate == 8000
    whole = np.concatenate([block.matrix for block in source])
    assert np.allclose(whole, sound, atol=2.0 / 2**15)
    assert np.array_equal(
        pickle.loads(pickle.dumps(source)).read(next(iter(source.descriptors()))).matrix,
        whole[:128],
    )


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


def test_what_comes_once_says_so_when_asked_again():
    source = blocks(np.zeros((2, 1)) for _ in range(2))
    assert len(list(source)) == 2
    with pytest.raises(DataError, match="once only"):
        list(source)
    with pytest.raises(DataError, match="save it to a file"):
        source.descriptors()


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


def test_a_small_text_is_parsed_once(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("a,b,y\n" + "1.5,x,2\n2.5,z,3\n" * 40)
    calls = []
    parse = fields.parse
    monkeypatch.setattr(text_tables, "parse", lambda *given: calls.append(1) or parse(*given))
    rows = made_ready(tmp_path / "t.csv", "y", share=0.2)
    assert len(rows.X) + len(rows.X_held_out) == 80
    assert len(calls) == 1


def test_a_large_text_is_parsed_once_by_a_fit(tmp_path, monkeypatch):
    lines = [f"{k / 7},{'xz'[k % 2]},{k % 3 == 0:d}" for k in range(500)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,y", *lines]) + "\n")
    calls = []
    parse = fields.parse
    monkeypatch.setattr(text_tables, "parse", lambda *given: calls.append(1) or parse(*given))
    source = blocks(tmp_path / "t.csv", rows=50)
    kept = fit(LogisticRegression(), source, "y")
    assert len(calls) == len(list(source.descriptors()))
    again = fit(LogisticRegression(), source, "y", scratch=0)
    assert kept.coef_.tobytes() == again.coef_.tobytes()


def test_a_first_line_of_other_things_is_told_how_to_skip(tmp_path):
    (tmp_path / "t.csv").write_text("20,3,good,bad\n" + "1.5,2,3,4,5,0\n2.5,3,4,5,6,1\n" * 10)
    with pytest.raises(DataError, match="skip_rows=1"):
        list(blocks(tmp_path / "t.csv"))
    assert blocks(tmp_path / "t.csv", skip_rows=1).names == ("x0", "x1", "x2", "x3", "x4", "x5")
