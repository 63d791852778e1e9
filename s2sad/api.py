"""`grad` and its kin: functions and decorators, and the object that they make."""

from __future__ import annotations

import functools
import importlib
import inspect
import itertools
import operator
import pickle
import sys
import threading
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numba.core.registry import CPUDispatcher
from numba.core.typing.typeof import typeof

from s2sad import custom, structured
from s2sad.backend import recall
from s2sad.backend.compile import Mismatch, OutOfBounds, compile_for, load
from s2sad.backend.signature import ArgumentError, numba_type, parse_types, type_of
from s2sad.backend.watch import Watch
from s2sad.errors import Problem, TypesNeeded, UnsupportedError, WrongGradient, ZeroGradientWarning, problem, raise_all
from s2sad.lang.emitted import Emitted, Place
from s2sad.lang.outside import Hidden, Part, Value
from s2sad.lang.structure import Known, Leaf, Structure, functions, leaves
from s2sad.lang.types import Array, Scalar, Type, is_float

if TYPE_CHECKING:
    from s2sad.lang.tree import Function

Wrt = int | str | Sequence[int | str]
_ndarray = np.ndarray
ZERO = "If zero is not meant (of a root that is searched for, say), give this function its derivative with s2sad.adjoint_of."


def grad(f: Callable[..., Any] | None = None, wrt: Wrt = 0, jit: bool = True, check: bool | str = False) -> Any:
    """The gradient of a function, as a function of the same arguments; also a decorator, with and without arguments.

    Args:
        f: a Python function (or a Numba dispatcher of one) that returns a float; its arguments are floats, ints, bools and NumPy
            arrays of float64, float32, bool or integers.
        wrt: the parameter, by position or name, or a tuple of parameters to differentiate with respect to; they must be float.
        jit: False runs the emitted code in plain Python, for debuggers.
        check: "first" checks the gradient of the first call (for each combination of argument types) on its own arguments, by forward mode and by
            differences; True checks every call. Where the function has a kink, or leaves its domain nearby, differences decide nothing.

    Returns:
        A `Derivative`. Calling it gives the gradient: of the shape and dtype of the argument (a Python float for a Python float), or a
        tuple of gradients if `wrt` is a tuple.

    Raises:
        ArgumentError: (a TypeError) for a wrong `wrt`; when called, for arguments or results of a wrong type.
        DifferentiationError: when called, if the function cannot be differentiated; the message has the line and what to write instead.
        WrongGradient: (a DifferentiationError) when called, if a check fails; the message names the statement.
    """
    return _make("adjoint", f, wrt, jit, check)


def value_and_grad(f: Callable[..., Any] | None = None, wrt: Wrt = 0, jit: bool = True, check: bool | str = False) -> Any:
    """Like `grad`, but a call gives a pair: the function's value, and what `grad` gives."""
    return _make("value_and_adjoint", f, wrt, jit, check)


def differentiable(f: Callable[..., Any] | None = None, wrt: Wrt = 0, jit: bool = True, check: bool | str = False) -> Any:
    """A function that still gives its value when called (compiled), with `.grad` and `.value_and_grad`; takes what `grad` takes."""
    return _make("primal", f, wrt, jit, check)


def jvp(f: Callable[..., Any] | None = None, wrt: Wrt = 0, jit: bool = True) -> Any:
    """The value and the derivative in a direction, by forward mode; takes what `grad` takes, but the result may be an array.

    Returns:
        A `Jvp`. `jvp(f, wrt)(*args, tangents=v)` gives `(value, tangent)`: f(*args), and the derivative of f along v, of the value's shape and
        dtype. `tangents` is a number or array of the shape of the parameter in `wrt`, or a tuple of them if `wrt` is a tuple.
    """
    return _make("tangent", f, wrt, jit)


def vjp(*args: Any, **kwargs: Any) -> NoReturn:
    """Products with a chosen output adjoint: not built yet; raises UnsupportedError."""
    _not_built("vjp")


def jacobian(*args: Any, **kwargs: Any) -> NoReturn:
    """Derivatives of array results: not built yet; raises UnsupportedError."""
    _not_built("jacobian")


def hessian(*args: Any, **kwargs: Any) -> NoReturn:
    """Second derivatives: not built yet; raises UnsupportedError."""
    _not_built("hessian")


def hvp(*args: Any, **kwargs: Any) -> NoReturn:
    """Products with the Hessian: not built yet; raises UnsupportedError."""
    _not_built("hvp")


def _not_built(name: str) -> NoReturn:
    raise UnsupportedError(Problem("S2S141", f"s2sad.{name} is not built yet; grad, value_and_grad, jvp and differentiable are"))


def _make(mode: str, f: Callable[..., Any] | None, wrt: Wrt, jit: bool, check: bool | str = False) -> Any:
    if check not in (False, True, "first"):
        raise ArgumentError(f'check takes True, False or "first", not {check!r}')
    if f is None:
        return functools.partial(_make, mode, wrt=wrt, jit=jit, check=check)
    if not callable(f):
        raise ArgumentError(f"a function is expected, not {f!r}; write for example @grad(wrt=...)")
    made = _derivative(_program(f), mode, wrt, jit)
    made._check = check
    return made


def _program(f: Any) -> _Program:
    """The program of a function, method, partial or callable object."""
    fn, fixed, preset = structured.target(f)
    fn = _user_function(fn)
    return _Program(fn, structured.Signature(fn, fixed, preset))


def _remade(fn: Any, fixed: tuple[Any, ...], preset: dict[str, Any], mode: str, wrt: Wrt, jit: bool, check: bool | str) -> Any:
    """Unpickle a Derivative of a method or partial."""
    return _make(mode, functools.partial(fn, *fixed, **preset), wrt, jit, check)


def _derivative(program: _Program, mode: str, wrt: Wrt, jit: bool) -> Derivative:
    """The object for a mode."""
    return (Jvp if mode == "tangent" else Derivative)(program, mode, wrt, jit)


def _user_function(f: Any) -> types.FunctionType:
    """The Python function that calling `f` runs."""
    title = getattr(f, "__qualname__", repr(f))
    if isinstance(f, Derivative):
        if not f.__s2sad_calls_primal__:
            raise UnsupportedError(Problem("S2S141", f"`{title}` is a gradient already; derivatives of derivatives are not built yet"))
        return f.__s2sad_function__
    if isinstance(f, CPUDispatcher):
        return f.py_func  # type: ignore[no-any-return]
    if isinstance(f, types.FunctionType) and not hasattr(f, "__wrapped__"):
        return f
    if hasattr(f, "__wrapped__"):
        raise ArgumentError(f"`{title}` is wrapped by a decorator that may change what it gives; differentiate the function under it")
    raise ArgumentError(f"`{title}` is not a Python function, but a {type(f).__name__}")


