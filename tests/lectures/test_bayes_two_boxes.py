"""Lecture 004: a red box of 6 oranges and 2 apples, a blue one of 1 orange and 3 apples."""

from fractions import Fraction

import numpy as np
import pytest

from adaline.estimators.bayes import BayesClassifier

PRIORS = {"red": Fraction(4, 10), "blue": Fraction(6, 10)}
BOXES = {
    "red": {"orange": Fraction(3, 4), "apple": Fraction(1, 4)},
    "blue": {"orange": Fraction(1, 4), "apple": Fraction(3, 4)},
}
COUNTS = {"red": {"orange": 6, "apple": 2}, "blue": {"orange": 1, "apple": 3}}

# Logarithm, exponential and a division: a few units in the last place.
ROUNDING = 1e-15


@pytest.fixture(params=["fractions", "counts"])
def boxes(request):
    if request.param == "fractions":
        return BayesClassifier(BOXES, priors=PRIORS)
    return BayesClassifier.from_counts(COUNTS, priors=[0.4, 0.6])


def test_an_apple_is_picked_eleven_times_in_twenty(boxes):
    np.testing.assert_allclose(boxes.evidence(["apple", "orange"]), [11 / 20, 9 / 20], ROUNDING)


def test_an_orange_comes_from_the_blue_box_once_in_three(boxes):
    assert boxes.classes_.tolist() == ["red", "blue"]
    np.testing.assert_allclose(boxes.predict_proba(["orange"]), [[2 / 3, 1 / 3]], ROUNDING)


def test_the_posteriors_equal_exact_arithmetic(boxes):
    for fruit in ("orange", "apple"):
        joint = [BOXES[box][fruit] * PRIORS[box] for box in ("red", "blue")]
        exact = [float(p / sum(joint)) for p in joint]
        np.testing.assert_allclose(boxes.predict_proba([fruit])[0], exact, 4 * ROUNDING)


def test_an_orange_is_guessed_red_and_an_apple_blue(boxes):
    assert boxes.predict(["orange", "apple"]).tolist() == ["red", "blue"]


def test_the_guess_is_wrong_one_time_in_four(boxes):
    # Wrong on an orange of the blue box, 6/10 * 1/4, and an apple of the red, 4/10 * 1/4.
    error = boxes.error_probability()
    assert (error.method, error.standard_error) == ("sum", 0.0)
    assert float(error) == pytest.approx(1 / 4, rel=ROUNDING)
    assert float(boxes.risk()) == pytest.approx(1 / 4, rel=ROUNDING)


def test_with_costs_the_lectures_threshold_decides():
    # Lambda(orange) = 3 and xi = 0.6 * c12 / (0.4 * c21): the orange is blue when c12 > 2 c21.
    for c12, guess in ((1.9, "red"), (2.1, "blue")):
        boxes = BayesClassifier(BOXES, priors=PRIORS, costs=[[0, c12], [1, 0]])
        assert boxes.predict(["orange"]).tolist() == [guess]


def test_the_priors_are_learned_from_labels_when_not_given():
    fruit = np.array([["orange"], ["apple"], ["apple"], ["apple"], ["orange"]])
    boxes = BayesClassifier(BOXES).fit(fruit, ["red", "red", "blue", "blue", "blue"])
    assert boxes.priors_.tolist() == [0.4, 0.6]
    np.testing.assert_allclose(boxes.predict_proba(["orange"]), [[2 / 3, 1 / 3]], ROUNDING)
