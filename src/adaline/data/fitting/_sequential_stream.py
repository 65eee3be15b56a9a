"""Learners that correct their errors, block after block in the order of the source."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.data.fitting._feature_rows import FeatureRows
from adaline.data.fitting._passes import Passes, Rows, class_array, union
from adaline.data.fitting._returned import Part
from adaline.data.reading.source import Block, Piece
from adaline.errors import DataError
from adaline.estimators.sequential.runs import are_long, sentence


@dataclass(frozen=True)
class LabelsOf:
    """The labels that occur in a block."""

    rows: Rows | FeatureRows

    def __call__(self, block: Block) -> Part:
        labels, codes, _ = self.rows.codes(block)
        return Part(len(codes), labels)


def in_passes(
    model: Any, passes: Passes, rows: Rows | FeatureRows, *, classes: Any, count: int, seed: int
) -> Any:
    """partial_fit on every block, `count` times over the source.

    With the learner's shuffle=True the blocks of a pass, and the rows of a block, come in an order
    that the seed, the pass and the block decide. An order of all rows would read the source once
    for every few rows of a block.
    """
    source = passes.source
    shuffle = bool(getattr(model, "shuffle", False))
    if not source.again and (count > 1 or shuffle):
        raise DataError(f"{source.name} can be read once only; give passes=1 and shuffle=False.")
    known = _known(passes, rows, classes) if model._learns == "classes" else None
    learner = _Learner(model, rows, known)
    at = 0, 0
    if passes.present is not None and passes.present["pass"] == "learning":
        at = passes.present["at"]
        learner.restore(passes.present, source)
    for k in range(at[0], count):
        made = learner.corrections
        made = passes.present["made"] if passes.present is not None and k == at[0] else made
        for index, item in _items(source, k if shuffle else None, seed, at[1]):
            order = np.random.default_rng([seed, k, index]) if shuffle else None
            learner.learn(source.read(item) if isinstance(item, Piece) else item, order)
            passes.tell(learner.rows)
            passes.save(learner.state((k, index + 1), made)) if passes.checkpoint else None
        counts = list(learner.counts.values())
        if k == 0 and counts and (found := are_long(learner.runs, counts)):
            said = f"{sentence(model, *found)} Write the file in a random order."
            warnings.warn(said, UserWarning, stacklevel=4)
        if not learner.begun:
            raise DataError(f"{source.name}: no rows are left to learn from.")
        calm = learner.corrections == made  # a pass without correction: none will follow
        at, learner.rows, passes.present = (count if calm else k + 1, 0), 0, None
        if passes.checkpoint:
            passes.save(learner.state(at, learner.corrections), now=True)
        if calm:
            break
    return model


def _known(passes: Passes, rows: Rows | FeatureRows, classes: Any) -> Any:
    """All labels: those announced, or those that a pass over the target finds."""
    if classes is not None:
        return np.unique(np.asarray(classes))
    if not passes.source.again:
        raise DataError(
            f"{passes.source.name} can be read once only, so its classes are not known "
            "beforehand; give classes=."
        )
    return class_array(passes.sums("labels", LabelsOf(rows), union), rows.target)


def _items(source: Any, shuffled: int | None, seed: int, skip: int) -> Any:
    """(index in this pass, piece or block), from the block number `skip` on."""
    if not source.again:
        yield from enumerate(source)
        return
    pieces: Any = source.descriptors()
    if shuffled is not None:
        pieces = list(pieces)
        np.random.default_rng([seed, shuffled]).shuffle(pieces)
    for index, piece in enumerate(pieces):
        if index >= skip:
            yield index, piece


class _Learner:
    """A learner, its rows, and how its state is put away and brought back."""

    def __init__(self, model: Any, rows: Rows | FeatureRows, classes: Any):
        self.model, self.to_rows, self.classes = model, rows, classes
        self.rows, self.begun = 0, False
        self.runs, self.counts, self.last = 0, Counter[Any](), None
        model._begin_stream()

    @property
    def corrections(self) -> int:
        """Corrections made so far."""
        return int(self.model._stream_corrections)

    def learn(self, block: Block, order: np.random.Generator | None) -> None:
        """Every row of a block, once."""
        X, y = self._xy(block)
        if order is not None:
            places = order.permutation(len(y))
            X, y = X[places], y[places]
        if len(y):
            self._partial_fit(X, y)
            self._count_runs(y)
        self.rows += len(y)

    def _count_runs(self, y: Any) -> None:
        """Of labels, as they were learned."""
        if self.classes is not None:
            self.runs += int(np.count_nonzero(y[1:] != y[:-1])) + int(y[0] != self.last)
            labels, rows = np.unique(y, return_counts=True)
            self.counts.update(dict(zip(labels.tolist(), rows.tolist(), strict=True)))
            self.last = y[-1]

    def _xy(self, block: Block) -> tuple[Any, Any]:
        if self.classes is None:
            return self.to_rows.numbers(block, "C")
        X, labels, codes = self.to_rows.labels(block, "C")
        return X, np.array(labels)[codes] if len(labels) else np.empty(0)

    def _partial_fit(self, X: Any, y: Any) -> None:
        if self.classes is None:
            self.model.partial_fit(X, y)
        else:
            self.model.partial_fit(X, y, classes=None if self.begun else self.classes)
        self.begun = True

    def state(self, at: tuple[int, int], made: int) -> Any:
        """What a checkpoint keeps: weights, counters and where we are."""
        head, theta = self.model._stream_memory()
        where = {"pass": "learning", "at": at, "rows": self.rows, "made": made}
        return where | {"head": head, "theta": theta}

    def restore(self, saved: Any, source: Any) -> None:
        """A learner in this state: one row makes everything but the numbers, which are put back."""
        for piece in source.descriptors():
            X, y = self._xy(source.read(Piece(piece.index, piece.start, piece.stop)))
            if len(y):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of a rate that one row cannot judge
                    self._partial_fit(X[:1], y[:1])
                break
        self.model._resume_stream((saved["head"], saved["theta"]))
        self.rows = saved["rows"]
