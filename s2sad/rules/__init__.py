"""Derivative rules and result types of library functions.

    known(name)                          whether there is a rule
    canonical(obj)                       the canonical name of a NumPy, math or builtin object
    lookup(name, types)                  the Rule for arguments of these types
    bind(rule, args, keywords)           the expression of every parameter
    result_type(name, types, static)     the type of the result, in NumPy 2's terms
    operator_type(name, types, static)   the same for `a + b` and kin, which keep Python numbers weak
    legal(name, types, static)           what to call instead where Numba lacks this form or gets it wrong
    literal_power(n)                     the rule of `x ** n` for a literal n
    instead_of(name)                     what to write instead where there is no rule

`types` are the types of the parameters in the row's order (`np.sum`: a, axis, keepdims), None (or missing at the end) for those that the
call leaves out; a tuple of arrays is one `Tuple`. `static` gives the values of literal arguments by parameter name.
"""

from __future__ import annotations

from s2sad.rules import creation, pointwise, products, reductions, scalar_math, shaping, sorting
from s2sad.rules.forms import RUNTIME, TABLE, Rule, RuleError, bind
from s2sad.rules.instead import instead_of
from s2sad.rules.names import canonical, known
from s2sad.rules.numba_forms import legal
from s2sad.rules.result import operator_type, result_type
from s2sad.rules.select import literal_power, lookup

CHAPTERS = (pointwise, scalar_math, reductions, products, shaping, sorting, creation)

__all__ = [
    "TABLE",
    "Rule",
    "RuleError",
    "bind",
    "canonical",
    "instead_of",
    "known",
    "legal",
    "literal_power",
    "lookup",
    "operator_type",
    "result_type",
    "runtime_names",
]


def runtime_names() -> frozenset[str]:
    """Names that a partial may use and that emitted code imports from `s2sad.runtime`."""
    return RUNTIME
