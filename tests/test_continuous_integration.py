"""The checks run with the settings that every login has, not with those of the machine at hand."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

RUN = Path(__file__).parents[1] / ".ci" / "run"


@pytest.mark.skipif(os.name != "posix" or not shutil.which("bash"), reason="needs bash")
@pytest.mark.skipif(not RUN.is_file(), reason="a source distribution has no .ci")
def test_settings_of_the_machine_do_not_reach_the_checks(tmp_path):
    make = tmp_path / "make"
    make.write_text('#!/bin/sh\necho "make $*"\nenv\n')
    make.chmod(0o755)
    given = {
        "HOME": "/home/a b",
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "LANG": "C.UTF-8",
        **dict.fromkeys(("PIP_CERT", "UV_CACHE_DIR", "SSL_CERT_FILE"), "x"),
        **dict.fromkeys(("REQUESTS_CA_BUNDLE", "HTTPS_PROXY", "no_proxy"), "x"),
    }
    ours = {"PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C", "OMP_NUM_THREADS": "1", "MAKEFLAGS": ""}
    lines = subprocess.check_output(
        ["bash", str(RUN)], cwd=tmp_path, env=given | ours, stdin=subprocess.DEVNULL, text=True
    ).splitlines()
    assert [line for line in lines if line.startswith("make ")] == ["make lint", "make test"]
    seen = dict(line.split("=", 1) for line in lines if "=" in line)
    for of_the_shell in ("PWD", "OLDPWD", "SHLVL", "_"):
        seen.pop(of_the_shell, None)
    assert seen == given | {"CI": "1"}
