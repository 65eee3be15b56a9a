"""Which of scikit-learn's own checks do not hold of an estimator, and why."""

from __future__ import annotations

from typing import Any

_ORDER = (
    "rows are learned one after the other: a weight of 2 is one long step, a row given twice is "
    "two steps, and the check permutes the rows besides."
)


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """The checks of `sklearn.utils.estimator_checks` that cannot hold, each with its reason.

    They are those that want a sample weight to be a number of copies, of learners that take the
    rows in their order (as of scikit-learn's own Perceptron and SGDClassifier). All other learners,
    and `mode="batch"`, pass every check. `check_estimator` and `parametrize_with_checks` take this
    since scikit-learn 1.6.

    Parameters
    ----------
    estimator : estimator
        One of adaline's.

    Examples
    --------
    >>> from adaline import LeastSquares, Perceptron, expected_failed_checks
    >>> sorted(expected_failed_checks(Perceptron()))[0]
    'check_sample_weight_equivalence_on_dense_data'
    >>> expected_failed_checks(LeastSquares())
    {}
    """
    if not getattr(estimator, "_order_matters", False):
        return {}
    kinds = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": _ORDER for kind in kinds}
