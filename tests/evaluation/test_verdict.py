"""One judgement: the same numbers by blocks, in the command, in the report and in Python."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import balanced_accuracy_score, log_loss, r2_score

import adaline
from adaline.evaluation.coefficients import coefficients, standard_deviations
from adaline.evaluation.quality import Errors, wilson
from adaline.evaluation.trial import Trial, answers, column_names
from adaline.evaluation.verdict import judge


def two_classes(rng, n=200):
    X = rng.standard_normal((n, 3))
    return X, np.where(X[:, 0] + 0.7 * rng.standard_normal(n) > 0.4, "yes", "no")


def test_quality_of_decisions_is_that_of_scikit_learn(rng):
    X, y = two_classes(rng)
    model = adaline.LogisticRegression().fit(X[:100], y[:100])
    found = adaline.verdict(model, X[100:], y[100:], held_out=True).quality
    assert found["accuracy"] == model.score(X[100:], y[100:])
    answer = model.predict(X[100:])
    assert_allclose(found["balanced_accuracy"], balanced_accuracy_score(y[100:], answer))
    assert_allclose(found["log_loss"], log_loss(y[100:], model.predict_proba(X[100:])))
    assert found["rows"] == 100
    assert found["held_out"] is True


def test_quality_of_many_targets_is_the_mean_over_them(rng):
    X, Y = rng.standard_normal((60, 2)), rng.standard_normal((60, 3))
    Y[:, 0] += 3 * X[:, 0]
    model = adaline.LeastSquares().fit(X, Y)
    found = adaline.verdict(model, X, Y, held_out=False).quality
    assert_allclose(found["r2"], r2_score(Y, model.predict(X)), rtol=1e-12)
    assert_allclose(found["rmse"], np.sqrt(np.mean((Y - model.predict(X)) ** 2)), rtol=1e-12)
    assert found["targets"] == 3


@pytest.mark.parametrize("cuts", [[], [1], [3, 50, 51]])
def test_blocks_count_as_one(rng, cuts):
    y, p = rng.standard_normal(80) + 1e3, rng.standard_normal(80) + 1e3
    whole, parts = Errors(), Errors()
    whole.add(y, p)
    for a, b in zip(np.split(y, cuts), np.split(p, cuts), strict=True):
        parts.add(a, b)
    for key, value in whole.facts().items():
        assert_allclose(parts.facts()[key], value, rtol=1e-12)


def test_squares_beyond_float64_give_no_r2():
    found = Errors()
    found.add(np.array([1e200, -1e200]), np.zeros(2))
    assert found.facts()["r2"] is None
    assert found.facts()["worst"] == 1e200


def test_wilson_holds_the_truth_about_95_times_in_100(rng):
    n, p = 50, 0.9
    low, high = wilson(rng.binomial(n, p, 4000) / n, n)
    # Coverage of Wilson's interval at n = 50, p = 0.9 is 0.970 (exact sum); 4000 draws, 4 sigma.
    assert abs(np.mean((low <= p) & (p <= high)) - 0.970) < 4 * np.sqrt(0.97 * 0.03 / 4000)


def test_a_verdict_says_when_it_flatters_and_when_rows_are_few(rng):
    X, y = two_classes(rng, 20)
    model = adaline.GaussianClassifier().fit(X, y)
    told = " ".join(adaline.verdict(model, X, y, held_out=False).warnings)
    assert "overestimates" in told
    assert "only 20 rows" in told


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


def test_without_a_word_on_the_rows_a_verdict_does_not_call_them_held_out(rng):
    X, y = two_classes(rng, 60)
    found = adaline.verdict(adaline.GaussianClassifier().fit(X, y), X, y)
    assert "(60 rows" in found.sentence
    assert any("pass held_out=True" in told for told in found.warnings)


def test_wrong_rows_are_refused_in_words(rng):
    X, y = two_classes(rng, 20)
    with pytest.raises(ValueError, match="expected a fitted estimator"):
        adaline.verdict(adaline.Ridge(), X, y)
    model = adaline.GaussianClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"X has 20 rows and y has shape \(19,\)"):
        adaline.verdict(model, X, y[:19])
    with pytest.raises(ValueError, match="2 names for 3 columns"):
        adaline.verdict(model, X, y, names=["a", "b"])


@pytest.mark.parametrize("learner", ["LogisticRegression", "PoissonRegression", "LeastSquares"])
def test_weights_are_told_as_ratios_and_per_deviation(rng, learner):
    X = rng.standard_normal((80, 2)) * [1.0, 10.0]
    y = rng.poisson(np.exp(0.3 * X[:, 0]))
    y = (y > 1).astype(int) if learner == "LogisticRegression" else y
    model = getattr(adaline, learner)().fit(X, y)
    found = coefficients(model, ["a", "b"], standard_deviations(X))
    coef = np.ravel(model.coef_)
    assert_allclose([row["per sd"] for row in found.rows[1:]], coef * X.std(axis=0, ddof=1))
    ratio = {"LogisticRegression": "odds ratio", "PoissonRegression": "rate ratio"}.get(learner)
    assert found.more == (*([ratio] if ratio else []), "per sd")
    if ratio:
        assert_allclose([row[ratio] for row in found.rows[1:]], np.exp(coef))
    assert not set(found.more) & set(found.heads)
    assert set(found.more) <= set(found.in_full.heads)
    assert_allclose(standard_deviations(sparse.csr_matrix(X)), standard_deviations(X), rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"model": object()}, "expected a fitted estimator: fit it first"),
        ({"held_out": "yes"}, "held_out"),
        ({"separability": "yes"}, "separability is 'yes'; expected"),
        ({"y": np.ones((20, 2))}, r"y has shape \(20, 2\); predictions have \(20,\)"),
        ({"y": np.where(np.arange(20) == 3, np.nan, 1.0)}, "y contains NaN"),
        ({"names": "ab"}, "names is 'ab'; expected a sequence of 2 names"),
        ({"names": 7}, "names is 7; expected a sequence of 2 names"),
        ({"names": ["a"]}, "there are 1 names for 2 columns"),
    ],
)
def test_more_that_is_wrong_is_refused_in_words(rng, change, sentence):
    X = rng.standard_normal((20, 2))
    y = X[:, 0] + rng.standard_normal(20)
    given = {"model": adaline.LeastSquares().fit(X, y), "X": X, "y": y} | change
    with pytest.raises(ValueError, match=sentence):
        adaline.verdict(given.pop("model"), given.pop("X"), given.pop("y"), **given)


def test_columns_have_the_names_given_those_of_the_fit_or_numbers(rng):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(rng.standard_normal((20, 2)), columns=["age", "dose"])
    y = rng.standard_normal(20)
    named, bare = adaline.LeastSquares().fit(X, y), adaline.LeastSquares().fit(X.to_numpy(), y)
    assert column_names(named, None, ["u", 7]) == ["u", "7"]
    assert column_names(named, None, None) == ["age", "dose"]
    assert column_names(bare, X, None) == ["age", "dose"]
    assert column_names(bare, X.to_numpy(), None) == ["x0", "x1"]


def test_a_verdict_without_rows_says_so(rng):
    X = rng.standard_normal((20, 2))
    model = adaline.LeastSquares().fit(X, X[:, 0])
    found = judge(Trial.of(model))
    assert found.sentence == "There were no rows to measure the quality with."
    assert found.quality == {}
    assert found.checks == ()
    assert str(found) == f"{found.sentence} {found.evidence}"


def test_converged_is_what_is_said_and_a_verdict_of_numbers_takes_numbers_only(rng):
    X = rng.standard_normal((40, 2))
    model = adaline.LeastSquares().fit(X, X[:, 0])
    assert adaline.verdict(model, X, X[:, 0].tolist()).converged is True
    assert adaline.verdict(model, X, X[:, 0]).condition == model.condition_
    with pytest.raises(ValueError, match="y"):
        adaline.verdict(model, X, ["a"] * 40)


def test_scores_rank_two_classes_by_odds_or_by_decisions(rng):
    X, y = two_classes(rng, 60)
    odds = adaline.GaussianClassifier().fit(X, y)
    said = answers(odds, X)
    p = odds.predict_proba(X)
    assert_allclose(said.scores, np.log(p[:, 1] / p[:, 0]))
    assert_allclose(said.log_p, np.log(p))
    squares = adaline.LeastSquaresClassifier().fit(X, y)
    assert_allclose(answers(squares, X).scores, squares.decision_function(X))
    assert answers(squares, X).log_p is None
    three = adaline.GaussianClassifier().fit(X, np.arange(60) % 3)
    assert answers(three, X).scores is None
    silent = SimpleNamespace(predict=len, classes_=[0, 1])
    assert answers(silent, X).scores is None
    assert answers(SimpleNamespace(predict=len), X).scores is None


@pytest.fixture
def rows(rng):
    X = np.column_stack([rng.normal(50, 10, 400), rng.normal(0, 1, 400), rng.integers(0, 2, 400)])
    return X, 0.1 * X[:, 0] + X[:, 1] + 2 * X[:, 2] + rng.standard_normal(400)


def test_a_verdict_looks_at_residuals_and_at_single_rows(rows):
    X, y = rows
    model = adaline.LeastSquares().fit(X, y)
    held_out = adaline.verdict(model, X, y)
    keys = ["linearity", "spread", "normality", "independence"]
    assert [c.key for c in held_out.checks] == [*keys, "leakage"]
    learned = adaline.verdict(model, X, y, held_out=False)
    assert [c.key for c in learned.checks] == [*keys, "influence", "leakage"]
    assert all(c.word == "fine" for c in learned.checks)


def test_a_row_that_decides_and_rows_from_elsewhere_are_warned_of(rows):
    X, y = rows
    y = y.copy()
    y[3], X[3, 1] = 4000.0, 30.0
    model = adaline.LeastSquares().fit(X[:200], y[:200])
    elsewhere = np.array([30.0, 0.0, 0.0]) + X[200:]
    known = {"learned": X[:200], "learned_y": y[:200], "target": "rent"}
    names = ["age", "dose", "city=Rome"]
    found = judge(Trial.of(model, elsewhere, y[200:], held_out=True, names=names, **known))
    assert any("a single row moves the fit" in w and "rent 4,000" in w for w in found.warnings)
    assert any("differ from the 200 training rows: age" in w for w in found.warnings)
    seen = judge(Trial.of(model, elsewhere, y[200:], held_out=False, names=names, **known))
    assert "drift" not in [check.key for check in seen.checks]


def test_a_cross_validation_is_told_with_its_way_and_its_folds(rng):
    X, y = two_classes(rng, 60)
    result = adaline.cross_validated(adaline.GaussianClassifier(), X, y, 5)
    found = judge(Trial.of(result.model, X, y, cross_validated=result))
    assert "(5-fold cross-validation, 60 rows;" in found.sentence
    assert found.sentence == result.sentence
    assert (found.quality["way"], found.quality["folds"]) == (result.way, result.spread)
    assert "drift" not in [c.key for c in found.checks]  # the rows are the same
    with pytest.raises(ValueError, match="Give the same rows"):
        Trial.of(result.model, X[:50], y[:50], cross_validated=result)


def test_rows_with_gaps_are_left_out_of_a_trial_and_refused_by_a_verdict(rng):
    X = rng.standard_normal((40, 2))
    model, y = adaline.LeastSquares().fit(X, X[:, 0]), X[:, 0].copy()
    X[3, 1], y[7] = np.nan, np.inf
    trial = Trial.of(model, X, y)
    assert (trial.left_out, trial.quality.n, trial.names) == (2, 38, ["x0", "x1"])
    with pytest.raises(ValueError, match="NaN or infinity in 2 rows"):
        adaline.verdict(model, X, y)
    with pytest.raises(ValueError, match="in every row"):
        Trial.of(model, X * np.nan, y)


def test_labels_of_another_type_are_refused(rng):
    X, y = two_classes(rng, 20)
    with pytest.raises(ValueError, match="none is the same"):
        adaline.verdict(adaline.GaussianClassifier().fit(X, y), X, y == "yes")


def test_probabilities_are_checked_of_two_and_of_more_classes(rows, rng):
    X, _ = rows
    for K in (2, 3):
        y = np.clip(np.round(X[:, 1] + rng.standard_normal(400)), 0, K - 1).astype(int)
        model = adaline.LogisticRegression(alpha=1.0).fit(X[:200], y[:200])
        found = adaline.verdict(model, X[200:], y[200:]).checks
        assert [c.key for c in found] == ["calibration", "leakage"]
        assert found[0].fine is not None
        p = model.predict_proba(X[200:])
        best = p[:, 1] if K == 2 else p.max(axis=1)
        assert found[0].numbers["told"] == pytest.approx(best.mean())
        happened = y[200:] == (1 if K == 2 else model.predict(X[200:]))
        assert found[0].numbers["happened"] == pytest.approx(np.mean(happened))
        assert found[0].title == (
            "Probabilities of '1'" if K == 2 else "Probabilities of the likeliest class"
        )
    silent = adaline.Perceptron(max_iter=5)
    with pytest.warns(ConvergenceWarning):
        silent.fit(X[:200], y[:200] > 0)
    found = adaline.verdict(silent, X[200:], y[200:] > 0).checks
    assert [c.key for c in found] == ["leakage"]


def test_sparse_rows_and_several_targets_have_fewer_checks(rows):
    X, y = rows
    S = sparse.csr_array(X)
    found = adaline.verdict(adaline.LeastSquares().fit(S, y), S, y, held_out=False)
    assert "influence" not in [c.key for c in found.checks]
    Y = np.column_stack([y, -y])
    assert adaline.verdict(adaline.LeastSquares().fit(X, Y), X, Y, held_out=False).checks == ()
