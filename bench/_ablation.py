"""Other constants of `kernels/sequential/automatic.py`, each in a process of its own.

Constants are compiled in. Kernels with others are kept in a folder that nobody else looks into: the
cache knows them by their sources, which do not tell.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from adaline.kernels.sequential import automatic

FROM_PARENT = "ADALINE_ABLATION"  # set where the folder is a temporary one


def set_constants(given: list[str]) -> None:
    """NAME=VALUE each, before anything is compiled."""
    if given and FROM_PARENT not in os.environ:
        raise RuntimeError("--set is for processes of their own: give it to `run_apart`.")
    for constant in given:
        name, value = constant.split("=")
        kind = type(getattr(automatic, name))
        setattr(automatic, name, kind(float(value)))


def run_apart(arguments: list[str], constants: list[str]) -> str:
    """What this script prints with the arguments, and with these constants."""
    command = [sys.executable, sys.argv[0], *arguments, "--set", *constants]
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"ADALINE_CACHE_DIR": folder, FROM_PARENT: "1"}
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    return done.stdout.decode()