class _State:
    """A program as its source and the globals it reads are now; replaced when they change."""

    def __init__(self, fn: types.FunctionType, entry: Mapping[str, Structure] | None = None):
        self.fn = fn
        self.entry = entry
        self.watch = Watch(fn, [f for s in (entry or {}).values() for f in functions(s)])
        self.memory = recall.Memory(self.watch, entry)
        self.checked: set[Any] = set()  # arguments that are lists, and types, which have been found to be right
        self.attributes: list[Any] = []  # assumptions about attributes of objects (those of modules are among what is watched)
        externals: Sequence[Any] = ()
        outline = self.memory.outline()
        if outline is None:
            externals = tuple(self.function.opaque())
            outline = self.function.params, self.function.hidden, self.function.result, self.function.changed
            if not self.attributes:
                self.memory.keep_outline(*outline)
        self.params, self.hidden, self.result, self.changed = outline
        self.read = _reader(self.hidden)
        self.arity = len(self.params) - len(self.hidden)
        # what the user has said of the functions that are called, and what the rules for them call
        self.said = [(f, *_said(f)) for f in {id(f): f for f in (*self.watch.reached, *externals)}.values()]
        self.rules = [Watch(rule) for _, *both, _ in self.said for rule in both if isinstance(rule, types.FunctionType)]
        # whether the program still means the same
        self.holds: Callable[[], bool] = self._all_hold if self.said or self.rules or self.attributes else self.watch.unchanged

    @functools.cached_property
    def function(self) -> Function:
        """The program in normal form; made only if something is asked that no earlier process has found out."""
        from s2sad.transforms.front import build_with_assumptions

        function, assumed = build_with_assumptions(self.fn, self.entry)
        watched = {id(f) for f in self.watch.functions}
        self.attributes = [a for a in assumed if _to_be_asked(a, watched)]
        return function

    def emit(self, types_: tuple[Type, ...], wrt: tuple[str, ...], mode: str, after: str | None = None, every_error: bool = False) -> Emitted:
        """The emitted program, from an earlier process if one has made it."""
        usual = after is None and not every_error
        found = self.memory.emitted(types_, wrt, mode) if usual else None
        if found is None:
            from s2sad.transforms import pipeline

            found = pipeline.emit(self.function, dict(zip(self.params, types_, strict=True)), wrt, mode, after, every_error)
            if usual and not self.attributes:
                self.memory.keep_emitted(types_, wrt, mode, found)
        return found

    def check_lists(self, names: frozenset[str], types_: tuple[Type, ...]) -> None:
        """Refuse programs that mean something else for these arguments, which are lists and become arrays, than for arrays."""
        if not names or (names, types_) in self.checked:
            return
        from s2sad.analysis.list_arguments import differences
        from s2sad.transforms import pipeline
        from s2sad.transforms.webs import split

        function = pipeline.typed(split(self.function), dict(zip(self.params, types_, strict=True)))
        instead = "np.concatenate([a, b])  # or, to add, pass arrays"
        why = "An argument that is a list or tuple of numbers becomes an array, whose sums and products are other things."
        found = differences(function, names)
        raise_all(problem(function.source, n, "S2S113", f"A list that is an argument is {what} here", instead, why) for n, what in found)
        self.checked.add((names, types_))

    def _all_hold(self) -> bool:
        if not self.watch.unchanged():
            return False
        for f, rule, forward, constant in self.said:
            if custom.adjoint_rule(f) is not rule or custom.tangent_rule(f) is not forward or custom.is_nondifferentiable(f) is not constant:
                return False
        for watch in self.rules:
            if not watch.unchanged():
                return False
        return not self.attributes or all(a.holds() for a in self.attributes)


def _reader(hidden: Sequence[Hidden]) -> Callable[[], tuple[Any, ...]]:
    """A function that reads the hidden parameters' values, quickly if they are globals of one module."""

    def one_by_one() -> tuple[Any, ...]:
        return tuple([h.read() for h in hidden])

    reads = [h.read for h in hidden]
    if not all(isinstance(r, Value) and r.is_global() for r in reads) or len({id(r.fn.__globals__) for r in reads}) != 1:  # type: ignore[attr-defined]
        return one_by_one
    space = reads[0].fn.__globals__  # type: ignore[attr-defined]
    names = [r.path[0] for r in reads]  # type: ignore[attr-defined]
    get = operator.itemgetter(*names)
    single = len(names) == 1

    def together() -> tuple[Any, ...]:
        try:
            return (get(space),) if single else get(space)
        except KeyError:  # deleted meanwhile: the error that Python gives, or a builtin of that name
            return one_by_one()

    return together


def _to_be_asked(assumption: Any, watched: set[int]) -> bool:
    """Whether an assumption of the front end is about something that the watch does not see: it is asked at every call."""
    read = assumption.read
    if isinstance(read, Value):
        if id(read.fn) not in watched:
            return True
        return len(read.path) > 1 and not isinstance(read.fn.__globals__.get(read.path[0]), types.ModuleType)
    if isinstance(read, Part) and read.key in ("__code__", "__defaults__", "__kwdefaults__"):
        return id(read.whole()) not in watched
    return True


def _said(f: object) -> tuple[object, object, bool]:
    """The user's rules for a function, and whether it carries no derivative."""
    return custom.adjoint_rule(f), custom.tangent_rule(f), custom.is_nondifferentiable(f)


