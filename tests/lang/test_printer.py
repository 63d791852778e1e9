import gast
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2sad.analysis.verify import canonical
from s2sad.lang.printer import WIDTH, function_source, to_source
from s2sad.lang.tree import Blank, Comment, const, name

NAMES = st.sampled_from(["x", "y_bar", "u", "a_rather_long_name_of_an_array"]).map(name)
NUMBERS = st.one_of(st.integers(-9, 9), st.floats(allow_nan=True), st.booleans()).map(const)
BINARY = [gast.Add, gast.Sub, gast.Mult, gast.Div, gast.FloorDiv, gast.Mod, gast.Pow, gast.MatMult, gast.BitAnd, gast.BitOr, gast.BitXor, gast.LShift]
COMPARE = [gast.Lt, gast.LtE, gast.Eq, gast.NotEq, gast.Is, gast.IsNot]


def _compound(e):
    pairs = st.lists(st.tuples(st.sampled_from(COMPARE), e), min_size=1, max_size=2)
    optional = st.one_of(st.none(), e)
    slices = st.builds(gast.Slice, optional, optional, optional)
    index = st.one_of(e, slices, st.lists(st.one_of(e, slices), min_size=1, max_size=3).map(lambda elts: gast.Tuple(elts, gast.Load())))
    return st.one_of(
        st.builds(lambda a, op, b: gast.BinOp(a, op(), b), e, st.sampled_from(BINARY), e),
        st.builds(lambda op, a: gast.UnaryOp(op(), a), st.sampled_from([gast.Not, gast.USub, gast.UAdd, gast.Invert]), e),
        st.builds(lambda op, vs: gast.BoolOp(op(), vs), st.sampled_from([gast.And, gast.Or]), st.lists(e, min_size=2, max_size=3)),
        st.builds(lambda a, rest: gast.Compare(a, [op() for op, _ in rest], [b for _, b in rest]), e, pairs),
        st.builds(gast.IfExp, e, e, e),
        st.builds(lambda elts: gast.Tuple(elts, gast.Load()), st.lists(e, max_size=3)),
        st.builds(lambda elts: gast.List(elts, gast.Load()), st.lists(e, max_size=3)),
        st.builds(lambda a: gast.Attribute(a, "T", gast.Load()), e),
        st.builds(lambda a, i: gast.Subscript(a, i, gast.Load()), e, index),
        st.builds(
            lambda f, args, kw: gast.Call(f, args, [gast.keyword("axis", v) for v in kw]), NAMES, st.lists(e, max_size=3), st.lists(e, max_size=1)
        ),
    )


EXPRESSIONS = st.recursive(st.one_of(NAMES, NUMBERS), _compound, max_leaves=25)


@settings(max_examples=300, deadline=None)
@given(EXPRESSIONS)
def test_random_expressions_parse_back_to_their_tree(e):
    for statement in (
        gast.Assign([name("v")], e, None),
        gast.Return(e),
        gast.AugAssign(name("v"), gast.Add(), e),
        gast.If(e, [gast.Pass()], []),
        gast.While(e, [gast.Pass()], []),
        gast.For(name("v"), e, [gast.Return(e)], [], None),
    ):
        text = function_source("f", ["x"], {}, "", [statement])
        assert canonical(gast.parse(text).body[0].body) == canonical([statement]), text


@pytest.mark.parametrize(
    "text",
    [
        "(-3) ** x", "-3 ** x", "x ** -3", "a ** b ** c", "(a ** b) ** c", "a - (b - c)", "a / (b * c)", "-(a * b)", "-a * b", "not (a and b)",
        "(a < b) < c", "a if b else c if d else e", "(a if b else c) if d else e", "a[i, :, ::2]", "a[(i, j), k]", "a[i,]", "a[()]", "3 .real",
        "f((x,))", "f(a, axis=(0, 1))", "(a + b)[1:]", "(not a) == b", "a @ b.T", "x[None, ...]", 'f("it\'s")', "a or b and c", "(a or b) and c",
    ],
)  # fmt: skip
def test_house_style_is_what_one_would_write(text):
    tree = gast.parse(text)
    assert canonical(gast.parse(to_source(tree)).body) == canonical(tree.body)
    assert to_source(tree).strip() == text


def test_a_negative_literal_keeps_its_value_under_a_power():
    power = gast.BinOp(const(-3), gast.Pow(), name("x"))
    assert to_source(power) == "(-3) ** x\n"
    assert to_source(const(-0.0)) == "-0.0\n"
    assert to_source(gast.BinOp(const(float("-inf")), gast.Add(), const(float("nan")))) == "-np.inf + np.nan\n"


def test_long_lines_break_at_the_outermost_sum():
    text = "u[i] = un[i] - c * un[i] * (un[i] - un[i - 1]) + nu * (un[i + 1] - 2.0 * un[i] + un[i - 1]) * scale"
    assert to_source(gast.parse(text)) == (
        "u[i] = (\n    un[i] - c * un[i] * (un[i] - un[i - 1])\n    + nu * (un[i + 1] - 2.0 * un[i] + un[i - 1]) * scale\n)\n"
    )


def test_long_lines_break_inside_call_brackets():
    text = f"y = w_bar * np.sum({'a_long_name_of_an_array * ' * 4}x, axis=0)"
    lines = to_source(gast.parse(text)).splitlines()
    assert lines[0] == "y = w_bar * np.sum(" and lines[-1] == ")"
    assert all(len(line) <= WIDTH for line in lines)


def test_lines_within_a_function_are_not_too_long():
    body = gast.parse("for i in range(n):\n    if a:\n        y = " + " + ".join(f"term_{k} * w" for k in range(20))).body
    assert all(len(line) <= WIDTH for line in function_source("f", ["n"], {}, "", body).splitlines())


def test_comments_and_blank_lines_are_statements():
    body = [gast.parse("if a:\n    x = 1").body[0]]
    body[0].body.insert(0, Comment("x = one"))
    body[0].orelse = [Comment("nothing to reverse")]
    text = to_source([*body, Blank(), gast.Return(name("x"))])
    assert text == "if a:\n    # x = one\n    x = 1\nelse:\n    # nothing to reverse\n    pass\n\nreturn x\n"


def test_elif_and_compound_statements():
    text = "while n > 0:\n    if a:\n        n -= 1\n"
    text += '    elif b:\n        raise ValueError("no")\n    else:\n        break\nelse:\n    pass\nassert n, "n"\n'
    assert to_source(gast.parse(text)) == text


def test_many_parameters_are_split():
    params = [f"parameter_{k}" for k in range(12)] + ["out_bar"]
    text = function_source("f", params, {"out_bar": 1.0}, "Sum.", [gast.Return(name("x"))])
    assert text.startswith("def f(\n    parameter_0,\n") and "    out_bar=1.0,\n):\n" in text
    assert all(len(line) <= WIDTH for line in text.splitlines())


@pytest.mark.parametrize("text", ["[i for i in x]", "lambda: 0", "f(*a)", "{1: 2}", "with a: pass", "def f():\n    def g(): pass"])
def test_what_is_outside_the_language_is_not_printed(text):
    with pytest.raises(TypeError, match="not printed"):
        to_source(gast.parse(text))
