"""What a learner did with the points, step by step, and the Python lines that repeat it.

A run has steps 0, 1, ..., `steps`: step 0 is before learning, each further one a row of the table
that `trace` returns (a pass, where updates come after each pass). Learners without steps have step
0 only, which is their solution. Used by the board and by `Board` in notebooks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import NDArray

import adaline
from adaline import Trace
from adaline.play.learners import PASSES, Learner
from adaline.play.points import Array, Points
from adaline.play.settings import Values

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Run:
    """What happened, and how to write it down; with a `problem`, nothing did."""

    points: Points
    problem: str = ""  # a sentence where the learner cannot learn these points
    model: Any = None  # a fitted estimator, or a MaxMargin
    call: str = ""  # the code that makes it, before and with learning
    fit: str = ""
    W: Array | None = None  # to predict with at each step (m, K, 2), for learners with weights
    b: Array | None = None
    trace: Trace | None = None  # the table, for learners with steps
    # At each step the row of the table, the pass and the point that was looked at.
    rows: Ints = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    passes: Ints = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    samples: Ints = field(default_factory=lambda: np.full(1, -1))  # -1 for none, or all

    @property
    def steps(self) -> int:
        """The number of the last step."""
        return len(self.rows) - 1

    @property
    def is_kernel(self) -> bool:
        """Whether the weights are those of points, in dual variables."""
        return isinstance(self.model, adaline.KernelPerceptron)

    @property
    def unit(self) -> str:
        """What changes the weights, as in `Trace`; "" for learners without steps."""
        return "" if self.trace is None else self.trace.unit

    @property
    def stopped(self) -> str:
        """Why learning ended."""
        stopped = str(getattr(getattr(self.model, "fit_", None), "stopped", ""))
        if self.trace is not None and not np.array_equal(self.trace.fit.W, self.trace.W_kept[-1]):
            return f"{stopped} The steps show how the weights diverged."  # `fit` went back
        return stopped

    def weights(self, at: int) -> tuple[Array, Array] | None:
        """W (K, 2) and b (K,) to predict with at a step, for learners that have weights."""
        return None if self.W is None or self.b is None else (self.W[at], self.b[at])

    def bars(self, at: int) -> dict[str, Array]:
        """Ho and Kashyap's margins b and errors e of the points."""
        if self.trace is None or self.unit != "iteration":
            return {}
        return {name: self.trace.extra[name][self.rows[at]] for name in ("b", "e")}

    def after_passes(self, at: int) -> Any:
        """A kernel perceptron of the passes that are complete at a step, to fit; None before."""
        done = int(self.passes[at]) - (at < self.steps)
        arguments = {**self.model.get_params(), "max_iter": done}
        return adaline.KernelPerceptron(**arguments) if done > 0 else None

    def count_wrong(self) -> int:
        """How many points are on the wrong side at the end; rejected ones are not."""
        if isinstance(self.model, adaline.MaxMargin):
            return 0
        decided = self.model.predict(self.points.X)
        return int(((decided != self.points.labels) & (decided != "reject")).sum())

    def curves(self) -> dict[str, Array]:
        """Numbers of each pass, iteration or Newton step, by name."""
        trace = self.trace
        if trace is None:
            return {}
        t, v, extra = trace.t, trace.v, trace.extra
        if trace.unit == "iteration":
            return {"|e|": np.linalg.norm(extra["e"], axis=1), "min Ya": extra["min Ya"]}
        if trace.unit == "step":
            return {"penalised loss": extra["loss"], "|gradient|": extra["|gradient|"]}
        first, curves = np.flatnonzero(np.diff(trace.passes, prepend=0)), {}
        middle = (t.max() + t.min()) / 2  # targets are -1 and 1, or 0 and 1
        is_machine = t.shape[1] < v.shape[1]  # then t is the class
        wrong = v.argmax(axis=1) != t[:, 0] if is_machine else np.any((t - middle) * v <= 0, axis=1)
        if not (is_machine or self.is_kernel):
            with np.errstate(over="ignore"):
                errors = np.mean(self.model._row_errors(t, v), axis=1)
            size = np.diff(np.append(first, len(t)))
            curves[self.model._error] = np.add.reduceat(errors, first) / size
        return {"wrong answers": np.add.reduceat(wrong.astype(np.float64), first)} | curves

    def code(self, at: int) -> str:
        """Lines that end with the names `W` and `b`: the weights at this step, to the bit."""
        if self.problem:
            return self.problem
        imported, row = [self.call.partition("(")[0]], int(self.rows[at])
        lines = [f"model = {self.fit}", "W, b = model.coef_, model.intercept_"]
        if isinstance(self.model, adaline.MaxMargin):
            lines[1] = "W, b = model.w[None], np.array([model.b])"
        elif self.is_kernel and (model := self.after_passes(at)) is None:
            lines = ["W, b = np.zeros((1, 0)), np.zeros(1)  # before the end of the first pass"]
        elif self.is_kernel:
            lines = [f"model = {_in_one_line(model)}.fit(X, y)"]
            lines += ["W, b = model.dual_coef_, model.intercept_"]
        elif self.trace is not None:
            imported = sorted([*imported, "trace"], key=str.lower)
            at_row = f"kept[{row}]" if row >= 0 else "before[0]"
            weights = f"W, b = steps.W_{at_row}, steps.b_{at_row}  # step {at} of {self.steps}"
            lines = [f"steps = trace({self.call}, X, y)", weights]
        elif self.W is None:
            lines[1] = "W, b = model.means_, model.covariance_  # a conic has no weights"
        # No-break spaces keep the numbers of a point on one line.
        rows = ", ".join(f"[{x!r},\N{NO-BREAK SPACE}{y!r}]" for x, y in self.points.X.tolist())
        X = fill(f"X = np.array([{rows}])", 96, subsequent_indent="    ")
        X = X.replace("\N{NO-BREAK SPACE}", " ")
        y = f'y = np.array(list("{"".join(self.points.labels)}"))'
        head = ["import numpy as np", f"from adaline import {', '.join(imported)}", ""]
        return "\n".join([*head, X, y, "", *lines]) + "\n"


