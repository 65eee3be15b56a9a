"""Wolfe's nearest point is optimal, and its corral is a proof of that."""

from __future__ import annotations

from time import thread_time as working_time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from adaline.procedures import nearest_point as module
from adaline.procedures.nearest_point import nearest_point


def of_rows(V, **options):
    def lowest(z):
        values = V @ z
        i = int(np.argmin(values))
        return i, V[i], float(values[i])

    return nearest_point(lowest, (0, V[0]), **{"tol": 1e-12, "max_iter": 10_000, **options})


def assert_nearest(V, found):
    size = np.abs(V).max(initial=0.0)
    assert (found.weights > 0).all()
    assert found.weights.sum() == pytest.approx(1.0, abs=1e-9)
    assert np.array_equal(found.vertices, V[found.ids])
    # Weights carry the corral's condition number, which 1e-13 keeps below 1e13.
    assert np.abs(found.weights @ found.vertices - found.point).max() <= 1e-3 * size
    z = found.point
    if np.linalg.norm(z) > 1e-14 * size:  # not zero to rounding
        # z'v is rounded in units of |z| |v|, however much shorter than the vertices z may be.
        assert z @ z - (V @ z).min() <= 1e-11 * size * np.linalg.norm(z)


@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 12), st.integers(1, 5)),
        elements=st.one_of(st.integers(-3, 3).map(float), st.floats(-10, 10, width=32)),
    )
)
def test_no_vertex_is_lower_than_the_nearest_point(V):
    assert_nearest(V, of_rows(V))


@pytest.mark.parametrize("exponent", range(3, 14))
def test_a_point_far_shorter_than_the_vertices_is_right_to_its_own_digits(rng, exponent):
    for _ in range(20):
        V = rng.standard_normal((rng.integers(2, 13), rng.integers(1, 6)))
        V += 10.0**-exponent * rng.standard_normal(V.shape[1]) - V.mean(axis=0)
        assert_nearest(V, of_rows(V))


@pytest.mark.parametrize("exponent", range(1, 15))
def test_vertices_that_nearly_coincide_cost_no_digits(rng, exponent):
    for _ in range(20):
        V = rng.integers(-3, 4, (rng.integers(2, 13), rng.integers(1, 6))).astype(float)
        V += 10.0**-exponent * rng.standard_normal(V.shape)
        assert_nearest(V, of_rows(V))


@pytest.mark.parametrize("scale", [1e-100, 1e-8, 1.0, 1e8, 1e100])
def test_units_do_not_matter(rng, scale):
    V = (rng.standard_normal((60, 4)) + 2.0) * scale
    found = of_rows(V)
    assert found.stopped == "nearest"
    assert_nearest(V / scale, of_rows(V / scale))
    assert np.allclose(found.point / scale, of_rows(V / scale).point, rtol=1e-9)


def test_the_difference_of_two_hulls_needs_no_list_of_its_vertices(rng):
    A, B = rng.standard_normal((40, 3)) + 4.0, rng.standard_normal((30, 3))

    def lowest(z):
        i, j = int(np.argmin(A @ z)), int(np.argmax(B @ z))
        return (i, j), A[i] - B[j], float(z @ (A[i] - B[j]))

    found = nearest_point(lowest, ((0, 0), A[0] - B[0]), tol=1e-12, max_iter=1000)
    every = (A[:, None] - B[None]).reshape(-1, 3)
    assert np.allclose(found.point, of_rows(every).point, rtol=1e-9)


def test_the_origin_inside_gives_weights_that_sum_to_it(rng):
    V = rng.standard_normal((200, 6))
    found = of_rows(V)
    assert found.stopped == "zero"
    assert len(found.ids) <= 7
    assert np.abs(found.weights @ found.vertices).max() < 1e-13  # seven terms of size one


def test_a_separating_point_is_enough_where_it_is_asked_for(rng):
    V = rng.standard_normal((500, 5)) + 3.0
    found = of_rows(V, until_positive=True)
    assert found.stopped == "positive"
    assert (V @ found.point).min() > 0


def test_it_stops_in_time(rng):
    V = rng.standard_normal((500, 5)) + 3.0
    assert of_rows(V, deadline=working_time() - 1.0).stopped == "time"
    assert of_rows(V, max_iter=1).stopped == "iterations"


def test_one_vertex_is_its_own_nearest_point():
    found = of_rows(np.array([[3.0, 4.0]]))
    assert (found.point.tolist(), found.gap, found.stopped) == ([3.0, 4.0], 0.0, "nearest")
    assert of_rows(np.zeros((1, 2))).stopped == "zero"


@pytest.mark.parametrize("far", [0.0, 1e3, 1e6])
def test_steps_without_corrections_end_where_corrected_ones_do(rng, monkeypatch, far):
    V = rng.standard_normal((80, 30))
    V[:, 0] += 6.0
    V[:, 1] += far * np.where(np.arange(80) % 2, 1.0, -1.0)  # vertices far longer than the nearest
    quick = of_rows(V)
    monkeypatch.setattr(module, "LEVEL", 0.0)
    slow = of_rows(V)
    assert quick.stopped == slow.stopped
    assert np.abs(quick.point - slow.point).max() <= 1e-10 * max(1.0, 1e-4 * far)
    assert_nearest(V, quick)
