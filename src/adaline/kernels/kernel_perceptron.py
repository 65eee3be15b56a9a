"""The perceptron in dual variables, on a block of rows whose kernel values are known.

Called by procedures/kernel_perceptron.py. G (B, c) holds the kernel values of B rows with c
patterns, row i being pattern first + i; T (K, B) targets -1 or +1; omega (B,) weights of the rows,
or none; A (K, c) lambda t of each pattern; V (K, B) outputs.
"""

from __future__ import annotations

from adaline.jit import kernel


@kernel
def correct_block(G, first, T, omega, A, V, seen):
    """Visit each row once: lambda += omega where t v <= 0. Returns the corrections.

    seen (2, K, B), if not empty, receives the output and lambda t of each row as it is met.
    """
    K, B = T.shape
    corrections = 0
    for i in range(B):
        j = first + i
        weight = omega[i] if omega.shape[0] > 0 else 1.0
        for k in range(K):
            if seen.shape[0] > 0:
                seen[0, k, i], seen[1, k, i] = V[k, i], A[k, j]
            if T[k, i] * V[k, i] <= 0.0:
                corrections += 1
                A[k, j] += weight * T[k, i]
                for r in range(B):  # kernels are symmetric: a row of G serves as its column
                    V[k, r] += weight * T[k, i] * G[i, first + r]
    return corrections
