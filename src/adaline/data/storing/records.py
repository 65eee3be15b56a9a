"""Values as JSON nodes and arrays, exactly, and back: one codec for model files and checkpoints.

None, truths, strings, whole and finite numbers and lists are themselves; anything else is an object
with one meaning, such as {"tuple": [...]}, {"array": name} or {"record": name, "fields": {...}}.
Arrays are named by the path that leads to them. Every value has exactly one form: a reader encodes
again what it has decoded and compares, so that whatever is never written is rejected. A file can
name the records of `schema` (or, in checkpoints, what `storable` has registered) and nothing else.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Container
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.data.storing.container import DTYPES
from adaline.data.storing.schema import RECORDS
from adaline.errors import ModelFileError
from adaline.procedures.sequential import FIELDS, Recipe, State

LARGEST_LETTER = 0x10FFFF  # of Unicode; numpy would read any number
DEEPEST = 32  # lists within lists; no value of ours is half as deep
SPARSE = {"csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix}
PLAIN = (str, int, float, bool, type(None))
DAMAGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError)

homes: dict[str, str | type] = {name: home for name, (home, _) in RECORDS.items()}


def storable(cls: type) -> type:
    """Let a dataclass be part of a checkpoint."""
    homes.setdefault(cls.__name__, cls)
    return cls


def resolve(name: str) -> Any:
    """The class of a record, imported where it is needed."""
    home = homes[name]
    return getattr(import_module(home), name) if isinstance(home, str) else home


def encode(value: Any, where: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """The JSON node of a value, whose arrays are added under their paths; or ModelFileError."""
    if where.count(".") > DEEPEST:
        raise ModelFileError(f"{where[:60]} is nested too deeply to be stored.")
    kind = type(value)

    def each(part: Any, name: Any) -> Any:
        return encode(part, f"{where}.{name}", arrays)

    if value is None or kind in (bool, str):
        return value
    if kind is int:
        return value if abs(value) < 2**63 else {"int": hex(value)}
    if kind is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if kind is complex:
        return {"complex": [each(value.real, "real"), each(value.imag, "imag")]}
    if kind in (list, tuple):
        parts = [each(part, i) for i, part in enumerate(value)]
        return parts if kind is list else {"tuple": parts}
    if kind is dict:
        pairs = enumerate(value.items())
        return {"dict": [[each(k, f"key{i}"), each(part, word(k, i))] for i, (k, part) in pairs]}
    if isinstance(value, np.dtype) and value.name in DTYPES:
        return {"dtype": value.name}
    if isinstance(value, np.generic) and value.dtype.name in DTYPES:
        return {"scalar": value.dtype.name, "value": each(value.item(), "value")}
    if kind in (np.ndarray, np.memmap):
        return encode_array(np.asarray(value), where, arrays)
    if kind in SPARSE.values():
        nodes = {part: each(getattr(value, part), part) for part in ("data", "indices", "indptr")}
        return {"sparse": kind.__name__, "shape": list(value.shape), **nodes}
    if kind is State:
        content = {"recipe": value.recipe, "head": value.head, "theta": value.theta}
    elif is_kernel_density(value):
        content = {"dataset": value.dataset}
    elif kind.__name__ in homes and resolve(kind.__name__) is kind:
        content = {field.name: getattr(value, field.name) for field in fields(kind)}
    else:
        raise cannot_store(where, value)
    return {
        "record": kind.__name__,
        "fields": {key: each(part, key) for key, part in content.items()},
    }


def encode_array(value: NDArray[Any], where: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """Numbers are an array of the file, texts one of code points, and objects a list."""
    if where in arrays:
        raise ModelFileError(f"{where} comes twice; two keys have the same spelling.")
    if value.dtype.name in DTYPES:
        arrays[where] = value
        return {"array": where}
    if value.dtype.kind == "U" and value.dtype.itemsize:
        width = value.dtype.itemsize // 4
        letters = np.ascontiguousarray(value.astype(f"=U{width}", copy=False)).view(np.uint32)
        arrays[where] = letters.reshape(*value.shape, width)
        return {"text": where}
    if value.dtype == object:
        flat = value.ravel().tolist()
        for part in flat:
            if type(part) not in PLAIN:
                raise cannot_store(f"an element of {where}", part)
        nodes = [encode(part, where, arrays) for part in flat]
        return {"objects": nodes, "shape": list(value.shape)}
    raise cannot_store(where, value)


def cannot_store(where: str, value: Any) -> ModelFileError:
    """The error for functions and other things that are no data."""
    kind = "function" if callable(value) and not isinstance(value, type) else None
    named = kind or f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, np.ndarray):
        named = f"{type(value).__name__} of dtype {value.dtype}"
    return ModelFileError(
        f"{where} is a {named}, which a file cannot hold: it keeps numbers, strings, arrays and "
        "what adaline has learned from them, and no code."
    )


def word(key: Any, place: int) -> str:
    """A part's name in a path: its key where that is a word, else its place."""
    plain = isinstance(key, str) and re.fullmatch(r"[A-Za-z_]\w{0,99}", key, re.ASCII)
    return key if plain else str(place)


