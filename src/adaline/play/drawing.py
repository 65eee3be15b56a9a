"""What the page draws of a board: lines, areas, ellipses, rows of the table, and the proof."""

from __future__ import annotations

import copy
import math
from types import SimpleNamespace
from typing import Any

import numpy as np

import adaline
from adaline.evaluation.fit_evidence import reconciled
from adaline.play.points import CLASSES, Array, Points, View
from adaline.play.runs import Run
from adaline.plot import GaussianDisplay, WeightPathDisplay

GRID_SIZE = 120  # points along each side at which a posterior is computed
MAX_CURVE_POINTS = 1000  # of a curve or a path that is sent
SHORT_VERDICTS = {  # one sentence for a student; the proof is behind "Why?"
    "separable": "Yes: straight boundaries can keep the classes apart.",
    "overlapping": "No: any straight boundary has a point on its wrong side.",
    "quasi-separable": "Only just: a straight boundary can do it if points may lie on it.",
    "undecided": "Not decided in the time that the page allows.",
}


def draw_step(run: Run, at: int, points: Points, view: View) -> dict[str, Any]:
    """The part of a drawing that changes with the step."""
    shown, weights = None, run.weights(at)
    if weights is not None:
        # Costs and rejection move the boundary of Gaussian classes away from the line of weights.
        line = run.call.learner is not adaline.GaussianClassifier
        shown = {"W": weights[0], "b": weights[1], "line": line, "classes": points.present}
    return {
        "at": at,
        "pass": run.pass_at(at),
        "sample": run.sample_at(at),
        "table": _draw_table(run, at),
        "bars": run.bars(at),
        "weights": shown,
        "grid": _draw_areas(run, at, points, view),
    }


def _draw_table(run: Run, at: int) -> dict[str, Any]:
    """Fifteen rows of the table around the present one (-1 before the first)."""
    if run.trace is None:
        return {"head": [], "rows": [], "first": 0, "present": -1, "count": 0}
    columns, m, row = run.trace.columns(), len(run.trace), int(run.rows[at])
    first = max(0, min(row - 7, m - 15))
    # Ho and Kashyap's b1, e1, ..., a column per point, are shown as bars.
    names = [k for k in columns if not (run.bars(at) and k[0] in "be" and k[1:].isdigit())]
    rows = []
    for i in range(first, min(m, first + 15)):
        # In batch mode the weights of a pass stand in its first row only.
        repeated = run.is_batch and i > 0 and run.trace.passes[i] == run.trace.passes[i - 1]
        hidden = "wbd" if repeated else ""
        rows.append([_format_cell(columns[k][i]) if k[0] not in hidden else "" for k in names])
    return {"head": names, "rows": rows, "first": first, "present": row, "count": m}


def _format_cell(value: Any) -> str:
    return str(value) if isinstance(value, str) else f"{value or 0:.6g}".replace("-", "−")


def draw_run(run: Run, points: Points) -> dict[str, Any]:
    """The part of a drawing that belongs to the entire run."""
    learner, arguments, model = run.call.learner, run.call.arguments, run.fitted
    margin, weights = None, run.weights(run.steps)
    if isinstance(model, adaline.MaxMargin):
        nearest, certificate = [model.positive, model.negative], model.certificate
        margin = {"size": model.margin, "support": model.support, "nearest": nearest}
    else:
        coef = None if weights is None else weights[0]
        learned = SimpleNamespace(certificate_=model.certificate_, coef_=coef)
        certificate, _ = reconciled(learned, points.separability)
    # The mistake bound is about fixed increments from zero, with a bias.
    fixed = not run.is_batch and arguments.get("eta") != "absolute"
    bounded = learner is adaline.Perceptron and fixed and arguments.get("fit_intercept", True)
    units = {adaline.HoKashyap: "iteration", adaline.LogisticRegression: "Newton step"}
    return {
        "steps": run.steps,
        "passes": run.pass_at(run.steps),
        "batch": run.is_batch,
        "stopped": run.stopped,
        "end": _describe_end(run.count_wrong(points)),
        "certificate": str(certificate),
        "curves": [{"name": name, **_draw_curve(y)} for name, y in run.curves().items()],
        "unit": units.get(learner, "pass"),
        "ellipses": _draw_ellipses(run, points),
        "margin": margin,
        "corrections": getattr(model.fit_, "corrections", None) if bounded else None,
        "space": _has_weight_space(run),
    }


def _describe_end(wrong: int) -> str:
    """How the fit does on the points, in a sentence."""
    words = {0: "no point is", 1: "1 point is"}.get(wrong, f"{wrong} points are")
    return f"At the end {words} on the wrong side."


def _draw_curve(values: Array) -> dict[str, Any]:
    y = np.asarray(values, dtype=np.float64)
    at = np.unique(np.linspace(0, len(y) - 1, min(len(y), MAX_CURVE_POINTS)).astype(np.int64))
    return {"x": at + 1, "y": y[at]}


def _draw_ellipses(run: Run, points: Points) -> list[dict[str, Any]]:
    """Where Gaussian classes have Mahalanobis distance 1 and 2."""
    if run.call.learner is not adaline.GaussianClassifier:
        return []
    picture = GaussianDisplay.from_estimator(run.fitted, points.X, points.labels)
    return [
        {"code": code, "mean": mean, "lines": [line.T for line in lines]}
        for code, mean, lines in zip(points.present, picture.means, picture.ellipses, strict=True)
    ]


