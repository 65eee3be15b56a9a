"""Formulas: what they mean, what they refuse, and that files, streams and exports know them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adaline
from adaline.data import Encoding, Prepared, blocks, fit
from adaline.errors import DataError
from exported import InC, in_python, in_sqlite, text_of

FORMULA = "y ~ log(size)*garden + rooms:size + sqrt(size) + poly(rooms, 3) + `odd name`"


@pytest.fixture
def frame(rng):
    n = 200
    return pl.DataFrame(
        {
            "size": rng.uniform(1.0, 9.0, n),
            "rooms": rng.integers(1, 6, n).astype(float),
            "garden": rng.choice(["none", "small", "large"], n),
            "odd name": rng.standard_normal(n),
            "y": rng.standard_normal(n),
        }
    )


def encoded(encoding, frame):
    return np.concatenate([encoding.encode(b) for b in encoding.prepare(blocks(frame))])


def terms_of(formula: str) -> tuple[str, ...]:
    names = {name: [1.0, 2.0] for name in ("a", "b", "c", "b c")}
    return Encoding.learn(pl.DataFrame(names | {"y": [1.0, 2.0]}), "y", formula=formula).terms


def test_columns_of_a_formula_are_what_it_says(frame):
    encoding = Encoding.learn(frame, "y", formula=FORMULA)
    size, rooms = frame["size"].to_numpy(), frame["rooms"].to_numpy()
    small = (frame["garden"] == "small").to_numpy().astype(float)
    expected = {
        "log(size)": np.log(size),
        "garden=small": small,
        "log(size):garden=small": np.log(size) * small,
        "rooms:size": rooms * size,
        "sqrt(size)": np.sqrt(size),
        "rooms": rooms,
        "rooms^2": rooms**2,
        "rooms^3": rooms * rooms * rooms,
        "odd name": frame["odd name"].to_numpy(),
    }
    X = encoded(encoding, frame)
    assert len(encoding.names) == X.shape[1]
    for name, values in expected.items():
        assert np.array_equal(X[:, encoding.names.index(name)], values)


@pytest.mark.parametrize(
    ("formula", "terms"),
    [
        ("a + b", ("a", "b")),
        ("~ a", ("a",)),
        ("y ~ . - b", ("a", "c", "`b c`")),
        ("a*b", ("a", "b", "a:b")),
        ("a*b*c", ("a", "b", "a:b", "c", "a:c", "b:c", "a:b:c")),
        (". + a:b", ("a", "b", "c", "`b c`", "a:b")),
        ("poly(a,2) + a^2", ("a", "a^2")),
        ("`b c` + log(`b c`)", ("`b c`", "log(`b c`)")),
    ],
)
def test_the_language(formula, terms):
    assert terms_of(formula) == terms


@given(st.text("ab+-:*^().,~` 13log\n", max_size=20))
def test_any_text_is_a_formula_or_a_sentence(text):
    try:
        terms = terms_of(text)
    except DataError:
        return
    assert terms_of(" + ".join(terms)) == terms


def test_a_logarithm_of_zero_names_row_and_column(frame):
    bad = frame.with_columns(size=pl.when(pl.int_range(pl.len()) == 7).then(0.0).otherwise("size"))
    encoding = Encoding.learn(bad, "y", formula="log(size)")
    with pytest.raises(DataError, match=r"'size' is 0 at row 7"):
        encoded(encoding, bad)
    with pytest.raises(DataError, match="needs numbers, and 'garden' is text"):
        Encoding.learn(frame, "y", formula="log(garden)")
    with pytest.raises(DataError, match="before ~"):
        Encoding.learn(frame, "y", formula="z ~ size")
    with pytest.raises(DataError, match="among its terms"):
        Encoding.learn(frame, "y", formula="log(y)")
    with pytest.raises(DataError, match="both given"):
        Encoding.learn(frame, "y", formula="size", columns=["size"])


def test_files_streams_explanations_and_exports_know_the_formula(frame, tmp_path):
    model = fit(adaline.Ridge(1.0), frame, "y", formula=FORMULA)
    adaline.save(model, tmp_path / "m.adaline")
    back = adaline.load(tmp_path / "m.adaline")
    told = back.predict(frame)
    assert np.array_equal(told, Prepared(model.encoding_, model).predict(frame))
    found = adaline.explain(back, frame)
    assert "log(size):garden" in found.names
    assert np.array_equal(found.score, told)
    rows = frame.drop("y").to_dicts()
    module = in_python(text_of(back, "python"))
    assert np.allclose([module["predict"](row) for row in rows], told, rtol=1e-12)
    sql = in_sqlite(text_of(back, "sql"), rows)
    assert np.allclose([row["prediction"] for row in sql], told, rtol=1e-12)
    numbers = fit(adaline.Ridge(1.0), frame, "y", formula="log(size) + rooms:size + poly(rooms, 3)")
    names = [entry.name for entry in numbers.encoding_.inputs]
    call = InC(text_of(numbers, "c"), tmp_path, len(names))
    ours = Prepared(numbers.encoding_, numbers).predict(frame)
    assert np.allclose([call([row[n] for n in names])[1][0] for row in rows], ours, rtol=1e-12)
    zero = dict(rows[0], size=0.0)
    assert in_sqlite(text_of(back, "sql"), [zero])[0]["prediction"] is None
    assert np.isnan(call([zero[n] for n in names])[1][0])
    with pytest.raises(ValueError, match=r"math|expected|missing"):
        module["predict"](zero)


def test_gaps_keep_their_indicator(rng):
    frame = pl.DataFrame(
        {
            "size": np.where(rng.random(200) < 0.3, np.nan, rng.uniform(1, 9, 200)),
            "y": rng.standard_normal(200),
        }
    )
    encoding = Encoding.learn(frame, "y", missing="auto", formula="log(size)")
    assert encoding.names == ("log(size)", "size is missing")
    assert encoded(encoding, frame).shape == (200, 2)
