"""What a command answers, as plain data that renders as text for people or as one JSON object.

Text is printed as it is: no markup is interpreted, and control characters are made visible by
`plain`. Colour is for terminals only, and NO_COLOR is honoured.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adaline.cli.options import Common
from adaline.evaluation.words import name, plain

if TYPE_CHECKING:
    from adaline.evaluation.coefficients import Coefficients

MOST_COEFFICIENTS = 40  # rows of a table of coefficients: a screen
_STYLES = {"verdict": "bold", "warning": "yellow", "note": "dim", "head": "dim"}


class Answer:
    """The verdict, sentences, tables and warnings of a command in order, and its facts.

    With --quiet only verdicts are printed, and with --json only the facts.
    """

    def __init__(self, command: str, common: Common | None = None) -> None:
        self.command, self.common = command, common or Common()
        self.warnings: list[str] = []
        self.facts: dict[str, Any] = {}  # for programs
        self._parts: list[tuple[str, str]] = []  # kind and text
        self._shown = 0  # parts that are printed already

    def verdict(self, text: str) -> None:
        """Add the outcome."""
        self._parts.append(("verdict", text))

    def say(self, text: str = "", kind: str = "text") -> None:
        """Add a sentence beside the outcome, or an empty line; kind "note" is dim."""
        if text or (self._parts and self._parts[-1][1]):
            self._parts.append((kind, text))

    def warn(self, texts: Iterable[str]) -> None:
        """Add doubts with advice; the same doubt once."""
        for text in dict.fromkeys(texts):
            self.warnings.append(text)
            self._parts.append(("warning", f"Warning: {text}"))

    def table(self, head: Sequence[Any], rows: Iterable[Sequence[Any]], left: bool = False) -> None:
        """Add columns side by side: the first to the left, the others to the right, or all left."""
        lines = aligned([head, *rows], left)
        self._parts += [("row" if k else "head", line) for k, line in enumerate(lines)]

    def pairs(self, rows: Iterable[tuple[str, str]]) -> None:
        """Add names and what belongs to them."""
        cells = [(plain(key), plain(value, most=1000)) for key, value in rows]
        width = max((len(key) for key, _ in cells), default=0)
        self._parts += [("text", f"{key.ljust(width)}  {value}") for key, value in cells]

    def coefficients(self, found: Coefficients, corner: str = "") -> None:
        """Add a table of weights, the largest where they are many, with notes on it."""
        if not found.heads:
            return
        cells, notes = found.cells(MOST_COEFFICIENTS)
        self.say()
        self.table([corner, *found.titles], cells)
        for note in [*(f"{note} --json has them all." for note in notes), *found.notes]:
            self.say(note, "note")

    def lines(self, quiet: bool = False) -> list[tuple[str, str]]:
        """Kinds and plain lines of all parts, of verdicts only where quiet."""
        return [
            (kind, plain(line, most=10_000))
            for kind, text in self._parts
            if kind == "verdict" or not quiet
            for line in text.split("\n")
        ]

    def show(self) -> None:
        """Print what was added since the last call; nothing with --json."""
        lines = [] if self.common.json else self.lines(self.common.quiet)
        new, self._shown = lines[self._shown :], len(lines)
        if not sys.stdout.isatty():
            sys.stdout.writelines(f"{line}\n" for _, line in new)
            return
        from rich.console import Console
        from rich.text import Text

        console = Console(markup=False, highlight=False, emoji=False)
        for kind, line in new:
            is_cells = kind in ("head", "row")  # which are not wrapped
            console.print(Text(line, style=_STYLES.get(kind, "")), soft_wrap=is_cells)

    def finish(self, code: int = 0, **facts: Any) -> int:
        """Print the rest, or all facts as JSON; the exit code."""
        self.show()
        if self.common.json:
            answer = {"command": self.command, **facts, "warnings": self.warnings}
            print(json.dumps(strict(answer), allow_nan=False, ensure_ascii=True))
        return code


def aligned(rows: Sequence[Sequence[Any]], left: bool = False) -> list[str]:
    """Rows of cells as lines.

    >>> aligned([["", "low"], ["x", 1]])
    ['   low', 'x    1']
    """
    cells = [[plain(cell, most=60) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if j == 0 or left else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def strict(value: Any) -> Any:
    """A value as strict JSON has it: no NaN, no infinity, no numpy."""
    if hasattr(value, "tolist"):  # numpy's arrays and numbers, without loading numpy
        return strict(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): strict(part) for key, part in value.items()}
    if isinstance(value, Sequence | set | frozenset):
        return [strict(part) for part in value]
    return str(value)


def with_names(text: str, names: Sequence[str]) -> str:
    """A sentence about x0, x1, ... with the names of the columns.

    >>> with_names("x1 is a combination of x0.", ["age", "size"])
    "'size' is a combination of 'age'."
    """

    def replaced(match: re.Match[str]) -> str:
        j = int(match[1])
        return repr(name(names[j])) if j < len(names) else match[0]

    return re.sub(r"(?<![\w=])x(\d+)\b", replaced, text)


def size(count: float) -> str:
    """Bytes for people.

    >>> size(2048), size(3.5e9)
    ('2.0 kB', '3.5 GB')
    """
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.{0 if unit == 'bytes' else 1}f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"
