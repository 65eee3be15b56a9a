"""Numbers against predictions: sums over blocks of rows, then numbers, a sentence and doubts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.evaluation.intervals import of_ratio
from adaline.evaluation.words import number, percent
from adaline.results import Result

_ONE_ROW = 0.9  # share of a sum of squares that makes it the sum of one row: no interval holds
_SOME = 10  # rows, below which every row makes much of a sum
_KEPT = 1_000_000  # rows up to which there are intervals; beyond, they would be narrow


@dataclass
class Errors(Result):
    """Numbers against predictions, block by block; k targets side by side, spreads about a mean."""

    n: int = 0
    mean: Any = 0.0
    spread: Any = 0.0  # sums of squares about the mean, (k,)
    squares: Any = 0.0  # sums of squared errors, (k,)
    absolute: float = 0.0
    worst: float = 0.0
    kept: list[Any] | None = field(default_factory=list, repr=False)  # (truth, error) of one target

    def add(
        self, truth: NDArray[Any], answer: NDArray[Any], log_p: Any = None, scores: Any = None
    ) -> None:
        """Add the next rows; squares beyond float64 are infinite."""
        m = len(truth)
        if m == 0:
            return
        y = truth.astype(np.float64).reshape(m, -1)
        e = y - np.asarray(answer, dtype=np.float64).reshape(y.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            middle = y[0] + np.mean(y - y[0], axis=0)
            step = middle - self.mean
            spread = np.sum((y - middle) ** 2, axis=0) + step * step * (self.n * m / (self.n + m))
            self.spread = self.spread + spread
            self.mean = self.mean + step * (m / (self.n + m))
            self.squares = self.squares + np.sum(e * e, axis=0)
            self.absolute = float(self.absolute + np.abs(e).sum())
        self.n += m
        self.worst = max(self.worst, float(np.abs(e).max()))
        if self.kept is not None:
            few = y.shape[1] == 1 and self.n <= _KEPT
            self.kept = [*self.kept, np.column_stack([y, e])] if few else None

    def cut(self) -> None:
        """What comes now is of another model: errors add up all the same."""

    def facts(self) -> dict[str, Any]:
        """Numbers by stable names; of several targets, means over them."""
        spread, squares = np.atleast_1d(self.spread), np.atleast_1d(self.squares)
        told = np.isfinite(spread).all() and np.isfinite(squares).all() and (spread > 0).all()
        with np.errstate(over="ignore"):
            mean = np.mean(squares), np.mean(spread)
        return {
            "rows": self.n,
            "targets": len(spread),
            "r2": float(np.mean(1.0 - squares / spread)) if told else None,
            **self._intervals(bool(told)),
            "rmse": math.sqrt(float(mean[0]) / self.n),
            "mae": self.absolute / (self.n * len(spread)),
            "worst": self.worst,
            "rmse_of_mean": math.sqrt(float(mean[1]) / self.n),
        }

    def _intervals(self, told: bool) -> dict[str, Any]:
        """95 % intervals of R² and of the root mean square, where the rows are kept."""
        empty: dict[str, Any] = dict.fromkeys(("r2_low", "r2_high", "rmse_low", "rmse_high"))
        if not self.kept or not told:
            return empty
        squares, spread = self._of_rows()
        size, rest = of_ratio(squares), of_ratio(squares, spread)
        if max(_largest(squares), _largest(spread)) > _ONE_ROW and self.n >= _SOME:
            return empty
        if size is not None:
            empty |= {"rmse_low": math.sqrt(size[0]), "rmse_high": math.sqrt(size[1])}
        if rest is not None:
            empty |= {"r2_low": 1.0 - rest[1], "r2_high": 1.0 - rest[0]}
        return empty

    def _of_rows(self) -> tuple[Any, Any]:
        """Squared errors, and squared distances from the mean, of the rows that are kept."""
        assert self.kept is not None
        rows = np.concatenate(self.kept)
        with np.errstate(over="ignore", invalid="ignore"):
            return rows[:, 1] ** 2, (rows[:, 0] - self.mean) ** 2

    def sentence(self, words: str) -> str:
        """The facts in a sentence about rows that are called `words`."""
        f = self.facts()
        off = f"off by {number(f['rmse'], 3)} (root mean square)"
        if f["r2"] is None:
            equal = ", which are all equal" if f["rmse_of_mean"] == 0 else ""
            return f"Predictions are {off} on {words}{equal}."
        alone = f"their mean alone would be off by {number(f['rmse_of_mean'], 3)}"
        if f["r2"] > 0:
            share = percent(f["r2"])
            return f"Explains {share} of the variance of {words} and is {off}; {alone}."
        return f"Explains nothing of {words}: it is {off}, and {alone}."

    def doubts(self, separable: bool = False) -> list[str]:
        """What these numbers give reason to doubt, with advice."""
        r2 = self.facts()["r2"]
        share = _largest(self._of_rows()[1]) if self.kept and r2 is not None else 0.0
        if share > _ONE_ROW and self.n >= _SOME:
            return [
                f"one row makes {percent(share)} of the variance of these rows, so that the "
                "explained variance is about that row, and has no interval. See whether it is "
                "right, or a total."
            ]
        if r2 is not None and r2 <= 0:
            return [
                "the predictions are worse than the mean of these rows; they may come from "
                "elsewhere than the rows of the fit, or the columns say nothing about the target."
            ]
        return []


def _largest(squares: NDArray[Any]) -> float:
    """The share of the largest in a sum of squares."""
    whole = float(squares.sum())
    return float(squares.max()) / whole if 0 < whole < math.inf else 0.0
