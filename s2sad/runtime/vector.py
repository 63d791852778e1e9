"""Elementary functions in a form that LLVM vectorises inside loops, through glibc's libmvec.

Numba brings no vector library, so that `exp(x[i])` in a loop calls the scalar function of libm. Here each function is a small function in LLVM's
language that carries the attribute "vector-function-abi-variant": where a loop can be vectorised, LLVM calls libmvec's function instead. The scalar
form calls the same function with its argument in every lane: an argument gives the same bits wherever it stands, in a vectorised loop, in its
remainder, and in a loop that cannot be vectorised. One width is used in a process (4 float64 with AVX2, else 2), as the bits of two widths differ.

Errors measured against long double, in ulp: exp 2.8, log 1.5, sin 3.0, cos 3.2, tanh 2.2; all stay below 4 (tests/runtime/test_vector.py).
NaN, infinities, zeros and denormals are as in libm.

In plain Python, without libmvec (other systems, an older glibc), and for integers and complex numbers, the functions are those of NumPy. The
environment variable S2SAD_VECTOR=0 keeps emitted code from using them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from s2sad.runtime.core import build, jitable, pointwise, typed
from s2sad.runtime.libmvec import variant
from s2sad.runtime.pointwise import sigmoid as plain_sigmoid


def _scalar(module: Any, name: str, arity: int, bits: int, symbol: str, lanes: int) -> Any:
    """The scalar form in a module: it calls the vector form, and LLVM may call that instead."""
    number = ir.DoubleType() if bits == 64 else ir.FloatType()
    vector = ir.VectorType(number, lanes)
    own = f"s2sad_{name}_{bits}"
    function = cgutils.get_or_insert_function(module, ir.FunctionType(number, [number] * arity), own)
    if function.is_declaration:
        wide = cgutils.get_or_insert_function(module, ir.FunctionType(vector, [vector] * arity), symbol)
        for f in (wide, function):
            for attribute in ("nounwind", "memory(none)", "willreturn"):
                set.add(f.attributes, attribute)
        # not inlined, for the vectoriser looks at the call
        function.attributes.add("noinline")
        function.linkage = "linkonce_odr"
        builder = ir.IRBuilder(function.append_basic_block())
        filled = []
        for x in function.args:
            v = ir.Constant(vector, ir.Undefined)
            for k in range(lanes):
                v = builder.insert_element(v, x, ir.Constant(ir.IntType(32), k))
            filled.append(v)
        builder.ret(builder.extract_element(builder.call(wide, filled), ir.Constant(ir.IntType(32), 0)))
    return function


@functools.cache
def _features() -> str:
    """The features of the processor that Numba compiles for."""
    features: str = cpu_target.target_context.codegen().magic_tuple()[2]
    return features


def _intrinsic(name: str, arity: int) -> Any:
    """A function of `arity` floats for compiled code, which has a vector form: of float32 if all are, else of float64."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = signature.return_type.bitwidth
        symbol, lanes = variant(name, arity, bits, _features())  # type: ignore[misc]  # asked before
        call = builder.call(_scalar(builder.module, name, arity, bits, symbol, lanes), args)
        mapping = f"_ZGV_LLVM_N{lanes}{'v' * arity}_s2sad_{name}_{bits}({symbol})"
        for attribute in ("nounwind", "memory(none)", "willreturn", f'"vector-function-abi-variant"="{mapping}"'):
            set.add(call.attributes, attribute)  # past llvmlite's list of known attributes
        return call

    def of(*args: Any) -> Any:
        t = types.float32 if _bits(args) == 32 else types.float64
        return t(*[t] * arity), emit

    if arity == 1:
        return intrinsic(lambda typingctx, x: of(x))
    return intrinsic(lambda typingctx, x, y: of(x, y))


def _bits(args: Any) -> int:
    return 32 if all(a == types.float32 for a in args) else 64


def _define(ufunc: Any, name: str, arity: int) -> Callable[..., Any]:
    """A function of numbers or arrays that means `ufunc`; for floats compiled by libmvec, where that has it."""
    head, fast = ("x", "x, y")[arity - 1], _intrinsic(name, arity)

    def choose(*args: Any) -> Callable[..., Any]:
        floats = all(isinstance(a, types.Float) for a in args)
        found = floats and variant(name, arity, _bits(args), _features()) is not None
        return build(f"def impl({head}):\n    return inner({head})\n", inner=fast if found else ufunc)

    kernel, function = (build(f"def impl({head}):\n    return ufunc({head})\n", ufunc=ufunc) for _ in range(2))
    typed(kernel)(build(f"def impl({head}):\n    return choose({head})\n", choose=choose))
    function.__name__ = function.__qualname__ = ufunc.__name__
    function.__doc__ = f"`np.{ufunc.__name__}` of numbers or arrays."
    return pointwise(kernel)(function)


exp, exp2, expm1 = (_define(f, f.__name__, 1) for f in (np.exp, np.exp2, np.expm1))
log, log2, log10, log1p = (_define(f, f.__name__, 1) for f in (np.log, np.log2, np.log10, np.log1p))
sin, cos, tan = (_define(f, f.__name__, 1) for f in (np.sin, np.cos, np.tan))
arcsin, arccos, arctan = (_define(f, n, 1) for f, n in ((np.arcsin, "asin"), (np.arccos, "acos"), (np.arctan, "atan")))
sinh, cosh, tanh = (_define(f, f.__name__, 1) for f in (np.sinh, np.cosh, np.tanh))
arcsinh, arccosh, arctanh = (_define(f, n, 1) for f, n in ((np.arcsinh, "asinh"), (np.arccosh, "acosh"), (np.arctanh, "atanh")))
power, arctan2 = _define(np.power, "pow", 2), _define(np.arctan2, "atan2", 2)


@jitable
def _sigmoid(x: Any) -> Any:
    e = exp(-abs(x))
    return (1.0 if x >= 0 else e) / (1.0 + e)


@pointwise(_sigmoid)
def sigmoid(x: Any) -> Any:
    """`1 / (1 + exp(-x))` without overflow."""
    return plain_sigmoid(x)
