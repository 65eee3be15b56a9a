"""The perceptron in dual variables: lambda_mu is how often pattern mu was corrected.

A pattern of weight omega counts omega each time, as the primal adds omega t x to w.

Letters: v_k(x) = sum_mu lambda_kmu t_kmu (k(x^mu, x) + 1), so that the bias is the constant 1 in
the kernel. A (K, m) holds lambda t; supports are the patterns with a lambda > 0. The pool are all
patterns that may become supports: those of earlier calls, then the rows to learn from.

Called by estimators/kernel_perceptron. Lecture: 002, remarks 3 and 4 on the perceptron algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.errors import plural
from adaline.kernels.sequential import correct_block
from adaline.linalg import UNDERFLOW, UNIT
from adaline.parameters import is_sparse
from adaline.procedures.sequential import Outcome
from adaline.results import Array, Certificate, Steps, Stepwise

CURE = "scale the features or sample_weight, or lower gamma or degree."
MAX_KERNEL_VALUES = 25 * 2**20  # at a time, 200 MB; the rows are worked on in blocks


@dataclass(frozen=True, eq=False)
class Kernel:
    """k(x, c): "linear" x'c, "poly" (gamma x'c + coef0)^degree, "rbf" exp(-gamma |x - c|^2)."""

    name: str
    degree: float = 3
    gamma: float = 1.0
    coef0: float = 1.0

    def __call__(self, X: Any, C: Any) -> Array:
        """The values (n, m) of the rows of X with those of C, checked to be finite."""
        with np.errstate(over="ignore", invalid="ignore"):
            G = X.astype(np.float64) @ C.astype(np.float64).T
            G = np.asarray(G.toarray() if is_sparse(G) else G)
            if self.name == "poly":
                G = (self.gamma * G + self.coef0) ** self.degree
            elif self.name == "rbf":
                distances = squares(X)[:, None] - 2.0 * G + squares(C)
                G = np.exp(-self.gamma * np.maximum(distances, 0.0))
        if not np.isfinite(np.sum(G)) and not np.all(np.isfinite(G)):
            raise ValueError(f"the kernel of two rows is not finite; {CURE}")
        return np.asarray(G)


def squares(X: Any) -> Array:
    if is_sparse(X):
        return np.asarray(X.astype(np.float64).power(2).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X, dtype=np.float64))


@Stepwise
def kernel_perceptron(
    kernel: Kernel, X: Any, T: Array, omega: Array, max_iter: int, noted: bool = False
) -> Steps[tuple[Array, Outcome]]:
    """A and how passes ended: one made no correction, max_iter, or an interrupt.

    Interrupted, the last complete pass stands. The steps are A after every pass, and the blocks of
    `one_pass`.
    """
    A, done = np.zeros((len(T), X.shape[0])), 0
    try:
        fits = X.shape[0] ** 2 <= MAX_KERNEL_VALUES
        gram = np.ascontiguousarray(kernel(X, X) + 1.0) if fits else None
        while done < max_iter:
            A, corrections = yield from one_pass.steps(kernel, X, T, omega, A, gram, noted, done)
            done += 1
            yield done, A
            if not corrections:
                return A, Outcome(done, f"pass {done} made no correction.", True)
    except KeyboardInterrupt:
        return A, Outcome(done, f"interrupted after {done} complete passes.", False)
    why = f"max_iter={max_iter} passes were made, {plural(corrections, 'correction')} in the last."
    return A, Outcome(done, why, False)


@Stepwise
def one_pass(
    kernel: Kernel,
    pool: Any,
    T: Array,
    omega: Array,
    A: Array,
    gram: Array | None = None,
    noted: bool = False,
    done: int = 0,
) -> Steps[tuple[Array, int]]:
    """A after one visit to the last rows of the pool, (K, n) targets T; and corrections.

    The rows come in blocks, each with its kernel values for the supports and for itself. With the
    gram of the whole pool, kernel values plus 1, there is one block. Weights omega (n,) may be
    empty, for ones. The steps, where `noted`, are the blocks: their first row, and (K, B) outputs
    and lambda as each row was met.
    """
    A, start, stop = A.copy(), pool.shape[0] - T.shape[1], pool.shape[0]
    corrections, i = 0, start
    while i < stop:
        supports = np.flatnonzero(A.any(axis=0))
        j = stop if gram is not None else i + block_rows(len(supports), stop - i)
        others = supports[(supports < i) | (supports >= j)]
        chosen, first = np.concatenate([others, np.arange(i, j)]), len(others)
        G = np.ascontiguousarray(kernel(pool[i:j], pool[chosen]) + 1.0) if gram is None else gram
        block = np.ascontiguousarray(A[:, chosen])
        t, weights = np.ascontiguousarray(T[:, i - start : j - start]), omega[i - start : j - start]
        with np.errstate(over="ignore", invalid="ignore"):
            V = np.ascontiguousarray(block @ G.T)
        seen = np.empty((2, *V.shape) if noted else (0, 0, 0))
        corrections += correct_block(G, first, t, weights, block, V, seen)
        if not np.isfinite(V).all():
            raise ValueError(f"sums of lambda t k(x, y) leave the range of float64; {CURE}")
        if noted:
            yield done, (i - start, seen[0], np.abs(seen[1]))
        A[:, chosen], i = block, j
    return A, corrections


def block_rows(supports: int, rows: int) -> int:
    """The most rows B, one at least, with B (supports + B) <= MAX_KERNEL_VALUES."""
    half = supports / 2.0
    return int(np.clip(np.sqrt(half * half + MAX_KERNEL_VALUES) - half, 1, rows))


def outputs(kernel: Kernel, X: Any, patterns: Any, A: Array) -> Array:
    """v_k(x) for each row of X: (n, K)."""
    V = np.zeros((X.shape[0], A.shape[0]))
    size = max(1, MAX_KERNEL_VALUES // max(patterns.shape[0], 1))
    for i in range(0, X.shape[0] if patterns.shape[0] else 0, size):
        V[i : i + size] = (kernel(X[i : i + size], patterns) + 1.0) @ A.T
    return V


def certified(kernel: Kernel, X: Any, T: Array, patterns: Any, A: Array) -> Certificate:
    """Whether every row is on the correct side, by more than rounding of the sums could move it."""
    least, wrong, (n, m) = np.inf, 0, (X.shape[0], patterns.shape[0])
    size = max(1, MAX_KERNEL_VALUES // max(2 * m, 1))
    for i in range(0, n, size):
        with np.errstate(over="ignore", invalid="ignore"):
            G = kernel(X[i : i + size], patterns) + 1.0
            margins = T[:, i : i + size].T * (G @ A.T)
            doubt = (m + 3) * (2.0 * UNIT * (np.abs(G) @ np.abs(A).T) + UNDERFLOW)
            bound = margins - doubt
        bound = np.where(np.isfinite(bound), bound, -np.inf)  # what overflows proves nothing
        least = min(least, float(np.min(bound)))
        wrong += int(np.count_nonzero(np.any(bound <= 0.0, axis=1)))
    evidence = {"wrong": wrong, "samples": n, "least_margin": least, "supports": m}
    if least > 0:
        return Certificate(
            "separable",
            f"taking the kernel's values as computed, all {n} samples are classified correctly, by "
            f"at least {least:.2g} in the score: the classes are separable in the kernel's space.",
            evidence,
        )
    return Certificate(
        "undecided",
        f"{wrong} of {plural(n, 'sample')} {'is' if wrong == 1 else 'are'} on the wrong side or "
        "within rounding of the boundary; whether the kernel can separate them is undecided.",
        evidence,
    )
