"""Which axis of an array holds the lanes of `functx.vmap`, in programs being watched.

While one is recorded, what a mapped function computes goes through an identity that keeps count of
the axes that maps add; so do its tangents and cotangents. No other program has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from jax import Array
from jax.interpreters import ad, batching, mlir

from functx._core.context.user_contexts import UserContext
from functx._core.jax_compat import ClosedJaxpr, Jaxpr, jaxpr_as_fun, JaxprEqn, Literal
from functx._core.primitives.by_reference import Primitive
from functx._core.primitives.taylor_mode import along_curves
from functx._transforms.programs.labels import is_library_call, operator_of
from functx._transforms.programs.nested import can_rebind
from functx._transforms.programs.recording import record


LaneAxes: TypeAlias = tuple[int, ...]  # of maps inside one another, the outermost first

watching = UserContext(__name__, None)  # sites.Options | None

lanes_of = Primitive("lanes_of", __name__)


def in_lanes(lane: Callable[..., Any], *xs: Any) -> Any:
    """`lane(*xs)`, inside a map: if that is watched, with the lanes of all values known."""
    if watching.value is None:
        return lane(*xs)
    recorded = record(lane, *xs)
    marked = ClosedJaxpr(_marked(recorded.jaxpr), recorded.consts)
    return recorded.output(jaxpr_as_fun(marked)(*jax.tree.leaves(xs)))


def is_inexact(aval: Any) -> bool:
    """Whether an array can hold what is not a number."""
    return jnp.issubdtype(aval.dtype, jnp.inexact)


def lane_axes(jaxpr: Jaxpr) -> dict[Any, LaneAxes]:
    """The axes of lanes of the variables of `jaxpr` that have any."""
    marks = [eqn for eqn in jaxpr.eqns if eqn.primitive is lanes_of and eqn.params["axes"]]
    return {x: eqn.params["axes"] for eqn in marks for x in _ends(eqn)}


def _ends(eqn: JaxprEqn) -> list[Any]:
    return [x for x in (*eqn.invars, *eqn.outvars) if not isinstance(x, Literal)]


def _marked(jaxpr: Jaxpr) -> Jaxpr:
    """`jaxpr`, each floating value of which goes through `lanes_of`."""
    known = {x for eqn in jaxpr.eqns if eqn.primitive is lanes_of for x in _ends(eqn)}
    values = [x for xs in (jaxpr.invars, *(eqn.outvars for eqn in jaxpr.eqns)) for x in xs]
    values = [x for x in values if is_inexact(x.aval) and x not in known]

    def each(*xs: Array) -> list[Array]:  # anew each time, for variables that nobody else has
        return [lanes_of.bind(x, axes=()) for x in xs]

    made = jax.make_jaxpr(each)(*(x.aval for x in values)).jaxpr.eqns
    marks = dict(zip(values, made, strict=True))

    def renamed(variables: Sequence[Any]) -> list[Any]:
        return [marks[x].invars[0] if x in marks else x for x in variables]

    eqns = [marks[x].replace(outvars=[x]) for x in jaxpr.invars if x in marks]
    for eqn in jaxpr.eqns:
        params = {key: _inside(eqn, value) for key, value in eqn.params.items()}
        eqns.append(eqn.replace(outvars=renamed(eqn.outvars), params=params))
        eqns += [
            marks[x].replace(outvars=[x], source_info=eqn.source_info)
            for x in eqn.outvars
            if x in marks
        ]
    return jaxpr.replace(invars=renamed(jaxpr.invars), eqns=eqns)


def _inside(eqn: JaxprEqn, value: Any) -> Any:
    """A parameter of `eqn`, with programs in it marked."""
    if not looks_into(eqn):
        return value
    if isinstance(value, tuple):
        return tuple(_inside(eqn, x) for x in value)
    if isinstance(value, ClosedJaxpr):
        return ClosedJaxpr(_marked(value.jaxpr), value.consts)
    return _marked(value) if isinstance(value, Jaxpr) else value


def looks_into(eqn: JaxprEqn) -> bool:
    """Whether the programs of the equation are watched, and not just their results.

    An operator, or a function of JAX's own, may go through infinities inside on purpose.
    """
    if not can_rebind(eqn) or eqn.primitive.name == "shard_map":
        return False
    return operator_of(eqn) is None and not is_library_call(eqn)


def _identity(x: Any, *, axes: LaneAxes) -> Any:
    return x


def _batch(operands: Sequence[Array], dims: Sequence[int], *, axes: LaneAxes) -> tuple[Array, int]:
    (x,), (dim,) = operands, dims
    shifted = (axis + (axis >= dim) for axis in axes)
    return lanes_of.bind(x, axes=(dim, *shifted)), dim


def _transpose(cotangent: Any, x: Any, *, axes: LaneAxes) -> list[Any]:
    return [lanes_of.bind(cotangent, axes=axes)]


lanes_of.def_impl(_identity)
lanes_of.def_abstract_eval(_identity)
ad.deflinear2(lanes_of, _transpose)
batching.primitive_batchers[lanes_of] = _batch
mlir.register_lowering(lanes_of, mlir.lower_fun(_identity, multiple_results=False))
along_curves(lanes_of)
