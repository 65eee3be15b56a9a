"""Pictures that move: one figure, drawn anew for each frame, as a page with buttons.

The `animate` method of a display makes an `Animation` of displays, one for each frame.
"""

from __future__ import annotations

import base64
import html
import io
import json
from collections.abc import Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_scalar

from adaline.plot.display import Display, new_figure, style, write_title
from adaline.plot.draw import Ints


class Animation:
    """Frames of one picture, made by the `animate` of a display; `save` writes them to a page.

    In a notebook it appears as a still picture with buttons that play it and go step by step.
    Nothing moves before a reader asks for it, and nothing is fetched from a network.

    Attributes
    ----------
    claims : tuple of str
        What each frame shows, in a sentence: its title.
    interval : int
        Milliseconds per frame.
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
    Correction 3 of 3: all 4 rows are on the correct side
    """

    def __init__(self, frames: Sequence[Display], interval: int) -> None:
        # Browsers slow down what is faster.
        self.interval = check_scalar(interval, "interval", Integral, min_val=20)
        self.claims, self._frames = tuple(frame.claim for frame in frames), frames
        # Several panels stand one below the other: phones are narrow.
        self._panels = frames[0].panels
        self._width, height = frames[0].size if self._panels == 1 else (5.2, 3.0)
        with style():
            from matplotlib.backends.backend_agg import FigureCanvasAgg

            self.figure_: Any = new_figure(self._width, self._panels * height)
            self.figure_.set_dpi(100)
            self._canvas: Any = FigureCanvasAgg(self.figure_)
        # The axes of all frames are where those of the first are, below the longest title.
        self._places: list[Any] = []
        self._draw(0, max(self.claims, key=len))
        self.figure_.draw_without_rendering()
        self.figure_.set_layout_engine("none")
        self._places = [ax.get_position() for ax in self.figure_.axes]
        self.show(0)

    @property
    def ax_(self) -> Any:
        """The axes of the frame that is drawn now, or an array of them."""
        axes = np.array(self.figure_.axes[: self._panels], dtype=object)
        return axes[0] if self._panels == 1 else axes

    def __len__(self) -> int:
        return len(self.claims)

    def __repr__(self) -> str:
        return f"<Animation of {len(self)} frames, {self.interval} ms each>"

    def show(self, k: int) -> Self:
        """Draw frame k, counted from 0; -1 is the last."""
        if not -len(self) <= k < len(self):
            raise IndexError(f"frame {k} does not exist; there are {len(self)}, counted from 0.")
        self._draw(k, self.claims[k])
        return self

    def _draw(self, k: int, title: str) -> None:
        with style():
            self.figure_.clear()
            axes = self.figure_.subplots(self._panels, 1, squeeze=False)[:, 0]
            self._frames[k]._draw(*axes)
            for ax, place in zip(self.figure_.axes, self._places, strict=False):
                ax.set_position(place)
            write_title(axes, title, self._width)

    def pixels(self, k: int) -> NDArray[np.uint8]:
        """Frame k as colours, (height, width, 3)."""
        self.show(k)
        with style():
            self._canvas.draw()
        return np.array(self._canvas.buffer_rgba(), dtype=np.uint8)[..., :3]

    def save(self, path: Any) -> Path:
        """Write a page with buttons, which needs no network; returns the path."""
        file, title = Path(path), html.escape(self.claims[-1])
        if file.suffix.lower() != ".html":
            raise ValueError(
                f"cannot save the film as {file.name!r}; expected a name that ends in .html. For "
                "other formats give `show` to matplotlib's FuncAnimation."
            )
        head = f'<!DOCTYPE html>\n<html lang="en"><meta charset="utf-8"><title>{title}</title>'
        head += '<meta name="viewport" content="width=device-width, initial-scale=1">'
        body = f'<body style="font-family: sans-serif">\n{self.to_html()}\n</body>'
        file.write_text(f"{head}\n{body}</html>\n", encoding="utf-8")
        return file

    def to_html(self) -> str:
        """A still picture with buttons that play it, as HTML to embed in a page: no network."""
        still, *differences = _picture_addresses([self.pixels(k) for k in range(len(self))])
        width, height = self._canvas.get_width_height()
        texts = {"frames": json.dumps(differences), "claims": json.dumps(self.claims)}
        texts = {key: html.escape(text) for key, text in texts.items()}
        texts |= {"still": still, "words": html.escape(self.claims[-1])}
        sizes = {"last": len(self) - 1, "interval": self.interval, "width": width, "height": height}
        return PLAYER.format(**texts, **sizes)

    def _repr_html_(self) -> str:
        return self.to_html()


