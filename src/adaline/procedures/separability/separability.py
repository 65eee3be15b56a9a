"""Is there a separating hyperplane? Floats propose, integers dispose.

A search among floats ends with weights, or with rows whose hull seems to hold zero. Either is
then proven exactly or not believed: weights by the signs of all rows, rows by the whole numbers
with which they sum to zero. What floats cannot decide, a simplex in integers does.

Where rows sum to zero, no weights have y'w > 0 on them: y'w = 0 there, and on all that they
span. The rest is decided among the weights orthogonal to them (facial reduction).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline._jit.working_time import working_time
from adaline._threads import one_blas_thread
from adaline.certificates.separation.given import Given, as_float64, fingerprint
from adaline.certificates.separation.integer_claims import TooLarge
from adaline.certificates.separation.separation import Separability, Verdict
from adaline.certificates.separation.signed_rows import SignedRows
from adaline.integers import combination, in_span, null_vector
from adaline.procedures.max_margin.nearest_point import NearestPoint
from adaline.procedures.separability import _float_rows
from adaline.procedures.separability._conditioned import Conditioned
from adaline.procedures.separability._duplicates import equal_and_opposite
from adaline.procedures.separability._exact_lp import Answer, ExactSimplex, OutOfTime
from adaline.procedures.separability._hinge import separating
from adaline.procedures.separability._weight_subspace import WeightSubspace

_SIMPLEX = 400  # weights up to which the simplex in integers is tried
_MULTIPLIERS = 600  # rows up to which their exact multipliers are computed
_MANY = 300  # weights from which least squares is tried first
_DENSE = 3000  # weights up to which a nearest point is sought
_RETRIED = 30  # weights from which floats get a second and third start
_JOIN = 8  # rows that join the simplex at a time

Weights = list[list[int]]


def decide(
    X: Any,
    codes: NDArray[np.int64],
    fit_intercept: bool = True,
    time_limit: float | None = None,
) -> Separability:
    """Separability of rows X (n, p), dense or CSR, with classes 0..K-1.

    All K >= 2 codes must occur. With more than two classes the verdict is about a linear machine.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, p)
    codes : ndarray of int64, shape (n,)
    fit_intercept : bool
        Whether the hyperplane may miss the origin.
    time_limit : float, optional
        Seconds of this thread's work after which to answer "undecided"; see `working_time`.

    Examples
    --------
    >>> decide(np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 0])).verdict
    'overlapping'
    """
    codes = np.asarray(codes, dtype=np.int64)
    if len(codes) != X.shape[0] or not len(codes) or codes.min() < 0 or codes.max() < 1:
        raise ValueError("codes are one a row, 0..K-1 with K >= 2; these are not.")
    data = Given(as_float64(X), codes, tuple(range(int(codes.max()) + 1)), np.arange(len(codes)))
    return decided(data, fit_intercept, time_limit)


def decided(
    data: Given,
    fit_intercept: bool,
    time_limit: float | None = None,
    is_part: bool = False,
    deadline: float | None = None,
) -> Separability:
    """`decide` for data with labels.

    `deadline` is when the limit is over, in `working_time`, where it began before this call: the
    answer names the limit that the user gave, not what was left of it.
    """
    if deadline is None and time_limit is not None:
        deadline = working_time() + time_limit
    rows = SignedRows(data.X, data.codes, len(data.labels), fit_intercept)
    state = _State(rows, deadline, data)
    found = Separability(
        verdict="undecided",
        labels=data.labels,
        n_rows=rows.n,
        n_features=rows.p,
        fit_intercept=fit_intercept,
        fingerprint=fingerprint(data),
        is_part=is_part,
    )
    try:
        # The limit is on the work of this thread, and BLAS on others would double what is used.
        with one_blas_thread(0):
            W = state.decide()
    except OutOfTime:
        found = replace(found, sentence=f"the time limit of {time_limit:g} s was over")
    except TooLarge as error:
        found = replace(found, sentence=str(error))
    else:
        verdict: Verdict = "quasi-separable" if state.support else "separable"
        found = replace(found, verdict=verdict if W else "overlapping")
        if W:
            margin = None if state.support else rows.distance(state.closest, W)
            found = replace(found, weights=tuple(tuple(w) for w in W), margin=margin)
    if state.support:
        found = _with_multipliers(found, state, data)
    if state.space.chosen and (complaint := found.gap(data)):
        # A prime divided a minor, and independent columns were overlooked: seen by nobody yet.
        sentence = f"the proof found does not hold: {complaint.rstrip('.')}"
        return replace(
            found, verdict="undecided", weights=(), rows=(), multipliers=(), sentence=sentence
        )
    return found


def _with_multipliers(found: Separability, state: _State, data: Given) -> Separability:
    """With the rows that sum to zero, in the order of the data."""
    proof = sorted(zip(state.support, state.multipliers, strict=True))
    pairs = [state.rows.pair(row) for row, _ in proof]
    return replace(
        found,
        rows=tuple((int(data.numbers[i]), data.labels[other]) for i, other in pairs),
        multipliers=tuple(multiplier for _, multiplier in proof),
        duplicates=equal_and_opposite(data),
    )


class _State:
    """What is proven so far: rows that sum to zero, and which rows they do not span."""

    def __init__(self, rows: SignedRows, deadline: float | None, data: Given) -> None:
        self.rows, self.deadline, self.data = rows, deadline, data
        self.support: list[int] = []
        self.multipliers: list[int] = []
        self.space = WeightSubspace(rows)
        self.active = np.ones(rows.count, dtype=bool)
        self.closest = np.empty(0, dtype=np.int64)

    def decide(self) -> Weights | None:
        """Weights with y'w > 0 on all rows that the support does not span; None if it spans all."""
        self.floats = self.plain = _float_rows.float_rows(self.rows)
        while True:
            answer = self._answer()
            if not isinstance(answer, Answer):
                return answer
            self._join(answer)
            if not self.space.restrict(self.support):
                return None
            self.active = self.space.beyond(self.active)
            if not self.active.any():
                return None

    def _answer(self) -> Weights | Answer:
        """One step: weights, or rows that sum to zero among the weights left."""
        if _float_rows.expired(self.deadline):
            raise OutOfTime
        start: list[int] = []
        view = self.space.view(self.floats, self.active)
        if view.k > _MANY:
            if not self.support and (twins := self._twins()) is not None:
                return twins
            if (W := self._by_least_squares(view)) is not None:
                return W
        if len(view.numbers) and view.k <= _DENSE:
            # With many columns, vertices that came in late may have got lost in rounding; another
            # start is cheaper than the simplex.
            for attempt in range(3 if view.k > _RETRIED else 1):
                found = _float_rows.search(view, self.deadline, attempt)
                start = view.numbers[found.ids].tolist()
                if (answer := self._believed(found, start)) is not None:
                    return answer
                if found.stopped != "zero":
                    break
        return self._answer() if self._conditioned() else self._exactly(start)

    def _believed(self, found: NearestPoint, start: list[int]) -> Weights | Answer | None:
        """What the floats found, if it is true."""
        if found.stopped == "time":
            raise OutOfTime
        if found.stopped != "positive":
            return self._summed(start)
        W = self.space.rounded(found.point, float(found.point @ found.point - found.gap))
        return W if W is not None and self._positive(W).all() else None

    def _conditioned(self) -> bool:
        """Go over to coordinates that were rounded after all cancellation; False where we have."""
        if self.space.exact is not None or (exact := Conditioned.of(self.rows)) is None:
            return False
        self.space.exact, self.space.chosen, self.floats = exact, True, exact.floats
        if self.support:
            self.space.restrict(self.support)
        return True

    def _twins(self) -> Answer | None:
        """Equal rows with different labels, which sum to zero as they are."""
        for pair in equal_and_opposite(self.data)[:1]:
            i, j = np.searchsorted(self.data.numbers, pair).tolist()
            codes = self.data.codes[[i, j]].tolist()
            numbers = [self.rows.row_of(i, codes[1]), self.rows.row_of(j, codes[0])]
            return Answer(None, numbers, [1, 1])
        return None

    def _by_least_squares(self, view: _float_rows.FloatRows) -> Weights | None:
        """Weights found without writing anything out densely, for many columns."""
        if view.A.shape != (len(view.numbers), view.k):  # K-class rows that are not written out
            return None
        found = separating(view.A, self.deadline)
        W = None if found is None else self.space.rounded(*found)
        return W if W is not None and self._positive(W).all() else None

    def _positive(self, W: Weights) -> NDArray[np.bool_]:
        """Which rows that are left have y'w > 0; the closest ones are remembered."""
        signs, self.closest = self.rows.sides(W, ~self.active)
        return signs[self.active] > 0

    def _summed(self, start: list[int]) -> Answer | None:
        """Positive multipliers with which the rows sum to zero, if there are."""
        if len(start) > _MULTIPLIERS:
            return None
        if self.space.basis is None:
            matrix, _, _ = self.rows.integers(start)
        else:
            matrix = self.space.matrix(start)
        c = null_vector(matrix)
        if c is None:
            return None
        c = [-a for a in c] if min(c) < 0 else c
        kept = [(i, a) for i, a in zip(start, c, strict=True) if a]
        if min(a for _, a in kept) < 0:
            return None
        return Answer(None, [i for i, _ in kept], [a for _, a in kept])

    def _exactly(self, start: list[int]) -> Weights | Answer:
        """The simplex in integers, from the rows that floats found most important."""
        width = self.space.width
        if width > _SIMPLEX:
            raise TooLarge(
                f"floats cannot decide, and {width} weights are more than the {_SIMPLEX} "
                "for which integers are tried"
            )
        known = start or np.flatnonzero(self.active)[:1].tolist()
        simplex = ExactSimplex(width, self.deadline)
        simplex.add(self.space.matrix(known))
        while True:
            answer = simplex.solve()
            if answer.w is None:
                return Answer(None, [known[i] for i in answer.rows], answer.multipliers)
            W = self.space.weights(answer.w)
            positive = self._positive(W)
            if positive.all():
                return W
            worst = self._worst(W, np.flatnonzero(self.active)[~positive])
            known = known + worst
            simplex.add(self.space.matrix(worst))

    def _worst(self, W: Weights, wrong: NDArray[np.int64]) -> list[int]:
        """Those of the wrong rows that are farthest on the wrong side, by floats."""
        values = np.full(self.rows.count, -np.inf)  # what floats cannot see goes first
        values[self.plain.numbers] = self.plain.values(self.rows.floats(W)[0].ravel())
        order = np.argsort(values[wrong], kind="stable")
        return [int(row) for row in wrong[order[:_JOIN]]]

    def _join(self, answer: Answer) -> None:
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
