"""Is there a separating hyperplane? Floats propose, integers dispose.

A search among floats ends with weights, or with rows whose hull seems to hold zero. Either is
then proven exactly or not believed: weights by the signs of all rows, rows by the whole numbers
with which they sum to zero. What floats cannot decide, a simplex in integers does.

Where rows sum to zero, no weights have y'w > 0 on them: y'w = 0 there, and on all that they
span. The rest is decided among the weights orthogonal to them (facial reduction).

Called by `separability`, by HoKashyap for its proofs, and by LogisticRegression to say whether
maximum likelihood exists. bench/bench_separability.py times it beside linear programs.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import lsqr

from adaline.certificates.separation.checking import TooLarge, find_gap
from adaline.certificates.separation.data import Data
from adaline.certificates.separation.rows import Ints, SignedRows
from adaline.certificates.separation.separation import Separability, Verdict
from adaline.integers import combination, in_span, null_vector
from adaline.parameters import is_sparse
from adaline.procedures.exact_lp import Answer, ExactSimplex, OutOfTime, WeightSpace, require_time
from adaline.procedures.max_margin import NearestPoint, nearest_point
from adaline.results import Array
from adaline.sums.threads import one_blas_thread

WIDEST_SIMPLEX = 400  # weights up to which the simplex in integers is tried
MANY = 300  # weights from which least squares is tried first
WIDEST_DENSE = 3000  # weights up to which a nearest point is sought
EXPLICIT = 2**24  # numbers up to which K-class rows are written out: 128 MB

Weights = list[list[int]]


def start_clock(time_limit: float | None) -> float | None:
    """The deadline, after kernels are compiled: the first call has no less time than others."""
    if time_limit is None:
        return None
    compile_kernels()
    return time.thread_time() + time_limit


@cache  # once per process
def compile_kernels() -> None:
    nearest_point(lambda z: (1, np.ones(2), 1.0), (0, np.array([2.0, 0.0])), max_iter=2)
    null_vector([[1], [1]])


def decide_data(
    data: Data,
    fit_intercept: bool,
    time_limit: float | None = None,
    is_part: bool = False,
    deadline: float | None = None,
) -> Separability:
    """The verdict on labelled data, with its proof; codes may lack a label.

    With more than two classes it is about a linear machine. After `time_limit` CPU seconds of this
    thread it is "undecided". `deadline` is that of `start_clock` where the limit began before this
    call: the answer names the limit that the user gave, not what was left of it.
    """
    deadline = start_clock(time_limit) if deadline is None else deadline
    rows = SignedRows(data.X, data.codes, len(data.labels), fit_intercept)
    search = Search(rows, deadline, data)
    undecided = Separability(
        verdict="undecided",
        labels=data.labels,
        n_rows=rows.n,
        n_features=rows.p,
        fit_intercept=fit_intercept,
        fingerprint=data.fingerprint,
        is_part=is_part,
    )
    try:
        # The limit is on the work of this thread, and BLAS on others would double what is used.
        with one_blas_thread(0):
            W = search.decide()
    except OutOfTime:
        proof = replace(undecided, sentence=f"the time limit of {time_limit:g} s was over")
    except TooLarge as error:
        proof = replace(undecided, sentence=str(error))
    else:
        verdict: Verdict = "quasi-separable" if search.support else "separable"
        proof = replace(undecided, verdict=verdict if W else "overlapping")
        if W:
            margin = None if search.support else rows.distance(search.closest, W)
            proof = replace(proof, weights=tuple(tuple(w) for w in W), margin=margin)
    if search.support:
        terms = sorted(zip(search.support, search.multipliers, strict=True))
        pairs = (rows.pair(row) for row, _ in terms)
        proof = replace(
            proof,
            rows=tuple((int(data.numbers[i]), data.labels[other]) for i, other in pairs),
            multipliers=tuple(multiplier for _, multiplier in terms),
            duplicates=data.duplicates(),
        )
    if search.space.chosen and (gap := find_gap(proof, data)):
        # A prime divided a minor, and independent columns were overlooked: never seen yet.
        return replace(undecided, sentence=f"the proof found does not hold: {gap.rstrip('.')}")
    return proof


class Search:
    """What is proven so far: rows that sum to zero, and which rows they do not span."""

    def __init__(self, rows: SignedRows, deadline: float | None, data: Data) -> None:
        self.rows, self.deadline, self.data = rows, deadline, data
        self.support: list[int] = []
        self.multipliers: list[int] = []
        self.space = WeightSpace(rows)
        self.active = np.ones(rows.count, dtype=bool)
        self.closest = np.empty(0, dtype=np.int64)

    def decide(self) -> Weights | None:
        """Weights with y'w > 0 on all rows that the support does not span; None if it spans all."""
        require_time(self.deadline)
        self.floats = FloatRows.of(self.rows, self.rows.unit_samples[0])
        while True:
            answer = self.take_step()
            if not isinstance(answer, Answer):
                return answer
            self.join(answer)
            if not self.space.restrict(self.support):
                return None
            self.active = self.space.beyond(self.active)
            if not self.active.any():
                return None

    def take_step(self) -> Weights | Answer:
        """Weights, or rows that sum to zero among the weights left."""
        require_time(self.deadline)
        start: list[int] = []
        view = self.floats
        if self.space.basis is not None:
            view = view.project(self.space.orthonormal(), self.active)
        if view.k > MANY:
            if not self.support and (twins := self.find_twins()) is not None:
                return twins
            if self.rows.K == 2 or view.signed is None:
                every = np.arange(len(view.numbers))
                hinge = separate_by_hinge(view.take(every), self.deadline)
                if hinge is not None and (W := self.believe_weights(*hinge)) is not None:
                    return W
        if len(view.numbers) and view.k <= WIDEST_DENSE:
            # With many columns, vertices that came in late may have got lost in rounding; another
            # start is cheaper than the simplex.
            for attempt in range(3 if view.k > 30 else 1):
                nearest = search_hull(view, self.deadline, attempt)
                start = view.numbers[nearest.ids].tolist()
                if nearest.stopped == "time":
                    raise OutOfTime
                answer: Weights | Answer | None
                if nearest.stopped == "positive":
                    z = nearest.point
                    answer = self.believe_weights(z, float(z @ z - nearest.gap))
                else:
                    answer = self.believe_multipliers(start)
                if answer is not None:
                    return answer
                if nearest.stopped != "zero":
                    break
        return self.solve_exactly(start)

    def find_twins(self) -> Answer | None:
        """Equal rows with different labels, which sum to zero as they are."""
        for pair in self.data.duplicates()[:1]:
            i, j = np.searchsorted(self.data.numbers, pair).tolist()
            codes = self.data.codes[[i, j]].tolist()
            numbers = [self.rows.row_of(i, codes[1]), self.rows.row_of(j, codes[0])]
            return Answer(None, numbers, [1, 1])
        return None

    def believe_weights(self, u: Array, least: float) -> Weights | None:
        """Integer weights near u, if they have all active rows on the correct side."""
        W = self.space.rounded(u, least)
        return W if W and self.find_positive(W).all() else None

    def believe_multipliers(self, start: list[int]) -> Answer | None:
        """Positive multipliers with which the rows sum to zero, if there are."""
        if len(start) > 600:  # exact multipliers of more take minutes
            return None
        plain = self.space.basis is None
        c = null_vector(self.rows.integers(start)[0] if plain else self.space.matrix(start))
        if c is None:
            return None
        c = [-a for a in c] if min(c) < 0 else c
        if min(c) < 0:
            return None
        return Answer(None, [i for i, a in zip(start, c, strict=True) if a], [a for a in c if a])

    def find_positive(self, W: Weights) -> NDArray[np.bool_]:
        """Which rows that are left have y'w > 0; the closest ones are remembered."""
        signs, self.closest = self.rows.sides(W, ~self.active)
        return signs[self.active] > 0

    def solve_exactly(self, start: list[int]) -> Weights | Answer:
        """The simplex in integers, from the rows that floats found most important."""
        width = self.space.width
        if width > WIDEST_SIMPLEX:
            most = f"the {WIDEST_SIMPLEX} for which integers are tried"
            raise TooLarge(f"floats cannot decide, and {width} weights are more than {most}")
        known = start or np.flatnonzero(self.active)[:1].tolist()
        simplex = ExactSimplex(width, self.deadline)
        simplex.add(self.space.matrix(known))
        while True:
            answer = simplex.solve()
            if answer.w is None:
                return Answer(None, [known[i] for i in answer.rows], answer.multipliers)
            W = self.space.weights(answer.w)
            positive = self.find_positive(W)
            if positive.all():
                return W
            # The rows farthest on the wrong side join; what floats cannot see goes first.
            values = np.full(self.rows.count, -np.inf)
            values[self.floats.numbers] = self.floats.values(self.rows.floats(W)[0].ravel())
            wrong = np.flatnonzero(self.active)[~positive]
            worst = wrong[np.argsort(values[wrong], kind="stable")[:8]].tolist()  # a few at a time
            known = known + worst
            simplex.add(self.space.matrix(worst))

    def join(self, answer: Answer) -> None:
        """Rows that sum to zero among the weights left, joined to those before.

        Their sum is spanned by the support: d sum = - c'(support), and adding multiples of
        the support's own sum, which is zero, makes all multipliers positive.
        """
        if not self.support:
            self.support, self.multipliers = answer.rows, answer.multipliers
            return
        total = combination(answer.multipliers, self.space.signed(answer.rows))
        solved = in_span([[-a for a in total]], self.space.signed(self.support))
        assert solved is not None, "the sum is orthogonal to all weights orthogonal to the support"
        ((c, d),) = solved
        times = max(max(0, -a // m + 1) for a, m in zip(c, self.multipliers, strict=True))
        before = [a + times * m for a, m in zip(c, self.multipliers, strict=True)]
        joined = [*before, *(d * a for a in answer.multipliers)]
        kept = [(i, a) for i, a in zip([*self.support, *answer.rows], joined, strict=True) if a]
        self.support, self.multipliers = [i for i, _ in kept], [a for _, a in kept]


class FloatRows:
    """Signed rows in floats, of unit length, where proposals come from; nothing here is proof.

    A (m, k), with the numbers they have among the signed rows. Rows that floats cannot see are left
    out; the integers will meet them. Where `signed` is given, A holds unit samples, and rows are
    formed when they are needed: K-class rows would be too many to write out.
    """

    def __init__(self, A: Any, numbers: Ints, signed: SignedRows | None = None) -> None:
        self.A, self.numbers, self.signed = A, numbers, signed
        self.k = A.shape[1] * (signed.K - 1 if signed else 1)

    @classmethod
    def of(cls, rows: SignedRows, Z: Any) -> FloatRows:
        """All signed rows, from unit samples Z (n, any number of columns)."""
        every = np.arange(rows.count)
        samples = cls(Z, every, rows)
        if rows.K > 2 and rows.count * samples.k <= EXPLICIT:
            return cls.of_unit_length(samples.take(every), every)
        if rows.K > 2 or rows.intercept:
            return samples
        seen = np.flatnonzero(np.asarray(abs(Z).sum(axis=1)).ravel())  # the others are zero
        return samples if len(seen) == rows.n else cls(samples.take(seen), seen)

    @classmethod
    def of_unit_length(cls, A: Array, numbers: Ints, least: float = 1e-150) -> FloatRows:
        """Rows divided by their lengths, without those that are not longer than `least`."""
        length = np.sqrt(np.einsum("ij,ij->i", A, A))
        keep = length > least
        if not keep.all():
            A, numbers, length = A[keep], numbers[keep], length[keep]
        return cls(A / length[:, None], numbers)

    def take(self, at: Ints) -> Any:
        """The rows at these places."""
        if self.signed is None:
            return self.A[at]
        K = self.signed.K
        i, s = np.divmod(at, K - 1)
        own, samples = self.signed.codes[i], self.A[i]
        if K == 2:
            t = self.signed.sign[i, None]
            return samples.multiply(t).tocsr() if is_sparse(samples) else samples * t
        samples = samples.toarray() if is_sparse(samples) else samples
        # (e_own - e_other) x z, of K - 1 blocks: the first class is left out.
        rows, each = np.zeros((len(at), K, samples.shape[1])), np.arange(len(at))
        rows[each, own], rows[each, self.signed.others[i, s]] = samples, -samples
        return rows[:, 1:].reshape(len(at), -1)

    def row(self, i: int) -> Array:
        row = self.take(np.array([i]))
        return np.asarray(row.toarray() if is_sparse(row) else row).ravel()

    def values(self, u: Array) -> Array:
        if self.signed is None:
            return np.asarray(self.A @ u)
        V = np.asarray(self.A @ u.reshape(self.signed.K - 1, -1).T)
        return self.signed.gaps(V).ravel()

    def project(self, Q: Array, keep: NDArray[np.bool_]) -> FloatRows:
        """Rows A Q of those kept (a mask over signed rows), of unit length again."""
        at = np.flatnonzero(keep[self.numbers])
        # 1e-11 of a row's length: what is left of a shorter row is rounding.
        return FloatRows.of_unit_length(np.asarray(self.take(at) @ Q), self.numbers[at], 1e-11)


def search_hull(A: FloatRows, deadline: float | None, attempt: int = 0) -> NearestPoint:
    """The nearest point of the rows' hull, or one with A z > 0, whichever comes first.

    A pool of rows is priced at each step, all rows only when the pool is positive; the lowest of
    all then join the pool. Later attempts begin elsewhere.
    """
    m, rng = len(A.numbers), np.random.default_rng(attempt)
    size = max(1000, 12 * A.k)
    start = A.values(np.asarray(A.take(np.arange(0, m, -(-m // 1000))).mean(axis=0)).ravel())
    first = int(np.argmin(start)) if attempt == 0 else int(rng.integers(m))
    pool = np.arange(m)
    if m > 2 * size or (attempt and m > 4 * A.k):
        some = rng.choice(m, size if attempt == 0 else min(size, 4 * A.k), replace=False)
        pool = np.unique(np.concatenate([some, np.argpartition(start, min(A.k, m - 1))[: A.k]]))
    chosen = A.take(pool)
    inside = np.zeros(m, dtype=bool)
    inside[pool] = True

    def lowest(z: Array) -> tuple[Any, Array, float]:
        nonlocal pool, chosen
        values = np.asarray(chosen @ z)
        i = int(np.argmin(values))
        if values[i] > 0.0 and len(pool) < m:
            every = A.values(z)
            worst = np.argpartition(every, min(size // 4, m - 1))[: size // 4]
            worst = worst[(every[worst] <= 0.0) & ~inside[worst]]
            if len(worst):
                inside[worst] = True
                stack = sparse.vstack if is_sparse(chosen) else np.concatenate
                chosen, pool = stack([chosen, A.take(worst)]), np.concatenate([pool, worst])
            best = int(np.argmin(every))
            return best, A.row(best), float(every[best])
        row = chosen[i : i + 1]
        return int(pool[i]), row.toarray()[0] if is_sparse(row) else row[0], float(values[i])

    # A corral of many columns may fill the memory; of few it always ends before.
    most = max(64, 2**25 // A.k) if A.k > WIDEST_DENSE else 20 * A.k + 2000
    limits: dict[str, Any] = {"tol": 1e-9, "max_iter": most, "deadline": deadline}
    return nearest_point(lowest, (first, A.row(first)), until_positive=True, **limits)


def separate_by_hinge(A: Any, deadline: float | None) -> tuple[Array, float] | None:
    """w with A w > 0 and the least of A w, both for |w| = 1; None where none was found.

    Minimises half of sum max(0, 1 - y'w)^2 by Newton's method; a step is a least squares problem on
    the rows with y'w < 1, solved by conjugate gradients (LSQR), so nothing becomes dense.
    """
    m, k = A.shape
    w, v = np.zeros(k), np.zeros(m)
    value = 0.5 * m
    for step in range(40):  # most separable data need fewer than ten
        require_time(deadline)
        wrong = np.flatnonzero(v < 1.0)
        # Early steps need no digits, and later ones need few: the rows change from step to step.
        most = min(2 * k, 30 + 5 * step)
        d = lsqr(A[wrong], 1.0 - v[wrong], atol=1e-6, btol=1e-6, iter_lim=most)[0]
        change = np.asarray(A @ d)
        rate, before = 1.0, value
        while rate > 1e-3:
            value = 0.5 * float(np.sum(np.maximum(0.0, 1.0 - v - rate * change) ** 2))
            if value < before:
                break
            rate *= 0.5
        w, v = w + rate * d, v + rate * change
        length = float(np.sqrt(w @ w))
        if length > 0.0 and v.min() > 1e-9 * length:
            return w / length, float(v.min()) / length
        if value > before * (1.0 - 1e-6):
            return None
    return None
