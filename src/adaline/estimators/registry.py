"""What an estimator declares of itself, so that no other package has to know its name.

A new learner is a class in a module of its own, and a line in `_HOME` of `adaline/__init__.py`. The
attributes of `Declared` are read by `adaline.data.fit` (how it streams), model files (what to
store), exports (what outputs mean), the command (its name), `trace` and plots. CONTRIBUTING.md has
an example.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, Literal

from adaline._names import public_homes
from adaline.parameters import Expected

Target = Literal["numbers", "counts", "positive", "classes"]
Score = Literal["R2", "D2", "accuracy"]
Scatter = Literal["constant", "counts", "relative"]
Effect = Literal["adds", "odds", "rate", "mean", "score"]

SEEN = {"n_features_in_": "int =p", "feature_names_in_?": "names p"}  # what every fit stores
WEIGHTS = SEEN | {"_dtype": "dtype"}  # and those with coef_ of this dtype


class Declared:
    """Attributes that a learner's own module sets, and methods that it overrides."""

    _parameters: Mapping[str, Expected] = {}  # what each parameter may be, for `_check_parameters`
    _learns: Target | None = None  # what the target holds
    _command: str | None = None  # the name after `adaline fit --model`
    # How `adaline.data.fit` learns from blocks of rows; None where all rows are needed at once.
    #   "moments", "machine": fit_moments takes the Moments of numbers, or of an indicator a class
    #   "class_moments": fit_moments takes ClassMoments
    #   "newton": a few passes of Newton's steps
    #   "order": partial_fit takes the rows in their order; see `streams.StreamWeights`
    _streams: Literal["moments", "machine", "class_moments", "newton", "order"] | None = None
    _loss: Any = None  # of `sums.losses`, which learners of numbers minimise in passes
    _scored_by: Score | None = None  # what `score` is; declared by the class that defines it
    # How the standard deviation of a target depends on its mean: not, as its root, in proportion.
    _scatter: Scatter | None = None
    # What a column that grows does: it adds to the prediction, multiplies the odds, the rate or
    # the mean by a factor, or moves the score of a class.
    _effect: Effect | None = None
    _takes_exposure: bool = False  # whether `fit` takes an exposure for each row
    # What ONNX and JSON make of v = W x + b, which `_exported_weights` gives: "values" predicts v,
    # "exponential" exp(v), "sides" the sign of v or the largest, "posterior" also probabilities;
    # "gaussians", "frequencies" and "monomials" are forms of one estimator each.
    _exports: str | None = None
    # Attributes in model files, described in the language of `data.storing`; without, no files.
    _stored: dict[str, str] = {}
    _derived: tuple[str, ...] = ()  # attributes that `_restored` makes of those in `_stored`
    _traces: Literal["samples", "duals", "margins", "steps"] | None = None  # lines of a trace
    _error: str | None = None  # what learning reduces step by step, given by `_row_errors`
    # What `adaline.interval` is about, given by `_interval`.
    _intervals: Literal["values", "means", "probabilities"] | None = None

    # Low and high for the rows X at a level; ValueError where this fit has none.
    _interval: Callable[[Any, float], tuple[Any, Any]]
    _row_errors: Callable[[Any, Any], Any]  # of each row for its target t and outputs V

    def _learns_in_order(self) -> bool:
        """Whether rows are learned one after the other, as they come."""
        return False

    def _settled(self) -> None:
        """Compute what is otherwise computed on first use, before a model file is written."""

    def _restored(self) -> None:
        """Make what is in `_derived`, after a model file gave what is in `_stored`.

        ValueError where the stored parts contradict each other: a file may come from anywhere.
        """

    def _exported_weights(self) -> Any:
        """W (K, p) and b (K,) in float64 for exports; None where no such weights predict."""


def demand(condition: bool, complaint: str) -> None:
    """Raise for stored parts that contradict each other; `load` names the model."""
    if not condition:
        raise ValueError(complaint)


def scatter_of(model: object) -> Scatter:
    """How the targets of a regression scatter; of learners that are not ours, evenly."""
    scatter = model._scatter if isinstance(model, Declared) else "constant"
    if scatter is None:
        raise TypeError(f"{type(model).__name__} does not declare how its targets scatter.")
    return scatter


def effect_of(model: object) -> Effect | None:
    """What a column that grows does; None where nothing is declared."""
    return getattr(model, "_effect", None)


def estimator_named(name: str) -> type[Declared] | None:
    """The public estimator of this name, which may come from a file; None for any other name."""
    home = public_homes("adaline.estimators").get(name)
    kind: Any = None if home is None else getattr(import_module(home), name)
    is_estimator = isinstance(kind, type) and issubclass(kind, Declared) and kind._stored
    return kind if is_estimator else None


def is_public(model: object) -> bool:
    return estimator_named(type(model).__name__) is type(model)


def public_estimators() -> Iterator[type[Declared]]:
    kinds = map(estimator_named, sorted(public_homes("adaline.estimators")))
    return (kind for kind in kinds if kind is not None)


def names_with(declaration: str) -> str:
    """Names of the public estimators that declare this, for a sentence."""
    return ", ".join(kind.__name__ for kind in public_estimators() if getattr(kind, declaration))


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """The checks of `sklearn.utils.estimator_checks` that cannot hold, each with its reason.

    They want a sample weight to be a number of copies, and a learner takes rows in their order, as
    scikit-learn's Perceptron does. `check_estimator` and `parametrize_with_checks` take this.

    Parameters
    ----------
    estimator : estimator
        One of adaline's.

    Examples
    --------
    >>> from adaline import LeastSquares, Perceptron, expected_failed_checks
    >>> sorted(expected_failed_checks(Perceptron()))[0]
    'check_sample_weight_equivalence_on_dense_data'
    >>> expected_failed_checks(LeastSquares())
    {}
    """
    if not (estimator._learns_in_order() or getattr(estimator, "shuffle", False)):
        return {}
    reason = "rows are learned one after the other: a weight of 2 is a long step, and not two."
    kinds = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}
