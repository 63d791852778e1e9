"""Hand tracking: bend a skinned hand model so that its surface passes through 100 measured points."""

# ruff: noqa: B007  (loops that only repeat)

import math
from pathlib import Path

import numpy as np
from _report import check, check_close, show_times
from scipy.optimize import minimize

from s2sad import check_gradients, value_and_grad

DATA = Path(__file__).parent / "data" / "hand"
WRT = ("theta", "us")


def read_model(folder):
    """parents (b,), relatives (b, 4, 4), inverses (b, 4, 4), base (4, v), weights (b, v), triangles (t, 3).

    A line of bones.txt is name:parent:16 numbers (transform relative to the parent):16 numbers (inverse of the absolute transform);
    of vertices.txt x:y:z:five unused:count:(bone:weight) count times; of triangles.txt three vertices.
    """
    bones = [line.split(":") for line in (folder / "bones.txt").read_text().split() if line.count(":") >= 33]
    vertices = [line.split(":") for line in (folder / "vertices.txt").read_text().split()]
    triangles = [line.split(":") for line in (folder / "triangles.txt").read_text().split()]
    parents = np.array([int(b[1]) for b in bones])
    relatives = np.array([b[2:18] for b in bones], dtype=float).reshape(-1, 4, 4)
    inverses = np.array([b[18:34] for b in bones], dtype=float).reshape(-1, 4, 4)
    base = np.ones((4, len(vertices)))
    weights = np.zeros((len(bones), len(vertices)))
    for k, v in enumerate(vertices):
        base[:3, k] = [float(s) for s in v[:3]]
        for bone, weight in zip(v[9::2], v[10::2], strict=True):
            weights[int(bone), k] = float(weight)
    return parents, relatives, inverses, base, weights, np.array(triangles, dtype=np.int64)


def read_points(path):
    """theta (26,), us (p, 2), triangle of each point (p,), points (p, 3): the file has p 26, p lines `triangle x y z`, p lines `u v`, theta."""
    words = path.read_text().split()
    p = int(words[0])
    table = np.array(words[2 : 2 + 4 * p], dtype=float).reshape(p, 4)
    us = np.array(words[2 + 4 * p : 2 + 6 * p], dtype=float).reshape(p, 2)
    return np.array(words[2 + 6 * p :], dtype=float), us, table[:, 0].astype(np.int64), table[:, 1:].copy()


def multiply_into(a, b, out):
    """out = a @ b, in place."""
    for i in range(a.shape[0]):
        for k in range(b.shape[1]):
            s = 0.0
            for j in range(a.shape[1]):
                s += a[i, j] * b[j, k]
            out[i, k] = s


