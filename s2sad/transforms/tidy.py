"""Last touches on an emitted body; nothing here changes a value.

* `a[i] = 0.0` followed by `a[i] += e` becomes `a[i] = e`
* a temporary that is used once, by the next statement, goes into it
* an array made only to be kept is made in its place (`un = u.copy(); un_saved[t] = un` becomes `un_saved[t] = u; un = un_saved[t]`)
* the two sweeps meet inside the last branch of the forward sweep if nothing follows it
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping

import gast

from s2sad.analysis import effects as E
from s2sad.lang import algebra as A
from s2sad.lang import tree as T
from s2sad.lang.routines import called
from s2sad.lang.types import Type, is_array


def tidy(body: list[gast.stmt], names: Mapping[str, Type], written: frozenset[str], apart: bool = False) -> list[gast.stmt]:
    """The body, tidied; `apart`: its sweeps are to be two functions.

    >>> from s2sad.lang.printer import to_source
    >>> print(to_source(tidy(T.stmts("w = a[i]\\na[i] = 0.0\\na[i] += 2 * w\\nreturn a"), {}, frozenset())), end="")
    a[i] = 2 * a[i]
    return a
    """
    body = blocks(body, first_is_assignment)
    body = blocks(body, lambda b: kept_in_place(b, names, written))
    body = body if apart else meet(body)
    body = blocks(body, said_once)
    body = handed_on(body, names)
    once = used_once(body)
    return blocks(body, lambda b: inline_once(b, once))


def blocks(body: list[gast.stmt], change: object) -> list[gast.stmt]:
    """Apply a change to every block, innermost first."""
    out = []
    for s in body:
        if E.children(s):
            s = copy.copy(s)
            s.body = blocks(s.body, change)
            if isinstance(s, gast.If):
                s.orelse = blocks(s.orelse, change)
        out.append(s)
    return change(out)  # type: ignore[operator,no-any-return]


def first_is_assignment(body: list[gast.stmt]) -> list[gast.stmt]:
    """`x = 0.0; x += e` to `x = e` (also for one element), where e does not read x."""
    out: list[gast.stmt] = []
    for s in body:
        prev = next((p for p in reversed(out) if not isinstance(p, T.Comment)), None)
        if (isinstance(s, gast.AugAssign) and isinstance(s.op, (gast.Add, gast.Sub)) and isinstance(prev, gast.Assign)
                and A.number(prev.value) == 0 and T.same(prev.targets[0], s.target)
                and T.base_name(s.target) not in T.loads(s.value)
                and (isinstance(s.target, gast.Name) or not has_slice(s.target))):
            k = len(out) - 1 - out[::-1].index(prev)
            del out[k]
            value = s.value if isinstance(s.op, gast.Add) else A.neg(s.value)
            out.append(gast.Assign([s.target], value, None))
            continue
        out.append(s)
    return out


def said_once(body: list[gast.stmt]) -> list[gast.stmt]:
    """Without comments that repeat the one before, where one statement of the user stands for several."""
    out: list[gast.stmt] = []
    said = ""
    for s in body:
        if isinstance(s, T.Comment):
            if s.text == said:
                continue
            said = s.text
        elif E.children(s):
            said = ""
        out.append(s)
    return out


def handed_on(body: list[gast.stmt], names: Mapping[str, Type]) -> list[gast.stmt]:
    """`t = g(x); y = t` to `y = g(x)`, where g is a routine and t is used nowhere else; `t = g(x)` to `g(x)` if t is not used at all."""
    if not any(called(s, names) is not None for s in E.walk(body)):
        return body
    count = Counter(n.id for s in body for n in gast.walk(s) if isinstance(n, gast.Name))

    def change(block: list[gast.stmt]) -> list[gast.stmt]:
        out: list[gast.stmt] = []
        call: gast.Assign | None = None
        for s in block:
            routine = called(s, names)
            if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) and routine is not None and count[s.targets[0].id] == 1:
                s, call = gast.Expr(s.value), None
            elif isinstance(s, gast.Assign) and routine is not None:
                s = call = copy.copy(s)
                s.targets = T.copied(s.targets)
            elif (call is not None and isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) and isinstance(s.value, gast.Name)
                    and s.value.id in T.stores(call.targets) and count[s.value.id] == 2 and s.targets[0].id not in T.stores(call.targets)):
                for n in gast.walk(call.targets[0]):
                    if isinstance(n, gast.Name) and n.id == s.value.id:
                        n.id = s.targets[0].id
                continue
            elif not isinstance(s, T.Comment):
                call = None
            out.append(s)
        return out

    return blocks(body, change)


def has_slice(target: gast.expr) -> bool:
    """Whether a subscript selects more than one element for sure or perhaps."""
    index = target.slice
    return any(isinstance(n, gast.Slice) for n in (index.elts if isinstance(index, gast.Tuple) else [index]))


def kept_in_place(body: list[gast.stmt], names: Mapping[str, Type], written: frozenset[str]) -> list[gast.stmt]:
    """Make an array right where it is kept, if nobody writes into it later."""
    out: list[gast.stmt] = []
    for s in body:
        prev = out[-1] if out else None
        if (isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Subscript) and isinstance(s.value, gast.Name)
                and "_saved" in T.base_name(s.targets[0]) and is_array(names.get(s.value.id)) and s.value.id not in written
                and isinstance(prev, gast.Assign) and isinstance(prev.targets[0], gast.Name) and prev.targets[0].id == s.value.id
                and isinstance(prev.value, gast.Call) and isinstance(prev.value.func, gast.Attribute) and prev.value.func.attr == "copy"):
            out[-1] = gast.Assign([s.targets[0]], prev.value.func.value, None)
            out.append(gast.Assign([T.store(s.value.id)], T.loaded(s.targets[0]), None))
            continue
        out.append(s)
    return out


def meet(body: list[gast.stmt]) -> list[gast.stmt]:
    """Merge the last branch of the forward sweep with the first of the reverse sweep if they have the same test."""
    marks = [k for k, s in enumerate(body) if isinstance(s, T.Comment) and s.text.startswith("--- reverse")]
    if not marks:
        return body
    m = marks[0]
    before = [k for k in range(m) if not isinstance(body[k], T.Comment)]
    if not before or not isinstance(body[before[-1]], gast.If):
        return body
    f = body[before[-1]]
    k = m + 1
    between: list[gast.stmt] = []
    while k < len(body) and isinstance(body[k], gast.Assign) and not E.written([body[k]], {}):
        between.append(body[k])
        k += 1
    r = body[k] if k < len(body) else None
    if not isinstance(r, gast.If) or not T.same(f.test, r.test):
        return body
    changed = E.bound(f.body + f.orelse, {}) | E.written(f.body + f.orelse, {})
    values, metas = E.reads_of(f.test)
    if (values | metas) & changed or any((T.loads(s) | T.stores(s)) & (changed | values | metas | T.all_names(f.body + f.orelse)) for s in between):
        return body
    new = gast.If(f.test, [*f.body, *r.body], [*f.orelse, *r.orelse])
    head = [s for s in body[: before[-1]] if not (isinstance(s, T.Comment) and s.text.startswith("---"))]
    return [*head, *between, new, *body[k + 1:]]


def inline_once(body: list[gast.stmt], once: frozenset[str]) -> list[gast.stmt]:
    """Put a temporary `w` that only the next statement uses, once, into that statement."""
    out: list[gast.stmt] = []
    for s in body:
        prev = out[-1] if out else None
        if (isinstance(prev, gast.Assign) and isinstance(prev.targets[0], gast.Name) and prev.targets[0].id in once
                and isinstance(s, (gast.Assign, gast.AugAssign)) and pure(prev.value)):
            n = prev.targets[0].id
            target = s.targets[0] if isinstance(s, gast.Assign) else s.target
            if n in T.loads(s.value) and n not in T.all_names([target]):
                out.pop()
                s = copy.copy(s)
                s.value = folded(T.substitute(s.value, {n: prev.value}))
        out.append(s)
    return out


def folded(e: gast.expr) -> gast.expr:
    """A product with its literal factors multiplied and its signs in front."""
    if isinstance(e, gast.BinOp) and isinstance(e.op, (gast.Mult, gast.Div)):
        sign, num, den = A.factors(e)
        return A.signed(sign, A.product(num, den))
    return e


def used_once(body: list[gast.stmt]) -> frozenset[str]:
    """Temporaries that are bound once and read once."""
    loads: Counter[str] = Counter()
    stores: Counter[str] = Counter()
    for s in body:
        for n in gast.walk(s):
            if isinstance(n, gast.Name) and is_temporary(n.id):
                (loads if isinstance(n.ctx, gast.Load) else stores)[n.id] += 1
    return frozenset(n for n in loads if loads[n] == 1 and stores[n] == 1)


def is_temporary(n: str) -> bool:
    """Whether a name was made by the reverse pass for an adjoint on its way."""
    return n == "w" or n.startswith("w_") and n[2:].isdigit()


def pure(e: gast.expr) -> bool:
    """Whether an expression has no effect and no array memory of its own to copy."""
    return not any(isinstance(c, gast.Call) and (T.dotted(c.func) or "").split(".")[-1] in (*E.WRITERS, "pop", "copy") for c in gast.walk(e))
