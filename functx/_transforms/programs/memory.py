"""How many bytes a recorded program, or one lane of a mapped function, needs at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax

from functx._core.jax_compat import Jaxpr, Literal

from .dependence import reads
from .walking import inner_programs


def lane_bytes(
    lane: Callable[..., Any],
    inputs: Sequence[jax.ShapeDtypeStruct],
    names: Sequence[tuple[Any, int]] = (),
) -> int:
    """An upper estimate of what is alive at once in one lane, inputs and outputs included.

    Values that do not depend on the lane are shared, and not counted. A compiler that fuses
    needs less. `names` are those of the axis of lanes, with its size, if it has any.
    """
    jaxpr = jax.make_jaxpr(lane, axis_env=names)(*inputs).jaxpr
    return peak_bytes(jaxpr, [True] * len(jaxpr.invars))


def _size(x: Any) -> int:
    dtype = getattr(x.aval, "dtype", None)
    return 0 if dtype is None else math.prod(x.aval.shape) * dtype.itemsize


def peak_bytes(jaxpr: Jaxpr, marks: Sequence[bool], size_of: Callable[[Any], int] = _size) -> int:
    """The most that is alive at once of what depends on the inputs that `marks` marks.

    - `size_of(x)`: the bytes of an atom.
    """
    lane_vars = {var for var, marked in zip(jaxpr.invars, marks, strict=True) if marked}
    last_use: dict[Any, int] = {
        x: i for i, eqn in enumerate(jaxpr.eqns) for x in eqn.invars if not isinstance(x, Literal)
    }
    kept = {x for x in jaxpr.outvars if not isinstance(x, Literal)} | set(lane_vars)
    alive = peak = sum(map(size_of, lane_vars))
    for i, eqn in enumerate(jaxpr.eqns):
        inputs = [reads(lane_vars, x) for x in eqn.invars]
        if not any(inputs):
            continue
        lane_vars.update(eqn.outvars)
        alive += sum(map(size_of, eqn.outvars))
        inner = max((_inner_peak(sub, inputs, size_of) for sub in inner_programs(eqn)), default=0)
        visible = sum(size_of(x) for x, marked in zip(eqn.invars, inputs, strict=True) if marked)
        visible += sum(map(size_of, eqn.outvars))
        peak = max(peak, alive, alive + inner - visible)
        done = {x for x in eqn.invars if reads(lane_vars, x)} | set(eqn.outvars)
        alive -= sum(size_of(x) for x in done if last_use.get(x, i) == i and x not in kept)
    return peak


def _inner_peak(jaxpr: Jaxpr, inputs: Sequence[bool], size_of: Callable[[Any], int]) -> int:
    aligned = len(jaxpr.invars) == len(inputs)
    return peak_bytes(jaxpr, inputs if aligned else [True] * len(jaxpr.invars), size_of)
