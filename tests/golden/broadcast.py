def nll_adjoint(X, mu, sigma, out_bar=1.0):
    """Adjoint of `nll`: gradient of the result with respect to (X, mu, sigma)."""
    # --- forward sweep ---
    z = (X - mu) / sigma
    # --- reverse sweep ---
    # return 0.5 * np.sum(z * z) + X.shape[0] * np.sum(np.log(sigma))
    z_bar = z * out_bar
    sigma_bar = X.shape[0] * out_bar / sigma
    # z = (X - mu) / sigma
    w_2 = z_bar / sigma
    mu_bar = -sum_to(w_2, mu.shape)
    sigma_bar -= sum_to(z * w_2, sigma.shape)
    X_bar = sum_to(w_2, X.shape)
    return X_bar, mu_bar, sigma_bar