class _Program:
    """A user's function and its current state; shared by the objects that give its value, gradient or both."""

    def __init__(self, fn: types.FunctionType, signature: structured.Signature, shared: _Program | None = None):
        """`shared`: a program of the same function, of which it takes what that has compiled."""
        self.fn = fn
        self.signature = signature
        self.lock = threading.RLock()
        self.state: _State | None = None
        self.params = signature.params
        self.positional = signature.positional
        self.inner: dict[tuple[Any, ...], _Flattened] = shared.inner if shared is not None else {}
        self.typed = False  # whether what it does depends on the types of arguments

    def current(self) -> _State:
        """The state, renewed if the function or something that it reads has changed."""
        with self.lock:
            if self.state is None or not self.state.holds():
                self.state = self.fresh()
            return self.state

    def fresh(self) -> _State:
        """The state now."""
        return _State(self.fn)

    def asks_for_types(self) -> bool:
        """Whether what it does depends on the types of arguments."""
        if not self.typed:
            try:
                self.current()
            except TypesNeeded:
                self.typed = True
        return self.typed

    def flattened(self, flat: structured.Flat) -> _Flattened:
        """The program for arguments of one structure."""
        with self.lock:
            found = self.inner.get(flat.key)
            if found is None:
                found = self.inner[flat.key] = _Flattened(self.fn, self.signature, flat)
            return found

    def title(self, name: str) -> str:
        """How to call a parameter in an error."""
        kind = "" if name in self.params else "the global "
        return f"{kind}`{name}` of `{self.fn.__qualname__}`"

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """All arguments in order, with the defaults that the function has now."""
        fn, code = self.fn, self.fn.__code__
        count = code.co_argcount
        names = code.co_varnames[: count + code.co_kwonlyargcount]
        defaults = dict(zip(names[count - len(fn.__defaults__ or ()) : count], fn.__defaults__ or (), strict=True)) | (fn.__kwdefaults__ or {})
        values = defaults | kwargs | dict(zip(names[:count], args, strict=False))
        if (
            len(args) > count
            or len(values) != len(names)
            or not kwargs.keys() <= set(names)
            or not kwargs.keys().isdisjoint(names[: max(len(args), code.co_posonlyargcount)])
        ):
            inspect.signature(fn).bind(*args, **kwargs)  # raises Python's own TypeError
            raise ArgumentError(f"the arguments do not fit `{fn.__qualname__}`")
        return tuple([values[n] for n in names])


class _Flattened(_Program):
    """A user's function for one structure of its arguments: its parameters are the leaves of those."""

    def __init__(self, fn: types.FunctionType, signature: structured.Signature, flat: structured.Flat):
        super().__init__(fn, signature)
        self.structures = flat.structures
        self.params = self.positional = flat.names
        self.paths = {leaf.name: leaf.path for s in flat.structures.values() for leaf in leaves(s)}

    def fresh(self) -> _State:
        return _State(self.fn, self.structures)

    def title(self, name: str) -> str:
        return f"`{self.paths[name]}` of `{self.fn.__qualname__}`" if name in self.paths else super().title(name)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        return args


def _positions(fn: types.FunctionType, params: Sequence[str], all_params: Sequence[str], wrt: Wrt) -> tuple[str, ...]:
    """The names of the parameters that `wrt` means."""
    names = []
    if not isinstance(wrt, (int, str, tuple, list)):
        raise ArgumentError(f"wrt takes a position, a name or a tuple of them, not {wrt!r}")
    for w in [wrt] if isinstance(wrt, (int, str)) else wrt:
        if isinstance(w, str):
            if w not in all_params:
                raise ArgumentError(f"wrt names `{w}`, but `{fn.__qualname__}` has the parameters {', '.join(params) or '(none)'}")
            names.append(w)
        elif isinstance(w, int) and not isinstance(w, bool) and -len(params) <= w < len(params):
            names.append(params[w])
        elif isinstance(w, int) and not isinstance(w, bool):
            raise ArgumentError(f"wrt is position {w}, but `{fn.__qualname__}` has {len(params)} parameters")
        else:
            raise ArgumentError(f"wrt takes a position, a name or a tuple of them, not {w!r}")
    if not names:
        raise ArgumentError(f"wrt of `{fn.__qualname__}` is empty; give at least one parameter")
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise ArgumentError(f"wrt has `{twice[0]}` twice")
    return tuple(names)


class _Seen:
    """What a Derivative has compiled of one state of its program."""

    def __init__(self, state: _State | None):
        self.state = state
        # by dtype or type of the arguments: callers of compiled functions, which look at the rest themselves; None if several fit
        self.quick: dict[tuple[Any, ...], Callable[[tuple[Any, ...]], Any] | None] = {}
        self.callers: dict[tuple[Any, ...], Callable[[tuple[Any, ...]], Any]] = {}  # by all that decides the types of arguments
        self.entries: dict[tuple[Type, ...], _Entry] = {}
        self.latest: _Entry | None = None


