"""The command `adaline`: names and help texts here, work in a module for each command.

A command is given as "module:function" and imported when it is called, so that
`adaline --help` answers at once.

Exit codes: 0 done, 1 a negative verdict (not separable, proof refuted), 2 usage, 3 data that cannot
be used, 4 a defect of adaline, 130 stopped with Ctrl-C, 141 nobody reads the output any more.
"""

from __future__ import annotations

import gc
import io
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from typing import TYPE_CHECKING, Any

from adaline import MissingExtra, __version__

if TYPE_CHECKING:
    from cyclopts import App

# Groups of the help: names of commands, where they are, and a line about each.
COMMANDS = {
    "A table or a sound": [
        ("look", "adaline.cli.look:look", "What the columns of a table are."),
        ("fit", "adaline.cli.fit:fit", "Learn a column of a table from the others."),
        ("predict", "adaline.cli.predict:predict", "Predict rows with a model."),
        ("evaluate", "adaline.cli.evaluate:evaluate", "How good a model is on rows."),
        ("compare", "adaline.cli.compare:compare", "All learners on a table, side by side."),
        ("info", "adaline.cli.info:info", "What a model file holds."),
        ("export", "adaline.cli.export:export", "A model as SQL, C, Python, ONNX or JSON."),
        ("filter", "adaline.cli.filter:filter", "Take noise out of a sound file."),
    ],
    "See how it learns": [
        ("play", "adaline.cli.play:play", "Play with every learner in a browser."),
        ("demo", "adaline.cli.demo:demo", "A first look: a table, a proof, a sound."),
        ("trace", "adaline.cli.trace:trace", "Every step of learning, in a table."),
        ("path", "adaline.cli.path:path", "Ridge over a range of penalties."),
    ],
    "Prove": [
        ("separable", "adaline.cli.separable:separable", "Do hyperplanes separate the classes?"),
        ("check-proof", "adaline.cli.separable:check_proof", "Check such a proof."),
        ("cover", "adaline.cli.cover:cover", "How many labellings are separable."),
    ],
    "Set up": [
        ("warm-up", "adaline.cli.warm_up:warm_up", "Compile everything now, not at first use."),
    ],
}


def app(tokens: Sequence[str] = ()) -> App:
    """Build the command line; needs the extra `cli`.

    The command that the tokens ask for has its own, long help; the others have a line.
    """
    from cyclopts import App, Group, Parameter

    def show_default(value: object) -> str | None:
        return None if value is None or value is False else str(value)

    app = App(
        name="adaline",
        help="Linear learning from files, where every fit comes with its evidence.",
        version=__version__,
        help_format="markdown",
        suppress_keyboard_interrupt=False,
        default_parameter=Parameter(negative="", show_default=show_default),
    )
    for title, commands in COMMANDS.items():
        group = Group.create_ordered(title)
        for place, (name, home, line) in enumerate(commands):
            text = None if name in tokens[:1] else line
            app.command(home, name=name, group=group, help=text, sort_key=place)
    return app


def run_command(tokens: Sequence[str]) -> int:
    """Run the command line in this process; its exit code."""
    try:
        command = app(tokens)
        from adaline.cli.errors import run_guarded
    except ModuleNotFoundError as missing:
        print(MissingExtra.of("cli", "The adaline command", str(missing.name)), file=sys.stderr)
        return 2
    except KeyboardInterrupt:  # while the first modules were loading
        return 130
    return run_guarded(command, tokens)


def main(tokens: Sequence[str] | None = None) -> None:
    """Run the command line, or say in one sentence what is missing, and end the process."""
    given = list(sys.argv[1:] if tokens is None else tokens)
    for stream in (sys.stdout, sys.stderr):  # whoever prints: we, rich or cyclopts
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # characters that the encoding lacks become "?"
    # In a process of our own without other threads, modules can be loaded lazily.
    if tokens is None and given[:1] != ["play"] and _LazyFinder not in sys.meta_path:
        sys.meta_path.insert(0, _LazyFinder)
    code = run_command(given)
    if tokens is None:  # the process ends, and need not look for garbage among all it has
        gc.freeze()
    raise SystemExit(code)


class _LazyFinder:
    """Finds modules that are loaded when one of their names is looked up."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The module as it is found on the path, to be loaded at first use."""
        if name != "scipy.stats":  # scikit-learn imports it for one function: a third of the time
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec
