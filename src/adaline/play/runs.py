"""What a learner did with the points, step by step: the result of `trace`, `fit` or `max_margin`.

A run has steps 0, 1, ..., `steps`: step 0 is before learning, each further one a row of the
lecture's table (a pass, where updates come after each pass). Learners without steps have step 0
only, which is their solution.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

import adaline
from adaline import Trace
from adaline.play.learners import Call
from adaline.play.points import Array, Points

MOST_ROWS = 8_000  # of a table: a sixth of a second of work
MOST_TRACED = 2_000  # points that are shown one by one; of more, the end of learning is shown
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Run:
    """What happened, and how to write it down.

    Attributes
    ----------
    call : Call
        With the arguments that were used.
    model : estimator, MaxMargin or None
        As `fit` gives it; None where weights are all that is asked of it.
    stopped : str
        Why learning ended.
    certificate : Certificate
        What is proven of its result.
    W, b : ndarray of shape (steps + 1, K, 2) and (steps + 1, K), or None
        Weights to predict with at each step, for learners that have weights.
    columns : dict
        The lecture's table; empty where there is none.
    rows, samples, passes : ndarray of shape (steps + 1,)
        At each step: the row of the table (-1 before the first), the point that was looked at (-1
        for none), and the pass.
    curves : dict of str to ndarray
        Numbers of each pass, iteration or step, by name.
    bars : dict of str to ndarray of shape (steps + 1, n)
        Margins b and errors e of the points.
    code : tuple of str
        What `W, b = ` is at step 0, and at a later step; "{row}" stands for the table's row.
    batch : bool
        Whether a step is a whole pass.
    corrections : int or None
        How many a learner that corrects errors has made.
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


