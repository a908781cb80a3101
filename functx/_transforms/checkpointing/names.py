"""Values with a name, by which a policy knows them; a primitive that does nothing else.

JAX's own, `checkpoint_name`, has no transpose, and shows in programs as a user's name.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.interpreters import ad, batching, mlir

from functx._core.jax_compat import Jaxpr, JaxprEqn, Literal, Var
from functx._core.primitives.by_reference import Primitive
from functx._core.primitives.taylor_mode import along_curves


_named = Primitive("result_name", __name__)
_named.def_impl(lambda x, *, name: x)
_named.def_abstract_eval(lambda x, *, name: x)
mlir.register_lowering(_named, lambda context, x, *, name: [x])
ad.primitive_transposes[_named] = lambda cotangent, x, *, name: [cotangent]


def _jvp(primals: Any, tangents: Any, *, name: str) -> tuple[Any, Any]:
    (x,), (tangent,) = primals, tangents  # which has no name
    return named(x, name), tangent


def _batch(args: Any, dims: Any, *, name: str) -> tuple[Any, Any]:
    (x,), (dim,) = args, dims
    return named(x, name), dim


ad.primitive_jvps[_named] = _jvp
batching.primitive_batchers[_named] = _batch
along_curves(_named)


def named(x: Any, name: str) -> Any:
    """`x`, known by `name`; the two parts of a complex array bear the name.

    JAX rounds what a checkpoint saves with `reduce_precision`, which takes no complex numbers.
    """
    if jnp.iscomplexobj(x):
        return lax.complex(named(lax.real(x), name), named(lax.imag(x), name))
    return _named.bind(x, name=name)


def is_name(primitive: Any) -> bool:
    """Whether the primitive of an equation names its operand."""
    return primitive is _named


def unnamed(x: Any, makers: Mapping[Any, JaxprEqn]) -> Any:
    """The variable that `x` was before it was named, or None; `makers` define variables."""
    maker = makers[x]
    if is_name(maker.primitive):
        return maker.invars[0]
    if maker.primitive.name == "complex":
        parts = [makers.get(part) for part in maker.invars if not isinstance(part, Literal)]
        named_parts = [part.invars[0] for part in parts if part and is_name(part.primitive)]
        if len(named_parts) == 2:
            return makers[named_parts[0]].invars[0]  # that of which they are the parts
    return None


def names_given(jaxpr: Jaxpr) -> Iterator[str]:
    """The names that a program gives to values which it computes itself."""
    computed = {var for eqn in jaxpr.eqns for var in eqn.outvars}
    for eqn in jaxpr.eqns:
        if is_name(eqn.primitive):
            (x,) = eqn.invars
            if not isinstance(x, Literal) and x in computed:
                yield eqn.params["name"]


def naming(before: Var, after: Var, name: str) -> list[JaxprEqn]:
    """Equations that define `after` as `before` by `name`."""
    like: Any = before.aval
    if not jnp.issubdtype(like.dtype, jnp.complexfloating):
        return [_naming(name).replace(invars=[before], outvars=[after])]
    jaxpr = jax.make_jaxpr(lambda x: named(x, name))(like).jaxpr
    outer = {jaxpr.invars[0]: before, jaxpr.outvars[0]: after}
    return [
        eqn.replace(
            invars=[outer.get(var, var) for var in eqn.invars],
            outvars=[outer.get(var, var) for var in eqn.outvars],
        )
        for eqn in jaxpr.eqns
    ]


@ft.lru_cache(maxsize=1024)
def _naming(name: str) -> JaxprEqn:
    """An equation that names its operand, of any type but complex."""
    (eqn,) = jax.make_jaxpr(lambda x: named(x, name))(0.0).eqns
    return eqn
