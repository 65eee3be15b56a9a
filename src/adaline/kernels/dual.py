"""Dual coordinate descent for logistic regression on CSR rows (Yu, Huang & Lin 2011).

Legend: data, indices, indptr the rows x_i; t (n,) targets -1 or +1; omega (n,) weights; z = sum of
lambda_i t_i x_i, so that w = z / alpha; u (n,) log-odds of the dual variables,
lambda_i = omega_i / (1 + exp(-u_i)), which keeps them strictly inside 0..omega_i. At the optimum
u_i = -t_i v_i.
"""

import numpy as np

from adaline.jit import kernel


@kernel
def share(u):
    """1 / (1 + exp(-u)), without overflow and with exact tails."""
    e = np.exp(-abs(u))
    return 1.0 / (1.0 + e) if u >= 0.0 else e / (1.0 + e)


@kernel
def log_odds(c, a, u):
    """The root u of u + c + a share(u) = 0 for a >= 0, from a guess.

    The left side rises with slope 1 to 1 + a/4, so the root lies in [-c - a, -c]; a Newton step
    that leaves the bracket is halved instead. A hundredth of the first error is good enough: the
    other coordinates will move it again.
    """
    low, high = -c - a, -c
    u = min(max(u, low), high)
    enough = 0.01 * abs(u + c + a * share(u))
    for _ in range(60):
        p = share(u)
        f = u + c + a * p
        if abs(f) <= enough:
            break
        if f > 0.0:
            high = u
        else:
            low = u
        step = u - f / (1.0 + a * p * (1.0 - p))
        if not low < step < high:
            step = 0.5 * (low + high)
        if step == u:
            break
        u = step
    return u


@kernel
def dual_pass(data, indices, indptr, t, omega, squares, order, alpha, pull, b, u, lam, z):
    """Raise the dual by one coordinate after the other; u, lam and z are changed.

    The bias is b[0] + pull b[1], where b[1] = sum of lambda_i t_i: a proximal term
    (bias - b[0])^2 / (2 pull), whose centre the caller moves. Returns about what the duality gap
    was: half the sum of |u + t v| |lambda - omega share(-t v)| over the rows as they were met.
    """
    gap = 0.0
    for k in range(order.shape[0]):
        i = order[k]
        if omega[i] == 0.0:
            continue
        v = 0.0
        for q in range(indptr[i], indptr[i + 1]):
            v += data[q] * z[np.uintp(indices[q])]
        v = v / alpha + b[0] + pull * b[1]
        gap += 0.5 * abs((u[i] + t[i] * v) * (lam[i] - omega[i] * share(-t[i] * v)))
        curvature = squares[i] / alpha + pull
        u[i] = log_odds(t[i] * v - curvature * lam[i], curvature * omega[i], u[i])
        change = t[i] * (omega[i] * share(u[i]) - lam[i])
        lam[i] += t[i] * change
        b[1] += change
        for q in range(indptr[i], indptr[i + 1]):
            z[np.uintp(indices[q])] += change * data[q]
    return gap
