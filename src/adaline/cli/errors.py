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

from cyclopts import CycloptsError

from adaline import MissingExtra
from adaline.evaluation.words import plain

USAGE, DATA, DEFECT, INTERRUPTED, UNREAD = 2, 3, 4, 130, 141
_ONLY_IN_PYTHON = ("columns", "format", "most_levels", "n_features")  # no options of the command
DISPLAY_NAMES: dict[str, str] = {}  # of files under names that nobody has chosen, such as stdin
TOKENS: list[str] = []  # of the command line that is running, which a report repeats
LIBRARIES_ONLY = (DeprecationWarning, FutureWarning, ResourceWarning)  # of no use to users


class UsageError(ValueError):
    """The command line asks for something that does not exist or does not go together."""


def refuse_conflicts(*conflicts: tuple[Any, str]) -> None:
    """Refuse options that do not go together: whether each sentence applies, and the sentence."""
    for applies, text in conflicts:
        if applies:
            raise UsageError(text)


def describe_error(error: BaseException | str) -> str:
    """An error as one plain line, in which options are spelled as on the command line."""
    text = str(error).strip() or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: " if error.filename else ""
        text += f"{error.strerror.lower()}."
    elif hasattr(error, "worded"):
        text = error.worded(spell_option)
    for path, shown in DISPLAY_NAMES.items():
        text = text.replace(path, shown)
    text = plain(" ".join(text.split()), most=1000)
    return text if text.endswith((".", "?", "!")) else f"{text}."


def spell_option(parameter: str, value: Any) -> str:
    """A parameter of the library as the option of the command that sets it; "" if none does.

    >>> spell_option("na", ["inf"]), spell_option("header", True), spell_option("format", ".csv")
    ('--na inf', '--header yes', '')
    >>> spell_option("read", {"a": "text"}), spell_option("read", {"a": "number .,"})
    ('--text a', '--number a=.,')
    """
    if parameter in _ONLY_IN_PYTHON:
        return ""
    if parameter == "read":
        ((name, how),) = value.items()
        parameter, _, notation = how.partition(" ")
        value = shlex.quote(f"{name}={notation}" if notation else name)
    elif isinstance(value, list):
        value = ",".join(map(shlex.quote, value))
    elif isinstance(value, bool):
        value = ("no", "yes")[value]
    return f"--{parameter.replace('_', '-')} {value}"


def run_guarded(command: Any, tokens: Sequence[str]) -> int:
    """Run a command; whatever happens ends in an exit code and at most one sentence."""
    TOKENS[:], debug = tokens, "--debug" in tokens
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        if not debug:
            warnings.showwarning = _print_warning  # type: ignore[assignment]
        try:
            how = {"print_error": False, "exit_on_error": False, "result_action": "return_value"}
            code = command(tokens, **how)
            sys.stdout.flush()
            return int(code or 0)
        except BrokenPipeError:  # stdout leads nowhere now, so that the flush at exit does not fail
            with suppress(OSError, ValueError, AttributeError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return UNREAD
        except KeyboardInterrupt:
            _print("Stopped; nothing was written. With --checkpoint the same command resumes.")
            return INTERRUPTED
        except Exception as error:
            if debug:
                raise
            code, text = DATA, describe_error(error)
            if isinstance(error, CycloptsError):
                chain = " ".join(["adaline", *(getattr(error, "command_chain", None) or ())])
                code, text = USAGE, f"{text} See: {chain} --help"
            elif isinstance(error, UsageError | MissingExtra):
                code = USAGE
            elif isinstance(error, MemoryError):
                text = "there is not enough memory; fewer columns or --checkpoint DIR need less."
            elif not isinstance(error, ValueError | OSError | ArithmeticError):
                code = DEFECT
                text = f"{type(error).__name__}: {text} This is a bug in adaline; see --debug."
            _print(f"adaline: {text}")
            return code


def _print_warning(message: Warning | str, category: type[Warning], *_: Any) -> None:
    """Print a warning that no command has collected as a line."""
    if not issubclass(category, LIBRARIES_ONLY):
        _print(f"Warning: {describe_error(str(message))}")


def _print(text: str) -> None:
    with suppress(OSError):  # nobody reads stderr either
        print(text, file=sys.stderr, flush=True)
