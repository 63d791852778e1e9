"""Recurrences, reductions, masks and index arrays as applications have them."""

import numpy as np

from kernels.kernel import Kernel


# -- deriche: a recursive smoothing filter along rows and columns -------------------------------------------------------
def deriche(image, alpha, w):
    n, m = image.shape
    k = (1.0 - np.exp(-alpha)) ** 2 / (1.0 + 2.0 * alpha * np.exp(-alpha) - np.exp(-2.0 * alpha))
    a1 = k
    a2 = k * np.exp(-alpha) * (alpha - 1.0)
    a3 = k * np.exp(-alpha) * (alpha + 1.0)
    a4 = -k * np.exp(-2.0 * alpha)
    b1 = 2.0 * np.exp(-alpha)
    b2 = -np.exp(-2.0 * alpha)
    y1 = np.empty((n, m))
    y2 = np.empty((n, m))
    y1[:, 0] = a1 * image[:, 0]
    y1[:, 1] = a1 * image[:, 1] + a2 * image[:, 0] + b1 * y1[:, 0]
    for j in range(2, m):
        y1[:, j] = a1 * image[:, j] + a2 * image[:, j - 1] + b1 * y1[:, j - 1] + b2 * y1[:, j - 2]
    y2[:, m - 1] = 0.0
    y2[:, m - 2] = a3 * image[:, m - 1]
    for j in range(m - 3, -1, -1):
        y2[:, j] = a3 * image[:, j + 1] + a4 * image[:, j + 2] + b1 * y2[:, j + 1] + b2 * y2[:, j + 2]
    rows = y1 + y2
    y1[0, :] = a1 * rows[0, :]
    y1[1, :] = a1 * rows[1, :] + a2 * rows[0, :] + b1 * y1[0, :]
    for i in range(2, n):
        y1[i, :] = a1 * rows[i, :] + a2 * rows[i - 1, :] + b1 * y1[i - 1, :] + b2 * y1[i - 2, :]
    y2[n - 1, :] = 0.0
    y2[n - 2, :] = a3 * rows[n - 1, :]
    for i in range(n - 3, -1, -1):
        y2[i, :] = a3 * rows[i + 1, :] + a4 * rows[i + 2, :] + b1 * y2[i + 1, :] + b2 * y2[i + 2, :]
    return np.sum((y1 + y2) * w)


def deriche_loops(image, alpha, w):
    n, m = image.shape
    e = np.exp(-alpha)
    k = (1.0 - e) * (1.0 - e) / (1.0 + 2.0 * alpha * e - e * e)
    a1, a2, a3, a4, b1, b2 = k, k * e * (alpha - 1.0), k * e * (alpha + 1.0), -k * e * e, 2.0 * e, -e * e
    rows = np.empty((n, m))
    for i in range(n):
        x1 = x2 = v1 = v2 = 0.0
        for j in range(m):
            rows[i, j] = a1 * image[i, j] + a2 * x1 + b1 * v1 + b2 * v2
            x1, v1, v2 = image[i, j], rows[i, j], v1
        x1 = x2 = v1 = v2 = 0.0
        for j in range(m - 1, -1, -1):
            v1, v2 = a3 * x1 + a4 * x2 + b1 * v1 + b2 * v2, v1
            x1, x2 = image[i, j], x1
            rows[i, j] += v1
    s = 0.0
    for j in range(m):
        x1 = x2 = v1 = v2 = 0.0
        for i in range(n):
            v1, v2 = a1 * rows[i, j] + a2 * x1 + b1 * v1 + b2 * v2, v1
            x1 = rows[i, j]
            s += v1 * w[i, j]
        x1 = x2 = v1 = v2 = 0.0
        for i in range(n - 1, -1, -1):
            v1, v2 = a3 * x1 + a4 * x2 + b1 * v1 + b2 * v2, v1
            x1, x2 = rows[i, j], x1
            s += v1 * w[i, j]
    return s


