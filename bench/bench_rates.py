"""What one pass with automatic rates learns, beside peers with tuned rates, on rows not tuned on.

    python bench/bench_rates.py [--quick] [--seeds 3] [--only lines heavy]

Held-out log loss and accuracy of `LogisticRegression().partial_fit`; of scikit-learn's
SGDClassifier on scaled columns with its own settings, and with the best of 34; of Vowpal Wabbit
with its own rate, and with the best of 5; and of river's LogisticRegression behind its scaler. All
learn the same rows once, in the same order; 30 % are held out. "The best" is chosen by the rows
held out, which no user has: it bounds what tuning can reach. Means over the seeds; problems where
automatic rates are farthest behind the best come first. `rate_problems.py` has the problems.
Nothing is timed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from _bench import missing, threads
from rate_problems import IN_ORDER, PROBLEMS, Problem
from scipy import sparse
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from adaline import LogisticRegression

TUNED = (
    [{"alpha": 10.0**k} for k in range(-7, -1)]
    + [{"alpha": 10.0**k, "average": True} for k in (-6, -5, -4)]
    + [{"learning_rate": "invscaling", "eta0": 10.0**k, "power_t": 0.5} for k in (-2, -1, 0, 1)]
    + [{"learning_rate": "adaptive", "eta0": 10.0**k} for k in (-3, -2, -1, 0)]
)
VW_RATES = (0.05, 0.2, 0.5, 2.0, 8.0)  # 0.5 is its own


class Score(NamedTuple):
    """How good probabilities are on rows that were held out."""

    loss: float
    accuracy: float


class Split(NamedTuple):
    """Rows to learn from, in order, and rows held out; scaled too, as most peers want them."""

    train: Problem
    test: Problem
    scaled: tuple[Any, Any]


def split_of(name: str, rows: int, seed: int) -> Split:
    X, y = PROBLEMS[name](rows, np.random.default_rng([seed, *map(ord, name)]))
    order = (
        np.arange(len(y)) if name in IN_ORDER else np.random.default_rng(seed).permutation(len(y))
    )
    first, last = order[: 7 * len(y) // 10], order[7 * len(y) // 10 :]
    scaler = (MaxAbsScaler() if sparse.issparse(X) else StandardScaler()).fit(X[first])
    scaled = scaler.transform(X[first]), scaler.transform(X[last])
    return Split((X[first], y[first]), (X[last], y[last]), scaled)


def score(y: np.ndarray, p: np.ndarray) -> Score:
    """Of the probabilities p of class 1."""
    p = np.clip(np.nan_to_num(p, nan=0.5), 1e-15, 1 - 1e-15)
    return Score(log_loss(y, p, labels=[0, 1]), float(np.mean((p > 0.5) == (y == 1))))


def automatic(at: Split) -> Score:
    model = LogisticRegression().partial_fit(*at.train, classes=[0, 1])
    return score(at.test[1], model.predict_proba(at.test[0])[:, 1])


def sgd(at: Split, scaled: bool = True, **settings: Any) -> Score:
    model = SGDClassifier(loss="log_loss", max_iter=1, tol=None, shuffle=False, **settings)
    train, test = at.scaled if scaled else (at.train[0], at.test[0])
    model.fit(train, at.train[1])
    return score(at.test[1], model.predict_proba(test)[:, 1])


def named_rows(X: Any) -> Iterable[dict[int, float]]:
    """Rows as dictionaries; zeros are left out where rows are sparse."""
    if not sparse.issparse(X):
        return (dict(enumerate(x)) for x in X.tolist())
    return (
        dict(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True))
        for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)
    )


def river(at: Split) -> Score:
    from river import linear_model, preprocessing

    model: Any = linear_model.LogisticRegression()
    if not sparse.issparse(at.train[0]):  # its scaler knows no sparse rows
        model = preprocessing.StandardScaler() | model
    for x, label in zip(named_rows(at.train[0]), at.train[1].tolist(), strict=True):
        model.learn_one(x, bool(label))
    p = [model.predict_proba_one(x).get(True, 0.5) for x in named_rows(at.test[0])]
    return score(at.test[1], np.array(p))


def vowpal(at: Split, rate: float = 0.5) -> Score:
    import vowpalwabbit

    given = f"--loss_function logistic --link logistic -b 20 -l {rate} --quiet"
    model = vowpalwabbit.Workspace(given)
    lines = [
        [
            f"{2 * label - 1} |" + "".join(f" {j}:{value!r}" for j, value in x.items())
            for x, label in part
        ]
        for part in (zip(named_rows(X), y.tolist(), strict=True) for X, y in (at.train, at.test))
    ]
    for line in lines[0]:
        model.learn(line)
    p = [model.predict(line[line.index("|") :]) for line in lines[1]]
    model.finish()
    return score(at.test[1], np.array(p))


def contestants() -> dict[str, list[Callable[[Split], Score]]]:
    """By name, the settings of which the one with the least loss on the mean counts."""
    found = {
        "adaline": [automatic],
        "SGD": [sgd],
        "SGD best": [partial(sgd, scaled=s, **given) for s in (True, False) for given in TUNED],
    }
    try:
        import vowpalwabbit  # noqa: F401
    except ImportError:
        missing("vowpalwabbit")
    else:
        found |= {"VW": [vowpal], "VW best": [partial(vowpal, rate=rate) for rate in VW_RATES]}
    try:
        import river as _  # noqa: F401
    except ImportError:
        missing("river")
    else:
        found["river"] = [river]
    return found


def measured(name: str, who: dict[str, Any], rows: int, seeds: int) -> dict[str, Score]:
    """Means over the seeds, of the best setting of each."""
    splits = [split_of(name, rows, seed) for seed in range(seeds)]
    found = {}
    for each, settings in who.items():
        means = [
            Score(*map(statistics.fmean, zip(*(setting(at) for at in splits), strict=True)))
            for setting in settings
        ]
        found[each] = min(means)
    return found


def behind(scores: dict[str, Score]) -> float:
    """Our loss over the least loss of the others."""
    return scores["adaline"].loss / min(s.loss for who, s in scores.items() if who != "adaline")


def shown(name: str, scores: dict[str, Score]) -> str:
    cells = "".join(f" {s.loss:7.4f} {s.accuracy:.3f}" for s in scores.values())
    return f"{name:<36}{cells} {behind(scores):6.2f}"


def tell(table: dict[str, dict[str, Score]], who: Iterable[str]) -> None:
    """The table, and on how many problems our loss is at most that of each other."""
    print(
        f"{'held-out log loss and accuracy':<36}" + "".join(f"{each:>14}" for each in who), end=""
    )
    print("  ours / least other")
    for name in sorted(table, key=lambda name: -behind(table[name])):
        print(shown(name, table[name]))
    for each in [each for each in who if each != "adaline"]:
        ratios = [scores["adaline"].loss / scores[each].loss for scores in table.values()]
        right = sum(
            scores["adaline"].accuracy >= scores[each].accuracy for scores in table.values()
        )
        print(
            f"    beside {each}: loss no larger on {sum(r <= 1.0 for r in ratios)} of "
            f"{len(ratios)} problems (median ratio {statistics.median(ratios):.2f}, worst "
            f"{max(ratios):.2f}), accuracy no lower on {right}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="2000 rows and one seed")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[], help="problems with these in their names")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows, seeds = (2000, 1) if options.quick else (10_000, options.seeds)
    who, table = contestants(), {}
    for name in PROBLEMS:
        if not options.only or any(part in name for part in options.only):
            try:
                with threads(1):
                    table[name] = measured(name, who, rows, seeds)
            except ImportError as error:
                missing(str(error.name))
    tell(table, who)
    return 0


if __name__ == "__main__":
    sys.exit(main())
