"""The axes of maps, which collectives such as `jax.lax.psum` know by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import jax

from functx._core.jax_compat import is_named_axis_effect, no_axis_name


class MappedAxis(NamedTuple):
    """The axis of a map whose lanes a primitive is run in; `name` is `None` if it has none."""

    name: Any
    size: int
    spmd_name: tuple[Any, ...] | None

    def map(self, func: Callable[..., Any], dims: Any) -> Callable[..., Any]:
        """`func` for all lanes, which are along `dims` of its arguments and first in its results.

        Collectives inside cross the axis. Where no argument has lanes, results have them still.
        """
        return jax.vmap(
            func,
            in_axes=dims,
            axis_name=self.name,
            axis_size=self.size,
            spmd_axis_name=self.spmd_name,
        )

    def parts_lanes(self, dims: Sequence[int | None], trace: Callable[[], Any]) -> bool:
        """Whether results differ by lane: operands do, or collectives make it so.

        `trace()` is the program of one lane, whose operands have lanes along `dims`.
        """
        if any(dim is not None for dim in dims):
            return True
        return self.name is not None and crosses(trace().effects, self.name)


def axis_of(axis_data: Any) -> MappedAxis:
    """The axis that JAX tells a batching rule of; a map that names none has a name of JAX's."""
    name = None if axis_data.name is no_axis_name else axis_data.name
    return MappedAxis(name, axis_data.size, axis_data.spmd_name)


def crosses(effects: Iterable[Any], name: Any) -> bool:
    """Whether a recorded program with these effects has a collective over the axis `name`."""
    return any(is_named_axis_effect(effect, name) for effect in effects)