class Reader:
    """Decodes values; every array must be asked for once, by its own path.

    Parameters
    ----------
    arrays : dict
    names : container of str
        The records that may occur.
    """

    def __init__(self, arrays: dict[str, NDArray[Any]], names: Container[str] = RECORDS) -> None:
        self.arrays, self.names, self.used = arrays, names, set[str]()

    def done(self) -> None:
        """Nothing may be left over."""
        spare = [name for name in self.arrays if name not in self.used]
        if spare:
            raise ModelFileError(f"The file has arrays that nothing uses: {spare[:3]}.")

    def node(self, node: Any, where: str) -> Any:
        """The value of a JSON node, or ModelFileError."""
        strange = ModelFileError(
            f"{where[:80]} cannot be read: the file has {str(node)[:80]!r} there."
        )
        arrays: dict[str, NDArray[Any]] = {}
        try:
            with np.errstate(over="ignore"):
                value = self._decode(node, where)
        except DAMAGE as error:
            if isinstance(error, ModelFileError):
                raise
            raise strange from None
        try:
            again = json.dumps(encode(value, where, arrays), sort_keys=True)
        except DAMAGE:
            raise strange from None
        mine = [(one, self.arrays[name]) for name, one in arrays.items()]
        is_same = all(one is other or same(one, other) for one, other in mine)
        if again != json.dumps(node, sort_keys=True) or not is_same:
            raise strange
        self.used |= set(arrays)
        return value

    def _decode(self, node: Any, where: str) -> Any:
        if where.count(".") > DEEPEST:
            raise ModelFileError(f"{where[:60]} is nested too deeply.")

        def each(part: Any, name: Any) -> Any:
            return self._decode(part, f"{where}.{name}")

        match node:
            case list():
                return [each(part, i) for i, part in enumerate(node)]
            case None | bool() | int() | float() | str():
                return node
            case {"int": str(text)} if len(text) < 200_000:
                return int(text, 16)
            case {"float": "nan" | "inf" | "-inf" as text}:
                return float(text)
            case {"complex": [real, imag]}:
                return complex(each(real, "real"), each(imag, "imag"))
            case {"tuple": list(parts)}:
                return tuple(each(part, i) for i, part in enumerate(parts))
            case {"dict": list(pairs)}:
                content: dict[Any, Any] = {}
                for i, (key, part) in enumerate(pairs):
                    key = each(key, f"key{i}")
                    if key != key:
                        raise ValueError("NaN is no key")
                    content[key] = each(part, word(key, i))
                return content
            case {"dtype": str(name)} if name in DTYPES:
                return np.dtype(name)
            case {"scalar": str(name), "value": item} if name in DTYPES:
                return np.dtype(name).type(each(item, "value"))
            case {"array": str(name)}:
                return self._array(name, where)
            case {"text": str(name)}:
                letters = self._array(name, where)
                if (
                    letters.dtype != np.uint32
                    or not letters.shape[-1]
                    or letters.max(initial=0) > LARGEST_LETTER
                ):
                    raise ValueError("these are no code points")
                letters = np.ascontiguousarray(letters)
                return letters.view(f"=U{letters.shape[-1]}")[..., 0]
            case {"objects": list(parts), "shape": list(shape)} if max(shape, default=0) < 2**40:
                objects = np.empty(len(parts), dtype=object)
                objects[:] = [self._decode(part, where) for part in parts]
                return objects.reshape(shape)
            case {"sparse": str(name), "shape": [int(n), int(p)]} if name in SPARSE:
                data, indices, indptr = (each(node[k], k) for k in ("data", "indices", "indptr"))
                if len(indptr) != n + 1 or p >= 2**62 or data.dtype.kind != "f":
                    raise ValueError("these are no rows")
                matrix = SPARSE[name]((data, indices, indptr), shape=(n, p))
                matrix.check_format(full_check=True)
                return matrix
            case {"record": str(name), "fields": dict(content)}:
                return self._record(name, content, where)
        raise ValueError("this is no value")

    def _array(self, name: str, where: str) -> NDArray[Any]:
        if name != where or name not in self.arrays:
            raise ModelFileError(f"{where} has no array of its own.")
        return self.arrays[name]

    def _record(self, name: str, content: dict[str, Any], where: str) -> Any:
        own = {"State": ("recipe", "head", "theta"), "gaussian_kde": ("dataset",)}
        if name not in own and name not in self.names:
            raise ModelFileError(f"{where} is a {name[:60]!r}, which is nothing a file may hold.")
        expected = own[name] if name in own else [field.name for field in fields(resolve(name))]
        if set(content) != set(expected):
            raise ModelFileError(
                f"{where} is a {name} with the fields {str(sorted(content))[:200]}; "
                f"expected {sorted(expected)}."
            )
        values = {key: self._decode(part, f"{where}.{key}") for key, part in content.items()}
        if name == "State":
            return make_state(**values)
        return make_kernel_density(**values) if name in own else resolve(name)(**values)


