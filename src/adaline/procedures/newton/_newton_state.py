"""The state of Newton's procedure, and its steps.

A step is -H^-1 g. H is a Hessian from an earlier theta, transported to the present one (see
`_transported_hessian`) and corrected by the changes of gradient since (L-BFGS). Every step must
lower f.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from math import inf, isfinite, log, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from adaline._threads import one_blas_thread
from adaline.certificates.optimality import CurvatureBound, Within, radius
from adaline.linalg import inner, length
from adaline.objective import Evaluation, Objective
from adaline.procedures.newton._curvature_bound import curvature_bound, joint_bound, thin_bound
from adaline.procedures.newton._stride import is_dear, proof_rows, sample_step
from adaline.procedures.newton.curvature import (
    Curvature,
    Pairs,
    corrected,
    curvature,
    is_one_matrix,
    remember,
)
from adaline.procedures.newton.descent import line_search
from adaline.results import Array

if TYPE_CHECKING:
    from adaline.procedures.newton._by_products import HessianProducts
    from adaline.procedures.newton._transported_hessian import Sample, TransportedHessian

_SMALL = 2**13  # numbers in a matrix too few for threads of BLAS
_PROVEN = 1e-3  # times |w|: a bound on the distance from the minimum that is of use
_AS_IS: AbstractContextManager[None] = nullcontext()
_LONGEST = 16.0  # times Newton's first step, at most


@dataclass(eq=False)
class NewtonState:
    """theta, the loss there, and what is known of the curvature.

    Attributes
    ----------
    loss : Objective
    theta : ndarray of shape (K, q)
    here : Evaluation
        f and g at theta.
    root : ndarray
        Slopes of the rows at theta, as `Objective.at` fills them.
    rounded : Objective or None
        The rows in float32, where steps begin with them.
    coarse : bool
        Whether f, g and root are those of the rounded rows.
    known : Curvature
        The last Hessian that was made.
    pairs : list
        Steps and changes of gradient since then.
    steps : int
    full : int
        Rank of the first Hessian.
    sample : Sample or None
        Rows that the Hessian is transported by.
    transported : TransportedHessian or None
    measured : tuple or None
        A theta, the lower bound on the Hessian there, and what `radius` proves by it.
    products : HessianProducts or None
        What makes steps in the place of L-BFGS.
    """

    loss: Objective
    theta: Array
    here: Evaluation
    root: Array
    known: Curvature
    pairs: Pairs = field(default_factory=list)
    steps: int = 0
    full: int = 0
    rounded: Objective | None = None
    coarse: bool = False
    sample: Sample | None = None
    transported: TransportedHessian | None = None
    measured: tuple[Array, CurvatureBound, Within] | None = None
    products: HessianProducts | None = None
    _solved: tuple[Any, ...] = (None, None, None, None)

    @property
    def nu(self) -> float:
        """sqrt(g'H^-1 g), the Newton decrement: about the distance from the minimum."""
        return sqrt(max(inner(self.here.g, self._newton_step()), 0.0))

    def _newton_step(self) -> Array:
        """H^-1 g here, kept until g or H is another: nu and the direction both ask for it."""
        here, known, transported, found = self._solved
        if here is not self.here or known is not self.known or transported is not self.transported:
            found = self.solve(self.here.g)
            self._solved = self.here, self.known, self.transported, found
        return np.asarray(found)

    def solve(self, g: Array) -> Array:
        """H^-1 g, with H transported to theta where that is possible."""
        with self._one_blas_thread():
            found = self.known.solve(g)
            return found if self.transported is None else self.transported.solve(g, found)

    def _one_blas_thread(self) -> AbstractContextManager[None]:
        """For small products, whose last digit would depend on how many threads BLAS uses."""
        small = self.theta.size**2 <= _SMALL
        return _AS_IS if small else one_blas_thread(self.theta.shape[1])

    def direction(self) -> Array:
        """-H^-1 g, with H corrected by L-BFGS; or as products with H tell."""
        if self.by_products:
            assert self.products is not None
            return self.products.direction(self.here, self.root)
        if not self.pairs:
            return -self._newton_step()
        return -corrected(self.here.g, self.pairs, self._scaled_solve())

    @property
    def by_products(self) -> bool:
        """Whether products with the Hessian make the steps."""
        return self.products is not None and not self.products.slow

    def _scaled_solve(self) -> Callable[[Array], Array]:
        """`solve`; where H is a diagonal only, times what the last step tells of its size.

        Where columns outnumber the rows, the curvature along the rows is larger than on average.
        """
        if self.known.diagonal is None or self.known.rough is not None:
            return self.solve
        _, y, sy = self.pairs[-1]
        own = inner(y, self.solve(y))  # zero where squares of tiny changes underflow
        size = sy / own if own > 0.0 else 1.0
        return lambda g: size * self.solve(g)

    @property
    def lost(self) -> bool:
        """Whether the Hessian has lost rank since the start: probabilities of 0 and 1 have no
        curvature."""
        return self.known.exact and self.rank < self.full

    @property
    def rank(self) -> int:
        """Rank of the last Hessian, as far as it is known."""
        return self.known.roots[0].rank if self.known.exact else self.theta.size

    def rounding(self) -> Array:
        """Bound on what rounding may have done to each component of g, (q,)."""
        return self.loss.rounding(self.theta, self.here)

    @property
    def sketched(self) -> bool:
        """Whether no matrix was made so far that could serve for a proof."""
        return self.known.diagonal is not None

    @property
    def tentative(self) -> bool:
        """Whether no such matrix was made, but could be."""
        return self.sketched and not self.loss.is_wide

    def renew(self, left: float, stride: int) -> None:
        """Make a new Hessian at theta, and forget the pairs, which it contains.

        It has at least twice the rows of the last, which turned out to be too few.
        """
        first = self.sketched
        most = 2**62 if first else max(self.known.stride // 2, 1)
        self.known = curvature(self.loss, self.theta, self.root, left, stride, most)
        if first:
            self.full = self.rank
        self.pairs.clear()
        self.set_origin()

    def use_rows(self) -> None:
        """Go on with the rows as they are, where steps were made with rounded ones."""
        if self.coarse:
            self.coarse = False
            self.here = self.loss.at(self.theta, self.root)

    @property
    def can_roughen(self) -> bool:
        """Whether a Hessian in float32 can be made, and was not yet."""
        return self.rounded is not None and self.known.rough is None

    def roughen(self) -> bool:
        """Make a Hessian of the rounded rows and forget the pairs; False where it is singular."""
        from adaline.procedures.newton._float32 import rough_curvature  # seldom needed

        assert self.rounded is not None
        found = rough_curvature(self.rounded, self.root)
        if found is None:
            return False
        self.known = found
        self.pairs.clear()
        return True

    def set_origin(self) -> None:
        """Remember the slopes of the sample at the theta where the Hessian was made."""
        self.transported = None
        if self.sample is not None:
            with self._one_blas_thread():
                self.sample.set_origin(self.theta, self.root, not self.known.shrunk)
            self.transport()

    def transport(self) -> None:
        """Transport the Hessian to the present theta, if it was made at another."""
        if self.sample is not None and self.known.matrix is not None:
            with self._one_blas_thread():
                found = self.sample.transport(self.known.matrix, self.theta, self.root)
            self.transported = self.transported if found is None else found

    def proven(self) -> bool:
        """Whether the distance from the minimum is proven.

        Where a matrix could still be made, a bound without it must be close enough to be of use.
        Where columns depend on others, no step leads to a proof.
        """
        if self.tentative:
            return self.shortfall() <= 1.0
        return self.rank < self.theta.size or isfinite(self.bounded()[1][2])

    def shortfall(self) -> float:
        """By how much g must shrink until a bound without a matrix proves what is of use."""
        return self._shortfall(*self.bounded())

    def _shortfall(self, bound: CurvatureBound, within: Within) -> float:
        (nu, rho, _), scale = within, self.loss.scale
        useful = _PROVEN * length(self.theta[:, :-1] * scale)
        return max(2.0 * rho * nu, nu * bound.reach(scale) / useful if useful > 0 else inf)

    def bounded(self) -> tuple[CurvatureBound, Within]:
        """A lower bound on the Hessian at theta, and nu, rho and delta of the proof by it."""
        self.use_rows()  # the gradient of rounded rows proves nothing
        if self.measured is None or self.measured[0] is not self.theta:
            self.measured = self.theta, *self._bound()
        return self.measured[1:]

    def _bound(self) -> tuple[CurvatureBound, Within]:
        """Without a matrix where one is dear; of some rows; of all if some prove nothing."""
        error, top = self.rounding(), self.loss.top
        if self.sketched or is_dear(self.loss, proof_rows(self.loss)):
            near = thin_bound(self.loss, self.root)
            within = radius(near, self.here.g, error, top)
            if self.sketched or self._shortfall(near, within) <= 1.0:
                return near, within
        for stride in sorted({proof_rows(self.loss), 1}, reverse=True):
            near = curvature_bound(self.loss, self.theta, self.root, self.known, stride)
            within = radius(near, self.here.g, error, top)
            if isfinite(within[2]):
                return near, within
        if self.loss.K > 1 and is_one_matrix(self.loss):
            near = joint_bound(self.loss, self.root)
            within = radius(near, self.here.g, error, top)
        return near, within

    def _first_length(self, d: Array) -> float:
        """How long the first step should be: where f of a small sample of the rows is least.

        Where rows are like draws from an elliptical distribution, Newton's first step has about the
        right direction and is only too short (Brillinger 1982).
        """
        if self.sample is None:
            return 1.0
        rows = self.sample.rows

        def slope(c: float) -> float:
            return float(np.sum(rows.at(self.theta + c * d).g * d))

        low, high = 1.0, 2.0
        if not slope(low) < 0.0:
            return 1.0
        while high < _LONGEST and slope(high) < 0.0:
            low, high = high, 2.0 * high
        for _ in range(4):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
        return low

    def step(self) -> bool:
        """Make one step that lowers f. False where it had to be shortened, or none was found."""
        d = self.direction()
        first = self._first_length(d) if self.steps == 0 else 1.0
        rows = self.rounded if self.coarse and self.rounded is not None else self.loss
        found = line_search(
            lambda theta: rows.at(theta, self.root),
            *(self.theta, d, self.here, self.loss.weight, first),
        )
        if found is None:
            rows.at(self.theta, self.root)
            return False
        size, theta, there = found
        if size <= 1.0 and not self.by_products:  # a longer step tells little of H here
            remember(self.pairs, size * d, there.g - self.here.g)
        self.theta, self.here, self.steps = theta, there, self.steps + 1
        self.transport()
        return size == first


def begin(
    loss: Objective,
    theta: Array,
    goal: float,
    *,
    sketched: bool = False,
    known: Curvature | None = None,
    rounds: bool = False,
) -> NewtonState:
    """The state at theta, with the Hessian there, for a nu that is to fall to goal.

    Of a wide loss, and where this is asked for, the Hessian is sketched: no matrix is made. Nor is
    one made where one is known from a place nearby. With `rounds`, steps without a matrix begin
    with the rows in float32, where that pays.
    """
    sketched = sketched or loss.is_wide
    root = loss.room()
    rows = _rounded(loss) if rounds and sketched else None
    here = (rows or loss).at(theta, root)
    far = sqrt(loss.weight)
    if np.any(theta):  # the minimum of a sample
        far = min(far, 4.0 * sqrt(theta.size))
    if known is not None:
        state = NewtonState(loss, theta, here, root, known)
        state.full = state.rank
        return state
    if sketched:
        from adaline.procedures.newton._sketch import sketch

        known = sketch(loss, root, theta)
    else:
        known = curvature(loss, theta, root, log(max(far / goal, 2.0)))
    state = NewtonState(loss, theta, here, root, known, rounded=rows, coarse=rows is not None)
    state.full = state.rank
    if loss.is_wide:
        state.products = _products(loss, goal)
    if not sketched and (stride := sample_step(loss)):
        from adaline.procedures.newton._transported_hessian import Sample  # of large tables

        state.sample = Sample(loss, stride)
        state.set_origin()
    return state


def _rounded(loss: Objective) -> Objective | None:
    from adaline.procedures.newton._float32 import rounded  # seldom needed

    return rounded(loss)


def _products(loss: Objective, goal: float) -> HessianProducts | None:
    from adaline.procedures.newton._by_products import HessianProducts, is_worth_products

    return HessianProducts(loss, goal) if is_worth_products(loss) else None