class Derivative:
    """A function made by `grad`, `value_and_grad` or `differentiable`; calling it gives the gradient, both, or the value.

    Safe to call from several threads; compiled for every combination of argument types when first called with it. Globals and closure
    values are read at every call, and a helper function that is defined again is compiled again. The caller's arrays are left alone,
    except by `primal`, which changes them as the Python function would.
    """

    def __init__(self, program: _Program, mode: str, wrt: Wrt, jit: bool):
        self._program = program
        self._mode = mode
        self._jit = jit
        self._check: bool | str = False
        self._wrt = _positions(program.fn, program.positional, program.params, wrt)
        self._single = isinstance(wrt, (int, str))
        self._seen = _Seen(None)
        self._inner: dict[tuple[Any, ...], Derivative] = {}  # by the structure of the arguments, and which of their leaves are differentiated
        # by what decides that, if no argument has parts: the same, and the positions of its arguments
        self._brief: dict[tuple[Any, ...], tuple[Derivative, list[int]]] = {}
        self._latest: Derivative = self
        functools.update_wrapper(self, program.fn)
        self.__s2sad_function__ = program.fn
        self.__s2sad_calls_primal__ = mode == "primal"

    def __get__(self, obj: Any, owner: type | None = None) -> Any:
        """In a class it is a method: of an object, its derivative with `self` given."""
        if obj is None:
            return self
        signature = self._program.signature
        program = _Program(self._program.fn, replace(signature, fixed=(obj, *signature.fixed)), self._program)
        made = _derivative(program, self._mode, self.wrt, self._jit)
        made._check = self._check
        made._inner = self._inner
        return made

    # -- calls -----------------------------------------------------------------------
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The gradient, the value and the gradient, or the value (see the class)."""
        seen = self._seen
        state = seen.state
        if state is None or not state.holds():
            if self._brief and self._program.signature.plain:
                values = self._program.bind(args, kwargs)
                found = self._brief.get(_brief_key(values) or ())
                if found is not None:
                    return self._finish(found[0], found[0](*[values[k] for k in found[1]]))
            flat = self._flat(args, kwargs)
            if flat is not None:
                return self._structured(flat)
            seen = self._renew()
            state = seen.state
            assert state is not None
        if kwargs or len(args) != state.arity:
            args = self._program.bind(args, kwargs)
        if state.hidden:
            args += state.read()
        run = seen.quick.get(tuple([a.dtype if type(a) is _ndarray else type(a) for a in args]))
        if run is not None:
            try:
                return run(args)
            except Mismatch:  # raised before anything has run
                pass
        key: list[Any] = []
        for a in args:
            t = type(a)
            if t is _ndarray:
                key += (a.dtype, a.ndim, a.flags.num)
            else:
                key.append(t)
        run = seen.callers.get(tuple(key))
        if run is None:
            return self._first(seen, state, args, tuple(key))
        return run(args)

    def _flat(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> structured.Flat | None:
        """The arguments taken apart, if they are not what an ordinary function has."""
        program = self._program
        if isinstance(program, _Flattened):
            return None
        if program.signature.plain:
            values = dict(zip(program.params, program.bind(args, kwargs), strict=True))
            if all(map(structured.is_ordinary, values.values())) and not program.asks_for_types():
                return None
        else:
            values = program.signature.bind(args, kwargs)
        return self._taken_apart(values)

    def _taken_apart(self, values: Mapping[str, Any]) -> structured.Flat:
        program = self._program
        title, starred = program.fn.__qualname__, program.signature.starred
        if not program.typed:
            flat = structured.flatten(values, title, starred)
            if flat.key in program.inner:
                return flat
            try:
                program.flattened(flat).current()
                return flat
            except TypesNeeded:
                del program.inner[flat.key]
                program.typed = True
        return structured.flatten(values, title, starred, typed=True)

    def _flattened(self, flat: structured.Flat) -> Derivative:
        """The derivative of the function for arguments of one structure, with respect to their leaves."""
        wrt = structured.differentiable_leaves(flat, self._wrt, self._program.fn.__qualname__, self._mode != "primal")
        key = flat.key, wrt
        found = self._inner.get(key)
        if found is None:
            with self._program.lock:
                found = self._inner.get(key)
                if found is None:
                    found = _derivative(self._program.flattened(flat), self._mode, wrt or (flat.names[:1] if flat.names else ()), self._jit)
                    found._check = self._check
                    self._inner[key] = found
        self._latest = found
        return found

    def _structured(self, flat: structured.Flat) -> Any:
        """A call with structured arguments."""
        inner = self._flattened(flat)
        changes = inner._current()[1].changed if self._mode == "primal" else ()
        if changes:
            raise ArgumentError(f"{self._title_of(changes[0])} is set by the function; return a new object instead")
        out = inner(*flat.values)
        if self._program.signature.plain and all(isinstance(s, (Known, Leaf)) for s in flat.structures.values()):
            by_name = dict(zip(flat.names, flat.values, strict=True))
            given = [by_name[s.name] if isinstance(s, Leaf) else s.value for s in flat.structures.values()]  # type: ignore[union-attr]
            key = _brief_key(given)
            if key is not None and not flat.converted:
                self._brief[key] = inner, [k for k, s in enumerate(flat.structures.values()) if isinstance(s, Leaf)]
                return self._finish(inner, out)
        if self._mode == "primal":
            return structured.put_together(inner._current()[1].result, out)
        value, gradients = out if self._mode == "value_and_adjoint" else (None, out)
        found = dict(zip(inner._wrt, gradients, strict=True))
        parts = tuple([structured.gradient(flat, w, found) for w in self._wrt])
        gradient = parts[0] if self._single else parts
        return (value, gradient) if self._mode == "value_and_adjoint" else gradient

    def _finish(self, inner: Derivative, out: Any) -> Any:
        """What a call gives, of what the call with the leaves has given, if no argument has parts."""
        if self._mode == "primal":
            return structured.put_together(inner._current()[1].result, out)
        if not self._single:
            return out
        return (out[0], out[1][0]) if self._mode == "value_and_adjoint" else out[0]

    def _renew(self) -> _Seen:
        """Start again with the function's current state, if that is a new one."""
        with self._program.lock:
            state = self._program.current()
            if self._seen.state is not state:
                self._seen = _Seen(state)
            return self._seen

    def _current(self) -> tuple[_Seen, _State]:
        seen = self._renew()
        assert seen.state is not None
        return seen, seen.state

    def _first(self, seen: _Seen, state: _State, args: tuple[Any, ...], key: tuple[Any, ...]) -> Any:
        """A call with types not seen before, or with arguments that are converted at every call (lists, memory maps)."""
        names = state.params
        if not isinstance(self._program, _Flattened) and not all(map(structured.is_ordinary, args[: state.arity])):
            return self._structured(self._taken_apart(dict(zip(names, args[: state.arity], strict=False))))
        self._latest = self
        converted = tuple(_converted(v, self._title(n)) for n, v in zip(names, args, strict=True))
        # numbers are what arrays without axes are in a program
        scalars = frozenset(k for k, v in enumerate(converted) if type(v) is np.ndarray and v.ndim == 0)
        plain = tuple(v[()] if k in scalars else v for k, v in enumerate(converted))
        entry = self._entry(seen, tuple(type_of(v, self._title(n)) for n, v in zip(names, plain, strict=True)))
        state.check_lists(frozenset(n for n, v in zip(names, args, strict=True) if isinstance(v, (list, tuple))), entry.types)
        lost = [n for n, a, b in zip(names, args, plain, strict=True) if a is not b and n in entry.emitted.written and not isinstance(a, np.memmap)]
        if lost and self._mode == "primal":
            raise ArgumentError(f"{self._title(lost[0])} is written by the function; pass an array with at least one axis")
        run = entry.caller(names, plain, scalars)
        entry.compile([typeof(v) for v in plain])
        if self._check and self._mode != "primal":
            proving = self._proving(run, entry)
            out = proving(converted)  # raises if the gradient is wrong, and then the next call checks again
            if all(a is b for a, b in zip(args, converted, strict=True)):
                seen.callers[key] = run if self._check == "first" else proving
            return out
        if all(a is b for a, b in zip(args, converted, strict=True)):
            seen.callers[key] = run
            if entry.exact and not scalars:
                brief = tuple([a.dtype if type(a) is _ndarray else type(a) for a in args])
                seen.quick[brief] = None if brief in seen.quick else run
        return run(converted)

    def _proving(self, run: Callable[[tuple[Any, ...]], Any], entry: _Entry) -> Callable[[tuple[Any, ...]], Any]:
        """A function that also checks the gradient that it gives."""
        from s2sad.backend import proof

        state = self._current()[1]
        count = state.arity
        positions = [state.params.index(w) for w in self._wrt]
        single = "float32" in entry.emitted.text or any(getattr(t, "dtype", "") == "float32" for t in entry.types)

        def value(args: Sequence[Any]) -> float:
            return float(self.primal(*args[:count]))

        def tangent(args: Sequence[Any], steps: Sequence[Any]) -> float:
            return float(self.jvp(*proof.copies(args[:count]), tangents=steps[0] if self._single else tuple(steps))[1])

        def proving(args: tuple[Any, ...]) -> Any:
            values = [_number(v) for v in proof.copies(args)]  # as they are before the call: a generator's state is another afterwards
            out = run(args)
            gradients = out[1] if self._mode == "value_and_adjoint" else out
            try:
                self.jvp._entry(self.jvp._current()[0], entry.types)
            except UnsupportedError:  # a rule of the user that has no forward mode
                forward = None
            else:
                forward = tangent
            smooth = proof.follows_value(state.function)
            found = proof.disagreement(values, positions, (gradients,) if self._single else gradients, value, forward, single, smooth)
            if found is not None:
                self._accuse(state, entry, values, str(found))
            return out

        return proving

    def _accuse(self, state: _State, entry: _Entry, values: Sequence[Any], found: str) -> NoReturn:
        """Raise for a wrong gradient, with the statement whose adjoint is wrong."""
        from s2sad.backend import locate

        types_ = dict(zip(state.params, entry.types, strict=True))
        program, culprit = locate.culprit(state.function, types_, self._wrt, values)
        summary = f"The gradient of `{self._program.fn.__qualname__}` is wrong here: in one direction {found}"
        if culprit is None:
            why = (
                "Every statement alone is right: either their adjoints are put together wrongly, which is a fault of s2sad (please report it,"
                " with the function and its arguments), or the value depends on the arguments through branches or roundings, which carry no"
                " derivative."
            )
            raise WrongGradient(Problem("S2S601", summary, why=why))
        numbers = f"it gives {culprit.adjoint:.6g} where differences of the statement give {culprit.differences:.6g}"
        if culprit.rule:
            why = f"The rule `{culprit.rule}` that adjoint_of was given is wrong: {numbers}."
        else:
            why = f"The adjoint of this statement is wrong: {numbers}. Please report it, with the function and its arguments."
        raise WrongGradient(problem(program.source, culprit.stmt, "S2S601", summary, why=why))

    def _entry(self, seen: _Seen, types_: tuple[Type, ...]) -> _Entry:
        """The program compiled (or to be compiled) for argument types, hidden ones included."""
        with self._program.lock:
            entry = seen.entries.get(types_)
            if entry is None:
                assert seen.state is not None
                entry = _Entry(self, self._emit(seen.state, types_, self._mode), types_)
                if not seen.entries:
                    self._warn_of_zeros(entry.emitted)
                seen.entries[types_] = entry
            seen.latest = entry
            return entry

    def _warn_of_zeros(self, emitted: Emitted) -> None:
        """Say which derivatives are zero as only conditions depend on the argument.

        Parts of a structured argument are differentiated without being asked for one by one: nothing is said as long as others have a derivative.
        """
        if len(emitted.zero) == len(self._wrt) or not isinstance(self._program, _Flattened):
            for name, place in emitted.zero:
                warnings.warn(f"{self._zero(name, place)}\n{ZERO}", ZeroGradientWarning, stacklevel=_depth())

    def _zero(self, name: str, place: Place | None) -> str:
        """That a derivative is zero, and where."""
        text = f"the derivative with respect to {self._title(name)} is zero: only conditions depend on it"
        return text if place is None else f'{text}\n  File "{place.file}", line {place.line}, in {place.function}\n    {place.text.strip()}'

    def _emit(self, state: _State, types_: tuple[Type, ...], mode: str, after: str | None = None, every_error: bool = False) -> Emitted:
        """The program text for argument types."""
        by_name = dict(zip(state.params, types_, strict=True))
        if mode != "primal":
            for name in self._wrt:
                if not is_float(by_name[name]):
                    kind = _described(by_name[name])
                    raise ArgumentError(f"{self._title(name)} is {kind}; only floats have derivatives: pass a float, or leave it out of wrt")
        emitted = state.emit(types_, self._wrt, mode, after, every_error)
        value = emitted.result
        if mode == "tangent" and not is_float(value):
            raise ArgumentError(f"`{self._program.fn.__qualname__}` returns {_described(value)}; only a float or an array of floats has a tangent")
        if mode not in ("primal", "tangent") and not (isinstance(value, Scalar) and is_float(value)):
            raise ArgumentError(f"`{self._program.fn.__qualname__}` returns {_described(value)}; only a scalar float has a gradient")
        return emitted

    def _title(self, name: str) -> str:
        """How to call a parameter in an error."""
        return self._program.title(name)

    def _title_of(self, path: str) -> str:
        return f"`{path}` of `{self._program.fn.__qualname__}`"

    # -- the same function seen otherwise ---------------------------------------------
    @functools.cached_property
    def primal(self) -> Derivative:
        """The function itself, compiled; it changes arrays that are passed as Python would."""
        return self._sibling("primal")

    @functools.cached_property
    def grad(self) -> Derivative:
        """The gradient."""
        return self._sibling("adjoint")

    @functools.cached_property
    def value_and_grad(self) -> Derivative:
        """The value and the gradient."""
        return self._sibling("value_and_adjoint")

    @functools.cached_property
    def jvp(self) -> Derivative:
        """The value and the derivative in a direction."""
        return self._sibling("tangent")

    def _sibling(self, mode: str) -> Derivative:
        if mode == self._mode:
            return self
        made = _derivative(self._program, mode, self.wrt, self._jit)
        made._check = self._check if mode != "tangent" else False
        return made

    # -- looking inside --------------------------------------------------------------
    def source(self, *example_args: Any, lowered: bool = False) -> str:
        """The emitted program.

        Args:
            example_args: arguments whose types to use; without them it is the latest call's program, or the one that the annotations ask for.
            lowered: the form that is compiled, with array statements as loops and elementary functions in vector form.

        Raises:
            ArgumentError: if the types are not known; the message names the parameter.
        """
        entry = self._example(example_args)
        several = len(self.signatures) > 1
        return (f"# signature: {_shown(entry.types)}\n" if several else "") + _text_of(entry.emitted, lowered)

    def explain(self, *example_args: Any) -> str:
        """What the reverse sweep keeps from the forward sweep, and why; takes what `source` takes."""
        entry = self._example(example_args)
        emitted = entry.emitted
        lines = [f"{emitted.name}{_shown(entry.types)}"]
        for k in emitted.kept:
            lines.append(f"  keeps {k.name}: {k.why}; {k.bytes_formula} bytes")
            place = k.place
            if place is not None:
                lines.append(f'    File "{place.file}", line {place.line}, in {place.function}')
                lines.append(f"      {place.text.strip()}")
        if not emitted.kept:
            lines.append("  keeps nothing: all that the reverse sweep needs is still there, or is computed again")
        for name, place in emitted.zero:
            lines += [f"  {line}" for line in entry.owner._zero(name, place).splitlines()]
        return "\n".join(lines) + "\n"

    @property
    def signatures(self) -> tuple[str, ...]:
        """The argument types that it has been compiled for (or `source` was asked for)."""
        inner = tuple(itertools.chain.from_iterable(d.signatures for d in list(self._inner.values())))
        return (*(_shown(t) for t in self._seen.entries), *inner)

    def warm(self, *types: Any) -> None:
        """Compile ahead of the first call.

        Args:
            types: one a parameter: text as in `s2sad dump --types` ("f8[:]", "float"), a Python or NumPy scalar type, or an example value.
                One string may hold several, separated by commas.
        """
        examples = [t for t in types if not isinstance(t, (str, type, Scalar, Array))]
        flat = self._flat(types, {}) if len(examples) == len(types) and not isinstance(self._program, _Flattened) else None
        if flat is not None:
            self._flattened(flat).warm(*flat.values)
            return
        seen, state = self._current()
        given = list(itertools.chain.from_iterable(self._types_of(t) for t in types))
        wanted = len(state.params) - len(state.hidden)
        if len(given) != wanted:
            raise ArgumentError(f"`{self._program.fn.__qualname__}` has {wanted} parameters, but {len(given)} types are given")
        entry = self._entry(seen, (*given, *self._hidden_types(state)))
        entry.compile([numba_type(t) for t in entry.types])

    def _types_of(self, t: Any) -> tuple[Type, ...]:
        if isinstance(t, (Scalar, Array)):
            return (t,)
        if isinstance(t, str):
            return parse_types(t)
        if isinstance(t, type):
            return (type_of(t(0), f"the type {t.__name__}"),)
        return (type_of(_converted(t, "an example"), "an example"),)

    def _hidden_types(self, state: _State) -> tuple[Type, ...]:
        return tuple(type_of(h.read(), self._title(h.name)) for h in state.hidden)

    def _example(self, args: tuple[Any, ...]) -> _Entry:
        """The emitted program for examples, for the latest call, or for the annotations."""
        flat = self._flat(args, {}) if args else None
        if flat is not None:
            return self._flattened(flat)._example(flat.values)
        if not args and self._latest is not self:
            return self._latest._example(())
        seen, state = self._current()
        if args:
            types_ = self.types_for(args)
        elif seen.latest is not None:
            return seen.latest
        else:
            types_ = self._annotated()
        return self._entry(seen, (*types_, *self._hidden_types(state)))

    def _annotated(self) -> tuple[Type, ...]:
        """The types that annotations and defaults name."""
        found = []
        for p in inspect.signature(self._program.fn).parameters.values():
            t = annotated_type(p)
            if t is None:
                raise ArgumentError(f"the type of {self._title(p.name)} is not known; give example arguments")
            found.append(t)
        return tuple(found)

    def types_for(self, args: Sequence[Any]) -> tuple[Type, ...]:
        """The types of the function's own parameters in a call."""
        values = self._program.bind(tuple(args), {})
        return tuple(type_of(_number(_converted(v, self._title(n))), self._title(n)) for n, v in zip(self._program.params, values, strict=True))

    def front(self) -> Function:
        """The function in normal form, before types."""
        return self._current()[1].function

    @property
    def mode(self) -> str:
        """What a call gives: "primal", "adjoint" or "value_and_adjoint"."""
        return self._mode

    @property
    def wrt(self) -> Wrt:
        """The parameter or parameters differentiated with respect to, as given to `grad`."""
        return self._wrt[0] if self._single else self._wrt

    @property
    def wrt_names(self) -> tuple[str, ...]:
        """The same as a tuple of names."""
        return self._wrt

    def text(self, types_: tuple[Type, ...], after: str | None = None, lowered: bool = False) -> str:
        """The emitted program for the types of the function's own parameters; `after` a pass, as that pass leaves it; or as it is compiled."""
        from s2sad.transforms import pipeline

        if after in pipeline.FRONT:
            entry = self._program.structures if isinstance(self._program, _Flattened) else None
            return pipeline.front_after(self.__s2sad_function__, after, entry)
        _, state = self._current()
        return _text_of(self._emit(state, (*types_, *self._hidden_types(state)), self._mode, after), lowered)

    def text_for(self, args: Sequence[Any], after: str | None = None, lowered: bool = False) -> str:
        """The emitted program for arguments; `after` a pass, as that pass leaves it; or as it is compiled."""
        flat = self._flat(tuple(args), {})
        if flat is None:
            return self.text(self.types_for(args), after, lowered)
        inner = self._flattened(flat)
        return inner.text(inner.types_for(flat.values), after, lowered)

    def __repr__(self) -> str:
        what = {"primal": "differentiable", "adjoint": "grad", "value_and_adjoint": "value_and_grad", "tangent": "jvp"}[self._mode]
        return f"<s2sad.{what} of {self._program.fn.__module__}.{self._program.fn.__qualname__}, wrt {', '.join(self._wrt)}>"

    def _same_as(self, other: Derivative) -> bool:
        return all(getattr(self, a) == getattr(other, a) for a in ("_mode", "_wrt", "_single", "_jit", "_check"))

    def __reduce__(self) -> tuple[Any, ...]:
        """By reference to the function, so that another process finds it by import."""
        fn = self._program.fn
        signature = self._program.signature
        if signature.fixed or signature.preset:
            return _remade, (signature.fn, signature.fixed, dict(signature.preset), self._mode, self.wrt, self._jit, self._check)
        there = _imported(fn.__module__, fn.__qualname__)
        if there is not fn and getattr(there, "__s2sad_function__", None) is not fn and getattr(there, "py_func", None) is not fn:
            raise pickle.PicklingError(f"{self!r} cannot be pickled: {fn.__module__}.{fn.__qualname__} is not it when imported")
        return _restored, (fn.__module__, fn.__qualname__, self._mode, self.wrt, self._jit, self._check)


