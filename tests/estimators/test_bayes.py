"""The Bayes classifier: any densities, least expected cost, and its own risk."""

import numpy as np
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


def test_a_circular_boundary_in_the_plane():
    classes = [multivariate_normal([0, 0]), multivariate_normal([0, 0], 4 * np.eye(2))]
    error = BayesClassifier(classes, HALVES).error_probability()
    r2 = 8 / 3 * np.log(4)
    by_hand = 0.5 * np.exp(-r2 / 2) + 0.5 * (1 - np.exp(-r2 / 8))
    assert error.method == "monte carlo"
    assert abs(float(error) - by_hand) < 4 * error.standard_error


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


# Reject


def test_the_risk_with_reject_on_a_line():
    bayes = BayesClassifier([norm(0), norm(2)], HALVES, reject_cost=0.2)
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


def test_a_constant_column_changes_nothing_and_is_told():
    X, y = two_clouds()
    with pytest.warns(IllConditionedWarning, match=r"2 of 2 classes have a singular covariance"):
        bayes = BayesClassifier().fit(np.column_stack([X, np.full(len(X), 0.1)]), y)
    assert np.all(bayes.ridge_ > 0)
    same = bayes.predict_proba(np.column_stack([X, np.full(len(X), 0.1)]))
    np.testing.assert_allclose(same, BayesClassifier().fit(X, y).predict_proba(X), atol=1e-6)


# Fixed densities


def test_fixed_densities_and_priors_need_no_fit_and_survive_clone():
    bayes = clone(BayesClassifier({"low": norm(0, 1), "high": norm(4, 1)}, HALVES))
    assert bayes.predict([0.0, 4.0]).tolist() == ["low", "high"]
    assert bayes.classes_.tolist() == ["low", "high"]
    np.testing.assert_array_equal(bayes.predict_proba([1.0]), bayes.predict_proba([[1.0]]))


def test_without_priors_fixed_densities_ask_for_a_fit():
    bayes = BayesClassifier([norm(0), norm(1)])
    with pytest.raises(NotFittedError, match="give fixed densities and priors"):
        bayes.predict([0.0])
    assert bayes.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 1]).priors_.tolist() == [0.25, 0.75]


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
        (TypeError, "each class needs its own", norm(0, 1)),
        (TypeError, "densities is 3", 3),
        (TypeError, "neither logpdf nor logpmf", ["norm", "norm"]),
        (TypeError, "neither logpdf nor logpmf", lambda X: X),
        (ValueError, "give at least two", [norm(0, 1)]),
        (ValueError, "1 rows of 2 features", [norm(0), norm(1)]),
        (ValueError, "gave shape", [Bump(0, 1), Bump(1, 1)]),
        (ValueError, "cannot be compared", [norm(0, 1), stats.poisson(3)]),
        (TypeError, "neither logpdf nor logpmf", [table, norm(0, 1)]),
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
    fails(ValueError, "one column", lambda: bayes.predict([]))
    fails(ValueError, "2 rows and y has 1", lambda: bayes.fit(["x", "y"], [0]))


def test_monte_carlo_needs_a_density_that_draws():
    class Cloud:
        def logpdf(self, X):
            return multivariate_normal(np.zeros(3)).logpdf(X)

        dim = 3

    fails(ValueError, "cannot draw", lambda: BayesClassifier([Cloud(), Cloud()], HALVES).risk())
