"""Learners that correct their errors row by row, on the blocks of a source in their order.

Called by `fit`. One process reads; a checkpoint keeps the learner's weights and the next block.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from adaline.data.fitting.chunks import Chunk, Chunks
from adaline.errors import DataError
from adaline.estimators.online import describe_runs

if TYPE_CHECKING:
    from adaline.estimators.streams import StreamWeights


def learn_in_order(
    model: StreamWeights, chunks: Chunks, classes: Any, passes: int, seed: int
) -> None:
    """partial_fit on every block, `passes` times over the source, until a pass corrects nothing.

    With the learner's shuffle=True the blocks of a pass, and the rows of a block, come in an order
    that the seed, the pass and the block decide. An order of all rows would read the source once
    for every few rows of a block.
    """
    source, shuffle = chunks.source, bool(getattr(model, "shuffle", False))
    if model._learns == "classes" and classes is not None:
        chunks.set_labels(np.unique(np.asarray(classes)).tolist())
    elif model._learns == "classes":
        chunks.find_labels()
    model._begin_stream()
    learner = Learner(model, chunks)
    k, start, before, rows = 0, 0, 0, 0
    if chunks.state is not None:
        (k, start, before, rows), memory = chunks.state
        learner.restore(memory)
    while k < passes:
        pieces = list(source.descriptors())
        if shuffle:
            np.random.default_rng([seed, k]).shuffle(pieces)
        for index, piece in enumerate(pieces[start:], start):
            chunk = chunks.reader.read(source.read(piece))
            if shuffle:
                order = np.random.default_rng([seed, k, index])
                chunk = chunk.taking(order.permutation(len(chunk.y)))
            learner.learn(chunk)
            rows += len(chunk.y)
            chunks.tell(rows)
            learner.save((k, index + 1, before, rows))
        if not learner.begun:
            raise DataError(f"{source.name}: no rows are left to learn from.")
        if k == 0:
            learner.warn_of_runs()
        corrections = int(model._stream_corrections)
        k, start, rows = (k + 1 if corrections > before else passes), 0, 0
        before = corrections
        learner.save((k, 0, before, 0), now=True)


class Learner:
    """A learner and what its labels look like in the order of the rows."""

    def __init__(self, model: StreamWeights, chunks: Chunks) -> None:
        self.model, self.chunks, self.begun = model, chunks, False
        self.classes: Any = None if chunks.labels is None else np.array(chunks.labels)
        self.runs, self.counts, self.last = 0, np.zeros(len(chunks.labels or ()), dtype=int), -1

    def learn(self, chunk: Chunk) -> None:
        X, y = chunk.X, chunk.y
        if not len(y):
            return
        if self.classes is None:
            self.model.partial_fit(X, y)
        else:
            classes = None if self.begun else self.classes
            self.model.partial_fit(X, self.classes[y], classes=classes)
            self.runs += int(np.count_nonzero(y[1:] != y[:-1])) + int(y[0] != self.last)
            self.counts += np.bincount(y, minlength=len(self.counts))
            self.last = y[-1]
        self.begun = True

    def warn_of_runs(self) -> None:
        counts = self.counts[self.counts > 0]
        if len(counts) and (runs := describe_runs(self.runs, counts)):
            name = type(self.model).__name__
            advice = f"{name} learns row by row. Write the file in a random order."
            warnings.warn(f"{runs}; {advice}", UserWarning, stacklevel=4)

    def save(self, at: tuple[int, int, int, int], *, now: bool = False) -> None:
        """Weights, counters, and (pass, next block, corrections before the pass, rows of it)."""
        if self.chunks.checkpoint is not None:
            self.chunks.state = at, self.model._stream_memory()
            self.chunks.save(now=now)

    def restore(self, memory: Any) -> None:
        """A learner in this state: one row makes everything but the numbers, which are put back."""
        chunks = (self.chunks.reader.read(block) for block in self.chunks.source)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a rate that one row cannot judge
            self.learn(next(chunk for chunk in chunks if len(chunk.y)).taking(slice(1)))
        self.model._resume_stream(memory)
