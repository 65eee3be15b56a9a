"""Probabilities at their word: Cox's slope against statsmodels, and the verdicts."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.verdicts.calibration import calibration


def drawn(rng, n=1500, times=1.0, more=0.0):
    """Rows whose log-odds are v / times - more, where v is told."""
    v = rng.normal(0, 1.5, n)
    return rng.random(n) < 1 / (1 + np.exp(-(v / times - more))), v


def test_the_slope_is_that_of_a_logistic_regression_on_the_log_odds(rng):
    sm = pytest.importorskip("statsmodels.api")
    yes, v = drawn(rng, times=1.5, more=0.2)
    twin = sm.Logit(yes.astype(float), sm.add_constant(v)).fit(disp=0)
    found = calibration(yes, v)
    assert found.slope == pytest.approx(twin.params[1], rel=1e-8)
    low, high = twin.conf_int()[1]
    assert found.slope_low == pytest.approx(low, rel=1e-7)
    assert found.slope_high == pytest.approx(high, rel=1e-7)
    p = 1 / (1 + np.exp(-v))
    assert found.z == pytest.approx(np.sum(yes - p) / np.sqrt(np.sum(p * (1 - p))))


@pytest.mark.parametrize(
    ("times", "more", "kind"),
    [(1.0, 0.0, "right"), (2.5, 0.0, "too sure"), (0.5, 0.0, "too timid"), (1.0, 0.6, "too high")],
)
def test_each_fault_has_its_word(rng, times, more, kind):
    found = calibration(*drawn(rng, times=times, more=more))
    assert found.kind == kind
    words = {"right": "No reason to doubt", "too sure": "too near to 0 and 1"}
    assert words.get(kind, "probabilities are too") in found.sentence


def test_chance_alone_is_seldom_called_a_fault(rng):
    kinds = [calibration(*drawn(rng, 300)).kind for _ in range(100)]
    assert kinds.count("right") >= 82  # two tests at 95 %: about 90 are expected


@pytest.mark.parametrize(
    ("yes", "v"),
    [
        ([True] * 30, np.linspace(-1, 1, 30)),  # one class
        ([False] * 15 + [True] * 15, np.linspace(-1, 1, 30)),  # separable: no slope
        ([True, False] * 15, np.ones(30)),  # one probability for all
        ([True, False], [1.0, -1.0]),
        ([True, False] * 15, np.full(30, np.inf)),
    ],
)
def test_what_cannot_be_checked_is_unknown(yes, v):
    found = calibration(yes, v)
    assert found.kind == "unknown"
    assert "Too few rows to check" in found.sentence
