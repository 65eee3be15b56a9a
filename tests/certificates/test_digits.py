"""Bounds on digits hold whatever is put in: bad factors prove less, never something false."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adaline.certificates._digits import half_steps, stated
from adaline.certificates.digits import (
    certificate_of_digits,
    certificate_together,
    contraction,
    contraction_with_ones,
    doubt_of_gradients,
    each_without_correction,
    gamma,
    in_users_units,
    noise_of_gradients,
    without_correction,
)
from adaline.linalg import UNIT, inverse_cholesky
from reference import after_correction, exact_least_squares


def problem(rng, n=30, p=3):
    A = rng.standard_normal((n, p))
    return A, rng.standard_normal(n)


@pytest.mark.parametrize("spoil", [0.0, 1e-6, 1e-2, 0.3])
def test_any_factor_gives_a_true_bound_or_none(rng, spoil):
    A, y = problem(rng)
    G = A.T @ A
    W = np.linalg.inv(np.linalg.cholesky(G)).T * (1 + spoil * rng.standard_normal((3, 3)))
    rounding = np.sqrt(1e-13) * np.linalg.norm(A, axis=0)
    alpha = contraction(G, W, rounding)
    x = rng.standard_normal(3)
    g = A.T @ (y - A @ x)
    bound = after_correction(W, alpha, g, 1e-13 * np.ones(3), 1e-13)
    exact = exact_least_squares(A, y, intercept=False)
    corrected = x + W @ (W.T @ g)
    for found, truth, error in zip(corrected, exact, bound, strict=True):
        assert not np.isfinite(error) or abs(Fraction(found) - truth) <= Fraction(error)
    assert np.isfinite(bound).all() == (alpha < 1)


@pytest.mark.parametrize("spoil", [0.0, 1e-6, 1e-2, 0.3])
def test_any_factor_bounds_weights_that_are_not_corrected(rng, spoil):
    A, y = problem(rng)
    y = np.column_stack([y, 1e3 * y + A[:, 0]])
    G, c = A.T @ A, A.T @ y
    W = np.linalg.inv(np.linalg.cholesky(G)).T * (1 + spoil * rng.standard_normal((3, 3)))
    sizes = np.linalg.norm(np.hstack([A, y]), axis=0) * (1 + 1e-12)
    rounding = np.sqrt(gamma(len(A))) * sizes
    alpha = contraction(G, W, rounding[:3])
    w = np.linalg.solve(G, c) * (1 + 1e-9 * rng.standard_normal((3, 2)))
    bound = without_correction(W, alpha, c - G @ w, doubt_of_gradients(W, sizes, rounding, w))
    assert np.isfinite(bound).all() == (alpha < 1)
    for t in range(2):
        exact = exact_least_squares(A, y[:, t], intercept=False)
        for found, truth, error in zip(w[:, t], exact, bound[:, t], strict=True):
            assert not np.isfinite(error) or abs(Fraction(found) - truth) <= Fraction(error)


@pytest.mark.parametrize("spoil", [0.0, 1e-6, 1e-2, 0.3])
def test_any_factor_bounds_each_weight_that_is_not_corrected(rng, spoil):
    for _ in range(20):
        A, y = problem(rng)
        A[:, 0] = A[:, 1] + 10.0 ** rng.uniform(-4, 0) * A[:, 0]
        G, c = A.T @ A, A.T @ y
        W = inverse_cholesky(G) * (1 + spoil * rng.standard_normal((3, 3)))
        rounding = np.sqrt(4 * 32 * UNIT) * np.linalg.norm(A, axis=0)
        of_y = np.sqrt(4 * 32 * UNIT) * np.linalg.norm(y)
        sizes = np.append(np.linalg.norm(A, axis=0), np.linalg.norm(y)) * 1.1
        alpha = contraction(G, W, rounding)
        x = (W @ (W.T @ c))[:, None]
        noise = noise_of_gradients(sizes, np.append(rounding, of_y), x)
        bounds = each_without_correction(W, alpha, np.abs(c[:, None] - G @ x) + noise)
        exact = exact_least_squares(A, y, intercept=False)
        for value, truth, bound in zip(x[:, 0], exact, bounds[:, 0], strict=True):
            assert bound == np.inf or abs(Fraction(value) - truth) <= Fraction(float(bound))
        assert (bounds < np.inf).all() == (alpha < 1)


def test_bounds_of_each_weight_are_reached():
    """An inverse that is known exactly lets an error of a gradient through, and nothing more."""
    W = inverse_cholesky(np.array([[2.0, 1.0], [1.0, 2.0]]))
    found = each_without_correction(W, 0.0, np.array([[1e-3], [0.0]]))
    assert found[:, 0] == pytest.approx([2e-3 / 3, 1e-3 / 3], rel=0.011)
    assert (found[:, 0] > [2e-3 / 3, 1e-3 / 3]).all()
    doubled = each_without_correction(W, 0.5, np.array([[1e-3], [0.0]]))
    assert (doubled > 1.9 * found).all()  # alpha = 1/2: the inverse may be twice as large


def test_the_doubt_of_gradients_has_a_term_for_each_source():
    W, w = np.array([[2.0, 1.0], [0.0, 3.0]]), np.array([[1.0], [-2.0]])
    none = np.zeros(3)
    sizes = np.array([1.0, 10.0, 100.0])  # |W|' (1, 10) is (2, 31); 100 + 1 + 20 is the reach
    far = np.hypot(2.0, 31.0) * 121.0
    assert doubt_of_gradients(W, none, sizes, w) == pytest.approx(far)
    assert doubt_of_gradients(W, sizes, none, w) == pytest.approx(4 * UNIT * far)


def test_a_bound_without_correction_is_that_of_the_formula():
    W, g = np.array([[2.0, 0.0], [0.0, 3.0]]), np.array([[2.0], [1.0]])
    expected = np.array([[2.0], [3.0]]) * (5.0 + 7.0) / 0.5
    bound = without_correction(W, 0.5, g, np.array([7.0]))
    assert np.all((expected <= bound) & (bound <= 1.02 * expected))
    assert np.isinf(without_correction(W, 1.0, g, np.zeros(1))).all()


def test_the_rounding_of_a_product_that_cancels_is_in_the_bound():
    W, g = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.full((2, 1), 1e16)
    bound = without_correction(W, 0.0, g, np.zeros(1))
    assert np.all(bound >= 3 * UNIT * 2e16)


def test_a_useless_factor_proves_nothing():
    bound = after_correction(np.eye(2), 1.5, np.ones(2), np.zeros(2), 0.0)
    assert np.isinf(bound).all()
    certificate = certificate_of_digits(np.ones(2), bound, np.zeros(2), 1.5, 1e17)
    assert certificate.kind == "unproven"
    assert certificate.evidence["digits"] == 0


def test_digits_are_counted_on_the_worst_coefficient():
    certificate = certificate_of_digits(
        np.array([1.0, 1e-3]), np.array([1e-12, 1e-12]), np.zeros(2), 0.01, 10.0
    )
    assert certificate.kind == "accurate"
    assert certificate.evidence["digits"] == pytest.approx(9.0)
    assert "9.0 digits" in certificate.statement


def test_a_coefficient_that_is_zero_is_measured_in_the_units_of_its_column():
    certificate = certificate_of_digits(
        np.array([1.0, 0.0]), np.array([1e-20, 1e-30]), np.array([1e-16, 1e-16]), 0.01, 10.0
    )
    assert certificate.evidence["digits"] > 13


def test_a_contraction_of_one_proves_nothing():
    assert np.isinf(after_correction(np.eye(2), 1.0, np.ones(2), np.zeros(2), 0.0)).all()
    assert np.isfinite(after_correction(np.eye(2), 0.999, np.ones(2), np.zeros(2), 0.0)).all()


def test_bounds_in_other_units_cover_what_underflows():
    found = in_users_units(np.array([0.0, 1.0, 1.0]), np.array([-5000, 3, -1074]))
    assert found[0] == 2.0**-1072
    assert found[1] == 8.0
    assert 2.0**-1072 + 2.0**-1074 <= found[2] <= 2.0**-1071


@pytest.mark.parametrize(
    ("weight", "half"),
    [
        (0.75, 2.0**-54),
        (1.0, 2.0**-54),  # the closer of its two neighbours is below
        (1.5, 2.0**-53),
        (-3.0, 2.0**-52),
        (0.0, 0.0),
    ],
)
def test_exact_is_nearer_than_half_a_step(weight, half):
    weights = np.array([weight])
    assert half_steps(weights).tolist() == [half]
    for bound, exact in ((0.999 * half, True), (half, weight == 0)):
        found = stated(weights, np.array([bound]), np.ones(1), {"condition": 1.0})
        assert (found.kind == "exact") == exact  # at half a step another number is as near


def test_one_digit_is_a_digit():
    for bound, kind in ((0.1, "accurate"), (0.1001, "unproven")):
        found = stated(np.ones(1), np.array([bound]), np.zeros(1), {"condition": 1.0})
        assert found.kind == kind


def test_what_has_no_bound_is_named_in_the_evidence():
    one, tiny, zero = np.ones(1), np.full(1, 1e-20), np.zeros(1)
    bare = stated(one, tiny, zero, {"condition": 1.0})
    assert (bare.kind, "without_bound" in bare.evidence) == ("exact", False)
    told = stated(one, tiny, zero, {"condition": 1.0}, missing="the intercept")
    assert (told.kind, told.evidence["without_bound"]) == ("accurate", "the intercept")


def test_a_correction_that_cancels_is_rounded_all_the_same():
    """W'g is 1e16 - 1e16: what rounding may have left of it counts with alpha, too."""
    W, g = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.full(2, 1e16)
    own = 3 * UNIT * 2e16
    bound = after_correction(W, 0.5, g, np.zeros(2), 0.0)
    assert np.all(bound >= 2 * own + 4 * UNIT * 2e16)
    assert np.all(bound <= 1.02 * (2 * own + 4 * UNIT * 2e16))


