"""Products of matrices with structure, and statistics of columns."""

import numpy as np

from kernels.kernel import Kernel


# -- doitgen: a matrix applied to the last axis of a block, in place -------------------------------------------------
def doitgen(a, c, w):
    for r in range(a.shape[0]):
        for q in range(a.shape[1]):
            a[r, q, :] = a[r, q, :] @ c
    return np.sum(a * w)


def doitgen_loops(a, c, w):
    nr, nq, n = a.shape
    row = np.zeros(n)
    s = 0.0
    for r in range(nr):
        for q in range(nq):
            row[:] = 0.0
            for t in range(n):
                for p in range(n):
                    row[p] += a[r, q, t] * c[t, p]
            for p in range(n):
                a[r, q, p] = row[p]
                s += row[p] * w[r, q, p]
    return s


def doitgen_jax():
    import jax.numpy as jnp

    def f(a, c, w):
        return jnp.sum((a @ c) * w)

    return f


# -- syrk: the lower half of beta C + alpha A A^T ----------------------------------------------------------------------
def syrk(alpha, beta, c, a, w):
    n, m = a.shape
    for i in range(n):
        c[i, : i + 1] *= beta
        for k in range(m):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]
    return np.sum(c * w)


def syrk_loops(alpha, beta, c, a, w):
    n, m = a.shape
    for i in range(n):
        for j in range(i + 1):
            s = 0.0
            for k in range(m):
                s += a[i, k] * a[j, k]
            c[i, j] = beta * c[i, j] + alpha * s
    total = 0.0
    for i in range(n):
        for j in range(n):
            total += c[i, j] * w[i, j]
    return total


def syrk_jax():
    import jax.numpy as jnp

    def f(alpha, beta, c, a, w):
        half = jnp.tril(jnp.ones(c.shape, dtype=bool))
        return jnp.sum(jnp.where(half, beta * c + alpha * (a @ a.T), c) * w)

    return f


# -- syr2k: the lower half of beta C + alpha (A B^T + B A^T) --------------------------------------------------------------
def syr2k(alpha, beta, c, a, b, w):
    n, m = a.shape
    for i in range(n):
        c[i, : i + 1] *= beta
        for k in range(m):
            c[i, : i + 1] += alpha * (a[: i + 1, k] * b[i, k] + b[: i + 1, k] * a[i, k])
    return np.sum(c * w)


def syr2k_loops(alpha, beta, c, a, b, w):
    n, m = a.shape
    for i in range(n):
        for j in range(i + 1):
            s = 0.0
            for k in range(m):
                s += a[j, k] * b[i, k] + b[j, k] * a[i, k]
            c[i, j] = beta * c[i, j] + alpha * s
    total = 0.0
    for i in range(n):
        for j in range(n):
            total += c[i, j] * w[i, j]
    return total


def syr2k_jax():
    import jax.numpy as jnp

    def f(alpha, beta, c, a, b, w):
        half = jnp.tril(jnp.ones(c.shape, dtype=bool))
        product = a @ b.T
        return jnp.sum(jnp.where(half, beta * c + alpha * (product + product.T), c) * w)

    return f


# -- symm: a symmetric matrix of which the lower half is stored ------------------------------------------------------------
def symm(alpha, beta, c, a, b, w):
    n, m = c.shape
    for i in range(n):
        above = np.zeros(m)
        for k in range(i):
            c[k, :] += alpha * a[i, k] * b[i, :]
            above += a[i, k] * b[k, :]
        c[i, :] = beta * c[i, :] + alpha * (a[i, i] * b[i, :] + above)
    return np.sum(c * w)


def symm_loops(alpha, beta, c, a, b, w):
    n, m = c.shape
    full = np.empty((n, n))
    for i in range(n):
        for k in range(i + 1):
            full[i, k] = a[i, k]
            full[k, i] = a[i, k]
    total = 0.0
    for i in range(n):
        for j in range(m):
            s = beta * c[i, j]
            for k in range(n):
                s += alpha * full[i, k] * b[k, j]
            total += s * w[i, j]
    return total


def symm_jax():
    import jax.numpy as jnp

    def f(alpha, beta, c, a, b, w):
        lower = jnp.tril(a)
        full = lower + jnp.tril(lower, -1).T
        return jnp.sum((beta * c + alpha * (full @ b)) * w)

    return f


# -- trmm: a triangular matrix, in place ------------------------------------------------------------------------------------
def trmm(alpha, a, b, w):
    n = b.shape[0]
    for i in range(n):
        b[i, :] = alpha * (b[i, :] + a[i + 1 :, i] @ b[i + 1 :, :])
    return np.sum(b * w)


def trmm_loops(alpha, a, b, w):
    n, m = b.shape
    total = 0.0
    for i in range(n):
        for k in range(i + 1, n):
            for j in range(m):
                b[i, j] += a[k, i] * b[k, j]
        for j in range(m):
            b[i, j] *= alpha
            total += b[i, j] * w[i, j]
    return total


