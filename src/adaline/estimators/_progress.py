"""scikit-learn's callbacks (1.9 and later), called after each pass; never for each sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from adaline.estimators._refusals import GUARD

FRAMES = 1 + GUARD  # between a fit and who called it, for warnings to step over: one of theirs

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before 1.9 there are none to call
    FRAMES = GUARD

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's."""

    def with_callbacks(method: Any) -> Any:
        """Stands in for scikit-learn's."""
        return method


__all__ = [
    "FRAMES",
    "CallbackSupportMixin",
    "Enough",
    "Heard",
    "passes",
    "watching",
    "with_callbacks",
]


class Enough(KeyboardInterrupt):
    """A callback asked to stop: procedures leave off as for Ctrl-C, after a complete step."""


class Heard:
    """What to call after each pass of a fit: true where a callback asks to stop."""

    def __init__(self, tell: Callable[[], Any] | None = None) -> None:
        self.tell, self.passes, self.asked = tell, 0, False

    def __call__(self) -> bool:
        self.passes += 1
        self.asked = self.asked or (self.tell is not None and bool(self.tell()))
        return self.asked


@contextmanager
def passes(learner: Any, most: int, name: str = "pass") -> Iterator[Heard]:
    """What to call after each pass of a fit; callbacks hear of them as tasks of this name."""
    if not getattr(learner, "_skl_callbacks", None):
        yield Heard()
        return
    fit = learner._init_callback_context(max_subtasks=most)
    fit.call_on_fit_task_begin(estimator=learner)

    def tell() -> Any:
        one = fit.subcontext(task_name=name)
        one.call_on_fit_task_begin(estimator=learner)
        return one.call_on_fit_task_end(estimator=learner)

    yield Heard(tell)
    fit.call_on_fit_task_end(estimator=learner)


def watching(watch: Any, after: Heard) -> Any:
    """What to show the steps of Newton's procedure to: `watch`, and then callbacks, if any.

    The first call, before any step, is for `watch` alone.
    """
    if after.tell is None:
        return watch
    begun = False

    def look(W: Any, b: Any, f: float, g: float) -> None:
        nonlocal begun
        if watch is not None:
            watch(W, b, f, g)
        if begun and after():
            raise Enough
        begun = True

    return look
