"""The same gradients in JAX, rewritten as array programs: `GRADIENTS[name](*args)` gives a call without arguments."""

import math

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)


def _call(objective, *wrt):
    gradient = jax.jit(jax.grad(objective, argnums=tuple(range(len(wrt)))))
    wrt = [jnp.asarray(x) for x in wrt]
    return lambda: jax.block_until_ready(gradient(*wrt))


def burgers(u0, nu, c, steps):
    def objective(u0, nu, c):
        def step(u, _):
            inner = u[1:-1] - c * u[1:-1] * (u[1:-1] - u[:-2]) + nu * (u[2:] - 2.0 * u[1:-1] + u[:-2])
            return u.at[1:-1].set(inner), None

        u, _ = jax.lax.scan(step, u0, None, length=steps)
        return jnp.sum(u * u)

    return _call(objective, u0, nu, c)


def gmm(alphas, means, icf, x, gamma, m):
    n, d = x.shape
    k = alphas.shape[0]
    rows = np.concatenate([np.arange(c + 1, d) for c in range(d)])
    cols = np.concatenate([np.full(d - c - 1, c) for c in range(d)])
    points = jnp.asarray(x)
    lgam = 0.25 * d * (d - 1) * math.log(math.pi) + sum(math.lgamma(0.5 * (d + m + 2 - j)) for j in range(1, d + 1))
    const = -n * d * 0.5 * math.log(2.0 * math.pi) - k * ((d + m + 1) * d * (math.log(gamma) - 0.5 * math.log(2.0)) - lgam)

    def objective(alphas, means, icf):
        sum_q = icf[:, :d].sum(1)
        qdiag = jnp.exp(icf[:, :d])
        lower = jnp.zeros((k, d, d)).at[:, rows, cols].set(icf[:, d:])
        xc = points[:, None, :] - means[None, :, :]
        qx = qdiag * xc + jnp.einsum("kij,nkj->nki", lower, xc)
        term = alphas + sum_q - 0.5 * (qx * qx).sum(2)
        frob = (qdiag**2).sum() + (icf[:, d:] ** 2).sum()
        lse = jax.scipy.special.logsumexp
        return const + lse(term, axis=1).sum() - n * lse(alphas) + 0.5 * gamma * gamma * frob - m * sum_q.sum()

    return _call(objective, alphas, means, icf)


def lstm(main, extra, state, seq):
    seq, start = jnp.asarray(seq), [(jnp.asarray(s[0]), jnp.asarray(s[1])) for s in state]

    def objective(main, extra):
        def step(state, pair):
            y, new = pair[0] * extra[0], []
            for k, (h, cell) in enumerate(state):
                w, b = main[k]
                forget, ingate, outgate = jax.nn.sigmoid(y * w[0] + b[0]), jax.nn.sigmoid(h * w[1] + b[1]), jax.nn.sigmoid(y * w[2] + b[2])
                cell = cell * forget + ingate * jnp.tanh(h * w[3] + b[3])
                y = outgate * jnp.tanh(cell)
                new.append((y, cell))
            y = y * extra[1] + extra[2]
            return new, (pair[1] * (y - jnp.log(2.0 + jnp.exp(y).sum()))).sum()

        _, terms = jax.lax.scan(step, start, (seq[:-1], seq[1:]))
        return -terms.sum() / ((seq.shape[0] - 1) * seq.shape[1])

    return _call(objective, main, extra)


GRADIENTS = {"burgers": burgers, "gmm": gmm, "lstm": lstm}
