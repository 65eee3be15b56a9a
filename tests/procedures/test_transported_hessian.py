"""A curvature taken along from zero is that of the rows at theta, where these are Gaussian."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.losses.logistic import logistic_loss
from adaline.procedures.newton._stride import sample_step
from adaline.procedures.newton._transported_hessian import Sample, transported
from adaline.procedures.newton.curvature import curvature, full_hessian


def gaussian(rng, n, p, K, offset=0.0, omega=False):
    X = rng.standard_normal((n, p)) @ (np.eye(p) + 0.3 * rng.standard_normal((p, p)))
    V = X @ rng.normal(size=(p, K)) / np.sqrt(p) + offset * np.arange(K)
    codes = np.argmax(V + rng.gumbel(size=V.shape), axis=1)
    weights = rng.uniform(0.5, 2.0, n) if omega else np.empty(0)
    return logistic_loss(X, codes, K, weights, 1.0, True)


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("omega", [False, True])
def test_taken_along_it_is_nearer_the_curvature_there(rng, monkeypatch, K, omega):
    monkeypatch.setattr("adaline.procedures.newton.curvature.EXACT", 0)
    n, p = 40_000, 6
    loss = gaussian(rng, n, p, K, 0.7, omega)
    theta = rng.standard_normal((loss.K, p + 1)) * 1.2
    theta -= theta.mean(axis=0) if K > 2 else 0.0
    root = np.empty(n if K == 2 else (n, K))
    loss.at(np.zeros_like(theta), root)
    known = curvature(loss, np.zeros_like(theta), root, 15.0)
    sample = Sample(loss, sample_step(loss))
    sample.set_origin(np.zeros_like(theta), root, plain=True)
    loss.at(theta, root)
    found = sample.transport(known.matrix, theta, root)
    # The whole is regular through what classes share, which g below has none of.
    H = loss.gram(root) + np.diag(loss.penalty) if K == 2 else full_hessian(loss, root)
    g = rng.standard_normal(theta.shape)
    g -= g.mean(axis=0) if K > 2 else 0.0
    exact = np.linalg.solve(H, g.ravel()).reshape(g.shape)
    before = known.solve(g)
    after = found.solve(g, before)
    assert np.linalg.norm(after - exact) < 0.15 * np.linalg.norm(exact)  # a sample of 2048 rows
    assert np.linalg.norm(after - exact) < 0.3 * np.linalg.norm(before - exact)


def test_where_it_was_made_nothing_changes(rng):
    loss = gaussian(rng, 20_000, 5, 2)
    theta, root = rng.standard_normal((1, 6)), np.empty(20_000)
    loss.at(theta, root)
    known = curvature(loss, theta, root, 15.0)
    few = loss.thinned(8)
    then = 8.0 * root[::8] ** 2
    found = transported(few, known.matrix, then, theta, then, plain=True)
    g = rng.standard_normal((1, 6))
    np.testing.assert_allclose(found.solve(g, known.solve(g)), known.solve(g), rtol=1e-9)


def test_only_many_rows_have_a_sample_and_only_few_classes(rng):
    assert sample_step(gaussian(rng, 1000, 3, 2)) == 0
    assert sample_step(gaussian(rng, 40_000, 3, 2)) > 4
    assert sample_step(gaussian(rng, 40_000, 3, 30)) == 0
