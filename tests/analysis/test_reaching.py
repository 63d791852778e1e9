from s2sad.analysis.reaching import reaching
from s2sad.lang import tree as T
from s2sad.lang.tree import Function


def at_return(text, name, params=("x", "n")):
    """Texts of the bindings of a name that reach the return (`entry` for a parameter)."""
    import ast

    import gast

    f = Function("f", params, tuple(T.stmts(text + "\nreturn 0")))
    flow = reaching(f)
    known = {}

    def walk(body):
        for s in body:
            head = f"for {s.target.id}" if isinstance(s, gast.For) else "" if isinstance(s, (gast.If, gast.While)) else \
                ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(gast.Module([s], []))))
            known[id(s)] = head
            for block in ("body", "orelse"):
                walk(getattr(s, block, []))

    walk(f.body)
    return sorted("entry" if d is None else known[d] for _, d in flow.of(f.body[-1], name))


def test_straight_line():
    assert at_return("x = 1\nx = 2", "x") == ["x = 2"]
    assert at_return("y = 1", "x") == ["entry"]
    assert at_return("x[0] = 1", "x") == ["entry"]


def test_branches():
    assert at_return("if n:\n    x = 1\nelse:\n    x = 2", "x") == ["x = 1", "x = 2"]
    assert at_return("if n:\n    x = 1", "x") == ["entry", "x = 1"]


def test_loops():
    assert at_return("for i in range(n):\n    x = x + i", "x") == ["entry", "x = x + i"]
    assert at_return("for i in range(n):\n    pass", "i") == ["for i"]
    assert at_return("while n > 0:\n    n = n - 1\n    x = n\n    x = 2", "x") == ["entry", "x = 2"]


def test_break():
    body = "while True:\n    x = 1\n    if n:\n        break\n    x = 2"
    assert at_return(body, "x") == ["x = 1"]
    assert at_return("for i in range(n):\n    x = 1\n    if n:\n        x = 3\n        break\n    x = 2", "x") == ["entry", "x = 2", "x = 3"]
    assert at_return("for i in range(n):\n    x = 1\n    if n:\n        continue\n    x = 2", "x") == ["entry", "x = 1", "x = 2"]
    assert at_return("for i in range(n):\n    x = 1\n    if n:\n        break\nelse:\n    x = 2", "x") == ["x = 1", "x = 2"]


def test_unreachable_code_is_left_out():
    assert at_return("if n:\n    x = 1\n    raise ValueError('no')", "x") == ["entry"]


def test_a_while_test_sees_every_trip():
    f = Function("f", ("x",), tuple(T.stmts("while x < 9:\n    x = 2 * x\nreturn x")))
    flow = reaching(f)
    assert {d for _, d in flow.of(f.body[0], "x")} == {None, id(f.body[0].body[0])}
    assert flow.of(f.body[0].body[0], "x") == flow.of(f.body[0], "x")
    assert flow.end == {}
