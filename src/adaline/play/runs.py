"""What a learner did with the points, step by step, and the Python lines that repeat it.

A run has steps 0, 1, ..., `steps`: step 0 is before learning, each further one a row of the table
that `trace` returns (a pass, where updates come after each pass). Learners without steps have step
0 only, which is their solution. Used by the board and by `Board` in notebooks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import NDArray

import adaline
from adaline import Trace
from adaline.play.learners import Call, format_arguments
from adaline.play.points import Array, Points

MAX_TRACED = 2_000  # points that are shown one by one; with more, the end of learning is shown
BY_SAMPLES = (
    *(adaline.Perceptron, adaline.KernelPerceptron, adaline.Adaline),
    adaline.SigmoidPerceptron,
)
UNTRACED = (adaline.GaussianClassifier, adaline.LeastSquaresClassifier, adaline.max_margin)


@dataclass(frozen=True, eq=False)
class Run:
    """What happened, and how to write it down."""

    call: Call  # with the arguments that were used
    fitted: Any  # an estimator, or a MaxMargin
    trace: Trace | None  # the table, for learners with steps
    rows: NDArray[np.int64]  # at each step the row of the table; -1 before the first

    @property
    def steps(self) -> int:
        """The number of the last step."""
        return len(self.rows) - 1

    @property
    def is_kernel(self) -> bool:
        """Whether the weights are those of points, in dual variables."""
        return self.call.learner is adaline.KernelPerceptron

    @property
    def is_batch(self) -> bool:
        """Whether a step is a whole pass."""
        return self.trace is not None and self.trace.unit == "pass"

    @property
    def stopped(self) -> str:
        """Why learning ended."""
        stopped = str(getattr(getattr(self.fitted, "fit_", None), "stopped", ""))
        if self.trace is not None and not np.array_equal(self.trace.fit.W, self.trace.W_kept[-1]):
            return f"{stopped} The steps show how the weights diverged."  # `fit` went back
        return stopped

    def weights(self, at: int) -> tuple[Array, Array] | None:
        """W (K, 2) and b (K,) to predict with at a step, for learners that have weights."""
        row, model, trace = self.rows[at], self.fitted, self.trace
        if self.is_kernel:
            return None
        if trace is not None and row < 0:
            return trace.W_before[0], trace.b_before[0]
        if trace is not None:
            return trace.W_kept[row], trace.b_kept[row]
        if isinstance(model, adaline.MaxMargin):
            return model.w[None], np.array([model.b])
        coef = getattr(model, "coef_", None)
        return None if coef is None else (coef, model.intercept_)

    def pass_at(self, at: int) -> int:
        """The pass, iteration or Newton step at a step; 0 before the first."""
        row = self.rows[at]
        return 0 if self.trace is None or row < 0 else int(self.trace.passes[row])

    def passes_done(self, at: int) -> int:
        """How many passes are complete at a step."""
        return self.pass_at(at) - (at < self.steps)

    def sample_at(self, at: int) -> int:
        """The point that was looked at; -1 for none."""
        if self.trace is None or self.trace.unit != "sample" or at == 0:
            return -1
        return int(self.trace.samples[self.rows[at]])

    def bars(self, at: int) -> dict[str, Array]:
        """Ho and Kashyap's margins b and errors e of the points."""
        if self.trace is None or self.trace.unit != "iteration":
            return {}
        return {name: self.trace.extra[name][self.rows[at]] for name in ("b", "e")}

    def count_wrong(self, points: Points) -> int:
        """How many points are on the wrong side at the end; rejected ones are not."""
        if isinstance(self.fitted, adaline.MaxMargin):
            return 0
        decided = self.fitted.predict(points.X)
        return int(((decided != points.labels) & (decided != "reject")).sum())

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
        first, values = np.flatnonzero(np.diff(trace.passes, prepend=0)), {}
        if self.is_kernel:
            wrong = trace.updated
        elif t.shape[1] < v.shape[1]:  # of a linear machine, t is the class
            wrong = v.argmax(axis=1) != t[:, 0]
        else:
            middle = (t.max() + t.min()) / 2  # targets are -1 and 1, or 0 and 1
            wrong = np.any((t - middle) * v <= 0, axis=1)
            with np.errstate(over="ignore"):
                errors = np.mean(self.call.estimator()._row_errors(t, v), axis=1)
            size = np.diff(np.append(first, len(t)))
            values[self.call.learner._error] = np.add.reduceat(errors, first) / size
        return {"wrong answers": np.add.reduceat(wrong.astype(np.float64), first)} | values


