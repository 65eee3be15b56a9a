"""The Python lines that make what the page shows, with the same numbers to the last bit."""

from __future__ import annotations

import adaline
from adaline.play.points import Points
from adaline.play.runs import Run

MOST_WRITTEN = 300  # points that are written in the code; of more, a file is read
_WIDE = 96  # letters of a line


def code_of(run: Run, at: int, points: Points) -> str:
    """Lines that run, and end with the names `W` and `b`: the weights at this step."""
    return "\n".join([*_head(run), *data_lines(points), "", *_learning(run, at)]) + "\n"


def data_lines(points: Points) -> list[str]:
    """The points as code, exactly; many of them are read from the file that the page saves."""
    if len(points) > MOST_WRITTEN:
        return [
            'table = np.genfromtxt("points.csv", delimiter=",", dtype=str, skip_header=1)',
            "X, y = table[:, :2].astype(float), table[:, 2]",
        ]
    rows = ", ".join(f"[{x!r}, {y!r}]" for x, y in points.X.tolist())
    return [*_wrapped(f"X = np.array([{rows}])"), f'y = np.array(list("{"".join(points.labels)}"))']


def as_csv(points: Points) -> str:
    """The points as a file, exactly."""
    rows = zip(points.X.tolist(), points.labels.tolist(), strict=True)
    return "x1,x2,label\n" + "".join(f"{x!r},{y!r},{label}\n" for (x, y), label in rows)


def _head(run: Run) -> list[str]:
    names = sorted({run.call.name, *(["trace"] if _is_traced(run) else [])}, key=str.lower)
    return ["import numpy as np", f"from adaline import {', '.join(names)}", ""]


def _is_traced(run: Run) -> bool:
    return bool(run.columns) and run.call.learner is not adaline.KernelPerceptron


def _learning(run: Run, at: int) -> list[str]:
    call = run.call
    if call.learner is adaline.max_margin:
        more = f", {run.call.text().split('(', 1)[1][:-1]}" if call.arguments else ""
        return [f"found = max_margin(X, y{more})", f"W, b = {run.code[0]}"]
    if call.learner is adaline.KernelPerceptron:
        return _kernel(run, at)
    if not _is_traced(run):
        lines = [f"model = {call.text()}.fit(X, y{call.more()})"]
        if not hasattr(run.model, "coef_"):
            return [*lines, "W, b = model.means_, model.covariance_  # a conic has no weights"]
        return [*lines, f"W, b = {run.code[0]}"]
    row = int(run.rows[at])
    lines = [f"steps = trace({call.text()}, X, y{call.more()})"]
    weights = run.code[0 if at == 0 else 1].format(row=row)
    return [*lines, f"W, b = {weights}  # step {at} of {run.steps}"]


def _kernel(run: Run, at: int) -> list[str]:
    """The kernel perceptron after the passes that are complete at this step."""
    done = int(run.passes[at]) if at == run.steps else int(run.passes[at]) - 1
    if done < 1:
        return ["W, b = np.zeros((1, 0)), np.zeros(1)  # before the end of the first pass"]
    arguments = {**run.call.arguments, "max_iter": done}
    text = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return [
        f"model = KernelPerceptron({text}).fit(X, y)",
        "W, b = model.dual_coef_, model.intercept_",
    ]


def _wrapped(line: str) -> list[str]:
    """A long line broken after commas between rows."""
    if len(line) <= _WIDE:
        return [line]
    lines, rest = [], line
    while len(rest) > _WIDE:
        cut = rest.rfind("], [", 0, _WIDE)
        if cut < 0:
            break
        lines.append(rest[: cut + 2])
        rest = "    " + rest[cut + 3 :]
    return [*lines, rest]
