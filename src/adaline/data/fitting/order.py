"""Learners that correct their errors row by row, on the blocks of a source in their order.

Called by `fit`. One process reads; a checkpoint keeps the learner's weights and the next block.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from adaline.data.fitting.chunks import Chunks
from adaline.data.reading.source import Piece
from adaline.errors import DataError
from adaline.estimators.online import are_long, sentence


def learn_in_order(model: Any, chunks: Chunks, classes: Any, passes: int, seed: int) -> None:
    """partial_fit on every block, `passes` times over the source.

    With the learner's shuffle=True the blocks of a pass, and the rows of a block, come in an order
    that the seed, the pass and the block decide. An order of all rows would read the source once
    for every few rows of a block.
    """
    source, shuffle = chunks.source, bool(getattr(model, "shuffle", False))
    if not source.again and (passes > 1 or shuffle):
        raise DataError(f"{source.name} can be read once only; give passes=1 and shuffle=False.")
    if model._learns == "classes" and classes is not None:
        chunks.set_labels(np.unique(np.asarray(classes)).tolist())
    elif model._learns == "classes":
        chunks.find_labels()
    learner = Learner(model, chunks)
    k, at, before = 0, 0, learner.corrections
    if chunks.state is not None:
        k, at, before = learner.restore(chunks.state)
    while k < passes:
        for index, item in ordered_items(chunks, k if shuffle else None, seed):
            if index < at:
                continue
            order = np.random.default_rng([seed, k, index]) if shuffle else None
            learner.learn(source.read(item) if isinstance(item, Piece) else item, order)
            chunks.tell(learner.rows)
            learner.save((k, index + 1, before))
        if k == 0 and learner.classes is not None and (runs := learner.long_runs()):
            said = f"{sentence(model, *runs)} Write the file in a random order."
            warnings.warn(said, UserWarning, stacklevel=3)
        if not learner.begun:
            raise DataError(f"{source.name}: no rows are left to learn from.")
        is_calm = learner.corrections == before  # no correction: none will follow
        k, at, before, learner.rows = passes if is_calm else k + 1, 0, learner.corrections, 0
        learner.save((k, 0, before), now=True)


def ordered_items(chunks: Chunks, shuffled: int | None, seed: int) -> Iterable[tuple[int, Any]]:
    """(number in this pass, piece or block)."""
    if not chunks.source.again:
        return enumerate(chunks.source)
    pieces: Any = list(chunks.source.descriptors())
    if shuffled is not None:
        np.random.default_rng([seed, shuffled]).shuffle(pieces)
    return enumerate(pieces)


class Learner:
    """A learner, and how its state is saved and restored."""

    def __init__(self, model: Any, chunks: Chunks) -> None:
        self.model, self.chunks = model, chunks
        self.classes: Any = None if chunks.labels is None else np.array(chunks.labels)
        self.rows, self.begun = 0, False
        self.runs, self.counts, self.last = 0, np.zeros(len(chunks.labels or ()), dtype=int), -1
        model._begin_stream()

    @property
    def corrections(self) -> int:
        """Corrections made so far."""
        return int(self.model._stream_corrections)

    def long_runs(self) -> Any:
        """What is to be warned of where rows of a class come in long runs."""
        return are_long(self.runs, self.counts[self.counts > 0].tolist())

    def learn(self, block: Any, order: np.random.Generator | None) -> None:
        """Every row of a block, once."""
        chunk = self.chunks.reader.read(block, "C")
        X, y = chunk.X, chunk.y
        if order is not None:
            places = order.permutation(len(y))
            X, y = X[places], y[places]
        if len(y):
            self._partial_fit(X, y)
            if self.classes is not None:
                self.runs += int(np.count_nonzero(y[1:] != y[:-1])) + int(y[0] != self.last)
                self.counts += np.bincount(y, minlength=len(self.counts))
                self.last = y[-1]
        self.rows += len(y)

    def _partial_fit(self, X: Any, y: Any) -> None:
        if self.classes is None:
            self.model.partial_fit(X, y)
        else:
            classes = None if self.begun else self.classes
            self.model.partial_fit(X, self.classes[y], classes=classes)
        self.begun = True

    def save(self, at: tuple[int, int, int], *, now: bool = False) -> None:
        """Weights, counters, and (pass, next block, corrections before the pass)."""
        if self.chunks.checkpoint is not None:
            head, theta = self.model._stream_memory()
            self.chunks.state = {"at": at, "rows": self.rows, "head": head, "theta": theta}
            self.chunks.save(now=now)

    def restore(self, saved: Any) -> tuple[int, int, int]:
        """A learner in this state: one row makes everything but the numbers, which are put back."""
        for block in self.chunks.source:
            chunk = self.chunks.reader.read(block, "C")
            if len(chunk.y):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of a rate that one row cannot judge
                    self._partial_fit(chunk.X[:1], chunk.y[:1])
                break
        self.model._resume_stream((saved["head"], saved["theta"]))
        self.rows = saved["rows"]
        return tuple(saved["at"])
