"""One loop for rows in memory and for passes over blocks: the same minimum, outcomes and proofs."""

from __future__ import annotations

import operator
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest

from adaline.losses.logistic import logistic_loss
from adaline.losses.poisson import poisson_loss
from adaline.objective import Evaluation
from adaline.procedures.newton.descent import line_search
from adaline.procedures.newton.few_passes import newton_in_passes
from adaline.procedures.newton.newton import newton
from adaline.procedures.newton.pass_sums import Sums

NONE = np.empty(0)


class Blocks:
    """Rows of an objective in blocks, which count how often all of them are summed."""

    def __init__(self, loss, rows=97):
        self.loss, self.rows, self.count = loss, rows, 0
        self.units = replace(loss, penalty=np.zeros_like(loss.penalty))

    def sums(self, theta):
        self.count += 1
        cuts = range(0, self.loss.n, self.rows)
        return reduce(operator.add, [self._part(slice(i, i + self.rows), theta) for i in cuts])

    def _part(self, some, theta):
        u = self.units
        parts = {"X": u.X[some], "target": u.target[some], "omega": u.omega[some]}
        return Sums.of(replace(u, **parts, offset=u.offset[some]), theta, u.top)

    def fit(self, max_iter=100, tol=1e-8):
        return newton_in_passes(
            self.loss, self.sums, [self.loss.loss.start(self.loss)], max_iter, tol
        )


def softmax_rows(rng, n, K, p=4, sharp=1.0):
    X = rng.standard_normal((n, p)) + 2.0
    V = sharp * X @ rng.standard_normal((p, K))
    return X, np.argmax(V - V.mean(axis=0) + rng.gumbel(size=(n, K)), axis=1)


def losses(rng, alpha, intercept):
    X, codes = softmax_rows(rng, 700, 2)
    omega = rng.random(700) + 0.5
    yield logistic_loss(X, codes, 2, omega, alpha, intercept)
    X, codes = softmax_rows(rng, 700, 4)
    yield logistic_loss(X, codes, 4, NONE, alpha, intercept)
    y, offset = rng.poisson(np.exp(0.3 * X[:, 0])).astype(float), rng.random(700)
    yield poisson_loss(X, y, NONE, offset, alpha, intercept)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_passes_and_rows_prove_the_same_minimum(rng, alpha, intercept):
    for loss in losses(rng, alpha, intercept):
        blocks = Blocks(loss)
        streamed, near = blocks.fit(), newton(loss, 100, 1e-12)
        assert streamed.outcome == near.outcome == "converged"
        assert streamed.certificate.kind == near.certificate.kind == "optimal"
        for fit in (streamed, near):  # without a penalty all classes may move together
            fit.W[:] -= fit.W.mean(axis=0) if len(fit.W) > 1 else 0.0
        own, other = streamed.certificate.evidence, near.certificate.evidence
        away = np.linalg.norm(streamed.W - near.W)
        assert away <= own["distance_bound"] + other["distance_bound"]
        assert own["passes"] == blocks.count == streamed.steps  # the last step needs no pass
        assert f"{blocks.count} passes over the rows" in streamed.stopped


def test_a_rare_class_does_not_loosen_the_proof_of_passes(rng):
    """A bound by the least probability of each row, that of the rare class, would prove little."""
    X, codes = softmax_rows(rng, 3000, 2)
    codes[rng.choice(3000, 6, replace=False)] = 2
    loss = logistic_loss(X, codes, 3, NONE, 0.1, True)
    streamed, near = Blocks(loss).fit(), newton(loss, 100, 1e-12)
    bound = streamed.certificate.evidence["distance_bound"]
    away = np.linalg.norm(streamed.W - near.W)
    assert away <= bound + near.certificate.evidence["distance_bound"]
    assert streamed.certificate.kind == "optimal"
    assert bound <= 1e-5


def test_outcomes_have_the_same_names_and_sentences(rng):
    X, codes = softmax_rows(rng, 400, 2)
    ties = np.repeat([0.0, 1.0, 2.0, 3.0, 4.0], 2)[:, None]
    cases = {
        "separated": (logistic_loss(X, (X[:, 0] > 2).astype(int), 2, NONE, 0.0, True), 100),
        "quasi": (logistic_loss(ties, np.array([0] * 5 + [1] * 5), 2, NONE, 0.0, True), 100),
        "max_iter": (logistic_loss(X, codes, 2, NONE, 0.0, True), 1),
    }
    for outcome, (loss, max_iter) in cases.items():
        streamed, near = Blocks(loss).fit(max_iter), newton(loss, max_iter)
        assert streamed.outcome == near.outcome == outcome
        why = near.stopped.partition(" (")[0]
        assert streamed.stopped.startswith(why)
        assert streamed.certificate.kind == near.certificate.kind == "unproven"


def test_dependent_columns_are_one_choice_among_many_in_passes_too(rng):
    X, codes = softmax_rows(rng, 500, 3)
    loss = logistic_loss(np.column_stack([X, X[:, 0]]), codes, 3, NONE, 0.0, True)
    streamed, near = Blocks(loss).fit(), newton(loss)
    assert streamed.rank == near.rank < streamed.theta.size
    assert streamed.certificate.statement == near.certificate.statement
    assert "columns depend on others" in streamed.certificate.statement


def test_a_start_whose_sums_leave_float64_is_left_out():
    theta = np.zeros((1, 2))
    loss = poisson_loss(np.eye(3)[:, :1], np.ones(3), np.full(3, 1e6), NONE, 1.0, True)
    with pytest.raises(OverflowError, match="leave the range of float64"):
        newton_in_passes(loss, Blocks(loss).sums, [theta + 1e4], 10, 1e-8)
    fit = newton_in_passes(loss, Blocks(loss).sums, [theta + 1e4, theta], 10, 1e-8)
    assert fit.outcome == "converged"


@pytest.mark.parametrize(("fails", "size"), [(0, 1.0), (3, 0.125), (99, None)])
def test_the_line_search_halves_until_f_falls(fails, size):
    def at(theta):
        tried.append(float(theta[0, 0]))
        f = 2.0 if len(tried) <= fails else 0.5
        return Evaluation(f, np.zeros((1, 1)), -np.inf, 0.0, 1.0)

    tried = []
    here = Evaluation(1.0, np.ones((1, 1)), -np.inf, 0.0, 1.0)
    found = line_search(at, np.zeros((1, 1)), -np.ones((1, 1)), here, 1.0, tries=10)
    assert (found and found[0]) == size
    assert len(tried) == min(fails + 1, 10)
    assert tried == [-(0.5**k) for k in range(len(tried))]
