"""Signs, distances and spans of signed rows are exact, however bad the floats are."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from adaline.certificates.separation import checking as integer_claims
from adaline.certificates.separation.rows import SignedRows

seeds = st.integers(0, 2**32 - 1)


def exactly(a, e):
    """a 2^e."""
    return Fraction(a) * Fraction(2) ** e


def random_rows(rng, K, intercept, of=np.asarray, n=12, p=3):
    """Small whole numbers times powers of two, in which rows and columns often coincide."""
    X = rng.integers(-2, 3, (n, p)) * 2.0 ** rng.integers(-3, 4, p)
    X[:, rng.random(p) < 0.2] = 0.0
    codes = np.concatenate([np.arange(K), rng.integers(0, K, n - K)])
    return SignedRows(of(X), codes, K, intercept)


def signed(rows):
    """All signed rows in fractions, one list a row, as the legend of `rows` writes them."""
    X = rows.X.toarray() if sparse.issparse(rows.X) else rows.X
    one = [Fraction(1)] if rows.intercept else []
    found = []
    for row in range(rows.count):
        i, other = rows.pair(row)
        assert rows.row_of(i, other) == row
        x = [*one, *(Fraction(float(a)) for a in X[i])]
        own = int(rows.codes[i])
        sign = [(k == own) - (k == other) for k in range(1, rows.K)]
        found.append([s * a for s in sign for a in x])
    return found


def rank(vectors):
    """By Gauss's elimination in fractions."""
    left, count = [list(v) for v in vectors], 0
    for j in range(len(left[0]) if left else 0):
        pivot = next((v for v in left if v[j]), None)
        if pivot is None:
            continue
        left.remove(pivot)
        left = [[a - v[j] / pivot[j] * b for a, b in zip(v, pivot, strict=True)] for v in left]
        count += 1
    return count


def weighed(vectors, W):
    flat = [a for w in W for a in w]
    return [sum(a * b for a, b in zip(v, flat, strict=True)) for v in vectors]


@settings(max_examples=50)
@given(seeds, st.sampled_from([2, 3, 4]), st.booleans(), st.sampled_from([np.asarray, "csr"]))
def test_spans_are_those_of_fractions(seed, K, intercept, of):
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, K, intercept, sparse.csr_matrix if of == "csr" else of)
    y = signed(rows)
    support = rng.permutation(rows.count)[: rng.integers(1, 9)].tolist()
    members = np.union1d(support, rng.permutation(rows.count)[: rng.integers(1, 12)])
    own = rank([y[i] for i in support])
    whole = rank([y[i] for i in members])
    used = int(np.any(rows.X.toarray() if of == "csr" else rows.X, axis=0).sum()) + intercept
    assert integer_claims.span(rows, support, members, False) == (own == whole)
    if whole < (K - 1) * used:  # some weights are orthogonal to all members
        assert integer_claims.span(rows, support, members, True) == (own == whole)
    out = [i for i in members if rank([*(y[j] for j in support), y[i]]) > own]
    assert integer_claims.outside(rows, support, members).tolist() == out
    basis = integer_claims.orthogonal_weights(rows, support)
    assert len(basis) == (K - 1) * used - own
    assert not any(any(weighed([y[i] for i in support], W)) for W in basis)
    assert rank([[Fraction(a) for w in W for a in w] for W in basis]) == len(basis)


@given(seeds, st.sampled_from([2, 3]), st.booleans(), st.sampled_from([np.asarray, "csr"]))
def test_values_signs_and_distances_are_those_of_fractions(seed, K, intercept, of):
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, K, intercept, sparse.csr_matrix if of == "csr" else of)
    unit = 10 ** int(rng.integers(0, 30))
    W = [[a * unit for a in w] for w in rng.integers(-3, 4, (K - 1, rows.D)).tolist()]
    exact = weighed(signed(rows), W)
    every = np.arange(rows.count)
    values, e = rows.values(every, W)
    assert [exactly(a, e) for a in values] == exact
    signs, closest = rows.sides(W)
    assert signs.tolist() == [(a > 0) - (a < 0) for a in exact]
    assert rows.distance(closest, W) == rows.distance(every, W) == expected_distance(rows, W, exact)


def expected_distance(rows, W, exact):
    """min y'w / |w_own - w_other|, the root rounded by Python."""
    s = int(rows.intercept)
    full, least = [[0] * rows.D, *W], math.inf
    for row, value in enumerate(exact):
        i, other = rows.pair(row)
        own = full[int(rows.codes[i])]
        square = sum((a - b) ** 2 for a, b in zip(own[s:], full[other][s:], strict=True))
        if square:
            root = Fraction(math.isqrt(square << 400), 2**200)
            least = min(least, float(value / root))
    return pytest.approx(least, rel=1e-14)


def test_a_row_that_is_not_spanned_is_found_among_thousands():
    """Members are looked at 4096 at a time, and none may fall between two looks."""
    n = 8200
    X = np.zeros((n, 2))
    X[:, 0] = 1.0
    codes = np.arange(n) % 2
    for last in (4095, 4096, 4097, 8191, 8192, 8199):
        odd = X.copy()
        odd[last, 1] = 1.0
        rows = SignedRows(odd, codes, 2, False)
        assert integer_claims.outside(rows, [0], np.arange(n)).tolist() == [last]
        assert not integer_claims.span(rows, [0], np.arange(n), False)
        assert integer_claims.span(rows, [0], np.delete(np.arange(n), last), False)
