"""Cover's curve: how many labellings a hyperplane can produce."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

import adaline
from adaline.plot import _canvas
from adaline.plot._canvas import Array, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class CoverDisplay(Display):
    """F(N, d), the share of labellings of N points that are separable, against N/(d + 1).

    Lecture 004. It falls from one to zero around N = 2(d + 1), and the more sharply the larger d.

    Attributes
    ----------
    curves : dict of int to (ndarray, ndarray)
        For each d: numbers of points N, and F(N, d).
    bias : bool
    here : tuple of two ints, and float, or None
        N and d of a data set, and its F.

    Examples
    --------
    >>> from adaline.plot import CoverDisplay
    >>> picture = CoverDisplay.from_dimensions([2, 20], n=60)
    >>> picture.here
    (60, 2, 3.07...e-15)
    >>> dict(zip(*picture.curves[2]))[6]
    np.float64(0.5)
    """

    curves: dict[int, tuple[Any, Array]]
    bias: bool
    here: tuple[int, int, float] | None

    @classmethod
    def from_dimensions(
        cls, d: int | Sequence[int], *, n: int | None = None, bias: bool = True
    ) -> Self:
        """Curves of one or several numbers of inputs; `n` points mark a place on the first."""
        inputs = [d] if isinstance(d, int | np.integer) else list(d)
        if not inputs:
            raise ValueError("d is empty; give a number of inputs, or several.")
        curves = {}
        for inputs_d in inputs:
            D = adaline.cover(1, inputs_d, bias).parameters  # refuses what is no number of inputs
            N = np.unique(np.linspace(1, max(4 * D, 4), 161).round().astype(np.int64))
            F = np.array([adaline.cover(int(k), int(inputs_d), bias).fraction for k in N])
            curves[int(inputs_d)] = (N, F)
        here = None
        if n is not None:
            here = (int(n), int(inputs[0]), adaline.cover(int(n), int(inputs[0]), bias).fraction)
        return cls(curves, bool(bias), here)

    @property
    def claim(self) -> str:
        if self.here is None:
            return "Half of all labellings are separable at two points a weight"
        n, d, share = self.here
        verdict = "says little" if share > 0.01 else "is no accident"
        some = f"{100 * share:.2g} %" if share > 1e-12 else "practically none"
        return (
            f"Of all labellings of {n} points in {d} dimensions {some} are separable: "
            f"being separable {verdict}"
        )

    def _draw(self, axes: list[Axes]) -> None:
        (ax,) = axes
        for k, (d, (N, F)) in enumerate(self.curves.items()):
            line = _canvas.LINES[k % len(_canvas.LINES)]
            ax.plot(
                N / max(d + self.bias, 1),
                F,
                color=_canvas.colour(k),
                linestyle=line,
                label=f"d = {d}",
            )
        _canvas.level(ax, 2.0, along="v")
        _canvas.level(ax, 0.5)
        if self.here is not None:
            n, d, share = self.here
            at = n / max(d + self.bias, 1)
            ax.plot(
                min(at, 4.0), share, "o", color=_canvas.colour(1), markersize=8, label=f"N = {n}"
            )
        weights = "d + 1" if self.bias else "d"
        ax.set(
            xlabel=f"points for each weight, N/({weights})",
            ylabel="share that is separable, F(N, d)",
        )
        ax.set(xlim=(0, 4.05), ylim=(-0.02, 1.04))
        _canvas.legend(ax)
