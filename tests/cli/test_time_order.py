"""Rows in order of time that are held out at random flatter the quality: the command says so."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

import adaline
from adaline.cli import main

_RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    """A random walk with a date, 600 days."""
    path = tmp_path_factory.mktemp("walk") / "walk.csv"
    _write(path, np.arange(600))
    return path


def _write(path, order):
    sales = 100 + 10 * np.cumsum(_RNG.normal(size=600))
    days = [datetime.date(2021, 1, 1) + datetime.timedelta(days=int(k)) for k in range(600)]
    rows = [f"{days[k]},{_RNG.normal():.4f},{sales[k]:.4f}" for k in order]
    path.write_text("\n".join(["the day,price,sales", *rows]) + "\n")


def fit(capsys, *words):
    with pytest.raises(SystemExit) as end:
        main(["fit", *map(str, words), "-t", "sales"])
    assert end.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("how", [(), ("--cv", "5")])
def test_rows_in_order_of_time_held_out_at_random_are_offered_by_time(walk, capsys, how, tmp_path):
    page = tmp_path / "r.html"
    shown = fit(capsys, walk, *how, "--report", page)
    assert "--by-time 'the day'" in shown
    assert "--by-time" in page.read_text()


def test_by_time_it_is_not_said_and_folds_below_the_whole_are_explained(walk, capsys):
    shown = fit(capsys, walk, "--by-time", "the day", "--cv", "5")
    assert "in order of" not in shown
    assert "mean of the target differs between folds" in shown


def test_rows_in_no_order_of_time_are_not_offered_it(tmp_path, capsys):
    path = tmp_path / "mixed.csv"
    _write(path, _RNG.permutation(600))
    assert "--by-time" not in fit(capsys, path)


def test_folds_around_the_whole_need_no_explanation():
    X = _RNG.normal(size=(200, 2))
    y = X @ [1.0, 2.0] + _RNG.normal(size=200)
    found = adaline.cross_validated(adaline.Ridge(), X, y)
    report = adaline.Report.of(found.model, X, y, cross_validated=found)
    assert not any("why" in key for key, _ in report.quality)
    moved = np.repeat(np.arange(4.0), 50) * 50 + y
    times = np.arange(200)
    found = adaline.cross_validated(adaline.Ridge(), X, moved, cv=3, times=times)
    report = adaline.Report.of(found.model, X, moved, cross_validated=found)
    folds = found.spread
    outside = not folds["least"] <= found.quality.facts()["r2"] <= folds["largest"]
    assert any("why" in key for key, _ in report.quality) == outside
