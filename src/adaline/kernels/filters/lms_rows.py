"""LMS and NLMS on given rows instead of a delay line: dot product, error, update, row by row."""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel, sums_kernel
from adaline.kernels.filters.guards import DIVERGED, EVERY, FINE
from adaline.kernels.filters.lms_steps import (
    EXCESS,
    HEAD,
    LEAK,
    LEVEL,
    MU,
    POWER,
    POWER_COUNT,
    R0,
    SIGN,
    SIGN_BOTH,
    SIGN_DATA,
    SIGN_ERROR,
    U1,
    U,
    add_excess,
    automatic,
    averaged,
    energy,
    first_diverged,
    mark_jumps,
    moved,
    sign,
    steps,
)


@sums_kernel
def _dot(w, u):
    """w^H u."""
    s = w.dtype.type(0)
    for k in range(w.shape[0]):
        s += np.conj(w[k]) * u[k]
    return s


@kernel
def lms_rows(rows, d, frozen, w, head, out):
    """rows (n, C M) and d (n,) through w (C M,), which is written in place, and head too."""
    moved(head, U(HEAD), U(0), U(HEAD))
    kind, one, signs = w.dtype.type, head.dtype.type(1), head[SIGN].real
    for i in range(d.shape[0]):
        u = rows[i]
        r = energy(u, 0, u.shape[0])
        if (i % EVERY == 0 or head[POWER_COUNT].real == 0.0) and r > 0.0:
            averaged(head, r)
        head[R0], head[LEVEL] = r, head[POWER]
        steps(head, U1, frozen, U(i))
        may_restart = automatic(head)
        if may_restart and mark_jumps(head, U1) and head[EXCESS].real > 0.0:
            w[:] = 0.0
            head[EXCESS] = 0.0
        head[MU] = abs(head[MU].real)
        y, mu = one * _dot(w, u), head[MU].real
        e = d[i] - y
        out[0, i], out[1, i] = y, e
        if may_restart:
            add_excess(head, d, out, U(i), U1)
        if first_diverged(head, U1, d, out, U(i)) < 1:
            moved(head, U(0), U(HEAD), U(HEAD))
            return 8 * i + DIVERGED
        wanted = sign(e) if signs in (SIGN_ERROR, SIGN_BOTH) else e
        g, stays = kind(mu * np.conj(wanted)), kind(1.0 - mu * head[LEAK].real)
        for k in range(w.shape[0]):
            w[k] = stays * w[k] + g * (sign(u[k]) if signs >= SIGN_DATA else u[k])
    return FINE
