"""Digits of many ridge solutions: contractions and bounds, each term where it alone counts."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.certificates.digits import gamma
from adaline.certificates.ridge_digits import SharedInverse
from adaline.linalg import UNIT

LAM = np.array([1.0, 3.0])
S = np.array([1.0, 5.0])  # eigenvalues, in units of size


def shared(V=None, size=(1.0, 1.0), inverse=None):
    inverse = 1 / (S[:, None] + LAM) if inverse is None else inverse
    return SharedInverse(np.eye(2) if V is None else V, np.asarray(size), inverse)


def alpha(one=None, scatter=None, s=S, penalty=None, rho=(0.0, 0.0)):
    one = shared() if one is None else one
    scatter = np.diag(S) if scatter is None else scatter
    penalty = np.tile(LAM, (2, 1)) if penalty is None else penalty
    return one.contractions(scatter, np.asarray(s), LAM, penalty, np.asarray(rho))


def test_exact_factors_are_off_by_their_roundings_alone():
    inverse = 1 / (S[:, None] + LAM)
    F = np.diag(gamma(2 * 2 + 8) * S)
    expected = (
        np.sqrt(np.einsum("jt,jm,mt->t", inverse, F * F, inverse))
        + LAM * inverse.max(axis=0) * np.sqrt(2) * gamma(2 + 2)
        + 8 * UNIT * LAM * inverse.max(axis=0) * 2
        + np.sqrt(2) * 8 * UNIT
    )
    np.testing.assert_allclose(alpha(), 1.02 * expected, rtol=0.01)
    assert np.all(alpha() >= expected)


FAULTS = {
    # A scatter that V and s do not diagonalise: |W' F W| with F = [[0, d], [d, 0]].
    "another scatter": (
        {"scatter": np.diag(S) + 1e-3 * np.eye(2)[::-1]},
        lambda inv: 1e-3 * np.sqrt(2 * inv[0] * inv[1]),
    ),
    "other eigenvalues": ({"s": S + np.array([0.0, 1e-3])}, None),
    # How far the penalty is from a multiple of size^-2, times |V|^2 = 2.
    "uneven penalties": (
        {"penalty": LAM + np.array([[0.0, 0.0], [1e-3, -1e-3]])},
        lambda inv: 1e-3 * inv.max(axis=0) * 2,
    ),
    "an inverse that is off": (
        {"one": shared(inverse=1.001 / (S[:, None] + LAM))},
        lambda inv: np.sqrt(2) * 1e-3,
    ),
    "a rough scatter": (
        {"rho": (3e-2, 1e-2)},
        lambda inv: np.array([9e-4, 1e-4]) @ inv,
    ),
}


@pytest.mark.parametrize(("fault", "expected"), FAULTS.values(), ids=FAULTS)
def test_what_factors_miss_is_in_the_contraction(fault, expected):
    inverse = 1 / (S[:, None] + LAM)
    found = alpha(**fault)
    if expected is None:  # F and the inverse are off alike
        e = 1e-3 * inverse[1]
        expected = e + np.sqrt(2) * e
    else:
        expected = expected(inverse)
    np.testing.assert_allclose(found, 1.02 * expected, rtol=1e-3)


def test_axes_that_are_not_orthogonal_are_in_the_contraction():
    """V of length 1.001: lam |V'V - I|, and F of what S becomes."""
    V = 1.001 * np.eye(2)
    near, inverse = 1.001**2 - 1, 1 / (S[:, None] + LAM)
    of_s = np.linalg.norm(S[:, None] * near * inverse, axis=0)
    expected = of_s + LAM * inverse.max(axis=0) * near * np.sqrt(2)
    np.testing.assert_allclose(alpha(shared(V)), 1.02 * expected, rtol=1e-6)


@pytest.mark.parametrize("size", [(1.0, 1.0), (2.0, 0.25)])
def test_units_of_columns_change_no_contraction(size):
    a = np.asarray(size)
    one = shared(size=size)
    same = alpha(one, np.diag(S / a**2), S, LAM / a[:, None] ** 2, (1e-2, 1e-2) / a)
    np.testing.assert_allclose(same, alpha(rho=(1e-2, 1e-2)), rtol=1e-9)


