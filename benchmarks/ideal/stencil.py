"""A time-stepping loop with in-place stencil writes: viscous Burgers equation."""

# ruff: noqa: B007  (loops that only repeat)

import numpy as np


def burgers(u0, nu, c, steps):
    n = u0.size
    u = u0.copy()
    for t in range(steps):
        un = u.copy()
        for i in range(1, n - 1):
            u[i] = (un[i] - c * un[i] * (un[i] - un[i - 1])
                    + nu * (un[i + 1] - 2.0 * un[i] + un[i - 1]))
    return np.sum(u * u)


def burgers_adjoint(u0, nu, c, steps, out_bar=1.0):
    """Adjoint of `burgers`: gradient with respect to (u0, nu, c)."""
    # --- forward sweep: store un of every step ---
    n = u0.size
    u = u0.copy()
    un_saved = np.empty((len(range(steps)), n))
    for t in range(steps):
        un = un_saved[t]
        un[:] = u
        for i in range(1, n - 1):
            u[i] = (
                un[i] - c * un[i] * (un[i] - un[i - 1])
                + nu * (un[i + 1] - 2.0 * un[i] + un[i - 1])
            )
    # --- reverse sweep ---
    nu_bar = 0.0
    c_bar = 0.0
    # return np.sum(u * u)
    u_bar = 2.0 * out_bar * u
    un_bar = np.empty(n)
    for t in range(steps - 1, -1, -1):
        un = un_saved[t]
        un_bar[:] = 0.0
        # u[i] = un[i] - c * un[i] * (un[i] - un[i - 1]) + nu * (un[i ...
        for i in range(1, n - 1):
            w = u_bar[i]
            u_bar[i] = 0.0
            slope = un[i] - un[i - 1]
            un_bar[i - 1] += (c * un[i] + nu) * w
            un_bar[i] += (1.0 - c * (slope + un[i]) - 2.0 * nu) * w
            un_bar[i + 1] += nu * w
            c_bar -= un[i] * slope * w
            nu_bar += (un[i + 1] - 2.0 * un[i] + un[i - 1]) * w
        # un = u.copy()
        u_bar += un_bar
    # u = u0.copy()
    return u_bar, nu_bar, c_bar


PRIMAL, ADJOINT, WRT = burgers, burgers_adjoint, ("u0", "nu", "c")
INPUTS = [(1.5 + np.sin(np.linspace(0.0, 2.0 * np.pi, 24)), 0.11, 0.08, 30)]
