"""More elements than there were: broadcasting and repetition."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from functx._core import ArrayLike, describe, operator, Promote, refuse, Shape


__all__ = ["broadcast_to", "expand", "repeat"]


@operator(promote=Promote.NO_OPMATH)
def expand(input: ArrayLike, size: Shape) -> Array:
    """Repeats dimensions of size 1, and adds leading ones, until the shape is `size`.

    -1 leaves a dimension as it is. The gradient is the sum over what was repeated.
    Raises `RuntimeError` if `input` does not broadcast to `size`.

    >>> functx.expand(jnp.asarray([[1.0], [2.0]], "float32"), (-1, 3))
    Array([[1., 1., 1.],
           [2., 2., 2.]], dtype=float32)
    """
    return _expanded(input, size)


@operator(promote=Promote.NO_OPMATH)
def broadcast_to(input: ArrayLike, size: Shape) -> Array:
    """The same as `expand`.

    >>> functx.broadcast_to(jnp.asarray([1.0, 2.0], "float32"), (2, 2))
    Array([[1., 2.],
           [1., 2.]], dtype=float32)
    """
    return _expanded(input, size)


def _expanded(input: Array, size: tuple[int, ...]) -> Array:
    new = len(size) - input.ndim
    if new < 0:
        refuse(f"`size` must have at least {input.ndim} entries, got {list(size)}")
    if -1 in size[:new]:
        refuse(f"`size` may be -1 only where {describe(input)} has a dimension, got {list(size)}")
    before = (1,) * new + input.shape
    for m, n in zip(size, before, strict=True):
        if m < -1 or (m != -1 and n not in (1, m)):
            refuse(f"{describe(input)} does not broadcast to {list(size)}")
    wanted = tuple(n if m == -1 else m for m, n in zip(size, before, strict=True))
    return jnp.broadcast_to(input, wanted)


@operator(promote=Promote.NO_OPMATH)
def repeat(input: ArrayLike, repeats: Shape) -> Array:
    """Lays `repeats[i]` copies of `input` behind one another along dimension `i`.

    Shapes: more repeats than dimensions add leading ones: `[3] -> [2, 6]` for `(2, 2)`.
    This is `torch.Tensor.repeat`; NumPy's `repeat` is `repeat_interleave` here.

    >>> functx.repeat(jnp.asarray([1.0, 2.0], "float32"), (2, 2))
    Array([[1., 2., 1., 2.],
           [1., 2., 1., 2.]], dtype=float32)
    """
    if len(repeats) < input.ndim:
        refuse(f"`repeats` must have at least {input.ndim} entries, got {list(repeats)}")
    before = (1,) * (len(repeats) - input.ndim) + input.shape
    if any(n > 0 > count for n, count in zip(before, repeats, strict=True)):
        refuse(f"`repeats` must not be negative, got {list(repeats)}")
    return jnp.tile(input, [max(count, 0) for count in repeats])
