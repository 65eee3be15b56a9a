"""Labels of rows: validated, coded as 0..K-1, and weighted by class. Called by all classifiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from adaline import parameters
from adaline.parameters import NONE, Expected, ParameterError, is_number, named, shown, words
from adaline.results import Array

if TYPE_CHECKING:
    from adaline.sums.class_moments import Codes


def check_labels(y: Any, n: int) -> NDArray[Any]:
    """Labels of n rows as a vector of one type that has an order."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    try:
        labels = column_or_1d(parameters.array("y", y), warn=True)
    except (ValueError, TypeError) as error:
        raise named(error, "y") from None
    if len(labels) != n:
        raise ParameterError(f"X has {n} rows and y has {len(labels)} labels; give one a row.")
    if labels.dtype.kind == "U" and isinstance(y, list | tuple):
        # numpy converts ["a", 1] to two texts; predictions would be "1" instead of 1.
        require_order(np.ravel(np.array(y, dtype=object)), "y")
    return require_order(labels, "y")


def require_order(labels: NDArray[Any], name: str) -> NDArray[Any]:
    """Labels of one type that has an order; objects become the numbers or texts that they are."""
    kind = labels.dtype.kind
    if kind == "O":
        return _convert_objects(labels, name)
    if kind == "f" and not np.isfinite(labels).all():
        raise ParameterError(f"{name} contains NaN or infinity, which are no labels.")
    if kind == "S":
        raise ParameterError(f"{name} holds labels of bytes; make them text, by .astype(str).")
    if kind not in "iubUfmM" or (kind in "mM" and np.isnat(labels).any()):
        raise ParameterError(f"{name} has dtype {labels.dtype}; expected labels: texts or numbers.")
    return labels


def _convert_objects(labels: NDArray[Any], name: str) -> NDArray[Any]:
    kinds: dict[str, Any] = {}  # an example of each
    for i, a in enumerate(labels.flat):
        if a is None or type(a).__name__ in ("NAType", "NaTType") or (type(a) is float and a != a):
            raise ParameterError(f"{name} has no label in row {i}: contains NaN, None or NA.")
        number = isinstance(a, bool | np.bool_ | float) or is_number(a)
        kinds.setdefault("text" if isinstance(a, str) else "number" if number else "other", a)
    if "other" in kinds:
        example = kinds["other"]
        raise ParameterError(
            f"{name} holds {type(example).__name__} objects such as {shown(example)} (Unknown "
            "label type); expected labels: texts or numbers."
        )
    if len(kinds) > 1:
        raise ParameterError(
            f"{name} mixes texts and numbers, which have no common order; make all of them texts."
        )
    if "number" not in kinds:
        return labels
    values = np.array(labels.tolist())
    # Fractions and integers beyond 64 bits remain objects, which numpy cannot sort reliably.
    return require_order(values.astype(np.float64) if values.dtype == object else values, name)