class MovingDisplay(Display):
    """A display of several moments, of which `plot` draws the last and `animate` all.

    Subclasses set `_moments()`, the number of moments, and `_until(k)`, the picture of moment k.
    """

    def _moments(self) -> int:
        raise NotImplementedError

    def _until(self, k: int) -> Self:
        raise NotImplementedError

    def animate(self, *, frames: int = 60, interval: int = 250) -> Animation:
        """All moments, one after the other.

        At most `frames` frames, sampled evenly, of `interval` milliseconds each.
        """
        moments = choose_frames(self._moments(), frames).tolist()
        return Animation([self._until(k) for k in moments], interval)


def choose_frames(n_steps: int, frames: Any) -> Ints:
    """At most `frames` steps, evenly spread, the first and the last among them.

    >>> choose_frames(4, 60), choose_frames(101, 5)
    (array([0, 1, 2, 3]), array([  0,  25,  50,  75, 100]))
    """
    steps = np.linspace(
        0, n_steps - 1, min(n_steps, check_scalar(frames, "frames", Integral, min_val=2))
    )
    return np.unique(steps.round().astype(np.int64))


def _picture_addresses(frames: list[NDArray[np.uint8]]) -> list[str]:
    """The last frame, and of all frames the pixels that differ from it, as addresses.

    Full frames would need two to ten times the bytes.
    """
    from PIL import Image

    still, addresses = frames[-1], []
    different = [255 * (frame != still).any(axis=2, keepdims=True) for frame in frames]
    opaque = [np.dstack(pair) for pair in zip(frames, different, strict=True)]
    for pixels in [still, *opaque]:
        out = io.BytesIO()
        Image.fromarray(pixels.astype(np.uint8)).save(out, "WEBP", lossless=True)
        addresses.append("data:image/webp;base64," + base64.b64encode(out.getvalue()).decode())
    return addresses


# Nothing plays by itself. Without scripts there is the last frame and its claim. On dark pages
# themes of Sphinx change pictures, but not those of the class dark-light. A frame is composed on a
# canvas, pixel by pixel: two pictures on top of each other have seams where they are scaled.
PLAYER = """\
<figure class="adaline-film" data-frames="{frames}" data-claims="{claims}"
 data-interval="{interval}" style="margin: 0; max-width: {width}px">
<div style="position: relative; background: white">
<img class="still dark-light" src="{still}" alt="{words}" width="{width}" height="{height}"
 style="display: block; width: 100%; height: auto">
<canvas class="frame" width="{width}" height="{height}" hidden aria-hidden="true"
 style="position: absolute; inset: 0; width: 100%; height: 100%"></canvas>
</div>
<div class="buttons" style="display: none; gap: 0.5em; align-items: center; padding: 0.3em 0">
<button type="button" data-do="play" style="min-width: 5em">Play</button>
<button type="button" data-do="back" aria-label="one step back">◀</button>
<button type="button" data-do="on" aria-label="one step on">▶</button>
<input type="range" min="0" max="{last}" value="{last}" aria-label="frame"
 style="flex: 1; min-width: 4em">
</div>
</figure>
<script>
for (const film of document.querySelectorAll("figure.adaline-film:not([data-ready])")) {{
  film.dataset.ready = "yes";
  const frames = JSON.parse(film.dataset.frames), claims = JSON.parse(film.dataset.claims);
  const find = (what) => film.querySelector(what), last = frames.length - 1;
  const still = find("img.still"), over = find("canvas"), bar = find("input");
  const play = find("[data-do=play]"), pictures = [];
  let at = last, timer = null;
  const show = (k) => {{
    at = Math.max(0, Math.min(last, k));
    still.alt = claims[at]; bar.value = at; bar.setAttribute("aria-valuetext", claims[at]);
    if (!pictures[at]) {{ pictures[at] = new Image(); pictures[at].src = frames[at]; }}
    const wanted = at, pen = over.getContext("2d");
    pictures[at].decode().then(() => {{
      if (at !== wanted) return;
      pen.drawImage(still, 0, 0, over.width, over.height);
      pen.drawImage(pictures[at], 0, 0);
      over.hidden = false;
    }});
  }};
  const stop = () => {{ clearInterval(timer); timer = null; play.textContent = "Play"; }};
  play.onclick = () => {{
    if (timer) return stop();
    play.textContent = "Stop";
    show(at === last ? 0 : at);
    timer = setInterval(() => at === last ? stop() : show(at + 1), +film.dataset.interval);
  }};
  find("[data-do=back]").onclick = () => {{ stop(); show(at - 1); }};
  find("[data-do=on]").onclick = () => {{ stop(); show(at + 1); }};
  bar.oninput = () => {{ stop(); show(+bar.value); }};
  find(".buttons").style.display = "flex";
}}
</script>"""
