"""Tables with names: those that need no validation, and what is said of those that hold text."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.utils.fixes import parse_version

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
_READS_POLARS = parse_version(sklearn.__version__) >= parse_version("1.9")


def plain_values(learner: Any, X: Any, reset: bool) -> NDArray[Any] | None:
    """The numbers of a DataFrame that scikit-learn would take as they are; None of any other X.

    scikit-learn needs 1 ms to find that out, ten times as long as to predict a thousand rows. Its
    validation is left to say what is wrong with a table, and to make numbers of booleans, objects,
    missing values and sparse columns.
    """
    pandas = sys.modules.get("pandas")
    if pandas is None or type(X) is not pandas.DataFrame or 0 in X.shape:
        return None
    if not all(isinstance(kind, np.dtype) and kind.kind in "iuf" for kind in X.dtypes):
        return None
    names = np.asarray(X.columns, dtype=object)
    if names.ndim != 1 or not X.columns.is_unique or not all(type(name) is str for name in names):
        return None
    if not reset and not np.array_equal(names, getattr(learner, "feature_names_in_", ())):
        return None
    values = X.to_numpy()
    values = values.astype(np.float64) if values.dtype.kind in "iu" else values
    if values.dtype not in FLOATS:
        return None
    learner.n_features_in_, learner.feature_names_in_ = len(names), names
    return np.asarray(values)


def told_of_text(X: Any, error: Exception) -> str | None:
    """Which columns of a table hold text, where that is why it could not be used."""
    if "could not convert string to float" not in str(error) or not hasattr(X, "columns"):
        return None
    found = []
    for name in X.columns:
        try:
            np.asarray(X[name], dtype=np.float64)
        except (ValueError, TypeError):
            found.append(str(name))
    if not found:
        return None
    several = len(found) > 1
    listed = ", ".join(map(repr, found[:5])) + ", ..." * (len(found) > 5)
    return (
        f"X cannot be used: the column{'s' * several} {listed} hold{'s' * (not several)} text "
        f"({error}). Make numbers of it, for instance by OneHotEncoder of scikit-learn in a "
        "ColumnTransformer; adaline.data.fit does so by itself."
    )


def with_names(X: Any) -> Any:
    """X, such that scikit-learn sees the names of its columns; before 1.9, those of polars 2."""
    polars = sys.modules.get("polars")
    hidden = (
        not _READS_POLARS
        and polars is not None
        and isinstance(X, polars.DataFrame)
        and not hasattr(X, "__dataframe__")
    )
    return _WithNames(X) if hidden else X


class _WithNames:
    """A polars table that tells its names as scikit-learn before 1.9 asks for them."""

    def __init__(self, table: Any) -> None:
        self.table, self.shape = table, table.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.table.to_numpy(), dtype)

    def __dataframe__(self) -> _WithNames:
        return self

    def column_names(self) -> list[str]:
        return list(self.table.columns)
