"""Rows to ask a model about: numbers, or a table with the preparation of its columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.data import Encoding, Prepared
from adaline.parameters import ParameterError, shown


def model_and_rows(model: Any, X: Any) -> tuple[Any, Any, Encoding | None]:
    """The estimator, its rows of numbers, and the encoding that made them, where there is one."""
    if not isinstance(model, Prepared):
        check_fitted(model)
        return model, X, None
    check_fitted(model.model)
    parts = list(model.encoded(X))
    if hasattr(parts[0], "tocsr"):
        from scipy import sparse

        return model.model, sparse.vstack(parts).tocsr(), model.encoding
    return model.model, np.concatenate(parts), model.encoding


def check_fitted(model: Any) -> None:
    """Refuse what predicts nothing."""
    if not hasattr(model, "predict") or not hasattr(model, "n_features_in_"):
        raise ParameterError(f"model is {shown(model)}; expected a fitted estimator: fit it first.")
