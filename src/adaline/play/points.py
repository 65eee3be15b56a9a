"""Points of the board: their edits, presets to begin with, and the part of the plane in view."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import adaline
from adaline.play.settings import check_number, check_whole, look_up

Array = NDArray[np.float64]
CLASSES = ("A", "B", "C", "D")
MAX_POINTS = 500  # so that links and code hold them all, and every step can be shown
View = tuple[float, float, float, float]  # left, right, bottom, top


@dataclass(frozen=True, eq=False)
class Points:
    """Labelled points X (n, 2) of the plane; codes (n,) are 0 for class A, up to 3 for class D."""

    X: Array
    codes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def labels(self) -> NDArray[np.str_]:
        """The classes by name: "A", "B", ..."""
        return np.asarray(CLASSES)[self.codes]

    @property
    def present(self) -> list[int]:
        """The codes of classes that have points, in their order."""
        return [int(code) for code in np.unique(self.codes)]

    @cached_property
    def separability(self) -> adaline.Separability | None:
        """What is proven about the points; None where they are of one class."""
        if len(self.present) < 2:
            return None
        return adaline.separability(self.X, self.labels, time_limit=2.0, pairwise=False)


def check_points(X: Any, codes: Any) -> Points:
    """Points from numbers, or a ValueError."""
    places = np.array(X, dtype=np.float64).reshape(-1, 2)
    known = np.array(codes, dtype=np.int64)
    if len(places) != len(known) or len(known) > MAX_POINTS:
        raise ValueError(
            f"a board has up to {MAX_POINTS} points, each with a class; got {len(known)}."
        )
    if not (np.abs(places) <= 1e9).all():  # any round number: a board is for what one can see
        raise ValueError("a coordinate is not finite or beyond 1e9.")
    if ((known < 0) | (known >= len(CLASSES))).any():
        raise ValueError(f"a class is none of {', '.join(CLASSES)}.")
    return Points(places, known)


def edit_points(points: Points, event: Mapping[str, Any]) -> Points:
    """The points after an event "add", "move", "relabel" or "delete"."""
    X, codes, kind = points.X.tolist(), points.codes.tolist(), event["event"]
    at = len(X) if kind == "add" else check_whole(event.get("index"), "the number of a point")
    if at >= len(X) and kind != "add":
        raise ValueError(f"there is no point {at}; the board has {len(X)}.")
    if kind in ("add", "move"):
        X[at : at + 1] = [(check_number(event.get("x"), "x"), check_number(event.get("y"), "y"))]
    if kind in ("add", "relabel"):
        codes[at : at + 1] = [check_whole(event.get("label"), "a class")]
    if kind == "delete":
        del X[at], codes[at]
    return check_points(X, codes)


def link_points(link: Mapping[str, Any]) -> Points:
    """The points of a link: coordinates x and y, and the classes as one text; or of a preset."""
    if "preset" in link:
        return preset(link["preset"])
    x, y, c = (link.get(name) for name in "xyc")
    if not (
        isinstance(x, list) and isinstance(y, list) and isinstance(c, str) and len(x) == len(y)
    ):
        raise ValueError("this link is damaged: its points and classes do not match.")
    X = [(check_number(a, "x"), check_number(b, "y")) for a, b in zip(x, y, strict=True)]
    return check_points(X, ["".join(CLASSES).find(label) for label in c])


def view_of(points: Points) -> View:
    """A part of the plane that shows all points with a border."""
    if not len(points):
        return (-2.0, 2.0, -2.0, 2.0)
    low, high = points.X.min(axis=0), points.X.max(axis=0)
    size = np.maximum(high - low, 1e-9 * np.maximum(np.abs(low), np.abs(high)))
    size = np.where(size > 0, size, 1.0)
    if size.max() < 20 * size.min():  # one unit of length on both axes, so that angles are right
        size = np.full(2, size.max())
    centre, half = (low + high) / 2, 0.62 * size
    left, bottom = (centre - half).tolist()
    right, top = (centre + half).tolist()
    return (left, right, bottom, top)


def preset(name: Any) -> Points:
    """The points of a preset."""
    return look_up(PRESETS, name, "preset")[1]()


def _clouds(seed: int, size: int, *centres: tuple[float, float]) -> Points:
    spread = np.random.default_rng(seed).normal(0.0, 0.6, (len(centres), size, 2))
    X = np.array(centres)[:, None] + spread
    return check_points(X.round(3), np.repeat(np.arange(len(centres)), size))


def _gaussians() -> Points:
    rng = np.random.default_rng(3)
    a = rng.multivariate_normal([-1.0, 0.0], [[1.0, 0.6], [0.6, 1.0]], 80)
    b = rng.multivariate_normal([1.2, 0.4], [[1.0, -0.3], [-0.3, 0.7]], 80)
    return check_points(np.concatenate([a, b]).round(3), np.repeat([0, 1], 80))


def _outlier() -> Points:
    """Separable, but squared error gives the far point so much weight that it misses the line."""
    X = [[-1.2, 0.2], [-0.9, -0.6], [-1.1, 0.9], [-0.7, 0.3], [-1.4, -0.3]]
    X += [[0.6, 0.1], [0.9, -0.5], [0.7, 0.8], [0.4, 0.5], [14.0, -6.0]]
    return check_points(X, [0] * 5 + [1] * 5)


def _collinear() -> Points:
    """Almost on one line: the weight along it is well determined, the other one hardly."""
    x = np.linspace(-2.0, 2.0, 10)
    return check_points(np.column_stack([x, x + 0.02 * np.sin(7 * x)]).round(3), x > 0)


def _gate(*codes: int) -> Points:
    return check_points([[-1, -1], [1, -1], [-1, 1], [1, 1]], codes)


PRESETS: dict[str, tuple[str, Callable[[], Points]]] = {
    "and": ("AND", lambda: _gate(0, 0, 0, 1)),
    "or": ("OR", lambda: _gate(0, 1, 1, 1)),
    "xor": ("XOR", lambda: _gate(0, 1, 1, 0)),
    "four": ("Four points", lambda: check_points([[6, 9], [5, 7], [5, 9], [0, 10]], [1, 1, 0, 0])),
    "separable": ("Separable clouds", lambda: _clouds(1, 20, (-1.4, -0.6), (1.4, 0.8))),
    "gaussians": ("Overlapping Gaussians", _gaussians),
    "outlier": ("An outlier that breaks MSE", _outlier),
    "collinear": ("Nearly collinear", _collinear),
    "three": ("Three classes", lambda: _clouds(2, 15, (-1.6, -1.0), (1.6, -1.0), (0.0, 1.8))),
    "empty": ("Empty", lambda: check_points([], [])),
}
