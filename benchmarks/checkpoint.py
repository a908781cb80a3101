"""What checkpoints save of memory and cost in time on a deep network, beside `jax.checkpoint`.

Layers run in a `scan`: where they are written one after the other, XLA's compiler for CPUs orders
what is computed again as it likes, and saves no memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax import lax

import functx

from .tables import microseconds, Table


LAYERS, WIDTH, BATCH = 16, 512, 1024
MB = 2**20

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]


def layer(w: jax.Array, x: jax.Array) -> jax.Array:
    """One layer of the network."""
    y = functx.nn.functional.layer_norm(x, (WIDTH,))
    return functx.add(x, functx.nn.functional.gelu(functx.matmul(y, w)))


def loss(wrap: Wrap) -> Callable[..., Any]:
    """Of all layers, each of them wrapped."""
    body = wrap(layer)

    def whole(ws: jax.Array, x: jax.Array) -> jax.Array:
        return lax.scan(lambda c, w: (body(w, c), None), x, ws)[0].sum()

    return whole


def policies() -> list[tuple[str, Wrap, Wrap]]:
    """Names, and what wraps a layer: functx's checkpoint and JAX's."""

    def both(policy: Any, dots: Any) -> tuple[Wrap, Wrap]:
        return (
            lambda f: functx.checkpoint(f, policy=policy, prevent_cse=False),
            lambda f: jax.checkpoint(f, policy=dots, prevent_cse=False),
        )

    return [
        ("no checkpoint", lambda f: f, lambda f: f),
        ("matmul saved", *both(["matmul"], jax.checkpoint_policies.dots_saveable)),
        ("nothing saved", *both(None, None)),
    ]


def memory(program: Any) -> float:
    """The temporary memory of a compiled program, in MB."""
    return program.memory_analysis().temp_size_in_bytes / MB


def tables(seconds: float) -> list[Table]:
    """One row for each policy."""
    key = jax.random.key(0)
    ws = jax.random.normal(key, (LAYERS, WIDTH, WIDTH)) / WIDTH**0.5
    x = jax.random.normal(key, (BATCH, WIDTH))
    compiled = [
        [
            jax.jit(jax.grad(loss(mine))).lower(ws, x).compile(),
            jax.jit(jax.grad(loss(theirs))).lower(ws, x).compile(),
        ]
        for _, mine, theirs in policies()
    ]
    flat = [program for pair in compiled for program in pair]
    times = microseconds([lambda p=p: p(ws, x) for p in flat], seconds, least=3)
    rows: list[list[str]] = []
    for i, (name, mine, _) in enumerate(policies()):
        report = functx.checkpointing.checkpoint_report(loss(mine), ws, x)
        temporary = [memory(program) for program in compiled[i]]
        time, other = times[2 * i : 2 * i + 2]
        rows.append(
            [
                name,
                f"{report.recomputed.total() / LAYERS:g}",
                f"{report.residual_bytes / MB:.0f}",
                *(f"{size:.0f}" for size in temporary),
                f"{time / 1e3:.0f}",
                f"{time / times[0]:.2f}",
                f"{time / other:.2f}",
            ]
        )
    header = ["", "computed again", "residuals MB", "temporary MB", "JAX's", "ms", "ratio", "/ JAX"]
    note = (
        f"The gradient of {LAYERS} layers of {WIDTH}, batch {BATCH}, {jax.default_backend()}: "
        "operators of a layer that the backward pass computes again, memory, time, its ratio to "
        "that without a checkpoint and to `jax.checkpoint` of the same layers."
    )
    return [Table("Checkpoints", note, header, rows)]
