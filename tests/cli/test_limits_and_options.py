"""Limits that hold, what --quiet leaves, and options that stand where they are of use."""

from __future__ import annotations

import pytest

import adaline
from adaline.cli import run_command


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i % 7},{i % 5},{'ab'[i % 3 == 0]}" for i in range(40)]
    (tmp_path / "rows.csv").write_text("\n".join(["p,q,kind", *rows]))

    def command(*tokens):
        code = run_command(tokens)
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return command


def test_separable_says_what_it_read_before_it_begins_to_decide(run, monkeypatch, capsys):
    before = []
    decide = adaline.separability

    def slow(*given, **more):
        before.append(capsys.readouterr().out)
        return decide(*given, **more)

    monkeypatch.setattr(adaline, "separability", slow)
    run("separable", "rows.csv", "-t", "kind")
    assert "Read rows.csv: 40 rows" in before[0]
    assert "60 s" in before[0]


def test_quiet_leaves_the_outcome_without_doubts(run):
    code, out, err = run("fit", "rows.csv", "-t", "kind", "-m", "perceptron")
    assert code == 0
    assert "Warning" in out
    code, out, err = run("fit", "rows.csv", "-t", "kind", "-m", "perceptron", "--quiet")
    assert code == 0
    assert len(out.strip().splitlines()) == 1
    assert not err


def test_a_cluster_that_does_not_answer_is_given_up_after_the_timeout(run):
    pytest.importorskip("distributed")
    where = "tcp://127.0.0.1:9"  # nobody listens there
    code, _, err = run("fit", "rows.csv", "-t", "kind", "--cluster", where, "--timeout", "0.2")
    assert code == 3
    assert "within 0.2 seconds" in err


def test_a_url_without_its_package_is_told_with_the_extra_that_brings_it(run, monkeypatch):
    core = pytest.importorskip("fsspec.core")

    def missing(path):
        raise ImportError('HTTPFileSystem requires "requests" and "aiohttp" to be installed')

    monkeypatch.setattr(core, "url_to_fs", missing)
    _, _, err = run("look", "https://example.org/rows.csv")
    assert "pip install" in err
    assert "[io]" in err
