import numpy as np

from s2sad.analysis.usage import types_from_use
from s2sad.transforms.pipeline import front


def stencil(u0, nu, steps):
    u = u0.copy()
    for _ in range(steps):
        un = u.copy()
        for i in range(1, u.size - 1):
            u[i] = un[i] + nu * (un[i + 1] - 2 * un[i] + un[i - 1])
    return np.sum(u * u)


def rows(cams, obs, w):
    s = 0.0
    for k in range(obs.shape[0]):
        cam = cams[obs[k, 0]]
        s += w[k] * cam[0]
    return s


def branch(re, roughness):
    if re < 2300.0:
        f = 64.0 / re
    else:
        f = np.log10(roughness / 3.7 + 5.74 / re)
    return f


def undecided(X, w, v):
    row = X[0]
    return np.sum(row * w) + v @ v


def found(f, wrt):
    return {p: str(t) for p, t in types_from_use(front(f), {}, wrt).items()}


def test_what_use_decides():
    assert found(stencil, ["nu"]) == {"u0": "float64[::1]", "nu": "float", "steps": "int"}
    assert found(rows, ["cams"]) == {"cams": "float64[:, ::1]", "obs": "int64[:, ::1]", "w": "float64[::1]"}
    assert found(branch, ["re"]) == {"re": "float", "roughness": "float"}


def test_what_it_does_not_decide_is_left_out():
    assert found(undecided, ["X"]) == {}
