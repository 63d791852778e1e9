"""Viscous Burgers equation: find the viscosity that explains a measured velocity field.

The solver overwrites `u` in place, point by point and step by step, as one writes it.
`python examples/burgers.py` shows the adjoint that is made from it, checks it, times it and fits the viscosity.
"""

# ruff: noqa: B007  (loops that only repeat)

import numpy as np
from _report import check, check_close, show_times

from s2sad import check_gradients, grad


def simulate(u0, nu, c, steps):
    """The velocity after some time steps; `nu` and `c` are viscosity and time step in units of the grid."""
    u = u0.copy()
    for t in range(steps):
        un = u.copy()
        for i in range(1, u.size - 1):
            u[i] = un[i] - c * un[i] * (un[i] - un[i - 1]) + nu * (un[i + 1] - 2.0 * un[i] + un[i - 1])
    return u


def misfit(u0, nu, c, steps, measured):
    """Sum of squared differences between the simulated and the measured field."""
    u = simulate(u0, nu, c, steps)
    return np.sum((u - measured) ** 2)


def main():
    true_nu, c, steps = 0.11, 0.08, 200
    u0 = 1.5 + np.sin(np.linspace(0.0, 2.0 * np.pi, 400))
    measured = simulate(u0, true_nu, c, steps)
    gradient = grad(misfit, wrt=("u0", "nu"))

    print("The adjoint of `misfit`:\n")
    print(gradient.source(u0, 0.05, c, steps, measured))

    print("Checks:")
    small = u0[:40], 0.05, c, 20, measured[:40]
    print(" ", check_gradients(misfit, *small, wrt=("u0", "nu")))
    step = 1e-5
    central = (misfit(u0, 0.05 + step, c, steps, measured) - misfit(u0, 0.05 - step, c, steps, measured)) / (2.0 * step)
    check_close("d misfit / d nu at full size, against central differences", gradient(u0, 0.05, c, steps, measured)[1], central, 1e-6)

    print("Time:")
    show_times(gradient, u0, 0.05, c, steps, measured)

    print("Fit:")
    slope = grad(misfit, wrt="nu")
    before, nu, trips = 0.04, 0.05, 0
    slope_before = slope(u0, before, c, steps, measured)
    while abs(nu - before) > 1e-9 and trips < 20:  # secant iteration on the derivative
        here = slope(u0, nu, c, steps, measured)
        before, slope_before, nu, trips = nu, here, nu - here * (nu - before) / (here - slope_before), trips + 1
    check("the viscosity is recovered", abs(nu - true_nu) < 1e-6, f"{nu:.9f} after {trips} steps, true {true_nu}")


if __name__ == "__main__":
    main()
