"""Every learner on every shape that users have, beside the peer's fastest setting of equal quality.

    python bench/bench_map.py [--quick] [--only ridge csr] [--repeats 5] [--limit 30]

A cell is a learner and a shape. Of the peer's settings those count whose gradient (beside
LIBLINEAR, whose gap) is as small as `WORST` asks; the fastest of them is taken, and ours and it run
in turns: one thread, CPU time, medians of warm calls. A cell that takes longer than the limit is
stopped. Losses come first. Where we lose, or its gradient is far coarser than ours, the line below
says what the peer's answer is worth: how many digits of its largest coefficients agree with ours,
which are proven, and the ratio to its fastest setting whose gradient is as small as rounding lets.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from _bench import head, note, row, threads
from bench_sequential import text as words
from bench_text import text
from sklearn import discriminant_analysis as bayes
from sklearn import linear_model as peers

import adaline

WORST = {"squared": 1e-8, "logistic": 1e-5, "gap": 1e-8, "nothing": 0.0}  # quality, at most
EXACT = 1e-13  # a gradient that only rounding is left of
AUTO = np.logspace(-3, 4, 20)
WIDE, CSR = ("200x2000", "1000x5000"), ("csr 2000x5000", "csr 5000x20000", "csr 50000x100000")
MANY = ("5000x1000", "3000x500", "2000x1500")  # columns, and a few times as many rows at most
DENSE = ("100x5", "1000x20", "10000x50", "20000x300", *MANY, "float32 20000x50", *WIDE)
TARGETS = ("2000x30, 200 targets", "2000x30, 1000 targets")
CLASSES = tuple(
    f"{size}, {K} classes"
    for size, K in (("100x5", 3), ("100x5", 5), ("1000x20", 5), ("10000x50", 3), ("10000x50", 6))
)
LARGEST = {"csr 50000x100000", "1000x5000", "20000x300", *MANY}  # left out by --quick


@dataclass(frozen=True)
class Learner:
    """Ours, the peer's settings by name, the shapes, and how far a model is from the minimum."""

    ours: Callable[[], Any]
    peers: dict[str, Callable[[], Any]]
    shapes: tuple[str, ...]
    gradient: Callable[..., float]
    classes: bool = False


def squared(X: Any, y: Any, model: Any) -> float:
    """|A'(y - Aw) - alpha w| / |A'y| with A the centred rows."""
    alpha = np.atleast_1d(getattr(model, "alpha_", getattr(model, "alpha", 0.0)))
    alpha = alpha if alpha.dtype.kind == "f" else np.zeros(1)  # one for all targets, or one each
    units = getattr(model, "column_scale_", None)
    units = np.ones(1) if units is None else units[:, None] ** 2
    Y = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
    W = np.atleast_2d(model.coef_).astype(np.float64)
    left = Y - X @ W.T
    left, Y = left - left.mean(axis=0), Y - Y.mean(axis=0)
    return float(np.linalg.norm(X.T @ left - alpha * units * W.T) / np.linalg.norm(X.T @ Y))


def logistic(X: Any, t: Any, model: Any) -> float:
    """|gradient| / |gradient at zero| of the logistic loss with alpha = 1."""
    if len(model.classes_) > 2:
        return softmax(X, t, model)
    w, b = np.ravel(model.coef_).astype(np.float64), float(np.ravel(model.intercept_)[0])
    pull = -t / (1.0 + np.exp(np.clip(t * (X @ w + b), -700, 700)))
    g, start = X.T @ pull + w, X.T @ (-t / 2)
    whole = np.hypot(np.linalg.norm(g), pull.sum())
    return float(whole / np.hypot(np.linalg.norm(start), t.sum() / 2))


