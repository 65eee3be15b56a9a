"""What goes wrong is one sentence on stderr, an exit code, and no traceback."""

from __future__ import annotations

import re
import sys
import warnings

import pytest

from adaline.cli.errors import UsageError, run_guarded
from adaline.cli.learners import ADVICE, list_learners

PUMPS = "PUMPS"

WRONG = {
    "no such command": (["fitt"], 2, 'Did you mean "fit"?'),
    "no target": (["fit", PUMPS], 2, "'days_since_service', 'failed'"),
    "no such option": (["fit", PUMPS, "--targt", "failed"], 2, "Did you mean --target"),
    "no such column": (["fit", PUMPS, "-t", "faild"], 2, "did you mean 'failed'?"),
    "no such model": (["fit", PUMPS, "-t", "failed", "-m", "logstic"], 2, "mean 'logistic'?"),
    "another's model": (["fit", PUMPS, "-t", "failed", "-m", "SVC"], 2, "kernel-perc"),
    "a setting's model": (["fit", PUMPS, "-t", "failed", "-m", "QDA"], 2, "covariance=full"),
    "no linear model": (["fit", PUMPS, "-t", "failed", "-m", "kmeans"], 2, "needs no target"),
    "no such setting": (["fit", PUMPS, "-t", "failed", "--set", "alpa=1"], 2, "mean 'alpha'?"),
    "no setting": (["fit", PUMPS, "-t", "failed", "--set", "alpha"], 2, "name=value"),
    "a bad setting": (["fit", PUMPS, "-t", "failed", "--set", "alpha=-3"], 3, "alpha is -3"),
    "no such choice": (["fit", PUMPS, "-t", "failed", "--missing", "x"], 2, '"refuse"'),
    "no such column to ignore": (["fit", PUMPS, "-t", "failed", "--ignore", "sit"], 2, "'site'"),
    "a share above 1": (["fit", PUMPS, "-t", "failed", "--test", "2"], 2, "--test"),
    "no processes": (["fit", PUMPS, "-t", "failed", "--jobs", "0"], 2, ">= 1"),
    "nowhere to write": (["fit", PUMPS, "-t", "failed", "-o", "no/m.adaline"], 2, "no directory"),
    "over the data": (["fit", PUMPS, "-t", "failed", "-o", PUMPS], 2, "to read from"),
    "over the model": (["predict", "m", "d.csv", "-o", "./d.csv"], 2, "to read from"),
    "nothing to write to": (["fit", PUMPS, "-t", "failed", "-o", ""], 2, "empty"),
    "no such file": (["fit", "nothing.csv", "-t", "y"], 3, "no such file"),
    "a directory": (["fit", ".", "-t", "y"], 3, "directory"),
    "no such format": (["fit", "a.xls", "-t", "y"], 3, "a.xls"),
    "a regressor for text": (["fit", PUMPS, "-t", "failed", "-m", "ridge"], 3, "--model logistic"),
    "no stream": (["fit", PUMPS, "-t", "failed", "-m", "ho-kashyap", "--jobs", "2"], 2, "memory"),
    "no model": (["predict", PUMPS, PUMPS], 3, "not an adaline file"),
    "no such model file": (["info", "m.adaline"], 3, "m.adaline"),
    "a model from stdin": (["info", "-"], 2, ""),
    "no trace": (["trace", PUMPS, "-t", "failed", "-m", "ridge"], 2, "does not learn in steps"),
    "half a pass": (["fit", PUMPS, "-t", "failed", "--passes", "2.5"], 2, "int"),
    "endless passes": (["trace", PUMPS, "-t", "failed", "--passes", "inf"], 2, "int"),
    "half a point": (["cover", "10.5", "2"], 2, "int"),
    "all learners": (["fit", PUMPS, "-t", "failed", "-m", "?"], 2, "'least-squares'"),
}


@pytest.mark.parametrize(("tokens", "code", "words"), WRONG.values(), ids=WRONG)
def test_an_error_is_one_sentence_and_an_exit_code(command, pumps, tokens, code, words):
    found = command(*(pumps if token == PUMPS else token for token in tokens))
    assert found.code == code, found.err
    assert words in found.err
    assert found.out == ""
    assert len(found.err.splitlines()) == 1
    assert found.err.startswith("adaline: ")


BAD_FILES = {
    "names of things": ("a,y\n" + "".join(f"k{i},{i}\n" for i in range(1500)), "--ignore"),
    "one value": ("a,y\n" + "1,x\n" * 60, "nothing to learn"),
    "nothing in the target": ("a,y\n" + "1,\n" * 60, "no value"),
}


@pytest.mark.parametrize(("text", "words"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file_is_described_in_a_sentence(command, tmp_path, text, words):
    (tmp_path / "bad.csv").write_text(text)
    found = command("fit", "bad.csv", "-t", "y")
    assert found.code == 3, found.err
    assert words in found.err


def test_debug_shows_where(command):
    with pytest.raises(ValueError, match="no such file"):
        command("fit", "nothing.csv", "-t", "y", "--debug")


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (KeyError("no such thing"), 4, "KeyError"),
        (MemoryError(), 3, "memory"),
        (ZeroDivisionError("division by zero"), 3, "adaline: division by zero."),
        (OSError(28, "No space left on device"), 3, "adaline: no space left on device."),
        (FileNotFoundError(2, "No such file", "x.csv"), 3, "adaline: x.csv: no such file."),
        (ValueError("two\nlines\x1b[0m"), 3, "two lines\\x1b[0m."),
        (UsageError("give one"), 2, "adaline: give one."),
        (KeyboardInterrupt(), 130, "Stopped"),
    ],
    ids=repr,
)
def test_whatever_happens_is_a_sentence_and_a_code(capsys, error, code, words):
    def command(*_, **__):
        warnings.warn("the columns\nare far apart", UserWarning, stacklevel=1)
        warnings.warn("goes away", FutureWarning, stacklevel=1)
        raise error

    assert run_guarded(command, []) == code
    warning, sentence = capsys.readouterr().err.splitlines()
    assert warning == "Warning: the columns are far apart."
    assert words in sentence


def test_a_cluster_that_does_not_answer_is_given_up_after_the_timeout(command, pumps):
    pytest.importorskip("distributed")
    where = "tcp://127.0.0.1:9"  # nobody listens there
    found = command("fit", pumps, "-t", "failed", "--cluster", where, "--timeout", "0.2")
    assert found.code == 3
    assert "0.2 seconds" in found.err


def test_without_pyarrow_the_command_names_the_extra(command, pumps, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    found = command("fit", pumps, "-t", "failed")
    assert found.code == 2
    assert "[cli]" in found.err


def test_what_is_advised_can_be_asked_for():
    commands = {kind._command for kind in list_learners()}
    for advice in ADVICE.values():
        assert {word for word in re.findall(r"take ([a-z-]+)", advice)} <= commands
    methods = {method for names in ADVICE for method in names.split()}
    assert not methods & {command.replace("-", "") for command in commands}  # they need no advice
