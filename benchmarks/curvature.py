"""Laplacians by one pass forward, beside nested transforms: time, and memory of temporaries.

`python -m benchmarks curvature`. The network has 64 inputs and 5 layers of 64; a batch is mapped.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental.jet import jet

from functx.curvature import laplacian

from .tables import microseconds, Table


INPUTS = 64
BATCHES = (None, 32, 256)


def network() -> Callable[[jax.Array], jax.Array]:
    """Five layers, the last of which has one output."""
    keys = jax.random.split(jax.random.key(0), 5)
    widths = [INPUTS] * 4 + [1]
    layers = [
        jax.random.normal(k, (n, INPUTS)) / INPUTS**0.5 for k, n in zip(keys, widths, strict=True)
    ]

    def run(x: jax.Array) -> jax.Array:
        for layer in layers[:-1]:
            x = jnp.tanh(layer @ x)
        return (layers[-1] @ x)[0]

    return run


def ways(f: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """Laplacians of `f`, by the way in which they are computed."""
    basis = jnp.eye(INPUTS)

    def nested(x: jax.Array) -> jax.Array:
        along = lambda v: jax.jvp(lambda x: jax.jvp(f, (x,), (v,))[1], (x,), (v,))[1]
        return jax.vmap(along)(basis).sum()

    def products(x: jax.Array) -> jax.Array:
        along = lambda v: jax.jvp(jax.grad(f), (x,), (v,))[1] @ v
        return jax.vmap(along)(basis).sum()

    def series(x: jax.Array) -> jax.Array:
        along = lambda v: jet(f, (x,), ((v, jnp.zeros_like(v)),))[1][1]
        return jax.vmap(along)(basis).sum()

    return {
        "functx laplacian": laplacian(f),
        "trace of jax.hessian": lambda x: jnp.trace(jax.hessian(f)(x)),
        "jvp of jvp": nested,
        "jvp of grad": products,
        "jax.experimental.jet": series,
    }


def measured(batch: int | None, seconds: float) -> Table:
    """The time of a call and the bytes of temporaries, of each way."""
    x = jax.random.normal(jax.random.key(1), (INPUTS,) if batch is None else (batch, INPUTS))
    programs = {
        name: jax.jit(f if batch is None else jax.vmap(f)).lower(x).compile()
        for name, f in ways(network()).items()
    }
    times = microseconds([ft.partial(program, x) for program in programs.values()], seconds)
    rows = []
    for (name, program), taken in zip(programs.items(), times, strict=True):
        memory = program.memory_analysis()
        kilobytes = f"{memory.temp_size_in_bytes / 1024:.0f}" if memory else "-"
        rows.append((name, f"{taken:.0f}", f"{taken / times[0]:.2f}", kilobytes))
    return Table(
        f"The Laplacian of a network, {'a point' if batch is None else f'{batch} points'}",
        "64 inputs, 5 layers, float32, compiled.",
        ("way", "us", "of functx's", "KiB of temporaries"),
        rows,
    )


def tables(seconds: float) -> list[Table]:
    """A table for each size of the batch."""
    return [measured(batch, seconds) for batch in BATCHES]
