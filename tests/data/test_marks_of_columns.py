"""A text that stands for a gap among numbers may be a level of another column."""

from __future__ import annotations

import numpy as np
import pytest

import adaline
from adaline.data import Encoding, blocks
from adaline.errors import DataWarning

MARKS = ["na", "-", "?", "low", "n.d."]


def written(path, mark, rows=60):
    """Numbers with two marks, dollars with one, and levels of which one is written as the mark."""
    lines = ["depth,price,grade,y"]
    for i in range(rows):
        depth = mark if i in (7, 31) else f"{i % 13}.5"
        price = mark if i == 11 else f"${(i * 7) % 23}.10"
        lines.append(f"{depth},{price},{(mark, 'mid', 'high')[i % 3]},{(mark, 'b')[i % 2]}")
    path.write_text("\n".join(lines) + "\n")
    return path


def encoded(encoding, source):
    source = encoding.prepare(source)
    return np.concatenate([encoding.encode(block) for block in source])


@pytest.mark.filterwarnings("ignore::adaline.errors.DataWarning")
@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_of_one_column_is_a_level_of_another(tmp_path, mark):
    path = written(tmp_path / "t.csv", mark)
    encoding = Encoding.learn(path, "y", missing="auto")
    depth, price, grade = encoding.inputs
    assert (depth.levels, price.levels) == (None, None)
    assert set(grade.levels) == {mark, "mid", "high"}
    assert encoding.na == ()
    X = encoded(encoding, path)
    third = [encoding.names.index(f"grade={level}") for level in grade.levels[1:]]
    wanted = [
        [(mark, "mid", "high")[i % 3] == level for level in grade.levels[1:]] for i in range(60)
    ]
    assert np.array_equal(X[:, third], np.array(wanted, dtype=float))
    assert np.allclose(X[[7, 31], 0], depth.mean)
    assert np.isclose(X[11, encoding.names.index("price")], price.mean)


@pytest.mark.filterwarnings("ignore::adaline.errors.DataWarning")
@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_of_an_input_is_a_class_of_the_target(tmp_path, mark):
    path = written(tmp_path / "t.csv", mark)
    encoding = Encoding.learn(path, "y", missing="auto")
    for block in encoding.prepare(path):
        assert encoding.kept(block, "y") is None  # no row is without a target


@pytest.mark.filterwarnings("ignore::adaline.errors.DataWarning")
def test_marks_of_columns_travel_with_the_encoding(tmp_path):
    path = written(tmp_path / "t.csv", "low")
    encoding = Encoding.learn(path, "y", missing="auto")
    again = Encoding.from_dict(encoding.to_dict())
    assert again == encoding
    assert [entry.marks for entry in again.inputs] == [("low",), ("low",), ()]
    assert np.array_equal(encoded(again, path), encoded(encoding, path))


def test_marks_in_a_target_of_numbers_leave_rows_out(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{i % 7},{'low' if i == 3 else i},{('low', 'mid')[i % 2]}" for i in range(60)]
    path.write_text("a,y,grade\n" + "\n".join(rows) + "\n")
    with pytest.warns(DataWarning, match="'low' among numbers is taken as missing"):
        encoding = Encoding.learn(path, "y", missing="auto")
    assert encoding.target.marks == ("low",)
    assert encoding.inputs[1].levels == ("low", "mid")
    (block,) = encoding.prepare(path)
    assert np.flatnonzero(~encoding.kept(block, "y")).tolist() == [3]
    encoding = Encoding.from_dict(encoding.to_dict())
    (block,) = encoding.prepare(path)
    assert np.flatnonzero(~encoding.kept(block, "y")).tolist() == [3]


@pytest.mark.filterwarnings("ignore::adaline.errors.DataWarning")
def test_strange_texts_in_rows_to_predict_are_gaps_of_their_column_alone(tmp_path):
    path = tmp_path / "t.csv"
    lines = [f"{i % 7},{('low', 'mid')[i % 2]},{i}" for i in range(60)]
    path.write_text("a,grade,y\n" + "\n".join(lines) + "\n")
    encoding = Encoding.learn(path, "y", missing="auto", unknown="zeros")
    new = tmp_path / "new.csv"
    new.write_text("a,grade\n1,low\nlow,mid\n3,low\n")
    forgiving, odd = encoding.forgiving(new)
    assert odd == {"a": ("low",)}
    X = encoded(forgiving, new)
    at = encoding.names.index("grade=mid")
    assert X[:, at].tolist() == [0.0, 1.0, 0.0]
    assert np.isclose(X[1, 0], encoding.inputs[0].mean)


@pytest.mark.filterwarnings("ignore::adaline.errors.DataWarning")
def test_texts_that_the_user_calls_missing_are_so_in_every_column(tmp_path):
    path = written(tmp_path / "t.csv", "low")
    encoding = Encoding.learn(path, missing="auto", na=["low"], columns=["depth", "grade"])
    assert "low" not in encoding.inputs[1].levels
    assert encoding.na == ("low",)
    found = adaline.data.table(path, "y", na=["low"])
    assert set(found.y) == {"b"}
    assert len(found.X) == 30
    assert blocks(path).names[0] == "depth"


@pytest.mark.filterwarnings("ignore::adaline.errors.DataWarning")
def test_an_infinity_that_the_user_calls_missing_is_missing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "".join(f"{'Inf' if i % 5 == 0 else i},{i % 3}\n" for i in range(60)))
    encoding = Encoding.learn(path, "y", missing="auto", na=["inf"])
    X = encoded(encoding, path)
    assert np.isfinite(X).all()
    assert np.isclose(X[0, 0], np.mean([i for i in range(60) if i % 5]))
