"""`adaline fit`: what it chooses, says and writes, against the library called by hand."""

from __future__ import annotations

import csv
import datetime

import numpy as np
import pytest

import adaline
from adaline.cli.learners import list_learners
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


def coefs(found):
    return [entry["coef"] for entry in found["coefficients"]]


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
    assert coefs(found) == [*model.intercept_, *model.coef_[0]]
    assert found["coefficients"][1]["low"] < coefs(found)[1] < found["coefficients"][1]["high"]
    assert found["converged"]
    assert found["certificate"]["kind"] == "optimal"
    assert found["separability"]["verdict"] == "overlapping"


def test_rows_are_held_out_of_every_class(command, pumps):
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
    assert coefs(found) == [model.intercept_, *model.coef_]
    assert found["condition"] == model.fit_.condition


@pytest.mark.parametrize(("values", "model"), [(3, "logistic"), (40, "gaussian"), (2, "logistic")])
def test_the_number_of_classes_decides(command, tmp_path, values, model):
    rows = "".join(f"{i * 37 % 101},c{i % values}\n" for i in range(400))
    (tmp_path / "t.csv").write_text("a,y\n" + rows)
    assert command("fit", "t.csv", "-t", "y", "--json").json["model"]["name"] == model
    (tmp_path / "t.csv").write_text("a,y\n" + rows.replace(",c", ","))
    found = command("fit", "t.csv", "-t", "y", "--json").json["model"]
    assert found["name"] == ("ridge" if values == 40 else "logistic")
    assert ("--model ridge" in found["why"]) == (values == 3)


def test_a_sorted_file_is_read_until_a_second_class_comes(command, tmp_path):
    rows = "".join(f"{i},{'no' if i < 150_000 else 'yes'}\n" for i in range(200_000))
    (tmp_path / "sorted.csv").write_text("a,y\n" + rows)
    found = command("fit", "sorted.csv", "-t", "y", "--json", "--set", "alpha=1").json
    assert found["model"]["name"] == "logistic"


TARGETS = dict.fromkeys(["numbers", "counts", "positive"], "rent") | {"classes": "failed"}
MODELS = {kind._command: TARGETS[kind._learns] for kind in list_learners()}
MODELS |= {"Ridge": "rent", "LeastSquaresClassifier": "failed"}


@pytest.mark.parametrize(("model", "target"), MODELS.items())
def test_every_learner_fits_is_saved_and_predicts(command, pumps, rents, model, target):
    data = rents if target == "rent" else pumps
    made = command("fit", data, "-t", target, "-m", model, "-o", "m.adaline", "--json")
    assert made.code == 0, made.err
    assert made.json["files"] == {"model": "m.adaline"}
    predicted = command("predict", "m.adaline", data)
    assert predicted.code == 0, predicted.err
    assert len(predicted.out.splitlines()) == 401
    assert command("info", "m.adaline").code == 0


def test_jobs_and_checkpoints_do_not_change_a_bit(command, rents):
    tokens = ["fit", rents, "-t", "rent", "--set", "alpha=1", "--json"]
    once = command(*tokens, "--checkpoint", "a").json
    again = command(*tokens, "--checkpoint", "a")
    other = command(*tokens, "--jobs", "2").json
    assert once["coefficients"] == again.json["coefficients"] == other["coefficients"]
    assert not once["data"]["in_memory"]
    at_once = command(*tokens, "--test", "0.2").json
    np.testing.assert_allclose(coefs(once), coefs(at_once), rtol=1e-6)
    refused = command("fit", rents, "-t", "area", "-m", "ridge", "--checkpoint", "a")
    assert (refused.code, "another run" in refused.err) == (3, True)


def test_one_pass_in_order_does_not_claim_to_have_converged(command, pumps):
    tokens = ["fit", pumps, "-t", "failed", "-m", "perceptron", "--checkpoint", "kept"]
    assert command(*tokens, "--json").json["converged"] is None
    assert "unknown" in command(*tokens).out


def test_few_rows_are_all_learned_from_and_that_is_a_warning(command, tmp_path):
    (tmp_path / "or.csv").write_text("x,y,label\n-1,-1,no\n1,-1,yes\n-1,1,yes\n1,1,yes\n")
    shown = command("fit", "or.csv", "-t", "label").out
    assert "4 training rows" in shown
    assert "overestimates" in shown


def test_a_seed_holds_out_other_rows(command, pumps):
    first, again, other = (
        command("fit", pumps, "-t", "failed", "--seed", seed, "--json").json["quality"]
        for seed in (1, 1, 2)
    )
    assert first == again != other
    found = command("fit", pumps, "-t", "failed", "--test", "0", "--json").json
    assert found["data"]["rows_learned_from"] == 400
    assert not found["quality"]["held_out"]


