"""What fits prove, beside what they proved when `panel.json` was written: a rewrite loses little.

A name of the panel is a learner, a table and options; numbers are drawn from the name. Of each fit
the panel has the kind of its certificate and, where it claims one, its distance from what is
exact, in digits: -log10 of the relative distance. Distances ten times as wide have one less.

    python tests/laws/test_panel.py --write    write what is proven now; every claim of a minimum
                                               is first checked in decimals of 100 digits
"""

from __future__ import annotations

import json
import sys
import warnings
import zlib
from decimal import Decimal
from math import log10
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import adaline as A
from adaline.data import blocks
from adaline.data import fit as fit_in_passes

PANEL = Path(__file__).with_name("panel.json")
FACTS = {"separable", "overlapping", "quasi-separable"}  # of the rows, whoever proves them
# "bound" is that of mistake_bound; "separable classes", SeparableError of maximum likelihood.
DECIDED = FACTS | {"exact", "accurate", "optimal", "bound", "separable classes"}
MOST = 15.95  # digits that float64 can hold

TABLES = {
    "40 x 3": lambda rng: rng.standard_normal((40, 3)),
    "300 x 2": lambda rng: rng.standard_normal((300, 2)) * [1.0, 30.0] + [5.0, 0.0],
    "60 x 12": lambda rng: rng.standard_normal((60, 12)) @ rng.standard_normal((12, 12)),
    "8 x 20": lambda rng: rng.standard_normal((8, 20)),
    "CSR 60 x 30": lambda rng: scattered(rng, 60, 30),
    "CSR 30 x 2100": lambda rng: scattered(rng, 30, 2100),
    "columns 1e-3 apart": lambda rng: nearly_equal(rng, 1e-3),
    "columns 1e-6 apart": lambda rng: nearly_equal(rng, 1e-6),
    "columns 1e-9 apart": lambda rng: nearly_equal(rng, 1e-9),
    "equal columns": lambda rng: nearly_equal(rng, 0.0),
    "units of 1e-150": lambda rng: 1e-150 * rng.standard_normal((40, 2)),
    "units of 1e150": lambda rng: 1e150 * rng.standard_normal((40, 2)),
    "units of 1e-100, 1 and 1e100": lambda rng: rng.standard_normal((40, 3)) * [1e-100, 1, 1e100],
    "timestamps": lambda rng: 1.7e9 + rng.integers(0, 10**6, (40, 2)) * [1.0, 60.0],
    "powers": lambda rng: rng.uniform(0.0, 4.0, (40, 1)) ** np.arange(1, 6),
    "a constant column": lambda rng: np.c_[rng.standard_normal((40, 2)), np.full(40, 7.0)],
    "whole numbers": lambda rng: rng.integers(-3, 4, (40, 3)) * 1.0,
    "a far row": lambda rng: np.r_[rng.standard_normal((40, 2)), [[1e6, -1e5]]],
}
IN_PASSES = {"LeastSquares", "Ridge 1", "LogisticRegression 1", "PoissonRegression 1"}
REFUSED = {  # as too many monomials, or for columns and margins too far apart
    ("PolynomialLeastSquares", "CSR 30 x 2100"),
    ("Ridge auto", "units of 1e-100, 1 and 1e100"),
    ("mistake_bound", "units of 1e-150"),
    ("mistake_bound", "timestamps"),
}


def scattered(rng, n, p):
    return sparse.csr_array(np.where(rng.random((n, p)) < 3 / p, rng.standard_normal((n, p)), 0.0))


def nearly_equal(rng, apart):
    x, k = rng.standard_normal((2, 40))
    return np.c_[x, x + apart * k]


