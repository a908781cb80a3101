"""Which equations compute the same of operands of the same types, each by a number."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from functx._core.jax_compat import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from functx._core.rules.function_primitives import function_call, function_tangent
from functx._transforms.programs.walking import own_programs

from .derivatives import derivative_programs


# Up to which order derivatives of functions with own rules are compared; beyond it, who wrote them.
ORDER = 2
_RULED = {"custom_jvp_call", "custom_vjp_call", function_call.name, function_tangent.name}


class EquationNumbers:
    """Numbers of equations: two have one number where they compute the same of their operands.

    Programs inside are compared equation by equation, constants by their values, and functions with
    own derivative rules by the programs of their derivatives. Other functions among parameters are
    the same if they are one object.
    """

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._programs: dict[tuple[int, int], int] = {}
        self._kept: list[Any] = []  # so that no other object takes an identity that is a key

    def number(self, eqn: JaxprEqn, literals: bool = False) -> int:
        """The number of an equation; with `literals`, constants among its operands count."""
        return self._number(self._key(eqn, literals, 0))

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def _key(self, eqn: JaxprEqn, literals: bool, order: int) -> Hashable:
        operands = tuple(map(_type, eqn.invars))
        results = tuple(map(_type, eqn.outvars))
        values = tuple(_value(x.val) for x in eqn.invars if literals and isinstance(x, Literal))
        how = self._rules(eqn, order) if eqn.primitive.name in _RULED else self._params(eqn, order)
        return eqn.primitive.name, how, operands, results, values

    def _params(self, eqn: JaxprEqn, order: int) -> Hashable:
        params = sorted(eqn.params.items())
        return tuple((name, self._param(value, order)) for name, value in params)

    def _param(self, x: Any, order: int) -> Hashable:
        if isinstance(x, (ClosedJaxpr, Jaxpr)):
            return "program", self._program(x, order)
        if isinstance(x, (tuple, list)):
            return type(x), tuple(self._param(y, order) for y in x)
        if isinstance(x, dict):
            return "dict", tuple((str(k), self._param(y, order)) for k, y in sorted(x.items()))
        if isinstance(x, (np.ndarray, np.generic, jax.Array)):
            return self._constant(x)
        try:
            hash(x)
        except TypeError:
            return self._identity(x)
        return type(x), x

    def _identity(self, x: Any) -> Hashable:
        self._kept.append(x)
        return "object", id(x)

    def _constant(self, x: Any) -> Hashable:
        """An array inside a program: by its values if it is small and known, else by itself."""
        known = isinstance(x, (np.ndarray, np.generic, int, float, complex))
        known = known or (isinstance(x, jax.Array) and not isinstance(x, Tracer))
        if not known or np.size(x) > 4096 or _is_key(x):
            return self._identity(x)
        return _value(x)

    def _program(self, program: Any, order: int) -> int:
        """The number of an inner program."""
        at = (id(program), order)
        if at not in self._programs:
            self._kept.append(program)
            self._programs[at] = self._number(self._whole(program, order))
        return self._programs[at]

    def _whole(self, program: Any, order: int) -> Hashable:
        jaxpr = getattr(program, "jaxpr", program)
        consts = getattr(program, "consts", ())
        places: dict[Any, int] = {}
        for x in (*jaxpr.constvars, *jaxpr.invars):
            places[x] = len(places)

        def read(x: Any) -> Hashable:
            return _value(x.val) if isinstance(x, Literal) else places[x]

        lines: list[Hashable] = []
        for eqn in jaxpr.eqns:
            lines.append((self._number(self._key(eqn, False, order)), *map(read, eqn.invars)))
            for x in eqn.outvars:
                places[x] = len(places)
        types = tuple(map(_type, (*jaxpr.constvars, *jaxpr.invars)))
        outputs = tuple(map(read, jaxpr.outvars))
        values = tuple(map(self._constant, consts))
        return "program", types, values, tuple(lines), outputs

    def _rules(self, eqn: JaxprEqn, order: int) -> Hashable:
        """What a function with own rules computes, and its derivatives: they are Python functions.

        One that cannot be recorded here is the same as itself alone.
        """
        try:
            programs = [*_own_programs(eqn)]
            if order < ORDER:
                programs += derivative_programs(eqn)
            numbers = tuple(self._program(x, order + 1) for x in programs)
        except Exception:  # rules are the user's, and may refuse
            return self._identity(eqn)
        given = {k: v for k, v in eqn.params.items() if isinstance(v, (bool, int, str))}
        return "rules", numbers, tuple(sorted(given.items())), _written(eqn)


def _own_programs(eqn: JaxprEqn) -> Iterator[Any]:
    if "call_jaxpr" in eqn.params:
        yield eqn.params["call_jaxpr"]
    yield from own_programs(eqn)


def _written(eqn: JaxprEqn) -> Hashable:
    """Where a function with own rules was written, as far as its parameters say."""
    inner = getattr(eqn.params.get("call_jaxpr"), "jaxpr", None)
    info = getattr(getattr(inner, "debug_info", None), "func_src_info", None)
    return str(info), str(eqn.params.get("call", ""))


def _type(x: Any) -> Hashable:
    """The type of an atom. Whether it is weak matters only where a program is recorded."""
    strip = getattr(x.aval, "strip_weak_type", None)
    return x.aval if strip is None else strip()


def _value(x: Any) -> Hashable:
    x = np.asarray(x)
    return x.shape, x.dtype.name, x.tobytes()


def _is_key(x: Any) -> bool:
    return jax.dtypes.issubdtype(getattr(x, "dtype", None), jax.dtypes.extended)
