"""What the page draws of a board: lines, areas, ellipses, rows of the table, and the proof."""

from __future__ import annotations

import math
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np

import adaline
from adaline.evaluation.fit_evidence import reconciled
from adaline.play.points import CLASSES, Array, Points, View
from adaline.play.runs import Run
from adaline.plot import GaussianDisplay, WeightPathDisplay

GRID_SIZE = 120  # points along each side at which a posterior is computed
SURFACE_SIZE = 48  # the same in the space of weights
TABLE_ROWS = 15  # around the present one
REJECTED = 255  # code of places where the decision is to reject
MAX_CURVE_POINTS = 1000  # of a curve that is sent
MAX_PATH_POINTS = 2000  # of a path of weights that is sent
PROOF_SECONDS = 2.0  # that `separability` may take; most take a thousandth


def draw_step(run: Run, at: int, points: Points, view: View) -> dict[str, Any]:
    """The part of a drawing that changes with the step."""
    weights = run.weights(at)
    # Costs and rejection move the boundary of Gaussian classes away from the line of the weights.
    line = run.call.learner is not adaline.GaussianClassifier
    shown = {} if weights is None else {"W": weights[0], "b": weights[1], "line": line}
    return {
        "at": at,
        "pass": int(run.passes[at]),
        "sample": int(run.samples[at]),
        "table": _draw_table(run, at),
        "bars": {name: values[at] for name, values in run.bars.items()},
        "weights": None if weights is None else {**shown, "classes": points.present},
        "grid": _draw_areas(run, at, points, view),
    }


