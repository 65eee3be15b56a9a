"""Columns as people have them become numbers: recognised, filled in, left out or refused."""

from __future__ import annotations

import datetime
import json
import pickle
import re
import warnings

import numpy as np
import polars as pl
import pytest

import adaline
from adaline.data import Encoding, blocks, fit, look, table
from adaline.errors import DataError, DataWarning
from exported import in_python, in_sqlite, text_of

N = 120
RNG = np.random.default_rng(3)
SHARE = RNG.uniform(5, 95, N).round(1).tolist()
SIZE = RNG.normal(size=N).round(3).tolist()
DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(k) for k in range(N)]
ANSWERS = ["Y", "Yes", "no", "yes ", "No", "YES", "N", "no"] * 15


def written(folder, columns: dict, name="t.csv", separator=","):
    """A CSV file with these columns, quoted where they must be."""
    pl.DataFrame({key: list(map(str, values)) for key, values in columns.items()}).write_csv(
        folder / name, separator=separator, quote_style="necessary"
    )
    return folder / name


def learn(source, target=None, **options) -> Encoding:
    """What is learned, without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return Encoding.learn(source, target, **options)


def encoded(encoding: Encoding, source) -> np.ndarray:
    return np.concatenate([encoding.encode(block) for block in encoding.prepare(source)])


# What a column is read as: texts, options, the reading, and the first numbers.
DE = [f"{k:,}".replace(",", ".") for k in range(700, 12_700, 100)]
READINGS = {
    "numbers": (SIZE, {}, "", SIZE[:2]),
    "percent": ([f"{v}%" for v in SHARE], {}, "number %", SHARE[:2]),
    "money": ([f"${100 * v:,.2f}" for v in SHARE], {}, "number $ ,.", [100 * SHARE[0]]),
    "kilograms": ([f"{v} kg" for v in SHARE], {}, "number kg", SHARE[:2]),
    "thousands with points": (DE, {}, "number .,", [700, 800, 900, 1000]),
    "three decimals": (["700", *(f"{1 + k / 1000:.3f}" for k in range(N))], {}, "number", [700, 1]),
    "a late thousand": ([*SHARE, "1,234.5"], {}, "number ,.", SHARE[:2]),
    "a ledger": ([f"({v})" if k % 40 == 0 else v for k, v in enumerate(SHARE)], {}, "", None),
    "dates": ([f"{d:%d/%m/%Y}" for d in DAYS], {}, "date dmy", [19723, 0, 0]),
    "dates by order": (["1/2/2024", "2/2/2024"] * 60, {"d": "date mdy"}, "date mdy", [19724]),
    "codes": (["01234", "99999", "10115"] * 40, {}, ("01234", "10115", "99999"), None),
    "codes as numbers": (["01234", "99999"] * 60, {"d": "number"}, "number", [1234, 99999]),
    "years": (["1977-1989", "1990-1999"] * 60, {}, ("1977-1989", "1990-1999"), None),
    "houses": (["136A", "12", "14"] * 40, {}, ("12", "136A", "14"), None),
    "digits as text": (["007", "008"] * 60, {"d": "text"}, ("007", "008"), [0, 1]),
    "question marks": (["?", *SIZE], {}, "", None),
    "house numbers": (["12", "12k", "14"] * 40, {}, ("12", "12k", "14"), None),
    "screens": (["4K", "8K"] * 60, {}, ("4K", "8K"), None),
    "rooms": (["12B", "7B", "9M"] * 40, {}, ("12B", "7B", "9M"), None),
    "temperatures": (["300 K", "310 K"] * 60, {}, ("300 K", "310 K"), None),
    "another letter": (["1.2M", "3X"] * 60, {}, ("1.2M", "3X"), None),
    "two units": (["1.5k kg", "2k kg"] * 60, {}, ("1.5k kg", "2k kg"), None),
    "few levels": (["1 %", "2 %"] * 58 + ["other"] * 4, {}, ("1 %", "2 %", "other"), None),
}


@pytest.mark.parametrize(("texts", "how", "wanted", "first"), READINGS.values(), ids=READINGS)
def test_columns_are_read_as_people_mean_them(tmp_path, texts, how, wanted, first):
    rest = [f"{k % 7}.5" for k in range(len(texts))]
    path = written(tmp_path, {"d": texts, "y": rest})
    encoding = learn(path, "y", read=how, missing="auto")
    (entry,) = encoding.inputs
    X = encoded(encoding, path)
    assert np.isfinite(X).all()
    if isinstance(wanted, tuple):
        assert entry.levels == wanted
    else:
        assert (entry.levels, entry.reading) == (None, wanted)
    if first is not None:
        column = X[0] if entry.is_date and len(entry.parts) > 1 else X[:, 0]
        np.testing.assert_allclose(column[: len(first)], first)


WARNED = {  # columns, and a word of the warning
    "counted": ({"a": range(N), "b": SIZE}, "'a' counts the rows"),
    "names": ({"a": [f"person {k}" for k in range(N)], "b": SIZE}, "120 different values"),
    "ids": ({"customer_id": RNG.permutation(10**6)[:N], "b": SIZE}, "a number of its own"),
    "large ids": ({"id": [2**53 + k for k in range(N)], "b": SIZE}, "its own in every row|2.53"),
    "many rare levels": ({"a": [f"r{k % 60}" for k in range(N)], "b": SIZE}, "none of them in 5"),
    "constant": ({"a": ["same"] * N, "b": SIZE}, "is 'same' in every row"),
    "nothing else": ({"id": range(N)}, "no other column"),
    "two notations": (
        {"a": [d if k % 2 else f"{d:%d Mar %Y}" for k, d in enumerate(DAYS)], "b": SIZE},
        "dates in several notations",
    ),
    "guessed order": ({"a": [f"0{k % 9 + 1}/02/2024" for k in range(N)], "b": SIZE}, "two orders"),
    "guessed mark": ({"a": ["1,234", "2,345"] * 60, "b": SIZE}, "read as a thousand"),
    "short years": ({"a": [f"{d:%d/%m/%y}" for d in DAYS], "b": SIZE}, "1969 to 2068"),
    "-999": ({"a": [-999 if k % 9 == 0 else v for k, v in enumerate(SHARE)]}, "-999 comes often"),
    "a stray": ({"a": [*SIZE[1:], "m2"], "b": SHARE}, "'m2' among numbers"),
    "a stray price": ({"a": [*(f"${v}" for v in SHARE[1:]), "Total"]}, r"'Total' among numbers"),
    "spellings": ({"a": ANSWERS, "b": SIZE}, "exact_levels"),
}


@pytest.mark.parametrize(("columns", "words"), WARNED.values(), ids=WARNED)
def test_what_is_left_out_or_guessed_is_told(tmp_path, columns, words):
    path = written(tmp_path, columns)
    with pytest.warns(DataWarning, match=words):
        Encoding.learn(path, missing="auto")
    seen = look(path)
    left_out = [f"{name!r} {why}" for name, why in seen.encoding.left_out]
    assert re.search(words, " ".join([*left_out, *seen.warnings]))


def test_what_the_user_names_is_used():
    frame = pl.DataFrame({"row": range(N), "name": [f"p{k}" for k in range(N)], "y": SIZE})
    assert learn(frame, "y", use=["row"]).names == ("row",)
    assert len(learn(frame, "y", columns=["row", "name"]).names) == N
    assert learn(frame, "y", ignore=["row"], use=["name"]).left_out == ()
    assert learn(np.column_stack([np.arange(N), SIZE])).names == ("x0", "x1")  # arrays as they are


def test_levels_are_sorted_and_measured_against_the_first():
    frame = pl.DataFrame(
        {"size": [1.5, 2.5, 3.5], "colour": ["red", "blue", "red"], "flag": [True, False, True]}
    )
    encoding = learn(frame)
    assert encoding.names == ("size", "colour=red", "flag=true")
    (block,) = blocks(frame)
    X = encoding.encode(block)
    assert X.tolist() == [[1.5, 1, 1], [2.5, 0, 0], [3.5, 1, 1]]
    assert X.flags.c_contiguous
    pink = pl.DataFrame({"size": [1.0], "colour": ["pink"], "flag": [True]})
    with pytest.raises(DataError, match="'colour' has 'pink' at row 0"):
        encoded(encoding, pink)
    assert encoded(learn(frame, unknown="zeros"), pink).tolist() == [[1, 0, 1]]
    with pytest.raises(DataError, match="'size' has 'large' at row 0, and held numbers"):
        encoded(encoding, frame.with_columns(size=pl.lit("large")))
    with pytest.raises(DataError, match="no column 'size'; did you mean 'sizes'"):
        encoded(encoding, frame.rename({"size": "sizes"}))
    swapped = frame.select("flag", "colour", "size")
    assert np.array_equal(encoded(encoding, swapped), X)


GAPS = pl.DataFrame(
    {"a": [1.0, None, 3.0, 8.0], "b": [1.0, 2.0, float("nan"), 4.0], "y": [1.0, 2.0, 3.0, None]}
)


def test_gaps_are_refused_left_out_or_filled_in():
    with pytest.raises(DataError, match=r"'a' has a missing value at row 1"):
        encoded(learn(GAPS, "y"), GAPS)
    dropped = learn(GAPS, "y", missing="drop")
    assert encoded(dropped, GAPS).tolist() == [[1, 1], [8, 4]]
    (block,) = blocks(GAPS)
    assert dropped.kept(block, "y").tolist() == [True, False, False, False]
    # A mean of three numbers is rounded a few times.
    filled = encoded(learn(GAPS, "y", missing="mean"), GAPS)
    np.testing.assert_allclose(filled, [[1, 1], [4, 2], [3, 7 / 3], [8, 4]], rtol=1e-15)
    text = pl.DataFrame({"w": ["a", None, "b"], "y": [1.0, 2.0, 3.0]})
    for missing in ("refuse", "mean"):
        with pytest.raises(DataError, match="'w' has a missing"):
            encoded(learn(text, "y", missing=missing), text)
    endless = pl.DataFrame({"a": [1.0, float("inf"), None], "y": [1.0, 2.0, 3.0]})
    for missing in ("refuse", "drop", "mean"):
        with pytest.raises(DataError, match=r"infinite|no value"):
            encoded(learn(endless, "y", missing=missing), endless)
    assert encoded(learn(endless, "y", missing="auto", na=["inf"]), endless).tolist() == [[1]] * 3


def test_auto_fills_gaps_marks_them_and_leaves_out_rows_without_a_target():
    gone = np.arange(N) % 8 == 0
    frame = pl.DataFrame(
        {
            "a": [None if g else v for g, v in zip(gone, SIZE, strict=True)],
            "w": [None if g else "xy"[i % 2] for i, g in enumerate(gone)],
            "none": pl.Series([None] * N, dtype=pl.Float64),
            "y": [None if i % 12 == 1 else v for i, v in enumerate(SHARE)],
        }
    )
    encoding = learn(frame, "y", missing="auto")
    assert encoding.names == ("a", "a is missing", "w=y", "w=(missing)")
    assert dict(encoding.left_out) == {"none": "has no value in any row"}
    (block,) = blocks(frame)
    assert encoding.kept(block, "y").sum() == N - 10
    (new,) = blocks(pl.DataFrame({"a": [None, 1.0], "w": [None, "z"]}))
    with pytest.raises(DataError, match="'z'"):
        encoding.encode(new)
    zeros = learn(frame, "y", missing="auto", unknown="zeros")
    assert zeros.encode(new).tolist() == [[zeros.inputs[0].mean, 1, 0, 1], [1, 0, 0, 0]]
    assert zeros.unknown_in(new) == {"w": 1}


def test_rare_levels_are_merged_where_levels_are_many():
    words = [f"w{k:02d}" for k in range(25) for _ in range(6 if k < 20 else 2)]
    frame = pl.DataFrame({"w": words, "x": SIZE + SIZE[:10]})
    encoding = learn(frame, missing="auto")
    assert encoding.inputs[0].merged == tuple(f"w{k:02d}" for k in range(20, 25))
    X = encoded(encoding, pl.DataFrame({"w": ["w22", "never seen", "w00"], "x": [0.0] * 3}))
    assert X[:, list(encoding.names).index("w=(other)")].tolist() == [1, 1, 0]
    assert not learn(frame).inputs[0].merged
    assert not learn(frame, missing="auto", rare=0).inputs[0].merged


@pytest.mark.parametrize("kind", ["frame", "csv"])
def test_spellings_are_merged_for_inputs_classes_new_rows_and_exports(kind, tmp_path):
    frame = pl.DataFrame({"a": ANSWERS, "x": SIZE, "y": [f" {a.strip().upper()}" for a in ANSWERS]})
    frame = frame.with_columns(z=pl.col("x") + 3.0 * pl.col("a").str.contains("(?i)y"))
    source = frame if kind == "frame" else written(tmp_path, frame.to_dict(as_series=False))
    encoding = learn(source, "z", columns=["a", "x"])
    assert encoding.names == ("a=no", "x")
    assert encoding.unknown_in(next(iter(encoding.prepare(source)))) == {}
    assert len(learn(source, "z", columns=["a"], exact_levels=True).names) == 6
    assert np.unique(table(source, "y").y).tolist() == ["NO", "YES"]
    model = fit(adaline.LeastSquares(), source, "z", encoding=encoding)
    new = pl.DataFrame({"a": ["YES", "No"], "x": [1.0, 1.0]})
    found = adaline.data.Prepared(encoding, model).predict(new)
    np.testing.assert_allclose(found, [4.0, 1.0])
    rows = frame.select("a", "x").to_dicts()
    expected = encoded(encoding, frame) @ model.coef_ + model.intercept_
    python = in_python(text_of(model, "python"))
    np.testing.assert_allclose([python["predict"](row) for row in rows], expected, rtol=1e-12)
    sql = [row["prediction"] for row in in_sqlite(text_of(model, "sql"), rows)]
    np.testing.assert_allclose(sql, expected, rtol=1e-12)


@pytest.mark.parametrize("mark", ["na", "-", "?", "low"])
def test_a_mark_among_numbers_may_be_a_level_of_another_column(tmp_path, mark):
    depth = [mark if i in (7, 31) else f"{i % 13}.5" for i in range(N)]
    columns = {"depth": depth, "grade": [mark, "mid", "high"] * 40, "y": [mark, "b"] * 60}
    path = written(tmp_path, columns)
    encoding = learn(path, "y", missing="auto")
    number, text = encoding.inputs
    assert number.levels is None
    assert set(text.levels) == {mark, "mid", "high"}
    assert encoding.na == ()
    assert np.allclose(encoded(encoding, path)[[7, 31], 0], number.mean)
    assert all(encoding.kept(block, "y") is None for block in encoding.prepare(path))
    everywhere = learn(path, "y", missing="auto", na=[mark])
    assert mark not in everywhere.inputs[1].levels
    assert len(table(path, "y", na=[mark]).X) == N // 2


def test_strange_texts_in_rows_to_predict_are_gaps_of_their_column_alone(tmp_path):
    columns = {"a": [k % 7 for k in range(N)], "grade": ["low", "mid"] * 60, "y": SIZE}
    encoding = learn(written(tmp_path, columns), "y", missing="auto", unknown="zeros")
    new = written(tmp_path, {"a": [1, "low", 3], "grade": ["low", "mid", "low"]}, "new.csv")
    forgiving, odd = encoding.forgiving(new)
    assert odd == {"a": ("low",)}
    X = encoded(forgiving, new)
    assert X.tolist() == [[1, 0], [encoding.inputs[0].mean, 1], [3, 0]]


def test_new_files_are_read_as_the_model_knows_its_columns(tmp_path):
    learned = {"sold": [f"{d:%m/%d/%Y}" for d in DAYS], "code": ["7", "8x"] * 60}
    encoding = learn(written(tmp_path, learned), missing="auto", unknown="zeros")
    digits = written(tmp_path, {**learned, "code": ["7", "8"] * 60}, "digits.csv")
    assert blocks(digits).kinds[1] == "number"
    assert set(encoded(encoding, digits)[:, -1]) == {0.0}  # text, of which 8 is unknown
    other = written(tmp_path, learned | {"sold": [str(d) for d in DAYS]}, "other.csv")
    with pytest.raises(DataError, match=r"held dates.*same way"):
        encoded(encoding, other)


def test_the_first_rows_with_values_say_how_a_column_is_written(tmp_path):
    late = [""] * 60 + [f"{d:%d/%m/%Y}" for d in DAYS[60:]]
    path = written(tmp_path, {"a": late, "y": SIZE})
    assert learn(blocks(path, rows=20), "y", missing="auto").inputs[0].reading == "date dmy"
    path = written(tmp_path, {"a": ["$1", "$2"] * 59 + ["9 kg"] * 2, "y": SIZE})
    assert learn(blocks(path, rows=20), "y", missing="auto").inputs[0].levels == (
        "$1",
        "$2",
        "9 kg",
    )


def test_dates_of_tables_are_days_and_so_is_a_target():
    frame = pl.DataFrame({"sold": DAYS, "at": [datetime.datetime(2024, 1, 1, 6)] * N, "y": SIZE})
    (block,) = blocks(frame)
    assert block.columns[0].values[:2].tolist() == [19723, 19724]
    assert set(block.columns[1].values) == {19723.25}
    names = learn(frame, "y", columns=["sold"]).names
    assert names[:4] == ("sold", "sold month=2", "sold month=3", "sold month=4")
    assert names[4:] == tuple(f"sold weekday={d:%a}" for d in DAYS[1:7])
    assert learn(frame[:20], "y", columns=["sold"]).names == ("sold",)
    lasted = pl.DataFrame({"a": [datetime.timedelta(hours=6 * k) for k in range(N)], "y": SIZE})
    assert encoded(learn(lasted, "y"), lasted)[:3, 0].tolist() == [0, 0.25, 0.5]
    for days in (DAYS, list(map(str, DAYS))):
        model = fit(
            adaline.LeastSquares(), pl.DataFrame({"x": range(N), "when": days}), "when", use=["x"]
        )
        assert model.encoding_.target.is_date
        assert model.intercept_ == pytest.approx(19723)


REFUSED = {  # columns, options, and a word of the message
    "other name": ({"size": SIZE}, {"read": {"sizes": "text"}}, "did you mean 'size'"),
    "no number": ({"a": ["x", "z"] * 60}, {"read": {"a": "number"}}, "cannot be read as 'number'"),
    "no such date": ({"a": ["x"] * N}, {"read": {"a": "date dmy"}}, "read as 'date dmy'"),
    "no date": ({"a": SIZE}, {"read": {"a": "date"}}, "cannot be read as dates"),
    "no notation": ({"a": SIZE}, {"read": {"a": "numbers"}}, "expected 'text', 'number', 'date'"),
    "many levels": (
        {"a": list(map(str, range(N)))},
        {"use": ["a"], "most_levels": 9},
        "more than 9",
    ),
    "lists": ({"a": [[1, 2]] * N}, {}, "neither numbers nor text"),
    "no mean": ({"a": pl.Series([None] * N, dtype=float)}, {"missing": "mean"}, "no value"),
    "late garbage": (
        {"a": [*SIZE[1:], "varies"]},
        {"use": ["a"], "read": {"a": "number"}},
        "varies",
    ),
    "no inputs": ({}, {}, "no columns beside"),
    "option": ({"a": SIZE}, {"mising": "auto"}, "mising is no option"),
}


@pytest.mark.parametrize(("columns", "options", "words"), REFUSED.values(), ids=REFUSED)
def test_what_makes_no_sense_is_refused(columns, options, words):
    frame = pl.DataFrame({**columns, "y": SIZE}, strict=False)
    with pytest.raises((DataError, ValueError, TypeError), match=words):
        learn(frame, "y", **options)


def test_an_encoding_is_plain_data_and_the_same_for_any_blocks_and_processes(tmp_path):
    columns = {"a": [*SHARE[1:], "?"], "d": DAYS, "w": ["x", "z "] * 60, "y": SIZE}
    path = written(tmp_path, columns)
    one, two = (
        learn(blocks(path, rows=30), "y", missing="auto", formula="a*w + d", jobs=jobs)
        for jobs in (1, 2)
    )
    assert one == two == Encoding.from_dict(json.loads(json.dumps(one.to_dict())))
    assert one.names == learn(path, "y", missing="auto", formula="a*w + d").names
    assert pickle.loads(pickle.dumps(one)) == one
    plain = one.to_dict()
    assert set(learn(pl.DataFrame({"a": SIZE})).to_dict()) == {"inputs", "missing", "unknown"}
    for wrong in (
        {"inputs": [{"nome": "a"}]},
        plain | {"missing": "guess"},
        plain | {"terms": ["log(other)"]},
        plain | {"terms": ["exp(a)"]},
    ):
        with pytest.raises(DataError):
            Encoding.from_dict(wrong)


def test_look_tells_what_fit_would_do(tmp_path):
    columns = {
        "": range(N),
        "share": [f"{v}%" for v in SHARE],
        "size": SIZE,
        "one": ["1"] * N,
        "y": [f"${v}" for v in SHARE],
    }
    path = written(tmp_path, columns)
    seen = look(path, "y")
    told = {column.name: (column.use, column.why) for column in seen.columns}
    assert told[""] == ("left out", "counts the rows")
    assert told["share"] == ("percent", "")
    assert told["one"] == ("left out", "is 1 in every row")
    assert told["y"] == ("the target, numbers in $", "")
    assert seen.encoding == learn(path, "y", missing="auto")
    assert seen.recognised == (("share", "percent"), ("y", "numbers in $"))
    assert seen.columns[2].different == len(set(SIZE))
    assert "left out: counts the rows" in str(seen)
    with pytest.warns(DataWarning, match="left out"):
        Encoding.learn(path, "y")
