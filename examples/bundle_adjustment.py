"""Bundle adjustment: 49 cameras see 7776 points; move both so that the points appear where they were seen."""

import math
from pathlib import Path

import numpy as np
from _report import check, check_close, show_times
from scipy.optimize import minimize

from s2sad import check_gradients, value_and_grad

DATA = Path(__file__).parent / "data"
WRT = ("cams", "X", "w")


def read(path):
    """The arguments of `cost`: the file has n m p, then one camera, point, weight and seen position, which all cameras and points share.

    A camera is a rotation (axis times angle, 3), a centre (3), focal length, principal point (2) and radial distortion (2);
    observation i is that of point i mod m by camera i mod n.
    """
    words = path.read_text().split()
    n, m, p = map(int, words[:3])
    cam, point, weight, seen = np.split(np.array(words[3:], dtype=float), [11, 14, 15])
    i = np.arange(p)
    return np.tile(cam, (n, 1)), np.tile(point, (m, 1)), np.full(p, weight[0]), np.stack([i % n, i % m], axis=1), np.tile(seen, (p, 1))


def reprojection(cam, X, w, feat, err):
    """Write the weighted difference between where `cam` shows `X` and where it was seen to err (2,)."""
    x0 = X[0] - cam[3]
    x1 = X[1] - cam[4]
    x2 = X[2] - cam[5]
    sq = cam[0] * cam[0] + cam[1] * cam[1] + cam[2] * cam[2]
    if sq != 0.0:
        theta = math.sqrt(sq)
        co = math.cos(theta)
        si = math.sin(theta)
        inv = 1.0 / theta
        w0 = cam[0] * inv
        w1 = cam[1] * inv
        w2 = cam[2] * inv
        t = (w0 * x0 + w1 * x1 + w2 * x2) * (1.0 - co)
        c0 = x0 * co + (w1 * x2 - w2 * x1) * si + w0 * t
        c1 = x1 * co + (w2 * x0 - w0 * x2) * si + w1 * t
        c2 = x2 * co + (w0 * x1 - w1 * x0) * si + w2 * t
    else:
        c0 = x0 + cam[1] * x2 - cam[2] * x1
        c1 = x1 + cam[2] * x0 - cam[0] * x2
        c2 = x2 + cam[0] * x1 - cam[1] * x0
    u = c0 / c2
    v = c1 / c2
    r2 = u * u + v * v
    lens = 1.0 + cam[9] * r2 + cam[10] * r2 * r2
    err[0] = w * (u * lens * cam[6] + cam[7] - feat[0])
    err[1] = w * (v * lens * cam[6] + cam[8] - feat[1])


def cost(cams, X, w, obs, feats):
    """Sum of squares of all residuals, of the weights' too."""
    err = np.empty(2)
    total = 0.0
    for i in range(obs.shape[0]):
        reprojection(cams[obs[i, 0]], X[obs[i, 1]], w[i], feats[i], err)
        e = 1.0 - w[i] * w[i]
        total += err[0] * err[0] + err[1] * err[1] + e * e
    return total


def pixels(value, w):
    """Root mean square distance in pixels, from the cost with equal weights."""
    return math.sqrt(max(value - np.sum((1.0 - w * w) ** 2), 0.0) / np.sum(w * w))


def main():
    cams, X, w, obs, feats = args = read(DATA / "ba1_n49_m7776_p31843.txt")
    gradient = value_and_grad(cost, wrt=WRT)

    print("Checks:")
    value, grads = gradient(*args)
    reference = np.load(DATA / "ba_reference.npz")
    check_close("value, against the hand-written C++", value, reference["value"], 1e-12)
    for name, g in zip(WRT, grads, strict=True):
        want = reference["grad_" + name]
        check_close(f"gradient by {name}, against the hand-written C++", g[: len(want)], want)
    few = obs[:12] % [3, 12]
    print(" ", check_gradients(cost, cams[:3], X[:12], w[:12], few, feats[:12], wrt=WRT))

    print("Time:")
    show_times(gradient, *args)

    print("Fit:")
    moved = value_and_grad(cost, wrt=("cams", "X"))
    scale = np.concatenate([np.tile([0.1, 0.1, 0.1, 1.0, 1.0, 1.0, 100.0, 10.0, 10.0, 0.1, 0.1], len(cams)), np.ones(X.size)])

    def objective(step):
        p = start + scale * step
        value, (cams_bar, X_bar) = moved(p[: cams.size].reshape(cams.shape), p[cams.size :].reshape(X.shape), w, obs, feats)
        return value, scale * np.concatenate([cams_bar.ravel(), X_bar.ravel()])

    start = np.concatenate([cams.ravel(), X.ravel()])
    found = minimize(objective, np.zeros(start.size), jac=True, method="L-BFGS-B", options={"maxiter": 40})
    before, after = pixels(value, w), pixels(found.fun, w)
    check("L-BFGS lowers the reprojection error", after < 0.1 * before, f"{before:.4f} -> {after:.4f} pixels in {found.nit} iterations")


if __name__ == "__main__":
    main()
