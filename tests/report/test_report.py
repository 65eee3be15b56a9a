"""Reports: what they say, what they never let through, and that they stand alone."""

from __future__ import annotations

import re
import warnings
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import adaline
from adaline import Report, write_report

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "</svg><style>*{}</style>",
    "$\\frac{a}{b}$ & \x00 \u202e javascript:alert(1)",
]
TAGS = """
html head meta link title style body main header section h1 h2 h3 p ul li div table caption thead
tbody tr th td pre code figure figcaption svg g defs path use text tspan clippath rect image
"""
ALLOWED = {*TAGS.split(), "details", "summary", "b", "span"}


class Page(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.text, self.ids = [], [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attributes]
        self.ids += [value for name, value in attributes if name == "id"]

    def handle_data(self, data):
        self.text.append(data)

    def said(self, words):
        return words in re.sub(r"\s+", " ", " ".join(self.text))


def regression(rng, n=200, p=3):
    X = rng.standard_normal((n, p))
    return X, X @ np.arange(1.0, p + 1) + rng.standard_normal(n)


def classes(rng, n=200, p=3, K=2):
    X = rng.standard_normal((n, p))
    y = np.digitize(X[:, 0] + 0.5 * rng.standard_normal(n), np.linspace(-0.5, 0.5, K + 1)[1:-1])
    return X, y


def test_the_verdict_of_a_regression_names_quality_proof_and_condition(rng):
    X, y = regression(rng)
    model = adaline.LeastSquares().fit(X[:100], y[:100])
    report = Report.of(model, X[100:], y[100:], target="pressure", held_out=True)
    r2 = model.score(X[100:], y[100:])
    assert report.verdict[0].startswith(f"Explains {100 * r2:.1f}% of the variance (100 held-out")
    assert report.proofs[0].startswith("Proven, exact")
    assert "condition number" in report.proofs[1]
    assert report.title == "Predicting 'pressure' by LeastSquares"
    assert not report.warnings


def test_a_classifier_of_two_classes_has_all_pictures(rng):
    X, y = classes(rng)
    model = adaline.LogisticRegression().fit(X[:100], y[:100])
    report = Report.of(model, X[100:], y[100:], held_out=True)
    titles = [p.title for p in report.pictures if p.section != "What single columns do"]
    assert titles == [
        "Confusion matrix",
        "ROC curve",
        "Calibration",
        "Decisions",
        "Threshold and cost",
        "Coefficients",
    ]


def test_rows_of_which_nothing_is_said_are_not_called_held_out(rng):
    X, y = regression(rng, n=50)
    report = Report.of(adaline.LeastSquares().fit(X, y), X, y)
    assert "(50 rows" in report.verdict[0]
    assert report.question.endswith("measured on 50 rows.")
    assert dict(report.data_card)["rows"] == "50"
    assert any("unknown whether" in w for w in report.warnings)
    assert "held-out" not in report.html()


def test_separability_is_told_with_its_proof_and_with_covers_doubt():
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [5.0, 5.0], [6.0, 5.0]]), [0, 0, 0, 1, 1]
    model = adaline.Perceptron().fit(X, y)
    report = Report.of(model, X, y, separability=adaline.separability(X, y))
    assert any("Separability of the training rows: separable" in s for s in report.proofs)
    assert any("Cover" in w for w in report.warnings)