def test_the_inverse_is_applied_in_the_units_of_the_columns():
    one = shared(size=(2.0, 0.5))
    g = np.array([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(one.solved(g), np.array([[4.0], [0.25]]) * one.inverse * g)


@pytest.mark.parametrize(("size", "k"), [((1.0, 1.0), 0), ((2.0, 0.5), 1)])
def test_a_bound_is_what_the_gradient_the_noise_and_rounding_allow(size, k):
    """|w_j - w*_j| <= |(W W'g)_j| + |W_j| ((alpha |W'g| + noise) / (1 - alpha) + roundings)."""
    one, a = shared(size=size), np.asarray(size)
    root = np.sqrt(one.inverse[:, k])
    for contraction, g, noise in (
        (0.0, np.array([3.0, 4.0]), np.zeros(2)),
        (0.5, np.array([3.0, 4.0]), np.zeros(2)),
        (0.5, np.zeros(2), np.array([1.0, 2.0])),
        (0.25, np.array([3.0, -4.0]), np.array([1.0, 2.0])),
    ):
        G, N = np.zeros((2, 2)), np.zeros((2, 2))
        G[:, k], N[:, k] = g, noise
        bound = one.bounds(np.full(2, contraction), G, N)[:, k]
        length = np.linalg.norm(root * a * g)
        own = gamma(10) * length
        u = length + own
        reach = (contraction * u + np.linalg.norm(root * a * noise)) / (1 - contraction) + own
        far = a * root * reach + gamma(10) * a**2 * root**2 * np.abs(g)
        expected = 1.02 * far + np.abs(a**2 * root**2 * g)
        np.testing.assert_allclose(bound, expected, rtol=1e-12)


def test_roundings_of_a_correction_are_in_its_bound():
    """With alpha = 0 and no noise they are all that is added to |W W'g|."""
    one = shared()
    g = np.array([[4.0, 0.0], [4.0, 0.0]])
    added = one.bounds(np.zeros(2), g, np.zeros((2, 2))) - np.abs(one.solved(g))
    root = np.sqrt(one.inverse[:, 0])
    own = gamma(10) * np.linalg.norm(4 * root)
    expected = 1.02 * (root * own + gamma(10) * 4 * root**2)
    np.testing.assert_allclose(added[:, 0], expected, rtol=0.2)
    assert not added[:, 1].any()


def test_a_contraction_of_one_proves_nothing():
    bound = shared().bounds(np.array([1.0, 0.999]), np.ones((2, 2)), np.zeros((2, 2)))
    assert np.isinf(bound[:, 0]).all()
    assert np.isfinite(bound[:, 1]).all()


def test_roundings_are_added_to_what_factors_miss():
    """Eigenvalues that are off by 2^-46: F is that and its own rounding, not the difference."""
    inverse, off = 1 / (S[:, None] + LAM), 2.0**-46
    F = np.diag([off + gamma(12) * S[0], gamma(12) * S[1]])
    expected = (
        np.sqrt(np.einsum("jt,jm,mt->t", inverse, F * F, inverse))
        + LAM * inverse.max(axis=0) * np.sqrt(2) * gamma(4)
        + 8 * UNIT * LAM * inverse.max(axis=0) * 2
        + np.sqrt(2) * (off * inverse[0] + 8 * UNIT)
    )
    np.testing.assert_allclose(alpha(s=S + np.array([off, 0.0])), 1.02 * expected, rtol=0.01)


def test_roundings_are_added_to_axes_that_are_not_orthogonal():
    """V of length 1 + 2^-48: V'V - I is about 2^-47, and its own rounding more."""
    inverse, near = 1 / (S[:, None] + LAM), 2.0**-47
    of_s = np.linalg.norm(S[:, None] * (near + gamma(12)) * inverse, axis=0)
    expected = (
        of_s
        + LAM * inverse.max(axis=0) * np.sqrt(2) * (near + gamma(4))
        + 8 * UNIT * LAM * inverse.max(axis=0) * 2
        + np.sqrt(2) * 8 * UNIT
    )
    found = alpha(shared((1 + 2.0**-48) * np.eye(2)))
    np.testing.assert_allclose(found, 1.02 * expected, rtol=0.01)
