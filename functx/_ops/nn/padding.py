"""Padding: elements that surround an array where a window reaches beyond it."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Iterator
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.core import max_dim, min_dim

from functx._core import (
    ArrayLike,
    available,
    category,
    converted,
    decided,
    describe,
    known,
    operator,
    Promote,
    refuse,
    Requirement,
    Shape,
    Size,
    UnpromotedArray,
    value_fits,
)


__all__ = ["constant_pad_nd", "pad"]


def _value_fits(*, input: Any, value: Any, mode: str, **_: Any) -> Iterator[Requirement]:
    if value is None:
        return
    unsigned = input.dtype.kind == "u"  # `value` is floating in PyTorch: -1.0 does not wrap
    yield value_fits(value.astype(available(float)) if unsigned else value, input.dtype, "value")
    if mode != "constant":
        yield Requirement(
            value == jnp.zeros((), value.dtype),
            f"`value` belongs to mode='constant', got {{got}} for {mode!r}",
            got=value,
            error=ValueError,
        )


@operator(promote=Promote.NO_OPMATH, requires=_value_fits)
def pad(
    input: ArrayLike,
    pad: Shape,
    mode: Literal["constant", "reflect", "replicate", "circular"] = "constant",
    value: UnpromotedArray | None = None,
) -> Array:
    """Adds elements before and after each of the last dimensions; negative numbers take elements
    away.

    Shapes: `input: [..., n] -> [..., left + n + right]`, and likewise for the dimensions before.

    - `pad`: `(left, right, top, bottom, front, back, ...)`, two numbers for each dimension, the
      last dimension first.
    - `mode`: `"constant"` adds `value`. The others pad the last one to three dimensions of arrays
      that have one or two more: `"reflect"` mirrors at the outermost element, `"replicate"` repeats
      it, `"circular"` goes around.
    - `value`: what `"constant"` adds; None means 0.

    Dtypes: that of `input`, to which `value` is cast.
    Errors: RuntimeError for a `pad` that does not fit and for a `value` that the dtype cannot hold,
    ValueError for another `mode` and for a `value` beside other modes than `"constant"`, TypeError
    for dtypes.

    >>> functx.nn.functional.pad(jnp.asarray([[1, 2, 3]], "int32"), (2, -1), mode="reflect")
    Array([[3, 2, 1, 2]], dtype=int32)
    """
    pairs = _pairs(input, pad)
    value = _number(0 if value is None else value)
    if mode == "constant":
        return _padded_with(input, pairs, value)
    if mode not in _EXTENSIONS:
        refuse(
            f"`mode` must be 'constant', 'reflect', 'replicate' or 'circular', got {mode!r}",
            error=ValueError,
        )
    _check_surroundings(input, pad, mode)
    for i, (before, after) in enumerate(pairs):
        axis = input.ndim - 1 - i
        _check_extent(input, axis, before, after, mode)
        in_pieces = known(before, after) and _has_pieces(input.shape[axis], before, after, mode)
        extended = _EXTENSIONS[mode] if in_pieces else ft.partial(_read, mode=mode)
        input = extended(input, axis, before, after)
    return input


def _constant_fits(*, input: Any, pad: Any, value: Any, **_: Any) -> Iterator[Requirement]:
    if _adds(pad):
        yield value_fits(value, input.dtype, "value")


@operator(
    name="constant_pad_nd", promote=Promote.NONE, requires=_constant_fits, takes_storage_dtypes=True
)
def constant_pad_nd(input: ArrayLike, pad: Shape, value: UnpromotedArray = 0) -> Array:
    """Adds a number before and after each of the last dimensions; negative sizes take elements
    away.

    Shapes: `input: [..., n] -> [..., left + n + right]`, and likewise for the dimensions before.

    - `pad`: `(left, right, top, bottom, front, back, ...)`, two numbers for each dimension, the
      last dimension first.
    - `value`: the number that is added, by default 0.

    Dtypes: that of `input`, to which `value` is cast, and which must hold it.
    Errors: RuntimeError for a `pad` that does not fit and for a `value` that the dtype cannot hold,
    TypeError for a `value` that is no number.

    >>> functx.constant_pad_nd(jnp.asarray([1, 2], "int32"), (1, -1), 7)
    Array([7, 1], dtype=int32)
    """
    pairs = _pairs(input, pad)
    value = jnp.asarray(value)
    if value.ndim:
        refuse(f"`value` must be a number, got {describe(value)}", error=TypeError)
    if category(value.dtype) == 3 and category(input.dtype) < 3 and _adds(pad):
        refuse(f"`value` must be real for {describe(input)}, got {describe(value)}")
    return _padded_with(input, pairs, converted(value, input.dtype))


def _adds(pad: tuple[Size, ...]) -> bool:
    """Whether the padding may add elements, rather than only take elements away."""
    return any(decided(lambda n=n: n > 0, otherwise=True) for n in pad)


def _pairs(input: Array, pad: tuple[Size, ...]) -> list[tuple[Size, Size]]:
    """The numbers of elements to add before and after, the last dimension first."""
    if len(pad) % 2:
        refuse(f"`pad` must hold two ints for each dimension, got {pad}")
    if len(pad) > 2 * input.ndim:
        refuse(f"`pad` must hold at most {2 * input.ndim} ints for {describe(input)}, got {pad}")
    return list(zip(pad[::2], pad[1::2], strict=True))


def _number(value: Any) -> Array:
    value = jnp.asarray(value)
    if value.ndim:
        refuse(f"`value` must be a number, got {describe(value)}", error=TypeError)
    if category(value.dtype) == 3:
        refuse(f"`value` must not be complex, got {describe(value)}", error=TypeError)
    return value


def _padded_with(input: jax.Array, pairs: list[tuple[Size, Size]], value: Array) -> jax.Array:
    pairs = [(0, 0)] * (input.ndim - len(pairs)) + pairs[::-1]
    for axis, (n, (before, after)) in enumerate(zip(input.shape, pairs, strict=True)):
        if decided(lambda n=n, pair=(before, after): _left(n, *pair) < 0, otherwise=False):
            refuse(
                f"`pad` takes more than there is in dimension {axis} of {describe(input)}, got "
                f"{(before, after)}"
            )
    fill = lax.convert_element_type(value, input.dtype)
    return lax.pad(input, fill, [(before, after, 0) for before, after in pairs])


def _check_surroundings(input: jax.Array, pad: tuple[Size, ...], mode: str) -> None:
    """Refuses arrays that are no images: PyTorch wants a channel, and perhaps a batch, before the
    padded dimensions.
    """
    n = len(pad) // 2
    if not 1 <= n <= 3 or input.ndim not in (n + 1, n + 2):
        refuse(
            f"mode={mode!r} pads the last n = 1, 2 or 3 of n + 1 or n + 2 dimensions, got n = {n} "
            f"and {describe(input)}"
        )
    if mode != "circular" and 0 in input.shape[input.ndim - n - 1 :]:
        refuse(f"`input` must not be empty except in its batch, got {describe(input)}")
    if mode != "circular" and category(input.dtype) == 0:
        refuse(f"mode={mode!r} takes numbers, got {describe(input)}", error=TypeError)


def _check_extent(input: jax.Array, axis: int, before: Size, after: Size, mode: str) -> None:
    n = input.shape[axis]
    most = {"reflect": n - 1, "circular": n}.get(mode)
    if most is not None and _longer(before, after, than=most):
        refuse(
            f"`pad` must be at most {most} in dimension {axis} of {describe(input)} for "
            f"mode={mode!r}, got {(before, after)}"
        )
    left, least = _left(n, before, after), int(mode != "circular")
    none_left = mode == "circular" and decided(lambda: left < 1, otherwise=False)
    nothing_around = none_left and _longer(before, after, than=0)
    if nothing_around or decided(lambda: n + before + after < least, otherwise=False):
        refuse(
            f"`pad` takes more than there is in dimension {axis} of {describe(input)}, got "
            f"{(before, after)}"
        )


def _left(n: Size, before: Size, after: Size) -> Size:
    """How many elements negative padding leaves."""
    return n + min_dim(before, 0) + min_dim(after, 0)


def _longer(before: Size, after: Size, *, than: Size) -> bool:
    return any(decided(lambda n=n: n > than, otherwise=False) for n in (before, after))


def _has_pieces(n: Size, before: int, after: int, mode: str) -> bool:
    """Whether the array is known to be as long as the pieces of it that are repeated beside it."""
    repeated = max(before, after, 0)
    least = {"reflect": repeated + 1, "circular": repeated - min(before, 0) - min(after, 0)}
    return known(n) or decided(lambda: n >= least.get(mode, 1), otherwise=False)


def _read(x: jax.Array, axis: int, before: Size, after: Size, *, mode: str) -> jax.Array:
    """The elements read one by one, where the sizes of pieces are unknown."""
    n = x.shape[axis]
    at = jnp.arange(max_dim(n + before + after, 0)) - before
    if mode == "reflect":
        at = n - 1 - abs(n - 1 - abs(at))
    elif mode == "replicate":
        at = jnp.clip(at, 0, n - 1)
    else:
        first = max_dim(-before, 0)
        at = first + (at - first) % max_dim(_left(n, before, after), 1)
    return jnp.take(x, at, axis, mode="clip")


def _cropped(x: jax.Array, axis: int, before: int, after: int) -> jax.Array:
    """`x` without the elements that negative padding takes away."""
    start, end = max(-before, 0), x.shape[axis] - max(-after, 0)
    return lax.slice_in_dim(x, start, end, axis=axis)


def _reflected(x: jax.Array, axis: int, before: int, after: int) -> jax.Array:
    n = x.shape[axis]
    first = lax.rev(lax.slice_in_dim(x, 1, 1 + max(before, 0), axis=axis), (axis,))
    last = lax.rev(lax.slice_in_dim(x, n - 1 - max(after, 0), n - 1, axis=axis), (axis,))
    return _cropped(lax.concatenate([first, x, last], axis), axis, before, after)


def _replicated(x: jax.Array, axis: int, before: int, after: int) -> jax.Array:
    def repeated(position: int, times: int) -> jax.Array:
        edge = lax.slice_in_dim(x, position, position + 1, axis=axis)
        shape = (*x.shape[:axis], max(times, 0), *x.shape[axis + 1 :])
        return jnp.broadcast_to(edge, shape)

    pieces = [repeated(0, before), x, repeated(x.shape[axis] - 1, after)]
    return _cropped(lax.concatenate(pieces, axis), axis, before, after)


def _circled(x: jax.Array, axis: int, before: int, after: int) -> jax.Array:
    x = _cropped(x, axis, before, after)
    n = x.shape[axis]
    if n == 0 or max(before, after) <= 0:
        return x
    if decided(lambda: max(before, after) > n, otherwise=False):  # the other side was cropped
        around = np.arange(-max(before, 0), n + max(after, 0)) % max(n, 1)
        return jnp.take(x, around, axis, mode="clip")
    first = lax.slice_in_dim(x, n - max(before, 0), n, axis=axis)
    last = lax.slice_in_dim(x, 0, max(after, 0), axis=axis)
    return lax.concatenate([first, x, last], axis)


_EXTENSIONS: dict[str, Callable[[jax.Array, int, int, int], jax.Array]] = {
    "reflect": _reflected,
    "replicate": _replicated,
    "circular": _circled,
}
