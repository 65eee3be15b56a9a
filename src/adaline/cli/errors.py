"""How a command ends: an exit code, and at most one sentence on stderr.

`adaline.cli.run_command` runs every command by `run_guarded`; --debug shows a traceback.
"""

from __future__ import annotations

import os
import shlex
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from adaline import MissingExtra
from adaline.evaluation.words import plain

OK, NEGATIVE, USAGE, DATA, DEFECT, INTERRUPTED, UNREAD = 0, 1, 2, 3, 4, 130, 141
_AS_FUNCTION = {"print_error": False, "exit_on_error": False, "result_action": "return_value"}
DISPLAY_NAMES: dict[str, str] = {}  # of files under names that nobody has chosen, such as stdin
_NOISE = (DeprecationWarning, FutureWarning, ResourceWarning)  # between libraries, not for users


class UsageError(ValueError):
    """The command line asks for something that does not exist or does not go together."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C, with a sentence about what is left of the work."""


def describe_error(error: BaseException | str) -> str:
    """An error as one plain line, in which options are spelled as on the command line."""
    text = str(error).strip() or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: " if error.filename else ""
        text += f"{error.strerror.lower()}."
    elif isinstance(error, KeyError) and error.args:
        text = str(error.args[0])
    elif hasattr(error, "worded"):
        text = error.worded(spell_option)
    for path, shown in DISPLAY_NAMES.items():
        text = text.replace(path, shown)
    text = plain(" ".join(text.split()), most=1000)
    return text if text.endswith((".", "?", "!")) else f"{text}."


def spell_option(parameter: str, value: Any) -> str:
    """A parameter of the library as the option of the command that sets it; "" where none does.

    >>> spell_option("na", ["inf"]), spell_option("header", True), spell_option("format", ".csv")
    ('--na inf', '--header yes', '')
    >>> spell_option("read", {"a": "text"}), spell_option("read", {"a": "number .,"})
    ('--text a', '--number a=.,')
    """
    if parameter == "read":
        ((name, how),) = value.items()
        option = ("text", name) if how == "text" else ("number", f"{name}={how[7:]}")
        return f"--{option[0]} {shlex.quote(option[1])}"
    if parameter in ("columns", "format", "most_levels", "n_features"):
        return ""
    if isinstance(value, list):
        value = ",".join(map(shlex.quote, value))
    if isinstance(value, bool):
        value = ("no", "yes")[value]
    return f"--{parameter.replace('_', '-')} {value}"


def run_guarded(command: Any, tokens: Sequence[str]) -> int:
    """Run a command; whatever happens ends in an exit code and at most one sentence."""
    debug = "--debug" in tokens
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        if not debug:
            warnings.showwarning = _print_warning  # type: ignore[assignment]
        try:
            code = command(tokens, **_AS_FUNCTION)
            sys.stdout.flush()
            return int(code or OK)
        except BrokenPipeError:
            _silence_stdout()
            return UNREAD
        except KeyboardInterrupt as stop:
            _print(plain(f"Stopped. {stop}") if str(stop) else "Stopped; nothing was written.")
            return INTERRUPTED
        except Exception as error:
            if debug:
                raise
            code, text = _code_and_text(error)
            _print(f"adaline: {text}")
            return code


def _code_and_text(error: Exception) -> tuple[int, str]:
    from cyclopts import CycloptsError

    text = describe_error(error)
    if isinstance(error, CycloptsError):
        command = " ".join(["adaline", *(getattr(error, "command_chain", None) or ())])
        return USAGE, f"{text} See: {command} --help"
    if isinstance(error, UsageError | MissingExtra):
        return USAGE, text
    if isinstance(error, ValueError | OSError | ArithmeticError):
        return DATA, text
    if isinstance(error, MemoryError):
        return DATA, "there is not enough memory; fewer columns or --checkpoint DIR need less."
    return DEFECT, f"{type(error).__name__}: {text} That is a defect; --debug shows where."


def _print_warning(message: Warning | str, category: type[Warning], *_: Any) -> None:
    """Print a warning that no command has collected as a line."""
    if not issubclass(category, _NOISE):
        _print(f"Warning: {describe_error(str(message))}")


def _print(text: str) -> None:
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:  # nobody reads stderr either
        _silence_stdout()


def _silence_stdout() -> None:
    """Redirect stdout to nowhere, so that the flush at exit does not fail either."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
