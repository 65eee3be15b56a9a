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


def test_a_row_of_costs_is_a_decision_and_a_column_is_the_truth():
    costs = [[0.0, 100.0], [1.0, 0.0]]  # deciding 0 when 1 is true is the disaster
    assert decisions.expected_costs([[0.9, 0.1]], costs).tolist() == [[10.0, 0.9]]
    assert decisions.decide([[0.9, 0.1]], costs).tolist() == [1]
    assert decisions.decide([[0.9, 0.1]], np.transpose(costs)).tolist() == [0]
    assert decisions.threshold([0.5, 0.5], costs) == 100.0


def test_a_tie_goes_to_the_first_class():
    assert decisions.decide([[0.5, 0.5]], 1 - np.eye(2)).tolist() == [0]


@given(st.lists(st.floats(0.01, 1.0), min_size=3, max_size=3), st.floats(-5, 5), st.floats(0.1, 9))
def test_units_and_fixed_charges_do_not_change_a_decision(weights, charge, unit):
    p = np.array([weights]) / sum(weights)
    c = np.array([[0.0, 3.0, 1.0], [2.0, 0.0, 5.0], [4.0, 1.0, 0.0]])
    R = np.sort(decisions.expected_costs(p, c)[0])
    assume(R[1] - R[0] > 1e-9)
    charged = unit * (c + charge * np.array([1.0, 2.0, 3.0]))  # by the true class only
    assert decisions.decide(p, charged) == decisions.decide(p, c)


def test_reject_where_even_the_best_decision_costs_too_much():
    p = [[0.95, 0.05], [0.8, 0.2], [0.5, 0.5]]
    assert decisions.decide(p, 1 - np.eye(2), reject_cost=0.1).tolist() == [0, -1, -1]


def test_at_exactly_the_reject_cost_a_class_is_decided():
    assert decisions.decide([[0.25, 0.75]], 1 - np.eye(2), reject_cost=0.25).tolist() == [1]


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


def test_the_likelihood_ratio_of_two_impossible_classes_is_refused():
    with pytest.raises(ValueError, match="sample 1 has both densities zero"):
        decisions.log_likelihood_ratio([0.0, -np.inf], [0.0, -np.inf])


def test_average_risk_of_the_lecture():
    p, c = np.array([0.3, 0.7]), np.array([[1.0, 5.0], [4.0, 2.0]])
    P = np.array([[0.9, 0.2], [0.1, 0.8]])
    by_hand = 1.0 * 0.3 * 0.9 + 2.0 * 0.7 * 0.8 + 4.0 * 0.3 * 0.1 + 5.0 * 0.7 * 0.2
    assert decisions.average_risk(P, p, c) == pytest.approx(by_hand, rel=1e-15)


@pytest.mark.parametrize(
    ("priors", "sentence"),
    [
        ([0.5, 0.4], "sum to 0.9; they must sum to one"),
        ([3, 2], "divide them by their sum"),
        ([1.5, -0.5], "not negative"),
        ([np.nan, 1.0], "finite"),
        ([0.2, 0.3, 0.5], "there are 2 classes"),
        (0.5, "there are 2 classes"),
    ],
)
def test_priors_that_are_no_probabilities_are_refused(priors, sentence):
    with pytest.raises(ValueError, match=sentence):
        decisions.checked_priors(priors, 2)


def test_priors_off_by_rounding_are_made_to_sum_to_one():
    assert decisions.checked_priors([0.1] * 10, 10).sum() == pytest.approx(1.0, abs=2e-16)


@pytest.mark.parametrize(
    ("costs", "sentence"),
    [
        ([[0, 1, 1], [1, 0, 1]], r"costs has shape \(2, 3\); 2 classes need \(2, 2\)"),
        ([[0, 1], [1, 0], [0.2, 0.2]], "reject_cost, not a row"),
        ([[0, np.inf], [1, 0]], "finite"),
        ([[1, 0], [0, 1]], "give gains as negative costs"),
        ([[3, 2], [3, 2]], "nothing to decide"),
        ({"no": 1, "yes": 5}, "expected 2 by 2 numbers, costs"),
    ],
)
def test_costs_that_make_no_sense_are_refused(costs, sentence):
    with pytest.raises(ValueError, match=sentence):
        decisions.checked_costs(costs, 2)


def test_gains_are_negative_costs():
    gains = np.eye(2)
    assert decisions.checked_costs(-gains, 2).tolist() == [[-1, 0], [0, -1]]
    assert decisions.threshold([0.5, 0.5], -gains) == 1.0


def test_a_threshold_needs_wrong_to_cost_more_than_right():
    with pytest.raises(ValueError, match="needs c21 > c11 and c12 > c22"):
        decisions.threshold([0.5, 0.5], [[0, 1], [0, 0]])
    assert decisions.threshold([0.0, 1.0]) == np.inf


def test_a_transposed_confusion_matrix_is_noticed():
    with pytest.raises(ValueError, match="Transpose it"):
        decisions.average_risk([[0.9, 0.1], [0.2, 0.8]], [0.5, 0.5], 1 - np.eye(2))
    with pytest.raises(ValueError, match="one row a decision"):
        decisions.average_risk(np.eye(3), [0.5, 0.5], 1 - np.eye(2))


def test_a_reject_cost_is_a_number():
    assert decisions.checked_reject_cost(None) is None
    for bad in (float("nan"), "low"):
        with pytest.raises(ValueError, match="reject_cost is"):
            decisions.checked_reject_cost(bad)


@pytest.mark.parametrize(
    ("log_density", "priors"),
    [
        ([0.0, 0.0], [0.5, 0.5]),
        (np.zeros((1, 0)), []),
        ([[0.0, 0.0]], [0.2, 0.3, 0.5]),
        ([[0.0, 0.0]], 0.5),
        (np.zeros((1, 2, 1)), [[0.5], [0.5]]),
    ],
)
def test_densities_and_priors_of_other_shapes_are_refused(log_density, priors):
    with pytest.raises(ParameterError, match=r"expected \(n, K\), one row a sample"):
        decisions.log_posterior(log_density, priors)


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


def test_priors_within_the_tolerance_are_divided_by_their_sum():
    assert decisions.checked_priors(np.array([0.4, 0.6]) * (1 + 5e-10), 2).sum() == 1.0


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


@pytest.mark.parametrize("costs", [[[0, 1], [2, 1]], [[1, 2], [1, 0]]])
def test_a_threshold_needs_each_wrong_decision_to_cost_strictly_more(costs):
    with pytest.raises(ValueError, match="needs c21 > c11 and c12 > c22"):
        decisions.threshold([0.5, 0.5], costs)


def test_the_first_column_that_is_no_distribution_is_named():
    right, negative, short = [1.0, 0.0], [1.5, -0.5], [0.5, 0.4]
    costs, priors = np.zeros((2, 2)), [0.5, 0.5]
    for wrong in (negative, short):
        with pytest.raises(ValueError, match="column 1 of confusion_probabilities"):
            decisions.average_risk(np.transpose([right, wrong]), priors, costs)
    with pytest.raises(ValueError, match="column 0 of confusion_probabilities"):
        decisions.average_risk(np.transpose([negative, short]), priors, costs)
    for rounded in ([1.0 + 1e-12, -1e-12], [0.5, 0.5 + 5e-7]):
        assert decisions.average_risk(np.transpose([right, rounded]), priors, costs) == 0.0
