"""Values taken apart into JSON nodes and arrays, exactly: bits, types and order in memory.

None, truths, strings, whole and finite numbers and lists are themselves; anything else is an
object with one meaning, such as {"tuple": [...]}, {"array": name} or {"record": name, "fields":
{...}}. Records and their fields come from `_schema`; nothing else can be named.
`_reader` is the other way round.
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.storing._nodes import DEEPEST, SPARSE, is_kernel_density, resolved, word
from adaline.data.storing._schema import RECORDS
from adaline.data.storing.container import DTYPES
from adaline.errors import ModelFileError
from adaline.procedures.sequential import State


class Writer:
    """Takes values apart; `arrays` collects theirs under the path that led to them."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}

    def node(self, value: Any, where: str) -> Any:
        """The JSON node of a value, or ModelFileError with a sentence."""
        if where.count(".") > DEEPEST:
            raise ModelFileError(f"{where} is nested too deeply to be stored.")
        if value is None or type(value) in (bool, str):
            return value
        if type(value) is int:
            return value if abs(value) < 2**63 else {"int": hex(value)}
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if type(value) is complex:
            return {"complex": [self.node(part, where) for part in (value.real, value.imag)]}
        if type(value) in (list, tuple, dict):
            return self._group(value, where)
        if isinstance(value, np.dtype) and value.name in DTYPES:
            return {"dtype": value.name}
        if isinstance(value, np.generic) and value.dtype.name in DTYPES:
            return {"scalar": value.dtype.name, "value": self.node(value.item(), where)}
        if type(value) in (np.ndarray, np.memmap):
            return self._array(np.asarray(value), where)
        if type(value) in SPARSE.values():
            parts = {part: getattr(value, part) for part in ("data", "indices", "indptr")}
            nodes = {part: self.node(array, f"{where}.{part}") for part, array in parts.items()}
            return {"sparse": type(value).__name__, "shape": list(value.shape), **nodes}
        return self._record(value, where)

    def _group(self, value: Any, where: str) -> Any:
        if isinstance(value, dict):
            pairs = [
                [self.node(key, f"{where}.key{i}"), self.node(part, f"{where}.{word(key, i)}")]
                for i, (key, part) in enumerate(value.items())
            ]
            return {"dict": pairs}
        parts = [self.node(part, f"{where}.{i}") for i, part in enumerate(value)]
        return {"tuple": parts} if isinstance(value, tuple) else parts

    def _array(self, value: NDArray[Any], where: str) -> Any:
        if value.dtype.name in DTYPES:
            if where in self.arrays:
                raise ModelFileError(f"{where} comes twice; two keys have the same spelling.")
            self.arrays[where] = value
            return {"array": where}
        if value.dtype.kind == "U":
            width = value.dtype.itemsize // 4
            return {"text": value.ravel().tolist(), "shape": list(value.shape), "width": width}
        if value.dtype == object:
            flat = value.ravel().tolist()
            for part in flat:
                if part is not None and type(part) not in (str, int, float, bool):
                    raise _cannot(f"an element of {where}", part)
            return {"objects": [self.node(p, where) for p in flat], "shape": list(value.shape)}
        raise _cannot(where, value)

    def _record(self, value: Any, where: str) -> Any:
        name = type(value).__name__
        if type(value) is State:
            parts = {part: getattr(value, part) for part in ("recipe", "head", "theta")}
        elif is_kernel_density(value):
            parts = {"dataset": value.dataset}
        elif name in RECORDS and type(value) is resolved(RECORDS[name][0], name):
            described = RECORDS[name][1]
            parts = {f.name: getattr(value, f.name) for f in fields(value)}
            if set(parts) != {field.rstrip("?") for field in described}:
                raise ModelFileError(
                    f"{name} has the fields {sorted(parts)} and model files know "
                    f"{sorted(described)}; see RECORDS in adaline/data/storing/_schema.py."
                )
            parts = {k: v for k, v in parts.items() if not (v is None and f"{k}?" in described)}
        else:
            raise _cannot(where, value)
        return {
            "record": name,
            "fields": {key: self.node(part, f"{where}.{key}") for key, part in parts.items()},
        }


def _cannot(where: str, value: Any) -> ModelFileError:
    kind = "function" if callable(value) and not isinstance(value, type) else None
    named = kind or f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, np.ndarray):
        named = f"{type(value).__name__} of dtype {value.dtype}"
    return ModelFileError(
        f"{where} is a {named}, which a model file cannot hold: it keeps numbers, strings, arrays "
        "and what adaline has learned from them, and no code."
    )
