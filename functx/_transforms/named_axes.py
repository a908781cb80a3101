"""The axis that `vmap` names, and what collectives over it need: all lanes at once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, TypeAlias

import jax

from functx._core import describe, fail
from functx._core.jax_compat import Jaxpr, JaxprEqn
from functx._core.primitives.mapped_axes import crosses

from .programs.recording import record
from .programs.walking import inner_programs, own_programs


AxisSizes: TypeAlias = Sequence[tuple[Any, int]]  # of axes, with their sizes


class Axis(NamedTuple):
    """The name, size and other options of a map's axis; `None` where the map gives none."""

    name: Any
    size: int | None
    spmd_name: Any

    def names(self, size: int) -> AxisSizes:
        """The name and the size of the axis, as `jax.make_jaxpr` takes them."""
        return () if self.name is None else ((self.name, size),)


def require_axis(who: str, name: Any, size: Any, spmd_name: Any) -> Axis:
    """The axis of a map; refuses one that JAX could not take."""
    for option, value in (("axis_name", name), ("spmd_axis_name", spmd_name)):
        if not isinstance(value, Hashable):
            fail(
                who,
                f"`{option}` must be hashable, such as a string, got {describe(value)}",
                error=TypeError,
            )
    if size is not None and type(size) is not int:
        fail(who, f"`axis_size` must be an int or None, got {describe(size)}", error=TypeError)
    if size is not None and size < 0:
        fail(who, f"`axis_size` must not be negative, got {size}", error=ValueError)
    return Axis(name, size, spmd_name)


def alone(
    who: str,
    lane: Callable[..., Any],
    inputs: Sequence[jax.ShapeDtypeStruct],
    name: Any,
    size: int,
    lanes: int,
) -> Callable[..., Any]:
    """`lane`, for a map that computes `lanes` at a time, not all `size` of them.

    A lane with a collective over the axis `name` is refused.
    """
    names = [(name, size)]
    recorded = record(lane, *inputs, names=names)
    collective = _collective(recorded.jaxpr, names)
    if collective is not None:
        fail(
            who,
            f"`func` crosses lanes by `{collective}` over the axis {name!r}, but its {size} lanes "
            f"are computed in chunks of {lanes}",
            hint=f"chunk_size={size}, or none, computes all lanes at once",
            error=ValueError,
        )
    return recorded


def _collective(jaxpr: Jaxpr, names: AxisSizes) -> str | None:
    """The first primitive in `jaxpr` that is a collective over the axis in `names`, if any is.

    The effects of a program tell of most collectives, but of `ppermute` they do not.
    """
    [(name, _)] = names
    for eqn in jaxpr.eqns:
        found = (
            _collective(inner, names) for inner in [*inner_programs(eqn), *own_programs(eqn, names)]
        )
        inside = next(filter(None, found), None)
        if inside is not None:
            return inside
        if name in _axes(eqn) or crosses(eqn.effects, name):
            return eqn.primitive.name
    return None


def _axes(eqn: JaxprEqn) -> Sequence[Any]:
    """The names of axes that `eqn` has among its parameters; numbers are dimensions."""
    given = [eqn.params.get("axes", ()), eqn.params.get("axis_name", ())]
    axes = [axis for each in given for axis in (each if isinstance(each, tuple) else (each,))]
    return [axis for axis in axes if not isinstance(axis, int)]
