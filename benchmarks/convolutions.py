"""Convolutions of late layers, groups, volumes and lanes, beside JAX's own and PyTorch.

`python -m benchmarks convolutions`. Milliseconds. PyTorch on one thread, where it is installed; its
maps are `torch.func`'s.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import functx

from .tables import microseconds, Table, torch_if_there


F = functx.nn.functional


class Case(NamedTuple):
    """A computation, given a convolution and a `grad` and `vmap` to do it with, and arguments."""

    name: str
    of: Callable[..., Callable[..., Any]]
    arguments: Sequence[np.ndarray]


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, dtype="float32")


def jax_convolution(x: Any, w: Any, stride: int = 1, padding: int = 0, groups: int = 1) -> Any:
    n = w.ndim - 2
    whole = x if x.ndim == w.ndim else x[None]
    out = lax.conv_general_dilated(
        whole, w, [stride] * n, [(padding, padding)] * n, feature_group_count=groups
    )
    return out if x.ndim == w.ndim else out[0]


def functx_convolution(x: Any, w: Any, stride: int = 1, padding: int = 0, groups: int = 1) -> Any:
    return (F.conv2d if w.ndim == 4 else F.conv3d)(x, w, None, stride, padding, 1, groups)


def network(convolve: Callable[..., Any]) -> Callable[..., Any]:
    """Three layers on one image, made one number."""

    def loss(first: Any, second: Any, third: Any, x: Any) -> Any:
        for w, stride in ((first, 1), (second, 2), (third, 2)):
            x = convolve(x, w, stride, 1)
            x = x * (x > 0)
        return (x**2).sum()

    return loss


def values(convolve: Any, grad: Any, vmap: Any, **options: int) -> Any:
    return lambda x, w: convolve(x, w, padding=1, **options)


def gradients(convolve: Any, grad: Any, vmap: Any, **options: int) -> Any:
    total = lambda x, w: (convolve(x, w, padding=1, **options) ** 2).sum()
    return grad(total, (0, 1))


def kernel_gradient(convolve: Any, grad: Any, vmap: Any) -> Any:
    return grad(lambda x, w: (convolve(x, w, padding=w.shape[-1] // 2) ** 2).sum(), 1)


def per_sample(convolve: Any, grad: Any, vmap: Any) -> Any:
    return vmap(grad(network(convolve), (0, 1, 2)), (None, None, None, 0))


def ensemble(convolve: Any, grad: Any, vmap: Any) -> Any:
    loss = network(convolve)
    total = lambda *args: vmap(loss, (None, None, None, 0))(*args).sum()
    return vmap(grad(total, (0, 1, 2)), (0, 0, 0, None))


def weights(*lanes: int) -> list[np.ndarray]:
    return [normal(*lanes, *shape) for shape in ((8, 1, 3, 3), (16, 8, 3, 3), (32, 16, 3, 3))]


IMAGES = normal(32, 1, 28, 28)
DEPTHWISE = normal(32, 128, 14, 14), normal(128, 1, 3, 3)
GROUPED = normal(16, 64, 28, 28), normal(64, 16, 3, 3)
VOLUMES = normal(2, 16, 16, 16, 16), normal(32, 16, 3, 3, 3)
PLAIN = normal(16, 32, 28, 28), normal(64, 32, 3, 3)
LATE = normal(4, 512, 3, 3), normal(512, 512, 3, 3)
KERNELS = (  # images, channels, their sides, filters, the sides of kernels
    (1, 16, 96, 16, 3),
    (4, 16, 96, 16, 3),
    (32, 16, 96, 16, 3),
    (4, 64, 24, 64, 3),
    (1, 64, 112, 64, 3),
    (4, 16, 48, 16, 7),
    (1, 8, 96, 8, 27),
)
CASES = (
    Case("conv2d", values, PLAIN),
    Case("conv2d, gradient", gradients, PLAIN),
    Case("a late layer", values, LATE),
    Case("a late layer, gradient", gradients, LATE),
    *(
        Case(
            f"gradient of a kernel of {k}, {n} x {channels} x {side} x {side} to {filters}",
            kernel_gradient,
            (normal(n, channels, side, side), normal(filters, channels, k, k)),
        )
        for n, channels, side, filters, k in KERNELS
    ),
    Case("depthwise", ft.partial(values, groups=128), DEPTHWISE),
    Case("depthwise, gradient", ft.partial(gradients, groups=128), DEPTHWISE),
    Case("4 groups", ft.partial(values, groups=4), GROUPED),
    Case("4 groups, gradient", ft.partial(gradients, groups=4), GROUPED),
    Case("conv3d", values, VOLUMES),
    Case("conv3d, gradient", gradients, VOLUMES),
    Case("per-sample gradients of a network", per_sample, [*weights(), IMAGES]),
    Case("gradients of 8 networks", ensemble, [*weights(8), IMAGES]),
)


def tables(seconds: float) -> list[Table]:
    """One table, a row for each case."""
    torch = torch_if_there()
    rows = [_row(case, torch, seconds) for case in CASES]
    header = ["", "functx", "JAX", "ratio"] + (["torch, 1 thread"] if torch is not None else [])
    note = f"Milliseconds; jax {jax.__version__}, {jax.devices()[0].device_kind}."
    return [Table("Convolutions", note, header, rows)]


def _row(case: Case, torch: Any, seconds: float) -> list[str]:
    args = [jnp.asarray(x) for x in case.arguments]
    ways = (functx_convolution, functx.grad, functx.vmap), (jax_convolution, jax.grad, jax.vmap)
    calls = [ft.partial(jax.jit(case.of(*way)), *args) for way in ways]
    if torch is not None:
        tensors = [torch.tensor(x) for x in case.arguments]

        def convolve(x: Any, w: Any, stride: int = 1, padding: int = 0, groups: int = 1) -> Any:
            conv = torch.nn.functional.conv2d if w.ndim == 4 else torch.nn.functional.conv3d
            return conv(x, w, None, stride, padding, 1, groups)

        calls.append(ft.partial(case.of(convolve, torch.func.grad, torch.func.vmap), *tensors))
    ours, theirs, *peer = (t / 1000 for t in microseconds(calls, seconds))
    return [case.name, *(f"{x:.2f}" for x in (ours, theirs, ours / theirs, *peer))]
