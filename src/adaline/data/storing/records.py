"""Values as JSON nodes and arrays, exactly, and back: one codec for model files and checkpoints.

None, booleans, strings, finite numbers and lists are themselves; anything else is an object with
one meaning, such as {"tuple": [...]}, {"array": name} or {"record": name, "fields": {...}}. Arrays
are named by the path that leads to them. A file can name the records of `schema` and those that
`storable` has registered, and nothing else. `model_files` refuses a file that it would not write.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.data.storing.container import DAMAGE, DTYPES
from adaline.data.storing.schema import MAKERS, describe_fields, record_class, records
from adaline.errors import ModelFileError

SPARSE = {"csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix}
MOST_TEXT = 2**26  # bytes of an array of texts; numpy gives each the width of the longest

Arrays = dict[str, NDArray[Any]]


def storable(cls: type) -> type:
    """Let a dataclass be part of a checkpoint."""
    records.setdefault(cls.__name__, cls)
    return cls


def encode(value: Any, where: str, arrays: Arrays) -> Any:
    """The JSON node of a value, whose arrays are added under their paths; or ModelFileError."""
    kind = type(value)

    def each(part: Any, name: Any) -> Any:
        return encode(part, f"{where}.{name}", arrays)

    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if kind is complex:
        return {"complex": [each(value.real, "real"), each(value.imag, "imag")]}
    if kind in (list, tuple):
        parts = [each(part, i) for i, part in enumerate(value)]
        return parts if kind is list else {"tuple": parts}
    if kind is dict:
        # An array is named by its key, if that is a name.
        names = [k if isinstance(k, str) and k.isidentifier() else i for i, k in enumerate(value)]
        pairs = zip(value.items(), names, strict=True)
        return {
            "dict": [[each(key, f"{name} key"), each(part, name)] for (key, part), name in pairs]
        }
    if isinstance(value, np.dtype) and value.name in DTYPES:
        return {"dtype": value.name}
    if isinstance(value, np.generic) and value.dtype.name in DTYPES:
        return {"scalar": value.dtype.name, "value": each(value.item(), "value")}
    if kind in (np.ndarray, np.memmap) and value.dtype.name in DTYPES:
        arrays[where] = np.asarray(value)
        return {"array": where}
    if kind is np.ndarray and value.dtype.kind in "OU" and value.nbytes <= MOST_TEXT:
        parts = [encode(part, where, {}) for part in value.ravel().tolist()]
        return {
            "objects": parts,
            "shape": list(value.shape),
            "dtype": value.dtype.newbyteorder("<").str,
        }
    if kind in SPARSE.values():
        parts = [each(getattr(value, part), part) for part in ("data", "indices", "indptr")]
        return {"sparse": kind.__name__, "shape": list(value.shape), "parts": parts}
    if kind.__name__ in records and record_class(kind.__name__) is kind:
        nodes = {field: each(getattr(value, field), field) for field in describe_fields(kind)}
        return {"record": kind.__name__, "fields": nodes}
    what = "function" if callable(value) else f"{kind.__module__}.{kind.__qualname__}"
    raise ModelFileError(
        f"{where} is a {what}, which a file cannot hold: it keeps numbers, strings, arrays and "
        "what adaline has learned from them, and no code."
    )


def decode(node: Any, where: str, arrays: Arrays) -> Any:
    """The value of a JSON node, or ModelFileError; its arrays are taken out of `arrays`."""
    try:
        with np.errstate(over="ignore"):
            return _decode(node, arrays)
    except DAMAGE:
        held = str(node)[:80]
        raise ModelFileError(f"{where[:80]} cannot be read: the file has {held!r} there.") from None


def _decode(node: Any, arrays: Arrays) -> Any:
    def each(part: Any) -> Any:
        return _decode(part, arrays)

    match node:
        case list():
            return list(map(each, node))
        case None | bool() | int() | float() | str():
            return node
        case {"float": str(text)}:
            return float(text)
        case {"complex": [real, imag]}:
            return complex(each(real), each(imag))
        case {"tuple": list(parts)}:
            return tuple(map(each, parts))
        case {"dict": list(pairs)}:
            return {each(key): each(part) for key, part in pairs}
        case {"dtype": str(name)} if name in DTYPES:
            return np.dtype(name)
        case {"scalar": str(name), "value": item} if name in DTYPES:
            return np.dtype(name).type(each(item))
        case {"array": str(name)}:
            return arrays.pop(name)
        case {"objects": list(parts), "shape": list(shape), "dtype": str(name)}:
            dtype = np.dtype(name)
            if dtype.kind not in "OU" or dtype.itemsize * len(parts) > MOST_TEXT:
                raise ValueError("these are no texts")
            objects = np.empty(len(parts), dtype)
            objects[:] = [each(part) for part in parts]
            return objects.reshape(shape)
        case {"sparse": str(name), "shape": [int(n), int(p)], "parts": parts} if name in SPARSE:
            data, indices, indptr = each(parts)
            # Compiled loops trust these: scipy would accept other types, and huge numbers of rows.
            if len(indptr) != n + 1 or p >= 2**62 or data.dtype.kind != "f":
                raise ValueError("these are no rows")
            matrix = SPARSE[name]((data, indices, indptr), shape=(n, p))
            matrix.check_format(full_check=True)
            return matrix
        case {"record": str(name), "fields": dict(content)} if name in records:
            make = MAKERS.get(name) or record_class(name)
            return make(**{key: each(part) for key, part in content.items()})
    raise ValueError("this is no value")
