"""The lowered text of a program against the one that is shown, both run in plain Python."""

import copy
from dataclasses import replace

import numpy as np

import s2sad
from s2sad.backend.compile import load

MODES = {"primal": s2sad.differentiable, "adjoint": s2sad.grad, "value_and_adjoint": s2sad.value_and_grad, "tangent": s2sad.jvp}
ERRORS = (ArithmeticError, AssertionError, AttributeError, LookupError, NameError, TypeError, ValueError)


def texts(f, args, wrt=0, mode="adjoint"):
    """What the compiler emits for arguments."""
    made = MODES[mode](f, wrt=wrt, jit=False)
    return made._example(args).emitted


def outcome(emitted, text, args):
    """What a text gives for arguments, or the name of the error, and the arguments afterwards."""
    args = copy.deepcopy(args)
    run = load(replace(emitted, text=text), jit=False)
    hidden = [h.read() for h in emitted.hidden]
    with np.errstate(all="ignore"):
        try:
            result = run(*args, *hidden)
        except ERRORS as e:
            return type(e).__name__, args
    return (result if isinstance(result, tuple) else (result,)), args


def compare(f, args, wrt=0, mode="adjoint", bits=False):
    """Assert that the two texts of a program mean the same; whether there are two. `bits`: results are equal in every bit."""
    emitted = texts(f, args, wrt, mode)
    if emitted.lowered is None:
        return False
    if mode == "tangent":
        rng = np.random.default_rng(0)
        names = emitted.params[: len(args)]
        along = [np.asarray(args[names.index(w)]) for w in emitted.wrt]
        args = (*args, *(np.asarray(rng.normal(size=a.shape), a.dtype)[()] for a in along))
    want, after = outcome(emitted, emitted.text, args)
    got, now = outcome(emitted, emitted.lowered, args)
    said = f"{want}\n{got}\n{emitted.text}\n{emitted.lowered}"
    if isinstance(want, str) or isinstance(got, str):
        assert want == got, said
    else:
        for a, b in zip(want, got, strict=True):
            assert np.shape(a) == np.shape(b) and np.asarray(a).dtype == np.asarray(b).dtype, said
            single = np.asarray(a).dtype == np.float32
            size = np.max(np.abs(a), initial=0.0, where=np.isfinite(a))
            eps = 1e-5 if single else 1e-12
            assert np.array_equal(a, b, equal_nan=True) if bits else np.allclose(a, b, rtol=eps, atol=eps * size, equal_nan=True), said
    for a, b in zip(after, now, strict=True):
        if isinstance(a, np.ndarray):
            assert np.array_equal(a, b, equal_nan=True), said
    return True
