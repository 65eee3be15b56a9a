"""Wide sparse rows on a cluster: LIBSVM folders and dask arrays of CSR blocks, the same bits."""

from __future__ import annotations

import random
import time
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from adaline import LogisticRegression
from adaline.data import blocks, fit
from adaline.errors import DataError
from reference_wide_logistic import minimum, penalised_loss, wide_data

distributed = pytest.importorskip("distributed", reason="Dask is not installed (extra cluster)")

import dask  # noqa: E402
import dask.array as da  # noqa: E402

from kill_campaign import Killing  # noqa: E402


def bits(model):
    return model.coef_.tobytes() + model.intercept_.tobytes()


@pytest.fixture(scope="module")
def rows():
    return wide_data(np.random.default_rng(5), n=160)


@pytest.fixture(scope="module")
def folder(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("rows")
    X, y = rows
    for k in range(4):
        part = X[40 * k : 40 * k + 40], y[40 * k : 40 * k + 40]
        dump_svmlight_file(*part, str(path / f"part.{k}.svm"), zero_based=False)
    return path


def as_dask(X, y, size=40):
    made = [
        da.from_delayed(
            dask.delayed(X[i : i + size]),
            shape=(min(size, len(y) - i), X.shape[1]),
            dtype=X.dtype,
            meta=sparse.csr_matrix((0, 0)),
        )
        for i in range(0, len(y), size)
    ]
    return da.concatenate(made, axis=0), da.from_array(y, chunks=size)


def test_a_folder_has_the_same_bits_on_a_cluster(client, threads, folder):
    here = fit(LogisticRegression(tol=1e-2), blocks(folder, rows=10))
    for who in (client, threads):
        there = fit(LogisticRegression(tol=1e-2), blocks(folder, rows=10), client=who)
        assert bits(there) == bits(here)
        assert there.certificate_.statement == here.certificate_.statement


def test_one_worker_is_enough(folder):
    here = fit(LogisticRegression(tol=1e-2), blocks(folder, rows=10))
    given = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "silence_logs": 50}
    with (
        distributed.LocalCluster(dashboard_address="127.0.0.1:0", **given) as one,
        distributed.Client(one, set_as_default=False) as client,
    ):
        there = fit(LogisticRegression(tol=1e-2), blocks(folder, rows=10), client=client)
    assert bits(there) == bits(here)


def test_killed_workers_change_no_bit(crew_of_two, folder):
    client, crew = crew_of_two
    while len(client.nthreads()) < 2:
        time.sleep(0.02)
    source = blocks(folder, rows=10)
    here = fit(LogisticRegression(tol=1e-2), source)
    with Killing(crew, iter([0.3, 0.2]), random.Random(0)) as killing:
        there = fit(LogisticRegression(tol=1e-2), source, client=client)
    assert killing.hits >= 1
    assert bits(there) == bits(here)


def test_a_bad_row_of_one_file_is_named_by_a_worker(client, folder, tmp_path):
    for path in folder.iterdir():
        (tmp_path / path.name).write_text(path.read_text())
    bad = (tmp_path / "part.2.svm").read_text().splitlines()
    bad[30] = "1 7:1 8:inf"
    (tmp_path / "part.2.svm").write_text("\n".join(bad) + "\n")
    with pytest.raises(DataError, match=r"line 31 of .*part.2.svm has inf in the column 'x8'"):
        fit(LogisticRegression(), str(tmp_path / "*.svm"), client=client)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dask_arrays_of_csr_blocks_give_the_minimum(threads, rows, dtype):
    X, y = rows[0].astype(dtype), rows[1]
    with threads.as_current():
        model = LogisticRegression().fit(*as_dask(X, y))
        again = LogisticRegression().fit(*as_dask(X, y))
        lazy = model.predict(as_dask(X, y)[0])
        assert hasattr(lazy, "dask")
        assert np.mean(lazy.compute() == y) > 0.8
    assert bits(model) == bits(again)
    assert model.coef_.dtype == dtype
    theta = np.column_stack([model.coef_, model.intercept_]).astype(np.float64)
    f, (best, least) = penalised_loss(theta, X, y, 1.0, True)[0], minimum(X, y)
    assert f - least <= 1e-8 * f + (dtype == np.float32) * 1e-6
    bound = model.certificate_.evidence["distance_bound"]
    assert np.linalg.norm(theta - best) <= bound + 1e-2
    assert np.linalg.norm(model.coef_ - best[:, :-1]) <= bound + 1e-7  # of the twin itself


def test_the_weights_of_a_wide_model_travel_without_warnings(threads, folder):
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*large.*")  # Dask's, of tasks
        fit(LogisticRegression(tol=0.1), folder, n_features=50_000, client=threads)
