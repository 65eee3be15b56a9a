"""The learners of the map: ours, the peer's settings by name, and the shapes that both fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from map_data import CLASSES, CSR, DENSE, FLOAT32, MANY, SMALL, TALL, TARGETS, WIDE, Targets, parsed
from map_quality import gap, logistic, nothing, one_hot, poisson, squared, unlike
from sklearn import discriminant_analysis as bayes
from sklearn import linear_model as peers
from sklearn.naive_bayes import GaussianNB

import adaline

AUTO = np.logspace(-3, 4, 20)
HESSIAN = 1000  # rows and columns from which a peer's matrix of second derivatives takes too long


@dataclass(frozen=True)
class Learner:
    """Ours, the peer's settings by name, the shapes, and how far a model is from the minimum."""

    ours: Callable[[], Any]
    peers: dict[str, Callable[[], Any]]
    shapes: tuple[str, ...]
    gradient: Callable[..., float]
    targets: Targets = "numbers"

    def settings(self, shape: str) -> dict[str, Callable[[], Any]]:
        """The peer's that do not ask for a matrix of thousands of columns, or for minutes."""
        of = parsed(shape)
        large = of.of == "classes" and of.k * of.p >= HESSIAN
        name = "newton-cholesky" if large or of.kind == "csr" else "newton-cg"
        name = "newton" if shape in WIDE else name
        return {s: make for s, make in self.peers.items() if not s.startswith(name)}


class OneHot(peers.LinearRegression):
    """scikit-learn's least squares of K classes: a target of 0 and 1 for each."""

    def fit(self, X: Any, codes: Any) -> OneHot:
        """Codes 0, ..., K - 1."""
        return super().fit(X, np.eye(int(codes.max()) + 1)[codes])


class Poisson(peers.PoissonRegressor):
    """scikit-learn's, whose criterion is a mean over the rows, with our alpha = 1."""

    def fit(self, X: Any, y: Any) -> Poisson:
        """The penalty depends on the number of rows."""
        self.alpha = 1.0 / len(y)
        return super().fit(X, y)


def logistics() -> dict[str, Any]:
    """scikit-learn's logistic regressions: the bias is not penalised, so no liblinear."""
    settings = {}
    for tol in (1e-4, 1e-5, 1e-6, 1e-7):
        for solver in ("lbfgs", "newton-cholesky", "newton-cg"):
            make = partial(peers.LogisticRegression, C=1.0, solver=solver, tol=tol, max_iter=10_000)
            settings[f"{solver} {tol:g}"] = make
    return settings


def poissons() -> dict[str, Any]:
    """scikit-learn's Poisson regressions."""
    return {
        f"{solver} {tol:g}": partial(Poisson, solver=solver, tol=tol, max_iter=10_000)
        for tol in (1e-4, 1e-5, 1e-6, 1e-7)
        for solver in ("lbfgs", "newton-cholesky")
    }


def liblinears() -> dict[str, Any]:
    """LIBLINEAR without a bias, on the dual and on the primal problem."""
    make = partial(peers.LogisticRegression, C=1.0, solver="liblinear", fit_intercept=False)
    dual = {f"dual {t:g}": partial(make, dual=True, tol=t, max_iter=10_000) for t in (3, 0.3, 0.03)}
    primal = {f"primal {t:g}": partial(make, dual=False, tol=t) for t in (1e-3, 1e-4, 1e-5)}
    return dual | primal


def linears(kind: Any) -> dict[str, Any]:
    """scikit-learn's least squares; its tolerance tells when LSQR stops on sparse rows."""
    made = {f"Linear {tol:g}": partial(kind, tol=tol) for tol in (1e-8, 1e-10)}
    return {"LinearRegression": kind} | made


RIDGES = {"Ridge": partial(peers.Ridge, 1.0)} | {
    f"{solver} {tol:.0e}".replace("e-0", "e-"): partial(peers.Ridge, 1.0, solver=solver, tol=tol)
    for solver in ("sparse_cg", "lsqr")
    for tol in (1e-8, 1e-9)
}
RIDGE_CLASSIFIERS = {  # so small a penalty leaves the answer of least squares
    "RidgeClassifier": partial(peers.RidgeClassifier, 1e-6),
    "RidgeClassifier lsqr": partial(peers.RidgeClassifier, 1e-6, solver="lsqr", tol=1e-9),
}
GAUSSIAN = (*SMALL, *TALL, *FLOAT32, *CLASSES)
SHAPES = (*DENSE, *CSR)
LEARNERS = {
    "LeastSquares": Learner(
        adaline.LeastSquares, linears(peers.LinearRegression), (*SHAPES, *TARGETS), squared
    ),
    "Ridge(1)": Learner(partial(adaline.Ridge, 1.0), RIDGES, (*SHAPES, *TARGETS), squared),
    "Ridge auto": Learner(
        adaline.Ridge,
        {"RidgeCV, 20 alphas": partial(peers.RidgeCV, AUTO)},
        (*DENSE, *TARGETS),
        squared,
    ),
    "LeastSquaresClassifier": Learner(
        adaline.LeastSquaresClassifier,
        linears(peers.LinearRegression),
        SHAPES,
        squared,
        targets="labels",
    ),
    "LeastSquaresClassifier of K": Learner(
        adaline.LeastSquaresClassifier,
        linears(OneHot) | RIDGE_CLASSIFIERS,
        CLASSES,
        one_hot,
        targets="labels",
    ),
    "LogisticRegression": Learner(
        partial(adaline.LogisticRegression, 1.0),
        logistics(),
        (
            *SHAPES,
            *CLASSES,
            "100x5, 5 classes",
            "10000x50, 3 classes",
            "10000x50, 6 classes",
            "10000x50, 20 classes",
            "float32 20000x50, 6 classes",
            "csr 5000x20000, 20 classes",
        ),
        logistic,
        targets="labels",
    ),
    "LogisticRegression auto": Learner(
        partial(adaline.LogisticRegression, "auto"),
        {"LogisticRegressionCV": partial(peers.LogisticRegressionCV, Cs=10, cv=5, max_iter=1000)},
        ("100x5", "1000x20", "10000x50", "20000x300", *MANY, "200x2000", "1000x20, 5 classes"),
        nothing,
        targets="labels",
    ),
    "LogisticRegression without bias": Learner(
        partial(adaline.LogisticRegression, 1.0, fit_intercept=False),
        liblinears(),
        CSR,
        gap,
        targets="labels",
    ),
    "PoissonRegression": Learner(
        adaline.PoissonRegression,
        poissons(),
        (*SMALL, *TALL, "3000x500", "200x2000", *FLOAT32, *CSR[:2]),
        poisson,
        targets="counts",
    ),
    "GaussianClassifier": Learner(
        partial(adaline.GaussianClassifier, covariance="shared"),
        {f"LDA {s}": partial(bayes.LinearDiscriminantAnalysis, solver=s) for s in ("lsqr", "svd")},
        (*GAUSSIAN, "5000x1000"),
        unlike,
        targets="labels",
    ),
    "GaussianClassifier full": Learner(
        partial(adaline.GaussianClassifier, covariance="full"),
        {
            f"QDA {s}": partial(bayes.QuadraticDiscriminantAnalysis, solver=s)
            for s in ("svd", "eigen")
        },
        GAUSSIAN,
        unlike,
        targets="labels",
    ),
    "GaussianClassifier diagonal": Learner(
        partial(adaline.GaussianClassifier, covariance="diagonal"),
        {"GaussianNB": GaussianNB},
        (*GAUSSIAN, "5000x1000"),
        unlike,
        targets="labels",
    ),
}
