"""The contract: scikit-learn's own checks on the learners that correct their errors."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from adaline.estimators.adaline import Adaline
from adaline.estimators.perceptron import Perceptron
from adaline.estimators.sigmoid_perceptron import SigmoidPerceptron
from adaline.estimators.widrow_hoff import WidrowHoff

ESTIMATORS = [
    Perceptron(),
    Perceptron(mode="batch", keep="pocket"),
    Perceptron(multiclass="ovr", keep="average", shuffle=True),
    WidrowHoff(),
    WidrowHoff(mode="batch"),
    WidrowHoff(eta=0.01),
    Adaline(),
    Adaline(mode="batch"),
    SigmoidPerceptron(),
    SigmoidPerceptron(phi="logistic", mode="batch"),
]
_ORDER = "one sample at a time, a weight of 2 is one long step and a repeated row two short ones"


def expected(estimator):
    if estimator.mode == "batch":
        return {}
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": _ORDER for kind in ("dense", "sparse")
    }


@pytest.mark.filterwarnings("ignore::UserWarning")  # the checks' data overlap, and passes are few
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected)
def test_scikit_learn_s_own_checks_pass(estimator, check):
    check(estimator)
