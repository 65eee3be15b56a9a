"""Checks against statsmodels, and that they doubt what is wrong and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import adaline
from adaline import LeastSquares, LogisticRegression, verdict
from adaline.cli import main
from adaline.evaluation.diagnostics import (
    breusch_pagan,
    durbin_watson,
    jarque_bera,
    poisson_dispersion,
    reset_test,
    residual_checks,
    row_warnings,
)
from adaline.evaluation.influence import influence, influence_sentence
from adaline.evaluation.trial import Rows

KEYS = ("linearity", "spread", "normality", "independence")


def of(truth, predicted, kind="values"):
    return {check.key: check for check in residual_checks(truth, predicted, kind)}


@pytest.fixture
def pair(rng):
    f = rng.normal(10, 3, 400)
    return f + rng.standard_normal(400), f


def test_the_statistics_are_those_of_statsmodels(pair):
    sm = pytest.importorskip("statsmodels.api")
    from statsmodels.stats import stattools
    from statsmodels.stats.diagnostic import het_breuschpagan

    y, f = pair
    e = y - f
    assert breusch_pagan(e, f / 20).numbers["p"] == pytest.approx(
        het_breuschpagan(e, sm.add_constant(f))[1], rel=1e-6
    )
    assert jarque_bera(e).numbers["p"] == pytest.approx(stattools.jarque_bera(e)[1], rel=1e-8)
    assert jarque_bera(e).numbers["skew"] == pytest.approx(stattools.jarque_bera(e)[2])
    line = sm.OLS(e, sm.add_constant(f)).fit()
    curve = sm.OLS(e, sm.add_constant(np.column_stack([f, f**2, f**3]))).fit()
    assert reset_test(e, f / 20).numbers["p"] == pytest.approx(
        curve.compare_f_test(line)[1], rel=1e-5
    )
    z = e - e.mean()
    # Durbin and Watson's is about 2 (1 - r), but for the two ends.
    r, ends = durbin_watson(e).numbers["correlation"], (z[0] ** 2 + z[-1] ** 2) / (z @ z)
    assert stattools.durbin_watson(z) == pytest.approx(2 * (1 - r) - ends)


def test_residuals_as_they_should_be_raise_no_doubt(pair):
    found = of(*pair)
    assert tuple(found) == KEYS
    assert all(check.fine for check in found.values())


def test_each_fault_is_found_by_its_check(pair, rng):
    y, f = pair
    e = y - f
    assert not of(y + 0.2 * (f - 10) ** 2, f)["linearity"].fine
    assert "times as large for the largest fifth" in of(f + e * f**2 / 100, f)["spread"].sentence
    small = of(f + e * (f.max() + 1 - f) ** 2, f)["spread"]
    assert "smallest fifth of predictions as for the largest" in small.sentence
    assert not of(f + rng.exponential(1, 400), f)["normality"].fine
    assert not of(f + np.cumsum(e), f)["independence"].fine


def test_units_do_not_matter(pair):
    y, f = pair
    for times in (1e-200, 1e150):
        assert [c.fine for c in residual_checks(y * times, f * times)] == [True] * 4


def test_counts_that_vary_too_much_are_told(rng):
    mean = np.exp(rng.normal(1, 0.5, 500))
    right = of(rng.poisson(mean), mean, "counts")
    assert right["dispersion"].fine
    wild = of(rng.poisson(mean * rng.gamma(0.5, 2.0, 500)), mean, "counts")["dispersion"]
    assert not wild.fine
    assert "standard errors are too small" in wild.sentence


@pytest.mark.parametrize("size", [0.5, 2.0])
def test_a_significant_difference_is_doubted_only_if_it_is_large(size):
    """Each fault at half and at twice the size from which it is doubted."""
    f, sign = np.linspace(0.0, 1.0, 4000), np.where(np.arange(4000) % 2, 1.0, -1.0)
    bend = (f - 0.5) ** 2 - np.mean((f - 0.5) ** 2)
    share = 0.02 * size
    bent = np.sqrt(share) * bend / bend.std() + np.sqrt(1 - share) * sign
    uneven = sign * np.where(f > 0.5, 1.5 * size if size > 1 else 1.25, 1.0)
    noise = np.random.default_rng(0).standard_normal(20_001)
    alike = noise[1:] + 0.1 * size * noise[:-1]
    counts = sign * np.sqrt(1.5 * size if size > 1 else 1.25)
    for check in (
        reset_test(bent, f),
        breusch_pagan(uneven, f),
        durbin_watson(alike),
        poisson_dispersion(counts),
    ):
        assert check.fine == (size < 1), check


@pytest.mark.parametrize(
    ("counts", "word"),
    [
        ((190, 10), ""),  # 5% and ten rows
        ((191, 9), "only 9 of 200 training rows are 'b', 4.5%"),
        ((30, 9, 9, 30), "only 9 of 78 training rows are 'b', 11.5%"),
        ((5,), ""),
        ((3, 1), "few"),
    ],
)
def test_few_rows_and_rare_classes_are_warned_of(rng, counts, word):
    y = np.repeat(list("abcd"[: len(counts)]), counts)
    warnings = row_warnings(Rows(rng.standard_normal((len(y), 1)), y), True)
    assert bool(warnings) == bool(word)
    assert word in " ".join(warnings)


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((60, 3)) * [1.0, 50.0, 0.02] + [0.0, 1000.0, 3.0]
    y = X @ [1.0, 0.02, 30.0] + rng.standard_normal(60)
    return X, y


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 5.0, "auto"])
def test_ridge_without_a_row_is_what_the_change_says(rows, alpha, intercept):
    X, y = rows
    model = adaline.Ridge(alpha=alpha, fit_intercept=intercept).fit(X, y)
    found = influence(model, X, y)
    # A fit without the row that keeps the penalty of each column.
    unit = np.ones(3) if model.column_scale_ is None else model.column_scale_
    for i, change in zip(found.rows, found.changes, strict=True):
        rest = np.arange(60) != i
        again = adaline.Ridge(model.alpha_, fit_intercept=intercept).fit(X[rest] / unit, y[rest])
        np.testing.assert_allclose(model.coef_ + change, again.coef_ / unit, rtol=1e-6)


def test_the_sentence_names_a_row_that_decides_and_what_it_does(rows):
    X, y = rows
    names = ["a", "b", "c"]
    calm = influence(adaline.LeastSquares().fit(X, y), X, y)
    assert influence_sentence(calm, adaline.LeastSquares().fit(X, y), X, y, names).startswith(
        "No single row"
    )
    X, y = X.copy(), y.copy()
    X[7, 0], y[7] = 40.0, -500.0
    model = adaline.LeastSquares().fit(X, y)
    found = influence(model, X, y)
    assert found.decisive.tolist()[0] == 7
    said = influence_sentence(found, model, X, y, names, "rent")
    rest = np.arange(60) != 7
    without = adaline.LeastSquares().fit(X[rest], y[rest]).coef_
    assert "rent -500 and a 40" in said
    assert any(f"{w:.3g} instead of" in said for w in without)


def test_what_has_no_closed_form_has_no_influence(rows):
    X, y = rows
    counts, Y, S = np.abs(y).round(), np.column_stack([y, -y]), sparse.csr_array(X)
    assert influence(adaline.PoissonRegression(alpha=1.0).fit(X, counts), X, counts) is None
    assert influence(adaline.LeastSquares().fit(S, y), S, y) is None
    assert influence(adaline.LeastSquares().fit(X, Y), X, Y) is None
    same = np.column_stack([X, X[:, 0]])  # dependent columns: the row decides what it can
    with pytest.warns(adaline.RankDeficientWarning):
        model = adaline.LeastSquares().fit(same, y)
    assert influence(model, same, y).parameters == pytest.approx(4)


_RNG = np.random.default_rng(0)
_A, _B = _RNG.normal(size=(2, 300))
_MASS = 3000 + 400 * _A + 200 * _RNG.normal(size=300)
_CLASS = np.digitize(_A + 0.8 * _RNG.normal(size=300), [-0.4, 0.4])


def leak_of(found):
    [check] = [check for check in found.checks if check.key == "leakage"]
    return check


@pytest.mark.parametrize(
    "column", [2 * _MASS + 1, np.exp(_MASS / 1000), -_MASS + 0.1 * _RNG.normal(size=300)]
)
def test_a_copy_of_a_target_of_numbers_is_a_warning(column):
    X = np.column_stack([_A, _B, column])
    found = verdict(LeastSquares().fit(X, _MASS), X, _MASS, held_out=True, names=["a", "b", "m2"])
    assert not leak_of(found).fine
    assert [text for text in found.warnings if "'m2'" in text and "leakage" in text]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("code", [lambda k: 7 - 3 * k, lambda k: k + 0.4 * np.sin(97 * _B)])
def test_a_code_of_the_class_is_a_warning(classes, code):
    y = np.minimum(_CLASS, classes - 1)
    X = np.column_stack([_A, _B, code(y)])
    found = verdict(LogisticRegression().fit(X, y), X, y, held_out=True)
    assert [text for text in found.warnings if "'x2'" in text and "leakage" in text]


def test_a_text_that_codes_the_class_is_one_column_in_terminal_and_report(tmp_path, capsys):
    table, page = tmp_path / "t.csv", tmp_path / "r.html"
    rows = zip(
        _A, _B, np.array(list("pqr"))[_CLASS], np.array(["Ad", "Ch", "Ge"])[_CLASS], strict=True
    )
    text = "\n".join(",".join(map(str, row)) for row in rows)
    table.write_text(f"flipper,bill,sp_code,species\n{text}\n")
    with pytest.raises(SystemExit):
        main(["fit", str(table), "-t", "species", "--report", str(page)])
    shown = capsys.readouterr().out
    assert "'sp_code' alone predicts species" in shown
    assert shown.count("leakage") == 1
    assert "leakage" in page.read_text()
