"""Laws of automatic rates where columns lie far from zero: years, kelvins, pressures."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone, is_classifier

from adaline import Adaline, LogisticRegression, SigmoidPerceptron, WidrowHoff, load, save

LEARNERS = [WidrowHoff(), Adaline(), SigmoidPerceptron(), LogisticRegression()]
each_learner = pytest.mark.parametrize("learner", LEARNERS, ids=repr)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

MEAN, SCATTER, ORIGIN = range(3)  # columns of centres_of
seeds = st.integers(0, 2**32 - 1)


def sample(learner, seed, n=80, classes=3):
    """A year, a temperature, something negative, one that becomes zero, a constant and a plain."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, 6))
    X = Z * [10.0, 8.0, 0.01, 1.0, 0.0, 1.0] + [2005.0, 290.0, -3.0, 5.0, 7.0, 0.0]
    X[rng.integers(20, n) :: 3, 3] = 0.0
    X[rng.random(n) < 0.3, 5] = 0.0
    if is_classifier(learner):
        return X, np.argmax(Z[:, :classes] + rng.gumbel(size=(n, classes)), axis=1)
    return X, Z @ rng.standard_normal(6) + rng.standard_normal(n)


def learned(learner, X, y, parts=((None, None),), **given):
    """A stream of these parts of the rows."""
    model = clone(learner)
    known = {"classes": np.unique(y)} if is_classifier(learner) else {}
    for start, stop in parts:
        model.partial_fit(X[start:stop], y[start:stop], **known, **given)
    return model


def centres_of(model):
    features = model._state.features
    return np.column_stack([features[name] for name in ("centre", "scatter", "origin")])


def assert_same_bits(one, other):
    assert np.array_equal(one._state.theta, other._state.theta)
    assert np.array_equal(one.coef_, other.coef_)
    assert np.array_equal(one.intercept_, other.intercept_)


@each_learner
@settings(max_examples=8)
@given(seed=seeds, classes=st.integers(2, 3), cut=st.integers(1, 79))
def test_any_cutting_and_any_storage_gives_the_same_bits(learner, seed, classes, cut):
    X, y = sample(learner, seed, classes=classes)
    whole = learned(learner, X, y)
    assert np.count_nonzero(centres_of(whole)[:-1, ORIGIN]) == 3
    assert_same_bits(learned(learner, X, y, ((0, cut), (cut, None))), whole)
    assert_same_bits(learned(learner, sparse.csr_array(X), y), whole)
    weighed = np.ones(80)
    assert_same_bits(learned(learner, X, y, sample_weight=weighed), whole)


@each_learner
def test_single_samples_rows_left_out_and_copies_give_the_same_bits(learner, tmp_path):
    X, y = sample(learner, 3)
    whole = learned(learner, X, y)
    live = learned(learner, X, y, ((0, 1),))
    for i in range(1, 80):
        live.learn_one(X[i], y[i])
        if i == 40:
            live = pickle.loads(pickle.dumps(live))
        if i == 60:
            save(live, tmp_path / "live.adaline")
            live = load(tmp_path / "live.adaline")
    assert_same_bits(live, whole)
    with_others, weights = np.repeat(X, 2, axis=0), np.tile([1.0, 0.0], 80)
    with_others[1::2] = 0.0
    left_out = learned(learner, with_others, np.repeat(y, 2), sample_weight=weights)
    assert_same_bits(left_out, whole)


@each_learner
def test_more_rows_than_are_all_measured_learn_alike_dense_and_sparse(learner):
    X, y = sample(learner, 5, n=3000, classes=2)
    X[2000:, 1] *= np.arange(1000) != 501  # in a row that does not measure
    dense, thin = learned(learner, X, y), learned(learner, sparse.csr_array(X), y)
    assert_same_bits(dense, thin)
    assert np.count_nonzero(centres_of(dense)[:-1, ORIGIN]) == 2


@settings(max_examples=10)
@given(seed=seeds, learner=st.sampled_from(LEARNERS))
def test_units_do_not_matter_and_their_extremes_do_no_harm(seed, learner):
    X, y = sample(learner, seed, classes=2)
    units = 2.0 ** np.random.default_rng(seed).integers(-400, 400, 6)
    one, other = learned(learner, X, y), learned(learner, X * units, y)
    assert np.array_equal(other.coef_ * units, one.coef_)
    assert np.array_equal(other.intercept_, one.intercept_)


def test_no_bias_no_origin():
    X, y = sample(WidrowHoff(), 0)
    model = learned(WidrowHoff(fit_intercept=False), X, y)
    assert not centres_of(model).any()
    assert model.intercept_ == 0.0


def test_constants_share_with_the_bias_and_have_small_weights(rng):
    """From an origin nearby their weights would be huge, and cancel against the bias."""
    X = np.column_stack([rng.standard_normal(3000), np.full(3000, 0.1), np.full(3000, 1e6 / 3)])
    model = WidrowHoff().partial_fit(X, X[:, 0] + 2.0)
    shares = model.coef_[1:] * X[0, 1:]
    assert np.all((shares > 0) & (shares < 2))
    assert not centres_of(model)[:-1, ORIGIN].any()


@pytest.mark.parametrize("shift", [10.0, -30.0, 1000.0])
def test_columns_far_from_zero_are_learned_as_well_as_near_ones(shift):
    """Without origins the loss is 1.35, 1.6 and 1.65 times as large, in the end that of a coin."""
    losses = np.empty((5, 2))
    for seed in range(5):
        rng = np.random.default_rng(seed)
        Z, w = rng.standard_normal((4000, 8)), rng.standard_normal(8)
        y = (Z @ w + rng.logistic(size=4000) > 0).astype(int)
        for k, X in enumerate((Z, Z + shift)):
            model = LogisticRegression().partial_fit(X[:2000], y[:2000], classes=[0, 1])
            p = model.predict_proba(X[2000:])[np.arange(2000), y[2000:]]
            losses[seed, k] = -np.log(p).mean()
    near, far = losses.mean(axis=0)
    assert far < 1.05 * near


@pytest.mark.parametrize("later", [0.0, 6.0], ids=["zero", "another value"])
@pytest.mark.parametrize("rest", [1e-3, 0.0], ids=["trembles", "rests"])
def test_a_sensor_that_leaps_costs_a_few_rows_and_not_the_stream(rng, later, rest):
    """It is 5, and tells nothing, for 1500 rows. Its weights may be large; the loss was 10."""
    Z, n = rng.standard_normal((4000, 3)), 1500
    y = (Z @ [1.0, -1.0, 0.5] + rng.logistic(size=4000) > 0).astype(int)
    sensor = np.full(4000, later)
    sensor[:n] = 5.0 + rest * rng.standard_normal(n)
    sensor[37] = 5.0001
    X = np.column_stack([Z, sensor])
    model = LogisticRegression().partial_fit(X[: n + 100], y[: n + 100], classes=[0, 1])
    plain = LogisticRegression().partial_fit(Z[: n + 100], y[: n + 100], classes=[0, 1])
    rows, right = slice(n + 100, None), (np.arange(3900 - n), y[n + 100 :])
    loss, best = (
        -np.log(one.predict_proba(A[rows])[right]).mean() for one, A in ((model, X), (plain, Z))
    )
    assert loss < 1.1 * best
