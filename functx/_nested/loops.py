"""A `scan` along a ragged dimension: the steps of the longest sequence, idle beyond the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from functx._core.jax_compat import scan_counts

from .equations import PaddedEquation
from .sizes import taken


# What runs a program on padded arrays.
RunsProgram = Callable[[Any, Sequence[Any]], list[Array]]


def scanned(equation: PaddedEquation, run: RunsProgram) -> Sequence[Array]:
    """An idle step computes what the last step before it did, or the first after it, for nothing.

    So it meets no value that the sequence itself does not lead to, and what is not used of it has
    cotangents of zero, not NaN, for what all steps share.
    """
    params, (consts, carries) = equation.params, scan_counts(equation.params)
    operands, sizes = equation.operands, equation.sizes
    fixed, start, xs = operands[:consts], operands[consts:][:carries], operands[consts + carries :]
    count, own = sizes.padded(params["length"]), sizes.own(params["length"])
    steps = jnp.arange(count)
    if count:
        last = jnp.clip(own - 1, 0)
        xs = [taken(x, 0, jnp.minimum(steps, last)) for x in xs]

    def body(state: Any, each: Any) -> Any:
        before, now = state
        step, x = each
        goes_on = step < own
        entered = _chosen(goes_on, now, before)
        results = run(params["jaxpr"], [*fixed, *entered, *x])
        return (entered, _chosen(goes_on, results[:carries], now)), results[carries:]

    options = {option: params[option] for option in ("reverse", "unroll")}
    start = [jnp.asarray(x) for x in start]
    (_, end), ys = lax.scan(body, (start, start), (steps, xs), length=count, **options)
    stacked = equation.gated([*end, *ys])
    return [*end, *stacked[carries:]]


def _chosen(which: Array, values: Sequence[Array], others: Sequence[Array]) -> list[Array]:
    return [
        jnp.where(which, x, y) if not _is_key(x) else jax.lax.select(which, x, y)
        for x, y in zip(values, others, strict=True)
    ]


def _is_key(x: Array) -> bool:
    return jnp.issubdtype(x.dtype, jax.dtypes.prng_key)
