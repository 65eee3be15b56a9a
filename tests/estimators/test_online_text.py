"""Automatic rates on rows with few of many words, and on features that are seldom met."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adaline import LogisticRegression


def documents(seed, n=6000, p=5000, words=60):
    """Words by Zipf's law, of which one in five says something about the label."""
    rng = np.random.default_rng(seed)
    share = np.cumsum(1.0 / (np.arange(p) + 3.0))
    tokens = np.searchsorted(share / share[-1], rng.random(n * words))
    ends = np.arange(0, n * words + 1, words)
    X = sparse.csr_array((np.ones(n * words), tokens, ends), shape=(n, p))
    X.sum_duplicates()
    v = X @ (rng.standard_normal(p) * (rng.random(p) < 0.2))
    v = 2.0 * (v - v.mean()) / v.std()
    return X, (rng.random(n) < 1.0 / (1.0 + np.exp(-v))).astype(int)


@pytest.mark.parametrize("units", [1.0, 2.0**20], ids=["counts", "other units"])
def test_one_pass_over_text_gives_probabilities_better_than_a_coin(units):
    """Rates that do not fall for frequent words end in weights full of noise: a loss of 0.71."""
    losses = []
    for seed in range(5):
        X, y = documents(seed)
        X, half = X * units, len(y) // 2
        model = LogisticRegression().partial_fit(X[:half], y[:half], classes=[0, 1])
        probability = model.predict_proba(X[half:])[np.arange(half), y[half:]]
        losses.append(-np.log(probability).mean())
    assert np.mean(losses) < 0.65  # a coin's is 0.693


def test_a_first_value_near_zero_does_not_leave_a_huge_weight(rng):
    """Features met in one row of twenty: the first few values must not rule the next thousands."""
    X = rng.standard_normal((3000, 300)) * (rng.random((3000, 300)) < 0.05)
    v = X @ rng.standard_normal(300) * 0.4
    y = (v + 0.5 * rng.logistic(size=3000) > 0).astype(int)
    model = LogisticRegression().partial_fit(sparse.csr_array(X[:2400]), y[:2400], classes=[0, 1])
    probability = model.predict_proba(X[2400:])[np.arange(600), y[2400:]]
    assert -np.log(probability).mean() < 0.55  # it was 4
