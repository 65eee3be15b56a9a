"""What went wrong, in one sentence on stderr and an exit code; a traceback only with --debug."""

from __future__ import annotations

import logging
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from adaline import MissingExtra
from adaline.evaluation.words import plain

OK, NEGATIVE, USAGE, DATA, DEFECT, INTERRUPTED, UNREAD = 0, 1, 2, 3, 4, 130, 141

# What a user of Python would type, as a user of the command does.
_HERE = [
    (r"\S*adaline-stdin-[^/\s]+/stdin(\.\w+)+", "stdin"),
    (r"\(?\bmissing=['\"](\w+)['\"]\)?", r"--missing \1"),
    (
        r"leave it out \(columns=\), make numbers of it, or raise most_levels",
        "leave it out, or make numbers of it",
    ),
    (r"leave it out(?=[.,])", "leave it out (--ignore)"),
    (r"drop the column|drop it(?=\.)", "leave the column out (--ignore)"),
    (r"choose columns= of numbers", "leave the others out with --ignore"),
    (r"\b([Gg])ive alpha > 0\b", r"\1ive --set alpha=1"),
    (r"(?<!--set )\balpha=['\"]?([\w.]+)['\"]?", r"--set alpha=\1"),
    (r"max_iter=(\d+) passes are done", r"\1 passes are done"),
    (r"Give a larger max_iter, or see fit_\.stopped", "Give more with --set max_iter=N"),
    (r"`separability\(X, y\)` decides it", "adaline separable decides it"),
    (r", or use unknown='zeros'", ""),
    (r"; or give format=", ""),
    (r"\bheader=True", "--header yes"),
    (r"\bheader=False", "--header no"),
    (r"(?<!-)\b(separator|decimal|encoding|sheet)=(?=['\"])", r"--\1 "),
    (r"(?<!-)\b(separator|decimal|encoding|sheet)=(?=[. ;])", r"--\1"),
]


class Usage(ValueError):
    """The command line asks for something that is not there or does not go together."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C, and what to tell about it."""


def sentence(error: BaseException | str) -> str:
    """An error as one plain line, in words of the command line."""
    text = str(error).strip() or type(error).__name__
    if isinstance(error, KeyError) and error.args:
        text = str(error.args[0])
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename}: " if error.filename else ""
        text = f"{name}{error.strerror.lower()}."
    if not isinstance(error, Usage):
        for pattern, words in _HERE:
            text = re.sub(pattern, words, text)
    text = plain(" ".join(text.split()), most=1000)
    return text if text.endswith((".", "?", "!")) else f"{text}."


def guarded(command: Any, tokens: Sequence[str]) -> int:
    """Run a command; whatever happens ends in an exit code and at most one sentence."""
    debug = "--debug" in tokens
    with warnings.catch_warnings(), _log_on_stderr(quiet="--quiet" in tokens):
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        if not debug:
            warnings.showwarning = _warned
        try:
            return _run(command, tokens)
        except BrokenPipeError:
            _hush()
            return UNREAD
        except KeyboardInterrupt as stop:
            _say(plain(f"Stopped. {stop}") if str(stop) else "Stopped; nothing was written.")
            return INTERRUPTED
        except Exception as error:
            if debug:
                raise
            return _told(error)


def _run(command: Any, tokens: Sequence[str]) -> int:
    code = command(tokens, print_error=False, exit_on_error=False, result_action="return_value")
    sys.stdout.flush()
    return int(code or OK)


def _told(error: Exception) -> int:
    from cyclopts import CycloptsError

    if isinstance(error, CycloptsError):
        _say(f"adaline: {_asked(error)}")
        return USAGE
    if isinstance(error, Usage | MissingExtra):
        _say(f"adaline: {sentence(error)}")
        return USAGE
    if isinstance(error, ValueError | OSError | ArithmeticError):
        _say(f"adaline: {sentence(error)}")
        return DATA
    if isinstance(error, MemoryError):
        _say("adaline: there is not enough memory; fewer columns or --checkpoint DIR need less.")
        return DATA
    words = sentence(error)
    _say(f"adaline: {type(error).__name__}: {words} That is a defect; --debug shows where.")
    return DEFECT


def _asked(error: Exception) -> str:
    """What cyclopts says, on one line, with where to look."""
    text = sentence(str(error))
    chain = getattr(error, "command_chain", None) or ()
    return f"{text} See: {' '.join(['adaline', *chain])} --help"


def _warned(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: Any = None,
    line: str | None = None,
) -> None:
    """A warning that no command has collected, in a line."""
    if not issubclass(category, DeprecationWarning | FutureWarning | ResourceWarning):
        _say(f"Warning: {sentence(str(message))}")


class _Lines(logging.Handler):
    """What the library logs, in a line."""

    def emit(self, record: logging.LogRecord) -> None:
        _say(f"adaline: {sentence(record.getMessage())}")


@contextmanager
def _log_on_stderr(quiet: bool) -> Iterator[None]:
    """Tell what the library logs; what is only good to know, to people at a terminal."""
    people = sys.stderr.isatty() and not quiet
    log, lines = logging.getLogger("adaline"), _Lines(logging.INFO if people else logging.WARNING)
    before = log.level
    log.addHandler(lines)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(lines)
        log.setLevel(before)


def _say(text: str) -> None:
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:  # nobody listens there either
        _hush()


def _hush() -> None:
    """Let nothing more be written where nobody reads, not even at the very end."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        pass
