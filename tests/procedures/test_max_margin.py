"""The largest margin against every face of the hulls in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adaline.procedures.max_margin import max_margin
from reference_classifiers import squared_margin

OPTIONS = {"tol": 1e-12, "max_iter": 10_000}


def sample(rng, kind):
    n, p = int(rng.integers(2, 8)), int(rng.integers(1, 4))
    X = rng.standard_normal((n, p))
    if kind == "grid":
        X = rng.integers(-2, 3, (n, p)).astype(float)
    t = np.where(X[:, 0] + 0.1 * rng.standard_normal() > 0, 1.0, -1.0)
    t[0], t[-1] = 1.0, -1.0
    if kind == "thin":
        X[:, 0] += t * 10.0 ** rng.integers(-9, 1)
    if kind == "scale":
        X *= 10.0 ** rng.integers(-100, 100)
    if kind == "offset":
        X += 1e8 * rng.integers(-1, 2)
    if kind == "units":
        X *= 10.0 ** rng.integers(-4, 4, p)
    return X, t


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", ["plain", "grid", "thin", "scale", "offset", "units"])
def test_the_interval_contains_the_exact_margin(rng, kind, bias):
    answered = 0
    for _ in range(25):
        X, t = sample(rng, kind)
        square = squared_margin(X.tolist(), t.tolist(), bias)
        found = max_margin(X, t, bias=bias, **OPTIONS)
        assert (1 + bias) ** 2 * Fraction(found.upper) ** 2 >= square
        if found.lower > 0:
            assert (1 + bias) ** 2 * Fraction(found.lower) ** 2 <= square
            answered += 1
        else:  # no margin, or one that is rounding beside the data
            size = np.abs(X - bias * X[0]).max()
            assert square == 0 or float(square / Fraction(size) ** 2) ** 0.5 < 1e-7
        assert found.lower <= found.upper
    assert answered >= 5


def test_supports_are_at_the_margin_and_all_others_are_farther(rng):
    X = rng.standard_normal((500, 5))
    t = np.where(X @ [1, 2, 0, -1, 0.5] > 0, 1.0, -1.0)
    X += 0.2 * t[:, None] * np.array([1, 2, 0, -1, 0.5])
    found = max_margin(X, t, bias=True, **OPTIONS)
    distance = t * (X @ found.w + found.b)
    np.testing.assert_allclose(distance[found.support], found.margin, rtol=1e-10)
    assert distance.min() >= found.margin * (1 - 1e-10)
    apart = found.positive - found.negative
    np.testing.assert_allclose(apart, 2 * found.margin * found.w, atol=1e-10)
    for side in (1.0, -1.0):
        assert found.weights[t[found.support] == side].sum() == pytest.approx(1.0)


def test_a_rounded_bias_is_counted_in_the_margin():
    """At 1e16 the hyperplane halfway has no float64 bias: b is a whole, and even, number."""
    X, t = np.array([[1e16], [1e16 + 2]]), np.array([-1.0, 1.0])
    found = max_margin(X, t, bias=True, **OPTIONS)
    assert found.lower <= 1 <= found.upper
    assert found.upper - found.lower < 1e-14
    assert Fraction(found.margin) == min(
        Fraction(float(x)) * Fraction(found.w[0]) * int(s) + Fraction(found.b) * int(s)
        for x, s in zip(X[:, 0], t, strict=True)
    )