@pytest.fixture(scope="module")
def hostile_page():
    rng, n = np.random.default_rng(0), 120
    X = rng.standard_normal((n, len(HOSTILE)))
    labels = np.array(HOSTILE[:2])[(X[:, 0] + rng.standard_normal(n) > 0).astype(int)]
    model = adaline.LogisticRegression().fit(X[: n // 2], labels[: n // 2])
    report = Report.of(
        model,
        X[n // 2 :],
        labels[n // 2 :],
        names=HOSTILE,
        title=HOSTILE[0],
        target=HOSTILE[1],
        data={HOSTILE[0]: HOSTILE[1], "file": HOSTILE[2] + ".csv"},
        warnings=[*HOSTILE, UserWarning(HOSTILE[0])],
        verdict=HOSTILE[4],
        code="print('</code></pre><script>alert(1)</script>')",
    )
    return report.html()


def test_hostile_names_labels_and_files_stay_text(hostile_page):
    html, page = hostile_page, Page(hostile_page)
    assert set(page.tags) <= ALLOWED, set(page.tags) - ALLOWED
    assert "script" not in page.tags
    assert page.tags.count("style") == 1  # our own
    assert "img" not in page.tags
    assert not [a for a in page.attributes if a[1].startswith("on")]
    for tag, name, value in page.attributes:
        if name in ("src", "href", "xlink:href"):
            assert value.startswith(("#", "data:")), (tag, name, value)
    for words in HOSTILE[:5]:
        assert page.said(words), words
    assert "49" not in re.findall(r">\s*49\s*<", html)  # the template did not calculate
    assert "\x00" not in html
    assert "\u202e" not in html


def test_a_page_stands_alone_and_is_small(rng):
    X, y = regression(rng, n=20_000, p=30)
    names = ["a very long name of a column " * 4 + str(j) for j in range(30)]
    model = adaline.Ridge().fit(X[:1000], y[:1000])
    html = Report.of(model, X, y, names=names).html()
    assert len(html.encode()) < 500_000
    away = html.replace("http://www.w3.org/2000/svg", "")
    assert "http:" not in away
    assert "https:" not in away
    assert "@import" not in html
    assert "default-src 'none'" in html


def test_pictures_have_words_and_tables_have_headers(hostile_page):
    html, page = hostile_page, Page(hostile_page)
    assert len(page.ids) == len(set(page.ids))
    words = [value for tag, name, value in page.attributes if (tag, name) == ("svg", "aria-label")]
    assert len(words) == page.tags.count("svg") >= 4
    assert all(words)
    scopes = [v for tag, name, v in page.attributes if (tag, name) == ("th", "scope")]
    assert len(scopes) == page.tags.count("th")
    assert page.tags.count("caption") == page.tags.count("table")
    assert page.tags.count("h1") == 1
    assert ("html", "lang", "en") in page.attributes
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html


Logistic = adaline.LogisticRegression
KINDS = {
    "several targets": (adaline.LeastSquares(), {"targets": 2}),
    "several classes": (Logistic(), {"K": 4}),
    "quadratic": (adaline.GaussianClassifier(covariance="full"), {"p": 2, "K": 3}),
    "with a kernel": (adaline.KernelPerceptron(max_iter=5), {"p": 2}),
    "wide and sparse": (Logistic(), {"p": 3000}),
    "rejecting": (Logistic(reject_cost=0.2), {}),
    "pipeline": (make_pipeline(StandardScaler(), Logistic()), {}),
}


@pytest.mark.parametrize(("model", "rows"), KINDS.values(), ids=KINDS)
def test_any_fitted_model_has_a_report(rng, model, rows):
    X, y = classes(rng, **rows) if "targets" not in rows else regression(rng)
    if "targets" in rows:
        y = np.column_stack([y, -y])
    if X.shape[1] > 1000:
        X = sparse.csr_array(np.where(np.abs(X) > 2.5, X, 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = Report.of(clone(model).fit(X, y), X, y)
    assert len(report.html().encode()) < 500_000
    assert report.pictures
    assert report.verdict[0].startswith(("Accuracy", "Explains"))
    assert "nan" not in dict(report.quality).values()


def test_the_code_runs_and_makes_the_same_model(rng):
    X, y = classes(rng)
    model = adaline.LogisticRegression(alpha=0.25, tol=1e-6).fit(X, y)
    names = {"X": X, "y": y, "X_held_out": X, "y_held_out": y}
    exec(Report.of(model, X, y).code, names)
    np.testing.assert_array_equal(names["model"].coef_, model.coef_)


def test_a_file_is_written_whole_or_not_at_all(rng, tmp_path, monkeypatch):
    X, y = regression(rng)
    model = adaline.LeastSquares().fit(X, y)
    page = write_report(tmp_path / "page.html", model, X, y)
    text = page.read_text(encoding="utf-8")
    assert text.rstrip().endswith("</html>")
    with pytest.raises(ValueError, match="X and y"):
        write_report(page, model, X)
    assert page.read_text(encoding="utf-8") == text
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