def test_the_saved_model_is_fitted_to_all_rows_after_it_was_measured(command, tmp_path, rng):
    x, origin = rng.normal(size=700), rng.integers(0, 3, 700)
    y = x + origin + rng.normal(size=700)
    rows = [f"{a},{'EJU'[k]},{b}" for a, k, b in zip(x, origin, y, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["x,Origin,y", *rows]) + "\n")
    tokens = "fit", "t.csv", "-t", "y", "--out", "m.adaline"
    found = command(*tokens, "--json").json
    assert found["data"]["rows_learned_from"] == 700
    assert found["data"]["rows_held_out"] == found["quality"]["rows"] == 140
    assert found["data"]["base_levels"] == {"Origin": "E"}
    rows = adaline.data.table("t.csv", "y")
    model = adaline.Ridge().fit(rows.X, rows.y)
    np.testing.assert_array_equal(adaline.load("m.adaline").model.coef_, model.coef_)
    assert "all 700 rows" in command(*tokens).out
    assert "not held out" in command(*tokens, "--test", "0.2").out
    assert "Origin=E" in command(*tokens, "--verbose").out


def test_the_result_comes_first_and_twelve_lines_suffice(command, pumps, rents):
    pytest.importorskip("jinja2")
    tokens = ("fit", pumps, "-t", "failed", "-o", "m.adaline", "--report", "r.html")
    first, *rest = command(*tokens).out.splitlines()
    assert first.startswith("Accuracy 76.8% (10-fold cross-validation, 400 rows;")
    assert len(rest) < 12
    assert any("converged (proven)" in line for line in rest)
    assert "coef" not in "".join(rest)
    verbose = command(*tokens, "-v").out
    assert "Certificate" in verbose
    assert "< 0.0001" in verbose
    quiet = command("fit", rents, "-t", "rent", "-q").out
    assert quiet.startswith("Explains")
    assert len(quiet.splitlines()) == 1
    page = (command.folder / "r.html").read_text(encoding="utf-8")
    assert "from pumps.csv" in page
    assert first.partition(";")[0] in page


def test_full_coefficients_fit_on_a_screen(command, pumps):
    shown = command("fit", pumps, "-t", "failed", "--coefficients", "full").out
    head = next(line for line in shown.splitlines() if line.startswith("failed=yes"))
    assert head.split()[1:] == ["coef", "low", "95%", "high", "95%", "odds", "ratio", "per", "sd"]
    assert len(head) <= 80
    found = command("fit", pumps, "-t", "failed", "--json").json["coefficients"]
    assert found[1]["odds ratio"] == pytest.approx(np.exp(found[1]["coef"]))


def test_columns_of_arrays_are_called_by_their_names(command, tmp_path):
    rows = "".join(f"{i},{2 * i},{i % 5}.5,{'hi' if i > 47 else 'lo'}\n" for i in range(7, 87))
    (tmp_path / "twice.csv").write_text("one,two,y,label\n" + rows)
    for more in ([], ["--checkpoint", "saved"]):
        tokens = ["-m", "least-squares", "--ignore", "label", "-v", *more]
        shown = command("fit", "twice.csv", "-t", "y", *tokens).out.replace("'", "")
        assert "two is a combination of one" in shown
    found = command("fit", "twice.csv", "-t", "label", "--set", "alpha=0", "--only", "one")
    assert (found.code, "'one'" in found.err, "alpha" in found.err) == (3, True, True)


def walk(path, order, rng):
    """A random walk with a date, 600 days."""
    sales = 100 + 10 * np.cumsum(rng.normal(size=600))
    days = [datetime.date(2021, 1, 1) + datetime.timedelta(days=k) for k in range(600)]
    rows = [f"{days[k]},{rng.normal():.4f},{sales[k]:.4f}" for k in order]
    path.write_text("\n".join(["the day,price,sales", *rows]) + "\n")
    return path


def test_rows_in_order_of_time_held_out_at_random_are_offered_by_time(command, tmp_path, rng):
    path = walk(tmp_path / "walk.csv", range(600), rng)
    for how in ((), ("--cv", "5")):
        shown = command("fit", path, "-t", "sales", *how, "--report", "r.html").out
        assert "--by-time 'the day'" in shown
        assert "--by-time" in (tmp_path / "r.html").read_text()
    by_time = command("fit", path, "-t", "sales", "--by-time", "the day", "--cv", "5").out
    assert "in order of" not in by_time
    assert "mean of the target differs between folds" in by_time
    mixed = walk(tmp_path / "mixed.csv", rng.permutation(600), rng)
    assert "--by-time" not in command("fit", mixed, "-t", "sales").out
