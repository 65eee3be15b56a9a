"""Labels of rows: checked, coded as 0..K-1, and weighed by class. Called by all classifiers."""

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


LARGEST_WHOLE = 2.0**53  # below, whole numbers and their differences are exact in float64
_PLAIN_KINDS = "iubfU"  # dtypes of which scikit-learn takes any vector, after 0.1 ms of looking


def labels_of_rows(y: Any, X: Any) -> NDArray[Any]:
    """Labels as a vector, one a row of X."""
    return _labels(y, X.shape[0])


def _labels(y: Any, n: int) -> NDArray[Any]:
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    labels = _as_vector(y)
    if len(labels) != n:
        raise ParameterError(f"X has {n} rows and y has {len(labels)} labels; give one a row.")
    if labels.dtype.kind == "U" and isinstance(y, list | tuple):
        _refuse_mixed(y)
    return plain(labels, "y")


def _as_vector(y: Any) -> NDArray[Any]:
    """y as an array (n,), by scikit-learn's validation where it might have something to say."""
    array = parameters.array("y", y)
    if array.ndim == 1 and array.dtype.kind in _PLAIN_KINDS:
        return np.ascontiguousarray(array)
    try:
        return np.asarray(column_or_1d(array, warn=True))
    except (ValueError, TypeError) as error:
        raise named(error, "y") from None


def _refuse_mixed(y: Any) -> None:
    """Of ["a", 1] numpy makes two texts, and predictions would be "1" instead of 1."""
    labels = np.ravel(np.array(y, dtype=object))
    if not all(isinstance(a, str) for a in labels):
        _refuse_missing(labels, "y")
        raise ParameterError(
            "y mixes texts and others, which have no order; make all of them texts."
        )


def _refuse_missing(labels: NDArray[Any], name: str) -> None:
    """Refuse labels that pandas and Python write where there is none."""
    for i, a in enumerate(labels.flat):
        if a is None or type(a).__name__ in ("NAType", "NaTType") or (type(a) is float and a != a):
            raise ParameterError(f"{name} has no label in row {i}: contains NaN, None or NA.")


def plain(labels: NDArray[Any], name: str) -> NDArray[Any]:
    """Labels of one type that has an order; objects become the numbers or texts that they are."""
    kind = labels.dtype.kind
    if kind in "iubU":
        return labels
    if kind == "O":
        return _of_objects(labels, name)
    if kind == "f":
        if not np.isfinite(labels).all():
            raise ParameterError(f"{name} contains NaN or infinity, which are no labels.")
        return labels
    if kind == "S":
        raise ParameterError(f"{name} holds labels of bytes; make them text, by .astype(str).")
    if kind in "mM" and not np.isnat(labels).any():
        return labels
    raise ParameterError(f"{name} has dtype {labels.dtype}; expected labels: texts or numbers.")


def _of_objects(labels: NDArray[Any], name: str) -> NDArray[Any]:
    _refuse_missing(labels, name)
    texts = sum(isinstance(a, str) for a in labels.flat)
    if texts == labels.size:
        return labels
    odd = [a for a in labels.flat if not (isinstance(a, bool | np.bool_) or is_number(a))]
    if not odd:
        return np.array(labels.tolist())
    first = next((a for a in odd if not isinstance(a, str)), None)
    if first is None:
        raise ParameterError(
            f"{name} mixes texts and numbers, which have no common order; make all of them texts."
        )
    if isinstance(first, float):
        raise ParameterError(f"{name} contains NaN or infinity, which are no labels.")
    raise ParameterError(
        f"{name} holds {type(first).__name__} objects such as {shown(first)} (Unknown label type); "
        "expected labels: texts or numbers."
    )


def _family(labels: NDArray[Any]) -> str:
    """What labels can be equal to: texts, numbers, dates or durations."""
    kind = labels.dtype.kind
    return {"U": "texts", "O": "texts", "M": "dates", "m": "durations"}.get(kind, "numbers")


def share_right(predicted: NDArray[Any], y: Any, sample_weight: Any) -> float:
    """Share of predictions that are the labels y, by weight."""
    n = len(predicted)
    labels = _labels(y, n)
    omega = parameters.weights_of("sample_weight", sample_weight, n)
    if _family(predicted) != _family(labels) and predicted.dtype != object:
        raise ParameterError(
            f"y has labels such as {shown(labels.tolist()[0])}, and predictions are such as "
            f"{shown(predicted.tolist()[0])}; texts, numbers and dates are never equal."
        )
    right = np.asarray(predicted == labels, dtype=np.float64)
    return float(np.average(right, weights=omega))


def weights_by_class(
    class_weight: Any, classes: NDArray[Any], codes: Any, omega: Array | None
) -> Array | None:
    """Weights of rows times those of their classes: "balanced", a dict, or None for 1.

    "balanced" lets every class weigh the same, by n / (K n_k); of a dict, classes left out have 1.
    """
    if class_weight is None:
        return omega
    own = np.ones(len(codes)) if omega is None else omega
    if isinstance(class_weight, str):
        sums = np.bincount(codes, own, minlength=len(classes))
        factor = np.divide(sums.sum(), len(classes) * sums, out=np.ones(len(sums)), where=sums > 0)
    else:
        known = classes.tolist()
        strange = [label for label in class_weight if label not in known]
        if strange:
            raise ParameterError(
                f"class_weight has a weight for {shown(strange[0])}, and the classes are "
                f"{shown(known)}."
            )
        factor = np.array([class_weight.get(label, 1.0) for label in known], dtype=np.float64)
    return np.asarray(own * factor[codes])


