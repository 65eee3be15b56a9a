"""`fit` on files: every learner that can, one pass or a few, and refusals in sentences."""

from __future__ import annotations

import io
import warnings

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from adaline import (
    Adaline,
    GaussianClassifier,
    HoKashyap,
    LeastSquares,
    LeastSquaresClassifier,
    LogisticRegression,
    Perceptron,
    PoissonRegression,
    Ridge,
    SigmoidPerceptron,
    WidrowHoff,
)
from adaline.data import Encoding, blocks, fit
from adaline.errors import DataError, RankDeficientWarning, SeparableError

P = 4
INPUTS = [f"a{j}" for j in range(P)]


@pytest.fixture
def table(rng) -> pl.DataFrame:
    X = rng.standard_normal((2000, P)) * [1, 10, 0.1, 1] + [0, 100, 0, -3]
    v = (X - X.mean(axis=0)) @ [1.0, 0.1, -5.0, 0.5]
    k = np.argmax(np.column_stack([v, -v, np.zeros(2000)]) + rng.gumbel(size=(2000, 3)), axis=1)
    return pl.DataFrame(
        {
            **{name: X[:, j] for j, name in enumerate(INPUTS)},
            "y": v + rng.standard_normal(2000),
            "two": (rng.random(2000) < 1 / (1 + np.exp(-v))).astype(int),
            "three": np.array(["ant", "bee", "cat"])[k],
        }
    )


def X_of(table: pl.DataFrame) -> np.ndarray:
    return np.ascontiguousarray(table.select(INPUTS).to_numpy())


# Closed forms differ from those of arrays by the rounding of sums in another order.
CLOSED = {
    "least squares": (LeastSquares(), "y"),
    "least squares, no bias": (LeastSquares(fit_intercept=False), "y"),
    "ridge": (Ridge(alpha=3.0), "y"),
    "ridge by gcv": (Ridge(alpha="gcv"), "y"),
    "machine of two": (LeastSquaresClassifier(), "two"),
    "machine of three": (LeastSquaresClassifier(), "three"),
    "gaussian": (GaussianClassifier(), "three"),
    "gaussian of two": (GaussianClassifier(), "two"),
}


