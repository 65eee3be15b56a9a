"""Eigenvalues of R, and what their spread means for learning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from adaline.evaluation.words import number
from adaline.plot import _canvas, _given
from adaline.plot._canvas import Array, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class EigenvalueDisplay(Display):
    """Eigenvalues of R = X'X/N, the largest first.

    Lecture: LMS. With step eta, mode i falls by e in 1/(eta lambda_i) samples: the slowest takes
    lambda_max/lambda_min times as long as the fastest.

    Attributes
    ----------
    eigenvalues : ndarray of shape (q,)
        Never below zero.
    spread : float
        lambda_max/lambda_min; infinite where R is singular to rounding.
    bound : float
        2/tr[R], the largest stable rate for single samples.
    scaled : ndarray of shape (q,), or None
        The same for columns divided by their root mean square, which scaling could reach.

    Examples
    --------
    >>> from adaline.plot import EigenvalueDisplay
    >>> picture = EigenvalueDisplay.from_data([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> picture.eigenvalues, round(picture.spread, 6), picture.bound
    (array([4.5, 1. , 0.5]), 9.0, 0.333...)
    """

    eigenvalues: Array
    spread: float
    bound: float
    scaled: Array | None = None

    @classmethod
    def from_data(cls, X: Any, *, fit_intercept: bool = True) -> Self:
        """R of rows; with a bias, an input that is always 1 counts."""
        R = _given.rows(X)
        Z = np.column_stack([R, np.ones(len(R))]) if fit_intercept else R
        largest = np.abs(Z).max(axis=0)
        Y = Z / np.where(largest > 0, largest, 1.0)  # squares of huge units leave float64
        unit = np.sqrt(np.mean(Y**2, axis=0))
        scaled = _values(Y / np.where(unit > 0, unit, 1.0))
        return cls._of(_values(Z), scaled)

    @classmethod
    def from_signal(cls, x: Any, taps: int) -> Self:
        """R of a delay line of `taps` samples of a signal."""
        u = _given.signal(x, "x")
        if (
            not isinstance(taps, int | np.integer)
            or isinstance(taps, bool)
            or not 1 <= taps <= len(u)
        ):
            raise ValueError(f"taps is {taps!r}; expected a whole number from 1 to {len(u)}.")
        lines = np.lib.stride_tricks.sliding_window_view(u, int(taps))
        return cls._of(_values(lines), None)

    @classmethod
    def _of(cls, values: Array, scaled: Array | None) -> Self:
        total = float(values.sum())
        if not np.isfinite(total):
            raise ValueError("the squares of X leave the range of float64; rescale the columns.")
        return cls(values, _spread(values), 2.0 / total if total else float("inf"), scaled)

    @property
    def claim(self) -> str:
        spread = "infinite" if np.isinf(self.spread) else f"{number(self.spread, 3)}"
        said = f"Eigenvalue spread {spread}"
        if np.isfinite(self.spread):
            said += ": the slowest weights learn that many times slower"
        if self.scaled is not None and _spread(self.scaled) < self.spread / 2:
            said += f"; scaling columns would leave {number(_spread(self.scaled), 3)}"
        return said

    def _draw(self, axes: list[Axes]) -> None:
        (ax,) = axes
        at = np.arange(1, len(self.eigenvalues) + 1)
        least = self.eigenvalues[self.eigenvalues > 0]
        floor = float(least.min()) / 3 if len(least) else 1.0
        style = "o-" if len(at) <= 60 else "-"
        ax.plot(
            at,
            np.maximum(self.eigenvalues, floor),
            style,
            color=_canvas.colour(0),
            label="as they are",
        )
        if self.scaled is not None:
            ax.plot(
                at,
                np.maximum(self.scaled, floor),
                style.replace("o", "^").replace("-", "--"),
                color=_canvas.colour(1),
                label="columns scaled",
                markersize=5,
            )
        ax.set_yscale("log")
        ax.set(xlabel="number, the largest first", ylabel="eigenvalue of R")
        _canvas.legend(ax, title=f"2/tr[R] = {number(self.bound, 3)}")


def _values(Z: Any) -> Array:
    """Eigenvalues of Z'Z/N through singular values, which keep twice the digits."""
    s = np.linalg.svd(Z, compute_uv=False)
    full = np.zeros(Z.shape[1])
    full[: len(s)] = s
    # What is below the rounding of the largest is not known to be other than zero.
    full[full <= max(Z.shape) * np.finfo(np.float64).eps * full[0]] = 0.0
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(full**2 / len(Z))


def _spread(values: Array) -> float:
    return float(values[0] / values[-1]) if values[-1] > 0 else float("inf")
