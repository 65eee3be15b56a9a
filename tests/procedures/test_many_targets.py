"""Many targets corrected together: each as if alone, to the digits that rationals confirm."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from adaline.procedures.least_squares import least_squares
from adaline.sums.moments import Moments
from adaline.sums.rows import Rows
from reference import correct_digits, exact_least_squares, ill_conditioned

NONE2 = np.empty((0, 0))


def rows_of(X, Y, weights=None, low=NONE2):
    t = Rows.of(X, Y, weights)
    return Rows(t.X, t.Y, t.omega, low)


def moments_of(rows):
    return Moments.of(rows.X, rows.Y, rows.omega if len(rows.omega) else None)


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
    whole = np.ones(3 + k + 2)
    whole[:3], whole[3:][which] = scale, y_scale
    together = rows.gradient(whole, which, theta, theta_low)
    for t in range(k):
        at = which[t : t + 1], theta[:, t : t + 1], theta_low[:, t : t + 1]
        alone = rows.gradient(whole, *at)
        assert np.array_equal(together.g[:, t], alone.g[:, 0])
        assert np.array_equal(together.low[:, t], alone.low[:, 0])
        assert together.squares[t] == alone.squares[0]


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
