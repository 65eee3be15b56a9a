"""Numbers and dates as people write them: what is read, what stays text, and that writing a column
in a notation changes nothing but how it looks."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaline.data import Encoding, blocks
from adaline.data.reading.notations import candidates, is_notation, read, unit_of, words
from adaline.errors import DataError

ACCEPTED = [
    ("12.5%", "number %", 12.5),
    ("41 %", "number %", 41.0),
    ("-3%", "number %", -3.0),
    ("$3.10", "number $", 3.1),
    ("-$3.10", "number $", -3.1),
    ("$-3.10", "number $", -3.1),
    ("($3.10)", "number $", -3.1),
    ("$ (1,234.50)", "number $ ,.", -1234.5),
    ("12.50-", "number", -12.5),
    ("1.234,50-", "number .,", -1234.5),
    ("1,234.50- USD", "number USD ,.", -1234.5),
    ("3.10 €", "number €", 3.1),
    ("€ 3,10", "number € .,", 3.1),
    ("1.234,50 €", "number € .,", 1234.5),
    ("£1,234.50", "number £ ,.", 1234.5),
    ("USD 12", "number USD", 12.0),
    ("12 CHF", "number CHF", 12.0),
    ("1'234.5", "number '.", 1234.5),
    ("1,234,567", "number ,.", 1234567.0),
    ("1,234.5", "number ,.", 1234.5),
    ("1.234,5", "number .,", 1234.5),
    ("0,5", "number .,", 0.5),
    ("1 234,5", "number _,", 1234.5),
    ("1\u202f234.5", "number _.", 1234.5),
    ("1e-3", "number", 1e-3),
    ("−4.5", "number", -4.5),
    ("2024-12-31", "date ymd", 20088.0),
    ("2024/12/31", "date ymd", 20088.0),
    ("2024-12-31T12:00:00", "date ymd", 20088.5),
    ("2024-12-31 12:00:00+02:00", "date ymd", 20088 + 10 / 24),
    ("31/12/2024", "date dmy", 20088.0),
    ("31.12.2024", "date dmy", 20088.0),
    ("31.12.24", "date dmy", 20088.0),
    ("31-Dec-24", "date dmy", 20088.0),
    ("31 December 2024", "date dmy", 20088.0),
    ("12/31/2024", "date mdy", 20088.0),
    ("12/31/2024 6:00 PM", "date mdy", 20088.75),
    ("Dec 31, 2024", "date mdy", 20088.0),
    ("12-Jan-99", "date dmy", 10603.0),
    ("2024-12", "date ym", 20058.0),
    ("2024/12", "date ym", 20058.0),
    ("2024M12", "date ym", 20058.0),
    ("2024 Dec", "date ym", 20058.0),
    ("12/2024", "date my", 20058.0),
    ("December 2024", "date my", 20058.0),
    ("Dec-24", "date my", 20058.0),
    ("Dec '24", "date my", 20058.0),
    ("2024 Q4", "date yq", 19997.0),
    ("2024-Q4", "date yq", 19997.0),
    ("Q4 2024", "date yq", 19997.0),
    ("4Q24", "date yq", 19997.0),
]


@pytest.mark.parametrize(("text", "notation", "value"), ACCEPTED, ids=[a[0] for a in ACCEPTED])
def test_what_is_read(text, notation, value):
    assert notation in candidates([text])
    assert read([text], notation).values.tolist() == [value]
    assert is_notation(notation)
    assert words(notation)


REFUSED = [
    *("2024-13", "2009-10", "Dec 24", "12/24", "2024-Q5", "Dec", "Q4", "24-Dec"),
    *("1977-1989", "0301-551", "136A", "A136", "555-1234", "+49 30 1234567", "01234", "007"),
    *("1.2.3", "1.2.13", "10.0.0.1", "v2", "12-34-56", "3 to 4", "1,23,4", "12,34.5", "$", "%"),
    *("$1 €", "5 apples", "1_000", "0x10", "31/31/2024", "2024-13-01", "30 Feb 2024", "--5", "1e"),
    *("3-", "2+", "12.5--", "-12.5-", "(12.5-)"),
    *("yes", "12:30", "1/2", "½", "5'10\"", "#12", "12€5", "inf", "1 23"),
]


@pytest.mark.parametrize("text", REFUSED)
def test_what_stays_text(text):
    assert candidates([text]) == ()


def test_one_notation_must_read_all_values():
    assert candidates(["12%", "12"]) == ()
    assert candidates(["$12", "€12"]) == ()
    assert candidates(["31/12/2024", "12/31/2024"]) == ()
    assert candidates(["1,234.5", "1.234,5"]) == ()
    assert candidates(["3", "01234"]) == ()
    assert candidates(["?", "n/a", ""]) == ()


def test_marks_of_missing_values_are_gaps_among_numbers_and_dates_only():
    marks = ["?", "-", ".", "n/a", "N/A", "NA", "#N/A", "null", "none", "NaN", "missing", "Unknown"]
    found = read(["1.5", *marks], "number")
    assert not found.strange
    assert found.gone.tolist() == [False] + [True] * len(marks)
    assert read(["varies", "1"], "number").strange == ("varies",)
    assert read(["varies", "1"], "number", ["varies"]).gone.tolist() == [True, False]
    table = pl.DataFrame({"w": ["red", "?", "blue"] * 4, "y": np.arange(12.0) ** 2})
    assert Encoding.learn(table, "y").inputs[0].levels == ("?", "blue", "red")


def grouped(text: str, mark: str) -> str:
    whole, _, rest = text.partition(".")
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    parts = [digits[max(k - 3, 0) : k] for k in range(len(digits), 0, -3)]
    return sign + mark.join(reversed(parts)) + (f".{rest}" if rest else "")


def swapped(text: str) -> str:
    return text.translate(str.maketrans(",.", ".,"))


WRITTEN = {
    "percent": lambda v: f"{v:.2f}%",
    "percent, a space": lambda v: f"{v:.2f} %",
    "dollars": lambda v: f"-${-v:.2f}" if v < 0 else f"${v:.2f}",
    "dollars, brackets": lambda v: f"(${-v:.2f})" if v < 0 else f"${v:.2f}",
    "dollars of a ledger": lambda v: f"$ ({grouped(f'{-v:.2f}', ',')})" if v < 0 else f"$ {v:.2f}",
    "minus behind": lambda v: grouped(f"{abs(v):.2f}", ",") + "-" * (v < 0),
    "thousands": lambda v: grouped(f"{v:.2f}", ","),
    "pounds, thousands": lambda v: "£" + grouped(f"{v:.2f}", ","),
    "decimal comma": lambda v: swapped(grouped(f"{v:.2f}", ",")),
    "euros": lambda v: swapped(grouped(f"{v:.2f}", ",")) + " €",
    "spaces": lambda v: grouped(f"{v:.2f}", " ").replace(".", ","),
    "Swiss": lambda v: "CHF " + grouped(f"{v:.2f}", "'"),
}


@pytest.mark.parametrize("how", WRITTEN)
@settings(max_examples=25, deadline=None)
@given(cents=st.lists(st.integers(-(10**9), 10**9), min_size=2, max_size=30, unique=True))
def test_a_column_written_for_people_is_the_column_of_numbers(how, cents):
    values = [*(cent / 100 for cent in cents), 1234567.89]  # which has a mark between thousands
    plain = pl.DataFrame({"a": values, "b": values[::-1]})
    written = plain.with_columns(a=pl.Series([WRITTEN[how](v) for v in values]))
    encoding = Encoding.learn(written)
    (block,), (other,) = blocks(written), blocks(plain)
    assert np.array_equal(encoding.encode(block), Encoding.learn(plain).encode(other))
    if unit_of(encoding.inputs[0].reading):  # 0.5 is no 0.5 %, and 3 no $3
        with pytest.raises(DataError, match="'a'"):
            encoding.encode(other)
    else:
        assert encoding.encode(block).tolist() == encoding.encode(other).tolist()


DATES = {"ymd": "%Y-%m-%d", "dmy": "%d/%m/%Y", "mdy": "%m/%d/%Y", "name": "%d %b %Y"}
MONTHS = {"ym": "%Y-%m", "ym name": "%Y %b", "my": "%m/%Y", "my name": "%B %Y"}


@pytest.mark.parametrize("how", DATES)
@settings(max_examples=25, deadline=None)
@given(days=st.lists(st.dates(datetime.date(1970, 1, 1)), min_size=3, max_size=30, unique=True))
def test_a_column_of_written_dates_is_the_column_of_dates(how, days):
    days = [*days, datetime.date(2020, 12, 31)]  # which settles what is the day
    plain = pl.DataFrame({"a": days})
    written = pl.DataFrame({"a": [day.strftime(DATES[how]) for day in days]})
    encoding = Encoding.learn(written)
    (block,), (other,) = blocks(written), blocks(plain)
    assert np.array_equal(encoding.encode(block), encoding.encode(other))
    expected = [(day - datetime.date(1970, 1, 1)).days for day in days]
    assert encoding.encode(block)[:, 0].tolist() == expected


@pytest.mark.parametrize("how", MONTHS)
@settings(max_examples=25, deadline=None)
@given(days=st.lists(st.dates(datetime.date(1970, 1, 1)), min_size=3, max_size=30, unique=True))
def test_a_column_of_months_is_the_column_of_their_first_days(how, days):
    days = sorted({day.replace(day=1) for day in (*days, datetime.date(2020, 12, 31))})
    written = pl.DataFrame({"a": [day.strftime(MONTHS[how]) for day in days]})
    encoding = Encoding.learn(written)
    (block,) = blocks(written)
    expected = [(day - datetime.date(1970, 1, 1)).days for day in days]
    assert encoding.encode(block)[:, 0].tolist() == expected


def test_seasons_are_text_though_each_could_be_a_month():
    seasons = [f"20{k:02d}-{k + 1:02d}" for k in range(12)]
    assert candidates(seasons) == ()
    assert candidates([*seasons, "2011-10"]) == ("date ym",)
