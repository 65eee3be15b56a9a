"""Perceptron: what it keeps, K classes, starts, streams, bad input, and an interrupt."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import adaline.procedures.sequential as procedure
from adaline.certificates.sides import separation
from adaline.estimators import online as learner
from adaline.estimators.perceptron import Perceptron
from adaline.schedules import OverK


def clouds(rng, n=60, distance=6.0, labels=("ham", "spam")):
    X = rng.standard_normal((len(labels) * n, 2))
    y = np.repeat(np.arange(len(labels)), n)
    X += distance * np.array([[0, 0], [1, 0], [0, 1]])[y]
    order = rng.permutation(len(y))
    return X[order], np.array(labels)[y[order]]


@pytest.mark.parametrize("labels", [(-1, 1), (0, 1), ("ham", "spam"), (False, True)])
def test_any_two_labels_do_and_the_larger_is_positive(rng, labels):
    X, y = clouds(rng, labels=labels)
    model = Perceptron().fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.classes_.tolist() == list(labels)
    assert model.coef_.shape == (1, 2)
    assert np.array_equal(model.decision_function(X) > 0, y == labels[1])


@pytest.mark.parametrize("multiclass", ["machine", "ovr"])
@pytest.mark.parametrize("mode", ["incremental", "batch"])
def test_three_classes_are_separated_and_that_is_proven(rng, multiclass, mode):
    X, y = clouds(rng, labels=("a", "b", "c"), distance=12.0)
    model = Perceptron(multiclass=multiclass, mode=mode).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.coef_.shape == (3, 2)
    assert model.certificate_.kind == "separable"


def test_the_certificate_agrees_with_the_one_that_makes_dense_blocks(rng):
    X, y = clouds(rng)
    model = Perceptron().fit(sparse.csr_array(X), y)
    other = separation(model.fit_.W, model.fit_.b, X, (y == "spam").astype(np.int64))
    assert model.certificate_.kind == other.kind == "separable"
    assert model.certificate_.evidence["least_margin"] == pytest.approx(
        other.evidence["least_margin"]
    )


@pytest.mark.parametrize("keep", ["average", "pocket"])
@pytest.mark.parametrize("mode", ["incremental", "batch"])
def test_on_overlapping_classes_average_and_pocket_beat_the_last_weights(keep, mode):
    scores = {"last": [], keep: []}
    for seed in range(8):
        X, y = clouds(np.random.default_rng(seed), n=200, distance=1.5)
        for kind, found in scores.items():
            with pytest.warns(ConvergenceWarning):
                found.append(Perceptron(keep=kind, mode=mode, max_iter=20).fit(X, y).score(X, y))
    assert np.mean(scores[keep]) > np.mean(scores["last"])


def test_the_average_is_the_mean_of_the_weights_after_every_sample(rng):
    X, y = clouds(rng, n=20, distance=1.0)
    live, total = Perceptron(), np.zeros(3)
    for x, label in zip(X, y.tolist(), strict=True):
        live.learn_one(x, label, classes=["ham", "spam"])
        total += [*live.coef_[0], *live.intercept_]
    model = Perceptron(keep="average").partial_fit(X, y, classes=["ham", "spam"])
    np.testing.assert_allclose([*model.coef_[0], *model.intercept_], total / len(y), rtol=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_eta_over_k_brings_overlapping_classes_to_rest(rng):
    X, y = clouds(rng, n=200, distance=1.5)

    def moved_in_pass_21(eta):
        w, after = (Perceptron(eta, max_iter=k, tol=0).fit(X, y).coef_ for k in (20, 21))
        return np.abs(after - w).max() / np.abs(w).max()

    assert moved_in_pass_21(OverK(1.0)) < 0.01 < moved_in_pass_21(1.0)


def test_a_start_can_be_given_zero_by_default(rng):
    X, y = clouds(rng)
    solved = Perceptron().fit(X, y)
    again = Perceptron().fit(X, y, coef_init=solved.coef_, intercept_init=solved.intercept_)
    assert again.fit_.corrections == 0
    assert again.n_iter_ == 1
    random = Perceptron().fit(X, y, coef_init=rng.standard_normal(2))
    assert random.certificate_.kind == "separable"
    with pytest.raises(ValueError, match="coef_init has shape"):
        Perceptron().fit(X, y, coef_init=[1.0, 2.0, 3.0])


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_shuffling_is_reproducible_by_its_seed(rng):
    X, y = clouds(rng, distance=3.0)
    fits = [
        Perceptron(shuffle=True, random_state=seed, max_iter=3).fit(X, y).coef_
        for seed in (0, 0, 1)
    ]
    assert np.array_equal(fits[0], fits[1])
    assert not np.array_equal(fits[0], fits[2])


def test_a_stream_claims_nothing(rng):
    X, y = clouds(rng)
    model = Perceptron().partial_fit(X, y, classes=["ham", "spam"])
    assert model.certificate_.kind == "undecided"


def test_an_interrupt_leaves_the_last_complete_pass_usable(rng, monkeypatch):
    X, y = clouds(rng, n=200, distance=1.0)
    with pytest.warns(ConvergenceWarning):
        want = Perceptron(max_iter=2).fit(X, y)
    calls = []
    learn = procedure.learn

    def interrupted(*given):
        calls.append(1)
        learn(*given)
        if len(calls) == 3:  # one block is one pass here
            raise KeyboardInterrupt

    monkeypatch.setattr(procedure, "learn", interrupted)
    model = Perceptron(max_iter=50)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert np.array_equal(model.coef_, want.coef_)
    assert model.n_iter_ == 2
    assert "interrupted" in model.fit_.stopped
    assert np.array_equal(model.predict(X), want.predict(X))
    monkeypatch.undo()
    model.partial_fit(X, y)  # and learning can go on


BAD = {
    "max_iter 0": (dict(max_iter=0), "max_iter is 0"),
    "rate 0": (dict(eta=0.0), "above zero"),
    "rate NaN": (dict(eta=float("nan")), "above zero"),
    "auto": (dict(eta="auto"), "need no rate"),
    "mode": (dict(mode="online"), "mode is 'online'"),
    "keep": (dict(keep="best"), "keep is 'best'"),
    "multiclass": (dict(multiclass="ovo"), "multiclass is 'ovo'"),
    "absolute batch": (dict(eta="absolute", mode="batch"), "mode='incremental'"),
}


@pytest.mark.parametrize(("given", "words"), BAD.values(), ids=BAD)
def test_bad_parameters_are_refused_in_a_sentence(rng, given, words):
    with pytest.raises(ValueError, match=words):
        Perceptron(**given).fit(*clouds(rng))


def test_a_stream_refuses_strangers(rng):
    X, y = clouds(rng)
    model = Perceptron().partial_fit(X, y, classes=["ham", "spam"])
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="'eggs', which is not among the classes"):
        model.partial_fit(X[:2], ["ham", "eggs"])
    with pytest.raises(ValueError, match="cannot change"):
        model.partial_fit(X, y, classes=["ham", "eggs"])
    with pytest.raises(ValueError, match="3 features"):
        model.partial_fit(np.ones((2, 3)), ["ham", "spam"])
    with pytest.raises(ValueError, match=r"x has shape \(3,\)"):
        model.learn_one(np.ones(3), "ham")
    with pytest.raises(ValueError, match="one class"):
        Perceptron().partial_fit(X[:1], y[:1])
    with pytest.raises(AttributeError) as refused:
        _ = Perceptron(mode="batch").partial_fit
    assert "needs all rows" in str(refused.value.__cause__)
    assert np.array_equal(model.coef_, before)


def test_untidy_sparse_rows_learn_as_tidy_ones_and_stay_as_they_are():
    data, indices = np.array([1.0, 2.0, 0.0, 3.0, 1.0]), np.array([2, 0, 1, 1, 1])
    X = sparse.csr_array((data, indices, np.array([0, 3, 3, 5])), shape=(3, 3))
    kept = X.data.copy(), X.indices.copy()
    y = [0, 1, 1]
    model = Perceptron().fit(X, y)
    assert np.array_equal(model.coef_, Perceptron().fit(X.toarray(), y).coef_)
    assert np.array_equal(X.data, kept[0])
    assert np.array_equal(X.indices, kept[1])


def test_predicting_does_not_refresh_what_did_not_change(rng):
    model = Perceptron().fit(*clouds(rng))
    assert model.fit_ is model.fit_
    assert isinstance(model.fit_, learner.SequentialFit)


def test_a_label_never_announced_is_refused_by_learn_one_too():
    model = Perceptron().learn_one([1.0, 2.0], "a", classes=["a", "b"])
    with pytest.raises(ValueError, match="'c', which is not among the classes"):
        model.learn_one([1.0, 2.0], "c")


def test_a_perceptron_that_cannot_converge_is_not_only_told_to_go_on():
    X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]
    with pytest.warns(ConvergenceWarning, match="ask `separability` whether any hyperplane"):
        Perceptron(max_iter=5).fit(X, y)
