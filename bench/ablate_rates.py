"""What the constants of automatic rates are worth: each halved, and doubled, on fresh problems.

    python bench/ablate_rates.py [--rows 10000] [--seeds 3]

Held-out log loss of one on-line logistic pass over the problems of `rate_problems.py`, divided by
that with the constants as they are: how many problems become better and worse, the geometric mean,
the best and the worst of the ratios. Constants nobody has to tune show ratios near one.
"""

from __future__ import annotations

import argparse
import json
import statistics
import warnings

from _ablation import constant, run_apart, set_constants
from bench_rates import automatic, split_of
from rate_problems import PROBLEMS

CONSTANTS = ("SEARCH", "SETTLED", "ALONE", "FIRST_VALUES", "EVERY_ROW", "NEAR", "UNCERTAIN")


def losses(rows: int, seeds: int) -> dict[str, float]:
    """Mean over the seeds, for each problem."""
    return {
        name: statistics.fmean(automatic(split_of(name, rows, seed)).loss for seed in range(seeds))
        for name in PROBLEMS
    }


def tell(name: str, found: dict[str, float], usual: dict[str, float]) -> None:
    ratios = {problem: found[problem] / usual[problem] for problem in usual}
    better = sum(ratio < 0.9995 for ratio in ratios.values())
    worse = sum(ratio > 1.0005 for ratio in ratios.values())
    best, worst = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
    mean = statistics.geometric_mean(ratios.values())
    print(
        f"{name:<14} better {better:2}, worse {worse:2}, mean {mean:.4f}, "
        f"best {ratios[best]:.3f} ({best}), worst {ratios[worst]:.3f} ({worst})",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--set", nargs="*", default=[], help="NAME=VALUE, from the first process")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    set_constants(options.set)
    usual = losses(options.rows, options.seeds)
    if options.set:
        print(json.dumps(usual))
        return
    given = [f"--rows={options.rows}", f"--seeds={options.seeds}"]
    for name in CONSTANTS:
        for factor in (0.5, 2.0):
            value = factor * constant(name)
            found = json.loads(run_apart(given, [f"{name}={value}"]))
            tell(f"{name} = {value:g}", found, usual)


if __name__ == "__main__":
    main()
