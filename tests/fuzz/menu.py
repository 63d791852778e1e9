"""Texts of NumPy's and `math`'s functions that random programs draw from; `{}` stands for moderate real values."""

# for numbers and arrays
POINTWISE = (
    "np.sin({})", "np.cos({})", "np.tanh({})", "np.exp(-({}) ** 2)", "np.sqrt(1.0 + ({}) ** 2)", "-({})", "np.log(1.5 + ({}) ** 2)",
    "np.arctan({})", "np.abs({})", "np.exp2(np.sin({}))", "np.expm1(np.sin({}))", "np.log1p(({}) ** 2)", "np.log2(1.5 + np.square({}))",
    "np.log10(2.0 + np.sin({}))", "np.cbrt(1.5 + np.sin({}))", "np.tan(0.9 * np.sin({}))", "np.arcsin(0.9 * np.sin({}))",
    "np.arccos(0.8 * np.cos({}))", "np.sinh(np.sin({}))", "np.cosh(np.tanh({}))", "np.arcsinh({})", "np.arccosh(2.5 + np.sin({}))",
    "np.arctanh(0.7 * np.sin({}))", "np.sinc({})", "np.deg2rad(50.0 * ({}))", "np.radians(40.0 * ({}))", "np.rad2deg(0.02 * ({}))",
    "np.degrees(0.01 * ({}))", "np.square({})", "np.reciprocal(2.0 + np.sin({}))", "np.fabs({})", "np.positive({})", "np.negative({})",
    "np.nan_to_num({})", "({0}) * np.sign({0})", "({0}) - 0.3 * np.floor({0})", "(({0}) + 0.2 * np.round({0}))", "({0}) * np.heaviside({0}, 0.5)",
    "(({0}) + 0.1 * np.rint({0}) - 0.1 * np.trunc({0}))", "({}) ** 2", "({}) ** 3", "({}) ** 2.0", "(1.5 + np.sin({})) ** 0.5",
    "(1.5 + np.sin({})) ** -1.5", "1.3 ** ({})", "({}) % 1.3", "0.3 * ({}) // 0.7", "np.ldexp({}, 1)", "(({0}) > 0.1) * ({0})",
    "np.clip({}, -0.7, 0.8)", "np.maximum({}, 0.0)", "np.minimum({}, 0.25)",
)  # fmt: skip
PAIRS = (
    "np.add({}, {})", "np.subtract({}, {})", "np.multiply({}, {})", "np.divide({}, 2.5 + np.sin({}))", "np.power(1.5 + np.sin({}), {})",
    "np.float_power(1.5 + np.sin({}), np.cos({}))", "np.remainder({}, 1.7 + 0.3 * np.sin({}))", "np.fmod({}, 1.7 + 0.3 * np.sin({}))",
    "np.logaddexp({}, {})", "np.logaddexp2({}, {})", "np.arctan2({}, 1.2 + np.cos({}))", "np.hypot({}, {})", "np.maximum({}, {})",
    "np.minimum({}, {})", "np.fmax({}, {})", "np.fmin({}, {})", "np.copysign({}, {})", "({}) / (2.5 + np.sin({}))", "({}) % (1.6 + np.cos({}))",
    "np.clip({}, -0.5, np.abs({}))", "(1.5 + np.sin({})) ** ({})", "np.where({0} > {1}, {0}, {1})",
)  # fmt: skip
# for numbers only
NUMBERS = (
    "math.sin({})", "math.cos({})", "math.exp(-0.1 * ({}) ** 2)", "abs({})", "math.tanh({})", "math.sqrt(0.5 + ({}) ** 2)",
    "math.log(1.5 + ({}) ** 2)", "math.log1p(({}) ** 2)", "math.expm1(math.sin({}))", "math.atan({})", "math.asin(0.9 * math.sin({}))",
    "math.acos(0.9 * math.sin({}))", "math.sinh(math.sin({}))", "math.cosh(math.sin({}))", "math.asinh({})", "math.erf({})", "math.erfc({})",
    "math.fabs({})", "math.radians(30.0 * ({}))", "math.lgamma(1.5 + math.sin({}))", "math.tan(0.8 * math.sin({}))", "float({})",
    "math.log2(1.5 + ({}) ** 2)", "math.log10(1.5 + ({}) ** 2)", "math.atanh(0.7 * math.sin({}))", "({}) * bool({})", "(({0}) + 0.1 * int({0}))",
)  # fmt: skip
NUMBER_PAIRS = (
    "math.hypot({}, {})", "math.atan2({}, 1.2 + math.cos({}))", "math.pow(1.5 + math.sin({}), {})", "math.copysign({}, {})", "max({}, {})",
    "min({}, {})",
)  # fmt: skip
# one-dimensional to a number; of a length that may be 1
TO_NUMBER = (
    "np.sum({})", "np.mean({})", "np.max({})", "np.min({})", "np.prod({})", "np.var({})", "np.std({})", "np.linalg.norm({})", "{}.sum()",
    "{}.mean()", "{}.max()", "np.sum(np.cumsum({}))", "np.sum(np.cumprod({}))", "np.sum(np.diff({}) ** 2)", "np.dot({0}, {0})",
    "np.inner({0}, {0})", "np.vdot({0}, {0})", "np.interp(0.3, np.linspace(-1.07, 1.13, len({0})), {0})", "np.sort({})[0]", "{}[np.argmax({})]",
    "np.trace(np.outer({0}, np.sin({0})))", "np.sum(np.diag({0}))", "np.sum(np.array([0.5, 1.5]) * {0}[0])",
)  # fmt: skip
# of a list {0} that is not empty, an integer and a number
LIST_TO_NUMBER = (
    "{0}[0]", "{0}[-1]", "{0}[len({0}) // 2]", "{0}[{1} % len({0})]", "sum({0})", "0.1 * len({0})", "max({0})", "min({0})", "sorted({0})[0]",
    "sum(v * v for v in {0})", "sum({2} * v for v in {0} if v > 0.1)", "np.sum(np.array({0}) ** 2)", "np.mean(np.array({0}))", "sum({0}[1:])",
    "(0.5 if any(v > {2} for v in {0}) else {2})", "sum([{2} * v for v in {0}])", "np.dot({0}, {0})", "sum(a * b for a, b in zip({0}, {0}[1:]))",
)  # fmt: skip
# one-dimensional to the same length; {1} is another array of this length
SAME_LENGTH = (
    "np.cumsum({0})", "np.cumprod({0})", "np.sort({0})", "{0}[np.argsort({0})]", "{0}[::-1]", "np.flip({0})", "np.flipud({0})", "np.roll({0}, 1)",
    "np.roll({0}, -2)", "np.concatenate(({0}[1:], {1}[:1]))", "np.hstack(({0}[:1], {1}[1:]))", "np.concatenate([{0}[:2], {1}[2:]])",
    "{0} / (0.5 + np.linalg.norm({1}))", "np.outer({0}, {1})[0]", "np.stack(({0}, {1}))[1]", "np.vstack(({0}, {1})).sum(axis=0)",
    "np.stack([{0}, {1}], axis=1)[:, 0]", "np.stack(({0}, {1})).mean(axis=0)", "np.max(np.stack(({0}, {1})), axis=0)",
    "np.diag(np.outer({0}, {1}))", "np.diag({0}) @ {1}", "np.interp({0}, np.linspace(-1.07, 1.13, len({1})), {1})",
    "np.linspace(0.1, {0}[0], len({0}))", "np.full_like({0}, {1}[0])", "np.reshape({0}, (-1, 1))[:, 0]", "{0}.reshape(1, -1)[0]",
    "np.expand_dims({0}, 0)[0]", "np.squeeze({0}[:, None], axis=1)", "np.ravel({0} + {1})", "np.broadcast_to({0}, (2, len({0})))[1]",
    "np.where({0} > {1}, {0} * {1}, 0.5)", "np.where(np.isfinite({0}), {0}, {1})", "({0} - np.mean({0})) / (0.5 + np.std({0}))", "np.asarray({0})",
    "np.copy({0})", "{0}.copy()", "np.clip({0}, {1}[0] - 0.5, {1}[0] + 0.5)", "np.outer({0}, {1}) @ {0}", "np.outer({0}, {1}).T @ {1}",
    "({0}[:, None] * {1}[None, :]).sum(axis=0)", "np.var({0}[:, None] + {1}, axis=1)", "np.triu(np.outer({0}, {1})).sum(axis=1)",
    "np.tril(np.outer({0}, {1})) @ {0}", "np.where({0} == np.max({0}), {0}, {1})",
)  # fmt: skip
# two-dimensional {0} to one number an axis: (text, axis that is left)
ALONG = (
    ("np.sum({0}, axis=1)", 0), ("np.sum({0}, axis=0)", 1), ("np.mean({0}, axis=-1)", 0), ("np.mean({0}, axis=0)", 1), ("np.max({0}, axis=1)", 0),
    ("np.min({0}, axis=0)", 1), ("np.prod({0}, axis=0)", 1), ("np.prod({0}, axis=1)", 0), ("np.var({0}, axis=0)", 1), ("np.std({0}, axis=1)", 0),
    ("{0}.sum(axis=0)", 1), ("{0}.max(axis=0)", 1), ("np.sum({0}, axis=0, keepdims=True)[0]", 1), ("np.sum({0}, axis=1, keepdims=True)[:, 0]", 0),
    ("np.max({0}, axis=1, keepdims=True)[:, 0]", 0), ("np.cumsum({0}, axis=0)[-1]", 1), ("np.sort({0}, axis=0)[0]", 1), ("np.sort({0})[:, 0]", 0),
    ("np.cumprod({0}, axis=1)[:, -1]", 0), ("np.diff({0}, axis=1).sum(axis=1)", 0), ("np.flip({0}, 0)[0]", 1), ("np.fliplr({0})[:, 0]", 0),
)  # fmt: skip
# two-dimensional {0} to the same shape
SAME_SHAPE = (
    "({0} - np.mean({0}, axis=0))", "{0} / (0.5 + np.sum({0} ** 2, axis=1, keepdims=True))", "({0} - np.max({0}, axis=1, keepdims=True))",
    "np.cumsum({0}, axis=0)", "np.cumsum({0}, axis=1)", "np.cumprod({0}, axis=1)", "np.sort({0}, axis=0)", "np.sort({0}, axis=-1)",
    "np.flip({0}, axis=1)", "np.flip({0})", "np.roll({0}, 1, axis=0)", "np.roll({0}, 1)", "np.transpose({0}.T)", "np.swapaxes({0}, 0, 1).T",
    "np.moveaxis({0}, 0, 1).T", "np.flipud({0})", "np.fliplr({0})", "np.tril({0})", "np.triu({0}, 1)", "np.reshape(np.ravel({0}), {0}.shape)",
    "{0}.reshape({0}.shape[1], -1).reshape({0}.shape)", "np.concatenate(({0}[:1], {0}[1:]))", "np.concatenate(({0}[:, 1:], {0}[:, :1]), axis=1)",
    "np.vstack(({0}[1:], {0}[0]))", "np.hstack(({0}[:, :1], {0}[:, 1:]))", "np.stack(({0}, {0} ** 2))[1]",
    "np.stack(({0}, np.sin({0})), axis=2).sum(axis=2)", "{0} @ {0}.T @ {0}", "np.dot({0} @ {0}.T, {0})",
    "np.exp({0}) / np.sum(np.exp({0}), axis=1, keepdims=True)", "np.where({0} > 0.1, {0}, 0.0)", "np.copy({0})", "np.ascontiguousarray({0}.T).T",
    "np.broadcast_to(np.mean({0}, axis=0), {0}.shape)", "({0}[:, None, :] * {0}[None, :, :]).sum(axis=1)",
    "np.squeeze(np.expand_dims({0}, 1), axis=1)", "np.std({0}, axis=0, keepdims=True) * {0}", "np.stack([{0}, {0}]).prod(axis=0)",
)  # fmt: skip
