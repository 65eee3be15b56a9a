"""scikit-learn's callbacks hear of every pass, and may stop a fit."""

from __future__ import annotations

import numpy as np
import pytest

from adaline import Adaline, KernelPerceptron, LogisticRegression, Perceptron, WidrowHoff

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
        return self.ended.count("pass") + self.ended.count("step") >= self.stop_after

    def teardown(self, estimator, context):
        self.torn_down += 1


@pytest.mark.parametrize(
    "learner",
    [
        Perceptron(max_iter=7),
        Perceptron(mode="batch", max_iter=7),
        WidrowHoff(tol=0, max_iter=7),
        KernelPerceptron("linear", max_iter=7),
    ],
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


def test_a_callback_can_stop_a_fit_in_dual_variables(rng):
    X, y = rng.standard_normal((40, 2)), np.arange(40) % 2
    model = KernelPerceptron("linear").set_callbacks(Counter(stop_after=3)).fit(X, y)
    assert model.n_iter_ == 3
    assert model.fit_.stopped == "a callback asked to stop after pass 3."


def logistic_rows(rng, kind):
    """Rows for each of the procedures of logistic regression, and its alpha."""
    y = np.arange(120) % (3 if kind == "classes" else 2)
    alpha = {"auto": "auto", "firth": "firth"}.get(kind, 0.1)
    return rng.standard_normal((120, 2)) + 0.5 * y[:, None], y, alpha


@pytest.mark.parametrize("kind", ["newton", "classes", "auto", "firth"])
def test_every_step_of_logistic_regression_is_heard_of(rng, kind):
    X, y, alpha = logistic_rows(rng, kind)
    counter = Counter()
    heard = LogisticRegression(alpha).set_callbacks(counter).fit(X, y)
    # The search of a penalty ends near the minimum: one step more proves it.
    assert counter.ended.count("step") == heard.n_iter_[0] > (0 if kind == "auto" else 1)
    assert counter.ended[-1] == "fit"
    assert counter.torn_down == 1
    assert np.array_equal(heard.coef_, LogisticRegression(alpha).fit(X, y).coef_)


@pytest.mark.parametrize("kind", ["newton", "classes", "auto", "firth"])
@pytest.mark.filterwarnings("error")
def test_a_callback_can_stop_logistic_regression_after_a_step(rng, kind):
    X, y, alpha = logistic_rows(rng, kind)
    last = 1 if kind == "auto" else 2
    model = LogisticRegression(alpha).set_callbacks(Counter(stop_after=last)).fit(X, y)
    assert model.n_iter_[0] == last
    assert model.fit_.stopped == f"a callback asked to stop after step {last}."
    assert np.isfinite(model.predict_proba(X)).all()


def test_ctrl_c_in_a_callback_keeps_the_last_step_and_is_not_swallowed(rng):
    X, y, alpha = logistic_rows(rng, "newton")

    class Impatient(Counter):
        def on_fit_task_end(self, estimator, context):
            if super().on_fit_task_end(estimator, context):
                raise KeyboardInterrupt

    model = LogisticRegression(alpha).set_callbacks(Impatient(stop_after=2))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    stopped = LogisticRegression(alpha).set_callbacks(Counter(stop_after=2)).fit(X, y)
    assert np.array_equal(model.coef_, stopped.coef_)


@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_the_progress_bar_works(rng, capsys):
    pytest.importorskip("rich")
    X, y = rng.standard_normal((40, 2)), np.arange(40) % 2
    model = Adaline(max_iter=3).set_callbacks(callback.ProgressBar()).fit(X, y)
    shown = capsys.readouterr().out
    assert "Adaline" in shown
    assert "100%" in shown
    bare = Adaline(max_iter=3).fit(X, y)
    assert np.array_equal(model.coef_, bare.coef_)
