"""Stencils in time loops: every step reads neighbours in slices and writes slices in place."""

import numpy as np

from kernels.kernel import Kernel


# -- jacobi_1d: two buffers, three neighbours ---------------------------------------------------------------
def jacobi_1d(a, steps, w):
    b = a.copy()
    for _ in range(steps):
        b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3.0
        a[1:-1] = (b[:-2] + b[1:-1] + b[2:]) / 3.0
    return np.sum(a * w)


def jacobi_1d_loops(a, steps, w):
    n = a.size
    b = a.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0
        for i in range(1, n - 1):
            a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3.0
    s = 0.0
    for i in range(n):
        s += a[i] * w[i]
    return s


def jacobi_1d_jax():
    import jax.numpy as jnp
    from jax import lax

    def smooth(to, of):
        return to.at[1:-1].set((of[:-2] + of[1:-1] + of[2:]) / 3.0)

    def f(a, steps, w):
        def step(_, ab):
            a, b = ab
            b = smooth(b, a)
            return smooth(a, b), b

        return jnp.sum(lax.fori_loop(0, steps, step, (a, a))[0] * w)

    return f


# -- jacobi_2d: five points -----------------------------------------------------------------------------------
def jacobi_2d(a, steps, w):
    b = a.copy()
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return np.sum(a * w)


def jacobi_2d_loops(a, steps, w):
    n, m = a.shape
    b = a.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i + 1, j] + b[i - 1, j])
    s = 0.0
    for i in range(n):
        for j in range(m):
            s += a[i, j] * w[i, j]
    return s


def jacobi_2d_jax():
    import jax.numpy as jnp
    from jax import lax

    def smooth(to, of):
        return to.at[1:-1, 1:-1].set(0.2 * (of[1:-1, 1:-1] + of[1:-1, :-2] + of[1:-1, 2:] + of[2:, 1:-1] + of[:-2, 1:-1]))

    def f(a, steps, w):
        def step(_, ab):
            a, b = ab
            b = smooth(b, a)
            return smooth(a, b), b

        return jnp.sum(lax.fori_loop(0, steps, step, (a, a))[0] * w)

    return f


# -- heat_3d: second differences along three axes ---------------------------------------------------------------
def heat_3d(a, k, steps, w):
    for _ in range(steps):
        c = a[1:-1, 1:-1, 1:-1]
        step = (
            (a[2:, 1:-1, 1:-1] - 2.0 * c + a[:-2, 1:-1, 1:-1])
            + (a[1:-1, 2:, 1:-1] - 2.0 * c + a[1:-1, :-2, 1:-1])
            + (a[1:-1, 1:-1, 2:] - 2.0 * c + a[1:-1, 1:-1, :-2])
        )
        a[1:-1, 1:-1, 1:-1] += k * step
    return np.sum(a * w)


def heat_3d_loops(a, k, steps, w):
    n, m, p = a.shape
    b = a.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                for h in range(1, p - 1):
                    c = a[i, j, h]
                    step = (a[i + 1, j, h] - 2.0 * c + a[i - 1, j, h]) + (a[i, j + 1, h] - 2.0 * c + a[i, j - 1, h])
                    b[i, j, h] = c + k * (step + (a[i, j, h + 1] - 2.0 * c + a[i, j, h - 1]))
        a, b = b, a
    s = 0.0
    for i in range(n):
        for j in range(m):
            for h in range(p):
                s += a[i, j, h] * w[i, j, h]
    return s


def heat_3d_jax():
    import jax.numpy as jnp
    from jax import lax

    def f(a, k, steps, w):
        def step(_, a):
            c = a[1:-1, 1:-1, 1:-1]
            change = a[2:, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1] + a[1:-1, 2:, 1:-1] + a[1:-1, :-2, 1:-1] + a[1:-1, 1:-1, 2:] + a[1:-1, 1:-1, :-2]
            return a.at[1:-1, 1:-1, 1:-1].add(k * (change - 6.0 * c))

        return jnp.sum(lax.fori_loop(0, steps, step, a) * w)

    return f


