"""Ridge that finds its penalty, against scikit-learn's RidgeCV with 100 penalties.

    python bench/bench_ridge.py [--quick]

One run, one thread, medians: 3 of the peer, half a minute each, and 5 of ours. --quick takes a
tenth of the rows.
"""

from __future__ import annotations

import statistics
import sys

import numpy as np
from _bench import compare, head, median_seconds, note, peak_megabytes, row, seconds, threads
from sklearn.linear_model import Ridge as PeerRidge
from sklearn.linear_model import RidgeCV

from adaline import Ridge

TARGETS = {"gcv": 100.0, "loo": 20.0}


def data(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Correlated columns and much noise, so that a penalty is worth having."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    X[:, 1:] += 0.9 * X[:, :-1]
    return X, X @ rng.standard_normal(p) * 0.05 + 10 * rng.standard_normal(n)


def choosing(n: int, p: int) -> bool:
    """Time, memory and the penalty chosen, rule by rule."""
    X, y = data(n, p)
    alphas = np.logspace(-3, 8, 100)
    peers: list[RidgeCV] = []
    # Warm in a small size: the peer has nothing to compile, and takes half a minute a call.
    RidgeCV(alphas).fit(X[:1000], y[:1000])
    times = [seconds(lambda: peers.append(RidgeCV(alphas).fit(X, y))) for _ in range(3)]
    peer_s = statistics.median(times)
    good = True
    for rule, target in TARGETS.items():
        ours_s = median_seconds(lambda rule=rule: Ridge(rule).fit(X, y))
        good &= row(f'Ridge("{rule}") {n}x{p}', "RidgeCV, 100 alphas", ours_s, peer_s, target)
        memory = peak_megabytes(lambda rule=rule: Ridge(rule).fit(X, y))
        alpha = Ridge(rule).fit(X, y).alpha_
        steps = abs(np.log(alpha / peers[0].alpha_)) / np.log(alphas[1] / alphas[0])
        near, small = steps <= 1, not memory >= 64
        good &= near and small
        note(
            f"alpha {alpha:.4g}, RidgeCV {peers[0].alpha_:.4g}: {steps:.2f} steps of its grid "
            f"apart, {'ok' if near else 'MISSED'}; {memory:.1f} MB beyond X, "
            f"{'ok' if small else 'MISSED'}"
        )
    return good


def fixed(n: int, p: int) -> None:
    """One penalty given, with proven digits; no target was set."""
    X, y = data(n, p)
    ours, peer = (lambda m=m: m.fit(X, y) for m in (Ridge(1.0), PeerRidge(1.0)))
    compare(f"Ridge(1.0) {n}x{p}", ours, peer, 0.0, 3, "Ridge")


def main() -> int:
    """All of it; 1 where a target was missed."""
    tenth = 10 if "--quick" in sys.argv else 1
    with threads(1):
        head()
        good = choosing(200_000 // tenth, 100)
        fixed(200_000 // tenth, 100)
        fixed(1000 // tenth, 10_000)
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
