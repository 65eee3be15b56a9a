"""The perceptron in dual variables, on a block of rows whose kernel values are known.

Legend: G (B, c) kernel values of B rows with c patterns, row i being pattern first + i; T (K, B)
targets -1 or +1; omega (B,) or (0,) weights of the rows; A (K, c) lambda t of each pattern;
V (K, B) outputs; born (c,) when a pattern became a support, -1 while it is none; clock (1,) how
many became one so far; seen (2, K, B) or empty, room for each row's output and lambda t as the row
is met.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel


@kernel
def correct_block(G, first, T, omega, A, V, born, clock, budget, seen):
    """One visit to each row, correcting by its weight where t v <= 0; returns how many corrections.

    A, V, born and clock are changed. With a budget > 0, a support too many is forgotten at once.
    """
    K, B = T.shape
    corrections = 0
    held = np.sum(born >= 0)
    for i in range(B):
        j = first + i
        wrong = False
        weight = omega[i] if omega.shape[0] > 0 else 1.0
        for k in range(K):
            if seen.shape[0] > 0:
                seen[0, k, i], seen[1, k, i] = V[k, i], A[k, j]
            if T[k, i] * V[k, i] <= 0.0:
                wrong = True
                corrections += 1
                d = weight * T[k, i]
                A[k, j] += d
                for r in range(B):  # kernels are symmetric: a row of G serves as its column
                    V[k, r] += d * G[i, first + r]
        if wrong and born[j] < 0:
            born[j] = clock[0]
            clock[0] += 1
            held += 1
            if 0 < budget < held:
                _forget(G, _least_useful(A, born, j), A, V, born)
                held -= 1
    return corrections


@kernel
def _least_useful(A, born, newest):
    """The support with the smallest lambda, the oldest of these; never the newest.

    Were the newest one eligible, a budget of old hands would learn nothing any more.
    """
    worst, least = -1, np.inf
    for j in range(born.shape[0]):
        if born[j] >= 0 and j != newest:
            total = 0.0
            for k in range(A.shape[0]):
                total += abs(A[k, j])
            if total < least or (total == least and born[j] < born[worst]):
                worst, least = j, total
    return worst if worst >= 0 else newest


@kernel
def _forget(G, j, A, V, born):
    for k in range(A.shape[0]):
        for r in range(V.shape[1]):
            V[k, r] -= A[k, j] * G[r, j]
        A[k, j] = 0.0
    born[j] = -1
