"""Tests and bounds whose names change in their branches or body get a name of their own, so that they can be read again later.

>>> import ast, gast
>>> from s2sad.lang import tree as T
>>> f = settle(T.Function("f", ("y",), tuple(T.stmts("if y > 0.0:\\n    y = y * y\\nreturn y"))))
>>> print("\\n".join(ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(s))) for s in f.body))
test = y > 0.0
if test:
    y = y * y
return y
"""

from __future__ import annotations

import gast

from s2sad.lang import tree as T
from s2sad.transforms.normalize import changes_list, used_names


def settle(function: T.Function) -> T.Function:
    """The function with the tests of branches and the bounds of loops safe from what they control."""
    return function.with_body(_Settle(T.Fresh(used_names(function))).block(list(function.body)))


class _Settle:
    def __init__(self, fresh: T.Fresh):
        self.fresh = fresh

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        new: list[gast.stmt] = []
        for s in body:
            if isinstance(s, gast.If):
                test = s.test
                if not isinstance(s.body[0], gast.Break) and disturbed(test, [*s.body, *s.orelse]):
                    test = self.named("test", test, new)
                new.append(T.at(gast.If(test, self.block(s.body), self.block(s.orelse)), s))
            elif isinstance(s, gast.For):
                wishes = ("stop",) if len(s.iter.args) == 1 else ("start", "stop", "step")
                inside = [*s.body, gast.Assign([s.target], T.const(0), None)]
                args = [self.named(w, a, new) if disturbed(a, inside) else a for w, a in zip(wishes, s.iter.args, strict=False)]
                iterator = T.at(gast.Call(s.iter.func, args, []), s.iter)
                new.append(T.at(gast.For(s.target, iterator, self.block(s.body), [], None), s))
            elif isinstance(s, gast.While):
                new.append(T.at(gast.While(s.test, self.block(s.body), []), s))
            else:
                new.append(s)
        return new

    def named(self, wish: str, e: gast.expr, new: list[gast.stmt]) -> gast.expr:
        name = self.fresh(wish)
        new.append(T.at(gast.Assign([T.store(name)], e, None), e))
        return T.at(T.name(name), e)


def disturbed(e: gast.expr, body: list[gast.stmt]) -> bool:
    """Whether statements rebind a name that the expression reads, or write into an array whose elements it reads."""
    written = {T.base_name(n) for s in body for n in gast.walk(s) if isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store)}
    changed = {T.base_name(n.func.value) for s in body for n in gast.walk(s) if changes_list(n)}
    return bool(T.loads(e) & (T.stores(body) | changed) or _elements_read(e) & written)


def _elements_read(e: gast.AST) -> set[str]:
    """Names that an expression reads otherwise than for their shape."""
    if isinstance(e, gast.Attribute) and e.attr in ("shape", "size", "ndim") and isinstance(e.value, gast.Name):
        return set()
    if isinstance(e, gast.Call) and T.dotted(e.func) == "len" and isinstance(e.args[0], gast.Name):
        return set()
    if isinstance(e, gast.Name):
        return {e.id}
    return {n for child in gast.iter_child_nodes(e) for n in _elements_read(child)}
