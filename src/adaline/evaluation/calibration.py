"""Whether probabilities can be taken at their word: on the whole, and from low to high.

On the whole: sum of (happened - told) against its deviation. From low to high: Cox's slope b in
log-odds of what happened = a + b log-odds told; 1 where the probabilities are right, below 1 where
they are too near to 0 and 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import expit

from adaline.evaluation.intervals import NORMAL_95
from adaline.evaluation.words import number, percent, plural
from adaline.results import Array, Result

Kind = Literal["right", "too sure", "too timid", "too high", "too low", "unknown"]
_STEPS, _ENDS = 50, 30.0  # Newton's steps; log-odds beyond which a probability is 0 or 1
_FEW = 10  # rows of the rarer outcome below which nothing is said


@dataclass(frozen=True)
class Calibration(Result):
    """Probabilities against what happened.

    Attributes
    ----------
    rows : int
    told, happened : float
        Mean probability, and the share of rows where it happened.
    z : float
        The difference of the two in standard deviations.
    slope, slope_low, slope_high : float
        Cox's slope and its 95 % interval; nan where there is none.
    kind : str
        "right" where both are within what chance does, else what is wrong.
    """

    rows: int
    told: float
    happened: float
    z: float
    slope: float
    slope_low: float
    slope_high: float
    kind: Kind

    @property
    def sentence(self) -> str:
        """The verdict, with the numbers it rests on."""
        whole = f"told {percent(self.told)} on average, happened {percent(self.happened)}"
        ends = f"{number(self.slope_low, 2)} to {number(self.slope_high, 2)}"
        slope = f"slope {number(self.slope, 2)}, 95 % interval {ends}; 1 is right"
        if self.kind == "unknown":
            return (
                f"Too few rows to check the probabilities: {whole} of {plural(self.rows, 'row')}."
            )
        if self.kind == "right":
            many = plural(self.rows, "row")
            said = f"No reason to doubt the probabilities on {many}: {whole}"
            return f"{said} ({slope})."
        if self.kind in ("too high", "too low"):
            return f"The probabilities are {self.kind} on the whole: {whole} ({slope})."
        means = {
            "too sure": "too near to 0 and 1: what is told to be nearly certain is less so",
            "too timid": "too near to each other: what is told to be likely is likelier",
        }[self.kind]
        return f"The probabilities are {means} ({slope}; {whole})."


def calibration(yes: Any, log_odds: Any) -> Calibration:
    """Check probabilities 1 / (1 + exp(-v)) against what happened.

    Parameters
    ----------
    yes : array of bool, shape (n,)
    log_odds : array of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> v = rng.normal(0, 2, 2000)
    >>> yes = rng.random(2000) < 1 / (1 + np.exp(-v))
    >>> calibration(yes, v).kind, calibration(yes, 3 * v).kind
    ('right', 'too sure')
    """
    y = np.asarray(yes, dtype=np.float64)
    v = np.clip(np.nan_to_num(np.asarray(log_odds, dtype=np.float64)), -_ENDS, _ENDS)
    p = expit(v)
    told, happened = float(p.mean()), float(y.mean())
    spread = math.sqrt(float(np.sum(p * (1 - p))))
    z = float(np.sum(y - p)) / spread  # of log-odds within _ENDS no spread is zero
    slope, error = _slope(y, v)
    low, high = slope - NORMAL_95 * error, slope + NORMAL_95 * error
    kind = _kind(int(min(y.sum(), len(y) - y.sum())), z, low, high)
    return Calibration(len(y), told, happened, z, slope, low, high, kind)


def _kind(rarer: int, z: float, low: float, high: float) -> Kind:
    if rarer < _FEW or not (math.isfinite(low) and math.isfinite(high)):
        return "unknown"
    if high < 1:
        return "too sure"
    if low > 1:
        return "too timid"
    if abs(z) > NORMAL_95:
        return "too low" if z > 0 else "too high"
    return "right"


def _slope(y: Array, v: Array) -> tuple[float, float]:
    """b of the likeliest a + b v, and its standard error; nan where there is none."""
    nothing = math.nan, math.nan
    if np.ptp(v) == 0 or y.min() == y.max():
        return nothing
    unit = float(np.abs(v).max())
    Z = np.column_stack([np.ones(len(v)), v / unit])
    theta = np.array([0.0, unit])
    for _ in range(_STEPS):
        p = expit(Z @ theta)
        H = Z.T @ ((p * (1 - p))[:, None] * Z)
        if not np.linalg.det(H) > 1e-12 * H[0, 0] * H[1, 1] or not np.isfinite(H).all():
            return nothing
        step = np.linalg.solve(H, Z.T @ (y - p))
        # Beyond some units of log-odds the loss is no parabola, and a full step may overshoot.
        step *= min(1.0, 4.0 / max(float(np.abs(Z @ step).max()), 1e-300))
        theta = theta + step
        if float(np.abs(Z @ step).max()) < 1e-10:
            error = math.sqrt(float(np.linalg.inv(H)[1, 1]))
            return float(theta[1]) / unit, error / unit
    return nothing  # separable: the likelihood grows without end