class Jvp(Derivative):
    """A function made by `jvp`; calling it with arguments and `tangents` gives the value and its derivative in that direction."""

    def __call__(self, *args: Any, tangents: Any, **kwargs: Any) -> Any:
        """(value, tangent), see `jvp`.

        Raises:
            ArgumentError: tangents that do not fit the parameters in `wrt` in number or shape; else as a `Derivative`.
        """
        flat = self._flat(args, kwargs)
        if flat is not None:
            return self._along(flat, tangents)
        seen, state = self._current()
        names = state.params
        given_values = dict(zip(names, self._program.bind(args, kwargs) + state.read(), strict=True))
        values = [_converted(v, self._title(n)) for n, v in given_values.items()]
        values = [_number(v) for v in values]
        entry = self._entry(seen, tuple(type_of(v, self._title(n)) for n, v in zip(names, values, strict=True)))
        state.check_lists(frozenset(n for n, v in given_values.items() if isinstance(v, (list, tuple))), entry.types)
        given = (tangents,) if self._single else tangents
        if not isinstance(given, (tuple, list)) or len(given) != len(self._wrt):
            raise ArgumentError(f"tangents of `{self._program.fn.__qualname__}` is not a tuple of {len(self._wrt)}, one for each parameter in wrt")
        dots = [self._tangent(w, values[names.index(w)], v) for w, v in zip(self._wrt, given, strict=True)]
        _overlap(tuple(values), entry._checks(names, tuple(values)))
        entry.compile([typeof(v) for v in values])
        value, tangent = entry.told(lambda args: entry.compiled(*args))((*values, *dots))
        box = _box(entry.value, self._jit, False)
        return (box(value), box(tangent)) if box else (value, tangent)

    def _along(self, flat: structured.Flat, tangents: Any) -> Any:
        """A call with structured arguments; the tangents have their structure, with None for zero."""
        inner = self._flattened(flat)
        title = self._program.fn.__qualname__
        given = (tangents,) if self._single else tangents
        if not isinstance(given, (tuple, list)) or len(given) != len(self._wrt):
            raise ArgumentError(f"tangents of `{title}` is not a tuple of {len(self._wrt)}, one for each parameter in wrt")
        steps: dict[str, Any] = {}
        for w, tangent in zip(self._wrt, given, strict=True):
            steps |= structured.tangents(flat, w, tangent, title)
        lost = next((n for n, v in steps.items() if n not in inner._wrt and np.any(v)), None)
        if lost is not None:
            raise ArgumentError(f"{inner._title(lost)} is no float, so its tangent is 0 or None")
        values = dict(zip(flat.names, flat.values, strict=True))
        out = inner(*flat.values, tangents=tuple(steps[n] if n in steps else structured.zero(values[n]) for n in inner._wrt))
        result = inner._current()[1].result
        return structured.put_together(result, out[0]), structured.put_together(result, out[1])

    def _tangent(self, name: str, value: Any, given: Any) -> Any:
        """A tangent in the shape and dtype of its argument."""
        if not isinstance(value, np.ndarray):
            if np.ndim(given):
                raise ArgumentError(f"the tangent of {self._title(name)} is an array, but the argument is a number")
            return np.float32(given) if isinstance(value, np.float32) else float(given)
        found = np.ascontiguousarray(given, dtype=value.dtype) if np.ndim(given) else np.asarray(given)
        if found.shape != value.shape:
            raise ArgumentError(f"the tangent of {self._title(name)} has shape {found.shape}, but the argument has shape {value.shape}")
        return found


