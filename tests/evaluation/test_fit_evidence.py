"""What is known of a fit, and what it gives reason to doubt: each sentence at its edge."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import adaline
from adaline.evaluation import fit_evidence as evidence


def certificate(kind="optimal", **more):
    return SimpleNamespace(kind=kind, statement="it is so.", evidence=more)


@pytest.mark.parametrize(
    ("done", "most", "kind", "doubted"),
    [(9, 10, "unproven", False), ([3, 10], 10, "unproven", True), (10, 10, "optimal", False)],
)
def test_learning_that_ended_with_its_passes_is_doubted(done, most, kind, doubted):
    model = SimpleNamespace(n_iter_=done, max_iter=most, certificate_=certificate(kind))
    assert any("max_iter = 10" in text for text in evidence.fit_warnings(model)) == doubted


def test_variance_inflation_is_that_of_each_column_regressed_on_the_others(rng):
    X = rng.standard_normal((50, 4)) * [1.0, 10.0, 0.1, 1.0]
    X[:, 1] += 30 * X[:, 0]
    X[:, 3] = 7.0
    found = evidence.inflation(X)
    for j in range(3):
        others = np.delete(X, [j, 3], axis=1)
        r2 = adaline.LeastSquares().fit(others, X[:, j]).score(others, X[:, j])
        assert found[j] == pytest.approx(1 / (1 - r2), rel=1e-8)
    assert found[3] == 1.0
    twice = np.column_stack([X[:, :3], X[:, 0] + X[:, 2]])
    assert np.array_equal(np.isinf(evidence.inflation(twice)), [True, False, True, True])


def test_columns_that_others_predict_are_named_the_worst_first(rng):
    X = rng.standard_normal((40, 2))
    bare, names = SimpleNamespace(coef_=1), ["a", "b", "c"]
    near = np.column_stack([X, X[:, 0] + 1e-3 * X[:, 1]])
    assert "c (" in evidence.fit_warnings(bare, names=names, X=near)[0]
    assert evidence.fit_warnings(bare, names=names) == []
    assert evidence.fit_warnings(SimpleNamespace(coef_=None), names=names, X=near) == []
    same = np.column_stack([X, X[:, 0]])
    assert "a (inf), c (inf)" in evidence.fit_warnings(bare, names=names, X=same)[0]
    apart = rng.standard_normal((40, 3))
    assert evidence.fit_warnings(bare, names=names, X=apart) == []
