"""Names of tuples become one name for each part: `t = (a, b)` is `t_0 = a` and `t_1 = b`, and `t[1]` is `t_1`.

>>> import ast, gast
>>> from s2sad.lang import tree as T
>>> f = scalar_tuples(T.Function("f", ("n",), tuple(T.stmts("s = (n, 2)\\nx = np.zeros(s)\\nreturn x[s[0] - 1]"))))
>>> print("\\n".join(ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(s))) for s in f.body))
s_0 = n
s_1 = 2
x = np.zeros((s_0, s_1))
return x[s_0 - 1]
"""

from __future__ import annotations

import copy

import gast

from s2sad.errors import refuse
from s2sad.lang import tree as T
from s2sad.transforms.normalize import pruned, used_names


def scalar_tuples(function: T.Function) -> T.Function:
    """The function without names of tuples. Raises UnsupportedError where a tuple's length or an index is not known."""
    lengths = _lengths(function)
    if not lengths:
        return function
    fresh = T.Fresh(used_names(function))
    parts = {n: [fresh(f"{n}_{k}") for k in range(count)] for n, count in lengths.items()}
    body = _Scalars(function, parts, fresh).block(list(function.body))
    return function.with_body(pruned(body))


def _lengths(function: T.Function) -> dict[str, int]:
    """Length of every name that is assigned a tuple, directly or through another such name."""
    assigns = [n for s in function.body for n in gast.walk(s) if isinstance(n, gast.Assign) and isinstance(n.targets[0], gast.Name)]
    found: dict[str, int] = {}
    while True:
        before = len(found)
        for s in assigns:
            target, value = s.targets[0].id, s.value
            if isinstance(value, gast.Tuple):
                count = len(value.elts)
            elif isinstance(value, gast.Name) and value.id in found:
                count = found[value.id]
            else:
                continue
            if found.setdefault(target, count) != count:
                summary = f"`{target}` is a tuple of {found[target]} parts in one place and of {count} in another"
                refuse(function.source, s, "S2S128", summary, "a, b = x, y")
        if len(found) == before:
            break
    for s in assigns:
        if s.targets[0].id in found and not isinstance(s.value, gast.Tuple) and not (isinstance(s.value, gast.Name) and s.value.id in found):
            refuse(function.source, s, "S2S128", f"`{s.targets[0].id}` is a tuple in one place and something else here", "# two names")
    return found


class _Scalars(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, function: T.Function, parts: dict[str, list[str]], fresh: T.Fresh):
        self.function, self.parts, self.fresh = function, parts, fresh

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        new: list[gast.stmt] = []
        for s in body:
            if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) and s.targets[0].id in self.parts:
                new += self.assign(s)
                continue
            s = copy.copy(s)
            for f, value in gast.iter_fields(s):
                if f in ("body", "orelse"):
                    setattr(s, f, self.block(value))
                elif isinstance(value, gast.AST):
                    setattr(s, f, self.visit(copy.deepcopy(value)))
                elif isinstance(value, list):
                    setattr(s, f, [self.visit(copy.deepcopy(v)) for v in value])
            new.append(s)
        return new

    def assign(self, s: gast.Assign) -> list[gast.stmt]:
        names = self.parts[s.targets[0].id]
        if isinstance(s.value, gast.Name):
            values: list[gast.expr] = [T.name(n) for n in self.parts[s.value.id]]
        else:
            values = [self.visit(copy.deepcopy(v)) for v in s.value.elts]
        new: list[gast.stmt] = []
        for k, v in enumerate(values):
            if T.loads(v) & set(names[:k]):
                name = self.fresh(f"{names[k]}_next")
                new.append(T.at(gast.Assign([T.store(name)], v, None), s))
                values[k] = T.name(name)
        return new + [T.at(gast.Assign([T.store(n)], v, None), s) for n, v in zip(names, values, strict=True)]

    def visit_Subscript(self, node: gast.Subscript) -> gast.expr:
        if isinstance(node.value, gast.Name) and node.value.id in self.parts:
            names = self.parts[node.value.id]
            index = node.slice
            sign = 1
            if isinstance(index, gast.UnaryOp) and isinstance(index.op, gast.USub):
                index, sign = index.operand, -1
            k = sign * index.value if isinstance(index, gast.Constant) and type(index.value) is int else None
            if k is None or not -len(names) <= k < len(names) or not isinstance(node.ctx, gast.Load):
                refuse(self.function.source, node, "S2S128", f"The tuple `{node.value.id}` is indexed by something that is not a number in range",
                       "a = np.array([x, y])\na[i]")
            return T.at(T.name(names[k]), node)
        self.generic_visit(node)
        return node

    def visit_Call(self, node: gast.Call) -> gast.expr:
        if T.dotted(node.func) == "len" and isinstance(node.args[0], gast.Name) and node.args[0].id in self.parts:
            return T.at(T.const(len(self.parts[node.args[0].id])), node)
        self.generic_visit(node)
        return node

    def visit_Name(self, node: gast.Name) -> gast.expr:
        if node.id in self.parts:
            return T.at(gast.Tuple([T.name(n) for n in self.parts[node.id]], gast.Load()), node)
        return node
