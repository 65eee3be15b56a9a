"""`adaline play`: the page to play with every learner, in a browser of this machine."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from adaline.cli.errors import UsageError
from adaline.cli.options import Common, Whole
from adaline.cli.printing import Answer
from adaline.play import serve


def play(
    state: str = "",
    /,
    *,
    port: Annotated[Whole, Parameter(validator=Number(gte=0, lte=65535))] | None = None,
    browser: Annotated[bool, Parameter(negative="--no-browser")] = True,
    host: str = "127.0.0.1",
    token: str | None = None,
    for_class: Annotated[bool, Parameter(name="--class", negative=())] = False,
    common: Common = Common(),
) -> int:
    """Open an interactive page with every learner in a browser, for this machine only.

    Click points and watch learners step by step, with what is proven about the data beside them;
    drop a table or a sound on its tab. Ctrl-C stops it.

    Parameters
    ----------
    state
        What stands behind the # of a link to a prepared board.
    port
        By default 8765, or any free one if 8765 is taken.
    browser
        Whether to open a browser.
    host
        The address to listen at. Any other than 127.0.0.1 or ::1 lets other machines in, and
        needs a --token.
    token
        The secret in the address, 16 characters or more; by default a random one.
    for_class
        Let students on the same network in, by one address with a short code. They have boards and
        signals of their own, without files and commands.
    """
    answer = Answer("play", common)
    given: dict[str, Any] = {"host": host, "token": token, "browser": browser, "state": state}
    given["begun"] = lambda address: answer.finish(address=address)
    try:
        serve(port, **given, for_class=for_class, say=answer.verdict)
    except (OSError, ValueError) as error:
        raise UsageError(str(error)) from None
    answer.verdict("\nStopped.")
    return 0
