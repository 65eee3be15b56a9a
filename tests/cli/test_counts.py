"""`--model poisson`: counts, exposures that a model file remembers, wrong rows by their line."""

from __future__ import annotations

import numpy as np
import pytest

import adaline
from adaline.data.sharing import held_out


@pytest.fixture
def claims(tmp_path):
    rng = np.random.default_rng(0)
    km, years = rng.uniform(1, 30, 300).round(2), rng.uniform(0.2, 3.0, 300).round(2)
    y = rng.poisson(years * np.exp(0.05 * km - 1.0))
    rows = [f"{a},{t},{c}" for a, t, c in zip(km, years, y, strict=True)]
    path = tmp_path / "claims.csv"
    path.write_text("km,years,n\n" + "\n".join(rows) + "\n")
    return path, km, years, y


def test_counts_have_the_librarys_numbers(command, claims):
    path, km, years, y = claims
    found = command("fit", path, "-t", "n", "--model", "poisson", "--json").json
    model = adaline.PoissonRegression().fit(np.column_stack([km, years]), y)
    assert found["model"]["class"] == "PoissonRegression"
    assert found["certificate"]["kind"] == "optimal"
    coefs = [entry["coef"] for entry in found["coefficients"]]
    assert coefs == [model.intercept_, *model.coef_]
    assert "log n" in command("fit", path, "-t", "n", "--model", "poisson").out


def test_an_exposure_is_no_input_and_is_remembered(command, claims):
    path, km, years, y = claims
    found = command("fit", path, "-t", "n", "--exposure", "years", "-o", "m.adaline", "--json").json
    out = held_out(0, 300, 0, 0.2)
    model = adaline.PoissonRegression().fit(km[~out][:, None], y[~out], exposure=years[~out])
    assert [entry["name"] for entry in found["coefficients"]] == ["intercept", "km"]
    coefs = [entry["coef"] for entry in found["coefficients"]]
    np.testing.assert_allclose(coefs, [model.intercept_, *model.coef_], rtol=1e-6)
    wanted = model.predict(km[:, None], exposure=years)
    lines = command("predict", "m.adaline", path).out.split()[1:]
    np.testing.assert_allclose([float(line) for line in lines], wanted, rtol=1e-6)
    quality = command("evaluate", "m.adaline", path, "--json").json["quality"]
    assert quality["rmse"] == pytest.approx(np.sqrt(np.mean((wanted - y) ** 2)), rel=1e-6)


def test_what_makes_no_sense_is_refused(command, claims, tmp_path):
    path, *_ = claims
    assert (
        "--model poisson" in command("fit", path, "-t", "n", "-m", "ridge", "--exposure", "km").err
    )
    assert "no such column" in command("fit", path, "-t", "n", "--exposure", "year").err
    assert "needed" in command("fit", path, "-t", "n", "--exposure", "km", "--ignore", "km").err
    assert (
        "exposure" in command("fit", path, "-t", "n", "--exposure", "km", "--report", "r.html").err
    )
    lines = path.read_text().splitlines()
    place = 1 + int(np.argmin(held_out(0, 300, 0, 0.2)[100:])) + 100  # a row that is learned from
    lines[place] = "3.5,0,-2"
    (tmp_path / "bad.csv").write_text("\n".join(lines))
    for more in (["--model", "poisson"], ["--exposure", "years"]):
        said = command("fit", "bad.csv", "-t", "n", *more).err
        assert f"bad.csv: the target 'n' is -2 at line {place + 1};" in said
    command("fit", path, "-t", "n", "--exposure", "years", "-o", "m.adaline")
    assert f"'years' is 0.0 at line {place + 1}" in command("predict", "m.adaline", "bad.csv").err
    (tmp_path / "less.csv").write_text("km\n3.5\n")
    assert "exposure 'years'" in command("predict", "m.adaline", "less.csv").err


def test_rows_without_an_exposure_have_no_prediction(command, claims, tmp_path):
    path, *_ = claims
    command("fit", path, "-t", "n", "--exposure", "years", "--missing", "drop", "-o", "m.adaline")
    (tmp_path / "gaps.csv").write_text("km,years\n3.5,1\n4.5,\n5.5,2\n")
    lines = command("predict", "m.adaline", "gaps.csv").out.splitlines()[1:]
    assert [line == "" or line == '""' for line in lines] == [False, True, False]


def test_few_counts_with_exposures_have_intervals(command, claims):
    path, *_ = claims
    command("fit", path, "-t", "n", "--exposure", "years", "-o", "m.adaline", "-q")
    lines = command("predict", "m.adaline", path, "--interval").out.splitlines()
    p, low, high = (float(cell) for cell in lines[1].split(","))
    assert low < p < high


def test_weights_beside_an_exposure_are_refused_with_advice_that_can_be_followed(command, claims):
    path, *_ = claims
    path.write_text(
        "km,years,w,n\n" + "".join(f"{i % 7},{1 + i % 3},2,{i % 4}\n" for i in range(60))
    )
    said = command("fit", path, "-t", "n", "--exposure", "years", "--weights", "w").err
    assert "sample_weight" in said
