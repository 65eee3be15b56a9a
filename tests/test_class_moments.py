"""Class moments against rational arithmetic: right, within their own bounds, and mergeable."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from adaline import ClassMoments
from reference import exact_moments, scatter_is_within

KINDS = ["shared", "full", "diagonal"]
K, P = 3, 2

entries = st.floats(-1e6, 1e6, allow_subnormal=False).map(lambda x: round(x, 3))
kinds = st.sampled_from(KINDS)


@st.composite
def labelled(draw, largest=10):
    """Rows, and the code of a class for each."""
    n = draw(st.integers(1, largest))
    rows = draw(arrays(float, (n, P), elements=entries))
    return rows, draw(arrays(np.int64, n, elements=st.integers(0, K - 1)))


def together(*blocks):
    return np.vstack([X for X, _ in blocks]), np.concatenate([c for _, c in blocks])


def exact(X, codes, weights=None):
    """Counts, means and scatters of the classes as fractions; None for a class without rows."""
    counts = np.ones(len(X), dtype=int) if weights is None else weights
    parts = []
    for k in range(K):
        mine = (codes == k) & (counts > 0)
        parts.append(exact_moments(X[mine], counts[mine]) if mine.any() else None)
    return parts


def within_its_bounds(m, X, codes, weights=None):
    """Whether means and scatter differ from the exact ones by no more than m says they may."""
    parts = exact(X, codes, weights)
    unit = [Fraction(2) ** int(e) for e in m.exponent]
    total = [[Fraction(0)] * P for _ in range(P)]
    for k, part in enumerate(parts):
        assert (part is None) == (m.rows[k] == 0)
        if part is None:
            assert m.weight[k] == 0
            continue
        n, mean, scatter = part
        assert m.weight[k] == pytest.approx(float(n), rel=1e-14)
        for i in range(P):
            error = abs(Fraction(m.mean[k, i]) * unit[i] - mean[i])
            assert error <= Fraction(m.mean_rounding[k, i]) * unit[i]
            for j in range(P):
                total[i][j] += scatter[i][j]
        if m.covariance == "full":
            assert scatter_is_within(m.scatter[k], scatter, m.rounding[k], unit)
        if m.covariance == "diagonal":
            diagonal = [[scatter[i][i] if i == j else 0 for j in range(P)] for i in range(P)]
            assert scatter_is_within(np.diag(m.scatter[k]), diagonal, m.rounding[k], unit)
    return m.covariance != "shared" or scatter_is_within(m.scatter, total, m.rounding, unit)


@given(labelled(), labelled(), labelled(), kinds)
def test_class_moments_of_parts_add_up_within_their_bounds(A, B, C, kind):
    a, b, c = (ClassMoments.of(*block, K, covariance=kind) for block in (A, B, C))
    assert within_its_bounds(a, *A)
    assert within_its_bounds(a + (b + c), *together(A, B, C))
    over = ClassMoments.over([A, B, C], K, kind)
    assert within_its_bounds(over, *together(A, B, C))


def many(rng, n=9000, p=7, classes=4):
    """More rows than a tile holds, with classes far from each other and from zero."""
    codes = rng.integers(0, classes, n)
    return rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + 1e3 * codes[:, None] + 1e5, codes


def in_two_passes(X, codes, classes, kind):
    parts = [X[codes == k] - X[codes == k].mean(axis=0) for k in range(classes)]
    scatters = np.stack([part.T @ part for part in parts])
    if kind == "diagonal":
        return np.stack([np.diag(S) for S in scatters])
    return scatters.sum(axis=0) if kind == "shared" else scatters


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "form",
    [np.asarray, np.asfortranarray, lambda X: np.repeat(X, 2, axis=0)[::2], sparse.csr_array],
    ids=["C order", "F order", "strided", "CSR"],
)
def test_many_rows_in_any_form_give_the_scatter_of_two_passes(rng, kind, form):
    X, codes = many(rng)
    m = ClassMoments.of(form(X), codes, 4, covariance=kind)
    expected = in_two_passes(X, codes, 4, kind)
    # 9000 rows centred to 1e-11 of their spread: sums agree to about 1e-11
    np.testing.assert_allclose(m.within, expected, rtol=1e-10, atol=1e-10 * expected.max())
    np.testing.assert_allclose(m.means, [X[codes == k].mean(axis=0) for k in range(4)], rtol=1e-14)


def test_rows_never_seen_cannot_be_forgotten(rng):
    X, codes = many(rng, n=50)
    for kind in KINDS:
        m = ClassMoments.of(X, codes, 4, covariance=kind)
        with pytest.raises(ValueError, match="of class 2 from"):
            m - ClassMoments.of(np.vstack([X, X]), np.full(100, 2), 4, covariance=kind)
        with pytest.raises(ValueError, match="negative sum of squares"):
            m - ClassMoments.of(X[:9] * 7, codes[:9], 4, covariance=kind)


@pytest.mark.parametrize("covariance", ["shared", "full"])
def test_covariances_beyond_memory_are_refused_with_advice(covariance):
    with pytest.raises(ValueError, match=r"of 10000000 columns .* GiB.* hash"):
        ClassMoments.of(sparse.csr_array((2, 10**7)), [0, 1], 2, covariance=covariance)
