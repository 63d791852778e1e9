"""Effects, views, aliases, shapes, liveness, activity and to-be-recorded, each on small programs."""

import numpy as np
import pytest

from s2sad.analysis import activity, aliases, distinct, effects, shapes, tbr, views
from s2sad.analysis.liveness import Liveness, patterns
from s2sad.lang import tree as T
from s2sad.lang.types import WEAK_INT, Array, Tuple
from s2sad.rules import TABLE, bind, lookup, result_type
from s2sad.rules.names import METHODS, resolve
from s2sad.transforms.example import program

VECTOR, MATRIX, ANY = Array("float64", 1), Array("float64", 2), Array("float64", 2, "A")
NAMES = {"a": VECTOR, "b": VECTOR, "m": MATRIX, "any": ANY, "p": Array("int64", 1)}


# -- effects ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reads", "metas", "binds", "writes"),
    [
        ("y = a[i] + len(b)", "a i", "b", "y", ""),
        ("a[i] = y", "i y", "", "", "a"),
        ("a[i] += y", "a i y", "", "", "a"),
        ("a += y", "a y", "", "", "a"),
        ("y += 1.0", "y", "", "y", ""),
        ("a = np.zeros_like(b)", "", "b", "a", ""),
        ("add_at(a, p, y)", "a p y", "", "", "a"),
        ("s.append(y)", "s y", "", "", "s"),
        ("y = s.pop()", "s", "", "y", "s"),
        ("for i in range(len(a)): pass", "", "a", "i", ""),
        ("if a[0] > y: pass", "a y", "", "", ""),
        ("return a.shape[0] * y", "y", "a", "", ""),
    ],
)
def test_effects(text, reads, metas, binds, writes):
    e = effects.effects(T.stmts(text)[0], NAMES)
    reads = set(reads.split())
    assert (e.reads - {"range"}, e.metas, e.binds, e.writes) == (reads, set(metas.split()), set(binds.split()), set(writes.split()))


# -- views ------------------------------------------------------------------------------------------


def sharing(name):
    """Whether a library function may return its argument's memory, for arguments that its rule takes."""
    for x in (np.full((2, 2), 0.5), np.asfortranarray(np.full((2, 2), 0.5)), np.full(4, 0.5)):
        for extra in ((), (0,), (1,), (0, 1), ((2, 2),), ((4,),)):
            types = [Array("float64", x.ndim), *(Tuple((WEAK_INT,) * len(e)) if isinstance(e, tuple) else WEAK_INT for e in extra)]
            try:
                rule = lookup(name, types)
                bind(rule, [T.expr("x"), *map(T.const, extra)], {})
                result_type(name, types, dict(zip(rule.params[1:], extra, strict=False)))
                y = resolve(name)(x, *extra)
            except (TypeError, ValueError, IndexError, AttributeError):
                continue
            if isinstance(y, np.ndarray) and np.shares_memory(x, y):
                return True
    return False


def test_every_function_that_shares_memory_is_known_to():
    with np.errstate(all="ignore"):
        found = {name for name in TABLE if name not in METHODS and sharing(name)}
    assert found and found <= {*views.SURE, *views.PERHAPS}


@pytest.mark.parametrize(
    ("text", "base", "copies"),
    [
        ("a", "a", False), ("a[1:]", "a", False), ("a[p]", None, False), ("a[0]", None, False), ("m[0]", "m", False), ("m.T[0]", "m", False),
        ("a * 2.0", None, False), ("a.copy()", None, False), ("np.ravel(m)", "m", False),
        ("np.ravel(any)", "any", True), ("np.ravel(m.T)", "m", True),
        ("np.diag(m)", "m", True), ("np.diag(a)", None, True), ("np.flip(a)", "a", False),
    ],
)  # fmt: skip
def test_views(text, base, copies):
    e = T.expr(text)
    assert views.view_base(e, NAMES) == base
    assert base is None or views.may_copy(e, NAMES) == copies


# -- aliases ----------------------------------------------------------------------------------------


def test_a_name_bound_in_a_branch_and_used_after_it_is_unstable():
    f = program("if n > 0:\n    y = 2.0 * x\nelse:\n    y = x\nreturn y[0]", "x: f8[:]; n: i8")
    assert aliases.analyse(f).unstable == {"y"}


def test_views_in_loops_keep_their_owner():
    f = program("for i in range(n):\n    r = x[i]\n    t = r[1:]\n    t[0] = 1.0\nreturn x[0, 0]", "x: f8[:, :]; n: i8")
    found = aliases.analyse(f)
    assert set(found.views) == {"r", "t"} and found.owner("t") == "x" and found.is_written("x") and not found.unstable


def test_what_may_be_a_copy_or_repeats_entries_is_no_view():
    f = program("u = x * 2.0\nv = np.ravel(u)\nw = np.broadcast_to(u, (2, 3, 3))\nt = np.ravel(u.T)\nreturn v[0] + t[0] + w[0, 0, 0]", "x: f8[:, :]")
    found = aliases.analyse(f)
    assert {"w", "t"} <= found.unstable and "t" in found.may_views


