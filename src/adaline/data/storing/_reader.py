"""Values put together from JSON nodes and arrays; what `_writer` never writes is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.storing._nodes import DEEPEST, SPARSE, resolved, same, word
from adaline.data.storing._schema import RECORDS
from adaline.data.storing.container import DTYPES
from adaline.errors import ModelFileError
from adaline.procedures.sequential import FIELDS, Recipe, State

_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_PLAIN = (str, int, float, bool)
_ROOM = 64  # letters in memory for each one in the file,
_SPARE_LETTERS = 2**22  # and so many more in all: 16 MB


class Reader:
    """Puts values together again; every array must be asked for once, by its own path."""

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        self.arrays = dict(arrays)
        self._letters = _SPARE_LETTERS

    def done(self) -> None:
        """Nothing may be left over."""
        if self.arrays:
            raise ModelFileError(f"The file has arrays that nothing uses: {[*self.arrays][:3]}.")

    def node(self, node: Any, where: str) -> Any:
        """The value of a JSON node, or ModelFileError with a sentence."""
        if where.count(".") > DEEPEST:
            raise ModelFileError(f"{where[:60]} is nested too deeply.")
        if isinstance(node, list):
            return [self.node(part, f"{where}.{i}") for i, part in enumerate(node)]
        if not isinstance(node, dict):
            if type(node) is int and abs(node) >= 2**63:
                raise _strange(where, node)
            return node
        reader = _READERS.get(frozenset(node))
        if reader is None:
            raise _strange(where, sorted(node))
        return reader(self, node, where)

    def _int(self, node: Any, where: str) -> int:
        text = node["int"]
        good = isinstance(text, str) and re.fullmatch(r"-?0x[1-9a-f][0-9a-f]{15,199999}", text)
        if not good or abs(value := int(text, 16)) < 2**63:
            raise _strange(where, text)
        return value

    def _float(self, node: Any, where: str) -> float:
        if not isinstance(node["float"], str) or node["float"] not in _FLOATS:
            raise _strange(where, node["float"])
        return _FLOATS[node["float"]]

    def _complex(self, node: Any, where: str) -> complex:
        parts = self.node(node["complex"], where)
        if not isinstance(parts, list) or [type(part) for part in parts] != [float, float]:
            raise _strange(where, parts)
        return complex(*parts)

    def _tuple(self, node: Any, where: str) -> tuple[Any, ...]:
        return tuple(self.node(_listed(node["tuple"], where), where))

    def _dict(self, node: Any, where: str) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for i, pair in enumerate(_listed(node["dict"], where)):
            if not isinstance(pair, list) or len(pair) != 2:
                raise _strange(where, pair)
            key = self.node(pair[0], f"{where}.key{i}")
            if not _hashable(key) or key in found:
                raise _strange(where, key)
            found[key] = self.node(pair[1], f"{where}.{word(key, i)}")
        return found

    def _dtype(self, node: Any, where: str) -> np.dtype[Any]:
        if not isinstance(node["dtype"], str) or node["dtype"] not in DTYPES:
            raise _strange(where, node["dtype"])
        return np.dtype(node["dtype"])

    def _scalar(self, node: Any, where: str) -> Any:
        kind = self._dtype({"dtype": node["scalar"]}, where)
        item = self.node(node["value"], where)
        with np.errstate(over="ignore"):
            try:
                value = kind.type(item)
            except (TypeError, ValueError, OverflowError):
                raise _strange(where, item) from None
        if type(value.item()) is not type(item) or not same(value.item(), item):
            raise _strange(where, item)
        return value

    def _array(self, node: Any, where: str) -> NDArray[Any]:
        if node["array"] != where or where not in self.arrays:
            raise ModelFileError(f"{where} has no array of its own.")
        return self.arrays.pop(where)

    def _text(self, node: Any, where: str) -> NDArray[Any]:
        flat, width = _listed(node["text"], where), node["width"]
        if any(type(part) is not str for part in flat) or type(width) is not int:
            raise _strange(where, "text that is none")
        longest, letters = max(map(len, flat), default=0), sum(map(len, flat))
        # One long string, or a large width, makes room for as many letters in every place.
        self._letters += _ROOM * (letters + len(flat)) - width * len(flat)
        if not longest <= width <= max(longest, 1) * _ROOM or self._letters < 0:
            raise _strange(where, f"{len(flat)} strings of width {width}, of {letters} letters")
        found = np.array(flat, dtype=f"<U{width}")
        if found.tolist() != flat:  # numpy drops zeros at the end
            raise _strange(where, "text that ends in a zero character")
        return _shaped(found, node["shape"], where)

    def _objects(self, node: Any, where: str) -> NDArray[Any]:
        flat = self.node(_listed(node["objects"], where), where)
        if any(part is not None and type(part) not in _PLAIN for part in flat):
            raise _strange(where, "objects that are neither strings nor numbers")
        found = np.empty(len(flat), dtype=object)
        found[:] = flat
        return _shaped(found, node["shape"], where)

    def _sparse(self, node: Any, where: str) -> Any:
        shape, name = node["shape"], node["sparse"]
        parts = [self.node(node[p], f"{where}.{p}") for p in ("data", "indices", "indptr")]
        whole = isinstance(shape, list) and [type(side) for side in shape] == [int, int]
        good = whole and all(isinstance(p, np.ndarray) and p.ndim == 1 for p in parts)
        kinds = good and [p.dtype.kind for p in parts] == ["f", "i", "i"]
        if not kinds or not isinstance(name, str) or name not in SPARSE:
            raise _strange(where, "sparse rows that are none")
        if min(shape) < 0 or len(parts[2]) != shape[0] + 1 or shape[1] >= 2**62:
            raise _strange(where, shape)
        try:
            found = SPARSE[name](tuple(parts), shape=tuple(shape))
            found.check_format(full_check=True)
        except (ValueError, TypeError, OverflowError) as error:
            raise _strange(where, f"sparse rows that are none: {error}") from None
        if [p.dtype for p in parts] != [found.data.dtype, found.indices.dtype, found.indptr.dtype]:
            raise _strange(where, "sparse rows with indices of another kind")
        return found

    def _record(self, node: Any, where: str) -> Any:
        name, parts = node["record"], node["fields"]
        if not isinstance(name, str) or not isinstance(parts, dict):
            raise _strange(where, name)
        optional: set[str] = set()
        if name in ("State", "gaussian_kde"):
            expected = {"recipe", "head", "theta"} if name == "State" else {"dataset"}
        elif name in RECORDS:
            expected = {field.rstrip("?") for field in RECORDS[name][1]}
            optional = {field[:-1] for field in RECORDS[name][1] if field[-1] == "?"}
        else:
            raise ModelFileError(f"{where} is a {name[:60]!r}, which is nothing a file may hold.")
        if not expected - optional <= set(parts) <= expected:
            raise ModelFileError(
                f"{where} is a {name} with the fields {str(sorted(parts))[:200]}; "
                f"expected {sorted(expected)}."
            )
        values = {key: self.node(part, f"{where}.{key}") for key, part in parts.items()}
        if name == "State":
            return _state(values, where)
        if name == "gaussian_kde":
            return _kernel_density(values["dataset"], where)
        try:
            return resolved(RECORDS[name][0], name)(**values)
        except (ValueError, TypeError) as error:
            raise ModelFileError(f"{where} is no {name}: {error}") from None


_READERS: dict[frozenset[str], Callable[[Reader, Any, str], Any]] = {
    frozenset(["int"]): Reader._int,
    frozenset(["float"]): Reader._float,
    frozenset(["complex"]): Reader._complex,
    frozenset(["tuple"]): Reader._tuple,
    frozenset(["dict"]): Reader._dict,
    frozenset(["dtype"]): Reader._dtype,
    frozenset(["scalar", "value"]): Reader._scalar,
    frozenset(["array"]): Reader._array,
    frozenset(["text", "shape", "width"]): Reader._text,
    frozenset(["objects", "shape"]): Reader._objects,
    frozenset(["sparse", "shape", "data", "indices", "indptr"]): Reader._sparse,
    frozenset(["record", "fields"]): Reader._record,
}


def _strange(where: str, found: Any) -> ModelFileError:
    return ModelFileError(f"{where[:80]} cannot be read: the file has {str(found)[:80]!r} there.")


def _listed(node: Any, where: str) -> list[Any]:
    if not isinstance(node, list):
        raise _strange(where, type(node).__name__)
    return node


def _hashable(key: Any) -> bool:
    if isinstance(key, tuple):
        return all(map(_hashable, key))
    return key is None or (isinstance(key, (*_PLAIN, np.generic)) and key == key)


def _shaped(flat: NDArray[Any], shape: Any, where: str) -> NDArray[Any]:
    whole = isinstance(shape, list) and all(type(side) is int and side >= 0 for side in shape)
    if (
        not whole
        or len(shape) > 8
        or math.prod(shape) != len(flat)
        or max(shape, default=0) > 2**40
    ):
        raise _strange(where, shape)
    return flat.reshape(shape)


def _state(values: dict[str, Any], where: str) -> State:
    """A learner's memory; kernels trust its shapes and codes, so all of them are checked here."""
    recipe, head, theta = values["recipe"], values["head"], values["theta"]
    if not isinstance(recipe, Recipe):
        raise _strange(where, recipe)
    numbers = (recipe.criterion, recipe.targets, recipe.keep, recipe.K, recipe.p)
    if any(type(number) is not int for number in numbers) or type(recipe.intercept) is not bool:
        raise _strange(where, numbers)
    known = recipe.criterion in range(7) and recipe.targets in range(3) and recipe.keep in range(4)
    if not known or recipe.K < 1 or recipe.p < 1 or not hasattr(recipe.schedule, "code"):
        raise _strange(where, numbers)
    arrays = all(isinstance(a, np.ndarray) and a.dtype == np.float64 for a in (head, theta))
    for array, shape in zip((head, theta), recipe.shapes(), strict=True):
        if not arrays or array.shape != shape or not np.isfinite(array).all():
            raise ModelFileError(f"{where[:80]} is not a state of {recipe.K} x {recipe.p} weights.")
    state = State(recipe)  # as large as the arrays at hand
    recipe_numbers = slice(len(FIELDS))
    same = np.array_equal(state.head[recipe_numbers], head[recipe_numbers])
    state.restore((head, theta))
    if not same or state.seen < 0:
        raise ModelFileError(f"{where[:80]} contradicts its own recipe.")
    return state


def _kernel_density(dataset: Any, where: str) -> Any:
    good = isinstance(dataset, np.ndarray) and dataset.dtype == np.float64 and dataset.ndim == 2
    # Without more rows than features the covariance is singular, and it may be huge.
    if not good or not 1 <= len(dataset) < dataset.shape[1] or not np.isfinite(dataset).all():
        raise _strange(where, "a density that is none")
    from scipy.stats import gaussian_kde  # takes long, and few files need it

    try:
        return gaussian_kde(dataset)
    except (ValueError, np.linalg.LinAlgError) as error:
        raise ModelFileError(f"{where[:80]} is no density: {error}") from None