def deriche_jax():
    import jax.numpy as jnp
    from jax import lax

    def f(image, alpha, w):
        e = jnp.exp(-alpha)
        k = (1.0 - e) ** 2 / (1.0 + 2.0 * alpha * e - e * e)
        a1, a2, a3, a4, b1, b2 = k, k * e * (alpha - 1.0), k * e * (alpha + 1.0), -k * e * e, 2.0 * e, -e * e

        def filtered(x):
            """Along the first axis, in both directions."""
            zero = jnp.zeros_like(x[0])

            def recur(before, forced):
                y1, y2 = before
                y = forced + b1 * y1 + b2 * y2
                return (y, y1), y

            x1 = jnp.concatenate([zero[None], x[:-1]])
            after1 = jnp.concatenate([x[1:], zero[None]])
            after2 = jnp.concatenate([x[2:], zero[None], zero[None]])
            down = lax.scan(recur, (zero, zero), a1 * x + a2 * x1)[1]
            up = lax.scan(recur, (zero, zero), a3 * after1 + a4 * after2, reverse=True)[1]
            return down + up

        return jnp.sum(filtered(filtered(image.T).T) * w)

    return f


# -- nbody: leapfrog with all pairs -----------------------------------------------------------------------------------------
def nbody(pos, vel, mass, dt, steps):
    for _ in range(steps):
        for i in range(mass.size):
            d = pos - pos[i]
            r2 = np.sum(d * d, axis=1) + 0.01
            vel[i] += dt * np.sum((mass / (r2 * np.sqrt(r2)))[:, np.newaxis] * d, axis=0)
        pos += dt * vel
    return 0.5 * np.sum(mass * np.sum(vel * vel, axis=1)) + np.sum(pos)


def nbody_loops(pos, vel, mass, dt, steps):
    n = mass.size
    for _ in range(steps):
        for i in range(n):
            ax = ay = az = 0.0
            for j in range(n):
                x, y, z = pos[j, 0] - pos[i, 0], pos[j, 1] - pos[i, 1], pos[j, 2] - pos[i, 2]
                r2 = x * x + y * y + z * z + 0.01
                k = mass[j] / (r2 * np.sqrt(r2))
                ax += k * x
                ay += k * y
                az += k * z
            vel[i, 0] += dt * ax
            vel[i, 1] += dt * ay
            vel[i, 2] += dt * az
        for i in range(n):
            for c in range(3):
                pos[i, c] += dt * vel[i, c]
    s = 0.0
    for i in range(n):
        for c in range(3):
            s += 0.5 * mass[i] * vel[i, c] * vel[i, c] + pos[i, c]
    return s


def nbody_jax():
    import jax.numpy as jnp
    from jax import lax

    def f(pos, vel, mass, dt, steps):
        def step(_, state):
            pos, vel = state
            d = pos[None, :, :] - pos[:, None, :]
            r2 = jnp.sum(d * d, axis=2) + 0.01
            vel = vel + dt * jnp.einsum("ij,ijc->ic", mass / (r2 * jnp.sqrt(r2)), d)
            return pos + dt * vel, vel

        pos, vel = lax.fori_loop(0, steps, step, (pos, vel))
        return 0.5 * jnp.sum(mass * jnp.sum(vel * vel, axis=1)) + jnp.sum(pos)

    return f


# -- spmv: a sparse matrix in rows, applied several times ---------------------------------------------------------------------
def spmv(values, columns, start, x, times):
    n = start.size - 1
    for _ in range(times):
        y = np.zeros(n)
        for i in range(n):
            y[i] = np.sum(values[start[i] : start[i + 1]] * x[columns[start[i] : start[i + 1]]])
        x = y / (1.0 + np.max(np.abs(y)))
    return np.sum(x * x)


def spmv_loops(values, columns, start, x, times):
    n = start.size - 1
    y = np.zeros(n)
    x = x.copy()
    for _ in range(times):
        largest = 0.0
        for i in range(n):
            s = 0.0
            for k in range(start[i], start[i + 1]):
                s += values[k] * x[columns[k]]
            y[i] = s
            largest = max(largest, abs(s))
        for i in range(n):
            x[i] = y[i] / (1.0 + largest)
    s = 0.0
    for i in range(n):
        s += x[i] * x[i]
    return s


def spmv_jax():
    import jax.numpy as jnp
    from jax import lax

    def f(values, columns, start, x, times):
        n = start.size - 1
        row = jnp.repeat(jnp.arange(n), start[1:] - start[:-1], total_repeat_length=values.size)

        def step(_, x):
            y = jnp.zeros(n).at[row].add(values * x[columns], indices_are_sorted=True)
            return y / (1.0 + jnp.max(jnp.abs(y)))

        x = lax.fori_loop(0, times, step, x)
        return jnp.sum(x * x)

    return f


