"""Evenly spaced numbers, and their powers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.core import Tracer

from functx._core import (
    Accepts,
    accumulator,
    as_dtype,
    available,
    category,
    default_complex,
    default_float,
    describe,
    Device,
    DType,
    known,
    LONG,
    operator,
    Promote,
    refuse,
    refuse_wide,
    Requirement,
    Size,
    UnpromotedArray,
    value_fits,
)
from functx._ops.pointwise.power_slopes import raised

from .sizes import non_negative
from .spacing import evenly_spaced


__all__ = ["arange", "linspace", "logspace"]


def _range_form(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Reads `arange(end)`, and takes numbers from 0-d arrays, since the shape must be known."""
    if len(args) > 1 and args[1] is None:  # left out, as in NumPy
        args = (0, args[0], *args[2:])
    elif len(args) == 1 and kwargs.get("end") is None:
        args, kwargs = (0, *args), {k: v for k, v in kwargs.items() if k != "end"}
    names = ("start", "end", "step")
    args = tuple(_number(x, name) for name, x in zip(names, args, strict=False))
    kwargs = {k: _number(v, k) if k in names else v for k, v in kwargs.items()}
    dtype = kwargs.get("dtype")
    if dtype is not None:
        as_dtype(dtype)  # or a refusal
    if dtype is not None and jnp.dtype(dtype) == LONG:  # counted in integers from the start
        args = tuple(_truncated(x) for x in args)
        kwargs = {k: _truncated(v) if k in names else v for k, v in kwargs.items()}
    return args, kwargs


def _number(x: Any, name: str) -> Any:
    if not isinstance(x, (jax.Array, np.ndarray, np.generic)):
        return x
    if isinstance(x, Tracer):
        refuse(
            f"`{name}` must be known while tracing, got {describe(x)}",
            hint="it decides the shape of the result; pass a Python number",
            error=TypeError,
        )
    if x.ndim:
        refuse(f"`{name}` must be a real number, got {describe(x)}", error=TypeError)
    return np.asarray(x).item()


def _truncated(x: Any) -> Any:
    return int(x) if isinstance(x, float) and math.isfinite(x) else x


