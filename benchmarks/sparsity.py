"""Sparse Jacobians from coloured products beside dense ones: products, time and bytes.

`python -m benchmarks sparsity`. Each system is taken at several sizes.
"""

from __future__ import annotations

import functools as ft
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

import functx

from .tables import microseconds, Table


SIZES = (256, 1024, 4096)
WIDTH = 8  # of the band, and of the recurrent model's state


class System(NamedTuple):
    """A function of a vector of any length, whose Jacobian is sparse."""

    name: str
    function: Callable[[jax.Array], jax.Array]


def heat(u: jax.Array) -> jax.Array:
    """The heat equation on a line, its conductivity depending on the temperature."""
    flux = (1 + 0.5 * (u[1:] + u[:-1]) ** 2) * (u[1:] - u[:-1])
    return jnp.pad(flux, (0, 1)) - jnp.pad(flux, (1, 0))


def heat_on_a_square(u: jax.Array) -> jax.Array:
    """The heat equation on a square, whose sides have the root of the number of inputs."""
    side = int(u.size**0.5)
    grid = u.reshape(side, side)
    rows = jax.vmap(heat)(grid)
    columns = jax.vmap(heat, 1, 1)(grid)
    return (rows + columns).ravel()


def brusselator(state: jax.Array) -> jax.Array:
    """Two substances that react and diffuse on a square whose borders meet.

    E. Hairer and G. Wanner, Solving Ordinary Differential Equations II (1996), section IV.10.
    """
    side = int((state.size // 2) ** 0.5)
    u, v = state[: 2 * side * side].reshape(2, side, side)
    spread = lambda x: sum(jnp.roll(x, step, axis) for step in (1, -1) for axis in (0, 1)) - 4 * x
    reacting = u**2 * v
    change = jnp.stack(
        [1 + reacting - 4.4 * u + 0.1 * spread(u), 3.4 * u - reacting + 0.1 * spread(v)]
    )
    return jnp.pad(change.ravel(), (0, state.size - 2 * side * side))


def band(x: jax.Array) -> jax.Array:
    """Residuals of least squares, each of a few neighbouring inputs."""
    near = jnp.stack([x[i : x.size - WIDTH + i] for i in range(WIDTH)])
    return jnp.tanh(near * jnp.arange(1.0, WIDTH + 1)[:, None]).sum(0) - 1


def recurrence(states: jax.Array) -> jax.Array:
    """How far the states of a recurrent model are from following each other."""
    steps = states.reshape(-1, WIDTH)
    weights = jnp.cos(jnp.arange(WIDTH * WIDTH, dtype=states.dtype)).reshape(WIDTH, WIDTH)
    before = jnp.pad(steps[:-1], ((1, 0), (0, 0)))
    return (steps - jnp.tanh(before @ weights)).ravel()


SYSTEMS = [
    System("heat, line", heat),
    System("heat, square", heat_on_a_square),
    System("Brusselator", brusselator),
    System("least squares, band", band),
    System("recurrent model", recurrence),
]


def _kilobytes(compiled: Any) -> float | None:
    memory = compiled.memory_analysis()
    if not memory:
        return None
    return (memory.temp_size_in_bytes + memory.output_size_in_bytes) / 1024


def _ratio(ours: float | None, theirs: float | None) -> str:
    return "-" if ours is None or theirs is None else f"{theirs / ours:.1f}"


def measured(system: System, seconds: float) -> Table:
    """A row for each size: what planning and a product cost, and how a dense Jacobian compares."""
    rows = []
    for size in SIZES:
        x = jnp.linspace(0.1, 1.0, size)
        sparse = functx.sparsity.jacfwd(system.function)
        began = time.perf_counter()
        plan = sparse.plan(x)
        planning = time.perf_counter() - began
        programs = [jax.jit(f).lower(x).compile() for f in (sparse, jax.jacfwd(system.function))]
        taken = microseconds([ft.partial(program, x) for program in programs], seconds)
        sizes = list(map(_kilobytes, programs))
        rows.append(
            (
                str(size),
                str(plan.pattern.nnz),
                str(plan.products),
                f"{planning * 1e3:.0f}",
                f"{taken[0]:.0f}",
                f"{taken[1] / taken[0]:.1f}",
                "-" if sizes[0] is None else f"{sizes[0]:.0f}",
                _ratio(*sizes),
            )
        )
    return Table(
        f"The Jacobian of a system: {system.name}",
        "float32, compiled; dense: `jax.jacfwd`. Bytes are those of temporaries and of the result.",
        ("inputs", "entries", "products", "plan, ms", "us", "dense, times", "KiB", "dense, times "),
        rows,
    )


def tables(seconds: float) -> list[Table]:
    """A table for each system."""
    return [measured(system, seconds) for system in SYSTEMS]
