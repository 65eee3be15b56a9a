"""`adaline fit`: what it chooses, says and writes, against the library called by hand."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

import adaline
from adaline.cli import fitting, tables
from adaline.cli.learners import iterate_learners
from adaline.data import Encoding, blocks
from adaline.data.sharing import held_out, share_out


def table(path, target):
    """X, y and which rows are held out with seed 0, by hand."""
    source = blocks(path)
    encoding = Encoding.learn(source, target)
    (block,) = source
    with open(path, newline="", encoding="utf-8") as file:
        y = np.array([row[target] for row in csv.DictReader(file)])
    return encoding.encode(block), y, held_out(0, len(y), 0, 0.2)


def test_two_classes_get_logistic_regression_with_the_librarys_numbers(command, pumps):
    found = command("fit", pumps, "--target", "failed", "--json").json
    X, y, _ = table(pumps, "failed")
    folded = adaline.cross_validated(adaline.LogisticRegression(alpha="auto"), X, y)
    model = folded.model
    assert found["model"]["class"] == "LogisticRegression"
    assert found["quality"]["accuracy"] == folded.quality.facts()["accuracy"]
    assert found["quality"]["auc"] == folded.quality.facts()["auc"]
    assert found["quality"]["way"] == "10-fold cross-validation"
    assert found["quality"]["rows"] == 400 == found["data"]["rows_learned_from"]
    assert found["data"]["rows_held_out"] == 0
    coefs = [entry["coef"] for entry in found["coefficients"]]
    assert coefs == [*model.intercept_, *model.coef_[0]]
    assert found["coefficients"][1]["low"] < coefs[1] < found["coefficients"][1]["high"]
    assert found["converged"]
    assert found["certificate"]["kind"] == "optimal"
    assert found["separability"]["verdict"] == "overlapping"


def test_rows_are_held_out_of_every_class_where_that_is_asked_for(command, pumps):
    found = command("fit", pumps, "--target", "failed", "--test", "0.2", "--json").json
    X, y, _ = table(pumps, "failed")
    out = share_out(y, 0.2)
    model = adaline.LogisticRegression(alpha="auto").fit(X[~out], y[~out])
    assert found["quality"]["accuracy"] == model.score(X[out], y[out])
    assert found["quality"]["rows"] == out.sum() == found["data"]["rows_held_out"] == 80
    counts = {one["label"]: one["rows"] for one in found["quality"]["per_class"]}
    assert counts == {"no": 46, "yes": 34}  # of 232 and 168


def test_numbers_get_ridge_with_the_librarys_numbers(command, rents):
    found = command("fit", rents, "-t", "rent", "--test", "0.2", "--json").json
    X, y, out = table(rents, "rent")
    y = y.astype(float)
    model = adaline.Ridge().fit(X[~out], y[~out])
    assert found["model"]["class"] == "Ridge"
    assert found["quality"]["r2"] == pytest.approx(model.score(X[out], y[out]), rel=1e-12)
    assert [entry["coef"] for entry in found["coefficients"]] == [model.intercept_, *model.coef_]
    assert found["condition"] == model.fit_.condition


def test_three_classes_of_text_and_of_whole_numbers_are_classes(command, pumps, tmp_path):
    assert command("fit", pumps, "-t", "site", "--json").json["model"]["name"] == "logistic"
    path = tmp_path / "whole.csv"
    path.write_text("a,y\n" + "".join(f"{i},{i % 3}\n" for i in range(90)))
    found = command("fit", path, "-t", "y", "--json").json
    assert found["quality"]["labels"] == [0, 1, 2]
    assert "--model ridge" in found["model"]["why"]


def test_many_classes_get_gaussian_ones(command, tmp_path):
    path = tmp_path / "many.csv"
    path.write_text("a,y\n" + "".join(f"{i * 37 % 101},c{i % 40}\n" for i in range(400)))
    assert command("fit", path, "-t", "y", "--json").json["model"]["name"] == "gaussian"


def test_a_sorted_file_is_read_until_a_second_class_comes(command, tmp_path, monkeypatch):
    path = tmp_path / "sorted.csv"
    path.write_text("a,y\n" + "".join(f"{i},{'no' if i < 150 else 'yes'}\n" for i in range(200)))
    small = lambda place, columns=None: blocks(place, columns, rows=20)  # noqa: E731
    monkeypatch.setattr(tables, "blocks", small)
    found = command("fit", path, "-t", "y", "--json").json
    assert found["model"]["name"] == "logistic"
    assert found["separability"]["verdict"] == "separable"


def test_sparse_rows_are_learned_too(command, tmp_path, rng):
    lines = []
    for _ in range(300):
        places = np.sort(rng.choice(40, 5, replace=False)) + 1
        lines.append(f"{1 if places[0] < 6 else -1} " + " ".join(f"{k}:1.5" for k in places))
    (tmp_path / "s.libsvm").write_text("\n".join(lines) + "\n")
    found = command("fit", "s.libsvm", "-t", "y", "-o", "m.adaline", "--json").json
    assert found["quality"]["accuracy"] > 0.7
    assert command("evaluate", "m.adaline", "s.libsvm").code == 0


TARGETS = dict.fromkeys(["numbers", "counts", "positive"], "rent") | {"classes": "failed"}
MODELS = {kind._command: TARGETS[kind._learns] for kind in iterate_learners()}
MODELS |= {"Ridge": "rent", "LeastSquaresClassifier": "failed"}


@pytest.mark.parametrize(("model", "target"), MODELS.items())
def test_every_learner_fits_is_kept_and_predicts(command, pumps, rents, model, target):
    data = rents if target == "rent" else pumps
    made = command("fit", data, "-t", target, "-m", model, "-o", "m.adaline", "--json")
    assert made.code == 0, made.err
    assert made.json["files"] == {"model": "m.adaline"}
    told = command("predict", "m.adaline", data)
    assert told.code == 0, told.err
    assert len(told.out.splitlines()) == 401
    assert command("info", "m.adaline").code == 0


def test_a_learner_that_is_none_is_answered_with_all_there_are(command, rents):
    found = command("fit", rents, "-t", "rent", "-m", "?")
    assert found.code == 2
    for kind in iterate_learners():
        assert repr(kind._command) in found.err


@pytest.mark.parametrize(("model", "target"), [("logistic", "failed"), ("ridge", "rent")])
def test_block_by_block_is_the_same_as_in_memory(command, pumps, rents, monkeypatch, model, target):
    data = rents if target == "rent" else pumps
    tokens = ["fit", data, "-t", target, "-m", model, "--set", "alpha=1", "--json"]
    tokens += ["--test", "0.2"]
    whole = command(*tokens).json
    monkeypatch.setattr(fitting, "MEMORY", 0)
    parts = command(*tokens).json
    assert whole["data"]["in_memory"]
    assert not parts["data"]["in_memory"]
    assert whole["data"]["rows_learned_from"] == parts["data"]["rows_learned_from"]
    a, b = ([entry["coef"] for entry in found["coefficients"]] for found in (whole, parts))
    # Both are proven to a few 1e-7 of the optimum, in units of the least certain column.
    np.testing.assert_allclose(a, b, rtol=1e-4)
    assert whole["quality"].keys() == parts["quality"].keys()


def test_jobs_and_checkpoints_do_not_change_a_bit(command, rents):
    tokens = ["fit", rents, "-t", "rent", "--json"]
    once = command(*tokens, "--checkpoint", "a").json
    again = command(*tokens, "--checkpoint", "a").json
    other = command(*tokens, "--jobs", "2").json
    assert once["coefficients"] == again["coefficients"] == other["coefficients"]
    assert once["data"]["rows_learned_from"] == other["data"]["rows_learned_from"]


def test_a_checkpoint_of_another_run_is_refused_in_a_sentence(command, rents):
    command("fit", rents, "-t", "rent", "--checkpoint", "a")
    other = command("fit", rents, "-t", "area", "-m", "ridge", "--checkpoint", "a")
    assert other.code == 3
    assert "another run" in other.err


def test_one_pass_in_order_does_not_claim_to_have_converged(command, pumps):
    tokens = ["fit", pumps, "-t", "failed", "-m", "perceptron", "--checkpoint", "kept"]
    assert command(*tokens, "--json").json["converged"] is None
    assert "whether more would help is unknown" in command(*tokens).out


def test_few_rows_are_all_learned_from_and_that_is_said(command, tmp_path):
    path = tmp_path / "or.csv"
    path.write_text("x,y,label\n-1,-1,no\n1,-1,yes\n-1,1,yes\n1,1,yes\n")
    shown = command("fit", path, "-t", "label")
    assert shown.code == 0
    assert "4 training rows" in shown.out
    assert "overestimates" in shown.out


def test_test_0_learns_from_all_rows(command, rents):
    found = command("fit", rents, "-t", "rent", "--test", "0", "--json").json
    assert found["data"]["rows_learned_from"] == 400
    assert not found["quality"]["held_out"]


def test_a_seed_holds_out_other_rows(command, pumps):
    first, again, other = (
        command("fit", pumps, "-t", "failed", "--seed", seed, "--json").json["quality"]
        for seed in (1, 1, 2)
    )
    assert first == again != other


@pytest.mark.parametrize("missing", ["refuse", "drop", "mean"])
def test_missing_values_are_refused_dropped_or_filled_in(command, tmp_path, missing):
    path = tmp_path / "gaps.csv"
    path.write_text("a,y\n" + "".join(f"{i if i % 7 else ''},{2 * i}\n" for i in range(100)))
    found = command("fit", path, "-t", "y", "--missing", missing, "-o", "m.adaline")
    if missing == "refuse":
        assert found.code == 3
        assert "--missing drop" in found.err
        return
    assert found.code == 0
    lines = command("predict", "m.adaline", path).out.splitlines()
    assert len(lines) == 101
    assert (lines[1] == '""') == (missing == "drop")
    assert ("with missing values left out" in found.out) == (missing == "drop")


def test_means_that_stand_for_gaps_do_not_look_at_held_out_rows(command, tmp_path):
    path = tmp_path / "gaps.csv"
    values = np.arange(200.0)
    path.write_text("a,y\n" + "".join(f"{'' if i == 3 else v},{i}\n" for i, v in enumerate(values)))
    command("fit", path, "-t", "y", "--missing", "mean", "--test", "0.2", "-o", "m.adaline")
    out = held_out(0, 200, 0, 0.2)
    keep = ~out & (np.arange(200) != 3)
    mean = adaline.load("m.adaline").encoding.inputs[0].mean
    assert mean == pytest.approx(values[keep].mean(), rel=1e-15)


def test_a_column_can_be_left_out(command, pumps):
    found = command("fit", pumps, "-t", "failed", "--ignore", "site", "--ignore", "hours", "--json")
    names = [entry["name"] for entry in found.json["coefficients"]]
    assert not [name for name in names if name.startswith(("site", "hours"))]


def test_settings_reach_the_learner(command, pumps):
    found = command("fit", pumps, "-t", "failed", "--set", "alpha=0", "--set", "tol=1e-6", "--json")
    assert found.json["model"]["parameters"]["alpha"] == 0
    assert found.json["model"]["parameters"]["tol"] == 1e-6


def test_a_report_is_written(command, pumps, tmp_path):
    pytest.importorskip("jinja2")
    found = command("fit", pumps, "-t", "failed", "--report", "r.html")
    assert found.code == 0, found.err
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "failed from pumps.csv" in page
    assert "10-fold cross-validation, 400 rows" in page


def test_separable_data_and_maximum_likelihood_say_what_to_do(command, tmp_path):
    path = tmp_path / "apart.csv"
    path.write_text("size,y\n" + "".join(f"{i},{'hi' if i > 40 else 'lo'}\n" for i in range(80)))
    found = command("fit", path, "-t", "y", "--set", "alpha=0")
    assert found.code == 3
    assert "'size'" in found.err
    assert "alpha" in found.err


def test_dependent_columns_are_called_by_their_names(command, tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("one,two,y\n" + "".join(f"{i},{2 * i},{i % 5}.5\n" for i in range(7, 87)))
    found = command("fit", path, "-t", "y", "-m", "least-squares")
    assert "'two' is a combination of 'one'" in found.out


def test_quiet_says_the_outcome_only(command, rents):
    shown = command("fit", rents, "-t", "rent", "-q").out
    assert shown.startswith("Explains")
    assert len(shown.splitlines()) == 1


def test_the_verdict_tells_quality_convergence_separability_and_condition(command, pumps, rents):
    shown = command("fit", pumps, "-t", "failed").out
    assert "10-fold cross-validation, 400 rows" in shown
    assert "Learning converged (proven)" in shown
    assert "no hyperplane separates the 400 training rows (proven)" in shown
    assert "condition number" in command("fit", rents, "-t", "rent").out


def test_the_terminal_and_the_page_state_one_accuracy(command, tmp_path, rng, monkeypatch):
    """A page draws a sample of a large file's held-out rows, and counts all of them."""
    monkeypatch.setattr(fitting, "REPORTED", 200)
    X = rng.standard_normal((900, 3))
    y = np.where(X[:, 0] + 0.7 * rng.standard_normal(900) > 0.4, "yes", "no")
    rows = "\n".join(",".join([*map(str, x), label]) for x, label in zip(X, y, strict=True))
    table, page = tmp_path / "table.csv", tmp_path / "page.html"
    table.write_text(f"a,b,c,y\n{rows}\n")
    found = json.loads(command("fit", table, "-t", "y", "--report", page, "--json").out)
    quality = found["quality"]
    assert f"Accuracy {quality['accuracy']:.1%}" in page.read_text(encoding="utf-8")


