"""The programs of an equation's derivatives, as far as it has them."""

from __future__ import annotations

import functools as ft
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from functx._core.jax_compat import JaxprEqn, Literal
from functx._transforms.programs.interpreting import bind
from functx._transforms.programs.walking import type_of


def derivative_programs(eqn: JaxprEqn) -> Iterator[Any]:
    """The programs that forward mode and reverse mode record of an equation with own rules.

    A mode for which the equation has no rule is left out.
    """
    atoms = [*dict.fromkeys(x for x in eqn.invars if not isinstance(x, Literal))]
    moving = [i for i, x in enumerate(atoms) if jnp.issubdtype(type_of(x).dtype, jnp.inexact)]
    specs = [_spec(x) for x in atoms]

    def at(values: Sequence[Any], moved: Sequence[Any]) -> list[Any]:
        given = dict(zip(moving, moved, strict=True))
        operands = {x: given.get(i, values[i]) for i, x in enumerate(atoms)}
        return _inexact(eqn, operands)

    def forward(values: Sequence[Any], tangents: Sequence[Any]) -> Any:
        return jax.jvp(ft.partial(at, values), ([values[i] for i in moving],), (tangents,))

    def reverse(values: Sequence[Any], cotangents: Sequence[Any]) -> Any:
        results, pull = jax.vjp(ft.partial(at, values), [values[i] for i in moving])
        return results, pull(cotangents)

    tangents = [specs[i] for i in moving]
    cotangents = [_spec(x) for x in eqn.outvars if jnp.issubdtype(type_of(x).dtype, jnp.inexact)]
    modes = [(forward, tangents), (reverse, cotangents)]
    if eqn.primitive.name == "custom_vjp_call":  # JAX records its forward mode without its rule
        modes = modes[1:]
    found = 0
    for mode, given in modes:
        try:
            program = jax.make_jaxpr(mode)(specs, given)
        except Exception:  # no rule for this mode, or one that refuses
            continue
        found += 1
        yield program
    if not found:
        raise NotImplementedError("no derivative was recorded")


def _spec(x: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(type_of(x).shape, type_of(x).dtype)


def _inexact(eqn: JaxprEqn, values: Mapping[Any, Any]) -> list[Any]:
    """The results of an equation that have derivatives, at values for its variables."""
    results = bind(eqn, [x.val if isinstance(x, Literal) else values[x] for x in eqn.invars])
    return [y for y in results if y is not None and jnp.issubdtype(y.dtype, jnp.inexact)]
