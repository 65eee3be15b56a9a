"""Reports: what they say, what they never let through, and that they stand alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy import sparse
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
    error = y[100:] - model.predict(X[100:])
    r2 = 1 - np.sum(error**2) / np.sum((y[100:] - y[100:].mean()) ** 2)
    assert report.verdict[0].startswith(
        f"Explains {100 * r2:.1f}% of the variance (100 held-out rows"
    )
    assert report.proofs[0].startswith("Proven, exact")
    assert "condition number" in report.proofs[1]
    assert report.title == "LeastSquares for pressure"
    assert dict(report.quality)["root mean squared error"] == f"{np.sqrt(np.mean(error**2)):.5g}"
    assert not report.warnings


def test_the_verdict_of_a_classifier_names_what_is_easy(rng):
    X, y = classes(rng)
    model = adaline.LogisticRegression().fit(X[:100], y[:100])
    report = Report.of(model, X[100:], y[100:], held_out=True)
    right = int(np.sum(model.predict(X[100:]) == y[100:]))
    share = max(np.mean(y[100:]), 1 - np.mean(y[100:]))
    assert report.verdict[0].startswith(f"Accuracy {right:.1f}% (100 held-out rows")
    assert f"scores {100 * share:.1f}%" in report.verdict[0]
    loss = -np.mean(model.predict_log_proba(X[100:])[np.arange(100), y[100:]])
    assert dict(report.quality)["mean log loss"] == f"{loss:.5g}"
    assert [p.title for p in report.pictures] == [
        "Confusion",
        "Hits and false alarms",
        "Calibration",
        "Decisions",
        "Threshold and cost",
        "Coefficients",
        *[p.title for p in report.pictures if p.section == "What single columns do"],
    ]


def test_labels_that_say_nothing_are_warned_of(rng):
    X, y = rng.standard_normal((300, 3)), rng.integers(0, 2, 300)
    model = adaline.LogisticRegression().fit(X[:100], y[:100])
    report = Report.of(model, X[100:], y[100:])
    assert any("not clearly better than always predicting" in w for w in report.warnings)
    line = adaline.LeastSquares().fit(X[:20], rng.standard_normal(20))
    report = Report.of(line, X[20:], rng.standard_normal(280))
    assert report.verdict[0].startswith("Explains nothing")


def test_rows_that_were_learned_from_are_called_so(rng):
    X, y = regression(rng, n=50)
    report = Report.of(adaline.LeastSquares().fit(X, y), X, y, held_out=False)
    assert "(50 training rows" in report.verdict[0]
    assert any("overestimates" in w for w in report.warnings)


def test_rows_of_which_nothing_is_said_are_not_called_held_out(rng):
    X, y = regression(rng, n=50)
    report = Report.of(adaline.LeastSquares().fit(X, y), X, y)
    assert "(50 rows" in report.verdict[0]
    assert report.question.endswith("measured on 50 rows.")
    assert dict(report.data_card)["rows"] == "50"
    assert any("unknown whether" in w for w in report.warnings)
    assert "held-out" not in report.html()


def test_collinear_columns_and_lost_digits_are_warned_of_by_name(rng):
    X, y = regression(rng)
    X[:, 2] = X[:, 1] + 1e-9 * rng.standard_normal(len(X))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = adaline.LeastSquares().fit(X[:100], y[:100])
    report = Report.of(model, X[100:], y[100:], names=["a", "b", "c"], warnings=told)
    assert any("condition number" in w for w in report.warnings)
    assert any("variance inflation" in w and "b (" in w for w in report.warnings)


def test_learning_that_did_not_end_is_warned_of(rng):
    X, y = rng.standard_normal((100, 2)), rng.integers(0, 2, 100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = adaline.Perceptron(max_iter=3).fit(X, y)
    report = Report.of(model, X, y)
    assert any("max_iter = 3" in w for w in report.warnings)
    assert any(s.startswith("Learning ended: max_iter=3 passes") for s in report.proofs)


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


def test_ids_are_used_once(hostile_page):
    ids = Page(hostile_page).ids
    assert len(ids) == len(set(ids))


def test_pictures_have_words_and_tables_have_headers(hostile_page):
    html, page = hostile_page, Page(hostile_page)
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


SCRIPT = """
import sys
import numpy as np, adaline
X = np.arange(60.0).reshape(30, 2) % 7
y = np.where(X[:, 0] > 3, "a", "b")
model = adaline.LogisticRegression().fit(X, y)
sys.stdout.buffer.write(adaline.Report.of(model, X, y).html().encode())
"""


@pytest.mark.slow  # starts several processes
def test_the_same_model_gives_the_same_bytes_in_every_process_and_locale():
    pages = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale, "PYTHONUTF8": "0"},
            capture_output=True,
            check=True,
        ).stdout
        for seed, locale in [("1", "C"), ("2", "C.UTF-8")]
    }
    assert len(pages) == 1


def stream(rng):
    X, y = regression(rng)
    model = adaline.WidrowHoff()
    for start in range(0, 100, 10):
        model.partial_fit(X[start : start + 10], y[start : start + 10])
    return model, X[100:], y[100:]


def of_moments(rng):
    X, y = regression(rng)
    return adaline.Ridge().fit_moments(adaline.Moments.of(X[:100], y[:100])), X[100:], y[100:]


def several_targets(rng):
    X, y = regression(rng)
    Y = np.column_stack([y, -y])
    return adaline.LeastSquares().fit(X, Y), X, Y


def several_classes(rng):
    X, y = classes(rng, K=4)
    return adaline.LogisticRegression().fit(X, y), X, y


def quadratic(rng):
    X, y = classes(rng, p=2, K=3)
    return adaline.GaussianClassifier(covariance="full").fit(X, y), X, y


def with_kernel(rng):
    X, y = classes(rng, p=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return adaline.KernelPerceptron(max_iter=5).fit(X, y), X, y


def bayes(rng):
    X, y = classes(rng, p=2)
    return adaline.BayesClassifier("gaussian").fit(X, y), X, y


def wide_and_sparse(rng):
    X = sparse.random(150, 3000, density=0.01, random_state=0, format="csr")
    y = np.asarray(X[:, :1500].sum(axis=1) > X[:, 1500:].sum(axis=1)).ravel()
    return adaline.LogisticRegression().fit(X, y), X, y


def rejecting(rng):
    X, y = classes(rng)
    return adaline.LogisticRegression(reject_cost=0.2).fit(X, y), X, y


def pipeline(rng):
    X, y = classes(rng)
    return make_pipeline(StandardScaler(), adaline.LogisticRegression()).fit(X, y), X, y


def one_column(rng):
    X, y = classes(rng, p=1)
    return adaline.Perceptron(max_iter=5).fit(X, y), X, y


def ho_kashyap(rng):
    X, y = classes(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return adaline.HoKashyap(max_iter=50).fit(X, y), X, y


KINDS = [stream, of_moments, several_targets, several_classes, quadratic, with_kernel, bayes]
KINDS += [wide_and_sparse, rejecting, pipeline, one_column, ho_kashyap]


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_any_fitted_model_has_a_report(rng, make):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, X, y = make(rng)
    report = Report.of(model, X, y)
    html = report.html()
    assert len(html.encode()) < 500_000
    assert report.pictures
    assert report.verdict[0].startswith(("Accuracy", "Explains"))
    assert "nan" not in dict(report.quality).values()


def test_rows_with_gaps_are_left_out_and_told(rng):
    X, y = regression(rng)
    model = adaline.LeastSquares().fit(X, y)
    X[3, 1], y[7] = np.nan, np.inf
    report = Report.of(model, X, y)
    assert "(198 rows" in report.verdict[0]
    assert any("2 rows have NaN" in w for w in report.warnings)
    with pytest.raises(ValueError, match="in every row"):
        Report.of(model, X * np.nan, y)


def test_labels_never_seen_count_as_wrong_and_missing_ones_are_told(rng):
    X, y = classes(rng, K=3)
    model = adaline.GaussianClassifier().fit(X[y < 2], y[y < 2])
    report = Report.of(model, X, y)
    assert any("never saw, such as '2'" in w for w in report.warnings)
    assert report.pictures[0].title == "Confusion"
    some = Report.of(model, X[y == 0], y[y == 0])
    assert any("No row has the label '1'" in w for w in some.warnings)


def test_without_rows_there_is_a_report_without_quality(rng):
    X, y = regression(rng)
    report = Report.of(adaline.LeastSquares().fit(X, y))
    assert report.verdict[0] == "There were no rows to measure the quality with."
    assert [picture.title for picture in report.pictures] == ["Coefficients"]
    assert "<svg" in report.html()


def test_coefficients_are_told_by_name_with_their_intervals(rng):
    X, y = regression(rng)
    model = adaline.LeastSquares().fit(X, y)
    table = Report.of(model, X, y, names=["age", "dose", "weight"]).tables[0]
    assert table.head[:2] == ("", "coef")
    assert {"low 95%", "high 95%", "p"} <= set(table.head)
    assert [row[0] for row in table.rows] == ["intercept", "age", "dose", "weight"]
    assert table.rows[1][1] == f"{model.coef_[0]:.5g}"
    ridge = Report.of(adaline.Ridge().fit(X, y), X, y).tables[0]
    assert ridge.head == ("", "coef", "std err", "low 95%", "high 95%", "per sd")


def test_many_coefficients_are_cut_to_the_largest(rng):
    X = rng.standard_normal((60, 130))
    y = X[:, 120] * 5 + rng.standard_normal(60)
    report = Report.of(adaline.Ridge().fit(X, y), X, y)
    assert len(report.tables[0].rows) == 101
    assert "x120" in [row[0] for row in report.tables[0].rows]
    assert "100 largest of 130" in report.tables[0].notes[0]


def test_the_code_runs_and_makes_the_same_model(rng):
    X, y = classes(rng)
    model = adaline.LogisticRegression(alpha=0.25, tol=1e-6).fit(X, y)
    names = {"X": X, "y": y, "X_held_out": X, "y_held_out": y}
    exec(Report.of(model, X, y).code, names)
    np.testing.assert_array_equal(names["model"].coef_, model.coef_)


WRONG = {
    "not fitted": (lambda X, y: (adaline.LeastSquares(), X, y), "a fitted"),
    "no y": (lambda X, y: (adaline.LeastSquares().fit(X, y), X, None), "X and y"),
    "columns": (lambda X, y: (adaline.LeastSquares().fit(X, y), X[:, :2], y), "fitted on 3"),
    "rows": (lambda X, y: (adaline.LeastSquares().fit(X, y), X, y[:5]), "y has shape"),
    "text": (
        lambda X, y: (adaline.LeastSquares().fit(X, y), [["a"] * 3], y[:1]),
        "expected numbers",
    ),
    "labels of another kind": (
        lambda X, y: (adaline.Adaline().fit(X, y > 0), X, np.where(y > 0, "yes", "no")),
        "none is the same",
    ),
}


@pytest.mark.parametrize(("make", "words"), WRONG.values(), ids=WRONG)
def test_wrong_input_is_told_in_a_sentence(rng, make, words):
    model, X, y = make(*regression(rng))
    with pytest.raises(ValueError, match=words):
        Report.of(model, X, y)


def test_names_that_do_not_fit_are_refused(rng):
    X, y = regression(rng)
    with pytest.raises(ValueError, match="2 names for 3 columns"):
        Report.of(adaline.LeastSquares().fit(X, y), X, y, names=["a", "b"])


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


def test_without_jinja2_one_sentence_says_what_to_install():
    hide = (
        "import sys; sys.modules['jinja2'] = None\n"
        "import adaline\n"
        "model = adaline.LeastSquares().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0])\n"
        "try:\n    adaline.Report.of(model).html()\n"
        "except adaline.MissingExtra as error:\n    print(error)\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", hide], capture_output=True, text=True, check=True
    )
    assert adaline.MissingExtra.how_to_install("report") in answer.stdout


def test_a_notebook_shows_the_page_in_a_frame_of_its_own(rng):
    X, y = regression(rng)
    shown = Report.of(adaline.LeastSquares().fit(X, y), X, y)._repr_html_()
    page = Page(shown)
    assert page.tags == ["iframe"]
    assert dict((n, v) for _, n, v in page.attributes)["srcdoc"].startswith("<!DOCTYPE html>")
