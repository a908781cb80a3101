"""Several arrays as one."""

from __future__ import annotations

from typing import Any

from jax import Array, lax

from functx._core import Arrays, Autocast, canonical_dim, describe, operator, Promote, refuse


__all__ = ["cat", "stack"]


@operator(
    promote=Promote.NO_OPMATH,
    autocast=Autocast.WIDEST,
    aliases=("concat", "concatenate"),
)
def cat(tensors: Arrays, dim: int = 0) -> Array:
    """Joins arrays along a dimension that they have.

    Shapes: sizes agree in the other dimensions. Arrays of shape `[0]` fit anywhere.
    Dtypes: the common one.

    >>> functx.cat([jnp.asarray([1, 2], "int32"), jnp.asarray([3.0], "float32")])
    Array([1., 2., 3.], dtype=float32)
    """
    _check_several(tensors)
    for i, x in enumerate(tensors):
        if not x.ndim:
            refuse(f"`tensors[{i}]` must have a dimension, got {describe(x)}", hint="try `stack`")
    joined = [x for x in tensors if x.shape != (0,)] or list(tensors[:1])
    dim = canonical_dim(dim, joined[0].ndim)
    others = lambda x: x.shape[:dim] + x.shape[dim + 1 :]
    for x in joined:
        if x.ndim != joined[0].ndim or others(x) != others(joined[0]):
            refuse(f"`tensors` must agree in shape but for dimension {dim}, got {_shown(tensors)}")
    return lax.concatenate(joined, dim)


@operator(promote=Promote.NO_OPMATH, autocast=Autocast.WIDEST)
def stack(tensors: Arrays, dim: int = 0) -> Array:
    """Joins arrays of one shape along a new dimension, which will be number `dim`.

    >>> functx.stack([jnp.zeros(2, "float32"), jnp.ones(2, "float32")], -1)
    Array([[0., 1.],
           [0., 1.]], dtype=float32)
    """
    _check_several(tensors)
    if len({x.shape for x in tensors}) > 1:
        refuse(f"`tensors` must have one shape, got {_shown(tensors)}")
    dim = canonical_dim(dim, tensors[0].ndim + 1)
    return lax.concatenate([lax.expand_dims(x, [dim]) for x in tensors], dim)


def _check_several(tensors: Any) -> None:
    if not tensors:
        refuse("`tensors` must not be empty", error=ValueError)
    for i, x in enumerate(tensors):
        if x is None:
            refuse(f"`tensors[{i}]` must be an array, got None", error=TypeError)


def _shown(tensors: Any) -> str:
    return ", ".join(map(describe, tensors))
