"""The command `adaline`: names and help texts here, work in a module for each command.

A command is given as "module:function" and imported when it is called, so that
`adaline --help` answers at once.

Exit codes: 0 done, 1 a negative verdict (not separable, proof refuted), 2 usage, 3 data that cannot
be used, 4 a bug in adaline, 130 stopped with Ctrl-C, 141 nobody reads the output any more.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from adaline import MissingExtra, __version__

if TYPE_CHECKING:
    from cyclopts import App

# Groups of the help: the name of a command, what it does, and arguments for an example.
COMMANDS = {
    "Tables": [
        ("look", "Describe the columns of a table.", "pumps.csv --target failed"),
        ("fit", "Fit and evaluate a model.", "pumps.csv -t failed -o pumps.adaline"),
        ("predict", "Predict rows with a model.", "pumps.adaline new.csv -o predicted.csv"),
        ("evaluate", "Evaluate a model on rows.", "pumps.adaline other.csv"),
        ("compare", "Compare all learners on a table.", "rents.csv --target rent"),
        ("info", "Show what a model file contains.", "pumps.adaline"),
        ("export", "Write a model as SQL, C, Python, ONNX or JSON.", "pumps.adaline --to sql"),
    ],
    "Sound": [("filter", "Remove noise from a sound file.", "in.wav -r noise.wav -o out.wav")],
    "Learning step by step": [
        ("play", "Open an interactive page in a browser.", ""),
        ("demo", "A first look: a table, a proof, a sound.", ""),
        ("trace", "Print every step of learning.", "or.csv --target label --model perceptron"),
        ("path", "Ridge over a range of penalties.", "rents.csv --target rent"),
    ],
    "Proofs": [
        ("audit", "Check printed coefficients.", "coefs.csv a.csv -t y --criterion logistic"),
        ("separable", "Are the classes linearly separable?", "pumps.csv -t failed --proof p.json"),
        ("check-proof", "Check a proof of separability.", "p.json pumps.csv"),
        ("cover", "Count the separable labellings.", "400 10"),
    ],
    "Set-up": [("warm-up", "Compile everything now, not at first use.", "")],
}


def app(tokens: Sequence[str] = ()) -> App:
    """Build the command line; needs the extra `cli`.

    The command that the tokens ask for has its own, long help; the others have a line.
    """
    from cyclopts import App, Group, Parameter

    def show_default(value: object) -> str | None:
        return None if value in (None, False, ()) else str(value)

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
        for place, (name, line, example) in enumerate(commands):
            function = name.replace("-", "_")
            module = "separable" if name == "check-proof" else function
            app.command(
                f"adaline.cli.{module}:{function}",
                name=name,
                group=group,
                help=None if name in tokens[:1] else line,
                help_epilogue=f"Example: adaline {name} {example}",
                sort_key=place,
            )
    app.register_install_completion_command(help="Install shell completion.")
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
    for stream in (sys.stdout, sys.stderr):  # whoever prints: we, rich or cyclopts
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # characters that the encoding lacks become "?"
    raise SystemExit(run_command(sys.argv[1:] if tokens is None else tokens))
