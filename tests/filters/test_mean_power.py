"""The mean power of a signal that the filters' guards keep."""

from __future__ import annotations

import pytest

from adaline.kernels.filters.guards import SPIKE, mean_power


@pytest.mark.parametrize("memory", [1.0, 3.5, 4.0, 100.0])
def test_the_count_grows_up_to_the_memory_whole_or_not(memory):
    power, count, expected = 0.0, 0.0, 0.0
    for n, r in enumerate([1.0, 2.0, 0.5, 3.0, 100.0, 1.0], 1):
        power, count = mean_power(power, count, r, memory)
        weight = min(n, memory)
        expected = (
            r
            if n == 1 or memory == 1.0
            else expected + (min(r, SPIKE * expected) - expected) / weight
        )
        assert count == weight
        assert power == pytest.approx(expected, rel=1e-14)
