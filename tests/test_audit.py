"""`audit` on fits of scikit-learn and statsmodels, on plain numbers, and in the command."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import linear_model as peers
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import adaline
from adaline import audit

CANCER = load_breast_cancer(return_X_y=True)
SCALED = StandardScaler().fit_transform(CANCER[0]), CANCER[1]
DIABETES, IRIS = load_diabetes(return_X_y=True), load_iris(return_X_y=True)
EXACT = {"solver": "newton-cholesky", "tol": 1e-10}


def fitted(model, data, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*data, **options)


def codes(answer):
    return [check.code for check in answer.checks]


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (peers.LinearRegression(), DIABETES),
        (peers.Ridge(2.0), DIABETES),
        (peers.RidgeCV(), DIABETES),
        (peers.RidgeClassifier(), IRIS),
        (peers.RidgeClassifier(), CANCER),
        (peers.LogisticRegression(**EXACT), SCALED),
        (peers.LogisticRegression(class_weight="balanced", **EXACT), SCALED),
        (peers.LogisticRegression(solver="newton-cg", tol=1e-10), IRIS),
        (peers.PoissonRegressor(**EXACT), DIABETES),
        (GridSearchCV(peers.Ridge(), {"alpha": [0.1, 1.0]}), DIABETES),
        (make_pipeline(StandardScaler(), peers.LogisticRegression(**EXACT)), CANCER),
        (adaline.LeastSquares(), DIABETES),
        (adaline.Ridge(1.0), DIABETES),
        (adaline.LogisticRegression(1.0), IRIS),
        (adaline.PoissonRegression(1.0), DIABETES),
    ],
    ids=lambda model: str(model)[:60] if not isinstance(model, tuple) else "",
)
def test_converged_fits_are_proven(model, data):
    answer = audit(fitted(model, data), *data)
    assert answer.verdict == "proven", str(answer)
    assert answer.checks == ()
    assert answer.digits.min() > 5
    assert answer.signs.mean() > 0.9


def test_a_fit_that_has_not_converged_is_told_how_far_it_is():
    model = fitted(peers.LogisticRegression(), CANCER)
    answer = audit(model, *CANCER)
    assert answer.verdict == "not the minimiser"
    assert codes(answer) == ["ADA001"]
    best = adaline.LogisticRegression(1.0).fit(*CANCER)
    apart = np.abs(model.coef_ - best.coef_)
    assert np.all(apart <= answer.distance[:, :-1] * (1 + 1e-6) + 1e-9)
    assert answer.facts["gain"] > 1.0
    assert "ADA001 not converged" in str(answer)


def test_a_penalised_intercept_is_found():
    shifted = SCALED[0] + 1.0, SCALED[1]
    model = fitted(peers.LogisticRegression(solver="liblinear", tol=1e-12, max_iter=10**5), shifted)
    answer = audit(model, *shifted)
    assert codes(answer) == ["ADA001", "ADA006"]
    assert "intercept is penalised" in str(answer)


@pytest.mark.parametrize(
    ("how", "word"),
    [({"alpha": 442.0}, "divided"), ({"alpha": 1.0, "weights": True}, "not weighted")],
)
def test_other_conventions_are_found(how, word):
    model = fitted(peers.Ridge(1.0), DIABETES)
    weights = np.linspace(1.0, 2.0, 442) if "weights" in how else None
    numbers = {"coef": model.coef_, "intercept": model.intercept_, "alpha": how["alpha"]}
    X, y = DIABETES
    answer = audit(criterion="least-squares", X=X, y=y, sample_weight=weights, **numbers)
    assert "ADA006" in codes(answer)
    assert word in str(answer)


@pytest.mark.parametrize(("data", "code"), [(CANCER, "ADA002"), (IRIS, "ADA003")])
def test_separable_classes_or_one_class_apart_have_no_minimiser(data, code):
    answer = audit(fitted(peers.LogisticRegression(C=np.inf), data), *data)
    assert answer.verdict == "refused"
    assert codes(answer) == [code, "ADA007"]
    assert code == "ADA003" or answer.proof.check(*data)


def one_group_is_always_sick():
    rng = np.random.default_rng(0)
    group, x = rng.integers(0, 4, 200), rng.standard_normal(200)
    sick = (x + rng.logistic(size=200) > 0).astype(int)
    sick[group == 2] = 1
    X = np.column_stack([x, group == 1, group == 2, group == 3]).astype(float)
    return pd.DataFrame(X, columns=["dose", "B", "C", "D"]), sick


def test_infinite_coefficients_are_named_and_proven():
    X, y = one_group_is_always_sick()
    answer = audit(fitted(peers.LogisticRegression(C=np.inf), (X, y)), X, y)
    assert codes(answer) == ["ADA003", "ADA007"]
    assert answer.infinite == (("C", 1),)
    assert answer.direction == ("0", "0", "1", "0", "0")
    assert audit(fitted(peers.LogisticRegression(C=np.inf), (X, y)), X, y, ignore=["ADA007"]).checks


def test_statsmodels_results_bring_their_rows():
    sm = pytest.importorskip("statsmodels.api")
    X, y = sm.add_constant(DIABETES[0]), DIABETES[1]
    high = (y > 150).astype(int)
    results = [
        sm.OLS(y, X).fit(),
        sm.WLS(y, X, weights=np.linspace(1.0, 2.0, 442)).fit(),
        sm.Logit(high, X).fit(disp=0),
        sm.Poisson(y, X, exposure=np.linspace(1.0, 2.0, 442)).fit(disp=0, maxiter=100),
        sm.GLM(y, X, family=sm.families.Poisson()).fit(tol=1e-12),
        sm.GLM(high, X, family=sm.families.Binomial()).fit(tol=1e-12),
        sm.GLM(y, X, family=sm.families.Gaussian()).fit(),
    ]
    for result in results:
        answer = audit(result)
        assert answer.verdict == "proven", str(answer)
        assert answer.checks == (), str(answer)
        assert answer.digits[:, :11].min() > 9.5, str(answer)
    classes = sm.MNLogit(IRIS[1], sm.add_constant(IRIS[0][:, :1])).fit(disp=0)
    assert audit(classes).verdict == "proven"


def test_glm_on_quasi_separable_rows_is_refused_where_statsmodels_says_converged():
    sm = pytest.importorskip("statsmodels.api")
    X, y = one_group_is_always_sick()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = sm.GLM(y, sm.add_constant(X), family=sm.families.Binomial()).fit()
    answer = audit(result)
    assert result.converged
    assert (answer.verdict, answer.infinite) == ("refused", (("C", 1),))


def test_reported_standard_errors_are_compared():
    sm = pytest.importorskip("statsmodels.api")
    result = sm.OLS(DIABETES[1], sm.add_constant(DIABETES[0])).fit()

    class Reported:
        """Results with a standard error that is off."""

        def __init__(self):
            self.bse = result.bse * 1.01

        def __getattr__(self, name):
            return getattr(result, name)

    Reported.__module__ = "statsmodels.of.a.test"
    assert codes(audit(Reported())) == ["ADA008"]


def test_dependent_and_ill_conditioned_columns_are_named():
    X, y = DIABETES
    twice = np.column_stack([X, X[:, 0]])
    assert "ADA004" in codes(audit(fitted(peers.LinearRegression(), (twice, y)), twice, y))
    rng = np.random.default_rng(0)
    near = np.column_stack([X, X[:, 0] + 1e-12 * rng.standard_normal(442)])
    assert "ADA005" in codes(audit(adaline.LeastSquares().fit(near, y), near, y))


def test_sparse_and_float32_rows_are_audited_as_they_are():
    X, y = SCALED
    model = fitted(peers.LogisticRegression(**EXACT), (X.astype(np.float32), y))
    answer = audit(model, X.astype(np.float32), y)
    assert answer.verdict == "proven"
    assert answer.digits.min() < 8
    rows = sparse.csr_array(np.where(np.abs(X) > 1, X, 0.0))
    model = fitted(peers.LogisticRegression(solver="newton-cg", tol=1e-10), (rows, y))
    assert audit(model, rows, y).verdict == "proven"


def test_separators_are_audited_for_their_sides():
    X, y = IRIS[0][:100], IRIS[1][:100]
    answer = audit(fitted(SVC(kernel="linear"), (X, y)), X, y)
    assert (answer.verdict, answer.proof.verdict) == ("proven", "separable")
    assert audit(fitted(LinearSVC(C=1e-6), CANCER), *CANCER).verdict == "not the minimiser"


@pytest.mark.parametrize(
    ("word", "call"),
    [
        ("SVC", lambda X, y: audit(fitted(SVC(), (X, y > 100)), X, y > 100)),
        ("Lasso", lambda X, y: audit(fitted(peers.Lasso(), (X, y)), X, y)),
        ("l1", lambda X, y: audit(peers.SGDRegressor(penalty="l1").fit(X, y), X, y)),
        ("fitted", lambda X, y: audit(peers.Ridge(), X, y)),
        ("columns", lambda X, y: audit(peers.Ridge().fit(X, y), X[:, 1:], y)),
        ("criterion", lambda X, y: audit(coef=[1.0], criterion="hinge", X=X, y=y)),
        ("ADA999", lambda X, y: audit(peers.Ridge().fit(X, y), X, y, ignore=["ADA999"])),
        ("X and y", lambda X, y: audit(peers.Ridge().fit(X, y))),
    ],
)
def test_what_cannot_be_audited_is_refused_with_a_reason(word, call):
    with pytest.raises(ValueError, match=word):
        call(*DIABETES)


def test_an_answer_is_text_html_a_table_and_json():
    answer = audit(peers.Ridge().fit(*DIABETES), *DIABETES, names=[f"<{j}>" for j in range(10)])
    assert len(str(answer).splitlines()) <= 10
    assert "&lt;3&gt;" in answer.to_html()
    assert list(answer.to_frame().columns)[:3] == ["coef", "minimiser", "distance"]
    read = json.loads(answer.to_json())
    assert read["verdict"] == "proven"
    assert np.array_equal(read["weights"], answer.weights)


def test_the_command_audits_a_printed_table(tmp_path, capsys):
    from adaline.cli import run_command

    X, y = one_group_is_always_sick()
    X.assign(sick=y).to_csv(tmp_path / "rows.csv", index=False)
    frame = X[["dose", "B"]]
    model = fitted(peers.LogisticRegression(C=2.0, **EXACT), (frame, y))
    numbers = pd.Series([*model.intercept_, *model.coef_[0]], ["(Intercept)", "dose", "B"])
    numbers.to_csv(tmp_path / "coef.csv", header=["estimate"])
    line = ["audit", str(tmp_path / "coef.csv"), str(tmp_path / "rows.csv"), "--target", "sick"]
    line += ["--criterion", "logistic", "--report", str(tmp_path / "audit.html")]
    assert run_command([*line, "--alpha", "0.5"]) == 0
    assert "proven" in capsys.readouterr().out
    assert "proven" in (tmp_path / "audit.html").read_text()
    assert run_command([*line, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["checks"][0]["code"] == "ADA001"
    assert run_command(["audit", "model.pkl", *line[2:]]) == 2
    assert "pickle" in capsys.readouterr().err


def test_the_function_stays_public_whatever_is_imported_first():
    code = "import adaline.auditing.result; from adaline import audit; assert callable(audit)"
    subprocess.run([sys.executable, "-c", code], check=True)
