"""What writing and reading values share: homes, names of parts, and sameness to the last bit."""

from __future__ import annotations

import re
import struct
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

from adaline.procedures.sequential import State

DEEPEST = 32
SPARSE = {"csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix}


def resolved(home: str, name: str) -> Any:
    """A class of the tables in `_schema`, imported where it is needed."""
    return getattr(import_module(home), name)


def is_kernel_density(value: Any) -> bool:
    """Whether it is scipy's gaussian_kde, which takes long to import only to ask."""
    return f"{type(value).__module__}.{type(value).__name__}" == "scipy.stats._kde.gaussian_kde"


def word(key: Any, place: int) -> str:
    """A part's name in a path: its key where that is a word, else its place."""
    plain = isinstance(key, str) and re.fullmatch(r"[A-Za-z_]\w{0,99}", key, re.ASCII)
    return key if plain else str(place)


def same(a: Any, b: Any) -> bool:
    """Whether two values have the same types and bits; NaN is NaN.

    >>> same({"w": np.array([0.0])}, {"w": np.array([-0.0])}), same(float("nan"), float("nan"))
    (False, True)
    """
    if isinstance(a, np.memmap):
        a = np.asarray(a)
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return struct.pack("<d", a) == struct.pack("<d", b) or (a != a and b != b)
    if isinstance(a, complex):
        return same(a.real, b.real) and same(a.imag, b.imag)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a), list(b)) and same(list(a.values()), list(b.values()))
    if isinstance(a, np.ndarray):
        return _same_array(a, b)
    if isinstance(a, np.generic):
        return bool(a.dtype == b.dtype and same(a.item(), b.item()))
    if isinstance(a, sparse.csr_array | sparse.csr_matrix):
        return bool(a.shape == b.shape) and all(
            _same_array(getattr(a, part), getattr(b, part))
            for part in ("data", "indices", "indptr")
        )
    if is_dataclass(a):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if isinstance(a, State):
        return same(vars(a), vars(b))
    if is_kernel_density(a):
        names = ("dataset", "factor", "covariance")
        return all(same(getattr(a, name), getattr(b, name)) for name in names)
    return bool(a == b)


def _same_array(a: Any, b: Any) -> bool:
    if a.dtype.newbyteorder("=") != b.dtype.newbyteorder("=") or a.shape != b.shape:
        return False
    if a.dtype == object:
        return same(a.ravel().tolist(), b.ravel().tolist())
    return bool(a.astype(b.dtype).tobytes() == b.tobytes())