CLOSED = {
    "LeastSquares": ("numbers", A.LeastSquares),
    "LeastSquares without bias": ("numbers", lambda: A.LeastSquares(fit_intercept=False)),
    "Ridge 1": ("numbers", lambda: A.Ridge(1.0)),
    "Ridge auto": ("numbers", A.Ridge),
    "PolynomialLeastSquares": ("numbers", A.PolynomialLeastSquares),
}
NEWTON = {
    "LogisticRegression 1": ("labels", lambda: A.LogisticRegression(1.0)),
    "LogisticRegression 0": ("labels", lambda: A.LogisticRegression(0)),
    "LogisticRegression auto": ("labels", lambda: A.LogisticRegression("auto")),
    "LogisticRegression without bias": (
        "labels",
        lambda: A.LogisticRegression(0.1, fit_intercept=False),
    ),
    "PoissonRegression 1": ("counts", A.PoissonRegression),
    "PoissonRegression 0": ("counts", lambda: A.PoissonRegression(0)),
}
GAUSSIAN = {
    f"GaussianClassifier {kind}": ("labels", lambda kind=kind: A.GaussianClassifier(kind))
    for kind in ("shared", "full", "diagonal")
}
SIDES = {
    name: ("labels", lambda name=name: getattr(A, name)(max_iter=200))
    for name in ("Perceptron", "Adaline", "SigmoidPerceptron", "KernelPerceptron", "HoKashyap")
} | {
    "LeastSquaresClassifier": ("labels", A.LeastSquaresClassifier),
    "separability": ("labels", lambda: A.separability),
    "max_margin": ("labels", lambda: A.max_margin),
    "mistake_bound": ("labels", lambda: A.mistake_bound),
}
LEARNERS = CLOSED | NEWTON | GAUSSIAN | SIDES


def names():
    """Every fit of the panel: (learner, table, option)."""
    for learner in CLOSED | NEWTON:
        yield from ((learner, table, "") for table in TABLES if (learner, table) not in REFUSED)
        yield from ((learner, "40 x 3", option) for option in ("float32", "weights"))
        if LEARNERS[learner][0] != "counts":
            yield learner, "40 x 3", "several"
        if learner in IN_PASSES:
            yield from ((learner, table, "in passes") for table in ("40 x 3", "powers"))
    for learner in GAUSSIAN:
        for table in ("40 x 3", "300 x 2", "columns 1e-6 apart", "units of 1e150", "timestamps"):
            yield learner, table, ""
        yield from ((learner, "40 x 3", option) for option in ("float32", "weights", "several"))
    for learner in SIDES:
        for table in ("40 x 3", "8 x 20", "units of 1e-150", "timestamps", "CSR 60 x 30"):
            if (learner, table) not in REFUSED:
                yield learner, table, "separable"
        if learner not in ("max_margin", "mistake_bound"):
            yield learner, "40 x 3", ""
            yield learner, "whole numbers", "several"


def rows_of(learner, table, option):
    """X, y and weights or None, drawn from the table and the option: of all learners the same."""
    target = LEARNERS[learner][0]
    rng = np.random.default_rng(zlib.crc32(f"{table}, {option}".encode()))
    X = TABLES[table](rng)
    Z = X.toarray() if sparse.issparse(X) else X
    spread = Z.std(axis=0) if np.abs(Z).max() < 1e100 else np.abs(Z).max(axis=0)
    constant = np.ptp(Z, axis=0) == 0
    Z = np.where(constant, 0.0, (Z - Z.mean(axis=0)) / np.where(constant, 1.0, spread))
    K = 4 if option == "several" else 1
    V = Z @ rng.standard_normal((Z.shape[1], K)) / np.sqrt(Z.shape[1])
    V += rng.standard_normal(V.shape) * (0.0 if option == "separable" else 0.7)
    omega = 10.0 ** rng.integers(-4, 5, len(V)) if option == "weights" else None
    X = X.astype(np.float32) if option == "float32" else X
    if target == "numbers":
        return X, V[:, :3] if K > 1 else V[:, 0], omega
    if target == "counts":
        return X, rng.poisson(np.exp(1.0 + V[:, 0].clip(-3, 3))) * 1.0, omega
    return X, V.argmax(axis=1) if K > 1 else (V[:, 0] > np.median(V)).astype(int), omega