def _in_one_line(estimator: Any) -> str:
    return " ".join(repr(estimator).split())


def run_learner(
    learner: Learner, values: Values, points: Points, margins: Sequence[float] = ()
) -> Run:
    """Run a learner on the points, with a table where they are few enough for one."""
    n, classes = len(points), len(points.present)
    if classes < 2:
        return Run(points, "Learning needs points of two classes.")
    if classes > learner.max_classes:
        return Run(points, f"{learner.title} separates two classes; there are {classes}.")
    if PASSES in learner.settings:  # a table of 8,000 rows takes a sixth of a second
        values = {**values, "max_iter": min(int(values["max_iter"]), 8_000 // n)}
    arguments, X, y = learner.arguments(values), points.X, points.labels
    start: dict[str, Any] = {"margins": list(margins)} if margins else {}
    try:
        if learner.kind is adaline.max_margin:
            best = adaline.max_margin(X, y, **arguments)
            call = f"max_margin(X, y, fit_intercept={arguments['fit_intercept']})"
            return Run(points, "", best, call, call, best.w[None, None], np.array([[best.b]]))
        model = learner.kind(**arguments).fit(X, y, **start)
    except (ValueError, TypeError, ArithmeticError) as error:
        return Run(points, str(error))
    call, more = _in_one_line(model), f", margins={list(margins)}" if margins else ""
    run = Run(points, "", model, call, f"{call}.fit(X, y{more})")
    try:
        trace = adaline.trace(model, X, y)
    except TypeError:  # of learners without steps
        linear = getattr(model, "coef_", None) is not None
        return replace(run, W=model.coef_[None], b=model.intercept_[None]) if linear else run
    rows = np.arange(len(trace))
    if trace.unit == "pass":
        rows = np.flatnonzero(np.diff(trace.passes, append=np.inf))  # the last row of each pass
    if trace.unit in ("pass", "sample"):
        rows = np.append(-1, rows)
    passes = np.append(0, trace.passes)[rows + 1]
    samples = np.append(-1, trace.samples)[rows + 1] if trace.unit == "sample" else 0 * rows - 1
    run = replace(run, trace=trace, rows=rows, passes=passes, samples=samples)
    if run.is_kernel:
        return run
    W = np.concatenate([trace.W_before[:1], trace.W_kept])[rows + 1]
    return replace(run, W=W, b=np.concatenate([trace.b_before[:1], trace.b_kept])[rows + 1])
