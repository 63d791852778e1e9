"""Run loops of the reverse sweep forwards where their trips do not depend on each other.

Trips are independent if all they share are sums (`x_bar += ...`, in any order), arrays in which each trip touches elements of its own
(`u_bar[i]`), and arrays and scalars that each trip makes anew.
"""

from __future__ import annotations

import copy

import gast

from s2sad.analysis import effects as E
from s2sad.analysis.distinct import Distinct
from s2sad.analysis.liveness import Liveness
from s2sad.analysis.shapes import Shapes
from s2sad.lang import tree as T
from s2sad.lang.routines import called
from s2sad.lang.types import Type, is_array
from s2sad.transforms.slice import groups_of


def independent(
    s: gast.For, body: list[gast.stmt], names: dict[str, Type], private: frozenset[str], whole: list[gast.stmt], shapes: Shapes,
    distinct: Distinct, counters: frozenset[str] = frozenset(),
) -> bool:
    """Whether the trips of a reverse loop may run in any order.

    Args:
        s: the loop of the primal (a `for` over a range that always runs to its end).
        body: the body of its reverse.
        names: the types of names.
        private: arrays that every trip leaves as zeros (adjoints) or overwrites before it reads them (primal values).
        whole: the statements around, for what shares memory.
        shapes: the shapes of the arrays.
        distinct: which subscripts differ from trip to trip.
        counters: ints that count in the order of the primal.

    >>> from s2sad.lang.types import Array
    >>> names = {"x_bar": Array("float64", 1), "u_bar": Array("float64", 1), "v_bar": Array("float64", 1)}
    >>> loop = T.stmts("for i in range(n): pass")[0]
    >>> body = T.stmts("w = u_bar[i]\\nu_bar[i] = 0.0\\nx_bar[i - 1] += w\\nx_bar[i] += w")
    >>> shapes = Shapes(names, {}, {}, frozenset(), frozenset())
    >>> distinct = Distinct(shapes, {"i": [loop]}, {})
    >>> independent(loop, body, names, frozenset(), body, shapes, distinct)
    True
    >>> independent(loop, T.stmts("w = v_bar[i]\\nv_bar[i] = 0.0\\nv_bar[i - 1] += w"), names, frozenset(), [], shapes, distinct)
    False
    """
    v = s.target.id
    if any(called(x, names) is not None for x in E.walk(body)):
        return False  # its two sweeps run in opposite orders
    groups = groups_of([*whole, *body], names)
    changed = E.bound(body, names).union(*(groups.get(n, (n,)) for n in E.written(body, names)))
    if v in changed or any(isinstance(n, gast.Call) and isinstance(n.func, gast.Attribute) and n.func.attr in ("pop", "append")
                           for x in body for n in gast.walk(x)):
        return False
    live = Liveness(names, groups, shapes, alive={id(x) for x in E.walk(body)})
    found = {n for n, key in live.block(body, frozenset()) if key != "shape"}
    return all(n not in found or n in counters or free(n, v, body, names, private, groups, distinct) for n in changed)


def free(n: str, v: str, body: list[gast.stmt], names: dict[str, Type], private: frozenset[str], groups: dict[str, frozenset[str]],
         distinct: Distinct) -> bool:
    """Whether one changed name, of which a trip finds a value, ties no two trips together."""
    group = groups.get(n, frozenset((n,)))
    if not is_array(names.get(n)):
        return only_summed(frozenset((n,)), body)
    if group <= private or only_summed(group, body):
        return True
    return len(group) == 1 and own_elements(n, v, body, distinct)


def only_summed(group: frozenset[str], body: list[gast.stmt]) -> bool:
    """Whether names are changed by sums only, and read nowhere else (making a view of them is not reading)."""
    for s in E.walk(body):
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) and s.targets[0].id in group:
            if isinstance(s.value, gast.Subscript) and T.base_name(s.value) in group and not T.all_names([s.value.slice]) & group:
                continue
            return False
        for node, summed in parts(s):
            if summed and isinstance(node, gast.Name) and node.id in group:
                continue
            if summed and isinstance(node, gast.Subscript) and T.base_name(node) in group:
                if T.all_names([node.slice]) & group:
                    return False
                continue
            if T.all_names([node]) & group:
                return False
    return True


def parts(s: gast.stmt) -> list[tuple[gast.AST, bool]]:
    """The expressions of one statement; True for the target of a sum."""
    if isinstance(s, gast.AugAssign):
        return [(s.target, isinstance(s.op, (gast.Add, gast.Sub))), (s.value, False)]
    if isinstance(s, gast.Expr) and isinstance(s.value, gast.Call) and T.dotted(s.value.func) in ("add_at", "add_mask"):
        return [(s.value.args[0], True), *((a, False) for a in s.value.args[1:])]
    if isinstance(s, gast.Assign):
        return [(s.targets[0], False), (s.value, False)]
    if isinstance(s, gast.If):
        return [(s.test, False)]
    if isinstance(s, gast.For):
        return [(s.iter, False)]
    return [] if isinstance(s, (T.Comment, T.Blank, gast.Pass)) else [(s, False)]


def own_elements(n: str, v: str, body: list[gast.stmt], distinct: Distinct) -> bool:
    """Whether every access to an array has the loop variable (plus or minus one literal) on one axis: elements of the trip's own."""
    keys = []
    for s in body:
        inside = 0
        for node in gast.walk(s):
            if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name) and node.value.id == n:
                index = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
                if any(isinstance(i, gast.Constant) and not isinstance(i.value, int) for i in index):
                    return False  # None or ...: positions are not axes
                keys.append([T.dump(i) for i in index])
                inside += 1
            elif isinstance(node, gast.Attribute) and node.attr in E.META and isinstance(node.value, gast.Name) and node.value.id == n:
                inside += 1
        if inside != sum(isinstance(node, gast.Name) and node.id == n for node in gast.walk(s)):
            return False
    if not keys:
        return False
    return any(all(len(k) > axis and k[axis] == keys[0][axis] for k in keys) and distinct.element(n, axis, keys[0][axis], v)
               for axis in range(len(keys[0])))


def forwards(s: gast.For, body: list[gast.stmt]) -> gast.stmt:
    """The reverse loop in the primal's order."""
    return gast.For(T.store(s.target.id), copy.deepcopy(s.iter), body, [], None)
