"""Where pictures are drawn: colours, figures without global state, and SVG that stands alone."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakKeyDictionary
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from adaline import MissingExtra
from adaline.evaluation.words import DateColumn, plural
from adaline.plot._svg import lean
from adaline.plot.palette import COLOURS, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

LINES = ("-", "--", "-.", ":")
INK, PAPER = "#000000", "#ffffff"

MANY_POINTS = 500  # beyond this a cloud of points is a picture in the picture
_LONG = 28  # characters of a name that fit beside an axis

_BELOW, _LINE = 40.0, 17.0  # points: room for the labels of an axis, and of a line of a legend
_USUAL = 5  # letters beside an axis that there is always room for
_LETTERS, _KEY = 12.5, 6  # letters of a legend an inch, and letters' room of a mark
_OWN: WeakKeyDictionary[Any, float] = WeakKeyDictionary()  # our figures, and their heights

_FONTS = "'DejaVu Sans', Verdana, sans-serif"

_STYLE = {
    "font.size": 10.0,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "legend.frameon": True,
    "legend.framealpha": 0.85,
    "legend.edgecolor": "none",
    "legend.fontsize": 9.8,
    "lines.linewidth": 1.5,
    "savefig.dpi": 110,
    "svg.fonttype": "none",
    "svg.hashsalt": "adaline",
}


class Display:
    """What all displays share: `plot`, the axes and the figure it drew on, and `svg`.

    Attributes
    ----------
    ax_ : Axes, or array of Axes
        Where the last `plot` drew.
    figure_ : Figure
    """

    ax_: Any
    figure_: Any
    panels = 1  # axes side by side
    size: tuple[float, float] = (5.2, 3.6)  # inches of one panel
    beside = 4  # letters' room that labels and a colour bar take from the title

    @property
    def claim(self) -> str:
        """What the picture says, in a sentence: its title, and its text for who cannot see it."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """The claim: a notebook shows it below the picture, where all numbers would fill pages."""
        return f"<{type(self).__name__}: {self.claim}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.claim)}</p>"

    def plot(self, ax: Any = None, *, title: bool = True) -> Self:
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            For a display of several panels, as many axes.
        title : bool, default=True
            Whether to write `claim` over the picture.

        Returns
        -------
        self, with `ax_` and `figure_`
        """
        with style():
            axes = self._axes(ax)
            self._draw(axes)
            if title and self.panels == 1:
                axes[0].set_title(self._title())
            elif title and ax is None:
                words = self._title()
                axes[0].figure.suptitle(words, x=0.01, ha="left", fontsize=_STYLE["axes.titlesize"])
        self.ax_ = axes[0] if self.panels == 1 else np.array(axes, dtype=object)
        self.figure_ = axes[0].figure
        return self

    def svg(self, key: str = "picture", *, title: bool = True) -> str:
        """The picture as SVG: text stays text, ids begin with `key`, the same each time."""
        if not title or not hasattr(self, "figure_"):
            self.plot(title=title)
        return svg_of(self.figure_, key, self.claim)

    def svgs(self, key: str = "picture") -> list[str]:
        """Each panel as an SVG of its own, without the claim, for pages that are narrow."""
        if self.panels == 1:
            return [self.svg(key, title=False)]
        with style():
            axes = [figure(*self.size).subplots() for _ in range(self.panels)]
            self._draw(axes)
        parts = [self.claim, *(axis.get_title(loc="left") for axis in axes[1:])]
        named = enumerate(zip(axes, parts, strict=True))
        return [svg_of(axis.figure, f"{key}-{k}", words) for k, (axis, words) in named]  # type: ignore[arg-type]

    def _repr_svg_(self) -> str | None:
        return self.svg() if hasattr(self, "figure_") else None

    def _draw(self, axes: list[Axes]) -> None:
        raise NotImplementedError

    def _title(self) -> str:
        """The claim in lines that fit over the axes: about ten letters an inch."""
        width = int(10 * self.size[0] * self.panels) - (self.beside if self.panels == 1 else 0)
        return wrapped(self.claim, width).replace("$", r"\$")

    def _axes(self, ax: Any) -> list[Axes]:
        if ax is None:
            width, height = self.size
            return list(
                figure(width * self.panels, height).subplots(1, self.panels, squeeze=False)[0]
            )
        axes = list(np.ravel(np.asarray(ax, dtype=object)))
        if len(axes) != self.panels:
            raise ValueError(
                f"{type(self).__name__} draws {self.panels} panels and got {len(axes)} axes; give "
                "one for each, or none."
            )
        return axes


def figure(width: float, height: float) -> Figure:
    """A figure that belongs to nobody but its display: no window, no global list."""
    _need_matplotlib()
    from matplotlib.figure import Figure

    made = Figure(figsize=(width, height), layout="constrained")
    _OWN[made] = height
    return made


@contextmanager
def style() -> Iterator[None]:
    """Our settings while we draw, the user's before and after."""
    _need_matplotlib()
    import matplotlib as mpl

    with mpl.rc_context(_STYLE):  # type: ignore[arg-type]
        yield


def _need_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtra.of("plot", "a picture", "matplotlib") from None


def short(text: Any, most: int = _LONG) -> str:
    """A name as it can be shown: no control characters, not too long.

    >>> short("a" * 40, most=8)
    'aaaaaaa…'
    """
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text))
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def plain(text: Any, most: int = _LONG) -> str:
    """The same as matplotlib has to be told: dollars are no formulas, and nothing is hidden."""
    shown = short(text, most).replace("$", r"\$")
    # A legend leaves out what begins with an underscore.
    return f"\N{ZERO WIDTH SPACE}{shown}" if shown.startswith("_") else shown