def encode(
    y: NDArray[Any], classes: NDArray[Any] | None, omega: Array | None = None
) -> tuple[NDArray[Any], Codes]:
    """Sorted classes (those given, or those of y), and the index among them of each label.

    Two classes at least; without a stream's classes, two with rows of positive weight omega.
    """
    labels, codes = np.unique(y, return_inverse=True)
    codes = codes.astype(np.int64, copy=False)
    # scikit-learn refuses fractions and warns of many labels; to ask it always takes 0.1 ms.
    if y.dtype.kind == "f" or len(labels) > max(len(y) // 2, 2):
        try:
            check_classification_targets(y)
        except (ValueError, TypeError) as error:
            raise named(error, "y") from None
    if labels.dtype.kind == "f":
        labels = labels + labels.dtype.type(0.0)  # minus zero becomes zero
    if classes is not None:
        labels, codes = classes, codes_of(labels, classes)[codes]
    if len(labels) < 2:
        raise ValueError(
            f"y has one class, {labels.tolist()}; telling classes apart needs at least two. In "
            "a stream, give all labels in `classes` at the first partial_fit."
        )
    if classes is None and omega is not None:
        present = np.bincount(codes[omega > 0], minlength=len(labels)) > 0
        if np.count_nonzero(present) < 2:
            raise ValueError(
                f"all rows of positive sample_weight are of one class, {labels[present].tolist()}; "
                "telling classes apart needs at least two."
            )
    return labels, codes


def codes_of(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """Index of each label among the sorted classes; an error names a label not among them."""
    if not _can_be_equal(classes, y):
        raise ValueError(
            f"y has labels such as {y.tolist()[0]!r}, and the classes are {classes.tolist()}; "
            "texts, numbers and dates are never equal."
        )
    codes = np.searchsorted(classes, y)
    known = codes < len(classes)
    known[known] = classes[codes[known]] == y[known]
    if not known.all():
        raise ValueError(
            f"y has the label {y[~known].tolist()[0]!r}, which is not among the classes "
            f"{classes.tolist()}; give all labels in `classes` at the first partial_fit."
        )
    return np.asarray(codes, dtype=np.int64)


def _can_be_equal(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether both hold texts, numbers, dates or durations."""
    families = {"U": "texts", "O": "texts", "M": "dates", "m": "durations"}
    return families.get(a.dtype.kind, "numbers") == families.get(b.dtype.kind, "numbers")


def accuracy(predicted: NDArray[Any], y: Any, sample_weight: Any) -> float:
    """Share of predictions that are the labels y, by weight; a rejected sample is wrong."""
    n = len(predicted)
    labels = check_labels(y, n)
    omega = parameters.weights_of("sample_weight", sample_weight, n)
    if not _can_be_equal(predicted, labels) and predicted.dtype != object:
        raise ParameterError(
            f"y has labels such as {shown(labels.tolist()[0])}, and predictions are such as "
            f"{shown(predicted.tolist()[0])}; texts, numbers and dates are never equal."
        )
    right = np.asarray(predicted == labels, dtype=np.float64)
    return float(np.average(right, weights=omega))


def check_stream_classes(classes: Any, known: NDArray[Any] | None) -> NDArray[Any] | None:
    """The labels of a stream: those of its beginning (known), which cannot change, or those given.

    None without either: then the first labels seen are all there will be.
    """
    if classes is None:
        return known
    labels = parameters.array("classes", classes)
    if labels.ndim != 1 or not labels.size:
        raise ParameterError(f"classes is {shown(classes)}; expected a list of all labels.")
    labels = np.unique(require_order(labels, "classes"))
    if known is not None and not np.array_equal(labels, known):
        raise ValueError(
            f"classes are {labels.tolist()}, but were {known.tolist()} at the first partial_fit; "
            "they cannot change."
        )
    return labels


def labels_of_moments(classes: Any, K: int) -> NDArray[Any]:
    """A label for each of the K classes of moments, in their order; 0, 1, ... if None."""
    if classes is None:
        return np.arange(K)
    labels = require_order(parameters.array("classes", classes), "classes")
    if labels.shape != (K,) or len(np.unique(labels)) < K or K < 2:
        raise ParameterError(
            f"classes are {shown(classes)}; the moments have {K} classes, and each needs a label "
            "of its own (two at least)."
        )
    return labels


def _weighs_labels(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    return all(is_number(w) and 0.0 <= w < np.inf for w in value.values())


CLASS_WEIGHT = (
    NONE | words("balanced") | Expected("a dict of weights >= 0 by label", _weighs_labels)
)


def weights_by_class(
    class_weight: Any, classes: NDArray[Any], codes: Any, omega: Array | None
) -> Array | None:
    """Weights of rows times those of their classes: "balanced", a dict, or None for 1.

    "balanced" gives every class the same weight, by n / (K n_k); classes left out of a dict have 1.
    """
    if class_weight is None:
        return omega
    row_weights = np.ones(len(codes)) if omega is None else omega
    if isinstance(class_weight, str):
        sums = np.bincount(codes, row_weights, minlength=len(classes))
        factor = np.divide(sums.sum(), len(classes) * sums, out=np.ones(len(sums)), where=sums > 0)
    else:
        known = classes.tolist()
        unknown = [label for label in class_weight if label not in known]
        if unknown:
            raise ParameterError(
                f"class_weight has a weight for {shown(unknown[0])}, and the classes are "
                f"{shown(known)}."
            )
        factor = np.array([class_weight.get(label, 1.0) for label in known], dtype=np.float64)
    return np.asarray(row_weights * factor[codes])
