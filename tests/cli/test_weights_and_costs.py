"""--threshold, --costs and --weights: what they become, and what is refused."""

from __future__ import annotations

import pytest

from adaline.cli.errors import UsageError
from adaline.cli.learners import cost_matrix

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
    assert cost_matrix(CLASSES, threshold, costs) == expected


@pytest.mark.parametrize(
    ("classes", "threshold", "costs", "sentence"),
    [
        (["a", "b", "c"], 0.5, None, "--threshold is for two classes, and there are 3"),
        (CLASSES, None, "5", "expected label=cost"),
        (CLASSES, None, "yess=5", "did you mean 'yes'"),
        (CLASSES, None, "yes=many", "expected label=cost"),
        (CLASSES, None, "yes=0", "costs above 0"),
        (CLASSES, None, "yes=inf", "costs above 0"),
    ],
)
def test_costs_that_are_none_are_refused(classes, threshold, costs, sentence):
    with pytest.raises(UsageError, match=sentence):
        cost_matrix(classes, threshold, costs)


def test_learners_without_probabilities_refuse_costs_before_learning(command, pumps):
    told = command("fit", pumps, "-t", "failed", "-m", "perceptron", "--threshold", "0.3")
    assert told.code == 2
    assert "perceptron has no probabilities" in told.err
