"""WidrowHoff and Adaline: rates, divergence, units, several targets, and live streams."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from adaline import LeastSquares, LeastSquaresClassifier
from adaline.estimators.perceptron import SigmoidPerceptron
from adaline.estimators.trace import trace
from adaline.estimators.widrow_hoff import Adaline, WidrowHoff
from adaline.procedures import gradient_descent as gradient
from adaline.schedules import stable_rate


def line(rng, n=500, units=(1.0, 1.0, 1.0), noise=0.1):
    Z = rng.standard_normal((n, 3))
    return Z * units, Z @ [1.0, -2.0, 3.0] + 0.5 + noise * rng.standard_normal(n)


@pytest.mark.parametrize("mode", ["online", "batch"])
@pytest.mark.parametrize("units", [(1, 1, 1), (1e6, 1e-3, 1), (1e12, 1e-12, 1)], ids=repr)
def test_automatic_rates_reach_least_squares_in_any_units(rng, mode, units):
    X, y = line(rng, units=units)
    want = LeastSquares().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = WidrowHoff(mode=mode).fit(X, y)
    np.testing.assert_allclose(model.coef_ * units, want.coef_ * units, atol=2e-2)
    assert abs(model.intercept_ - want.intercept_) < 2e-2


@pytest.mark.parametrize("learner", [WidrowHoff(), WidrowHoff(mode="batch"), Adaline()])
def test_automatic_rates_do_not_diverge_on_wild_data(rng, learner):
    X = rng.standard_cauchy((400, 4)) * [1e6, 1e-3, 1, 1e3] + [1e7, 0, 0, 0]
    y = (rng.random(400) > 0.5).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = learner.set_params(max_iter=20).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert "diverged" not in model.fit_.stopped


@pytest.mark.parametrize(("mode", "field"), [("online", "one_sample"), ("batch", "batch")])
def test_a_rate_above_the_bound_is_warned_about_and_divergence_caught(rng, mode, field):
    X, y = line(rng)
    bound = getattr(stable_rate(X), field)
    with pytest.warns(ConvergenceWarning) as told:
        model = WidrowHoff(eta=50 * bound, mode=mode).fit(X, y)
    messages = [str(w.message) for w in told]
    assert f"= {bound:.4g}" in messages[0]
    assert "may diverge" in messages[0]
    assert "diverged in pass" in model.fit_.stopped
    assert f"{bound:.4g}" in model.fit_.stopped
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("mode", ["online", "batch"])
def test_a_rate_below_the_bound_is_not_warned_about(rng, mode):
    X, y = line(rng)
    rates = stable_rate(X)
    eta = 0.1 * rates.one_sample if mode == "online" else 0.9 * rates.batch
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = WidrowHoff(eta=eta, mode=mode).fit(X, y)
    np.testing.assert_allclose(model.coef_, LeastSquares().fit(X, y).coef_, atol=0.05)


def test_a_stream_that_diverges_keeps_the_weights_before(rng):
    X, y = line(rng)
    model = WidrowHoff(eta=0.01).partial_fit(X, y)
    before = model.coef_.copy()
    with pytest.warns(ConvergenceWarning, match="diverged"):
        model.partial_fit(np.full((60, 3), 1e9), np.ones(60))
    assert np.array_equal(model.coef_, before)


@pytest.mark.parametrize("mode", ["online", "batch"])
def test_several_targets_are_learned_as_each_alone(rng, mode):
    X, y = line(rng)
    Y = np.column_stack([y, -2 * y + X[:, 0]])
    kwargs = dict(mode=mode, eta=0.02, max_iter=5, tol=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        both = WidrowHoff(**kwargs).fit(X, Y)
        alone = [WidrowHoff(**kwargs).fit(X, column) for column in Y.T]
    assert both.coef_.shape == (2, 3)
    np.testing.assert_allclose(both.coef_, [m.coef_ for m in alone], rtol=1e-12)
    assert both.predict(X).shape == Y.shape
    live = WidrowHoff().learn_one(X[0], Y[0]).learn_one(X[1], Y[1])
    assert live.predict_one(X[2]).shape == (2,)
    with pytest.raises(ValueError, match="they cannot change"):
        live.partial_fit(X, y)


def test_the_adaline_approaches_the_pseudoinverse_classifier(rng):
    X = np.vstack([rng.standard_normal((200, 2)), rng.standard_normal((200, 2)) + 1.5])
    y = np.repeat(["no", "yes"], 200)
    order = rng.permutation(400)
    X, y = X[order], y[order]
    want = LeastSquaresClassifier().fit(X, y)
    for form in (X, sparse.csr_array(X)):
        model = Adaline(tol=0, max_iter=200)
        with pytest.warns(ConvergenceWarning):
            model.fit(form, y)
        np.testing.assert_allclose(model.coef_, want.coef_, atol=5e-3)
    batch = Adaline(mode="batch", tol=1e-12).fit(X, y)
    np.testing.assert_allclose(batch.coef_, want.coef_, atol=1e-6)


def test_batch_weights_are_repetitions(rng):
    X, y = line(rng, n=40)
    omega = rng.integers(0, 4, 40)
    one = WidrowHoff(mode="batch", tol=1e-13).fit(X, y, sample_weight=omega)
    two = WidrowHoff(mode="batch", tol=1e-13).fit(np.repeat(X, omega, 0), np.repeat(y, omega))
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-6)


def test_a_live_stream_learns_and_predicts(rng):
    X, y = line(rng, n=3000)
    model, errors = WidrowHoff(), []
    for x, target in zip(X, y, strict=True):
        if hasattr(model, "fit_"):
            errors.append(target - model.predict_one(x))
        model.learn_one(x, target)
    assert np.std(errors[-500:]) < 0.11  # the noise is 0.1
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("learner", [Adaline, WidrowHoff, SigmoidPerceptron])
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (dict(eta=-1.0), "above zero"),
        (dict(max_iter=0), "max_iter is 0"),
        (dict(tol=float("nan")), "tol is nan"),
        (dict(mode="incremental"), "mode is"),
        (dict(eta="absolute"), "for perceptrons"),
    ],
)
def test_bad_parameters_are_refused_in_a_sentence(rng, learner, given, words):
    with pytest.raises(ValueError, match=words):
        learner(**given).fit(rng.standard_normal((10, 2)), [0, 1] * 5)


def test_an_interrupted_batch_fit_keeps_its_last_complete_pass(rng, monkeypatch):
    X, y = line(rng)
    with pytest.warns(ConvergenceWarning):
        want = WidrowHoff(eta=0.1, mode="batch", max_iter=3).fit(X, y)
    batch_gradient, calls = gradient.batch_gradient, []

    def interrupted(*given):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return batch_gradient(*given)

    monkeypatch.setattr(gradient, "batch_gradient", interrupted)
    model = WidrowHoff(eta=0.1, mode="batch")
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert np.array_equal(model.coef_, want.coef_)
    assert model.n_iter_ == 3


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_sparse_rows_can_be_traced_too(rng):
    X, y = line(rng, n=6)
    table = trace(Adaline(max_iter=2, tol=0), sparse.csr_array(X), y > 0)
    np.testing.assert_allclose(table.v, trace(Adaline(max_iter=2, tol=0), X, y > 0).v, atol=1e-12)
    assert len(table) == 12


@pytest.mark.filterwarnings("ignore")  # of a rate above the bound
@pytest.mark.parametrize("mode", ["online", "batch"])
@pytest.mark.parametrize("eta", [0.01, 0.3, 0.9, 1e200])
def test_a_trace_ends_with_the_fit_or_shows_the_pass_that_diverged(mode, eta, rng):
    X = 3.0 * rng.standard_normal((12, 2))
    y = X @ [1.0, -2.0] + 0.1
    steps = trace(WidrowHoff(eta=eta, mode=mode, max_iter=60), X, y)
    W, b = steps.W_kept[-1], steps.b_kept[-1]
    diverged = steps.fit.stopped.startswith("diverged")
    assert diverged == (eta > 0.1)
    if diverged:
        assert not np.array_equal(steps.fit.W, W)  # the last pass shows how
        first = np.flatnonzero(steps.passes == steps.passes[-1])[0]
        W = steps.W_kept[first - 1] if first else steps.W_before[0]
        b = steps.b_kept[first - 1] if first else steps.b_before[0]
    assert np.array_equal(steps.fit.W, W)
    assert np.array_equal(steps.fit.b, b)
