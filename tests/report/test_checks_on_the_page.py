"""Every kind of report: the question, three numbers, checks, effects, costs and limits."""

from __future__ import annotations

import numpy as np
import pytest

import adaline
from adaline import Report

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

NAMES = ["age", "dose", "city=Rome"]
NBSP = "\N{NO-BREAK SPACE}"


def drawn(rng, n=300):
    X = np.column_stack([rng.normal(50, 10, n), rng.normal(0, 1, n), rng.integers(0, 2, n)])
    return X, X[:, 1] + X[:, 2] + 0.02 * X[:, 0]


def report_of(kind, rng, **more):
    X, v = drawn(rng)
    noisy = v + rng.logistic(0, 1, len(v))
    model, y = {
        "ridge": (adaline.Ridge(), noisy),
        "poisson": (adaline.PoissonRegression(alpha=0.1), rng.poisson(np.exp(0.3 * v))),
        "two": (adaline.LogisticRegression(alpha=1.0), np.where(noisy > 1.5, "yes", "no")),
        "three": (adaline.LogisticRegression(alpha=1.0), np.digitize(noisy, [0.5, 2.5])),
        "gaussian": (adaline.GaussianClassifier(), np.digitize(noisy, [0.5, 2.5])),
        "sides": (adaline.LeastSquaresClassifier(), np.where(noisy > 1.5, "yes", "no")),
    }[kind]
    model.fit(X[:200], y[:200])
    rows = {"learned": X[:200], "learned_y": y[:200], "held_out": True}
    return Report.of(model, X[200:], y[200:], names=NAMES, target="rent", **rows, **more)


@pytest.mark.parametrize("kind", ["ridge", "poisson", "two", "three", "gaussian", "sides"])
def test_the_first_screen_has_the_question_the_numbers_and_the_doubts(kind, rng):
    report = report_of(kind, rng)
    html = report.html()
    what = {"ridge": "a number", "poisson": "a count"}.get(kind, "classes")
    assert report.question.startswith("Predict rent")
    assert what in report.question
    assert "trained on 200 rows; measured on 100 held-out rows" in report.question
    assert 2 <= len(report.tiles) <= 3
    assert any("without a model" in words for _, words in report.tiles)
    order = ["Predict rent", 'class="tiles"', "What drives it", "What to beware of", ">Checks<"]
    order += ["What single columns do"] * (kind != "sides") + ["its limits", "Do it again"]
    places = [html.index(words) for words in order]
    assert places == sorted(places)
    assert any("recognised least often" in said or "19 of 20" in said for said in report.limits)


KEYS = {
    "ridge": {"linearity", "spread", "normality", "independence", "drift", "influence"},
    "poisson": {"linearity", "dispersion", "independence", "drift", "influence"},
    "two": {"calibration", "drift", "influence"},
    "three": {"calibration", "drift"},
    "gaussian": {"calibration", "drift"},
    "sides": {"drift"},
}


@pytest.mark.parametrize("kind", list(KEYS))
def test_each_kind_has_its_checks(kind, rng):
    report = report_of(kind, rng)
    assert {check.key for check in report.checks} == KEYS[kind] | {"leakage"}
    html = report.html().replace(NBSP, " ").replace("&#39;", "'").replace("&lt;", "<")
    for check in report.checks:
        assert check.sentence in html


def test_a_page_does_not_say_nothing_where_a_check_doubts(rng):
    X, v = drawn(rng)
    bent = v**2 + 0.1 * rng.standard_normal(300)
    model = adaline.LeastSquares().fit(X[:200], bent[:200])
    report = Report.of(model, X[200:], bent[200:], held_out=True)
    doubted = [check for check in report.checks if check.fine is False]
    assert doubted
    assert not report.warnings
    assert "No serious problem was found" in report.html()
    assert "No problem was found" not in report.html()


def test_two_classes_have_a_table_of_thresholds(rng):
    report = report_of("two", rng)
    table = next(t for t in report.tables if t.caption == "Where to set the threshold")
    assert [row[1] for row in table.rows] == ["50.0%", "33.3%", "16.7%", "9.1%", "4.8%"]
    assert "Threshold and cost" in [p.title for p in report.pictures]
    assert "Where to set the threshold" not in [t.caption for t in report_of("three", rng).tables]


def test_missing_values_have_a_table(rng):
    gaps = {"age": (12, "mean filled in"), "dose": 3}
    report = report_of("ridge", rng, gaps=gaps, data={"rows": 300, "rows learned from": 200})
    table = next(t for t in report.tables if t.caption == "Missing values")
    assert table.rows == (("age", "12", "6.0%", "mean filled in"), ("dose", "3", "1.5%", ""))
    with pytest.raises(TypeError, match="gaps is"):
        report_of("ridge", rng, gaps=["age"])


def test_folds_are_told_one_by_one(rng):
    X, v = drawn(rng, 120)
    y = v + rng.standard_normal(120)
    found = adaline.cross_validated(adaline.Ridge(), X, y, 5)
    report = Report.of(found.model, X, y, cross_validated=found, names=NAMES)
    table = next(t for t in report.tables if t.caption == "Quality fold by fold")
    assert [row[1] for row in table.rows] == ["24"] * 5
    assert [row[2] for row in table.rows] == [f"{fold['r2']:.4g}" for fold in found.per_fold]
    assert "influence" in {check.key for check in report.checks}
    assert "drift" not in {check.key for check in report.checks}


def test_wrong_rows_learned_from_are_refused(rng):
    X, v = drawn(rng, 60)
    model = adaline.Ridge().fit(X, v)
    with pytest.raises(ValueError, match="learned_y has shape"):
        Report.of(model, X, v, learned=X, learned_y=v[:-1])
    with pytest.raises(ValueError, match="learned_weight has shape"):
        Report.of(model, X, v, learned=X, learned_y=v, learned_weight=[1.0])
    holes = X.copy()
    holes[3, 0] = np.nan  # rows with gaps say nothing of columns
    assert Report.of(model, X, v, learned=holes, learned_y=v).checks


def test_reports_without_rows_still_say_what_was_asked(rng):
    X, v = drawn(rng, 60)
    report = Report.of(adaline.Ridge().fit(X, v), names=NAMES, target="rent")
    assert report.question.endswith("by Ridge.")
    assert report.tiles == report.checks == ()
    assert "no rows to measure" in " ".join(report.limits)
    assert "<svg" in report.html()


def test_the_command_and_the_report_say_the_same(tmp_path, rng, capsys):
    import json

    pytest.importorskip("cyclopts")
    from adaline.cli import main

    X, v = drawn(rng, 90)
    y = v + rng.standard_normal(90)
    y[5], X[5, 1] = 900.0, 40.0  # a row that decides
    lines = ["age,dose,rome,rent", *(f"{a},{b},{c},{t}" for (a, b, c), t in zip(X, y, strict=True))]
    file, page = tmp_path / "rents.csv", tmp_path / "page.html"
    file.write_text("\n".join(lines))
    call = ["fit", str(file), "--target", "rent", "--report", str(page), "--json"]
    with pytest.raises(SystemExit) as ended:
        main([*call, "--model", "least-squares"])
    assert ended.value.code == 0
    facts = json.loads(capsys.readouterr().out)
    influence = next(check for check in facts["checks"] if check["key"] == "influence")
    assert influence["fine"] is False
    said = influence["sentence"].replace("'", "&#39;")
    assert said in page.read_text(encoding="utf-8").replace(NBSP, " ")
    assert any("single row moves the fit" in text for text in facts["warnings"])
