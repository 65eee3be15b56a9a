"""Perceptron: what it keeps, K classes, starts, streams, bad input, and an interrupt."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from adaline.estimators.perceptron import Perceptron
from adaline.schedules import OverK


def clouds(rng, n=60, distance=6.0, labels=("ham", "spam")):
    X = rng.standard_normal((len(labels) * n, 2))
    y = np.repeat(np.arange(len(labels)), n)
    X += distance * np.array([[0, 0], [1, 0], [0, 1]])[y]
    order = rng.permutation(len(y))
    return X[order], np.array(labels)[y[order]]


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


def test_a_perceptron_that_cannot_converge_is_not_only_told_to_go_on():
    X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]
    with pytest.warns(ConvergenceWarning, match="ask `separability` whether any hyperplane"):
        Perceptron(max_iter=5).fit(X, y)
