"""Many targets corrected together: each as if alone, to the digits that rationals confirm."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from adaline.kernels.double_double import double_double
from adaline.moments import Moments
from adaline.procedures.least_squares.closed_form import least_squares
from adaline.procedures.least_squares.gradients import gradients
from adaline.procedures.least_squares.normal_equations import (
    in_unit_columns,
    normal_equations,
    triangle_equations,
)
from adaline.procedures.least_squares.refinement import refine
from adaline.tiles import Rows, as_rows
from reference import correct_digits, exact_least_squares, ill_conditioned

NONE2 = np.empty((0, 0))


def rows_of(X, Y, weights=None, low=NONE2):
    X, Y, omega = as_rows(X, Y, weights)
    return Rows(X, Y, omega, low)


def moments_of(rows):
    return Moments.of(rows.X, rows.Y, rows.omega if len(rows.omega) else None)


def only(m, t):
    """Moments with one of their targets, the bits of all else unchanged."""
    pick = np.append(np.arange(m.p), m.p + t)
    names = ("mean", "exponent", "rounding", "mean_rounding")
    vectors = {name: getattr(m, name)[pick] for name in names}
    return replace(m, scatter=m.scatter[np.ix_(pick, pick)], targets=1, **vectors)


@pytest.mark.parametrize(("n", "k"), [(1, 3), (31, 9), (32, 1), (33, 20), (700, 3), (2000, 260)])
@pytest.mark.parametrize("kind", ["plain", "weighted", "low parts", "sparse"])
def test_a_gradient_does_not_depend_on_the_other_targets(rng, n, k, kind):
    X, Y = rng.standard_normal((n, 3)), rng.standard_normal((n, k + 2))
    omega = rng.uniform(0, 2, n) if kind == "weighted" else None
    low = 2.0**-54 * X * rng.uniform(-1, 1, X.shape) if kind == "low parts" else NONE2
    rows = rows_of(sparse.csr_array(X) if kind == "sparse" else X, Y, omega, low)
    which, scale = rng.permutation(k + 2)[:k], np.array([1.0, 0.5, 2.0])
    theta = rng.standard_normal((4, k))
    theta_low = 2.0**-54 * theta
    y_scale = 2.0 ** rng.integers(-3, 3, k)
    g, g_low, squares = gradients(rows, which, scale, y_scale, theta, theta_low)
    for t in range(k):
        Y, at = np.ascontiguousarray(rows.Y[:, which[t], None]), (theta[:, t], theta_low[:, t])
        own = (*(np.ascontiguousarray(part)[None] for part in at),)
        rest = scale, Y, np.zeros(1, np.int64), y_scale[t : t + 1], rows.omega, *own
        if kind == "sparse":
            entries = rows.X.data, rows.X.indices, rows.X.indptr
            alone = double_double.gradients_sparse(*entries, *rest)
        else:
            alone = double_double.gradients_dense(rows.X, rows.X_low, *rest)
        assert np.array_equal(g[:, t], alone[0][0])
        assert np.array_equal(g_low[:, t], alone[1][0])
        assert squares[t] == alone[2][0]


@pytest.mark.parametrize("exponent", [0, 4, 8, 12])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_the_same_factor_gives_a_target_the_same_bits_alone_and_among_many(
    rng, exponent, intercept, ridge
):
    X = ill_conditioned(rng, 40, 4, 10.0**exponent) + 1.0
    Y = X @ rng.standard_normal((4, 70)) + rng.standard_normal((40, 70)) * 10.0 ** -rng.integers(
        0, 12, 70
    )
    rows = rows_of(X, Y)
    m = moments_of(rows)
    normal = normal_equations(m, intercept, ridge)
    if normal is None or normal.alpha > 0.1:
        normal = triangle_equations(m, rows, intercept, ridge)
    together = refine(normal, rows)
    for t in range(0, 70, 7):
        one = replace(normal, m=only(normal.m, t))
        alone = refine(one, replace(rows, Y=rows.Y[:, t : t + 1]))
        for name in ("W", "W_low", "b", "b_low"):
            assert np.array_equal(getattr(together, name)[t], getattr(alone, name)[0])


@pytest.mark.parametrize("exponent", [0, 3, 6, 9])
def test_a_target_is_fitted_alone_and_among_many_to_the_same_float64(rng, exponent):
    # Sums of few columns and of many are added in other orders, so that factors differ; both
    # answers are within 2^-58 of the exact one before rounding, which leaves at most one ulp.
    X = ill_conditioned(rng, 50, 4, 10.0**exponent)
    Y = X @ rng.standard_normal((4, 90)) + rng.standard_normal((50, 90))
    rows = rows_of(X, Y)
    together = least_squares(moments_of(rows), rows)
    assert together.certificate.kind in ("exact", "accurate")
    for t in range(0, 90, 9):
        one = rows_of(X, Y[:, t])
        alone = least_squares(moments_of(one), one)
        np.testing.assert_array_max_ulp(together.W[t], alone.W[0], maxulp=1)
        np.testing.assert_array_max_ulp(together.b[t], alone.b[0], maxulp=1)


@pytest.mark.parametrize("exponent", [0, 4, 8, 12, 14])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_target_is_within_its_own_bound_of_the_exact_solution(rng, exponent, weighted):
    X = ill_conditioned(rng, 30, 4, 10.0**exponent)
    noise = 10.0 ** -rng.integers(0, 16, 12)
    Y = X @ rng.standard_normal((4, 12)) + noise * rng.standard_normal((30, 12))
    weights = rng.uniform(0.1, 2.0, 30) if weighted else None
    rows = rows_of(X, Y, weights)
    fit = least_squares(moments_of(rows), rows)
    bounds = fit.certificate.evidence["error_bound"]
    assert bounds.shape == (5, 12)
    for t in range(12):
        exact = exact_least_squares(X, Y[:, t], weights)
        high, low = [*fit.W[t], fit.b[t]], [*fit.W_low[t], fit.b_low[t]]
        assert correct_digits(high, exact) >= (15.5 if exponent <= 8 else 13)
        for a, b, truth, bound in zip(high, low, exact, bounds[:, t], strict=True):
            found = Fraction(float(a)) + Fraction(float(b))
            assert not np.isfinite(bound) or abs(found - truth) <= Fraction(float(bound))


def test_targets_of_all_kinds_do_not_disturb_each_other(rng):
    X = rng.standard_normal((40, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.standard_normal(40)
    Y = np.column_stack([y, np.zeros(40), np.full(40, 7.0), X[:, 0], 1e200 * y, 1e-200 * y])
    rows = rows_of(X, Y)
    fit = least_squares(moments_of(rows), rows)
    assert fit.certificate.kind == "accurate"  # zeros have no digits to prove
    for t in (0, 4, 5):
        assert correct_digits([*fit.W[t], fit.b[t]], exact_least_squares(X, Y[:, t])) >= 15.5
    assert not fit.W[1].any()
    assert fit.b[1] == 0.0
    assert (fit.W[2].tolist(), fit.b[2]) == ([0.0, 0.0, 0.0], 7.0)
    # A coefficient that is zero is known to its bound, in the units of its column.
    assert fit.W[3, 0] == 1.0
    assert (np.abs(fit.W[3, 1:]) <= fit.certificate.evidence["error_bound"][1:3, 3]).all()


@pytest.mark.parametrize("layout", ["C", "F", "strided", "read-only"])
def test_the_layout_of_the_targets_does_not_matter(rng, layout):
    X, Y = rng.standard_normal((40, 3)), rng.standard_normal((40, 100))
    want = least_squares(moments_of(rows_of(X, Y)), rows_of(X, Y))
    given = {"F": np.asfortranarray(Y), "strided": np.repeat(Y, 2, axis=1)[:, ::2]}.get(layout, Y)
    given.flags.writeable = layout != "read-only"
    rows = rows_of(X, given)
    fit = least_squares(moments_of(rows), rows)
    assert np.array_equal(fit.W, want.W)
    assert np.array_equal(fit.b, want.b)


@pytest.mark.parametrize("intercept", [True, False])
def test_units_of_many_targets_are_those_of_moments_in_units(rng, intercept):
    X, Y = rng.standard_normal((30, 3)) + 5.0, rng.standard_normal((30, 80)) * 1e3 + 1.0
    m = Moments.of(X, Y)
    many = in_unit_columns(m, intercept)
    plain = m.in_units(many.exponent)
    plain = plain if intercept else plain.about_zero()
    assert np.array_equal(many.scatter[:3], plain.scatter[:3])
    assert np.array_equal(many.scatter[:, :3], plain.scatter[:, :3])
    assert np.array_equal(np.diag(many.scatter), np.diag(plain.scatter))
    for name in ("mean", "rounding", "mean_rounding"):
        assert np.array_equal(getattr(many, name), getattr(plain, name))
