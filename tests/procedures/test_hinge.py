"""Separating weights by squared hinges: found where they are plain, and None where not."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import sparse

from adaline.procedures.exact_lp import OutOfTime
from adaline.procedures.separability import separate_by_hinge as separating


def rows(rng, n=60, p=200):
    """Rows of a sparse matrix that some weights separate."""
    A = sparse.random(n, p, density=0.1, random_state=rng, format="csr")
    t = np.where(np.asarray(A @ rng.standard_normal(p)) > 0, 1.0, -1.0)
    return sparse.diags_array(t).tocsr() @ A


def test_separating_weights_have_length_one_and_the_margin_that_is_told(rng):
    A = rows(rng)
    w, least = separating(A, None)
    assert np.linalg.norm(w) == pytest.approx(1.0)
    assert np.asarray(A @ w).min() == pytest.approx(least, rel=1e-9)
    assert least > 0


def test_rows_that_no_weights_separate_give_none(rng):
    A = rows(rng)
    assert separating(sparse.vstack([A, -A[:1]]).tocsr(), None) is None  # a row and its opposite
    assert separating(sparse.csr_array(np.zeros((3, 2))), None) is None


def test_after_its_time_nothing_is_searched(rng):
    with pytest.raises(OutOfTime):
        separating(rows(rng), time.thread_time() - 1.0)
    assert separating(rows(rng), time.thread_time() + 1e6) is not None
