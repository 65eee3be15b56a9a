"""Input of the displays: checked rows, labels and columns, and grids.

Names of columns come from `evaluation.trial.column_names`, as in verdicts and reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_array, check_is_fitted
from sklearn.utils.validation import check_consistent_length as check_consistent_length

from adaline.plot.draw import Array, Ints

Names = Sequence[Any] | None  # of columns


def check_rows(X: Any) -> Array:
    """X as finite float64 (n, p); sparse rows become dense."""
    X = X.toarray() if hasattr(X, "toarray") else X
    return np.asarray(check_array(X, dtype=np.float64, input_name="X"))


def check_vector(values: Any, what: str) -> NDArray[Any]:
    """A vector of finite numbers, float64 or complex128."""
    v = np.asarray(values)
    if v.ndim != 1 or not v.size:
        raise ValueError(f"{what} has shape {v.shape}; expected a vector, (n,).")
    v = v.astype(np.complex128 if v.dtype.kind == "c" else np.float64)
    if not np.isfinite(v).all():
        raise ValueError(f"{what} contains NaN or infinity.")
    return v


def check_model(model: BaseEstimator, method: str = "predict") -> None:
    """A fitted model that has the method."""
    if not hasattr(model, method):
        raise TypeError(f"{type(model).__name__} has no {method}; this picture needs it.")
    check_is_fitted(model)


def check_classifier(
    model: BaseEstimator, X: Any, y: Any, method: str = "predict", binary: bool = False
) -> tuple[Array, Ints]:
    """Rows and codes of their labels for a fitted classifier."""
    check_model(model, method)
    if not hasattr(model, "classes_"):
        raise TypeError(f"{type(model).__name__} is no classifier; see PredictionDisplay.")
    if binary and len(model.classes_) != 2:
        raise ValueError(f"there are {len(model.classes_)} classes; this picture is for two.")
    R = check_rows(X)
    check_consistent_length(R, y)
    return R, encode(y, model.classes_)


def encode(y: Any, classes: Any) -> Ints:
    """The place of each label in `classes`."""
    codes = places(y, classes)
    if (codes == len(classes)).any():
        label, known = np.asarray(y).tolist()[int(np.argmax(codes))], list(classes[:10])
        raise ValueError(f"y has the label {label!r}; the model knows {known}.")
    return codes


def places(labels: Any, classes: Any) -> Ints:
    """Place of each label in classes; one past the last for others, such as "reject"."""
    place = {label: k for k, label in enumerate(np.asarray(classes).tolist())}
    known = [place.get(label, len(place)) for label in np.asarray(labels).tolist()]
    return np.array(known, dtype=np.int64)


def column_number(feature: Any, names: list[str]) -> int:
    """The number of a column that is given by name or number."""
    if isinstance(feature, int | np.integer):
        return int(check_scalar(feature, "features", Integral, min_val=0, max_val=len(names) - 1))
    if feature not in names:
        raise ValueError(f"there is no column {feature!r}; the first are {names[:10]}.")
    return names.index(feature)


def limits(values: Array, share: float = 0.08) -> tuple[float, float]:
    """The range of the values with a margin; one unit where they are all equal."""
    low, high = float(values.min()), float(values.max())
    margin = share * (high - low) or max(0.5, 0.1 * abs(high))
    return low - margin, high + margin


def grid_points(x: Array, y: Array) -> Array:
    """All (x, y) of a grid, row by row."""
    return np.column_stack([np.tile(x, len(y)), np.repeat(y, len(x))])