@pytest.mark.parametrize("case", CLOSED)
def test_closed_forms_of_a_file_are_those_of_the_array(table, tmp_path, case):
    learner, target = CLOSED[case]
    table.write_parquet(tmp_path / "t.parquet", row_group_size=300)
    source = blocks(tmp_path / "t.parquet", rows=300)
    stream = fit(learner, source, target, columns=INPUTS)
    coef, bias = np.array(stream.coef_), np.array(stream.intercept_)
    array = type(learner)(**learner.get_params()).fit(X_of(table), table[target].to_numpy())
    np.testing.assert_allclose(coef, array.coef_, rtol=1e-10, atol=1e-12 * np.abs(coef).max())
    np.testing.assert_allclose(bias, array.intercept_, rtol=1e-10, atol=1e-11)
    assert stream.feature_names_in_.tolist() == INPUTS
    if hasattr(stream, "classes_"):
        assert stream.classes_.tolist() == array.classes_.tolist()


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_gaussian_classifiers_with_a_covariance_each_agree_too(table, covariance):
    stream = fit(GaussianClassifier(covariance), blocks(table, rows=99), "three", columns=INPUTS)
    array = GaussianClassifier(covariance).fit(X_of(table), table["three"].to_numpy())
    X = X_of(table)
    np.testing.assert_allclose(
        stream.predict_proba(X), array.predict_proba(X), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("target", ["two", "three"])
@pytest.mark.parametrize("alpha", [0.0, 2.5])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_logistic_regression_finds_the_same_minimum_within_both_certificates(
    table, target, alpha, fit_intercept
):
    options = {"alpha": alpha, "fit_intercept": fit_intercept}
    stream = fit(LogisticRegression(**options), blocks(table, rows=150), target, columns=INPUTS)
    array = LogisticRegression(**options).fit(X_of(table), table[target].to_numpy())
    assert stream.certificate_.kind == array.certificate_.kind == "optimal"
    bounds = [m.certificate_.evidence["coef_bound"] for m in (stream, array)]
    W, V = stream.coef_, array.coef_
    if len(W) > 1 and alpha == 0:  # all classes may move together
        W, V = W - W.mean(axis=0), V - V.mean(axis=0)
    assert np.all(np.abs(W - V) <= 2 * (bounds[0] + bounds[1]) + 1e-12)
    assert stream.fit_.outcome == "converged"


SEQUENTIAL = {
    "perceptron": (Perceptron, "three"),
    "adaline": (Adaline, "two"),
    "sigmoid": (SigmoidPerceptron, "two"),
    "widrow-hoff": (WidrowHoff, "y"),
}


@pytest.mark.parametrize("case", SEQUENTIAL)
@pytest.mark.parametrize("rows", [50, None])
def test_learners_of_rows_in_order_have_the_same_bits(table, tmp_path, case, rows):
    learner, target = SEQUENTIAL[case]
    table.write_csv(tmp_path / "t.csv")
    stream = fit(learner(), blocks(tmp_path / "t.csv", rows=rows), target, columns=INPUTS, passes=2)
    array, y = learner(), table[target].to_numpy()
    for _ in range(2):
        extra = () if target == "y" else (np.unique(y),)
        array.partial_fit(X_of(table), y, *extra)
    assert stream.coef_.tobytes() == array.coef_.tobytes()
    assert stream.fit_.corrections == array.fit_.corrections


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_perceptron_stops_when_a_pass_makes_no_correction(tmp_path):
    X = np.array([[0.0, 0, -1], [0, 1, -1], [1, 0, -1], [1, 1, 1]])
    stream = fit(Perceptron(), X, "x2", passes=1000)
    array = Perceptron().fit(X[:, :2], X[:, 2])
    assert stream.coef_.tolist() == array.coef_.tolist()
    assert stream.predict(X[:, :2]).tolist() == X[:, 2].tolist()


def test_shuffled_passes_depend_on_the_seed_alone(table):
    def run(seed, rows):
        learner = WidrowHoff(shuffle=True)
        return fit(learner, blocks(table, rows=rows), "y", columns=INPUTS, seed=seed, passes=2)

    assert run(1, 100).coef_.tobytes() == run(1, 100).coef_.tobytes()
    assert run(1, 100).coef_.tobytes() != run(2, 100).coef_.tobytes()


def test_two_processes_give_the_same_bits(table, tmp_path):
    learner, target = GaussianClassifier(), "three"
    table.write_csv(tmp_path / "t.csv")
    source = blocks(tmp_path / "t.csv", rows=300)
    one = fit(learner, source, target, columns=INPUTS, jobs=1).coef_.tobytes()
    two = fit(learner, source, target, columns=INPUTS, jobs=2).coef_.tobytes()
    assert one == two


@pytest.mark.parametrize("learner", [LogisticRegression, PoissonRegression, GaussianClassifier])
def test_all_complete_rows_may_be_in_the_third_of_six_pieces(table, learner):
    holed = table.with_columns(
        pl.when(pl.int_range(pl.len()) // 100 == 2).then(pl.col(INPUTS[0])), counts=pl.lit(1)
    ).head(600)
    target = "counts" if learner is PoissonRegression else "two"
    stream = fit(learner(), blocks(holed, rows=100), target, columns=INPUTS, missing="drop")
    rows = holed[200:300]
    straight = learner().fit(X_of(rows), rows[target].to_numpy())
    np.testing.assert_allclose(stream.coef_, straight.coef_, atol=1e-4)


def test_text_columns_are_encoded_and_names_follow(table, tmp_path):
    table.write_csv(tmp_path / "t.csv")
    model = fit(LeastSquares(), tmp_path / "t.csv", "y", columns=[*INPUTS, "three"])
    assert model.feature_names_in_.tolist() == [*INPUTS, "three=bee", "three=cat"]
    X = np.concatenate([model.encoding_.encode(b) for b in blocks(tmp_path / "t.csv")])
    array = LeastSquares().fit(X, table["y"].to_numpy())
    np.testing.assert_allclose(model.coef_, array.coef_, rtol=1e-10)


def test_missing_rows_are_left_out_together_with_their_target(rng):
    X, y = rng.standard_normal((200, 2)), rng.standard_normal(200)
    X[3, 0], X[50, 1], y[70] = np.nan, np.nan, np.nan
    table = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})
    model = fit(LeastSquares(), blocks(table, rows=60), "y", missing="drop")
    keep = np.isfinite(X).all(axis=1) & np.isfinite(y)
    array = LeastSquares().fit(X[keep], y[keep])
    np.testing.assert_allclose(model.coef_, array.coef_, rtol=1e-12)
    assert model.moments_.rows == 197
    with pytest.raises(DataError, match="target 'y' is missing at row 70"):
        fit(LeastSquares(), blocks(table, rows=60), "y", missing="mean")


