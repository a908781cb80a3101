"""What checkpoints with a budget save and cost on four networks, beside `jax.checkpoint` of layers.

With JAX 0.10, XLA's compiler for CPUs joins what is computed again with what was computed
before, and saves no memory.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

import functx

from .tables import microseconds, Table


F = functx.nn.functional
MB = 2**20
BUDGETS = (0.75, 0.5, 0.35, 0.25, 0.15)

Layer = Callable[[dict[str, Any], jax.Array], jax.Array]


def normal(seed: int, *shape: int) -> jax.Array:
    """Numbers whose products keep their size."""
    fan_in = shape[0] if len(shape) < 4 else shape[1] * shape[2] * shape[3]
    return jax.random.normal(jax.random.key(seed), shape) * fan_in**-0.5


def transformer_layer(p: dict[str, Any], x: jax.Array) -> jax.Array:
    """Attention of four heads and two products, each behind a layer norm."""
    batch, length, width = x.shape
    heads = lambda y: y.reshape(batch, length, 4, width // 4).transpose(0, 2, 1, 3)
    q, k, v = map(heads, jnp.split(F.layer_norm(x, (width,)) @ p["qkv"], 3, -1))
    weights = functx.softmax(q @ k.mT * (width // 4) ** -0.5, -1)
    x = x + (weights @ v).transpose(0, 2, 1, 3).reshape(x.shape) @ p["out"]
    return x + F.gelu(F.layer_norm(x, (width,)) @ p["up"]) @ p["down"]


def transformer() -> tuple[Layer, list[dict[str, Any]], jax.Array]:
    """Twelve layers of width 64 on two sequences of 128."""
    shapes = {"qkv": (64, 192), "out": (64, 64), "up": (64, 256), "down": (256, 64)}
    layers = [{n: normal(i, *shape) for n, shape in shapes.items()} for i in range(12)]
    return transformer_layer, layers, normal(99, 2, 128, 64)


def mlp_layer(p: dict[str, Any], x: jax.Array) -> jax.Array:
    """A product and what is done element by element."""
    return functx.tanh(F.layer_norm(x @ p["w"], (x.shape[-1],))) * functx.sin(x)


def mlp() -> tuple[Layer, list[dict[str, Any]], jax.Array]:
    """Thirty-two layers of width 128, batch 1024."""
    return mlp_layer, [{"w": normal(i, 128, 128)} for i in range(32)], normal(99, 1024, 128)


def conv_layer(p: dict[str, Any], x: jax.Array) -> jax.Array:
    """Two convolutions and what is added to."""
    y = functx.relu(F.conv2d(x, p["a"], padding=1))
    return functx.relu(F.conv2d(y, p["b"], padding=1) + x)


def cnn() -> tuple[Layer, list[dict[str, Any]], jax.Array]:
    """Eight residual blocks of 16 channels on eight images of 32 x 32."""
    layers = [{"a": normal(i, 16, 16, 3, 3), "b": normal(-i, 16, 16, 3, 3)} for i in range(8)]
    return conv_layer, layers, normal(99, 8, 16, 32, 32)


def recurrent_layer(p: dict[str, Any], x: jax.Array) -> jax.Array:
    """A gated recurrence over the first dimension."""

    def step(h: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        z, n = jnp.split(x @ p["x"] + h @ p["h"], 2, -1)
        h = h + functx.sigmoid(z) * (functx.tanh(n) - h)
        return h, h

    return lax.scan(step, jnp.zeros(x.shape[1:]), x)[1]


def recurrent() -> tuple[Layer, list[dict[str, Any]], jax.Array]:
    """Four recurrences of width 64 over 128 steps, batch 32."""
    layers = [{"x": normal(i, 64, 128), "h": normal(-i, 64, 128)} for i in range(4)]
    return recurrent_layer, layers, normal(99, 128, 32, 64)


NETWORKS = {
    "transformer": transformer,
    "MLP": mlp,
    "CNN": cnn,
    "recurrent": recurrent,
}


def chained(layer: Layer, params: Any, x: jax.Array) -> jax.Array:
    """The loss of all layers, one after the other."""
    for p in params:
        x = layer(p, x)
    return jnp.sum(x**2)


def ways(name: str) -> dict[str, tuple[Callable[..., Any], float]]:
    """Functions with the same values by name, and the MB that their derivatives are planned for."""
    layer, params, x = NETWORKS[name]()
    loss = ft.partial(chained, layer)
    found = {
        "no checkpoint": (loss, functx.checkpointing.checkpoint_plan(loss, params, x).bytes / MB),
        "jax.checkpoint": (ft.partial(chained, jax.checkpoint(layer)), float("nan")),
    }
    for what in ("min_cut", *BUDGETS):
        options = {"policy": what} if isinstance(what, str) else {"budget": what}
        try:
            plan = functx.checkpointing.checkpoint_plan(loss, params, x, **options)
        except ValueError:
            continue  # below the least budget
        found[str(what)] = functx.checkpoint(loss, **options), plan.bytes / MB
    return found


def tables(seconds: float) -> list[Table]:
    """One table for each network."""
    return [_table(name, seconds) for name in NETWORKS]


def _table(name: str, seconds: float) -> Table:
    _, params, x = NETWORKS[name]()
    every = ways(name)
    programs = [jax.jit(jax.grad(f)).lower(params, x).compile() for f, _ in every.values()]
    times = microseconds([lambda p=p: p(params, x) for p in programs], seconds, least=3)
    rows = [
        [
            way,
            "" if planned != planned else f"{planned:.1f}",
            f"{program.memory_analysis().temp_size_in_bytes / MB:.1f}",
            f"{time / 1e3:.1f}",
            f"{time / times[0]:.2f}",
        ]
        for (way, (_, planned)), program, time in zip(every.items(), programs, times, strict=True)
    ]
    note = (
        f"{NETWORKS[name].__doc__} Temporary memory of the compiled gradient, and time and its "
        f"ratio to that without a checkpoint, {jax.default_backend()}, JAX {jax.__version__}."
    )
    return Table(f"Budgets: {name}", note, ["", "planned MB", "temporary MB", "ms", "ratio"], rows)
