"""The perceptron in dual variables: lambda_mu is how often pattern mu was corrected.

A pattern of weight omega counts omega each time, as the primal adds omega t x to w.

Letters: v_k(x) = sum_mu lambda_kmu t_kmu (k(x^mu, x) + 1), so that the bias is the constant 1 in
the kernel. A (K, m) holds lambda t. The pool are all patterns that may become supports: those
of earlier calls, then the rows to learn from.

Lecture: 002, remarks 3 and 4 on the perceptron algorithm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import plural
from adaline.kernels.kernel_perceptron import correct_block
from adaline.linalg import UNDERFLOW, UNIT
from adaline.parameters import is_sparse
from adaline.procedures.sequential import Outcome, asked
from adaline.procedures.steps import Steps, Stepwise
from adaline.results import Array, Certificate

ASYMMETRY = 1e-6  # share of the largest value by which k(x, y), k(y, x) may differ: float32 passes


@dataclass(frozen=True, eq=False)
class Kernel:
    """k(x, c): "linear" x'c, "poly" (gamma x'c + coef0)^degree, "rbf" exp(-gamma |x - c|^2).

    Or a function of two blocks of rows that gives the matrix of its values.
    """

    name: str | Callable[[Any, Any], Any]
    degree: float = 3
    gamma: float = 1.0
    coef0: float = 1.0

    def __call__(self, X: Any, C: Any) -> Array:
        """The values (n, m) of the rows of X with those of C, checked to be finite."""
        if callable(self.name):
            try:
                G = np.array(self.name(X, C), dtype=np.float64, ndmin=2)
            except (ValueError, TypeError) as error:
                raise TypeError(
                    f"kernel is {self.name!r}, which gave no matrix for two blocks of rows: {error}"
                ) from error
            if G.shape != (X.shape[0], C.shape[0]):
                raise ValueError(
                    f"the kernel gave shape {G.shape} for {X.shape[0]} and {C.shape[0]} rows; "
                    f"kernel(X, Y) must give the ({X.shape[0]}, {C.shape[0]}) matrix of k(x, y)."
                )
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                G = self._built_in(X, C)
        if not np.isfinite(np.sum(G)) and not np.all(np.isfinite(G)):
            i, j = np.argwhere(~np.isfinite(G))[0]
            raise ValueError(
                f"the kernel of rows {i} and {j} of a block is {G[i, j]}; a kernel gives finite "
                "numbers. Scale the features, or lower gamma or degree."
            )
        return G

    def _built_in(self, X: Any, C: Any) -> Array:
        G = inner_products(X, C)
        if self.name == "poly":
            G *= self.gamma
            G += self.coef0
            np.power(G, self.degree, out=G)
        elif self.name == "rbf":
            G *= -2.0
            G += squares(X)[:, None]
            G += squares(C)[None, :]
            np.maximum(G, 0.0, out=G)
            G *= -self.gamma
            np.exp(G, out=G)
        return G


def inner_products(X: Any, C: Any) -> Array:
    """x'c in float64, dense (n, m)."""
    G = X.astype(np.float64) @ C.astype(np.float64).T
    return np.asarray(G.toarray() if is_sparse(G) else G)


def squares(X: Any) -> Array:
    """|x|^2 of each row."""
    if is_sparse(X):
        return np.asarray(X.astype(np.float64).power(2).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X, dtype=np.float64))


@dataclass(frozen=True, eq=False)
class Duals:
    """lambda t (K, m) of the patterns of a pool, and when each became a support (-1: is none)."""

    A: Array
    born: NDArray[np.int64]
    clock: int = 0


@Stepwise
def kernel_perceptron(
    kernel: Kernel,
    X: Any,
    T: Array,
    omega: Array,
    budget: int,
    numbers: int,
    max_iter: int,
    noted: bool = False,
) -> Steps[tuple[Duals, Outcome]]:
    """Passes until one makes no correction, or max_iter; interrupted, the last complete one stands.

    The steps are the duals after every pass, and the blocks of `one_pass`.
    """
    duals, done = Duals(np.zeros((len(T), X.shape[0])), np.full(X.shape[0], -1)), 0
    try:
        gram = values_of(kernel, X, X, 0) if X.shape[0] ** 2 <= numbers else None
        while done < max_iter:
            settings = T, omega, duals, budget, numbers, gram, noted, done
            duals, corrections = yield from one_pass.steps(kernel, X, *settings)
            done += 1
            enough = yield done, duals
            if not corrections:
                return duals, Outcome(done, f"pass {done} made no correction.", True)
            if enough:
                return duals, asked(done)
    except KeyboardInterrupt:
        return duals, Outcome(done, f"interrupted after {done} complete passes.", False)
    why = f"max_iter={max_iter} passes were made, {plural(corrections, 'correction')} in the last."
    return duals, Outcome(done, why, False)