CLASS_WEIGHT = (
    NONE
    | words("balanced")
    | Expected(
        "a dict of weights >= 0 by label",
        lambda value: (
            isinstance(value, Mapping)
            and all(is_number(w) and 0.0 <= w < np.inf for w in value.values())
        ),
    )
)


def announced(classes: Any, known: NDArray[Any] | None) -> NDArray[Any] | None:
    """The labels of a stream: those of its beginning (known), which cannot change, or those given.

    None where nothing was announced: then the first labels seen are all there will be.
    """
    given = None if classes is None else as_classes(classes)
    if known is None:
        return given
    if given is not None and not np.array_equal(given, known):
        raise ValueError(
            f"classes are {given.tolist()}, but were {known.tolist()} at the first partial_fit; "
            "they cannot change."
        )
    return known


def as_classes(classes: Any) -> NDArray[Any]:
    """Different labels, sorted."""
    labels = parameters.array("classes", classes)
    if labels.ndim != 1 or not labels.size:
        raise ParameterError(f"classes is {shown(classes)}; expected a list of all labels.")
    return np.unique(plain(labels, "classes"))


def labels_of_moments(classes: Any, K: int) -> NDArray[Any]:
    """A label for each of the K classes of moments, in their order; 0, 1, ... if None."""
    if classes is None:
        return np.arange(K)
    labels = parameters.array("classes", classes)
    if labels.shape != (K,) or len(np.unique(plain(labels, "classes"))) < K or K < 2:
        raise ParameterError(
            f"classes are {shown(classes)}; the moments have {K} classes, and each needs a label "
            "of its own (two at least)."
        )
    return plain(labels, "classes")


def encode(
    y: NDArray[Any], classes: NDArray[Any] | None, omega: Array | None = None
) -> tuple[NDArray[Any], Codes]:
    """Sorted classes (those given, or those of y), and the index among them of each label.

    Two classes at least, and without a stream's classes two with rows of positive weight omega:
    a row of weight zero is no sample.
    """
    whole = y.dtype.kind == "f" and bool((np.floor(y) == y).all())
    whole = whole and np.abs(y).max(initial=0.0).item() < LARGEST_WHOLE
    discrete = whole or y.dtype.kind in "iubU"
    found, codes = distinct(y) if discrete else np.unique(y, return_inverse=True)
    # scikit-learn takes discrete labels of few classes without a word, and looks at them for long.
    if not discrete or len(found) > max(len(y) // 2, 2):
        try:
            check_classification_targets(y)
        except (ValueError, TypeError) as error:
            raise named(error, "y") from None
    if classes is not None:
        found, codes = classes, codes_of(found, classes)[codes]
    if len(found) < 2:
        raise ValueError(
            f"y has one class, {found.tolist()}; telling classes apart needs at least two. In "
            "a stream, give all labels in `classes` at the first partial_fit."
        )
    if classes is None and omega is not None:
        present = np.bincount(codes[omega > 0], minlength=len(found)) > 0
        if np.count_nonzero(present) < 2:
            raise ValueError(
                f"all rows of positive sample_weight are of one class, {found[present].tolist()}; "
                "rows of weight zero are left out, and telling classes apart needs at least two."
            )
    return found, codes


def distinct(y: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    """np.unique with indices; whole numbers in a small range are counted, which takes a tenth."""
    kind, size = y.dtype.kind, y.dtype.itemsize
    low, high = (int(y.min()), int(y.max())) if kind in "iuf" and len(y) else (0, 2**63)
    if high - low > 4 * len(y) + 64:
        found, codes = np.unique(y, return_inverse=True)
        return found, codes.astype(np.int64, copy=False)
    wide = y if kind != "f" and size == 8 else y.astype(np.int64)  # int8 is too small
    places = (wide - wide.min()).astype(np.int64)
    met = np.bincount(places) > 0
    found = (np.flatnonzero(met).astype(wide.dtype) + wide.min()).astype(y.dtype)
    return found, places if met.all() else (np.cumsum(met) - 1)[places]


def codes_of(y: Any, classes: NDArray[Any]) -> NDArray[np.int64]:
    """Index of each label among the sorted classes; an error names a label not among them."""
    if _family(classes) != _family(np.asarray(y)):
        raise ValueError(
            f"y has labels such as {np.asarray(y).tolist()[0]!r}, and the classes are "
            f"{classes.tolist()}; texts, numbers and dates are never equal."
        )
    codes = np.searchsorted(classes, y)
    known = codes < len(classes)
    known[known] = classes[codes[known]] == np.asarray(y)[known]
    if not known.all():
        stranger = np.asarray(y)[~known].tolist()[0]
        raise ValueError(
            f"y has the label {stranger!r}, which is not among the classes {classes.tolist()}; "
            "give all labels in `classes` at the first partial_fit."
        )
    return np.asarray(codes, dtype=np.int64)