def vertex_positions(theta, parents, relatives, inverses, base, weights):
    """Positions (3, v) of the vertices of the bent hand.

    theta is a rotation (3), a translation (3) and for each of five fingers one bend about x and one about z, then two about x.
    """
    nb = parents.shape[0]
    nv = base.shape[1]

    pose = np.zeros((nb + 3, 3))
    for i in range(3):
        pose[0, i] = theta[i]
        pose[1, i] = 1.0
        pose[2, i] = theta[i + 3]
    it = 6
    ip = 5
    for finger in range(5):
        for i in range(3):
            pose[ip, 0] = theta[it]
            it += 1
            if i == 0:
                pose[ip, 1] = theta[it]
                it += 1
            ip += 1
        ip += 1

    absolutes = np.empty((nb, 4, 4))
    tr = np.zeros((4, 4))
    rel = np.empty((4, 4))
    for ib in range(nb):
        cx = math.cos(pose[ib + 3, 0])
        sx = math.sin(pose[ib + 3, 0])
        cz = math.cos(pose[ib + 3, 1])
        sz = math.sin(pose[ib + 3, 1])
        cy = math.cos(pose[ib + 3, 2])
        sy = math.sin(pose[ib + 3, 2])
        tr[0, 0] = cz * cy
        tr[0, 1] = -sz * cx + cz * sy * sx
        tr[0, 2] = sz * sx + cz * sy * cx
        tr[1, 0] = sz * cy
        tr[1, 1] = cz * cx + sz * sy * sx
        tr[1, 2] = -cz * sx + sz * sy * cx
        tr[2, 0] = -sy
        tr[2, 1] = cy * sx
        tr[2, 2] = cy * cx
        tr[3, 3] = 1.0
        if parents[ib] == -1:
            multiply_into(relatives[ib], tr, absolutes[ib])
        else:
            multiply_into(relatives[ib], tr, rel)
            multiply_into(absolutes[parents[ib]], rel, absolutes[ib])

    pos = np.zeros((3, nv))
    trans = np.empty((4, 4))
    for ib in range(nb):
        multiply_into(absolutes[ib], inverses[ib], trans)
        for iv in range(nv):
            for i in range(3):
                s = 0.0
                for j in range(4):
                    s += trans[i, j] * base[j, iv]
                pos[i, iv] += s * weights[ib, iv]

    rot = np.zeros((3, 3))
    angle = math.sqrt(pose[0, 0] ** 2 + pose[0, 1] ** 2 + pose[0, 2] ** 2)
    if angle < 0.0001:
        for i in range(3):
            rot[i, i] = 1.0
    else:
        x = pose[0, 0] / angle
        y = pose[0, 1] / angle
        z = pose[0, 2] / angle
        s = math.sin(angle)
        c = math.cos(angle)
        rot[0, 0] = x * x + (1 - x * x) * c
        rot[0, 1] = x * y * (1 - c) - z * s
        rot[0, 2] = x * z * (1 - c) + y * s
        rot[1, 0] = x * y * (1 - c) + z * s
        rot[1, 1] = y * y + (1 - y * y) * c
        rot[1, 2] = y * z * (1 - c) - x * s
        rot[2, 0] = x * z * (1 - c) - y * s
        rot[2, 1] = z * y * (1 - c) + x * s
        rot[2, 2] = z * z + (1 - z * z) * c
    for i in range(3):
        for j in range(3):
            rot[i, j] *= pose[1, j]
    for iv in range(nv):
        p0 = pos[0, iv]
        p1 = pos[1, iv]
        p2 = pos[2, iv]
        for i in range(3):
            pos[i, iv] = rot[i, 0] * p0 + rot[i, 1] * p1 + rot[i, 2] * p2 + pose[2, i]
    return pos


def cost(theta, us, corr, points, parents, relatives, inverses, base, weights, triangles):
    """Sum of squared distances of the points from their places u A + v B + (1 - u - v) C on the triangles of the surface."""
    pos = vertex_positions(theta, parents, relatives, inverses, base, weights)
    total = 0.0
    for i in range(corr.shape[0]):
        a, b, c = triangles[corr[i], 0], triangles[corr[i], 1], triangles[corr[i], 2]
        u, v = us[i, 0], us[i, 1]
        for j in range(3):
            err = points[i, j] - (u * pos[j, a] + v * pos[j, b] + (1.0 - u - v) * pos[j, c])
            total += err * err
    return total


def part(count, theta, us, corr, points, parents, relatives, inverses, base, weights, triangles):
    """The problem with the first points only, and only the vertices that these need."""
    corners = triangles[corr[:count]]
    kept, new = np.unique(corners, return_inverse=True)
    return (theta, us[:count], np.arange(count), points[:count], parents, relatives, inverses,
            base[:, kept].copy(), weights[:, kept].copy(), new.reshape(corners.shape))


def main():
    data, model = read_points(DATA / "hand_complicated_c100.txt"), read_model(DATA)
    args = *data, *model
    gradient = value_and_grad(cost, wrt=WRT)

    print("Checks:")
    value, grads = gradient(*args)
    reference = np.load(DATA.parent / "hand_reference.npz")
    check_close("value, against the hand-written C++", value, reference["value"], 1e-12)
    for name, g in zip(WRT, grads, strict=True):
        check_close(f"gradient by {name}, against the hand-written C++", g, reference["grad_" + name])
    print(" ", check_gradients(cost, *part(4, *args), wrt=WRT))

    print("Time:")
    show_times(gradient, *args)

    print("Fit:")
    theta, us = data[:2]

    def objective(p):
        value, (theta_bar, us_bar) = gradient(p[: theta.size], p[theta.size :].reshape(us.shape), *args[2:])
        return value, np.concatenate([theta_bar, us_bar.ravel()])

    found = minimize(objective, np.concatenate([theta, us.ravel()]), jac=True, method="L-BFGS-B",
                     bounds=[(None, None)] * theta.size + [(0.0, 1.0)] * us.size, options={"maxiter": 200})
    check("L-BFGS lowers the squared distance", found.fun < 0.95 * value, f"{value:.4f} -> {found.fun:.4f} in {found.nit} iterations")


if __name__ == "__main__":
    main()