class _Entry:
    """One function compiled for one combination of types."""

    def __init__(self, owner: Derivative, emitted: Emitted, types_: tuple[Type, ...]):
        self.owner = owner
        self.emitted = emitted
        self.types = types_
        self.value = emitted.result
        self.compiled = load(emitted, owner._jit)
        self.exact = isinstance(self.compiled, CPUDispatcher)  # it refuses arguments of other types itself
        self.seed: tuple[Any, ...] = ()
        if owner._mode not in ("primal", "tangent"):
            # in plain Python a NumPy float, as divisions by zero (of an adjoint, by the size of an empty array) are not errors there
            one = 1.0 if owner._jit else np.float64(1.0)
            self.seed = (np.float32(1.0) if getattr(self.value, "dtype", "") == "float32" else one,)

    def compile(self, signature: Sequence[Any]) -> None:
        """Compile for arguments of these Numba types."""
        seeds = [typeof(v) for v in self.seed]
        if self.owner._mode == "tangent":
            seeds = [numba_type(_tangent_type(self.types[self.emitted.params.index(w)])) for w in self.owner._wrt]
        compile_for(self.compiled, [*signature, *seeds], self.emitted)

    def guarded(self) -> Callable[[tuple[Any, ...]], Any]:
        """The compiled function, whose exceptions have the texts that Python gives them."""
        return self.told(self.checked())

    def told(self, run: Callable[[tuple[Any, ...]], Any]) -> Callable[[tuple[Any, ...]], Any]:
        """A function whose exceptions have their values put into their texts."""
        templates = self.emitted.templates
        if not templates:
            return run

        def call(args: tuple[Any, ...]) -> Any:
            try:
                return run(args)
            except Exception as e:  # those of the user's program; all others pass
                if len(e.args) > 1 and isinstance(e.args[0], str) and e.args[0] in templates:
                    raise type(e)(e.args[0].format(*e.args[1:])).with_traceback(e.__traceback__) from None
                raise

        return call

    def checked(self) -> Callable[[tuple[Any, ...]], Any]:
        """The compiled function; if some subscript may be out of range for the arguments of a call, one with bounds checks.

        That is emitted anew, with the statements that the results do not use, so that their errors are raised as well.
        """
        fast, seed, jit = self.compiled, self.seed, self.owner._jit
        if self.emitted.guard is None:
            return lambda args: fast(*args, *seed)
        checked: list[Callable[..., Any]] = []
        holds = None if jit else load(self.emitted.guard, jit)

        def call(args: tuple[Any, ...]) -> Any:
            try:
                if holds is None or holds(*args):
                    return fast(*args, *seed)
            except OutOfBounds:  # raised before anything has run
                pass
            if not checked:
                state = self.owner._current()[1]
                anew = self.owner._emit(state, self.types, self.owner._mode, every_error=True)
                checked.append(load(anew, jit, checked=True))
                compile_for(checked[0], [typeof(v) for v in (*args, *seed)], anew)
            return checked[0](*args, *seed)

        return call

    def caller(self, names: tuple[str, ...], values: tuple[Any, ...], scalars: frozenset[int]) -> Callable[[tuple[Any, ...]], Any]:
        """A function of all arguments that does what this combination of types needs, and no more."""
        compiled, mode, single = self.guarded(), self.owner._mode, self.owner._single
        jit = self.owner._jit
        boxes = [_box(self.value, jit, False)] if mode != "adjoint" else []
        if mode != "primal":
            boxes += [_box(self.types[names.index(w)], jit, names.index(w) in scalars) for w in self.owner._wrt]
        boxed = any(boxes)
        checked = self._checks(names, values)
        bare = mode == "primal" or mode == "adjoint" and len(boxes) == 1  # the emitted function gives no tuple

        def run(args: tuple[Any, ...]) -> Any:
            if scalars:
                args = tuple([a[()] if k in scalars else a for k, a in enumerate(args)])
            if checked:
                _overlap(args, checked)
            out = compiled(args)
            if bare:
                out = (out,)
            if boxed:
                out = tuple([box(v) if box else v for v, box in zip(out, boxes, strict=True)])
            if mode == "primal" or single and mode == "adjoint":
                return out[0]
            return out if single or mode == "adjoint" else (out[0], out[1:])

        # the common cases once more, with nothing in them that they do not need
        if not scalars and not checked and not boxed and (single or mode != "value_and_adjoint") and (single or not bare or mode == "primal"):
            return compiled
        if not scalars and not checked and mode == "value_and_adjoint" and not any(boxes[1:]):
            box = boxes[0] or float

            def both(args: tuple[Any, ...]) -> Any:
                out = compiled(args)
                return (box(out[0]), out[1]) if single else (box(out[0]), out[1:])

            return both
        return run

    def _checks(self, names: tuple[str, ...], values: tuple[Any, ...]) -> list[tuple[int, int, str, str]]:
        """Pairs of array arguments that must not overlap, because the function writes into one of them."""
        arrays = [k for k, t in enumerate(self.types) if isinstance(t, Array)]
        written = self.emitted.written
        if self.owner._mode == "primal":
            for k in arrays:
                if names[k] in written and not values[k].flags.writeable:
                    raise ValueError(f"{self.owner._title(names[k])} is read-only, but the function writes into it")
        title = self.owner._title
        return [(i, j, title(names[i]), title(names[j])) for i, j in itertools.combinations(arrays, 2) if {names[i], names[j]} & written]


