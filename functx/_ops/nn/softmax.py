"""Softmax and its logarithm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from jax import Array

from functx._core import (
    Accepts,
    ArrayLike,
    Autocast,
    category,
    describe,
    Dim,
    DType,
    operator,
    Promote,
    refuse,
    rounded_first,
)

from .normalized_exponentials import log_probabilities, probabilities


__all__ = ["log_softmax", "softmax", "softmin"]


def _dtype_may_come_third(args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """The arguments with `dtype` as a keyword: in `torch.softmax(x, dim, dtype)` it comes third."""
    if len(args) == 3 and not isinstance(args[2], int):
        return args[:2], {"dtype": args[2], **kwargs}
    return args, kwargs


@overload
def softmax(
    input: ArrayLike, dim: Dim | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Array: ...
@overload
def softmax(input: ArrayLike, dim: Dim, dtype: DType) -> Array: ...
@operator(
    accepts=Accepts.ANY,
    promote=Promote.DEFAULT,
    other_signatures=_dtype_may_come_third,
    aliases=("softmax", "special.softmax"),
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def softmax(
    input: ArrayLike, dim: Dim | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Array:
    r"""Exponentials that sum to 1 along `dim`: $y_i = e^{x_i} / \sum_j e^{x_j}$ for the elements
    $x$ of `input`.

    - `dim`: the dimension of the sum. As in PyTorch, None is dimension 0 of an array of 0, 1 or 3
      dimensions, else dimension 1.
    - `_stacklevel` has no effect.
    - `dtype`: the dtype to which the input is cast first, and that of the result; None keeps the
      input's. It may be the third positional argument.

    Errors: TypeError for integers and bools without a `dtype`, IndexError for a `dim` that does not
    exist.

    >>> functx.softmax(jnp.zeros(4, "float32"), dim=0)
    Array([0.25, 0.25, 0.25, 0.25], dtype=float32)
    """
    return _along(dim, rounded_first(input, dtype), probabilities)


@overload
def log_softmax(
    input: ArrayLike, dim: Dim | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Array: ...
@overload
def log_softmax(input: ArrayLike, dim: Dim, dtype: DType) -> Array: ...
@operator(
    accepts=Accepts.ANY,
    promote=Promote.DEFAULT,
    other_signatures=_dtype_may_come_third,
    aliases=("log_softmax", "special.log_softmax"),
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def log_softmax(
    input: ArrayLike, dim: Dim | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Array:
    r"""The logarithm of softmax, without overflow: $y_i = x_i - \log \sum_j e^{x_j}$ for the
    elements $x$ of `input`.

    - `dim`: the dimension of the sum. As in PyTorch, None is dimension 0 of an array of 0, 1 or 3
      dimensions, else dimension 1.
    - `_stacklevel` has no effect.
    - `dtype`: the dtype to which the input is cast first, and that of the result; None keeps the
      input's. It may be the third positional argument.

    Errors: TypeError for integers and bools without a `dtype`, IndexError for a `dim` that does not
    exist.

    >>> functx.log_softmax(jnp.zeros(1, "float32"), dim=0)
    Array([0.], dtype=float32)
    """
    return _along(dim, rounded_first(input, dtype), log_probabilities)


@operator(
    accepts=Accepts.ANY,
    promote=Promote.DEFAULT,
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def softmin(
    input: ArrayLike, dim: Dim | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Array:
    r"""Softmax of the negative: $y_i = e^{-x_i} / \sum_j e^{-x_j}$ for the elements $x$ of `input`.

    - `dim`: the dimension of the sum. As in PyTorch, None is dimension 0 of an array of 0, 1 or 3
      dimensions, else dimension 1.
    - `_stacklevel` has no effect.
    - `dtype`: the dtype to which the negative is cast first, and that of the result; None keeps the
      input's. The negative of uint8 does not wrap, as PyTorch's does.

    Errors: TypeError for integers and bools without a `dtype`, IndexError for a `dim` that does not
    exist.

    >>> functx.nn.functional.softmin(jnp.asarray([0.0, 1000.0], "float32"), dim=0)
    Array([1., 0.], dtype=float32)
    """
    return _along(dim, rounded_first(-input, dtype), probabilities)


def _along(dim: int | None, x: Array, f: Callable[[Array, int], Array]) -> Array:
    if category(x.dtype) < 2:
        refuse(
            f"expected floating arrays, got {describe(x)}",
            hint="dtype=functx.float32 casts first",
            error=TypeError,
        )
    if dim is None:
        dim = 0 if x.ndim in (0, 1, 3) else 1
    if x.size == 0:
        return x
    return f(x, dim) if x.ndim else f(x.reshape(1), 0).reshape(())
