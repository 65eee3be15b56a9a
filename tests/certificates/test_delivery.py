"""Certificates of weights that were rounded to the dtype of the samples."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import adaline
from adaline.certificates.statements import delivered
from adaline.results import Certificate, Fit

W, B = np.array([[1.0 / 3.0, 2.0 / 3.0]]), np.array([0.1])
DW = [abs(Fraction(float(w)) - Fraction(float(np.float32(w)))) for w in W[0]]
DB = abs(Fraction(0.1) - Fraction(float(np.float32(0.1))))


def fit(kind="accurate", W=W, b=B, **evidence):
    return Fit(W, b, "solved.", Certificate(kind, "it is so.", evidence))


def a_little_above(found, truth):
    """Never below the truth, and at most a billionth above it."""
    return truth <= Fraction(float(found)) <= truth * (1 + Fraction(1, 2**29))


def test_bounds_of_single_weights_grow_by_what_rounding_moved():
    bounds = np.array([[1e-9], [2e-9], [3e-9]])
    old = fit(error_bound=bounds, floor=np.zeros((3, 1)), digits=9.0, condition=2.0)
    found = delivered(old, np.float32).certificate
    assert found.kind == "accurate"
    for grown, bound, moved in zip(
        found.evidence["error_bound"].ravel(), bounds.ravel(), [*DW, DB], strict=True
    ):
        assert a_little_above(grown, Fraction(float(bound)) + moved)
    alone = fit(error_bound=bounds[:2], floor=np.zeros((2, 1)), digits=9.0, condition=2.0)
    found = delivered(alone, np.float32).certificate  # without a bound on the intercept
    assert found.evidence["error_bound"].shape == (2, 1)


def test_bounds_of_all_weights_together_grow_by_what_rounding_moved():
    found = delivered(fit(error_bound=np.array([1e-9]), digits=9.0, condition=2.0), np.float32)
    moved = sum(d * d for d in DW)
    bound = Fraction(float(found.certificate.evidence["error_bound"][0])) - Fraction(1e-9)
    assert moved <= bound**2 <= moved * (1 + Fraction(1, 2**28))


@pytest.mark.parametrize("key", ["distance", "distance_bound"])
def test_distances_grow_by_what_rounding_moved(key):
    old = {key: 1e-9, "coef_bound": np.array([1e-9, 1e-9]), "intercept_bound": 2e-9}
    found = delivered(fit("optimal", **old), np.float32).certificate
    moved = sum(d * d for d in DW)
    far = Fraction(float(found.evidence[key])) - Fraction(1e-9)
    assert moved <= far**2 <= moved * (1 + Fraction(1, 2**28))
    for grown, d in zip(found.evidence["coef_bound"], DW, strict=True):
        assert a_little_above(grown, Fraction(1e-9) + d)
    assert a_little_above(found.evidence["intercept_bound"], Fraction(2e-9) + DB)
    assert found.statement.startswith(
        f"rounded to float32, the weights are within {found.evidence[key]:.1e} of"
    )
    assert "and the bias is within" in found.statement
    alone = delivered(fit("optimal", **{key: 1e-9}), np.float32).certificate
    assert "bias" not in alone.statement


@pytest.mark.parametrize(
    ("kind", "dtype"), [("unproven", np.float32), ("undecided", np.float32), ("exact", np.float64)]
)
def test_what_claims_nothing_or_was_not_rounded_stays(kind, dtype):
    old = fit(kind, error_bound=np.zeros((3, 1)), floor=np.zeros((3, 1)), condition=1.0)
    assert delivered(old, dtype) is old


def test_certificates_that_do_not_speak_of_weights_stay():
    old = fit("separable", least_margin=0.5)
    assert delivered(old, np.float32).certificate is old.certificate


@pytest.mark.parametrize("where", ["W", "b"])
def test_weights_that_are_infinite_prove_nothing(where):
    bad = {"W": W * np.inf} if where == "W" else {"b": B * np.inf}
    old = fit("exact", error_bound=np.zeros((3, 1)), floor=np.zeros((3, 1)), condition=1.0, **bad)
    found = delivered(old, np.float64).certificate
    assert found.kind == "unproven"
    assert found.statement.startswith("a coefficient leaves the range of float64")


@pytest.mark.parametrize("targets", [1, 2])
def test_weights_that_are_zero_in_float32_claim_no_digits(rng, targets):
    """Targets of 1e-60 have such weights; that zeros are near them is no digit of theirs."""
    X = sparse.random(300, 4000, density=0.01, random_state=0, format="csr", dtype=np.float32)
    y = rng.standard_normal(300)
    tiny = y * 1e-60 if targets == 1 else np.column_stack([y, y * 1e-60])
    model = adaline.Ridge(alpha=1.0).fit(X, tiny)
    assert not np.atleast_2d(model.coef_)[-1].any()
    if targets == 1:
        assert model.certificate_.kind == "unproven"
    else:
        assert "1 target has weights of zero" in model.certificate_.statement
