"""`compare` says of labels at random that a learner beats no model in at most 5 % of tables.

`make fuzz SECONDS=600` draws more tables, from a new seed each time.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
import pytest

import adaline

SCHEMES = ("2 folds", "5 folds", "10 folds", "leave-one-out", "groups", "times")


def claims_signal(scheme, seed, numbers=False):
    """Whether `compare` claims that noise can be predicted; None where there is one class."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 61 if scheme == "leave-one-out" else 201))
    X = rng.standard_normal((n, int(rng.integers(1, 8))))
    share = rng.choice([0.5, 0.3, 0.1])
    exact = rng.permutation(np.arange(n) < round(share * n))
    y = exact if rng.random() < 0.5 else rng.random(n) < share
    if numbers:
        y = rng.standard_normal(n) ** rng.choice([1, 2, 3])
        learners = [adaline.LeastSquares(), adaline.Ridge()]
    else:
        learners = [adaline.GaussianClassifier(), adaline.Perceptron(max_iter=10)]
        if y.all() or not y.any():
            return None
    cv = {"2 folds": 2, "5 folds": 5, "leave-one-out": n}.get(scheme, 10)
    given = {
        "groups": {"groups": rng.integers(0, max(n // 5, 2), n)},
        "times": {"times": np.arange(n)},
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = adaline.compare(X, y, learners, cv=cv, **given.get(scheme, {}))
    return found.best is not None and not found.rows[0].is_as_good


@pytest.mark.parametrize("scheme", SCHEMES)
def test_coin_flips_are_seldom_said_to_be_predictable(scheme):
    tables = 8 if scheme == "leave-one-out" else 20
    assert [claims_signal(scheme, seed) for seed in range(tables)].count(True) <= 0.05 * tables


@pytest.mark.parametrize("scheme", ["2 folds", "10 folds", "groups", "times"])
def test_numbers_at_random_are_seldom_said_to_be_predictable(scheme):
    assert [claims_signal(scheme, seed, True) for seed in range(20)].count(True) <= 1


if __name__ == "__main__":
    lies, seed = 0, int(time.time())
    for numbers in (False, True):
        for scheme in SCHEMES:
            end = time.monotonic() + float(sys.argv[1]) / (2 * len(SCHEMES))
            claims = []
            while time.monotonic() < end:
                seed += 1
                claims.append(claims_signal(scheme, seed, numbers))
            false, told = claims.count(True), len(claims) - claims.count(None)
            lies += false > 0.05 * told
            print(f"{scheme}, {'numbers' if numbers else 'labels'}: {false} of {told} claims false")
    sys.exit(lies > 0)
