"""The Bayes classifier: any densities, least expected cost, and its own risk."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import multivariate_normal, norm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from adaline.errors import IllConditionedWarning
from adaline.estimators.bayes import BayesClassifier

HALVES = [0.5, 0.5]


@pytest.mark.filterwarnings("ignore::adaline.errors.IllConditionedWarning")
def two_clouds(n=200, p=2, seed=0):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(0, 1, (n, p)), rng.normal(2, 1, (n, p))])
    return X, np.repeat(["a", "b"], n)


# Theory: two Gaussians of equal covariance


@pytest.mark.parametrize("d", [0.1, 1.0, 2.0, 6.0, 20.0])
def test_the_error_of_two_unit_gaussians_is_the_normal_tail_of_half_their_distance(d):
    error = BayesClassifier([norm(0, 1), norm(d, 1)], HALVES).error_probability()
    assert (error.method, error.standard_error) == ("closed form", 0.0)
    assert float(error) == pytest.approx(norm.cdf(-d / 2), rel=1e-12)


def test_in_many_dimensions_the_distance_is_mahalanobis():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(6, 6))
    C, m = A @ A.T, rng.normal(size=6)
    bayes = BayesClassifier([multivariate_normal(0 * m, C), multivariate_normal(m, C)], HALVES)
    d = np.sqrt(m @ np.linalg.solve(C, m))
    assert float(bayes.error_probability()) == pytest.approx(norm.cdf(-d / 2), rel=1e-9)


@given(st.floats(0.05, 0.95), st.floats(0.2, 5.0), st.floats(0.1, 10.0))
@settings(max_examples=30, deadline=None)
def test_priors_and_costs_move_the_boundary_as_theory_says(p1, d, dear):
    bayes = BayesClassifier([norm(0, 1), norm(d, 1)], [p1, 1 - p1], [[0, dear], [1, 0]])
    # ln Lambda = d^2/2 - d x = ln xi, with xi = p2 c12 / (p1 c21).
    x = d / 2 - np.log((1 - p1) * dear / p1) / d
    step = 1e-6 * (1 + abs(x))
    assert bayes.predict([x - step, x + step]).tolist() == [0, 1]
    assert abs(bayes.decision_function([x])[0]) < 1e-9 * (1 + abs(x) + d) * (1 + d)
    by_hand = p1 * norm.sf(x) * 1 + (1 - p1) * norm.cdf(x - d) * dear
    assert float(bayes.risk()) == pytest.approx(by_hand, rel=1e-9)


def test_classes_that_coincide_are_all_given_to_the_likelier_one():
    same = [multivariate_normal(np.zeros(3))] * 2
    assert float(BayesClassifier(same, [0.3, 0.7]).error_probability()) == pytest.approx(0.3)
    rejecting = BayesClassifier(same, [0.3, 0.7], reject_cost=0.2)
    assert float(rejecting.risk()) == pytest.approx(0.2)
    assert float(rejecting.error_probability()) == 0.0


# Quadrature


def test_quadrature_on_a_line_equals_the_closed_form():
    class Shifted:
        """A Gaussian that does not say so."""

        def __init__(self, mean):
            self.logpdf, self.cdf, self.sf, self.ppf, self.isf = (
                getattr(norm(mean, 1), name) for name in ("logpdf", "cdf", "sf", "ppf", "isf")
            )

    rule = [0.3, 0.7], [[0, 5], [1, 0]]
    exact = BayesClassifier([norm(0, 1), norm(2, 1)], *rule).risk()
    found = BayesClassifier([Shifted(0), Shifted(2)], *rule).risk()
    assert (exact.method, found.method) == ("closed form", "quadrature")
    assert float(found) == pytest.approx(float(exact), abs=1e-14)


def test_two_boundaries_on_a_line():
    # N(0, 1) against N(0, 2^2): equal where x^2 = (8/3) ln 2.
    error = BayesClassifier([norm(0, 1), norm(0, 2)], HALVES).error_probability()
    x = np.sqrt(8 / 3 * np.log(2))
    assert error.method == "quadrature"
    assert float(error) == pytest.approx(norm.sf(x) + norm.cdf(x / 2) - 0.5, abs=1e-14)


def test_a_circular_boundary_in_the_plane():
    classes = [multivariate_normal([0, 0]), multivariate_normal([0, 0], 4 * np.eye(2))]
    error = BayesClassifier(classes, HALVES).error_probability()
    r2 = 8 / 3 * np.log(4)
    by_hand = 0.5 * np.exp(-r2 / 2) + 0.5 * (1 - np.exp(-r2 / 8))
    assert error.method == "monte carlo"
    assert abs(float(error) - by_hand) < 4 * error.standard_error


def test_four_classes_on_a_square_are_two_independent_questions():
    corners = [multivariate_normal(m) for m in ([0, 0], [3, 0], [0, 3], [3, 3])]
    error = BayesClassifier(corners, [0.25] * 4).error_probability()
    assert abs(float(error) - (1 - norm.cdf(1.5) ** 2)) < 4 * error.standard_error < 0.01


@pytest.mark.parametrize(
    ("classes", "error"),
    [
        ([stats.uniform(0, 2), stats.uniform(1, 2)], 0.25),
        ([stats.uniform(0, 10), stats.uniform(4.3, 0.01)], 0.0005),  # a needle in a haystack
        ([stats.expon(), stats.expon(scale=2)], None),
        ([stats.cauchy(0), stats.cauchy(5)], stats.cauchy.sf(2.5)),
        ([stats.gamma(0.5), stats.expon()], None),  # an infinite density at 0
    ],
)
def test_finite_supports_and_long_tails_on_a_line(classes, error):
    if error is None:
        x = np.geomspace(1e-14, 200, 2_000_001)  # trapezoid in ln x, converged to 1e-8
        least = 0.5 * np.minimum(classes[0].pdf(x), classes[1].pdf(x)) * x
        error = np.trapezoid(least, np.log(x))
    found = BayesClassifier(classes, HALVES).error_probability()
    assert found.method == "quadrature"
    assert float(found) == pytest.approx(error, abs=1e-7)


class Bump:
    """Only the logarithm of a density is known."""

    def __init__(self, centre, width):
        self.centre, self.width = centre, width

    def logpdf(self, x):
        return norm.logpdf(x, self.centre, self.width)


# Monte Carlo


def test_poisson_classes_are_drawn():
    bayes = BayesClassifier([stats.poisson(3), stats.poisson(7)], HALVES)
    k = np.arange(200)
    by_hand = 0.5 * np.minimum(stats.poisson(3).pmf(k), stats.poisson(7).pmf(k)).sum()
    assert bayes.predict([4, 5]).tolist() == [0, 1]
    error = bayes.error_probability()
    assert error.method == "monte carlo"
    assert abs(float(error) - by_hand) < 4 * error.standard_error


@pytest.mark.parametrize("seed", range(3))
def test_monte_carlo_is_within_four_standard_errors_of_the_closed_form(seed):
    class Cloud:
        """A Gaussian that does not say so."""

        def __init__(self, mean):
            self.logpdf = multivariate_normal(mean).logpdf
            self.rvs = multivariate_normal(mean).rvs

    means, rule = (np.zeros(4), np.ones(4)), ([0.3, 0.7], [[0, 3], [1, 0]])
    found = BayesClassifier([Cloud(m) for m in means], *rule).risk(40_000, seed)
    exact = BayesClassifier([multivariate_normal(m) for m in means], *rule).risk()
    assert 0 < found.standard_error < 0.01
    assert abs(float(found) - float(exact)) < 4 * found.standard_error


def test_three_dimensions_use_monte_carlo_and_say_so():
    classes = [multivariate_normal(np.zeros(3)), multivariate_normal(np.ones(3), 2 * np.eye(3))]
    error = BayesClassifier(classes, HALVES).error_probability(draws=20_000, random_state=5)
    assert error.method == "monte carlo"
    assert error == BayesClassifier(classes, HALVES).error_probability(20_000, 5)
    # Class 0 is decided where |x + 1|^2 < c, which is noncentral chi-square in both classes.
    c = 6 + 6 * np.log(2)
    exact = 0.5 * stats.ncx2.sf(c, 3, 3) + 0.5 * stats.ncx2.cdf(c / 2, 3, 6)
    assert abs(float(error) - exact) < 4 * error.standard_error
    assert "monte carlo" in str(error)


# Reject


def test_between_the_classes_the_answer_is_reject():
    bayes = BayesClassifier({10: norm(-1, 1), 20: norm(1, 1)}, HALVES, reject_cost=0.1)
    assert bayes.predict([-5.0, 0.0, 5.0]).tolist() == [10, "reject", 20]
    assert bayes.score([-5.0, 0.0, 5.0], [10, 10, 20]) == pytest.approx(2 / 3)


@pytest.mark.parametrize("p", [1, 2, 5])
def test_the_risk_with_reject_is_that_of_the_projected_classes(p):
    m = np.zeros(p)
    m[0] = 2.0
    classes = [multivariate_normal(np.zeros(p)), multivariate_normal(m)]
    bayes = BayesClassifier(classes, HALVES, reject_cost=0.2)
    # Posterior 0.8 is reached where 2 |x - 1| = ln 4.
    low, high = 1 - np.log(4) / 2, 1 + np.log(4) / 2
    error = norm.sf(high)
    assert float(bayes.error_probability()) == pytest.approx(error, abs=1e-12)
    rejected = norm.cdf(high) - norm.cdf(low)
    assert float(bayes.risk()) == pytest.approx(error + 0.2 * rejected, abs=1e-12)


# Learning


def test_gaussian_learns_mean_covariance_and_priors_by_maximum_likelihood():
    X, y = two_clouds()
    bayes = BayesClassifier().fit(X[:300], y[:300])
    assert bayes.priors_.tolist() == [2 / 3, 1 / 3]
    assert bayes.ridge_.tolist() == [0, 0]
    rows = X[:200]
    f = bayes.densities_["a"]
    C = np.cov(rows.T, bias=True)
    np.testing.assert_allclose(f.covariance, C, 1e-12)
    np.testing.assert_allclose(
        f.logpdf(X), multivariate_normal(rows.mean(axis=0), C).logpdf(X), 1e-10
    )


@pytest.mark.parametrize("recipe", ["gaussian", "kde", lambda X: multivariate_normal(X.mean(0))])
def test_every_recipe_tells_two_clouds_apart(recipe):
    X, y = two_clouds()
    bayes = BayesClassifier(recipe).fit(X, y)
    assert bayes.score(X, y) > 0.88
    assert float(bayes.error_probability(draws=2000)) == pytest.approx(
        norm.cdf(-(2**0.5)), abs=0.04
    )


def test_predictions_do_not_depend_on_the_units_of_the_columns():
    X, y = two_clouds(p=3)
    units = np.array([1e-150, 1.0, 1e150])
    bayes, scaled = BayesClassifier().fit(X, y), BayesClassifier().fit(X * units, y)
    np.testing.assert_allclose(scaled.predict_proba(X * units), bayes.predict_proba(X), 1e-9)


def test_two_distant_narrow_classes_keep_their_own_spread():
    X, y = two_clouds(p=1)
    X = X + np.where(y == "b", 1e7, 0)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bayes = BayesClassifier().fit(X, y)
    assert bayes.ridge_.tolist() == [0, 0]


def test_a_constant_column_changes_nothing_and_is_told():
    X, y = two_clouds()
    with pytest.warns(IllConditionedWarning, match=r"2 of 2 classes have a singular covariance"):
        bayes = BayesClassifier().fit(np.column_stack([X, np.full(len(X), 0.1)]), y)
    assert np.all(bayes.ridge_ > 0)
    same = bayes.predict_proba(np.column_stack([X, np.full(len(X), 0.1)]))
    np.testing.assert_allclose(same, BayesClassifier().fit(X, y).predict_proba(X), atol=1e-6)


def test_a_class_with_one_member_is_a_peak_with_a_warning():
    X, y = two_clouds(n=10)
    y = y.astype("<U6")
    y[0] = "single"
    with pytest.warns(IllConditionedWarning, match=r"first class 'single' \(1 rows, 2 columns\)"):
        bayes = BayesClassifier().fit(X, y)
    assert bayes.predict(X)[0] == "single"
    assert bayes.ridge_.tolist()[:2] == [0, 0]
    assert bayes.ridge_[2] == pytest.approx(1.5e-8, rel=0.01)


def test_three_classes_score_by_minus_their_expected_costs():
    X = np.random.default_rng(0).normal(size=(90, 2)) + np.repeat([[0], [2], [4]], 30, axis=0)
    y = np.repeat([3, 1, 2], 30)
    bayes = BayesClassifier(costs=[[0, 1, 9], [1, 0, 1], [1, 1, 0]]).fit(X, y)
    v = bayes.decision_function(X)
    assert v.shape == (90, 3)
    np.testing.assert_array_equal(bayes.classes_[v.argmax(axis=1)], bayes.predict(X))


@given(st.integers(0, 1000), st.floats(0.1, 10.0))
@settings(max_examples=20, deadline=None)
def test_for_two_classes_predict_is_the_sign_of_the_decision_function(seed, dear):
    X, y = two_clouds(n=20, seed=seed)
    bayes = BayesClassifier(costs=[[0, dear], [1, 0]]).fit(X, y)
    positive = bayes.decision_function(X) > 0
    np.testing.assert_array_equal(bayes.predict(X), bayes.classes_[positive.astype(int)])


# Fixed densities


def test_fixed_densities_and_priors_need_no_fit_and_survive_clone():
    bayes = clone(BayesClassifier({"low": norm(0, 1), "high": norm(4, 1)}, HALVES))
    assert bayes.predict([0.0, 4.0]).tolist() == ["low", "high"]
    assert bayes.classes_.tolist() == ["low", "high"]
    np.testing.assert_array_equal(bayes.predict_proba([1.0]), bayes.predict_proba([[1.0]]))


def test_a_data_frame_goes_into_fixed_densities_without_a_warning():
    bayes = BayesClassifier([norm(0), norm(2)], HALVES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bayes.predict(pd.DataFrame({"x": [0.0, 3.0]})).tolist() == [0, 1]


def test_priors_may_be_given_by_label():
    by_label = BayesClassifier({"z": norm(0), "a": norm(1)}, {"a": 0.9, "z": 0.1})
    assert by_label.priors_.tolist() == [0.1, 0.9]


def test_without_priors_fixed_densities_ask_for_a_fit():
    bayes = BayesClassifier([norm(0), norm(1)])
    with pytest.raises(NotFittedError, match="give fixed densities and priors"):
        bayes.predict([0.0])
    assert bayes.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 1]).priors_.tolist() == [0.25, 0.75]


def test_labels_of_mixed_types_keep_their_types():
    bayes = BayesClassifier({"none": norm(0), 1: norm(9)}, HALVES)
    assert bayes.predict([0.0, 9.0]).tolist() == ["none", 1]


def test_evidence_is_the_mixture_density():
    bayes = BayesClassifier([norm(0, 1), norm(3, 2)], [0.2, 0.8])
    x = np.array([-1.0, 0.5, 3.0])
    np.testing.assert_allclose(
        bayes.evidence(x), 0.2 * norm.pdf(x) + 0.8 * norm.pdf(x, 3, 2), 1e-13
    )


# Bad input


def fails(error, sentence, action):
    with pytest.raises(error, match=sentence):
        action()


def test_densities_that_are_none_are_refused():
    X, y = two_clouds(n=5)
    two = [multivariate_normal([0, 0]), multivariate_normal([1, 1])]
    table = {"x": 0.5, "y": 0.5}
    for error, sentence, densities in [
        (ValueError, "names known are 'gaussian' and 'kde'", "normal"),
        (TypeError, "one density", norm(0, 1)),
        (TypeError, "one density", stats.gaussian_kde),
        (TypeError, "densities is 3", 3),
        (TypeError, "neither logpdf nor logpmf", ["norm", "norm"]),
        (TypeError, "neither logpdf nor logpmf", lambda X: X),
        (ValueError, "only 1 class", [norm(0, 1)]),
        (ValueError, "X has 2 features and the density of class 0 has 1", [norm(0), norm(1)]),
        (ValueError, "gave shape", [Bump(0, 1), Bump(1, 1)]),
        (ValueError, "cannot be compared", [norm(0, 1), stats.poisson(3)]),
        (ValueError, "some classes have a table", [table, norm(0, 1)]),
        (ValueError, r"without a density; known are \[0, 1\]", two),
    ]:
        fails(error, sentence, lambda d=densities: BayesClassifier(d).fit(X, y))


def test_tables_that_are_no_probabilities_are_refused():
    for table in ({"x": 6, "y": 2}, {"x": 1.5, "y": -0.5}, {"x": 0.5}):
        fails(ValueError, "from_counts", lambda t=table: BayesClassifier([t, t], HALVES).risk())
    fails(ValueError, "no counts", lambda: BayesClassifier.from_counts({"a": {"x": 0}}))


def test_symbols_no_table_knows_are_refused():
    bayes = BayesClassifier([{"x": 1.0}, {"x": 0.5, "y": 0.5}], HALVES)
    assert bayes.predict_proba(["y"]).tolist() == [[0.0, 1.0]]
    sentence = r"symbol 'pear' in row 1 is in no table; the symbols known are \['x', 'y'\]"
    fails(ValueError, sentence, lambda: bayes.predict(["x", "pear"]))
    fails(ValueError, "one column", lambda: bayes.predict([["x", "y"]]))
    fails(ValueError, "at least one symbol", lambda: bayes.predict([]))
    fails(ValueError, "2 rows and y has 1", lambda: bayes.fit(["x", "y"], [0]))


def test_priors_and_costs_are_checked_in_fit():
    X, y = two_clouds(n=5)
    for sentence, parameters in [
        ("must sum to one", {"priors": [0.5, 0.6]}),
        ("there are 2 classes", {"priors": [0.2, 0.3, 0.5]}),
        (r"priors are for \['a', 'c'\]", {"priors": {"a": 0.5, "c": 0.5}}),
        (r"costs has shape \(3, 3\)", {"costs": np.ones((3, 3))}),
        ("gains as", {"costs": np.eye(2)}),
        ("reject_cost is nan", {"reject_cost": np.nan}),
    ]:
        fails(ValueError, sentence, lambda p=parameters: BayesClassifier(**p).fit(X, y))


def test_numbers_that_are_none_are_named_by_row_and_column():
    X, y = two_clouds(n=5)
    bayes = BayesClassifier().fit(X, y)
    X[3, 1] = np.nan
    fails(ValueError, "NaN.*row 3, column 1", lambda: BayesClassifier().fit(X, y))
    fails(ValueError, "NaN.*row 3, column 1", lambda: bayes.predict(X))


def test_too_little_data_is_refused():
    X, y = two_clouds(n=5)
    fails(ValueError, "only 1 class", lambda: BayesClassifier().fit(X[:5], y[:5]))
    fails(ValueError, "0 sample", lambda: BayesClassifier().fit(X[:0], y[:0]))
    fails(
        ValueError,
        "no kernel density for class 'b'",
        lambda: BayesClassifier("kde").fit(X[:6], y[:6]),
    )


def test_a_sample_outside_every_support_is_refused():
    bayes = BayesClassifier([stats.uniform(0, 1), stats.uniform(2, 1)], HALVES)
    assert bayes.evidence([1.5]).tolist() == [0.0]
    fails(ValueError, "sample 1 has density zero", lambda: bayes.predict([0.5, 1.5]))


def test_monte_carlo_needs_a_density_that_draws():
    class Cloud:
        def logpdf(self, X):
            return multivariate_normal(np.zeros(3)).logpdf(X)

        dim = 3

    fails(ValueError, "cannot draw", lambda: BayesClassifier([Cloud(), Cloud()], HALVES).risk())