CONFLICTS = [
    ("w = u\nfor i in range(n):\n    w = 2.0 * w\nu[0] = 1.0\nreturn w[0]", {("u", "w")}),
    ("w = u\nfor i in range(n):\n    w = 2.0 * w\nu[0] = 1.0\nreturn u[0]", set()),
    ("w = u\nu[0] = 1.0\nreturn w[0]", set()),  # one buffer under two names for good
    ("w = x\nfor i in range(n):\n    w = u\n    u[0] = 1.0\nreturn w[0]", {("u", "w")}),
    ("w = x\nfor i in range(n):\n    w = u.copy()\n    u[0] = 1.0\nreturn w[0]", set()),
    ("w = x\nfor i in range(n):\n    t = w\n    w = u\n    u = t\nu[0] = 1.0\nreturn w[0]", set()),  # a swap
]


@pytest.mark.parametrize(("text", "want"), CONFLICTS)
def test_conflicts(text, want):
    f = program(f"u = x.copy()\n{text}", "x: f8[:]; n: i8")
    found = {(written, other) for _, written, other, _ in aliases.conflicts(f, aliases.analyse(f))}
    assert found <= want and bool(found) == bool(want)


# -- shapes -----------------------------------------------------------------------------------------


def dims(text, types="x: f8[:]; n: i8"):
    f = program(text, types)
    return shapes.analyse(f, aliases.analyse(f))


def test_shapes_follow_lengths_and_allocations():
    s = dims("k = len(x)\na = np.zeros(k)\nb = np.zeros((n, k))\nc = b.T\nd = b[0] + a\ne = x[1:]\nreturn d[0] + c[0, 0] + e[0]")
    assert s.dims["a"] == ("x.shape[0]",) and s.dims["b"] == ("n", "x.shape[0]") and s.dims["c"] == ("x.shape[0]", "n")
    assert s.dims["d"] == ("x.shape[0]",)
    assert s.same(T.expr("a"), T.expr("x")) and not s.same(T.expr("e"), T.expr("x"))


def test_shapes_that_differ_between_trips_or_branches_are_not_the_same():
    s = dims("y = x\nfor i in range(n):\n    y = y[1:] * 2.0\nreturn y[0]")
    assert s.dims["y"] is None
    s = dims("if n > 0:\n    y = x * 2.0\nelse:\n    y = np.zeros(n)\nreturn y[0]")
    assert s.dims["y"] is None
    s = dims("s = 0.0\nfor i in range(n):\n    y = x[:i] * 2.0\n    z = y * y\n    s += z[0]\nreturn s")
    assert any("~" in axis for axis in s.dims["y"] or ("~",)) and not s.same(T.expr("y"), T.expr("x"))


def test_broadcasting_is_no_known_shape():
    s = dims("y = x + z\nreturn y[0]", "x: f8[:]; z: f8[:]")
    assert not s.same(T.expr("y"), T.expr("x"))


# -- liveness ---------------------------------------------------------------------------------------


def needed(text, types="x: f8[:]; n: i8; p: i8[:]"):
    """The statements that the result needs, by number."""
    f = program(text, types)
    a = aliases.analyse(f)
    live = Liveness(f.names, a.groups, shapes.analyse(f, a))
    live.block(f.body, frozenset())
    return [k for k, s in enumerate(effects.walk(f.body)) if id(s) in live.alive]


def test_writes_that_cover_an_array_end_its_needs():
    assert needed("u = x.copy()\nu[0] = 2.0\nfor i in range(len(u)):\n    u[i] = x[i] * 2.0\nreturn u[0]") == [0, 2, 3, 4]
    assert needed("u = x.copy()\nu[0] = 2.0\nfor i in range(1, len(u)):\n    u[i] = x[i] * 2.0\nreturn u[0]") == [0, 1, 2, 3, 4]
    assert needed("u = x.copy()\nu[0] = 2.0\nfor i in range(len(u)):\n    if n > 0:\n        u[i] = x[i]\nreturn u[0]") == [0, 1, 2, 3, 4, 5]


def test_an_element_is_known_by_its_subscript_as_long_as_that_does_not_change():
    assert needed("u = x.copy()\nu[n] = 1.0\nu[n] = 2.0\nreturn u[n]") == [0, 2, 3]
    assert needed("u = x.copy()\nk = n\nu[k] = 1.0\nk = k + 1\nu[k] = 2.0\nreturn u[n]") == [0, 1, 2, 3, 4, 5]
    assert needed("u = x.copy()\nq = p.copy()\nu[1] = 1.0\nq[0] = 0\nu[q[0]] = 2.0\nq[0] = 1\nreturn u[q[0]]") == [0, 1, 2, 3, 4, 5, 6]


