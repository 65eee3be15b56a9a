"""The perceptron in dual variables, on a block of rows whose kernel values are known.

Called by procedures/kernel_perceptron.py. G (B, c) holds the kernel values of B rows with c
patterns, row i being pattern first + i; T (K, B) targets -1 or +1; omega (B,) weights of the rows,
or none; A (K, c) lambda t of each pattern; V (K, B) outputs; born (c,) when a pattern became a
support, -1 while it is none.
"""

from __future__ import annotations

import numpy as np

from adaline.jit import kernel


@kernel
def correct_block(G, first, T, omega, A, V, born, clock, budget, seen):
    """Visit each row once: lambda += omega where t v <= 0. Returns (clock, corrections).

    clock is how many patterns became supports so far. With a budget > 0, a support too many is
    forgotten at once. seen (2, K, B), if not empty, receives the output and lambda t of each row
    as it is met.
    """
    K, B = T.shape
    corrections = supports = 0
    for j in range(born.shape[0]):
        supports += born[j] >= 0
    for i in range(B):
        j, is_wrong = first + i, False
        weight = omega[i] if omega.shape[0] > 0 else 1.0
        for k in range(K):
            if seen.shape[0] > 0:
                seen[0, k, i], seen[1, k, i] = V[k, i], A[k, j]
            if T[k, i] * V[k, i] <= 0.0:
                is_wrong = True
                corrections += 1
                A[k, j] += weight * T[k, i]
                for r in range(B):  # kernels are symmetric: a row of G serves as its column
                    V[k, r] += weight * T[k, i] * G[i, first + r]
        if is_wrong and born[j] < 0:
            born[j] = clock
            clock += 1
            supports += 1
            if 0 < budget < supports:
                forget(G, least_useful(A, born, j), A, V, born)
                supports -= 1
    return clock, corrections


@kernel
def least_useful(A, born, newest):
    """The support with the smallest lambda, of these the oldest; never the newest, because a budget
    of old ones would learn nothing any more."""
    worst, least = newest, np.inf
    for j in range(born.shape[0]):
        if born[j] >= 0 and j != newest:
            total = 0.0
            for k in range(A.shape[0]):
                total += abs(A[k, j])
            if total < least or (total == least and born[j] < born[worst]):
                worst, least = j, total
    return worst


@kernel
def forget(G, j, A, V, born):
    """Pattern j is no support any more."""
    for k in range(A.shape[0]):
        for r in range(V.shape[1]):
            V[k, r] -= A[k, j] * G[r, j]
        A[k, j] = 0.0
    born[j] = -1
