"""Rows in units that suit them: the same sums of dense, CSR and float32 rows, in any blocks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from adaline.sums.scaled_rows import MANY, ScaledRows

FORMS = {
    "dense": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sparse.csr_array,
    "csr32": lambda X: sparse.csr_array(X.astype(np.float32)),
}
# Rows of one block, that are read in blocks, and that are too wide for a matrix of columns.
SHAPES = {"small": (90, 4), "blocks": (4195, 65), "wide": (131, MANY + 10)}
SHIFTS = {"near": 1.0, "far": 1e3}  # of the first column


@pytest.fixture(params=[(s, d) for s in SHAPES for d in SHIFTS], ids=lambda case: "-".join(case))
def X(request, rng):
    """Numbers of 24 bits, so that float32 holds the same ones; a third of them zeros."""
    shape, far = SHAPES[request.param[0]], SHIFTS[request.param[1]]
    X = (
        rng.standard_normal(shape)
        * 2.0 ** rng.integers(-9, 10, shape[1])
        * (rng.random(shape) > 0.3)
    )
    X[:, 0] += far * np.std(X[:, 0])
    return X.astype(np.float32).astype(np.float64)


def rows_of(X, form="dense", omega=(), intercept=True):
    return ScaledRows.choose(
        FORMS[form](X), np.zeros(len(X)), np.asarray(omega, float), intercept=intercept
    )


def z(X, rows, intercept=True):
    """The rows in these units, and the bias, by numpy in long doubles."""
    Z = X.astype(np.longdouble) * rows.scale - rows.shift
    return np.column_stack([Z, np.full(len(X), float(intercept))])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("intercept", [True, False])
def test_sums_over_rows_are_those_of_numpy(rng, X, form, intercept):
    rows = rows_of(X, form, intercept=intercept)
    Z, R = z(X, rows, intercept), rng.standard_normal((len(X), 2))
    A = rng.standard_normal((rows.q, 2)) / np.sqrt(rows.q)
    # Digits of sparse rows are lost to a far mean, and counted by `extent`.
    slack = 1e-13 * (1.0 + float(np.max(np.abs(rows.shift[0]))))
    np.testing.assert_allclose(rows.project(A), Z @ A, atol=50 * slack)
    sums = Z.T @ R
    np.testing.assert_allclose(rows.combine(R).T, sums, atol=slack * len(X))
    np.testing.assert_allclose(rows.squares(A), ((Z @ A) ** 2).sum(axis=1), rtol=1e-9)
    root = rng.random(len(X))
    halved = rows.squares(A, root)
    np.testing.assert_allclose(halved, ((Z @ A) ** 2).sum(axis=1) * root**2, rtol=1e-9)
    c = rng.random(len(X)) * (rng.random(len(X)) > 0.1)
    if not rows.is_wide:
        G = (Z * c[:, None]).T @ Z
        G[-1, -1] += not intercept
        np.testing.assert_allclose(rows.gram(c), G, rtol=1e-11, atol=1e-11 * len(X))


@pytest.mark.parametrize("form", FORMS)
def test_bounds_hold_for_every_row_and_units_are_about_the_deviations(X, form):
    rows = rows_of(X, form)
    Z = z(X, rows)
    assert np.all(np.abs(Z) <= rows.top)
    assert np.all(rows.top <= 1.02 * np.abs(Z).max(axis=0) + 1e-9)
    exponents, _ = np.frexp(rows.scale)
    assert np.all(exponents == 0.5)  # powers of two: no digit is lost
    deviation = Z[:, :-1].std(axis=0)
    assert np.all((deviation > 0.2) & (deviation < 5.0))
    np.testing.assert_allclose(rows.deviation, deviation.astype(float), rtol=0.2)
    mean, units = Z[:, :-1].mean(axis=0).astype(float), 0.5 + np.arange(X.shape[1]) % 3
    far = np.sqrt((((Z[:, :-1] - mean) ** 2) / units).sum(axis=1).max())
    assert far <= rows.farthest_from(mean, units)


@pytest.mark.parametrize("form", FORMS)
def test_rounding_of_values_stays_below_its_bound(rng, X, form):
    rows = rows_of(X, form)
    theta = rng.standard_normal((3, rows.q)) * 10.0 ** rng.integers(-3, 4, rows.q)
    V, exact = rows.project(theta.T), z(X, rows) @ theta.T.astype(np.longdouble)
    assert np.abs(V - exact).max() <= rows.value_error(theta)


@pytest.mark.parametrize("unit", [5e-324, 1e-310, 1e-200, 1e-100, 1e100, 1e150, 1e300])
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_columns_of_any_size_become_numbers_of_about_one(rng, unit, form):
    X = rng.integers(1, 9, (40, 2)) * [unit if unit < 1e300 else unit / 10, 1.0]
    rows = rows_of(X, form)
    scale, shift = ([Fraction(float(a)) for a in part] for part in (rows.scale, rows.shift))
    for x in X:
        for j in range(2):
            assert abs(Fraction(float(x[j])) * scale[j] - shift[j]) <= Fraction(float(rows.top[j]))
    V = rows.project(np.vstack([np.eye(2), [0, 0]]))
    exact = [[float(Fraction(float(x[j])) * scale[j] - shift[j]) for j in range(2)] for x in X]
    np.testing.assert_allclose(V, exact, atol=rows.value_error(np.eye(2, 3)) + 5e-324)
    if unit > 1e-300:
        assert 0.2 < np.std(V[:, 0]) < 5.0
