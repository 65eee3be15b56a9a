"""95 % intervals of shares, of areas under a curve, and of mean squares.

All of them take rows to be drawn independently. Predictions of a cross-validation share most of
their training rows, so that there the intervals are approximate.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

NORMAL_95 = 1.959963984540054  # 95 % of a normal distribution lie within so many deviations


def wilson(share: Any, n: Any) -> tuple[Any, Any]:
    """Wilson's 95 % interval of a share of n trials; it stays between 0 and 1.

    >>> [round(float(end), 3) for end in wilson(0.5, 10)]
    [0.237, 0.763]
    """
    z2 = NORMAL_95 * NORMAL_95
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = NORMAL_95 * np.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    # Of shares of 0 and 1 an end is the share itself, which rounding must not leave outside.
    return np.clip(middle - half, 0.0, share), np.clip(middle + half, share, 1.0)


def of_area(area: float, positive: int, negative: int) -> tuple[float, float]:
    """95 % interval of an area under the ROC curve: Newcombe's fifth method.

    Hanley and McNeil's variance is taken at the ends of the interval instead of its middle, so
    that an area of 1 has an interval, too (Newcombe, Statistics in Medicine 25, 2006).

    >>> [round(end, 3) for end in of_area(1.0, 20, 20)]
    [0.899, 1.0]
    """
    rows = (positive + negative) / 2 - 1

    def deviation(at: float) -> float:
        spread = 1 + rows * ((1 - at) / (2 - at) + at / (1 + at))
        return math.sqrt(max(at * (1 - at) * spread / (positive * negative), 0.0))

    def end(a: float, sign: float) -> float:
        """Where |area - a| is as large as its deviation allows; by bisection."""
        inside, outside = a, 0.0 if sign < 0 else 1.0
        for _ in range(60):
            middle = (inside + outside) / 2
            if abs(middle - area) <= NORMAL_95 * deviation(middle):
                inside = middle
            else:
                outside = middle
        return outside

    return min(end(area, -1.0), area), max(end(area, 1.0), area)


def of_ratio(above: NDArray[Any], below: NDArray[Any] | None = None) -> tuple[float, float] | None:
    """95 % interval of mean(above) / mean(below), by the deviation of the ratio's logarithm.

    `below` is 1 where it is not given. None where there are fewer than three rows, or nothing to
    divide by.

    >>> low, high = of_ratio(np.array([1.0, 2.0, 3.0, 2.0]))
    >>> round(low, 2), round(high, 2)
    (1.34, 2.98)
    """
    n = len(above)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        top = float(np.mean(above))
        bottom = 1.0 if below is None else float(np.mean(below))
        if n < 3 or not (0 < top < math.inf and 0 < bottom < math.inf):
            return None
        moves = above / top - (1.0 if below is None else below / bottom)
        half = NORMAL_95 * math.sqrt(float(np.sum(moves * moves)) / (n - 1) / n)
    if not math.isfinite(half) or half > 300:
        return None
    return top / bottom * math.exp(-half), top / bottom * math.exp(half)
