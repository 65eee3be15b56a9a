"""Numbers, shares and names in sentences, at the edges where their form changes."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adaline
from adaline.evaluation import words


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (99999.0, 5, "99,999"),
        (999.6, 3, "1,000"),
        (999.96, 4, "1,000"),
        (2377.0, 4, "2,377"),
        (1234.56, 6, "1,234.56"),
        (-0.0, 3, "0"),
        (100000.0, 5, "100,000"),
        (-100000.0, 5, "-100,000"),
        (1000.0, 3, "1,000"),
        (999.0, 3, "999"),
        (9.99e8, 5, "999,000,000"),
        (1e9, 5, "1e+09"),
        (0.5, 5, "0.5"),
        (1.23456789, 5, "1.2346"),
        (1234, 5, "1,234"),
        (np.int64(1234), 5, "1,234"),
        (np.float32(0.5), 5, "0.5"),
        (True, 5, "yes"),
        (False, 5, "no"),
        (float("nan"), 5, "–"),
        (None, 5, "–"),
        ("a\n", 5, "a\\n"),
    ],
)
def test_numbers_are_written_as_people_write_them(value, digits, text):
    assert words.number(value, digits) == text
    if digits == 5:
        assert words.number(value) == text


@given(st.floats(1e-4, 9.9e8), st.integers(2, 6))
def test_a_number_of_ordinary_size_has_no_power_of_ten_and_its_thousands_apart(value, digits):
    for text in (words.number(value, digits), words.number(-value, digits)):
        assert "e" not in text
        assert not re.search(r"^-?\d{4}", text)
        assert abs(float(text.replace(",", ""))) == pytest.approx(value, rel=10.0 ** (1 - digits))


@pytest.mark.parametrize(
    ("count", "noun", "verb", "text"),
    [
        (1, "row", "", "1 row"),
        (0, "pass", "", "0 passes"),
        (1, "column", "depend", "1 column depends"),
        (1, "row", "have", "1 row has"),
        (1234, "sample", "are", "1,234 samples are"),
    ],
)
def test_nouns_and_verbs_agree_with_their_count(count, noun, verb, text):
    assert words.plural(count, noun, verb) == text


def test_no_sentence_of_a_fit_says_one_rows(rng):
    X, y = rng.standard_normal((40, 3)), np.arange(40) % 2 == 1
    X[:, 2] = X[:, 0] + X[:, 1]
    said = [
        adaline.LeastSquares().fit(X[:, :2], X[:, 0] / 3).fit_.stopped,
        adaline.Perceptron(max_iter=1).fit(X[:3], [0, 0, 1]).fit_.stopped,
        adaline.HoKashyap(max_iter=1).fit(X, y).certificate_.statement,
        adaline.LogisticRegression(max_iter=1).fit(X, y).fit_.stopped,
        adaline.KernelPerceptron(max_iter=1).fit([[0.0], [1.0]], [0, 1]).fit_.stopped,
        adaline.LeastSquaresClassifier().fit([[0.0], [1.0], [9.0], [8]], [0, 1, 1, 0]).fit_.stopped,
    ]
    with pytest.raises(ValueError, match="1 such value in all"):
        adaline.LeastSquares().fit([[1.0], [np.nan], [2.0]], [1.0, 2.0, 3.0])
    flat = np.column_stack([X[:, 0], np.ones(40)])
    with pytest.warns(adaline.RankDeficientWarning, match="x1 does not vary"):
        adaline.GaussianClassifier("diagonal").fit(
            np.where(y[:, None], flat, flat + np.array([0, 1])), y
        )
    for text in said:
        assert not re.search(r"(?<![\d,.=])1 (\w+ )?\w+s\b(?<!is)(?<!has)(?<!was)", text), text


@pytest.mark.parametrize(
    ("p", "alone", "in_a_sentence"),
    [
        (0.99e-4, "< 0.0001", "p < 0.0001"),
        (1e-4, "0.0001", "p = 0.0001"),
        (0.012345, "0.0123", "p = 0.0123"),
    ],
)
def test_small_chances_are_small(p, alone, in_a_sentence):
    assert words.chance(p) == alone
    assert words.p_value(p) == in_a_sentence


def test_texts_are_cut_at_their_longest():
    assert words.name("x" * 60) == "x" * 60
    assert words.name("x" * 61) == "x" * 59 + "…"
    assert words.plain("x" * 2000) == "x" * 2000
    assert words.plain("x" * 2001) == "x" * 1999 + "…"
    assert words.plain("xyz", most=2) == "x…"


def test_only_line_breaks_that_are_wanted_stay():
    assert words.plain("a\nb\tc") == "a\\nb\\tc"
    assert words.plain("a\nb\tc", lines=True) == "a\nb\\tc"


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (1000, "1,000 rows")]
)
def test_one_row_is_a_row(count, text):
    assert words.plural(count, "row") == text
