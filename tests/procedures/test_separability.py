"""`separability`: the three verdicts at every size."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adaline import separability


def proven(X, codes, **options):
    found = separability(X, codes, **options)
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
    w = separability(X, y)
    assert w.check(X, y)


def test_one_flipped_label_among_thousands_is_found(rng):
    X, y = sides(rng, 5000, 5)
    found = separability(X, y)
    v = np.asarray(X @ found.coef + found.intercept)
    y[np.argsort(np.abs(v))[2500]] ^= 1
    assert proven(X, y).verdict == "overlapping"


def test_rows_at_rounding_distance_from_a_plane_are_decided(rng):
    X = rng.standard_normal((1500, 3))
    w = rng.standard_normal(3)
    X[:, 2] = -(X[:, :2] @ w[:2]) / w[2]
    y = (X @ w > 0).astype(np.int64)
    assert proven(X, y, fit_intercept=False).verdict in ("separable", "overlapping")


def test_many_sparse_columns_are_decided_without_writing_them_out(rng):
    n, p, k = 800, 20_000, 20
    entries = rng.random(n * k), rng.integers(0, p, n * k), np.arange(n + 1) * k
    X = sparse.csr_matrix(entries, shape=(n, p))
    found = proven(X, rng.integers(0, 2, n))
    assert found.verdict == "separable"


def test_a_linear_machine_of_many_classes(rng):
    X = rng.standard_normal((600, 5))
    V = X @ rng.standard_normal((5, 4))
    y = np.argmax(V, axis=1)
    assert proven(X, y).verdict == "separable"
    y[0] = np.argmin(V[0])
    assert proven(X, y).verdict in ("overlapping", "quasi-separable")
