"""Pictures that move: one figure, drawn anew for each frame, as a page with buttons.

The `animate` method of a display makes an `Animation` from captions and a function `start(axes)`
that draws what stays and returns `show(k)`, which draws frame k.
"""

from __future__ import annotations

import base64
import html
import io
import json
import operator
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from adaline.plot import draw
from adaline.plot.display import new_figure, style
from adaline.plot.draw import Ints

if TYPE_CHECKING:
    from adaline.plot.display import Display

MAX_FRAMES = 60  # by default; any round number
FRAME_INTERVAL = 250  # milliseconds, by default
MIN_INTERVAL = 20  # milliseconds: browsers slow down what is faster
PANEL_SIZE = (5.2, 3.0)  # inches of a panel of several, one below the other: phones are narrow
FILM_COLOURS = 64  # enough for the edges of letters, at a third of the size of 256
AREA_COLOURS = 24  # of these, the most common, which are kept exactly

Show = Callable[[int], None]


class Animation:
    """Frames of one picture, made by the `animate` of a display; `save` writes them to a file.

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

    def __init__(
        self,
        display: Display,
        claims: Sequence[str],
        start: Callable[[list[Any]], Show],
        interval: Any = FRAME_INTERVAL,
    ) -> None:
        self.interval = check_interval(interval)
        self.claims = tuple(claims)
        n = display.panels
        width, height = display.size if n == 1 else PANEL_SIZE
        titles = [draw.wrap(claim, width, display.reserved) for claim in self.claims]
        # The same number of lines in every title, so that the axes below do not move.
        lines = max(title.count("\n") for title in titles) + (n > 1)
        self._titles = [title + "\n " * (lines - title.count("\n")) for title in titles]
        with style():
            from matplotlib.backends.backend_agg import FigureCanvasAgg

            self.figure_: Any = new_figure(width, n * height)
            self.figure_.set_dpi(100)
            self._canvas: Any = FigureCanvasAgg(self.figure_)
            axes = list(self.figure_.subplots(n, 1, squeeze=False)[:, 0])
            self.ax_: Any = axes[0] if n == 1 else np.array(axes, dtype=object)
            self._draw_frame = start(axes)
            self.show(0)
            self.figure_.draw_without_rendering()
            self.figure_.set_layout_engine("none")  # the layout of the first frame stays

    def __len__(self) -> int:
        return len(self.claims)

    def __repr__(self) -> str:
        return f"<Animation of {len(self)} frames, {self.interval} ms each>"

    def show(self, k: int) -> Self:
        """Draw frame k, counted from 0; -1 is the last."""
        at = operator.index(k)
        if not -len(self) <= at < len(self):
            raise IndexError(f"frame {at} does not exist; there are {len(self)}, counted from 0.")
        at %= len(self)
        with style():
            self._draw_frame(at)
            if isinstance(self.ax_, np.ndarray):
                size = draw.STYLE["axes.titlesize"]
                self.figure_.suptitle(self._titles[at], x=0.01, ha="left", fontsize=size)
            else:
                self.ax_.set_title(self._titles[at])
        return self

    def pixels(self, k: int) -> NDArray[np.uint8]:
        """Frame k as colours, (height, width, 3)."""
        self.show(k)
        with style():
            self._canvas.draw()
        return np.array(self._canvas.buffer_rgba(), dtype=np.uint8)[..., :3]

    def save(self, path: Any) -> Path:
        """Write the film to a file, in the format of its extension.

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
            file.write_text(_page(self.to_html(), self.claims[-1]), encoding="utf-8")
        elif ending == ".png":
            from PIL import Image

            file.write_bytes(_png(Image.fromarray(self.pixels(-1))))
        else:
            raise ValueError(
                f"cannot save the film as {file.name!r}; expected a name that ends in .html or "
                ".png. For other formats give `show` to matplotlib's FuncAnimation."
            )
        return file

    def to_html(self) -> str:
        """A still picture with buttons that play it, as HTML to embed in a page: no network."""
        images = _quantize([self.pixels(k) for k in range(len(self))])
        still = images[-1]
        differences = [_url(_difference(image, still)) for image in images]
        return PLAYER.format(
            still=_url(still),
            frames=html.escape(json.dumps(differences)),
            claims=html.escape(json.dumps(self.claims)),
            words=html.escape(self.claims[-1]),
            last=len(self) - 1,
            interval=self.interval,
            width=still.width,
            height=still.height,
        )

    def _repr_html_(self) -> str:
        return self.to_html()


