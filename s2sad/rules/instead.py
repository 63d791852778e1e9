"""What to write instead of library calls, or forms of them, that have no rule: texts for errors."""

from __future__ import annotations

REWRITES: dict[str, str] = {
    "np.add.at": "for i in range(len(k)):\n    y[k[i]] += v[i]",
    "np.subtract.at": "for i in range(len(k)):\n    y[k[i]] -= v[i]",
    "np.multiply.at": "for i in range(len(k)):\n    y[k[i]] *= v[i]",
    "np.apply_along_axis": "for i in range(len(a)):\n    y[i] = f(a[i])",
    "np.argwhere": "for i in range(len(x)):\n    if x[i] > 0.0:\n        ...",
    "np.atleast_2d": "x[None, :]",
    "np.average": "np.sum(w * x) / np.sum(w)",
    "np.bincount": "for i in range(len(k)):\n    y[k[i]] += w[i]",
    "np.convolve": "for i in range(len(x)):\n    for j in range(len(w)):\n        y[i + j] += x[i] * w[j]",
    "np.copyto": "y[...] = x",
    "np.correlate": "for i in range(len(y)):\n    y[i] = np.sum(x[i:i + len(w)] * w)",
    "np.cross": "c = np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])",
    "np.diag_indices": "for i in range(len(a)):\n    a[i, i] = ...",
    "np.diagonal": "np.diag(a)",
    "np.ediff1d": "x[1:] - x[:-1]",
    "np.einsum": "a @ b  # or np.sum(a * b, axis=0), or a loop",
    "np.extract": "x[mask]",
    "np.fill_diagonal": "for i in range(len(a)):\n    a[i, i] = v",
    "np.flatnonzero": "for i in range(len(x)):\n    if x[i] > 0.0:\n        ...",
    "np.gradient": "(y[2:] - y[:-2]) / (2.0 * h)  # and the two ends",
    "np.inner": "a @ b.T",
    "np.ix_": "a[rows][:, columns]",
    "np.kron": "(a[:, None] * b[None, :]).ravel()  # of vectors",
    "np.linalg.cond": "# computed where the function is called",
    "np.linalg.lstsq": "np.linalg.solve(a.T @ a, a.T @ b)",
    "np.linalg.multi_dot": "a @ b @ c",
    "np.linalg.norm": "np.sqrt(np.sum(x * x, axis=0))  # for axis=0\nnp.sum(np.abs(x))  # for ord=1\nnp.max(np.abs(x))  # for ord=np.inf",
    "np.linalg.pinv": "np.linalg.solve(a.T @ a, a.T)",
    "np.logspace": "10.0 ** np.linspace(a, b, n)",
    "np.median": "x = np.sort(x)\n(x[(len(x) - 1) // 2] + x[len(x) // 2]) / 2.0",
    "np.meshgrid": "x[None, :], y[:, None]  # they broadcast together",
    "np.nanmean": "np.mean(x[~np.isnan(x)])",
    "np.nansum": "np.sum(np.where(np.isnan(x), 0.0, x))",
    "np.ndenumerate": "for i in range(a.shape[0]):\n    for j in range(a.shape[1]):\n        s += a[i, j]",
    "np.ndindex": "for i in range(n):\n    for j in range(m):\n        ...",
    "np.nonzero": "for i in range(len(x)):\n    if x[i] > 0.0:\n        ...",
    "np.pad": "y = np.zeros(len(x) + 2)\ny[1:-1] = x",
    "np.piecewise": "np.where(x > 0.0, a, b)",
    "np.polyval": "y = 0.0\nfor k in range(len(p)):\n    y = y * x + p[k]",
    "np.ptp": "np.max(x) - np.min(x)",
    "np.put": "y[k] = v",
    "np.quantile": "x = np.sort(x)\nx[k]  # and the weights between two entries",
    "np.repeat": "x[np.arange(n * len(x)) // n]",
    "np.select": "np.where(first, a, np.where(second, b, c))",
    "np.tensordot": "a @ b",
    "np.tile": "x[np.arange(n * len(x)) % len(x)]",
    "np.trapezoid": "np.sum((y[1:] + y[:-1]) / 2.0 * (t[1:] - t[:-1]))",
    "np.vander": "x[:, None] ** np.arange(n)",
    "np.vdot": "np.sum(a * b)",
    "math.dist": "np.sqrt(np.sum((p - q) ** 2))",
    "math.log": "math.log(x) / math.log(base)",
}


def instead_of(name: str) -> str:
    """What to write instead of a call of a function; empty if nothing is known.

    >>> instead_of("np.ptp"), instead_of("np.unknown")
    ('np.max(x) - np.min(x)', '')
    """
    return REWRITES.get(name, "")
