"""A folder, a pattern or a list of files is one source, read by any number of processes."""

from __future__ import annotations

import functools
import gzip
import http.server
import threading

import numpy as np
import polars as pl
import pytest

from adaline import DataError, GaussianClassifier, LeastSquares, LogisticRegression, Perceptron
from adaline.cli import main
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


def test_files_come_in_the_order_of_their_numbers(folder, whole):
    values = np.concatenate([block.columns[0].values for block in blocks(folder)])
    assert np.array_equal(values, whole["a"].to_numpy())


def test_text_targets_and_inputs_are_learned_from_many_files(folder, whole):
    model = fit(LogisticRegression(), folder, "label", columns=INPUTS)
    straight = LogisticRegression().fit(whole[INPUTS].to_numpy(), whole["label"].to_numpy())
    assert model.classes_.tolist() == ["no", "yes"]
    assert np.allclose(model.coef_, straight.coef_, rtol=1e-6)
    fit(Perceptron(), folder, "label", columns=INPUTS)
    encoded = fit(LeastSquares(), folder, "y")
    assert "label=yes" in encoded.feature_names_in_


def test_processes_give_the_same_bits(tmp_path):
    for k in range(6):
        table(k).write_parquet(tmp_path / f"{k}.parquet", row_group_size=100)
    models = [
        fit(GaussianClassifier(), blocks(tmp_path, rows=50), "label", columns=INPUTS, jobs=jobs)
        for jobs in (1, 2)
    ]
    assert weights(models[0]) == weights(models[1])


def test_a_changed_file_is_read_anew(tmp_path):
    for k in range(2):
        table(k).write_csv(tmp_path / f"{k}.csv")
    first = fit(LeastSquares(), tmp_path, "y", columns=INPUTS)
    table(7, 500).write_csv(tmp_path / "1.csv")
    second = fit(LeastSquares(), tmp_path, "y", columns=INPUTS)
    assert (first.moments_.rows, second.moments_.rows) == (800, 900)


def test_a_checkpoint_knows_all_files(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    for k in range(3):
        table(k).write_parquet(data / f"{k}.parquet")
    options = {"columns": INPUTS, "checkpoint": tmp_path / "checkpoint"}
    first = fit(LeastSquares(), data, "y", **options)
    assert weights(fit(LeastSquares(), data, "y", **options)) == weights(first)
    table(9).write_parquet(data / "1.parquet")
    with pytest.raises(DataError, match="the data changed"):
        fit(LeastSquares(), data, "y", **options)


def test_a_column_that_is_text_in_one_file_is_text_in_all(tmp_path):
    for k, colours in enumerate((["1", "2", "1", "2"], ["1", "red", "2", "red"])):
        pl.DataFrame({"colour": colours, "y": [1.0, 2.0, 3.0, 4.0]}).write_csv(
            tmp_path / f"{k}.csv"
        )
    model = fit(LeastSquares(), tmp_path, "y")
    assert model.feature_names_in_.tolist() == ["colour=2", "colour=red"]


WRONG = {
    "other columns": (lambda t: t.rename({"a": "d"}), "all files need the same"),
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


def test_the_row_group_of_a_bad_row_is_named(tmp_path):
    table(0).write_parquet(tmp_path / "0.parquet")
    values = table(1)["y"].to_numpy().copy()
    values[250] = np.nan
    table(1).with_columns(y=pl.Series(values)).write_parquet(
        tmp_path / "1.parquet", row_group_size=100
    )
    with pytest.raises(DataError, match=r"row 250 \(row group 2\) of .*1\.parquet"):
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


def test_the_command_learns_from_a_pattern(tmp_path, capsys):
    for k in range(3):
        table(k).write_csv(tmp_path / f"{k}.csv")
    with pytest.raises(SystemExit) as ended:
        main(["fit", f"{tmp_path}/*.csv", "--target", "y", "--only", "a,b,c"])
    found = capsys.readouterr()
    assert ended.value.code == 0, found.err
    assert "held-out rows" in found.out


class Ranges(http.server.SimpleHTTPRequestHandler):
    """A server of files that can be asked for some of their bytes."""

    def log_message(self, *args):
        pass

    def do_GET(self):
        wanted = self.headers.get("Range")
        path = self.translate_path(self.path)
        with open(path, "rb") as file:
            data = file.read()
        if wanted:
            start, _, stop = wanted.removeprefix("bytes=").partition("-")
            i, j = int(start), min(int(stop or len(data)) + 1, len(data))
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {i}-{j - 1}/{len(data)}")
            data = data[i:j]
        else:
            self.send_response(200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def server(tmp_path):
    handler = functools.partial(Ranges, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def _packed(t, path):
    with gzip.open(path, "wb") as file:
        t.write_csv(file)


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv", "ndjson", "csv.gz"])
def test_urls_are_read_as_files_are(tmp_path, server, ending):
    pytest.importorskip("fsspec")
    pytest.importorskip("aiohttp")
    from fsspec.implementations.memory import MemoryFileSystem

    write = WRITERS.get(ending) or _packed
    memory = MemoryFileSystem()
    for k in range(2):
        path = tmp_path / f"{k}.{ending}"
        write(table(k), path)
        memory.pipe(f"/adaline/{ending}/{k}.{ending}", path.read_bytes())
    learn = functools.partial(fit, LeastSquares(), target="y", columns=INPUTS)
    here = weights(learn(tmp_path))
    assert weights(learn(f"file://{tmp_path}")) == here
    assert weights(learn(f"memory://adaline/{ending}/*.{ending}")) == here
    assert weights(learn([f"{server}/{k}.{ending}" for k in range(2)])) == here


def test_a_url_that_is_not_there_is_told_in_a_sentence():
    pytest.importorskip("fsspec")
    with pytest.raises(DataError, match="no such file"):
        blocks("memory://nowhere/rows.csv")
    with pytest.raises(DataError, match="cannot be opened"):
        blocks("strange://nowhere/rows.csv")
