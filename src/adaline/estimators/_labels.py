"""Labels to class codes, without sorting where labels are integers in a small range."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from adaline.class_tiles import Codes
from adaline.results import Array


def labels_of_rows(y: Any, X: Any) -> NDArray[Any]:
    """Labels as a vector, one a row of X."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    if len(labels) != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows and y has {len(labels)} labels.")
    return labels


def announced(classes: Any, known: NDArray[Any] | None) -> NDArray[Any] | None:
    """The labels of a stream: those of its beginning (known), which cannot change, or those given.

    None where nothing was announced: then the first labels seen are all there will be.
    """
    given = None if classes is None else np.unique(np.asarray(classes))
    if known is None:
        return given
    if given is not None and not np.array_equal(given, known):
        raise ValueError(
            f"classes are {given.tolist()}, but were {known.tolist()} at the first partial_fit; "
            "they cannot change."
        )
    return known


def encode(
    y: NDArray[Any], classes: NDArray[Any] | None, omega: Array | None = None
) -> tuple[NDArray[Any], Codes]:
    """Sorted classes (those given, or those of y), and the index among them of each label.

    Two classes at least, and without a stream's classes two with rows of positive weight omega:
    a row of weight zero is no sample. Integers in a small range are counted instead of sorted:
    10^6 labels take 3 ms instead of 50.
    """
    if y.dtype.kind in "iu" and len(y) and int(y.max()) - int(y.min()) <= 4 * len(y) + 64:
        found, codes = _counted(y, classes)
    else:
        check_classification_targets(y)
        found = np.unique(y) if classes is None else classes
        codes = codes_of(y, found)
    if len(found) < 2:
        raise ValueError(
            f"y has one class, {found.tolist()}; telling classes apart needs at least two. In "
            "a stream, give all labels in `classes` at the first partial_fit."
        )
    if classes is None and omega is not None:
        _check_weights(found, codes, omega)
    return found, codes


def _check_weights(classes: NDArray[Any], codes: Codes, omega: Array) -> None:
    present = np.bincount(codes[omega > 0], minlength=len(classes)) > 0
    if np.count_nonzero(present) < 2:
        raise ValueError(
            f"all rows of positive sample_weight are of one class, {classes[present].tolist()}; "
            "rows of weight zero are left out, and telling classes apart needs at least two."
        )


def _counted(y: NDArray[Any], classes: NDArray[Any] | None) -> tuple[NDArray[Any], Codes]:
    low = int(y.min())
    places = y.astype(np.int64) if low == 0 else (y - y.dtype.type(low)).astype(np.int64)
    present = np.flatnonzero(np.bincount(places))
    found = present.astype(y.dtype) + y.dtype.type(low)
    if classes is None and len(found) == present[-1] + 1:
        return found, places
    table = np.zeros(present[-1] + 1, dtype=np.int64)
    table[present] = np.arange(len(found)) if classes is None else codes_of(found, classes)
    return found if classes is None else classes, table[places]


def codes_of(y: Any, classes: NDArray[Any]) -> NDArray[np.int64]:
    """Index of each label among the sorted classes; an error names a label not among them."""
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
