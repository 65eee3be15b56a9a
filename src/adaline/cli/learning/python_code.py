"""Python that does again what `adaline fit` did: the same rows, the same model, to the last bit."""

from __future__ import annotations

import math
from typing import Any

from adaline.cli.files.column_options import Columns
from adaline.cli.learning.learning import Plan
from adaline.data import Source

_WIDE = 88  # letters of a line


def code(
    path: str,
    source: Source,
    plan: Plan,
    model: Any,
    columns: Columns,
    options: dict[str, Any],
    folds: int,
    apart: bool = False,
    shuffled: bool = False,
) -> str:
    """Lines that read the same rows, learn the same model and measure it in the same way."""
    rows, imported = _rows(path, source, columns, options)
    said: dict[str, str] = {}
    if plan.share:
        said |= {"share": repr(plan.share), "seed": repr(plan.seed)}
        said |= {"stratified": "True"} if plan.stratified else {}
    given = columns.options(source.names, plan.target, list(plan.beside))
    if given.get("missing") == "auto":
        del given["missing"]
    said |= {option: _value(value) for option, value in given.items()}
    if plan.beside:
        said["ignore"] = repr(list(plan.beside))
    lines = [_call("rows = table", [rows, repr(plan.target)], said), _made(model)]
    ours = ["cross_validated"] if folds or apart else []
    if plan.in_memory:
        lines += _at_once(plan, folds, apart, shuffled)
    else:
        lines.append(_by_blocks(plan))
        imported = [*imported, "fit"]
    names = sorted([*ours, type(model).__name__], key=str.lower)
    head = [f"from adaline import {', '.join(names)}"]
    head.append(f"from adaline.data import {', '.join(sorted([*imported, 'table']))}")
    head = ["import numpy as np"] * shuffled + head
    if apart:
        head.append("from adaline.evaluation.folds import hold_out")
    if path == "stdin":
        head.append("\n# The rows came from stdin: put them into a file, and name it here.")
    return "\n".join([*head, "", *lines]) + "\n"


def _rows(
    path: str, source: Source, columns: Columns, options: dict[str, Any]
) -> tuple[str, list[str]]:
    """The file, as `blocks` reads it where something was said of it."""
    read = {option: repr(value) for option, value in options.items()}
    if not columns.ignore:
        return (_call("blocks", [repr(path)], read), ["blocks"]) if read else (repr(path), [])
    kept = repr(list(source.names))
    return _call("blocks", [repr(path), kept], read), ["blocks"]


def _at_once(plan: Plan, folds: int, apart: bool, shuffled: bool) -> list[str]:
    weighted = {}
    lines = []
    if plan.weights is not None or plan.balanced:
        of = [] if plan.weights is None else [repr(plan.weights)]
        lines.append(_call("w = rows.weights", of, {"balanced": "True"} if plan.balanced else {}))
        weighted = {"sample_weight": "w"}
    if shuffled:
        lines.append(f"order = np.random.default_rng({plan.seed % 2**63}).permutation(len(rows.y))")
    at = "[order]" * shuffled
    learned = [f"rows.X{at}", f"rows.y{at}"]
    lines.append(_call("model.fit", learned, {key: w + at for key, w in weighted.items()}))
    if folds or apart:
        said = {} if plan.group is None else {"groups": f"rows.column({plan.group!r})"}
        if plan.by_time is not None:
            said["times"] = f"rows.column({plan.by_time!r}, in_order=True)"
        seed = {"seed": repr(plan.seed % 2**63)}
        said |= weighted if apart else weighted | seed
        cv = _call("hold_out", ["rows.y"], seed) if apart else repr(folds)
        found = _call("cross_validated", ["model", "rows.X", "rows.y", cv], said)
        lines.append(f"print({found})")
    elif plan.share:
        lines.append("print(model.score(rows.X_held_out, rows.y_held_out))")
    return lines


def _by_blocks(plan: Plan) -> str:
    said = {"encoding": "rows.encoding"}
    if plan.choice.in_order:
        said |= {"passes": repr(plan.passes), "seed": repr(plan.seed % 2**64)}
    if plan.exposure is not None:
        said["exposure"] = repr(plan.exposure)
    return _call("fit", ["model", "rows.learned", repr(plan.target)], said)


def _made(model: Any) -> str:
    """The estimator, with what differs from its defaults."""
    usual = type(model)().get_params(deep=False)
    given = model.get_params(deep=False)
    said = {k: _value(v) for k, v in given.items() if repr(v) != repr(usual[k])}
    return _call(f"model = {type(model).__name__}", [], said)


def _value(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value!r}")'
    return repr(value)


def _call(function: str, given: list[str], said: dict[str, str]) -> str:
    """A call on one line, or an argument a line."""
    parts = [*given, *(f"{option}={value}" for option, value in said.items())]
    line = f"{function}({', '.join(parts)})"
    if len(line) <= _WIDE or not parts:
        return line
    inner = "".join(f"    {part},\n" for part in parts)
    return f"{function}(\n{inner})"
