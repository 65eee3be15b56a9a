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

from adaline import (  # noqa: E402
    Adaline,
    ClassMoments,
    DataError,
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
    SeparableError,
    Triangle,
    WidrowHoff,
)

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
    "ridge": (Ridge(alpha=2.0), "y", 1e-12),
    "two sides": (LeastSquaresClassifier(), "two", 1e-12),
    "linear machine": (LeastSquaresClassifier(), "three", 1e-12),
    "gaussian": (GaussianClassifier(), "two", 1e-10),
    "gaussians": (GaussianClassifier(), "three", 1e-10),
    "logistic": (LogisticRegression(), "two", 1e-6),
    "logistic of three": (LogisticRegression(), "three", 1e-6),
    "poisson": (PoissonRegression(), "three", 1e-6),
}


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


def test_predictions_of_a_frame_check_its_columns():
    table, t, _ = frames("y")
    model = LeastSquares().fit(table, t)
    assert np.allclose(model.predict(table).compute(), model.predict(FRAME[NAMES]))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[["q", "p", "r"]])


def test_how_rows_are_cut_is_known_to_nobody_and_no_scheduler_changes_the_bits():
    lazy, t, _ = arrays("two")
    found = []
    for scheduler in ("synchronous", "threads"):
        with dask.config.set(scheduler=scheduler):
            found.append(LogisticRegression().fit(lazy, t).coef_.tobytes())
    assert found[0] == found[1]


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


def test_empty_blocks_count_nothing():
    table = dd.from_pandas(FRAME, npartitions=6)
    some = table[(table["p"] > 0) & (table.index < 700)]
    here = FRAME[(FRAME["p"] > 0) & (FRAME.index < 700)]
    for learner, target in ((LeastSquares(), "y"), (LogisticRegression(), "two")):
        model = learner.fit(some[NAMES], some[target])
        straight = type(learner)().fit(here[NAMES], here[target])
        assert np.allclose(model.coef_, straight.coef_, rtol=1e-6)


@pytest.mark.parametrize(("learner", "target", "close"), LEARNERS.values(), ids=LEARNERS)
@pytest.mark.parametrize("block", range(6))
def test_all_rows_may_be_in_one_of_six_blocks(learner, target, close, block):
    keep = np.arange(N) // 250 == block
    lazy, labels = (da.from_array(a, chunks=250) for a in (X, FRAME[target].to_numpy()))
    kept = da.from_array(keep, chunks=250)
    model = learner.fit(lazy[kept], labels[kept])
    straight = clone(learner).fit(X[keep], FRAME[target][keep])
    assert np.allclose(model.coef_, straight.coef_, rtol=max(close, 1e-8), atol=close)


@pytest.mark.parametrize("learner", [one for one, _, _ in LEARNERS.values()], ids=LEARNERS)
@pytest.mark.parametrize("place", ["X", "y", "sample_weight"])
def test_complex_numbers_are_refused_as_in_memory(learner, place):
    given = {"X": X, "y": TWO == "u", "sample_weight": OMEGA}
    given[place] = given[place] + 1j
    lazy = {k: da.from_array(v, chunks=(500, 3)[: v.ndim]) for k, v in given.items()}
    for rows in (lazy, given):
        with pytest.raises(ValueError, match="omplex"):
            clone(learner).fit(**rows)
    table = dd.from_pandas(pd.DataFrame(X, columns=NAMES).assign(r=X[:, 2] + 1j), npartitions=2)
    with pytest.raises(ValueError, match="omplex"):
        clone(learner).fit(table, table["p"] > 0)


def test_sparse_blocks_stay_sparse():
    S = sparse.random(N, 40, 0.1, format="csr", random_state=0)
    lazy = da.from_array(S, chunks=(400, 40), asarray=False)
    model = LogisticRegression().fit(lazy, da.from_array(TWO, chunks=400))
    straight = LogisticRegression().fit(S, TWO)
    assert np.allclose(model.coef_, straight.coef_, atol=1e-5)


def test_hard_columns_get_the_digits_that_more_passes_give():
    hard = np.column_stack([X[:, 0], X[:, 0] + 1e-7 * X[:, 1], X[:, 2]])
    t = hard @ [1.0, 1.0, 1.0] + 0.1 * RNG.standard_normal(N)
    lazy = da.from_array(hard, chunks=(400, 3))
    model = LeastSquares().fit(lazy, da.from_array(t, chunks=400))
    straight = LeastSquares().fit(hard, t)
    assert np.allclose(model.coef_, straight.coef_, rtol=1e-9)
    assert "more passes" in model.fit_.stopped


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


WRONG = {
    "other lengths": (lambda a: (a, da.ones(N + 1, chunks=400)), "X has 1500 rows, and y has 1501"),
    "no y": (lambda a: (a, None), "the target y is None"),
    "one column": (lambda a: (a[:, 0], da.ones(N, chunks=400)), "1 dimensions"),
    "nan": (
        lambda a: (da.where(a > 52.0, np.nan, a), da.ones(N, chunks=400)),
        r"block \d: X contains NaN",
    ),
}


@pytest.mark.parametrize(("spoil", "words"), WRONG.values(), ids=WRONG)
def test_bad_collections_are_refused_and_change_nothing(spoil, words):
    model = LeastSquares().fit(X, Y)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match=words):
        model.fit(*spoil(da.from_array(X, chunks=(400, 3))))
    assert np.array_equal(model.coef_, before)


def test_blocks_of_unknown_lengths_must_be_as_many():
    table, _, _ = frames("y")
    with pytest.raises(ValueError, match="take both from one DataFrame"):
        LeastSquares().fit(table, dd.from_pandas(FRAME, npartitions=3)["y"])
    with pytest.raises(TypeError, match="not of Dask"):
        LeastSquares().fit(table, Y)
    other = dd.from_pandas(FRAME.iloc[:-1], npartitions=5)
    with pytest.raises(ValueError, match=r"block \d of X has \d+ rows"):
        LeastSquares().fit(table, other["y"])


@pytest.mark.parametrize("learner", [Perceptron(), Adaline(), HoKashyap(), WidrowHoff()])
def test_learners_of_rows_in_order_refuse_with_what_to_use(learner):
    lazy, t, _ = arrays("two")
    with pytest.raises(TypeError, match="LogisticRegression"):
        learner.fit(lazy, t)
    with pytest.raises(TypeError, match=r"X\.compute"):
        LeastSquares().partial_fit(lazy, t)


def test_what_needs_the_rows_says_so():
    lazy, t, _ = arrays("two")
    with pytest.raises(ValueError, match="needs them"):
        GaussianClassifier(shrinkage="auto").fit(lazy, t)
    with pytest.raises(ValueError, match="leaves out rows"):
        Ridge(alpha="loo").fit(lazy, arrays("y")[1])
    with pytest.raises(SeparableError):
        LogisticRegression(alpha=0).fit(lazy, da.from_array(X[:, 0] > 0, chunks=400))
    with pytest.raises(DataError, match="no numbers"):
        LeastSquares().fit(lazy, t)


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


@pytest.mark.parametrize("declared", ["D2", None])
def test_a_score_that_no_sums_give_is_refused(declared, monkeypatch):
    x = np.arange(1.0, 41.0)[:, None]
    model = GammaRegression().fit(x, x[:, 0])
    monkeypatch.setattr(GammaRegression, "_scored_by", declared, raising=False)
    with pytest.raises(TypeError, match=declared or "not declared"):
        model.score(da.from_array(x, chunks=(20, 1)), x[:, 0])
