"""Ho and Kashyap's procedure: a separating hyperplane, or the proof that there is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from adaline.certificates.separation.data import Data, as_float64
from adaline.certificates.sides import separation
from adaline.errors import warn_caller
from adaline.estimators.base import (
    COEF,
    Classifier,
    as_delivered,
    starting_weights,
    unchanged_on_error,
)
from adaline.estimators.labels import check_labels, encode
from adaline.estimators.least_squares import check_margins
from adaline.estimators.registry import SEEN, demand
from adaline.parameters import COUNT, FLAG, LEVEL, number
from adaline.procedures.ho_kashyap import HoKashyapFit, column_space, ho_kashyap
from adaline.procedures.separability import decide_data
from adaline.procedures.steps import finished
from adaline.results import Array, Certificate, Kind
from adaline.sums.rows import as_rows

PROOF_SECONDS = 3.0  # for one attempt: what integers have not decided by then stays undecided
TRIED_FIRST = 20  # times the number of weights: rows of largest lambda tried before all
NEGLIGIBLE = 1e-9  # of the largest lambda: left out of the proof (any small number)
STOPPED = {
    "separated": "every sample is on its right side at k = {k}.",
    "balanced": "the errors have no positive component at k = {k}, and corrections end.",
    "iterations": "max_iter={k} iterations are done, and neither separated the classes nor "
    "ended the corrections.",
}


class HoKashyap(Classifier):
    """Weights and margins together: e = Ya - b, b <- b + eta (e + |e|), a <- Y^+ b.

    Lecture 001. Rows of Y are t (1, x). Minimum squared error with margins chosen badly may
    miss a separating hyperplane; here the margins b > 0 grow where Ya is larger, and never
    fall. Separable classes are separated after finitely many iterations. On others the errors e
    come to have no positive component, and lambda = -e proves that no hyperplane separates;
    `certificate_` says so only after that proof was repeated in exact arithmetic. K > 2
    classes: each against the rest.

    (1, X) is factorised once; an iteration is then one pass over n times rank numbers.

    Parameters
    ----------
    eta : float, default=0.9
        The step, 0 < eta < 1.
    max_iter : int, default=1000
        Iterations k at most; the start is k = 1. There is no bound on how many are needed.
    tol : float, default=1e-6
        Errors that rise above zero by less than tol times the largest |e| count as none. A proof
        that fails then is tried again at a tenth of it.
    fit_intercept : bool, default=True
        Whether there is a bias.

    Attributes
    ----------
    coef_ : ndarray of shape (1, p) or (K, p)
    intercept_ : ndarray of shape (1,) or (K,)
    classes_ : ndarray
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
    >>> model.margins_.round(4)
    array([ 28.    ,  22.6   ,   1.    , 147.4309])
    >>> model.certificate_.kind, HoKashyap().fit(X, y).n_iter_  # from a = Y^+ b
    ('separable', 3)
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
    _stored = SEEN | {"classes_": "labels", "fit_": "HoKashyapFit"}
    _derived = (*COEF, "margins_", "n_iter_")

    def __init__(
        self, eta: float = 0.9, max_iter: int = 1000, tol: float = 1e-6, fit_intercept: bool = True
    ):
        self.eta = eta
        self.max_iter = max_iter
        self.tol = tol
        self.fit_intercept = fit_intercept

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
        """Learn from all rows at once.

        Parameters
        ----------
        X : array-like or CSR of shape (n, p)
        y : array-like of shape (n,)
            Any labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the squared errors in a = Y^+ b: 2 counts a row twice, 0 leaves it out.
        margins : array-like of shape (n,), optional
            b(1), positive; 1 by default.
        coef_init, intercept_init : array-like, optional
            a(1), in the shapes of coef_ and intercept_; the pseudoinverse Y^+ b(1) by default.
        """
        self._check_parameters()
        X = self._rows(X, reset=True)
        weights = self._weights(sample_weight, X)
        self.classes_, codes = encode(check_labels(y, X.shape[0]), None, weights)
        X, _, omega = as_rows(X, None, weights)
        b = check_margins(margins, X.shape[0])
        kept = omega > 0 if len(omega) else np.ones(X.shape[0], dtype=bool)
        if not kept.all():
            X, codes, omega = X[kept], codes[kept], omega[kept]
        if len(omega):
            # A power of two changes no a = Y^+ b, and keeps squares in range; a weight below
            # 2^-900 is as good as that one.
            omega = np.maximum(np.ldexp(omega, -int(np.frexp(omega.max())[1])), 2.0**-900)
        K = len(self.classes_)
        # Targets ±1: one row for two classes, else a row for each class against the others.
        T = np.where(codes == (np.arange(1, 2) if K == 2 else np.arange(K))[:, None], 1.0, -1.0)
        start = starting_weights(coef_init, intercept_init, len(T), X.shape[1])
        if start is not None and start[1].any() and not self.fit_intercept:
            raise ValueError("intercept_init is given and fit_intercept is False; leave one out.")
        proofs = [Balance(X, t, bool(self.fit_intercept)) for t in T]

        space = column_space(X, omega, bool(self.fit_intercept))
        root = np.sqrt(omega) if len(omega) else np.ones(X.shape[0])
        runs = []
        for k, (t, proof) in enumerate(zip(T, proofs, strict=True)):
            first = None
            if start is not None:
                w, w0 = start[0][k], float(start[1][k])
                first = w, w0, np.asarray(X @ w, dtype=np.float64) + w0
            options: dict[str, Any] = {"eta": float(self.eta), "max_iter": int(self.max_iter)}
            options |= {"tol": float(self.tol), "proof": proof.prove}
            steps = ho_kashyap.steps(space, t, b[kept], root, first, **options)
            runs.append(finished(steps, self._look))

        W, bias = np.array([run.w for run in runs]), np.array([run.bias for run in runs])
        if not (np.isfinite(W).all() and np.isfinite(bias).all()):
            raise ValueError("weights leave the range of float64; rescale the columns of X.")
        all_margins, errors = np.tile(b, (len(runs), 1)), np.zeros((len(runs), len(b)))
        all_margins[:, kept] = [run.margins for run in runs]
        errors[:, kept] = [run.errors for run in runs]
        ks, ends = tuple(run.k for run in runs), tuple(run.end for run in runs)
        reasons = [STOPPED[run.end].format(k=run.k) for run in runs]
        if K > 2:
            labelled = zip(self.classes_.tolist(), reasons, strict=True)
            reasons = [f"{label!r}: {reason}" for label, reason in labelled]
        stopped = " ".join(reasons)
        sides = separation(*as_delivered(W, bias, X.dtype), X, codes)
        certificate = self._choose_certificate(sides, proofs, np.flatnonzero(kept))
        fit = HoKashyapFit(W, bias, stopped, certificate, all_margins, errors, ks, ends)
        self._deliver(fit, X.dtype)
        if "iterations" in ends:
            warn_caller(
                f"HoKashyap did not converge: {stopped} Give a larger max_iter, or ask "
                "`separability`, which finds proofs in other ways.",
                ConvergenceWarning,
            )
        return self

    def _deliver(self, fit: Any, dtype: Any) -> None:
        super()._deliver(fit, dtype)
        self.margins_ = fit.margins[0] if len(fit.b) == 1 else fit.margins.T
        self.n_iter_ = max(fit.iterations)

    def _restored(self, dtype: Any) -> None:
        ks: Any = self.fit_.iterations  # type: ignore[attr-defined]
        whole = isinstance(ks, tuple) and all(type(k) is int for k in ks)
        demand(whole and len(ks) == len(self.fit_.b), "iterations are not one a neuron.")
        super()._restored(dtype)

    def _choose_certificate(
        self, sides: Certificate, proofs: list[Balance], numbers: NDArray[np.int64]
    ) -> Certificate:
        """That the samples are on their right sides, or that they cannot be, or neither."""
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

    def __init__(self, X: Any, t: Array, intercept: bool) -> None:
        self.X, self.codes, self.intercept = X, (t > 0).astype(np.int64), intercept
        self.rows: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.multipliers: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return len(self.rows) > 0

    def decide(self, rows: NDArray[np.int64]) -> Any:
        """The separability of some samples, with its proof."""
        data = Data(as_float64(self.X[rows]), self.codes[rows], (0, 1), rows)
        return decide_data(data, self.intercept, PROOF_SECONDS)

    def prove(self, balance: Array) -> bool:
        """Whether the samples with a positive lambda are proven to have no hyperplane."""
        support = np.flatnonzero(balance > NEGLIGIBLE * balance.max(initial=0.0))
        attempts, few = [support], TRIED_FIRST * (self.X.shape[1] + 1)
        if len(support) > 2 * few:
            largest = np.argpartition(-balance[support], few)[:few]
            attempts = [np.sort(support[largest]), support]
        for rows in attempts:
            if len(rows) < 2:
                return False
            proof = self.decide(rows)
            if proof.multipliers:
                self.rows = np.array([row for row, _ in proof.rows])
                self.multipliers = proof.multipliers
            if proof.verdict != "separable":  # proven; or undecided, as more rows would be
                break
        return bool(self)

    def certificate(self) -> Certificate:
        """What the multipliers prove of all samples."""
        n, row = len(self.codes), "(1, x)" if self.intercept else "x"
        statement = (
            f"{len(self.rows)} of {n} samples, each as t {row} times a positive whole number, sum "
            "to zero: no hyperplane has them all on its right side"
        )
        verdict = self.decide(np.arange(n)).verdict
        kind: Kind = "undecided"
        if verdict in ("overlapping", "quasi-separable"):
            kind = verdict
        else:
            statement += ", while it is undecided whether the classes overlap or only touch"
        evidence = {"rows": self.rows, "multipliers": self.multipliers, "samples": n}
        return Certificate(kind, f"{statement}.", evidence)
