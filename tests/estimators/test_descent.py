"""The steps of logistic regression, one row each, ending exactly where fit ends."""

from __future__ import annotations

import numpy as np
import pytest

from adaline import LeastSquares, LogisticRegression, trace


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("alpha", [0.5, "auto"])
def test_the_last_row_is_what_fit_gives(rng, K, alpha):
    X, y = rng.standard_normal((60, 2)), rng.integers(0, K, 60)
    steps = trace(LogisticRegression(alpha), X, y)
    model = LogisticRegression(alpha).fit(X, y)
    assert np.array_equal(steps.W_after[-1], model.fit_.W)
    assert np.array_equal(steps.b_after[-1], model.fit_.b)
    assert np.array_equal(steps.fit.W, model.fit_.W)
    assert len(steps) == model.n_iter_[0] + 1


def test_every_step_lowers_the_loss_to_that_of_the_weights(rng):
    X, y = rng.standard_normal((80, 3)), rng.integers(0, 2, 80)
    steps = trace(LogisticRegression(2.0), X, y)
    falls, rounding = np.diff(steps.extra["loss"]), 64 * 2.0**-53 * steps.extra["loss"][:-1]
    # The last step may win digits of the weights that the loss, being flat there, cannot show.
    assert np.all(falls[:-1] < 0)
    assert falls[-1] <= rounding[-1]
    assert np.all(np.diff(steps.extra["|gradient|"]) < 0)
    for W, b, f in zip(steps.W_after, steps.b_after, steps.extra["loss"], strict=True):
        v = X @ W[0] + b[0]
        penalised = np.sum(np.logaddexp(0, v) - y * v) + np.sum(W**2)
        assert f == pytest.approx(penalised, rel=1e-10)


def test_it_prints_and_tabulates(rng):
    X, y = rng.standard_normal((30, 2)), np.arange(30) % 2
    steps = trace(LogisticRegression(), X, y)
    assert str(steps).splitlines()[0].split() == ["step", "loss", "|gradient|", "w1", "w2", "b"]
    assert list(steps.to_frame()["step"]) == list(range(len(steps)))
    assert steps.to_html().startswith("<table>")


def test_what_has_no_steps_is_refused(rng):
    X, y = rng.standard_normal((30, 2)), np.arange(30) % 2
    with pytest.raises(TypeError, match="not learned by Newton's steps"):
        trace(LogisticRegression("firth"), X, y)
    with pytest.raises(TypeError, match="does not learn in steps"):
        trace(LeastSquares(), X, y)
