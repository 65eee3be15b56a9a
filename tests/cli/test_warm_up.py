"""`adaline warm-up`: whatever would be compiled at first use is compiled now, and kept."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest

import adaline
from adaline.cli import warm_up
from adaline.cli.printing.printer import Out

SMALL = "dense", adaline.HoKashyap, (), "X t"


@pytest.mark.slow  # starts several processes
def test_what_is_compiled_is_kept(command, monkeypatch, tmp_path):
    monkeypatch.setenv("ADALINE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(warm_up, "_WORK", [SMALL])
    shown = command("warm-up")
    assert shown.code == 0, shown.err
    assert "Ready: everything is compiled and kept" in shown.out
    assert list((tmp_path / "cache").glob("*/*"))


@pytest.mark.slow  # starts several processes
def test_a_place_where_nothing_can_be_kept_is_told(command, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("ADALINE_CACHE_DIR", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(warm_up, "_WORK", [SMALL])
    shown = command("warm-up", "--json")
    assert shown.code == 1
    assert json.loads(shown.out)["kept"] is False
    shown = command("warm-up")
    assert "cannot be kept" in shown.out
    assert "ADALINE_CACHE_DIR" in shown.out


def test_fewer_than_one_process_is_refused(command):
    shown = command("warm-up", "--processes", "0")
    assert shown.code == 2
    assert "expected 1 or more" in shown.err


def test_every_learner_and_filter_is_among_what_is_compiled():
    called = {kind.__name__ for _, kind, *_ in warm_up._WORK}
    for name in adaline.__all__:
        if hasattr(getattr(adaline, name), "fit") or hasattr(getattr(adaline, name), "process"):
            compiles_nothing = name in ("TfDf", "WienerFilter", "MaxMargin")
            assert name in called or compiles_nothing, name


def test_the_bar_shows_how_far_it_is_and_leaves_nothing():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    bar = warm_up._Bar(Out(), 2, screen)
    bar.advance("NLMS")
    assert "[###############...............] 1 of 2  NLMS" in screen.getvalue()
    bar.clear()
    assert screen.getvalue().endswith("\r" + " " * 79 + "\r")


@pytest.mark.slow  # compiles
@pytest.mark.parametrize("name", ["_wide_text", "LeastSquares"])
def test_the_rarer_kernels_are_compiled_too(monkeypatch, tmp_path, name):
    """LIBSVM text and sums of many targets: a second process finds them, and compiles nothing."""
    work = [one for one in warm_up._WORK if one[1].__name__ == name][-1]
    monkeypatch.setenv("ADALINE_CACHE_DIR", str(tmp_path / "cache"))
    again = (
        "import logging; logging.basicConfig(level=logging.INFO)\n"
        "from adaline.cli import warm_up\n"
        f"warm_up._compile(*warm_up._WORK[{warm_up._WORK.index(work)}])"
    )
    heard = [
        subprocess.run([sys.executable, "-c", again], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert ["Compiling for this processor" in one.stderr for one in heard] == [True, False]
