"""Columns to numbers: numbers as they are, levels in sorted order, and nothing in silence."""

from __future__ import annotations

import json
import pickle

import numpy as np
import polars as pl
import pytest

from adaline.data import Encoding, blocks
from adaline.data.columns.inputs import Input
from adaline.errors import DataError


def encoded(encoding: Encoding, table) -> np.ndarray:
    return np.concatenate([encoding.encode(block) for block in blocks(table, rows=3)])


TABLE = pl.DataFrame(
    {
        "size": [1.5, 2.5, 3.5, 4.5, 5.5],
        "colour": ["red", "blue", "green", "blue", "red"],
        "flag": [True, False, True, True, False],
        "count": [1, 2, 3, 4, 5],
        "y": [0, 1, 0, 1, 0],
    }
)


def test_levels_are_sorted_and_measured_against_the_first():
    encoding = Encoding.learn(TABLE, "y")
    assert encoding.names == ("size", "colour=green", "colour=red", "flag=true", "count")
    X = encoded(encoding, TABLE)
    assert X.tolist() == [
        [1.5, 0, 1, 1, 1],
        [2.5, 0, 0, 0, 2],
        [3.5, 1, 0, 1, 3],
        [4.5, 0, 0, 1, 4],
        [5.5, 0, 1, 0, 5],
    ]
    assert X.flags.c_contiguous
    block = next(iter(blocks(TABLE)))
    assert encoding.encode(block, order="F").flags.f_contiguous
    assert np.array_equal(encoding.encode(block, order="F"), X)


def test_levels_are_those_of_all_blocks_whatever_the_blocks_and_processes():
    table = pl.DataFrame({"w": [f"w{i % 7}" for i in range(100)], "y": np.arange(100.0)})
    small, large = (Encoding.learn(blocks(table, rows=rows), "y") for rows in (3, 1000))
    assert small == large
    assert small.names == tuple(f"w=w{i}" for i in range(1, 7))


def test_an_encoding_is_plain_data():
    encoding = Encoding.learn(TABLE, "y", missing="mean", unknown="zeros")
    assert Encoding.from_dict(json.loads(json.dumps(encoding.to_dict()))) == encoding
    with pytest.raises(DataError, match="no encoding"):
        Encoding.from_dict({"inputs": [{"name": "a"}]})
    with pytest.raises(DataError, match="no encoding"):
        Encoding.from_dict({**encoding.to_dict(), "missing": "guess"})


def test_an_unknown_level_is_named_or_gets_no_indicator():
    new = TABLE.with_columns(colour=pl.lit("pink"))
    with pytest.raises(DataError, match="'colour' has 'pink' at row 0"):
        encoded(Encoding.learn(TABLE, "y"), new)
    zeros = encoded(Encoding.learn(TABLE, "y", unknown="zeros"), new)
    assert not zeros[:, 1:3].any()


MISSING = pl.DataFrame(
    {"a": [1.0, None, 3.0, 8.0], "b": [1.0, 2.0, float("nan"), 4.0], "y": [1.0, 2.0, 3.0, None]}
)


def test_missing_values_are_refused_left_out_or_filled_with_the_mean():
    with pytest.raises(DataError, match=r"'a' has 1 missing values .* at row 1"):
        encoded(Encoding.learn(MISSING, "y"), MISSING)
    dropped = Encoding.learn(MISSING, "y", missing="drop")
    assert encoded(dropped, MISSING).tolist() == [[1, 1], [8, 4]]
    block = next(iter(blocks(MISSING)))
    assert dropped.kept(block, "y").tolist() == [True, False, False, False]
    filled = Encoding.learn(MISSING, "y", missing="mean")
    # A mean of three numbers is rounded a few times.
    expected = [[1, 1], [4, 2], [3, 7 / 3], [8, 4]]
    np.testing.assert_allclose(encoded(filled, MISSING), expected, rtol=1e-15)


def test_missing_text_is_refused_or_left_out():
    table = pl.DataFrame({"w": ["a", None, "b"], "y": [1.0, 2.0, 3.0]})
    for missing in ("refuse", "mean"):
        with pytest.raises(DataError, match="'w' has 1 missing"):
            encoded(Encoding.learn(table, "y", missing=missing), table)
    assert encoded(Encoding.learn(table, "y", missing="drop"), table).tolist() == [[0], [1]]


def test_infinities_are_refused_whatever_is_done_with_missing_values():
    table = pl.DataFrame({"a": [1.0, float("inf"), None], "y": [1.0, 2.0, 3.0]})
    for missing in ("refuse", "drop"):
        with pytest.raises(DataError, match="infinite"):
            encoded(Encoding.learn(table, "y", missing=missing), table)


def test_too_many_levels_and_lists_are_refused_in_a_sentence():
    many = pl.DataFrame({"id": [f"u{i}" for i in range(50)], "y": np.zeros(50)})
    with pytest.raises(DataError, match="'id' has more than 10 levels"):
        Encoding.learn(blocks(many, rows=7), "y", most_levels=10)
    with pytest.raises(DataError, match="neither numbers nor text"):
        Encoding.learn(pl.DataFrame({"l": [[1, 2]], "y": [1.0]}), "y")
    with pytest.raises(DataError, match="no columns beside"):
        Encoding.learn(pl.DataFrame({"y": [1.0]}), "y")


def test_a_table_that_changed_its_types_or_columns_is_told():
    encoding = Encoding.learn(TABLE, "y")
    with pytest.raises(DataError, match="'size' has 'large' at row 0, and held numbers"):
        encoded(encoding, TABLE.with_columns(size=pl.lit("large")))
    with pytest.raises(DataError, match="no column 'size'; did you mean 'sizes'"):
        encoded(encoding, TABLE.rename({"size": "sizes"}))


def test_a_column_without_any_value_has_no_mean():
    table = pl.DataFrame({"a": [None, None], "y": [1.0, 2.0]}, schema={"a": pl.Float64, "y": float})
    with pytest.raises(DataError, match="every value of the column 'a' is missing"):
        Encoding.learn(table, "y", missing="mean")


def test_matrices_are_taken_as_they_are_and_never_changed(rng):
    X = rng.standard_normal((10, 4))
    X.flags.writeable = False
    encoding = Encoding.learn(X, "x1")
    assert encoding.names == ("x0", "x2", "x3")
    assert np.array_equal(encoded(encoding, X), X[:, [0, 2, 3]])
    assert encoded(Encoding.learn(X.astype(np.float32), "x3"), X.astype(np.float32)).shape == (
        10,
        3,
    )
    whole = rng.integers(0, 9, (5, 2))
    assert encoded(Encoding.learn(whole, "x0"), whole).dtype == np.float64


def test_blocks_with_other_places_are_encoded_by_name_and_nothing_of_them_travels():
    encoding = Encoding((Input("a"), Input("b")))
    new = pickle.dumps(encoding)
    for names, wanted in (("ab", [1.0, 2.0]), ("ba", [2.0, 1.0]), ("ab", [1.0, 2.0])):
        for _ in range(2):
            (block,) = blocks(pl.DataFrame({names[0]: [1.0], names[1]: [2.0]}))
            assert encoding.encode(block).tolist() == [wanted]
    assert pickle.dumps(encoding) == new
    assert pickle.loads(new) == encoding
