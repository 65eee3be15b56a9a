"""Pictures that move: one figure, drawn anew for each frame, as a page with buttons."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from adaline.plot import _canvas, _film

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from adaline.plot._canvas import Display

MOST_FRAMES, INTERVAL = 60, 250  # by default: frames of a film, and milliseconds of each
_SHORTEST = 20  # milliseconds: browsers slow down what is faster
_DPI = 100
_LETTERS = 12  # of a title, in an inch
_STACKED = (5.2, 3.0)  # inches of a panel of several, one below the other: phones are narrow


class Scene:
    """What `Animation` shows: `start` draws what stays and makes what moves, `show` moves it."""

    count: int  # frames

    def start(self, axes: list[Axes]) -> None:
        raise NotImplementedError

    def show(self, k: int) -> None:
        raise NotImplementedError

    def words(self, k: int) -> str:
        """What frame k says: its title."""
        raise NotImplementedError


class Animation:
    """Frames of one picture, made by the `animate` of a display; `save` makes a file of them.

    In a notebook it appears as a still picture with buttons that play it and go step by step.
    Nothing moves before a reader asks for it, and nothing is fetched from a network.

    Attributes
    ----------
    claims : tuple of str
        What each frame says, in a sentence: its title.
    interval : int
        Milliseconds that a frame is shown.
    figure_, ax_
        Where the frames are drawn. `show(k)` draws frame k, so that matplotlib's own class works
        too: `FuncAnimation(film.figure_, film.show, frames=len(film))`.

    Examples
    --------
    >>> from adaline import Perceptron, trace
    >>> from adaline.plot import DecisionDisplay
    >>> X, y = [[-1, -1], [1, -1], [-1, 1], [1, 1]], [0, 1, 1, 1]
    >>> picture = DecisionDisplay.from_estimator(Perceptron().fit(X, y), X, y)
    >>> film = picture.animate(trace(Perceptron(), X, y))
    >>> len(film)
    4
    >>> print(film.claims[-1])
    Correction 3 of 3: all 4 rows are on their right side
    """

    def __init__(self, display: Display, scene: Scene, interval: Any = INTERVAL) -> None:
        self.interval = milliseconds(interval)
        self.claims = tuple(scene.words(k) for k in range(scene.count))
        self._scene = scene
        width, height = display.size
        if display.panels > 1:
            width, height = _STACKED
        letters = int(_LETTERS * width) - display.beside
        titles = [_canvas.wrapped(words, letters).replace("$", r"\$") for words in self.claims]
        most = max(title.count("\n") for title in titles)
        # As many lines in every title: the axes below must not move.
        most += display.panels > 1  # room below a title over several panels
        self._titles = [title + "\n " * (most - title.count("\n")) for title in titles]
        with _canvas.style():
            n = display.panels
            self.figure_: Any = _canvas.figure(width, n * height)
            axes = list(self.figure_.subplots(n, 1, squeeze=False)[:, 0])
            self.ax_: Any = axes[0] if len(axes) == 1 else np.array(axes, dtype=object)
            self._canvas = _film.canvas(self.figure_, _DPI)
            scene.start(axes)
            self._several = len(axes) > 1
            self._first = axes[0]
            self.show(0)
            self._canvas.draw()
            self.figure_.set_layout_engine("none")  # what was laid out stays where it is

    def __len__(self) -> int:
        return self._scene.count

    def __repr__(self) -> str:
        return f"<Animation of {len(self)} frames, {self.interval} ms each>"

    def show(self, k: int) -> Self:
        """Draw frame k, counted from 0; -1 is the last."""
        at = operator.index(k)
        if not -len(self) <= at < len(self):
            raise IndexError(f"frame {at} was asked for; there are {len(self)}, counted from 0.")
        at %= len(self)
        with _canvas.style():
            self._scene.show(at)
            if self._several:
                self.figure_.suptitle(self._titles[at], x=0.01, ha="left", fontsize=10.5)
            else:
                self._first.set_title(self._titles[at])
        return self

    def pixels(self, k: int) -> NDArray[np.uint8]:
        """Frame k as colours, (height, width, 3)."""
        self.show(k)
        with _canvas.style():
            self._canvas.draw()
        return np.array(self._canvas.buffer_rgba(), dtype=np.uint8)[..., :3]

    def save(self, path: Any) -> Path:
        """Write the film to a file, in the format that its ending names.

        Parameters
        ----------
        path : str or Path
            .html, a page with buttons, or .png, the last frame alone.

        Returns
        -------
        The path of the file.
        """
        file = Path(path)
        ending = file.suffix.lower()
        if ending == ".html":
            file.write_text(_film.page(self.to_html(), self.claims[-1]), encoding="utf-8")
        elif ending == ".png":
            file.write_bytes(_film.still(self))
        else:
            raise ValueError(
                f"cannot save the film as {file.name!r}; expected a name that ends in .html or "
                ".png. For other formats give `show` to matplotlib's FuncAnimation."
            )
        return file

    def to_html(self) -> str:
        """A still picture with buttons that play it, as HTML to be put on a page: no network."""
        return _film.player(self)

    def _repr_html_(self) -> str:
        return self.to_html()


def milliseconds(interval: Any) -> int:
    """The time of a frame, checked."""
    whole = isinstance(interval, int | np.integer) and not isinstance(interval, bool)
    if not whole or interval < _SHORTEST:
        raise ValueError(
            f"interval is {interval!r}; expected a whole number of milliseconds, {_SHORTEST} or "
            "more."
        )
    return int(interval)


def chosen(m: int, frames: Any) -> NDArray[np.int64]:
    """At most `frames` of m steps, evenly spread, the first and the last among them.

    >>> chosen(4, 60), chosen(101, 5)
    (array([0, 1, 2, 3]), array([  0,  25,  50,  75, 100]))
    """
    whole = isinstance(frames, int | np.integer) and not isinstance(frames, bool)
    if not whole or frames < 2:
        raise ValueError(f"frames is {frames!r}; expected a whole number, 2 or more.")
    return np.unique(np.linspace(0, m - 1, min(m, int(frames))).round().astype(np.int64))