def _draw_areas(run: Run, at: int, points: Points, view: View) -> dict[str, Any] | None:
    """Decisions over the view and their certainty, for learners that are more than lines."""
    if not run.is_kernel and not hasattr(run.call.learner, "predict_proba"):
        return None
    left, right, bottom, top = view
    side = (np.arange(GRID_SIZE) + 0.5) / GRID_SIZE
    x, y = np.meshgrid(left + (right - left) * side, top - (top - bottom) * side)
    G, model, field = np.column_stack([x.ravel(), y.ravel()]), run.fitted, None
    if run.is_kernel:  # after the passes that are complete at this step
        done = run.passes_done(at)
        if done < 1:
            return None
        if at < run.steps:
            arguments = {**run.call.arguments, "max_iter": done}
            model = adaline.KernelPerceptron(**arguments).fit(points.X, points.labels)
        V = np.asarray(model.decision_function(G), dtype=np.float64)
        size = np.abs(V) if V.ndim == 1 else V.max(axis=1) - np.sort(V, axis=1)[:, -2]
        certainty = 0.5 + 0.5 * np.tanh(2.0 * size / (np.quantile(size, 0.9) or 1.0))
        return _pack_areas(model.predict(G), certainty, V if V.ndim == 1 else None)
    weights = run.weights(at)
    if at < run.steps and weights is not None:
        model = copy.deepcopy(model)
        model.coef_, model.intercept_ = weights[0].copy(), weights[1].copy()
    P = np.asarray(model.predict_proba(G), dtype=np.float64)
    if run.call.learner is adaline.GaussianClassifier and P.shape[1] == 2:
        costs = np.asarray(run.call.arguments.get("costs", [[0.0, 1.0], [1.0, 0.0]]))
        odds = np.asarray(model.decision_function(G), dtype=np.float64)
        # Zero where both decisions have the same expected cost; bounded, as odds are not.
        field = np.arctan(odds + np.log(costs[0, 1] / costs[1, 0]))
    return _pack_areas(model.predict(G), P.max(axis=1), field)


def _pack_areas(labels: Any, certainty: Array, field: Any) -> dict[str, Any]:
    """A grid as bytes: class and certainty, 0 to 255, of each place; a field whose 0 is a line."""
    known = {name: code for code, name in enumerate(CLASSES)}
    codes = np.array(
        [known.get(str(label), 255) for label in labels], dtype=np.uint8
    )  # 255: reject
    strength = np.clip(np.nan_to_num(certainty) * 255.0, 0, 255).astype(np.uint8)
    packed = {"n": GRID_SIZE, "codes": codes.tobytes(), "strength": strength.tobytes()}
    if field is not None:
        scale = float(np.abs(field).max()) or 1.0
        packed["field"] = (field / scale).astype("<f4").tobytes()
    return packed


def _has_weight_space(run: Run) -> bool:
    """Whether one neuron reduces an error step by step."""
    weights = run.weights(0)
    if weights is None or len(weights[0]) != 1 or run.trace is None:
        return False
    numeric = not isinstance(run.call.arguments.get("alpha", 0.0), str)
    return numeric and run.call.learner is not adaline.HoKashyap


def draw_weight_space(run: Run, points: Points) -> dict[str, Any] | None:
    """The error over the plane of both weights, the bias at its last value, and the path."""
    weights = run.weights(run.steps)
    if not _has_weight_space(run) or weights is None:
        return None
    n, learner = 48, run.call.estimator()
    picture = WeightPathDisplay.from_estimator(learner, points.X, points.labels, grid=n)
    low, high = float(picture.surface.min()), float(picture.surface.max())
    shade = (picture.surface - low) / (high - low if high > low else 1.0)
    thin = np.unique(np.linspace(0, len(picture.path) - 1, MAX_CURVE_POINTS).astype(np.int64))
    return {
        "error": picture.error,
        "view": [*picture.x[[0, -1]], *picture.y[[0, -1]]],
        "n": n,
        "surface": shade[::-1].astype("<f4").tobytes(),
        "path": picture.path[thin],
        "bias": float(weights[1][0]),
    }


def draw_proof(points: Points) -> dict[str, Any]:
    """The verdict for the page: words, line, margin and witnesses; mistake bound, Cover's count."""
    proven = points.separability
    if proven is None:
        return {"verdict": None, "short": "Click points of two classes.", "words": ""}
    words = proven.explain(("x1", "x2"))
    words = words[:1].upper() + words[1:]
    line = bound = None
    if proven.verdict == "separable" and len(proven.labels) == 2:
        line = {"w": proven.coef, "b": proven.intercept}
        try:
            bound = adaline.mistake_bound(points.X, points.labels).sharp
            margin = adaline.max_margin(points.X, points.labels).margin
            words += f" The largest margin of any line is {margin:.6g}."
        except ValueError:  # a margin below rounding
            pass
    count = adaline.cover(len(points), 2)
    return {
        "verdict": proven.verdict,
        "short": SHORT_VERDICTS[proven.verdict],
        "words": words,
        "rows": [row for row, _ in proven.rows],
        "margin": proven.margin,
        "line": line,
        "bound": bound,
        "cover": {
            "n": len(points),
            "fraction": count.fraction,
            "log10": count.log_fraction / math.log(10),  # the fraction may be below 1e-323
            "capacity": adaline.capacity(2),
        },
    }