def test_a_folder_of_more_columns_than_sums_of_products_can_have(command, tmp_path, rng):
    """Text as others count words: 2,500 of them, few in each row."""
    X = sparse.random_array((400, 2500), density=0.02, format="csr", rng=rng)
    y = (X[:, :200].sum(axis=1) > 2.0).astype(int)
    for k in range(2):
        half = slice(200 * k, 200 * k + 200)
        path = tmp_path / f"part{k}.svm"
        dump_svmlight_file(X[half], y[half], str(path), zero_based=False)
    found = command("fit", "part*.svm", "-t", "y", "-o", "m.adaline", "--json").json
    assert found["certificate"]["kind"] == "optimal"
    assert command("evaluate", "m.adaline", "part1.svm").code == 0


def test_infinities_can_be_called_missing(command, tmp_path):
    path = tmp_path / "t.csv"
    lines = [f"{'Inf' if i % 9 == 0 else i},{'-inf' if i % 11 == 0 else i % 7}" for i in range(80)]
    path.write_text("a,y\n" + "\n".join(lines) + "\n")
    for target in ("a", "y"):
        refused = command("fit", path, "-t", target, "-m", "ridge")
        assert refused.code == 3
        assert "--na inf" in refused.err
        found = command("fit", path, "-t", target, "-m", "ridge", "--na", "inf,-inf")
        assert found.code == 0, found.err


def test_the_penalty_that_a_rule_chose_is_shown(command, tmp_path):
    rows = "\n".join(f"{x},{(7 * x) % 5},{3 * x + (x * x) % 7}" for x in range(40))
    (tmp_path / "t.csv").write_text(f"a,b,y\n{rows}\n")
    found = command("fit", "t.csv", "-t", "y", "-o", "m.adaline", "--json").json
    alpha = found["model"]["alpha"]
    assert f"alpha = {alpha:.4g}" in command("fit", "t.csv", "-t", "y", "-o", "m.adaline").out
    assert "alpha chosen" in command("info", "m.adaline").out
    assert command("info", "m.adaline", "--json").json["alpha"] == pytest.approx(alpha)
