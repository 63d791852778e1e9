"""Types of runtime calls are compared with what the runtime functions return."""

import numpy as np
import pytest
from test_types import NAMES, VALUES, kind, of_value

from s2sad import rules, runtime
from s2sad.analysis import calls
from s2sad.analysis.types import type_of
from s2sad.lang import tree as T
from s2sad.lang.types import Scalar

CALLS = """
strong(x, 2.0) | strong(x32, x32) | strong(s32, s32) | pow_dx(x, 3) | pow_dp(x, 2.0) | share(v, v) | ratio(v, v) | sigmoid(x32)
keep(m, v) | drop(m, v32)
sum_to(x, v.shape) | sum_to(x, ()) | sum_to(x32, x32.shape) | spread(s, x.shape) | spread(v, x.shape, 0) | mean_dx(s, x.shape)
get_mask(x, m2) | get_mask(v, m) | get_at(v, k) | take_last(v.copy(), k) | stop_gradient(x32) | stop_gradient(a)
sum_of(x32) | mean_of(x, axis=0) | mean_of(x, 0, True) | max_of(x32, axis=1) | var_of(x32) | argsort_of(v)
reshaped(x.T, 6) | reshaped(x.T, (3, 2)) | round_of(v32, 1)
matmul(x, v) | matmul(x32, v) | clip(x32, 0.0, 1.0) | norm_of(v32)
max_share(s, x, np.max(x)) | prod_dx(s, x) | var_dx(s, x) | cumsum_dx(v, v.shape) | sort_dx(v, v)
ramp_up(v) | plane(x, 0, 1) | cut(v, 0, 1, 2) | untranspose(x, (1, 0)) | diag_dx(v[:2], x.shape) | count(x.shape) | count(x.shape, 0)
first_max(v) | fmod(a, 0.3) | is_close(a, a, rel_tol=0.1) | fsum(v32) | sum_in_order(v32) | sum_in_order(v32, 1.0) | any_true(m) | dist(v, v32)
"""
TEXTS = [c.strip() for line in CALLS.strip().splitlines() for c in line.split(" | ")]


@pytest.mark.parametrize("text", TEXTS)
def test_runtime_calls(text):
    space = {"np": np, **{n: getattr(runtime, n) for n in runtime.__all__}}
    want, got = of_value(eval(text, space, VALUES)), type_of(T.expr(text), NAMES)
    # plain Python may return a Python float where compiled code has a float64
    assert (kind(got) if not isinstance(got, Scalar) else got.dtype) == (kind(want) if not isinstance(want, Scalar) else want.dtype)


def test_every_runtime_function_has_a_type():
    typed = {*calls.INSTEAD_OF, *calls.POINTWISE, *calls.RESULTS, "keep", "drop", "get_at", "get_mask", "take_last", "stack_of", *rules.TABLE}
    assert set(runtime.__all__) <= typed
