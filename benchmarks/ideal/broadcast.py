"""An array expression with broadcasting and a reduction: Gaussian negative log-likelihood."""

import numpy as np

from s2sad.runtime import sum_to


def nll(X, mu, sigma):
    z = (X - mu) / sigma
    return 0.5 * np.sum(z * z) + X.shape[0] * np.sum(np.log(sigma))


def nll_adjoint(X, mu, sigma, out_bar=1.0):
    """Adjoint of `nll`: gradient with respect to (X, mu, sigma)."""
    # --- forward sweep ---
    z = (X - mu) / sigma
    # --- reverse sweep ---
    # return 0.5 * np.sum(z * z) + X.shape[0] * np.sum(np.log(sigma))
    z_bar = out_bar * z
    sigma_bar = X.shape[0] * out_bar / sigma
    # z = (X - mu) / sigma
    w = z_bar / sigma
    mu_bar = -sum_to(w, mu.shape)
    sigma_bar -= sum_to(z * w, sigma.shape)
    return sum_to(w, X.shape), mu_bar, sigma_bar


_rng = np.random.default_rng(0)
PRIMAL, ADJOINT, WRT = nll, nll_adjoint, ("X", "mu", "sigma")
INPUTS = [(_rng.normal(size=(6, 4)), _rng.normal(size=4), _rng.uniform(0.5, 2.0, size=4))]
