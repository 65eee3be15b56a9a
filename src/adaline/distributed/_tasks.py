"""Tasks of a cluster: pure functions with all they need, so that any worker can do them again."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from adaline.sums.mapreduce import branch

RETRIES = 2  # times that a task which raised is done again
_DEATHS = 3  # times that a task may be begun anew after Dask gave it up as deadly
_COPIES = 4  # of a task, at most, where workers are silent


@dataclass
class Task:
    """A branch of the merge tree: what to compute, and the futures that compute it.

    Several futures are copies of the same pure task; whichever is ready first is taken.
    """

    function: Callable[[Any], Any]
    merge: Callable[[Any, Any], Any]
    descriptors: Sequence[Any]
    futures: list[Any] = field(default_factory=list)
    deaths: int = 0
    began: float = field(default_factory=time.monotonic)

    def submit(self, client: Any, workers: Sequence[str] = ()) -> None:
        """Hand it out, once more where it was handed out before; to these workers if it may be."""
        key = f"adaline-{uuid.uuid4().hex}"
        where: dict[str, Any] = {"retries": RETRIES}
        if workers:
            where |= {"workers": list(workers), "allow_other_workers": True}
        if self.is_lazy:
            tree = lazy_branch(self.function, self.merge, self.descriptors)
            self.futures.append(client.compute(tree, **where))
        else:
            given = self.function, self.merge, list(self.descriptors)
            self.futures.append(client.submit(timed, *given, key=key, pure=False, **where))
        self.began = time.monotonic()

    @property
    def is_lazy(self) -> bool:
        """Whether Dask computes its blocks; then nobody knows how long one may take."""
        return is_lazy(self.descriptors[0])

    @property
    def may_be_copied(self) -> bool:
        """Whether one more copy is still reasonable, where nothing is heard of the others."""
        return len(self.futures) < _COPIES

    def begin_anew(self, client: Any, gone: Any, deadly: bool) -> bool:
        """Replace a future that was lost or given up; False where that has happened too often."""
        self.futures.remove(gone)
        self.deaths += deadly
        if self.deaths > _DEATHS:
            return False
        if not self.futures:
            self.submit(client)
        return True

    def release(self) -> None:
        """Let the scheduler forget it."""
        for future in self.futures:
            future.release()
        self.futures.clear()


def timed(
    function: Callable[[Any], Any], merge: Callable[[Any, Any], Any], descriptors: Sequence[Any]
) -> tuple[Any, float]:
    """A branch, and the seconds it took a worker."""
    began = time.monotonic()
    return branch(function, merge, descriptors), time.monotonic() - began


def is_lazy(descriptor: Any) -> bool:
    """Whether a descriptor is a block that Dask has yet to compute."""
    return hasattr(descriptor, "__dask_graph__")


def lazy_branch(
    function: Callable[[Any], Any], merge: Callable[[Any, Any], Any], blocks: Sequence[Any]
) -> Any:
    """The branch as a graph of Dask: a task a block, and a task a merge, on the workers."""
    from dask import delayed

    options = {"pure": False, "traverse": False}  # functions are no collections to look into
    return branch(delayed(function, **options), delayed(merge, **options), blocks)