# -- softmax: of the last axis ------------------------------------------------------------------------------------------------
def softmax(x, w):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum(e / np.sum(e, axis=1, keepdims=True) * w)


def softmax_loops(x, w):
    n, m = x.shape
    total = 0.0
    for i in range(n):
        largest = -np.inf
        for j in range(m):
            largest = max(largest, x[i, j])
        s = t = 0.0
        for j in range(m):
            e = np.exp(x[i, j] - largest)
            s += e
            t += e * w[i, j]
        total += t / s
    return total


def softmax_jax():
    import jax
    import jax.numpy as jnp

    def f(x, w):
        return jnp.sum(jax.nn.softmax(x, axis=1) * w)

    return f


# -- conv2d: images with channels (height, width, channel), a bias, a rectifier ------------------------------------------------
def conv2d(images, weights, bias, w):
    k = weights.shape[0]
    n, height, width = images.shape[0], images.shape[1] - k + 1, images.shape[2] - k + 1
    out = np.empty((n, height, width, weights.shape[3]))
    for i in range(height):
        for j in range(width):
            patch = images[:, i : i + k, j : j + k, :, np.newaxis] * weights[np.newaxis, :, :, :]
            out[:, i, j, :] = np.sum(patch, axis=(1, 2, 3))
    return np.sum(np.maximum(out + bias, 0.0) * w)


def conv2d_loops(images, weights, bias, w):
    n, h, v, cin = images.shape
    k, _, _, cout = weights.shape
    acc = np.empty(cout)
    total = 0.0
    for b in range(n):
        for i in range(h - k + 1):
            for j in range(v - k + 1):
                acc[:] = bias
                for p in range(k):
                    for q in range(k):
                        for c in range(cin):
                            x = images[b, i + p, j + q, c]
                            for o in range(cout):
                                acc[o] += x * weights[p, q, c, o]
                for o in range(cout):
                    total += max(acc[o], 0.0) * w[b, i, j, o]
    return total


def conv2d_jax():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def f(images, weights, bias, w):
        out = lax.conv_general_dilated(images, weights, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jnp.sum(jax.nn.relu(out + bias) * w)

    return f


# -- go_fast: a trace of tanh, added to the matrix ---------------------------------------------------------------------------
def go_fast(a, w):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return np.sum((a + trace) * w)


def go_fast_loops(a, w):
    n = a.shape[0]
    trace = 0.0
    for i in range(n):
        trace += np.tanh(a[i, i])
    s = 0.0
    for i in range(n):
        for j in range(n):
            s += (a[i, j] + trace) * w[i, j]
    return s


def go_fast_jax():
    import jax.numpy as jnp

    def f(a, w):
        return jnp.sum((a + jnp.sum(jnp.tanh(jnp.diagonal(a)))) * w)

    return f


# -- horizontal_diffusion: Laplacians, limited fluxes, an update ---------------------------------------------------------------
def horizontal_diffusion(field, coeff, w):
    lap = 4.0 * field[1:-1, 1:-1, :] - (field[2:, 1:-1, :] + field[:-2, 1:-1, :] + field[1:-1, 2:, :] + field[1:-1, :-2, :])
    res = lap[1:, 1:-1, :] - lap[:-1, 1:-1, :]
    flx = np.where(res * (field[2:-1, 2:-2, :] - field[1:-2, 2:-2, :]) > 0, 0.0, res)
    res = lap[1:-1, 1:, :] - lap[1:-1, :-1, :]
    fly = np.where(res * (field[2:-2, 2:-1, :] - field[2:-2, 1:-2, :]) > 0, 0.0, res)
    out = field[2:-2, 2:-2, :] - coeff * (flx[1:, :, :] - flx[:-1, :, :] + fly[:, 1:, :] - fly[:, :-1, :])
    return np.sum(out * w)


def horizontal_diffusion_loops(field, coeff, w):
    n, m, p = field.shape
    lap = np.empty((n, m, p))
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            for k in range(p):
                near = field[i + 1, j, k] + field[i - 1, j, k] + field[i, j + 1, k] + field[i, j - 1, k]
                lap[i, j, k] = 4.0 * field[i, j, k] - near
    s = 0.0
    for i in range(2, n - 2):
        for j in range(2, m - 2):
            for k in range(p):
                change = 0.0
                for side in range(2):
                    a = i - 1 + side
                    flux = lap[a + 1, j, k] - lap[a, j, k]
                    if flux * (field[a + 1, j, k] - field[a, j, k]) <= 0:
                        change += flux if side == 1 else -flux
                    a = j - 1 + side
                    flux = lap[i, a + 1, k] - lap[i, a, k]
                    if flux * (field[i, a + 1, k] - field[i, a, k]) <= 0:
                        change += flux if side == 1 else -flux
                s += (field[i, j, k] - coeff[i - 2, j - 2, k] * change) * w[i - 2, j - 2, k]
    return s


def horizontal_diffusion_jax():
    import jax.numpy as jnp

    def f(field, coeff, w):
        lap = 4.0 * field[1:-1, 1:-1] - (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2])
        res = lap[1:, 1:-1] - lap[:-1, 1:-1]
        flx = jnp.where(res * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0, 0.0, res)
        res = lap[1:-1, 1:] - lap[1:-1, :-1]
        fly = jnp.where(res * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0, 0.0, res)
        return jnp.sum((field[2:-2, 2:-2] - coeff * (flx[1:] - flx[:-1] + fly[:, 1:] - fly[:, :-1])) * w)

    return f


