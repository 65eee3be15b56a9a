"""Numbers, shares and names in sentences, at the edges where their form changes."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaline.evaluation import words


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (999.6, 3, "1,000"),
        (-0.0, 3, "0"),
        (100000.0, 5, "100,000"),
        (1e9, 5, "1e+09"),
        (1234, 5, "1,234"),
        (np.int64(1234), 5, "1,234"),
        (True, 5, "yes"),
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
