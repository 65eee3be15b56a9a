"""Many targets corrected by sums of products: the exact answers, and bounds that hold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adaline import LeastSquares, LeastSquaresClassifier
from adaline.kernels.double_double import products
from adaline.moments import Moments
from adaline.procedures.least_squares import refinement
from adaline.procedures.least_squares.closed_form import least_squares
from adaline.procedures.least_squares.normal_equations import normal_equations
from adaline.procedures.least_squares.product_sums import (
    ADDITIONS,
    ProductSums,
    product_sums,
)
from adaline.tiles import Rows, as_rows
from reference import exact_least_squares, ill_conditioned, rationals

NONE2 = np.empty((0, 0))
U = Fraction(2) ** -53


def rows_of(X, Y, weights=None):
    return Rows(*as_rows(X, Y, weights), NONE2)


def normal_of(rows, intercept=True, ridge=0.0):
    return normal_equations(Moments.of(rows.X, rows.Y), intercept, ridge)


def exact(high, low):
    return Fraction(float(high)) + Fraction(float(low))


@pytest.mark.parametrize(("n", "k"), [(1, 1), (63, 31), (64, 32), (65, 33), (200, 3)])
@pytest.mark.parametrize("spread", [0, 12])
def test_sums_of_products_keep_thirty_digits(rng, n, k, spread):
    X, Y = (rng.standard_normal((n, q)) * 10.0 ** rng.integers(0, spread + 1, q) for q in (2, k))
    start = rng.standard_normal((2, 3, k)) * np.array([1.0, 2.0**-54])[:, None, None]
    high, low = products.with_products(X, Y, start)
    for t in range(0, k, 5):
        y = rationals(Y[:, t])
        for j, left in enumerate([*(rationals(x) for x in X.T), y]):
            terms = [exact(*start[:, j, t]), *(a * b for a, b in zip(left, y, strict=True))]
            size = sum(abs(a) for a in terms)
            allowed = 8 * ADDITIONS * (n + 1) * U * U * size
            assert abs(exact(high[j, t], low[j, t]) - sum(terms)) <= allowed
            assert abs(low[j, t]) <= 2.0**-52 * abs(high[j, t])


@pytest.mark.parametrize(("n", "k"), [(1, 1), (31, 31), (32, 32), (33, 33), (200, 3)])
@pytest.mark.parametrize(
    "kind", ["plain", "large means", "a far row", "zeros", "cancelling", "tiny"]
)
def test_sums_of_rows_are_off_by_a_share_of_lengths(rng, n, k, kind):
    X, Y = rng.standard_normal((n, 2)), rng.standard_normal((n, k))
    if kind == "large means":
        X, Y = X + 1e8, Y - 1e6
    elif kind == "a far row":
        X[n // 2] *= 1e12
        Y[n // 3] *= 1e9
    elif kind == "zeros":
        X[: n // 2, 0], Y[n // 3 :, 0] = 0.0, 0.0
    elif kind == "cancelling":
        X[n // 2 : 2 * (n // 2)], Y[n // 2 : 2 * (n // 2)] = X[: n // 2], -Y[: n // 2]
    elif kind == "tiny":
        X[: n // 2] *= 2.0**-600
        Y[n // 4 :] *= 2.0**-90
    start = rng.standard_normal((2, 3, k)) * np.array([1.0, 2.0**-54])[:, None, None]
    high, low = products.with_products_of_rows(X, Y, start)
    for t in range(0, k, 5):
        y = rationals(Y[:, t])
        for j, left in enumerate([*(rationals(x) for x in X.T), y]):
            first = exact(*start[:, j, t])
            truth = first + sum(a * b for a, b in zip(left, y, strict=True))
            lengths = sum(a * a for a in left) * sum(b * b for b in y)
            allowed = (products.CHUNKS_OFF + n) * U * U * Fraction(float(lengths) ** 0.5 + 1e-280)
            allowed += 8 * n * U * U * abs(first)
            assert abs(exact(high[j, t], low[j, t]) - truth) <= allowed
            assert abs(low[j, t]) <= 2.0**-52 * abs(high[j, t])


def test_what_a_chunk_loses_is_added_up_again(rng):
    """Large numbers that cancel leave what float64 could not add to them."""
    x = np.array([2.0**60, 1.0, 2.0**-45, -(2.0**60)])[:, None]
    found = products.with_products_of_rows(x, np.ones((4, 1)), np.zeros((2, 2, 1)))
    assert exact(*found[:, 0, 0]) == 1 + Fraction(2) ** -45


@pytest.mark.parametrize("sums", [products.with_products, products.with_products_of_rows])
def test_a_column_has_the_same_bits_alone_and_among_many(rng, sums):
    X, Y = rng.standard_normal((150, 4)), rng.standard_normal((150, 70))
    together = sums(X, Y, np.zeros((2, 5, 70)))
    for t in (0, 31, 32, 69):
        alone = sums(X, Y[:, t : t + 1].copy(), np.zeros((2, 5, 1)))
        assert np.array_equal(together[:, :, t : t + 1], alone)


@pytest.mark.parametrize("kind", ["plain", "large means", "a far row", "cancelling", "tiny"])
def test_sums_of_classes_keep_thirty_digits(rng, kind):
    X, codes = rng.standard_normal((400, 3)), rng.integers(0, 3, 400)
    if kind == "large means":
        X += 1e12
    elif kind == "a far row":
        X[77] *= 1e15
    elif kind == "cancelling":
        X[200:], codes[200:] = -X[:200], codes[:200]
        X[0] += 1e-25
    elif kind == "tiny":
        X[::2] *= 2.0**-600
    sums = np.zeros((2, 4, 3))
    for some in (slice(150), slice(150, 400)):
        products.add_rows_of_classes(X[some], codes[some], sums)
    assert not sums[:, 3].any()  # a class without rows
    for c in range(3):
        for j in range(3):
            own = rationals(X[codes == c, j])
            allowed = 8 * len(own) * U * U * sum(abs(x) for x in own)
            assert abs(exact(*sums[:, c, j]) - sum(own)) <= allowed


@pytest.mark.parametrize("units", [1.0, 2.0**60])
def test_gradients_and_squares_from_sums_are_those_of_the_residuals(rng, units):
    X, Y = rng.standard_normal((60, 3)) + 1.0, rng.standard_normal((60, 2))
    X *= [1.0, units, 1 / units]
    rows = rows_of(X, Y)
    normal = normal_of(rows)
    e = normal.m.exponent
    theta = rng.standard_normal((4, 2))
    low = 2.0**-55 * theta
    g, g_low, squares = ProductSums.of(normal, rows).gradients(theta, low)
    A = np.column_stack([np.ldexp(X, -e[:3]), np.ones(60)])
    for t in range(2):
        w = [exact(a, b) for a, b in zip(theta[:, t], low[:, t], strict=True)]
        r = [
            Fraction(float(y)) - sum(a * b for a, b in zip(rationals(x), w, strict=True))
            for x, y in zip(A, np.ldexp(Y[:, t], -e[3 + t]), strict=True)
        ]
        for j in range(4):
            want = sum(a * b for a, b in zip(rationals(A[:, j]), r, strict=True))
            assert abs(exact(g[j, t], g_low[j, t]) - want) <= Fraction(1e-25)
        assert squares[t] == pytest.approx(float(sum(a * a for a in r)), rel=1e-14)


@pytest.mark.parametrize("exponent", [0, 2, 3.5])
@pytest.mark.parametrize("far", [0.0, 1e5])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_targets_corrected_by_sums_are_within_their_bounds(rng, monkeypatch, exponent, far, ridge):
    used = []
    kept = refinement.product_sums
    monkeypatch.setattr(refinement, "product_sums", lambda *a: used.append(kept(*a)) or used[-1])
    X = ill_conditioned(rng, 30, 3, 10.0**exponent) + far
    noise = 10.0 ** -rng.integers(0, 16, 70)
    Y = X @ rng.standard_normal((3, 70)) + noise * rng.standard_normal((30, 70))
    rows = rows_of(X, Y)
    fit = least_squares(Moments.of(X, Y), rows, ridge=ridge)
    assert used[0] is not None
    bounds = fit.certificate.evidence["error_bound"]
    for t in range(0, 70, 3):
        truths = exact_least_squares(X, Y[:, t], ridge=ridge)
        found = [*fit.W[t], fit.b[t]], [*fit.W_low[t], fit.b_low[t]]
        for a, b, truth, bound in zip(*found, truths, bounds[:, t], strict=True):
            assert abs(exact(a, b) - truth) <= Fraction(float(bound))
            assert abs(Fraction(float(a)) - truth) <= Fraction(float(bound))


@pytest.mark.parametrize("far", [0.0, 1e5])
@pytest.mark.parametrize("classes", [3, 20])
def test_indicators_of_classes_corrected_by_their_sums_are_within_their_bounds(
    rng, monkeypatch, far, classes
):
    used = []
    kept = refinement.product_sums
    monkeypatch.setattr(refinement, "product_sums", lambda *a: used.append(kept(*a)) or used[-1])
    monkeypatch.setattr("adaline.procedures.least_squares.product_sums._CLASSES", -2)
    monkeypatch.setattr("adaline.procedures.least_squares.product_sums._MUCH", 0)
    X, codes = rng.standard_normal((60, 3)) * [1.0, 1e-4, 1e4] + far, np.arange(60) % classes
    model = LeastSquaresClassifier().fit(X, codes)
    assert used[0] is not None
    fit = model.fit_
    bounds = fit.certificate.evidence["error_bound"]
    for t in range(classes):
        truths = exact_least_squares(X, (codes == t).astype(float))
        found = [*fit.W[t], fit.b[t]], [*fit.W_low[t], fit.b_low[t]]
        for a, b, truth, bound in zip(*found, truths, bounds[:, t], strict=True):
            assert abs(exact(a, b) - truth) <= Fraction(float(bound))
            assert float(truth) == a


def test_many_classes_have_the_same_weights_with_sums_and_without(rng, monkeypatch):
    X = rng.standard_normal((3000, 12)) + 3.0
    codes = (X @ rng.standard_normal((12, 20)) + rng.gumbel(size=(3000, 20))).argmax(axis=1)
    by_sums = LeastSquaresClassifier().fit(X, codes)
    monkeypatch.setattr("adaline.procedures.least_squares.product_sums._MUCH", np.inf)
    by_rows = LeastSquaresClassifier().fit(X, codes)
    assert by_sums.fit_.certificate.kind == by_rows.fit_.certificate.kind == "exact"
    assert np.array_equal(by_sums.coef_, by_rows.coef_)
    assert np.array_equal(by_sums.intercept_, by_rows.intercept_)
    np.testing.assert_allclose(by_sums.fit_.squares, by_rows.fit_.squares, rtol=1e-13)


def test_margins_are_no_indicators(rng):
    X, codes = rng.standard_normal((3000, 12)), np.arange(3000) % 20
    margins = rng.uniform(0.5, 2.0, 3000)
    Y = np.zeros((3000, 20))
    Y[np.arange(3000), codes] = margins
    model, twin = LeastSquaresClassifier().fit(X, codes, margins=margins), LeastSquares().fit(X, Y)
    assert np.array_equal(model.coef_, twin.coef_)


def test_squares_of_residuals_that_are_nearly_nothing_come_from_the_rows(rng):
    X = rng.integers(-9, 9, (40, 3)).astype(float)
    Y = X @ rng.integers(-9, 9, (3, 80)).astype(float) + 2.0
    Y[:, 1::2] += 1e-9 * rng.standard_normal((40, 40))
    fit = LeastSquares().fit(X, Y).fit_
    alone = [LeastSquares().fit(X, y).fit_.squares[0] for y in Y.T]
    assert max(*fit.squares[::2], *alone[::2]) < 1e-40  # sums in double-double would leave 1e-25
    np.testing.assert_allclose(fit.squares, alone, rtol=1e-12, atol=1e-40)


@pytest.mark.parametrize(
    "case", ["few targets", "more columns", "weights", "large units", "far", "ill-conditioned"]
)
def test_sums_are_left_alone_where_they_do_not_serve(rng, case):
    p, k = (70, 66) if case == "more columns" else (3, 64 if case == "few targets" else 66)
    X, Y = rng.standard_normal((100, p)), rng.standard_normal((100, k))
    if case == "large units":
        X[:, 0] *= 1e80
    if case == "far":
        Y[:, 3] = 1e-90
    if case == "ill-conditioned":
        X[:, 0] = X[:, 1] + 1e-6 * X[:, 0]
    rows = rows_of(X, Y, np.ones(100) if case == "weights" else None)
    normal = normal_of(rows)
    lengths = np.concatenate(refinement.raw_lengths(normal.m))
    assert product_sums(normal, rows, lengths) is None
