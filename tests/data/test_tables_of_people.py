"""Tables as people have them: numbers of rows, percent and money, dates, gaps, new levels."""

from __future__ import annotations

import datetime
import gzip
from contextlib import nullcontext

import numpy as np
import polars as pl
import pytest

import adaline
from adaline.data import Encoding, blocks, fit, load, look, save
from adaline.errors import DataError, DataWarning

N = 120
RNG = np.random.default_rng(3)
SHARE = RNG.uniform(5, 95, N).round(1)
SIZE = RNG.normal(size=N).round(3)


def written(folder, text: dict[str, list[str]], name="t.csv"):
    """A CSV file with these columns of text."""
    rows = [
        ",".join(f'"{v}"' if "," in v else v for v in row)
        for row in zip(*text.values(), strict=True)
    ]
    path = folder / name
    path.write_text("\n".join([",".join(text), *rows]) + "\n", encoding="utf-8")
    return path


def encoded(encoding, source):
    return np.concatenate([encoding.encode(block) for block in encoding.prepare(source)])


@pytest.mark.parametrize("name", ["", "rownames", "id", "Unnamed: 0", "whatever"])
@pytest.mark.parametrize("first", [0, 1])
def test_a_column_that_counts_the_rows_is_left_out_and_told(tmp_path, name, first):
    text = {name: [str(first + i) for i in range(N)], "size": [f"{v}" for v in SIZE]}
    path = written(tmp_path, text | {"y": [f"{2 * v:.3f}" for v in SIZE]})
    with pytest.warns(DataWarning, match="counts the rows"):
        encoding = Encoding.learn(path, "y")
    assert encoding.names == ("size",)
    assert encoding.left_out == ((name, "counts the rows"),)
    kept = Encoding.learn(path, "y", use=[name])
    assert kept.names == (name, "size")
    assert Encoding.learn(path, "y", columns=[name, "size"]).names == (name, "size")


