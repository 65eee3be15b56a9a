"""scikit-learn's callbacks, called after each pass; never for each sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.callback import CallbackSupportMixin, with_callbacks

from adaline.estimators._refusals import GUARD
from adaline.procedures.steps import Hear

FRAMES = 1 + GUARD  # between a fit and who called it, for warnings to step over: one of theirs

__all__ = ["FRAMES", "Audience", "CallbackSupportMixin", "passes", "with_callbacks"]


class Audience:
    """Who is told of the steps of a fit: `trace`, and callbacks, which may ask to stop.

    Callbacks hear of complete steps only; `told` counts those.
    """

    def __init__(self, look: Hear | None, tell: Callable[[], Any] | None = None) -> None:
        self.look, self.tell, self.done, self.told, self.asked = look, tell, 0, 0, False

    def __call__(self, done: int, here: Any) -> bool:
        if self.look is not None:
            self.look(done, here)
        if self.tell is not None and done > self.done:
            self.done, self.told = done, self.told + 1
            self.asked = bool(self.tell())
        return self.asked


@contextmanager
def passes(learner: Any, most: int, name: str = "pass") -> Iterator[Audience]:
    """Who hears of each pass of a fit; callbacks hear of them as tasks of this name."""
    if not getattr(learner, "_skl_callbacks", None):
        yield Audience(learner._look)
        return
    fit = learner._init_callback_context(max_subtasks=most)
    fit.call_on_fit_task_begin(estimator=learner)

    def tell() -> Any:
        one = fit.subcontext(task_name=name)
        one.call_on_fit_task_begin(estimator=learner)
        return one.call_on_fit_task_end(estimator=learner)

    yield Audience(learner._look, tell)
    fit.call_on_fit_task_end(estimator=learner)
