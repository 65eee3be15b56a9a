"""What a command prints: sentences and tables, or one JSON object; and progress on stderr.

Text is printed as it is: no markup is interpreted, and control characters are made visible by
`plain`. Colour is for terminals only, and NO_COLOR is honoured.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.text import Text

from adaline.cli.options import Common
from adaline.evaluation.words import plain, plural

if TYPE_CHECKING:
    from adaline.evaluation.coefficients import Coefficients

MOST_LISTED = 8  # columns that a sentence names
MOST_WARNINGS = 4  # shown without --verbose
_STYLES = {"verdict": "bold", "warning": "yellow", "note": "dim", "head": "dim"}


class Answer:
    """The result, sentences, tables and warnings of a command, printed as they come; and its facts.

    --quiet leaves the results, --verbose adds the details, and --json prints the facts instead.
    """

    def __init__(self, command: str, common: Common | None = None) -> None:
        self.command, self.common = command, common or Common()
        self.warnings: list[str] = []
        self.facts: dict[str, Any] = {}  # for programs
        self._last_line = ""

    def verdict(self, text: str) -> None:
        """Print the result."""
        self.say(text, "verdict")

    def say(self, text: str = "", kind: str = "text") -> None:
        """Print a sentence, or an empty line; a "note" is dim, a "detail" needs --verbose."""
        is_hidden = self.common.json or (self.common.quiet and kind != "verdict")
        if is_hidden or (kind == "detail" and not self.common.verbose):
            return
        for line in text.split("\n") if text or self._last_line else ():
            self._last_line = plain(line, most=10_000)
            if sys.stdout.isatty():
                console = Console(markup=False, highlight=False, emoji=False)
                styled = Text(self._last_line, style=_STYLES.get(kind, ""))
                console.print(styled, soft_wrap=kind in ("head", "row"))  # cells are not wrapped
            else:
                print(self._last_line, flush=True)

    def warn(self, *texts: str) -> None:
        """Print doubts with advice; the same doubt once."""
        for text in dict.fromkeys(texts):
            self.warnings.append(text)
            if len(self.warnings) <= MOST_WARNINGS or self.common.verbose:
                self.say(f"Warning: {text}", "warning")

    def table(self, head: Sequence[Any], rows: Iterable[Sequence[Any]], left: bool = False) -> None:
        """Print columns: the first flush left, the others flush right unless `left`."""
        from adaline.evaluation.compare import aligned  # with all that learns: not for a help text

        cells = [[plain(cell, most=60) for cell in row] for row in (head, *rows)]
        for k, line in enumerate(aligned(cells, left=len(head) if left else 1)):
            self.say(line, "row" if k else "head")

    def pairs(self, rows: Iterable[tuple[str, str]]) -> None:
        """Print names and what belongs to them."""
        for key, value in rows:
            self.say(f"{key.ljust(28)}  {value}")

    def coefficients(self, weights: Coefficients, corner: str = "") -> None:
        """Print a table of weights, the largest if there are many, with notes on it."""
        if weights.heads:
            cells, notes = weights.cells(most=40)  # a screen
            self.say()
            self.table([corner, *weights.titles], cells)
            for note in [*(f"{note} --json has them all." for note in notes), *weights.notes]:
                self.say(note, "note")

    def finish(self, code: int = 0, /, **facts: Any) -> int:
        """Print how many warnings were not shown, or all facts as JSON; the exit code."""
        if not self.common.verbose and (more := len(self.warnings) - MOST_WARNINGS) > 0:
            self.say(f"{plural(more, 'more warning')}: see --verbose.", "warning")
        if self.common.json:
            answer = {"command": self.command, **self.facts, **facts, "warnings": self.warnings}
            print(json.dumps(strict(answer), allow_nan=False, ensure_ascii=True), flush=True)
        return code


class Progress(Bar):
    """A bar on stderr; call it with the rows of this pass, and all if known.

    People see it at a terminal. With ADALINE_PROGRESS=lines it is written as lines for programs,
    "progress: ...", also beside --json.
    """

    def __init__(self, common: Common, total: int | None = None, doing: str = "reading") -> None:
        self.rows, self.total, self.doing, self.pass_number = 0, total, doing, 1
        self.as_lines = os.environ.get("ADALINE_PROGRESS") == "lines"
        self.is_quiet, self._printed = common.json or common.quiet, 0.0
        is_hidden = self.is_quiet or self.as_lines or not sys.stderr.isatty()
        texts = map(TextColumn, ("{task.description}", "{task.completed:,} rows"))
        console = Console(stderr=True, quiet=is_hidden)  # a hidden bar would end with a line break
        columns = (*texts, BarColumn(), TimeRemainingColumn())
        super().__init__(*columns, console=console, transient=True, disable=is_hidden)
        self.add_task(doing, total=total)

    def __call__(self, rows: int, total: int | None = None) -> None:
        self.pass_number += rows < self.rows
        self.rows, self.total = rows, total or self.total
        doing = self.doing + f", pass {self.pass_number}" * (self.pass_number > 1)
        self.update(self.task_ids[0], completed=rows, total=self.total, description=doing)
        if self.as_lines and time.monotonic() - self._printed >= 0.2:
            self._printed = time.monotonic()
            every = f" of {self.total:,}" if self.total else ""
            print(f"progress: {doing}, {rows:,} rows{every}", file=sys.stderr, flush=True)

    def resumed(self, sentence: str) -> None:
        """Print that a run continues from a checkpoint, also where stderr is a log."""
        if not self.is_quiet:
            print(sentence, file=sys.stderr, flush=True)


def list_some(parts: Sequence[str]) -> str:
    """The first of many parts of a sentence."""
    more = f"; and {len(parts) - MOST_LISTED} more" if len(parts) > MOST_LISTED else ""
    return "; ".join(parts[:MOST_LISTED]) + more


def strict(value: Any) -> Any:
    """A value as strict JSON has it: no NaN, no infinity, no numpy."""

    def convert(value: Any) -> Any:
        if hasattr(value, "tolist"):  # arrays and numbers of numpy
            return value.tolist()
        return dict(value) if isinstance(value, Mapping) else str(value)

    return json.loads(json.dumps(value, default=convert), parse_constant=lambda _: None)


def pick(value: Any, names: str) -> dict[str, Any]:
    """Some attributes of an object by name."""
    return {name: getattr(value, name) for name in names.split()}
