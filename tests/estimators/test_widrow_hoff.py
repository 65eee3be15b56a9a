"""WidrowHoff and Adaline: rates, divergence, units, several targets, and live streams."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from adaline.estimators.trace import trace
from adaline.estimators.widrow_hoff import Adaline, WidrowHoff
from adaline.schedules import stable_rate


def line(rng, n=500, units=(1.0, 1.0, 1.0), noise=0.1):
    Z = rng.standard_normal((n, 3))
    return Z * units, Z @ [1.0, -2.0, 3.0] + 0.5 + noise * rng.standard_normal(n)


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
    with pytest.raises(ValueError, match="cannot change"):
        live.partial_fit(X, y)


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