def test_covered_patterns():
    f = program("u = np.zeros((n, n))\nfor i in range(n):\n    for j in range(n):\n        u[i, j] = x[i]\nreturn u[0, 0]", "x: f8[:]; n: i8")
    s = shapes.analyse(f, aliases.analyse(f))
    assert ("u", ("*", "*")) in patterns([f.body[1]], s)
    f = program("u = np.zeros((n, n))\nfor i in range(n):\n    for j in range(i):\n        u[i, j] = x[i]\nreturn u[0, 0]", "x: f8[:]; n: i8")
    assert ("u", ("*", "*")) not in patterns([f.body[1]], shapes.analyse(f, aliases.analyse(f)))


# -- activity ---------------------------------------------------------------------------------------


def active(text, wrt=("x",), types="x: f8[:]; n: i8"):
    f = program(text, types)
    return activity.active(f, aliases.analyse(f), wrt)


def test_active_is_varied_and_useful():
    assert active("y = x * 2.0\nz = y * y\nu = np.zeros(n)\nv = u * 3.0\nreturn np.sum(y * v)") == {"x", "y"}
    assert active("y = np.floor(x)\nreturn np.sum(y)") == set()
    assert active("k = 0\nfor i in range(n):\n    k = int(x[i])\nreturn x[k]") == {"x"}
    assert active("u = np.zeros(n)\nv = u[1:]\nv[0] = x[0]\nreturn u[1]") == {"x", "u"}


def test_adjoints_end_where_a_name_is_bound_anew():
    f = program("y = x[0]\ns = y * y\ny = x[1]\nreturn s * y")
    a = aliases.analyse(f)
    before, after = activity.live_adjoints(f, a, activity.active(f, a, ("x",)))
    assert before[id(f.body[2])] == {"s", "x"} and after[id(f.body[2])] == {"s", "y"}
    assert before[id(f.body[0])] == {"x"}


# -- to be recorded ---------------------------------------------------------------------------------


def lost(text, needs, types="x: f8[:]; n: i8"):
    """Numbers of the statements whose old contents must be kept; `needs`: number of a statement -> (element or None, ...) of u."""
    f = program(text, types)
    a = aliases.analyse(f)
    order = list(effects.walk(f.body))

    def of(s):
        k = next(k for k, other in enumerate(order) if other is s)
        return {("u", tbr.element(T.expr(e), f.names["u"]) if e else None) for e in needs.get(k, ())}, set()

    sizes = shapes.analyse(f, a)
    found = tbr.recorded(list(f.body), of, a, sizes, distinct.analyse(f.body, f.params, sizes))
    return [k for k, s in enumerate(order) if id(s) in found]


def test_only_writes_that_destroy_what_is_needed():
    assert lost("u = x.copy()\ns = u[0] * 2.0\nu[1] = s\nu[0] = s\nreturn u[0]", {1: ["0"]}) == [3]
    assert lost("u = x.copy()\ns = u[n] * 2.0\nu[1] = s\nreturn u[0]", {1: ["n"]}) == [2]
    assert lost("u = x.copy()\nu[0] = 1.0\ns = u[0]\nreturn s", {2: ["0"]}) == []
    assert lost("u = x.copy()\nv = u[1:]\ns = u[0]\nv[0] = s\nreturn s", {2: ["0"]}) == [3]


def test_once_destroyed_in_whole_an_array_is_needed_no_more():
    assert lost("u = x.copy()\ns = u[0]\nu[:] = s\nu[0] = 2.0\nreturn u[0]", {1: [None]}) == [2]


def test_elements_of_other_trips_are_other_elements():
    body = "u = x.copy()\nfor i in range(n):\n    s = u[i] * 2.0\n    u[i] = s\nreturn u[0]"
    assert lost(body, {2: ["i"]}) == [3]
    body = "u = x.copy()\nv = x.copy()\nfor i in range(n):\n    s = u[i] * 2.0\n    v[i] = s\nu[0] = 1.0\nreturn u[0]"
    assert lost(body, {3: ["i"]}) == [5]
    body = "u = x.copy()\nfor i in range(1, n):\n    u[i] = 2.0\n    s = u[i] * u[i]\nreturn u[0]"
    assert lost(body, {3: ["i"]}) == []
    body = "u = x.copy()\nfor i in range({}):\n    u[i - 1] = 2.0\n    s = u[i - 1] * u[i - 1]\nreturn u[0]"
    assert lost(body.format("1, n"), {3: ["i - 1"]}) == []
    assert lost(body.format("n"), {3: ["i - 1"]}) == [2]  # u[-1] may be what a later trip writes
    assert lost(body.format("n, 9"), {3: ["i - 1"]}) == [2]
    assert lost(body.format("len(x)"), {3: ["i - 1"]}) == []  # once round: every element comes once
    assert lost(body.format("len(x) - 1, -1, -1"), {3: ["i - 1"]}) == []
    assert lost(body.format("len(x), 0, -1"), {3: ["i - 1"]}) == []
    assert lost(body.format("len(x), -1, -1"), {3: ["i - 1"]}) == [2]
    body = "u = x.copy()\nfor i in range(1, n):\n    u[i] = 2.0\n    s = u[i - 1]\nreturn u[0]"
    assert lost(body, {3: ["i - 1"]}) == [] or lost(body, {3: ["i - 1"]}) == [2]
