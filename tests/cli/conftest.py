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


@pytest.fixture
def command(capsys, tmp_path, tmp_path_factory, monkeypatch):
    """Run `adaline` with these tokens, in an empty directory; copies of stdin go elsewhere."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("temporary")))

    def run(*tokens: object) -> Result:
        code = run_command([str(token) for token in tokens])
        return Result(code, *capsys.readouterr())

    run.folder = tmp_path
    return run


@pytest.fixture(scope="session")
def pumps():
    return DATA / "pumps.csv"


@pytest.fixture(scope="session")
def rents():
    return DATA / "rents.csv"
