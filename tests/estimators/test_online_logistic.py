"""LogisticRegression as samples arrive: the same bits for any cutting, and near the optimum."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from adaline import LogisticRegression, criteria
from adaline.kernels import codes as neurons


def stream(rng, n, K=2):
    X = rng.standard_normal((n, 3)) * [1.0, 1e4, 1e-3]
    V = X / [1.0, 1e4, 1e-3] @ rng.standard_normal((3, K))
    y = np.argmax(V + rng.gumbel(size=V.shape), axis=1)
    return X, y


@pytest.mark.parametrize("K", [2, 4])
def test_any_cutting_gives_the_same_bits(rng, K):
    X, y = stream(rng, 300, K)
    whole = LogisticRegression().partial_fit(X, y, classes=np.arange(K))
    parts = LogisticRegression()
    for i in range(0, 300, 37):
        parts.partial_fit(X[i : i + 37], y[i : i + 37], classes=np.arange(K))
    single = LogisticRegression()
    for x, label in zip(X, y, strict=True):
        single.learn_one(x, label, classes=np.arange(K))
    assert np.array_equal(whole.coef_, parts.coef_)
    assert np.array_equal(whole.coef_, single.coef_)
    assert np.array_equal(whole.intercept_, single.intercept_)


@pytest.mark.parametrize("K", [2, 3])
def test_a_long_stream_comes_near_the_likeliest_weights(rng, K):
    X, y = stream(rng, 40_000, K)
    online = LogisticRegression().partial_fit(X, y, classes=np.arange(K))
    best = LogisticRegression(alpha=1e-3).fit(X, y)
    far, labels = stream(np.random.default_rng(1), 10)[0], y[:10]
    assert len(labels) == 10
    np.testing.assert_allclose(online.predict_proba(far), best.predict_proba(far), atol=0.05)


@pytest.mark.parametrize("K", [2, 3])
def test_the_kernel_learns_by_the_gradient_of_the_loss(rng, K):
    """One sample from zero: the step is the rate times 1[own] - p, feature by feature."""
    x = rng.standard_normal(3)
    model = LogisticRegression().learn_one(x, 1, classes=np.arange(K))
    W = model._state.last[:, :-1]
    V = np.zeros((1, 1 if K == 2 else K))
    T = np.ones((1, 1))
    criterion = neurons.CROSS_ENTROPY if K == 2 else neurons.SOFTMAX
    slope, loss = criteria.slopes(criterion, T, V)
    direction = slope[0][:, None] * np.sign(x)  # with one sample each feature's unit is |x|
    assert np.array_equal(np.sign(W), np.sign(direction))
    assert loss.item() == pytest.approx(np.log(K))
    assert model._state.loss == pytest.approx(np.log(K))


def test_slopes_are_derivatives_of_the_losses(rng):
    V, T = rng.standard_normal((6, 3)), rng.integers(0, 3, (6, 1)).astype(float)
    for criterion, targets in ((neurons.SOFTMAX, T), (neurons.CROSS_ENTROPY, (V > 0) * 1.0)):
        slope, _ = criteria.slopes(criterion, targets, V)
        step = 1e-6
        for k in range(3):
            up, down = V.copy(), V.copy()
            up[:, k] += step
            down[:, k] -= step
            rise = criteria.slopes(criterion, targets, up)[1].sum(axis=1)
            fall = criteria.slopes(criterion, targets, down)[1].sum(axis=1)
            np.testing.assert_allclose(-(rise - fall) / (2 * step), slope[:, k], atol=1e-8)


def test_sparse_rows_learn_what_dense_rows_learn(rng):
    X, y = stream(rng, 200)
    X[rng.random(X.shape) < 0.5] = 0.0
    dense = LogisticRegression().partial_fit(X, y, classes=[0, 1])
    thin = LogisticRegression().partial_fit(sparse.csr_matrix(X), y, classes=[0, 1])
    np.testing.assert_allclose(thin.coef_, dense.coef_, rtol=1e-10)


def test_a_stream_goes_on_from_a_fit(rng):
    X, y = stream(rng, 500)
    model = LogisticRegression().fit(X, y)
    before = model.predict_proba(X)
    model.partial_fit(X[:1], y[:1])
    assert np.abs(model.predict_proba(X) - before).max() < 0.7
    assert model.certificate_.kind == "undecided"
    assert model.fit(X, y).certificate_.kind == "optimal"


def test_labels_and_widths_that_change_are_refused_and_lose_nothing(rng):
    X, y = stream(rng, 50)
    model = LogisticRegression().partial_fit(X, y, classes=[0, 1])
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X, y + 5)
    with pytest.raises(ValueError, match="cannot change"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :2], y)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="row 3, column 1"):
        model.partial_fit(X, y)
    assert np.array_equal(model.coef_, before)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200])
def test_a_value_that_cannot_be_squared_is_refused_and_leaves_everything_as_it_was(rng, bad, kind):
    X, y = stream(rng, 3000)
    worse = X.copy()
    worse[2990, 1] = bad
    message = "larger units" if bad == 1e200 else "row 2990, column 1"
    fresh = LogisticRegression()
    with pytest.raises(ValueError, match=message):
        fresh.partial_fit(kind(worse), y, classes=[0, 1])
    assert vars(fresh) == vars(LogisticRegression())
    begun, twin = (LogisticRegression().partial_fit(X, y, classes=[0, 1]) for _ in range(2))
    with pytest.raises(ValueError, match=message):
        begun.partial_fit(kind(worse), y)
    assert np.array_equal(begun.partial_fit(X, y).coef_, twin.partial_fit(X, y).coef_)


def test_a_row_of_weight_zero_is_looked_at_too(rng):
    X, y = stream(rng, 50)
    X[3, 1], weights = np.nan, np.ones(50)
    weights[3] = 0.0
    with pytest.raises(ValueError, match="row 3, column 1"):
        LogisticRegression().partial_fit(X, y, classes=[0, 1], sample_weight=weights)


def test_an_unscaled_stream_stays_finite_and_learns(rng):
    X, y = stream(rng, 5000)
    model = LogisticRegression().partial_fit(X * [1e6, 1.0, 1e6], y, classes=[0, 1])
    assert model.score(X * [1e6, 1.0, 1e6], y) > 0.7


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


def test_weights_are_those_of_the_last_sample_whenever_they_are_asked_for(rng):
    X, y = stream(rng, 30)
    one, other = LogisticRegression(), LogisticRegression()
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        one.learn_one(x, label, classes=[0, 1])
        other.learn_one(x.tolist(), label, classes=[0, 1])
        if i % 3 == 0:
            assert np.array_equal(one.coef_, one.fit_.W)  # looking in between changes nothing
            one.predict(X)
    assert np.array_equal(one.coef_, other.coef_)
    assert one.certificate_.kind == "undecided"


def test_learning_one_after_a_fit_goes_on_from_it(rng):
    X, y = stream(rng, 300)
    one, rows = LogisticRegression().fit(X, y), LogisticRegression().fit(X, y)
    for x, label in zip(X[:20], y[:20], strict=True):
        one.learn_one(x, label)
    rows.partial_fit(X[:20], y[:20])
    assert np.array_equal(one.coef_, rows.coef_)
    assert np.array_equal(one.fit(X, y).coef_, LogisticRegression().fit(X, y).coef_)


def test_samples_of_another_shape_or_label_are_refused_and_lose_nothing(rng):
    X, y = stream(rng, 50)
    model = LogisticRegression().partial_fit(X, y, classes=[0, 1])
    before = model.coef_.copy()
    for bad in (X[0, :2], X[:1], 3.0):
        with pytest.raises(ValueError, match="one sample"):
            model.learn_one(bad, 1)
        with pytest.raises(ValueError, match="one sample"):
            model.predict_one(bad)
    for label in (7, "no", [1]):
        with pytest.raises(ValueError, match="not among the classes"):
            model.learn_one(X[0], label)
    assert np.array_equal(model.coef_, before)


def test_before_learning_there_is_nothing_to_predict_with():
    with pytest.raises(NotFittedError):
        LogisticRegression().predict_one([1.0, 2.0])
    with pytest.raises(ValueError, match="classes"):
        LogisticRegression().learn_one([1.0, 2.0], 1)


def test_a_stream_survives_pickling_between_two_samples(rng):
    X, y = stream(rng, 40)
    model = LogisticRegression().partial_fit(X[:20], y[:20], classes=[0, 1])
    model.learn_one(X[20], y[20])
    copy = pickle.loads(pickle.dumps(model))
    for x, label in zip(X[21:], y[21:], strict=True):
        model.learn_one(x, label)
        copy.learn_one(x, label)
    assert np.array_equal(model.coef_, copy.coef_)
