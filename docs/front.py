"""Draws the pictures of the front page and of README.md, beside this file.

python docs/front.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from adaline import LMS, RLS, WienerFilter
from adaline.plot import LearningCurveDisplay, SeparabilityDisplay

HERE = Path(__file__).parent


def classes() -> Figure:
    """Two classes, the widest margin between them, and the rows that prove it."""
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(4.0, 0.7, (40, 2)), rng.normal(6.7, 0.7, (40, 2))])
    y = np.repeat(["birch", "oak"], 40)
    figure = Figure(figsize=(4.6, 3.8), layout="constrained")
    display = SeparabilityDisplay.from_data(X, y, names=["length, cm", "width, cm"])
    display.plot(figure.subplots(), title=False)
    return figure


def filters() -> Figure:
    """Two filters learn the same unknown system, down to the error of the best fixed one."""
    rng = np.random.default_rng(3)
    x = np.convolve(rng.standard_normal(3000), [1.0, 0.7])[:3000]
    d = np.convolve(x, [1.0, -0.5, 0.25])[:3000] + 0.1 * rng.standard_normal(3000)
    errors = {"LMS": LMS(taps=8).process(x, d)[1], "RLS": RLS(taps=8).process(x, d)[1]}
    floor = WienerFilter.from_signals(x, d, taps=8).error
    figure = Figure(figsize=(4.6, 3.8), layout="constrained")
    LearningCurveDisplay.from_errors(errors, floor=floor).plot(figure.subplots(), title=False)
    return figure


def write(folder: Path) -> None:
    """Both pictures, with the same bytes each time."""
    with matplotlib.rc_context({"svg.hashsalt": "adaline", "svg.fonttype": "path"}):
        for name, figure in {"front-classes": classes(), "front-filters": filters()}.items():
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None}, facecolor="white")


if __name__ == "__main__":
    write(HERE)
