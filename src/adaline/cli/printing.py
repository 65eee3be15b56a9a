"""What a command prints: one answer as text or as one JSON object, and progress on stderr.

Text is printed as it is: no markup is interpreted, and control characters are made visible by
`plain`. Colour is for terminals only, and NO_COLOR is honoured.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

from adaline.cli.options import Common
from adaline.evaluation.words import plain, plural

if TYPE_CHECKING:
    from adaline.evaluation.coefficients import Coefficients

MOST_COEFFICIENTS = 40  # rows of a table of coefficients: a screen
MOST_LISTED = 8  # columns that a sentence names
MOST_WARNINGS = 4  # shown without --verbose
REFRESH = 0.2  # seconds between two lines of progress
_STYLES = {"verdict": "bold", "warning": "yellow", "note": "dim", "head": "dim"}


class Answer:
    """The result, sentences, tables and warnings of a command in order, and its facts.

    --quiet leaves the results, --verbose adds the details, and --json prints the facts instead.
    """

    def __init__(self, command: str, common: Common | None = None) -> None:
        self.command, self.common = command, common or Common()
        self.warnings: list[str] = []
        self.facts: dict[str, Any] = {}  # for programs
        self._parts: list[tuple[str, str]] = []  # kind and text
        self._shown = 0  # lines that are printed already

    def verdict(self, text: str) -> None:
        """Add the result."""
        self._parts.append(("verdict", text))

    def say(self, text: str = "", kind: str = "text") -> None:
        """Add a sentence, or an empty line; a "note" is dim, a "detail" needs --verbose."""
        if kind == "detail" and not self.common.verbose:
            return
        if text or (self._parts and self._parts[-1][1]):
            self._parts.append((kind, text))

    def warn(self, *texts: str) -> None:
        """Add doubts with advice; the same doubt once."""
        for text in dict.fromkeys(texts):
            self.warnings.append(text)
            if len(self.warnings) <= MOST_WARNINGS or self.common.verbose:
                self.say(f"Warning: {text}", "warning")

    def table(self, head: Sequence[Any], rows: Iterable[Sequence[Any]], left: bool = False) -> None:
        """Add columns side by side: the first to the left, the others to the right, or all left."""
        from adaline.evaluation.compare import aligned  # with numpy: not for a help text

        cells = [[plain(cell, most=60) for cell in row] for row in (head, *rows)]
        lines = aligned(cells, left=len(head) if left else 1)
        self._parts += [("row" if k else "head", line) for k, line in enumerate(lines)]

    def pairs(self, rows: Iterable[tuple[str, str]]) -> None:
        """Add names and what belongs to them."""
        for key, value in rows:
            self.say(f"{key.ljust(28)}  {value}")

    def coefficients(self, found: Coefficients, corner: str = "") -> None:
        """Add a table of weights, the largest if there are many, with notes on it."""
        if found.heads:
            cells, notes = found.cells(MOST_COEFFICIENTS)
            self.say()
            self.table([corner, *found.titles], cells)
            for note in [*(f"{note} --json has them all." for note in notes), *found.notes]:
                self.say(note, "note")

    def show(self) -> None:
        """Print what was added since the last call; nothing with --json."""
        lines = [
            (kind, plain(line, most=10_000))
            for kind, text in ([] if self.common.json else self._parts)
            if kind == "verdict" or not self.common.quiet
            for line in text.split("\n")
        ]
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

    def finish(self, code: int = 0, /, **facts: Any) -> int:
        """Print the rest, or all facts as JSON; the exit code."""
        if not self.common.verbose and (more := len(self.warnings) - MOST_WARNINGS) > 0:
            self.say(f"{plural(more, 'more warning')}: see --verbose.", "warning")
        self.show()
        if self.common.json:
            answer = {"command": self.command, **self.facts, **facts, "warnings": self.warnings}
            print(json.dumps(strict(answer), allow_nan=False, ensure_ascii=True), flush=True)
        return code


class Progress:
    """A bar on stderr; call it with the rows of this pass, and all if known.

    People see it at a terminal. With ADALINE_PROGRESS=lines it is written as lines for programs,
    "progress: ...", also beside --json.
    """

    def __init__(self, common: Common, total: int | None = None, doing: str = "reading") -> None:
        self.is_verbose = not (common.json or common.quiet)
        self.as_lines = os.environ.get("ADALINE_PROGRESS") == "lines"
        self.total, self.doing, self.rows, self.pass_number = total, doing, 0, 1
        self._shown, self._bar = 0.0, cast(Any, None)

    def __call__(self, rows: int, total: int | None = None) -> None:
        self.pass_number += rows < self.rows
        self.rows, self.total = rows, total or self.total
        doing = self.doing + f", pass {self.pass_number}" * (self.pass_number > 1)
        if self._bar is not None:
            self._bar.update(0, completed=rows, total=self.total, description=doing)
        elif self.as_lines and time.monotonic() - self._shown >= REFRESH:
            self._shown = time.monotonic()
            every = f" of {self.total:,}" if self.total else ""
            print(f"progress: {doing}, {rows:,} rows{every}", file=sys.stderr, flush=True)

    def resumed(self, sentence: str) -> None:
        """Print that a run goes on from a checkpoint, also where stderr is a log."""
        if self.is_verbose:
            print(sentence, file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        if self.is_verbose and not self.as_lines and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            texts = map(TextColumn, ("{task.description}", "{task.completed:,} rows"))
            columns = (*texts, BarColumn(), TimeRemainingColumn())
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._bar.add_task(self.doing, total=self.total)
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def list_some(parts: Sequence[str]) -> str:
    """The first of many parts of a sentence."""
    more = f"; and {len(parts) - MOST_LISTED} more" if len(parts) > MOST_LISTED else ""
    return "; ".join(parts[:MOST_LISTED]) + more


def strict(value: Any) -> Any:
    """A value as strict JSON has it: no NaN, no infinity, no numpy."""

    def convert(value: Any) -> Any:
        if hasattr(value, "tolist"):  # numpy's arrays and numbers, without loading numpy
            return value.tolist()
        kind = {Mapping: dict, Sequence: list}
        return next((make(value) for of, make in kind.items() if isinstance(value, of)), str(value))

    return json.loads(json.dumps(value, default=convert), parse_constant=lambda _: None)


def pick(value: Any, names: str) -> dict[str, Any]:
    """Some attributes of an object by name."""
    return {name: getattr(value, name) for name in names.split()}