def test_sparse_rows_of_a_libsvm_file_learn_what_dense_rows_do(rng, tmp_path):
    X = sparse.random_array((400, 20), density=0.3, rng=rng, format="csr")
    v = X @ rng.standard_normal(20)
    y = np.where(v + rng.logistic(size=400) * 0.3 > v.mean(), 1, -1)
    lines = []
    for i in range(400):
        row = X[[i]]
        pairs = [f"{j + 1}:{a!r}" for j, a in zip(row.indices, row.data.tolist(), strict=True)]
        lines.append(f"{y[i]} {' '.join(pairs)}")
    path = tmp_path / "t.libsvm"
    path.write_text("\n".join(lines))
    Z, t = load_svmlight_file(str(path), n_features=20)
    source = blocks(path, rows=90)
    model = fit(LogisticRegression(), source, "y")
    array = LogisticRegression().fit(Z.toarray(), t)
    bound = array.certificate_.evidence["coef_bound"] + model.certificate_.evidence["coef_bound"]
    assert np.all(np.abs(model.coef_ - array.coef_) <= bound)
    ridge = fit(Ridge(alpha=1.0), source, "y")
    np.testing.assert_allclose(ridge.coef_, Ridge(alpha=1.0).fit(Z, t).coef_, rtol=1e-10)


def test_a_class_that_comes_late_is_a_class_all_the_same(table):
    late = pl.concat([table, table[:50].with_columns(three=pl.lit("dog"))])
    model = fit(LogisticRegression(), blocks(late, rows=20), "three", columns=INPUTS)
    array = LogisticRegression().fit(X_of(late), late["three"].to_numpy())
    assert model.classes_.tolist() == ["ant", "bee", "cat", "dog"]
    np.testing.assert_allclose(model.coef_, array.coef_, atol=1e-5)
    for learner in (GaussianClassifier(), LeastSquaresClassifier(), Perceptron()):
        found = fit(learner, blocks(late, rows=20), "three", columns=INPUTS)
        assert found.classes_.tolist() == ["ant", "bee", "cat", "dog"]


def test_separable_classes_without_a_penalty_are_refused():
    rows = np.column_stack([np.arange(10.0), np.arange(10) > 4])
    with pytest.raises(SeparableError, match="separates"):
        fit(LogisticRegression(alpha=0), blocks(rows, rows=3), "x1")


HARD = {"offset": (1e8, 1e1), "condition": (0.0, 1e9), "both": (1e5, 1e6)}


