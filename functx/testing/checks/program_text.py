"""A program as text: two programs with one text do the same."""

from __future__ import annotations

import itertools
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal

from functx._core.rules.function_primitives import function_call


_PLACE = re.compile(r" at 0x[0-9a-f]+")  # of a function in memory


def text_of(program: ClosedJaxpr) -> list[str]:
    """A program's equations; what it calls as a whole stands in the place of the call.

    The operands of a call are in the order in which its arguments were given. Of a function with
    rules of its own, what it computes is there, and its name.
    """
    numbers = itertools.count()
    names = {id(v): f"v{next(numbers)}" for v in program.jaxpr.invars}
    takes = [f"takes {', '.join(str(v.aval) for v in program.jaxpr.invars)}"]
    lines = list(_lines(program, names, numbers))
    return [*takes, *lines, f"returns {', '.join(_read(program.jaxpr.outvars, names))}"]


def _lines(program: ClosedJaxpr, names: dict[int, str], numbers: Iterator[int]) -> Iterator[str]:
    consts = zip(program.jaxpr.constvars, program.consts, strict=True)
    names.update((id(v), _constant(const)) for v, const in consts)
    for eqn in program.jaxpr.eqns:
        operands, inner = _read(eqn.invars, names), _called(eqn)
        types = ", ".join(str(v.aval) for v in eqn.outvars)
        if inner is None or eqn.primitive is function_call:
            params = _PLACE.sub("", str(eqn.params))
            yield f"{types} = {eqn.primitive.name}{params}({', '.join(operands)})"
        if inner is None:
            names.update((id(v), f"v{next(numbers)}") for v in eqn.outvars)
        else:
            within = dict(zip(map(id, inner.jaxpr.invars), operands, strict=True))
            yield from _lines(inner, within, numbers)
            names.update(zip(map(id, eqn.outvars), _read(inner.jaxpr.outvars, within), strict=True))


def _called(eqn: Any) -> ClosedJaxpr | None:
    """The program that an equation stands for."""
    if eqn.primitive is function_call:
        return eqn.params["call"].trace(*(x.aval for x in eqn.invars))
    inner = eqn.params.get("jaxpr") if eqn.primitive.name in ("jit", "pjit") else None
    return inner if isinstance(inner, ClosedJaxpr) else None


def _read(atoms: Sequence[Any], names: Mapping[int, str]) -> list[str]:
    return [_constant(x.val) if isinstance(x, Literal) else names[id(x)] for x in atoms]


def _constant(value: Any) -> str:
    if jnp.issubdtype(jax.typeof(value).dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    value = np.asarray(value)
    if value.ndim == 0:
        return str(value)
    return f"{value.dtype}{list(value.shape)}:{zlib.crc32(value.tobytes())}"
