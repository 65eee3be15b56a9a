"""Python that does again what `adaline fit` did: the same rows, the same model, to the last bit.

`write_files` puts it into the report.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from adaline.cli.tables import title

if TYPE_CHECKING:
    from adaline.cli.fitting import Fit

LINE = 88  # characters of a line, as formatters have it


def write_code(fit: Fit) -> str:
    """Lines that read the same rows, learn the same model and measure it in the same way."""
    table, options, path, model = fit.table, fit.options, title(fit.table.source), fit.model
    source, reading = repr(path), fit.request.reading.given()
    imports = {"table"}
    if reading or fit.request.columns.ignore:
        kept = [repr(list(table.source.names))] if fit.request.columns.ignore else []
        source = _call("blocks", [source, *kept], {k: repr(v) for k, v in reading.items()})
        imports.add("blocks")
    given: dict[str, str] = {}
    if fit.share:
        given |= {"share": repr(fit.share), "seed": repr(fit.seed)}
        given |= {"stratified": "True"} if fit.stratified else {}
    columns = fit.request.columns.given(table.source.names, fit.target, table.beside)
    given |= {k: _value(v) for k, v in columns.items() if (k, v) != ("missing", "auto")}
    usual = type(model)().get_params(deep=False)
    settings = model.get_params(deep=False).items()
    changed = {k: _value(v) for k, v in settings if repr(v) != repr(usual[k])}
    lines = [
        _call("rows = table", [source, repr(fit.target)], given),
        _call(f"model = {type(model).__name__}", [], changed),
    ]
    names = [type(model).__name__]
    head = []
    if fit.in_memory:
        lines += _learn_at_once(fit)
        head += ["import numpy as np"] if fit.shuffled else []
        names += ["cross_validated"] if fit.folded is not None else []
    else:
        imports.add("fit")
        more = {"encoding": "rows.encoding"}
        if fit.choice.in_order:
            more |= {"passes": repr(options.passes), "seed": repr(fit.seed % 2**64)}
        if options.exposure is not None:
            more["exposure"] = repr(options.exposure)
        lines.append(_call("fit", ["model", "rows.learned", repr(fit.target)], more))
    head.append(f"from adaline import {', '.join(sorted(names, key=str.lower))}")
    head.append(f"from adaline.data import {', '.join(sorted(imports))}")
    if fit.folded is not None and fit.apart:
        head.append("from adaline.evaluation.cross_validation import hold_out")
    if path == "stdin":
        head.append("\n# The rows came from stdin: put them into a file, and name it here.")
    return "\n".join([*head, "", *lines]) + "\n"


def _learn_at_once(fit: Fit) -> list[str]:
    """Lines that learn from rows in memory and measure the quality."""
    options, lines = fit.options, []
    at, weighted = "", {}
    if options.weights is not None or options.balanced:
        column = [] if options.weights is None else [repr(options.weights)]
        balanced = {"balanced": "True"} if options.balanced else {}
        lines.append(_call("w = rows.weights", column, balanced))
        weighted = {"sample_weight": "w"}
    if fit.shuffled:
        at, seed = "[order]", fit.seed % 2**63
        lines.append(f"order = np.random.default_rng({seed}).permutation(len(rows.y))")
    shuffled = {key: w + at for key, w in weighted.items()}
    lines.append(_call("model.fit", [f"rows.X{at}", f"rows.y{at}"], shuffled))
    if fit.folded is not None:
        given = {} if options.group is None else {"groups": f"rows.column({options.group!r})"}
        if options.by_time is not None:
            given["times"] = f"rows.column({options.by_time!r}, in_order=True)"
        seeded = {"seed": repr(fit.seed % 2**63)}
        cv = _call("hold_out", ["rows.y"], seeded) if fit.apart else repr(fit.cv)
        given |= weighted if fit.apart else weighted | seeded
        found = _call("cross_validated", ["model", "rows.X", "rows.y", cv], given)
        lines.append(f"print({found})")
    elif fit.share:
        lines.append("print(model.score(rows.X_held_out, rows.y_held_out))")
    return lines


def _value(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value!r}")'
    return repr(value)


def _call(function: str, positional: list[str], keywords: dict[str, str]) -> str:
    """A call on one line, or an argument per line."""
    parts = [*positional, *(f"{option}={value}" for option, value in keywords.items())]
    line = f"{function}({', '.join(parts)})"
    if len(line) <= LINE or not parts:
        return line
    inner = "".join(f"    {part},\n" for part in parts)
    return f"{function}(\n{inner})"