@pytest.mark.parametrize("case", HARD)
@pytest.mark.filterwarnings("ignore:rounding has left no digit")
def test_hard_least_squares_reads_again_until_the_digits_are_those_of_the_array(rng, case):
    (offset, condition), n, p = HARD[case], 600, 4
    U, _ = np.linalg.qr(rng.standard_normal((n, p)))
    V, _ = np.linalg.qr(rng.standard_normal((p, p)))
    X = (U * np.geomspace(1, 1 / condition, p)) @ V.T * np.sqrt(n) + offset
    y = X @ rng.standard_normal(p) + rng.standard_normal(n)
    source = blocks(np.column_stack([X, y]), rows=100)
    for learner in (LeastSquares(), Ridge(alpha=1e-6)):
        stream, array = fit(learner, source, f"x{p}").coef_.copy(), learner.fit(X, y)
        # Both are proven to 13 digits and more.
        np.testing.assert_allclose(stream, array.coef_, rtol=1e-12)
        assert learner.certificate_.evidence["digits"] > 12.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankDeficientWarning)  # all that moments can tell
        quick = fit(LeastSquares(refine=False), source, f"x{p}")
    assert "more passes" not in quick.fit_.stopped


def test_classes_that_are_separable_but_for_ties_are_refused_too():
    x = np.repeat(np.arange(10.0), 2)
    c = (x > 5).astype(float)
    c[10] = 1.0  # one of two rows at 5
    with pytest.raises(SeparableError, match="finite weights"):
        fit(LogisticRegression(alpha=0), blocks(np.column_stack([x, c]), rows=6), "x1")


def test_logistic_regression_on_line_has_the_bits_of_partial_fit(table, tmp_path):
    table.write_csv(tmp_path / "t.csv")
    y = table["three"].to_numpy()
    source = blocks(tmp_path / "t.csv", rows=170)
    stream = fit(LogisticRegression(), source, "three", columns=INPUTS, online=True)
    array = LogisticRegression().partial_fit(X_of(table), y, classes=np.unique(y))
    assert stream.coef_.tobytes() == array.coef_.tobytes()
    assert stream.certificate_.kind == "undecided"


def test_dependent_columns_are_named(rng):
    X = rng.standard_normal((100, 2))
    table = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "s": X.sum(axis=1), "y": X[:, 0]})
    with pytest.warns(RankDeficientWarning):
        fit(LeastSquares(), blocks(table, rows=30), "y")


def test_a_pipe_is_learned_as_a_file_is(table):
    pipe = io.BytesIO(table.select([*INPUTS, "y"]).write_csv().encode())
    model = fit(Ridge(alpha=1.0), pipe, "y")
    array = Ridge(alpha=1.0).fit(X_of(table), table["y"].to_numpy())
    np.testing.assert_allclose(model.coef_, array.coef_, rtol=1e-10)
    pipe.seek(0)
    stream = fit(WidrowHoff(), pipe, "y")
    assert (
        stream.coef_.tobytes() == WidrowHoff().partial_fit(X_of(table), table["y"]).coef_.tobytes()
    )
    text = io.BytesIO(table.write_csv().encode())
    for learner in (LogisticRegression, Perceptron):  # several passes, and classes to find
        text.seek(0)
        from_pipe = fit(learner(), text, "two", columns=INPUTS)
        assert np.array_equal(from_pipe.coef_, fit(learner(), table, "two", columns=INPUTS).coef_)


def test_a_generator_needs_classes_and_one_pass(table):
    with pytest.raises(DataError, match="once only"):
        fit(LogisticRegression(), iter([table]), "two", columns=INPUTS)
    with pytest.raises(DataError, match="give classes="):
        fit(Perceptron(), iter([table]), "two", columns=INPUTS)
    fit(Perceptron(), iter([table]), "two", columns=INPUTS, classes=[0, 1])


