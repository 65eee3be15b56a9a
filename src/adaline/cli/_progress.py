"""Progress on stderr, for people at a terminal: rows, rows a second, and time left if known."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Self

from adaline.cli._output import Out


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
    """A line that is rewritten; call it with the rows of this pass and all rows, or None."""

    def __init__(self, out: Out, about: int | None = None, stream: Any = None) -> None:
        self.stream = stream or sys.stderr
        self.on = out.at_length and self.stream.isatty()
        self.about, self.pass_, self.rows = about, 1, 0
        self.began = self._pass_began = self._shown = time.monotonic()
        self._begun_at, self._wide = 0, 0

    def __call__(self, rows: int, whole: int | None = None) -> None:
        now = time.monotonic()
        if rows < self.rows:
            self.pass_, self._pass_began, self._begun_at = self.pass_ + 1, self._shown, 0
        self.rows = rows
        if self.on and now - self._shown >= 0.2:
            self._shown = now
            self._write(self.line(now, whole))

    def line(self, now: float, whole: int | None = None) -> str:
        """What to show now."""
        spent = max(now - self._pass_began, 1e-9)
        speed = self.rows / spent
        parts = [f"pass {self.pass_}"] if self.pass_ > 1 else []
        total = whole or self.about
        of = "" if total is None else f" of {'' if whole else 'about '}{total:,}"
        parts += [f"{self.rows:,} rows{of}", f"{speed:,.0f} rows/s"]
        if total is not None and speed > 0 and total > self.rows:
            parts.append(f"{clock((total - self.rows) / speed)} left")
        else:
            parts.append(f"{clock(now - self.began)} so far")
        return ", ".join(parts)

    def _write(self, text: str) -> None:
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
