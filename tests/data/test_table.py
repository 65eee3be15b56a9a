"""`table`: rows to learn from and rows held out, as arrays."""

from __future__ import annotations

import numpy as np
import pytest

from adaline import DataError
from adaline.data import ColumnOptions, Encoding, blocks, look, table

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
    "text as weights": (lambda t: table(t, "kind").weights("town"), "holds text"),
    "gaps in a column": (lambda t: table(t, "kind").column("size"), "missing in 20 of 200"),
}


@pytest.mark.parametrize(("make", "words"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told(flats, make, words):
    with pytest.raises((DataError, ValueError), match=words):
        make(flats)


def test_options_of_other_kinds_are_refused_by_name(flats):
    for option, value in {"share": "many", "seed": 0.5, "stratified": "yes"}.items():
        with pytest.raises((TypeError, ValueError), match=option):
            table(flats, "kind", **{option: value})


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
