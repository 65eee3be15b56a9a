"""Folds, weights, costs and comparisons on the command line, against the library by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

import adaline


@pytest.fixture
def visits(tmp_path, rng):
    """Patients with several rows each, days, weights, and a rare class."""
    n = 120
    who = np.repeat(np.arange(30), 4)
    a, b = rng.standard_normal((2, n)).round(3)
    y = np.where(a + 0.6 * rng.standard_normal(n) > 1.0, "ill", "well")
    w = rng.integers(1, 4, n)
    path = tmp_path / "visits.csv"
    rows = [f"{a[i]},{b[i]},p{who[i]},{3 * i + i % 2},{w[i]},{y[i]}" for i in range(n)]
    path.write_text("a,b,who,day,w,y\n" + "\n".join(rows) + "\n")
    return path, np.column_stack([a, b]), np.array([f"p{k}" for k in who]), w, y


ONLY = ["--ignore", "day", "--ignore", "w"]


def test_groups_stay_together_and_are_not_learned_from(command, visits):
    path, X, who, _, y = visits
    found = command("fit", path, "-t", "y", "--group", "who", "--cv", "5", *ONLY, "--json").json
    model = adaline.LogisticRegression(alpha="auto")
    by_hand = adaline.cross_validated(model, X, y, 5, groups=who)
    assert [entry["name"] for entry in found["coefficients"]] == ["intercept", "a", "b"]
    assert found["quality"]["accuracy"] == by_hand.quality.facts()["accuracy"]
    assert found["quality"]["way"] == "5-fold cross-validation over 30 groups"
    assert found["quality"]["folds"]["count"] == 5


def test_time_is_predicted_from_the_past(command, visits):
    path, X, _, _, y = visits
    more = ["--ignore", "who", "--ignore", "w", "--ignore", "day"]
    found = command("fit", path, "-t", "y", "--by-time", "day", "--cv", "4", *more, "--json").json
    model = adaline.LogisticRegression(alpha="auto")
    by_hand = adaline.cross_validated(model, X, y, 4, times=np.arange(120))
    assert found["quality"]["rows"] == by_hand.quality.n == 96
    assert found["quality"]["accuracy"] == by_hand.quality.facts()["accuracy"]
    assert found["data"]["rows_learned_from"] == 120
    kept = command("fit", path, "-t", "y", "--by-time", "day", "--ignore", "who", "--json").json
    assert "day" in [entry["name"] for entry in kept["coefficients"]]


def test_weights_and_balance_reach_the_learner(command, visits):
    path, X, _, w, y = visits
    more = ["--ignore", "who", "--ignore", "day", "--set", "alpha=1", "--json"]
    found = command("fit", path, "-t", "y", "--weights", "w", *more).json
    model = adaline.LogisticRegression().fit(X, y, sample_weight=w)
    coefs = [entry["coef"] for entry in found["coefficients"]]
    np.testing.assert_allclose(coefs, [*model.intercept_, *model.coef_[0]], rtol=1e-9)
    assert found["quality"]["rows"] == 120
    found = command("fit", path, "-t", "y", "--balanced", "--ignore", "w", *more).json
    share = {label: np.mean(y == label) for label in ("ill", "well")}
    omega = np.array([0.5 / share[label] for label in y])
    model = adaline.LogisticRegression().fit(X, y, sample_weight=omega)
    coefs = [entry["coef"] for entry in found["coefficients"]]
    np.testing.assert_allclose(coefs, [*model.intercept_, *model.coef_[0]], rtol=1e-9)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_threshold_moves_answers_and_stays_with_the_model(command, visits):
    path, X, *_ = visits
    more = ["--ignore", "who", *ONLY]
    shown = command("fit", path, "-t", "y", "--threshold", "0.9", *more, "-o", "m.adaline").out
    assert "answers 'well' where its probability exceeds 0.9" in shown
    model = adaline.load("m.adaline").model
    lines = command("predict", "m.adaline", path).out.splitlines()[1:]
    p = model.predict_proba(X)[:, 1]
    wanted = np.where(p > 0.9, "well", "ill")
    assert [line.split(",")[0] for line in lines] == wanted.tolist()


def test_costs_name_labels_and_are_counted(command, visits):
    path, *_ = visits
    more = ["--ignore", "who", *ONLY, "--json"]
    found = command("fit", path, "-t", "y", "--costs", "ill=10", *more).json
    quality = found["quality"]
    (ill, as_well), (as_ill, well) = quality["confusion"]
    assert quality["mean_cost"] == pytest.approx((10 * as_well + as_ill) / 120)
    constant = min(10 * (ill + as_well), as_ill + well)
    assert quality["cost_of_constant"] == pytest.approx(constant / 120)
    plain = command("fit", path, "-t", "y", *more).json["quality"]
    assert plain["mean_cost"] is None
    assert plain["confusion"][0][1] > as_well


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (["--cv", "1"], ">= 2"),
        (["--cv", "5", "--test", "0.2"], "choose one"),
        (["--group", "who", "--by-time", "day"], "choose one"),
        (["--group", "whom"], "did you mean 'who'"),
        (["--weights", "y"], "is the target"),
        (["--threshold", "1.5"], "--threshold"),
        (["--threshold", "0.5", "--costs", "ill=2"], "give one"),
        (["--costs", "il=2"], "did you mean 'ill'"),
        (["--costs", "ill"], "label=cost"),
        (["--costs", "ill=-1"], "above 0"),
        (["--costs", "ill=2", "--model", "perceptron"], "logistic or gaussian"),
        (["--balanced", "--model", "ridge"], "for classes"),
        (["--weights", "who"], "holds text"),
        (["--cv", "5", "--jobs", "2"], "in memory"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(command, visits, tokens, words):
    found = command("fit", visits[0], "-t", "y", *tokens)
    assert found.code in (2, 3)
    assert words in found.err


def test_folds_that_cannot_be_made_are_no_dead_end(command, tmp_path):
    path = tmp_path / "rare.csv"
    path.write_text("a,y\n" + "".join(f"{i % 13},{'yes' if i == 7 else 'no'}\n" for i in range(60)))
    shown = command("fit", path, "-t", "y")
    assert shown.code == 0, shown.err
    assert "too few to predict some from the others" in shown.out
    assert "overestimates" in shown.out
    assert command("fit", path, "-t", "y", "--cv", "5").code == 3


def test_full_coefficients_fit_on_a_screen(command, pumps):
    shown = command("fit", pumps, "-t", "failed", "--coefficients", "full").out
    head = next(line for line in shown.splitlines() if line.startswith("failed=yes"))
    assert head.split()[1:] == ["coef", "low", "95%", "high", "95%", "odds", "ratio", "per", "sd"]
    assert len(head) <= 80
    found = command("fit", pumps, "-t", "failed", "--json").json["coefficients"]
    assert found[1]["odds ratio"] == pytest.approx(np.exp(found[1]["coef"]))


def test_evaluating_on_the_file_of_the_fit_is_told(command, visits, tmp_path):
    path = visits[0]
    command("fit", path, "-t", "y", *ONLY, "-o", "m.adaline")
    assert "learned from these rows" in command("evaluate", "m.adaline", path).out
    copy = tmp_path / "copy.csv"
    copy.write_bytes(path.read_bytes())
    assert "too optimistic" in command("evaluate", "m.adaline", copy).out
    other = tmp_path / "other.csv"
    other.write_text("".join(path.read_text().splitlines(keepends=True)[:100]))
    shown = command("evaluate", "m.adaline", other).out
    assert "too optimistic" not in shown
    assert "precision" in shown
    assert "area under the ROC curve" in shown
    command("fit", path, "-t", "y", *ONLY, "--test", "0.2", "-o", "n.adaline")
    assert "learned from most of these rows" in command("evaluate", "n.adaline", path).out


def test_compare_is_the_librarys(command, visits):
    path, X, who, _, y = visits
    tokens = ["compare", path, "-t", "y", "--group", "who", *ONLY]
    found = command(*tokens, "--json").json
    by_hand = adaline.compare(X, y, [adaline.GaussianClassifier()], groups=who)
    rows = {row["name"]: row for row in found["learners"]}
    assert rows["gaussian"]["measure"] == by_hand.rows[1].measure
    assert rows["no model"]["measure"] == by_hand.rows[0].measure
    assert {"logistic", "perceptron", "no model"} <= set(rows)
    shown = command(*tokens).out
    assert found["sentence"] in shown
    assert json.dumps(found)
    assert all(len(line) <= 80 for line in shown.splitlines() if "to" in line and "%" in line[:40])


def test_compare_refuses_in_sentences(command, visits):
    path = visits[0]
    assert ">= 2" in command("compare", path, "-t", "y", "--cv", "0").err
    assert "did you mean" in command("compare", path, "-t", "y", "--group", "whom").err
    assert "for classes" in command("compare", path, "-t", "a", "--balanced").err
    assert "--time-limit" in command("compare", path, "-t", "y", "--time-limit", "-1").err
