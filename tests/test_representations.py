"""What a notebook or a prompt shows of a result: a few lines, never all of its numbers."""

from __future__ import annotations

import dataclasses
import inspect
import types
import warnings
from typing import Any

import pytest

import adaline
from adaline import filters
from adaline.data import Encoding, blocks, look, table
from adaline.play import scene
from model_zoo import MODELS, X, Y, desired, signal, three, two, y

_LINES, _LETTERS = 5, 800

RESULTS = {
    "capacity": lambda: adaline.capacity(5),
    "cancel": lambda: filters.cancel(desired, signal, taps=4),
    "compare": lambda: adaline.compare(X, two, cv=2),
    "cover": lambda: adaline.cover(4, 2),
    "cross_validated": lambda: adaline.cross_validated(adaline.Ridge(), X, y, cv=3),
    "cross_validated, classes": lambda: adaline.cross_validated(
        adaline.LogisticRegression(), X, two, cv=3
    ),
    "explain": lambda: adaline.explain(adaline.Ridge().fit(X, y), X),
    "identify": lambda: filters.identify(signal, desired, taps=4),
    "interval": lambda: adaline.interval(adaline.Ridge().fit(X, y), X),
    "max_margin": lambda: adaline.max_margin(X, X[:, 0] > 0),
    "max_step": lambda: filters.max_step(signal, taps=4),
    "mistake_bound": lambda: adaline.mistake_bound(X, X[:, 0] > 0),
    "noise_filter": lambda: filters.noise_filter(signal, desired, 4),
    "noise_reduction": lambda: filters.noise_reduction(desired, signal, desired, 4),
    "path": lambda: adaline.Ridge().fit(X, Y).path(),
    "report": lambda: adaline.Report.of(adaline.Ridge().fit(X, y), X, y, held_out=False),
    "scene": lambda: scene("tone"),
    "separability": lambda: adaline.separability(X, three),
    "separability, separable": lambda: adaline.separability(X, X[:, 0] > 0),
    "stable_rate": lambda: adaline.stable_rate(X),
    "summary": lambda: adaline.LeastSquares().fit(X, y).summary(),
    "summary, classes": lambda: adaline.LogisticRegression().fit(X, two).summary(),
    "theory": lambda: filters.theory(signal, 4, 0.01),
    "trace": lambda: adaline.trace(adaline.Perceptron(), X[:20], two[:20]),
    "trace, squares": lambda: adaline.trace(adaline.WidrowHoff(), X, y),
    "trace, margin": lambda: adaline.trace(adaline.HoKashyap(max_iter=9), X, two),
    "trace, kernel": lambda: adaline.trace(adaline.KernelPerceptron(max_iter=9), X, two),
    "verdict": lambda: adaline.verdict(adaline.Ridge().fit(X, y), X, y, held_out=False),
    "verdict, classes": lambda: adaline.verdict(
        adaline.LogisticRegression().fit(X, two), X, two, held_out=False
    ),
    "Encoding": lambda: Encoding.learn(_frame()),
    "block": lambda: next(iter(blocks(_frame()))),
    "look": lambda: look(_frame(), "target"),
    "source": lambda: blocks(_frame()),
    "table": lambda: table(_frame(), "target", share=0.2),
}


def _frame() -> Any:
    import polars as pl

    return pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "colour": two, "target": y})


def _reachable(value: Any, path: str, seen: set[int]) -> Any:
    """(path, object) for each object of ours that public attributes lead to."""
    if id(value) in seen or isinstance(value, type | types.FunctionType | types.MethodType):
        return
    seen.add(id(value))
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _reachable(item, f"{path}[{key!r}]", seen)
    elif isinstance(value, list | tuple):
        for item in value[:3]:
            yield from _reachable(item, f"{path}[]", seen)
    if not type(value).__module__.startswith("adaline") or isinstance(value, Exception):
        return
    yield path, value
    parameters = inspect.signature(type(value)).parameters
    plain = dataclasses.is_dataclass(value) and not hasattr(value, "process")
    parameters = {} if plain else parameters  # what the user gave
    for name in dir(value):
        if name.startswith("_") or name in parameters:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                item = getattr(value, name)
        except Exception:  # an attribute that this model has not
            continue
        yield from _reachable(item, f"{path}.{name}", seen)


@pytest.mark.parametrize("name", [*RESULTS, *MODELS])
def test_every_public_result_is_shown_in_a_few_lines_and_in_html(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = {**MODELS, **RESULTS}[name]()
    kept = [start]  # so that no id is used twice
    long = []
    for path, value in _reachable(start, name, set()):
        kept.append(value)
        shown = repr(value)
        if type(value).__module__.startswith("adaline.report.") and value is not start:
            continue  # the parts of a page
        if len(shown.splitlines()) > _LINES or len(shown) > _LETTERS or " at 0x" in shown:
            long.append(f"{path}: {type(value).__name__}, {len(shown)} letters: {shown[:60]}")
        html = getattr(value, "_repr_html_", None)
        if html is None or "<" not in html():
            long.append(f"{path}: {type(value).__name__} has no HTML")
    assert not long, "\n".join(long)


def test_a_result_with_a_text_shows_its_beginning_and_print_shows_it_all():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = RESULTS["summary"]()
    assert len(str(found).splitlines()) > _LINES
    assert "print()" in repr(found)
    assert repr(found).splitlines()[1] == str(found).splitlines()[0]
    assert "<th>intercept</th>" in found._repr_html_()


def test_what_came_from_a_user_is_escaped_in_html():
    model = adaline.Ridge().fit(X, y)
    found = adaline.explain(model, X[:1], ["<script>", "b", "c"])
    assert "<script>" not in found._repr_html_()
    assert "&lt;script&gt;" in found._repr_html_()


def test_a_loaded_model_lists_what_it_can_do(tmp_path):
    adaline.save(model := MODELS["Prepared"](), tmp_path / "m.adaline")
    loaded = adaline.load(tmp_path / "m.adaline")
    assert {"predict", "decision_function", "encoding", "model"} <= set(dir(loaded))
    assert "predict_proba" not in dir(loaded)  # this model has none
    assert dir(loaded) == dir(model)
