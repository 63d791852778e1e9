"""Pointwise functions of NumPy (and the operators, under their ufuncs' names)."""

from s2sad.rules.forms import Chapter

_np = Chapter("np")
elementwise, zero, linear = _np.elementwise, _np.zero, _np.linear

# arithmetic
elementwise("add(x1, x2) -> y", "1", "1")
elementwise("subtract(x1, x2) -> y", "1", "-1")
elementwise("multiply(x1, x2) -> y", "x2", "x1")
elementwise("divide(x1, x2) -> y", "1 / x2", "-y / x2", x1="infinite", x2="infinite")
elementwise("power(x1, x2) -> y", "pow_dx(x1, x2)", "pow_dp(x1, x2)", x1="finite", x2="finite")
elementwise("float_power(x1, x2) -> y", "pow_dx(x1, x2)", "pow_dp(x1, x2)", x1="finite", x2="finite")
# not floor(x1 / x2), which rounds up where x1 is just below a multiple of x2
elementwise("remainder(x1, x2) -> y", "1", "-(x1 - y) / x2", x2="infinite")
elementwise("fmod(x1, x2) -> y", "1", "-(x1 - y) / x2", x2="infinite")
elementwise("negative(x) -> y", "-1")
elementwise("positive(x) -> y", "1")
elementwise("abs(x) -> y", "sign(x)")
elementwise("fabs(x) -> y", "sign(x)")
elementwise("reciprocal(x) -> y", "-y / x", x="infinite")
elementwise("square(x) -> y", "2 * x")
elementwise("sqrt(x) -> y", "0.5 / y", x="finite")
elementwise("cbrt(x) -> y", "1 / (3 * y**2)", x="finite")
elementwise("ldexp(x1, x2) -> y", "ldexp(1.0, x2)")

# exponentials and logarithms
elementwise("exp(x) -> y", "y")
elementwise("exp2(x) -> y", "0.6931471805599453 * y")
elementwise("expm1(x) -> y", "y + 1")
elementwise("log(x) -> y", "1 / x", x="infinite")
elementwise("log2(x) -> y", "1.4426950408889634 / x", x="infinite")
elementwise("log10(x) -> y", "0.4342944819032518 / x", x="infinite")
elementwise("log1p(x) -> y", "1 / (1 + x)", x="infinite")
elementwise("logaddexp(x1, x2) -> y", "sigmoid(x1 - x2)", "sigmoid(x2 - x1)")
elementwise("logaddexp2(x1, x2) -> y", "sigmoid(0.6931471805599453 * (x1 - x2))", "sigmoid(0.6931471805599453 * (x2 - x1))")

# trigonometry
elementwise("sin(x) -> y", "cos(x)")
elementwise("cos(x) -> y", "-sin(x)")
elementwise("tan(x) -> y", "1 + y**2")
elementwise("arcsin(x) -> y", "1 / sqrt((1 - x) * (1 + x))", x="finite")
elementwise("arccos(x) -> y", "-1 / sqrt((1 - x) * (1 + x))", x="finite")
elementwise("arctan(x) -> y", "1 / (1 + x**2)")
elementwise("arctan2(x1, x2) -> y", "x2 / hypot(x1, x2) / hypot(x1, x2)", "-x1 / hypot(x1, x2) / hypot(x1, x2)", x1="finite", x2="finite")
elementwise("hypot(x1, x2) -> y", "ratio(x1, y)", "ratio(x2, y)")
elementwise("sinh(x) -> y", "cosh(x)")
elementwise("cosh(x) -> y", "sinh(x)")
elementwise("tanh(x) -> y", "1 - y**2")
elementwise("arcsinh(x) -> y", "1 / hypot(1.0, x)")
elementwise("arccosh(x) -> y", "1 / sqrt((x - 1) * (x + 1))", x="finite")
elementwise("arctanh(x) -> y", "1 / ((1 - x) * (1 + x))", x="infinite")
elementwise("sinc(x) -> y", "sinc_dx(x)")
elementwise("deg2rad(x) -> y", "0.017453292519943295")
elementwise("radians(x) -> y", "0.017453292519943295")
elementwise("rad2deg(x) -> y", "57.29577951308232")
elementwise("degrees(x) -> y", "57.29577951308232")

# choices: ties are shared evenly
elementwise("maximum(x1, x2) -> y", "share(x1, x2)", "share(x2, x1)")
elementwise("minimum(x1, x2) -> y", "share(x2, x1)", "share(x1, x2)")
elementwise("fmax(x1, x2) -> y", "share_number(x1, x2)", "share_number(x2, x1)")
elementwise("fmin(x1, x2) -> y", "share_number(-x1, -x2)", "share_number(-x2, -x1)")
# np.clip is minimum(maximum(a, a_min), a_max); a bound that is None drops out (see rules.lookup)
elementwise(
    "clip(a, a_min=None, a_max=None) -> y",
    "share(a, a_min) * share(a_max, maximum(a, a_min))",
    "share(a_min, a) * share(a_max, maximum(a, a_min))",
    "share(maximum(a, a_min), a_max)",
)
elementwise("copysign(x1, x2) -> y", "copysign(1.0, x1) * copysign(1.0, x2)", "0")
elementwise("nan_to_num(x) -> y", "isfinite(x)")
elementwise("real(val) -> y", "1")
elementwise("conjugate(x) -> y", "1")
# the side that is not chosen gets exactly 0, whatever the adjoint is there: not a product; for scalars x.shape is ()
linear("where(condition, x, y) -> z", condition="0", x="sum_to(keep(condition, z_bar), x.shape)", y="sum_to(drop(condition, z_bar), y.shape)")

zero(
    "imag(val)", "sign(x)", "floor(x)", "ceil(x)", "trunc(x)", "rint(x)", "round(a, decimals=0)", "fix(x)", "signbit(x)", "heaviside(x1, x2)",
    "floor_divide(x1, x2)", "isnan(x)", "isinf(x)", "isfinite(x)", "greater(x1, x2)", "greater_equal(x1, x2)", "less(x1, x2)",
    "less_equal(x1, x2)", "equal(x1, x2)", "not_equal(x1, x2)", "logical_and(x1, x2)", "logical_or(x1, x2)", "logical_xor(x1, x2)",
    "logical_not(x)", "bitwise_and(x1, x2)", "bitwise_or(x1, x2)", "bitwise_xor(x1, x2)", "invert(x)", "left_shift(x1, x2)", "right_shift(x1, x2)",
)  # fmt: skip
