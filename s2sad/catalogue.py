"""Every refusal: what its code means, a program that it refuses, and one that says the same and is accepted.

Tests run all programs; docs/errors.md shows them with the messages, `s2sad explain CODE` prints an entry. The programs take
`import numpy as np`, `import s2sad` and `from s2sad import grad` for granted.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """A program that is refused and one that is not, each ending with the call that shows it."""

    wrong: str
    right: str


@dataclass(frozen=True)
class Entry:
    """One code: what it says, what is behind it, and examples."""

    title: str
    text: str
    examples: tuple[Example, ...]


def explained(code: str) -> str:
    """An entry as text for a terminal.

    >>> print(explained("S2S117"))
    S2S117: A target that cannot be assigned
    <BLANKLINE>
    Names, and elements and parts of arrays, can be assigned; attributes cannot.
    <BLANKLINE>
    Refused:
        def f(x):
            x.shape = (2, 3)
            return np.sum(x[0] ** 2)
    <BLANKLINE>
        grad(f)(np.ones(6))
    <BLANKLINE>
    Accepted:
        def f(x):
            x = x.reshape(2, 3)
            return np.sum(x[0] ** 2)
    <BLANKLINE>
        grad(f)(np.ones(6))
    """
    entry = CATALOGUE[code]
    parts = [f"{code}: {entry.title}", textwrap.fill(entry.text, 88)]
    for e in entry.examples:
        parts += [f"{head}:\n{textwrap.indent(program, '    ')}" for head, program in (("Refused", e.wrong), ("Accepted", e.right))]
    return "\n\n".join(parts)


def _entry(title: str, text: str, *programs: str) -> Entry:
    """An entry; refused and accepted programs take turns, the last line of each being the call."""
    cut = [_program(p) for p in programs]
    return Entry(title, " ".join(text.split()), tuple(Example(a, b) for a, b in zip(cut[::2], cut[1::2], strict=True)))


def _program(text: str) -> str:
    """A program without indentation, with an empty line before its call."""
    body, _, call = textwrap.dedent(text).strip().rpartition("\n")
    return f"{body.rstrip()}\n\n{call}" if body else call


CATALOGUE: dict[str, Entry] = {
    "S2S100": _entry(
        "The source of the function cannot be read",
        """s2sad reads the text of a function, which has to stand in a file or a notebook cell: no text given to `exec`, and no
        function of a compiled module. Two lambdas on one line cannot be told apart.""",
        """
        exec("def f(x):\\n    return x * x")
        grad(f)(3.0)
        """,
        """
        def f(x):
            return x * x
        grad(f)(3.0)
        """,
    ),
    "S2S101": _entry(
        "The file has changed since the function was made",
        """The text at the function's place is not what Python runs. That is so after a file was saved while the program was running: import the
        module again, or start anew.""",
        """
        from pathlib import Path

        def f(x):
            return x * x

        # the file is saved in an editor while the program runs
        Path(__file__).write_text("# a new line\\n" + Path(__file__).read_text().replace("x * x", "x + x"))
        grad(f)(3.0)
        """,
        """
        def f(x):
            return x * x
        grad(f)(3.0)
        """,
    ),
    "S2S110": _entry(
        "A statement that is outside the language",
        """A differentiated function consists of assignments, branches, loops, calls, `return`, `assert` and `raise`. There is no `try`, `with`,
        `del`, `match`, `global` or `nonlocal` in it.""",
        """
        def f(x):
            try:
                y = 1.0 / x
            except ZeroDivisionError:
                y = 0.0
            return y * y
        grad(f)(2.0)
        """,
        """
        def f(x):
            y = 0.0
            if x != 0.0:
                y = 1.0 / x
            return y * y
        grad(f)(2.0)
        """,
        """
        def f(x):
            total = 0.0

            def add(v):
                nonlocal total
                total += v * v

            add(x)
            return total * x
        grad(f)(2.0)
        """,
        """
        def f(x):
            def added(total, v):
                return total + v * v

            total = added(0.0, x)
            return total * x
        grad(f)(2.0)
        """,
        """
        def f(x):
            with np.errstate(divide="ignore"):
                y = np.sum(np.log(x))
            return y
        grad(f)(np.array([1.0, 2.0]))
        """,
        """
        def f(x):
            return np.sum(np.log(x))

        with np.errstate(divide="ignore"):
            gradient = grad(f)(np.array([1.0, 2.0]))
        gradient
        """,
    ),
    "S2S111": _entry(
        "An expression that is outside the language",
        "Numbers, arrays and lists of them are computed with operators, comparisons, calls, subscripts and comprehensions of lists.",
        """
        def f(x):
            while (y := 0.5 * x) > 1.0:
                x = y * y
            return x * y
        grad(f)(3.0)
        """,
        """
        def f(x):
            y = 0.5 * x
            while y > 1.0:
                x = y * y
                y = 0.5 * x
            return x * y
        grad(f)(3.0)
        """,
    ),
    "S2S112": _entry(
        "An import in a function that cannot be followed",
        "Imports in a function are followed if they stand at its beginning and Python finds the module.",
        """
        def f(x):
            y = 2.0 * x
            if y > 1.0:
                from math import pi
                y = pi * y
            return y * y
        grad(f)(2.0)
        """,
        """
        from math import pi

        def f(x):
            y = 2.0 * x
            if y > 1.0:
                y = pi * y
            return y * y
        grad(f)(2.0)
        """,
    ),
    "S2S113": _entry(
        "A use of a list, set or dict that cannot be differentiated",
        """Lists of numbers and of arrays can be built, indexed, grown and looped over. A dict stands for one variable for each entry, so its keys are
        written in the text. There are no sets.""",
        """
        def f(x, n):
            powers = {}
            for k in range(n):
                powers[k] = x ** k
            return powers[n - 1]
        grad(f)(3.0, 3)
        """,
        """
        def f(x, n):
            powers = np.empty(n)
            for k in range(n):
                powers[k] = x ** k
            return powers[n - 1]
        grad(f)(3.0, 3)
        """,
    ),
    "S2S114": _entry(
        "A complex number",
        "Numbers are real. A complex one can be written as its real and its imaginary part.",
        """
        def f(x):
            z = x + 1j * x * x
            return abs(z)
        grad(f)(2.0)
        """,
        """
        def f(x):
            re, im = x, x * x
            return np.hypot(re, im)
        grad(f)(2.0)
        """,
    ),
    "S2S115": _entry(
        "Starred arguments or a starred target",
        "The compiler has to know how many values there are. Of a tuple it does, of an array it does not.",
        """
        def area(a, b):
            return a * b

        def f(sides):
            return area(*sides)
        grad(f)(np.array([3.0, 4.0]))
        """,
        """
        def area(a, b):
            return a * b

        def f(sides):
            return area(sides[0], sides[1])
        grad(f)(np.array([3.0, 4.0]))
        """,
    ),
    "S2S116": _entry(
        "A loop over something else than range, arrays, lists, enumerate and zip",
        "A loop counts, or goes through the first axis of arrays or through lists.",
        """
        def f(x):
            s = 0.0
            for k in {1, 2, 3}:
                s += x ** k
            return s
        grad(f)(2.0)
        """,
        """
        def f(x):
            s = 0.0
            for k in range(1, 4):
                s += x ** k
            return s
        grad(f)(2.0)
        """,
    ),
    "S2S117": _entry(
        "A target that cannot be assigned",
        "Names, and elements and parts of arrays, can be assigned; attributes cannot.",
        """
        def f(x):
            x.shape = (2, 3)
            return np.sum(x[0] ** 2)
        grad(f)(np.ones(6))
        """,
        """
        def f(x):
            x = x.reshape(2, 3)
            return np.sum(x[0] ** 2)
        grad(f)(np.ones(6))
        """,
    ),
    "S2S118": _entry(
        "A statement without effect",
        "The value is computed and dropped. Most often an assignment is missing.",
        """
        def f(x):
            np.sqrt(x)
            return np.sum(x * x)
        grad(f)(np.array([1.0, 4.0]))
        """,
        """
        def f(x):
            x = np.sqrt(x)
            return np.sum(x * x)
        grad(f)(np.array([1.0, 4.0]))
        """,
    ),
    "S2S120": _entry(
        "A name that is not defined",
        "Neither the function, nor what is around it, nor its module, nor Python has this name.",
        """
        def f(x):
            scale = 2.0
            return scal * x
        grad(f)(3.0)
        """,
        """
        def f(x):
            scale = 2.0
            return scale * x
        grad(f)(3.0)
        """,
    ),
    "S2S121": _entry(
        "A function without a derivative rule",
        """s2sad differentiates Python functions whose text it can read, and the library functions that it has rules for. Say the same with others, or
        give the function a rule of your own with `adjoint_of`.""",
        """
        def f(x):
            return np.sum(np.ediff1d(x) ** 2)
        grad(f)(np.array([1.0, 2.0, 4.0]))
        """,
        """
        def f(x):
            return np.sum((x[1:] - x[:-1]) ** 2)
        grad(f)(np.array([1.0, 2.0, 4.0]))
        """,
        """
        def f(x, k):
            y = np.zeros(3)
            np.add.at(y, k, x)
            return np.sum(y * y)
        grad(f)(np.array([1.0, 2.0, 3.0]), np.array([0, 0, 2]))
        """,
        """
        def f(x, k):
            y = np.zeros(3)
            for i in range(len(k)):
                y[k[i]] += x[i]
            return np.sum(y * y)
        grad(f)(np.array([1.0, 2.0, 3.0]), np.array([0, 0, 2]))
        """,
        """
        import operator

        def f(x):
            return operator.mul(x, x)
        grad(f)(3.0)
        """,
        """
        def f(x):
            return x * x
        grad(f)(3.0)
        """,
    ),
    "S2S122": _entry(
        "A method or attribute that is not known",
        "Arrays have the methods that rules exist for; `np.` functions say the rest.",
        """
        def f(x):
            return x.max().item() ** 2
        grad(f)(np.array([1.0, 3.0]))
        """,
        """
        def f(x):
            return float(x.max()) ** 2
        grad(f)(np.array([1.0, 3.0]))
        """,
    ),
    "S2S123": _entry(
        "NumPy's global random numbers",
        """Their state is hidden, so that the reverse sweep could not see the same draws. Pass a `np.random.Generator` as an argument, or the numbers
        drawn.""",
        """
        def f(x):
            return x * np.random.normal()
        grad(f)(2.0)
        """,
        """
        def f(x, noise):
            return x * noise

        rng = np.random.default_rng(3)
        grad(f)(2.0, rng.normal())
        """,
    ),
    "S2S124": _entry(
        "A global or closure value of a kind that cannot be used",
        """Numbers, arrays, texts, functions, and tuples, lists, dicts and objects of them can be read from outside. Others, such as sets, files and
        date times, cannot.""",
        """
        EXPONENTS = {1, 2, 3}

        def f(x):
            return x ** len(EXPONENTS)
        grad(f)(2.0)
        """,
        """
        EXPONENTS = (1, 2, 3)

        def f(x):
            return x ** len(EXPONENTS)
        grad(f)(2.0)
        """,
    ),
    "S2S125": _entry(
        "A function that calls itself in a way that cannot be followed",
        """A recursive function takes and returns numbers and arrays, of the same types in every call, and what it returns is not an argument itself
        but a value of its own.""",
        """
        def down(a, n):
            if n == 0:
                return a
            return down(0.5 * a, n - 1)

        def f(x):
            return np.sum(down(x, 3) ** 2)
        grad(f)(np.array([1.0, 2.0]))
        """,
        """
        def down(a, n):
            if n == 0:
                return a.copy()
            return down(0.5 * a, n - 1)

        def f(x):
            return np.sum(down(x, 3) ** 2)
        grad(f)(np.array([1.0, 2.0]))
        """,
    ),
    "S2S126": _entry(
        "Arguments that do not fit the function called",
        "Too many, too few or unknown arguments, or a keyword (such as `out=`) that has no derivative.",
        """
        def scaled(v, by):
            return v * by

        def f(x):
            return scaled(x)
        grad(f)(2.0)
        """,
        """
        def scaled(v, by):
            return v * by

        def f(x):
            return scaled(x, 3.0)
        grad(f)(2.0)
        """,
        """
        def f(x):
            y = np.empty(2)
            np.exp(x, out=y)
            return np.sum(y)
        grad(f)(np.array([1.0, 2.0]))
        """,
        """
        def f(x):
            y = np.empty(2)
            y[...] = np.exp(x)
            return np.sum(y)
        grad(f)(np.array([1.0, 2.0]))
        """,
    ),
    "S2S127": _entry(
        "Some ways through the function return a value, others do not",
        "Every path has to end with `return` and a value (or, in a function that is called for its effect, none).",
        """
        def f(x):
            if x > 0.0:
                return x * x
        grad(f)(2.0)
        """,
        """
        def f(x):
            if x > 0.0:
                return x * x
            return 0.0
        grad(f)(2.0)
        """,
    ),
    "S2S128": _entry(
        "A tuple used in a way that is not known when compiling",
        """How many values a tuple has is decided by the text; so is which one is taken, if they are not all numbers or all arrays of one kind.""",
        """
        def f(x, n):
            steps = (x, np.sin)
            s = 0.0
            for k in range(n):
                s += steps[k](x)
            return s
        grad(f)(2.0, 1)
        """,
        """
        def f(x, n):
            s = 0.0
            for k in range(n):
                if k == 0:
                    s += np.sin(x)
                else:
                    s += np.cos(x)
            return s
        grad(f)(2.0, 1)
        """,
    ),
    "S2S129": _entry(
        "A global array is written",
        "Globals may be read. An array that is to be written is an argument, or is made in the function.",
        """
        TABLE = np.zeros(3)

        def f(x):
            TABLE[0] = x
            return TABLE[0] * x
        grad(f)(2.0)
        """,
        """
        def f(x, table):
            table[0] = x
            return table[0] * x
        grad(f)(2.0, np.zeros(3))
        """,
    ),
    "S2S130": _entry(
        "The order of a read and of a call that may write is not plain",
        "Python reads the target before it calls the function, which writes into the same array. Two statements say which is meant.",
        """
        def bump(a):
            a[0] = 2.0 * a[0]
            return a[0]

        def f(x):
            a = x.copy()
            a[0] += bump(a)
            return a[0] * a[1]
        grad(f)(np.array([1.0, 2.0]))
        """,
        """
        def bump(a):
            a[0] = 2.0 * a[0]
            return a[0]

        def f(x):
            a = x.copy()
            before = a[0]
            a[0] = before + bump(a)
            return a[0] * a[1]
        grad(f)(np.array([1.0, 2.0]))
        """,
    ),
    "S2S131": _entry(
        "An exception that cannot be raised here",
        "Python's own exceptions can be raised, with a text or an f-string of values.",
        """
        class Negative(Exception):
            pass

        def f(x):
            if x < 0.0:
                raise Negative(x)
            return x * x
        grad(f)(2.0)
        """,
        """
        def f(x):
            if x < 0.0:
                raise ValueError(f"{x} is negative")
            return x * x
        grad(f)(2.0)
        """,
    ),
    "S2S132": _entry(
        "A name or result that is one kind of value here and another there",
        "Whether a name stands for None, a function, a tuple or a number must be known before the program runs. A number can say that there is none.",
        """
        def f(x):
            best = None
            for k in range(len(x)):
                if best is None or x[k] > best:
                    best = x[k]
            return best ** 2
        grad(f)(np.array([1.0, 3.0, 2.0]))
        """,
        """
        def f(x):
            best = -np.inf
            for k in range(len(x)):
                if x[k] > best:
                    best = x[k]
            return best ** 2
        grad(f)(np.array([1.0, 3.0, 2.0]))
        """,
    ),
    "S2S140": _entry(
        "An argument, a type or `wrt` that does not fit",
        "Floats and arrays of floats have derivatives, with respect to them, of a result that is one float.",
        """
        def f(x, n):
            return x ** n
        grad(f, wrt="n")(2.0, 3)
        """,
        """
        def f(x, n):
            return x ** n
        grad(f, wrt="n")(2.0, 3.0)
        """,
        """
        def f(x):
            return x * x
        grad(f)(np.array([1.0, 2.0]))
        """,
        """
        def f(x):
            return np.sum(x * x)
        grad(f)(np.array([1.0, 2.0]))
        """,
    ),
    "S2S141": _entry(
        "A kind of derivative that is not built yet",
        "There are `grad`, `value_and_grad`, `jvp` and `differentiable`, of first derivatives.",
        """
        def f(x):
            return x ** 3
        grad(grad(f))(2.0)
        """,
        """
        def slope(x):
            return 3.0 * x ** 2
        grad(slope)(2.0)
        """,
    ),
    "S2S204": _entry(
        "A form of a library call that has no derivative",
        "The function has a rule, but not for these arguments.",
        """
        def f(a):
            return np.sum(np.inner(a, a))
        grad(f)(np.array([[1.0, 2.0], [3.0, 4.0]]))
        """,
        """
        def f(a):
            return np.sum(a @ a.T)
        grad(f)(np.array([[1.0, 2.0], [3.0, 4.0]]))
        """,
    ),
    "S2S205": _entry(
        "An argument that its function's rule does not differentiate",
        "The function can be differentiated, but not with respect to this argument. `stop_gradient` says that it is meant as a constant.",
        """
        def f(x, at):
            return np.interp(at, 2.0 * x, x)
        grad(f)(np.array([0.0, 1.0, 2.0]), 1.5)
        """,
        """
        from s2sad import stop_gradient

        def f(x, at, table):
            return np.interp(x[1], stop_gradient(table), x)
        grad(f)(np.array([0.5, 1.5, 2.0]), 1.5, np.array([0.0, 1.0, 2.0]))
        """,
    ),
    "S2S207": _entry(
        "A function without tangent rule whose result is an array, in forward mode",
        "Where a function with a rule of your own gives an array, `jvp` needs the rule of forward mode too: `tangent_of`.",
        """
        def opaque(x):
            return 2.0 * x

        @s2sad.adjoint_of(opaque)
        def opaque_adjoint(x, y, y_bar):
            return 2.0 * y_bar

        def f(x):
            return np.sum(opaque(x))
        s2sad.jvp(f, jit=False)(np.ones(3), tangents=np.ones(3))
        """,
        """
        def opaque(x):
            return 2.0 * x

        @s2sad.adjoint_of(opaque)
        def opaque_adjoint(x, y, y_bar):
            return 2.0 * y_bar

        @s2sad.tangent_of(opaque)
        def opaque_tangent(x, y, x_dot):
            return 2.0 * x_dot

        def f(x):
            return np.sum(opaque(x))
        s2sad.jvp(f, jit=False)(np.ones(3), tangents=np.ones(3))
        """,
    ),
    "S2S303": _entry(
        "A write into an array that may have a second name",
        "Two names may mean one array, as a branch decides. A copy tells them apart.",
        """
        def f(x, n):
            b = x.copy()
            if n > 0:
                c = b
            else:
                c = x
            b[0] = 2.0
            return c[0] * b[1]
        grad(f)(np.array([1.0, 2.0]), 1)
        """,
        """
        def f(x, n):
            b = x.copy()
            if n > 0:
                b[0] = 2.0
                return b[0] * b[1]
            return x[0] * b[1]
        grad(f)(np.array([1.0, 2.0]), 1)
        """,
    ),
    "S2S304": _entry(
        "A write into memory that may be shared or not, as the layout decides",
        "`np.ravel` and `reshape` give a view of some arrays and a copy of others. What is written should be one or the other.",
        """
        def f(a):
            a = a.T * 2.0
            b = np.ravel(a)
            b[0] = 1.0
            return np.sum(a * a)
        grad(f)(np.array([[1.0, 2.0], [3.0, 4.0]]))
        """,
        """
        def f(a):
            a = a.T * 2.0
            a[0, 0] = 1.0
            return np.sum(a * a)
        grad(f)(np.array([[1.0, 2.0], [3.0, 4.0]]))
        """,
    ),
    "S2S501": _entry(
        "An operation whose operands' types do not fit",
        "Python would raise a TypeError here, or the combination is not supported.",
        """
        def f(x):
            return x[len(x) / 2]
        grad(f)(np.array([1.0, 2.0, 3.0]))
        """,
        """
        def f(x):
            return x[len(x) // 2]
        grad(f)(np.array([1.0, 2.0, 3.0]))
        """,
        """
        def f(x):
            return x or 1.0
        grad(f)(2.0)
        """,
        """
        def f(x):
            return x if x else 1.0
        grad(f)(2.0)
        """,
        """
        def f(a):
            return np.sum(np.linalg.norm(a, axis=0))
        grad(f)(np.array([[1.0, 2.0], [3.0, 4.0]]))
        """,
        """
        def f(a):
            return np.sum(np.sqrt(np.sum(a * a, axis=0)))
        grad(f)(np.array([[1.0, 2.0], [3.0, 4.0]]))
        """,
    ),
    "S2S502": _entry(
        "A name that is an array here and a number elsewhere",
        "A name keeps its kind and its number of axes where paths meet: a sum of arrays begins with an array.",
        """
        def f(x, n):
            s = 0.0
            for _ in range(n):
                s = s + x
            return np.sum(s * s)
        grad(f)(np.array([1.0, 2.0]), 3)
        """,
        """
        def f(x, n):
            s = np.zeros_like(x)
            for _ in range(n):
                s = s + x
            return np.sum(s * s)
        grad(f)(np.array([1.0, 2.0]), 3)
        """,
        """
        def f(x, n):
            y = np.sum(x)
            x = x * y
            y = 1.0
            for k in range(n):
                y = y * x
            return np.sum(y)
        grad(f)(np.array([1.0, 2.0]), 2)
        """,
        """
        def f(x, n):
            y = np.sum(x)
            x = x * y
            z = np.ones(len(x))
            for k in range(n):
                z = z * x
            return np.sum(z)
        grad(f)(np.array([1.0, 2.0]), 2)
        """,
    ),
    "S2S601": _entry(
        "A gradient that a check has found wrong",
        "With `check=`, gradients are compared with differences. The message names the statement or the rule that is wrong.",
        """
        def cube(x):
            return x * x * x

        @s2sad.adjoint_of(cube)
        def cube_adjoint(x, y, y_bar):
            return 2.0 * x * y_bar

        def f(x):
            return 2.0 * cube(x)
        grad(f, check="first")(2.0)
        """,
        """
        def cube(x):
            return x * x * x

        @s2sad.adjoint_of(cube)
        def cube_adjoint(x, y, y_bar):
            return 3.0 * x * x * y_bar

        def f(x):
            return 2.0 * cube(x)
        grad(f, check="first")(2.0)
        """,
    ),
    "S2S900": _entry(
        "Numba cannot compile the emitted program",
        """If the message names a function of yours (one with a rule by `adjoint_of`, or the rule), write that function for Numba. If it says that the
        fault is one of s2sad, please report it; `jit=False` runs the program in plain Python meanwhile.""",
        """
        def square(x):
            return x * x

        @s2sad.adjoint_of(square)
        def square_adjoint(x, y, y_bar):
            return np.einsum("i->", np.array([2.0 * x * y_bar]))

        def f(x):
            return 3.0 * square(x)
        grad(f)(2.0)
        """,
        """
        def square(x):
            return x * x

        @s2sad.adjoint_of(square)
        def square_adjoint(x, y, y_bar):
            return 2.0 * x * y_bar

        def f(x):
            return 3.0 * square(x)
        grad(f)(2.0)
        """,
    ),
}
