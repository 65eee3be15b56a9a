"""A certified duality gap is no smaller than the true one, whatever the data: checked in decimals.

`python tests/laws/test_duality_gaps_never_lie.py 600` searches for as many seconds, from a new
seed each time.
"""

from __future__ import annotations

import sys
import time
from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from adaline.procedures.sparse_logistic import dual
from adaline.procedures.sparse_logistic._dual_proof import DualRows, proven

sys.path.insert(0, str(Path(__file__).parents[1]))
from reference_dual import exact_logistic, exact_logistic_minimum

DIGITS = 80


def problem(rng):
    """A few rows with bad units, offsets, near-dependence, empty rows, weights and penalties."""
    p = int(rng.integers(1, 4))
    n = int(rng.integers(3, 10))
    X = rng.standard_normal((n, p)) * 10.0 ** rng.integers(-4, 5, p)
    X += rng.choice([0.0, 1.0, 1e3], p) * rng.integers(0, 2)
    X *= rng.random((n, p)) < rng.choice([0.5, 1.0])
    if rng.integers(3) == 0 and p > 1:
        X[:, -1] = X[:, 0] * (1.0 + 10.0 ** -rng.integers(1, 13) * rng.standard_normal(n))
    if rng.integers(3) == 0:
        X = X.astype(np.float32).astype(np.float64)
    t = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    t[:2] = 1.0, -1.0
    omega = rng.choice([1.0, 2.0, 0.3, 1e-3, 50.0, 0.0], n) if rng.integers(2) else np.ones(n)
    omega[:2] = 1.0
    return X, t, omega, float(10.0 ** rng.integers(-4, 3)), bool(rng.integers(2))


def truth(X, t, omega, alpha, intercept, w, b):
    """P(w, b) - P*, |w - w*| and P(w, b), to many digits."""
    with localcontext() as context:
        context.prec = DIGITS
        best, _, least = exact_logistic_minimum(X, t, omega, alpha, intercept)
        at = [Decimal(float(c)) for c in w]
        value = exact_logistic(X, t, omega, alpha, at, Decimal(float(b)))
        far = sum(((a - c) ** 2 for a, c in zip(at, best, strict=True)), Decimal(0)).sqrt()
        return value - least, far, value


def claim_holds(rng):
    """One random descent, stopped early or late; whether its gap and distance are bounds."""
    X, t, omega, alpha, intercept = problem(rng)
    gap, passes = 10.0 ** -rng.integers(1, 16), int(rng.choice([1, 3, 10, 40, 500]))
    before = dual._TRIAL
    dual._TRIAL = int(rng.choice([6, before]))  # Newton's steps take over early, too
    try:
        fit = dual.dual_logistic(sparse.csr_array(X), t, omega, alpha, intercept, gap, passes)
    finally:
        dual._TRIAL = before
    true, far, value = truth(X, t, omega, alpha, intercept, fit.W[0], fit.b[0])
    bound, distance = Decimal(fit.gap) * Decimal(fit.value), fit.certificate.evidence["distance"]
    near = abs(value - Decimal(fit.value)) <= bound
    return true <= bound and far <= Decimal(distance) and near, fit


def any_pair_holds(rng):
    """A primal and a dual point that have nothing to do with each other."""
    X, t, omega, alpha, intercept = problem(rng)
    w = rng.standard_normal(X.shape[1]) * 10.0 ** rng.integers(-3, 3)
    b, u = float(intercept * rng.standard_normal()), 10.0 * rng.standard_normal(len(t))
    rows = DualRows(sparse.csr_array(X), t, omega, alpha, intercept)
    proof = proven(rows, u, w, b)
    true, _, _ = truth(X, t, omega, alpha, intercept, w, b)
    return true <= Decimal(proof.gap) * Decimal(proof.value)


@pytest.mark.parametrize("seed", range(10))
def test_certified_gaps_are_at_least_the_true_ones(seed):
    rng = np.random.default_rng(seed)
    claims = [claim_holds(rng) for _ in range(12)]
    assert all(held for held, _ in claims)
    assert sum(np.isfinite(fit.gap) for _, fit in claims) > 8


def test_any_primal_and_any_dual_point_are_apart_by_no_more_than_their_gap():
    rng = np.random.default_rng(7)
    assert all(any_pair_holds(rng) for _ in range(40))


def test_what_rounding_may_have_done_is_small(rng):
    """Else the bounds would be true but useless: 1e-8 is wanted by default."""
    X = sparse.random(300, 40, 0.2, format="csr", random_state=1)
    t = np.where(rng.random(300) < 0.5, 1.0, -1.0)
    fit = dual.dual_logistic(X, t, np.empty(0), 1.0, True, gap=1e-13)
    assert fit.certificate.kind == "optimal"


if __name__ == "__main__":
    seed, end = int(time.time()), time.monotonic() + float(sys.argv[1])
    held = lied = finite = tight = 0
    while time.monotonic() < end:
        seed += 1
        rng = np.random.default_rng(seed)
        ok, fit = claim_holds(rng)
        pair = any_pair_holds(rng)
        held, lied = held + (ok and pair), lied + (not (ok and pair))
        finite += bool(np.isfinite(fit.gap))
        tight += fit.gap < 1e-10
        if not (ok and pair):
            print(f"seed {seed}: the gap is smaller than the true one ({ok}, {pair})")
    print(f"{held} bounds held, {lied} did not; {finite} were finite, {tight} below 1e-10")
    sys.exit(lied > 0)
