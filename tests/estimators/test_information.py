"""What summaries need is computed by the fit, and is of its rows whatever becomes of them."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse

from adaline import LogisticRegression, PoissonRegression, load, save


def sample(kind, rng, n=400, p=30):
    X = rng.normal(size=(n, p))
    v = X[:, 0] - 0.5 * X[:, 1]
    if kind is PoissonRegression:
        return X, rng.poisson(np.exp(0.3 * v)).astype(float), rng.uniform(0.5, 2.0, size=n)
    return X, (v + rng.logistic(size=n) > 0).astype(float), rng.uniform(0.5, 2.0, size=n)


def table(model):
    summary = model.summary()
    return {name: summary[name].tolist() for name in ("coef", "std err", "p")}, summary.facts


@pytest.fixture(params=[LogisticRegression, PoissonRegression])
def kind(request):
    return request.param


def test_summaries_are_of_the_rows_that_were_fitted_whatever_becomes_of_them(kind, rng):
    X, y, omega = sample(kind, rng)
    expected = table(kind().fit(X, y, omega))
    model = kind().fit(X, y, omega)
    X[:], y[:], omega[:] = 0.0, 1.0, 3.0
    assert table(model) == expected


def test_sparse_rows_give_the_summary_of_their_numbers(kind, rng):
    X, y, _ = sample(kind, rng)
    X = sparse.csr_array(np.where(np.abs(X) > 1.0, X, 0.0))
    expected = table(kind().fit(X, y))
    model = kind().fit(X, y)
    X.data[:] = 0.0
    assert table(model) == expected


def test_pickles_copies_and_files_hold_the_information(kind, rng, tmp_path):
    X, y, _ = sample(kind, rng, n=2000)
    model = kind().fit(X, y)
    stored, expected = pickle.dumps(model), table(model)
    assert len(stored) < X.nbytes / 4
    twin = copy.deepcopy(model)
    save(model, tmp_path / "model.adaline")
    model.fit(X[::2], y[::2])
    assert table(model) == table(kind().fit(X[::2], y[::2]))
    for other in (pickle.loads(stored), twin, load(tmp_path / "model.adaline")):
        assert table(other) == expected