# -- vertical_advection: a tridiagonal system in every column --------------------------------------------------------------------
def vertical_advection(velocity, u, tendency, dt, w):
    levels = u.shape[2]
    upper = np.empty(u.shape)
    right = np.empty(u.shape)
    wind = 0.25 * velocity[:, :, 0]
    upper[:, :, 0] = wind / (1.0 / dt - wind)
    right[:, :, 0] = (u[:, :, 0] / dt + tendency[:, :, 0] - wind * (u[:, :, 1] - u[:, :, 0])) / (1.0 / dt - wind)
    for k in range(1, levels - 1):
        below = -0.25 * velocity[:, :, k - 1]
        above = 0.25 * velocity[:, :, k]
        explicit = u[:, :, k] / dt + tendency[:, :, k] - below * (u[:, :, k - 1] - u[:, :, k]) - above * (u[:, :, k + 1] - u[:, :, k])
        pivot = 1.0 / dt - below - above - upper[:, :, k - 1] * below
        upper[:, :, k] = above / pivot
        right[:, :, k] = (explicit - right[:, :, k - 1] * below) / pivot
    below = -0.25 * velocity[:, :, levels - 2]
    explicit = u[:, :, levels - 1] / dt + tendency[:, :, levels - 1] - below * (u[:, :, levels - 2] - u[:, :, levels - 1])
    right[:, :, levels - 1] = (explicit - right[:, :, levels - 2] * below) / (1.0 / dt - below - upper[:, :, levels - 2] * below)
    x = right[:, :, levels - 1]
    result = np.sum((x - u[:, :, levels - 1]) / dt * w[:, :, levels - 1])
    for k in range(levels - 2, -1, -1):
        x = right[:, :, k] - upper[:, :, k] * x
        result += np.sum((x - u[:, :, k]) / dt * w[:, :, k])
    return result


def vertical_advection_loops(velocity, u, tendency, dt, w):
    n, m, levels = u.shape
    lower, diagonal, upper, x = np.empty(levels), np.empty(levels), np.empty(levels), np.empty(levels)
    s = 0.0
    for i in range(n):
        for j in range(m):
            for k in range(levels):
                lower[k] = -0.25 * velocity[i, j, k - 1] if k > 0 else 0.0
                upper[k] = 0.25 * velocity[i, j, k] if k < levels - 1 else 0.0
                x[k] = u[i, j, k] / dt + tendency[i, j, k]
                if k > 0:
                    x[k] -= lower[k] * (u[i, j, k - 1] - u[i, j, k])
                if k < levels - 1:
                    x[k] -= upper[k] * (u[i, j, k + 1] - u[i, j, k])
                diagonal[k] = 1.0 / dt - lower[k] - upper[k]
            for k in range(1, levels):
                f = lower[k] / diagonal[k - 1]
                diagonal[k] -= f * upper[k - 1]
                x[k] -= f * x[k - 1]
            x[levels - 1] /= diagonal[levels - 1]
            for k in range(levels - 2, -1, -1):
                x[k] = (x[k] - upper[k] * x[k + 1]) / diagonal[k]
            for k in range(levels):
                s += (x[k] - u[i, j, k]) / dt * w[i, j, k]
    return s


