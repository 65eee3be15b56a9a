"""GaussianClassifier: laws, peers, bad input. The contract is in test_contract.py."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.covariance import ledoit_wolf
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.fixes import parse_version

from adaline import ClassMoments, GaussianClassifier, IllConditionedWarning, RankDeficientWarning

KINDS = ["shared", "full", "diagonal"]


def clouds(rng, n=400, p=4, classes=3):
    """Overlapping, correlated classes of different size."""
    shares = np.arange(1, classes + 1) / np.arange(1, classes + 1).sum()
    y = rng.choice(classes, n, p=shares)
    mix = np.eye(p) + rng.normal(size=(p, p)) / 2
    return rng.normal(size=(n, p)) @ mix * (1 + 0.2 * y[:, None]) + rng.normal(size=(classes, p))[
        y
    ], y


def same(one, other, X, Z=None, rtol=1e-8):
    """Whether two models give the same log-probabilities, for X and for Z in other units."""
    np.testing.assert_allclose(
        other.predict_log_proba(X if Z is None else Z),
        one.predict_log_proba(X),
        rtol=rtol,
        atol=rtol,
    )
    return True


@pytest.mark.parametrize("solver", ["lsqr", "svd"])
def test_shared_covariance_agrees_with_linear_discriminant_analysis(rng, solver):
    if solver == "svd" and parse_version(sklearn.__version__) < parse_version("1.9"):
        pytest.skip("its covariance is divided by n - K; greatest likelihood divides by n")
    X, y = clouds(rng)
    model, peer = (
        GaussianClassifier().fit(X, y),
        LinearDiscriminantAnalysis(solver=solver).fit(X, y),
    )
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-11)
    assert np.array_equal(model.predict(X), peer.predict(X))
    assert model.coef_.shape == peer.coef_.shape
    # The discriminants of classes differ by what all classes share; their differences do not.
    np.testing.assert_allclose(np.diff(model.coef_, axis=0), np.diff(peer.coef_, axis=0), rtol=1e-8)
    np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, model.decision_function(X))


def test_full_covariance_agrees_with_quadratic_discriminant_analysis(rng):
    X, y = clouds(rng)
    model = GaussianClassifier("full").fit(X, y)
    peer = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    np.testing.assert_allclose(model.means_, peer.means_, rtol=1e-12)
    # Greatest likelihood divides by n_k; some releases of scikit-learn divide by n_k - 1.
    more = np.array([np.trace(S) for S in peer.covariance_]) / np.trace(
        model.covariance_, axis1=1, axis2=2
    )
    np.testing.assert_allclose(
        model.covariance_ * more[:, None, None], peer.covariance_, rtol=1e-10
    )
    log_det = np.linalg.slogdet(peer.covariance_)[1]
    joint = np.log(model.priors_) - (model.mahalanobis(X) / more + log_det) / 2
    np.testing.assert_allclose(joint, peer.decision_function(X), rtol=1e-9, atol=1e-9)
    if np.allclose(more, 1, rtol=1e-12):
        assert np.array_equal(model.predict(X), peer.predict(X))


def test_diagonal_covariance_agrees_with_naive_bayes(rng):
    X, y = clouds(rng)
    model, peer = GaussianClassifier("diagonal").fit(X, y), GaussianNB(var_smoothing=0).fit(X, y)
    np.testing.assert_allclose(model.covariance_, peer.var_, rtol=1e-11)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_equal_one_pass_and_forgetting_undoes_them(rng, kind):
    X, y = clouds(rng)
    whole = GaussianClassifier(kind).fit(X, y)
    parts = GaussianClassifier(kind).partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    for i in range(1, len(X), 57):
        parts.partial_fit(X[i : i + 57], y[i : i + 57])
    assert same(whole, parts, X)
    strange = rng.normal(size=(30, 4)) * 100
    parts.partial_fit(strange, y[:30]).forget(strange, y[:30])
    assert same(whole, parts, X, rtol=1e-6)  # what was forgotten was a hundred times as large
    moments = ClassMoments.over([(X[:99], y[:99]), (X[99:], y[99:])], 3, kind)
    assert same(whole, GaussianClassifier(kind).fit_moments(moments), X)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_count_rows(rng, kind):
    X, y = clouds(rng)
    counts = rng.integers(0, 4, len(X))
    weighted = GaussianClassifier(kind).fit(X, y, sample_weight=counts)
    repeated = GaussianClassifier(kind).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert same(repeated, weighted, X)
    stream = GaussianClassifier(kind).partial_fit(X, y, sample_weight=counts)
    assert same(repeated, stream, X)


@pytest.mark.parametrize("kind", KINDS)
def test_dense_and_sparse_rows_give_the_same(rng, kind):
    X, y = clouds(rng)
    X[rng.random(X.shape) < 0.4] = 0
    dense, thin = (
        GaussianClassifier(kind).fit(form(X), y) for form in (np.asarray, sparse.csr_array)
    )
    assert same(dense, thin, X, sparse.csr_matrix(X))
    np.testing.assert_allclose(
        thin.mahalanobis(sparse.csr_array(X)), dense.mahalanobis(X), rtol=1e-8
    )


def test_many_sparse_features_are_not_unpacked(rng):
    X = sparse.random_array((200, 5000), density=0.01, format="csr", rng=rng)
    y = rng.integers(0, 2, 200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankDeficientWarning)  # most never vary within a class
        thin = GaussianClassifier("diagonal").fit(X, y)
        dense = GaussianClassifier("diagonal").fit(X.toarray(), y)
    np.testing.assert_allclose(thin.mahalanobis(X), dense.mahalanobis(X.toarray()), rtol=1e-7)
    assert np.array_equal(thin.predict(X), dense.predict(X.toarray()))


@pytest.mark.parametrize("kind", KINDS)
def test_units_of_the_features_do_not_matter(rng, kind):
    X, y = clouds(rng)
    units = np.array([1e-150, 1.0, 1e150, 1e-30])
    plain, scaled = GaussianClassifier(kind).fit(X, y), GaussianClassifier(kind).fit(X * units, y)
    assert same(plain, scaled, X, X * units)
    auto = GaussianClassifier("full", shrinkage="auto").fit(X, y)
    assert same(auto, GaussianClassifier("full", shrinkage="auto").fit(X * units, y), X, X * units)
    if kind == "shared":
        np.testing.assert_allclose(scaled.coef_ * units, plain.coef_, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_large_offset_costs_only_what_storing_the_means_costs(rng, kind):
    X, y = clouds(rng)
    X = np.round(X * 2**20) / 2**20  # so that X + 2**27 is exact
    plain, moved = GaussianClassifier(kind).fit(X, y), GaussianClassifier(kind).fit(X + 2**27, y)
    assert same(plain, moved, X, X + 2**27, rtol=1e-6)  # means are stored to 2**-27
    np.testing.assert_allclose(moved.covariance_, plain.covariance_, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_constant_columns_are_left_out_without_a_word(rng, kind):
    X, y = clouds(rng)
    wide = np.column_stack([X[:, :2], np.full(len(X), 1e8 + 0.1), X[:, 2:], np.zeros(len(X))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model, plain = GaussianClassifier(kind).fit(wide, y), GaussianClassifier(kind).fit(X, y)
    assert same(plain, model, X, wide)
    assert model.certificate_.kind == "optimal"


def test_dependent_columns_are_named_and_regularised(rng):
    X, y = clouds(rng)
    table = pd.DataFrame(np.column_stack([X, X[:, 0] - 2 * X[:, 1]]), columns=[*"abcd", "sum"])
    for kind in ("shared", "full"):
        with pytest.warns(RankDeficientWarning, match="singular covariance.*: (a|b|sum)"):
            model = GaussianClassifier(kind).fit(table, y)
        assert np.all(model.ridge_ == pytest.approx(2.0**-20, rel=1e-3))
        assert model.certificate_.kind == "unproven"
        assert "singular" in str(model.certificate_)
        # The ridge is small beside the spread, so what can be told is told as without the column.
        agree = model.predict(table) == GaussianClassifier(kind).fit(X, y).predict(X)
        assert np.mean(agree) > 0.99
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GaussianClassifier(shrinkage="auto").fit(table, y)
    assert 0 < model.shrinkage_ < 1
    assert model.ridge_ == 0


def test_a_nearly_dependent_column_is_neither_changed_nor_hidden(rng):
    X, y = clouds(rng)
    near = np.column_stack([X, X[:, 0] + 3e-6 * rng.normal(size=len(X))])
    with pytest.warns(IllConditionedWarning, match="condition number"):
        model = GaussianClassifier().fit(near, y)
    assert model.ridge_ == 0
    assert model.certificate_.evidence["distance_error"] > 0.01


def test_a_column_that_tells_the_class_exactly_is_used(rng):
    X, y = clouds(rng)
    with pytest.warns(RankDeficientWarning, match="x4"):
        model = GaussianClassifier().fit(np.column_stack([X, y]), y)
    assert model.score(np.column_stack([X, y]), y) == 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_with_one_member_is_learned(rng, kind):
    X, y = clouds(rng)
    X, y = np.vstack([X, [[9.0, 9.0, 9.0, 9.0]]]), np.append(y, 7)
    if kind == "shared":
        model = GaussianClassifier(kind).fit(X, y)
    else:
        with pytest.warns(RankDeficientWarning, match="covariance in class 7: x0"):
            model = GaussianClassifier(kind).fit(X, y)
    assert model.predict(X[-1:]) == [7]
    assert np.isfinite(model.predict_log_proba(X)).all()


def test_more_features_than_rows_is_learned(rng):
    X, y = rng.normal(size=(20, 50)) + np.repeat([[0.0], [2.0]], 10, axis=0), np.repeat([0, 1], 10)
    with pytest.warns(RankDeficientWarning, match="more do not vary"):
        model = GaussianClassifier().fit(X, y)
    assert model.score(X, y) == 1.0


def test_ledoit_wolf_is_that_of_the_standardised_rows(rng):
    X, y = clouds(rng, n=60)
    residual = np.empty_like(X)
    for k in range(3):
        residual[y == k] = X[y == k] - X[y == k].mean(axis=0)
    Z = residual / residual.std(axis=0)
    expected = ledoit_wolf(Z, assume_centered=True)[1]
    model = GaussianClassifier(shrinkage="auto").fit(X, y)
    assert model.shrinkage_ == pytest.approx(expected, rel=1e-10)
    S = residual.T @ residual / len(X)
    expected = (1 - model.shrinkage_) * S + model.shrinkage_ * np.diag(np.diag(S))
    np.testing.assert_allclose(model.covariance_, expected, rtol=1e-11)
    full = GaussianClassifier("full", shrinkage="auto").fit(X, y)
    for k in range(3):
        z = residual[y == k] / residual[y == k].std(axis=0)
        expected = ledoit_wolf(z, assume_centered=True)[1]
        assert full.shrinkage_[k] == pytest.approx(expected, rel=1e-10)
    counts = rng.integers(0, 3, len(X))
    weighted = GaussianClassifier("full", shrinkage="auto").fit(X, y, counts)
    repeated = GaussianClassifier("full", shrinkage="auto").fit(
        np.repeat(X, counts, axis=0), np.repeat(y, counts)
    )
    np.testing.assert_allclose(weighted.shrinkage_, repeated.shrinkage_, rtol=1e-10)


def test_shrinkage_from_moments_alone_is_close_for_gaussian_rows(rng):
    X, y = rng.normal(size=(4000, 6)) @ (np.eye(6) + 0.3), rng.integers(0, 2, 4000)
    rows = GaussianClassifier(shrinkage="auto").fit(X, y)
    moments = GaussianClassifier(shrinkage="auto").partial_fit(X, y)
    assert moments.shrinkage_ == pytest.approx(rows.shrinkage_, rel=0.2)


def test_full_shrinkage_leaves_no_correlation(rng):
    X, y = clouds(rng)
    model = GaussianClassifier(shrinkage=1.0).fit(X, y)
    assert np.array_equal(model.covariance_, np.diag(np.diag(model.covariance_)))
    plain = GaussianClassifier(shrinkage=0.0).fit(X, y)
    assert same(GaussianClassifier().fit(X, y), plain, X)


def test_the_certificate_bounds_what_rounding_changed(rng):
    X, y = clouds(rng)
    model = GaussianClassifier("full").fit(X, y)
    assert model.certificate_.kind == "optimal"
    error = model.certificate_.evidence["distance_error"]
    assert error < 1e-9
    longer = X.astype(np.longdouble)
    for k in range(3):
        d = longer[y == k] - longer[y == k].mean(axis=0)
        S = (d.T @ d / len(d)).astype(float)
        exact = np.einsum("ij,ij->i", d, np.linalg.solve(S, d.T.astype(float)).T)
        np.testing.assert_allclose(
            model.mahalanobis(X[y == k])[:, k], exact.astype(float), rtol=error + 1e-11
        )


def test_float32_rows_give_float32_answers(rng):
    X, y = clouds(rng)
    for kind in KINDS:
        single = GaussianClassifier(kind).fit(X.astype(np.float32), y)
        double = GaussianClassifier(kind).fit(X.astype(np.float32).astype(float), y)
        for answer in (single.predict_proba, single.decision_function, single.mahalanobis):
            assert answer(X.astype(np.float32)).dtype == np.float32
        np.testing.assert_allclose(single.predict_proba(X), double.predict_proba(X), atol=1e-9)
    assert GaussianClassifier().fit(X.astype(np.float32), y).coef_.dtype == np.float32


@pytest.mark.parametrize("kind", KINDS)
def test_rows_in_any_layout_are_read_and_left_alone(rng, kind):
    X, y = clouds(rng)
    plain, before = GaussianClassifier(kind).fit(X, y), X.copy()
    X.flags.writeable = False
    for form in (X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], X[::-1][::-1]):
        assert same(plain, GaussianClassifier(kind).fit(form, y), X)
    assert np.array_equal(X, before)
    whole = np.round(X * 3)
    assert same(
        GaussianClassifier(kind).fit(whole, y),
        GaussianClassifier(kind).fit(whole.astype(int), y),
        X,
    )
    bits = rng.random(X.shape) < 0.5
    assert same(
        GaussianClassifier(kind).fit(bits.astype(float), y),
        GaussianClassifier(kind).fit(bits, y),
        X,
    )


@pytest.mark.parametrize(
    "label",
    [
        lambda y: y * 1000 - 5,
        lambda y: y.astype(np.uint8),
        lambda y: y.astype(np.int64) * 2**40,
        lambda y: y.astype(float),
        lambda y: np.array(["ham", "spam", "eggs"])[y],
        lambda y: np.array(["ham", "spam", "eggs"], dtype=object)[y],
    ],
    ids=["far apart", "small integers", "huge integers", "floats", "strings", "objects"],
)
def test_labels_of_any_kind_are_coded_in_sorted_order(rng, label):
    X, y = clouds(rng)
    labels = label(y)
    model = GaussianClassifier().fit(X, labels)
    assert model.classes_.tolist() == np.unique(labels).tolist()
    assert model.classes_.dtype == labels.dtype
    assert np.mean(model.predict(X) == labels) == np.mean(
        GaussianClassifier().fit(X, y).predict(X) == y
    )
    half = GaussianClassifier().partial_fit(X[:50], labels[:50], classes=np.unique(labels))
    assert same(model, half.partial_fit(X[50:], labels[50:]), X)


def test_a_tie_goes_to_the_first_class():
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    model = GaussianClassifier().fit(X, y)
    assert model.decision_function([[0.0]]) == [0.0]
    assert model.predict([[0.0]]) == [0]


def test_reject_answers_where_every_decision_is_too_dear(rng):
    X, y = clouds(rng)
    model = GaussianClassifier(reject_cost=0.3).fit(X, y)
    unsure = model.predict_proba(X).max(axis=1) < 0.7
    answers = model.predict(X)
    assert answers.dtype == object
    assert np.array_equal(answers == "reject", unsure)
    assert model.score(X, y) == np.mean(answers == y)


def test_costs_of_three_classes_are_minimised(rng):
    X, y = clouds(rng)
    costs = np.array([[0, 5, 1], [1, 0, 9], [2, 1, 0.0]])
    model = GaussianClassifier(costs=costs).fit(X, y)
    expected = (model.predict_proba(X) @ costs.T).argmin(axis=1)
    assert np.array_equal(model.predict(X), expected)
    assert np.array_equal(model.decision_function(X).argmax(axis=1), expected)


def test_a_class_not_seen_yet_is_never_predicted(rng):
    X, y = clouds(rng)
    model = GaussianClassifier("full").partial_fit(X, y, classes=[0, 1, 2, 3])
    assert model.priors_[3] == 0
    assert np.isnan(model.means_[3]).all()
    assert set(model.predict(X)) <= {0, 1, 2}
    with pytest.raises(ValueError, match="have a prior but no rows"):
        GaussianClassifier(priors=[0.25] * 4).partial_fit(X, y, classes=[0, 1, 2, 3])


def bad(X, i, j, value):
    X = X.copy()
    X[i, j] = value
    return X


@pytest.mark.parametrize("kind", KINDS)
def test_nan_and_infinity_are_named_by_row_and_column(rng, kind):
    X, y = clouds(rng)
    for value, word in ((np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")):
        wrong = bad(X, 300, 2, value)
        with pytest.raises(ValueError, match=rf"contains {word} .* row 300, column 2 \(x2\)"):
            GaussianClassifier(kind).fit(wrong, y)
        with pytest.raises(ValueError, match="row 300, column 2"):
            GaussianClassifier(kind).fit(sparse.csr_array(wrong), y)
        model = GaussianClassifier(kind).fit(X, y)
        with pytest.raises(ValueError, match="row 300, column 2"):
            model.partial_fit(wrong, y)
        with pytest.raises(ValueError, match="row 300, column 2"):
            model.predict(wrong)
        assert same(GaussianClassifier(kind).fit(X, y), model, X)


def test_bad_input_is_refused_in_a_sentence(rng):
    X, y = clouds(rng)
    refused = [
        (GaussianClassifier(), X, np.zeros(len(X), int), "one class"),
        (GaussianClassifier(), X, y[1:], "labels"),
        (GaussianClassifier(), X[:0], y[:0], "0 sample"),
        (GaussianClassifier(priors=[0.5, 0.6, 0.2]), X, y, "sum to"),
        (GaussianClassifier(priors=[0.5, 0.5]), X, y, "3 classes"),
        (GaussianClassifier(costs=np.eye(2)), X, y, "costs has shape"),
        (GaussianClassifier("pooled"), X, y, "it can be 'shared', 'full' or 'diagonal'"),
        (GaussianClassifier(shrinkage=1.5), X, y, r"in \[0, 1\] or 'auto'"),
        (GaussianClassifier(shrinkage="lw"), X, y, r"in \[0, 1\] or 'auto'"),
        (GaussianClassifier("diagonal", shrinkage=0.1), X, y, "is there already"),
        (GaussianClassifier(reject_cost="no"), X, y, "reject_cost is 'no'"),
        (GaussianClassifier(), X.astype(str).astype(object) + "a", y, "could not convert|string"),
        (GaussianClassifier(), X, X[:, 0], "continuous"),
    ]
    for model, rows, labels, words in refused:
        with pytest.raises(ValueError, match=words):
            model.fit(rows, labels)
    with pytest.raises(ValueError, match="zero for every row"):
        GaussianClassifier().fit(X, y, np.zeros(len(X)))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        GaussianClassifier().fit(X, y, -np.ones(len(X)))
    with pytest.raises(NotFittedError):
        GaussianClassifier().predict(X)


def test_forgetting_rows_never_seen_is_refused_and_changes_nothing(rng):
    X, y = clouds(rng)
    model, plain = GaussianClassifier().fit(X, y), GaussianClassifier().fit(X, y)
    with pytest.raises(ValueError, match="rows that were added"):
        model.forget(np.vstack([X, X]), np.append(y, y))
    with pytest.raises(ValueError, match="Forget only rows that were added"):
        model.forget(X[:5] * 100, y[:5])
    with pytest.raises(ValueError, match="would leave none"):
        model.forget(X, y)
    with pytest.raises(ValueError, match="not among the classes"):
        model.forget(X, y + 7)
    assert same(plain, model, X)


def test_moments_must_fit_the_classifier(rng):
    X, y = clouds(rng)
    m = ClassMoments.of(X, y, 3)
    model = GaussianClassifier().fit_moments(m, classes=["a", "b", "c"])
    assert model.predict(X[:1]).dtype.kind == "U"
    with pytest.raises(ValueError, match="moments are for 'shared'"):
        GaussianClassifier("full").fit_moments(m)
    with pytest.raises(ValueError, match="a label of its own"):
        GaussianClassifier().fit_moments(m, classes=["a", "b"])
    with pytest.raises(ValueError, match="no rows"):
        GaussianClassifier().fit_moments(ClassMoments.empty(4, 3))


@pytest.mark.parametrize("size", [1e150, 1e160, 1e200, 1.5e308])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_any_size_go_to_the_class_of_the_nearest(rng, kind, size):
    """As the same direction does at a size whose distances are finite."""
    X, y = clouds(rng)
    model = GaussianClassifier(kind).fit(X, y)
    U = rng.uniform(-1.0, 1.0, (20, 4))
    far, near = model.predict_proba(U * size), model.predict_proba(U * 1e100)
    assert np.array_equal(far, near)
    assert np.array_equal(model.predict(U * size), model.classes_[near.argmax(axis=1)])
    assert not np.isnan(model.decision_function(U * size)).any()


@pytest.mark.parametrize("kind", ["full", "diagonal"])
def test_a_row_too_far_from_every_class_has_no_posterior(rng, kind):
    """1e200, where the columns are of 1e-200: no float64 tells how many deviations that is."""
    X, y = clouds(rng)
    model = GaussianClassifier(kind).fit(1e-200 * X, y)
    far = np.full((1, 4), 1e200)
    assert np.isinf(model.mahalanobis(far)).all()
    for method in (model.predict_proba, model.predict, model.decision_function):
        with pytest.raises(ValueError, match="so far from every class"):
            method(far)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:singular covariance")
def test_digits_lost_to_a_forgotten_outlier_are_told_not_hidden(rng, kind):
    X, y = clouds(rng)
    model = GaussianClassifier(kind).fit(X, y)
    far = 1e15 * np.array([[1.0, 1.0, -1.0, 2.0], [-1.0, 2.0, 1.0, 1.0], [3.0, 1.0, 1.0, 1.0]])
    model.partial_fit(far, [0, 1, 2])
    with pytest.warns(IllConditionedWarning, match="rounding has left no digit of the variance"):
        model.forget(far, [0, 1, 2])
    assert model.certificate_.kind == "unproven"
    assert model.certificate_.evidence["distance_error"] == np.inf
    assert "rounding has left no digit" in model.certificate_.statement


@pytest.mark.parametrize("kind", KINDS)
def test_constant_columns_stay_constant_in_a_stream_that_forgets(rng, kind):
    X, y = clouds(rng)
    X = np.column_stack([X, np.full(len(X), 0.1)])
    half = len(X) // 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GaussianClassifier(kind).partial_fit(X[:half], y[:half], classes=[0, 1, 2])
        model.partial_fit(X[half:], y[half:]).forget(X[:10], y[:10])
    assert model.certificate_.kind == "optimal"
    assert np.all(model.covariance_[..., -1] == 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("unit", [1e-310, 1e-318, 1e307])
def test_units_at_the_ends_of_the_range_cost_no_accuracy(rng, kind, unit):
    X, y = clouds(rng)
    plain = GaussianClassifier(kind).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IllConditionedWarning)
        model = GaussianClassifier(kind).fit(X * unit, y)
    assert np.mean(model.predict(X * unit) == plain.predict(X)) > 0.99


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weight", [1e-304, 1e-300, 1e300])
def test_weights_at_the_ends_of_the_range_are_right_or_unproven(rng, kind, weight):
    X, y = clouds(rng)
    plain = GaussianClassifier(kind).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = GaussianClassifier(kind).fit(X, y, np.full(len(y), weight))
    if model.certificate_.kind == "optimal":
        np.testing.assert_allclose(model.covariance_, plain.covariance_, rtol=1e-6)


def test_a_class_without_rows_is_not_called_optimal(rng):
    X, y = clouds(rng)
    model = GaussianClassifier().partial_fit(X, y, classes=[0, 1, 2, 3])
    assert model.certificate_.kind == "unproven"
    assert "1 have no rows yet" in model.certificate_.statement


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bad_number_is_refused_though_its_column_has_no_weight(rng, K, bad):
    X = rng.standard_normal((90, 3))
    X[:, 2] = 5.0
    model = GaussianClassifier("shared").fit(X, np.arange(90) % K)
    assert not model.coef_[:, 2].any()
    for column in range(3):
        row = X[:2].copy()
        row[1, column] = bad
        for method in (model.predict, model.predict_proba, model.decision_function):
            with pytest.raises(ValueError, match=f"first at row 1, column {column}"):
                method(row)
