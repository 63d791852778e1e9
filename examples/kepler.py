"""Kepler's equation: recover an orbit from measured positions.

The eccentric anomaly comes from Newton's iteration: a `while` loop whose number of trips depends on the data.
"""

import numpy as np
from _report import check, check_close, show_times
from scipy.optimize import minimize

from s2sad import check_gradients, grad, value_and_grad


def eccentric_anomaly(M, e):
    """Solve E - e sin(E) = M."""
    E = M
    step = 1.0
    while abs(step) > 1e-12:
        step = (E - e * np.sin(E) - M) / (1.0 - e * np.cos(E))
        E -= step
    return E


def misfit(e, a, M0, days, x, y):
    """Mean squared distance of the positions at the given days from the measured ones; a period has 365.25 days."""
    total = 0.0
    for k in range(days.size):
        E = eccentric_anomaly(M0 + 2.0 * np.pi * days[k] / 365.25, e)
        dx = a * (np.cos(E) - e) - x[k]
        dy = a * np.sqrt(1.0 - e * e) * np.sin(E) - y[k]
        total += dx * dx + dy * dy
    return total / days.size


def measure(e, a, M0, days, noise, rng):
    """Positions on a true orbit with measurement noise."""
    E = np.array([eccentric_anomaly(M0 + 2.0 * np.pi * d / 365.25, e) for d in days])
    x = a * (np.cos(E) - e) + noise * rng.normal(size=days.size)
    y = a * np.sqrt(1.0 - e * e) * np.sin(E) + noise * rng.normal(size=days.size)
    return x, y


def main():
    rng = np.random.default_rng(1)
    e, a, M0 = 0.6, 1.3, 0.4
    days = np.sort(rng.uniform(0.0, 365.25, 200))
    x, y = measure(e, a, M0, days, 1e-4, rng)

    print("Checks:")
    dE = grad(eccentric_anomaly, wrt=("M", "e"))
    for M, ecc in ((0.7, 0.3), (2.5, 0.9), (0.05, 0.95)):
        E = eccentric_anomaly(M, ecc)
        exact = np.array([1.0, np.sin(E)]) / (1.0 - ecc * np.cos(E))
        check_close(f"dE/dM and dE/de at M={M}, e={ecc}, against the exact derivatives", dE(M, ecc), exact)
    fit = value_and_grad(misfit, wrt=("e", "a", "M0"))
    print(" ", check_gradients(misfit, 0.3, 1.0, 0.2, days[:20], x[:20], y[:20], wrt=("e", "a", "M0")))

    print("Time:")
    show_times(fit, 0.3, 1.0, 0.2, days, x, y)

    print("Fit:")

    def objective(p):
        value, slopes = fit(*map(float, p), days, x, y)
        return value, np.array(slopes)

    found = minimize(objective, [0.3, 1.0, 0.2], jac=True, method="L-BFGS-B", bounds=[(0.0, 0.95), (0.1, 10.0), (-3.0, 3.0)],
                     options={"ftol": 1e-15, "gtol": 1e-10})
    for name, got, true in zip(("eccentricity", "half axis", "anomaly at day 0"), found.x, (e, a, M0), strict=True):
        check(f"{name} is recovered", abs(got - true) < 1e-3, f"{got:.5f}, true {true}")


if __name__ == "__main__":
    main()
