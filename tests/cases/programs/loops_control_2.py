"""Loops and control flow (more)."""

# ruff: noqa: B007, E501, E741  (the programs stay as they were reported)
import numpy as np
from case import Case, cstep


def carried_vector(v, n):
    a = v.copy()
    for _ in range(n):
        b = np.empty_like(a)
        b[0] = a[1] * a[2]
        b[1] = a[0] - a[2]
        b[2] = a[0] * a[1] + 0.5
        a = b
    return a[0] + 2.0 * a[1] + 3.0 * a[2]


CV = (np.array([0.7, -1.1, 0.4]), 3)


def stride_down(x):
    s = 0.5
    for i in range(7, 0, -3):         # 7, 4, 1
        s = s * x[i] + i
    return s


XD = np.array([9.0, 2.0, 9.0, 9.0, -1.5, 9.0, 9.0, 3.0])
ED = np.zeros(8)
_s0, _s1, _s2 = 0.5, 0.5 * 3.0 + 7, (0.5 * 3.0 + 7) * -1.5 + 4
ED[7], ED[4], ED[1] = 0.5 * XD[4] * XD[1], _s1 * XD[1], _s2


def repeat_until(x, n):
    r = 1.0
    i = 0
    while True:
        r *= x
        i += 1
        if i >= n:
            break
    return r + 2.0 * x


def break_inner_only(x):
    s = 0.0
    for i in range(x.shape[0]):
        p = 1.0
        for j in range(x.shape[0]):
            if j > i:
                break
            p = p * x[j]
        s += p
    return s


BI = (np.array([0.5, -2.0, 3.0]),)


def all_paths_return(x, a):
    if x < 0.0:
        return -x * a
    elif x < 1.0:
        if a > 2.0:
            return x * x
        return x * x * a
    else:
        while x > 1.0:
            x = x * 0.5
            if a < 0.0:
                return x
        return x * a * a


def mask_neighbour_flux(u, solid):
    f = 0.0
    n = u.shape[0]
    for i in range(n):
        if solid[i]:
            f += 0.0
        elif i > 0 and solid[i - 1]:
            f += u[i] * u[i] * 2.0
        elif i < n - 1 and solid[i + 1]:
            f -= u[i] ** 3
        else:
            f += u[i] * u[i - 1]
    return f


MU, MS = np.array([1.0, 2.0, 5.0, 3.0, -1.0]), np.array([False, False, True, False, False])
EM = np.array([MU[4], -3 * MU[1] ** 2, 0.0, 4 * MU[3] + MU[4], MU[0] + MU[3]])


CASES = [
    Case("carried-vector", "loop-carried", carried_vector, CV, cstep(carried_vector, CV), source="Genesis-Embodied-AI/quadrants#797"),
    Case("stride-down", "loop-shape", stride_down, (XD,), ED, source="vgvassilev/clad#474 (loop head), #818"),
    Case("repeat-until", "early-exit", repeat_until, (1.2, 4), 4 * 1.2 ** 3 + 2, source="swiftlang/swift#78264"),
    Case("break-inner-only", "early-exit", break_inner_only, BI, cstep(break_inner_only, BI), source="vgvassilev/clad#1019, #851"),
    Case("all-paths-return", "early-exit", all_paths_return, (3.0, 1.5), (0.25 * 2.25, 0.75 * 2 * 1.5), wrt=(0, 1),
         source="vgvassilev/clad#1958; EnzymeAD/Enzyme.jl#2987"),
    Case("mask-neighbour-flux", "branch", mask_neighbour_flux, (MU, MS), EM, source="EnzymeAD/Enzyme.jl#3614"),
]
