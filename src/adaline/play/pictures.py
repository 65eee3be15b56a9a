"""What the page draws of a run at a step: lines, areas, ellipses, and rows of the table."""

from __future__ import annotations

from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import adaline
from adaline.evaluation.fit_evidence import reconciled
from adaline.play.points import CLASSES, Array, Points, View
from adaline.play.runs import Run
from adaline.plot import GaussianDisplay, WeightPathDisplay

GRID = 120  # places along each side at which a posterior is asked for
SURFACE = 48  # the same in the space of weights
ROWS = 15  # of the table around the present one
REJECT = 255  # the code of places where the decision is to reject
_CURVE = 1000  # points of a curve that is sent


def at_step(run: Run, at: int, points: Points, view: View) -> dict[str, Any]:
    """The part of a drawing that changes with the step."""
    found: dict[str, Any] = {
        "at": at,
        "pass": int(run.passes[at]),
        "sample": int(run.samples[at]),
        "table": rows_around(run, at),
        "bars": {name: values[at] for name, values in run.bars.items()},
        "weights": None,
        "grid": areas(run, at, points, view),
    }
    if run.W is not None and run.b is not None:
        line = (
            run.call.learner is not adaline.GaussianClassifier
        )  # costs and rejection move its boundary
        classes = points.present
        found["weights"] = {"W": run.W[at], "b": run.b[at], "classes": classes, "line": line}
    return found


