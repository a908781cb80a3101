"""Random numbers with a density: uniform and normal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    accumulator,
    ArrayOnly,
    as_dtype,
    category,
    default_float,
    describe,
    Device,
    DType,
    Generator,
    is_number,
    Key,
    operator,
    Promote,
    real_of,
    refuse,
    Requirement,
    Shape,
    UnpromotedArray,
)
from functx._core.numbers.bitwise_comparison import at_least_zero
from functx._ops.creation.sizes import non_negative, size_form


__all__ = ["normal", "rand", "rand_like", "randn", "randn_like"]


@overload
def rand(
    size: int,
    /,
    *sizes: int,
    dtype: DType | None = None,
    device: Device | None = None,
    key: Key = None,
    generator: Generator | None = None,
) -> Array: ...
@overload
def rand(
    size: int | Sequence[int],
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    key: Key = None,
    generator: Generator | None = None,
) -> Array: ...
@operator(accepts=Accepts.INEXACT, other_signatures=size_form, random=True, differentiable=False)
def rand(
    size: Shape,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    key: Key = None,
    generator: Generator | None = None,
) -> Array:
    """Uniform random numbers from [0, 1): 0 may occur, 1 does not, in any dtype.

    The parts of complex numbers are drawn independently.

    - `size`: the sizes of the dimensions, one tuple or several integers: `rand(2, 3)`.
    - `dtype`: a floating or complex dtype; the default dtype if it is `None`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.
    - `key`: a JAX PRNG key; without it, the ambient generator is drawn from.
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Shapes: `size`. Errors: TypeError for another `dtype`, RuntimeError for a negative size.

    >>> x = functx.rand(2, 3, key=jax.random.key(0))
    >>> x.shape, bool((x >= 0).all() and (x < 1).all())
    ((2, 3), True)
    """
    return _standard_uniform(key, non_negative(size), _inexact(dtype))


@operator(promote=Promote.NONE, random=True, differentiable=False)
def rand_like(
    input: ArrayOnly,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    key: Key = None,
    generator: Generator | None = None,
) -> Array:
    """Uniform random numbers from [0, 1) in the shape of `input`: 0 may occur, 1 does not.

    The parts of complex numbers are drawn independently.

    - `dtype`: a floating or complex dtype, by default that of `input`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.
    - `key`: a JAX PRNG key; without it, the ambient generator is drawn from.
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Errors: TypeError for another dtype.

    >>> functx.rand_like(jnp.zeros((2, 3), "float16"), key=jax.random.key(0)).dtype
    dtype('float16')
    """
    return _standard_uniform(key, input.shape, _inexact(dtype or input.dtype))


@overload
def randn(
    size: int,
    /,
    *sizes: int,
    dtype: DType | None = None,
    device: Device | None = None,
    key: Key = None,
    generator: Generator | None = None,
) -> Array: ...
@overload
def randn(
    size: int | Sequence[int],
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    key: Key = None,
    generator: Generator | None = None,
) -> Array: ...
@operator(accepts=Accepts.INEXACT, other_signatures=size_form, random=True, differentiable=False)
def randn(
    size: Shape,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    key: Key = None,
    generator: Generator | None = None,
) -> Array:
    """Normal random numbers of mean 0 and variance 1.

    Each part of a complex number has variance 1/2.

    - `size`: the sizes of the dimensions, one tuple or several integers: `randn(2, 3)`.
    - `dtype`: a floating or complex dtype; the default dtype if it is `None`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.
    - `key`: a JAX PRNG key; without it, the ambient generator is drawn from.
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Shapes: `size`. Errors: TypeError for another `dtype`, RuntimeError for a negative size.

    >>> functx.randn(2, 3, key=jax.random.key(0)).shape
    (2, 3)
    """
    return _standard_normal(key, non_negative(size), _inexact(dtype))


@operator(promote=Promote.NONE, random=True, differentiable=False)
def randn_like(
    input: ArrayOnly,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    key: Key = None,
    generator: Generator | None = None,
) -> Array:
    """Normal random numbers of mean 0 and variance 1 in the shape of `input`.

    Each part of a complex number has variance 1/2.

    - `dtype`: a floating or complex dtype, by default that of `input`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.
    - `key`: a JAX PRNG key; without it, the ambient generator is drawn from.
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Errors: TypeError for another dtype.

    >>> functx.randn_like(jnp.zeros((2, 3), "complex64"), key=jax.random.key(0)).dtype
    dtype('complex64')
    """
    return _standard_normal(key, input.shape, _inexact(dtype or input.dtype))


def _inexact(dtype: DType | None) -> np.dtype:
    found = default_float() if dtype is None else as_dtype(dtype)
    if category(found) < 2:
        refuse(f"`dtype` must be floating or complex, got {found.name}", error=TypeError)
    return found


def _standard_uniform(key: Array, shape: tuple[int, ...], dtype: np.dtype) -> Array:
    real = real_of(dtype)
    if category(dtype) == 2:
        return jax.random.uniform(key, shape, real)
    parts = jax.random.uniform(key, (2, *shape), real)
    return lax.complex(parts[0], parts[1])


def _standard_normal(key: Array, shape: tuple[int, ...], dtype: np.dtype) -> Array:
    # Drawn in float16 or bfloat16, the tails would end at 2 or 3 standard deviations.
    wide = accumulator(dtype)
    return jax.random.normal(key, shape, wide).astype(dtype)


def _normal_form(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Reads `normal(input, mean, std)` as `input.normal_(mean, std)`; True is the number 1."""
    if len(args) == 3 and _is_array(args[0]) and isinstance(args[2], (int, float)):
        like, *parameters = args
        args, kwargs = (*parameters, like.shape), kwargs | {"dtype": like.dtype}
    given = {name: _counted(x) for name, x in kwargs.items() if name in ("mean", "std")}
    return (*map(_counted, args[:2]), *args[2:]), kwargs | given


