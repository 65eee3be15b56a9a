"""Rows of two classes for functions that are no estimators: checked as `fit` would."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from adaline import parameters
from adaline.estimators._base import check_finite
from adaline.estimators._labels import encode, labels_of_rows
from adaline.results import Array
from adaline.sums.rows import as_csr


def two_classes(
    X: Any, y: Any, sample_weight: Any = None
) -> tuple[Any, Array, NDArray[Any], NDArray[np.int64]]:
    """(X, targets -1 or +1, the two labels, row numbers) of the rows that have weight.

    X becomes dense or CSR of floats, finite; the larger label is +1.
    """
    parameters.refuse("X", X)
    try:
        X = as_csr(X) if parameters.is_sparse(X) else X
        kinds = [np.float64, np.float32]
        X = check_array(X, accept_sparse="csr", dtype=kinds, ensure_all_finite=False)
    except (ValueError, TypeError, OverflowError, AttributeError) as error:
        raise parameters.named(error, "X") from None
    check_finite(X)
    classes, codes = encode(labels_of_rows(y, X), None)
    numbers = np.arange(X.shape[0])
    omega = parameters.weights_of("sample_weight", sample_weight, X.shape[0])
    if omega is not None:
        numbers = np.flatnonzero(omega)
        X, codes = X[numbers], codes[numbers]
    present = np.unique(codes)
    if len(present) != 2:
        raise ValueError(
            f"y has {len(present)} classes {classes[present].tolist()}; a hyperplane lies between "
            "two. Take two of them, or one against the rest."
        )
    return X, np.where(codes == present[1], 1.0, -1.0), classes[present], numbers
