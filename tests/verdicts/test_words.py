"""Numbers, shares and names in sentences, at the edges where their form changes."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.verdicts import words


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (99999.0, 5, "99999"),
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
