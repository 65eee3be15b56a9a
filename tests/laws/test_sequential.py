"""Laws of learners that correct their errors: most of them hold bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone, is_classifier

from adaline.certificates.margins import mistake_bound
from adaline.estimators.perceptron import Perceptron, SigmoidPerceptron
from adaline.estimators.trace import trace
from adaline.estimators.widrow_hoff import Adaline, WidrowHoff
from adaline.schedules import OverK, SearchThenConverge

ONLINE = [
    Perceptron(max_iter=1),
    Perceptron(eta=OverK(1.0), keep="average", max_iter=1),
    Perceptron(eta="absolute", keep="pocket", max_iter=1, fit_intercept=False),
    Perceptron(multiclass="ovr", keep="pocket", max_iter=1),
    WidrowHoff(max_iter=1),
    WidrowHoff(eta=SearchThenConverge(1e-3, 50.0), max_iter=1),
    Adaline(max_iter=1),
    Adaline(eta=1e-3, fit_intercept=False, max_iter=1),
    SigmoidPerceptron(max_iter=1),
    SigmoidPerceptron("logistic", eta=OverK(0.5), max_iter=1),
]
BATCH = [
    Perceptron(mode="batch", max_iter=20),
    Perceptron(mode="batch", keep="average", multiclass="ovr", max_iter=20),
    Perceptron(mode="batch", keep="pocket", max_iter=20),
    WidrowHoff(mode="batch", max_iter=20),
    WidrowHoff(mode="batch", eta=0.01, max_iter=20),
    Adaline(mode="batch", max_iter=20),
    SigmoidPerceptron("logistic", mode="batch", max_iter=20),
]
each_online = pytest.mark.parametrize("learner", ONLINE, ids=repr)
each_learner = pytest.mark.parametrize("learner", ONLINE + BATCH, ids=repr)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

seeds = st.integers(0, 2**32 - 1)


def sample(learner, seed, n=40, p=5, classes=3):
    """Overlapping classes, or a noisy line; some entries are exactly zero."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.7)
    if is_classifier(learner):
        y = rng.permutation(np.arange(n) % classes)
        return X + 0.7 * y[:, None] * (X != 0), y
    return X, X @ rng.standard_normal(p) + rng.standard_normal(n)


def announced(learner, y):
    return {"classes": np.unique(y)} if is_classifier(learner) else {}


def assert_same_bits(one, other):
    assert np.array_equal(one.coef_, other.coef_)
    assert np.array_equal(one.intercept_, other.intercept_)


@each_online
@settings(max_examples=10)
@given(seed=seeds, classes=st.integers(2, 3), data=st.data())
def test_a_stream_cut_anywhere_equals_one_pass_bit_for_bit(learner, seed, classes, data):
    X, y = sample(learner, seed, classes=classes)
    cuts = sorted(data.draw(st.sets(st.integers(1, len(y) - 1), max_size=4)))
    stream = clone(learner)
    for part in np.split(np.arange(len(y)), cuts):
        stream.partial_fit(X[part], y[part], **announced(learner, y))
    assert_same_bits(stream, clone(learner).fit(X, y))


@each_online
def test_samples_one_by_one_equal_one_pass_bit_for_bit(learner):
    for p, classes in ((1, 2), (5, 3), (8, 2), (23, 2), (40, 3), (131, 2)):
        X, y = sample(learner, 1, p=p, classes=classes)
        live = clone(learner).partial_fit(X[:1], y[:1], **announced(learner, y))
        for x, target in zip(X[1:], y[1:].tolist(), strict=True):
            live.learn_one(x, target)
        whole = clone(learner).fit(X, y)
        assert_same_bits(live, whole)
        got = [live.predict_one(x) for x in X]
        if is_classifier(learner):
            assert got == whole.predict(X).tolist()
        else:
            np.testing.assert_allclose(got, whole.predict(X), rtol=1e-12, atol=1e-12)


@each_learner
@settings(max_examples=6)
@given(seed=seeds, classes=st.integers(2, 3))
@example(seed=12417, classes=3)  # where the last bit once decided which step was taken back
def test_dense_and_sparse_give_the_same_weights(learner, seed, classes):
    """To rounding: a vector register adds up in another order. Whole numbers have no rounding."""
    X, y = sample(learner, seed, classes=classes)
    if isinstance(learner, Perceptron) and isinstance(learner.eta, float):
        X = np.round(4 * X)
    dense, thin = clone(learner).fit(X, y), clone(learner).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(dense.coef_, thin.coef_, rtol=1e-6, atol=1e-9)
    if learner.mode == "batch":  # all rows are summed in the same blocks
        assert np.array_equal(dense.coef_, thin.coef_)


@each_learner
@settings(max_examples=6)
@given(seed=seeds, classes=st.integers(2, 3), shuffle=st.booleans())
def test_the_end_of_a_trace_is_the_fit_exactly(learner, seed, classes, shuffle):
    X, y = sample(learner, seed, n=12, classes=classes)
    passes = 3 if learner.mode != "batch" else 20
    model = clone(learner).set_params(shuffle=shuffle, random_state=0, max_iter=passes)
    table = trace(model, X, y)
    fitted = model.fit(X, y)
    assert np.array_equal(table.W_kept[-1], fitted.fit_.W)
    assert np.array_equal(table.b_kept[-1], fitted.fit_.b)
    assert table.fit.stopped == fitted.fit_.stopped
    assert (
        np.array_equal(
            table.W_before[1:][table.passes[1:] == 1], table.W_after[:-1][table.passes[1:] == 1]
        )
        or table.unit == "pass"
    )


