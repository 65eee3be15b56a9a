"""What a learner did with the points, step by step, and the Python lines that repeat it.

A run has steps 0, 1, ..., `steps`: step 0 is before learning, each further one a row of the table
that `trace` returns (a pass, where updates come after each pass). Learners without steps have step
0 only, which is their solution. Used by the board and by `Board` in notebooks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

import adaline
from adaline import Trace
from adaline.play.learners import Call, format_arguments
from adaline.play.points import Array, Points

MAX_ROWS = 8_000  # of a table: a sixth of a second of work
MAX_TRACED = 2_000  # points that are shown one by one; with more, the end of learning is shown
MAX_WRITTEN = 300  # points that are written in the code; more are read from a file
LINE_LENGTH = 96  # letters of a line of code
UNTRACED = (adaline.GaussianClassifier, adaline.LeastSquaresClassifier, adaline.max_margin)
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Run:
    """What happened, and how to write it down.

    Attributes
    ----------
    call : Call
        With the arguments that were used.
    model : estimator, MaxMargin or None
        The fitted model; None where the page needs its weights only.
    stopped : str
        Why learning ended.
    certificate : Certificate
        What is proven about its result.
    W, b : ndarray of shape (steps + 1, K, 2) and (steps + 1, K), or None
        Weights to predict with at each step, for learners that have weights.
    columns : dict
        The table of `trace`; empty where there is none.
    rows, samples, passes : ndarray of shape (steps + 1,)
        At each step: the row of the table (-1 before the first), the point that was looked at (-1
        for none), and the pass.
    curves : dict of str to ndarray
        Numbers of each pass, iteration or step, by name.
    bars : dict of str to ndarray of shape (steps + 1, n)
        Margins b and errors e of the points.
    code : tuple of str
        `W, b` as code at step 0 and at later steps; "{row}" stands for the table's row.
    batch : bool
        Whether a step is a whole pass.
    corrections : int or None
        How many corrections a learner has made.
    """

    call: Call
    model: Any
    stopped: str
    certificate: Any
    W: Array | None = None
    b: Array | None = None
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    rows: Ints = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    samples: Ints = field(default_factory=lambda: np.full(1, -1))
    passes: Ints = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    curves: Mapping[str, Any] = field(default_factory=dict)
    bars: Mapping[str, Array] = field(default_factory=dict)
    code: tuple[str, str] = ("", "")
    batch: bool = False
    corrections: int | None = None

    @property
    def steps(self) -> int:
        """The number of the last step."""
        return len(self.rows) - 1

    def weights(self, at: int) -> tuple[Array, Array] | None:
        """W (K, 2) and b (K,) at a step, for learners that have weights."""
        return None if self.W is None or self.b is None else (self.W[at], self.b[at])

    def passes_done(self, at: int) -> int:
        """How many passes are complete at a step."""
        return int(self.passes[at]) - (at < self.steps)


def learn(call: Call, points: Points, only_end: bool = False) -> Run:
    """Run a learner on the points, with a table where they are few enough for one.

    `only_end` skips the table, which is many times faster: for points that are being dragged.
    """
    n, X, y = len(points), points.X, points.labels
    if call.learner is adaline.KernelPerceptron and n > MAX_TRACED:
        raise ValueError(
            f"the kernel perceptron compares every pair of the {n:,} points; the board allows "
            f"{MAX_TRACED:,}."
        )
    if "max_iter" in call.arguments and call.learner is not adaline.HoKashyap and n <= MAX_TRACED:
        max_iter = min(call.arguments["max_iter"], max(1, MAX_ROWS // n))
        call = replace(call, arguments={**call.arguments, "max_iter": max_iter})
    untraced = call.learner in UNTRACED or call.arguments.get("alpha") == "firth"
    if untraced or n > MAX_TRACED or only_end:
        return _solve(call, X, y)
    steps = adaline.trace(call.estimator(), X, y, **call.fitting)
    predicts = call.learner in (adaline.KernelPerceptron, adaline.LogisticRegression)
    run = Run(
        call=call,
        model=call.estimator().fit(X, y, **call.fitting) if predicts else None,
        stopped=steps.fit.stopped,
        certificate=steps.fit.certificate,
        columns=steps.columns(),
        corrections=getattr(steps.fit, "corrections", None),
    )
    if steps.unit in ("iteration", "step"):
        return _trace_iterations(steps, run)
    return _trace_samples(steps, n, run)


def _solve(call: Call, X: Any, y: Any) -> Run:
    """A learner that is done in one step."""
    if call.learner is adaline.max_margin:
        best = adaline.max_margin(X, y, **call.arguments)
        W, b = best.w[None, None], np.array([[best.b]])
        code = "best.w[None], np.array([best.b])", ""
        return Run(call, best, "", best.certificate, W, b, code=code)
    model = call.estimator().fit(X, y, **call.fitting)
    stopped = getattr(getattr(model, "fit_", None), "stopped", "")
    run = Run(call, model, stopped, model.certificate_, code=("model.coef_, model.intercept_", ""))
    coef, intercept = getattr(model, "coef_", None), getattr(model, "intercept_", None)
    if coef is None or intercept is None:
        return run
    return replace(run, W=np.asarray(coef)[None], b=np.asarray(intercept)[None])


def _trace_samples(steps: Trace, n: int, run: Run) -> Run:
    """Learners that correct their errors: a step per sample, or per pass in batch mode."""
    batch, first = steps.unit == "pass", np.flatnonzero(np.diff(steps.passes, prepend=0))
    ends = np.append(first[1:] - 1, len(steps) - 1) if batch else np.arange(len(steps))
    run = replace(
        run,
        rows=np.append(-1, ends),
        samples=np.full(len(ends) + 1, -1) if batch else np.append(-1, steps.samples),
        passes=np.append(0, steps.passes[ends]),
        batch=batch,
    )
    if "lambda" in steps.extra:  # the kernel perceptron has lambda instead of weights
        wrong = np.add.reduceat(steps.updated.astype(np.float64), first)
        return replace(run, curves={"wrong answers": wrong})
    if not np.array_equal(steps.fit.W, steps.W_kept[-1]):  # `fit` returns to the last safe pass
        run = replace(run, stopped=f"{run.stopped} The steps show how the weights diverged.")
    return replace(
        run,
        W=np.concatenate([steps.W_before[:1], steps.W_kept[ends]]),
        b=np.concatenate([steps.b_before[:1], steps.b_kept[ends]]),
        curves={k: np.add.reduceat(v, first) for k, v in _sample_errors(steps, n, run.call)},
        code=("steps.W_before[0], steps.b_before[0]", "steps.W_kept[{row}], steps.b_kept[{row}]"),
    )


def _sample_errors(steps: Trace, n: int, call: Call) -> list[tuple[str, Array]]:
    """Wrong answers at the time they were given, and the criterion's value, of each sample."""
    t, v = steps.t, steps.v
    if t.shape[1] < v.shape[1]:  # of a linear machine, t is the class
        return [("wrong answers", (v.argmax(axis=1) != t[:, 0]).astype(np.float64))]
    logistic = call.arguments.get("phi") == "logistic"
    wrong = ((t - (0.5 if logistic else 0.0)) * v <= 0).any(axis=1)
    with np.errstate(over="ignore"):
        if call.learner is adaline.Perceptron:
            name, value = "perceptron criterion", np.maximum(0.0, -t * v).sum(axis=1)
        else:
            if call.learner is adaline.SigmoidPerceptron:
                v = expit(v) if logistic else np.tanh(v)
            name, value = "mean squared error", np.mean((t - v) ** 2, axis=1)
    return [("wrong answers", wrong.astype(np.float64)), (name, value / n)]


