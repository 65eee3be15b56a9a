"""A process that fits in children, so that a test can kill them at any moment.

Reads a job a line from its input, forks, tells the child's number, waits, and tells how it ended.
Forking from a process that has everything loaded takes milliseconds instead of seconds.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback

import numpy as np
from sklearn.base import clone

from adaline import (
    GaussianClassifier,
    LogisticRegression,
    Perceptron,
    PoissonRegression,
    Ridge,
    WidrowHoff,
)
from adaline.data import blocks, fit

LEARNERS = {
    "ridge": (Ridge(alpha=2.0), "x4", {}),
    "gaussian": (GaussianClassifier(), "x5", {}),
    "logistic": (LogisticRegression(), "x5", {}),
    "poisson": (PoissonRegression(), "x5", {}),
    "widrow-hoff": (WidrowHoff(shuffle=True), "x4", {"passes": 2, "seed": 3}),
    "on-line logistic": (LogisticRegression(), "x5", {"passes": 2, "online": True}),
    "perceptron": (Perceptron(), "x5", {"passes": 2}),
}
INPUTS = ["x0", "x1", "x2", "x3"]


def learn(job: dict) -> None:
    """Fit, slowly enough to be killed, and leave the numbers in a file."""
    learner, target, options = LEARNERS[job["learner"]]

    def pause(done: int, total: int | None) -> None:
        time.sleep(job["pause"])

    model = fit(
        learner,
        blocks(job["path"], rows=job["rows"]),
        target,
        columns=INPUTS,
        checkpoint=job["checkpoint"],
        every=0.0,
        progress=pause,
        **options,
    )
    numbers = [np.ravel(model.coef_), np.ravel(model.intercept_)]
    with open(job["out"] + ".tmp", "wb") as file:
        np.save(file, np.concatenate(numbers))
    os.replace(job["out"] + ".tmp", job["out"])


def warm() -> None:
    """Load every kernel now, so that kills hit the learning and not the loading."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.standard_normal((200, 5)), rng.integers(0, 2, 200)])
    for learner, target, options in LEARNERS.values():
        fit(clone(learner), rows, target, columns=INPUTS, **options)


def serve() -> None:
    warm()
    print("ready", flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        pid = os.fork()
        if pid == 0:
            try:
                learn(job)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        print(pid, flush=True)
        print(os.waitpid(pid, 0)[1], flush=True)


if __name__ == "__main__":
    serve()
