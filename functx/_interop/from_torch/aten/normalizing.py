"""Normalizations, softmax and dropout under ATen's signatures.

What PyTorch returns for its backward kernels alone (statistics, masks) is None here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import Array

from functx._core import OPERATORS

from .copying import cast


Stats = Array | None


def batch_norm_and_stats(
    input: Array,
    weight: Stats,
    bias: Stats,
    running_mean: Array,
    running_var: Array,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Array | None, ...]:
    """A batch norm with its new running statistics, fourth and fifth."""
    out, mean, var = OPERATORS["nn.functional.batch_norm_with_stats"](
        input, running_mean, running_var, weight, bias, training, momentum, eps
    )
    return out, None, None, mean, var


def batch_norm_with_update(
    input: Array,
    weight: Stats,
    bias: Stats,
    running_mean: Array,
    running_var: Array,
    momentum: float,
    eps: float,
) -> tuple[Array | None, ...]:
    """A batch norm in training, with its new running statistics last."""
    out, _, _, mean, var = batch_norm_and_stats(
        input, weight, bias, running_mean, running_var, True, momentum, eps
    )
    return out, None, None, None, mean, var


def batch_norm_of_statistics(
    input: Array,
    weight: Stats,
    bias: Stats,
    running_mean: Stats,
    running_var: Stats,
    momentum: float,
    eps: float,
) -> tuple[Array | None, ...]:
    """A batch norm by running statistics, which stay."""
    out = OPERATORS["nn.functional.batch_norm"](
        input, running_mean, running_var, weight, bias, False, momentum, eps
    )
    return out, None, None, None


def batch_norm_without_statistics(
    input: Array, weight: Stats, bias: Stats, training: bool, momentum: float, eps: float
) -> tuple[Array | None, ...]:
    """A batch norm by the batch alone."""
    out = OPERATORS["nn.functional.batch_norm"](
        input, None, None, weight, bias, True, momentum, eps
    )
    return out, None, None


def batch_norm_by_index(
    input: Array,
    weight: Stats,
    bias: Stats,
    running_mean: Stats,
    running_var: Stats,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = False,
) -> tuple[Any, ...]:
    """A batch norm, and what tells PyTorch its backward kernel."""
    out = OPERATORS["nn.functional.batch_norm"](
        input, running_mean, running_var, weight, bias, training, momentum, eps
    )
    return out, None, None, None, 0


def rms_norm_and_scale(
    input: Array, normalized_shape: Sequence[int], weight: Stats, eps: float | None
) -> tuple[Array | None, ...]:
    """An RMS norm."""
    return OPERATORS["nn.functional.rms_norm"](input, tuple(normalized_shape), weight, eps), None


def softmax(input: Array, dim: int, half_to_float: bool = False) -> Array:
    """Softmax; of halves in float32 if asked."""
    return OPERATORS["nn.functional.softmax"](
        cast(input, "float32") if half_to_float else input, dim
    )


def log_softmax(input: Array, dim: int, half_to_float: bool = False) -> Array:
    """The logarithm of softmax; of halves in float32 if asked."""
    return OPERATORS["nn.functional.log_softmax"](
        cast(input, "float32") if half_to_float else input, dim
    )


def safe_softmax(input: Array, dim: int, dtype: str | None = None) -> Array:
    """Softmax, with zeros where all of a row is -inf."""
    x = cast(input, dtype)
    low = OPERATORS["eq"](x, -jnp.inf)
    empty = OPERATORS["all"](low, dim, True)
    y = OPERATORS["nn.functional.softmax"](OPERATORS["where"](empty, 0, x), dim)
    return OPERATORS["where"](empty, 0, y)


def masked_softmax(
    input: Array, mask: Array, dim: int | None = None, mask_type: int | None = None
) -> Array:
    """Softmax of what is not masked."""
    mask = jnp.broadcast_to(mask, input.shape) if mask.ndim == input.ndim else mask
    hidden = OPERATORS["where"](mask, -jnp.inf, input)
    return OPERATORS["nn.functional.softmax"](hidden, -1 if dim is None else dim)


def masked_scale(input: Array, mask: Array, scale: float) -> Array:
    """What a dropout's mask lets pass, scaled."""
    return OPERATORS["mul"](OPERATORS["mul"](input, cast(mask, input.dtype.name)), scale)


def dropped_alone(input: Array, p: float, train: bool | None = None) -> tuple[Array]:
    """Dropout of which the mask is not used."""
    return (OPERATORS["nn.functional.dropout"](input, p, train is not False),)


def dropout_and_mask(input: Array, p: float, train: bool | None = None) -> tuple[Array, Array]:
    """Dropout and its mask."""
    if train is False or p == 0:
        return input, jnp.ones(input.shape, bool)
    ones = jnp.ones(input.shape, input.dtype)
    factor = OPERATORS["nn.functional.dropout"](ones, p, True)
    return OPERATORS["mul"](input, factor), OPERATORS["ne"](factor, 0)


def fused_dropout(input: Array, p: float) -> tuple[Array, Array]:
    """Dropout and its mask, by the probability that an element stays."""
    return dropout_and_mask(input, 1 - p)


def except_dim(v: Array, pow: int = 2, dim: int = 0) -> Array:
    """The norm over all dimensions but one; with -1 that of the whole array, of rank 0."""
    if dim == -1:
        return OPERATORS["linalg.vector_norm"](v, pow)
    others = tuple(i for i in range(v.ndim) if i != dim % v.ndim)
    return OPERATORS["linalg.vector_norm"](v, pow, others, True) if others else OPERATORS["abs"](v)


def weight_norm(v: Array, g: Array, dim: int = 0) -> Array:
    """The direction of `v` and the length `g`."""
    return weight_norm_and_norm(v, g, dim)[0]


def weight_norm_and_norm(v: Array, g: Array, dim: int = 0) -> tuple[Array, Array]:
    """The direction of `v` and the length `g`, and the norm of `v`."""
    norm = except_dim(v, 2, dim)
    return OPERATORS["mul"](v, OPERATORS["div"](g, norm)), norm


def elu(input: Array, alpha: Any = 1, scale: Any = 1, input_scale: Any = 1) -> Array:
    """ELU, SELU and CELU, which PyTorch writes as one."""
    if input_scale == 1:
        out = OPERATORS["nn.functional.elu"](input, alpha)
    elif alpha * input_scale == 1:
        out = OPERATORS["nn.functional.celu"](input, alpha)
    else:
        # The second where keeps a large `expm1` out of the derivative.
        low = OPERATORS["where"](OPERATORS["gt"](input, 0), 0, input)
        steep = OPERATORS["mul"](OPERATORS["expm1"](OPERATORS["mul"](low, input_scale)), alpha)
        out = OPERATORS["where"](OPERATORS["gt"](input, 0), input, steep)
    return out if scale == 1 else OPERATORS["mul"](out, scale)


def log_sigmoid_and_buffer(input: Array) -> tuple[Array, None]:
    """The logarithm of the sigmoid."""
    return OPERATORS["nn.functional.logsigmoid"](input), None


def rrelu_and_noise(
    input: Array, noise: Array, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False
) -> tuple[Array, Array]:
    """A randomized leaky ReLU; the noise stays as it is given."""
    return OPERATORS["nn.functional.rrelu"](input, lower, upper, training), noise
