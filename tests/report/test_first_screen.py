"""What a reader sees first: what drives the model, and what to beware of."""

from __future__ import annotations

import numpy as np
import pytest

import adaline
from adaline import Report

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def cancer():
    data = pytest.importorskip("sklearn.datasets").load_breast_cancer()
    X, y = data.data, np.array(["malignant", "benign"])[data.target]
    model = adaline.LogisticRegression(alpha=0.01).fit(X[:455], y[:455])
    proof = adaline.separability(X[:455], y[:455], pairwise=False)
    names = [str(name) for name in data.feature_names]
    return Report.of(
        model,
        X[455:],
        y[455:],
        names=names,
        target="diagnosis",
        separability=proof,
        learned=X[:455],
        held_out=True,
    )


def test_separable_and_collinear_rows_are_warned_of(cancer):
    assert any("separates all 455 training rows" in w and "penalty" in w for w in cancer.warnings)
    assert any("variance inflation" in w and "mean radius (" in w for w in cancer.warnings)


def test_inflation_is_that_of_regressing_each_column_on_the_others(rng):
    from adaline.evaluation.fit_evidence import inflation

    X = rng.standard_normal((200, 4)) @ rng.standard_normal((4, 4))
    found = inflation(X)
    for j in range(4):
        rest = np.column_stack([np.ones(200), np.delete(X, j, axis=1)])
        error = X[:, j] - rest @ np.linalg.lstsq(rest, X[:, j], rcond=None)[0]
        assert found[j] == pytest.approx(np.sum((X[:, j] - X[:, j].mean()) ** 2) / (error @ error))
    assert np.isinf(inflation(np.column_stack([X, X[:, 0]]))).any()
    assert inflation(X[:4]) is None  # too few rows to tell
    constant = inflation(np.column_stack([X, np.ones(200)]))
    assert constant[:4] == pytest.approx(found)
    assert constant[4] == 1.0


def test_the_columns_are_those_of_the_rows_learned_from_or_called_held_out(cancer, rng):
    captions = [table.caption for table in cancer.tables]
    assert "Columns of the 455 training rows" in captions
    X, y = rng.standard_normal((60, 3)), rng.standard_normal(60)
    model = adaline.LeastSquares().fit(X[:40], y[:40])
    for held_out, words in ((True, "held-out rows"), (False, "training rows"), (None, "rows")):
        report = Report.of(model, X[40:], y[40:], held_out=held_out)
        assert f"Columns of the 20 {words}" in [table.caption for table in report.tables]


def test_a_number_of_parameters_that_is_no_whole_number_is_called_degrees_of_freedom(cancer):
    facts = dict(cancer.statistics)
    assert "parameters" not in facts
    assert 1 < float(facts["degrees of freedom"]) < 31


def test_several_classes_say_why_there_are_no_standard_errors(rng):
    X = rng.standard_normal((90, 3))
    y = np.arange(90) % 3
    report = Report.of(adaline.LogisticRegression(alpha=1.0).fit(X, y), X, y, held_out=False)
    notes = [note for table in report.tables for note in table.notes]
    assert any("standard errors" in note for note in notes)


def test_drivers_are_told_largest_first_in_units_of_the_columns(rng):
    X = np.column_stack([rng.normal(0, 10, 300), rng.normal(0, 1, 300), rng.integers(0, 2, 300)])
    y = 0.5 * X[:, 0] + 1.0 * X[:, 1] + 3.0 * X[:, 2] + rng.normal(0, 0.1, 300)
    model = adaline.LeastSquares().fit(X, y)
    names = ["size", "age", "city=Rome"]
    report = Report.of(model, X, y, held_out=False, names=names, target="rent")
    first, second, third = report.drivers
    assert first.startswith("size: ")
    assert "more rent" in first
    assert second.startswith("city=Rome: ")
    assert "3" in second
    assert third.startswith("age: ")
    labels = np.where(y > 1, "dear", "cheap")
    logistic = adaline.LogisticRegression(alpha=1.0).fit(X, labels)
    report = Report.of(logistic, X, labels, held_out=False, names=names)
    assert "odds of 'dear'" in report.drivers[0]
    assert report.drivers[0] in report.html().replace("&#39;", "'")


def test_proofs_are_folded_away(cancer):
    page = cancer.html()
    assert page.index("<details") < page.index("minimise the (penalised) loss")
    assert page.index("What drives it") < page.index("Quality</h2>")
