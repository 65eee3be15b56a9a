"""Checkpoints: what a run has learned and how far it has read, in one file that survives a kill.

State and cursor are one file, written whole or not at all, so no block is lost or counted twice.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.storing.container import LIMIT, pack, read_file, unpack, write_atomically
from adaline.errors import DataError, ModelFileError
from adaline.sums.class_moments import ClassMoments
from adaline.sums.moments import Moments

_NAME = "fit.checkpoint"
# What reading a state raises that is none; kernels that get other types raise an error of numba.
_DAMAGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_CLASSES: dict[str, type] = {"Moments": Moments, "ClassMoments": ClassMoments}


def storable(cls: type) -> type:
    """Let a dataclass of ours be part of a checkpoint."""
    _CLASSES[cls.__name__] = cls
    return cls


class Checkpoint:
    """The file of one run, in a directory of its own.

    Parameters
    ----------
    directory : path
        Made if it is not there.
    facts : mapping
        What must be the same for a run to go on: the source's fingerprint, the settings. JSON.
    every : float
        Seconds between two savings, at least; 0 saves after every block.
    """

    def __init__(self, directory: Any, facts: Mapping[str, Any], every: float = 2.0):
        folder = Path(os.fspath(directory))
        if folder.exists() and not folder.is_dir():
            raise DataError(f"{folder} is a file; a checkpoint needs a directory of its own.")
        folder.mkdir(parents=True, exist_ok=True)
        self.path, self.previous = folder / _NAME, folder / f"{_NAME}.prev"
        self.facts = {name: _digest(fact) for name, fact in facts.items()}
        self.every, self._saved, self.resumed = every, -np.inf, False

    def load(self) -> Any:
        """The state saved last, or None where there is none; the one before if that is damaged."""
        damaged = []
        for path in (self.path, self.previous):
            if not os.path.lexists(path):
                continue
            try:
                header, arrays = unpack(read_file(path, limit=LIMIT), limit=LIMIT)
                state = _thaw(header["state"], arrays)
                facts = header["facts"]
            except (ModelFileError, OSError, RecursionError, *_DAMAGE) as error:
                damaged.append(f"{path.name}: {error}")
                continue
            self._compare(facts)
            self.resumed = True
            return state
        if damaged:
            raise DataError(
                f"the checkpoint in {self.path.parent} is damaged ({'; '.join(damaged)}), and so "
                "is the one before it; empty that directory to begin anew."
            )
        return None

    @contextmanager
    def trusted(self) -> Iterator[None]:
        """Let whatever fails in a run that goes on be one DataError: a state may hold anything."""
        try:
            yield
        except Exception as error:
            known = isinstance(error, _DAMAGE) or type(error).__module__.startswith("numba.")
            if not self.resumed or isinstance(error, DataError) or not known:
                raise
            raise DataError(
                f"the run cannot go on from the checkpoint in {self.path.parent}, which may be "
                f"damaged ({error}); empty that directory to begin anew."
            ) from error

    def _compare(self, facts: Mapping[str, str]) -> None:
        changed = [name for name in self.facts if facts.get(name) != self.facts[name]]
        if changed:
            raise DataError(
                f"the checkpoint in {self.path.parent} is of another run: {', '.join(changed)} "
                "changed since. Give the file and the settings it was begun with, or an empty "
                "directory."
            )

    def save(self, state: Any, *, now: bool = False) -> None:
        """Keep a state, unless one was kept a moment ago."""
        if not now and time.monotonic() - self._saved < self.every:
            return
        arrays: dict[str, NDArray[Any]] = {}
        header = {"kind": "checkpoint", "facts": self.facts, "state": _freeze(state, arrays)}
        write_atomically(self.path, pack(header, arrays), previous=self.previous)
        self._saved = time.monotonic()


def settings_of(value: Any) -> Any:
    """A value as JSON that tells whether two settings are the same."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | np.floating):
        return float(value).hex()
    if isinstance(value, np.integer | np.bool_):
        return value.item()
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), settings_of(value.tolist())]
    if isinstance(value, Mapping):
        return [[settings_of(k), settings_of(v)] for k, v in value.items()]
    if isinstance(value, Sequence):
        return [settings_of(v) for v in value]
    if is_dataclass(value) and not isinstance(value, type):
        inside = {f.name: getattr(value, f.name) for f in fields(value)}
        return [type(value).__name__, settings_of(inside)]
    return repr(value)


def _digest(fact: Any) -> str:
    text = json.dumps(settings_of(fact), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _freeze(value: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    """A value as JSON, its arrays put aside."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.ndarray):
        name = f"a{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if isinstance(value, np.generic):
        return _freeze(value.item(), arrays)
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return {"float": value.hex()}  # all bits, and infinities, which JSON has not
    if isinstance(value, list | tuple):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [_freeze(v, arrays) for v in value]}
    if isinstance(value, dict):
        return {"dict": [[_freeze(k, arrays), _freeze(v, arrays)] for k, v in value.items()]}
    name = type(value).__name__
    if _CLASSES.get(name) is not type(value):
        raise TypeError(f"a checkpoint cannot hold a {name}.")
    inside = {f.name: _freeze(getattr(value, f.name), arrays) for f in fields(_CLASSES[name])}
    return {"class": name, "fields": inside}


def _thaw(plain: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    if not isinstance(plain, dict):
        return plain
    if "class" in plain:
        inside = {name: _thaw(v, arrays) for name, v in plain["fields"].items()}
        return _CLASSES[plain["class"]](**inside)
    ((kind, content),) = plain.items()
    if kind == "array":
        return arrays[content]
    if kind == "float":
        return float.fromhex(content)
    if kind == "dict":
        return {_thaw(k, arrays): _thaw(v, arrays) for k, v in content}
    parts = [_thaw(v, arrays) for v in content]
    return parts if kind == "list" else tuple(parts)