def label_axes(ax: Axes, x: str, y: str | None = None, width: int = _LONG) -> None:
    """Names of columns along the axes; days since 1970, which are matplotlib's own, are dates."""
    ax.set_xlabel(plain(x, width))
    if isinstance(x, DateColumn):
        ax.xaxis_date()
        ax.tick_params(axis="x", labelrotation=30)
    if y is not None:
        ax.set_ylabel(plain(y, width))
        if isinstance(y, DateColumn):
            ax.yaxis_date()


def many(n: int, noun: str = "row") -> str:
    """A count and its noun.

    >>> many(1), many(3)
    ('1 row', '3 rows')
    """
    return plural(n, noun)


def wrapped(text: str, width: int) -> str:
    """A title in lines of at most about `width` characters."""
    lines, line = [], ""
    for word in text.replace(" %", "\N{NO-BREAK SPACE}%").split(" "):
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return "\n".join([*lines, line])


def colour(k: int) -> str:
    """The colour of class or curve k."""
    return COLOURS[k % len(COLOURS)]


def tint(colour: str, alpha: float) -> tuple[float, float, float, float]:
    """A colour as numbers, with its opacity."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue, alpha


def marker(k: int) -> str:
    """The marker of class k: with the colours, 144 classes look different."""
    return MARKERS[(k + k // len(COLOURS)) % len(MARKERS)]


def points(ax: Axes, x: Any, y: Any, k: int, **more: Any) -> None:
    """A class as points: fewer, fainter and flattened to pixels where there are many."""
    many = len(x) > MANY_POINTS
    look: dict[str, Any] = {
        "color": colour(k),
        "marker": marker(k),
        "s": 9 if many else 24,
        "alpha": 0.55 if many else 0.85,
        "linewidths": 0 if many else 0.5,
        "edgecolors": "none" if many else PAPER,
        "rasterized": many,
        "zorder": 3,
    }
    ax.scatter(x, y, **{**look, **more})


def level(ax: Axes, value: float, words: str = "", along: str = "h", **more: Any) -> None:
    """A thin reference line across the axes."""
    draw = ax.axhline if along == "h" else ax.axvline
    draw(
        value, **{"color": INK, "linewidth": 0.9, "linestyle": ":", "label": words or None, **more}
    )


def legend(ax: Axes, **more: Any) -> None:
    """A legend where there is something to tell: below the axes, where it covers nothing.

    On axes of the user's own, whose figure has no layout that would make room, it is inside.
    """
    labels = ax.get_legend_handles_labels()[1]
    if not labels:
        return
    figure: Any = ax.figure
    if type(figure.get_layout_engine()).__name__ != "ConstrainedLayoutEngine":
        ax.legend(**{"facecolor": PAPER, **more})
        return
    from matplotlib.transforms import ScaledTranslation

    # Words beside the axis take from its width, as the layout will find out.
    words = max((len(text.get_text()) for text in ax.get_yticklabels()), default=0)
    taken = max(words - _USUAL, 0) / _LETTERS
    columns = _columns(labels, figure.get_figwidth() * ax.get_position().width - taken)
    below = ax.transAxes + ScaledTranslation(0, -_BELOW / 72, figure.dpi_scale_trans)
    place = {"loc": "upper left", "bbox_to_anchor": (0.0, 0.0), "bbox_transform": below}
    rest = {key: value for key, value in more.items() if key not in ("loc", "ncols", "ncol")}
    ax.legend(**{**place, "ncols": columns, "borderaxespad": 0.0, "frameon": False, **rest})
    if figure in _OWN:
        height = _OWN[figure] + _LINE / 72 * -(-len(labels) // columns)
        figure.set_figheight(max(figure.get_figheight(), height))


def _columns(labels: list[str], inches: float) -> int:
    """How many columns of these labels fit side by side, each as wide as its widest.

    >>> _columns(["a", "b", "a very long label of a line"], 4.0), _columns(["a"] * 40, 4.0)
    (3, 7)
    """
    for count in range(len(labels), 1, -1):
        each = -(-len(labels) // count)
        parts = [labels[i : i + each] for i in range(0, len(labels), each)]
        if sum(max(map(len, part)) + _KEY for part in parts) <= inches * _LETTERS:
            return len(parts)
    return 1


def svg_of(drawn: Figure, key: str, words: str) -> str:
    """A figure as one `<svg>` element for a page: no ids shared with others, no date, no script.

    Black follows the page's text colour and white its background (`--paper`), for dark pages.
    """
    import matplotlib as mpl

    out = io.BytesIO()
    with mpl.rc_context(_STYLE), warnings.catch_warnings():  # type: ignore[arg-type]
        # Letters that matplotlib's font lacks are drawn by the reader's fonts.
        warnings.filterwarnings("ignore", message=".*missing from .*font", category=UserWarning)
        nothing = dict.fromkeys(["Date", "Creator", "Format", "Type"])
        drawn.savefig(out, format="svg", metadata=nothing)
    root = ElementTree.fromstring(out.getvalue())
    lean(root, key)
    for name in ("width", "height"):
        root.attrib.pop(name, None)
    root.attrib |= {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "aria-label": words}
    root.attrib |= {"fill": "currentColor", "stroke-linejoin": "round", "font-family": _FONTS}
    return ElementTree.tostring(root, encoding="unicode")
