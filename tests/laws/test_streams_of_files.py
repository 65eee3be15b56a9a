"""Laws of files: cutting, order of reading, format and crashes change nothing that matters."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaline import LeastSquares, LogisticRegression, Perceptron, PoissonRegression
from adaline.data import blocks, fit


def drawn(seed: int, n: int, p: int) -> np.ndarray:
    """Rows with offsets and units of their own, a target and two noisy classes."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * 10.0 ** rng.integers(-3, 4, p) + rng.integers(-50, 50, p)
    v = ((X - X.mean(axis=0)) / X.std(axis=0)) @ rng.standard_normal(p)
    c = rng.random(n) < 1 / (1 + np.exp(-v))
    c[:2] = [False, True]
    return np.column_stack([X, v + rng.standard_normal(n), c])


problems = st.tuples(st.integers(0, 10**6), st.integers(30, 200), st.integers(1, 4))


@settings(max_examples=25)
@given(problems, st.integers(1, 200), st.integers(1, 200))
def test_any_cutting_proves_the_same_least_squares(problem, rows, others):
    """Both agree with the exact solution to the digits they prove, so also with each other."""
    data = drawn(*problem)
    p = problem[2]
    columns, target = [f"x{j}" for j in range(p)], f"x{p}"
    array = LeastSquares().fit(data[:, :p], data[:, p])
    for size in (rows, others):
        stream = fit(LeastSquares(), blocks(data, rows=size), target, columns=columns)
        bound = stream.certificate_.evidence["error_bound"][:p].T.ravel()
        # The array's own solution is exact, but for its last rounding.
        assert np.all(np.abs(stream.coef_ - array.coef_) <= bound + 2.0**-52 * np.abs(array.coef_))
        assert stream.certificate_.kind in ("exact", "accurate")
        assert stream.certificate_.evidence["digits"] >= 6.0  # below that, it reads again


@pytest.mark.parametrize("learner", [LogisticRegression, PoissonRegression])
@settings(max_examples=15)
@given(problems, st.integers(1, 200), st.sampled_from([0.1, 1.0, 30.0]))
def test_any_cutting_finds_the_same_minimum(learner, problem, rows, alpha):
    data = drawn(*problem)
    p = problem[2]
    if learner is PoissonRegression:
        rng = np.random.default_rng(problem[0])
        data[:, p + 1] = 1 + rng.poisson(np.exp(np.clip(data[:, p], -3, 3)))
    columns, target = [f"x{j}" for j in range(p)], f"x{p + 1}"
    stream = fit(learner(alpha), blocks(data, rows=rows), target, columns=columns)
    array = learner(alpha).fit(data[:, :p], data[:, p + 1])
    assert stream.certificate_.kind == "optimal"
    for name, a, b in (
        ("coef_bound", stream.coef_, array.coef_),
        ("intercept_bound", stream.intercept_, array.intercept_),
    ):
        bound = sum(m.certificate_.evidence[name] for m in (stream, array))
        assert np.all(np.abs(a - b) <= bound + 1e-15 * np.abs(b))


@settings(max_examples=15)
@given(problems, st.integers(1, 200), st.integers(1, 3))
def test_rows_in_order_learn_the_same_bits_however_they_are_cut(problem, rows, passes):
    data = drawn(*problem)
    p = problem[2]
    columns, target = [f"x{j}" for j in range(p)], f"x{p + 1}"
    stream = fit(Perceptron(), blocks(data, rows=rows), target, columns=columns, passes=passes)
    whole = fit(Perceptron(), data, target, columns=columns, passes=passes)
    assert stream.coef_.tobytes() == whole.coef_.tobytes()


@pytest.mark.parametrize("seed", range(3))
def test_every_format_of_the_same_numbers_learns_the_same_bits(seed):
    data = drawn(seed, 300, 3)
    names = ["x0", "x1", "x2", "x3"]
    table = pl.DataFrame({name: data[:, j] for j, name in enumerate(names)})
    found = set()
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"t.{e}" for e in ("csv", "parquet", "feather", "ndjson", "npy")]
        table.write_csv(paths[0])
        table.write_parquet(paths[1])
        table.write_ipc(paths[2])
        table.write_ndjson(paths[3])
        np.save(paths[4], data[:, :4])
        for path in paths:
            found.add(fit(LeastSquares(), path, "x3").coef_.tobytes())
    # One block each: a matrix in rows may be summed in another order than one in columns.
    assert len(found) <= 2
