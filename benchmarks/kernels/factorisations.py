"""Factorisations and solvers of dense matrices, in place."""

import numpy as np

from kernels.kernel import Kernel


# -- cholesky: the lower factor, row by row ----------------------------------------------------------------------
def cholesky(a, w):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] = (a[i, j] - np.dot(a[i, :j], a[j, :j])) / a[j, j]
        a[i, i] = np.sqrt(a[i, i] - np.dot(a[i, :i], a[i, :i]))
    return np.sum(np.tril(a) * w)


def cholesky_loops(a, w):
    n = a.shape[0]
    s = 0.0
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = np.sqrt(a[i, i])
        for j in range(i + 1):
            s += a[i, j] * w[i, j]
    return s


def cholesky_jax():
    import jax.numpy as jnp

    def f(a, w):
        lower = jnp.tril(a)  # only this half is read
        return jnp.sum(jnp.linalg.cholesky(lower + jnp.tril(lower, -1).T, symmetrize_input=False) * w)

    return f


# -- lu: without pivoting, both factors in one matrix -------------------------------------------------------------
def lu(a, w):
    n = a.shape[0]
    for k in range(n - 1):
        a[k + 1 :, k] /= a[k, k]
        for i in range(k + 1, n):
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return np.sum(a * w)


def lu_loops(a, w):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]
    s = 0.0
    for i in range(n):
        for j in range(n):
            s += a[i, j] * w[i, j]
    return s


def lu_jax():
    import jax.numpy as jnp
    from jax import lax

    def f(a, w):
        n = a.shape[0]
        at = jnp.arange(n)

        def eliminate(k, a):
            column = jnp.where(at > k, a[:, k] / a[k, k], 0.0)
            a = a - jnp.outer(column, jnp.where(at > k, a[k], 0.0))
            return a.at[:, k].set(jnp.where(at > k, column, a[:, k]))

        return jnp.sum(lax.fori_loop(0, n - 1, eliminate, a) * w)

    return f


# -- ludcmp: factorise, then solve -----------------------------------------------------------------------------------
def ludcmp(a, b, w):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] = (a[i, j] - np.dot(a[i, :j], a[:j, j])) / a[j, j]
        for j in range(i, n):
            a[i, j] -= np.dot(a[i, :i], a[:i, j])
    x = b.copy()
    for i in range(n):
        x[i] -= np.dot(a[i, :i], x[:i])
    for i in range(n - 1, -1, -1):
        x[i] = (x[i] - np.dot(a[i, i + 1 :], x[i + 1 :])) / a[i, i]
    return np.sum(x * w)


def ludcmp_loops(a, b, w):
    n = a.shape[0]
    x = b.copy()
    for k in range(n):
        for i in range(k + 1, n):
            m = a[i, k] / a[k, k]
            for j in range(k, n):
                a[i, j] -= m * a[k, j]
            x[i] -= m * x[k]
    s = 0.0
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] -= a[i, j] * x[j]
        x[i] /= a[i, i]
        s += x[i] * w[i]
    return s


def ludcmp_jax():
    import jax.numpy as jnp

    def f(a, b, w):
        return jnp.sum(jnp.linalg.solve(a, b) * w)

    return f


# -- gramschmidt: orthonormal columns, modified form ----------------------------------------------------------------
def gramschmidt(a, w, v):
    m, n = a.shape
    q = np.zeros((m, n))
    r = np.zeros((n, n))
    for k in range(n):
        r[k, k] = np.sqrt(np.sum(a[:, k] * a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, n):
            r[k, j] = np.sum(q[:, k] * a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return np.sum(q * w) + np.sum(r * v)


def gramschmidt_loops(a, w, v):
    m, n = a.shape
    q = a.copy()
    s = 0.0
    for k in range(n):
        for j in range(k):
            dot = 0.0
            for i in range(m):
                dot += q[i, j] * q[i, k]
            s += dot * v[j, k]
            for i in range(m):
                q[i, k] -= dot * q[i, j]
        square = 0.0
        for i in range(m):
            square += q[i, k] * q[i, k]
        norm = np.sqrt(square)
        s += norm * v[k, k]
        for i in range(m):
            q[i, k] /= norm
            s += q[i, k] * w[i, k]
    return s


def gramschmidt_jax():
    import jax.numpy as jnp

    def f(a, w, v):
        q, r = jnp.linalg.qr(a)
        sign = jnp.where(jnp.diagonal(r) < 0.0, -1.0, 1.0)
        return jnp.sum(q * sign * w) + jnp.sum(sign[:, None] * r * v)

    return f


# -- durbin: Levinson's recursion for a symmetric Toeplitz matrix -------------------------------------------------------
def durbin(r, w):
    n = r.size
    y = np.zeros(n)
    y[0] = -r[0]
    alpha, beta = -r[0], 1.0
    for k in range(1, n):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(r[:k][::-1], y[:k])) / beta
        y[:k] += alpha * y[:k][::-1]
        y[k] = alpha
    return np.sum(y * w)


def durbin_loops(r, w):
    n = r.size
    y = np.zeros(n)
    z = np.zeros(n)
    y[0] = -r[0]
    alpha, beta = -r[0], 1.0
    for k in range(1, n):
        beta *= 1.0 - alpha * alpha
        total = r[k]
        for i in range(k):
            total += r[k - 1 - i] * y[i]
        alpha = -total / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - 1 - i]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha
    s = 0.0
    for i in range(n):
        s += y[i] * w[i]
    return s


