"""scikit-learn's callbacks (1.9 and later), called after each pass; never for each sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before 1.9 there are none to call

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's."""

    def with_callbacks(method: Any) -> Any:
        """Stands in for scikit-learn's."""
        return method


__all__ = ["CallbackSupportMixin", "passes", "with_callbacks"]


@contextmanager
def passes(learner: Any, most: int) -> Iterator[Callable[[], bool]]:
    """What to call after each pass of a fit: true where a callback asks to stop."""
    if not getattr(learner, "_skl_callbacks", None):
        yield lambda: False
        return
    fit = learner._init_callback_context(max_subtasks=most)
    fit.call_on_fit_task_begin(estimator=learner)

    def after_pass() -> bool:
        one = fit.subcontext(task_name="pass")
        one.call_on_fit_task_begin(estimator=learner)
        return bool(one.call_on_fit_task_end(estimator=learner))

    yield after_pass
    fit.call_on_fit_task_end(estimator=learner)
