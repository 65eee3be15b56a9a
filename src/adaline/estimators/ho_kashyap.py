"""Ho and Kashyap's procedure: a separating hyperplane, or the proof that there is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from adaline.certificates.margins import separation
from adaline.certificates.separation.data import Data, as_float64
from adaline.errors import warn_caller
from adaline.estimators.base import Classifier, as_delivered, unchanged_on_error
from adaline.estimators.least_squares import check_margins
from adaline.estimators.online import starting_weights
from adaline.estimators.registry import WEIGHTS, demand
from adaline.parameters import COUNT, FLAG, LEVEL, number
from adaline.procedures.ho_kashyap import HoKashyapFit, column_space, ho_kashyap
from adaline.procedures.separability import decide_data
from adaline.results import Array, Certificate, Kind, finished
from adaline.sums.rows import as_rows

STOPPED = {
    "separated": "every sample is classified correctly at k = {k}.",
    "balanced": "the errors have no positive component at k = {k}, and corrections end.",
    "iterations": "max_iter={k} iterations are done, and neither separated the classes nor "
    "ended the corrections.",
}


class HoKashyap(Classifier):
    """Weights and margins together: e = Ya - b, b <- b + eta (e + |e|), a <- Y^+ b.

    Lecture 001. Rows of Y are t (1, x). The margins b > 0 grow where Ya is larger, and never fall:
    separable classes are separated after finitely many iterations. On others the errors e come to
    have no positive component, and lambda = -e proves that no hyperplane separates; `certificate_`
    says so once that proof was repeated in exact arithmetic. K > 2 classes: each against the rest.

    Parameters
    ----------
    eta : float, default=0.9
        The step, 0 < eta < 1.
    max_iter : int, default=1000
        Iterations k at most; the start is k = 1.
    tol : float, default=1e-6
        Errors that rise above zero by less than tol times the largest |e| count as none. A proof
        that fails then is tried again at a tenth of it.
    fit_intercept : bool, default=True
        Whether there is a bias.

    Attributes
    ----------
    coef_, intercept_, classes_ : ndarray of shape (1, p) or (K, p), (1,) or (K,), and (K,)
    n_iter_ : int
        k of the last a(k); the largest of all classes where they are several.
    margins_ : ndarray of shape (n,) or (n, K)
        The last b. Rows of weight zero keep the margin they came with.
    certificate_ : Certificate
        "separable", "overlapping" or "quasi-separable" where that is proven, else "undecided".
    fit_ : HoKashyapFit
        The same in the lecture's shapes, with the errors e and how each class ended.

    Examples
    --------
    >>> from adaline import HoKashyap
    >>> X, y = [[6, 9], [5, 7], [5, 9], [0, 10]], [+1, +1, -1, -1]
    >>> model = HoKashyap().fit(X, y, coef_init=[1, 1], intercept_init=1)
    >>> model.n_iter_, model.intercept_.round(4), model.coef_.round(4)
    (104, array([-34.8803]), array([[ 27.2592, -11.2702]]))
    """

    _parameters = {
        "eta": replace(LEVEL, says="Ho-Kashyap converges for 0 < eta < 1"),
        "max_iter": COUNT,
        "tol": number(0.0, 1.0, below=True),
        "fit_intercept": FLAG,
    }
    _command = "ho-kashyap"
    _exports = "sides"
    _traces = "margins"
    _stored = WEIGHTS | {"classes_": "labels", "fit_": "HoKashyapFit"}

    def __init__(
        self, eta: float = 0.9, max_iter: int = 1000, tol: float = 1e-6, fit_intercept: bool = True
    ):
        self.eta, self.max_iter = eta, max_iter
        self.tol, self.fit_intercept = tol, fit_intercept

    @unchanged_on_error
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        margins: Any = None,
        *,
        coef_init: Any = None,
        intercept_init: Any = None,
    ) -> Self:
        """Learn from all rows at once: X (n, p) dense or CSR, any labels y (n,).

        Parameters
        ----------
        X, y : array-like or CSR, and array-like
        sample_weight : array-like of shape (n,), optional
            Weights of the squared errors in a = Y^+ b: 2 counts a row twice, 0 leaves it out.
        margins : array-like of shape (n,), optional
            b(1), positive; 1 by default.
        coef_init, intercept_init : array-like, optional
            a(1), in the shapes of coef_ and intercept_; the pseudoinverse Y^+ b(1) by default.
        """
        self._check_parameters()
        X, self.classes_, codes, weights = self._labelled_rows(X, y, sample_weight, reset=True)
        X, _, omega = as_rows(X, None, weights, checked=True)
        b, kept = check_margins(margins, X.shape[0]), np.arange(X.shape[0])
        if len(omega):
            kept = np.flatnonzero(omega)
            X, codes, omega = X[kept], codes[kept], omega[kept]
            # A power of two changes no a = Y^+ b, and keeps squares in range; a weight below
            # 2^-900 is as good as that one.
            omega = np.maximum(np.ldexp(omega, -int(np.frexp(omega.max())[1])), 2.0**-900)
        intercept, K = bool(self.fit_intercept), len(self.classes_)
        # Targets ±1: one row for two classes, else a row for each class against the others.
        T = np.where(codes == np.arange(K == 2, K)[:, None], 1.0, -1.0)
        start = starting_weights(coef_init, intercept_init, len(T), X.shape[1])
        if start is not None and start[1].any() and not intercept:
            raise ValueError("intercept_init is given and fit_intercept is False; leave one out.")

        space, proofs = column_space(X, omega, intercept), [Balance(X, t, intercept) for t in T]
        root, runs = np.sqrt(omega) if len(omega) else np.ones(len(codes)), []
        settings: Any = {"eta": float(self.eta), "max_iter": int(self.max_iter)}
        for k, (t, proof) in enumerate(zip(T, proofs, strict=True)):
            first = None
            if start is not None:
                w, w0 = start[0][k], float(start[1][k])
                first = w, w0, np.asarray(X @ w, dtype=np.float64) + w0
            steps = ho_kashyap.steps(
                space, t, b[kept], root, first, **settings, tol=float(self.tol), proof=proof.prove
            )
            runs.append(finished(steps, self._look))

        W, bias = np.array([run.w for run in runs]), np.array([run.bias for run in runs])
        if not (np.isfinite(W).all() and np.isfinite(bias).all()):
            raise ValueError("weights leave the range of float64; rescale the columns of X.")
        all_margins, errors = np.tile(b, (len(runs), 1)), np.zeros((len(runs), len(b)))
        all_margins[:, kept] = [run.margins for run in runs]
        errors[:, kept] = [run.errors for run in runs]
        names = [f"{label!r}: " for label in self.classes_.tolist()] if K > 2 else [""]
        stopped = " ".join(
            name + STOPPED[run.end].format(k=run.k) for name, run in zip(names, runs, strict=True)
        )
        sides = separation(*as_delivered(W, bias, X.dtype), X, codes)
        certificate = self._choose_certificate(sides, proofs, kept)
        ks, ends = tuple(run.k for run in runs), tuple(run.end for run in runs)
        fit = HoKashyapFit(W, bias, stopped, certificate, all_margins, errors, ks, ends)
        self._accept(fit, X.dtype)
        if "iterations" in ends:
            advice = "Give a larger max_iter, or ask `separability`, which has other proofs."
            warn_caller(f"HoKashyap did not converge: {stopped} {advice}", ConvergenceWarning)
        return self

    fit_: HoKashyapFit
    n_iter_ = property(lambda self: int(max(self.fit_.iterations)))

    @property
    def margins_(self) -> Array:
        return self.fit_.margins[0] if len(self.fit_.b) == 1 else self.fit_.margins.T

    def _restored(self) -> None:
        ks: Any = self.fit_.iterations
        counts = isinstance(ks, tuple) and all(type(k) is int for k in ks)
        demand(counts and len(ks) == len(self.fit_.b), "iterations are not one a neuron.")

    def _choose_certificate(
        self, sides: Certificate, proofs: list[Balance], numbers: NDArray[np.int64]
    ) -> Certificate:
        if sides.kind == "separable" or not any(proofs):
            return sides
        if len(proofs) == 1:
            overlap = proofs[0].certificate()
            evidence = {**overlap.evidence, "rows": numbers[overlap.evidence["rows"]]}
            return Certificate(overlap.kind, overlap.statement, evidence)
        named = [repr(k) for k, p in zip(self.classes_.tolist(), proofs, strict=True) if p]
        statement = (
            f"{sides.statement[:-1]}; proven is that no hyperplane separates {', '.join(named)} "
            "from the rest, which a linear machine need not do."
        )
        return Certificate("undecided", statement, sides.evidence)


class Balance:
    """From errors that balance to a proof: Ho-Kashyap's lambda in whole numbers, or no claim.

    lambda holds sum lambda_i y_i = 0 only to rounding. The samples it rests on are given to the
    search in integers, which ends with exact multipliers of some of them, or with none.
    """

    rows: Any = ()
    multipliers: tuple[int, ...] = ()

    def __init__(self, X: Any, t: Array, intercept: bool) -> None:
        self.X, self.codes, self.intercept = X, (t > 0).astype(np.int64), intercept

    def __bool__(self) -> bool:
        return len(self.rows) > 0

    def decide(self, rows: NDArray[np.int64]) -> Any:
        data = Data(as_float64(self.X[rows]), self.codes[rows], (0, 1), rows)
        return decide_data(data, self.intercept, time_limit=3.0)  # seconds, of each attempt

    def prove(self, balance: Array) -> bool:
        """Whether the samples of largest lambda are proven to have no hyperplane."""
        # Multipliers of as many rows as there are weights, and one more, suffice (Caratheodory);
        # a hundred times as many of the largest lambda leave a choice (any large number).
        largest = np.argsort(-balance, kind="stable")[: 100 * (self.X.shape[1] + 1)]
        support = np.sort(largest[balance[largest] > 1e-9 * balance.max(initial=0.0)])
        if len(support) > 1 and (proof := self.decide(support)).multipliers:
            self.rows = np.array([row for row, _ in proof.rows])
            self.multipliers = proof.multipliers
        return bool(self)

    def certificate(self) -> Certificate:
        """What the multipliers prove of all samples."""
        n, row = len(self.codes), "(1, x)" if self.intercept else "x"
        statement = (
            f"{len(self.rows)} of {n} samples, each as t {row} times a positive whole number, sum "
            "to zero: no hyperplane separates them"
        )
        verdict = self.decide(np.arange(n)).verdict
        kind: Kind = verdict if verdict in ("overlapping", "quasi-separable") else "undecided"
        if kind == "undecided":
            statement += ", while it is undecided whether the classes overlap or only touch"
        evidence = {"rows": self.rows, "multipliers": self.multipliers, "samples": n}
        return Certificate(kind, f"{statement}.", evidence)
