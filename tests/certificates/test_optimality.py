"""How far the minimum of a loss can be: the numbers of the certificate by hand."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.certificates.optimality import CurvatureBound, JointBound, optimality, radius
from adaline.linalg import UNIT

LEAST = np.finfo(np.float64).smallest_subnormal


@pytest.mark.parametrize(("K", "times"), [(1, 1.0), (2, np.sqrt(2.0)), (5, np.sqrt(2.0))])
def test_differences_of_two_classes_move_faster_than_one_value(K, times):
    bound = CurvatureBound(np.diag([1.0, 2.0]), 4.0)
    top = np.array([3.0, 2.0])
    assert bound.farthest(top) == pytest.approx(2.0 * 5.0)
    assert bound.fastest(top, K) == pytest.approx(times * 10.0)
    assert bound.doubt(np.array([0.1, 0.2]), K) == pytest.approx(np.sqrt(K) * 2 * (0.1 + 0.4))


def test_without_a_bias_and_a_matrix_the_bias_adds_nothing():
    bound = CurvatureBound(np.empty((0, 0)), 4.0, np.array([0.25, 1.0]), np.zeros(2), 0.0, 9.0)
    assert bound.farthest(np.ones(3)) == pytest.approx(2.0 * 3.0)
    assert bound.deviations() == pytest.approx(2.0 * np.array([2.0, 1.0, 0.0]))
    assert bound.lengths(np.array([[1.0, 0.0, 7.0]])) == pytest.approx([2.0 * 2.0])
    assert bound.reach(np.array([1.0, 3.0])) == pytest.approx(2.0 * 3.0)
    assert bound.reach(np.array([2.0, 3.0])) == pytest.approx(2.0 * 4.0)


@pytest.mark.parametrize("h", [0.0, 0.5])
def test_without_a_matrix_rounding_counts_at_its_worst_and_no_more(h):
    """Over all signs of the errors; the worst signs are those against the mean."""
    rng = np.random.default_rng(0)
    mean = rng.standard_normal(6) if h else np.zeros(6)
    bound = CurvatureBound(np.empty((0, 0)), 1.5, rng.uniform(0.1, 2.0, 6), mean, h, 9.0)
    rounding = rng.uniform(0.0, 1.0, 7)
    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * 7)).reshape(7, -1).T
    worst = bound.lengths(signs * rounding).max()
    assert bound.doubt(rounding, 1) == pytest.approx(worst)
    assert bound.doubt(rounding, 4) == pytest.approx(2.0 * worst)


def test_classes_together_have_lengths_of_all_their_weights():
    A = np.diag([1.0, 2.0, 3.0, 4.0])
    bound = JointBound(A, 4.0, K=2)
    assert bound.lengths(np.ones((2, 2))) == pytest.approx([2.0 * np.sqrt(30.0)])
    assert bound.deviations() == pytest.approx([2.0 * 3.0, 2.0 * 4.0])
    assert bound.doubt(np.array([1.0, 0.5]), 2) == pytest.approx(2 * (1 + 3) + 2 * 0.5 * (2 + 4))
    assert bound.reach(np.array([2.0])) == pytest.approx(2 * 2 * np.sqrt(1.0 + 9.0))


def test_at_the_very_edge_nothing_is_proven():
    class Edge(CurvatureBound):
        def lengths(self, G):
            return np.array([1.0 / 1.01])

        def fastest(self, top, K):
            return 1.0 / 1.01

    nu, rho, delta = radius(Edge(np.eye(1)), np.ones((1, 1)), np.zeros(1), np.ones(1))
    assert nu * rho == 1.0
    assert delta == np.inf


def found(g, theta, scale=(4.0, 0.5), shift=(0.25, -2.0), top=0.0, **more):
    """Weights in units of X are theta scale, and M is diag(1, 1/4, 1/9)."""
    bound = CurvatureBound(np.diag([1.0, 2.0, 3.0]))
    g, theta = np.atleast_2d(np.asarray(g)), np.atleast_2d(np.asarray(theta))
    within = radius(bound, g, np.zeros(3), np.full(3, top))
    return optimality(bound, within, g, np.array(scale), np.array(shift), theta, 7.0)


def test_the_certificate_has_the_distances_of_the_proof():
    """Where values do not move, delta = nu = |g| in the metric M^-1."""
    evidence = found([0.3, 0.2, 0.0], [0.0, 0.0, 0.0]).evidence
    delta = 1.01 * 0.5
    assert evidence["newton_decrement"] == pytest.approx(delta)
    assert evidence["self_concordance"] == 0.0
    assert evidence["coef_bound"] == pytest.approx(delta * np.array([1.0 * 4.0, 2.0 * 0.5]))
    assert evidence["intercept_bound"] == pytest.approx(delta * (3.0 + 1.0 * 0.25 + 2.0 * 2.0))
    assert evidence["distance_bound"] == pytest.approx(delta * np.hypot(4.0, 1.0))
    assert evidence["value"] == 7.0
    # 1 / |M^-1/2| in the units of X, where the bias has its own.
    assert evidence["strong_convexity"] == pytest.approx(1 / (4.0**2 + 1.0**2 + 3.0**2))
    assert np.all(evidence["coef_bound"] >= 4 * LEAST)


def test_the_gradient_is_told_in_the_units_of_the_user():
    """theta = w / scale and theta_0 = b + w shift / scale: slopes of w and of b."""
    evidence = found([0.3, 0.2, 0.1], [0.0, 0.0, 0.0]).evidence
    slope = [0.3 / 4.0 + 0.1 * 0.25 / 4.0, 0.2 / 0.5 - 0.1 * 2.0 / 0.5, 0.1]
    assert evidence["gradient_norm"] == pytest.approx(np.linalg.norm(slope))


def test_roundings_to_the_units_of_the_user_are_in_the_bounds():
    evidence = found([0.0, 0.0, 0.0], [1.0, -3.0, 2.0]).evidence
    W = np.array([4.0, 1.5])
    np.testing.assert_allclose(evidence["coef_bound"], 2 * UNIT * W)
    np.testing.assert_allclose(evidence["intercept_bound"], 4 * UNIT * (0.25 + 6.0))
    np.testing.assert_allclose(evidence["distance_bound"], 2 * UNIT * np.linalg.norm(W))
    tiny = found([0.0, 0.0, 0.0], [0.0, 0.0, 0.0]).evidence
    assert tiny["coef_bound"].tolist() == [4 * LEAST] * 2
    assert tiny["intercept_bound"] == tiny["distance_bound"] == 8 * LEAST


def test_what_all_classes_share_is_part_of_the_distance():
    evidence = found(np.zeros((2, 3)), [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]).evidence
    assert evidence["coef_bound"] == pytest.approx([2.0, 0.0])  # the mean of 4 and 0
    assert evidence["distance_bound"] == pytest.approx(np.sqrt(2.0) * 2.0)


def test_a_gradient_too_large_for_the_curvature_proves_nothing():
    far = found([0.3, 0.2, 0.0], [0.0, 0.0, 0.0], top=10.0)
    assert far.kind == "unproven"
    assert far.evidence["distance_bound"] == np.inf
    assert far.statement.startswith("how far the minimum is cannot be proven: the gradient has")
    near = found([3e-9, 2e-9, 0.0], [0.0, 0.0, 0.0], top=10.0)
    assert near.kind == "optimal"
    assert near.statement == (
        f"the weights are within {near.evidence['distance_bound']:.1e} of those that minimise the "
        f"(penalised) loss, |w - w*|, and the bias is within "
        f"{near.evidence['intercept_bound']:.1e}."
    )
