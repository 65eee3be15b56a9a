"""--threshold, --costs and --weights: what they become, and what is refused."""

from __future__ import annotations

import pytest

import adaline
from adaline.cli.learning.weights_and_costs import check_learner, costs_for
from adaline.cli.printing.errors import Usage

CLASSES = ["no", "yes"]


@pytest.mark.parametrize(
    ("threshold", "costs", "expected"),
    [
        (None, None, None),
        (0.25, None, [[0.0, 0.75], [0.25, 0.0]]),
        (None, "yes=5", [[0.0, 5.0], [1.0, 0.0]]),
        (None, " yes = 5 , no = 2", [[0.0, 5.0], [2.0, 0.0]]),
    ],
)
def test_costs_of_deciding(threshold, costs, expected):
    assert costs_for(CLASSES, threshold, costs) == expected


@pytest.mark.parametrize(
    ("classes", "threshold", "costs", "sentence"),
    [
        (["a", "b", "c"], 0.5, None, "--threshold is for two classes, and there are 3"),
        (CLASSES, None, "5", "expected label=cost, such as"),
        (CLASSES, None, "yess=5", "there is no class 'yess'; did you mean 'yes'"),
        (CLASSES, None, "yes=many", "'many' is no number"),
        (CLASSES, None, "yes=0", "an error costs more than 0"),
        (CLASSES, None, "yes=inf", "an error costs more than 0"),
    ],
)
def test_costs_that_are_none_are_refused(classes, threshold, costs, sentence):
    with pytest.raises(Usage, match=sentence):
        costs_for(classes, threshold, costs)


def test_learners_that_take_no_weights_or_costs_are_told_before_learning():
    check_learner(adaline.LogisticRegression, True, True)
    with pytest.raises(Usage, match="perceptron tells no probabilities"):
        check_learner(adaline.Perceptron, False, True)

    class Plain(adaline.Perceptron):
        _command = "plain"

        def fit(self, X, y):
            return self

    with pytest.raises(Usage, match="plain takes no weights of rows"):
        check_learner(Plain, True, False)
