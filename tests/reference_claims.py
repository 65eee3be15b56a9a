"""Certificates taken at their word: each claim checked in fractions, or decimals of many digits.

Every function answers whether a claim holds for the rows and weights given; None where a model
claims nothing.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np

from reference import dot, exact_least_squares, exact_moments, rationals, solve_exactly
from reference_classifiers import signed_rows, squared_margin, verdict
from reference_losses import NoMinimum, minimum_near


def sides_hold(W, b, X, codes, certificate):
    """Of "separable": every row is on its right side, by the margin that is told."""
    W, b = [rationals(w) for w in W], rationals(b)
    least = Fraction(certificate.evidence["least_margin"])
    for x, code in zip(X, codes, strict=True):
        v = [dot(w, rationals(x)) + c for w, c in zip(W, b, strict=True)]
        if len(v) == 1:
            gap = v[0] if code == 1 else -v[0]
        else:
            gap = v[code] - max(u for k, u in enumerate(v) if k != code)
        if not (gap > 0 and gap >= least):
            return False
    return True


def shown(model):
    """W (K, p) and b (K,) as they were delivered: claims are about these, float32 or not."""
    return np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)


def separation_holds(model, X, y, omega, intercept=True):
    """Of perceptrons, LeastSquaresClassifier and HoKashyap, whatever they claim."""
    certificate = model.certificate_
    codes, kept = np.searchsorted(model.classes_, y), omega > 0
    if certificate.kind == "separable":
        return sides_hold(*shown(model), X[kept], codes[kept], certificate)
    if certificate.kind in ("overlapping", "quasi-separable"):
        t = 2 * codes[kept] - 1
        return verdict(signed_rows(X[kept], t, intercept)) == certificate.kind
    return None


def digits_hold(model, X, y, omega, intercept, ridge):
    """Of "accurate": each coefficient is as near as its bound says; of "exact": the nearest."""
    kind = model.certificate_.kind
    if kind not in ("exact", "accurate"):
        return None
    try:
        exact = exact_least_squares(X, y, omega, intercept, ridge)
    except StopIteration:
        return False  # many solutions, and one was called exact
    W, b = shown(model)
    found, bounds = [*W[0], *b], model.certificate_.evidence["error_bound"][:, 0]
    if not np.isfinite(found).all():
        return False
    if kind == "exact" and not all(
        nearest(value, truth) for value, truth in zip(found, exact, strict=False)
    ):
        return False
    return all(
        abs(Fraction(float(value)) - truth) <= Fraction(float(bound))
        for value, truth, bound in zip(found, exact, bounds, strict=False)
    )


def nearest(value, truth):
    """Whether no other number of its dtype is closer to the truth."""
    far = abs(Fraction(float(value)) - truth)
    ends = (np.nextafter(value, np.inf, dtype=value.dtype), np.nextafter(value, -np.inf))
    return all(far <= abs(Fraction(float(end)) - truth) for end in ends if np.isfinite(end))


def optimum_holds(model, X, y, omega, alpha, intercept, offset=None, unmet=None):
    """Of "optimal": the minimum of the loss is as near as it is said to be; or `unmet`.

    A list of penalties is one a column. Columns that the model has beside those of X are zeros.
    """
    evidence, (W, b), p = model.certificate_.evidence, shown(model), X.shape[1]
    if model.certificate_.kind != "optimal":
        return None
    if not (np.isfinite(W).all() and np.isfinite(b).all()):
        return False
    classes = getattr(model, "classes_", None)
    kind, y = ("counts", y) if classes is None else ("classes", np.searchsorted(classes, y))
    far = evidence["distance"] if "distance" in evidence else evidence["distance_bound"]
    bounds = np.broadcast_to(evidence.get("coef_bound", far), W.shape)
    bias = evidence.get("intercept_bound", np.inf)
    near = np.append(bounds.min(axis=0)[:p], bias if bias < np.inf else far)
    try:
        rows = X, y, omega, np.zeros(len(y)) if offset is None else offset
        truth, biases = minimum_near(
            kind, *rows, alpha, intercept, W[:, :p], b, np.nan_to_num(near)
        )
    except NoMinimum:
        return unmet if np.isfinite(near).all() else None
    truth = [[*row, *[Decimal(0)] * (W.shape[1] - p)] for row in truth]
    truth = [t for row in truth for t in row]
    off = [abs(Decimal(float(a)) - t) for a, t in zip(W.flat, truth, strict=True)]
    each = all(d <= Decimal(float(c)) for d, c in zip(off, bounds.flat, strict=True))
    apart = [abs(Decimal(float(a)) - t) for a, t in zip(b, biases, strict=True)] * intercept
    total = sum((d * d for d in off), Decimal(0)).sqrt()
    return each and total <= Decimal(float(far)) and max(apart, default=0) <= Decimal(float(bias))


def wide_ridge_holds(model, X, y, omega, alpha, intercept):
    """Of "accurate" and wide rows: w = X'(XX' + alpha/omega)^-1 y about the means."""
    if model.certificate_.kind != "accurate":
        return None
    kept, alpha = omega > 0, Fraction(alpha)
    rows, targets, weights = [rationals(x) for x in X[kept]], rationals(y[kept]), omega[kept]
    weights, p = rationals(weights), X.shape[1]
    if intercept:
        n = sum(weights)
        mean = [dot(weights, column) / n for column in zip(*rows, strict=True)]
        centre = dot(weights, targets) / n
        rows = [[a - m for a, m in zip(row, mean, strict=True)] for row in rows]
        targets = [a - centre for a in targets]
    G = [
        [dot(a, c) + alpha / w * (a is c) for c in rows] for a, w in zip(rows, weights, strict=True)
    ]
    dual = solve_exactly(G, targets)
    exact = [dot(dual, [row[j] for row in rows]) for j in range(p)]
    found = rationals(shown(model)[0][0])
    far = sum((a - b) ** 2 for a, b in zip(found, exact, strict=True))
    return far <= Fraction(float(np.max(model.certificate_.evidence["error_bound"]))) ** 2


def densities_hold(model, X, y, omega):
    """Of "optimal": Gaussian densities are those of the rows, to the digits that are told."""
    if model.certificate_.kind != "optimal":
        return None
    g, evidence, kept = model.model_, model.certificate_.evidence, omega > 0
    error, drift = Fraction(evidence["distance_error"]), Fraction(evidence["mean_error"])
    unit = [Fraction(2) ** int(e) for e in g.exponent]
    codes, p = np.searchsorted(model.classes_, y), X.shape[1]
    parts, scatters = [], []
    for k in range(len(model.classes_)):
        rows = kept & (codes == k)
        n, mean, S = exact_moments(X[rows], omega[rows])
        parts.append((n, mean))
        scatters.append([[S[i][j] / unit[i] / unit[j] for j in range(p)] for i in range(p)])
    if model.covariance == "shared":
        total = sum(n for n, _ in parts)
        whole = [[sum(S[i][j] for S in scatters) / total for j in range(p)] for i in range(p)]
        covariances = [whole] * len(parts)
    else:
        covariances = [
            [[c / n for c in row] for row in S] for S, (n, _) in zip(scatters, parts, strict=True)
        ]
    for k, (_, mean) in enumerate(parts):
        A = g.metrics[min(k, len(g.metrics) - 1)].A
        A = np.diag(A) if A.ndim == 1 else A
        if not metric_holds(A, covariances[k], error, model.covariance == "diagonal"):
            return False
        found = [Fraction(a) for a in model.moments_.mean[k].tolist()]
        off = [a - m / u for a, m, u in zip(found, mean, unit, strict=True)]
        if squared(A, off) > drift**2 * (1 + Fraction(1, 1000)):
            return False
    return True


def metric_holds(A, S, error, diagonal):
    """Whether |A'd|^2 is d'S^-1 d to a relative error, over features that are not left out."""
    p = len(S)
    live = [j for j in range(p) if np.any(A[j])]
    if any(S[j][j] != 0 for j in range(p) if j not in live):
        return False  # it varies, and was left out
    for j in live:
        d = [Fraction(int(i == j)) for i in range(p)]
        if diagonal:
            truth = 1 / S[j][j]
        else:
            truth = solve_exactly([[S[i][k] for k in live] for i in live], [d[i] for i in live])[
                live.index(j)
            ]
        if abs(squared(A, d) - truth) > error * truth:
            return False
    return True


def squared(A, d):
    """|A'd|^2 in fractions."""
    return sum((dot(rationals(column), d) ** 2 for column in A.T), Fraction(0))


def margin_holds(found, X, t, intercept):
    """Of `max_margin`: the largest margin lies between its bounds."""
    truth = Fraction(squared_margin(X, t, intercept)) / (4 if intercept else 1)
    below = found.upper == np.inf or truth <= Fraction(float(found.upper)) ** 2
    return Fraction(float(found.lower)) ** 2 <= truth and below


def mistakes_hold(bound, X, t, w, b):
    """Of `mistake_bound`: it is no smaller than beta/D^2 and (R/D)^2."""
    ones = [] if b is None else [Fraction(1)]
    rows = [rationals(x) + ones for x in X]
    weights = rationals(w) + ([] if b is None else [Fraction(b)])
    margins = [int(s) * dot(weights, x) for x, s in zip(rows, t, strict=True)]
    if min(margins) <= 0:
        return False
    D2 = min(margins) ** 2 / dot(weights, weights)
    squares = [dot(x, x) for x in rows]
    told = [(bound.lecture, sum(squares) / D2), (bound.sharp, max(squares) / D2)]
    return all(value == np.inf or Fraction(value) >= truth for value, truth in told)
