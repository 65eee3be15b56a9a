"""What a model file may hold: records and filters by name, and the language that describes fields.

A file can choose from these tables, and from the public estimators, which declare their fields in
`_stored` (see `estimators.declarations`). A name in a file is looked up there and nowhere else; a
field that is not listed is refused, on the way in and on the way out.

A description is one or several of these, with " | " between them:

    float K p      finite float64 of shape (K, p); float~ allows NaN and infinities,
                   float+ has none below zero, bound none below zero but infinities
    real K p       finite float64 or float32
    int n, int+ n  whole numbers, whole numbers >= 0; power: exponents of two; bool: truths
    rows n p       real numbers, dense or CSR
                   a side may be a sum such as p+K or p+1
    count =p       a whole number >= 0; with =p it is the p of all shapes
    number, number~, truth, text, kind, dtype, facts, plain, None
    tuple count    a tuple of such values
    labels         (C,) different labels, which gives C, and K = 1 for two classes, C for more
    names p        (p,) strings
    Fit, Fit p:m   a record, or one whose letter p is called m here

Letters stand for one number each throughout a model. `?` after a field: it may be missing, as in
files of an older adaline; in a record it then has its default, which is not written.
"""

from __future__ import annotations

_FIT = {"W": "float K p", "b": "float K", "stopped": "text", "certificate": "Certificate"}

# Where each frozen record lives, and its fields.
RECORDS: dict[str, tuple[str, dict[str, str]]] = {
    "Certificate": (
        "adaline.results",
        {"kind": "kind", "statement": "text", "evidence": "facts"},
    ),
    "Fit": ("adaline.results", _FIT),
    "ClosedFit": (
        "adaline.results",
        _FIT
        | {"rank": "count", "condition": "number~", "W_low": "float K p", "b_low": "float K"}
        | {"squares": "float~ K", "root": "float~ p p | float~ p+1 p | None"}
        | {"dependent": "tuple plain"},
    ),
    "NewtonFit": (
        "adaline.results",
        _FIT
        | {"theta": "float K p+1", "outcome": "text", "steps": "count"}
        | {"value": "number~", "rank": "count"},
    ),
    "HoKashyapFit": (
        "adaline.procedures.ho_kashyap",
        _FIT
        | {"margins": "float K n", "errors": "float K n"}
        | {"iterations": "tuple count", "ends": "tuple text"},
    ),
    "SequentialFit": (
        "adaline.estimators.online",
        _FIT | {"corrections": "count", "passes": "count", "converged": "truth | None"},
    ),
    "Recipe": (
        "adaline.procedures.sequential",
        {"criterion": "count", "targets": "count", "keep": "count", "intercept": "truth"}
        | {"schedule": "Constant | OverK | SearchThenConverge | Auto | Absolute"}
        | {"K": "count =K", "p": "count =p"},
    ),
    "Constant": ("adaline.schedules", {"eta": "number"}),
    "OverK": ("adaline.schedules", {"eta1": "number"}),
    "SearchThenConverge": ("adaline.schedules", {"eta0": "number", "tau": "number"}),
    "Auto": ("adaline.schedules", {}),
    "Absolute": ("adaline.schedules", {}),
    "Moments": (
        "adaline.sums.moments",
        {"rows": "count", "weight": "number", "mean": "float p+K", "scatter": "float~ p+K p+K"}
        | {"exponent": "power p+K", "rounding": "bound p+K", "mean_rounding": "bound p+K"}
        | {"targets": "count =K"},
    ),
    "Triangle": (
        "adaline.sums.triangle",
        {"rows": "count", "weight": "number", "R": "float p+K+1 p+K+1", "shift": "float p+K"}
        | {"exponent": "power p+K", "targets": "count =K"},
    ),
    "ClassMoments": (
        "adaline.sums.class_moments",
        {"rows": "int+ C", "weight": "float+ C", "mean": "float C p", "exponent": "power p"}
        | {"scatter": "float p p | float C p p | float C p", "covariance": "text"}
        | {"rounding": "bound p | bound C p", "mean_rounding": "bound C p"},
    ),
    "Spectrum": (
        "adaline.procedures.spectrum",
        {"s": "float+ r", "a": "float r K", "rest": "float~ K", "weight": "number"}
        | {"count": "number", "intercept": "truth", "full": "truth", "flat": "bool K"}
        | {"mean": "float p+K", "e": "plain", "e_y": "power K"}
        | {"V": "float p r | float 0 0", "U": "float n r | float 0 0", "A": "CentredRows | None"},
    ),
    "CentredRows": (
        "adaline.procedures.krylov",
        {"X": "rows n p", "B": "float n K", "root": "float n", "mean": "float p+K"}
        | {"weight": "number", "intercept": "truth", "flat": "bool K", "e": "plain"}
        | {"e_y": "power K"},
    ),
    "Gaussians": (
        "adaline.procedures.gaussian",
        {"exponent": "power p", "centre": "float p", "means": "float C p", "priors": "float+ C"}
        | {"metrics": "tuple Metric", "W": "float C p | float 0 p", "b": "float~ C"}
        | {"certificate": "Certificate"},
    ),
    "Metric": (
        "adaline.procedures.gaussian",
        {"covariance": "float p p | float p", "A": "float p p | float p", "log_det": "number~"}
        | {"error": "number~", "condition": "number~", "shrinkage": "number", "ridge": "number"}
        | {"dependent": "int+ d"},
    ),
    "Information": (
        "adaline.procedures.inference",
        {"error": "float~ K p+1", "loss": "number~", "null": "number~", "weight": "number"}
        | {"saturated": "number~", "constant": "number~", "parameters": "number~"}
        | {"covariance?": "float~ K p+1 K p+1 | None", "centre?": "float~ p | None"}
        | {"dispersion?": "number~"},
    ),
    "Kernel": (
        "adaline.procedures.kernel_perceptron",
        {"name": "text", "degree": "number", "gamma": "number", "coef0": "number"},
    ),
    "BayesModel": (
        "adaline.estimators.bayes",
        {"classes": "labels", "family": "Table | tuple Density", "priors": "float+ C"},
    ),
    "Density": (
        "adaline.estimators.densities",
        {"source": "Gaussian | gaussian_kde", "dimension": "count =p", "discrete": "truth"}
        | {"label": "plain"},
    ),
    "Gaussian": (
        "adaline.estimators.densities",
        {"mean": "float p", "unit": "float+ p", "eigenvalues": "float+ p", "axes": "float p p"}
        | {"ridge": "number"},
    ),
    "Table": (
        "adaline.estimators.densities",
        {"symbols": "tuple plain", "probabilities": "float+ C s"},
    ),
    "MaxMargin": (
        "adaline.estimators.separation",
        {"w": "float p", "b": "number", "margin": "number", "lower": "number", "upper": "number"}
        | {"positive": "float p", "negative": "float p", "support": "int+ m", "weights": "float+ m"}
        | {"classes": "labels", "certificate": "Certificate", "n_iter": "count"},
    ),
}

# Records that are models of their own; the others are parts.
ALONE = ("ClassMoments", "MaxMargin", "Moments", "Triangle")

# Weights that someone wrote after the fit, where they follow from it otherwise.
WRITTEN = {"coef_": "real~ K p | real~ p", "intercept_": "real~ K | number~"}

# Proofs are written as their own JSON.
PROOFS: dict[str, str] = {"Separability": "adaline.certificates.separation.separation"}