def _brief_key(values: Sequence[Any]) -> tuple[Any, ...] | None:
    """What decides how a call runs whose arguments are numbers, arrays, texts, flags and None; else None."""
    key: list[Any] = []
    for v in values:
        t = type(v)
        if t is _ndarray and v.ndim:
            key.append((v.dtype, v.ndim, v.flags.num))
        elif v is None or t is str or t is bool:
            key.append(v)
        elif t is float or t is int:
            key.append(t)
        else:
            return None
    return tuple(key)


def _tangent_type(t: Type) -> Type:
    """The type in which the tangent of an argument is passed."""
    return replace(t, layout="C") if isinstance(t, Array) else t


def _overlap(args: tuple[Any, ...], pairs: list[tuple[int, int, str, str]]) -> None:
    """Refuse arguments that share memory when one of them is written: the emitted code takes them to be apart."""
    for i, j, a, b in pairs:
        if np.may_share_memory(args[i], args[j]):
            raise ArgumentError(f"{a} and {b} overlap in memory, and the function writes into one of them; pass a copy of the other")


def _box(t: Type, jit: bool, as_array: bool) -> Callable[[Any], Any] | None:
    """What makes a result the kind of number that Python and NumPy would give (Numba gives Python numbers); None for nothing to do."""
    if not isinstance(t, Scalar):
        return None
    if as_array:
        return functools.partial(np.array, dtype=t.dtype)
    if t.weak and jit:
        return None
    if t.weak:
        return {"float64": float, "int64": int, "bool": bool}[t.dtype]
    return np.dtype(t.dtype).type


