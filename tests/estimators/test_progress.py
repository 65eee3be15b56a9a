"""scikit-learn's callbacks hear of every pass, and may stop a fit."""

from __future__ import annotations

import numpy as np
import pytest

from adaline import Adaline, Perceptron, WidrowHoff

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")


class Counter:
    """Counts passes, and asks to stop after some."""

    def __init__(self, stop_after=10**9):
        self.ended, self.stop_after, self.torn_down = [], stop_after, 0

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        self.ended.append(context.task_name)
        return self.ended.count("pass") >= self.stop_after

    def teardown(self, estimator, context):
        self.torn_down += 1


@pytest.mark.parametrize(
    "learner",
    [Perceptron(max_iter=7), Perceptron(mode="batch", max_iter=7), WidrowHoff(tol=0, max_iter=7)],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_pass_is_heard_of_and_nothing_else_changes(rng, learner):
    X, y = rng.standard_normal((40, 2)), rng.integers(0, 2, 40)
    counter = Counter()
    heard = learner.set_callbacks(counter).fit(X, y)
    assert counter.ended.count("pass") == heard.n_iter_ == 7
    assert counter.ended[-1] == "fit"
    assert counter.torn_down == 1
    alone = type(learner)(**learner.get_params()).fit(X, y)
    assert np.array_equal(heard.coef_, alone.coef_)


@pytest.mark.parametrize("mode", ["online", "batch"])
def test_a_callback_can_stop_a_fit(rng, mode):
    X, y = rng.standard_normal((40, 2)), np.arange(40) % 2
    model = Adaline(mode=mode, tol=0).set_callbacks(Counter(stop_after=3)).fit(X, y)
    assert model.n_iter_ == 3
    assert model.fit_.stopped == "a callback asked to stop after pass 3."


def test_the_progress_bar_works(rng, capsys):
    pytest.importorskip("rich")
    X, y = rng.standard_normal((40, 2)), np.arange(40) % 2
    Adaline(max_iter=3).set_callbacks(callback.ProgressBar()).fit(X, y)
