"""`adaline play`: the page to play with every learner, in a browser of this machine."""

from __future__ import annotations

from typing import Annotated

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
    common: Common | None = None,
) -> int:
    """A page to play with every learner, in a browser; for this machine only.

    Click points, drop a CSV or a wav, and watch learners step by step, with what is proven about
    the data beside them. Ends with Ctrl-C.

    Parameters
    ----------
    state
        What stands behind the # of a link to a prepared board.
    port
        By default 8765, or any free one where 8765 is taken.
    browser
        Whether to open a browser.
    host
        The address to listen at. Another one than 127.0.0.1 or ::1 lets other machines in, and
        needs a --token.
    token
        The secret in the address, 16 characters or more; by default a random one.
    """
    answer = Answer("play", common)

    def say(text: str) -> None:
        answer.verdict(text)
        answer.show()

    def begun(address: str) -> None:
        answer.finish(address=address)

    try:
        serve(port, host=host, token=token, browser=browser, state=state, say=say, begun=begun)
    except (OSError, ValueError) as error:
        raise UsageError(str(error)) from None
    answer.say("\nStopped.")
    answer.show()
    return 0
