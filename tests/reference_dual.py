"""Slow twins for dual variables: the perceptron in primal form, and L2 logistic regression."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize


def primal_perceptron(X, t, max_iter=1000):
    """Lecture 002, incremental, epsilon = 1, start at zero, the bias an input of 1.

    Returns w, b, and how often each pattern was corrected.
    """
    w, b, corrections = np.zeros(len(X[0])), 0.0, np.zeros(len(X))
    for _ in range(max_iter):
        wrong = 0
        for i, x in enumerate(X):
            if t[i] * (sum(w[j] * x[j] for j in range(len(x))) + b) <= 0:
                w = w + t[i] * np.asarray(x)
                b = b + t[i]
                corrections[i] += 1
                wrong += 1
        if wrong == 0:
            break
    return w, b, corrections


def logistic_value(X, t, omega, alpha, w, b):
    """sum omega log(1 + exp(-t v)) + alpha/2 |w|^2."""
    return float(np.sum(omega * np.logaddexp(0.0, -t * (X @ w + b))) + 0.5 * alpha * w @ w)


def logistic_minimum(X, t, omega, alpha, intercept):
    """w, b and the least value, by Newton on the dense problem from scipy's answer."""
    X1 = np.column_stack([X, np.ones(len(X))]) if intercept else X
    penalty = np.full(X1.shape[1], alpha)
    if intercept:
        penalty[-1] = 0.0

    def value(theta):
        return np.sum(omega * np.logaddexp(0.0, -t * (X1 @ theta))) + 0.5 * penalty @ theta**2

    def gradient(theta):
        p = np.exp(-np.logaddexp(0.0, t * (X1 @ theta)))
        return X1.T @ (-omega * t * p) + penalty * theta

    theta = minimize(value, np.zeros(X1.shape[1]), jac=gradient, method="BFGS").x
    for _ in range(20):
        p = np.exp(-np.logaddexp(0.0, t * (X1 @ theta)))
        H = (X1.T * (omega * p * (1 - p))) @ X1 + np.diag(penalty)
        theta = theta - np.linalg.lstsq(H, gradient(theta), rcond=None)[0]
    w, b = (theta[:-1], theta[-1]) if intercept else (theta, 0.0)
    return w, float(b), float(value(theta))
