"""Sums behind a duality gap that is to be believed: compensated, each with what rounding can do.

Legend: data, indices, indptr the rows x_i; t (n,) targets -1 or +1; omega (n,) weights; u (n,)
log-odds of the dual variables lambda_i = omega_i / (1 + exp(-u_i)); w, b the neuron.

Sums carry the rounding of each addition along (Neumaier): what remains of n roundings is one, and
n^2 squared ones.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel

_FAR = 600.0  # log-odds beyond which a dual variable counts as 0 or omega: the rest is 1e-260 of it


@kernel
def added(a):
    """Sum of a (n,)."""
    total, carry = 0.0, 0.0
    for i in range(a.shape[0]):
        x = a[i]
        s = total + x
        carry += (total - s) + x if abs(total) >= abs(x) else (x - s) + total
        total = s
    return total + carry


@kernel
def dual_point(omega, u):
    """lambda (n,), each to a few units of rounding, and omega_i times its entropy, (n,)."""
    lam, entropy = np.empty(u.shape[0]), np.empty(u.shape[0])
    for i in range(u.shape[0]):
        a = abs(u[i])
        e = np.exp(-a) if a < _FAR else 0.0
        lam[i] = omega[i] * ((1.0 if u[i] >= 0.0 else e) / (1.0 + e))
        entropy[i] = omega[i] * (np.log1p(e) + a * e / (1.0 + e)) if a < _FAR else 0.0
    return lam, entropy


@kernel
def combined(data, indices, indptr, c, p):
    """The sum (p,) of c_i x_i, and of |c_i x_i|."""
    z, carry, size = np.zeros(p), np.zeros(p), np.zeros(p)
    for i in range(c.shape[0]):
        for q in range(indptr[i], indptr[i + 1]):
            j, x = indices[q], c[i] * data[q]
            s = z[j] + x
            carry[j] += (z[j] - s) + x if abs(z[j]) >= abs(x) else (x - s) + z[j]
            z[j] = s
            size[j] += abs(x)
    return z + carry, size


@kernel
def primal_point(data, indices, indptr, t, omega, w, b, eps):
    """omega_i log(1 + exp(-t_i v_i)), (n,), what rounding of v = w'x + b can do to it, and t_i v_i.

    v of m entries is off by less than d = (m + 3) eps (|w|'|x| + |b|), and the loss by less than
    d times its slope, which is at most 1 and changes by less than the factor exp(d).
    """
    losses, doubts, margins = np.zeros(t.shape[0]), np.zeros(t.shape[0]), np.zeros(t.shape[0])
    for i in range(t.shape[0]):
        if omega[i] == 0.0:
            continue
        start, stop = indptr[i], indptr[i + 1]
        v, size = 0.0, abs(b)
        for q in range(start, stop):
            x = data[q] * w[indices[q]]
            v += x
            size += abs(x)
        m = t[i] * (v + b)
        margins[i] = m
        d = (stop - start + 3) * eps * size
        e = np.exp(-abs(m))
        slope = (e if m >= 0.0 else 1.0) / (1.0 + e)
        slope = min(slope * np.exp(d), 1.0) if d < 1.0 else 1.0
        losses[i] = omega[i] * (np.log1p(e) + max(-m, 0.0))
        doubts[i] = omega[i] * slope * d
    return losses, doubts, margins
