"""A `while` loop of unknown length: Newton's iteration for Kepler's equation."""

import numpy as np


def kepler(M, e):
    E = M
    step = 1.0
    while abs(step) > 1e-12:
        step = (E - e * np.sin(E) - M) / (1.0 - e * np.cos(E))
        E -= step
    return E


def grow(stack):
    """A copy of the stack with twice the room."""
    grown = np.empty(2 * stack.size)
    grown[: stack.size] = stack
    return grown


def kepler_adjoint(M, e, E_bar=1.0):
    """Adjoint of `kepler`: gradient of E with respect to (M, e)."""
    # --- forward sweep: store E of every iteration ---
    E = M
    step = 1.0
    E_saved = np.empty(16)
    trips = 0
    while abs(step) > 1e-12:
        if trips == E_saved.size:
            E_saved = grow(E_saved)
        E_saved[trips] = E
        trips += 1
        step = (E - e * np.sin(E) - M) / (1.0 - e * np.cos(E))
        E -= step
    # --- reverse sweep ---
    M_bar = 0.0
    e_bar = 0.0
    for k in range(trips - 1, -1, -1):
        E = E_saved[k]
        # E -= step
        step_bar = -E_bar
        # step = (E - e * np.sin(E) - M) / (1.0 - e * np.cos(E))
        sin_E = np.sin(E)
        cos_E = np.cos(E)
        den = 1.0 - e * cos_E
        num_bar = step_bar / den
        den_bar = -(E - e * sin_E - M) / den * num_bar
        E_bar += den * num_bar + e * sin_E * den_bar
        e_bar -= sin_E * num_bar + cos_E * den_bar
        M_bar -= num_bar
    # E = M
    M_bar += E_bar
    return M_bar, e_bar


PRIMAL, ADJOINT, WRT = kepler, kepler_adjoint, ("M", "e")
INPUTS = [(0.7, 0.3), (2.5, 0.9), (0.05, 0.95)]
