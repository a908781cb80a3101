"""What types of arrays say of a mesh: the axes over which values vary inside `jax.shard_map`, and
whether any axis is explicit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import core, lax


def varying_axes(x: Any) -> frozenset[str]:
    """The manual axes over which `x` differs from device to device."""
    if not isinstance(x, core.Tracer):
        return frozenset()
    return axes_of_type(jax.typeof(x))


def axes_of_type(aval: Any) -> frozenset[str]:
    """The manual axes over which values of the type `aval` differ from device to device."""
    # Older JAX calls it `vma`; in 0.10.2 it is a part of `manual_axis_type`.
    return aval.vma if hasattr(aval, "vma") else aval.manual_axis_type.varying


def sharded_explicitly(aval: Any) -> bool:
    """Whether the type `aval` says how its dimensions are sharded, which reshapes must keep to."""
    return jax.sharding.AxisType.Explicit in aval.sharding.mesh.axis_types


def varying_over(x: Any, axes: frozenset[str]) -> Any:
    """`x`, made to vary over `axes` too."""
    more = axes - varying_axes(x)
    return lax.pcast(x, tuple(sorted(more)), to="varying") if more else x


def varying_like(x: Any, like: Any) -> Any:
    """`x`, made to vary over the axes too over which `like` varies."""
    return varying_over(x, varying_axes(like))


def equally_varying(leaves: Sequence[Any]) -> list[Any]:
    """`leaves`, varying over the same axes, as every `lax` call and every carry of a loop has them.

    So the cotangent of a replicated operand is summed over the devices by the cast's transpose.
    """
    union = _joint_axes(leaves)
    return [varying_over(x, union) for x in leaves] if union else list(leaves)


def platform_dependent(*args: Any, default: Callable[..., Any], **rules: Callable[..., Any]) -> Any:
    """`lax.platform_dependent` of rules whose results vary over the same axes: the arguments'.

    Of no elements `jnp.where` is its first choice; where that is a constant, it varies over none.
    """
    axes = _joint_axes(args)

    def alike(rule: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *xs: jax.tree.map(lambda y: varying_over(y, axes), rule(*xs))

    if axes:
        default, rules = alike(default), {name: alike(rule) for name, rule in rules.items()}
    return lax.platform_dependent(*args, default=default, **rules)


def _joint_axes(leaves: Sequence[Any]) -> frozenset[str]:
    return frozenset().union(*map(varying_axes, leaves))