def softmax(X: Any, codes: Any, model: Any) -> float:
    """The same of more classes than two, with their codes for labels."""
    Y = np.eye(len(model.classes_))[codes.astype(int)]
    left, start = (P - Y for P in (model.predict_proba(X), np.full(Y.shape, 1.0 / Y.shape[1])))
    whole = np.hypot(np.linalg.norm(left.T @ X + model.coef_), np.linalg.norm(left.sum(axis=0)))
    return float(whole / np.hypot(np.linalg.norm(start.T @ X), np.linalg.norm(start.sum(axis=0))))


def gap(X: Any, t: Any, model: Any) -> float:
    """How far, relatively, the logistic criterion without a bias is above the least."""
    best = adaline.LogisticRegression(1.0, fit_intercept=False, tol=1e-11).fit(X, t)
    mine, least = (_criterion(X, t, m) for m in (model, best))
    return max(mine / least - 1.0, 0.0)


def _criterion(X: Any, t: Any, model: Any) -> float:
    w = np.ravel(model.coef_).astype(np.float64)
    return float(np.logaddexp(0.0, -t * (X @ w)).sum() + 0.5 * w @ w)


def nothing(X: Any, y: Any, model: Any) -> float:
    """Means and covariances have no gradient, and of two penalties that were searched neither is
    the right one."""
    return 0.0


def penalised(tol: float, solver: str) -> Any:
    """scikit-learn's Ridge(1)."""
    return partial(peers.Ridge, 1.0, solver=solver, tol=tol)


def logistics() -> dict[str, Any]:
    """scikit-learn's logistic regressions: the bias is not penalised, so no liblinear."""
    settings = {}
    for tol in (1e-4, 1e-5, 1e-6, 1e-7):
        for solver in ("lbfgs", "newton-cholesky", "newton-cg"):
            make = partial(peers.LogisticRegression, C=1.0, solver=solver, tol=tol, max_iter=10_000)
            settings[f"{solver} {tol:g}"] = make
    return settings


def liblinears() -> dict[str, Any]:
    """LIBLINEAR without a bias, on the dual and on the primal problem."""
    make = partial(peers.LogisticRegression, C=1.0, solver="liblinear", fit_intercept=False)
    dual = {f"dual {t:g}": partial(make, dual=True, tol=t, max_iter=10_000) for t in (3, 0.3, 0.03)}
    primal = {f"primal {t:g}": partial(make, dual=False, tol=t) for t in (1e-3, 1e-4, 1e-5)}
    return dual | primal


def fitting(settings: dict[str, Any], shape: str) -> dict[str, Any]:
    """The settings that do not ask for a p x p matrix of thousands of columns, or for minutes."""
    name = "newton" if shape in WIDE else "newton-cholesky" if shape in CSR else "newton-cg"
    return {s: make for s, make in settings.items() if not s.startswith(name)}


RIDGES = {
    "Ridge": partial(peers.Ridge, 1.0),
    "sparse_cg 1e-8": penalised(1e-8, "sparse_cg"),
    "sparse_cg 1e-9": penalised(1e-9, "sparse_cg"),
    "lsqr 1e-8": penalised(1e-8, "lsqr"),
    "lsqr 1e-9": penalised(1e-9, "lsqr"),
}
LINEAR = {
    "LinearRegression": peers.LinearRegression,
    "Linear 1e-8": partial(peers.LinearRegression, tol=1e-8),
    "Linear 1e-10": partial(peers.LinearRegression, tol=1e-10),
}
SHAPES = (*DENSE, *CSR)
LEARNERS = {
    "LeastSquares": Learner(adaline.LeastSquares, LINEAR, (*SHAPES, *TARGETS), squared),
    "Ridge(1)": Learner(partial(adaline.Ridge, 1.0), RIDGES, (*SHAPES, *TARGETS), squared),
    "Ridge auto": Learner(
        adaline.Ridge,
        {"RidgeCV, 20 alphas": partial(peers.RidgeCV, AUTO)},
        (*DENSE, *TARGETS),
        squared,
    ),
    "LeastSquaresClassifier": Learner(
        adaline.LeastSquaresClassifier, LINEAR, SHAPES, squared, classes=True
    ),
    "LogisticRegression": Learner(
        partial(adaline.LogisticRegression, 1.0),
        logistics(),
        (*SHAPES, *CLASSES),
        logistic,
        classes=True,
    ),
    "LogisticRegression auto": Learner(
        partial(adaline.LogisticRegression, "auto"),
        {"LogisticRegressionCV": partial(peers.LogisticRegressionCV, Cs=10, cv=5, max_iter=1000)},
        ("100x5", "1000x20", "10000x50", "3000x500", "200x2000", "1000x20, 5 classes"),
        nothing,
        classes=True,
    ),
    "LogisticRegression without bias": Learner(
        partial(adaline.LogisticRegression, 1.0, fit_intercept=False),
        liblinears(),
        CSR,
        gap,
        classes=True,
    ),
    "GaussianClassifier": Learner(
        partial(adaline.GaussianClassifier, covariance="shared"),
        {"LDA lsqr": partial(bayes.LinearDiscriminantAnalysis, solver="lsqr")},
        DENSE[:5],
        nothing,
        classes=True,
    ),
}


