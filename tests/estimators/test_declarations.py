"""Estimators declare how they stream, store, export and are shown; no other room lists them."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import adaline
from adaline._names import public_homes
from adaline.estimators.registry import (
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


def test_a_class_derived_from_an_estimator_is_not_taken_for_it():
    class Ridge(adaline.Ridge):
        pass

    assert is_public(adaline.Ridge())
    assert not is_public(Ridge())


def test_no_room_above_the_estimators_has_a_list_of_their_names():
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno} {node.value!r}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path.relative_to(SOURCE).parts[0] not in ("__init__.py", "estimators")
        if path.name != "claims.py"  # of other libraries, whose classes have the same names
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