def fitted(learner, table, option):
    """The fit, the result of a function of the learner's name, or a SeparableError."""
    X, y, omega = rows_of(learner, table, option)
    model = LEARNERS[learner][1]()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if not hasattr(model, "fit"):
            return model(X, y)
        if option == "in passes":
            pieces = blocks(np.column_stack([X, y]), rows=11)
            return fit_in_passes(model, pieces, f"x{X.shape[1]}")
        try:
            return model.fit(X, y, **({} if omega is None else {"sample_weight": omega}))
        except A.SeparableError as error:
            return error


def claim(fit):
    """Kind and digits of what a fit claims; None for digits where it names no distance."""
    if isinstance(fit, A.SeparableError):
        return ["separable classes", None]
    if isinstance(fit, A.Separability):
        return [fit.verdict, None]
    if not hasattr(fit, "certificate") and not hasattr(fit, "certificate_"):
        return ["bound", digits(fit.sharp)]
    certificate = fit.certificate if hasattr(fit, "certificate") else fit.certificate_
    evidence, far = certificate.evidence, None
    if certificate.kind in ("exact", "accurate"):
        far = 10.0 ** -evidence["digits"]
    elif certificate.kind == "optimal":
        far = next(
            evidence[k]
            for k in ("distance_error", "gap", "distance_bound", "distance")
            if k in evidence
        )
        if "value" in evidence:  # of weights, in their units
            far /= np.linalg.norm(fit.coef_ / np.abs(fit.coef_).max()) * np.abs(fit.coef_).max()
    return [certificate.kind, digits(far)]


def digits(far):
    return None if far is None else round(min(-log10(max(far, 1e-300)), MOST), 2)


def title(learner, table, option):
    return f"{learner}, {table}" + (f", {option}" if option else "")


@pytest.fixture(scope="module")
def panel():
    """Of each name what is recorded, and what is proven now."""
    recorded = json.loads(PANEL.read_text(encoding="utf-8"))
    now = {title(*name): claim(fitted(*name)) for name in names()}
    assert recorded.keys() == now.keys()
    return {name: (recorded[name], now[name]) for name in now}


def test_what_was_decided_stays_decided(panel):
    decided = {name: now[0] for name, (was, now) in panel.items() if was[0] in DECIDED}
    lost = [name for name, kind in decided.items() if kind not in DECIDED]
    assert len(lost) <= 0.02 * len(decided), lost


def test_distances_are_at_most_ten_times_as_wide_and_none_a_hundred_times(panel):
    both = {
        name: was[1] - now[1]
        for name, (was, now) in panel.items()
        if None not in (was[1], now[1]) and was[0] in DECIDED and now[0] in DECIDED
    }
    assert np.median(list(both.values())) <= 1.0
    assert not {name: lost for name, lost in both.items() if lost > 2.0}


def test_no_two_verdicts_on_the_same_rows_contradict_each_other(panel):
    assert not {
        name: pair
        for name, pair in panel.items()
        if {was_or_now[0] for was_or_now in pair} <= FACTS and pair[0][0] != pair[1][0]
    }


def write():
    """Write the panel; what claims a minimum that is not there counts as unproven."""
    sys.path.append(str(Path(__file__).parents[1]))
    from reference_claims import optimum_holds

    found = {}
    for name in names():
        fit = fitted(*name)
        found[title(*name)] = claim(fit)
        if name[0] in NEWTON and found[title(*name)][0] == "optimal":
            X, y, omega = rows_of(*name)
            X = X.toarray() if sparse.issparse(X) else X
            scale = getattr(fit, "column_scale_", None)
            scale = np.ones(X.shape[1]) if scale is None else scale
            alpha = float(getattr(fit, "alpha_", fit.alpha))
            penalty = [Decimal(alpha) * Decimal(s) ** 2 for s in scale.tolist()]
            ones = np.ones(len(y)) if omega is None else omega
            if not optimum_holds(fit, X, y, ones, penalty, fit.fit_intercept):
                found[title(*name)] = ["unproven", None]
                print(f"false, recorded as unproven: {title(*name)}")
    lines = [f"{json.dumps(name)}: {json.dumps(told)}" for name, told in found.items()]
    PANEL.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(found)} fits, {sum(kind in DECIDED for kind, _ in found.values())} decided")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    write()
