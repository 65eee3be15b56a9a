"""Checkpoints: what a run has learned and how far it has read, in one file that survives a kill.

State and cursor are one file, written whole or not at all, so no block is lost or counted twice.
`data.fit` keeps one where it is given a directory; kills: tests/data/test_kills.py.
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
from adaline.data.storing.records import DAMAGE, Reader, encode, homes
from adaline.errors import DataError

FILE_NAME = "fit.checkpoint"


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
        self.path, self.previous = folder / FILE_NAME, folder / f"{FILE_NAME}.prev"
        self.facts = {name: digest(fact) for name, fact in facts.items()}
        self.every, self.resumed = every, False
        self._saved = -np.inf

    def load(self) -> Any:
        """The state saved last, or None where there is none; the one before if that is damaged."""
        damaged = []
        for path in (self.path, self.previous):
            if not os.path.lexists(path):
                continue
            try:
                header, arrays = unpack(read_file(path, limit=LIMIT), limit=LIMIT)
                state = Reader(arrays, homes).node(header["state"], "state")
                facts = {name: header["facts"].get(name) for name in self.facts}
            except (OSError, *DAMAGE) as error:
                damaged.append(f"{path.name}: {error}")
                continue
            changed = [name for name in self.facts if facts[name] != self.facts[name]]
            if changed:
                raise DataError(
                    f"the checkpoint in {self.path.parent} is of another run: "
                    f"{', '.join(changed)} changed since. Give the file and the settings it was "
                    "begun with, or an empty directory."
                )
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
            # Kernels that get other types raise an error of numba.
            known = isinstance(error, DAMAGE) or type(error).__module__.startswith("numba.")
            if not self.resumed or isinstance(error, DataError) or not known:
                raise
            raise DataError(
                f"the run cannot go on from the checkpoint in {self.path.parent}, which may be "
                f"damaged ({error}); empty that directory to begin anew."
            ) from error

    def save(self, state: Any, *, now: bool = False) -> None:
        """Keep a state, unless one was kept a moment ago."""
        if not now and time.monotonic() - self._saved < self.every:
            return
        arrays: dict[str, NDArray[Any]] = {}
        header = {
            "kind": "checkpoint",
            "facts": self.facts,
            "state": encode(state, "state", arrays),
        }
        write_atomically(self.path, pack(header, arrays), previous=self.previous)
        self._saved = time.monotonic()


def digest(fact: Any) -> str:
    """Of a value's JSON."""
    text = json.dumps(as_settings(fact), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def as_settings(value: Any) -> Any:
    """A value as JSON that shows whether two settings are the same."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | np.floating):
        return float(value).hex()
    if isinstance(value, np.integer | np.bool_):
        return value.item()
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), as_settings(value.tolist())]
    if isinstance(value, Mapping):
        return [[as_settings(k), as_settings(v)] for k, v in value.items()]
    if isinstance(value, Sequence):
        return [as_settings(v) for v in value]
    if is_dataclass(value) and not isinstance(value, type):
        content = {f.name: getattr(value, f.name) for f in fields(value)}
        return [type(value).__name__, as_settings(content)]
    return repr(value)