def data(shape: str, classes: bool) -> tuple[Any, Any]:
    """Columns that are a little correlated, and targets with noise; text where it is sparse."""
    kind, _, rest = ("", "", shape) if ", " in shape else shape.rpartition(" ")
    size, _, many = rest.partition(", ")
    n, p = (int(part) for part in size.split("x"))
    if kind == "csr":
        X, t = text(n, p)
        rng = np.random.default_rng(1)
        return X, t if classes else X @ rng.standard_normal(p) + 0.3 * rng.standard_normal(n)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    X[:, 1:] += 0.5 * X[:, :-1]
    k = int(many.split()[0]) if many else 1
    if many.endswith("classes"):
        V = X @ rng.standard_normal((p, k)) / np.sqrt(p) + rng.gumbel(size=(n, k))
        return X, V.argmax(axis=1)
    Y = X @ rng.standard_normal((p, k)) / np.sqrt(p) + rng.standard_normal((n, k)) + 1.0
    X = X.astype(np.float32) if kind == "float32" else X
    y = Y if k > 1 else Y[:, 0]
    return X, np.where(y > 1.0, 1.0, -1.0) if classes else y


def cpu(work: Callable[[], Any]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def in_turns(ours: Any, peer: Any, repeats: int) -> tuple[float, float]:
    """Medians; a call of some microseconds is repeated until it can be measured."""
    many = int(np.clip(0.003 / max(cpu(ours), 1e-6), 1, 1000))

    def times(work: Any) -> None:
        for _ in range(many):
            work()

    pairs = [(cpu(partial(times, ours)), cpu(partial(times, peer))) for _ in range(repeats)]
    a, b = (statistics.median(side) / many for side in zip(*pairs, strict=True))
    return a, b


def cell(name: str, shape: str, repeats: int, answers: Any) -> None:
    """Measure one cell, and put what was found into the queue."""
    warnings.simplefilter("ignore")
    learner = LEARNERS[name]
    X, y = data(shape, learner.classes)
    with threads(1):
        found = {}
        for setting, make in fitting(learner.peers, shape).items():
            model = make()
            took = cpu(lambda model=model: model.fit(X, y))
            if took < 1.0:
                took = min(took, cpu(lambda model=model: model.fit(X, y)))
            found[setting] = took, learner.gradient(X, y, model)
        worst = WORST[learner.gradient.__name__] * (100.0 if X.dtype == np.float32 else 1.0)
        good = {s: f for s, f in found.items() if f[1] <= worst} or found
        best = min(good, key=lambda s: good[s][0])
        answers.put(("peer", best, found[best]))
        ours, peer = learner.ours(), learner.peers[best]()
        first = cpu(lambda: ours.fit(X, y))
        answers.put(("first", first, learner.gradient(X, y, ours)))
        few = repeats if first < 2 else 1
        ours_s, peer_s = in_turns(lambda: ours.fit(X, y), lambda: peer.fit(X, y), few)
        if learner.gradient is squared:
            answers.put(("digits", digits(ours, peer, X), proven(ours)))
        exact = {s: f for s, f in good.items() if f[1] <= EXACT}
        if ours_s > peer_s and found[best][1] > EXACT and exact:
            surer = min(exact, key=lambda s: exact[s][0])
            twin = learner.peers[surer]()
            pair = in_turns(lambda: ours.fit(X, y), lambda: twin.fit(X, y), few)
            answers.put(("surer", surer, exact[surer][1], pair[1] / pair[0]))
        answers.put(("done", ours_s, peer_s))


def digits(ours: Any, peer: Any, X: Any) -> float:
    """Digits of the peer's coefficients that agree with ours, relative to each target's largest."""
    if not np.array_equal(getattr(ours, "alpha_", 1.0), getattr(peer, "alpha_", 1.0)):
        return float("nan")  # another penalty was chosen
    V, W = (np.atleast_2d(m.coef_).astype(np.float64) for m in (ours, peer))
    apart = np.abs(V - W).max(axis=1) / np.abs(V).max(axis=1)
    return float(-np.log10(max(apart.max(), np.finfo(X.dtype).eps / 2)))


def proven(ours: Any) -> float:
    """Digits that the fit proves of its own coefficients; NaN where it proves none."""
    return float(ours.fit_.certificate.evidence.get("digits", float("nan")))


def predictions(repeats: int, answers: Any) -> None:
    """One row, and 20,000, of 50 columns; these in float32, too."""
    warnings.simplefilter("ignore")
    X, t = data("20000x50", classes=True)
    lda = partial(bayes.LinearDiscriminantAnalysis, solver="lsqr")
    with threads(1):
        for ours, peer, method in (
            (adaline.LeastSquares(), peers.LinearRegression(), "predict"),
            (adaline.LogisticRegression(1.0), peers.LogisticRegression(), "predict_proba"),
            (adaline.GaussianClassifier(), lda(), "predict_proba"),
        ):
            ours.fit(X, t), peer.fit(X, t)
            for kind, Z in (("1 row", X[:1]), ("20000 rows", X), ("float32", X.astype("f4"))):
                pair = (partial(getattr(m, method), Z) for m in (ours, peer))
                name = f"{type(ours).__name__}.{method}, {kind}"
                answers.put(("row", name, type(peer).__name__, *in_turns(*pair, repeats), ""))
    answers.put(("done",))


def on_line(repeats: int, answers: Any) -> None:
    """Learners that see one row at a time, on text of 100,000 words, and their test accuracy."""
    warnings.simplefilter("ignore")
    X, y = words(200_000)
    half = X.shape[0] // 2
    train, test = (X[:half], y[:half]), (X[half:], y[half:])
    both = {"max_iter": 2, "shuffle": True}
    once = {"loss": "log_loss", "max_iter": 1, "tol": None}
    labels = partial(adaline.LogisticRegression.partial_fit, classes=[0, 1])
    cases = (
        (
            "Perceptron csr 100000x100000, 2 passes, shuffled",
            lambda seed, *rows: adaline.Perceptron(**both, random_state=seed).fit(*rows),
            lambda seed, *rows: peers.Perceptron(**both, tol=None, random_state=seed).fit(*rows),
        ),
        (
            "LogisticRegression.partial_fit csr 100000x100000, in order",
            lambda seed, *rows: labels(adaline.LogisticRegression(), *rows),
            lambda seed, *rows: peers.SGDClassifier(**once, shuffle=False).fit(*rows),
        ),
        (
            "LogisticRegression.partial_fit csr 100000x100000, at equal test accuracy",
            lambda seed, *rows: labels(adaline.LogisticRegression(), *rows),
            as_accurate(labels(adaline.LogisticRegression(), *train).score(*test), train, test),
        ),
        (
            "LogisticRegression.partial_fit csr 100000x100000",
            lambda seed, *rows: labels(adaline.LogisticRegression(), *rows),
            lambda seed, *rows: peers.SGDClassifier(loss="log_loss", random_state=seed).partial_fit(
                *rows, classes=[0, 1]
            ),
        ),
    )
    with threads(1):
        for name, ours, peer in cases:
            right = [np.mean([f(k, *train).score(*test) for k in range(3)]) for f in (peer, ours)]
            remark = f"test accuracy: peer {right[0]:.3f}, ours {right[1]:.3f}"
            times = in_turns(partial(ours, 0, *train), partial(peer, 0, *train), repeats)
            answers.put(("row", name, type(peer(0, *train)).__name__, *times, remark))
    answers.put(("done",))


def as_accurate(wanted: float, train: Any, test: Any) -> Any:
    """How SGDClassifier learns with as many passes, in order, as it needs for this accuracy."""

    def learned(passes: int, seed: int, *rows: Any) -> Any:
        options = {"loss": "log_loss", "max_iter": passes, "tol": None, "shuffle": False}
        return peers.SGDClassifier(**options).fit(*rows)

    passes = next(k for k in range(1, 100) if learned(k, 0, *train).score(*test) >= wanted)
    return partial(learned, passes)


def limited(work: Any, limit: float, *given: Any) -> list[Any]:
    """What a process of its own told within the limit."""
    fork = multiprocessing.get_context("fork")
    answers = fork.Queue()
    process = fork.Process(target=work, args=(*given, answers))
    process.start()
    told, end = [], time.monotonic() + limit
    while time.monotonic() < end and not (told and told[-1][0] == "done"):
        try:
            told.append(answers.get(timeout=0.2))
        except multiprocessing.queues.Empty:
            if not process.is_alive() and answers.empty():
                break
    process.kill()
    process.join()
    return told


def measured(name: str, shape: str, options: argparse.Namespace) -> list[Any]:
    """(work, peer, ours, peer's seconds, remark) of a cell."""
    print(f"{name}, {shape} ...", end="\r", file=sys.stderr, flush=True)
    told = {t[0]: t[1:] for t in limited(cell, options.limit, name, shape, options.repeats)}
    if "peer" not in told:
        return []
    best, (seconds, gradient) = told["peer"]
    what = "gap" if LEARNERS[name].gradient is gap else "gradient"
    remark = f"{what}: peer {gradient:.0e}, "
    remark += f"ours {told['first'][1]:.0e}" if "first" in told else "ours not within the limit"
    if np.isfinite(told.get("digits", (np.nan, np.nan))).all():
        remark += "; digits: peer {:.1f}, ours {:.1f}, proven".format(*told["digits"])
    if "surer" in told:
        remark += "; {} has gradient {:.0e}: {:.2f}x".format(*told["surer"])
    times = told.get("done", (told["first"][0] if "first" in told else options.limit, seconds))
    return [(f"{name} {shape}", best, *times, remark)]


def main() -> int:
    """The map, losses first."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="without the largest shapes")
    parser.add_argument(
        "--only",
        nargs="*",
        default=[],
        help="cells whose name holds all of these; predict, on-line",
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--limit", type=float, default=40.0, help="seconds a cell may take")
    options = parser.parse_args()
    found: list[Any] = []
    for name, learner in LEARNERS.items():
        for shape in learner.shapes:
            wanted = all(part.lower() in f"{name} {shape}".lower() for part in options.only)
            if wanted and not (options.quick and shape in LARGEST):
                found += measured(name, shape, options)
    for name, work in (("predict", predictions), ("on-line", on_line)):
        if not options.only or name in options.only:
            told = limited(work, 3 * options.limit, options.repeats)
            found += [t[1:] for t in told if t[0] == "row"]
    head()
    met = []
    for work, peer, ours_s, peer_s, remark in sorted(found, key=lambda f: f[3] / f[2]):
        met.append(row(work, peer, ours_s, peer_s, 1.0))
        if remark:
            note(remark)
    return 0 if all(met) or options.quick else 1


if __name__ == "__main__":
    sys.exit(main())
