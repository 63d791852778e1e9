def kepler_adjoint(M, e, E_bar=1.0):
    """Adjoint of `kepler`: gradient of E with respect to (M, e)."""
    # --- forward sweep: keeps E_saved ---
    E = M
    step = 1.0
    trips = 0
    E_saved = []
    while abs(step) > 1e-12:
        E_saved.append(E)
        trips += 1
        step = (E - e * np.sin(E) - M) / (1.0 - e * np.cos(E))
        E -= step
    # --- reverse sweep ---
    M_bar = 0.0
    e_bar = 0.0
    for _ in range(trips):
        # E -= step
        step_bar = -E_bar
        E = E_saved.pop()
        # step = (E - e * np.sin(E) - M) / (1.0 - e * np.cos(E))
        cos_E = np.cos(E)
        t = 1.0 - e * cos_E
        w = step_bar / t
        sin_E = np.sin(E)
        w_2 = -((E - e * sin_E - M) * w / t)
        E_bar += w - e * cos_E * w + e * sin_E * w_2
        e_bar += -(sin_E * w) - cos_E * w_2
        M_bar -= w
    # E = M
    M_bar += E_bar
    return M_bar, e_bar
