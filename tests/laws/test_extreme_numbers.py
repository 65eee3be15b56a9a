"""Whatever the units, offsets and weights: a result, or an error of ours; nobody else's escapes.

`make fuzz` runs the same search for longer, from a new seed each time.
"""

from __future__ import annotations

import traceback
import warnings

import numpy as np
import pytest

import adaline
from bad_values import is_obscure
from search import search

LEARNERS = {
    "LeastSquares": adaline.LeastSquares,
    "Ridge": adaline.Ridge,
    "Polynomial": adaline.PolynomialLeastSquares,
    "LeastSquaresClassifier": adaline.LeastSquaresClassifier,
    "Gaussian": adaline.GaussianClassifier,
    "full Gaussian": lambda: adaline.GaussianClassifier(covariance="full"),
    "Perceptron": lambda: adaline.Perceptron(max_iter=5),
    "Adaline": lambda: adaline.Adaline(max_iter=5),
    "WidrowHoff": lambda: adaline.WidrowHoff(max_iter=5),
    "SigmoidPerceptron": lambda: adaline.SigmoidPerceptron(max_iter=5),
    "LogisticRegression": lambda: adaline.LogisticRegression(max_iter=20),
    "likelihood": lambda: adaline.LogisticRegression(alpha=0, max_iter=20),
    "HoKashyap": lambda: adaline.HoKashyap(max_iter=20),
    "HoKashyap without a bias": lambda: adaline.HoKashyap(max_iter=20, fit_intercept=False),
    "KernelPerceptron": lambda: adaline.KernelPerceptron(max_iter=5),
}


def problem(rng):
    """Few rows: timestamps, constant columns, units from 1e-300 to 1e290, weights likewise."""
    n, p = int(rng.integers(2, 12)), int(rng.integers(1, 5))
    X = rng.standard_normal((n, p)) * 10.0 ** rng.integers(-3, 4, p)
    if rng.integers(2):
        X = 1.7e9 + np.round(X * 10.0 ** rng.integers(0, 5))
    if rng.integers(3) == 0:
        X[:, rng.integers(p)] = 1.7e9 + rng.random()
    if rng.integers(3) == 0:
        X *= 10.0 ** rng.choice([-300, -150, 150, 290])
    y = np.append([0, 1], rng.integers(0, 2, n - 2))
    weights = [None, np.ones(n), 10.0 ** rng.integers(-300, 300, n), np.full(n, 1e300)]
    return X, y, weights[rng.integers(4)]


def escaped(seed, names=tuple(LEARNERS)):
    """What escaped from a learner: "" or who raised what, and where."""
    rng = np.random.default_rng(seed)
    X, y, omega = problem(rng)
    name = names[seed % len(names)]
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            LEARNERS[name]().fit(X, y, sample_weight=omega).predict(X)
    except (ValueError, TypeError) as error:
        if not isinstance(error, np.linalg.LinAlgError) and not is_obscure(error):
            return ""
        return f"seed {seed}, {name}: {error!r} {traceback.extract_tb(error.__traceback__)[-1]}"
    except Exception as error:
        return f"seed {seed}, {name}: {error!r} {traceback.extract_tb(error.__traceback__)[-1]}"
    return ""


@pytest.mark.parametrize("name", LEARNERS)
def test_no_error_of_the_algebra_below_escapes(name):
    found = [escaped(seed, (name,)) for seed in range(60)]
    assert not [complaint for complaint in found if complaint][:3]


@pytest.mark.parametrize("intercept", [True, False])
def test_ho_kashyap_learns_from_timestamps(intercept):
    X = 1.7e9 + np.array([[0.0], [60.0], [120.0], [180.0]])
    model = adaline.HoKashyap(fit_intercept=intercept).fit(X, [0, 0, 1, 1])
    assert model.certificate_.kind == ("separable" if intercept else "overlapping")


@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_ho_kashyap_takes_columns_that_move_by_rounding_only():
    X = np.full((5, 2), 1.7e9)
    X[3, 1] = np.nextafter(1.7e9, np.inf)
    omega = [1e130, 1e-65, 1e-254, 1.0, 1e88]
    model = adaline.HoKashyap(max_iter=5).fit(X, [0, 1, 0, 1, 0], sample_weight=omega)
    assert np.isfinite(model.coef_).all()


def test_a_common_factor_of_the_weights_changes_nothing_for_ho_kashyap(rng):
    X, y = rng.standard_normal((20, 3)), np.arange(20) % 2
    omega = rng.random(20) + 0.1
    one = adaline.HoKashyap(max_iter=50).fit(X, y, sample_weight=omega)
    other = adaline.HoKashyap(max_iter=50).fit(X, y, sample_weight=np.ldexp(omega, 900))
    assert np.array_equal(one.coef_, other.coef_)


def test_ridge_takes_columns_of_which_one_alone_has_a_curvature():
    model = adaline.Ridge(1e-3).fit([[1e-80, 1e80], [1e-80, 1e80]], [1.0, 2.0])
    assert model.certificate_.kind == "unproven"


@pytest.mark.parametrize("targets", [1, 2, 40])
def test_a_zero_to_rounding_is_measured_by_what_a_penalty_leaves_of_a_weight(rng, targets):
    """The penalty makes weights of columns of 1e-70 less than 1e-60; they were told as 1e16."""
    X = np.c_[rng.standard_normal(6) * 1e97, rng.standard_normal(6) * 1e-70]
    Y = rng.standard_normal((6, targets))
    model = adaline.Ridge(1e-3).fit(X, Y[:, 0] if targets == 1 else Y)
    small = np.abs(np.atleast_2d(model.coef_)[:, 1])
    assert model.certificate_.kind == "unproven" or np.all(small < 1e-60)


def test_a_loss_of_wide_rows_with_a_tiny_penalty_is_bounded_without_an_overflow(rng, tmp_path):
    rows = [f"{i % 2} 1:{x!r}" for i, x in enumerate((1e10 * rng.standard_normal(8)).tolist())]
    (tmp_path / "rows.svm").write_text("\n".join(rows) + "\n")
    model = adaline.LogisticRegression(alpha=1e-300)
    rows = adaline.data.blocks(tmp_path / "rows.svm", n_features=2001)
    adaline.data.fit(model, rows, "y")
    assert model.certificate_.kind in ("optimal", "unproven")


if __name__ == "__main__":
    search(lambda _, seed: not escaped(seed), ["extremes"])
