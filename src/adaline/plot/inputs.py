"""Input of the displays: checked rows, names of columns, classes, fitted models, and grids."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted

from adaline.evaluation.words import DateColumn
from adaline.plot.draw import Array, Ints


def check_rows(X: Any) -> Array:
    """X as finite float64 (n, p); sparse rows become dense."""
    X = X.toarray() if hasattr(X, "toarray") else X
    return np.asarray(check_array(X, dtype=np.float64, input_name="X"))


def check_vector(values: Any, what: str) -> NDArray[Any]:
    """A vector of finite numbers, float64 or complex128."""
    v = np.asarray(values)
    if v.ndim != 1 or not v.size:
        raise ValueError(f"{what} has shape {v.shape}; expected a vector, (n,).")
    if v.dtype.kind != "c":
        return np.asarray(check_array(v, dtype=np.float64, ensure_2d=False, input_name=what))
    if not np.isfinite(v).all():
        raise ValueError(f"{what} contains NaN or infinity.")
    return v.astype(np.complex128)


def check_count(value: Any, name: str, least: int = 1) -> int:
    """A whole number, `least` or more."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} is {value!r}; expected a whole number, {least} or more.")
    return int(value)


def check_index(value: Any, n: int, name: str) -> int:
    """The number of one of n things."""
    if not 0 <= value < n:
        raise ValueError(f"{name} is {value}; there are {n}, counted from 0.")
    return int(value)


def check_rate(rate: float | None) -> float:
    """Samples per second, 1 where none is given."""
    if rate is not None and not 0 < rate < np.inf:
        raise ValueError(f"rate is {rate!r}; expected samples per second, above zero.")
    return 1.0 if rate is None else float(rate)


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
    return R, encode(y, model.classes_, len(R))


def check_length(n: int, y: Any, what: str) -> None:
    """One value for each of n rows."""
    if np.shape(y)[:1] != (n,):
        raise ValueError(f"{what} has shape {np.shape(y)}; X has {n} rows. Give one for each.")


def encode(y: Any, classes: Any, n: int) -> Ints:
    """The place of each label in `classes`."""
    check_length(n, y, "y")
    if np.ndim(y) != 1:
        raise ValueError(f"y has shape {np.shape(y)}; expected labels, (n,).")
    codes = places(y, classes)
    if (codes == len(classes)).any():
        label, known = as_list(y)[int(np.argmax(codes))], as_list(classes)[:10]
        raise ValueError(f"y has the label {label!r}; the model knows {known}.")
    return codes


def places(labels: Any, classes: Any) -> Ints:
    """Place of each label in classes; one past the last for others, such as "reject"."""
    place = {label: k for k, label in enumerate(as_list(classes))}
    return np.array([place.get(label, len(place)) for label in as_list(labels)], dtype=np.int64)


def as_list(labels: Any) -> list[Any]:
    """Labels as Python's own strings and numbers."""
    return list(labels.tolist() if hasattr(labels, "tolist") else labels)


def column_names(model: Any, X: Any, p: int, names: Iterable[Any] | None = None) -> list[str]:
    """Names given, those of the fit, those of the table, or x0, x1, ..."""
    for source in (names, getattr(model, "feature_names_in_", None), getattr(X, "columns", None)):
        if source is not None:
            known = [name if isinstance(name, DateColumn) else str(name) for name in source]
            if len(known) != p:
                raise ValueError(
                    f"there are {len(known)} names for {p} columns; give one for each."
                )
            return known
    return [f"x{j}" for j in range(p)]


def two_columns(features: Sequence[Any] | None, names: list[str]) -> list[int]:
    """The two columns to show, by name or number; by default those that there are."""
    if features is None and len(names) == 2:
        return [0, 1]
    if features is None or isinstance(features, str) or len(features) != 2:
        raise ValueError(
            f"features is {features!r}; a picture has two axes and there are {len(names)} columns: "
            "name two, features=(first, second)."
        )
    pair = [column_number(feature, names) for feature in features]
    if pair[0] == pair[1]:
        raise ValueError(f"features names the column {names[pair[0]]!r} twice; name two.")
    return pair


def column_number(feature: Any, names: list[str]) -> int:
    """The number of a column that is given by name or number."""
    if isinstance(feature, int | np.integer) and not isinstance(feature, bool):
        return check_index(feature, len(names), "features")
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


def slice_points(R: Array, pair: list[int], x: Array, y: Array) -> Array:
    """Points of a grid over two columns, the others at the means of the rows."""
    points = np.tile(R.mean(axis=0), (len(x) * len(y), 1))
    points[:, pair] = grid_points(x, y)
    return points


def call(model: BaseEstimator, method: str, X: Array) -> Any:
    """model.method(X) of an array whose columns are those of the fit, without names."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return getattr(model, method)(X)