# -- fdtd_2d: Maxwell's equations on a staggered grid -------------------------------------------------------------
def fdtd_2d(ex, ey, hz, source, w):
    for t in range(source.size):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return np.sum(hz * w)


def fdtd_2d_loops(ex, ey, hz, source, w):
    n, m = hz.shape
    for t in range(source.size):
        for j in range(m):
            ey[0, j] = source[t]
        for i in range(1, n):
            for j in range(m):
                ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(n):
            for j in range(1, m):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(n - 1):
            for j in range(m - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])
    s = 0.0
    for i in range(n):
        for j in range(m):
            s += hz[i, j] * w[i, j]
    return s


def fdtd_2d_jax():
    import jax.numpy as jnp
    from jax import lax

    def step(fields, pulse):
        ex, ey, hz = fields
        ey = ey.at[0, :].set(pulse)
        ey = ey.at[1:, :].add(-0.5 * (hz[1:, :] - hz[:-1, :]))
        ex = ex.at[:, 1:].add(-0.5 * (hz[:, 1:] - hz[:, :-1]))
        hz = hz.at[:-1, :-1].add(-0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]))
        return (ex, ey, hz), None

    def f(ex, ey, hz, source, w):
        (_, _, hz), _ = lax.scan(step, (ex, ey, hz), source)
        return jnp.sum(hz * w)

    return f


# -- seidel_2d: nine points, new values used at once ----------------------------------------------------------------
def seidel_2d(a, steps, w):
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            a[i, 1:-1] += a[i - 1, :-2] + a[i - 1, 1:-1] + a[i - 1, 2:] + a[i, 2:] + a[i + 1, :-2] + a[i + 1, 1:-1] + a[i + 1, 2:]
            for j in range(1, n - 1):
                a[i, j] = (a[i, j] + a[i, j - 1]) / 9.0
    return np.sum(a * w)


def seidel_2d_loops(a, steps, w):
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                above = a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1]
                below = a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]
                a[i, j] = (above + a[i, j - 1] + a[i, j] + a[i, j + 1] + below) / 9.0
    s = 0.0
    for i in range(n):
        for j in range(n):
            s += a[i, j] * w[i, j]
    return s


def seidel_2d_jax():
    import jax.numpy as jnp
    from jax import lax

    def f(a, steps, w):
        def along(left, right_hand):
            new = (left + right_hand) / 9.0
            return new, new

        def row(above, rows):
            own, below = rows
            known = above[:-2] + above[1:-1] + above[2:] + own[1:-1] + own[2:] + below[:-2] + below[1:-1] + below[2:]
            new = own.at[1:-1].set(lax.scan(along, own[0], known)[1])
            return new, new

        def step(_, a):
            return a.at[1:-1].set(lax.scan(row, a[0], (a[1:-1], a[2:]))[1])

        return jnp.sum(lax.fori_loop(0, steps, step, a) * w)

    return f


# -- adi: implicit along one axis, then along the other (Thomas algorithm for all lines at once) ---------------------
def adi(u, k, steps, w):
    n = u.shape[0]
    v = u.copy()
    c = np.zeros(n)
    for i in range(1, n - 1):
        c[i] = k / (1.0 + 2.0 * k - k * c[i - 1])
    for _ in range(steps):
        for i in range(1, n - 1):
            explicit = u[i, 1:-1] + k * (u[i, :-2] - 2.0 * u[i, 1:-1] + u[i, 2:])
            v[i, 1:-1] = (explicit + k * v[i - 1, 1:-1]) * (c[i] / k)
        for i in range(n - 2, 0, -1):
            v[i, 1:-1] += c[i] * v[i + 1, 1:-1]
        for j in range(1, n - 1):
            explicit = v[1:-1, j] + k * (v[:-2, j] - 2.0 * v[1:-1, j] + v[2:, j])
            u[1:-1, j] = (explicit + k * u[1:-1, j - 1]) * (c[j] / k)
        for j in range(n - 2, 0, -1):
            u[1:-1, j] += c[j] * u[1:-1, j + 1]
    return np.sum(u * w)