def rows_around(run: Run, at: int) -> dict[str, Any]:
    """Some rows of the lecture's table, and which is the present one (-1 before the first)."""
    if not run.columns:
        return {"head": [], "rows": [], "first": 0, "present": -1, "count": 0}
    m = len(next(iter(run.columns.values())))
    row = int(run.rows[at])
    first = max(0, min(row - ROWS // 2, m - ROWS))
    names = [name for name in run.columns if not _is_long(name, run)]
    cells = [
        [_cell(run.columns[name][i], name, run, i) for name in names]
        for i in range(first, min(m, first + ROWS))
    ]
    return {"head": names, "rows": cells, "first": first, "present": row, "count": m}


def _is_long(name: str, run: Run) -> bool:
    """b1, e1, ... of Ho and Kashyap, a column a point: they are shown as bars."""
    return bool(run.bars) and name[0] in "be" and name[1:].isdigit()


def _cell(value: Any, name: str, run: Run, i: int) -> str:
    """Six digits; in batch mode what belongs to the whole pass stands in its first row."""
    if isinstance(value, str):
        return str(value)
    passes = run.columns.get("pass")
    later = run.batch and passes is not None and i > 0 and passes[i] == passes[i - 1]
    if later and name[0] in "wbd":
        return ""
    return f"{value:.6g}".replace("-", "\N{MINUS SIGN}") if value else "0"


def of_run(run: Run, points: Points, decided: Any = None) -> dict[str, Any]:
    """The part of a drawing that belongs to the whole run; what is decided of the points."""
    learned = SimpleNamespace(certificate_=run.certificate, coef_=run.W)
    certificate, _ = reconciled(learned, decided)
    found: dict[str, Any] = {
        "steps": run.steps,
        "passes": int(run.passes[-1]),
        "batch": run.batch,
        "stopped": run.stopped,
        "certificate": str(certificate),
        "curves": [{"name": name, **_thinned(y)} for name, y in run.curves.items()],
        "unit": _unit(run),
        "ellipses": ellipses(run, points),
        "margin": None,
        "corrections": _corrections(run),
        "space": has_weight_space(run),
    }
    if run.call.learner is adaline.max_margin:
        found["margin"] = {
            "size": run.model.margin,
            "support": run.model.support,
            "nearest": [run.model.positive, run.model.negative],
        }
    return found


def _corrections(run: Run) -> int | None:
    """Corrections that the mistake bound is about: fixed increments from zero, with a bias."""
    given = run.call.arguments
    bounded = (
        run.call.learner is adaline.Perceptron and not run.batch and given.get("eta") != "absolute"
    )
    return run.corrections if bounded and given.get("fit_intercept", True) else None


def _unit(run: Run) -> str:
    """What a curve counts along its axis."""
    kinds = {adaline.HoKashyap: "iteration", adaline.LogisticRegression: "Newton step"}
    return kinds.get(run.call.learner, "pass")


def _thinned(values: Array) -> dict[str, Any]:
    """x and y of a curve; of a long one every so many."""
    y = np.asarray(values, dtype=np.float64)
    at = np.unique(np.linspace(0, len(y) - 1, min(len(y), _CURVE)).astype(np.int64))
    return {"x": at + 1, "y": y[at]}


def ellipses(run: Run, points: Points) -> list[dict[str, Any]]:
    """Where Gaussian classes have Mahalanobis distance 1 and 2."""
    if run.call.learner is not adaline.GaussianClassifier:
        return []
    picture = GaussianDisplay.from_estimator(run.model, points.X, points.labels, grid=2)
    codes = [CLASSES.index(str(label)) for label in picture.classes]
    return [
        {"code": code, "mean": mean, "lines": [line.T for line in lines]}
        for code, mean, lines in zip(codes, picture.means, picture.ellipses, strict=True)
    ]


def grid_over(view: View, n: int) -> Array:
    """Places of an n by n grid over the view, row by row from the top."""
    left, right, bottom, top = view
    side = (np.arange(n) + 0.5) / n
    x, y = np.meshgrid(left + (right - left) * side, top - (top - bottom) * side)
    return np.column_stack([x.ravel(), y.ravel()])


def areas(run: Run, at: int, points: Points, view: View) -> dict[str, Any] | None:
    """What is decided over the view, and how surely, for learners that are more than lines."""
    learner = run.call.learner
    if not hasattr(learner, "predict_proba") and learner is not adaline.KernelPerceptron:
        return None
    G = grid_over(view, GRID)
    if learner is adaline.KernelPerceptron:
        return _kernel_areas(run, at, points, G)
    model = run.model
    if learner is adaline.LogisticRegression and at < run.steps:
        model = _with_weights(run, at, points)
    P = np.asarray(model.predict_proba(G), dtype=np.float64)
    codes = _codes(model.predict(G))
    return _packed(codes, P.max(axis=1), _boundary(run, G) if P.shape[1] == 2 else None)


def _boundary(run: Run, G: Array) -> Array | None:
    """A field that is zero where two Gaussian classes are expected to cost the same."""
    if run.call.learner is not adaline.GaussianClassifier:
        return None
    costs = np.asarray(run.call.arguments.get("costs", [[0.0, 1.0], [1.0, 0.0]]))
    odds = np.asarray(run.model.decision_function(G), dtype=np.float64)
    return np.asarray(np.arctan(odds + np.log(costs[0, 1] / costs[1, 0])))


def _with_weights(run: Run, at: int, points: Points) -> Any:
    """The logistic regression with the weights it had at a step."""
    model = run.call.made().fit(points.X, points.labels)
    if run.W is not None and run.b is not None:
        model.coef_, model.intercept_ = run.W[at].copy(), run.b[at].copy()
    return model


def _kernel_areas(run: Run, at: int, points: Points, G: Array) -> dict[str, Any] | None:
    """The kernel perceptron after the passes that are complete at this step, or its last one."""
    done = int(run.passes[at]) if at == run.steps else int(run.passes[at]) - 1
    if done < 1:
        return None
    model = after_passes(run, done, points)
    V = np.asarray(model.decision_function(G), dtype=np.float64)
    size = np.abs(V) if V.ndim == 1 else V.max(axis=1) - np.sort(V, axis=1)[:, -2]
    sure = 0.5 + 0.5 * np.tanh(2.0 * size / (np.quantile(size, 0.9) or 1.0))
    return _packed(_codes(model.predict(G)), sure, V if V.ndim == 1 else None)


def after_passes(run: Run, done: int, points: Points) -> adaline.KernelPerceptron:
    """The same kernel perceptron with so many passes."""
    if done >= int(run.passes[-1]):
        model: adaline.KernelPerceptron = run.model
        return model
    return _refitted(run, done, points)


@lru_cache(maxsize=4)
def _refitted(run: Run, done: int, points: Points) -> adaline.KernelPerceptron:
    arguments = {**run.call.arguments, "max_iter": done}
    model: adaline.KernelPerceptron = adaline.KernelPerceptron(**arguments).fit(
        points.X, points.labels
    )
    return model


def _codes(labels: Any) -> NDArray[np.uint8]:
    """Decisions as the numbers of classes; `REJECT` where there is none."""
    known = {name: code for code, name in enumerate(CLASSES)}
    return np.array([known.get(str(label), REJECT) for label in labels], dtype=np.uint8)


def _packed(codes: NDArray[np.uint8], sure: Array, field: Array | None) -> dict[str, Any]:
    """A grid as bytes: a class and a certainty from 0 to 255 a place; a field whose 0 is a line."""
    strength = np.clip(np.nan_to_num(sure) * 255.0, 0, 255).astype(np.uint8)
    found: dict[str, Any] = {"n": GRID, "codes": codes.tobytes(), "strength": strength.tobytes()}
    if field is not None:
        scale = float(np.abs(field).max()) or 1.0
        found["field"] = (field / scale).astype("<f4").tobytes()
    return found


def has_weight_space(run: Run) -> bool:
    """Whether one neuron makes an error smaller, step by step."""
    if (
        run.W is None
        or run.W.shape[1] != 1
        or not run.columns
        or run.call.learner is adaline.HoKashyap
    ):
        return False
    return not isinstance(run.call.arguments.get("alpha", 0.0), str)


def weight_space(run: Run, points: Points) -> dict[str, Any] | None:
    """The error over the plane of both weights, the bias at its last value, and the path."""
    if not has_weight_space(run):
        return None
    picture = WeightPathDisplay.from_estimator(
        run.call.made(), points.X, points.labels, grid=SURFACE, **run.call.fitting
    )
    low, high = float(picture.surface.min()), float(picture.surface.max())
    shade = (picture.surface - low) / (high - low) if high > low else np.zeros((SURFACE, SURFACE))
    thin = np.unique(np.linspace(0, len(picture.path) - 1, 2000).astype(np.int64))
    return {
        "error": picture.error,
        "view": [*picture.x[[0, -1]], *picture.y[[0, -1]]],
        "n": SURFACE,
        "surface": shade[::-1].astype("<f4").tobytes(),
        "path": picture.path[thin],
        "bias": float(run.b[-1, 0]) if run.b is not None else 0.0,
    }
