"""Progress on stderr, for people at a terminal: rows, rows a second, and time left if known.

For programs that run the command, ADALINE_PROGRESS=lines writes it as lines, "progress: ...", where
there is no terminal, too, and beside --json.
"""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import Any, Self

from adaline.cli.printing.printer import Out


def clock(seconds: float) -> str:
    """Seconds for people.

    >>> clock(7.4), clock(75), clock(7300)
    ('7 s', '1 min 15 s', '2 h 1 min')
    """
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


class Progress:
    """A line that is rewritten; call it with the rows of this pass and all rows, or None.

    Parameters
    ----------
    about : int, optional
        Rows of a pass, about.
    passes : int or None
        How many passes there are at most; None where nobody knows.
    doing : str
        What is going on, such as "measuring the quality".
    """

    def __init__(
        self,
        out: Out,
        about: int | None = None,
        stream: Any = None,
        *,
        passes: int | None = 1,
        doing: str = "",
    ) -> None:
        self.stream = stream or sys.stderr
        self.talks = out.at_length
        self.lines = os.environ.get("ADALINE_PROGRESS") == "lines"
        self.on = self.lines or (out.at_length and self.stream.isatty())
        self.passes, self.doing = passes, doing
        self.about, self.pass_, self.rows = about, 1, 0
        self.began = self._pass_began = self._shown = time.monotonic()
        self._wide = 0

    def __call__(self, rows: int, whole: int | None = None) -> None:
        now = time.monotonic()
        if rows < self.rows:
            self.pass_, self._pass_began = self.pass_ + 1, self._shown
        self.rows = rows
        if self.on and now - self._shown >= 0.2:
            self._shown = now
            self._write(self.line(now, whole))

    def line(self, now: float, whole: int | None = None) -> str:
        """What to show now."""
        spent = max(now - self._pass_began, 1e-9)
        speed = self.rows / spent
        parts = [*([self.doing] if self.doing else []), *self._which()]
        total = whole or self.about
        of = "" if total is None else f" of {'' if whole else 'about '}{total:,}"
        parts += [f"{self.rows:,} rows{of}", f"{speed:,.0f} rows/s"]
        if total is not None and speed > 0 and total > self.rows:
            parts.append(self._left((total - self.rows) / speed, total / speed))
        else:
            parts.append(f"{clock(now - self.began)} so far")
        return ", ".join(parts)

    def _which(self) -> list[str]:
        """Which pass this is, where there may be more than one."""
        if self.passes is not None and self.passes > 1:
            return [f"pass {self.pass_} of at most {max(self.passes, self.pass_)}"]
        return [f"pass {self.pass_}"] if self.pass_ > 1 or self.passes is None else []

    def _left(self, here: float, each: float) -> str:
        """The time left: of all passes where their number is known."""
        if self.passes is None:
            return f"{clock(here)} left in this pass"
        more = max(self.passes - self.pass_, 0)
        return f"{'at most ' if more else ''}{clock(here + more * each)} left"

    def resumed(self, sentence: str) -> None:
        """A run goes on from a checkpoint; said on stderr, to a log as well as to a terminal."""
        if self.talks:
            self.stream.write(f"{sentence}\n")
            self.stream.flush()

    def _write(self, text: str) -> None:
        if self.lines:
            self.stream.write(f"progress: {text}\n")
            self.stream.flush()
            return
        self.stream.write("\r" + text.ljust(self._wide))
        self.stream.flush()
        self._wide = len(text)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._wide:
            self.stream.write("\r" + " " * self._wide + "\r")
            self.stream.flush()
