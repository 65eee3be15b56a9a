"""A large row group is read and summed a few rows at a time: the same rows, the same bits."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

from pyarrow import parquet  # noqa: E402

from adaline import DataError, LeastSquares, LogisticRegression, Moments  # noqa: E402
from adaline.data import Encoding, blocks, fit  # noqa: E402
from adaline.data.reading import columnar  # noqa: E402
from adaline.data.reading import source as sources  # noqa: E402
from adaline.data.reading.source import Piece, slice_rows  # noqa: E402
from adaline.data.sharing import Share  # noqa: E402

N = 7_000


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """Numbers, whole numbers, text, dates and gaps, in row groups of 3000 rows."""
    rng = np.random.default_rng(0)
    word = np.array(["low", "high", "none"])[rng.integers(0, 3, N)]
    gaps = pa.array(rng.standard_normal(N), mask=rng.random(N) < 0.1)
    day = pa.array(np.arange(N) // 24, pa.int32()).cast(pa.date32())
    columns = {"x": rng.standard_normal(N), "n": np.arange(N), "word": word, "gaps": gaps}
    path = str(tmp_path_factory.mktemp("mixed") / "t.parquet")
    made = pa.table(columns | {"day": day, "y": rng.standard_normal(N)})
    parquet.write_table(made, path, row_group_size=3_000, data_page_size=4_000)
    return path


@pytest.fixture
def small(monkeypatch):
    """Slices of 520 rows or so."""
    monkeypatch.setattr(sources, "MIN_SLICE_ROWS", 512)
    monkeypatch.setattr(sources, "BLOCK_NUMBERS", 1)
    monkeypatch.setattr(columnar, "slice_rows", lambda *given: slice_rows(given[0], 1))


def same(part, whole):
    """A joined column of slices is that of the block; text by its values."""
    values = [np.array(c.levels)[c.values] if c.kind == "text" else c.values for c in part]
    one = np.array(whole.levels)[whole.values] if whole.kind == "text" else whole.values
    gone = [np.zeros(len(c.values), bool) if c.missing is None else c.missing for c in part]
    none = np.zeros(len(one), bool) if whole.missing is None else whole.missing
    return np.array_equal(np.concatenate(values), one) and np.array_equal(
        np.concatenate(gone), none
    )


@pytest.mark.parametrize("rows", [None, 1_100, 5_000])
def test_slices_are_the_rows_of_their_piece_in_order(mixed, small, rows):
    source = blocks(mixed, rows=rows)
    for piece in source.descriptors():
        found, whole = list(source.slices(piece)), source.read(piece)
        assert len(found) > 1 or whole.rows < 520
        assert max(block.rows for block in found) <= 520
        for j in range(len(whole.columns)):
            assert same([block.columns[j] for block in found], whole.columns[j])
        places = [block.place(i) for block in found for i in range(block.rows)]
        assert places == [whole.place(i) for i in range(whole.rows)]


def test_what_is_learned_of_columns_does_not_depend_on_slices(mixed, monkeypatch):
    whole = Encoding.learn(mixed, "y", missing="auto", ignore=["n"])
    monkeypatch.setattr(columnar, "slice_rows", lambda *_: 520)
    cut = Encoding.learn(mixed, "y", missing="auto", ignore=["n"])
    assert cut.names == whole.names
    means = [[e.mean for e in found.inputs if e.mean is not None] for found in (whole, cut)]
    np.testing.assert_allclose(means[0], means[1], rtol=1e-12)


def test_rows_held_out_are_those_of_the_whole_piece(mixed, small):
    source = blocks(mixed)
    for piece in source.descriptors():
        for out in (True, False):
            share = Share(source, 3, 0.25, out)
            found = np.concatenate([b.columns[1].values for b in share.slices(piece)])
            assert np.array_equal(found, share.read(piece).columns[1].values)


def test_slices_are_no_multiple_of_a_page_and_not_too_thin():
    for columns in (1, 7, 50, 64, 100, 2_000, 10**6):
        assert slice_rows(columns) % 16 == 8
        assert slice_rows(columns) >= 4096


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """One row group of more numbers than are read at once, and one of fewer; 170 columns."""
    rng, n, p = np.random.default_rng(1), 60_000, 170
    X = rng.integers(-3, 4, (n, p)).astype(np.float32)  # few different numbers make a small file
    y = X @ np.linspace(-1.0, 1.0, p, dtype=np.float32) + rng.integers(-9, 10, n)
    names = [f"x{j}" for j in range(p)]
    columns = dict(zip(names, X.T, strict=True))
    made = pa.table(columns | {"y": y.astype(float), "c": (y > 0).astype(float)})
    path = str(tmp_path_factory.mktemp("large") / "t.parquet")
    with parquet.ParquetWriter(path, made.schema) as out:
        for start, stop in ((0, 50_000), (50_000, n)):
            out.write_table(made.slice(start, stop - start), row_group_size=n)
    return path, names, X, y


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


def test_a_sample_of_large_row_groups_begins_where_one_of_all_rows_would(large):
    path, names, X, y = large
    streamed = fit(LogisticRegression(alpha=10.0), path, "c", columns=names)
    memory = LogisticRegression(alpha=10.0).fit(X.astype(float), (y > 0).astype(float))
    np.testing.assert_allclose(streamed.coef_, memory.coef_, atol=1e-6)
    assert streamed.certificate_.kind == "optimal"


def test_damage_in_a_large_row_group_is_told_with_file_and_rows(large, tmp_path):
    bad = bytearray(Path(large[0]).read_bytes())
    bad[20_000:60_000] = bytes(40_000)
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(bytes(bad))
    source = blocks(str(broken))
    with pytest.raises(DataError, match=r"broken.parquet: rows 0 to \d+ \(row group 0\)"):
        list(source.slices(next(iter(source.descriptors()))))


def test_an_array_in_memory_is_one_slice():
    source = blocks(np.arange(6.0).reshape(3, 2))
    assert [block.rows for block in source.slices(Piece(0, 0, 3))] == [3]


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_a_footer_is_kept_for_a_file_as_it_is_and_read_again_when_it_was_changed(tmp_path, ending):
    path = tmp_path / f"rows.{ending}"

    def write(values, packed):  # packed otherwise, so that the old footer points to wrong places
        frame = pl.DataFrame({"a": values})
        write = frame.write_parquet if ending == "parquet" else frame.write_ipc
        write(path, compression=packed)

    def found(source):
        return [block.columns[0].values.tolist() for block in source]

    write(np.arange(1000.0), "zstd")
    source = blocks(str(path))
    assert found(source) == found(source) == [np.arange(1000.0).tolist()]
    write(np.arange(1000.0) + 0.1, "uncompressed")
    assert found(source) == [(np.arange(1000.0) + 0.1).tolist()]
    assert found(pickle.loads(pickle.dumps(source))) == [(np.arange(1000.0) + 0.1).tolist()]