def test_names_and_numbers_of_things_are_left_out(recwarn):
    table = pl.DataFrame(
        {
            "customer_id": RNG.permutation(10**6)[:N],
            "name": [f"person {i}" for i in range(N)],
            "size": SIZE,
            "kind": ["a", "b"] * (N // 2),
        }
    )
    encoding = Encoding.learn(table)
    assert [name for name, _ in encoding.left_out] == ["customer_id", "name"]
    assert "120 different values in 120 rows" in dict(encoding.left_out)["name"]
    assert encoding.names == ("size", "kind=b")
    assert len(recwarn) == 1


def test_the_last_column_is_never_left_out():
    table = pl.DataFrame({"id": range(1, N + 1), "y": SIZE})
    with pytest.warns(DataWarning, match="no other column"):
        encoding = Encoding.learn(table, "y")
    assert encoding.names == ("id",)


def test_arrays_are_taken_as_they_are():
    X = np.column_stack([np.arange(1.0, N + 1), SIZE])
    assert Encoding.learn(X).names == ("x0", "x1")


def test_percent_and_money_are_numbers_and_so_is_a_target(tmp_path):
    money = [f"${v:,.2f}" for v in 100 * SHARE]
    path = written(tmp_path, {"share": [f"{v}%" for v in SHARE], "price": money})
    model = fit(adaline.LeastSquares(), path, "price")
    np.testing.assert_allclose(model.coef_, [100.0])
    assert model.encoding_.target.reading == "number $ ,."
    assert [entry.reading for entry in model.encoding_.inputs] == ["number %"]
    save(model, tmp_path / "m.adaline")
    loaded = load(tmp_path / "m.adaline")
    np.testing.assert_allclose(loaded.predict(path), 100 * SHARE)
    plain = written(tmp_path, {"share": [f"{v}" for v in SHARE]}, "plain.csv")
    with pytest.raises(DataError, match="percent"):  # 0.126, or 12.6?
        loaded.predict(plain)


@pytest.mark.parametrize("name", ["year", "customer_id"])
def test_numbers_that_a_typed_table_keeps_as_text_are_numbers_where_text_would_be_left_out(name):
    """Years in quotes in JSON, numbers stored as text in Excel; numbers of customers stay out."""
    table = pl.DataFrame({name: [f"{1565 + 5 * k}" for k in range(N)], "b": SIZE})
    with pytest.warns(DataWarning, match="numbers only" if name == "year" else "left out"):
        encoding = Encoding.learn(table, missing="auto")
    assert encoding.names == (("year", "b") if name == "year" else ("b",))
    if name == "year":
        assert encoded(encoding, table)[:2, 0].tolist() == [1565.0, 1570.0]
    few = pl.DataFrame({"group": ["1", "2", "3"] * (N // 3), "b": SIZE})
    assert Encoding.learn(few, missing="auto").inputs[0].levels == ("1", "2", "3")


@pytest.mark.filterwarnings("ignore::adaline.DataWarning")
def test_units_after_numbers_are_left_aside_and_mixed_ones_stay_text(tmp_path):
    kilos = [f"{v} kg" for v in SHARE]
    mixed = [f"{v} kg" if k % 2 else f"{1000 * v:.0f} g" for k, v in enumerate(SHARE)]
    small = {"a": kilos, "b": mixed, "c": ["10 min", "3.125 min"] * (N // 2)}
    path = written(tmp_path, small)
    encoding = Encoding.learn(path, missing="auto", use=["b"], most_levels=200)
    assert [entry.reading for entry in encoding.inputs] == ["number kg", "", "number min"]
    assert encoding.inputs[1].levels is not None
    np.testing.assert_array_equal(encoded(encoding, path)[:, 0], SHARE)
    assert encoded(encoding, path)[1, -1] == 3.125  # three decimals are no thousands of minutes


def test_dates_and_numbers_in_several_notations_are_left_out_by_their_right_name(tmp_path):
    day = [datetime.date(2023, 1, 1) + datetime.timedelta(days=k) for k in range(N)]
    dates = [f"{d}" if k % 2 else f"{d.day} Mar {d.year}" for k, d in enumerate(day)]
    mass = [f"{v} kg" if k % 2 else f"{1000 * v:.0f} g" for k, v in enumerate(SHARE)]
    names = [f"shop {k}" for k in range(N)]
    path = written(tmp_path, {"a": dates, "b": mass, "c": names, "d": [f"{v}" for v in SIZE]})
    found = dict(look(path).encoding.left_out)
    assert found["a"] == "holds dates in several notations"
    assert found["b"] == "holds numbers in several notations or units"
    assert found["c"] == "has 120 different values in 120 rows"


def test_question_marks_are_gaps_however_many(tmp_path):
    for share in (0.05, 0.15, 0.6):
        gone = RNG.random(N) < share
        gone[:2] = True, False
        text = ["?" if g else f"{v}" for g, v in zip(gone, SIZE, strict=True)]
        path = written(tmp_path, {"a": text, "b": [f"{v}" for v in SHARE]})
        encoding = Encoding.learn(path, missing="auto")
        X = encoded(encoding, path)
        assert encoding.names[0] == "a"
        assert encoding.inputs[0].gaps == (gone.sum() >= max(5, 0.05 * N))
        np.testing.assert_allclose(X[gone, 0], SIZE[~gone].mean())
        assert X[~gone, 0].tolist() == SIZE[~gone].tolist()
        if encoding.inputs[0].gaps:
            assert X[:, 1].tolist() == gone.astype(float).tolist()
            assert encoding.names[1] == "a is missing"


def test_a_mark_that_comes_late_in_the_file_is_a_gap_and_garbage_is_refused(tmp_path):
    text = [f"{v}" for v in RNG.normal(size=3000).round(3)]
    for mark in ("?", "n/a"):
        path = written(tmp_path, {"a": [*text, mark], "b": [*text, "1.5"]})
        encoding = Encoding.learn(path, missing="auto")
        assert encoded(encoding, path).shape == (3001, 2)
    path = written(tmp_path, {"a": [*text, "varies"], "b": [*text, "1.5"]})
    with pytest.raises(
        DataError, match=r"line 3002 has 'varies' .*na=\['varies'\].*read={'a': 'text'}"
    ):
        encoded(Encoding.learn(path, missing="drop"), path)
    encoding = Encoding.learn(path, missing="auto", na=["varies"])
    assert np.isfinite(encoded(encoding, path)).all()
    with pytest.warns(DataWarning, match="'a' has .* different values"):
        Encoding.learn(path, read={"a": "text"}, most_levels=10)


def test_numbers_of_stations_with_a_few_letters_are_codes(tmp_path):
    few = [f"{1000 + k % 20}" for k in range(110)] + ["c118", "c168", "c118", "c203", "c168"]
    path = written(tmp_path, {"station": few, "y": [f"{k % 7}" for k in range(115)]})
    encoding = Encoding.learn(path, "y", missing="auto", rare=0)
    assert {"c118", "c168", "1003"} <= set(encoding.inputs[0].levels)
    one = ["m2", *few[:110]]
    path = written(tmp_path, {"size": one, "y": [f"{k % 7}" for k in range(111)]})
    with pytest.warns(DataWarning, match="'m2' among numbers"):
        assert Encoding.learn(path, "y", missing="auto").inputs[0].marks == ("m2",)


@pytest.mark.parametrize("form", ["({})", "−{}", "{}-"])
def test_few_negative_numbers_of_a_ledger_are_no_gaps(tmp_path, form):
    values = [round(v, 2) for v in RNG.uniform(10, 90, 300)]
    text = [form.format(v) if k % 40 == 0 else f"{v}" for k, v in enumerate(values)]
    text = [f"{t}" for t in text]
    path = written(tmp_path, {"a": text, "b": [f"{k % 7}" for k in range(300)]})
    encoding = Encoding.learn(path, missing="auto")
    signs = [-1 if k % 40 == 0 else 1 for k in range(300)]
    assert encoded(encoding, path)[:, 0].tolist() == [
        s * v for s, v in zip(signs, values, strict=True)
    ]


def test_a_text_column_that_is_empty_at_first_is_text_and_a_number_is_a_number(tmp_path):
    empty = [""] * 1500
    text = {
        "w": [*empty, *(["red", "blue"] * 50)],
        "n": [*empty, *(f"{k % 7}.5" for k in range(100))],
    }
    path = written(tmp_path, text | {"y": [f"{k % 11}" for k in range(1600)]})
    encoding = Encoding.learn(path, "y", missing="auto")
    assert encoding.names == ("w=red", "w=(missing)", "n", "n is missing")


def test_codes_stay_text_and_keep_their_zeros(tmp_path):
    codes = ["01234", "99999", "10115"] * 40
    years = ["1977-1989", "1990-1999", "2000-2010"] * 40
    house = ["136A", "12", "14"] * 40
    path = written(
        tmp_path,
        {"zip": codes, "years": years, "house": house, "part": ["0301-551", "0301-552"] * 60},
    )
    encoding = Encoding.learn(path)
    assert encoding.inputs[0].levels == ("01234", "10115", "99999")
    assert all(entry.levels is not None for entry in encoding.inputs)
    numbers = Encoding.learn(path, read={"zip": "number"})
    assert encoded(numbers, path)[0, 0] == 1234.0


def test_a_text_column_of_digits_only_is_read_as_the_model_knows_it(tmp_path):
    path = written(tmp_path, {"code": ["7", "8", "x"] * 40, "y": [f"{v}" for v in SIZE]})
    model = fit(adaline.LeastSquares(), path, "y")
    save(model, tmp_path / "m.adaline")
    new = written(tmp_path, {"code": ["7", "8", "7"]}, "new.csv")
    assert blocks(new).kinds == ("number",)
    told = load(tmp_path / "m.adaline").predict(new)
    assert told[0] == told[2] != told[1]
    table = pl.DataFrame({"code": [7, 8, 7]})
    assert np.array_equal(load(tmp_path / "m.adaline").predict(table), told)
    zeros = written(tmp_path, {"code": ["007", "008"] * 60, "y": [f"{v}" for v in SIZE]}, "z.csv")
    asked = Encoding.learn(zeros, "y", read={"code": "text"})
    assert asked.inputs[0].levels == ("007", "008")
    assert set(encoded(asked, zeros)[:, 0]) == {0.0, 1.0}


def test_dates_are_days_with_months_and_weekdays_where_rows_are_many(tmp_path):
    first = datetime.date(2024, 1, 1)
    days = [first + datetime.timedelta(k) for k in range(N)]
    path = written(tmp_path, {"sold": [f"{d:%d/%m/%Y}" for d in days]})
    encoding = Encoding.learn(path)
    assert encoding.inputs[0].reading == "date dmy"
    assert encoding.names[:4] == ("sold", "sold month=2", "sold month=3", "sold month=4")
    assert encoding.names[4:] == tuple(
        f"sold weekday={d}" for d in ("Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    )
    X = encoded(encoding, path)
    assert X[:, 0].tolist() == [float((d - datetime.date(1970, 1, 1)).days) for d in days]
    assert X[:, 1].tolist() == [float(d.month == 2) for d in days]
    assert X[:, 9].tolist() == [float(d.weekday() == 6) for d in days]
    few = Encoding.learn(pl.DataFrame({"sold": days[:20]}))
    assert few.names == ("sold",)
    parquet = tmp_path / "t.parquet"
    pl.DataFrame({"sold": days, "at": [datetime.datetime(2024, 1, 1, 6)] * N}).write_parquet(
        parquet
    )
    block = next(iter(blocks(parquet)))
    assert block.columns[0].values.tolist() == X[:, 0].tolist()
    assert set(block.columns[1].values) == {19723.25}
    assert np.array_equal(encoded(encoding, pl.read_parquet(parquet)), X)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_date_target_is_a_number_of_days(tmp_path):
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(int(v)) for v in SHARE]
    for table in (
        pl.DataFrame({"x": SHARE, "when": days}),
        pl.DataFrame({"x": SHARE, "when": [str(d) for d in days]}),
    ):
        model = fit(adaline.LeastSquares(), table, "when")
        assert model.encoding_.target.is_date
        assert abs(model.predict([[50.0]])[0] - 19723 - 50) < 1


def test_an_order_of_day_and_month_that_is_a_guess_is_told():
    table = pl.DataFrame({"d": [f"0{k}/02/2024" for k in range(1, 10)] * 2, "x": SIZE[:18]})
    with pytest.warns(DataWarning, match="day before month"):
        encoding = Encoding.learn(table)
    assert encoding.inputs[0].reading == "date dmy"
    asked = Encoding.learn(table, read={"d": "date mdy"})
    assert asked.inputs[0].reading == "date mdy"
    with pytest.warns(DataWarning, match="1,234 was read as a thousand"):
        Encoding.learn(pl.DataFrame({"d": ["1,234", "2,345"] * 9, "x": SIZE[:18]}))


def test_minus_999_is_told_and_not_changed():
    values = np.where(np.arange(N) % 10 == 0, -999.0, SHARE)
    with pytest.warns(DataWarning, match="-999 comes often"):
        encoding = Encoding.learn(pl.DataFrame({"a": values, "b": SIZE}))
    assert encoding.inputs[0].mean is None
    asked = Encoding.learn(pl.DataFrame({"a": values, "b": SIZE}), missing="auto", na=["-999"])
    assert asked.names == ("a", "a is missing", "b")
    np.testing.assert_allclose(asked.inputs[0].mean, values[values > 0].mean())


def test_minus_999_is_told_where_all_other_numbers_are_positive():
    """The range of the others may be wide: incomes of 900 to 9000."""
    income = np.where(np.arange(N) % 10 == 0, -999.0, 900 + 80.0 * np.arange(N))
    with pytest.warns(DataWarning, match="-999 comes often"):
        Encoding.learn(pl.DataFrame({"a": income, "b": SIZE}))


THOUSANDS = [f"{int(k):,}" for k in np.linspace(700, 9700, N)]


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("y", ["2,5", "25"])
def test_points_between_thousands_are_no_decimals(tmp_path, separator, y):
    """987 and 1.234 in one column are 987 and 1234, as numbers are written in German."""
    path = tmp_path / "t.csv"
    lines = [separator.join((a.replace(",", "."), f"{k}{y}")) for k, a in enumerate(THOUSANDS)]
    path.write_text("\n".join([f"a{separator}y", *lines]) + "\n", encoding="utf-8")
    told = "1.234 was read as a thousand and more"
    sure = "," in y  # the file has decimal commas
    with nullcontext() if sure else pytest.warns(DataWarning, match=told):
        encoding = Encoding.learn(path, "y")
    assert encoding.inputs[0].reading == "number .,"
    np.testing.assert_array_equal(
        encoded(encoding, path)[:, 0], [float(a.replace(",", "")) for a in THOUSANDS]
    )


def test_three_decimals_beside_few_whole_numbers_are_read_as_written_and_told(tmp_path):
    values = [f"{k / 1000:.3f}" for k in range(1001, 1001 + N - 1)]
    path = written(tmp_path, {"a": ["700", *values], "b": [f"{v}" for v in SIZE]})
    with pytest.warns(DataWarning, match="1.234 was read as 1.234, not as a thousand"):
        encoding = Encoding.learn(path)
    assert encoded(encoding, path)[:2, 0].tolist() == [700.0, 1.001]
    years = ["12", "11", "10", "9", "10.949"] * (N // 5)  # gaps filled in by a mean
    for a in (["7", *values], years):
        plain = written(tmp_path, {"a": a, "b": [f"{v}" for v in SIZE]}, "u.csv")
        assert Encoding.learn(plain).inputs[0].reading == ""


@pytest.mark.parametrize(
    ("text", "large", "value"), [("{:.2f}", "1,234.50", 1234.5), ("{:.0f}", "12,345", 12345.0)]
)
@pytest.mark.filterwarnings("ignore::adaline.DataWarning")
def test_a_few_large_numbers_with_thousands_are_numbers_and_no_gaps(tmp_path, text, large, value):
    a = [text.format(s) for s in SHARE]
    a[40] = large
    path = written(tmp_path, {"a": a, "b": [f"{v}" for v in SIZE]})
    encoding = Encoding.learn(path, missing="auto")
    assert encoding.names == ("a", "b")
    assert encoded(encoding, path)[40, 0] == value


@pytest.mark.parametrize("name", ["price", "sold", "size"])
def test_a_model_rejects_files_that_write_its_numbers_in_another_way(name, tmp_path):
    """Learned from $1,234.50 and 1/31/2023, and asked about 1.234,50 $ and 2023-01-31."""
    price = [f"{1000 + 10 * v:,.2f}" for v in SHARE]
    day = [datetime.date(2023, 1, 1) + datetime.timedelta(days=k) for k in range(N)]
    learned = {
        "price": [f"${p}" for p in price],
        "sold": [f"{d.month}/{d.day}/{d.year}" for d in day],
        "size": [p.replace(",", "").removesuffix("0") for p in price],
    }
    german = [p.replace(",", "_").replace(".", ",").replace("_", ".") for p in price]
    asked = {
        "price": [f"{p} $" for p in german],
        "sold": [f"{d}" for d in day],
        "size": german,
    }
    a, b = written(tmp_path, learned), tmp_path / "b.csv"
    rows = [";".join(row) for row in zip(*asked.values(), strict=True)]
    b.write_text("\n".join(["price;sold;size", *rows]) + "\n", encoding="utf-8")
    encoding = Encoding.learn(a, missing="auto", unknown="zeros", columns=[name])
    with pytest.raises(DataError, match=f"'{name}'.*same way"):
        encoded(encoding, b)
    encoding = Encoding.learn(a, missing="auto", unknown="zeros")
    euros = written(tmp_path, {**learned, "price": [f"€{p}" for p in price]}, "c.csv")
    assert encoding.forgiving(euros)[1] == {}  # no value is a price in dollars: nothing to forgive
    with pytest.raises(DataError, match="held numbers in \\$"):
        encoded(encoding, euros)


@pytest.mark.parametrize(
    ("texts", "words", "reading"),
    [
        ([f"${s}" for s in SHARE], "'Total' among numbers in \\$", "number $"),
        ([f"{s}%" for s in SHARE], "'Total' among percent", "number %"),
        ([f"2023-01-{1 + k % 28:02d}" for k in range(N)], "'Total' among dates", "date ymd"),
    ],
)
@pytest.mark.filterwarnings("ignore::adaline.DataWarning")
def test_one_text_among_prices_or_dates_is_a_gap_as_it_is_among_numbers(
    tmp_path, texts, words, reading
):
    a = [*texts[:-1], "Total"]
    b = [f"{v}" for v in SIZE]
    tables = [written(tmp_path, {"a": a, "b": b}), pl.DataFrame({"a": a, "b": b})]
    for table in tables:
        with pytest.warns(DataWarning, match=words):
            encoding = Encoding.learn(table, missing="auto")
        assert encoding.inputs[0].reading == reading
        assert (encoding.na, encoding.inputs[0].marks) == ((), ("Total",))
        assert np.isfinite(encoded(encoding, table)).all()
    assert Encoding.learn(tables[0], missing="refuse", use=["a"]).inputs[0].levels is not None


def test_few_texts_among_few_levels_stay_levels():
    table = pl.DataFrame({"a": ["1 %", "2 %", "3 %"] * 39 + ["other"] * 3, "b": SIZE})
    assert Encoding.learn(table, missing="auto").inputs[0].levels == ("1 %", "2 %", "3 %", "other")


def test_a_row_of_totals_that_is_kept_is_doubted(tmp_path):
    sums = {"b": f"{sum(SHARE):.1f}", "y": f"{2 * sum(SHARE):.1f} €"}
    table = {
        "shop": [*(f"shop {k % 9}" for k in range(N)), "Total"],
        "a": [*(f"{v}" for v in SIZE), ""],
        "b": [*(f"{v}" for v in SHARE), sums["b"]],
        "y": [*(f"{2 * v:.1f} €" for v in SHARE), sums["y"]],
    }
    path = blocks(written(tmp_path, table), keep_total=True)
    told = "the last row has the sum of all rows above"
    for asked, name in ((None, "b"), ("b", "b"), ("y", "b")):
        with pytest.warns(DataWarning, match=f"'{name}': {told}"):
            Encoding.learn(path, asked, missing="auto")
    with pytest.warns(DataWarning, match=f"'b': {told}"):
        Encoding.learn(path, "y", columns=["a"], missing="auto")
    assert any(told in warning for warning in look(path).warnings)
    whole = {name: values[:-1] for name, values in table.items()}
    assert not any(told in warning for warning in look(written(tmp_path, whole)).warnings)


@pytest.mark.filterwarnings("ignore:rounding has left no digit")
def test_auto_fills_gaps_marks_them_and_leaves_out_rows_without_a_target():
    gone = np.arange(N) % 8 == 0
    table = pl.DataFrame(
        {
            "a": [None if g else v for g, v in zip(gone, SIZE, strict=True)],
            "w": [None if g else "xy"[i % 2] for i, g in enumerate(gone)],
            "one": ["same"] * N,
            "none": pl.Series([None] * N, dtype=pl.Float64),
            "two": [2.0] * N,
            "y": [None if i % 12 == 1 else float(v) for i, v in enumerate(SHARE)],
        }
    )
    with pytest.warns(DataWarning) as told:
        model = fit(adaline.LeastSquares(), table, "y", missing="auto")
    encoding = model.encoding_
    assert encoding.names == ("a", "a is missing", "w=y", "w=(missing)")
    assert dict(encoding.left_out).keys() == {"one", "none", "two"}
    assert "'two' is 2 in every row" in str(told[0].message)
    (block,) = blocks(table)
    assert encoding.kept(block, "y").sum() == N - 10
    new = pl.DataFrame({"a": [None, 1.0], "w": [None, "z"]}, schema={"a": float, "w": str})
    (block,) = blocks(new)
    with pytest.raises(DataError, match="'z'"):
        encoding.encode(block)
    zeros = Encoding.learn(table, "y", columns=["a", "w"], missing="auto", unknown="zeros")
    assert zeros.encode(block).tolist() == [[zeros.inputs[0].mean, 1, 0, 1], [1, 0, 0, 0]]
    assert zeros.unknown_in(block) == {"w": 1}


def test_rare_levels_are_merged_where_levels_are_many():
    words = [f"w{k:02d}" for k in range(25) for _ in range(6 if k < 20 else 2)]
    table = pl.DataFrame({"w": words, "x": RNG.normal(size=len(words))})
    encoding = Encoding.learn(table, missing="auto")
    entry = encoding.inputs[0]
    assert entry.merged == tuple(f"w{k:02d}" for k in range(20, 25))
    assert entry.levels[-1] == "(other)"
    X = encoded(encoding, pl.DataFrame({"w": ["w22", "never seen", "w00"], "x": [0.0] * 3}))
    assert X[:, list(encoding.names).index("w=(other)")].tolist() == [1, 1, 0]
    assert not Encoding.learn(table).inputs[0].merged
    assert not Encoding.learn(table, missing="auto", rare=0).inputs[0].merged


def test_many_levels_of_which_all_are_rare_are_left_out():
    """Rings of 60 birds, each seen twice: indicators of them would only know the birds again."""
    table = pl.DataFrame({"bird": [f"ring {k % 60}" for k in range(N)], "b": SIZE})
    with pytest.warns(DataWarning, match="'bird' has 60 different values, none of them in 5 rows"):
        encoding = Encoding.learn(table, missing="auto")
    assert encoding.names == ("b",)
    assert len(Encoding.learn(table, missing="auto", use=["bird"]).names) == 60
    assert len(Encoding.learn(table, missing="auto", rare=2).names) == 60
    assert len(Encoding.learn(table).names) == 60


def test_overrides_of_columns_that_are_not_there_or_not_so_are_refused():
    table = pl.DataFrame({"size": ["a", "b"] * 9, "x": SIZE[:18]})
    with pytest.raises(DataError, match=r"'sizes'.*did you mean 'size'"):
        Encoding.learn(table, read={"sizes": "text"})
    with pytest.raises(DataError, match="'a', which cannot be read as a number"):
        Encoding.learn(table, read={"size": "number"})
    with pytest.raises(DataError, match="cannot be read as 'date dmy'"):
        Encoding.learn(table, read={"size": "date dmy"})
    with pytest.raises(ValueError, match="expected 'text', 'number', 'date'"):
        Encoding.learn(table, read={"size": "numbers"})
    with pytest.raises(DataError, match="numbers, which cannot be read as dates"):
        Encoding.learn(table, read={"x": "date"})
    assert Encoding.learn(table, read={"x": "text"}, use=["x"]).inputs[1].levels is not None


def test_processes_and_blocks_change_nothing(tmp_path):
    gone = RNG.random(N) < 0.2
    path = written(
        tmp_path,
        {
            "row": [str(i) for i in range(N)],
            "a": ["?" if g else f"{v}%" for g, v in zip(gone, SHARE, strict=True)],
            "b": [f"{v}" for v in SIZE],
            "d": [f"2024-0{1 + i % 9}-11" for i in range(N)],
            "w": ["xyz"[i % 3] for i in range(N)],
            "y": [f"€{v}" for v in SHARE],
        },
    )
    options = {"missing": "auto", "use": ["row"]}
    one = Encoding.learn(blocks(path, rows=30), "y", **options)
    two = Encoding.learn(blocks(path, rows=30), "y", jobs=2, **options)
    whole = Encoding.learn(path, "y", **options)
    assert one == two
    assert one.names == whole.names
    assert one.to_dict() == Encoding.from_dict(one.to_dict()).to_dict()
    packed = tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert Encoding.learn(packed, "y", **options) == whole


def test_the_plain_data_of_an_encoding_has_only_what_is_not_empty():
    table = pl.DataFrame({"size": [1.5, 4.0, 3.0], "colour": ["red", "blue", "green"]})
    plain = Encoding.learn(table).to_dict()
    entry = {"name": "colour", "levels": ["blue", "green", "red"], "mean": None}
    assert plain["inputs"][1] == entry
    assert set(plain) == {"inputs", "missing", "unknown"}


@pytest.mark.parametrize("options", [{"read": {"y": "text"}}, {"na": ["?"]}])
def test_a_target_of_text_is_not_called_numbers(options):
    table = pl.DataFrame({"a": SIZE, "y": ["yes", "no"] * (N // 2)})
    assert look(table, "y", missing="auto", **options).columns[1].use == "the target"


@pytest.mark.filterwarnings("ignore::adaline.DataWarning")
def test_look_tells_what_fit_would_do(tmp_path):
    path = written(
        tmp_path,
        {
            "": [str(i) for i in range(N)],
            "share": [f"{v}%" for v in SHARE],
            "size": [f"{v}" for v in SIZE],
            "inches": [f"{v * 2.54:.5f}" for v in SIZE],
            "kind": ["a", "b"] * (N // 2),
            "one": ["1"] * N,
            "y": [f"${v}" for v in SHARE],
        },
    )
    found = look(path, "y")
    told = {column.name: (column.use, column.why) for column in found.columns}
    assert told[""] == ("left out", "counts the rows")
    assert told["share"] == ("percent", "")
    assert told["inches"] == ("numbers", "nearly the same as 'size'")
    assert told["one"] == ("left out", "is 1 in every row")
    assert told["y"] == ("the target, numbers in $", "")
    assert found.encoding == Encoding.learn(path, "y", missing="auto")
    assert found.recognised == (("share", "percent"), ("y", "numbers in $"))
    assert "left out: counts the rows" in str(found)


@pytest.mark.parametrize(("rows", "told"), [(2, ""), (3, "nearly the same as 'first'")])
def test_rare_columns_that_meet_in_a_few_rows_by_chance_are_not_alike(tmp_path, rows, told):
    rare = ["1" if i < rows else "0" for i in range(N)]
    columns = {"first": rare, "second": rare, "y": [f"{v}" for v in SIZE]}
    path = written(tmp_path, columns)
    assert {column.name: column.why for column in look(path, "y").columns}["second"] == told
