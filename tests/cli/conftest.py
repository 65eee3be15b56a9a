"""The command in this process: tokens in, exit code and texts out."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from adaline.cli import run_command

DATA = Path(__file__).parents[2] / "examples" / "data"


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """stdout as strict JSON: no NaN, no infinity."""

        def refuse(word):
            raise ValueError(f"{word} is no strict JSON")

        return json.loads(self.out, parse_constant=refuse)


@pytest.fixture(autouse=True)
def temporary(tmp_path_factory, monkeypatch):
    """A directory for what came from stdin: it goes when the process ends, and this one goes on."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("temporary")))


@pytest.fixture
def command(capsys, tmp_path, monkeypatch):
    """Run `adaline` with these tokens, in an empty directory."""
    monkeypatch.chdir(tmp_path)

    def run(*tokens: object) -> Result:
        given = [str(token) for token in tokens]
        code = run_command(given)
        return Result(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def pumps():
    return DATA / "pumps.csv"


@pytest.fixture(scope="session")
def rents():
    return DATA / "rents.csv"
