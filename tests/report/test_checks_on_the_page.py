"""Every kind of report: the question, three numbers, checks, effects, costs and limits."""

from __future__ import annotations

import json

import numpy as np
import pytest

import adaline
from adaline import Report
from adaline.cli import main

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


KEYS = {
    "ridge": {"linearity", "spread", "normality", "independence", "influence"},
    "poisson": {"linearity", "dispersion", "independence"},
    "two": {"calibration"},
    "three": {"calibration"},
    "sides": set(),
}


@pytest.mark.parametrize("kind", list(KEYS))
def test_the_page_has_the_question_the_numbers_the_doubts_and_the_checks(kind, rng):
    report = report_of(kind, rng)
    what = {"ridge": "a number", "poisson": "a count"}.get(kind, "classes")
    assert f"predicts rent, {what}" in report.question or f"{what} (" in report.question
    assert "trained on 200 rows; measured on 100 held-out rows" in report.question
    assert any("without a model" in words for _, words in report.tiles)
    assert any("recognised least often" in text or "19 of 20" in text for text in report.limits)
    assert {check.key for check in report.checks} == KEYS[kind] | {"leakage"}
    html = report.html().replace(NBSP, " ").replace("&#39;", "'").replace("&lt;", "<")
    for sentence in [check.sentence for check in report.checks] + list(report.drivers):
        assert sentence in html
    order = ["predicts rent", 'class="tiles"', "What matters most", "Warnings</h2>", ">Checks<"]
    order += ["What single columns do", "Use and limits", "Reproduce this model"]
    places = [html.index(words) for words in order]
    assert places == sorted(places)


def test_two_classes_have_a_table_of_thresholds(rng):
    report = report_of("two", rng)
    table = next(t for t in report.tables if t.caption == "Where to set the threshold")
    assert [row[1] for row in table.rows] == ["50.0%", "33.3%", "16.7%", "9.1%", "4.8%"]
    assert "Threshold and cost" in [p.title for p in report.pictures]
    assert "Where to set the threshold" not in [t.caption for t in report_of("three", rng).tables]


def test_missing_values_have_a_table(rng):
    gaps = {"age": (12, "mean filled in"), "dose": 3}
    report = report_of("ridge", rng, gaps=gaps, data={"rows": 300, "training rows": 200})
    table = next(t for t in report.tables if t.caption == "Missing values")
    assert table.rows == (("age", "12", "6.0%", "mean filled in"), ("dose", "3", "1.5%", ""))
    with pytest.raises(TypeError, match="gaps is"):
        report_of("ridge", rng, gaps=["age"])


def test_the_command_and_the_report_say_the_same(tmp_path, rng, capsys):
    X, v = drawn(rng, 90)
    y = v + rng.standard_normal(90)
    y[5], X[5, 1] = 900.0, 40.0  # a row that decides
    lines = ["age,dose,rome,rent", *(f"{a},{b},{c},{t}" for (a, b, c), t in zip(X, y, strict=True))]
    file, page = tmp_path / "rents.csv", tmp_path / "page.html"
    file.write_text("\n".join(lines))
    call = ["fit", str(file), "--target", "rent", "--report", str(page), "--json"]
    with pytest.raises(SystemExit, match="0"):
        main([*call, "--model", "least-squares"])
    facts = json.loads(capsys.readouterr().out)
    influence = next(check for check in facts["checks"] if check["key"] == "influence")
    assert influence["fine"] is False
    sentence = influence["sentence"].replace("'", "&#39;")
    assert sentence in page.read_text(encoding="utf-8").replace(NBSP, " ")
    assert any("single row moves the fit" in text for text in facts["warnings"])


def test_separable_and_collinear_rows_are_warned_of_and_proofs_are_folded_away():
    data = pytest.importorskip("sklearn.datasets").load_breast_cancer()
    X, y = data.data[:455], np.array(["malignant", "benign"])[data.target[:455]]
    model = adaline.LogisticRegression(alpha=0.01).fit(X, y)
    proof = adaline.separability(X, y, pairwise=False)
    names = [str(name) for name in data.feature_names]
    report = Report.of(model, X, y, names=names, separability=proof, held_out=False)
    assert any("separates all 455 training rows" in w and "penalty" in w for w in report.warnings)
    assert any("variance inflation" in w and "mean radius (" in w for w in report.warnings)
    page = report.html()
    assert page.index("<details") < page.index("minimise the (penalised) loss")
