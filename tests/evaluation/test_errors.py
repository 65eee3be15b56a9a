"""Numbers against predictions: each measure by hand, and the words that go with it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from adaline.evaluation import _errors
from adaline.evaluation.intervals import of_ratio
from adaline.evaluation.quality import Errors


def errors_of(y, answer):
    found = Errors()
    found.add(np.asarray(y), np.asarray(answer))
    return found


def parts_of(y, answer, *cuts):
    found = Errors()
    for part in np.split(np.arange(len(y)), cuts):
        found.add(np.asarray(y)[part], np.asarray(answer)[part])
    return found


def test_every_number_of_errors_by_hand():
    found = errors_of([0.0, 1.0, 2.0, 5.0], [1.0, 1.0, 2.0, 2.0])
    found.add(np.zeros(0), np.zeros(0))
    f = found.facts()
    assert parts_of([0.0, 1.0, 2.0, 5.0], [1.0, 1.0, 2.0, 2.0], 1, 3).facts() == pytest.approx(f)
    assert (f["rows"], f["targets"], f["worst"], f["mae"]) == (4, 1, 3.0, 1.0)
    assert f["rmse"] == pytest.approx(math.sqrt(10 / 4))
    assert f["rmse_of_mean"] == pytest.approx(math.sqrt(14 / 4))
    assert f["r2"] == pytest.approx(1 - 10 / 14)
    squares, spread = np.array([1.0, 0.0, 0.0, 9.0]), np.array([4.0, 1.0, 0.0, 9.0])
    low, high = of_ratio(squares, spread)
    assert (f["r2_low"], f["r2_high"]) == pytest.approx((1 - high, 1 - low))
    low, high = of_ratio(squares)
    assert (f["rmse_low"], f["rmse_high"]) == pytest.approx((math.sqrt(low), math.sqrt(high)))
    small = errors_of([0.0, 0.5], [0.25, 0.25]).facts()
    assert (small["worst"], small["r2"]) == (0.25, 0.0)


def test_two_targets_and_very_many_rows_have_no_intervals(monkeypatch):
    two = errors_of(np.eye(4)[:, :2], np.zeros((4, 2))).facts()
    assert (two["r2_low"], two["mae"], two["targets"]) == (None, 0.25, 2)
    monkeypatch.setattr(_errors, "_KEPT", 4)
    kept = errors_of([0.0, 1.0, 2.0, 5.0], [1.0, 1.0, 2.0, 2.0])
    assert kept.facts()["r2_low"] is not None
    kept.add(np.array([1.0]), np.array([1.5]))
    assert kept.facts()["r2_low"] is None
    kept.add(np.array([1.0]), np.array([1.5]))
    assert kept.facts()["rmse_high"] is None


def test_where_one_row_makes_all_the_variance_there_is_no_interval_and_a_doubt(rng):
    """A row of totals: the delta method would call 71 % known to half a percent."""
    y = np.append(rng.normal(500, 90, 120), 60_000.0)
    found = errors_of(y, np.append(y[:-1] + rng.normal(0, 10, 120), 28_000.0))
    facts = found.facts()
    assert 0.5 < facts["r2"] < 0.8
    assert facts["r2_low"] is facts["r2_high"] is facts["rmse_low"] is None
    assert len(found.doubts()) == 1
    assert "one row makes 99.1 % of the variance" in found.doubts()[0]
    without = errors_of(y[:-1], y[:-1] + rng.normal(0, 10, 120))
    assert without.facts()["r2_low"] > 0.9
    assert without.doubts() == []


@pytest.mark.parametrize(
    ("y", "answer", "said", "doubted"),
    [
        (
            [0.0, 1.0, 2.0, 5.0],
            [1.0, 1.0, 2.0, 2.0],
            "Explains 28.6 % of the variance of some rows and is off by 1.58 (root mean square); "
            "their mean alone would be off by 1.87.",
            False,
        ),
        (
            [0.0, 2.0],
            [1.0, 1.0],
            "Explains nothing of some rows: it is off by 1 (root mean square), and their mean "
            "alone would be off by 1.",
            True,
        ),
        (
            [0.0, 2.0],
            [2.0, 2.0],
            "Explains nothing of some rows: it is off by 1.41 (root mean square), and their mean "
            "alone would be off by 1.",
            True,
        ),
        (
            [1.0, 1.0],
            [2.0, 2.0],
            "Predictions are off by 1 (root mean square) on some rows, which are all equal.",
            False,
        ),
        (
            [1e200, -1e200],
            [0.0, 0.0],
            "Predictions are off by inf (root mean square) on some rows.",
            False,
        ),
    ],
)
def test_the_sentence_of_errors(y, answer, said, doubted):
    found = errors_of(y, answer)
    assert found.sentence("some rows") == said
    assert bool(found.doubts()) == doubted
