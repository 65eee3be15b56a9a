"""What goes wrong is one sentence on stderr, an exit code, and no traceback."""

from __future__ import annotations

import logging
import sys

import pytest

from adaline.cli.printing.errors import guarded, sentence

PUMPS = "PUMPS"

WRONG = {
    "no such command": (["fitt"], 2, 'Did you mean "fit"?'),
    "no target": (["fit", PUMPS], 2, "--target"),
    "no such option": (["fit", PUMPS, "--targt", "failed"], 2, "Did you mean --target"),
    "no such column": (["fit", PUMPS, "-t", "faild"], 2, "did you mean 'failed'?"),
    "no such model": (["fit", PUMPS, "-t", "failed", "-m", "logstic"], 2, "mean 'logistic'?"),
    "no such setting": (["fit", PUMPS, "-t", "failed", "--set", "alpa=1"], 2, "mean 'alpha'?"),
    "no setting": (["fit", PUMPS, "-t", "failed", "--set", "alpha"], 2, "name=value"),
    "a bad setting": (["fit", PUMPS, "-t", "failed", "--set", "alpha=-3"], 3, "alpha is -3"),
    "no such choice": (["fit", PUMPS, "-t", "failed", "--missing", "x"], 2, '"refuse"'),
    "no such column to ignore": (["fit", PUMPS, "-t", "failed", "--ignore", "sit"], 2, "'site'"),
    "ignoring the target": (["fit", PUMPS, "-t", "failed", "--ignore", "failed"], 2, "needed"),
    "a share above 1": (["fit", PUMPS, "-t", "failed", "--test", "2"], 2, "share"),
    "no processes": (["fit", PUMPS, "-t", "failed", "--jobs", "0"], 2, "1 or more"),
    "nowhere to write": (["fit", PUMPS, "-t", "failed", "-o", "no/m.adaline"], 2, "no directory"),
    "over the data": (["fit", PUMPS, "-t", "failed", "-o", PUMPS], 2, "to read from"),
    "over the model": (["predict", "m", "d.csv", "-o", "./d.csv"], 2, "to read from"),
    "a directory to write": (["fit", PUMPS, "-t", "failed", "-o", "."], 2, "is a directory"),
    "no such file": (["fit", "nothing.csv", "-t", "y"], 3, "no such file"),
    "a directory": (["fit", ".", "-t", "y"], 3, "directory"),
    "no such format": (["fit", "a.xls", "-t", "y"], 3, "a.xls"),
    "a regressor for text": (["fit", PUMPS, "-t", "failed", "-m", "ridge"], 3, "--model logistic"),
    "no stream": (["fit", PUMPS, "-t", "failed", "-m", "ho-kashyap", "--jobs", "2"], 2, "memory"),
    "no model": (["predict", PUMPS, PUMPS], 3, "not an adaline file"),
    "no such model file": (["info", "m.adaline"], 3, "m.adaline"),
    "a model from stdin": (["info", "-"], 2, ""),
    "no trace": (["trace", PUMPS, "-t", "failed", "-m", "ridge"], 2, "does not learn in steps"),
    "no number": (["cover", "x", "2"], 2, "int"),
    "half a pass": (["fit", PUMPS, "-t", "failed", "--passes", "2.5"], 2, "whole number"),
    "half a process": (["fit", PUMPS, "-t", "failed", "-j", "1.5"], 2, "whole number"),
    "half a seed": (["fit", PUMPS, "-t", "failed", "--seed", "0.5"], 2, "whole number"),
    "half a point": (["cover", "10.5", "2"], 2, "whole number"),
    "nothing to write to": (["fit", PUMPS, "-t", "failed", "-o", ""], 2, "is empty"),
    "endless passes": (["trace", PUMPS, "-t", "failed", "--passes", "inf"], 2, "whole number"),
}


@pytest.mark.parametrize(("tokens", "code", "words"), WRONG.values(), ids=WRONG)
def test_an_error_is_one_sentence_and_an_exit_code(command, pumps, tokens, code, words):
    found = command(*(pumps if token == PUMPS else token for token in tokens))
    assert found.code == code, found.err
    assert words in found.err
    assert found.out == ""
    assert len(found.err.splitlines()) == 1
    assert found.err.startswith("adaline: ")
    assert "Traceback" not in found.err


BAD_FILES = {
    "empty": ("", "empty"),
    "only names": ("a,y\n", "no rows"),
    "a short line": ("a,b,y\n" + "1,2,3\n" * 60 + "1,2\n", "line 62"),
    "names of things": ("a,y\n" + "".join(f"k{i},{i}\n" for i in range(1500)), "--ignore"),
    "infinite": ("a,y\n" + "1,2\n" * 60 + "inf,3\n", "infinite"),
    "one value": ("a,y\n" + "1,x\n" * 60, "nothing to learn"),
    "only the target": ("y\n" + "".join(f"{i}\n" for i in range(60)), "no columns"),
    "nothing in the target": ("a,y\n" + "1,\n" * 60, "no value"),
}


@pytest.mark.parametrize(("text", "words"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file_is_told_in_a_sentence(command, tmp_path, text, words):
    (tmp_path / "bad.csv").write_text(text)
    found = command("fit", "bad.csv", "-t", "y")
    assert found.code == 3, found.err
    assert words in found.err
    assert len(found.err.splitlines()) == 1


def test_debug_shows_where(command):
    with pytest.raises(ValueError, match="no such file"):
        command("fit", "nothing.csv", "-t", "y", "--debug")


def test_a_defect_says_that_it_is_one(command, pumps, monkeypatch):
    from adaline.cli.learning import fitting

    def broken(*_, **__):
        raise RuntimeError("out of order")

    monkeypatch.setattr(fitting, "opened", broken)
    found = command("fit", pumps, "-t", "failed")
    assert found.code == 4
    assert "RuntimeError: out of order. That is a defect" in found.err


def test_words_of_python_become_words_of_the_command():
    assert sentence("use missing='drop'") == "use --missing drop."
    assert sentence("set alpha=0.5 here") == "set --set alpha=0.5 here."
    assert sentence("two\nlines\x1b[0m") == "two lines\\x1b[0m."
    assert sentence(FileNotFoundError(2, "No such file", "x.csv")) == "x.csv: no such file."


@pytest.mark.parametrize(
    ("terminal", "tokens", "told"),
    [(True, [], 2), (True, ["--quiet"], 1), (False, [], 1)],
)
def test_what_the_library_logs_is_told_in_lines(capsys, monkeypatch, terminal, tokens, told):
    def command(*_, **__):
        logging.getLogger("adaline").warning("Nothing is kept")
        logging.getLogger("adaline").info("Compiling")

    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    assert guarded(command, tokens) == 0
    assert (
        capsys.readouterr().err.splitlines()
        == [
            "adaline: Nothing is kept.",
            "adaline: Compiling.",
        ][:told]
    )
    assert logging.getLogger("adaline").handlers == []
