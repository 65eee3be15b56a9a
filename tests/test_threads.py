"""Rows shared among threads: every row once, and the same bits with one thread or two."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Lock, Thread
from threading import enumerate as enumerate_threads
from time import sleep, time_ns

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_info, threadpool_limits

from adaline import (
    GaussianClassifier,
    LeastSquares,
    LogisticRegression,
    PoissonRegression,
)
from adaline.sums import threads as sharing
from adaline.sums.threads import one_blas_thread, over_pieces, share_out, threads


@pytest.fixture(autouse=True)
def as_if_on_many_cores(monkeypatch):
    """Any number of threads is allowed, on any machine."""
    monkeypatch.setattr(sharing, "cores", lambda: 64)


def over_cuts(work, cuts):
    """work of every cut, in order."""
    results = []
    share_out(work, cuts, results.append)
    return results


def bits_with(work, limits=(1, 2, 5, 16)):
    """The bytes of all arrays that work() returns, with each number of threads."""
    found = []
    for limit in limits:
        with threadpool_limits(limit):
            assert threads() == limit
            found.append([np.asarray(a).tobytes() for a in work()])
    return found


def same(found):
    return all(one == found[0] for one in found)


@pytest.mark.parametrize(
    ("make", "target"),
    [
        (LeastSquares, "y"),
        (lambda: LogisticRegression(alpha=1.0), "two"),
        (lambda: LogisticRegression(alpha=1.0), "three"),
        (lambda: PoissonRegression(alpha=1.0), "counts"),
        (lambda: GaussianClassifier("shared"), "three"),
        (lambda: GaussianClassifier("full"), "three"),
    ],
)
@pytest.mark.parametrize("p", [12, 70])
def test_fits_have_the_same_bits_with_any_number_of_threads(rng, make, target, p):
    n = 3 * 2**20 // p
    X = rng.standard_normal((n, p))
    y = X[:, 0] - X[:, 1] + rng.standard_normal(n)
    y = {"y": y, "two": y > 0, "three": np.digitize(y, [-1, 1]), "counts": rng.poisson(2.0, n)}[
        target
    ]

    def work():
        model = make().fit(X, y)
        evidence = [v for v in model.certificate_.evidence.values() if isinstance(v, float)]
        if isinstance(model, GaussianClassifier):
            return model.means_, model.covariance_, model.predict_proba(X), evidence
        return model.coef_, model.intercept_, evidence

    assert same(bits_with(work, (1, 3, 16)))


def test_an_error_in_a_thread_reaches_the_caller():
    def work(start, stop):
        raise ValueError("told")

    with threadpool_limits(2), pytest.raises(ValueError, match="told"):
        over_pieces(work, 10**7, 3)


def test_what_is_ignored_outside_is_ignored_in_all_threads():
    cuts = [(i, i + 1) for i in range(8)]
    with threadpool_limits(4), np.errstate(over="raise"):
        told = over_cuts(lambda i, j: np.geterr()["over"], cuts)
    assert set(told) == {"raise"}


class Crowd:
    """How many threads work on pieces at once."""

    def __init__(self):
        self.lock, self.now, self.most = Lock(), 0, 0

    def work(self, start, stop):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        sleep(0.005)
        with self.lock:
            self.now -= 1


def test_callers_at_the_same_time_share_the_threads_that_are_allowed():
    crowd, cuts = Crowd(), [(i, i + 1) for i in range(24)]
    with threadpool_limits(4), ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: over_cuts(crowd.work, cuts), range(6)))
    assert crowd.most <= 4 + 2  # each caller works itself, even where no other thread is free


def blas_threads():
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def test_blas_has_one_thread_as_long_as_anyone_is_inside():
    with threadpool_limits(2):
        before = blas_threads()
        one, other = one_blas_thread(3), one_blas_thread(3)
        one.__enter__()
        other.__enter__()
        assert set(blas_threads()) == {1}
        one.__exit__(None, None, None)
        assert set(blas_threads()) == {1}
        other.__exit__(None, None, None)
        assert blas_threads() == before
        with pytest.raises(ZeroDivisionError), one_blas_thread(3):
            1 / 0  # noqa: B018
        assert blas_threads() == before


def test_concurrent_fits_leave_blas_as_it_was(rng):
    X = rng.standard_normal((300_000, 5))
    y = X @ np.arange(5.0) + rng.standard_normal(300_000) > 0
    with threadpool_limits(2):
        before = blas_threads()
        with ThreadPoolExecutor(4) as pool:
            coefs = list(pool.map(lambda _: LogisticRegression().fit(X, y).coef_, range(8)))
        assert blas_threads() == before
    assert all(np.array_equal(coefs[0], coef) for coef in coefs)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_while_another_thread_is_inside_has_all_threads_again():
    entered, done = Event(), Event()

    def stay():
        with one_blas_thread(3):
            entered.set()
            done.wait(10)

    with threadpool_limits(2):
        before = blas_threads()
        other = Thread(target=stay)
        other.start()
        entered.wait(10)
        child = os.fork()
        if child == 0:
            fine = blas_threads() == before and threads() == 2
            with one_blas_thread(3):
                fine = fine and set(blas_threads()) == {1}
            os._exit(0 if fine and blas_threads() == before else 1)
        status = os.waitpid(child, 0)[1]
        done.set()
        other.join()
        assert os.waitstatus_to_exitcode(status) == 0
        assert blas_threads() == before


class Counting(ClassifierMixin, BaseEstimator):
    """A classifier that fits ours, and writes down how many threads worked on it."""

    def __init__(self, folder="", alpha=1.0):
        self.folder, self.alpha = folder, alpha

    def fit(self, X, y):
        self.model_ = LogisticRegression(alpha=self.alpha).fit(X, y)
        most = sum(one.name.startswith("adaline") for one in enumerate_threads())
        self.classes_ = self.model_.classes_
        told = f"{os.getpid()} {threads()} {most} {blas_threads()}\n"
        Path(self.folder, f"{os.getpid()}-{time_ns()}").write_text(told)
        return self

    def predict(self, X):
        return self.model_.predict(X)


def test_a_search_over_processes_does_not_use_more_threads_than_there_are_cores(
    rng, tmp_path, monkeypatch
):
    """joblib tells each of its processes how many threads are its share, and we keep to it."""
    monkeypatch.undo()  # the true number of cores
    X = rng.standard_normal((240_000, 10))
    y = X[:, 0] + rng.standard_normal(240_000) > 0
    counting = Counting(str(tmp_path))
    search = GridSearchCV(counting, {"alpha": [1.0]}, cv=2, n_jobs=2, refit=False)
    search.fit(X, y)
    told = [path.read_text().split(maxsplit=3) for path in tmp_path.iterdir()]
    assert len(told) == 2
    share = max(os.cpu_count() // 2, 1)
    for pid, allowed, most, _ in told:
        assert int(pid) != os.getpid()
        assert int(most) <= int(allowed) <= share
