"""A command of adaline in a process of its own, watched and, if need be, ended.

What the page answers is then what the command answers, by construction. A fit that is cancelled
ends at once, and a file that needs more memory than there is ends this process, not the server.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import adaline

# The words of the command come on stdin: names of columns may be many, and of any letters.
_RUN = "import json, sys; from adaline.cli import main; main(json.load(sys.stdin))"
_SEES_US = str(Path(str(adaline.__file__)).parents[1])
_PROGRESS = "progress: "
_SAYS = "adaline: "
_PATIENCE = 3.0  # seconds to end in order


class Command:
    """A command that is running, or has ended.

    Parameters
    ----------
    words : sequence of str
        Of the command line, without "adaline"; with --json.
    folder : path
        Where it works; its output is kept there, too.
    """

    def __init__(self, words: Sequence[str], folder: Path) -> None:
        self._out, self._said = folder / ".stdout", folder / ".stderr"
        paths = [_SEES_US, *filter(None, [os.environ.get("PYTHONPATH")])]
        with open(self._out, "wb") as out, open(self._said, "wb") as said:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _RUN],
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=said,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(paths),
                    "PYTHONIOENCODING": "utf-8",
                    "ADALINE_PROGRESS": "lines",
                },
                start_new_session=True,  # Ctrl-C is for the server, which ends this one in order
            )
        weakref.finalize(self, _killed, self._process)  # at the latest when Python ends
        assert self._process.stdin is not None
        with suppress(BrokenPipeError), self._process.stdin as stdin:
            stdin.write(json.dumps(list(words)).encode())

    def ended(self, seconds: float = 0.0) -> bool:
        """Whether it has ended, after waiting that long at most."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def progress(self) -> str:
        """What it said last about how far it is."""
        said = [line for line in self._lines() if line.startswith(_PROGRESS)]
        return said[-1].removeprefix(_PROGRESS) if said else ""

    def result(self) -> Any:
        """The object that it printed; ValueError with its sentence where it could not."""
        if self._process.wait() == 0:
            return json.loads(self._out.read_text(encoding="utf-8"))
        told = [line for line in self._lines() if line.startswith(_SAYS)]
        if told:
            raise ValueError(told[-1].removeprefix(_SAYS))
        raise ValueError(
            f"the command ended with code {self._process.returncode} and said nothing; perhaps "
            "there was not enough memory."
        )

    def stop(self) -> None:
        """End it, in order where it can."""
        if self._process.poll() is not None:
            return
        self._process.terminate()
        if not self.ended(_PATIENCE):
            self._process.kill()
            self._process.wait()

    def _lines(self) -> list[str]:
        text = self._said.read_text(encoding="utf-8", errors="replace")
        return [line.strip() for line in text.splitlines() if line.strip()]


def _killed(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
        process.wait()