def vertical_advection_jax():
    import jax.numpy as jnp
    from jax import lax

    def f(velocity, u, tendency, dt, w):
        velocity, u, tendency, w = (jnp.moveaxis(a, 2, 0) for a in (velocity, u, tendency, w))
        zero = jnp.zeros_like(u[:1])
        lower = jnp.concatenate([zero, -0.25 * velocity])
        upper = jnp.concatenate([0.25 * velocity, zero])
        below = jnp.concatenate([zero, u[:-1] - u[1:]])
        above = jnp.concatenate([u[1:] - u[:-1], zero])
        right = u / dt + tendency - lower * below - upper * above
        diagonal = 1.0 / dt - lower - upper

        def down(before, row):
            c, d = before
            low, dia, up, b = row
            pivot = dia - c * low
            new = up / pivot, (b - d * low) / pivot
            return new, new

        def back(x, row):
            c, d = row
            x = d - c * x
            return x, x

        _, (c, d) = lax.scan(down, (zero[0], zero[0]), (lower, diagonal, upper, right))
        _, x = lax.scan(back, zero[0], (c, d), reverse=True)
        return jnp.sum((x - u) / dt * w)

    return f


def picture(rng, size):
    n, m = size
    return rng.uniform(size=(n, m)), 0.25, rng.normal(size=(n, m))


def bodies(rng, size):
    n, steps = size
    return rng.normal(size=(n, 3)), rng.normal(size=(n, 3)), rng.uniform(0.5, 1.5, n) / n, 0.01, steps


def sparse(rng, size):
    n, per_row, times = size
    counts = rng.integers(1, 2 * per_row, n)
    start = np.concatenate([[0], np.cumsum(counts)])
    return rng.normal(size=start[-1]), rng.integers(0, n, start[-1]), start, rng.normal(size=n), times


def logits(rng, size):
    return rng.normal(size=size), rng.normal(size=size)


def batch(rng, size):
    n, side, k, cin, cout = size
    out = side - k + 1
    return (
        rng.normal(size=(n, side, side, cin)), rng.normal(size=(k, k, cin, cout)), rng.normal(size=cout), rng.normal(size=(n, out, out, cout))
    )  # fmt: skip


def square(rng, n):
    return rng.normal(size=(n, n)), rng.normal(size=(n, n))


def weather(rng, size):
    n, m, p = size
    inner = (n - 4, m - 4, p)
    return rng.normal(size=size), rng.uniform(0.1, 0.4, inner), rng.normal(size=inner)


def column(rng, size):
    n, m, p = size
    return rng.normal(size=(n, m, p - 1)), rng.normal(size=size), rng.normal(size=size), 0.2, rng.normal(size=size)


KERNELS = [
    Kernel(deriche, deriche_loops, deriche_jax, picture, (0, 1), (6, 5), (400, 400)),
    Kernel(nbody, nbody_loops, nbody_jax, bodies, (0, 1, 2), (5, 3), (60, 40), (4,)),
    Kernel(spmv, spmv_loops, spmv_jax, sparse, (0, 3), (6, 2, 2), (4000, 10, 10), (4,)),
    Kernel(softmax, softmax_loops, softmax_jax, logits, (0,), (4, 5), (1000, 500)),
    Kernel(conv2d, conv2d_loops, conv2d_jax, batch, (0, 1, 2), (2, 6, 3, 2, 3), (4, 32, 5, 3, 16)),
    Kernel(go_fast, go_fast_loops, go_fast_jax, square, (0,), 4, 1000),
    Kernel(horizontal_diffusion, horizontal_diffusion_loops, horizontal_diffusion_jax, weather, (0, 1), (7, 6, 3), (64, 64, 60)),
    Kernel(vertical_advection, vertical_advection_loops, vertical_advection_jax, column, (0, 1, 2, 3), (3, 4, 5), (64, 64, 60)),
]
