"""One judgement: the same numbers by blocks, in the command, in the report and in Python."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import adaline
from adaline.evaluation.trial import Trial
from adaline.evaluation.verdict import judge


def two_classes(rng, n=200):
    X = rng.standard_normal((n, 3))
    return X, np.where(X[:, 0] + 0.7 * rng.standard_normal(n) > 0.4, "yes", "no")


@pytest.mark.parametrize("held_out", [None, True, False, np.True_, np.False_])
def test_a_verdict_claims_of_its_rows_what_it_was_told(held_out, rng):
    X, y = two_classes(rng, 60)
    model = adaline.GaussianClassifier().fit(X, y)
    found = adaline.verdict(model, X, y, held_out=held_out)
    assert found.quality["held_out"] == held_out
    assert ("held-out" in found.sentence) == bool(held_out)
    assert ("training" in found.sentence) == (held_out is not None and not held_out)
    assert sum("trained on" in told or "training rows" in told for told in found.warnings) == (
        not held_out
    )


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"model": adaline.Ridge()}, "fitted"),
        ({"held_out": "yes"}, "held_out"),
        ({"y": np.ones((20, 2))}, "y has shape"),
        ({"y": np.ones(19)}, "y has shape"),
        ({"y": ["a"] * 20}, "y"),
        ({"y": np.where(np.arange(20) == 3, np.nan, 1.0)}, "y contains NaN"),
        ({"names": "ab"}, "names"),
        ({"names": ["a"]}, "names"),
    ],
)
def test_what_does_not_fit_the_model_is_refused(rng, change, word):
    X = rng.standard_normal((20, 2))
    y = X[:, 0] + rng.standard_normal(20)
    given = {"model": adaline.LeastSquares().fit(X, y), "X": X, "y": y} | change
    with pytest.raises(ValueError, match=word):
        adaline.verdict(given.pop("model"), given.pop("X"), given.pop("y"), **given)
    labels = np.where(y > 0, "yes", "no")
    with pytest.raises(ValueError, match="none is the same"):
        adaline.verdict(adaline.GaussianClassifier().fit(X, labels), X, y > 0)


def test_a_verdict_without_rows_says_so(rng):
    X = rng.standard_normal((20, 2))
    model = adaline.LeastSquares().fit(X, X[:, 0])
    found = judge(Trial.of(model))
    assert found.sentence == "There were no rows to measure the quality with."
    assert found.quality == {}
    assert found.checks == ()
    assert str(found) == f"{found.sentence} {found.evidence}"


@pytest.fixture
def rows(rng):
    X = np.column_stack([rng.normal(50, 10, 400), rng.normal(0, 1, 400), rng.integers(0, 2, 400)])
    return X, 0.1 * X[:, 0] + X[:, 1] + 2 * X[:, 2] + rng.standard_normal(400)


@pytest.mark.parametrize("gap", ["X", "y", "learned", "learned_y"])
def test_rows_with_gaps_are_refused_by_their_name(rng, gap):
    X = rng.standard_normal((40, 2))
    model, y = adaline.LeastSquares().fit(X, X[:, 0]), X[:, 0]
    rows = {"X": X, "y": y, "learned": X, "learned_y": y}
    rows[gap] = np.where(np.arange(rows[gap].size).reshape(rows[gap].shape) == 3, np.nan, rows[gap])
    with pytest.raises(ValueError, match=f"^{gap} contains NaN or infinity"):
        Trial.of(model, **rows)


@pytest.mark.parametrize(("K", "title"), [(2, "'1'"), (3, "the likeliest class")])
def test_probabilities_are_checked_of_two_and_of_more_classes(rows, rng, K, title):
    X, _ = rows
    y = np.clip(np.round(X[:, 1] + rng.standard_normal(400)), 0, K - 1).astype(int)
    model = adaline.LogisticRegression(alpha=1.0).fit(X[:200], y[:200])
    check, leakage = adaline.verdict(model, X[200:], y[200:]).checks
    assert (check.key, leakage.key) == ("calibration", "leakage")
    assert check.title == f"Probabilities of {title}"
    p = model.predict_proba(X[200:])
    assert check.numbers["predicted"] == pytest.approx(
        (p[:, 1] if K == 2 else p.max(axis=1)).mean()
    )
    happened = y[200:] == (1 if K == 2 else model.predict(X[200:]))
    assert check.numbers["observed"] == pytest.approx(np.mean(happened))


def test_sparse_rows_and_several_targets_have_fewer_checks(rows):
    X, y = rows
    S = sparse.csr_array(X)
    found = adaline.verdict(adaline.LeastSquares().fit(S, y), S, y, held_out=False)
    assert "influence" not in [c.key for c in found.checks]
    Y = np.column_stack([y, -y])
    assert adaline.verdict(adaline.LeastSquares().fit(X, Y), X, Y, held_out=False).checks == ()