def test_progress_tells_rows_done_and_all_rows(table, tmp_path):
    heard = []
    tell = lambda done, total: heard.append((done, total))  # noqa: E731
    fit(Ridge(), blocks(table, rows=600), "y", columns=INPUTS, progress=tell)
    assert heard == [(600, 2000), (1200, 2000), (1800, 2000), (2000, 2000)]
    table.write_csv(tmp_path / "t.csv")
    heard.clear()
    fit(Ridge(), tmp_path / "t.csv", "y", columns=INPUTS, progress=tell)
    assert heard == [(2000, None)]


def test_a_learner_without_partial_fit_does_not_learn_online(table):
    model = PoissonRegression()
    before = dict(vars(model))
    with pytest.raises(ValueError, match="PoissonRegression has no such procedure"):
        fit(model, table, "two", columns=INPUTS, online=True)
    assert vars(model) == before


def test_a_class_derived_from_a_learner_is_refused(table):
    class Mine(Ridge):
        pass

    with pytest.raises(TypeError, match="Mine cannot learn from blocks of rows; these can: Adal"):
        fit(Mine(), table, "y", columns=INPUTS)


def test_what_cannot_be_done_is_refused_in_a_sentence(table):
    with pytest.raises(TypeError, match="HoKashyap cannot learn from blocks"):
        fit(HoKashyap(), table, "two")
    with pytest.raises(ValueError, match="shrinkage='auto'"):
        fit(GaussianClassifier(shrinkage="auto"), table, "two", columns=INPUTS)
    with pytest.raises(ValueError, match="alpha='auto'"):
        fit(LogisticRegression(alpha="auto"), table, "two", columns=INPUTS)
    with pytest.raises(ValueError, match="loo"):
        fit(Ridge(alpha="loo"), table, "y", columns=INPUTS)
    with pytest.raises(ValueError, match="passes is 0"):
        fit(Perceptron(), table, "two", columns=INPUTS, passes=0)
    with pytest.raises(DataError, match="one class"):
        fit(GaussianClassifier(), table.with_columns(one=1), "one", columns=INPUTS)
    with pytest.raises(DataError, match="different values"):
        fit(GaussianClassifier(), table, "y", columns=INPUTS)
    with pytest.raises(ValueError, match="inputs"):
        fit(Ridge(), table, "y", encoding=Encoding.learn(table, columns=["y"]))
    with pytest.raises(DataError, match="did you mean 'two'"):
        fit(Perceptron(), table, "too")


def test_huge_and_tiny_columns_and_float32_are_learned(rng):
    X = rng.standard_normal((500, 3)) * [1e-170, 1.0, 1e170]
    y = X @ [1e170, 1.0, 1e-170] + rng.standard_normal(500)
    rows = np.column_stack([X, y])
    model, array = fit(LeastSquares(), blocks(rows, rows=100), "x3"), LeastSquares().fit(X, y)
    np.testing.assert_allclose(model.coef_, array.coef_, rtol=1e-9)
    small = rng.standard_normal((100, 3)).astype(np.float32)
    model = fit(Ridge(alpha=1.0), blocks(small, rows=30), "x2")
    array = Ridge(alpha=1.0).fit(small[:, :2].astype(float), small[:, 2].astype(float))
    np.testing.assert_allclose(model.coef_, array.coef_, rtol=1e-9)


@pytest.mark.parametrize("learner", [LeastSquaresClassifier, GaussianClassifier])
def test_classes_of_rows_that_come_once_are_given_and_must_occur(rng, learner):
    X = rng.standard_normal((200, 2))
    rows = np.column_stack([X, X[:, 0] > 0])

    def parts():
        yield from np.split(rows, 5)

    assert fit(learner(), parts(), "x2", classes=[0, 1]).classes_.tolist() == [0, 1]
    with pytest.raises(DataError, match="give classes="):
        fit(learner(), parts(), "x2")
    with pytest.raises(DataError, match="class 2"):
        fit(learner(), parts(), "x2", classes=[0, 1, 2])
