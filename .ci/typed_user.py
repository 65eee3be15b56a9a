"""A user's module: mypy --strict and pyright must accept it with the types that adaline ships."""

from __future__ import annotations

import numpy as np

from adaline import NLMS, LeastSquares, LogisticRegression, Moments, separability
from adaline.results import Certificate

X = np.array([[0.0], [1.0], [2.0], [3.0]])
y = np.array([1.0, 3.0, 5.0, 7.5])


def proof_of(model: LeastSquares) -> Certificate:
    return model.certificate_


model = LeastSquares().fit(X, y)
digits: Certificate = proof_of(model)
classes: np.ndarray = LogisticRegression(alpha=1.0).fit(X, y > 2.0).predict(X)
weight: float = Moments.of(X, y).weight
verdict: str = separability(X, y > 2.0).verdict
predicted, error = NLMS(taps=2).process(y, y)
print(digits, classes, weight, verdict, error)
