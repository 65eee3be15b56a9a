"""A command of adaline in a process of its own, and the folder it works in.

What the page answers is then what the command answers, by construction. A fit that is cancelled
ends at once, and a file that needs more memory than there is ends this process, not the server.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import adaline

# The words of the command come on stdin: names of columns may be many, and of any letters.
PROGRAM = "import json, sys; from adaline.cli import main; main(json.load(sys.stdin))"
PACKAGE_PATH = str(Path(str(adaline.__file__)).parents[1])
PROGRESS = "progress: "
PREFIX = "adaline: "  # of the command's errors
GRACE_PERIOD = 3.0  # seconds to end after SIGTERM; any round number
MAX_STEM = 80  # letters of a file name


class Command:
    """A command that is running, or has ended.

    Parameters
    ----------
    words : sequence of str
        Of the command line, without "adaline"; with --json.
    folder : path
        Where it works; its output goes there, too.
    """

    def __init__(self, words: Sequence[str], folder: Path) -> None:
        self._stdout, self._stderr = folder / ".stdout", folder / ".stderr"
        paths = [PACKAGE_PATH, *filter(None, [os.environ.get("PYTHONPATH")])]
        settings = {"PYTHONIOENCODING": "utf-8", "ADALINE_PROGRESS": "lines"}
        with open(self._stdout, "wb") as stdout, open(self._stderr, "wb") as stderr:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", PROGRAM],
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=stdout,
                stderr=stderr,
                env={**os.environ, **settings, "PYTHONPATH": os.pathsep.join(paths)},
                start_new_session=True,  # Ctrl-C is for the server, which then stops this one
            )
        weakref.finalize(self, _kill, self._process)  # at the latest when Python ends
        assert self._process.stdin is not None
        with suppress(BrokenPipeError), self._process.stdin as stdin:
            stdin.write(json.dumps(list(words)).encode())

    def ended(self, seconds: float = 0.0) -> bool:
        """Whether it has ended, after waiting at most so many seconds."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def progress(self) -> str:
        """Its last report of progress."""
        lines = [line for line in self._lines() if line.startswith(PROGRESS)]
        return lines[-1].removeprefix(PROGRESS) if lines else ""

    def result(self) -> Any:
        """The object that it printed; ValueError with its message if it failed."""
        if self._process.wait() == 0:
            return json.loads(self._stdout.read_text(encoding="utf-8"))
        lines = [line for line in self._lines() if line.startswith(PREFIX)]
        if lines:
            raise ValueError(lines[-1].removeprefix(PREFIX))
        raise ValueError(
            f"the command ended with code {self._process.returncode} and without a message; "
            "perhaps there was not enough memory."
        )

    def stop(self) -> None:
        """End it, with SIGTERM if possible."""
        if self._process.poll() is None:
            self._process.terminate()
            if not self.ended(GRACE_PERIOD):
                _kill(self._process)

    def _lines(self) -> list[str]:
        text = self._stderr.read_text(encoding="utf-8", errors="replace")
        return [line.strip() for line in text.splitlines() if line.strip()]


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
        process.wait()


class Folder:
    """A temporary folder of this user alone for dropped files; it is removed at the end."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(
            prefix="adaline-play-", ignore_cleanup_errors=True
        )
        self.path = Path(self._folder.name)

    def write(self, name: str, content: bytes, endings: Sequence[str], default: str) -> Path:
        """Write a file under a harmless name, and return its path."""
        path = self.path / clean_name(name, endings, default)
        path.write_bytes(content)
        return path

    def remove(self) -> None:
        """Remove the folder and its files."""
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()


def clean_name(name: str, endings: Sequence[str], default: str) -> str:
    """A file's name without folders, characters special to a shell, or a strange ending.

    >>> clean_name("../../My prices (2024).CSV", [".csv"], ".csv")
    'My prices _2024_.csv'
    >>> clean_name("-rf", [".csv"], ".csv")
    'rf.csv'
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    ending = next((e for e in endings if last.lower().endswith(e)), "")
    stem = last[: len(last) - len(ending)]
    kept = "".join(c if c.isalnum() or c in " _-." else "_" for c in stem)
    return (kept.strip(" .-")[:MAX_STEM].strip(" .-") or "data") + (ending or default)
