"""Losses, their slopes and curvatures, summed over rows in one pass.

Rows are z = (scale x - shift, 1) and v = theta'z, theta = (w, b). One output: any loss of `links`.
K classes: log sum_k exp(v_k) - v_code.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel, sums_kernel
from adaline.kernels.losses.links import ROWS, exponentials, known, link

FEW_NUMBERS = 2**13  # of a table so small that numpy looks through it
SMALL_PRODUCT = 2**16  # multiplications: BLAS makes it with one thread, for the same bits
CLASS_ROWS = 256  # rows of a block of K classes, whose products BLAS makes
_CACHED = 2**15  # numbers in rows whose second product still finds them in the cache


@sums_kernel
def _values_dense(X, scale, shift, theta, start, stop, v):
    p = X.shape[1]
    for i in range(start, stop):
        s = 0.0
        for j in range(p):
            s += (X[i, j] * scale[j] - shift[j]) * theta[j]
        v[i - start] = s + theta[p]


@sums_kernel
def _add_dense(X, scale, shift, start, stop, r, g):
    """g += sum of r z over the rows; four rows at a time, so that g is read and written less."""
    p = X.shape[1]
    i = start
    while i + 4 <= stop:
        r0, r1, r2, r3 = r[i - start], r[i - start + 1], r[i - start + 2], r[i - start + 3]
        for j in range(p):
            c, d = scale[j], shift[j]
            g[j] += (
                r0 * (X[i, j] * c - d)
                + r1 * (X[i + 1, j] * c - d)
                + r2 * (X[i + 2, j] * c - d)
                + r3 * (X[i + 3, j] * c - d)
            )
        g[p] += r0 + r1 + r2 + r3
        i += 4
    while i < stop:
        for j in range(p):
            g[j] += r[i - start] * (X[i, j] * scale[j] - shift[j])
        g[p] += r[i - start]
        i += 1


def _room(p):
    """Arrays to work in: g, its part from one block, v and r of a block, and three more of these.

    A kernel that makes its arrays itself takes a second more to compile.
    """
    return np.zeros(p + 1), np.zeros(p + 1), np.zeros(ROWS), np.empty(ROWS), np.empty((3, ROWS))


@kernel
def _shift_by(offset, start, stop, v):
    """v += offset of these rows; an assignment of slices would take seconds to compile."""
    if offset.shape[0] > 0:
        for i in range(start, stop):
            v[i - start] += offset[i]


@kernel
def _add_to(part, g):
    for j in range(g.shape[0]):
        g[j] += part[j]


def neuron_dense(code, X, target, omega, offset, scale, shift, theta, root):
    """Loss, its gradient (p + 1,) and the least lead over the rows; see `links.link` for root."""
    room = _room(X.shape[1])
    of_y = target, omega, offset
    loss, least = _neuron_dense(known(code), X, *of_y, scale, shift, theta, root, *room)
    return loss, room[0], least


@kernel
def _neuron_dense(
    code, X, target, omega, offset, scale, shift, theta, root, g, part_g, v, r, work
):  # fmt: skip
    n, loss, least = X.shape[0], 0.0, np.inf
    for start in range(0, n, ROWS):
        stop = start + ROWS if start + ROWS < n else n
        _values_dense(X, scale, shift, theta, start, stop, v)
        _shift_by(offset, start, stop, v)
        part, low = link(code, v, target, omega, start, stop, r, root, work)
        loss += part
        if low < least:
            least = low
        for j in range(part_g.shape[0]):  # block by block: rounding does not build up over all rows
            part_g[j] = 0.0
        _add_dense(X, scale, shift, start, stop, r, part_g)
        _add_to(part_g, g)
    return loss, least


@sums_kernel
def _values_plain(X, w, b, start, stop, v):
    """v = Xw + b of the rows; four at a time, so that w is read less."""
    p = X.shape[1]
    i = start
    while i + 4 <= stop:
        s0, s1, s2, s3 = b, b, b, b
        for j in range(p):
            s0 += X[i, j] * w[j]
            s1 += X[i + 1, j] * w[j]
            s2 += X[i + 2, j] * w[j]
            s3 += X[i + 3, j] * w[j]
        k = i - start
        v[k], v[k + 1], v[k + 2], v[k + 3] = s0, s1, s2, s3
        i += 4
    while i < stop:
        s = b
        for j in range(p):
            s += X[i, j] * w[j]
        v[i - start] = s
        i += 1


@sums_kernel
def _add_plain(X, start, stop, r, g):
    """g += sum of r x over the rows."""
    p = X.shape[1]
    i = start
    while i + 4 <= stop:
        k = i - start
        r0, r1, r2, r3 = r[k], r[k + 1], r[k + 2], r[k + 3]
        for j in range(p):
            g[j] += r0 * X[i, j] + r1 * X[i + 1, j] + r2 * X[i + 2, j] + r3 * X[i + 3, j]
        i += 4
    while i < stop:
        for j in range(p):
            g[j] += r[i - start] * X[i, j]
        i += 1


def long_rows(X, t, omega, offset, w, b, root):
    """The logistic loss of rows of hundreds of numbers and more, as they are: v = Xw + b.

    Returns the loss, the sums of r x and, last, of r, (p + 1,), and the least lead.
    """
    room = _room(X.shape[1])
    loss, least = _long_rows(X, t, omega, offset, w, b, root, *room)
    return loss, room[0], least


@kernel
def _long_rows(X, t, omega, offset, w, b, root, g, part_g, v, r, work):
    n, p, loss, least = X.shape[0], X.shape[1], 0.0, np.inf
    few = min(max(_CACHED // p // 4 * 4, 8), ROWS)  # so few are read from memory once
    for first in range(0, n, ROWS):
        end = first + ROWS if first + ROWS < n else n
        for j in range(part_g.shape[0]):  # numba takes long over an assignment to a slice
            part_g[j] = 0.0
        for start in range(first, end, few):
            stop = start + few if start + few < end else end
            _values_plain(X, w, b, start, stop, v)
            _shift_by(offset, start, stop, v)
            part, low = link(None, v, t, omega, start, stop, r, root, work)
            loss += part
            if low < least:
                least = low
            _add_plain(X, start, stop, r, part_g)
            for i in range(stop - start):
                part_g[p] += r[i]
        _add_to(part_g, g)
    return loss, least


def neuron_sparse(code, data, indices, indptr, target, omega, offset, scale, shift, theta, root):
    """`neuron_dense` for CSR rows: unpacked with shift (p,), not unpacked with shift (0,).

    Indices are unsigned, as `tiles.entries` makes them.
    """
    p, centred = len(scale), len(shift) > 0
    room = _room(p)
    z = np.empty((ROWS if centred else 1, p if centred else 0))
    unit, zero = np.ones(p if centred else 0), np.zeros(p if centred else 0)
    loss, least = _neuron_sparse(
        known(code), data, indices, indptr, target, omega, offset, scale, shift, theta, root,
        z, unit, zero, *room,
    )  # fmt: skip
    return loss, room[0], least


@kernel
def _neuron_sparse(
    code, data, indices, indptr, target, omega, offset, scale, shift, theta, root,
    z, unit, zero, g, part_g, v, r, work,
):  # fmt: skip
    n, p, loss, least = indptr.shape[0] - 1, scale.shape[0], 0.0, np.inf
    centred = shift.shape[0] > 0
    for start in range(0, n, ROWS):
        stop = start + ROWS if start + ROWS < n else n
        if centred:
            for i in range(start, stop):
                for j in range(p):
                    z[i - start, j] = -shift[j]
                for q in range(indptr[i], indptr[i + 1]):
                    z[i - start, indices[q]] += data[q] * scale[indices[q]]
            _values_dense(z, unit, zero, theta, 0, stop - start, v)
        else:
            for i in range(start, stop):
                s = theta[p]
                for q in range(indptr[i], indptr[i + 1]):
                    s += data[q] * scale[indices[q]] * theta[indices[q]]
                v[i - start] = s
        _shift_by(offset, start, stop, v)
        part, low = link(code, v, target, omega, start, stop, r, root, work)
        loss += part
        if low < least:
            least = low
        if centred:
            for j in range(part_g.shape[0]):  # numba takes long over an assignment to a slice
                part_g[j] = 0.0
            _add_dense(z, unit, zero, 0, stop - start, r, part_g)
            _add_to(part_g, g)
        else:
            for i in range(start, stop):
                for q in range(indptr[i], indptr[i + 1]):
                    g[indices[q]] += r[i - start] * data[q] * scale[indices[q]]
                g[p] += r[i - start]
    return loss, least


def softmax(V, codes, omega, R, probability):
    """Loss of rows with values V (n, K); R = omega (p - 1[code]), and p where there is room.

    Returns the loss and the least lead of the own class over the best other.
    """
    return _softmax(V, codes, omega, R, probability, 0, len(V), *_class_room(V.shape[1]))


def _class_room(K):
    """Room for rows of K classes: values, whole parts, exponentials; the largest of each row."""
    chunk = max(ROWS // K, 1)  # rows whose exponentials are made at once
    return np.zeros((3, -(-(chunk * K) // ROWS), ROWS)), np.empty(chunk)


@kernel
def _softmax(V, codes, omega, R, probability, first, rows, work, best):
    """`softmax` of as many rows of V and R, which are those from `first` on of the others."""
    K, chunk = V.shape[1], best.shape[0]
    a, e = work[0], work[2]
    loss, least = 0.0, np.inf
    for start in range(0, rows, chunk):
        stop = start + chunk if start + chunk < rows else rows
        for i in range(start, stop):
            top = V[i, 0]
            for k in range(1, K):
                top = V[i, k] if V[i, k] > top else top
            best[i - start] = top
            for k in range(K):
                q = (i - start) * K + k
                a[q // ROWS, q % ROWS] = top - V[i, k]
        for q in range(work.shape[1]):
            exponentials(a[q], work[1, q], e[q])
        for i in range(start, stop):
            code = codes[first + i]
            o = omega[first + i] if omega.shape[0] > 0 else 1.0
            own, other = V[i, code], best[i - start]
            if own == other:  # the own class leads: by how much, only the second best tells
                other = -np.inf
                for k in range(K):
                    if k != code and V[i, k] > other:
                        other = V[i, k]
            if o > 0.0 and own - other < least:
                least = own - other
            total = 0.0
            for k in range(K):
                q = (i - start) * K + k
                R[i, k] = e[q // ROWS, q % ROWS]
                total += R[i, k]
            loss += o * (np.log(total) + best[i - start] - own)
            share = 1.0 / total
            for k in range(K):
                R[i, k] *= share
            if probability.shape[0] > 0:
                for k in range(K):
                    probability[first + i, k] = R[i, k]
            if o != 1.0:
                for k in range(K):
                    R[i, k] *= o
            R[i, code] -= o
    return loss, least


def classes_dense(X, codes, omega, W, b, probability):
    """Loss of rows with values X W + b, W (p, K); see `softmax` for probability.

    Returns the loss, the sums of R' X (K, p) and of R (K,), and the least lead.
    """
    (n, p), K = X.shape, len(b)
    if n <= CLASS_ROWS and X.size * K <= SMALL_PRODUCT:
        # One block: numpy makes its products, which would take a second to compile.
        V = X @ W
        V += b
        R = np.empty(V.shape)
        loss, least = softmax(V, codes, omega, R, probability)
        return loss, R.T @ X, R.sum(axis=0), least
    G, part_G, total = np.zeros((K, p)), np.empty((K, p)), np.zeros(K)
    V, R = np.empty((CLASS_ROWS, K)), np.empty((CLASS_ROWS, K))
    loss, least = _classes_dense(
        X, codes, omega, W, b, probability, V, R, G, part_G, total, *_class_room(K)
    )
    return loss, G, total, least


@kernel
def _classes_dense(X, codes, omega, W, b, probability, V, R, G, part_G, total, work, best):
    """`classes_dense` for many rows, in blocks."""
    n, K, loss, least = X.shape[0], b.shape[0], 0.0, np.inf
    for start in range(0, n, CLASS_ROWS):
        rows = CLASS_ROWS if start + CLASS_ROWS < n else n - start
        x, v, r = X[start : start + rows], V[:rows], R[:rows]
        np.dot(x, W, v)
        for i in range(rows):
            for k in range(K):
                V[i, k] += b[k]
        part, low = _softmax(V, codes, omega, R, probability, start, rows, work, best)
        loss += part
        least = low if low < least else least
        np.dot(r.T, x, part_G)
        for k in range(K):
            for j in range(G.shape[1]):
                G[k, j] += part_G[k, j]
        for i in range(rows):
            for k in range(K):
                total[k] += R[i, k]
    return loss, least


def spread_dense(X, first, unit):
    """Sums of d = (x - first) unit and of d^2, and the largest |d|, of each column."""
    if X.size <= FEW_NUMBERS:  # numpy is as good, and there is nothing to compile
        d = np.subtract(X, first, order="C")  # the same bits whatever order X lies in
        d *= unit
        return d.sum(axis=0), np.einsum("ij,ij->j", d, d), np.abs(d).max(axis=0, initial=0.0)
    found = np.zeros(X.shape[1]), np.zeros(X.shape[1]), np.zeros(X.shape[1])
    _spread_dense(X, first, unit, *found)
    return found


@sums_kernel
def _spread_dense(X, first, unit, total, squares, top):
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            d = (X[i, j] - first[j]) * unit[j]
            total[j] += d
            squares[j] += d * d
            top[j] = max(top[j], abs(d))
