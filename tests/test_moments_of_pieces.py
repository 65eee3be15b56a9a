"""Sums over several pieces, in far units and with faint weights: nothing is lost, or it is told."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from adaline import Moments, _threads
from adaline.row_sums import moment_sums
from adaline.tiles import VAGUE
from test_merged_moments import components, part
from test_moments import within_its_bounds

UNIT = 2.0**-53


@pytest.fixture
def short_pieces(monkeypatch):
    """Pieces of 256 rows, however few numbers these are."""
    monkeypatch.setattr(_threads, "_NUMBERS", 256)
    monkeypatch.setattr(_threads, "_PRODUCTS", 256)


@pytest.mark.parametrize("targets", [1, 65])
@pytest.mark.parametrize("columns", [2, 70])
def test_pieces_add_up(rng, short_pieces, columns, targets):
    n = 1000
    A = np.round(rng.standard_normal((n, columns + targets)), 1) + 3.0
    X, Y = A[:, :columns], A[:, columns:]
    m = Moments.apart(X, Y)
    some = [0, 1, columns]
    assert within_its_bounds(components(m, some), A[:, some])
    root = np.zeros(0)
    scale, shift = np.ones(A.shape[1]), np.zeros(A.shape[1])
    cuts = _threads.pieces(n, A.shape[1] + 1, (A.shape[1] + 1) ** 2)
    assert len(cuts) == 4
    _, length = moment_sums.gram(X, Y, root, scale, shift)
    assert length >= 256 + 1 + len(cuts)  # a tile, the tiles of a piece, and the pieces
    squares, G, length = moment_sums.gram_apart(X, Y, root, scale, shift)
    assert length >= min(moment_sums.tile_rows(A.shape[1] + 1), n) + len(cuts)
    assert squares[:-1] == pytest.approx((A * A).sum(axis=0))
    assert G[-1, :-1] == pytest.approx(A.sum(axis=0))


@pytest.mark.parametrize("columns", [100, 300])
def test_memory_that_pieces_use_in_turns_holds_nothing_of_others(
    rng, short_pieces, monkeypatch, columns
):
    """Several tiles a piece, and one: the same bits by one thread and by four."""
    n = 3000
    A = rng.standard_normal((n, columns + 1))
    root, scale, shift = np.zeros(0), np.ones(columns + 1), np.zeros(columns + 1)
    found = []
    for threads in (1, 4):
        monkeypatch.setattr(_threads, "threads", lambda threads=threads: threads)
        G, _ = moment_sums.gram(A[:, :-1], A[:, -1:], root, scale, shift)
        found.append(G)
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0][:-1, :-1], A.T @ A, rtol=0, atol=1e-9)


def test_tiles_of_a_piece_are_of_equal_length():
    assert moment_sums._rows_of_products(301, 768) == 768
    assert moment_sums._rows_of_products(301, 5000) == 625
    assert moment_sums._rows_of_products(5000, 4096) == 2048
    assert moment_sums._rows_of_products(100, 10) == 10


def test_a_long_piece_is_as_many_additions_as_a_tile_and_the_tiles(rng):
    Y = rng.standard_normal((9000, 65))
    root, scale, shift = np.zeros(0), np.ones(66), np.zeros(66)
    rows = moment_sums.tile_rows(67)
    assert rows < 5000
    _, _, length = moment_sums.gram_apart(Y[:, :1], Y, root, scale, shift)
    assert length >= rows + 9000 // rows + 1


@pytest.mark.parametrize("columns", [3, 80])
def test_one_piece_of_many_columns_takes_one_thread_of_blas(rng, monkeypatch, columns):
    """With more, the last digits would depend on the machine; our own loop has no such threads."""
    asked = []
    monkeypatch.setattr(moment_sums, "one_blas_thread", lambda q: asked.append(q) or nullcontext())
    Moments.of(rng.standard_normal((100, columns)))
    assert asked == ([columns + 1] if columns > 64 else [])


def thin_rows(rng):
    X = sparse.lil_array((500, 100))
    X[np.arange(500), rng.integers(0, 100, 500)] = np.round(rng.standard_normal(500), 2)
    return sparse.csr_array(X)


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_targets_in_far_units_beside_few_nonzeros(rng, unit):
    X, y = thin_rows(rng), rng.standard_normal(500) * unit
    thin, dense = Moments.of(X, y), Moments.of(X.toarray(), y)
    assert thin.scatter_xy / unit == pytest.approx(dense.scatter_xy / unit, rel=1e-10, abs=1e-10)
    assert thin.mean_y / unit == pytest.approx(dense.mean_y / unit, rel=1e-12)


def test_sums_of_few_nonzeros_may_be_as_long_as_all_rows(rng):
    X, y = thin_rows(rng), rng.standard_normal((500, 1))
    _, length = moment_sums.gram_of_nonzeros(X, y, np.zeros(0), np.ones(101), np.zeros(101))
    assert length >= 500


@pytest.mark.parametrize("constant", [0.1, -1e-3, 1e3])
def test_constants_among_few_nonzeros_are_taken_about_their_mean(rng, constant):
    X = sparse.lil_array(thin_rows(rng))
    X[:, 7] = constant
    m = Moments.of(sparse.csr_array(X), rng.standard_normal(500))
    assert m.scatter_xx[7, 7] == 0.0


def test_faint_weights_leave_everything_unknown(rng):
    A = rng.standard_normal((9, 2))
    m = Moments.of(A[:, :1], A[:, 1], np.full(9, 2.0**-900))
    assert np.all(m.mean_rounding >= VAGUE)
    assert np.all(m.rounding >= np.sqrt(9 * 2.0**-900) * VAGUE)
    strong = Moments.of(A[:, :1], A[:, 1], np.full(9, 2.0**-850))
    assert np.all(strong.mean_rounding < 1e-10)


def far(m, exponent):
    """The same numbers, in other units."""
    return replace(m, exponent=np.full(1, exponent))


@pytest.mark.parametrize("mean", [1.0, -3.0])
def test_what_drowns_in_larger_units_is_told(mean):
    small = part(4, mean, 1, 0, 0)
    large = part(4, 0, 0, 0, 0)
    for exponent, told in ((-401, True), (-399, False)):
        found = (far(small, exponent) + large).rounding[0]
        assert (found >= 2 * 2.0**-200) == told  # sqrt(weight) 2^-200
        assert found < 2.0**-150
    nothing = far(part(4, 0, 1, 0, 0), -500) + large
    assert nothing.rounding[0] < 2.0**-200
    moved = far(small, -201) + far(large, 200)
    assert moved.rounding[0] >= 2 * 2.0**-200
    units = far(small, 300) + far(large, 300)  # the same units, however large, drown nothing
    assert units.rounding[0] < 1e-6
    doubtful = far(part(4, mean, 1, 0, 2.0**202), -401) + large  # 2^-199 in these units
    assert doubtful.rounding[0] >= 2.0**-199 + 2 * 2.0**-200


def test_the_means_of_both_are_in_doubt_where_half_of_the_rows_go():
    """Doubts of the mean that is left and of the one that goes add up; they never cancel."""
    whole, gone = part(4, 10, 1000, 0, 0, rows=9), part(2, 20, 0, 0.5, 0)
    left = whole - gone
    # The mean of what is left is off by 0.5, so the difference from the other by 1.
    assert left.mean_rounding[0] >= 0.5
    worst = [1000 - 4 / 2 * 2 * (10.0 - y) ** 2 for y in (19.5, 20.0, 20.5)]
    assert abs(worst[0] - worst[1]) <= left.rounding[0] ** 2
    assert abs(worst[2] - worst[1]) <= left.rounding[0] ** 2


def test_the_component_that_is_told_is_the_negative_one():
    zero = np.zeros(2, dtype=np.int64)
    whole = Moments(9, 4.0, np.zeros(2), np.eye(2), zero, np.zeros(2), np.zeros(2), 0)
    gone = replace(whole, rows=5, weight=2.0, scatter=np.diag([1.0 + 5e-5, 1.2]))
    gone = replace(gone, rounding=np.full(2, 1e-2))
    with pytest.raises(ValueError, match="component 1 with"):
        whole - gone


@pytest.mark.parametrize("unit", [1e-145, 1e145])
@pytest.mark.parametrize("weight", [1e-200, 1e200])
def test_units_of_centred_columns_are_judged_by_means_of_squares(unit, weight):
    A, many = np.resize([1.0, -1.0], (8, 1)), np.resize([1.0, -1.0], (8, 65))
    weights = np.full(8, weight)
    assert Moments.of(A * unit, None, weights).exponent.any()
    assert Moments.apart(A * unit, many * unit, weights).exponent.any()