def trmm_jax():
    import jax.numpy as jnp

    def f(alpha, a, b, w):
        return jnp.sum(alpha * (b + jnp.tril(a, -1).T @ b) * w)

    return f


# -- covariance: of the columns ----------------------------------------------------------------------------------------------
def covariance(data, w):
    n, m = data.shape
    mean = np.mean(data, axis=0)
    data -= mean
    cov = np.zeros((m, m))
    for i in range(m):
        cov[i:, i] = data[:, i] @ data[:, i:] / (n - 1.0)
        cov[i, i:] = cov[i:, i]
    return np.sum(cov * w)


def covariance_loops(data, w):
    n, m = data.shape
    for j in range(m):
        mean = 0.0
        for k in range(n):
            mean += data[k, j]
        mean /= n
        for k in range(n):
            data[k, j] -= mean
    cov = np.zeros((m, m))
    for k in range(n):
        for i in range(m):
            for j in range(m):
                cov[i, j] += data[k, i] * data[k, j]
    total = 0.0
    for i in range(m):
        for j in range(m):
            total += cov[i, j] / (n - 1.0) * w[i, j]
    return total


def covariance_jax():
    import jax.numpy as jnp

    def f(data, w):
        centred = data - jnp.mean(data, axis=0)
        return jnp.sum((centred.T @ centred) / (data.shape[0] - 1.0) * w)

    return f


# -- correlation: of the columns; those that hardly vary count as constant ---------------------------------------------------
def correlation(data, w):
    n, m = data.shape
    mean = np.mean(data, axis=0)
    dev = np.std(data, axis=0)
    dev[dev <= 0.1] = 1.0
    data -= mean
    data /= np.sqrt(n) * dev
    corr = np.eye(m)
    for i in range(m - 1):
        corr[i + 1 :, i] = data[:, i] @ data[:, i + 1 :]
        corr[i, i + 1 :] = corr[i + 1 :, i]
    return np.sum(corr * w)


def correlation_loops(data, w):
    n, m = data.shape
    for j in range(m):
        mean = 0.0
        for k in range(n):
            mean += data[k, j]
        mean /= n
        var = 0.0
        for k in range(n):
            var += (data[k, j] - mean) ** 2
        dev = np.sqrt(var / n)
        if dev <= 0.1:
            dev = 1.0
        for k in range(n):
            data[k, j] = (data[k, j] - mean) / (np.sqrt(n) * dev)
    total = 0.0
    for i in range(m):
        total += w[i, i]
    for i in range(m):
        for j in range(m):
            if i != j:
                s = 0.0
                for k in range(n):
                    s += data[k, i] * data[k, j]
                total += s * w[i, j]
    return total


def correlation_jax():
    import jax.numpy as jnp

    def f(data, w):
        n, m = data.shape
        dev = jnp.std(data, axis=0)
        z = (data - jnp.mean(data, axis=0)) / (jnp.sqrt(n) * jnp.where(dev <= 0.1, 1.0, dev))
        return jnp.sum(jnp.where(jnp.eye(m, dtype=bool), 1.0, z.T @ z) * w)

    return f


def cube(rng, n):
    return rng.normal(size=(n, n, n)), rng.normal(size=(n, n)) / n, rng.normal(size=(n, n, n))


def rank_k(rng, size):
    n, m = size
    return 1.2, 0.7, rng.normal(size=(n, n)), rng.normal(size=(n, m)), rng.normal(size=(n, n))


def rank_2k(rng, size):
    n, m = size
    return 1.2, 0.7, rng.normal(size=(n, n)), rng.normal(size=(n, m)), rng.normal(size=(n, m)), rng.normal(size=(n, n))


def symmetric(rng, size):
    n, m = size
    return 1.2, 0.7, rng.normal(size=(n, m)), rng.normal(size=(n, n)), rng.normal(size=(n, m)), rng.normal(size=(n, m))


def triangle(rng, size):
    n, m = size
    return 1.2, rng.normal(size=(n, n)) / n, rng.normal(size=(n, m)), rng.normal(size=(n, m))


def table(rng, size):
    n, m = size
    return rng.normal(size=(n, m)), rng.normal(size=(m, m))


KERNELS = [
    Kernel(doitgen, doitgen_loops, doitgen_jax, cube, (0, 1), 4, 60),
    Kernel(syrk, syrk_loops, syrk_jax, rank_k, (0, 1, 2, 3), (5, 4), (150, 100)),
    Kernel(syr2k, syr2k_loops, syr2k_jax, rank_2k, (0, 1, 2, 3, 4), (5, 4), (150, 100)),
    Kernel(symm, symm_loops, symm_jax, symmetric, (0, 1, 2, 3, 4), (5, 4), (150, 100)),
    Kernel(trmm, trmm_loops, trmm_jax, triangle, (0, 1, 2), (5, 4), (150, 100)),
    Kernel(covariance, covariance_loops, covariance_jax, table, (0,), (6, 4), (200, 100)),
    Kernel(correlation, correlation_loops, correlation_jax, table, (0,), (6, 4), (200, 100)),
]
