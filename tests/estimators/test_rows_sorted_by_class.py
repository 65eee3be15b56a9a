"""Rows sorted by class: learners that go row by row say so, and what measures them shuffles."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from scipy import sparse

import adaline
from adaline.cli import run_command

LEARNERS = [
    adaline.Perceptron(tol=0.0, max_iter=100),
    adaline.Adaline(),
    adaline.SigmoidPerceptron(),
    adaline.KernelPerceptron(max_iter=20),
]


def clouds(n=150):
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], n // 3)
    return rng.standard_normal((n, 2)) + 2.0 * np.eye(3)[y][:, :2], y


def said_of_runs(model, X, y, **more):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, **more)
    return [w for w in caught if "runs" in str(w.message)]


@pytest.mark.parametrize("model", LEARNERS, ids=lambda m: type(m).__name__)
def test_a_learner_that_goes_row_by_row_warns_once_of_sorted_rows(model):
    X, y = clouds()
    (said,) = said_of_runs(model, X, y)
    assert said.category is UserWarning
    assert "3 runs" in str(said.message)
    assert said.filename == __file__
    assert len(said_of_runs(model, sparse.csr_array(X), np.array(["a", "b", "c"])[y])) == 1
    mixed = np.random.default_rng(0).permutation(len(y))
    assert not said_of_runs(model, X[mixed], y[mixed])


def test_no_warning_where_the_order_cannot_matter_or_rows_are_few():
    X, y = clouds()
    for model in (
        adaline.Perceptron(shuffle=True),
        adaline.Adaline(mode="batch"),
        adaline.LogisticRegression(),
        adaline.WidrowHoff(),
    ):
        assert not said_of_runs(model, X, y)
    few, labels = X[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, *range(100, 110)]], np.repeat([0, 1], 10)
    assert not said_of_runs(adaline.Perceptron(), few, labels)  # as small examples are written


@pytest.mark.parametrize("model", LEARNERS, ids=lambda m: type(m).__name__)
def test_cross_validation_and_compare_measure_sorted_rows_as_shuffled_ones(model):
    X, y = clouds()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = adaline.cross_validated(model, X, y, 5)
        best = adaline.compare(X, y, [model], cv=5).rows[-1]
    assert not any("runs" in str(w.message) for w in caught)
    mixed = np.random.default_rng(0).permutation(len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = adaline.cross_validated(model, X[mixed], y[mixed], 5)
    share = found.quality.facts()["accuracy"]
    assert share == pytest.approx(again.quality.facts()["accuracy"], abs=0.12)
    assert best.measure == share
    if hasattr(found.model, "support_"):
        np.testing.assert_array_equal(found.model.support_vectors_, X[found.model.support_])
    again = adaline.cross_validated(model, X, y, 5)
    assert again.quality.facts()["accuracy"] == share  # the seed decides


def test_the_command_shuffles_sorted_rows_and_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y = clouds()
    rows = [f"{a},{b},{'uvw'[k]}" for (a, b), k in zip(X.round(3).tolist(), y, strict=True)]
    (tmp_path / "sorted.csv").write_text("\n".join(["a,b,kind", *rows]))

    def run(*tokens):
        assert run_command(tokens) == 0
        return capsys.readouterr().out

    asked = ("fit", "sorted.csv", "-t", "kind", "-m")
    assert "shuffled" in run(*asked, "adaline")
    assert "shuffled" not in run(*asked, "logistic")
    facts = json.loads(run(*asked, "adaline", "--json", "--seed", "5", "--out", "m.adaline"))
    assert facts["model"]["shuffled"] is True
    assert not any("runs" in text for text in facts["warnings"])
    assert facts["quality"]["accuracy"] > 0.8
    assert "shuffled" in run("compare", "sorted.csv", "-t", "kind", "--cv", "3")
    run(*asked, "adaline", "--test", "0.2", "--report", "r.html", "--seed", "5")


def test_a_sorted_file_that_is_learned_block_by_block_is_told(tmp_path):
    X, y = clouds()
    path = tmp_path / "sorted.csv"
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header="a,b,y", comments="")
    with pytest.warns(UserWarning, match="3 runs"):
        adaline.data.fit(adaline.Adaline(), path, "y")
    mixed = np.random.default_rng(0).permutation(len(y))
    np.savetxt(path, np.column_stack([X, y])[mixed], delimiter=",", header="a,b,y", comments="")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        adaline.data.fit(adaline.Adaline(), path, "y")
    assert not any("runs" in str(w.message) for w in caught)
