"""Weights of rows: from a column, balanced, or refused with a sentence."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.data.tables import row_weights

LABELS = np.array(["a", "b", "b", "b"])


def test_every_class_gets_the_same_weight_in_all():
    found = row_weights(LABELS, np.array([2.0, 1.0, 1.0, 2.0]), "w", True)
    np.testing.assert_allclose(found, [3.0, 0.75, 0.75, 1.5])
    assert row_weights(LABELS, None, None, False) is None
    assert row_weights(LABELS, np.array([1, 0, 2, 3]), "w", False).tolist() == [1.0, 0.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("given", "balanced", "sentence"),
    [
        (np.array(["x"] * 4, dtype=object), False, "the column of weights 'w' holds text such as"),
        (np.array([1.0, -1.0, 1.0, 1.0]), False, "is negative in row 1"),
        (np.array([1.0, 1.0, np.nan, 1.0]), False, "is NaN in row 2"),
        (np.zeros(4), False, "is zero for every row"),
        (np.array([0.0, 1.0, 1.0, 1.0]), True, "the class 'a' has no weight; leave its rows out"),
    ],
)
def test_weights_that_are_none_are_refused(given, balanced, sentence):
    with pytest.raises(ValueError, match=sentence):
        row_weights(LABELS, given, "w", balanced)
