"""What an estimator declares of itself, so that no other room has to know its name.

A new learner is a class in a file of its own, and a line in `_HOME` of `adaline/__init__.py`. The
attributes of `Declared` say the rest: `adaline.data.fit` reads how the learner streams, model files
read what it stores, exports read what its outputs mean, the command reads its name, and `trace` and
the pictures read what they can show. CONTRIBUTING.md has an example.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal
from weakref import finalize

from adaline._names import public_homes

Target = Literal["numbers", "counts", "positive", "classes"]
Score = Literal["R2", "D2", "accuracy"]
Scatter = Literal["constant", "counts", "relative"]
Effect = Literal["adds", "odds", "rate", "mean", "score"]

_ROOM = "adaline.estimators"

SEEN = {"n_features_in_": "count =p", "feature_names_in_?": "names p"}  # what every fit stores
ROWS_KEPT, ALL_KEPT = 2**22, 2**26  # bytes of rows until someone asks: of a fit, of all together


class Declared:
    """Attributes that a learner's own file sets, and methods that it overrides.

    Attributes
    ----------
    _learns : "numbers", "counts", "positive", "classes" or None
        What the target holds.
    _command : str or None
        The name after `adaline fit --model`.
    _streams : str or None
        How `adaline.data.fit` learns from blocks of rows; None where all rows are needed at once.

        - "moments", "machine": `fit_moments` takes the Moments of all blocks, of numbers or of an
          indicator a class.
        - "class_moments": `fit_moments` takes ClassMoments.
        - "newton": a few passes of Newton's steps.
        - "order": `partial_fit` takes the rows in their order; see `StreamWeights`.
    _loss : LogLink or None
        The loss of `adaline.sums.losses` that learners of numbers minimise in passes; those of
        labels have the logistic loss.
    _scored_by : "R2", "D2", "accuracy" or None
        What `score` is; declared by the class that defines `score`.
    _scatter : "constant", "counts", "relative" or None
        How the standard deviation of a target depends on its mean: not at all, as its root (the
        variance of a Poisson count is its mean), or in proportion.
    _effect : "adds", "odds", "rate", "mean", "score" or None
        What a column that grows does: it adds to the prediction, multiplies the odds, the rate or
        the mean by a factor, or moves the score of a class.
    _takes_exposure : bool
        Whether `fit` takes an exposure for each row.
    _exports : str or None
        What ONNX and JSON make of v = W x + b, which `_exported_weights` gives.

        - "values": a regressor predicts v; "exponential": exp(v).
        - "sides": a classifier decides by the sign of v, or by the largest.
        - "posterior": it has probabilities too, the logistic function or softmax of v.
        - "gaussians", "frequencies", "monomials": forms of one estimator each.
    _stored : dict
        Attributes that a model file keeps besides the parameters, each with a description in the
        language of `adaline/data/storing/_schema.py`. Empty where there are no model files.
    _derived : tuple of str
        Attributes that follow from those in `_stored`; `_restored` makes them again.
    _traces : "samples", "duals", "margins", "steps" or None
        What a line of `adaline.trace` is.
    _error : str or None
        The error that learning makes smaller step by step, which `_row_errors` gives.
    _intervals : "values", "means", "probabilities" or None
        What `adaline.interval` speaks of, which `_interval` gives: a new value, the mean of counts,
        or the probability of each class.
    """

    _learns: Target | None = None
    _command: str | None = None
    _streams: Literal["moments", "machine", "class_moments", "newton", "order"] | None = None
    _loss: Any = None
    _scored_by: Score | None = None
    _scatter: Scatter | None = None
    _effect: Effect | None = None
    _takes_exposure: bool = False
    _exports: str | None = None
    _stored: dict[str, str] = {}
    _derived: tuple[str, ...] = ()
    _traces: Literal["samples", "duals", "margins", "steps"] | None = None
    _error: str | None = None
    _intervals: Literal["values", "means", "probabilities"] | None = None

    def _settled(self) -> None:
        """Make what is otherwise made when someone asks, before a model file is written.

        What is `MadeWhenAsked` needs no word here.
        """

    def _restored(self, dtype: Any) -> None:
        """Make what is in `_derived`, after a model file gave what is in `_stored`.

        ValueError where the stored parts contradict each other: a file may come from anywhere.
        The dtype is that of coef_ where coef_ is derived, else None.
        """

    def _exported_weights(self) -> tuple[Any, Any] | None:
        """W (K, p) and b (K,) in float64 for exports; None where no such weights predict."""
        return None

    def _interval(self, X: Any, level: float) -> tuple[Any, Any]:
        """Low and high for each row; ValueError where this fit has none."""
        raise NotImplementedError  # pragma: no cover

    def _row_errors(self, t: Any, V: Any) -> Any:
        """The error of each row for outputs V, given its target t."""
        raise NotImplementedError  # pragma: no cover


@dataclass(frozen=True, eq=False)
class Later:
    """Copies of rows, of which something is made when someone asks for it: most never do."""

    make: Callable[..., Any]
    rows: tuple[Any, ...]

    def made(self) -> Any:
        """What is made of the rows."""
        return self.make(*self.rows)

    def __deepcopy__(self, memo: Any) -> Later:
        """Copies of a model share the rows, which nobody changes."""
        return self

    def __reduce__(self) -> Any:
        """Pickles hold what is made in the place of the rows."""
        return _itself, (self.made(),)


def _itself(made: Any) -> Any:
    return made


class MadeWhenAsked:
    """An attribute that may be set to a `Later`; the first who reads it gets what is made of it."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, model: Any, owner: type) -> Any:
        if model is None:
            return self
        if self._name not in model.__dict__:
            raise AttributeError(f"this {owner.__name__} has no {self._name!r} yet")
        known = model.__dict__[self._name]
        if isinstance(known, Later):
            known = model.__dict__[self._name] = known.made()
        return known

    def __set__(self, model: Any, value: Any) -> None:
        model.__dict__[self._name] = value