def test_what_rounding_left_over_is_part_of_the_bound():
    W, low = np.array([[1.0, 2.0]]), np.array([[3e-17, 4e-17]])
    found = certificate_together(W, np.array([1e-16]), low, 10.0)
    np.testing.assert_allclose(found.evidence["error_bound"], [1.01 * 1.5e-16])


def exact_contraction(G, W):
    """|W'GW - I| in Frobenius norm, squared, without rounding."""
    G, W = ([[Fraction(x) for x in row] for row in A.tolist()] for A in (G, W))
    p = len(G)
    GW = [[sum(G[i][k] * W[k][j] for k in range(p)) for j in range(p)] for i in range(p)]
    E = [[sum(W[k][i] * GW[k][j] for k in range(p)) - (i == j) for j in range(p)] for i in range(p)]
    return sum(e * e for row in E for e in row)


def gram_matrices():
    """Positive definite matrices, of good and bad condition, in even and in uneven units."""
    rng = np.random.default_rng(5)
    for p in (1, 2, 3, 5, 8):
        A = rng.standard_normal((3 * p, p))
        hilbert = 1.0 / (np.arange(p)[:, None] + np.arange(p) + 1.0)
        graded = A.T @ A * np.multiply.outer(10.0 ** -np.arange(p), 10.0 ** -np.arange(p))
        for G in (A.T @ A, hilbert, graded, A.T @ A + np.diag(10.0 ** np.arange(0, 2 * p, 2))):
            yield (G + G.T) / 2