def learn(call: Call, points: Points) -> Run:
    """Run a learner on the points, with a table where they are few enough for one."""
    n, X, y = len(points), points.X, points.labels
    if call.learner is adaline.KernelPerceptron and n > MAX_TRACED:
        raise ValueError(
            f"the kernel perceptron compares every pair of the {n:,} points; the board allows "
            f"{MAX_TRACED:,}."
        )
    # A table of 8,000 rows takes a sixth of a second.
    limit, by_samples = max(1, 8_000 // n), call.learner in BY_SAMPLES and n <= MAX_TRACED
    if by_samples and call.arguments.get("max_iter", limit + 1) > limit:
        call = replace(call, arguments={**call.arguments, "max_iter": limit})
    if call.learner is adaline.max_margin:
        model = adaline.max_margin(X, y, **call.arguments)
    else:
        model = call.estimator().fit(X, y, **call.fitting)
    if call.learner in UNTRACED or call.arguments.get("alpha") == "firth" or n > MAX_TRACED:
        return Run(call, model, None, np.zeros(1, dtype=np.int64))
    steps = adaline.trace(call.estimator(), X, y, **call.fitting)
    rows = np.arange(len(steps))
    if steps.unit == "pass":
        rows = np.flatnonzero(np.diff(steps.passes, append=np.inf))  # the last row of each pass
    if steps.unit in ("pass", "sample"):
        rows = np.append(-1, rows)
    return Run(call, model, steps, rows)


def code_of(run: Run, at: int, points: Points) -> str:
    """Lines that run, and end with the names `W` and `b`: the weights at this step, to the bit."""
    name = run.call.learner.__name__
    names = [name] if run.trace is None or run.is_kernel else sorted([name, "trace"], key=str.lower)
    head = ["import numpy as np", f"from adaline import {', '.join(names)}", ""]
    return "\n".join([*head, *_points_code(points), "", *_learning_code(run, at)]) + "\n"


def _points_code(points: Points) -> list[str]:
    """The points as code, exactly; many of them are read from the file that the page saves."""
    if len(points) > 300:
        return [
            'table = np.genfromtxt("points.csv", delimiter=",", dtype=str, skip_header=1)',
            "X, y = table[:, :2].astype(float), table[:, 2]",
        ]
    rows = ", ".join(f"[{x!r},\N{NO-BREAK SPACE}{y!r}]" for x, y in points.X.tolist())
    lines = fill(f"X = np.array([{rows}])", 96, subsequent_indent="    ")
    text = lines.replace("\N{NO-BREAK SPACE}", " ")
    return [text, f'y = np.array(list("{"".join(points.labels)}"))']


def _learning_code(run: Run, at: int) -> list[str]:
    call, row = run.call, int(run.rows[at])
    more = f", {format_arguments(call.fitting)}" if call.fitting else ""
    if call.learner is adaline.max_margin:
        options = f", {format_arguments(call.arguments)}" if call.arguments else ""
        weights = "W, b = best.w[None], np.array([best.b])"
        return [f"best = max_margin(X, y{options})", weights]
    if run.is_kernel:
        done = run.passes_done(at)
        if done < 1:
            return ["W, b = np.zeros((1, 0)), np.zeros(1)  # before the end of the first pass"]
        refit = replace(call, arguments={**call.arguments, "max_iter": done})
        return [f"model = {refit.text()}.fit(X, y)", "W, b = model.dual_coef_, model.intercept_"]
    if run.trace is None:
        fit = f"model = {call.text()}.fit(X, y{more})"
        if run.weights(0) is None:
            return [fit, "W, b = model.means_, model.covariance_  # a conic has no weights"]
        return [fit, "W, b = model.coef_, model.intercept_"]
    weights = f"steps.W_kept[{row}], steps.b_kept[{row}]"
    if row < 0:
        weights = "steps.W_before[0], steps.b_before[0]"
    fit = f"steps = trace({call.text()}, X, y{more})"
    return [fit, f"W, b = {weights}  # step {at} of {run.steps}"]
