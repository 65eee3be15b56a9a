"""What the page draws of a board: lines, areas, ellipses, rows of the table, and the proof."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

import adaline
from adaline.evaluation.fit_evidence import reconciled
from adaline.play.points import CLASSES, Points, View
from adaline.play.runs import Run
from adaline.plot import GaussianDisplay, WeightPathDisplay

GRID_SIZE = 120  # points along each side at which a posterior is computed
SHORT_VERDICTS = {  # one sentence for a student; the proof is behind "Why?"
    "separable": "Yes: straight boundaries can keep the classes apart.",
    "overlapping": "No: any straight boundary has a point on its wrong side.",
    "quasi-separable": "Only just: a straight boundary can do it if points may lie on it.",
    "undecided": "Not decided in the time that the page allows.",
}


def draw_step(run: Run, at: int, view: View) -> dict[str, Any]:
    """The part of a drawing that changes with the step."""
    shown, weights = None, run.weights(at)
    if weights is not None:
        # Costs and rejection move the boundary of Gaussian classes away from the line of weights.
        line = not isinstance(run.model, adaline.GaussianClassifier)
        shown = {"W": weights[0], "b": weights[1], "line": line, "classes": run.points.present}
    return {
        "at": at,
        "pass": run.passes[at],
        "sample": run.samples[at],
        "table": _draw_table(run, at),
        "bars": run.bars(at),
        "weights": shown,
        "grid": _draw_areas(run, at, view),
    }


def _draw_table(run: Run, at: int) -> dict[str, Any]:
    """Fifteen rows of the table around the present one (-1 before the first)."""
    if run.trace is None:
        return {"head": [], "rows": [], "first": 0, "present": -1, "count": 0}
    columns, m, row = run.trace.columns(), len(run.trace), run.rows[at]
    first = max(0, min(row - 7, m - 15))
    # Ho and Kashyap's b1, e1, ..., a column per point, are shown as bars.
    names = [k for k in columns if not (run.bars(at) and k[0] in "be" and k[1:].isdigit())]
    rows = []
    for i in range(first, min(m, first + 15)):
        # In batch mode the weights of a pass stand in its first row only.
        repeated = run.unit == "pass" and i > 0 and run.trace.passes[i] == run.trace.passes[i - 1]
        hidden = "wbd" if repeated else ""
        rows.append([_format_cell(columns[k][i]) if k[0] not in hidden else "" for k in names])
    return {"head": names, "rows": rows, "first": first, "present": row, "count": m}


def _format_cell(value: Any) -> str:
    return str(value) if isinstance(value, str) else f"{value or 0:.6g}".replace("-", "−")


def draw_run(run: Run) -> dict[str, Any]:
    """The part of a drawing that belongs to the entire run."""
    model, margin = run.model, None
    if isinstance(model, adaline.MaxMargin):
        nearest, certificate = [model.positive, model.negative], model.certificate
        margin = {"size": model.margin, "support": model.support, "nearest": nearest}
    else:
        certificate, _ = reconciled(model, run.points.separability)
    # The mistake bound is about fixed increments from zero, with a bias.
    bounded = isinstance(model, adaline.Perceptron) and model.fit_intercept
    bounded = bounded and run.unit != "pass" and model.eta != "absolute"
    wrong = run.count_wrong()
    points = {0: "no point is", 1: "1 point is"}.get(wrong, f"{wrong} points are")
    return {
        "steps": run.steps,
        "passes": run.passes[-1],
        "batch": run.unit == "pass",
        "stopped": run.stopped,
        "end": f"At the end {points} on the wrong side.",
        "certificate": str(certificate),
        "curves": [
            {"name": name, "x": range(1, len(y) + 1), "y": y} for name, y in run.curves().items()
        ],
        "unit": {"iteration": "iteration", "step": "Newton step"}.get(run.unit, "pass"),
        "ellipses": _draw_ellipses(run),
        "margin": margin,
        "corrections": model.fit_.corrections if bounded else None,
        "space": _has_weight_space(run),
    }


def _draw_ellipses(run: Run) -> list[dict[str, Any]]:
    """Where Gaussian classes have Mahalanobis distance 1 and 2."""
    if not isinstance(run.model, adaline.GaussianClassifier):
        return []
    points = run.points
    picture = GaussianDisplay.from_estimator(run.model, points.X, points.labels)
    return [
        {"code": code, "mean": mean, "lines": [line.T for line in lines]}
        for code, mean, lines in zip(points.present, picture.means, picture.ellipses, strict=True)
    ]


def _draw_areas(run: Run, at: int, view: View) -> dict[str, Any] | None:
    """Decisions over the view and their certainty, for learners that are more than lines."""
    model, points = run.model, run.points
    if at < run.steps and run.is_kernel:
        model = run.after_passes(at)
        if model is not None:
            model.fit(points.X, points.labels)
    elif at < run.steps and (weights := run.weights(at)) is not None:
        model = copy.deepcopy(model)
        model.coef_, model.intercept_ = weights[0].copy(), weights[1].copy()
    if model is None or not (run.is_kernel or hasattr(model, "predict_proba")):
        return None
    left, right, bottom, top = view
    side = (np.arange(GRID_SIZE) + 0.5) / GRID_SIZE
    x, y = np.meshgrid(left + (right - left) * side, top - (top - bottom) * side)
    G = np.column_stack([x.ravel(), y.ravel()])
    V = np.asarray(model.decision_function(G), dtype=np.float64)
    field = V if run.is_kernel and V.ndim == 1 else None  # whose zeros are the boundary
    if isinstance(model, adaline.GaussianClassifier) and V.ndim == 1:
        costs = np.array([[0.0, 1.0], [1.0, 0.0]] if model.costs is None else model.costs)
        # Zero where both decisions have the same expected cost; bounded, as odds are not.
        field = np.arctan(V + np.log(costs[0, 1] / costs[1, 0]))
    if run.is_kernel:
        size = np.abs(V) if V.ndim == 1 else V.max(axis=1) - np.sort(V, axis=1)[:, -2]
        certainty = 0.5 + 0.5 * np.tanh(2.0 * size / (np.quantile(size, 0.9) or 1.0))
    else:
        certainty = np.max(model.predict_proba(G), axis=1)
    strength = np.clip(np.nan_to_num(certainty) * 255.0, 0, 255).astype(np.uint8)
    # A rejected place is at -1, which is 255 as a byte.
    codes = np.array(["".join(CLASSES).find(label) for label in model.predict(G)])
    areas = {"n": GRID_SIZE, "codes": codes.astype("i1").tobytes(), "strength": strength.tobytes()}
    if field is not None:
        scale = float(np.abs(field).max()) or 1.0
        areas["field"] = (field / scale).astype("<f4").tobytes()
    return areas


def _has_weight_space(run: Run) -> bool:
    """Whether one neuron reduces an error step by step."""
    steps = run.unit in ("sample", "pass", "step") and run.W is not None and run.W.shape[1] == 1
    return steps and not isinstance(getattr(run.model, "alpha", 0.0), str)


def draw_weight_space(run: Run) -> dict[str, Any] | None:
    """The error over the plane of both weights, the bias at its last value, and the path."""
    if not _has_weight_space(run) or run.b is None:
        return None
    n, X, y = 48, run.points.X, run.points.labels
    picture = WeightPathDisplay.from_estimator(run.model, X, y, grid=n)
    low, high = float(picture.surface.min()), float(picture.surface.max())
    shade = (picture.surface - low) / (high - low if high > low else 1.0)
    most = min(1000, len(picture.path))  # a path of more points looks the same
    thin = np.linspace(0, len(picture.path) - 1, most).astype(np.int64)
    return {
        "error": picture.error,
        "view": [*picture.x[[0, -1]], *picture.y[[0, -1]]],
        "n": n,
        "surface": shade[::-1].astype("<f4").tobytes(),
        "path": picture.path[thin],
        "bias": run.b[-1, 0],
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
            "fraction": adaline.cover(len(points), 2).fraction,
            "capacity": adaline.capacity(2),
        },
    }
