"""Kill workers of a cluster at chosen moments, many times, and compare the bits.

    python campaigns/kill_campaign.py [KILLS] [SEED]

Every job prints what was done to its workers, how many died, and how it ended. A job that takes
longer than five minutes prints where all threads are, and ends the campaign: that is a hang.
"""

from __future__ import annotations

import faulthandler
import itertools
import operator
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from adaline import GaussianClassifier, LeastSquares, LogisticRegression
from adaline.data import blocks, fit
from adaline.distributed.clusters import Workers
from adaline.sums.mapreduce import mapreduce
from slow_blocks import bits, plain_moments, slow_moments, slow_sum
from worker_crew import Crew, crew

BLOCKS, INPUTS = 100, ["a", "b", "c"]
LEARNERS = [(LeastSquares(), "y"), (GaussianClassifier(), "k"), (LogisticRegression(), "k")]
HANG = 300.0  # seconds of one job


class Campaign:
    """Jobs on a cluster, each with an answer that is known, while workers are killed."""

    def __init__(self, client, workers: Crew, source, dice: random.Random) -> None:
        self.client, self.crew, self.source, self.dice = client, workers, source, dice
        self.sums = bits(mapreduce(plain_moments, range(BLOCKS), operator.add))
        self.fits = [weights(fit(m, source, t, columns=INPUTS)) for m, t in LEARNERS]
        self.kinds: dict[str, Callable[[], bool]] = {
            "during map": self.during_map,
            "during merge": self.during_merge,
            "between passes": self.between_passes,
            "twice in a row": self.twice_in_a_row,
            "the only worker": self.the_only_worker,
            "everybody": self.everybody,
            "one paused, one killed": self.paused,
            "a fit at random moments": self.a_fit,
        }

    def during_map(self) -> bool:
        """Blocks take long, and merges do not."""
        pauses = iter(lambda: self.dice.uniform(0.1, 1.0), None)
        with self._killing(pauses):
            return self._summed(slow_moments, operator.add)

    def during_merge(self) -> bool:
        """Merges take long, and blocks do not."""
        pauses = iter(lambda: self.dice.uniform(0.1, 1.0), None)
        with self._killing(pauses):
            return self._summed(plain_moments, slow_sum)

    def between_passes(self) -> bool:
        """A worker dies each time that a pass has ended, before the next begins."""
        at = self.dice.randrange(len(LEARNERS))
        learner, target = LEARNERS[at]

        def killer(done: int, whole: int) -> None:
            if done == whole:
                self.crew.kill(self.dice)

        given = {"columns": INPUTS, "client": self.client, "progress": killer}
        return weights(fit(learner, self.source, target, **given)) == self.fits[at]

    def twice_in_a_row(self) -> bool:
        """A worker, and at once another: mostly both of them."""
        with self._killing(itertools.cycle([0.6, 0.01])):
            return self._summed(slow_moments, operator.add)

    def the_only_worker(self) -> bool:
        """There is one, which dies, and another comes."""
        self.crew.kill_all(leaving=1)
        pauses = iter(lambda: self.dice.uniform(0.3, 1.5), None)
        with self._killing(pauses):
            return self._summed(slow_moments, operator.add)

    def everybody(self) -> bool:
        """Nobody is there for two seconds."""

        def all_at_once() -> None:
            self.crew.kill_all()
            time.sleep(2.0)
            self.crew.size = 2

        timer = threading.Timer(0.5, all_at_once)
        timer.start()
        try:
            return self._summed(slow_moments, operator.add)
        finally:
            timer.join()

    def paused(self) -> bool:
        """One is stopped and looks alive; the other dies; the first wakes up at the end."""
        stopped = self.crew.pids()[0]
        os.kill(stopped, signal.SIGSTOP)
        try:
            with self._killing(iter([0.5]), but=stopped):
                return self._summed(slow_moments, operator.add)
        finally:
            os.kill(stopped, signal.SIGCONT)

    def a_fit(self) -> bool:
        """Files, passes and merges, and kills at any time."""
        at = self.dice.randrange(len(LEARNERS))
        learner, target = LEARNERS[at]
        pauses = iter(lambda: self.dice.expovariate(2.0), None)
        with self._killing(pauses):
            found = fit(learner, self.source, target, columns=INPUTS, client=self.client)
            return weights(found) == self.fits[at]

    def _summed(self, function, merge) -> bool:
        who = Workers(self.client)
        return bits(mapreduce(function, range(BLOCKS), merge, who)) == self.sums

    def _killing(self, pauses, but: int | None = None) -> Killing:
        return Killing(self.crew, pauses, self.dice, but)


class Killing:
    """A thread that kills a worker after each pause, at most six, while the `with` block runs."""

    def __init__(self, workers: Crew, pauses, dice: random.Random, but: int | None = None) -> None:
        self.crew, self.pauses, self.dice, self.but = workers, pauses, dice, but
        self.over, self.hits = threading.Event(), 0
        self.thread = threading.Thread(target=self._kill)

    def _kill(self) -> None:
        for pause in itertools.islice(self.pauses, 6):
            if self.over.wait(pause):
                return
            while not self.crew.kill(self.dice, but=self.but):
                if self.over.wait(0.02):
                    return
            self.hits += 1

    def __enter__(self) -> Killing:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()


def weights(model) -> bytes:
    """All bits of coefficients and intercepts."""
    return np.ravel(model.coef_).tobytes() + np.ravel(model.intercept_).tobytes()


def write_files(place: Path) -> None:
    """Three Parquet files with a number y and a class k."""
    import polars as pl

    for number in range(3):
        rng = np.random.default_rng(number)
        X = rng.standard_normal((800, 3)) + np.array([0.0, 5.0, 100.0])
        y = (X - X.mean(axis=0)) @ [1.0, -2.0, 0.5] + rng.standard_normal(len(X))
        names = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y, "k": np.digitize(y, [-1.0, 1.0])}
        pl.DataFrame(names).write_parquet(place / f"{number}.parquet", row_group_size=100)


def main(kills: int, seed: int) -> None:
    """Jobs of every kind in turn until so many workers are dead."""
    wrong, slowest, of_kind = 0, 0.0, Counter()
    print(f"seed {seed}")
    with tempfile.TemporaryDirectory() as place, crew(2) as (client, workers):
        write_files(Path(place))
        campaign = Campaign(client, workers, blocks(place, rows=50), random.Random(seed))
        for job, (kind, work) in enumerate(itertools.cycle(campaign.kinds.items())):
            if workers.killed >= kills:
                break
            workers.size = 2
            before, began = workers.killed, time.monotonic()
            faulthandler.dump_traceback_later(HANG, exit=True)
            same = work()
            faulthandler.cancel_dump_traceback_later()
            seconds, died = time.monotonic() - began, workers.killed - before
            wrong, slowest = wrong + (not same), max(slowest, seconds)
            of_kind[kind] += died
            words = "the same bits" if same else "OTHER BITS"
            print(
                f"job {job}, {kind}: {died} killed, {words}, {seconds:.1f} s; {workers.killed} of "
                f"{kills} in all",
                flush=True,
            )
        print(
            f"{workers.killed} workers killed in {job} jobs; {wrong} with other bits; slowest job"
        )
        print(f"{slowest:.1f} s. " + "; ".join(f"{kind} {n}" for kind, n in of_kind.items()))
    sys.exit(wrong > 0)


if __name__ == "__main__":
    given = [int(one) for one in sys.argv[1:]]
    main(given[0] if given else 200, given[1] if len(given) > 1 else int(time.time()))
