"""The iterations of Ho and Kashyap are those of the slow twin, dense, as CSR and of long rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adaline import HoKashyap
from reference_classifiers import ho_kashyap as twin

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("start", [True, False])
def test_the_iterations_are_those_of_the_slow_twin(form, rng, intercept, start):
    ends = set()
    for _ in range(40):
        n, p = int(rng.integers(4, 30)), int(rng.integers(1, 4))
        X = rng.standard_normal((n, p))
        t = np.where(X[:, 0] + rng.choice([0.0, 0.5]) * rng.standard_normal(n) > 0.1, 1, -1)
        if abs(t.sum()) == n:
            t[0] *= -1
        b, given, a = rng.uniform(0.5, 2.0, n), {}, None
        if start:
            a = rng.standard_normal(p + intercept)
            given["coef_init"] = a[int(intercept) :]
            given |= {"intercept_init": a[0]} if intercept else {}
        model = HoKashyap(max_iter=60, fit_intercept=intercept).fit(form(X), t, margins=b, **given)
        k, want, margins, e, end = twin(X, t, a, b, max_iter=60, intercept=intercept)
        assert (model.n_iter_, model.fit_.ends) == (k, (end,))
        found = [*model.intercept_, *model.coef_[0]] if intercept else model.coef_[0]
        np.testing.assert_allclose(found, want, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(model.margins_, margins, rtol=1e-8)
        np.testing.assert_allclose(model.fit_.errors[0], e, atol=1e-8)
        ends.add(end)
    assert ends == {"separated", "balanced", "iterations"}


@pytest.mark.parametrize("intercept", [True, False])
def test_rows_too_long_to_be_unpacked_learn_from_the_columns_that_they_have(rng, intercept):
    n, p = 300, 2**17
    X = rng.standard_normal((n, 9)) * (rng.random((n, 9)) < 0.5)
    y = X.sum(axis=1) + 0.3 * rng.standard_normal(n) > 0.0
    at = np.sort(rng.choice(p, 9, replace=False))
    entries = sparse.coo_array(X)
    long = sparse.csr_array((entries.data, (entries.row, at[entries.col])), shape=(n, p))
    model, short = (HoKashyap(max_iter=4, fit_intercept=intercept).fit(Z, y) for Z in (long, X))
    assert model.n_iter_ == short.n_iter_ == 4
    np.testing.assert_allclose(model.coef_[:, at], short.coef_, atol=1e-7)
    np.testing.assert_allclose(model.intercept_, short.intercept_, atol=1e-7)
    np.testing.assert_allclose(model.margins_, short.margins_, rtol=1e-7)
    assert np.count_nonzero(model.coef_) <= 9


@pytest.mark.parametrize("columns", [6, 2**17])
def test_of_many_weights_it_gives_the_shortest_in_the_user_s_units(rng, columns):
    X = rng.standard_normal((300, 3)) @ rng.standard_normal((3, 6)) * [1, 10, 1e-3, 5, 1, 1]
    b, t = rng.uniform(0.5, 2.0, 300), np.where(np.arange(300) % 2, 1, -1)
    long = sparse.csr_array(X)
    long.resize(300, columns)  # those of 2^17 columns are not unpacked
    model = HoKashyap(max_iter=1).fit(long, t, margins=b)
    want = np.linalg.pinv(X - X.mean(axis=0), rcond=1e-10) @ (t * b)
    np.testing.assert_allclose(model.coef_[0, :6], want, rtol=1e-8 if columns == 6 else 1e-6)
