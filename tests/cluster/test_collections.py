"""dask arrays and DataFrames: learned as arrays are, block by block; predicted when asked."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

da = pytest.importorskip("dask.array", reason="Dask is not installed (extra cluster)")
dd = pytest.importorskip("dask.dataframe")
import dask  # noqa: E402
from dask import delayed  # noqa: E402

from adaline import (  # noqa: E402
    Adaline,
    ClassMoments,
    GammaRegression,
    GaussianClassifier,
    HoKashyap,
    LeastSquares,
    LeastSquaresClassifier,
    LogisticRegression,
    Moments,
    Perceptron,
    PoissonRegression,
    Ridge,
    Triangle,
    WidrowHoff,
)
from reference_losses import penalised_loss, wide_data  # noqa: E402
from reference_losses import wide_minimum as minimum  # noqa: E402

N, NAMES = 1500, ["p", "q", "r"]
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 3)) + np.array([0.0, 3.0, 50.0])
Y = (X - X.mean(axis=0)) @ [1.0, 2.0, 3.0] + RNG.standard_normal(N)
TWO, THREE = np.where(Y + RNG.standard_normal(N) > 0, "u", "v"), np.digitize(Y, [-1.0, 1.0])
OMEGA = RNG.integers(0, 3, N).astype(float)
FRAME = pd.DataFrame(X, columns=NAMES).assign(y=Y, two=TWO, three=THREE, omega=OMEGA)

# Closed forms differ by rounding; Newton's steps stop within tol of the minimum, which is 1e-8.
LEARNERS = {
    "least squares": (LeastSquares(), "y", 1e-12),
    "linear machine": (LeastSquaresClassifier(), "three", 1e-12),
    "gaussian": (GaussianClassifier(), "two", 1e-10),
    "logistic of three": (LogisticRegression(), "three", 1e-6),
    "poisson": (PoissonRegression(), "three", 1e-6),
}


def lazy(*given):
    """Arrays that are cut alike."""
    return [da.from_array(a, chunks=(400, *a.shape[1:])) for a in given]


(CUT,) = lazy(X)


def arrays(target: str):
    """X cut both ways, and the others cut elsewhere: they are cut again as X is."""
    cut = da.from_array(X, chunks=(400, 2))
    return cut, da.from_array(FRAME[target].to_numpy(), chunks=350), da.from_array(OMEGA, chunks=N)


def frames(target: str):
    """Of a DataFrame whose blocks have unknown lengths, some of them none."""
    table = dd.from_pandas(FRAME, npartitions=5)
    table = table[table["r"] > -1e9]
    return table[NAMES], table[target], table["omega"]


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize(("made", "weighted"), [(arrays, False), (frames, True)])
@pytest.mark.parametrize(("learner", "target", "close"), LEARNERS.values(), ids=LEARNERS)
def test_a_fit_is_that_of_the_rows_in_memory(made, learner, target, close, weighted):
    lazy, t, omega = made(target)
    straight = learner.fit(X, FRAME[target].to_numpy(), OMEGA if weighted else None)
    W, b = straight.coef_, straight.intercept_
    kind = type(learner)(**learner.get_params())
    model = kind.fit(lazy, t, omega if weighted else None)
    assert np.allclose(model.coef_, W, rtol=close, atol=close)
    assert np.allclose(model.intercept_, b, rtol=close, atol=100 * close)
    assert model.coef_.shape == W.shape
    assert model.n_features_in_ == 3
    assert (made is frames) == hasattr(model, "feature_names_in_")
    if hasattr(straight, "classes_"):
        assert model.classes_.tolist() == straight.classes_.tolist()


@pytest.mark.parametrize(("learner", "target", "close"), LEARNERS.values(), ids=LEARNERS)
def test_predictions_stay_lazy_and_scores_are_numbers(learner, target, close):
    lazy, t, omega = arrays(target)
    model = learner.fit(lazy, t)
    methods = ["predict", "predict_proba", "predict_log_proba", "decision_function"]
    for method in [m for m in methods if hasattr(model, m)]:
        found, here = getattr(model, method)(lazy), getattr(model, method)(X)
        assert isinstance(found, da.Array)
        assert (found.shape, found.dtype) == (here.shape, here.dtype)
        assert (
            np.allclose(found.compute(), here) if here.dtype.kind == "f" else (found == here).all()
        )
    if target != "three" or not isinstance(model, PoissonRegression):
        values = FRAME[target].to_numpy()
        assert np.isclose(model.score(lazy, t), model.score(X, values))
        assert np.isclose(model.score(lazy, t, omega), model.score(X, values, OMEGA))


def test_sums_of_collections():
    lazy, t, omega = arrays("y")
    codes = da.from_array(THREE, chunks=400)
    assert np.allclose(Moments.of(lazy, t, omega).scatter, Moments.of(X, Y, OMEGA).scatter)
    assert np.allclose(Moments.of(lazy).mean, X.mean(axis=0))
    for covariance in ("shared", "full", "diagonal"):
        here = ClassMoments.of(X, THREE, 3, OMEGA, covariance)
        there = ClassMoments.of(lazy, codes, 3, omega, covariance)
        assert np.allclose(there.means, here.means)
        assert np.allclose(there.scatter, here.scatter)
    triangle = Triangle.of(lazy, t)
    assert np.allclose(LeastSquares().fit_moments(triangle).coef_, LeastSquares().fit(X, Y).coef_)


@pytest.mark.parametrize(("learner", "target", "close"), LEARNERS.values(), ids=LEARNERS)
@pytest.mark.parametrize("block", [0, 3])
def test_all_rows_may_be_in_one_of_six_blocks(learner, target, close, block):
    keep = np.arange(N) // 250 == block
    lazy, labels = (da.from_array(a, chunks=250) for a in (X, FRAME[target].to_numpy()))
    kept = da.from_array(keep, chunks=250)
    model = learner.fit(lazy[kept], labels[kept])
    straight = clone(learner).fit(X[keep], FRAME[target][keep])
    assert np.allclose(model.coef_, straight.coef_, rtol=max(close, 1e-8), atol=close)


@pytest.mark.filterwarnings("ignore:rounding has left no digit")
def test_several_targets_and_float32():
    lazy = da.from_array(X, chunks=(400, 3))
    both = np.column_stack([Y, X[:, 0]])
    model = LeastSquares().fit(lazy, da.from_array(both, chunks=(400, 2)))
    assert np.allclose(model.coef_, LeastSquares().fit(X, both).coef_, atol=1e-10)
    for learner, t in (
        (LeastSquares(), Y),
        (LogisticRegression(), TWO),
        (GaussianClassifier(), TWO),
    ):
        small = learner.fit(lazy.astype(np.float32), da.from_array(t, chunks=400))
        assert small.coef_.dtype == np.float32


UNKNOWN = frames("y")[0]  # whose blocks have unknown lengths
WRONG = {  # learner, X, y, and a word of the message
    "other lengths": (LeastSquares(), CUT, da.ones(N + 1, chunks=400), "X has 1500 rows, and y"),
    "unknown lengths": (LeastSquares(), UNKNOWN, Y, "is not known"),
    "other blocks": (LeastSquares(), UNKNOWN, lazy(Y)[0], "take both from one DataFrame"),
    "no y": (LeastSquares(), CUT, None, "the target y is None"),
    "one column": (LeastSquares(), CUT[:, 0], lazy(Y)[0], "1 dimensions"),
    "nan": (LeastSquares(), da.where(CUT > 52, np.nan, CUT), lazy(Y)[0], r"block \d has nan in"),
    "text": (LeastSquares(), CUT, lazy(TWO)[0], "holds text"),
    "complex": (LeastSquares(), CUT + 1j, lazy(Y)[0], "omplex"),
    "complex y": (GaussianClassifier(), CUT, lazy(Y + 1j)[0], "omplex"),
    "one class": (LogisticRegression(), CUT, lazy(TWO == "w")[0], "one class"),
    "all rows at once": (GaussianClassifier(shrinkage="auto"), CUT, lazy(TWO)[0], "needs them"),
    "penalty": (Ridge(alpha="loo"), CUT, lazy(Y)[0], "leaves out rows"),
    "separable": (LogisticRegression(alpha=0), CUT, lazy(X[:, 0] > 0)[0], "separates"),
    **{
        type(learner).__name__: (learner, CUT, lazy(TWO)[0], r"LogisticRegression .* X\.compute")
        for learner in (Perceptron(), Adaline(), HoKashyap(), WidrowHoff())
    },
}


@pytest.mark.parametrize(("learner", "rows", "y", "words"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_learned_is_refused_and_changes_nothing(learner, rows, y, words):
    before = dict(vars(learner))
    with pytest.raises((ValueError, TypeError), match=words):
        learner.fit(rows, y)
    assert vars(learner) == before


def test_a_score_that_no_sums_give_is_refused():
    x = np.arange(1.0, 41.0)[:, None]
    model = GammaRegression().fit(x, x[:, 0])
    with pytest.raises(TypeError, match="D2"):
        model.score(da.from_array(x, chunks=(20, 1)), x[:, 0])


LABELS = np.array(["a", "b", "c"])[np.arange(N) % 3]
WITHOUT_C, ONLY_A = (LABELS != "c").astype(float), (LABELS == "a").astype(float)


@pytest.mark.parametrize("kind", [LeastSquaresClassifier, GaussianClassifier])
@pytest.mark.filterwarnings("ignore")
def test_a_class_whose_rows_weigh_nothing_is_kept_where_it_is_in_memory(kind):
    here, there = kind().fit(X, LABELS, WITHOUT_C), kind().fit(*lazy(X, LABELS, WITHOUT_C))
    assert there.classes_.tolist() == here.classes_.tolist() == ["a", "b", "c"]
    assert there.certificate_.kind == here.certificate_.kind
    assert np.allclose(there.coef_, here.coef_, atol=1e-10)


def test_weights_are_refused_where_they_are_in_memory():
    gap = X.copy()
    gap[2] = np.nan
    for words, kind, rows in (
        ("only zero sample_weight for the class 'c'", LogisticRegression, (X, LABELS, WITHOUT_C)),
        (r"\['a'\]|for the class 'b'", LogisticRegression, (X, LABELS, ONLY_A)),
        (r"\['a'\]", GaussianClassifier, (X, LABELS, ONLY_A)),
        (r"NaN|nan", LeastSquares, (gap, Y, WITHOUT_C)),
        (r"NaN|nan", LeastSquares, (X, gap[:, 0], WITHOUT_C)),
        ("negative", LeastSquares, (X, Y, -WITHOUT_C)),
    ):
        for given in (rows, lazy(*rows)):
            with pytest.raises(ValueError, match=words):
                kind().fit(*given)


@pytest.mark.parametrize("apart", [1e-4, 1e-7])
@pytest.mark.parametrize("intercept", [True, False])
def test_hard_columns_with_weights_get_the_digits_that_rows_in_memory_get(apart, intercept):
    """1e-7 apart, moments have lost every digit, and a triangle of weighted rows begins."""
    hard = np.column_stack([X[:, 0], X[:, 0] + apart * X[:, 1], X[:, 2] - 50.0])
    y = hard.sum(axis=1) + 0.1 * RNG.standard_normal(N)
    omega = RNG.uniform(0.5, 2.0, N) * (np.arange(N) % 7 > 0)
    here = LeastSquares(fit_intercept=intercept).fit(hard, y, omega)
    there = LeastSquares(fit_intercept=intercept).fit(*lazy(hard, y, omega))
    assert here.certificate_.kind == there.certificate_.kind == "exact"
    assert np.array_equal(there.coef_, here.coef_)  # both claim to be correctly rounded
    assert there.intercept_ == here.intercept_
    assert "more passes" in there.fit_.stopped


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_wide_blocks_of_csr_give_the_minimum(dtype):
    rows, y = wide_data(np.random.default_rng(5), n=160)
    rows = rows.astype(dtype)
    made = [
        da.from_delayed(
            delayed(rows[i : i + 40]), (40, rows.shape[1]), dtype, sparse.csr_matrix((0, 0))
        )
        for i in range(0, 160, 40)
    ]
    there = da.concatenate(made, axis=0), da.from_array(y, chunks=40)
    model = LogisticRegression().fit(*there)
    assert np.mean(model.predict(there[0]).compute() == y) > 0.8
    assert model.coef_.dtype == dtype
    theta = np.column_stack([model.coef_, model.intercept_]).astype(np.float64)
    f, (best, least) = penalised_loss(theta, rows, y, 1.0, True)[0], minimum(rows, y)
    assert f - least <= 1e-8 * f + (dtype == np.float32) * 1e-6
    bound = model.certificate_.evidence["distance_bound"]
    assert np.linalg.norm(model.coef_ - best[:, :-1]) <= bound + 1e-7  # of the twin itself


def test_dask_is_not_loaded_where_no_row_is_of_dask():
    program = (
        "import sys, numpy as np\nfrom adaline import LogisticRegression\n"
        "from adaline.data import fit\n"
        "rows = np.random.default_rng(0).integers(0, 2, (50, 3)).astype(float)\n"
        "LogisticRegression().fit(rows[:, :2], rows[:, 2]).predict(rows[:, :2])\n"
        "fit(LogisticRegression(), rows, 'x2')\n"
        "assert not {'dask', 'distributed', 'fsspec'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
