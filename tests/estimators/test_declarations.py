"""Estimators declare how they stream, store, export and are shown; no other room lists them."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

import adaline
from adaline._names import public_homes
from adaline.data.exporting import export
from adaline.estimators.registry import (
    Declared,
    estimator_named,
    is_public,
    public_estimators,
)

SOURCE = Path(adaline.__file__).parent
KINDS: list[Any] = list(public_estimators())
NAMES = {kind.__name__ for kind in KINDS}
ROOM = "adaline.estimators"


def test_every_public_estimator_is_found_and_nothing_else():
    there = {
        name
        for name in public_homes(ROOM)
        if inspect.isclass(found := getattr(adaline, name)) and hasattr(found, "get_params")
    }
    assert there == NAMES


@pytest.mark.parametrize("kind", KINDS)
def test_a_declaration_says_what_the_other_rooms_know(kind):
    hints = get_type_hints(Declared)
    for name in ("_learns", "_streams", "_traces"):
        allowed = {value for option in get_args(hints[name]) for value in get_args(option)}
        assert getattr(kind, name) in {*allowed, None}, name
    assert kind._exports in {*export.KNOWN_FORMS["onnx"], *export.KNOWN_FORMS["json"], None}
    assert all(isinstance(text, str) for text in kind._stored.values())
    assert not set(kind._derived) & {key.rstrip("?") for key in kind._stored} - {"_dtype"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_declaration_comes_with_the_methods_it_asks_for(kind):
    methods = {
        "moments": ("fit_moments", "_refinement", "_take_refined", "_speak_up"),
        "machine": ("fit_moments", "_speak_up"),
        "class_moments": ("fit_moments",),
        "newton": ("_take_newton",),
        "order": ("partial_fit", "_begin_stream", "_stream_memory", "_resume_stream"),
        None: (),
    }
    for method in methods[kind._streams]:
        assert method in dir(kind), f"{kind.__name__} streams by {kind._streams!r}: {method}."
    if kind._error is not None:
        assert kind._row_errors is not Declared._row_errors
        assert kind._traces is not None, "its path over the error is a trace"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind._learns is not None])
def test_one_declaration_says_one_thing_of_a_learner(kind):
    """Score, scatter, exposure and wording: none of them follows from another."""
    hints = get_type_hints(Declared)
    for name in ("_scored_by", "_effect"):
        allowed = {value for option in get_args(hints[name]) for value in get_args(option)}
        assert getattr(kind, name) in allowed, f"{kind.__name__} declares no {name}."
    if kind._learns != "classes":
        assert kind._scatter is not None, f"{kind.__name__} declares no _scatter."
    owner = next(base for base in kind.__mro__ if "score" in vars(base))
    assert "_scored_by" in vars(owner), f"{owner.__name__} has a score of its own, undeclared."


def test_names_of_the_command_are_different_and_plain():
    commands = [kind._command for kind in KINDS if kind._command is not None]
    assert len(set(commands)) == len(commands)
    for command in commands:
        assert command.replace("-", "").isalpha()
        assert command == command.lower()


def test_a_class_derived_from_an_estimator_is_not_taken_for_it():
    class Ridge(adaline.Ridge):
        pass

    assert is_public(adaline.Ridge())
    assert not is_public(Ridge())


@pytest.mark.parametrize(
    "name",
    ["trace", "MaxMargin", "separability", "LMS", "Learner", "Declared", "os", "", "__class__"],
)
def test_a_name_that_is_no_estimator_names_nothing(name):
    assert estimator_named(name) is None


def test_no_room_above_the_estimators_has_a_list_of_their_names():
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno} {node.value!r}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path != SOURCE / "__init__.py" and path.relative_to(SOURCE).parts[0] != "estimators"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in NAMES
    ]
    assert not found, "declare it in the estimator's own file; see estimators/registry.py"


def test_data_ask_a_learner_by_methods_and_leave_its_memory_alone():
    private = {"_state", "_known", "_shown", "_accept"}
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno} {node.attr}"
        for path in sorted((SOURCE / "data").rglob("*.py"))
        if "reading" not in path.parts  # which knows of no learners
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in private
    ]
    assert not found
