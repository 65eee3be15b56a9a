"""Levels that differ only in case or blanks: merged for every source, model, file and export."""

from __future__ import annotations

import sqlite3
import warnings

import numpy as np
import pandas as pd
import pytest

import adaline
from adaline.data import Encoding, blocks, export, fit, look, table
from adaline.errors import DataWarning

REGIONS = ["West", " west", "West ", "east", "West", "EAST", "east", "north"] * 10
ANSWERS = ["Y", "Yes", "no", "yes", "No", "Yes", "N", "no"] * 10
SIZE = [float(7 * k % 23) for k in range(80)]


def frame():
    names = [text.strip().casefold() for text in REGIONS]
    rent = [
        s + {"west": 30.0, "east": 10.0, "north": 0.0}[n] for s, n in zip(SIZE, names, strict=True)
    ]
    return pd.DataFrame({"region": REGIONS, "size": SIZE, "rent": rent, "paid": ANSWERS})


@pytest.fixture(params=["frame", "csv", "xlsx"])
def source(request, tmp_path):
    if request.param == "frame":
        return frame()
    path = tmp_path / f"t.{request.param}"
    written = frame().to_csv if request.param == "csv" else frame().to_excel
    written(path, index=False)
    return path


def quiet(call, *given, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return call(*given, **more)


def test_spellings_are_merged_into_the_most_frequent_one_and_said(source):
    with pytest.warns(DataWarning, match="exact_levels"):
        encoding = Encoding.learn(source, "rent", columns=["region"], missing="auto")
    assert encoding.inputs[0].levels == ("West", "east", "north")
    again = Encoding.from_dict(encoding.to_dict())
    assert again == encoding
    (block,) = again.prepare(source)
    X = again.encode(block)
    assert np.array_equal(X, again.encode(next(iter(blocks(source)))))
    assert np.array_equal(X[:, 0], [text.casefold() == "east" for text in REGIONS])
    assert again.unknown_in(block) == {}


def test_exact_levels_stay_apart(source):
    seen = look(source, "paid", columns=["region"], exact_levels=True)
    assert seen.encoding.inputs[0].levels == (" west", "EAST", "West", "West ", "east", "north")
    assert not any("--exact-levels" in text for text in seen.warnings)
    rows = table(source, "paid", exact_levels=True)
    assert len(np.unique(rows.y)) == 6
    model = fit(adaline.LeastSquares(), source, "rent", columns=["region"], exact_levels=True)
    assert len(model.coef_) == 5


def test_classes_are_merged_as_well(source):
    rows = table(source, "paid")
    assert np.unique(rows.y).tolist() == ["Yes", "no"]
    model = quiet(fit, adaline.LogisticRegression(), source, "paid", columns=["size"])
    assert model.classes_.tolist() == ["Yes", "no"]


def test_new_rows_are_read_with_the_same_spellings(source, tmp_path):
    model = quiet(fit, adaline.LeastSquares(), source, "rent", columns=["region", "size"])
    adaline.save(model, tmp_path / "m.adaline")
    loaded = adaline.load(tmp_path / "m.adaline")
    new = pd.DataFrame({"region": [" west", "West", "EAST", "east"], "size": [1.0] * 4})
    assert np.allclose(loaded.predict(new), [31, 31, 11, 11], rtol=1e-9)


def test_exports_read_the_same_spellings():
    model = quiet(fit, adaline.LeastSquares(), frame(), "rent", columns=["region", "size"])
    (block,) = blocks(frame())
    wanted = model.encoding_.encode(block) @ model.coef_ + model.intercept_
    spaces = {}
    exec(export(model, to="python"), spaces)
    ours = [spaces["predict"](row) for row in frame().to_dict("records")]
    assert np.allclose(ours, wanted, rtol=1e-12)
    with sqlite3.connect(":memory:") as base:
        frame().to_sql("t", base, index=False)
        found = pd.read_sql(export(model, to="sql", name="t").decode(), base)
    assert np.allclose(found[found.columns[-1]], wanted, rtol=1e-12)


def test_rare_spellings_are_merged_before_levels_are_called_rare():
    words = [f"w{k % 21}" for k in range(210)] + ["Rare", "rare", " rare", "RARE", "rare", "odd"]
    data = pd.DataFrame({"w": words, "y": np.arange(216.0) % 7})
    entry = look(data, "y").encoding.inputs[0]
    assert "rare" in entry.levels
    assert entry.merged == ("odd",)
