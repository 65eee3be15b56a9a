"""Columns beside a prediction: how far it may be off, and what each column contributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import adaline
from adaline.cli.predicting.predictions import Answers
from adaline.cli.printing.errors import Usage
from adaline.data import Encoding

_MOST = 1000  # columns that are explained


class Intervals:
    """`predict --interval`: low and high of a new value, a mean count, or each probability."""

    def __init__(self, model: Any, level: float) -> None:
        if not 0 < level < 1:
            raise Usage(f"--level {level}: expected a share such as 0.95, between 0 and 1.")
        self.model, self.level = model, level
        self.heads = ["low", "high"]
        self.classes = hasattr(model, "classes_")
        if self.classes:
            labels = model.classes_.tolist()
            self.heads = [f"p({label}) {end}" for label in labels for end in ("low", "high")]
        self._of(np.zeros((1, model.n_features_in_)))  # refused before anything is written

    def _of(self, X: Any) -> Any:
        return adaline.interval(self.model, X, self.level)

    def columns(self, part: Answers) -> list[Any]:
        """A list for each head, of the rows that were kept."""
        found = self._of(part.X)
        times = 1.0 if part.times is None else part.times
        pair = np.stack([found.low, found.high], axis=-1)
        flat = pair.reshape(len(pair), -1) if self.classes else pair * np.reshape(times, (-1, 1))
        return list(flat.T)

    def words(self) -> list[str]:
        """How to read the columns."""
        found = self._of(np.zeros((1, self.model.n_features_in_)))
        return [
            f"low and high hold {found.of} in {self.level:.4g} of all cases, if the model fits."
        ]


class Contributions:
    """`predict --explain`: what every column adds to the score of a row."""

    def __init__(self, model: Any, encoding: Encoding) -> None:
        self.model, self.encoding = model, encoding
        names = [name for name, _ in encoding.groups()]
        if len(names) > _MOST:
            raise Usage(
                f"--explain would write {len(names):,} columns; it explains models of at most "
                f"{_MOST:,}."
            )
        self.example = self._of(np.zeros((1, model.n_features_in_)))
        scored = self.example.of != "the prediction"
        self.heads = ["score"] * scored + ["against"] * (self.example.against is not None)
        self.heads += ["base", *(f"from {name}" for name in names), "rounding"]

    def _of(self, X: Any) -> Any:
        return adaline.explain(self.model, X, encoding=self.encoding)

    def columns(self, part: Answers) -> list[Any]:
        """A list for each head, of the rows that were kept."""
        found = self._of(part.X)
        scored = [] if found.of == "the prediction" else [found.score]
        against = [] if found.against is None else [found.against]
        return [*scored, *against, found.base, *found.parts.T, found.rounding]

    def words(self) -> list[str]:
        """How to read the columns."""
        found, classes = self.example, getattr(self.model, "classes_", None)
        row = "an average row" if found.is_about_the_average else "a row of zeros"
        sum_of = "prediction" if found.of == "the prediction" else "score"
        told = [f"base (the {sum_of} of {row}) and the columns after it add up to {sum_of}."]
        if found.against is not None:
            told.append("score is that of the predicted class less that of the class in `against`.")
        elif classes is not None:
            told.append(
                f"A positive score speaks for {classes[1]}, a negative one for {classes[0]}."
            )
        elif found.of != "the prediction":
            told.append("score is the logarithm of the prediction (at exposure 1).")
        return told


def heads_of(more: Sequence[Any]) -> list[str]:
    """All their heads, in order."""
    return [head for one in more for head in one.heads]
