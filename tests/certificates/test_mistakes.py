"""The bound on a perceptron's mistakes: never too small, in any unit, or refused in words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adaline.certificates.margins import mistake_bound
from adaline.linalg import UNIT


def pair(p, n=2):
    """Samples of -1 and 1 in the first column."""
    X = np.zeros((n, p))
    X[:, 0] = np.resize([-1.0, 1.0], n)
    return X, np.resize([0, 1], n), np.eye(p)[0]


@pytest.mark.parametrize("of", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("p", [1, 2, 7])
def test_roundings_make_the_bound_larger(p, of):
    X, y, w = pair(p)
    found = mistake_bound(of(X), y, w)
    # The margin loses (p + 4) u, and |w| and R^2 grow by (p + 6) u.
    far = (2 * p + 10) * UNIT
    assert 1 - 1.1 * far - 2 * UNIT <= found.D <= 1 - far + UNIT
    more = 2 * far + (p + 6) * UNIT
    assert 1 + more - 3 * UNIT <= found.sharp <= 1 + 1.1 * more + 4 * UNIT
    assert found.R >= 1


@pytest.mark.parametrize("n", [2, 1000])
def test_the_sum_of_squares_is_rounded_up(n):
    X, y, w = pair(1, n)
    found = mistake_bound(X, y, w)
    more = (2 * 12 + 7 + n) * UNIT
    assert n * (1 + more - 6 * UNIT) <= found.lecture <= n * (1 + 1.1 * more + 6 * UNIT)


@pytest.mark.parametrize("b", [-0.5, 0.5])
def test_the_bias_has_an_input_of_one(b):
    """t (w'x + b) is at least 0.5, |(w, b)|^2 is 1.25, and |(x, 1)|^2 is 2."""
    X, y, w = pair(2)
    found = mistake_bound(X, y, w, b)
    distance, longest = found.D, found.R
    assert distance == pytest.approx(0.5 / np.sqrt(1.25), rel=1e-14)
    assert longest == pytest.approx(np.sqrt(2.0), rel=1e-14)
    assert found.sharp == pytest.approx(2.0 * 1.25 / 0.25, rel=1e-14)
    assert found.lecture == pytest.approx(4.0 * 1.25 / 0.25, rel=1e-14)
    # The bias is rounded too: its size is part of the doubt.
    doubt = 6 * UNIT * 1.5
    assert distance <= (0.5 - doubt + UNIT / 2) / np.sqrt(1.25) / (1 + 7 * UNIT)


@pytest.mark.parametrize("unit", [1e-300, 1e-3, 1e5, 1e300])
def test_units_change_no_bound(unit):
    X, y, w = pair(2)
    for found in (mistake_bound(X * unit, y, w), mistake_bound(X, y, w * unit)):
        assert found.sharp == pytest.approx(1.0, rel=1e-13)
    found = mistake_bound(X * unit, y, w)
    np.testing.assert_allclose([found.D, found.R], unit, rtol=1e-13)


def test_a_margin_of_underflow_is_none():
    X, y, w = pair(2)
    X[:, 1] = 1.0
    with pytest.raises(ValueError, match="does not separate"):
        mistake_bound(X * [1e-320, 1.0], y, w * 1.0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"y": [0, 1, 1]}, "shape"),
        ({"y": [1, 1]}, "1 classes"),
        ({"y": [0.5, 1.5]}, "real numbers"),
        ({"y": [1j, 2j]}, "dtype"),
        ({"w": [1.0]}, r"X has 3 columns and w has shape \(1,\); expected as many finite"),
        ({"w": [1.0, np.nan, 0.0]}, "expected as many finite numbers"),
        ({"w": [np.inf, 0.0, 0.0]}, "expected as many finite numbers"),
        ({"X": [[np.nan, 0.0, 0.0], [1.0, 0.0, 0.0]]}, "X contains 1 missing or infinite"),
        ({"X": [[-np.inf, 0.0, 0.0], [1.0, 0.0, 0.0]]}, "X contains 1 missing or infinite"),
        ({"w": [-1.0, 0.0, 0.0]}, "the least t .* is -1"),
        ({"w": [0.0, 0.0, 0.0]}, "does not separate"),
    ],
)
def test_what_has_no_bound_is_refused(change, sentence):
    X, y, w = pair(3)
    with pytest.raises(ValueError, match=sentence):
        mistake_bound(**({"X": X, "y": y, "w": w} | change))
