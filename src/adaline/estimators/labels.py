"""Labels of rows: validated, coded as 0..K-1, and weighted by class. Called by all classifiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from adaline import parameters
from adaline.errors import plural
from adaline.parameters import NONE, Expected, ParameterError, is_number, named, shown, words
from adaline.results import Array

if TYPE_CHECKING:
    from adaline.sums.class_moments import Codes


def check_labels(y: Any, n: int) -> NDArray[Any]:
    """Labels of n rows as a vector of one type that has an order."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    try:
        labels = parameters.array("y", y)
        plain = labels.ndim == 1 and labels.dtype.kind in "iubU"
        labels = labels if plain else column_or_1d(labels, warn=True)
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
    if labels.dtype == object:
        values = labels.tolist()
        if all(isinstance(a, str) for a in values):
            return labels
        for i, a in enumerate(values):
            if a is None or type(a).__name__ in ("NAType", "NaTType") or a != a:
                raise ParameterError(f"{name} has no label in row {i}: contains NaN, None or NA.")
        odd = [a for a in values if not (isinstance(a, bool | np.bool_ | float) or is_number(a))]
        numbers = labels if odd else np.array(values)
        if numbers.dtype == object:  # fractions and integers beyond 64 bits, too
            odd = odd or values
            what = f"{name} holds {type(odd[0]).__name__} objects such as {shown(odd[0])}"
            raise ParameterError(f"{what} (Unknown label type); expected no such mixture.")
        labels = numbers
    kind = labels.dtype.kind
    if (kind == "f" and not np.isfinite(labels).all()) or (kind in "mM" and np.isnat(labels).any()):
        raise ParameterError(f"{name} contains NaN or infinity, which are no labels.")
    if kind not in "iubUfmM":
        raise ParameterError(f"{name} has dtype {labels.dtype}; expected labels: texts or numbers.")
    return labels


def encode(
    y: NDArray[Any], classes: NDArray[Any] | None, omega: Array | None = None
) -> tuple[NDArray[Any], Codes]:
    """Sorted classes (those given, or those of y), and the index among them of each label.

    Two classes at least; without a stream's classes, two with rows of positive weight omega.
    """
    labels = np.unique(y)  # hashes; to return the inverse it would sort all rows
    codes = y == labels[-1] if len(labels) == 2 else np.searchsorted(labels, y)
    codes = np.asarray(codes, dtype=np.int64)
    if labels.dtype.kind == "f":
        if (labels != np.rint(labels)).any():
            raise ValueError("y holds fractions (Unknown label type: continuous); expected labels.")
        labels = labels + labels.dtype.type(0.0)  # minus zero becomes zero
    if classes is not None:
        place = {label: k for k, label in enumerate(classes.tolist())}
        if unknown := [label for label in labels.tolist() if label not in place]:
            known = f"the classes {classes.tolist()}"
            raise ValueError(f"y has the label {unknown[0]!r}, which is not among {known}.")
        codes = np.array([place[label] for label in labels.tolist()], dtype=np.int64)[codes]
        labels = classes
    if len(labels) < 2:
        advice = "In a stream, give all labels in `classes` at the first partial_fit."
        raise ValueError(f"y has one class, {labels.tolist()}; two are needed. {advice}")
    if classes is None and omega is not None:
        present = labels[np.bincount(codes[omega > 0], minlength=len(labels)) > 0].tolist()
        if len(present) < 2:
            raise ValueError(f"rows of positive sample_weight are of one class, {present}.")
    return labels, codes


def can_be_equal(a: NDArray[Any], b: NDArray[Any]) -> bool:
    families = {"U": "texts", "O": "texts", "M": "dates", "m": "durations"}
    return families.get(a.dtype.kind, "numbers") == families.get(b.dtype.kind, "numbers")


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
        now, before = labels.tolist(), known.tolist()
        raise ValueError(f"classes are {now}, were {before} at first, and cannot change.")
    return labels


def describe_runs(runs: int, counts: Any) -> str:
    """What is odd about so few runs of equal labels, of classes with so many rows; "" if nothing.

    The mean number of runs in a random order is 1 + n - sum n_k^2 / n (Wald and Wolfowitz). A tenth
    of it is reached by sorted rows from 40 on; by a random order of 40 with a chance below 1e-10.

    >>> describe_runs(2, [30, 30])
    'the labels come in 2 runs, as in sorted rows, where a random order has about 31'
    >>> describe_runs(60, [30, 30]), describe_runs(2, [9, 9])
    ('', '')
    """
    n, rows = float(np.sum(counts)), np.asarray(counts, dtype=np.float64)
    expected = 1.0 + n - float(rows @ rows) / n
    if 10 * runs > expected:
        return ""
    sorted_rows = f"the labels come in {plural(runs, 'run')}, as in sorted rows"
    return f"{sorted_rows}, where a random order has about {expected:,.0f}"


def runs_in(labels: NDArray[Any]) -> str:
    runs = 1 + int(np.count_nonzero(labels[1:] != labels[:-1]))
    return describe_runs(runs, np.unique(labels, return_counts=True)[1])


def labels_of_moments(classes: Any, K: int) -> NDArray[Any]:
    """A label for each of the K classes of moments, in their order; 0, 1, ... if None."""
    if classes is None:
        return np.arange(K)
    labels = require_order(parameters.array("classes", classes), "classes")
    if labels.shape != (K,) or len(np.unique(labels)) < K or K < 2:
        raise ParameterError(f"classes are {shown(classes)}; expected {K} different labels.")
    return labels


CLASS_WEIGHT = (
    NONE
    | words("balanced")
    | Expected(
        "a dict of weights >= 0 by label",
        lambda value: (
            isinstance(value, Mapping) and all(is_number(w) and w >= 0 for w in value.values())
        ),
    )
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
        if unknown := [label for label in class_weight if label not in known]:
            raise ParameterError(f"class_weight has {shown(unknown[0])}, which is no class of y.")
        factor = np.array([class_weight.get(label, 1.0) for label in known], dtype=np.float64)
    return np.asarray(row_weights * factor[codes])