class _Kept:
    """How many bytes of rows the models of this process keep: a thousand of them may be alive."""

    def __init__(self) -> None:
        self._lock, self.size = threading.RLock(), 0

    def add(self, size: int) -> None:
        with self._lock:
            self.size += size


_kept = _Kept()


def now_or_later(make: Callable[..., Any], X: Any, *others: Any) -> Any:
    """make(X, *others), or a `Later` with copies of these arrays where X is small.

    X is dense or CSR, and the others are no larger.
    """
    size = X.size * X.dtype.itemsize
    if size > ROWS_KEPT or _kept.size + size > ALL_KEPT:
        return make(X, *others)
    later = Later(make, tuple(rows.copy() for rows in (X, *others)))
    _kept.add(size)
    finalize(later, _kept.add, -size).atexit = False
    return later


def demand(condition: bool, complaint: str) -> None:
    """Refuse stored parts that contradict each other; `load` says of which model."""
    if not condition:
        raise ValueError(complaint)


def same_bits(a: Any, b: Any) -> bool:
    """Whether two arrays are equal to the last bit."""
    return bool(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())


def scatter_of(model: Any) -> Scatter:
    """How the targets of a regression scatter; of learners that are not ours, evenly."""
    if not isinstance(model, Declared):
        return "constant"
    if model._scatter is None:
        raise TypeError(f"{type(model).__name__} does not declare how its targets scatter.")
    return model._scatter


def effect_of(model: Any) -> Effect | None:
    """What a column that grows does; None where nothing is declared."""
    return getattr(model, "_effect", None)


def estimator_named(name: str) -> type[Declared] | None:
    """The public estimator of this name, which may come from a file; None for any other name."""
    home = public_homes(_ROOM).get(name)
    found: Any = None if home is None else getattr(import_module(home), name)
    declared = isinstance(found, type) and issubclass(found, Declared)
    return found if declared and found._stored else None


def is_public(model: Any) -> bool:
    """Whether a model is of a public estimator itself, and not of a class derived from one."""
    return estimator_named(type(model).__name__) is type(model)


def public_estimators() -> Iterator[type[Declared]]:
    """All public estimators, by name; each is loaded."""
    for name in sorted(public_homes(_ROOM)):
        found = estimator_named(name)
        if found is not None:
            yield found


def names_with(declaration: str) -> str:
    """Names of the public estimators that declare this, for a sentence."""
    return ", ".join(kind.__name__ for kind in public_estimators() if getattr(kind, declaration))
