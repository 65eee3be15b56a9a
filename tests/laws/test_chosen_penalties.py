"""No penalty has a smaller criterion than the one that a rule of Ridge chose."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaline import Ridge

GRID = np.geomspace(1e-12, 1e12, 60)


def criterion(model, rule, alphas, X, y):
    """Of each penalty, in the units of the columns that the fit chose, by public names."""
    if rule == "evidence":
        scale = 1.0 if model.column_scale_ is None else model.column_scale_
        return np.array([-Ridge(float(a)).fit(X / scale, y).evidence().value for a in alphas])
    path = model.path(alphas, X, y)
    return path.loo if rule == "loo" else path.gcv


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    shape=st.sampled_from([(1000, 3), (200, 8), (30, 5), (12, 4), (20, 30)]),
    noise=st.sampled_from([1e-4, 1e-2, 1.0, 100.0]),
    rule=st.sampled_from(["gcv", "loo", "evidence"]),
)
def test_no_penalty_on_a_grid_has_a_smaller_criterion(seed, shape, noise, rule):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape) * rng.choice([1.0, 10.0 ** rng.integers(-1, 2)], shape[1])
    y = X @ rng.standard_normal(shape[1]) + noise * rng.standard_normal(shape[0])
    model = Ridge(rule).fit(X, y)
    chosen, *others = criterion(model, rule, [model.alpha_, *GRID], X, y)
    # A minimum is found to a share of 1e-9; of wide rows the search ends at 1e-9 of an eigenvalue.
    assert chosen <= min(others) + 1e-7 * abs(min(others))


@pytest.mark.parametrize("rule", ["gcv", "loo", "evidence"])
def test_little_noise_is_no_reason_for_no_penalty(rng, rule):
    X = rng.standard_normal((1000, 3))
    model = Ridge(rule).fit(X, X @ [3.0, -2.0, 1.0] + rng.standard_normal(1000))
    assert 0.01 < model.alpha_ < 10
    assert "minimises" in model.fit_.stopped


def test_the_evidence_chooses_a_positive_penalty_unless_y_is_fitted_exactly(rng):
    X = rng.standard_normal((50, 4))
    for noise in (1.0, 1e-3, 1e-6):
        model = Ridge("evidence").fit(X, X.sum(axis=1) + noise * rng.standard_normal(50))
        assert model.alpha_ > 0
        assert model.evidence().best_value >= model.evidence().value - 1e-9
