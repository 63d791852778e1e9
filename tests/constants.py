"""A module of physical constants."""

import math

import numpy as np

G = 6.674e-11
C = 299792458.0
K_B = 1.380649
H = 6.626
SIGMA = 2 * math.pi**5 * K_B**4 / (15 * H**3 * 9.0)
MASSES = {"sun": 1.0, "earth": 3e-3}
WEIGHTS = (0.5, 1.0, 0.5)
NODES = np.array([-0.77, 0.0, 0.77])


class Units:
    meter = 1.0
    km = 1000.0
