"""Whether two values have the same types and bits."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse


def same(a: Any, b: Any) -> bool:
    """Whether two values have the same types and bits; NaN is NaN.

    >>> same({"w": np.array([0.0])}, {"w": np.array([-0.0])}), same(float("nan"), float("nan"))
    (False, True)
    """
    a = np.asarray(a) if isinstance(a, np.memmap) else a
    if type(a) is not type(b):
        return False
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))
    if isinstance(a, np.ndarray):
        if a.shape != b.shape or a.dtype.newbyteorder("=") != b.dtype.newbyteorder("="):
            return False
        if a.dtype == object:
            return same(a.ravel().tolist(), b.ravel().tolist())
        return bool(a.astype(b.dtype).tobytes() == b.tobytes())
    if isinstance(a, float | complex | np.generic):
        return np.asarray(a).tobytes() == np.asarray(b).tobytes() or (a != a and b != b)
    if sparse.issparse(a):
        names = ["shape", "data", "indices", "indptr"]  # its other attributes are caches
    elif is_dataclass(a) and not isinstance(a, type):
        names = [field.name for field in fields(a)]
    elif callable(a) or not hasattr(a, "__dict__"):
        return bool(a == b)
    else:
        names = [name for name, part in vars(a).items() if not callable(part)]
    return all(same(getattr(a, name), getattr(b, name, None)) for name in names)
