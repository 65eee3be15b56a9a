"""Draws the block diagrams of docs/filters.md into docs/flows: who feeds whom, as plain SVG.

python docs/flows.py
"""

from __future__ import annotations

from html import escape
from pathlib import Path

HERE = Path(__file__).parent
HIGH, LOW = 40, 110  # the two rows of every diagram
HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {top} {w} {h}" width="{w}" height="{h}" '
    'font-family="sans-serif" font-size="15">'
    '<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
    'orient="auto"><path d="M0 0 8 4 0 8z" fill="#222"/></marker></defs>'
    '<rect y="{top}" width="{w}" height="{h}" rx="6" fill="white"/>'
)


def box(x: int, y: int, width: int, text: str) -> str:
    """A box whose left side is at x."""
    size = f'x="{x}" y="{y - 18}" width="{width}" height="36" rx="4"'
    shape = f'<rect {size} fill="#DCEAF5" stroke="#222"/>'
    return shape + words(x + width // 2, y + 5, text, "middle")


def words(x: int, y: int, text: str, anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="#222">{escape(text)}</text>'


def arrow(*points: tuple[int, int], head: bool = True) -> str:
    """A line through points, with its head at the last one."""
    path = " ".join(f"{x},{y}" for x, y in points)
    end = ' marker-end="url(#a)"' if head else ""
    return f'<polyline points="{path}" fill="none" stroke="#222" stroke-width="1.4"{end}/>'


def minus(x: int, above: bool = True) -> str:
    """The circle where y is taken from d; d comes from above, or from below."""
    circle = f'<circle cx="{x}" cy="{LOW}" r="11" fill="white" stroke="#222"/>'
    plus = words(x + 8, LOW - 17, "+") if above else words(x + 8, LOW + 27, "+")
    return circle + plus + words(x - 24, LOW - 6, "−")


def result(x: int, text: str, y: int = LOW + 5, anchor: str = "start") -> str:
    style = f'text-anchor="{anchor}" fill="#B04A00" font-weight="bold"'
    return f'<text x="{x}" y="{y}" {style}>{escape(text)}</text>'


# Name: width, top, height, and what is drawn.
DIAGRAMS: dict[str, tuple[int, int, int, list[str]]] = {
    "filter": (
        560,
        0,
        175,
        [
            words(10, LOW + 5, "x(n)"),
            arrow((45, LOW), (105, LOW)),
            box(105, LOW, 150, "w: taps weights"),
            arrow((255, LOW), (339, LOW)),
            words(275, LOW - 8, "y(n)"),
            minus(350),
            words(350, 22, "d(n), the desired signal", "middle"),
            arrow((350, 30), (350, LOW - 12)),
            arrow((361, LOW), (425, LOW)),
            words(432, LOW + 5, "e(n) = d(n) − y(n)"),
            arrow((395, LOW), (395, 152), (180, 152), (180, LOW + 19)),
            words(288, 170, "the error adapts the weights", "middle"),
        ],
    ),
    "identify": (
        560,
        0,
        158,
        [
            words(10, HIGH + 5, "x"),
            arrow((25, HIGH), (110, HIGH)),
            box(110, HIGH, 150, "unknown system"),
            arrow((260, HIGH), (350, HIGH), (350, LOW - 12)),
            words(300, HIGH - 8, "d"),
            arrow((65, HIGH), (65, LOW), (110, LOW)),
            box(110, LOW, 150, "filter"),
            arrow((260, LOW), (339, LOW)),
            words(300, LOW - 8, "y"),
            minus(350),
            arrow((361, LOW), (410, LOW)),
            words(418, LOW + 5, "e"),
            result(185, "result: the weights", 150, "middle"),
        ],
    ),
    "cancel": (
        620,
        0,
        145,
        [
            words(10, HIGH + 5, "signal + noise = d, the primary"),
            arrow((230, HIGH), (400, HIGH), (400, LOW - 12)),
            words(10, LOW + 5, "noise = x, the reference"),
            arrow((180, LOW), (220, LOW)),
            box(220, LOW, 90, "filter"),
            arrow((310, LOW), (389, LOW)),
            words(340, LOW - 8, "y"),
            minus(400),
            arrow((411, LOW), (450, LOW)),
            result(458, "result: e, the signal"),
        ],
    ),
    "predict": (
        560,
        0,
        145,
        [
            words(10, HIGH + 5, "signal"),
            arrow((60, HIGH), (420, HIGH), (420, LOW - 12)),
            words(370, HIGH - 8, "d"),
            arrow((85, HIGH), (85, LOW), (115, LOW)),
            box(115, LOW, 70, "delay"),
            arrow((185, LOW), (235, LOW)),
            words(205, LOW - 8, "x"),
            box(235, LOW, 80, "filter"),
            arrow((315, LOW), (409, LOW)),
            words(345, LOW - 8, "y"),
            minus(420),
            arrow((431, LOW), (470, LOW)),
            words(478, LOW + 5, "e"),
            result(345, "result: y", 138, "middle"),
        ],
    ),
    "equalise": (
        620,
        62,
        130,
        [
            words(10, LOW + 5, "sent"),
            arrow((48, LOW), (80, LOW)),
            box(80, LOW, 80, "channel"),
            arrow((160, LOW), (290, LOW)),
            words(168, LOW - 8, "x, the received"),
            box(290, LOW, 80, "filter"),
            arrow((370, LOW), (469, LOW)),
            words(400, LOW - 8, "y"),
            minus(480, above=False),
            arrow((491, LOW), (530, LOW)),
            words(538, LOW + 5, "e"),
            arrow((62, LOW), (62, 160), (80, 160)),
            box(80, 160, 80, "delay"),
            arrow((160, 160), (480, 160), (480, LOW + 12)),
            words(168, 180, "d: training, then the nearest symbol"),
            result(405, "result: y", 138, "middle"),
        ],
    ),
    "echo": (
        640,
        0,
        145,
        [
            words(10, HIGH + 5, "far end"),
            arrow((65, HIGH), (115, HIGH)),
            box(115, HIGH, 180, "loudspeaker, room"),
            arrow((295, HIGH), (340, HIGH)),
            words(347, HIGH + 5, "microphone = d"),
            words(545, HIGH + 5, "near end"),
            arrow((540, HIGH), (465, HIGH)),
            arrow((400, HIGH + 12), (400, LOW - 12)),
            arrow((90, HIGH), (90, LOW), (160, LOW)),
            words(120, LOW - 8, "x"),
            box(160, LOW, 90, "filter"),
            arrow((250, LOW), (389, LOW)),
            words(310, LOW - 8, "y"),
            minus(400),
            arrow((411, LOW), (450, LOW)),
            result(458, "result: e, the near end"),
        ],
    ),
    "control": (
        620,
        0,
        145,
        [
            words(10, HIGH + 5, "noise"),
            arrow((55, HIGH), (120, HIGH)),
            box(120, HIGH, 130, "primary path"),
            arrow((250, HIGH), (450, HIGH), (450, LOW - 12)),
            words(400, HIGH - 8, "d"),
            arrow((85, HIGH), (85, LOW), (150, LOW)),
            words(112, LOW - 8, "x"),
            box(150, LOW, 80, "filter"),
            arrow((230, LOW), (300, LOW)),
            words(260, LOW - 8, "u"),
            box(300, LOW, 60, "s"),
            arrow((360, LOW), (439, LOW)),
            words(390, LOW - 8, "y"),
            minus(450),
            arrow((461, LOW), (500, LOW)),
            words(508, LOW + 5, "e = d − y"),
        ],
    ),
}


def write(folder: Path) -> None:
    """Each diagram as a file of its name."""
    for name, (width, top, height, parts) in DIAGRAMS.items():
        text = HEAD.format(w=width, top=top, h=height) + "".join(parts) + "</svg>\n"
        (folder / f"{name}.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(HERE / "flows")
