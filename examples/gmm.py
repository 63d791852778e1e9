"""Gaussian mixture: fit weights, means and full covariances of 5 components to 1000 points in 10 dimensions."""

import math
from pathlib import Path

import numpy as np
from _report import check, check_close, show_times
from scipy.optimize import minimize

from s2sad import check_gradients, value_and_grad

DATA = Path(__file__).parent / "data"
WRT = ("alphas", "means", "icf")


def read(path):
    """The arguments of `log_posterior`: the file has D K N; alphas (K,); means (K, D); icf (K, D (D + 1) / 2); x (N, D); gamma m.

    A row of icf is a factor of an inverse covariance: the logarithms of its diagonal, then its strict lower triangle by columns.
    """
    words = path.read_text().split()
    d, k, n = map(int, words[:3])
    sizes = np.cumsum([k, k * d, k * d * (d + 1) // 2, n * d])
    alphas, means, icf, x, (gamma, m) = np.split(np.array(words[3:], dtype=float), sizes)
    return alphas, means.reshape(k, d), icf.reshape(k, -1), x.reshape(n, d), float(gamma), int(m)


def log_posterior(alphas, means, icf, x, gamma, m):
    """Log-likelihood of the points, plus a Wishart term with the sign that ADBench gives it."""
    n, d = x.shape
    k = alphas.shape[0]
    qdiag = np.empty((k, d))
    sum_q = np.zeros(k)
    for ik in range(k):
        for i in range(d):
            sum_q[ik] += icf[ik, i]
            qdiag[ik, i] = math.exp(icf[ik, i])

    xc = np.empty(d)
    qx = np.empty(d)
    term = np.empty(k)
    slse = 0.0
    for ix in range(n):
        for ik in range(k):
            for i in range(d):
                xc[i] = x[ix, i] - means[ik, i]
                qx[i] = qdiag[ik, i] * xc[i]
            pos = d
            for i in range(d):
                for j in range(i + 1, d):
                    qx[j] += icf[ik, pos] * xc[i]
                    pos += 1
            sq = 0.0
            for i in range(d):
                sq += qx[i] * qx[i]
            term[ik] = alphas[ik] + sum_q[ik] - 0.5 * sq
        mx = term[0]
        for ik in range(1, k):
            if term[ik] > mx:
                mx = term[ik]
        se = 0.0
        for ik in range(k):
            se += math.exp(term[ik] - mx)
        slse += math.log(se) + mx

    mx = alphas[0]
    for ik in range(1, k):
        if alphas[ik] > mx:
            mx = alphas[ik]
    se = 0.0
    for ik in range(k):
        se += math.exp(alphas[ik] - mx)
    lse_alphas = math.log(se) + mx

    prior = 0.0
    for ik in range(k):
        frob = 0.0
        for i in range(d):
            frob += qdiag[ik, i] * qdiag[ik, i]
        for i in range(d, icf.shape[1]):
            frob += icf[ik, i] * icf[ik, i]
        prior += 0.5 * gamma * gamma * frob - m * sum_q[ik]

    dof = d + m + 1
    lgam = 0.25 * d * (d - 1) * math.log(math.pi)
    for j in range(1, d + 1):
        lgam += math.lgamma(0.5 * dof + 0.5 * (1 - j))
    c = dof * d * (math.log(gamma) - 0.5 * math.log(2.0)) - lgam

    const = -n * d * 0.5 * math.log(2.0 * math.pi)
    return const + slse - n * lse_alphas + prior - k * c


def main():
    alphas, means, icf, x, gamma, m = args = read(DATA / "gmm_d10_K5.txt")
    objective = value_and_grad(log_posterior, wrt=WRT)

    print("Checks:")
    value, grads = objective(*args)
    reference = np.load(DATA / "gmm_reference.npz")
    check_close("value, against the hand-written C++", value, reference["value"], 1e-12)
    for name, g in zip(WRT, grads, strict=True):
        check_close(f"gradient by {name}, against the hand-written C++", g, reference["grad_" + name])
    print(" ", check_gradients(log_posterior, alphas, means, icf, x[:10], gamma, m, wrt=WRT))

    print("Time:")
    show_times(objective, *args)

    print("Fit:")
    cuts = np.cumsum([alphas.size, means.size])

    def negative(p):
        a, mu, q = np.split(p, cuts)
        # with ADBench's sign of the Wishart term there is no maximum at gamma = 1: nearly switch it off
        value, grads = objective(a, mu.reshape(means.shape), q.reshape(icf.shape), x, 1e-3, m)
        return -value, -np.concatenate([g.ravel() for g in grads])

    start = np.concatenate([alphas, means.ravel(), icf.ravel()])
    before = negative(start)[0]
    found = minimize(negative, start, jac=True, method="L-BFGS-B", options={"maxiter": 60})
    check("L-BFGS lowers the negative log-likelihood", found.fun < 0.5 * before, f"{before:.0f} -> {found.fun:.0f} in {found.nit} iterations")


if __name__ == "__main__":
    main()
