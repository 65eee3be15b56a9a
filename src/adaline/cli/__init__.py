"""The command `adaline`: names and help texts here, work in a file a command.

A command is given as "module:function" and imported when it is called, so that
`adaline --help` answers at once.

Exit codes: 0 done, 1 a negative verdict (not separable, proof refuted), 2 usage, 3 data that cannot
be used, 4 a defect of adaline, 130 stopped with Ctrl-C, 141 nobody reads the output any more.
"""

from __future__ import annotations

import codecs
import gc
import io
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from adaline import MissingExtra, __version__
from adaline.cli.postponing import postpone

if TYPE_CHECKING:
    from cyclopts import App

_USE, _PROVE, _LEARN, _SET_UP = "A table or a sound", "Prove", "See how it learns", "Set up"
# Name, where it lives, in which group of the help, and a line about it.
_COMMANDS = [
    ("look", "adaline.cli.look:look", _USE, "What the columns of a table are."),
    ("fit", "adaline.cli.fit:fit", _USE, "Learn a column of a table from the others."),
    ("predict", "adaline.cli.predict:predict", _USE, "Predict rows with a model."),
    ("evaluate", "adaline.cli.evaluate:evaluate", _USE, "How good a model is on rows."),
    ("compare", "adaline.cli.compare:compare", _USE, "All learners on a table, side by side."),
    ("info", "adaline.cli.info:info", _USE, "What a model file holds."),
    ("export", "adaline.cli.export:export", _USE, "A model as SQL, C, Python, ONNX or JSON."),
    ("filter", "adaline.cli.filter:filter", _USE, "Take noise out of a sound file."),
    (
        "separable",
        "adaline.cli.separable:separable",
        _PROVE,
        "Do linear boundaries part the classes?",
    ),
    ("check-proof", "adaline.cli.check_proof:check_proof", _PROVE, "Check such a proof."),
    ("cover", "adaline.cli.cover:cover", _PROVE, "How many labellings are separable."),
    ("play", "adaline.cli.play:play", _LEARN, "Play with every learner in a browser."),
    ("demo", "adaline.cli.demo:demo", _LEARN, "A first look: a table, a proof, a sound."),
    ("trace", "adaline.cli.trace:trace", _LEARN, "Every step of learning, in a table."),
    ("path", "adaline.cli.path:path", _LEARN, "Ridge over a range of penalties."),
    (
        "warm-up",
        "adaline.cli.warm_up:warm_up",
        _SET_UP,
        "Compile everything now, not at first use.",
    ),
]

# What stands for letters that the encoding of stdout or stderr does not have; "?" for all others.
_ASCII = {"²": "2", "×": "x", "±": "+/-", "−": "-", "–": "-", "—": "-", "…": "...", "≤": "<="}
_ASCII |= {"’": "'", "“": '"', "”": '"', "→": "->", "η": "eta", "α": "alpha", "λ": "lambda"}


def app(tokens: Sequence[str] = ()) -> App:
    """Build the command line; needs the extra `cli`.

    The command that the tokens ask for tells its own help, at length; the others a line.
    """
    from cyclopts import App, Group

    app = App(
        name="adaline",
        help="Linear learning from files, where every fit comes with its evidence.",
        version=__version__,
        help_format="markdown",
        suppress_keyboard_interrupt=False,
    )
    groups = {name: Group.create_ordered(name) for name in (_USE, _LEARN, _PROVE, _SET_UP)}
    for place, (name, home, group, line) in enumerate(_COMMANDS):
        told = None if name in tokens[:1] else line
        app.command(home, name=name, group=groups[group], help=told, sort_key=place)
    return app


def main(tokens: Sequence[str] | None = None) -> None:
    """Run the command line, or say in one sentence what is missing."""
    given = list(sys.argv[1:] if tokens is None else tokens)
    _print_in_any_encoding()
    if tokens is None and given[:1] != ["play"]:  # the process is ours, and has no other threads
        postpone()
    try:
        command = app(given)
    except ModuleNotFoundError as missing:
        print(
            MissingExtra.of("cli", "The adaline command", str(missing.name)),
            file=sys.stderr,
        )
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    code = _ran(command, given)
    if tokens is None:  # the process ends, and Python need not look for garbage among all it has
        gc.freeze()
    raise SystemExit(code)


def _print_in_any_encoding() -> None:
    """Let no letter stop a command in any locale, whoever prints it: we, rich or cyclopts."""
    codecs.register_error("adaline", _spell)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="adaline")


def _spell(error: UnicodeError) -> tuple[str, int]:
    """A codec's error handler: the replacement, and where to go on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(_ASCII.get(letter, "?") for letter in letters), error.end


def _ran(command: App, given: list[str]) -> int:
    try:
        from adaline.cli.printing.errors import guarded

        return guarded(command, given)
    except KeyboardInterrupt:  # while the first modules were loading
        return 130