@overload
def arange(
    end: int | float, *, dtype: DType | None = None, device: Device | None = None
) -> Array: ...
@overload
def arange(
    start: int | float,
    end: int | float,
    step: int | float = 1,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array: ...
@operator(accepts=Accepts.REAL_NUMBER, other_signatures=_range_form, differentiable=False)
def arange(
    start: int | float = 0,
    end: int | float | None = None,
    step: int | float = 1,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    r"""The numbers $\mathrm{start} + i \cdot \mathrm{step}$ before `end`, for $i = 0, 1, \dots$

    - `start`: the first number; `arange(end)` starts at 0.
    - `end`: where the numbers stop; it is left out itself.
    - `step`: the distance between numbers, 1 by default; it may be negative.
    - `dtype`: the dtype of the result; by default int64 if `start`, `end` and `step` are integers,
      else the default dtype.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: $[\lceil (\mathrm{end} - \mathrm{start}) / \mathrm{step} \rceil]$.
    Dtypes: an integer `dtype` truncates `step` and `start`; int64 truncates them first, narrower
    integers after counting, as in PyTorch.
    Errors: RuntimeError if `step` is zero or leads away from `end`, OverflowError for integers that
    do not fit (into 32 bits, while 64 bit is off), TypeError for a bool or complex `dtype`.

    >>> functx.arange(1, 2.5, 0.5)
    Array([1. , 1.5, 2. ], dtype=float32)
    """
    if end is None:
        refuse("`end` must be given", error=TypeError)
    given = {"start": start, "end": end, "step": step}
    for name, x in given.items():
        if not isinstance(x, (int, float)):
            refuse(f"`{name}` must be a real number, got {describe(x)}", error=TypeError)
        if not math.isfinite(x):
            refuse(f"`{name}` must be finite, got {x}")
    integral = not any(isinstance(x, float) for x in given.values())
    dtype = as_dtype(dtype or (LONG if integral else default_float()))
    if category(dtype) not in (1, 2):
        refuse(f"`dtype` must be integer or floating, got {dtype.name}", error=TypeError)
    if step == 0:
        refuse(f"`step` must not be zero, got {step} for {dtype.name}")
    if (end - start) * step < 0:
        refuse(f"`step` must lead from `start` to `end`, got {start}, {end} and {step}")
    length = -int((start - end) // step) if integral else math.ceil((end - start) / step)
    if category(dtype) == 2:
        return _steps(start, step, length, available(np.float64)).astype(dtype)
    first, stride = int(start), int(step) if length > 1 else 0
    for name, x in (("start", first), ("end", first + max(length - 1, 0) * stride)):
        refuse_wide(name, x)
    return _steps(first, stride, length, available(LONG)).astype(dtype)


def _steps(start: Any, step: Any, length: int, dtype: np.dtype) -> Array:
    count = lax.iota(dtype, length)
    steps = count * np.asarray(step, dtype) + np.asarray(start, dtype)
    # XLA adds no zero: not even to -0.0.
    return jnp.where(count == 0, np.asarray(start + 0 * step, dtype), steps)


def _ends_fit(*, start: Any, end: Any, dtype: Any, **_: Any) -> Iterator[Requirement]:
    if dtype is not None:
        yield value_fits(start, dtype, "start")
        yield value_fits(end, dtype, "end")


@operator(promote=Promote.NONE, accepts=Accepts.NUMBER, requires=_ends_fit)
def linspace(
    start: UnpromotedArray,
    end: UnpromotedArray,
    steps: Size,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    """`steps` numbers from `start` to `end`, both included, evenly spaced.

    - `start`, `end`: numbers or 0-d arrays, which may be traced and differentiated.
    - `steps`: how many numbers, an integer. One step gives `start`.
    - `dtype`: the dtype of the result; by default the default dtype, or its complex one if an end
      is complex. An integer `dtype` truncates the ends first and the results last.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Each half is computed from the end next to it, so that both ends are exact.

    Shapes: `[steps]`.
    Errors: RuntimeError for negative `steps` and for ends with dimensions, TypeError for bool
    `dtype`.

    >>> functx.linspace(0, 1, 5)
    Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    ends, dtype = _ends_and_dtype(start, end, steps, dtype)
    compute = available(np.float64) if category(dtype) == 1 else accumulator(dtype)
    return lax.convert_element_type(_between(ends, steps, dtype, compute), dtype)


@operator(promote=Promote.NONE, accepts=Accepts.NUMBER, requires=_ends_fit)
def logspace(
    start: UnpromotedArray,
    end: UnpromotedArray,
    steps: Size,
    base: UnpromotedArray = 10.0,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    """`steps` powers of `base`, from `base**start` to `base**end`, with evenly spaced exponents.

    - `start`, `end`: the exponents of the first and the last power, numbers or 0-d arrays, which
      may be traced and differentiated.
    - `steps`: how many powers, an integer. One step gives the first.
    - `base`: a real number or a 0-d array, which may be traced and differentiated; 10 by default.
    - `dtype`: the dtype of the result; by default the default dtype, or its complex one if an end
      is complex. An integer `dtype` truncates the ends first, unless there is one step, and the
      results last.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `[steps]`.
    Errors: RuntimeError for negative `steps` and for ends with dimensions, TypeError for bool
    `dtype`.

    >>> functx.logspace(0, 3, 4, base=2)
    Array([1., 2., 4., 8.], dtype=float32)
    """
    ends, dtype = _ends_and_dtype(start, end, steps, dtype)
    base = jnp.asarray(base)
    if base.ndim or category(base.dtype) == 3:
        refuse(f"`base` must be a real number or 0-d, got {describe(base)}", error=TypeError)
    compute = available(np.complex128 if category(dtype) == 3 else np.float64)
    exponents = _between(ends, steps, compute if steps == 1 else dtype, compute)
    powers = raised(jnp.broadcast_to(base.astype(compute), (steps,)), exponents)
    if category(dtype) == 1:
        powers = _truncated_as_c(powers, available(LONG if dtype.itemsize == 8 else np.int32))
    return lax.convert_element_type(powers, dtype)


def _truncated_as_c(x: Array, dtype: np.dtype) -> Array:
    """`x` cast to an integer `dtype` as C casts it.

    Numbers out of range give the least wide integer, as in PyTorch; narrow integers wrap.
    """
    ends = np.iinfo(dtype)
    inside = (x > ends.min - 1.0) & (x < ends.max + 1.0)
    return jnp.where(inside, lax.convert_element_type(jnp.where(inside, x, 0), dtype), ends.min)


def _ends_and_dtype(start: Any, end: Any, steps: Any, dtype: Any) -> tuple[list[Array], np.dtype]:
    if known(steps) and not isinstance(steps, int):
        refuse(f"`steps` must be an int, got {describe(steps)}", error=TypeError)
    non_negative((steps,), "steps")
    ends = [jnp.asarray(start), jnp.asarray(end)]
    for name, x in zip(("start", "end"), ends, strict=True):
        if x.ndim:
            refuse(f"`{name}` must be a number or 0-d, got {describe(x)}")
    is_complex = max(category(x.dtype) for x in ends) == 3
    dtype = as_dtype(dtype or (default_complex() if is_complex else default_float()))
    if category(dtype) == 0 or (is_complex and category(dtype) < 3):
        kind = "complex" if is_complex else "a number dtype"
        refuse(f"`dtype` must be {kind}, got {dtype.name}", error=TypeError)
    return ends, dtype


def _between(ends: list[Array], steps: Size, dtype: np.dtype, compute: np.dtype) -> Array:
    """Evenly spaced numbers in the dtype `compute`, between ends that `dtype` truncates."""
    if category(dtype) == 1:
        ends = [lax.convert_element_type(x, dtype) for x in ends]
    first, last = (lax.convert_element_type(x, compute) for x in ends)
    return evenly_spaced(first, last, steps)
