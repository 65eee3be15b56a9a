"""What the gradient of ridge proves: each of its roundings counts, where it is the largest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adaline.certificates.residuals import SparseSizes, gradient_bounds
from adaline.linalg import UNIT

SIZES = SparseSizes(
    norm=2.0, columns=np.array([1.5, 0.5]), counts=np.array([3, 5]), longest=7, weight=4.0
)


def problem(rng, n=4, p=2, k=2):
    root = rng.random(n) + 0.5
    residuals, values, targets = (rng.standard_normal((n, k)) for _ in range(3))
    W, mean, lam = rng.standard_normal((p, k)), rng.standard_normal(p), np.array([0.5, 3.0])
    sums = (root**2) @ residuals
    # The gradient is zero but for rounding: what is left is the doubt.
    pulled = np.outer(mean, sums) + lam * W
    return {
        "mean": mean,
        "root": root,
        "pulled": pulled,
        "residuals": residuals,
        "values": values,
        "targets": targets,
        "lam": lam,
        "W": W,
    }


def doubts(s, mean, root, pulled, residuals, values, targets, lam, W):
    """What the textbook adds up, by name (k,)."""
    u, w = UNIT, np.linalg.norm(W, axis=0)
    r, v, b = (np.linalg.norm(root[:, None] * M, axis=0) for M in (residuals, values, targets))
    sums = np.abs((root**2) @ residuals)
    drift = np.sqrt(np.sum((u * (s.counts + 8) * s.columns) ** 2))
    g = np.linalg.norm(pulled - np.outer(mean, (root**2) @ residuals) - lam * W, axis=0)
    return {
        "values": s.norm**2 * u * (s.longest + 4) * w,
        "differences": s.norm * 4 * u * (r + v + b),
        "sums": drift * r,
        "mean": drift / np.sqrt(s.weight) * sums,
        "centring": 4 * u * np.sqrt(s.weight) * np.linalg.norm(mean) * r,
        "gradient": 4 * u * (g + 2 * np.linalg.norm(mean) * sums + 2 * lam * w),
    }, g


LARGE = {  # what makes one doubt larger than all the others
    "values": ({"longest": 10**6}, {}),
    "differences": ({"norm": 1e-3, "columns": np.zeros(2)}, {"mean": 0.0, "W": 0.0}),
    "of large values": ({"columns": np.zeros(2)}, {"values": 1e3, "mean": 0.0}),
    "of large targets": ({"columns": np.zeros(2)}, {"targets": 1e3, "mean": 0.0}),
    "sums": ({"columns": np.array([1e6, 2e6]), "weight": 1e12}, {}),
    "many in a column": ({"counts": np.array([10**9, 10**8]), "weight": 1e12}, {"mean": 1e-3}),
    "mean": ({"columns": np.array([1e6, 2e6]), "weight": 1e-4}, {}),
    "centring": ({"weight": 1e12, "norm": 1e-3, "columns": np.zeros(2)}, {}),
    "gradient": ({"norm": 0.0, "columns": np.zeros(2), "weight": 1e-12}, {"mean": 1e3}),
    "penalty": ({"norm": 0.0, "columns": np.zeros(2), "weight": 1e-12}, {"W": 1e3, "mean": 0.0}),
    "all": ({}, {}),
}


@pytest.mark.parametrize(("sizes", "times"), LARGE.values(), ids=LARGE)
def test_a_bound_is_the_sum_of_its_doubts(rng, sizes, times):
    s, given = replace(SIZES, **sizes), problem(rng)
    for key, factor in times.items():
        given[key] = given[key] * factor
    given["pulled"] = np.outer(given["mean"], (given["root"] ** 2) @ given["residuals"])
    given["pulled"] = given["pulled"] + given["lam"] * given["W"]
    bound, G = gradient_bounds(s, **given)
    parts, _ = doubts(s, **given)
    size = np.linalg.norm(G, axis=0)
    expected = (size + sum(parts.values())) / given["lam"]
    assert np.all(expected <= bound)
    assert np.all(bound <= 1.012 * expected)


def test_a_gradient_bounds_the_distance(rng):
    given = problem(rng)
    given["pulled"] = given["pulled"] + np.array([[3.0, 0.0], [4.0, 1.0]])
    bound, G = gradient_bounds(SIZES, **given)
    np.testing.assert_allclose(G, [[3.0, 0.0], [4.0, 1.0]], atol=1e-14)
    np.testing.assert_allclose(bound, 1.01 * np.array([5.0 / 0.5, 1.0 / 3.0]), rtol=1e-9)


def test_products_that_may_have_been_lost_are_in_the_bound(rng):
    nothing = {key: 0 * a if key not in ("lam", "root") else a for key, a in problem(rng).items()}
    bound, _ = gradient_bounds(SIZES, **nothing)
    np.testing.assert_allclose(bound, 1.01 * 1e-150 / nothing["lam"])