def _trace_iterations(steps: Trace, run: Run) -> Run:
    """Ho and Kashyap's iterations, those of several classes in turn; Newton's steps."""
    extra, bars = steps.extra, {}
    if steps.unit == "iteration":
        curves = {"|e|": np.linalg.norm(extra["e"], axis=1), "min Ya": extra["min Ya"]}
        bars = {"b": extra["b"], "e": extra["e"]}
    else:
        curves = {"penalised loss": extra["loss"], "|gradient|": extra["|gradient|"]}
    return replace(
        run,
        W=steps.W_after,
        b=steps.b_after,
        rows=np.arange(len(steps)),
        samples=steps.samples,
        passes=steps.passes,
        curves=curves,
        bars=bars,
        code=("steps.W_after[{row}], steps.b_after[{row}]",) * 2,
    )


def code_of(run: Run, at: int, points: Points) -> str:
    """Lines that run, and end with the names `W` and `b`: the weights at this step, to the bit."""
    traced = bool(run.columns) and run.call.learner is not adaline.KernelPerceptron
    names = ", ".join(sorted({run.call.name, *(["trace"] if traced else [])}, key=str.lower))
    head = ["import numpy as np", f"from adaline import {names}", "", *_points_code(points), ""]
    return "\n".join([*head, *_learning_code(run, at, traced)]) + "\n"


def _points_code(points: Points) -> list[str]:
    """The points as code, exactly; many of them are read from the file that the page saves."""
    if len(points) > MAX_WRITTEN:
        return [
            'table = np.genfromtxt("points.csv", delimiter=",", dtype=str, skip_header=1)',
            "X, y = table[:, :2].astype(float), table[:, 2]",
        ]
    rows = [f"[{x!r}, {y!r}]" for x, y in points.X.tolist()]
    lines = ["X = np.array(["]
    for k, row in enumerate(rows):
        piece = row + ("])" if k == len(rows) - 1 else ", ")
        if len(lines[-1]) + len(piece) > LINE_LENGTH:
            lines[-1] = lines[-1].rstrip()
            lines.append("    ")
        lines[-1] += piece
    if not rows:
        lines[-1] += "])"
    return [*lines, f'y = np.array(list("{"".join(points.labels)}"))']


def _learning_code(run: Run, at: int, traced: bool) -> list[str]:
    call = run.call
    if call.learner is adaline.max_margin:
        more = f", {format_arguments(call.arguments)}" if call.arguments else ""
        return [f"best = max_margin(X, y{more})", f"W, b = {run.code[0]}"]
    if call.learner is adaline.KernelPerceptron:
        done = run.passes_done(at)
        if done < 1:
            return ["W, b = np.zeros((1, 0)), np.zeros(1)  # before the end of the first pass"]
        refit = replace(call, arguments={**call.arguments, "max_iter": done})
        fit = f"model = {refit.text()}.fit(X, y)"
        return [fit, "W, b = model.dual_coef_, model.intercept_"]
    if not traced:
        fit = f"model = {call.text()}.fit(X, y{call.fit_arguments()})"
        if run.W is None:
            return [fit, "W, b = model.means_, model.covariance_  # a conic has no weights"]
        return [fit, f"W, b = {run.code[0]}"]
    weights = run.code[at > 0].format(row=int(run.rows[at]))
    fit = f"steps = trace({call.text()}, X, y{call.fit_arguments()})"
    return [fit, f"W, b = {weights}  # step {at} of {run.steps}"]
