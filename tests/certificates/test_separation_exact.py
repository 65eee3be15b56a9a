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
from adaline.certificates.separation.rows import SignedRows, over_root, products, rounded
from adaline.integers import integer_rows, least_exponents

seeds = st.integers(0, 2**32 - 1)


def exactly(a, e):
    """a 2^e."""
    return Fraction(a) * Fraction(2) ** e


@pytest.mark.parametrize("bits", [1, 2, 53, 63, 64, 65, 66, 80, 300])
@pytest.mark.parametrize("shift", [0, 1, 200, -3])
def test_a_long_number_is_rounded_by_a_unit_at_most(bits, shift):
    for a in (2**bits - 1, -(2 ** (bits - 1)), 2 ** (bits - 1) + 1):
        exact = exactly(a, -shift)
        assert abs(Fraction(rounded(a, shift)) - exact) <= abs(exact) * Fraction(1, 2**52)


@pytest.mark.parametrize("a", [1, -1, 3, 2**53 - 1, -(7**100), 3**700])
@pytest.mark.parametrize("square", [1, 2, 3, 4, 2**63 - 1, 2**64, 5**200, 7**1000])
def test_a_quotient_by_a_root_is_right_to_the_last_digits(a, square):
    e = (square.bit_length() // 2 - abs(a).bit_length()) % 7 - 3  # some power of two
    e += square.bit_length() // 2 - abs(a).bit_length()  # within float64's range
    found = over_root(a, square, e)
    assert (found < 0) == (a < 0)
    ratio = Fraction(found) ** 2 * square / exactly(a, e) ** 2
    assert abs(ratio - 1) <= Fraction(1, 2**50)
    assert over_root(0, square) == 0.0


@given(seeds)
def test_products_of_any_size_are_those_of_whole_numbers(seed):
    """At the edge of int64 the sum of some products leaves it, and each product does not."""
    rng = np.random.default_rng(seed)
    columns = int(rng.choice([1, 2, 7, 8]))
    wide = int(rng.integers(1, 53))
    fits = 62 - wide - columns.bit_length()  # bits of the weights that still fit
    A = rng.integers(2**wide - 2, 2**wide, (3, columns)) * rng.choice([-1, 0, 1, 1], (3, columns))
    q = rng.integers(-20, 20, columns)
    size = max(fits + int(rng.integers(-1, 4)), 1)
    W = [[2**size - 1 - int(a) % 2 for a in rng.integers(0, 9, columns)] for _ in range(2)]
    scaled = np.ldexp(A.astype(float), q)
    expected = [[sum(int(a) * b for a, b in zip(row, w, strict=True)) for w in W] for row in A]
    assert products(scaled, q, W) == expected
    low = least_exponents(scaled)
    assert integer_rows(scaled, low) == [
        [int(exactly(int(a), int(b - c))) for a, b, c in zip(row, q, low, strict=True)] for row in A
    ]


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


class Worst(SignedRows):
    """Floats that are as wrong as a textbook's bound allows, each row in a direction `push`.

    A dot product of D terms in float64 errs by D units of |z||u| at most; rounding z, u and
    differences of two outputs adds at most four units.
    """

    W: list[list[int]]
    push: np.ndarray
    stretch = 0.0

    def float_gaps(self, U):
        values, e = self.values(np.arange(self.count), self.W)
        unit = e - self.floats(self.W)[1]
        exact = np.array([float(exactly(a, unit)) for a in values]).reshape(self.n, self.K - 1)
        size = (1 + (self.K > 2)) * np.sqrt((U * U).sum(axis=1)).max()
        gap, length = super().float_gaps(U)
        wrong = (self.D + 4) * 2.0**-53 * size * length
        assert np.all(np.abs(gap - exact) <= wrong)
        return exact + self.push.reshape(exact.shape) * wrong, length

    def pair_lengths(self, U):
        """Differences of weights lose nine digits at most, which leaves seven."""
        lengths = super().pair_lengths(U)
        upper = np.triu(np.ones_like(lengths), 1)
        return lengths * (1.0 + self.stretch * np.where(upper, 1.0, -1.0))


def near_a_hyperplane(rng, K, n=40, p=3):
    """Samples whose y'w is zero, or some units in the last place."""
    W = rng.integers(-(2**20), 2**20, (K - 1, p + 1)).tolist()
    X = rng.standard_normal((n, p))
    codes = np.concatenate([np.arange(K), rng.integers(0, K, n - K)])
    w = np.array(W[0], dtype=float)
    X[:, -1] = -(w[0] + X[:, :-1] @ w[1:-1]) / w[-1]
    return X, codes, W


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("of", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("seed", range(5))
def test_signs_are_exact_with_floats_as_wrong_as_they_may_be(seed, of, K):
    rng = np.random.default_rng(seed)
    X, codes, W = near_a_hyperplane(rng, K)
    rows = Worst(of(X), codes, K, True)
    rows.W = W
    values, _ = rows.values(np.arange(rows.count), W)
    truth = [(a > 0) - (a < 0) for a in values]
    for push in (-np.sign(truth), np.ones(rows.count), -np.ones(rows.count)):
        rows.push = np.where(push == 0, 1.0, push)
        signs, closest = rows.sides(W)
        assert signs.tolist() == truth
        assert rows.distance(closest, W) == rows.distance(np.arange(rows.count), W)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("of", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("seed", range(5))
def test_the_closest_row_is_found_with_floats_as_wrong_as_they_may_be(seed, of, K):
    """The closest row looks farther than it is, and all others look closer."""
    rng = np.random.default_rng(seed)
    X, codes, W = near_a_hyperplane(rng, K)
    X[:, 0] += 0.125  # all at about the same distance, but for some units in the last place
    X[codes == 0] = X[codes == 0][:1]
    rows = Worst(of(X), codes, K, True)
    rows.W = W
    every = np.arange(rows.count)
    apart = np.array([rows.distance(every[[k]], W) for k in every])
    rows.push = np.where(apart == apart.min(), 1.0, -1.0)
    for stretch in (0.0, 4e-7, -4e-7):
        rows.stretch = stretch
        _, closest = rows.sides(W)
        assert rows.distance(closest, W) == apart.min()


def won_by(X, W):
    """The class that wins each sample, exactly: signed rows that are all positive."""
    codes = []
    for x in X:
        x = [Fraction(1), *(Fraction(float(a)) for a in x)]
        outputs = [Fraction(0), *(sum(a * b for a, b in zip(w, x, strict=True)) for w in W)]
        codes.append(outputs.index(max(outputs)))
    return np.array(codes)


@pytest.mark.parametrize("unit", [2.0**-40, 1.0, 2.0**40])
@pytest.mark.parametrize("close", [1, 10**3, 10**8, 10**12, 10**16])
@pytest.mark.parametrize("seed", range(5))
def test_a_linear_machine_has_an_exact_margin(seed, close, unit):
    """Of classes with almost the same weights floats see little or nothing of the difference."""
    rng = np.random.default_rng([seed, close])
    big = [round(unit), 7 * close + seed, -3 * close]
    W = [big, [2 * big[0], big[1] + 3, big[2] - 6]]
    X = rng.standard_normal((30, 2)) * unit
    rows = SignedRows(X, won_by(X, W), 3, True)
    signs, closest = rows.sides(W)
    assert signs.min() > 0
    assert rows.distance(closest, W) == rows.distance(np.arange(rows.count), W)


@pytest.mark.parametrize("unit", [2.0**-40, 1.0, 2.0**40])
def test_a_difference_of_weights_that_floats_have_lost_has_no_length(rng, unit):
    big = [0, 7 * 10**16, -3 * 10**16]
    W = [big, [0, big[1] + 8, big[2] - 4], [0, big[2], big[1]]]
    rows = SignedRows(rng.standard_normal((9, 2)) * unit, np.arange(9) % 4, 4, True)
    lengths = rows.pair_lengths(rows.floats(W)[0])
    assert np.isinf(lengths[1, 2])
    assert lengths[0, 3] == pytest.approx(lengths[0, 1], rel=1e-12)
    assert lengths[1, 3] == pytest.approx(lengths[0, 1] * np.sqrt(200 / 58), rel=1e-12)


W_OF_THREE = [[0, 3, 4], [1, -5, 12]]  # |w| = 5 and 13


def test_the_margin_of_a_linear_machine_is_found_with_floats_as_wrong_as_they_may_be():
    """Rows of equal distance but for rounding: the closest looks farther, and the others closer."""
    rng = np.random.default_rng(3)
    along = rng.standard_normal(20)[:, None] * [4.0, -3.0]
    X = along + 1e-12 * np.array([3.0, 4.0])  # just on the side of class 1
    codes = won_by(X, W_OF_THREE)
    X, codes = X[codes == 1], codes[codes == 1]
    rows = Worst(X, codes, 3, True)
    rows.W = W_OF_THREE
    every = np.arange(rows.count)
    apart = np.array([rows.distance(every[[k]], rows.W) for k in every])
    assert 1e-12 < apart.min() < 1e-11
    rows.push = np.where(apart == apart.min(), 1.0, -1.0)
    _, closest = rows.sides(rows.W)
    assert rows.distance(closest, rows.W) == apart.min()


@pytest.mark.parametrize("nearer", [0, 1])
def test_the_margin_of_a_linear_machine_is_found_with_inexact_lengths(nearer):
    """A sample on either side of one boundary, at distances that differ by a hundred millionth."""
    normal = np.array([3.0, 4.0]) / 5
    off = np.array([2.0, 2.0])
    off[nearer] *= 1 - 1e-8
    X = np.outer([-off[0], off[1]], normal) + np.array([-40.0, 30.0])
    moved = [[0, 3, 4], [-10_000, -5, 12]]  # the third class is far away
    codes = won_by(X, moved)
    assert codes.tolist() == [0, 1]
    rows = Worst(X, codes, 3, True)
    rows.W, rows.push = moved, np.zeros(4)
    for stretch in (4e-7, -4e-7):
        rows.stretch = stretch
        _, closest = rows.sides(moved)
        assert rows.distance(closest, moved) == rows.distance(np.arange(4), moved)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("of", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_more_rows_than_a_block_have_their_own_signs(rng, of, K):
    n = 9000  # three blocks
    X = rng.integers(-3, 4, (n, 2)).astype(float)
    codes = rng.integers(0, K, n)
    W = rng.integers(-3, 4, (K - 1, 3))
    V = np.concatenate([np.zeros((n, 1)), np.c_[np.ones(n), X] @ W.T], axis=1)
    signs, _ = SignedRows(of(X), codes, K, True).sides(W.tolist())
    own = np.take_along_axis(V, codes[:, None], axis=1)
    others = np.array([[k for k in range(K) if k != c] for c in range(K)])[codes]
    expected = np.sign(own - np.take_along_axis(V, others, axis=1))
    assert np.array_equal(signs.reshape(n, K - 1), expected)


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


def test_null_spaces_too_wide_to_write_down_are_refused(monkeypatch):
    rows = SignedRows(np.eye(4), np.array([0, 1, 2, 0]), 3, True)
    monkeypatch.setattr(integer_claims, "WIDEST", 10)
    assert len(integer_claims.orthogonal_weights(rows, [0])) == 9
    monkeypatch.setattr(integer_claims, "WIDEST", 9)
    with pytest.raises(integer_claims.TooLarge, match="10 weights are more than the 9"):
        integer_claims.orthogonal_weights(rows, [0])


@given(seeds, st.sampled_from([2, 3]), st.booleans(), st.booleans())
def test_weights_of_scaled_samples_are_weights_of_samples_and_back(seed, K, intercept, far):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 3)) * 2.0 ** rng.integers(-9, 9, 3) + (100.0 if far else 0.0)
    rows = SignedRows(X, np.arange(20) % K, K, intercept)
    m = rng.integers(-9, 10, (K - 1) * rows.D).tolist()
    m[0] += 10 * (not any(m))
    W = rows.from_floats(m)
    assert math.gcd(*(a for w in W for a in w)) == 1
    U, _ = rows.floats(W)
    expected = np.array(m, dtype=float).reshape(K - 1, rows.D)
    assert U / np.abs(U).max() == pytest.approx(expected / np.abs(expected).max(), abs=1e-14)
    assert 0.5 <= np.abs(U).max() <= 1.0


@pytest.mark.parametrize("intercept", [False, True])
def test_grains_of_sparse_columns_are_those_of_dense_ones(rng, intercept):
    X = rng.integers(-3, 4, (9, 4)) * [1.0, 0.125, 0.0, 2.0**70]
    X[:, 2] = 1.0
    thin = sparse.csr_matrix(X)
    thin.data[thin.indices == 2] = X[:, 2] = 0.0  # a zero that is stored is no entry
    codes = np.arange(9) % 2
    dense = SignedRows(X, codes, 2, intercept).grains
    assert SignedRows(thin, codes, 2, intercept).grains.tolist() == dense.tolist()
    assert len(dense) == 4 + intercept
