"""Progress on stderr, for people at a terminal: rows, rows per second, and time left if known.

With ADALINE_PROGRESS=lines it is written as lines, "progress: ...", where there is no terminal,
too, and beside --json: for programs that run the command.
"""

from __future__ import annotations

import os
import sys
import time
from datetime import timedelta
from typing import Any, Self

from adaline.cli.options import Common

REFRESH = 0.2  # seconds between two updates


class Progress:
    """A line that is rewritten; call it with the rows of this pass and all rows, or None.

    Parameters
    ----------
    total : int, optional
        Rows of a pass, approximately.
    passes : int or None
        How many passes there are at most; None where nobody knows.
    doing : str
        What is going on, such as "measuring the quality".
    """

    def __init__(
        self,
        common: Common,
        total: int | None = None,
        *,
        passes: int | None = 1,
        doing: str = "",
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
        seconds = max(now - self._pass_began, 1e-9)
        parts = [self.doing] if self.doing else []
        if self.passes is not None and self.passes > 1:
            parts.append(f"pass {self.pass_number} of at most {self.passes}")
        elif self.passes is None or self.pass_number > 1:
            parts.append(f"pass {self.pass_number}")
        total = "" if self.total is None else f" of {self.total:,}"
        parts += [f"{self.rows:,} rows{total}", f"{self.rows / seconds:,.0f} rows/s"]
        if self.total is not None and 0 < self.rows < self.total:
            left = seconds * (self.total - self.rows) / self.rows
            each = "" if self.passes == 1 else " in this pass"
            return ", ".join([*parts, f"{timedelta(seconds=int(left))} left{each}"])
        return ", ".join([*parts, f"{timedelta(seconds=int(seconds))} so far"])

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
