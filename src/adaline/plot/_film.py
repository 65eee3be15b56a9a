"""Frames as files: PNG, and HTML with buttons that needs no network."""

from __future__ import annotations

import base64
import html
import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from adaline.plot.animation import Animation

_COLOURS = 64  # of a film: enough for the edges of letters, and a third of the size of 256
_AREAS = 24  # of these colours are those of large areas
_SAME = _COLOURS  # one colour more, which is seen through: pixels that do not change


def canvas(figure: Any, dpi: int) -> Any:
    """What turns the figure into pixels, whatever matplotlib's backend is."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure.set_dpi(dpi)
    return FigureCanvasAgg(figure)


def still(film: Animation) -> bytes:
    """The last frame as PNG, in all its colours."""
    from PIL import Image

    return _png(Image.fromarray(film.pixels(-1)))


def player(film: Animation) -> str:
    """The last frame, and for each frame a picture of the pixels that differ from it."""
    images = _images(film)
    still = np.asarray(images[-1])
    others = [_url(_png(_difference(image, still))) for image in images]
    width, height = images[-1].size
    return _PLAYER.format(
        still=_url(_png(images[-1])),
        frames=html.escape(json.dumps(others)),
        claims=html.escape(json.dumps(film.claims)),
        words=html.escape(film.claims[-1]),
        last=len(film) - 1,
        **{"interval": film.interval, "width": width, "height": height},
    )


def page(body: str, title: str) -> str:
    """A page of its own."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title></head>\n"
        f'<body style="font-family: sans-serif">\n{body}\n</body></html>\n'
    )


def _images(film: Animation) -> list[Any]:
    """Frames of few colours, the same ones: those of the first, the middle and the last frame."""
    from PIL import Image

    frames = [film.pixels(k) for k in range(len(film))]
    palette = _palette(np.vstack([frames[k] for k in sorted({0, len(frames) // 2, -1})]))
    images = []
    for frame in frames:
        colours, place = _distinct(frame)
        away = np.sum((colours[:, None, :] - palette[None, :, :]) ** 2, axis=2)
        nearest = away.argmin(axis=1).astype(np.uint8)
        image = Image.fromarray(nearest[place].reshape(frame.shape[:2]))
        image.putpalette(palette.ravel().tolist())
        images.append(image)
    return images


def _palette(pixels: Any) -> Any:
    """The colours of large areas as they are, and others that cover the rest, (64, 3)."""
    from PIL import Image

    colours, place = _distinct(pixels)
    common = np.argsort(-np.bincount(place), kind="stable")[:_AREAS]
    covering = Image.fromarray(pixels).quantize(
        _COLOURS - _AREAS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
    )
    others = np.array(covering.getpalette(), dtype=np.int64).reshape(-1, 3)[: _COLOURS - _AREAS]
    return np.vstack([colours[common], others])


def _distinct(pixels: Any) -> tuple[Any, Any]:
    """The colours of a picture, (m, 3), and which of them each pixel has."""
    red, green, blue = np.moveaxis(pixels.astype(np.int64), -1, 0)
    codes, place = np.unique((red << 16) + (green << 8) + blue, return_inverse=True)
    colours = np.stack([codes >> 16, (codes >> 8) & 255, codes & 255], axis=1)
    return colours, np.ravel(place)


def _difference(image: Any, still: Any) -> Any:
    """The frame where it is not as the still picture, and nothing elsewhere."""
    from PIL import Image

    here = np.asarray(image)
    made = Image.fromarray(np.where(here == still, np.uint8(_SAME), here))
    known = image.getpalette()[: 3 * _COLOURS]
    made.putpalette(known + [0] * (3 * (_SAME + 1) - len(known)))
    made.info["transparency"] = _SAME
    return made


def _png(image: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


def _url(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


# Nothing plays by itself. Without scripts there is the last frame and what it says. On dark pages
# themes of Sphinx change pictures, but not those of the class dark-light. A frame is put together
# on a canvas, pixel by pixel: two pictures on top of each other have seams where they are scaled.
_PLAYER = """\
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