def learned(call: Call, points: Points, whole: bool = False) -> Run:
    """Run a learner on the points, with a table where they are few enough for one.

    `whole` shows the end of learning only, which is many times faster: for points on their way.
    """
    X, y = points.X, points.labels
    if call.learner is adaline.max_margin:
        return _max_margin(call, X, y)
    if call.learner is adaline.KernelPerceptron and len(points) > MOST_TRACED:
        raise ValueError(
            f"the kernel perceptron compares each two of the {len(points):,} points; a board does "
            f"so for {MOST_TRACED:,} at most."
        )
    traced = call.learner not in (adaline.GaussianClassifier, adaline.LeastSquaresClassifier)
    if call.arguments.get("alpha") == "firth" or len(points) > MOST_TRACED or whole:
        traced = False
    if (
        "max_iter" in call.arguments
        and call.learner is not adaline.HoKashyap
        and len(points) <= MOST_TRACED
    ):
        most = max(1, MOST_ROWS // len(points))
        given = min(call.arguments["max_iter"], most)
        call = Call(call.learner, {**call.arguments, "max_iter": given}, call.fitting)
    if not traced:
        return _fitted(call, X, y)
    steps = adaline.trace(call.made(), X, y, **call.fitting)
    asked_later = call.learner in (adaline.KernelPerceptron, adaline.LogisticRegression)
    shared = {
        "call": call,
        "model": call.made().fit(X, y, **call.fitting) if asked_later else None,
        "corrections": getattr(steps.fit, "corrections", None),
        "stopped": steps.fit.stopped,
        "certificate": steps.fit.certificate,
        "columns": steps.columns(),
    }
    if "lambda" in steps.extra:
        return _dual(steps, shared)
    if steps.unit in ("iteration", "step"):
        return _of_all_rows(steps, shared)
    return _samples(steps, len(points), shared)


def _fitted(call: Call, X: Any, y: Any) -> Run:
    """A learner that is done in one step."""
    model = call.made().fit(X, y, **call.fitting)
    W, b = getattr(model, "coef_", None), getattr(model, "intercept_", None)
    linear = W is not None and b is not None
    return Run(
        call,
        model,
        getattr(getattr(model, "fit_", None), "stopped", ""),
        model.certificate_,
        np.asarray(W)[None] if linear else None,
        np.asarray(b)[None] if linear else None,
        code=("model.coef_, model.intercept_", ""),
    )


def _max_margin(call: Call, X: Any, y: Any) -> Run:
    found = adaline.max_margin(X, y, **call.arguments)
    return Run(
        call,
        found,
        "",
        found.certificate,
        found.w[None, None],
        np.array([[found.b]]),
        code=("found.w[None], np.array([found.b])", ""),
    )


def _samples(steps: Trace, n: int, shared: dict[str, Any]) -> Run:
    """Learners that correct their errors: a step a sample, or a pass in batch mode."""
    m, batch = len(steps), steps.unit == "pass"
    ends = np.append(np.flatnonzero(np.diff(steps.passes)), m - 1) if batch else np.arange(m)
    before = steps.W_before[:1], steps.b_before[:1]
    if not np.array_equal(
        steps.fit.W, steps.W_kept[-1]
    ):  # diverged: `fit` goes back to a safe pass
        shared = shared | {"stopped": f"{shared['stopped']} The steps show how they ran away."}
    return Run(
        **shared,
        W=np.concatenate([before[0], steps.W_kept[ends]]),
        b=np.concatenate([before[1], steps.b_kept[ends]]),
        rows=np.append(-1, ends),
        samples=np.full(len(ends) + 1, -1) if batch else np.append(-1, steps.samples),
        passes=np.append(0, steps.passes[ends]),
        curves=_pass_curves(steps, n, shared["call"]),
        code=("steps.W_before[0], steps.b_before[0]", "steps.W_kept[{row}], steps.b_kept[{row}]"),
        batch=batch,
    )


def _pass_curves(steps: Trace, n: int, call: Call) -> dict[str, Array]:
    """Of each pass: wrong answers as they were given, and the criterion's value."""
    machine = steps.t.shape[1] < steps.v.shape[1]  # t is the class, not a sign for each neuron
    if machine:
        wrong = steps.v.argmax(axis=1) != steps.t[:, 0]
    else:
        zero = 0.5 if call.arguments.get("phi") == "logistic" else 0.0
        wrong = ((steps.t - zero) * steps.v <= 0).any(axis=1)
    first = np.flatnonzero(np.diff(steps.passes, prepend=0))
    found = {"wrong answers": np.add.reduceat(wrong.astype(np.float64), first)}
    if not machine:
        name, values = _criterion(steps, call)
        found[name] = np.add.reduceat(values, first) / n
    return found


def _criterion(steps: Trace, call: Call) -> tuple[str, Array]:
    t, v = steps.t, steps.v
    with np.errstate(over="ignore"):
        if call.learner is adaline.Perceptron:
            return "perceptron criterion", np.maximum(0.0, -t * v).sum(axis=1)
        if call.learner is adaline.SigmoidPerceptron:
            v = np.tanh(v) if call.arguments["phi"] == "tanh" else expit(v)
        return "mean squared error", np.mean((t - v) ** 2, axis=1)


def _dual(steps: Trace, shared: dict[str, Any]) -> Run:
    """The kernel perceptron: lambda instead of weights."""
    first = np.flatnonzero(np.diff(steps.passes, prepend=0))
    wrong = np.add.reduceat(steps.updated.astype(np.float64), first)
    m = len(steps)
    return Run(
        **shared,
        rows=np.append(-1, np.arange(m)),
        samples=np.append(-1, steps.samples),
        passes=np.append(0, steps.passes),
        curves={"wrong answers": wrong},
    )


def _of_all_rows(steps: Trace, shared: dict[str, Any]) -> Run:
    """Ho and Kashyap's iterations, those of several classes one after the other; Newton's steps."""
    m, extra = len(steps), steps.extra
    if steps.unit == "iteration":
        curves = {"|e|": np.linalg.norm(extra["e"], axis=1), "min Ya": extra["min Ya"]}
        bars = {"b": extra["b"], "e": extra["e"]}
    else:
        curves = {"penalised loss": extra["loss"], "|gradient|": extra["|gradient|"]}
        bars = {}
    return Run(
        **shared,
        W=steps.W_after,
        b=steps.b_after,
        rows=np.arange(m),
        samples=steps.samples,
        passes=steps.passes,
        curves=curves,
        bars=bars,
        code=("steps.W_after[{row}], steps.b_after[{row}]",) * 2,
    )
