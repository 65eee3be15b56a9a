"""Procedures as generators, so that fits, traces, callbacks and Ctrl-C share one loop.

A step is (done, state): how many passes or steps are complete, and what can be read until the
procedure goes on. `done` rises only with a complete step. A listener that returns true asks for an
end, which the procedure then makes in its own way.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

Steps = Generator[tuple[int, Any], bool | None, R]
Hear = Callable[[int, Any], bool | None]


def finished(steps: Steps[R], hear: Hear | None = None) -> R:
    """What the procedure returns after its last step; `hear` gets each step and may ask to stop.

    Ctrl-C is passed on to the procedure wherever it comes, which may return the last step.
    """
    enough: bool | None = None
    try:
        while True:
            try:
                done, state = steps.send(enough)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            enough = hear is not None and hear(done, state)
    except KeyboardInterrupt as stop:
        try:
            steps.throw(stop)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        raise
    finally:
        steps.close()


class Stepwise(Generic[P, R]):
    """A procedure: called, it runs to its end; `steps` takes the same and gives the generator."""

    def __init__(self, steps: Callable[P, Steps[R]]):
        self.steps = steps
        update_wrapper(self, steps)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return finished(self.steps(*args, **kwargs))
