"""Rows centred at the mean of their class, and sums by class. Called by sums/class_moments.py.

t = scale x - shift_k,   k = codes[i],   r = sqrt(omega_i), or 1 where root is empty
"""

from __future__ import annotations

from adaline.jit import kernel


@kernel
def add_centred(X, codes, places, root, scale, shift, T, sums, squares):
    """T[places[i]] = r t, sums[k] += r^2 t and squares[k] += (r t)^2, both (K, p)."""
    for i in range(X.shape[0]):
        k, place = codes[i], places[i]
        r = root[i] if root.shape[0] > 0 else 1.0
        for j in range(X.shape[1]):
            t = (X[i, j] * scale[j] - shift[k, j]) * r
            T[place, j] = t
            sums[k, j] += t * r
            squares[k, j] += t * t
