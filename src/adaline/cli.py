"""The command `adaline`: names and help texts here, work elsewhere.

A command is given as "module:function" and imported when it is called, so that
`adaline --help` answers at once.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from adaline import __version__

if TYPE_CHECKING:
    from cyclopts import App


def app() -> App:
    """Build the command line; needs the extra `cli`."""
    from cyclopts import App

    app = App(
        name="adaline",
        help="Linear learning, where every fit comes with its evidence.",
        version=__version__,
    )
    app.command("adaline.demo:demo", name="demo", help="A short tour on built-in data.")
    return app


def main() -> None:
    """Run the command line, or say in one sentence what is missing."""
    try:
        command = app()
    except ModuleNotFoundError as missing:
        print(
            f"The adaline command needs {missing.name}, which is not installed; "
            'pip install "adaline[cli]" brings it.',
            file=sys.stderr,
        )
        raise SystemExit(2) from None
    command()
