"""`decide_data`: the three verdicts at every size, and the simplex in integers by itself."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import sparse

from adaline.certificates.separation.data import Data, as_float64
from adaline.integers import dot
from adaline.procedures import separability
from adaline.procedures.exact_lp import ExactSimplex, OutOfTime, WeightSpace
from adaline.procedures.separability import Search, decide_data
from reference_separability import Fraction, signed_rows, verdict


def decide(X, codes, fit_intercept=True, **options):
    codes = np.asarray(codes, dtype=np.int64)
    data = Data(as_float64(X), codes, tuple(range(codes.max() + 1)), np.arange(len(codes)))
    return decide_data(data, fit_intercept, **options)


def proven(X, codes, **options):
    found = decide(X, codes, **options)
    checked = found.check(X, codes)
    assert checked, checked.sentence
    return found


def sides(rng, n, d, gap=0.0):
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    y = (X @ w > 0.1).astype(np.int64)
    return X + gap * np.outer(2 * y - 1, w), y


@pytest.mark.parametrize(("n", "d"), [(300, 2), (3000, 10), (2000, 40)])
def test_clear_cases_of_every_size(rng, n, d):
    X, y = sides(rng, n, d)
    assert proven(X, y).verdict == "separable"
    assert proven(X, rng.integers(0, 2, n)).verdict == "overlapping"
    y[np.argmax(X @ X.mean(axis=0))] ^= 1
    w = decide(X, y)
    assert w.check(X, y)


def test_one_flipped_label_among_thousands_is_found(rng):
    X, y = sides(rng, 5000, 5)
    found = decide(X, y)
    v = np.asarray(X @ found.coef + found.intercept)
    y[np.argsort(np.abs(v))[2500]] ^= 1
    assert proven(X, y).verdict == "overlapping"


def test_rows_at_rounding_distance_from_a_plane_are_decided(rng):
    X = rng.standard_normal((1500, 3))
    w = rng.standard_normal(3)
    X[:, 2] = -(X[:, :2] @ w[:2]) / w[2]
    y = (X @ w > 0).astype(np.int64)
    assert proven(X, y, fit_intercept=False).verdict in ("separable", "overlapping")


def test_thousands_of_rows_on_the_plane_itself_are_quasi_separable(rng):
    X = rng.integers(-3, 4, (4000, 4)).astype(float)
    v = X @ [1, -2, 0, 1]
    y = np.where(v == 0, rng.integers(0, 2, 4000), v > 0).astype(np.int64)
    found = proven(X, y)
    assert found.verdict == "quasi-separable"
    W = np.array([float(a) for a in found.weights[0]])
    assert np.allclose(W[1:] / W[1], [1, -2, 0, 1])


@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e-8, 1e8, 1e100, 1e300])
def test_units_do_not_change_the_verdict(rng, scale):
    X = rng.standard_normal((200, 3))
    labels = {"separable": (X[:, 0] + X[:, 1] > 0.5), "overlapping": rng.integers(0, 2, 200)}
    for verdict_, y in labels.items():
        y = y.astype(np.int64)
        assert proven(X * [scale, 1.0, 1 / scale], y).verdict == verdict_


def test_features_far_from_zero_keep_their_verdict(rng):
    X, y = sides(rng, 2000, 4, gap=0.01)
    assert proven(X + 1e8, y).verdict == "separable"


@pytest.mark.parametrize("at", [1.0, 0.1, 1e8, 1e300, 1e-300])
def test_a_gap_of_one_unit_in_the_last_place_separates(rng, at):
    X = rng.standard_normal((50, 3))
    y = rng.integers(0, 2, 50)
    X[:, 1] = np.where(y == 1, np.nextafter(at, np.inf), at)
    assert proven(X, y).verdict == "separable"
    X[0, 1], X[:, [0, 2]] = np.nextafter(at, np.inf) if y[0] == 0 else at, 7.0
    assert proven(X, y).verdict == "quasi-separable"


def test_more_columns_than_rows(rng):
    X = rng.standard_normal((20, 200))
    y = rng.integers(0, 2, 20)
    y[:2] = 0, 1
    assert proven(X, y).verdict == "separable"
    X[1] = X[0]
    assert proven(X, y).verdict == "quasi-separable"
    assert proven(X[:2], y[:2]).verdict == "overlapping"


def test_columns_that_depend_on_others_do_not_matter(rng):
    X = rng.integers(-4, 5, (300, 3)).astype(float)
    more = np.column_stack([X, X @ [1, 2, -1], np.full(300, 3.0), np.zeros(300), X[:, 0]])
    for y in (rng.integers(0, 2, 300), (X @ [1, 1, 0] > 0).astype(np.int64)):
        assert proven(more, y).verdict == proven(X, y).verdict


def test_a_row_of_zeros_cannot_be_on_a_side_without_an_intercept():
    X, y = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]]), np.array([0, 1, 0])
    found = proven(X, y, fit_intercept=False)
    assert found.verdict == "quasi-separable"
    assert [i for i, _ in found.rows] == [0]
    assert proven(X, y).verdict == "separable"


def test_many_sparse_columns_are_decided_without_writing_them_out(rng):
    n, p, k = 800, 20_000, 20
    entries = rng.random(n * k), rng.integers(0, p, n * k), np.arange(n + 1) * k
    X = sparse.csr_matrix(entries, shape=(n, p))
    found = proven(X, rng.integers(0, 2, n))
    assert found.verdict == "separable"


def test_what_is_too_large_is_undecided_and_says_why(rng):
    n, p, k = 6000, 5000, 8
    entries = rng.random(n * k), rng.integers(0, p, n * k), np.arange(n + 1) * k
    X = sparse.csr_matrix(entries, shape=(n, p)).tolil()
    X[1] = X[0]
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    found = decide(X.tocsr(), y, time_limit=5.0)
    assert found.verdict == "undecided"
    assert (found.rows, found.multipliers) == (((0, 1), (1, 0)), (1, 1))
    assert "rows 0 and 1 are equal with different labels" in found.explain()
    assert found.sentence in found.explain()
    assert found.check(X.tocsr(), y)


def test_time_over_is_undecided(rng):
    X, y = sides(rng, 500, 5)
    found = decide(X, y, time_limit=0.0)
    assert (found.verdict, found.weights, found.multipliers) == ("undecided", (), ())
    assert "time limit" in found.explain()


def test_a_busy_machine_does_not_take_time_from_the_limit(rng, monkeypatch):
    """Other processes are as if this one slept: the clock on the wall goes on."""
    search, slept = separability.search_hull, []

    def interrupted(*arguments):
        time.sleep(0.6)
        slept.append(True)
        return search(*arguments)

    monkeypatch.setattr(separability, "search_hull", interrupted)
    X, y = sides(rng, 500, 5)
    found = decide(X, y, time_limit=0.5)
    assert slept
    assert found.verdict == "separable"


def test_a_linear_machine_of_many_classes(rng):
    X = rng.standard_normal((600, 5))
    V = X @ rng.standard_normal((5, 4))
    y = np.argmax(V, axis=1)
    assert proven(X, y).verdict == "separable"
    y[0] = np.argmin(V[0])
    assert proven(X, y).verdict in ("overlapping", "quasi-separable")


def test_many_classes_are_not_written_out(rng, monkeypatch):
    X = rng.standard_normal((300, 4))
    y = np.argmax(X @ rng.standard_normal((4, 3)), axis=1)
    before = decide(X, y)
    monkeypatch.setattr(separability, "EXPLICIT", 10)
    assert proven(X, y).verdict == before.verdict == "separable"
    y[:20] = (y[:20] + 1) % 3
    assert proven(X, y).verdict == "overlapping"


@pytest.mark.parametrize("seed", range(30))
def test_the_simplex_in_integers_alone_decides(seed):
    rng = np.random.default_rng(seed)
    Y = rng.integers(-2, 3, (int(rng.integers(1, 12)), int(rng.integers(1, 4)))).tolist()
    simplex = ExactSimplex(len(Y[0]))
    for y in Y:  # one row after the other, each from the basis before
        simplex.add([y])
        answer = simplex.solve()
    truth = verdict([[Fraction(a) for a in y] for y in Y])
    if answer.w is not None:
        assert truth == "separable"
        assert min(dot(y, answer.w) for y in Y) > 0
    else:
        assert truth != "separable"
        assert min(answer.multipliers) > 0
        columns = zip(*(Y[i] for i in answer.rows), strict=True)
        assert not any(dot(answer.multipliers, column) for column in columns)


def test_the_simplex_stops_in_time():
    simplex = ExactSimplex(2, deadline=time.thread_time() - 1.0)
    simplex.add([[1, 2]])
    with pytest.raises(OutOfTime):
        simplex.solve()


@pytest.mark.parametrize("seed", range(25))
def test_integers_decide_where_floats_find_nothing(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (8, 2)).astype(float)
    y = rng.integers(0, 2, 8)
    y[:2] = 0, 1
    monkeypatch.setattr(Search, "believe_multipliers", lambda *_: None)
    monkeypatch.setattr(WeightSpace, "rounded", lambda *_: None)
    assert proven(X, y).verdict == verdict(signed_rows(X, 2 * y - 1))


def dependent_but_for_rounding(rng, n, d, K):
    X = rng.standard_normal((n, d // 2)) @ rng.integers(-2, 3, (d // 2, d))
    y = rng.integers(0, K, n)
    y[:K] = range(K)
    return X, y


@pytest.mark.parametrize("K", [2, 3, 4])
def test_columns_that_are_dependent_but_for_rounding_are_decided(rng, K):
    X, y = dependent_but_for_rounding(rng, 200, 8, K)
    assert proven(X, y).verdict == "overlapping"


def test_columns_overlooked_by_a_prime_are_noticed(rng, monkeypatch):
    # Independent columns are chosen modulo a prime; should it divide a minor, nothing is claimed.
    monkeypatch.setattr("adaline.procedures.exact_lp.independent", lambda E, *_: ([], [0, 1]))
    monkeypatch.setattr(Search, "believe_multipliers", lambda *_: None)
    X, y = dependent_but_for_rounding(rng, 3, 4, 2)
    X[1] = X[0]  # with different labels
    found = decide(X, y)
    assert found.verdict != "separable"
    assert found.check(X, y)