def check_interval(interval: Any) -> int:
    """Milliseconds per frame."""
    is_whole = isinstance(interval, int | np.integer) and not isinstance(interval, bool)
    if not is_whole or interval < MIN_INTERVAL:
        raise ValueError(
            f"interval is {interval!r}; expected a whole number of milliseconds, "
            f"{MIN_INTERVAL} or more."
        )
    return int(interval)


def choose_frames(n_steps: int, frames: Any) -> Ints:
    """At most `frames` steps, evenly spread, the first and the last among them.

    >>> choose_frames(4, 60), choose_frames(101, 5)
    (array([0, 1, 2, 3]), array([  0,  25,  50,  75, 100]))
    """
    is_whole = isinstance(frames, int | np.integer) and not isinstance(frames, bool)
    if not is_whole or frames < 2:
        raise ValueError(f"frames is {frames!r}; expected a whole number, 2 or more.")
    steps = np.linspace(0, n_steps - 1, min(n_steps, int(frames)))
    return np.unique(steps.round().astype(np.int64))


def _quantize(frames: list[NDArray[np.uint8]]) -> list[Any]:
    """Frames in one palette of few colours, taken from the first, the middle and the last."""
    from PIL import Image

    sample = Image.fromarray(np.vstack([frames[0], frames[len(frames) // 2], frames[-1]]))
    counts: Any = sample.getcolors(sample.width * sample.height)
    common = [colour for _, colour in sorted(counts, reverse=True)[:AREA_COLOURS]]
    others = FILM_COLOURS - AREA_COLOURS
    covering = sample.quantize(others, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    palette = Image.new("P", (1, 1))
    palette.putpalette([*np.ravel(common).tolist(), *(covering.getpalette() or [])[: 3 * others]])
    none = Image.Dither.NONE
    return [Image.fromarray(frame).quantize(palette=palette, dither=none) for frame in frames]


def _difference(image: Any, still: Any) -> Any:
    """The frame where it differs from the still picture, transparent elsewhere."""
    from PIL import Image

    pixels, transparent = np.asarray(image), FILM_COLOURS
    result = Image.fromarray(np.where(pixels == np.asarray(still), np.uint8(transparent), pixels))
    colours = image.getpalette()[: 3 * FILM_COLOURS]
    result.putpalette(colours + [0] * (3 * (FILM_COLOURS + 1) - len(colours)))
    result.info["transparency"] = transparent
    return result


def _png(image: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


def _url(image: Any) -> str:
    return "data:image/png;base64," + base64.b64encode(_png(image)).decode("ascii")


def _page(body: str, title: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title></head>\n"
        f'<body style="font-family: sans-serif">\n{body}\n</body></html>\n'
    )


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
  const play = find("[data-do=play]");
  const pictures = [];
  let at = last, timer = null;
  const draw = (k) => {{
    const pen = over.getContext("2d");
    pen.drawImage(still, 0, 0, over.width, over.height);
    pen.drawImage(pictures[k], 0, 0);
    over.hidden = false;
  }};
  const show = (k) => {{
    at = Math.max(0, Math.min(last, k));
    still.alt = claims[at]; bar.value = at; bar.setAttribute("aria-valuetext", claims[at]);
    if (!pictures[at]) {{ pictures[at] = new Image(); pictures[at].src = frames[at]; }}
    const wanted = at;
    pictures[at].decode().then(() => {{ if (at === wanted) draw(at); }});
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
