"""What goes wrong is one sentence on stderr, an exit code, and no traceback."""

from __future__ import annotations

import re
import warnings

import pytest

from adaline.cli import fitting
from adaline.cli.errors import Stopped, UsageError, describe_error, run_guarded
from adaline.cli.learners import ADVICE, advice_for, iterate_learners

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
    "a share above 1": (["fit", PUMPS, "-t", "failed", "--test", "2"], 2, "--test"),
    "no processes": (["fit", PUMPS, "-t", "failed", "--jobs", "0"], 2, ">= 1"),
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
    def broken(*_, **__):
        raise RuntimeError("out of order")

    monkeypatch.setattr(fitting, "study_table", broken)
    found = command("fit", pumps, "-t", "failed")
    assert found.code == 4
    assert "RuntimeError: out of order. That is a defect" in found.err


def test_an_error_is_one_plain_line():
    assert describe_error("two\nlines\x1b[0m") == "two lines\\x1b[0m."
    assert describe_error(FileNotFoundError(2, "No such file", "x.csv")) == "x.csv: no such file."


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (KeyError("no such thing"), 4, "adaline: KeyError: no such thing. That is a defect"),
        (
            MemoryError(),
            3,
            "there is not enough memory; fewer columns or --checkpoint DIR need less",
        ),
        (ZeroDivisionError("division by zero"), 3, "adaline: division by zero."),
        (OSError(28, "No space left on device"), 3, "adaline: no space left on device."),
        (ValueError(""), 3, "adaline: ValueError."),
        (UsageError("give one"), 2, "adaline: give one."),
        (KeyboardInterrupt(), 130, "Stopped; nothing was written."),
        (Stopped("It is in the checkpoint c."), 130, "Stopped. It is in the checkpoint c."),
    ],
    ids=repr,
)
def test_whatever_happens_is_a_sentence_and_a_code(capsys, error, code, words):
    def command(*_, **__):
        raise error

    assert run_guarded(command, []) == code
    told = capsys.readouterr().err
    assert words in told
    assert len(told.splitlines()) == 1


def test_warnings_that_nobody_collected_are_told_in_a_line(capsys):
    def command(*_, **__):
        warnings.warn("the columns\nare far apart", UserWarning, stacklevel=1)
        warnings.warn("goes away", FutureWarning, stacklevel=1)

    assert run_guarded(command, []) == 0
    assert capsys.readouterr().err == "Warning: the columns are far apart.\n"


def test_the_end_of_learning_says_where_it_can_go_on(tmp_path):
    def ended(checkpoint):
        with pytest.raises(Stopped) as stopped, fitting.explain_interrupts(checkpoint):
            raise KeyboardInterrupt
        return str(stopped.value)

    assert ended(None).startswith("Nothing was written; with --checkpoint DIR")
    folder = str(tmp_path)
    assert ended(folder) == f"Nothing was learned yet, and the checkpoint {folder} is empty."
    (tmp_path / "a.checkpoint").touch()
    assert ended(folder).startswith(f"The checkpoint {folder} keeps what was learned")


@pytest.mark.parametrize(
    ("model", "advice"),
    [
        ("lasso", "sets none of them to zero: --model ridge"),
        ("ElasticNet", "--model ridge"),
        ("svm", "max_margin(X, y)"),
        ("SVC", "kernel-perceptron"),
        ("svr", "ridge is the nearest"),
        ("random-forest", "linear in its columns"),
        ("RandomForestClassifier", "linear in its columns"),
        ("xgboost", "linear in its columns"),
        ("XGBRegressor", "linear in its columns"),
        ("knn", "linear in its columns"),
        ("lda", "take --model gaussian."),
        ("QDA", "take --model gaussian --set covariance=full."),
        ("naive_bayes", "take --model gaussian --set covariance=diagonal."),
        ("ols", "take --model least-squares."),
        ("linear", "take --model least-squares."),
        ("LinearRegression", "take --model least-squares."),
        ("logit", "take --model logistic."),
        ("RidgeCV", "take --model ridge."),
        ("kmeans", "needs no target"),
    ],
)
def test_a_method_by_another_name_hears_what_there_is_instead(command, pumps, model, advice):
    got = command("fit", pumps, "-t", "failed", "-m", model)
    assert got.code == 2
    said = " ".join(got.err.split())
    assert advice in said
    assert "did you mean" not in said


def test_what_is_advised_can_be_asked_for():
    commands = {kind._command for kind in iterate_learners()}
    for said in ADVICE:
        named = re.findall(r"--model ([a-z-]+[a-z])", said)
        assert set(named) <= commands
        for kind in commands & set(re.findall(r"[a-z-]+[a-z]", said)):
            assert advice_for(kind) == ""  # what we have needs no advice
