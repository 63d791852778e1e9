def burgers_adjoint(u0, nu, c, steps, out_bar=1.0):
    """Adjoint of `burgers`: gradient of the result with respect to (u0, nu, c)."""
    # --- forward sweep: keeps un_saved ---
    n = u0.size
    u = u0.copy()
    un_saved = np.empty((len(range(steps)), u0.shape[0]))
    for t in range(steps):
        copyto(un_saved[t], u)
        un = un_saved[t]
        for i in range(1, n - 1):
            u[i] = (
                un[i] - c * un[i] * (un[i] - un[i - 1])
                + nu * (un[i + 1] - 2.0 * un[i] + un[i - 1])
            )
    # --- reverse sweep ---
    # return np.sum(u * u)
    u_bar = 2.0 * u * out_bar
    c_bar = 0.0
    nu_bar = 0.0
    for t in range(steps - 1, -1, -1):
        un = un_saved[t]
        un_bar = np.zeros_like(un)
        for i in range(1, n - 1):
            # u[i] = (un[i] - c * un[i] * (un[i] - un[i - 1]) + nu * (un[i ...
            w = u_bar[i]
            u_bar[i] = 0.0
            w_2 = -((un[i] - un[i - 1]) * w)
            w_3 = -(c * un[i] * w)
            un_bar[i] += w + c * w_2 + w_3 - 2.0 * nu * w
            c_bar += un[i] * w_2
            un_bar[i - 1] += nu * w - w_3
            nu_bar += (un[i + 1] - 2.0 * un[i] + un[i - 1]) * w
            un_bar[i + 1] += nu * w
        # un = u.copy()
        u_bar += un_bar
    # u = u0.copy()
    u0_bar = u_bar
    return u0_bar, nu_bar, c_bar
