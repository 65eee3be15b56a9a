"""`table`: rows to learn from and rows held out, as arrays."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaline import DataError
from adaline.data import ColumnOptions, Encoding, blocks, look, table
from adaline.data.sharing import Share, column, held_out

pl = pytest.importorskip("polars")


@pytest.fixture
def flats():
    n = 200
    size = [None if i % 10 == 0 else 20.0 + i for i in range(n)]
    return pl.DataFrame(
        {
            "size": size,
            "town": ["Rome" if i % 3 else "Oslo" for i in range(n)],
            "w": [i % 4 for i in range(n)],
            "day": [f"{1 + i % 28}.{1 + i % 12}.2024" for i in range(n)],
            "kind": ["old" if i % 5 else "new" for i in range(n)],
        }
    )


def test_every_row_is_learned_from_or_held_out(flats):
    flats = flats.with_columns(pl.Series("nr", np.random.default_rng(0).permutation(200) * 1.5))
    rows = table(flats, "kind", share=0.3, seed=4, use=["nr"])
    at = rows.names.index("nr")
    both = np.concatenate([rows.X[:, at], rows.X_held_out[:, at]])
    assert sorted(both) == sorted(flats["nr"].to_list())
    assert 40 <= len(rows.y_held_out) <= 80
    again = table(flats, "kind", share=0.3, seed=4, use=["nr"])
    assert np.array_equal(again.X, rows.X)
    assert not np.array_equal(table(flats, "kind", share=0.3, seed=5).y, rows.y)


def test_stratified_rows_keep_the_shares_of_the_classes(flats):
    rows = table(flats, "kind", share=0.2, stratified=True)
    assert np.sum(rows.y_held_out == "new") == 8
    assert len(rows.y_held_out) == 40


def test_means_are_of_the_rows_learned_from_and_levels_of_all(flats):
    rows = table(flats, "kind", share=0.5, ignore=["day", "w"])
    parts = [block.columns[0] for block in rows.learned]
    inside = np.concatenate([part.values[~part.missing] for part in parts])
    entry = rows.encoding.inputs[0]
    assert entry.mean == pytest.approx(np.mean(inside))
    assert table(flats, "kind").encoding.inputs[0].mean != entry.mean


def test_weights_and_columns_beside(flats):
    rows = table(flats, "kind", ignore=["w"])
    assert "w" not in rows.names
    assert np.array_equal(rows.column("w"), flats["w"].to_numpy())
    assert np.array_equal(rows.weights("w"), flats["w"].to_numpy())
    assert np.array_equal(rows.weights(), np.ones(200))
    omega = rows.weights("w", balanced=True)
    new = rows.y == "new"
    assert omega[new].sum() == pytest.approx(omega[~new].sum())
    days = rows.column("day", in_order=True)
    assert days.dtype.kind == "f"
    assert days.max() > days.min()


def test_an_encoding_of_ones_own_is_used(flats):
    encoding = Encoding.learn(flats, "kind", columns=["w"])
    rows = table(blocks(flats), "kind", encoding=encoding)
    assert rows.names == ("w",)


WRONG = {
    "no such target": (lambda t: table(t, "rent"), "rent"),
    "a share of all": (lambda t: table(t, "kind", share=1.0), "share is 1.0"),
    "a negative share": (lambda t: table(t, "kind", share=-0.1), "share"),
    "nothing held out": (lambda t: table(t, "kind").X_held_out, "share=0.2"),
    "no such column": (lambda t: table(t, "kind").column("rent"), "rent"),
    "gaps in a column": (lambda t: table(t, "kind").column("size"), "missing in 20 of 200"),
}


@pytest.mark.parametrize(("make", "words"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told(flats, make, words):
    with pytest.raises((DataError, ValueError), match=words):
        make(flats)


def test_options_are_an_object_or_its_fields(flats):
    options = ColumnOptions(target="kind", missing="auto", unknown="zeros", ignore=["w"])
    seen = look(flats, options=options)
    assert seen.encoding == look(flats, "kind", unknown="zeros", ignore=["w"]).encoding
    assert seen.encoding == table(flats, "kind", options).encoding
    assert seen.encoding == Encoding.learn(flats, options=options)
    assert look(flats, "town", options, use=["w"]).columns[1].use == "the target"
    with pytest.raises(TypeError, match="columnss"):
        look(flats, "kind", columnss=["w"])
    with pytest.raises(TypeError, match="ColumnOptions"):
        look(flats, "kind", {"ignore": ["w"]})


LABELS = ["a", "b", "b", "b"]


def weights(column, balanced=False):
    frame = pd.DataFrame({"x": np.arange(4.0), "w": column, "kind": LABELS})
    rows = table(frame, "kind", ignore=["w"])
    return rows.weights("w", balanced=balanced)


def test_every_class_gets_the_same_weight_in_all():
    np.testing.assert_allclose(weights([2.0, 1.0, 1.0, 2.0], True), [3.0, 0.75, 0.75, 1.5])
    assert weights([1, 0, 2, 3]).tolist() == [1.0, 0.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("column", "word"),
    [
        (["x"] * 4, "text"),
        ([1.0, -1.0, 1.0, 1.0], "negative"),
        ([1.0, 1.0, np.nan, 1.0], "missing"),
        ([0.0] * 4, "zero"),
    ],
)
def test_weights_that_are_none_are_refused(column, word):
    with pytest.raises(ValueError, match=word):
        weights(column)


@given(st.integers(0, 1000), st.integers(0, 2**70), st.floats(0.01, 0.99))
def test_a_row_is_held_out_whatever_comes_after_it(piece, seed, share):
    drawn = held_out(piece, 500, seed, share)
    np.testing.assert_array_equal(drawn[:100], held_out(piece, 100, seed, share))
    # Six standard deviations of a binomial share of 500 rows.
    assert abs(drawn.mean() - share) < 6 * np.sqrt(share * (1 - share) / 500) + 1e-9


def test_held_out_rows_and_the_others_are_the_whole_and_know_their_lines(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,y\n" + "".join(f"{i},{i}\n" for i in range(1000)))
    parts = [Share(blocks(path, rows=97), 3, 0.3, out=out) for out in (True, False)]
    values = [np.concatenate([column(block, "a")[0] for block in part]) for part in parts]
    assert 200 < len(values[0]) < 400
    np.testing.assert_array_equal(np.sort(np.concatenate(values)), np.arange(1000))
    assert parts[0].fingerprint != parts[1].fingerprint
    for block in parts[0]:
        assert [block.place(i) for i in range(3)] == [
            f"line {int(v) + 2}" for v in column(block, "a")[0][:3]
        ]