def make_state(recipe: Any, head: Any, theta: Any) -> State:
    """A learner's memory; kernels trust its shapes and codes, so all of them are checked here."""
    if not isinstance(recipe, Recipe):
        raise ValueError("this is no recipe")
    numbers = (recipe.criterion, recipe.targets, recipe.keep, recipe.K, recipe.p)
    if any(type(number) is not int for number in numbers) or type(recipe.intercept) is not bool:
        raise ValueError("a number of the recipe is none")
    known = recipe.criterion in range(7) and recipe.targets in range(3) and recipe.keep in range(4)
    if not known or recipe.K < 1 or recipe.p < 1 or not hasattr(recipe.schedule, "code"):
        raise ValueError("the recipe has unknown codes")
    for array, shape in zip((head, theta), recipe.shapes(), strict=True):
        if array.dtype != np.float64 or array.shape != shape or not np.isfinite(array).all():
            raise ValueError(f"this is not a state of {recipe.K} x {recipe.p} weights")
    state = State(recipe)  # as large as the arrays at hand
    if not np.array_equal(state.head[: len(FIELDS)], head[: len(FIELDS)]):
        raise ValueError("the state contradicts its own recipe")
    state.restore((head, theta))
    if state.seen < 0:
        raise ValueError("a negative count of samples")
    return state


def make_kernel_density(dataset: Any) -> Any:
    """A density of scipy, which needs more rows than features, or its covariance is singular."""
    good = dataset.dtype == np.float64 and dataset.ndim == 2 and np.isfinite(dataset).all()
    if not good or not 1 <= len(dataset) < dataset.shape[1]:
        raise ValueError("this is no density")
    from scipy.stats import gaussian_kde  # takes long, and few files need it

    return gaussian_kde(dataset)


def is_kernel_density(value: Any) -> bool:
    """Whether it is scipy's gaussian_kde, which takes long to import only to ask."""
    return f"{type(value).__module__}.{type(value).__name__}" == "scipy.stats._kde.gaussian_kde"


def same(a: Any, b: Any) -> bool:
    """Whether two values have the same types and bits; NaN is NaN.

    >>> same({"w": np.array([0.0])}, {"w": np.array([-0.0])}), same(float("nan"), float("nan"))
    (False, True)
    """
    a = np.asarray(a) if isinstance(a, np.memmap) else a
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
        if a.dtype.newbyteorder("=") != b.dtype.newbyteorder("=") or a.shape != b.shape:
            return False
        if a.dtype == object:
            return same(a.ravel().tolist(), b.ravel().tolist())
        return bool(a.astype(b.dtype).tobytes() == b.tobytes())
    if isinstance(a, np.generic):
        return bool(a.dtype == b.dtype and same(a.item(), b.item()))
    if type(a) in SPARSE.values():
        parts: tuple[str, ...] = ("shape", "data", "indices", "indptr")
    elif is_dataclass(a):
        parts = tuple(field.name for field in fields(a))
    elif isinstance(a, State):
        parts = tuple(vars(a))
    elif is_kernel_density(a):
        parts = ("dataset", "factor", "covariance")
    else:
        return bool(a == b)
    return all(same(getattr(a, part), getattr(b, part)) for part in parts)
