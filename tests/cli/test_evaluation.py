"""Folds, weights, costs, exposures and `evaluate`, against the library by hand."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import adaline
from adaline.data.sharing import held_out


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


def test_groups_stay_together_and_are_no_inputs(command, visits):
    path, X, who, _, y = visits
    found = command("fit", path, "-t", "y", "--group", "who", "--cv", "5", *ONLY, "--json").json
    model = adaline.LogisticRegression(alpha="auto")
    by_hand = adaline.cross_validated(model, X, y, 5, groups=who)
    assert [entry["name"] for entry in found["coefficients"]] == ["intercept", "a", "b"]
    assert found["quality"]["accuracy"] == by_hand.quality.facts()["accuracy"]
    assert found["quality"]["folds"]["count"] == 5


def test_time_is_predicted_from_the_past(command, visits):
    path, X, _, _, y = visits
    tokens = ["fit", path, "-t", "y", "--by-time", "day", "--ignore", "who", "--json"]
    found = command(*tokens, "--ignore", "w", "--ignore", "day").json
    times = 3 * np.arange(120) + np.arange(120) % 2
    model = adaline.LogisticRegression(alpha="auto")
    by_hand = adaline.cross_validated(model, X, y, times=times)
    assert found["quality"]["accuracy"] == by_hand.quality.facts()["accuracy"]
    assert "day" in [entry["name"] for entry in command(*tokens).json["coefficients"]]


def test_weights_and_balance_reach_the_learner(command, visits):
    path, X, _, w, y = visits
    more = ["--ignore", "who", "--ignore", "day", "--set", "alpha=1", "--json"]
    share = {label: np.mean(y == label) for label in ("ill", "well")}
    balanced = np.array([0.5 / share[label] for label in y])
    for tokens, omega in ((["--weights", "w"], w), (["--balanced", "--ignore", "w"], balanced)):
        found = command("fit", path, "-t", "y", *tokens, *more).json
        model = adaline.LogisticRegression().fit(X, y, sample_weight=omega)
        coefs = [entry["coef"] for entry in found["coefficients"]]
        np.testing.assert_allclose(coefs, [*model.intercept_, *model.coef_[0]], rtol=1e-9)
        assert found["quality"]["rows"] == 120


def test_a_threshold_moves_answers_and_stays_with_the_model(command, visits):
    path, *_ = visits
    more = ["--ignore", "who", *ONLY]
    shown = command("fit", path, "-t", "y", "--threshold", "0.9", *more, "-o", "m.adaline").out
    assert "0.9" in shown
    rows = list(csv.DictReader(command("predict", "m.adaline", path).out.splitlines()))
    for row in rows:
        assert (row["prediction"] == "well") == (float(row["p(well)"]) > 0.9)


def test_costs_name_labels_and_are_counted(command, visits):
    more = [visits[0], "-t", "y", "--ignore", "who", *ONLY, "--json"]
    quality = command("fit", *more, "--costs", "ill=10").json["quality"]
    (ill, as_well), (as_ill, well) = quality["confusion"]
    assert quality["mean_cost"] == pytest.approx((10 * as_well + as_ill) / 120)
    constant = min(10 * (ill + as_well), as_ill + well)
    assert quality["cost_of_constant"] == pytest.approx(constant / 120)
    plain = command("fit", *more).json["quality"]
    assert plain["mean_cost"] is None
    assert plain["confusion"][0][1] > as_well


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (["--cv", "1"], ">= 2"),
        (["--cv", "5", "--test", "0.2"], "--test"),
        (["--group", "who", "--by-time", "day"], "both given"),
        (["--group", "whom"], "did you mean 'who'"),
        (["--weights", "y"], "is the target"),
        (["--weights", "w", "--ignore", "w"], "needed"),
        (["--threshold", "1.5"], "--threshold"),
        (["--threshold", "0.5", "--costs", "ill=2"], "choose one"),
        (["--costs", "il=2"], "did you mean 'ill'"),
        (["--costs", "ill"], "no class"),
        (["--costs", "ill=-1"], "above 0"),
        (["--costs", "ill=many"], "above 0"),
        (["--costs", "ill=2", "--model", "perceptron"], "probabilities"),
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
    rows = "".join(f"{i % 13},{'yes' if i == 7 else 'no'}\n" for i in range(60))
    (tmp_path / "rare.csv").write_text("a,y\n" + rows)
    shown = command("fit", "rare.csv", "-t", "y", "-v")
    assert shown.code == 0, shown.err
    assert "too few rows" in shown.out
    assert "overestimates" in shown.out
    assert command("fit", "rare.csv", "-t", "y", "--cv", "5").code == 3


def test_evaluate_knows_the_file_of_the_fit(command, visits, tmp_path):
    path = visits[0]
    command("fit", path, "-t", "y", *ONLY, "-o", "m.adaline")
    copy, other = tmp_path / "copy.csv", tmp_path / "other.csv"
    copy.write_bytes(path.read_bytes())
    assert "too optimistic" in command("evaluate", "m.adaline", copy).out
    other.write_text("".join(path.read_text().splitlines(keepends=True)[:100]))
    shown = command("evaluate", "m.adaline", other, "-v").out
    assert "too optimistic" not in shown
    assert "precision" in shown
    command("fit", path, "-t", "y", *ONLY, "--test", "0.2", "-o", "n.adaline")
    assert "most of these rows" in command("evaluate", "n.adaline", path).out


def test_evaluate_has_the_librarys_numbers(command, pumps, rents):
    command("fit", pumps, "-t", "failed", "-o", "m.adaline", "-q")
    found = command("evaluate", "m.adaline", pumps, "--json").json["quality"]
    y = np.array(adaline.data.table(pumps, "failed").y)
    answer = adaline.load("m.adaline").predict(str(pumps))
    assert found["confusion"] == [
        [int(np.sum((y == t) & (answer == a))) for a in ("no", "yes")] for t in ("no", "yes")
    ]
    command("fit", rents, "-t", "rent", "-o", "r.adaline", "-q")
    found = command("evaluate", "r.adaline", rents, "--json").json["quality"]
    e = adaline.data.table(rents, "rent").y - adaline.load("r.adaline").predict(str(rents))
    assert found["worst"] == np.abs(e).max()


def test_a_label_the_model_never_saw_counts_as_wrong(command, pumps, tmp_path):
    command("fit", pumps, "-t", "failed", "-o", "m.adaline", "-q")
    (tmp_path / "new.csv").write_text(pumps.read_text().replace(",yes\n", ",perhaps\n"))
    found = command("evaluate", "m.adaline", "new.csv", "--json").json
    assert "perhaps" in found["quality"]["labels"]
    assert "never saw" in " ".join(found["warnings"])


@pytest.fixture
def claims(tmp_path, rng):
    km, years = rng.uniform(1, 30, 300).round(2), rng.uniform(0.2, 3.0, 300).round(2)
    y = rng.poisson(years * np.exp(0.05 * km - 1.0))
    rows = [f"{a},{t},{c}" for a, t, c in zip(km, years, y, strict=True)]
    (tmp_path / "claims.csv").write_text("km,years,n\n" + "\n".join(rows) + "\n")
    return km, years, y


def test_an_exposure_is_no_input_and_is_remembered(command, claims):
    km, years, y = claims
    tokens = ["fit", "claims.csv", "-t", "n", "--exposure", "years", "-o", "m.adaline", "--json"]
    found, out = command(*tokens).json, held_out(0, 300, 0, 0.2)
    model = adaline.PoissonRegression().fit(km[~out][:, None], y[~out], exposure=years[~out])
    assert [entry["name"] for entry in found["coefficients"]] == ["intercept", "km"]
    coefs = [entry["coef"] for entry in found["coefficients"]]
    np.testing.assert_allclose(coefs, [model.intercept_, *model.coef_], rtol=1e-6)
    wanted = model.predict(km[:, None], exposure=years)
    rows = csv.DictReader(command("predict", "m.adaline", "claims.csv", "--interval").out.split())
    for row, mean in zip(rows, wanted, strict=True):
        assert float(row["prediction"]) == pytest.approx(mean, rel=1e-6)
        assert float(row["low"]) < mean < float(row["high"])
    quality = command("evaluate", "m.adaline", "claims.csv", "--json").json["quality"]
    assert quality["rmse"] == pytest.approx(np.sqrt(np.mean((wanted - y) ** 2)), rel=1e-6)


def test_exposures_that_make_no_sense_are_refused(command, claims, tmp_path):
    fit = ("fit", "claims.csv", "-t", "n", "--exposure")
    assert "poisson" in command(*fit, "km", "-m", "ridge").err
    assert "no such column" in command(*fit, "year").err
    assert "exposure" in command(*fit, "km", "--report", "r.html").err
    command(*fit, "years", "-o", "m.adaline")
    (tmp_path / "bad.csv").write_text("km,years\n3.5,1\n3.5,0\n")
    assert "a positive number" in command("predict", "m.adaline", "bad.csv").err
    (tmp_path / "less.csv").write_text("km\n3.5\n")
    assert "'years'" in command("predict", "m.adaline", "less.csv").err
    (tmp_path / "gaps.csv").write_text("km,years\n3.5,1\n4.5,\n5.5,2\n")
    lines = command("predict", "m.adaline", "gaps.csv").out.splitlines()[1:]
    assert [line in ("", '""') for line in lines] == [False, True, False]