def _is_array(x: Any) -> bool:
    array = isinstance(x, (jax.Array, np.ndarray))
    return array and not jax.dtypes.issubdtype(x.dtype, jax.dtypes.prng_key)


def _counted(x: Any) -> Any:
    return int(x) if isinstance(x, bool) else x


def _std_is_non_negative(*, std: Any, **_: Any) -> Iterator[Requirement]:
    if category(std.dtype) < 3:
        yield Requirement(at_least_zero(std), "`std` must not be negative, got {got}", got=std)


@overload
def normal(
    mean: UnpromotedArray,
    std: UnpromotedArray = 1.0,
    size: int | Sequence[int] | None = None,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    key: Key = None,
    generator: Generator | None = None,
) -> Array: ...
@overload
def normal(
    input: UnpromotedArray,
    mean: float,
    std: float,
    *,
    key: Key = None,
    generator: Generator | None = None,
) -> Array: ...
@operator(
    promote=Promote.NONE,
    accepts=Accepts.INEXACT,
    other_signatures=_normal_form,
    requires=_std_is_non_negative,
    random=True,
    differentiable=False,
)
def normal(
    mean: UnpromotedArray,
    std: UnpromotedArray = 1.0,
    size: Shape | None = None,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    key: Key = None,
    generator: Generator | None = None,
) -> Array:
    """Normal random numbers with a mean and a standard deviation for each element.

    `normal(input, mean, std)` with an array and two numbers draws an array like `input`, as
    `input.normal_(mean, std)` does.

    - `mean`, `std`: arrays or numbers; `std` is not negative, and 1 by default.
    - `size`: for two numbers, the shape of the result; beside arrays it must be left out.
    - `dtype`: for two numbers, the dtype of the result; the default dtype if it is `None`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.
    - `key`: a JAX PRNG key; without it, the ambient generator is drawn from.
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    No derivative reaches `mean` and `std`, as in PyTorch; `mean + std * randn(...)` has one.

    Shapes: `size`, or that to which `mean` and `std` broadcast.
    Dtypes: that of `mean` if it is an array, else that of `std`. Complex numbers lie around `mean`,
    where PyTorch adds a mean that is a number to the imaginary part too.
    Errors: RuntimeError for a negative `std`, TypeError for two numbers without `size`, and for
    `size` or `dtype` beside arrays.

    >>> functx.normal(0.0, jnp.asarray([1.0, 2.0], "float32"), key=jax.random.key(0)).shape
    (2,)
    """
    mean, std = jnp.asarray(mean), jnp.asarray(std)
    if category(std.dtype) == 3:
        refuse(f"`std` must be real, got {describe(std)}")
    arrays = [x for x in (mean, std) if not is_number(x)]
    if size is None:
        if not arrays or dtype is not None:
            missing = "must be given for two numbers" if not arrays else "must come with `dtype`"
            refuse(f"`size` {missing}", error=TypeError)
        dtype, size = _inexact(arrays[0].dtype), jnp.broadcast_shapes(mean.shape, std.shape)
    elif mean.ndim or std.ndim:
        refuse("`size` must be left out beside arrays", error=TypeError)
    dtype = _inexact(dtype)
    if category(mean.dtype) == 3 and category(dtype) < 3:
        refuse(f"`mean` must be real for {dtype.name}, got {describe(mean)}", error=TypeError)
    wide = accumulator(dtype)
    noise = _standard_normal(key, non_negative(size), wide)
    mean, std = (lax.stop_gradient(lax.convert_element_type(x, wide)) for x in (mean, std))
    return (mean + std * noise).astype(dtype)