def _converted(value: Any, what: str) -> Any:
    """Lists and tuples of numbers as float64 arrays, memory maps as arrays."""
    if type(value) is np.memmap:
        return np.asarray(value)
    if isinstance(value, (list, tuple)):
        try:
            return np.array(value, dtype=np.float64)
        except (TypeError, ValueError) as e:
            raise ArgumentError(f"{what} is a {type(value).__name__} that is no array of numbers: {e}") from e
    return value


def _number(value: Any) -> Any:
    """The NumPy scalar in an array without axes."""
    return value[()] if type(value) is np.ndarray and value.ndim == 0 else value


def _depth() -> int:
    """How many frames up from the caller the user's code begins."""
    frame, n = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "s2sad":
        frame, n = frame.f_back, n + 1
    return n


def annotated_type(p: inspect.Parameter) -> Type | None:
    """The type that a parameter's annotation or default names; None if there is none, or only that it is an array."""
    note = getattr(p.annotation, "__name__", p.annotation)
    if note in ("float", "int", "bool"):
        return parse_types(str(note))[0]
    if p.annotation is inspect.Parameter.empty and type(p.default) in (float, int, bool):
        return type_of(p.default, p.name)
    return None


def _described(t: Type | None) -> str:
    if isinstance(t, Array):
        return f"an array {t}"
    if isinstance(t, Scalar):
        return {"int64": "an int", "bool": "a bool", "float64": "a float"}[t.dtype] if t.weak else f"a NumPy {t.dtype}"
    return f"{t}"


def _text_of(emitted: Emitted, lowered: bool) -> str:
    """The text that is shown, or the one that is compiled."""
    return emitted.lowered or emitted.text if lowered else emitted.text


def _shown(types_: Sequence[Type]) -> str:
    return f"({', '.join(map(str, types_))})"


def _imported(module: str, qualname: str) -> Any:
    """What a name means in a module; None if it is not there."""
    found: Any = importlib.import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found


def _restored(module: str, qualname: str, mode: str, wrt: Wrt, jit: bool, check: bool | str = False) -> Any:
    """Unpickle a Derivative."""
    found = _imported(module, qualname)
    program = found._program if isinstance(found, Derivative) else _program(_user_function(found))
    made = _derivative(program, mode, wrt, jit)
    made._check = check
    if isinstance(found, Derivative) and found._same_as(made):
        return found
    return made
