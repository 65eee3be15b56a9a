"""What a command prints: an answer as text or one JSON object, and progress on stderr.

Text is printed as it is: no markup is interpreted, and control characters are made visible by
`plain`. Colour is for terminals only, and NO_COLOR is honoured.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

from adaline.cli.options import Common
from adaline.evaluation.words import name, plain

if TYPE_CHECKING:
    from adaline.evaluation.coefficients import Coefficients

MOST_COEFFICIENTS = 40  # rows of a table of coefficients: a screen
MOST_LISTED = 8  # columns that a sentence names
LABEL = 28  # characters of the names of facts
REFRESH = 0.2  # seconds between two updates of the progress
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
        self._shown = 0  # lines that are printed already

    def verdict(self, text: str) -> None:
        """Add the outcome."""
        self._parts.append(("verdict", text))

    def say(self, text: str = "", kind: str = "text") -> None:
        """Add a sentence beside the outcome, or an empty line; kind "note" is dim."""
        if text or (self._parts and self._parts[-1][1]):
            self._parts.append((kind, text))

    def warn(self, *texts: str) -> None:
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
        self._parts += [("text", f"{key.ljust(LABEL)}  {value}") for key, value in cells]

    def coefficients(self, found: Coefficients, corner: str = "") -> None:
        """Add a table of weights, the largest where they are many, with notes on it."""
        if found.heads:
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
        if sys.stdout.isatty():
            from rich.console import Console
            from rich.text import Text

            console = Console(markup=False, highlight=False, emoji=False)
            for kind, line in new:
                is_cells = kind in ("head", "row")  # which are not wrapped
                console.print(Text(line, style=_STYLES.get(kind, "")), soft_wrap=is_cells)
            return
        print(*(line for _, line in new), sep="\n", end="\n" * bool(new), flush=True)

    def finish(self, code: int = 0, **facts: Any) -> int:
        """Print the rest, or all facts as JSON; the exit code."""
        self.show()
        if self.common.json:
            answer = {"command": self.command, **self.facts, **facts, "warnings": self.warnings}
            print(json.dumps(strict(answer), allow_nan=False, ensure_ascii=True), flush=True)
        return code


class Progress:
    """A line on stderr that is rewritten; call it with the rows of this pass, and all if known.

    People see it at a terminal. With ADALINE_PROGRESS=lines it is written as lines for programs,
    "progress: ...", also beside --json. `passes` is None where nobody knows their number.
    """

    def __init__(
        self, common: Common, total: int | None = None, passes: int | None = 1, doing: str = ""
    ) -> None:
        self.is_verbose = not (common.json or common.quiet)
        self.as_lines = os.environ.get("ADALINE_PROGRESS") == "lines"
        self.total, self.passes, self.doing = total, passes, doing
        self.rows, self.pass_number = 0, 1
        self._status: Any = None
        self._shown = self._pass_began = time.monotonic()

    def __call__(self, rows: int, total: int | None = None) -> None:
        now = time.monotonic()
        if rows < self.rows:
            self.pass_number, self._pass_began = self.pass_number + 1, self._shown
        self.rows, self.total = rows, total or self.total
        if now - self._shown < REFRESH:
            return
        self._shown = now
        if self.as_lines:
            print(f"progress: {self.line(now)}", file=sys.stderr, flush=True)
        elif self._status is not None:
            self._status.update(self.line(now))

    def line(self, now: float) -> str:
        """What to show now."""
        seconds, parts = max(now - self._pass_began, 1e-9), [self.doing] if self.doing else []
        if self.passes != 1 or self.pass_number > 1:
            most = f" of at most {self.passes}" if self.passes not in (None, 1) else ""
            parts.append(f"pass {self.pass_number}{most}")
        total = "" if self.total is None else f" of {self.total:,}"
        parts += [f"{self.rows:,} rows{total}", f"{self.rows / seconds:,.0f} rows/s"]
        if self.total is None or not 0 < self.rows < self.total:
            return ", ".join([*parts, f"{timedelta(seconds=int(seconds))} so far"])
        left = timedelta(seconds=int(seconds * (self.total - self.rows) / self.rows))
        return ", ".join([*parts, f"{left} left{'' if self.passes == 1 else ' in this pass'}"])

    def resumed(self, sentence: str) -> None:
        """Print that a run goes on from a checkpoint, also where stderr is a log."""
        if self.is_verbose:
            print(sentence, file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        if self.is_verbose and not self.as_lines and sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True).status(self.doing or "reading")
            self._status.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._status is not None:
            self._status.stop()


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


def list_some(parts: Sequence[str]) -> str:
    """The first of many parts of a sentence."""
    more = f"; and {len(parts) - MOST_LISTED} more" if len(parts) > MOST_LISTED else ""
    return "; ".join(parts[:MOST_LISTED]) + more


def strict(value: Any) -> Any:
    """A value as strict JSON has it: no NaN, no infinity, no numpy."""

    def convert(value: Any) -> Any:
        if hasattr(value, "tolist"):  # numpy's arrays and numbers, without loading numpy
            return value.tolist()
        if isinstance(value, Mapping):
            return dict(value)
        is_list = isinstance(value, Sequence | set | frozenset)
        return list(value) if is_list else str(value)

    return json.loads(json.dumps(value, default=convert), parse_constant=lambda _: None)


def pick(value: Any, names: str) -> dict[str, Any]:
    """Some attributes of an object by name."""
    return {name: getattr(value, name) for name in names.split()}


def with_names(text: str, names: Sequence[str]) -> str:
    """A sentence about x0, x1, ... with the names of the columns.

    >>> with_names("x1 is a combination of x0.", ["age", "size"])
    "'size' is a combination of 'age'."
    """

    def replaced(match: re.Match[str]) -> str:
        j = int(match[1])
        return repr(name(names[j])) if j < len(names) else match[0]

    return re.sub(r"(?<![\w=])x(\d+)\b", replaced, text)