@Stepwise
def one_pass(
    kernel: Kernel,
    pool: Any,
    T: Array,
    omega: Array,
    duals: Duals,
    budget: int,
    numbers: int,
    gram: Array | None = None,
    noted: bool = False,
    done: int = 0,
) -> Steps[tuple[Duals, int]]:
    """The duals after one visit to the last rows of the pool, (K, n) targets T; and corrections.

    At most about `numbers` kernel values are held at a time: the rows come in blocks, each with
    its values for the supports and for itself. With the gram of the whole pool there is one block.
    Weights omega (n,) may be empty, for ones. The steps, where `noted`, are the blocks: their first
    row, and (K, B) outputs and lambda as each row was met.
    """
    A, born, clock = duals.A.copy(), duals.born.copy(), duals.clock
    start, stop = pool.shape[0] - T.shape[1], pool.shape[0]
    corrections, i = 0, start
    while i < stop:
        supports = np.flatnonzero(born >= 0)
        j = i + block_rows(len(supports), stop - i, numbers) if gram is None else stop
        others = supports[(supports < i) | (supports >= j)]
        chosen, first = np.concatenate([others, np.arange(i, j)]), len(others)
        G = values_of(kernel, pool[i:j], pool[chosen], first) if gram is None else gram
        block, born_block = np.ascontiguousarray(A[:, chosen]), born[chosen]
        t, weights = np.ascontiguousarray(T[:, i - start : j - start]), omega[i - start : j - start]
        with np.errstate(over="ignore", invalid="ignore"):
            V = np.ascontiguousarray(block @ G.T)
        seen = np.empty((2, *V.shape) if noted else (0, 0, 0))
        rest = t, weights, block, V, born_block, clock, budget, seen
        clock, made = correct_block(G, first, *rest)
        if not np.isfinite(V).all():
            raise ValueError(
                "the outputs, sums of lambda t k(x, y), leave the range of float64; scale the "
                "features or sample_weight, or lower gamma or degree."
            )
        if noted:
            yield done, (i - start, seen[0], np.abs(seen[1]))
        A[:, chosen], born[chosen] = block, born_block
        corrections, i = corrections + made, j
    return Duals(A, born, clock), corrections


def values_of(kernel: Kernel, rows: Any, patterns: Any, first: int) -> Array:
    """k + 1, checked among the rows themselves, which are the patterns from `first` on."""
    G = np.ascontiguousarray(kernel(rows, patterns))
    check_positive(kernel, G[:, first:])
    G += 1.0
    return G


def block_rows(supports: int, rows: int, numbers: int) -> int:
    """The most rows B, one at least, with B (supports + B) <= numbers."""
    half = supports / 2.0
    return int(np.clip(np.sqrt(half * half + numbers) - half, 1, rows))


def check_positive(kernel: Kernel, G: Array) -> None:
    """Refuse what no positive kernel can be, judged by its values G (B, B) among some rows.

    Symmetry, k(x, x) >= 0 and |k(x, y)|^2 <= k(x, x) k(y, y): what two patterns can tell.
    """
    if kernel.name in ("linear", "rbf"):
        return
    own = np.diagonal(G)
    if own.min() < 0.0:
        i = int(np.argmin(own))
        raise ValueError(
            f"the kernel is not positive: k(x, x) = {own[i]:.6g} for row {i} of a block, and a "
            "pattern's inner product with itself cannot be negative. Use another kernel."
        )
    if not callable(kernel.name):
        return
    slack = ASYMMETRY * float(np.abs(G).max())
    for i, row in enumerate(G):
        apart, beyond = np.abs(row - G[:, i]), np.abs(row) - np.sqrt(own[i]) * np.sqrt(own)
        if apart.max() > slack:
            j = int(np.argmax(apart))
            raise ValueError(
                f"the kernel is not symmetric: k(x, y) = {G[i, j]:.6g} and k(y, x) = {G[j, i]:.6g} "
                f"for rows {i} and {j} of a block. An inner product is symmetric; use another."
            )
        if beyond.max() > slack:
            raise ValueError(
                "the kernel is not positive: k(x, y)^2 > k(x, x) k(y, y) for rows "
                f"{i} and {int(np.argmax(beyond))} of a block, so it is no inner product. Use "
                "another kernel."
            )


def outputs(kernel: Kernel, X: Any, patterns: Any, A: Array, numbers: int) -> Array:
    """v_k(x) for each row of X: (n, K)."""
    V = np.zeros((X.shape[0], A.shape[0]))
    size = max(1, numbers // max(patterns.shape[0], 1))
    for i in range(0, X.shape[0] if patterns.shape[0] else 0, size):
        V[i : i + size] = (kernel(X[i : i + size], patterns) + 1.0) @ A.T
    return V


def certified(
    kernel: Kernel, X: Any, T: Array, patterns: Any, A: Array, numbers: int
) -> Certificate:
    """Whether every row is on its right side, by more than rounding of the sums could move it."""
    least, wrong = np.inf, 0
    size = max(1, numbers // max(2 * patterns.shape[0], 1))
    for i in range(0, X.shape[0], size):
        with np.errstate(over="ignore", invalid="ignore"):
            G = kernel(X[i : i + size], patterns) + 1.0
            margins = T[:, i : i + size].T * (G @ A.T)
            doubt = (patterns.shape[0] + 3) * (2.0 * UNIT * (np.abs(G) @ np.abs(A).T) + UNDERFLOW)
            bound = margins - doubt
        bound = np.where(np.isfinite(bound), bound, -np.inf)  # what overflows proves nothing
        least = min(least, float(np.min(bound)))
        wrong += int(np.count_nonzero(np.any(bound <= 0.0, axis=1)))
    n = X.shape[0]
    evidence = {"wrong": wrong, "samples": n, "least_margin": least}
    evidence["supports"] = patterns.shape[0]
    if least > 0:
        return Certificate(
            "separable",
            f"taking the kernel's values as computed, all {n} samples are on their right side, by "
            f"at least {least:.2g} in the score: the classes are separable in the kernel's space.",
            evidence,
        )
    are = "is" if wrong == 1 else "are"
    return Certificate(
        "undecided",
        f"{wrong} of {plural(n, 'sample')} {are} on the wrong side or within rounding of the "
        "boundary; "
        "whether the kernel can separate them is undecided.",
        evidence,
    )
