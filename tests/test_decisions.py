"""Bayes' theorem, costs, thresholds and reject."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from adaline import decisions
from adaline.parameters import ParameterError

cost = st.floats(-10.0, 10.0)
gap = st.floats(0.01, 10.0)
prior = st.floats(0.01, 0.99)


@given(prior, cost, gap, cost, gap, st.floats(-20.0, 20.0))
def test_the_lectures_threshold_is_the_least_expected_cost(p1, c11, extra1, c22, extra2, log_ratio):
    c = np.array([[c11, c22 + extra2], [c11 + extra1, c22]])
    assume(c[1, 0] > c[0, 0] and c[0, 1] > c[1, 1])
    xi = decisions.threshold([p1, 1 - p1], c)
    # At a tie the lecture takes class 2 and argmin the first; rounding blurs it by about 1e-12.
    assume(abs(log_ratio - np.log(xi)) > 1e-9)
    log_f = np.array([[log_ratio, 0.0]])
    posterior = decisions.posterior(log_f, [p1, 1 - p1])
    lecture = 0 if decisions.likelihood_ratio(log_f[:, 0], log_f[:, 1])[0] > xi else 1
    R = decisions.expected_costs(posterior, c)[0]
    assume(abs(R[0] - R[1]) > 1e-13 * np.abs(c).max())
    assert decisions.decide(posterior, c)[0] == lecture


def test_reject_where_even_the_best_decision_costs_too_much():
    p = [[0.95, 0.05], [0.8, 0.2], [0.5, 0.5]]
    assert decisions.decide(p, 1 - np.eye(2), reject_cost=0.1).tolist() == [0, -1, -1]


def test_with_reject_the_labels_are_objects_even_if_none_is_rejected():
    classes = np.array([10, 20])
    assert decisions.labels_of(np.array([1, 0]), classes).dtype == classes.dtype
    labels = decisions.labels_of(np.array([1, 0]), classes, "reject")
    assert (labels.dtype, labels.tolist()) == (object, [20, 10])
    assert decisions.labels_of(np.array([-1]), classes, "reject").tolist() == ["reject"]


def test_a_class_called_reject_is_refused():
    with pytest.raises(ValueError, match="a class is called 'reject'"):
        decisions.labels_of(np.array([0]), np.array(["accept", "reject"]), "reject")


def test_posteriors_survive_densities_too_small_for_a_float():
    log_f = [[-5000.0, -5001.0], [-1e9, -1e9]]
    p = decisions.posterior(log_f, [0.5, 0.5])
    np.testing.assert_allclose(p[0, 0], 1 / (1 + np.exp(-1)), 1e-14)
    np.testing.assert_allclose(p[1], 0.5, 1e-14)
    assert decisions.log_posterior([[0.0, -2000.0]], [0.5, 0.5])[0, 1] == -2000.0


def test_a_class_of_zero_prior_is_never_decided():
    p = decisions.posterior([[10.0, -10.0], [np.inf, -1.0]], [0.0, 1.0])
    assert p.tolist() == [[0.0, 1.0], [0.0, 1.0]]


def test_an_infinite_density_wins_and_two_are_refused():
    assert decisions.posterior([[np.inf, 3.0]], [0.5, 0.5]).tolist() == [[1.0, 0.0]]
    with pytest.raises(ValueError, match="sample 0 has infinite density in two classes"):
        decisions.posterior([[np.inf, np.inf]], [0.5, 0.5])


def test_a_sample_no_class_can_produce_has_no_posterior():
    log_f = [[0.0, 0.0], [-np.inf, -np.inf]]
    with pytest.raises(ValueError, match="sample 1 has density zero in every class"):
        decisions.posterior(log_f, [0.5, 0.5])
    with pytest.raises(ValueError, match="sample 0 has density zero in every class"):
        decisions.posterior([[0.0, -np.inf]], [0.0, 1.0])
    with pytest.raises(ValueError, match="sample 1 has a log-density that is not a number"):
        decisions.posterior([[0.0, 0.0], [np.nan, 0.0]], [0.5, 0.5])


def test_the_likelihood_ratio_is_infinite_where_one_class_is_impossible():
    assert decisions.likelihood_ratio([0.0, -np.inf], [-np.inf, 0.0]).tolist() == [np.inf, 0.0]
    assert decisions.likelihood_ratio([1000.0], [0.0]).tolist() == [np.inf]
    assert decisions.log_likelihood_ratio([1000.0], [0.0]).tolist() == [1000.0]


@pytest.mark.parametrize(
    ("check", "value", "sentence"),
    [
        ("priors", [0.5, 0.4], "sum to 0.9; they must sum to one"),
        ("priors", [3, 2], "divide them by their sum"),
        ("priors", [1.5, -0.5], "not negative"),
        ("priors", [np.nan, 1.0], "finite"),
        ("priors", [0.2, 0.3, 0.5], "expected K = 2"),
        ("priors", 0.5, "expected K = 2"),
        ("costs", [[0, 1, 1], [1, 0, 1]], r"costs has shape \(2, 3\); 2 classes need \(2, 2\)"),
        ("costs", [[0, 1], [1, 0], [0.2, 0.2]], "reject_cost, not a row"),
        ("costs", [[0, np.inf], [1, 0]], "finite"),
        ("costs", [[1, 0], [0, 1]], "give gains as negative costs"),
        ("costs", [[3, 2], [3, 2]], "nothing to decide"),
        ("costs", {"no": 1, "yes": 5}, "expected 2 by 2 numbers"),
    ],
)
def test_priors_and_costs_that_make_no_sense_are_refused(check, value, sentence):
    with pytest.raises(ValueError, match=sentence):
        getattr(decisions, f"checked_{check}")(value, 2)


def test_priors_off_by_rounding_are_made_to_sum_to_one():
    assert decisions.checked_priors([0.1] * 10, 10).sum() == pytest.approx(1.0, abs=2e-16)


def test_gains_are_negative_costs():
    gains = np.eye(2)
    assert decisions.checked_costs(-gains, 2).tolist() == [[-1, 0], [0, -1]]
    assert decisions.threshold([0.5, 0.5], -gains) == 1.0


def test_a_reject_cost_is_a_number():
    assert decisions.checked_reject_cost(None) is None
    for bad in (float("nan"), "low"):
        with pytest.raises(ValueError, match="reject_cost is"):
            decisions.checked_reject_cost(bad)


@pytest.mark.parametrize(
    ("posterior", "costs", "sentence"),
    [
        ([[0.5, 0.5]], [0.0, 1.0], "costs has shape"),
        ([[0.5, 0.5]], np.zeros((0, 2)), "costs has shape"),
        ([0.5, 0.5], np.eye(2), "posterior has shape"),
        ([[0.2, 0.3, 0.5]], np.eye(2), "posterior has shape"),
        ([[-2e-4, 1.0]], np.eye(2), "negative, or sum to more than one"),
        ([[0.5, 0.5], [0.5, 0.5002]], np.eye(2), "negative, or sum to more than one"),
    ],
)
def test_posteriors_and_costs_that_do_not_fit_are_refused(posterior, costs, sentence):
    with pytest.raises(ParameterError, match=sentence):
        decisions.expected_costs(posterior, costs)


def test_posteriors_may_miss_their_sum_by_the_rounding_of_float32():
    for row in ([-1e-4, 1.0], [1.0 + 1e-4, 0.0]):
        assert decisions.expected_costs([row], np.eye(2)).tolist() == [row]


def test_one_class_has_a_prior_and_nothing_to_decide():
    assert decisions.checked_priors([1.0], 1).tolist() == [1.0]
    assert decisions.checked_costs(None, 1).tolist() == [[0.0]]
    with pytest.raises(ValueError, match="nothing to decide"):
        decisions.checked_costs([[3.0]], 1)
    for K in (0, -1, 1.5, "two"):
        with pytest.raises(ParameterError, match="the number of classes, 1 or more"):
            decisions.checked_costs(None, K)


def test_the_dearest_decision_of_a_class_may_not_be_the_right_one_alone():
    # When class 2 is true, deciding 2 costs 2 and all else 1; deciding 2 wrongly costs 9.
    with pytest.raises(ValueError, match="when class 2 is true, deciding 2 costs 2 and"):
        decisions.checked_costs([[0, 1, 1], [1, 0, 1], [9, 9, 2]], 3)
    as_dear = [[1.0, 0.5], [1.0, 0.0]]
    assert decisions.checked_costs(as_dear, 2).tolist() == as_dear


@pytest.mark.parametrize("costs", [[[0, 1], [0, 0]], [[0, 1], [2, 1]], [[1, 2], [1, 0]]])
def test_a_threshold_needs_each_wrong_decision_to_cost_strictly_more(costs):
    with pytest.raises(ValueError, match="needs c21 > c11 and c12 > c22"):
        decisions.threshold([0.5, 0.5], costs)
    assert decisions.threshold([0.0, 1.0]) == np.inf