def adi_loops(u, k, steps, w):
    n = u.shape[0]
    v = u.copy()
    c = np.zeros(n)
    for i in range(1, n - 1):
        c[i] = k / (1.0 + 2.0 * k - k * c[i - 1])
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                explicit = u[i, j] + k * (u[i, j - 1] - 2.0 * u[i, j] + u[i, j + 1])
                v[i, j] = (explicit + k * v[i - 1, j]) * (c[i] / k)
        for i in range(n - 2, 0, -1):
            for j in range(1, n - 1):
                v[i, j] += c[i] * v[i + 1, j]
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                explicit = v[i, j] + k * (v[i - 1, j] - 2.0 * v[i, j] + v[i + 1, j])
                u[i, j] = (explicit + k * u[i, j - 1]) * (c[j] / k)
            for j in range(n - 2, 0, -1):
                u[i, j] += c[j] * u[i, j + 1]
    s = 0.0
    for i in range(n):
        for j in range(n):
            s += u[i, j] * w[i, j]
    return s


def adi_jax():
    import jax.numpy as jnp
    from jax import lax

    def f(u, k, steps, w):
        def weight(before, _):
            c = k / (1.0 + 2.0 * k - k * before)
            return c, c

        c = lax.scan(weight, 0.0 * k, None, length=u.shape[0] - 2)[1]

        def solve(first, right_hands, last):
            """Lines of one direction; entries of `right_hands` stand one after the other along the first axis."""

            def down(before, x):
                right_hand, c = x
                new = (right_hand + k * before) * (c / k)
                return new, new

            def up(after, x):
                partial, c = x
                new = partial + c * after
                return new, new

            partial = lax.scan(down, first, (right_hands, c))[1]
            return lax.scan(up, last, (partial, c), reverse=True)[1]

        def second(x):
            return x[:, :-2] - 2.0 * x[:, 1:-1] + x[:, 2:]

        def step(_, uv):
            u, v = uv
            v = v.at[1:-1, 1:-1].set(solve(v[0, 1:-1], u[1:-1, 1:-1] + k * second(u[1:-1]), v[-1, 1:-1]))
            right_hand = v.T[1:-1, 1:-1] + k * second(v.T[1:-1])
            u = u.at[1:-1, 1:-1].set(solve(u[1:-1, 0], right_hand, u[1:-1, -1]).T)
            return u, v

        return jnp.sum(lax.fori_loop(0, steps, step, (u, u))[0] * w)

    return f


def line(rng, size):
    n, steps = size
    return rng.normal(size=n), steps, rng.normal(size=n)


def plane(rng, size):
    n, steps = size
    return rng.normal(size=(n, n)), steps, rng.normal(size=(n, n))


def block(rng, size):
    n, steps = size
    return rng.normal(size=(n, n, n)), 0.1, steps, rng.normal(size=(n, n, n))


def fields(rng, size):
    n, steps = size
    return *(rng.normal(size=(n, n)) for _ in range(3)), rng.normal(size=steps), rng.normal(size=(n, n))


def heated(rng, size):
    n, steps = size
    return rng.normal(size=(n, n)), 0.3, steps, rng.normal(size=(n, n))


KERNELS = [
    Kernel(jacobi_1d, jacobi_1d_loops, jacobi_1d_jax, line, (0,), (9, 3), (4000, 500), (1,)),
    Kernel(jacobi_2d, jacobi_2d_loops, jacobi_2d_jax, plane, (0,), (6, 3), (250, 100), (1,)),
    Kernel(heat_3d, heat_3d_loops, heat_3d_jax, block, (0, 1), (5, 2), (40, 50), (2,)),
    Kernel(fdtd_2d, fdtd_2d_loops, fdtd_2d_jax, fields, (0, 1, 2, 3), (5, 3), (200, 100)),
    Kernel(seidel_2d, seidel_2d_loops, seidel_2d_jax, plane, (0,), (6, 2), (120, 20), (1,)),
    Kernel(adi, adi_loops, adi_jax, heated, (0, 1), (6, 2), (200, 20), (2,)),
]
