"""Checkpoints: what a run has learned and how far it has read, in one file that survives a kill.

State and cursor are one file, written whole or not at all, so no block is lost or counted twice.
`data.fit` keeps one where it is given a directory; kills: tests/data/test_checkpoint.py.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from adaline.data.outputs import read_file, write_atomically
from adaline.data.storing.container import DAMAGE, pack, unpack
from adaline.data.storing.records import Arrays, decode, encode
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
        self.path = folder / FILE_NAME
        self.facts = {name: digest(fact) for name, fact in facts.items()}
        self.every, self._saved = every, -np.inf

    def load(self) -> Any:
        """The state saved last, or None where there is none."""
        if not os.path.lexists(self.path):
            return None
        try:
            header, arrays = unpack(read_file(self.path))
            state = decode(header["state"], "state", arrays)
            facts = {name: header["facts"].get(name) for name in self.facts}
        except (OSError, *DAMAGE) as error:
            raise DataError(
                f"the checkpoint in {self.path.parent} is damaged ({error}); empty that directory "
                "to begin anew."
            ) from None
        changed = [name for name in self.facts if facts[name] != self.facts[name]]
        if changed:
            raise DataError(
                f"the checkpoint in {self.path.parent} is of another run: {', '.join(changed)} "
                "changed since. Give the file and the settings it was begun with, or an empty "
                "directory."
            )
        return state

    def save(self, state: Any, *, now: bool = False) -> None:
        """Keep a state, unless one was kept a moment ago."""
        if not now and time.monotonic() - self._saved < self.every:
            return
        arrays: Arrays = {}
        header = {"facts": self.facts, "state": encode(state, "state", arrays)}
        write_atomically(self.path, pack(header, arrays))
        self._saved = time.monotonic()


def digest(fact: Any) -> str:
    """Of a value as a checkpoint holds it, so that any change of it shows."""
    arrays: Arrays = {}
    return hashlib.sha256(pack({"fact": encode(fact, "fact", arrays)}, arrays)).hexdigest()
