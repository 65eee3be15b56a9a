"""What an answer is worth: how far a fitted model is from the minimum, and how many digits agree.

`WORST` says how far a peer's setting may be and still count; the criterion is that of ours, with
alpha = 1 where there is a penalty.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import adaline

EXACT = 1e-13  # a gradient that only rounding is left of
SINGLE = 1e-6  # a gradient that weights rounded to float32 can have


def squared(X: Any, y: Any, model: Any) -> float:
    """|A'(y - Aw) - alpha w| / |A'y| with A the centred rows."""
    alpha = np.atleast_1d(getattr(model, "alpha_", getattr(model, "alpha", 0.0)))
    alpha = alpha if alpha.dtype.kind == "f" else np.zeros(1)  # one for all targets, or one each
    units = getattr(model, "column_scale_", None)
    units = np.ones(1) if units is None else units[:, None] ** 2
    return _of_squares(X, y, np.atleast_2d(model.coef_), alpha * units)


def one_hot(X: Any, codes: Any, model: Any) -> float:
    """The same without a penalty, of a target for each class: 1 on its rows and 0 on the others."""
    half = 0.5 if type(model).__name__ == "RidgeClassifier" else 1.0  # its targets are 1 and -1
    return _of_squares(X, np.eye(int(codes.max()) + 1)[codes], half * model.coef_, 0.0)


def _of_squares(X: Any, y: Any, W: Any, penalties: Any) -> float:
    Y, W = np.asarray(y, dtype=np.float64).reshape(len(y), -1), W.astype(np.float64)
    left = Y - X @ W.T
    left, Y = left - left.mean(axis=0), Y - Y.mean(axis=0)
    return float(np.linalg.norm(X.T @ left - penalties * W.T) / np.linalg.norm(X.T @ Y))


def logistic(X: Any, t: Any, model: Any) -> float:
    """|gradient| / |gradient at zero| of the logistic loss with alpha = 1."""
    if len(model.classes_) > 2:
        return _softmax(X, t, model)
    w, b = np.ravel(model.coef_).astype(np.float64), float(np.ravel(model.intercept_)[0])
    pull = -t / (1.0 + np.exp(np.clip(t * (X @ w + b), -700, 700)))
    return _of_loss(X, pull, -t / 2, w)


def _softmax(X: Any, codes: Any, model: Any) -> float:
    Y = np.eye(len(model.classes_))[codes.astype(int)]
    V = X @ model.coef_.T.astype(np.float64) + model.intercept_.astype(np.float64)
    P = np.exp(V - V.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    return _of_loss(X, P - Y, 1.0 / Y.shape[1] - Y, model.coef_.T)


def poisson(X: Any, y: Any, model: Any) -> float:
    """|gradient| / |gradient at zero| of Poisson's loss with alpha = 1."""
    w = model.coef_.astype(np.float64)
    return _of_loss(X, np.exp(X @ w + float(model.intercept_)) - y, 1.0 - y, w)


def _of_loss(X: Any, slopes: Any, at_zero: Any, W: Any) -> float:
    """|gradient| / |gradient at zero|, bias and all, of a loss with these slopes at the rows."""
    here, start = (
        np.hypot(np.linalg.norm(X.T @ s + w), np.linalg.norm(s.sum(axis=0)))
        for s, w in ((slopes, W), (at_zero, 0.0))
    )
    return float(here / start)


def gap(X: Any, t: Any, model: Any) -> float:
    """How far, relatively, the logistic criterion without a bias is above the least."""
    best = adaline.LogisticRegression(1.0, fit_intercept=False, tol=1e-11).fit(X, t)
    mine, least = (_criterion(X, t, m) for m in (model, best))
    return max(mine / least - 1.0, 0.0)


def _criterion(X: Any, t: Any, model: Any) -> float:
    w = np.ravel(model.coef_).astype(np.float64)
    return float(np.logaddexp(0.0, -t * (X @ w)).sum() + 0.5 * w @ w)


def nothing(X: Any, y: Any, model: Any) -> float:
    """Of two penalties that were searched neither is the right one."""
    return 0.0


def unlike(X: Any, y: Any, model: Any) -> float:
    """Means and covariances have no gradient: the share of rows labelled unlike ours."""
    covariance = {"Linear": "shared", "Quadra": "full", "Gaussi": "diagonal"}
    ours = model
    if not isinstance(model, adaline.GaussianClassifier):
        ours = adaline.GaussianClassifier(covariance[type(model).__name__[:6]]).fit(X, y)
    return float(np.mean(ours.predict(X) != model.predict(X)))


WORST = {squared: 1e-8, one_hot: 1e-8, logistic: 1e-5, poisson: 1e-5, gap: 1e-8}
WORST |= {nothing: 0.0, unlike: 1e-3}
KINDS = {  # what to say of a peer's and of our quality; the others are gradients
    gap: "gap: peer {:.0e}, ours {:.0e}",
    unlike: "rows that the peer labels otherwise: {:.0e}",
    nothing: "",
}


def digits(ours: Any, peer: Any, X: Any) -> float:
    """Digits of the peer's coefficients that agree with ours, relative to each target's largest."""
    if not np.array_equal(getattr(ours, "alpha_", 1.0), getattr(peer, "alpha_", 1.0)):
        return float("nan")  # another penalty was chosen
    V, W = (np.atleast_2d(m.coef_).astype(np.float64) for m in (ours, peer))
    apart = np.abs(V - W).max(axis=1) / np.abs(V).max(axis=1)
    return float(-np.log10(max(apart.max(), np.finfo(X.dtype).eps / 2)))


def proven(ours: Any) -> float:
    """Digits that the fit proves of its own coefficients; NaN where it proves none."""
    return float(ours.fit_.certificate.evidence.get("digits", float("nan")))
