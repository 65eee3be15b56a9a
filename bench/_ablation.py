"""Other constants of automatic rates, in `kernels/automatic_rates`, each in a process of its own.

Constants are compiled in. Kernels with others are kept in a folder that nobody else looks into: the
cache knows them by their sources, which do not tell.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from adaline.kernels import automatic_rates

FROM_PARENT = "ADALINE_ABLATION"  # set where the folder is a temporary one


def constant(name: str) -> float:
    """As it is."""
    value: float = getattr(automatic_rates, name)
    return value


def set_constants(given: list[str]) -> None:
    """NAME=VALUE each, before anything is compiled."""
    if given and FROM_PARENT not in os.environ:
        raise RuntimeError("--set is for processes of their own: give it to `run_apart`.")
    for name, value in (one.split("=") for one in given):
        kind = type(constant(name))
        setattr(automatic_rates, name, kind(float(value)))


def run_apart(arguments: list[str], constants: list[str]) -> str:
    """What this script prints with the arguments, and with these constants."""
    command = [sys.executable, sys.argv[0], *arguments, "--set", *constants]
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder, FROM_PARENT: "1"}
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    return done.stdout.decode()