def _draw_table(run: Run, at: int) -> dict[str, Any]:
    """Rows of the table around the present one (-1 before the first)."""
    if not run.columns:
        return {"head": [], "rows": [], "first": 0, "present": -1, "count": 0}
    m, row = len(next(iter(run.columns.values()))), int(run.rows[at])
    first = max(0, min(row - TABLE_ROWS // 2, m - TABLE_ROWS))
    # Ho and Kashyap's b1, e1, ..., a column per point, are shown as bars.
    names = [k for k in run.columns if not (run.bars and k[0] in "be" and k[1:].isdigit())]
    rows = range(first, min(m, first + TABLE_ROWS))
    cells = [[_format_cell(run, name, i) for name in names] for i in rows]
    return {"head": names, "rows": cells, "first": first, "present": row, "count": m}


def _format_cell(run: Run, name: str, i: int) -> str:
    """Six digits; in batch mode the weights of a pass stand in its first row only."""
    value, passes = run.columns[name][i], run.columns.get("pass")
    if isinstance(value, str):
        return str(value)
    later = run.batch and passes is not None and i > 0 and passes[i] == passes[i - 1]
    if later and name[0] in "wbd":
        return ""
    return f"{value:.6g}".replace("-", "\N{MINUS SIGN}") if value else "0"


def draw_run(run: Run, points: Points, separability: adaline.Separability | None) -> dict[str, Any]:
    """The part of a drawing that belongs to the entire run."""
    learner, arguments = run.call.learner, run.call.arguments
    learned = SimpleNamespace(certificate_=run.certificate, coef_=run.W)
    certificate, _ = reconciled(learned, separability)
    # The mistake bound is about fixed increments from zero, with a bias.
    fixed = not run.batch and arguments.get("eta") != "absolute"
    bounded = learner is adaline.Perceptron and fixed and arguments.get("fit_intercept", True)
    units = {adaline.HoKashyap: "iteration", adaline.LogisticRegression: "Newton step"}
    drawing: dict[str, Any] = {
        "steps": run.steps,
        "passes": int(run.passes[-1]),
        "batch": run.batch,
        "stopped": run.stopped,
        "certificate": str(certificate),
        "curves": [{"name": name, **_draw_curve(y)} for name, y in run.curves.items()],
        "unit": units.get(learner, "pass"),
        "ellipses": _draw_ellipses(run, points),
        "margin": None,
        "corrections": run.corrections if bounded else None,
        "space": _has_weight_space(run),
    }
    if learner is adaline.max_margin:
        best = run.model
        nearest = [best.positive, best.negative]
        drawing["margin"] = {"size": best.margin, "support": best.support, "nearest": nearest}
    return drawing


def _draw_curve(values: Array) -> dict[str, Any]:
    y = np.asarray(values, dtype=np.float64)
    at = np.unique(np.linspace(0, len(y) - 1, min(len(y), MAX_CURVE_POINTS)).astype(np.int64))
    return {"x": at + 1, "y": y[at]}


def _draw_ellipses(run: Run, points: Points) -> list[dict[str, Any]]:
    """Where Gaussian classes have Mahalanobis distance 1 and 2."""
    if run.call.learner is not adaline.GaussianClassifier:
        return []
    picture = GaussianDisplay.from_estimator(run.model, points.X, points.labels, grid=2)
    codes = [CLASSES.index(str(label)) for label in picture.classes]
    return [
        {"code": code, "mean": mean, "lines": [line.T for line in lines]}
        for code, mean, lines in zip(codes, picture.means, picture.ellipses, strict=True)
    ]


def _draw_areas(run: Run, at: int, points: Points, view: View) -> dict[str, Any] | None:
    """Decisions over the view and their certainty, for learners that are more than lines."""
    learner, n = run.call.learner, GRID_SIZE
    if not hasattr(learner, "predict_proba") and learner is not adaline.KernelPerceptron:
        return None
    left, right, bottom, top = view
    side = (np.arange(n) + 0.5) / n
    x, y = np.meshgrid(left + (right - left) * side, top - (top - bottom) * side)
    G = np.column_stack([x.ravel(), y.ravel()])
    if learner is adaline.KernelPerceptron:
        return _draw_kernel_areas(run, at, points, G)
    model, weights = run.model, run.weights(at)
    if learner is adaline.LogisticRegression and at < run.steps and weights is not None:
        model = run.call.estimator().fit(points.X, points.labels)
        model.coef_, model.intercept_ = weights[0].copy(), weights[1].copy()
    P = np.asarray(model.predict_proba(G), dtype=np.float64)
    field = None
    if learner is adaline.GaussianClassifier and P.shape[1] == 2:
        costs = np.asarray(run.call.arguments.get("costs", [[0.0, 1.0], [1.0, 0.0]]))
        odds = np.asarray(model.decision_function(G), dtype=np.float64)
        # Zero where both decisions have the same expected cost; bounded, as odds are not.
        field = np.arctan(odds + np.log(costs[0, 1] / costs[1, 0]))
    return _pack_areas(model.predict(G), P.max(axis=1), field)


def _draw_kernel_areas(run: Run, at: int, points: Points, G: Array) -> dict[str, Any] | None:
    """The kernel perceptron after the passes that are complete at this step."""
    done = run.passes_done(at)
    if done < 1:
        return None
    model = run.model if done >= int(run.passes[-1]) else _refit(run, done, points)
    V = np.asarray(model.decision_function(G), dtype=np.float64)
    size = np.abs(V) if V.ndim == 1 else V.max(axis=1) - np.sort(V, axis=1)[:, -2]
    certainty = 0.5 + 0.5 * np.tanh(2.0 * size / (np.quantile(size, 0.9) or 1.0))
    return _pack_areas(model.predict(G), certainty, V if V.ndim == 1 else None)


@lru_cache(maxsize=4)
def _refit(run: Run, done: int, points: Points) -> Any:
    arguments = {**run.call.arguments, "max_iter": done}
    return adaline.KernelPerceptron(**arguments).fit(points.X, points.labels)


def _pack_areas(labels: Any, certainty: Array, field: Any) -> dict[str, Any]:
    """A grid as bytes: class and certainty, 0 to 255, of each place; a field whose 0 is a line."""
    known = {name: code for code, name in enumerate(CLASSES)}
    codes = np.array([known.get(str(label), REJECTED) for label in labels], dtype=np.uint8)
    strength = np.clip(np.nan_to_num(certainty) * 255.0, 0, 255).astype(np.uint8)
    packed = {"n": GRID_SIZE, "codes": codes.tobytes(), "strength": strength.tobytes()}
    if field is not None:
        scale = float(np.abs(field).max()) or 1.0
        packed["field"] = (field / scale).astype("<f4").tobytes()
    return packed


def _has_weight_space(run: Run) -> bool:
    """Whether one neuron reduces an error step by step."""
    if run.W is None or run.W.shape[1] != 1 or not run.columns:
        return False
    numeric = not isinstance(run.call.arguments.get("alpha", 0.0), str)
    return numeric and run.call.learner is not adaline.HoKashyap


def draw_weight_space(run: Run, points: Points) -> dict[str, Any] | None:
    """The error over the plane of both weights, the bias at its last value, and the path."""
    if not _has_weight_space(run) or run.b is None:
        return None
    picture = WeightPathDisplay.from_estimator(
        run.call.estimator(), points.X, points.labels, grid=SURFACE_SIZE, **run.call.fitting
    )
    low, high = float(picture.surface.min()), float(picture.surface.max())
    shade = (picture.surface - low) / (high - low if high > low else 1.0)
    thin = np.unique(np.linspace(0, len(picture.path) - 1, MAX_PATH_POINTS).astype(np.int64))
    return {
        "error": picture.error,
        "view": [*picture.x[[0, -1]], *picture.y[[0, -1]]],
        "n": SURFACE_SIZE,
        "surface": shade[::-1].astype("<f4").tobytes(),
        "path": picture.path[thin],
        "bias": float(run.b[-1, 0]),
    }


def decide(points: Points) -> adaline.Separability | None:
    """The verdict of `separability`; None where the points are of one class."""
    if len(points.present) < 2:
        return None
    proven: adaline.Separability = adaline.separability(
        points.X, points.labels, time_limit=PROOF_SECONDS, pairwise=False
    )
    return proven


def draw_proof(points: Points, proven: adaline.Separability | None) -> dict[str, Any]:
    """The verdict for the page: words, line, margin and witnesses; mistake bound, Cover's count."""
    if proven is None:
        return {"verdict": None, "words": "A verdict needs points of two classes."}
    words = proven.explain(("x1", "x2"))
    words = words[:1].upper() + words[1:]
    line = bound = None
    if proven.verdict == "separable" and len(proven.labels) == 2:
        line = {"w": proven.coef, "b": proven.intercept}
        try:
            best = adaline.mistake_bound(points.X, points.labels)
            bound = {"sharp": best.sharp, "lecture": best.lecture}
            if not proven.margin_is_maximum:
                margin = adaline.max_margin(points.X, points.labels).margin
                words += f" The largest margin of any line is {margin:.6g}."
        except ValueError:  # a margin below rounding
            pass
    count = adaline.cover(len(points), 2)
    return {
        "verdict": proven.verdict,
        "words": words,
        "classes": [CLASSES.index(str(label)) for label in proven.labels],
        "rows": [row for row, _ in proven.rows],
        "multipliers": _exact(proven.multipliers),
        "margin": proven.margin,
        "is_maximum": proven.margin_is_maximum,
        "bound": bound,
        "cover": {
            "n": len(points),
            "fraction": count.fraction,
            "log10": count.log_fraction / math.log(10),  # the fraction may be below 1e-323
            "capacity": adaline.capacity(2),
        },
        **({} if line is None else {"line": line}),
    }


def _exact(numbers: Any) -> list[int | str]:
    """Whole numbers for JavaScript, as text where its numbers cannot hold them."""
    return [str(k) if k > 2**53 else k for k in numbers]
