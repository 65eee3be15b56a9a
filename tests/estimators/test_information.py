"""What summaries and certificates of sides need is made when someone asks, of rows that nobody
else can reach.
"""

import copy
import gc
import pickle

import numpy as np
import pytest
from scipy import sparse

from adaline import LeastSquaresClassifier, LogisticRegression, PoissonRegression, load, save
from adaline.estimators import declarations
from adaline.estimators.declarations import Later


def sample(kind, rng, n=400, p=30):
    X = rng.normal(size=(n, p))
    v = X[:, 0] - 0.5 * X[:, 1]
    if kind is PoissonRegression:
        return X, rng.poisson(np.exp(0.3 * v)).astype(float), rng.uniform(0.5, 2.0, size=n)
    return X, (v + rng.logistic(size=n) > 0).astype(float), rng.uniform(0.5, 2.0, size=n)


def table(model):
    if isinstance(model, LeastSquaresClassifier):
        said = model.certificate_
        return said.kind, said.statement, dict(said.evidence)
    found = model.summary()
    return {name: found[name].tolist() for name in ("coef", "std err", "p")}, found.facts


NAMES = {
    LogisticRegression: "_information",
    PoissonRegression: "_information",
    LeastSquaresClassifier: "_certificate",
}


@pytest.fixture(params=NAMES)
def kind(request):
    return request.param


def waits(model):
    return isinstance(vars(model)[NAMES[type(model)]], Later)


def test_summaries_are_of_the_rows_that_were_fitted_whatever_becomes_of_them(kind, rng):
    X, y, omega = sample(kind, rng)
    expected = table(kind().fit(X, y, omega))
    model = kind().fit(X, y, omega)
    assert waits(model)
    X[:], y[:], omega[:] = 0.0, 1.0, 3.0
    assert table(model) == expected


def test_offsets_are_kept_with_their_rows(rng):
    X, y, _ = sample(PoissonRegression, rng)
    offset = rng.normal(size=len(y))
    expected = table(PoissonRegression().fit(X, y, offset=offset))
    model = PoissonRegression().fit(X, y, offset=offset)
    offset[:] = 0.0
    assert table(model) == expected


def test_rows_that_are_kept_and_rows_that_are_not_give_the_same_summary(kind, rng, monkeypatch):
    X, y, _ = sample(kind, rng)
    kept = table(kind().fit(X, y))
    monkeypatch.setattr(declarations, "ROWS_KEPT", 0)
    model = kind().fit(X, y)
    assert not waits(model)
    assert table(model) == kept


def test_sparse_rows_are_kept_as_they_are(kind, rng):
    X, y, _ = sample(kind, rng)
    X = sparse.csr_array(np.where(np.abs(X) > 1.0, X, 0.0))
    expected = table(kind().fit(X, y))
    model = kind().fit(X, y)
    X.data[:] = 0.0
    assert table(model) == expected


def test_pickles_hold_the_information_in_the_place_of_the_rows(kind, rng):
    X, y, _ = sample(kind, rng, n=2000)
    model = kind().fit(X, y)
    stored = pickle.dumps(model)
    assert len(stored) < X.nbytes / 4
    assert table(pickle.loads(stored)) == table(model)


def test_deep_copies_have_the_same_summary_after_the_model_has_learned_anew(kind, rng):
    X, y, _ = sample(kind, rng)
    model = kind().fit(X, y)
    expected, twin = table(kind().fit(X, y)), copy.deepcopy(model)
    model.fit(X[::2], y[::2])
    assert table(twin) == expected


def test_model_files_hold_the_information(kind, rng, tmp_path):
    X, y, _ = sample(kind, rng)
    model = kind().fit(X, y)
    save(model, tmp_path / "model.adaline")
    assert table(load(tmp_path / "model.adaline")) == table(model)


def test_a_new_fit_forgets_the_rows_of_the_last(kind, rng):
    X, y, _ = sample(kind, rng)
    model = kind().fit(X, y)
    model.fit(X[::2], y[::2])
    assert table(model) == table(kind().fit(X[::2], y[::2]))


def test_many_models_together_keep_few_rows(kind, rng, monkeypatch):
    X, y, _ = sample(kind, rng)
    monkeypatch.setattr(declarations, "ALL_KEPT", declarations._kept.size + 3 * X.nbytes)
    models = [kind().fit(X, y) for _ in range(5)]
    assert [waits(model) for model in models] == [True] * 3 + [False] * 2
    assert table(models[0]) == table(models[4])
    assert waits(kind().fit(X, y))  # the first has no rows now


def test_rows_of_models_that_are_gone_are_not_counted(kind, rng):
    X, y, _ = sample(kind, rng)
    before = declarations._kept.size
    model = kind().fit(X, y)
    assert declarations._kept.size == before + X.nbytes
    del model
    gc.collect()
    assert declarations._kept.size <= before


def test_what_is_not_there_yet_is_named_as_python_does(kind):
    with pytest.raises(AttributeError, match=NAMES[kind]):
        getattr(kind(), NAMES[kind])


def test_samples_of_no_weight_are_not_among_those_whose_side_is_told(rng):
    X, y, omega = sample(LeastSquaresClassifier, rng)
    omega[::2] = 0.0
    assert LeastSquaresClassifier().fit(X, y, omega).certificate_.evidence["samples"] == 200
