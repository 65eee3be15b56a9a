"""A folder, a pattern or a list of files is one source, read by any number of processes."""

from __future__ import annotations

import functools
import gzip

import numpy as np
import polars as pl
import pytest

from adaline import DataError, LeastSquares
from adaline.data import blocks, fit

INPUTS = ["a", "b", "c"]


def table(k: int, rows: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(k)
    X = rng.standard_normal((rows, 3))
    y = X @ [1.0, -2.0, 0.5] + 3.0 + 0.3 * rng.standard_normal(rows)
    label = np.where(y + rng.standard_normal(rows) > 3.0, "yes", "no")
    return pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y, "label": label})


WRITERS = {
    "parquet": lambda t, path: t.write_parquet(path, row_group_size=100),
    "arrow": lambda t, path: t.write_ipc(path),
    "csv": lambda t, path: t.write_csv(path),
    "ndjson": lambda t, path: t.write_ndjson(path),
}


@pytest.fixture(params=WRITERS)
def folder(request, tmp_path):
    for k in range(12):
        WRITERS[request.param](table(k), tmp_path / f"part.{k}.{request.param}")
    return tmp_path


def weights(model) -> bytes:
    return np.ravel(model.coef_).tobytes() + np.ravel(model.intercept_).tobytes()


@pytest.fixture(scope="module")
def whole():
    return pl.concat([table(k) for k in range(12)])


def test_a_folder_a_pattern_and_a_list_are_the_same_source(folder, whole):
    ending = next(folder.iterdir()).suffix
    paths = [folder / f"part.{k}{ending}" for k in range(12)]
    sources = [blocks(folder), blocks(f"{folder}/part.*{ending}"), blocks(paths)]
    found = [weights(fit(LeastSquares(), source, "y", columns=INPUTS)) for source in sources]
    assert len(set(found)) == 1
    straight = LeastSquares().fit(whole[INPUTS].to_numpy(), whole["y"].to_numpy())
    model = fit(LeastSquares(), folder, "y", columns=INPUTS)
    assert np.allclose(model.coef_, straight.coef_, rtol=1e-12)
    assert model.moments_.rows == len(whole)


def test_a_column_that_is_text_in_one_file_is_text_in_all(tmp_path):
    for k, colours in enumerate((["1", "2", "1", "2"], ["1", "red", "2", "red"])):
        pl.DataFrame({"colour": colours, "y": [1.0, 2.0, 3.0, 4.0]}).write_csv(
            tmp_path / f"{k}.csv"
        )
    model = fit(LeastSquares(), tmp_path, "y")
    assert model.feature_names_in_.tolist() == ["colour=2", "colour=red"]


WRONG = {
    "other columns": (lambda t: t.rename({"a": "d"}), "all need the same"),
    "another kind": (lambda t: t.with_columns(a=pl.lit("x")), "'a' holds text"),
    "a gap": (lambda t: t.with_columns(y=pl.lit(None, pl.Float64)), "missing at row 0 of .*1.parq"),
    "a nan": (lambda t: t.with_columns(y=pl.lit(float("nan"))), "row 0 .*of .*1.parquet"),
}  # fmt: skip


@pytest.mark.parametrize(("spoil", "words"), WRONG.values(), ids=WRONG)
def test_a_bad_file_is_named(tmp_path, spoil, words):
    table(0).write_parquet(tmp_path / "0.parquet")
    spoil(table(1)).write_parquet(tmp_path / "1.parquet")
    with pytest.raises(DataError, match=words):
        fit(LeastSquares(), tmp_path, "y", columns=INPUTS)


def test_files_of_two_formats_and_folders_of_columns_are_refused(tmp_path):
    table(0).write_parquet(tmp_path / "0.parquet")
    table(1).write_csv(tmp_path / "1.csv")
    with pytest.raises(DataError, match="give files of one format"):
        blocks(tmp_path)
    with pytest.raises(DataError, match="no file is there"):
        blocks(f"{tmp_path}/*.arrow")
    hive = tmp_path / "hive" / "year=2024"
    hive.mkdir(parents=True)
    table(0).write_parquet(hive / "0.parquet")
    with pytest.raises(DataError, match="named like a column"):
        blocks(tmp_path / "hive")


def test_other_programs_files_are_left_alone(tmp_path):
    table(0).write_parquet(tmp_path / "0.parquet")
    table(1).write_parquet(tmp_path / "1.parquet")
    for name in ("_SUCCESS", ".crc"):
        (tmp_path / name).write_text("")
    assert blocks(tmp_path).rows == 800


def _packed(t, path):
    with gzip.open(path, "wb") as file:
        t.write_csv(file)


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv", "ndjson", "csv.gz"])
def test_urls_are_read_as_files_are(tmp_path, ending):
    memory = pytest.importorskip("fsspec").filesystem("memory")
    write = WRITERS.get(ending) or _packed
    for k in range(2):
        path = tmp_path / f"{k}.{ending}"
        write(table(k), path)
        memory.pipe(f"/adaline/{ending}/{k}.{ending}", path.read_bytes())
    learn = functools.partial(fit, LeastSquares(), target="y", columns=INPUTS)
    here = weights(learn(tmp_path))
    assert weights(learn(f"file://{tmp_path}")) == here
    assert weights(learn(f"memory://adaline/{ending}/*.{ending}")) == here


def test_a_url_that_is_not_there_is_told_in_a_sentence():
    pytest.importorskip("fsspec")
    with pytest.raises(DataError, match="no such file"):
        blocks("memory://nowhere/rows.csv")
    with pytest.raises(DataError, match="cannot be opened"):
        blocks("strange://nowhere/rows.csv")
