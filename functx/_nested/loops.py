"""Programs inside of an equation that need more than to be run with padded operands."""

from __future__ import annotations

import itertools as it
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
    """A `scan` along a ragged dimension, with idle steps beyond the end of a sequence.

    An idle step computes again what the last step before it did, or the first after it, and its
    results are not used. It meets no value that the sequence itself does not lead to, so that its
    cotangents of zero stay zero, and are not NaN, for what all steps share.
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


def solved(equation: PaddedEquation, run: RunsProgram) -> Sequence[Array]:
    """A linear solve whose systems are of one size: right-hand sides of zeros are in padding."""
    lengths, programs = equation.params["const_lengths"], equation.params["jaxprs"]
    sizes = [lengths.matvec, lengths.vecmat, lengths.solve, lengths.transpose_solve]
    ends = [sum(sizes[:i]) for i in range(len(sizes) + 1)]
    consts = [equation.operands[a:b] for a, b in it.pairwise(ends)]
    right = [equation.filled(i, 0) for i in range(ends[-1], len(equation.operands))]
    back = None
    if programs.transpose_solve is not None:
        back = lambda _, b: run(programs.transpose_solve, [*consts[3], *b])
    results = lax.custom_linear_solve(
        lambda x: run(programs.matvec, [*consts[0], *x]),
        right,
        lambda _, b: run(programs.solve, [*consts[2], *b]),
        back,
    )
    return equation.gated(results)


def _chosen(which: Array, values: Sequence[Array], others: Sequence[Array]) -> list[Array]:
    return [
        jnp.where(which, x, y) if not _is_key(x) else jax.lax.select(which, x, y)
        for x, y in zip(values, others, strict=True)
    ]


def _is_key(x: Array) -> bool:
    return jnp.issubdtype(x.dtype, jax.dtypes.prng_key)
