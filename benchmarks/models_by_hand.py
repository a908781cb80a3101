"""Two of the public models as people write them in JAX, with JAX's own layouts of weights."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax


def resnet18(params: dict[str, Any], buffers: dict[str, Any]) -> tuple[Any, Any]:
    """A function of parameters and a picture `[n, c, h, w]`, and the parameters it takes.

    Convolutions have their channels last, and their kernels as `HWIO`.
    """
    own = {name: w.transpose(2, 3, 1, 0) if w.ndim == 4 else w for name, w in params.items()}

    def convolve(p: Any, name: str, x: Any, stride: int = 1) -> Any:
        kernel = p[f"{name}.weight"]
        pad = (kernel.shape[0] // 2,) * 2
        layout = ("NHWC", "HWIO", "NHWC")
        return lax.conv_general_dilated(
            x, kernel, (stride, stride), (pad, pad), dimension_numbers=layout
        )

    def normalize(p: Any, name: str, x: Any) -> Any:
        mean, variance = (buffers[f"{name}.running_{what}"] for what in ("mean", "var"))
        return (x - mean) * lax.rsqrt(variance + 1e-5) * p[f"{name}.weight"] + p[f"{name}.bias"]

    def block(p: Any, name: str, x: Any, stride: int) -> Any:
        y = jax.nn.relu(normalize(p, f"{name}.bn1", convolve(p, f"{name}.conv1", x, stride)))
        y = normalize(p, f"{name}.bn2", convolve(p, f"{name}.conv2", y))
        if f"{name}.downsample.0.weight" in p:
            x = normalize(p, f"{name}.downsample.1", convolve(p, f"{name}.downsample.0", x, stride))
        return jax.nn.relu(x + y)

    def network(p: Any, x: Any) -> Any:
        x = x.transpose(0, 2, 3, 1)
        x = jax.nn.relu(normalize(p, "bn1", convolve(p, "conv1", x, 2)))
        edges = ((0, 0), (1, 1), (1, 1), (0, 0))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), edges)
        for stage in range(1, 5):
            for i in range(2):
                x = block(p, f"layer{stage}.{i}", x, 2 if stage > 1 and i == 0 else 1)
        return x.mean((1, 2)) @ p["fc.weight"].T + p["fc.bias"]

    return network, own


def gpt2(params: dict[str, Any], buffers: dict[str, Any]) -> tuple[Any, Any]:
    """A function of parameters and words `[n, t]`, and the parameters it takes: they lie alike."""
    heads = 4
    layers = len({name.split(".")[1] for name in params if name.startswith("h.")})

    def affine(p: Any, name: str, x: Any) -> Any:
        return x @ p[f"{name}.weight"] + p[f"{name}.bias"]

    def normalize(p: Any, name: str, x: Any) -> Any:
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(variance + 1e-5) * p[f"{name}.weight"] + p[f"{name}.bias"]

    def attend(p: Any, name: str, x: Any) -> Any:
        n, t, width = x.shape
        parts = affine(p, f"{name}.c_attn", x).reshape(n, t, 3, heads, width // heads)
        out = jax.nn.dot_product_attention(*jnp.moveaxis(parts, 2, 0), is_causal=True)
        return affine(p, f"{name}.c_proj", out.reshape(n, t, width))

    def network(p: Any, ids: Any) -> Any:
        x = p["wte.weight"][ids] + p["wpe.weight"][: ids.shape[1]]
        for i in range(layers):
            x = x + attend(p, f"h.{i}.attn", normalize(p, f"h.{i}.ln_1", x))
            y = jax.nn.gelu(affine(p, f"h.{i}.mlp.c_fc", normalize(p, f"h.{i}.ln_2", x)))
            x = x + affine(p, f"h.{i}.mlp.c_proj", y)
        return normalize(p, "ln_f", x)

    return network, params


BY_HAND = {"ResNet-18": resnet18, "GPT-2": gpt2}