def durbin_jax():
    import jax.numpy as jnp
    from jax import lax

    def f(r, w):
        n = r.size
        at = jnp.arange(n)

        def step(k, state):
            y, alpha, beta = state  # entries of y from k on are zero
            beta = beta * (1.0 - alpha * alpha)
            back = jnp.roll(y[::-1], k)  # back[i] = y[k - 1 - i] for i < k
            alpha = -(r[k] + jnp.sum(jnp.where(at < k, r * back, 0.0))) / beta
            y = jnp.where(at < k, y + alpha * back, jnp.where(at == k, alpha, y))
            return y, alpha, beta

        start = jnp.zeros(n).at[0].set(-r[0]), -r[0], 1.0 + 0.0 * r[0]
        return jnp.sum(lax.fori_loop(1, n, step, start)[0] * w)

    return f


# -- trisolv: one triangular system ----------------------------------------------------------------------------------
def trisolv(lower, b, w):
    n = b.size
    x = np.zeros(n)
    for i in range(n):
        x[i] = (b[i] - np.dot(lower[i, :i], x[:i])) / lower[i, i]
    return np.sum(x * w)


def trisolv_loops(lower, b, w):
    n = b.size
    x = b.copy()
    s = 0.0
    for i in range(n):
        x[i] /= lower[i, i]
        s += x[i] * w[i]
        for k in range(i + 1, n):
            x[k] -= lower[k, i] * x[i]
    return s


def trisolv_jax():
    import jax.numpy as jnp
    from jax.scipy.linalg import solve_triangular

    def f(lower, b, w):
        return jnp.sum(solve_triangular(lower, b, lower=True) * w)

    return f


def definite(rng, n):
    g = rng.normal(size=(n, n))
    return g @ g.T / n + np.eye(n), np.tril(rng.normal(size=(n, n)))


def dominant(rng, n):
    return rng.normal(size=(n, n)) / n + np.eye(n), rng.normal(size=(n, n))


def system(rng, n):
    return rng.normal(size=(n, n)) / n + np.eye(n), rng.normal(size=n), rng.normal(size=n)


def tall(rng, size):
    m, n = size
    return rng.normal(size=(m, n)), rng.normal(size=(m, n)), np.triu(rng.normal(size=(n, n)))


def toeplitz(rng, n):
    return 0.9 * rng.uniform(-1.0, 1.0, n) / n, rng.normal(size=n)


def triangular(rng, n):
    return np.tril(rng.normal(size=(n, n)) / n) + np.eye(n), rng.normal(size=n), rng.normal(size=n)


KERNELS = [
    Kernel(cholesky, cholesky_loops, cholesky_jax, definite, (0,), 5, 150),
    Kernel(lu, lu_loops, lu_jax, dominant, (0,), 5, 150),
    Kernel(ludcmp, ludcmp_loops, ludcmp_jax, system, (0, 1), 5, 150),
    Kernel(gramschmidt, gramschmidt_loops, gramschmidt_jax, tall, (0,), (6, 4), (150, 100)),
    Kernel(durbin, durbin_loops, durbin_jax, toeplitz, (0,), 6, 1000),
    Kernel(trisolv, trisolv_loops, trisolv_jax, triangular, (0, 1), 6, 1000),
]
