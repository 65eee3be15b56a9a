"""Which learner: the one asked for, or the one that the target suggests, and why."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import adaline
from adaline._names import public_homes
from adaline.cli.files.sources import column, labels
from adaline.cli.learning.other_methods import advice_for
from adaline.cli.printing.errors import Usage
from adaline.cli.printing.words import did_you_mean
from adaline.data import Source
from adaline.evaluation.words import name, number, plural

_FEW = 10  # whole numbers with so few different values are taken for classes
_MANY = 30  # classes, from which on a Gaussian is less work than a softmax


@dataclass(frozen=True)
class Choice:
    """A learner's class, and the reason to take it."""

    kind: Any
    why: str

    @property
    def model(self) -> str:
        """The learner's name on the command line."""
        return str(self.kind._command)

    @property
    def classes(self) -> bool:
        """Whether the learner tells classes apart."""
        return bool(self.kind._learns == "classes")

    @property
    def counts(self) -> bool:
        """Whether an exposure may go with the target."""
        return bool(self.kind._takes_exposure)

    @property
    def streams(self) -> bool:
        """Whether blocks of rows are enough to learn from."""
        return self.kind._streams is not None

    @property
    def in_order(self) -> bool:
        """Whether blocks of rows must come in their order."""
        return bool(self.kind._streams == "order")


def learners(alike: str = "") -> Iterator[Any]:
    """Classes that declare a name for the command; first those whose own name contains `alike`.

    Each class is loaded when its turn comes, which takes a while for all of them.
    """
    for found in sorted(public_homes("adaline.estimators"), key=lambda n: alike not in n.lower()):
        kind = getattr(adaline, found)
        if getattr(kind, "_command", None) is not None:
            yield kind


def spelled(model: str) -> Any:
    """The class of a learner, by its name on the command line, or by that of the class."""
    plain = model.strip().lower().replace("_", "-")
    bare = plain.replace("-", "")
    for kind in learners(bare):
        if plain == kind._command or bare == kind.__name__.lower():
            return kind
    words = advice_for(plain)
    if not words:
        names = sorted(kind._command for kind in learners())
        words = did_you_mean(plain, names, len(names))
    raise Usage(f"--model {model!r}: there is no such learner; {words}")


def chosen(model: str | None, source: Source, target: str) -> Choice:
    """What was asked for, or what the first rows of the target suggest."""
    if model is not None:
        return Choice(spelled(model), "as you asked")
    values = _first(source, target)
    return _suggested(values, target)


def _first(source: Source, target: str) -> NDArray[Any]:
    """Values of the target in the first blocks, until there are two different ones."""
    found: list[NDArray[Any]] = []
    for block in source:
        values, gone = column(block, target)
        there = np.asarray(values[~gone])
        if len(there) and (not found or there[0] != found[0][0] or np.any(there != there[0])):
            found.append(there)  # a file may be sorted: a block of one value adds nothing new
        if found and np.any(np.concatenate(found) != found[0][0]):
            break
    if not found:
        raise ValueError(f"{source.name}: the target {target!r} has no value in any row.")
    return np.concatenate(found)


def _suggested(values: NDArray[Any], target: str) -> Choice:
    different = np.unique(labels(values))
    K, who = len(different), f"{name(target)!r}"
    if K == 1:
        raise ValueError(
            f"the target {who} is {name(different[0])!r} in every row; there is nothing to learn."
        )
    if values.dtype.kind != "O":
        whole = different.dtype.kind in "iub"
        if K > 2 and (not whole or K > _FEW or len(values) / 3 < K):
            what = f"{who} holds numbers, {number(K)} different ones in the first rows"
            return Choice(adaline.Ridge, f"{what}: ridge regression finds its penalty by itself")
        kind = "whole numbers, " if K > 2 else "numbers, "
    else:
        kind = ""
    shown = ", ".join(name(label) for label in different[:4].tolist()) + ", ..." * (K > 4)
    if K == 2:
        why = f"{who} has two values ({shown}): logistic regression tells probabilities, too"
        return Choice(adaline.LogisticRegression, why)
    if K > _MANY:
        why = f"{who} has {plural(K, 'class')}, many: Gaussian classes need one pass"
        return Choice(adaline.GaussianClassifier, why)
    why = f"{who} has {kind}{K} classes ({shown}): logistic regression with softmax"
    if kind:
        why += "; for a quantity rather than classes, say --model ridge"
    return Choice(adaline.LogisticRegression, why)


def made(kind: Any, settings: Sequence[str], seed: int) -> Any:
    """The learner, with `name=value` settings."""
    known = kind().get_params()
    given: dict[str, Any] = {}
    for setting in settings:
        parameter, equals, text = setting.partition("=")
        parameter = parameter.strip().replace("-", "_")
        if not equals:
            raise Usage(f"--set {setting!r}: expected name=value, such as --set alpha=1.")
        if parameter not in known:
            raise Usage(
                f"--set {setting!r}: {kind._command} has no setting {parameter!r}; "
                f"{did_you_mean(parameter, known)}"
            )
        given[parameter] = _value(text.strip())
    if "random_state" in known and "random_state" not in given:
        given["random_state"] = seed
    return kind(**given)


def _value(text: str) -> Any:
    """Numbers, true, false, null and lists as in JSON; anything else is a word."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return float(text)
    except ValueError:
        return text
