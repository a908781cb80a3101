"""Deep networks: what the gradient of a transformer costs with its layers as one loop.

Compilation is in seconds of all processors, since XLA compiles in several threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import functx
from functx import aot

from .tables import microseconds, Table


WIDTH, HEADS, ROWS, LENGTH = 64, 4, 8, 32
DEPTHS = (4, 8, 16, 32)
Parameters = dict[str, jax.Array]


def tables(seconds: float) -> list[Table]:
    """Compilation, memory and time at several depths."""
    rows = [_row(depth, seconds) for depth in DEPTHS]
    header = ["layers", "compile", "rolled", "by hand", "MB", "rolled", "by hand"]
    header += ["run, ms", "rolled", "by hand"]
    note = f"The gradient of a post-norm transformer of width {WIDTH}, of {ROWS} sequences of "
    note += f"{LENGTH}; `roll` and a `scan` written by hand, as ratios. MB are temporary memory. "
    note += f"{jax.default_backend()}, JAX {jax.__version__}."
    return [Table("Deep networks", note, header, rows)]


def _row(depth: int, seconds: float) -> list[str]:
    rng = np.random.default_rng(0)
    params = [_parameters(rng) for _ in range(depth)]
    x = jnp.asarray(rng.normal(size=(ROWS, LENGTH, WIDTH)), "float32")
    compile_, memory, calls = [], [], []
    for f in (_loss, aot.roll(_loss), _by_hand):
        lowered = jax.jit(functx.grad(f)).lower(params, x)
        start = time.process_time()
        compiled = lowered.compile()
        compile_.append(time.process_time() - start)
        memory.append(compiled.memory_analysis().temp_size_in_bytes / 1e6)
        calls.append(_calling(compiled, params, x))
    times = [t / 1e3 for t in microseconds(calls, seconds, least=5)]
    groups = (compile_, memory, times)
    return [str(depth), *(cell for group in groups for cell in _beside(group))]


def _calling(compiled: Any, params: Sequence[Parameters], x: jax.Array) -> Callable[[], Any]:
    return lambda: compiled(params, x)


def _beside(figures: Sequence[float]) -> list[str]:
    """The first figure, and the others as ratios to it."""
    return [f"{figures[0]:.1f}", *(f"{x / figures[0]:.2f}" for x in figures[1:])]


def _parameters(rng: np.random.Generator) -> Parameters:
    shapes = {"qkv": (WIDTH, 3 * WIDTH), "out": (WIDTH, WIDTH)}
    shapes |= {"up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}
    draw = lambda shape: jnp.asarray(rng.normal(size=shape) / shape[0] ** 0.5, "float32")
    ones, zeros = jnp.ones(WIDTH, "float32"), jnp.zeros(WIDTH, "float32")
    norms = {"scale1": ones, "shift1": zeros, "scale2": ones, "shift2": zeros}
    return {name: draw(shape) for name, shape in shapes.items()} | norms


def _layer(p: Parameters, x: jax.Array) -> jax.Array:
    normal = functx.nn.functional.layer_norm
    heads = lambda y: y.reshape(ROWS, LENGTH, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)
    q, k, v = (heads(y) for y in jnp.split(x @ p["qkv"], 3, -1))
    weights = functx.softmax(q @ k.mT * (WIDTH // HEADS) ** -0.5, dim=-1)
    attention = (weights @ v).transpose(0, 2, 1, 3).reshape(x.shape) @ p["out"]
    x = normal(x + attention, (WIDTH,), p["scale1"], p["shift1"])
    x = x + functx.nn.functional.gelu(x @ p["up"]) @ p["down"]
    return normal(x, (WIDTH,), p["scale2"], p["shift2"])


def _loss(params: Sequence[Parameters], x: jax.Array) -> jax.Array:
    for p in params:
        x = _layer(p, x)
    return functx.sum(x**2)


def _by_hand(params: Sequence[Parameters], x: jax.Array) -> jax.Array:
    stacked = jax.tree.map(lambda *arrays: jnp.stack(arrays), *params)
    x, _ = jax.lax.scan(lambda x, p: (_layer(p, x), None), x, stacked)
    return functx.sum(x**2)
