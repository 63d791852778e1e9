"""A scalar formula with a branch: Darcy's friction factor after Swamee and Jain."""

import numpy as np


def friction(re, roughness):
    if re < 2300.0:
        f = 64.0 / re
    else:
        s = roughness / 3.7 + 5.74 / re ** 0.9
        f = 0.25 / np.log10(s) ** 2
    return f


def friction_adjoint(re, roughness, f_bar=1.0):
    """Adjoint of `friction`: gradient of f with respect to (re, roughness)."""
    re_bar = 0.0
    roughness_bar = 0.0
    if re < 2300.0:
        # f = 64.0 / re
        re_bar -= 64.0 / re ** 2 * f_bar
    else:
        s = roughness / 3.7 + 5.74 / re ** 0.9
        # f = 0.25 / np.log10(s) ** 2
        s_bar = -0.5 / np.log10(s) ** 3 * f_bar / (s * 2.302585092994046)
        # s = roughness / 3.7 + 5.74 / re ** 0.9
        roughness_bar += s_bar / 3.7
        re_bar -= 5.166 / re ** 1.9 * s_bar
    return re_bar, roughness_bar


PRIMAL, ADJOINT, WRT = friction, friction_adjoint, ("re", "roughness")
INPUTS = [(1800.0, 1.0e-4), (3.0e5, 1.0e-4)]
