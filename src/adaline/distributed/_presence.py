"""`Presence`: which workers are there, which are silent, and for how long nobody has been there."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

_LOOK = 2.0  # seconds between two looks at who is there
_ANSWER = 10.0  # seconds that the scheduler may take for an answer
_QUIET = 4  # a run listens for signs of life where nothing came for one in so many of its timeout


class Presence:
    """The workers that a scheduler knows, as they were at the last look.

    Parameters
    ----------
    client : distributed.Client
    timeout : float
        Seconds without any worker, or without a sign of life of any, after which a look raises
        TimeoutError.
    """

    def __init__(self, client: Any, timeout: float) -> None:
        self.client, self.timeout = client, timeout
        self._there: dict[str, int] = {}  # threads by worker
        self._silent: dict[str, float] = {}  # workers of which nothing was heard, and until when
        self._looked, self._alone = -1e9, None  # type: float, float | None
        self._heard, self._pulse = time.monotonic(), 0.0

    @property
    def threads(self) -> int:
        """Of all workers that were there at the last look."""
        return sum(self._there.values())

    def look(self) -> None:
        """Ask the scheduler who is there; TimeoutError where nobody is left for too long."""
        now = time.monotonic()
        if now - self._looked < _LOOK:
            return
        self._looked, self._there = now, {}
        if self._is_connected():
            self._there = self.asked(self.client.scheduler.ncores)
        if self._there:
            self._alone = None
            self._listen()
            return
        self._alone = now if self._alone is None else self._alone
        if now - self._alone >= self.timeout:
            words = "" if self._is_connected() else ", and the scheduler does not answer"
            raise self._too_long(f"no worker has been there for {self.timeout:g} seconds{words}")

    def asked(self, question: Any) -> dict[str, Any]:
        """The scheduler's answer; empty where it gives none soon, as over a cable that is cut."""
        with suppress(OSError, TimeoutError):
            return dict(self.client.sync(question, callback_timeout=min(_ANSWER, self.timeout)))
        return {}

    def heard(self) -> None:
        """A worker has answered."""
        self._heard = time.monotonic()

    def be_silent(self, workers: Iterable[str], seconds: float) -> None:
        """Ask these workers last for so many seconds."""
        self._silent |= dict.fromkeys(workers, time.monotonic() + seconds)

    def others(self) -> list[str]:
        """Workers to ask first, where some are silent; empty where all are alike."""
        now = time.monotonic()
        self._silent = {who: until for who, until in self._silent.items() if until > now}
        return [who for who in self._there if who not in self._silent] if self._silent else []

    def _listen(self) -> None:
        """Look for signs of life where no task has come back for long.

        The scheduler counts a worker whose cable is cut, or that is stopped, for minutes. Only
        whether its times change is asked, not what they are: clocks differ between machines.
        """
        if time.monotonic() - self._heard <= self.timeout / _QUIET:
            return
        newest = self._pulse
        with suppress(OSError, TimeoutError):
            known = self.client.scheduler_info(n_workers=-1)["workers"].values()
            newest = max((one["last_seen"] for one in known), default=self._pulse)
        if newest != self._pulse:
            self._pulse, self._heard = newest, time.monotonic()
        elif time.monotonic() - self._heard >= self.timeout:
            count = len(self._there)
            raise self._too_long(
                f"nothing has been heard for {self.timeout:g} seconds of the {count} "
                f"worker{'s' if count > 1 else ''} that the scheduler knows"
            )

    def _too_long(self, what: str) -> TimeoutError:
        return TimeoutError(
            f"{what}. Start workers and run this again; with a checkpoint it goes on where it was."
        )

    def _is_connected(self) -> bool:
        return bool(self.client.status == "running")
