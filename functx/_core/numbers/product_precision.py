"""In which precision accelerators multiply matrices and convolve images of float32.

JAX's setting decides, `jax.default_matmul_precision`. Where it is not set, XLA multiplies in TF32
on recent GPUs and in bfloat16 on TPUs, and PyTorch does not: products of operators are then in full
precision. Convolutions are in PyTorch as the device has them, until `backends.cudnn.allow_tf32` is
set, and so they are here.
"""

from __future__ import annotations

import contextvars
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax

from functx._core.context.user_contexts import convolution_precision


SETTING = "jax_default_matmul_precision"
# Whether JAX's setting is the one that `as_in_pytorch` makes.
_filled_in = contextvars.ContextVar("functx.product_precision", default=False)


def chosen_precision() -> Any:
    """JAX's setting here, None where it is not set."""
    return getattr(jax.config, SETTING)


@contextmanager
def as_in_pytorch() -> Iterator[None]:
    """A region in which products are in full precision, if JAX's setting says nothing."""
    if chosen_precision() is not None:
        yield
        return
    token = _filled_in.set(True)
    try:
        with jax.default_matmul_precision("highest"):
            yield
    finally:
        _filled_in.reset(token)


def precision_of_convolutions() -> Any:
    """What convolutions are computed in: a setting of JAX's, None where the device decides."""
    if convolution_precision.value is not None:
        return convolution_precision.value
    return None if _filled_in.get() else chosen_precision()
