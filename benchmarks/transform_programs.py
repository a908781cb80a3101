"""Ten programs of transforms, in PyTorch's words, in JAX's by hand, and arrays to run them on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def in_torchs_words(torch: Any, nn: Any) -> dict[str, Callable[..., Any]]:
    """The programs in functx or in PyTorch: `torch` has operators, transforms are its `func`'s.

    `nn` is its `nn.functional`.
    """
    func = torch.func

    def mlp(p, x, y):
        return nn.cross_entropy((torch.tanh(x @ p[0]) @ p[1])[None], y[None])

    def cnn(p, x, y):
        h = nn.relu(nn.conv2d(x[None], p[0], padding=1))
        h = nn.max_pool2d(nn.relu(nn.conv2d(h, p[1], padding=1)), 2)
        return nn.cross_entropy(torch.flatten(h, 1) @ p[2], y[None])

    def block(p, x):
        d = x.shape[-1]
        q, k, v = torch.chunk(nn.layer_norm(x, (d,)) @ p[0], 3, -1)
        heads = lambda a: torch.transpose(torch.reshape(a, (*a.shape[:2], d // 32, 32)), 1, 2)
        a = nn.scaled_dot_product_attention(heads(q), heads(k), heads(v))
        x = x + torch.reshape(torch.transpose(a, 1, 2), x.shape) @ p[1]
        return x + nn.gelu(nn.layer_norm(x, (d,)) @ p[2]) @ p[3]

    def transformer(p, x):
        for layer in p:
            x = block(layer, x)
        return torch.mean(x * x)

    def waves(x):
        return torch.sum(torch.sin(x) * torch.cumsum(x, 0))

    return {
        "per-sample gradients, MLP": func.vmap(func.grad(mlp), (None, 0, 0)),
        "per-sample gradients, CNN": func.vmap(func.grad(cnn), (None, 0, 0)),
        "ensemble": func.vmap(lambda p, x: torch.tanh(x @ p[0]) @ p[1], (0, None)),
        "jacrev": func.jacrev(lambda m, v: torch.tanh(m @ v), 1),
        "jacfwd": func.jacfwd(lambda m, v: torch.tanh(m @ v), 1),
        "hessian": func.hessian(lambda v, a, b: torch.sum(torch.tanh(v @ a) * b), 0),
        "Hessian-vector product": lambda v, t: func.jvp(func.grad(waves), (v,), (t,))[1],
        "tangents of solve": func.vmap(
            lambda a, b: func.jvp(torch.linalg.solve, (a, b), (torch.tanh(a), b))[1]
        ),
        "gradient of small operators": func.grad(
            lambda x: torch.sum(torch.logsumexp(torch.sin(x) * torch.exp(-x), 1))
        ),
        "transformer, gradient": func.grad(transformer),
    }


def by_hand() -> dict[str, Callable[..., Any]]:
    """The programs in `jax.numpy`, as a JAX user writes them."""

    def negative_log(z, y):
        return -jax.nn.log_softmax(z)[y]

    def mlp(p, x, y):
        return negative_log(jnp.tanh(x @ p[0]) @ p[1], y)

    def conv(x, w):
        return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME")

    def cnn(p, x, y):
        h = jax.nn.relu(conv(jax.nn.relu(conv(x[None], p[0])), p[1]))
        window = (1, 1, 2, 2)
        h = jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, window, window, "VALID")
        return negative_log((h.reshape(1, -1) @ p[2])[0], y)

    def norm(x):
        mean = x.mean(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)

    def block(p, x):
        d = x.shape[-1]
        heads = [a.reshape(*a.shape[:2], d // 32, 32) for a in jnp.split(norm(x) @ p[0], 3, -1)]
        x = x + jax.nn.dot_product_attention(*heads).reshape(x.shape) @ p[1]
        return x + jax.nn.gelu(norm(x) @ p[2], approximate=False) @ p[3]

    def transformer(p, x):
        for layer in p:
            x = block(layer, x)
        return jnp.mean(x * x)

    def waves(x):
        return jnp.sum(jnp.sin(x) * jnp.cumsum(x))

    return {
        "per-sample gradients, MLP": jax.vmap(jax.grad(mlp), (None, 0, 0)),
        "per-sample gradients, CNN": jax.vmap(jax.grad(cnn), (None, 0, 0)),
        "ensemble": jax.vmap(lambda p, x: jnp.tanh(x @ p[0]) @ p[1], (0, None)),
        "jacrev": jax.jacrev(lambda m, v: jnp.tanh(m @ v), 1),
        "jacfwd": jax.jacfwd(lambda m, v: jnp.tanh(m @ v), 1),
        "hessian": jax.hessian(lambda v, a, b: jnp.sum(jnp.tanh(v @ a) * b), 0),
        "Hessian-vector product": lambda v, t: jax.jvp(jax.grad(waves), (v,), (t,))[1],
        "tangents of solve": jax.vmap(
            lambda a, b: jax.jvp(jnp.linalg.solve, (a, b), (jnp.tanh(a), b))[1]
        ),
        "gradient of small operators": jax.grad(
            lambda x: jnp.sum(jax.nn.logsumexp(jnp.sin(x) * jnp.exp(-x), 1))
        ),
        "transformer, gradient": jax.grad(transformer),
    }


def inputs(scale: int) -> dict[str, tuple[Any, ...]]:
    """NumPy arrays for each program; 1 is for trying it out, 4 fills a GPU."""
    rng = np.random.default_rng(0)

    def n(*shape, k=0.1):
        return (k * rng.standard_normal(shape)).astype("float32")

    s, d = scale, 64 * scale
    layers = [
        [n(d, 3 * d, k=0.03), n(d, d, k=0.03), n(d, 4 * d, k=0.03), n(4 * d, d, k=0.03)]
        for _ in range(2 * s)
    ]
    classes = lambda size: rng.integers(0, 10, size)
    return {
        "per-sample gradients, MLP": (
            [n(128 * s, 64 * s), n(64 * s, 10)],
            n(64 * s, 128 * s, k=1),
            classes(64 * s),
        ),
        "per-sample gradients, CNN": (
            [n(8, 1, 3, 3), n(16, 8, 3, 3), n(16 * 64, 10)],
            n(32 * s, 1, 16, 16, k=1),
            classes(32 * s),
        ),
        "ensemble": ([n(10, 256 * s, 64 * s), n(10, 64 * s, 10)], n(64 * s, 256 * s, k=1)),
        "jacrev": (n(64 * s, 64 * s, k=0.02), n(64 * s, k=1)),
        "jacfwd": (n(64 * s, 64 * s, k=0.02), n(64 * s, k=1)),
        "hessian": (n(32 * s, k=1), n(32 * s, 64 * s, k=0.05), n(64 * s, k=1)),
        "Hessian-vector product": (n(4096 * s * s, k=1), n(4096 * s * s, k=1)),
        "tangents of solve": (
            n(32 * s, 16, 16, k=1) + 9 * np.eye(16, dtype="float32"),
            n(32 * s, 16, 4, k=1),
        ),
        "gradient of small operators": (n(8, 8, k=1),),
        "transformer, gradient": (layers, n(2 * s, 64 * s, d, k=1)),
    }
