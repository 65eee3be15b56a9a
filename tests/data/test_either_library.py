"""polars or pyarrow is enough: each format is read to the same numbers without the other."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("polars")

READ = """
import sys
hidden, *paths = sys.argv[1:]
sys.modules[hidden] = None  # as if it were not installed
import adaline.data
for path in paths:
    table = adaline.data.table(path, target="y")
    sums = repr(float(table.X.sum())), repr(float(table.y.sum()))
    print(path.rpartition(".")[2], table.X.shape, *sums)
assert sys.modules[hidden] is None
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    from pyarrow import csv, feather, parquet

    folder = tmp_path_factory.mktemp("either")
    rng = np.random.default_rng(0)
    word = np.array(["low", "high", "none"])[rng.integers(0, 3, 200)]
    columns = {"x": rng.standard_normal(200), "n": np.arange(200), "word": word}
    table = pa.table(columns | {"y": columns["x"] * 2.0 + 1.0})
    csv.write_csv(table, folder / "t.csv")
    parquet.write_table(table, folder / "t.parquet")
    feather.write_feather(table, folder / "t.feather")
    lines = (str(row).replace("'", '"') for row in table.to_pylist())
    (folder / "t.ndjson").write_text("\n".join(lines) + "\n")
    return [str(folder / f"t.{end}") for end in ("csv", "parquet", "feather", "ndjson")]


def test_each_format_is_read_without_either(files):
    told = {}
    for hidden in ("polars", "pyarrow"):
        done = subprocess.run(
            [sys.executable, "-c", READ, hidden, *files], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        told[hidden] = done.stdout.splitlines()
    assert told["polars"] == told["pyarrow"]
    assert len({line.split(" ", 1)[1] for line in told["polars"]}) == 1
