"""Decimal text to float64 in LIBSVM files: the same bits as Python's float, or undecided."""

from __future__ import annotations

import math
import struct
from decimal import Context, Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaline.data import blocks
from adaline.data.reading.libsvm import parse_plain
from adaline.kernels.text import POWERS, number

FORMATS = ("%r", "%.6g", "%.16g", "%.17g", "%.18e", "%.25e", "%.40f")


def read(text):
    """The value, or None where the kernel leaves it to others."""
    data = np.frombuffer(f"{text}\n".encode(), dtype=np.uint8)
    value, after = number(data, 0, POWERS)
    assert after in (-1, len(text))
    return None if after < 0 else value


def same_bits(a, b):
    return struct.pack("<d", a) == struct.pack("<d", b)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(FORMATS))
def test_every_float_is_read_as_python_reads_it(x, form):
    text = form % x
    value = read(text)
    assert value is None or same_bits(value, float(text))
    if value is None:  # only what is far out, or what is cut off beside a boundary
        assert not 1e-240 < abs(x) < 1e240 or form == "%.40f"


@given(st.floats(1e-200, 1e200), st.integers(16, 40), st.sampled_from([-1, 0, 1]))
def test_numbers_half_way_between_two_floats_are_never_wrong(x, count, beside):
    """The hardest there are: the exact middle, and the nearest decimals around it."""
    middle = (Decimal(x) + Decimal(math.nextafter(x, math.inf))) / 2
    rounded = Context(prec=count).plus(middle)
    text = f"{rounded + beside * rounded.scaleb(-count):.{count}e}"
    value = read(text)
    assert value is None or same_bits(value, float(text))


@given(st.integers(0, 10**25), st.integers(-320, 320), st.sampled_from(["", "-", "+"]))
def test_any_digits_and_exponent(m, q, sign):
    text = f"{sign}{m}e{q}"
    value = read(text)
    assert value is None or same_bits(value, float(text))


@pytest.mark.parametrize(
    "text",
    ["9007199254740993", "0." + "0" * 30 + "1", "9" * 30, "0.5" + "0" * 40, "-0.000", "0e999"],
)
def test_numbers_by_hand(text):
    value = read(text)
    assert value is None or same_bits(value, float(text))
    # 2^53 + 1 is half way between two floats: that is for somebody else.
    assert (value is None) == (text == "9007199254740993")


@pytest.mark.parametrize("text", ["", ".", "-", "e5", "1e", "1e+", "1e9999", "nan", "0x1"])
def test_what_is_no_plain_number_is_left_to_others(text):
    data = np.frombuffer(f"{text}\n".encode(), dtype=np.uint8)
    _, after = number(data, 0, POWERS)
    assert after < len(text) or not text


def test_text_with_all_digits_takes_the_fast_way(rng, tmp_path):
    """As scikit-learn writes numbers, with 16 digits, and Python, with 17."""
    X = rng.standard_normal((200, 30)) * 10.0 ** rng.integers(-12, 12, size=(200, 30))
    for form in ("%.16g", "%.17g"):
        lines = [" ".join(f"{j + 1}:{form % v}" for j, v in enumerate(row)) for row in X]
        text = "".join(f"1 {line}\n" for line in lines)
        (tmp_path / "rows.svm").write_text(text)
        assert parse_plain(text.encode()) is not None
        found = np.concatenate([b.features.toarray() for b in blocks(tmp_path / "rows.svm")])
        assert found.tobytes() == np.array([[float(form % v) for v in row] for row in X]).tobytes()
