"""Input of the displays, checked in sentences: rows, names, classes, fitted models."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.evaluation.words import DateColumn
from adaline.plot._canvas import Array


def rows(X: Any, what: str = "X") -> Array:
    """X as float64 (n, p), finite, at least one row; sparse rows are spread out."""
    if hasattr(X, "toarray"):
        X = X.toarray()
    try:
        found = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{what} holds things that are no numbers; a picture needs numbers."
        ) from None
    if found.ndim != 2 or not found.size:
        raise ValueError(f"{what} has shape {found.shape}; expected rows and columns, (n, p).")
    if not np.isfinite(found).all():
        i, j = np.argwhere(~np.isfinite(found))[0].tolist()
        raise ValueError(
            f"{what} holds NaN or infinity, first at row {i}, column {j}; leave such rows out."
        )
    return found


def numbers(values: Any, what: str) -> Array:
    """A vector of finite float64."""
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what} holds things that are no numbers.") from None
    if found.ndim != 1 or not found.size:
        raise ValueError(f"{what} has shape {found.shape}; expected a vector, (n,).")
    if not np.isfinite(found).all():
        i = int(np.argmin(np.isfinite(found)))
        raise ValueError(f"{what} holds NaN or infinity, first at {i}; leave such rows out.")
    return found


def signal(values: Any, what: str) -> NDArray[Any]:
    """A vector of finite numbers, real or complex."""
    found = np.asarray(values)
    if found.dtype.kind != "c":
        return numbers(found, what)
    if found.ndim != 1 or not found.size or not np.isfinite(found).all():
        raise ValueError(f"{what} has shape {found.shape}; expected finite numbers, (n,).")
    return found


def same_length(n: int, other: Any, what: str) -> None:
    """y belongs to X."""
    if np.shape(other)[:1] != (n,):
        raise ValueError(f"{what} has shape {np.shape(other)}; X has {n} rows. Give one for each.")


def codes(y: Any, classes: Any, n: int) -> NDArray[np.int64]:
    """The place of each label in `classes`; a stranger is an error."""
    same_length(n, y, "y")
    labels, known = np.asarray(y), listed(classes)
    if labels.ndim != 1:
        raise ValueError(f"y has shape {labels.shape}; expected labels, (n,).")
    places = {label: k for k, label in enumerate(known)}
    try:
        return np.array([places[label] for label in labels.tolist()], dtype=np.int64)
    except KeyError as stranger:
        raise ValueError(
            f"y has the label {stranger.args[0]!r}; the model knows {known[:10]}."
        ) from None


def listed(labels: Any) -> list[Any]:
    """Labels as Python's own strings and numbers; a list of both stays as it is."""
    return list(labels.tolist() if hasattr(labels, "tolist") else labels)


def fitted(model: Any, attribute: str = "predict") -> Any:
    """The model, if it has learned something and can do what is asked."""
    if not hasattr(model, attribute):
        raise TypeError(f"{type(model).__name__} has no {attribute}; this picture needs it.")
    if not hasattr(model, "n_features_in_"):
        raise ValueError(f"this {type(model).__name__} is not fitted yet; call fit first.")
    return model


def width(model: Any, X: Array) -> None:
    """X has the columns that the model learned from."""
    if X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} columns; {type(model).__name__} was fitted on "
            f"{model.n_features_in_}."
        )


def labelled(model: Any, X: Any, y: Any, two: bool = False) -> tuple[Array, Any]:
    """Rows and codes for a fitted classifier, of two classes where only they will do."""
    fitted(model)
    if not hasattr(model, "classes_"):
        raise TypeError(f"{type(model).__name__} is no classifier; see PredictionDisplay.")
    if two and len(model.classes_) != 2:
        raise ValueError(f"there are {len(model.classes_)} classes; this picture is for two.")
    R = rows(X)
    width(model, R)
    return R, codes(y, model.classes_, len(R))


def column_names(model: Any, X: Any, p: int, names: Sequence[Any] | None = None) -> list[str]:
    """Names given, those of the fit, those of the table, or x0, x1, ..."""
    for found in (names, getattr(model, "feature_names_in_", None), getattr(X, "columns", None)):
        if found is not None:
            if len(found) != p:
                raise ValueError(
                    f"there are {len(found)} names for {p} columns; give one for each."
                )
            return [name if isinstance(name, DateColumn) else str(name) for name in found]
    return [f"x{j}" for j in range(p)]


def two_of(features: Sequence[Any] | None, names: list[str]) -> tuple[int, int]:
    """The two columns to show, by name or number."""
    if features is None:
        if len(names) == 2:
            return 0, 1
        raise ValueError(
            f"there are {len(names)} columns and a picture has two axes; name two: "
            "features=(first, second)."
        )
    if isinstance(features, str) or len(features) != 2:
        raise ValueError(f"features is {features!r}; expected two columns, by name or number.")
    found = [place(feature, names) for feature in features]
    if found[0] == found[1]:
        raise ValueError(f"features names the column {names[found[0]]!r} twice; name two.")
    return found[0], found[1]


def place(feature: Any, names: list[str]) -> int:
    """The number of a column that is given by name or number."""
    if isinstance(feature, int | np.integer) and not isinstance(feature, bool):
        if not 0 <= feature < len(names):
            raise ValueError(f"features has {feature}; there are {len(names)} columns, from 0.")
        return int(feature)
    if feature not in names:
        raise ValueError(f"there is no column {feature!r}; the first are {names[:10]}.")
    return names.index(feature)


def frame(values: Array, share: float = 0.08) -> tuple[float, float]:
    """The range to show: the values', and a margin; one unit where they are all equal."""
    low, high = float(values.min()), float(values.max())
    room = share * (high - low) or max(0.5, 0.1 * abs(high))
    return low - room, high + room


def plane(X: Array, pair: tuple[int, int], size: int) -> tuple[Array, Array, Array]:
    """A grid over two columns, the others at their means: both axes, and its rows."""
    a, b = (np.linspace(*frame(X[:, j]), size) for j in pair)
    grid = np.tile(X.mean(axis=0), (size * size, 1))
    grid[:, pair[0]] = np.tile(a, size)
    grid[:, pair[1]] = np.repeat(b, size)
    return a, b, grid


def ask(model: Any, method: str, X: Array) -> Any:
    """model.method(X), where X are the model's columns in their order though they bear no names."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return getattr(model, method)(X)