@each_online
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_each_row_of_a_trace_is_a_fit_on_the_samples_so_far(learner, form, dtype):
    """In random order too: a stream of the samples as they were shown has the same weights."""
    X, y = sample(learner, 7, n=9, classes=2)
    X = form(X.astype(dtype))
    table = trace(clone(learner).set_params(shuffle=True, random_state=1), X, y)
    stream = clone(learner)
    assert sorted(table.samples) == list(range(9))
    for m, i in enumerate(table.samples):
        stream.partial_fit(X[[i]], y[[i]], **announced(learner, y))
        assert np.array_equal(table.W_kept[m].astype(dtype), stream.fit_.W.astype(dtype))
        assert np.array_equal(table.b_kept[m].astype(dtype), stream.fit_.b.astype(dtype))
    assert table.updated[0]


@each_online
def test_storage_does_not_change_the_bits(learner):
    X, y = sample(learner, 3)
    X = X.astype(np.float32).astype(np.float64)
    want = clone(learner).fit(X, y)
    strided = np.zeros((len(y), 10))
    strided[:, ::2] = X
    locked = X.copy()
    locked.flags.writeable = False
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for form in (np.asfortranarray(X), strided[:, ::2], locked):
        assert_same_bits(clone(learner).fit(form, y), want)
    assert_same_bits(clone(learner).fit(wide, y), clone(learner).fit(sparse.csr_array(X), y))
    narrow = clone(learner).fit(X.astype(np.float32), y)
    assert narrow.coef_.dtype == np.float32
    assert np.array_equal(narrow.fit_.W, want.fit_.W)


@pytest.mark.parametrize(
    "learner",
    [a for a in ONLINE + BATCH if is_classifier(a) and a.get_params().get("phi") != "logistic"],
    ids=repr,
)
def test_swapped_labels_flip_the_sign(learner):
    """Of targets -1 and +1: a logistic output has 0 and 1."""
    X, y = sample(learner, 5, classes=2)
    one, other = clone(learner).fit(X, y), clone(learner).fit(X, 1 - y)
    np.testing.assert_allclose(one.coef_, -other.coef_, rtol=1e-9, atol=1e-12)


@each_online
def test_a_row_of_weight_zero_is_left_out(learner):
    X, y = sample(learner, 7)
    weight = np.ones(len(y))
    weight[5::3] = 0
    used = weight > 0
    assert_same_bits(
        clone(learner).fit(X, y, sample_weight=weight), clone(learner).fit(X[used], y[used])
    )


@settings(max_examples=30)
@given(seed=seeds, bias=st.booleans(), eta=st.sampled_from([0.25, 1.0, 8.0]), shuffle=st.booleans())
def test_corrections_never_exceed_the_bounds(seed, bias, eta, shuffle):
    rng = np.random.default_rng(seed)
    w, b = rng.standard_normal(3), float(bias) * rng.standard_normal()
    X = rng.standard_normal((30, 3))
    v = X @ w + b
    X, v = X[np.abs(v) > 0.1], v[np.abs(v) > 0.1]
    y = np.where(v > 0, 1, -1)
    if len(set(y.tolist())) < 2:
        return
    bound = mistake_bound(X, y, w, b if bias else None)
    model = Perceptron(
        eta, max_iter=100_000, fit_intercept=bias, shuffle=shuffle, random_state=0
    ).fit(X, y)
    assert model.fit_.corrections <= bound.sharp <= bound.lecture
    assert model.certificate_.kind == "separable"


@settings(max_examples=8)
@given(seed=seeds)
def test_over_k_approaches_the_pseudoinverse(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((50, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.3 * rng.standard_normal(50) + 1
    A = np.column_stack([X, np.ones(50)])
    want = np.linalg.pinv(A) @ y
    gaps = []
    for passes in (20, 2000):
        model = WidrowHoff(eta=OverK(2.0), max_iter=passes, tol=0).fit(X, y)
        gaps.append(np.abs(np.append(model.coef_, model.intercept_) - want).max())
    assert gaps[1] < 2e-2
    assert gaps[1] < 0.2 * gaps[0] or gaps[1] < 1e-3


@settings(max_examples=10)
@given(seed=seeds, learner=st.sampled_from([WidrowHoff(), WidrowHoff(mode="batch"), Adaline()]))
def test_automatic_rates_do_not_depend_on_units(seed, learner):
    """Powers of two are exact, so that the bits agree too; any other unit to rounding."""
    X, y = sample(learner, seed, classes=2)
    units = 2.0 ** np.random.default_rng(seed).integers(-30, 30, X.shape[1])
    one, other = clone(learner).fit(X, y), clone(learner).fit(X * units, y)
    np.testing.assert_allclose(
        other.coef_ * units, one.coef_, rtol=1e-9, atol=1e-9 * np.abs(one.coef_).max()
    )