def test_a_contraction_covers_what_rounding_hides():
    """Without the bound on rounding, W'GW - I as computed is smaller than it is."""
    hidden = 0
    for G in gram_matrices():
        p = len(G)
        W = inverse_cholesky(G)
        found = contraction(G, W, np.zeros(p))
        truth = exact_contraction(G, W)
        assert truth <= Fraction(found) ** 2
        seen = W.T @ G @ W - np.eye(p)
        hidden += truth > Fraction(1.01 * np.linalg.norm(seen)) ** 2
    assert hidden >= 5


def test_a_contraction_covers_what_is_not_known_of_a_matrix():
    """All entries may be off by 0.01, whose norm is 0.02; sums of columns by (0.3, 0.4)."""
    one = np.eye(2)
    assert 0.02 <= contraction(one, one, np.full(2, 0.1)) <= 0.021
    assert contraction(one, 3.0 * one, np.full(2, 0.1)) >= 8.0 * np.sqrt(2.0) + 0.02 * 9.0
    assert contraction_with_ones(0.0, one, np.array([0.3, 0.4])) >= 0.5
    assert contraction_with_ones(0.25, 2.0 * one, np.array([0.3, 0.4])) >= 1.25


def test_a_contraction_does_not_hang_on_units(rng):
    """Powers of two of units change no bit; a penalty that dwarfs a column costs no digit."""
    A = rng.standard_normal((90, 70))
    G = A.T @ A
    G = (G + G.T) / 2
    none, unit = np.zeros(70), np.ldexp(1.0, rng.integers(-60, 60, 70))
    found = contraction(G, inverse_cholesky(G), none)
    H = G * unit[:, None] * unit
    assert contraction(H, inverse_cholesky(H), none) == found < 1e-6
    G[0, 0] += 1e16
    assert contraction(G, inverse_cholesky(G), none) < 1e-6


def test_a_matrix_that_is_no_triangle_is_multiplied_whole(rng):
    """BLAS reads the upper triangle alone; what lies below would go unseen."""
    A = rng.standard_normal((300, 200))
    G = A.T @ A
    G = (G + G.T) / 2
    none, W = np.zeros(200), inverse_cholesky(G)
    for i, j in ((199, 0), (130, 129), (64, 63)):
        V = W.copy()
        V[i, j] = 1.0
        assert contraction(G, V, none) >= np.linalg.norm(V.T @ G @ V - np.eye(200)) > 1.0
