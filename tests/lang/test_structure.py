"""Structures of arguments: what is told apart and what is not, names of leaves, what is refused, and back again."""

import dataclasses
import enum
import functools
from collections import OrderedDict, namedtuple

import numpy as np
import pytest

from s2sad.lang import structure as S

Point = namedtuple("Point", "x y")


@dataclasses.dataclass
class Body:
    mass: float
    position: object
    label: str = "b"


@dataclasses.dataclass(frozen=True)
class Fixed:
    a: float


class Slotted:
    __slots__ = ("__hidden", "v")

    def __init__(self, v):
        self.v, self.__hidden = v, 2.0

    @property
    def double(self):
        return 2 * self.v


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def of(value, name="p"):
    return S.describe(name, value)[0]


def names(value, name="p"):
    return [n for n, _ in S.describe(name, value)[1]]


def test_leaves_read_as_the_path_to_them():
    value = Body(1.0, {"k": [np.ones(2), (1, 2.0)], 3: Point(0.5, None), "a b": 4})
    assert names(value, "p") == ["p_mass", "p_position_k_0", "p_position_k_1_0", "p_position_k_1_1", "p_position_3_x", "p_position_a_b"]
    paths = [leaf.path for leaf in S.leaves(of(value))]
    assert paths[1:] == ['p.position["k"][0]', 'p.position["k"][1][0]', 'p.position["k"][1][1]', "p.position[3].x", 'p.position["a b"]']


def test_leaf_names_are_unique_and_no_keywords():
    structures, leaves = S.describe_all([("p", {"a": (1.0,), "a_0": 2.0, "in": {"x": 1.0}}), ("p_a_0", 3.0)])
    assert [n for n, _ in leaves] == ["p_a_0_2", "p_a_0_3", "p_in__x", "p_a_0"]
    assert structures["p_a_0"] == S.Leaf("p_a_0")


def test_values_of_leaves_do_not_count_but_known_values_do():
    assert of(Body(1.0, 2.0)) == of(Body(np.ones(3), 5)) and hash(of(Body(1.0, 2.0))) == hash(of(Body(2.0, 3)))
    assert of(Body(1.0, 2.0)) != of(Body(1.0, 2.0, "c"))
    assert of(Body(1.0, 2.0)) != of(Body(1.0, None))
    assert of({"a": 1.0, "b": 1.0}) != of({"b": 1.0, "a": 1.0})
    assert of({1: 1.0}) != of({True: 1.0})
    assert of((1.0,)) != of([(1.0,)]) and of(Colour.RED) != of(Colour.BLUE) and of(Colour.RED) == of(Colour.RED)
    assert of({"a": 1.0}) != of(OrderedDict(a=1.0))


def test_a_function_made_anew_is_the_same_if_what_it_captures_is():
    def make(k, method="euler", step=0.1):
        def rhs(y, h=step):
            return k * y if method == "euler" else y

        return rhs

    assert of(make(1.0)) == of(make(2.0, step=3.0)) and hash(of(make(1.0))) == hash(of(make(2.0)))
    assert of(make(1.0)) != of(make(1.0, "heun"))
    assert of(make(1.0)) != of(make((1.0, 2.0)))
    assert S.describe("f", make(2.0))[1] == [("f_k", 2.0), ("f_h", 0.1)]
    assert of(lambda y: y) != of(lambda y: y)


def test_partials_and_methods_have_parts():
    partial = functools.partial(pow, 2.0, mod=3)
    assert names(partial) == ["p_0", "p_mod"]
    again = S.rebuild(of(partial), lambda leaf: 7)
    assert (again.func, again.args, again.keywords) == (pow, (7,), {"mod": 7})
    body = Slotted(1.5)
    made = of(functools.partial)
    assert made == S.Known(functools.partial)
    assert S.rebuild(of([body.__init__]), lambda leaf: 1.0)[0].__self__.v == 1.0


@pytest.mark.parametrize(
    "value",
    [
        *[(1.0, [2.0, (3,)]), {"a": 1.0, 2: Point(1.0, None)}, OrderedDict(b=1.0, a="t"), Point(1.0, (2.0,))],
        *[Fixed(1.0), Body(1.0, Fixed(2.0)), (), {}, None, "t"],
    ],
    ids=repr,
)
def test_there_and_back(value):
    structure, leaves = S.describe("p", value)
    numbers = dict(leaves)
    again = S.rebuild(structure, lambda leaf: numbers[leaf.name])
    assert again == value and type(again) is type(value)


def test_attributes_are_those_of_the_object_itself():
    assert set(S.attributes(Slotted(1.0))) == {"v", "_Slotted__hidden"}
    again = S.rebuild(of(Slotted(1.0)), lambda leaf: 3.0)
    assert again.double == 6.0


def test_what_is_reached_twice_is_marked():
    inner = {"w": 1.0}
    a, b = of([inner, inner]).items
    assert a.shared and b.shared
    assert not any(s.shared for s in of([{"w": 1.0}, {"w": 1.0}]).items)
    structures, _ = S.describe_all([("p", inner), ("q", inner)])
    assert structures["p"].shared and structures["q"].shared
    pair = (1.0, 2.0)
    assert not of((pair, pair)).items[0].shared  # nobody can change it


def test_lists_of_numbers_are_one_leaf():
    assert names({"w": [1.0, 2.0], "n": [1, 2]}) == ["p_w", "p_n"]
    assert names({"w": [1.0, None]}) == ["p_w_0"]


@pytest.mark.parametrize(
    "value, text",
    [
        (Body(1.0, {"f": open}), None),
        (Body(1.0, {"f": {1, 2}}), '`p.position["f"]`{of} is a set'),
        (Body(1.0, {1.5: 1.0}), "has the key 1.5"),
        (Body(1.0, iter(())), "is a tuple_iterator"),
        ([[1.0] for _ in range(600)], "more than 500"),
        (object(), "is an object"),
    ],
)
def test_refused_values_are_named_by_their_path(value, text):
    if text is None:
        assert of(value)
        return
    with pytest.raises(S.StructureError) as e:
        of(value)
    assert text in str(e.value)


def test_circles_are_refused():
    a = Body(1.0, None)
    a.position = [a]
    with pytest.raises(S.StructureError, match="p.position"):
        of(a)
    deep = ()
    for _ in range(40):
        deep = (deep, 1.0)
    with pytest.raises(S.StructureError, match="levels deep"):
        of(deep)


def test_functions_and_leaves_within():
    scale = 2.0
    value = Body(1.0, {"act": np.tanh, "f": lambda y: scale * y})
    structure = of(value)
    assert [leaf.name for leaf in S.leaves(structure, data_only=True)] == ["p_mass"]
    assert [leaf.name for leaf in S.leaves(structure)] == ["p_mass", "p_position_f_scale"]
    assert np.tanh in list(S.functions(structure)) and Body in list(S.functions(structure))
