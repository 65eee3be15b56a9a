"""Newton's procedure against the minimum in long doubles, and proofs that hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from adaline.losses.logistic import logistic_loss
from adaline.procedures.firth.firth import firth
from adaline.procedures.newton import _newton_state as state_module
from adaline.procedures.newton import curvature
from adaline.procedures.newton import newton as module
from adaline.procedures.newton.newton import newton
from reference_logistic import firth_score, minimum


def sample(rng, n=200, p=3, K=2, noise=1.0):
    X = rng.standard_normal((n, p)) * rng.uniform(0.1, 10, p) + rng.uniform(-5, 5, p)
    V = (X - X.mean(axis=0)) / X.std(axis=0) @ rng.normal(size=(p, K))
    return X, np.argmax(V + noise * rng.gumbel(size=(n, K)), axis=1)


@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("alpha", [0.0, 1e-3, 1.0, 100.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_minimum_is_within_the_proven_distance(rng, K, alpha, intercept):
    X, codes = sample(rng, K=K)
    omega = rng.uniform(0.5, 2, len(X))
    fit = newton(logistic_loss(X, codes, K, omega, alpha, intercept))
    W, b = minimum(X, codes, K, alpha, omega, intercept)
    b = b - b.mean() if K > 2 else b
    W = W - W.mean(axis=0) if K > 2 else W
    found, bias = fit.W, fit.b
    if K > 2:
        found, bias = found - found.mean(axis=0), bias - bias.mean()
    evidence = fit.certificate.evidence
    assert fit.certificate.kind == "optimal"
    assert fit.outcome == "converged"
    assert np.all(np.abs(W - found) <= evidence["coef_bound"] + 1e-14)
    assert np.all(np.abs(b - bias) <= evidence["intercept_bound"] + 1e-14)
    assert float(np.linalg.norm((W - found).astype(float))) <= evidence["distance_bound"]
    assert evidence["distance_bound"] < 1e-4 * (1 + np.abs(W).max())


def test_a_poor_point_is_within_its_bound_or_nothing_is_claimed(rng):
    X, codes = sample(rng)
    W, _ = minimum(X, codes, 2, 1.0)
    claimed = 0
    for steps in range(1, 8):
        fit = newton(logistic_loss(X, codes, 2, np.empty(0), 1.0, True), max_iter=steps)
        if fit.certificate.kind == "optimal":
            claimed += 1
            away = float(np.linalg.norm((W - fit.W).astype(float)))
            assert away <= fit.certificate.evidence["distance_bound"]
        else:
            assert "too large" in fit.certificate.statement
    assert claimed >= 2


def test_a_start_from_a_sample_and_thinned_curvature_end_at_the_same_minimum(rng, monkeypatch):
    X, codes = sample(rng, n=30_000, p=5)
    loss = logistic_loss(X, codes, 2, np.empty(0), 1.0, True)
    with monkeypatch.context() as without:  # Newton's own steps, no sample telling anything
        without.setattr("adaline.procedures.newton._newton_state.sample_step", lambda loss: 0)
        plain = newton(loss, start=np.zeros((1, 6)))
    carried = newton(loss, start=np.zeros((1, 6)))
    monkeypatch.setattr(module, "_SAMPLE", 512)
    monkeypatch.setattr("adaline.procedures.newton._stride.WORK", 0.0)
    quick = newton(loss)
    for fit in (carried, quick):
        np.testing.assert_allclose(fit.W, plain.W, atol=1e-8)
        assert fit.certificate.kind == "optimal"
    assert quick.steps < plain.steps


def test_many_classes_and_features_use_blocks_and_agree(rng, monkeypatch):
    X, codes = sample(rng, n=2000, p=10, K=5)
    loss = logistic_loss(X, codes, 5, np.empty(0), 1.0, True)
    exact = newton(loss)
    monkeypatch.setattr("adaline.procedures.newton.curvature.EXACT", 0)
    blocks = newton(loss)
    np.testing.assert_allclose(blocks.W, exact.W, atol=1e-6)
    assert blocks.certificate.kind == exact.certificate.kind == "optimal"


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_no_matrix_is_needed_for_very_many_features(rng, monkeypatch, K, intercept):
    X, codes = sample(rng, n=100, p=20, K=K)
    loss = logistic_loss(X, codes, K, np.empty(0), 5.0, intercept)
    exact = newton(loss)
    monkeypatch.setattr("adaline.objective.MANY", 2)
    thin = newton(loss, max_iter=300, start=loss.loss.start(loss))
    assert thin.certificate.kind == "optimal"
    bound = thin.certificate.evidence["distance_bound"]
    assert np.linalg.norm(thin.W - exact.W) <= bound + 1e-9
    assert bound < 1e-3


@pytest.mark.parametrize("K", [2, 3])
def test_wide_sparse_rows_are_learned_without_unpacking(rng, K):
    X = sparse.random(200, 400, 0.05, format="csr", random_state=1)
    codes = np.arange(200) % K
    fits = [
        newton(logistic_loss(form, codes, K, np.empty(0), 0.1, True), max_iter=300)
        for form in (X, X.toarray())
    ]
    np.testing.assert_allclose(fits[0].W, fits[1].W, atol=2e-6)


def test_units_and_offsets_of_columns_do_not_matter(rng):
    X, codes = sample(rng, n=1000, p=4)
    units, offset = np.array([1e6, 1e-3, 1.0, 1e8]), np.array([0.0, 10.0, 1e8, 0.0])
    plain = newton(logistic_loss(X, codes, 2, np.empty(0), 0.0, True))
    other = newton(logistic_loss(X * units + offset, codes, 2, np.empty(0), 0.0, True))
    # The offset of 1e8 leaves about nine digits of the third column.
    np.testing.assert_allclose(other.W * units, plain.W, rtol=1e-6)
    assert other.certificate.kind == "optimal"


def test_separable_and_quasi_separable_rows_are_told_apart_from_a_minimum():
    X = np.arange(6.0)[:, None]
    none = np.empty(0)
    outcomes = {
        name: newton(logistic_loss(X, np.array(codes), 2, none, 0.0, True)).outcome
        for name, codes in {
            "separable": [0, 0, 0, 1, 1, 1],
            "overlap": [0, 0, 1, 0, 1, 1],
        }.items()
    }
    ties = np.array([0.0, 1.0, 2.0, 2.0, 3.0, 4.0])[:, None]
    quasi = newton(logistic_loss(ties, np.array([0, 0, 0, 1, 1, 1]), 2, none, 0.0, True))
    assert outcomes == {"separable": "separated", "overlap": "converged"}
    assert quasi.outcome == "quasi"
    assert quasi.certificate.kind != "optimal"


@pytest.mark.parametrize("K", [2, 3])
def test_a_proof_is_made_once(rng, monkeypatch, K):
    X, codes = sample(rng, K=K)
    radius, made = state_module.radius, []

    def counted(*args):
        made.append(radius(*args))
        return made[-1]

    monkeypatch.setattr(state_module, "radius", counted)
    fit = newton(logistic_loss(X, codes, K, np.empty(0), 1.0, True))
    assert fit.certificate.kind == "optimal"
    names = "newton_decrement", "self_concordance"
    assert [tuple(fit.certificate.evidence[name] for name in names)] == [nu[:2] for nu in made]


def test_ctrl_c_leaves_the_last_complete_step(rng, monkeypatch):
    X, codes = sample(rng)
    step, made = module.NewtonState.step, []

    def interrupted(self):
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(1)
        return step(self)

    monkeypatch.setattr(module.NewtonState, "step", interrupted)
    fit = newton(logistic_loss(X, codes, 2, np.empty(0), 1.0, True))
    assert fit.outcome == "interrupted"
    assert fit.steps == 2
    assert np.isfinite(fit.W).all()


@pytest.mark.parametrize("cells", [(7, 0, 3, 9), (5, 2, 1, 8), (10, 10, 1, 1), (4, 0, 0, 6)])
def test_firth_adds_a_half_to_every_cell_of_a_table(cells):
    a, b, c, d = cells
    X = np.repeat([1.0, 1.0, 0.0, 0.0], cells)[:, None]
    codes = np.repeat([1, 0, 1, 0], cells)
    fit = firth(logistic_loss(X, codes, 2, np.empty(0), 0.0, True))
    odds = (a + 0.5) * (d + 0.5) / ((b + 0.5) * (c + 0.5))
    assert fit.W[0, 0] == pytest.approx(np.log(odds), abs=1e-6)
    assert fit.b[0] == pytest.approx(np.log((c + 0.5) / (d + 0.5)), abs=1e-6)


def test_firth_s_score_vanishes_in_dense_algebra_too(rng):
    X, codes = sample(rng, n=60)
    fit = firth(logistic_loss(X, codes, 2, np.empty(0), 0.0, True))
    score = firth_score(X, codes, fit.W[0], fit.b[0])
    assert np.abs(score).max() < 1e-5


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_more_features_than_rows_are_learned_from_the_rows_side(
    rng, monkeypatch, K, intercept, form
):
    X, codes = sample(rng, n=50, p=300, K=K)
    X[rng.random(X.shape) < 0.7] = 0.0
    loss = logistic_loss(form(X), codes, K, np.empty(0), 5.0, intercept)
    exact = newton(loss)
    monkeypatch.setattr("adaline.objective.MANY", 100)
    wide = newton(loss)
    np.testing.assert_allclose(wide.W, exact.W, atol=1e-6)
    assert wide.steps <= 5
    assert wide.certificate.kind == "optimal"


@pytest.mark.parametrize("K", [2, 5])
@pytest.mark.parametrize("kind", ["gaussian", "heavy", "dummies"])
def test_large_fits_are_proven_and_the_same_for_one_thread_and_two(rng, monkeypatch, K, kind):
    monkeypatch.setattr("adaline.procedures.newton._stride.WORK", 0.0)
    monkeypatch.setattr("adaline.procedures.newton.curvature.EXACT", 0)
    X = rng.standard_normal((12_000, 70))
    if kind == "heavy":
        X = rng.standard_t(2.5, X.shape) * np.exp(rng.standard_normal(70))
    elif kind == "dummies":
        X = (np.linspace(0.0, 2.8, 70) < X).astype(float)  # the last are there in one of 400 rows
    V = X @ rng.normal(size=(70, K)) / np.sqrt(70)
    codes = np.argmax(V + rng.gumbel(size=V.shape), axis=1)
    loss = logistic_loss(X, codes, K, np.empty(0), 1.0, True)
    fits = []
    for count in (1, 2):
        with threadpool_limits(limits=count):
            fits.append(newton(loss, start=np.zeros((loss.K, 71))))
    np.testing.assert_array_equal(fits[0].W, fits[1].W)
    assert fits[0].outcome == "converged"
    assert fits[0].certificate.kind == "optimal"
    monkeypatch.undo()
    exact = newton(loss)
    bounds = (fit.certificate.evidence["distance_bound"] for fit in (exact, fits[0]))
    away = exact.W - fits[0].W
    away -= away.mean(axis=0) if K > 2 else 0.0
    assert np.linalg.norm(away) <= sum(bounds)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("few", [0, 2**15])
def test_the_hessian_of_all_classes_is_the_sum_over_rows(
    rng, monkeypatch, intercept, weighted, few
):
    monkeypatch.setattr("adaline.kernels.sums.sums.FEW_PRODUCTS", few)
    X, codes = sample(rng, n=300, K=3)
    omega = rng.uniform(0.5, 2, len(X)) if weighted else np.empty(0)
    loss = logistic_loss(X, codes, 3, omega, 0.5, intercept)
    P = loss.room()
    loss.at(rng.normal(size=(3, 4)), P)
    Z = np.column_stack([X * loss.scale - loss.shift, np.full(len(X), float(intercept))])
    H = np.zeros((12, 12))
    for p, z, o in zip(P, Z, omega if weighted else np.ones(len(X)), strict=True):
        H += o * np.kron(np.diag(p) - np.outer(p, p), np.outer(z, z))
    H += np.diag(np.tile(loss.penalty, 3))
    if not intercept:
        H += np.diag(np.tile([0.0, 0.0, 0.0, 1.0], 3))
    c = H.reshape(3, 4, 3, 4).trace(axis1=0, axis2=2).diagonal() / 9
    H += np.kron(np.ones((3, 3)), np.diag(c))
    np.testing.assert_allclose(curvature.full_hessian(loss, P), H, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("K", [3, 5])
@pytest.mark.parametrize("alpha", [1e-6, 1.0])
@pytest.mark.parametrize("noise", [1.0, 0.01])
def test_one_block_for_all_classes_leads_to_the_same_minimum(rng, monkeypatch, K, alpha, noise):
    X, codes = sample(rng, K=K, noise=noise)
    codes[:K] = range(K)  # without rows of a class its bias has no minimum
    loss = logistic_loss(X, codes, K, np.empty(0), alpha, True)
    whole = newton(loss, 1000)
    monkeypatch.setattr(curvature, "_DEAR", 0)
    blocks = newton(loss, 1000)
    assert whole.certificate.kind == blocks.certificate.kind == "optimal"
    away = np.linalg.norm(whole.W - blocks.W)
    bounds = (fit.certificate.evidence["distance_bound"] for fit in (whole, blocks))
    assert away <= sum(bounds)


def test_columns_that_depend_on_others_are_told_of_with_one_block_too(rng, monkeypatch):
    monkeypatch.setattr(curvature, "_DEAR", 0)
    X, codes = sample(rng, K=3)
    X = np.column_stack([X, X[:, 0]])
    fit = newton(logistic_loss(X, codes, 3, np.empty(0), 1e-300, True))
    assert fit.rank < fit.theta.size
