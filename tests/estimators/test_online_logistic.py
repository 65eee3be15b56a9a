"""LogisticRegression as samples arrive: the same bits for any cutting, and near the optimum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adaline import LogisticRegression


def stream(rng, n, K=2):
    X = rng.standard_normal((n, 3)) * [1.0, 1e4, 1e-3]
    V = X / [1.0, 1e4, 1e-3] @ rng.standard_normal((3, K))
    y = np.argmax(V + rng.gumbel(size=V.shape), axis=1)
    return X, y


@pytest.mark.parametrize("K", [2, 3])
def test_a_long_stream_comes_near_the_likeliest_weights(rng, K):
    X, y = stream(rng, 40_000, K)
    online = LogisticRegression().partial_fit(X, y, classes=np.arange(K))
    best = LogisticRegression(alpha=1e-3).fit(X, y)
    far, labels = stream(np.random.default_rng(1), 10)[0], y[:10]
    assert len(labels) == 10
    np.testing.assert_allclose(online.predict_proba(far), best.predict_proba(far), atol=0.05)


def test_a_stream_goes_on_from_a_fit(rng):
    X, y = stream(rng, 500)
    model = LogisticRegression().fit(X, y)
    before = model.predict_proba(X)
    model.partial_fit(X[:1], y[:1])
    assert np.abs(model.predict_proba(X) - before).max() < 0.7
    assert model.certificate_.kind == "undecided"
    assert model.fit(X, y).certificate_.kind == "optimal"


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200])
def test_a_value_that_cannot_be_squared_is_refused_and_leaves_everything_as_it_was(rng, bad, kind):
    X, y = stream(rng, 3000)
    worse = X.copy()
    worse[2990, 1] = bad
    message = "rescale" if bad == 1e200 else "row 2990, column 1"
    fresh = LogisticRegression()
    with pytest.raises(ValueError, match=message):
        fresh.partial_fit(kind(worse), y, classes=[0, 1])
    assert vars(fresh) == vars(LogisticRegression())
    begun, twin = (LogisticRegression().partial_fit(X, y, classes=[0, 1]) for _ in range(2))
    with pytest.raises(ValueError, match=message):
        begun.partial_fit(kind(worse), y)
    assert np.array_equal(begun.partial_fit(X, y).coef_, twin.partial_fit(X, y).coef_)


@pytest.mark.parametrize("K", [2, 4])
def test_single_samples_are_predicted_as_rows_are(rng, K):
    X, y = stream(rng, 200, K)
    names = np.array(["a", "b", "c", "d"])[y]
    model = LogisticRegression()
    for x, label in zip(X, names, strict=True):
        model.learn_one(x, label, classes=np.array(["a", "b", "c", "d"])[:K])
    assert [model.predict_one(x) for x in X] == model.predict(X).tolist()
    fitted = LogisticRegression().fit(X, names)
    assert [fitted.predict_one(x) for x in X] == fitted.predict(X).tolist()
    careful = LogisticRegression(reject_cost=0.3).partial_fit(X, names)
    assert [careful.predict_one(x) for x in X] == careful.predict(X).tolist()


def test_learning_one_after_a_fit_goes_on_from_it(rng):
    X, y = stream(rng, 300)
    one, rows = LogisticRegression().fit(X, y), LogisticRegression().fit(X, y)
    for x, label in zip(X[:20], y[:20], strict=True):
        one.learn_one(x, label)
    rows.partial_fit(X[:20], y[:20])
    assert np.array_equal(one.coef_, rows.coef_)
    assert np.array_equal(one.fit(X, y).coef_, LogisticRegression().fit(X, y).coef_)
