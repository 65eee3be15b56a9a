"""Rows shared among threads: every row once, and the same bits with one thread or two."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from threading import Barrier, Event, Lock, Thread
from threading import enumerate as enumerate_threads
from time import sleep, time_ns

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_info, threadpool_limits

from adaline import (
    ClassMoments,
    GaussianClassifier,
    LeastSquares,
    LogisticRegression,
    Moments,
    PoissonRegression,
)
from adaline.sums import threads as sharing
from adaline.sums.threads import one_blas_thread, over_pieces, pieces, share_out, summed, threads


@pytest.fixture(autouse=True)
def as_if_on_many_cores(monkeypatch):
    """Any number of threads is allowed, on any machine."""
    monkeypatch.setattr(sharing, "cores", lambda: 64)


def over_cuts(work, cuts):
    """work of every cut, in order."""
    results = []
    share_out(work, cuts, results.append)
    return results


@given(st.integers(1, 10**8), st.integers(1, 3000), st.sampled_from(["vector", "matrix", "many"]))
def test_pieces_cover_every_row_once_and_are_few(n, q, held):
    sums = {"vector": q, "matrix": q * q, "many": 50 * q * q}[held]
    cuts = pieces(n, q, sums)
    assert cuts[0][0] == 0
    assert cuts[-1][1] == n
    assert all(a[1] == b[0] for a, b in pairwise(cuts))
    assert len(cuts) <= 32
    assert len(cuts) == 1 or len(cuts) * sums <= 2**24  # 128 MB


def test_small_data_are_not_cut():
    assert all(len(pieces(n, q, q * q)) == 1 for n, q in [(100, 5), (1000, 20), (10_000, 50)])


@pytest.mark.parametrize("refine", [True, False])
def test_many_columns_have_the_same_bits_with_one_thread_and_two(rng, refine):
    X = rng.standard_normal((4000, 900))
    y = X[:, 0] + rng.standard_normal(4000)
    bits = set()
    for count in (1, 2):
        with threadpool_limits(count):
            bits.add(LeastSquares(refine=refine).fit(X, y).coef_.tobytes())
    assert len(bits) == 1


@pytest.mark.parametrize("p", [5, 80])
def test_one_thread_and_two_give_the_same_bits(rng, p):
    X, y = rng.standard_normal((60_000, p)), rng.standard_normal(60_000)
    X = np.tile(X, (5, 1)) if p == 5 else X
    y = np.tile(y, 5) if p == 5 else y
    assert len(pieces(len(X), p + 1)) > 1
    found = []
    for limit in (1, 2):
        with threadpool_limits(limit):
            assert threads() == limit
            found.append((Moments.of(X, y).scatter, LeastSquares().fit(X, y)))
    assert np.array_equal(found[0][0], found[1][0])
    assert np.array_equal(found[0][1].coef_, found[1][1].coef_)
    assert found[0][1].certificate_.kind == "exact"


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


@pytest.mark.parametrize("p", [20, 80])
@pytest.mark.parametrize("covariance", ["shared", "full", "diagonal"])
@pytest.mark.parametrize("kind", ["dense", "float32", "csr"])
def test_moments_of_classes_have_the_same_bits_with_any_number_of_threads(rng, covariance, p, kind):
    n = 2**22 // p
    X = rng.standard_normal((n, p)).astype(np.float32 if kind == "float32" else float)
    codes, weights = rng.integers(0, 3, n), rng.exponential(size=n)
    if kind == "csr":
        X = sparse.csr_array(np.where(X > 1.0, X, 0.0))

    def work():
        m = ClassMoments.of(X, codes, 3, weights, covariance)
        return m.rows, m.weight, m.mean, m.scatter, m.rounding, m.mean_rounding

    assert (
        len(pieces(n, p, {"shared": p * p, "full": 3 * p * p, "diagonal": 6 * p}[covariance])) > 2
    )
    assert same(bits_with(work))


@pytest.mark.parametrize("covariance", ["shared", "full", "diagonal"])
@pytest.mark.parametrize("p", [3, 64, 65])
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_of_cut_rows_are_those_of_blocks(rng, monkeypatch, covariance, p, weighted):
    X, codes = rng.standard_normal((3000, p)) + 5.0, rng.integers(0, 4, 3000)
    codes[codes == 2] = 3  # a class without rows
    rest = (rng.exponential(size=3000) * (rng.random(3000) > 0.1),) if weighted else (None,)
    blocks = [
        (X[i : i + 256], codes[i : i + 256], rest[0] if rest[0] is None else rest[0][i : i + 256])
        for i in range(0, 3000, 256)
    ]
    expected = ClassMoments.over(blocks, 4, covariance)
    monkeypatch.setattr(sharing, "MIN_NUMBERS", 2**10)
    monkeypatch.setattr(sharing, "MIN_PRODUCTS", 2**10)
    assert len(pieces(3000, p, 4 * p * p)) > 5
    found = ClassMoments.of(X, codes, 4, rest[0], covariance)
    assert np.array_equal(found.rows, expected.rows)
    np.testing.assert_allclose(found.weight, expected.weight, rtol=1e-13)
    np.testing.assert_allclose(found.means, expected.means, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(found.within, expected.within, rtol=1e-10, atol=1e-9)
    doubt = np.sqrt(np.max(found.rounding)) + np.sqrt(np.max(expected.rounding))
    assert np.max(np.abs(found.scatter - expected.scatter)) <= doubt**2


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


@pytest.mark.parametrize(("n", "p"), [(3000, 100), (600, 300), (2000, 40)])
def test_moments_of_rows_that_are_not_cut_have_the_same_bits(rng, n, p):
    X, codes = rng.standard_normal((n, p)), rng.integers(0, 2, n)

    def work():
        found = [ClassMoments.of(X, codes, 2, None, c) for c in ("shared", "full", "diagonal")]
        return [Moments.of(X).scatter, *(m.scatter for m in found)]

    assert len(pieces(n, p, p * p)) == 1
    assert same(bits_with(work, (1, 2, 3)))


@pytest.mark.parametrize("n", [40_000, 250_000])
def test_newton_steps_of_many_columns_have_the_same_bits(n):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 100))
    y = X @ rng.standard_normal(100) / 10 + rng.standard_normal(n) > 0
    assert same(bits_with(lambda: [LogisticRegression(alpha=1.0).fit(X, y).coef_], (1, 2, 3)))


@pytest.mark.parametrize("covariance", ["shared", "full", "diagonal"])
def test_gaussians_of_many_columns_have_the_same_bits_with_any_number_of_threads(rng, covariance):
    X, y = rng.standard_normal((3000, 400)), rng.integers(0, 2, 3000)

    def work():
        model = GaussianClassifier(covariance).fit(X, y)
        g = model.model_
        return model.moments_.scatter, g.means, g.metrics[0].A, g.W, g.b, model.predict_proba(X)

    assert same(bits_with(work))


def test_an_error_in_a_thread_reaches_the_caller():
    def work(start, stop):
        raise ValueError("told")

    with threadpool_limits(2), pytest.raises(ValueError, match="told"):
        over_pieces(work, 10**7, 3)


def test_the_error_is_that_of_the_first_piece_that_fails():
    def work(start, stop):
        if start >= 3:
            raise ValueError(f"row {start}")

    for limit in (1, 2, 16):
        with threadpool_limits(limit), pytest.raises(ValueError, match=r"^row 3$"):
            over_cuts(work, [(i, i + 1) for i in range(32)])


def test_what_is_ignored_outside_is_ignored_in_all_threads():
    cuts = [(i, i + 1) for i in range(8)]
    with threadpool_limits(4), np.errstate(over="raise"):
        told = over_cuts(lambda i, j: np.geterr()["over"], cuts)
    assert set(told) == {"raise"}


def test_pieces_are_added_in_their_order():
    cuts = [(i, i + 1) for i in range(32)]
    for limit in (1, 3, 16):
        with threadpool_limits(limit):
            assert summed(lambda i, j: [i], list.__add__, cuts) == list(range(32))


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


def test_no_more_threads_work_than_are_allowed():
    crowd = Crowd()
    with threadpool_limits(3):
        over_cuts(crowd.work, [(i, i + 1) for i in range(24)])
    assert crowd.most <= 3


def test_callers_at_the_same_time_share_the_threads_that_are_allowed():
    crowd, cuts = Crowd(), [(i, i + 1) for i in range(24)]
    with threadpool_limits(4), ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: over_cuts(crowd.work, cuts), range(6)))
    assert crowd.most <= 4 + 2  # each caller works itself, even where no other thread is free


def test_threads_are_kept_and_not_started_anew():
    """However quickly calls follow on one another."""
    cuts = [(i, i + 1) for i in range(16)]
    with threadpool_limits(3):
        for _ in range(500):
            over_cuts(lambda *_: None, cuts[:4])
    kept = [one for one in enumerate_threads() if one.name.startswith("adaline")]
    assert len(kept) <= 3


def test_no_more_threads_than_cores(monkeypatch):
    monkeypatch.setattr(sharing, "cores", lambda: 1)
    with threadpool_limits(8):
        assert threads() == 1


def blas_threads():
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def overlapped(first, second):
    """Two threads: the first leaves while the second is still inside."""
    entered, left = Event(), Event()

    def outer():
        with first:
            entered.set()
            left.wait(10)

    def inner():
        entered.wait(10)
        with second:
            left.set()
            thread.join(10)

    thread, other = Thread(target=outer), Thread(target=inner)
    thread.start(), other.start()
    thread.join(10), other.join(10)


def test_limits_of_two_threads_that_overlap_are_lifted_in_the_end():
    before = blas_threads()
    overlapped(one_blas_thread(3), one_blas_thread(3))
    assert blas_threads() == before


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


def test_an_error_inside_lifts_the_limit():
    with threadpool_limits(2):
        before = blas_threads()
        with pytest.raises(ZeroDivisionError), one_blas_thread(3):
            1 / 0  # noqa: B018
        assert blas_threads() == before


def test_who_is_inside_uses_one_thread_and_others_as_many_as_before():
    told = []
    with threadpool_limits(2), one_blas_thread(3):
        assert threads() == 1
        other = Thread(target=lambda: told.append(threads()))
        other.start()
        other.join()
    assert told == [2]


def test_pieces_inside_pieces_use_the_thread_they_are_in():
    with threadpool_limits(2):
        assert set(over_pieces(lambda i, j: threads(), 10**7, 3)) == {1}
        assert threads() == 2


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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_has_threads_of_its_own():
    cuts = [(i, i + 1) for i in range(8)]
    with threadpool_limits(3):
        before = over_cuts(lambda i, j: i, cuts)  # the parent's threads are there, and idle
        child = os.fork()
        if child == 0:
            both = Barrier(2, timeout=10)  # passed only by two threads at once
            places = over_cuts(lambda i, j: both.wait(), cuts[:2])
            os._exit(0 if sorted(places) == [0, 1] and before == list(range(8)) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


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


def test_a_search_over_threads_shares_the_threads_that_are_allowed(rng):
    X = rng.standard_normal((240_000, 10))
    y = X[:, 0] + rng.standard_normal(240_000) > 0
    search = GridSearchCV(LogisticRegression(), {"alpha": [0.1, 1.0]}, cv=2, n_jobs=2)
    with threadpool_limits(3), parallel_config("threading"):
        search.fit(X, y)
    assert 1 <= sum(one.name.startswith("adaline-3") for one in enumerate_threads()) <= 3
