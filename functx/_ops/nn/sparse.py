"""Operators on class and token numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, overload

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    accumulator,
    ArrayLike,
    available,
    category,
    describe,
    glanced,
    Index,
    index_in_range,
    indices_at_hand,
    LONG,
    operator,
    Promote,
    Real,
    real_of,
    refuse,
    Requirement,
    rounded_first,
)
from functx._core.rules import derivative_rules
from functx._ops.reductions.power_norms import vector_norm


__all__ = ["embedding", "one_hot"]


def _rows_at_hand(input: Any, weight: Any, *_: Any, **__: Any) -> bool:
    return indices_at_hand(input, weight.shape[0])


@glanced(_rows_at_hand)
def _rows_exist(*, input: Any, weight: Any, **_: Any) -> Iterator[Requirement]:
    yield index_in_range(input, weight.shape[0], name="input")


_TABLE_FIRST = ("weight", "input", "padding_idx", "scale_grad_by_freq", "sparse")


def _table_may_come_first(args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """`torch.embedding` beside `torch.nn.functional.embedding(input, weight, ...)`."""
    if "indices" in kwargs:
        kwargs = {"input" if name == "indices" else name: x for name, x in kwargs.items()}
    elif len(args) < 2 or not _is_table(args[0]) or _is_table(args[1]):
        return args, kwargs
    if len(args) > len(_TABLE_FIRST) or not kwargs.keys().isdisjoint(_TABLE_FIRST[: len(args)]):
        return args, kwargs
    kwargs = dict(zip(_TABLE_FIRST, args, strict=False)) | kwargs
    if kwargs.get("padding_idx") == -1:
        del kwargs["padding_idx"]
    return (), kwargs


def _is_table(x: Any) -> bool:
    dtype = getattr(x, "dtype", None)
    return dtype is not None and category(dtype) > 1


@overload
def embedding(
    input: Index,
    weight: ArrayLike,
    padding_idx: int | None = None,
    max_norm: Real | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Array: ...
@overload
def embedding(
    weight: ArrayLike,
    indices: Index,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Array: ...
@operator(
    promote=Promote.NO_OPMATH,
    requires=_rows_exist,
    form=_table_may_come_first,
    aliases=("embedding",),
)
def embedding(
    input: Index,
    weight: ArrayLike,
    padding_idx: int | None = None,
    max_norm: Real | None = None,
    norm_type: float = 2.0,  # static: it chooses how to compute the norm
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Array:
    r"""Rows of a table: $y_i = W_{x_i}$.

    Shapes: `input` is `[*n]`, `weight` is `[rows, width]`, the result `[*n, width]`.

    A floating table before an integer index, as `torch.embedding` has them, is understood too;
    a `padding_idx` of -1 is none there, and the last row here.

    - `padding_idx`: a row that gets no gradient.
    - `max_norm`: rows whose `norm_type`-norm exceeds it come scaled down to it. PyTorch scales
      the table in place; here `weight` is left alone. As there, the gradient does not see it.
    - `scale_grad_by_freq`: divides a row's gradient by how often `input` names it.
    - `sparse` has no effect: gradients are dense.

    Under `jit` and on accelerators, rows that do not exist are NaN (0 for integer tables).

    >>> functx.nn.functional.embedding(jnp.asarray([1, 1]), jnp.asarray([[1.0], [2.0]], "float32"))
    Array([[2.],
           [2.]], dtype=float32)
    """
    index = jnp.asarray(input)
    if category(index.dtype) != 1:
        refuse(f"`input` must hold integers, got {describe(index)}", error=TypeError)
    if weight.ndim != 2:
        refuse(f"`weight` must have 2 dimensions, got {describe(weight)}")
    rows = weight.shape[0]
    if padding_idx is not None:
        if not -rows <= padding_idx < rows:
            refuse(
                f"`padding_idx` must lie in [{-rows}, {rows - 1}], got {padding_idx}",
                error=IndexError,
            )
        padding = (jnp.arange(rows) == padding_idx % rows)[:, None]
        weight = jnp.where(padding, lax.stop_gradient(weight), weight)
    beyond = jnp.where(index < 0, rows, index)
    fill = jnp.nan if category(weight.dtype) >= 2 else 0
    if rows == 0:
        return jnp.full((*index.shape, weight.shape[1]), fill, weight.dtype)
    out = weight.at[beyond].get(mode="fill", fill_value=fill)
    if max_norm is not None:
        if category(weight.dtype) < 2:
            refuse(f"`max_norm` is for floating tables, got {describe(weight)}", error=TypeError)
        # No derivative goes through the clipped rows: of their norms some have none.
        seen, limit = lax.stop_gradient((out, max_norm))
        out = _in_place_of(out, _clipped(seen, limit, norm_type))
    if scale_grad_by_freq:
        counts = jnp.zeros(rows, out.dtype).at[beyond.ravel()].add(1, mode="drop")
        share = 1 / counts.at[beyond].get(mode="fill", fill_value=1)[..., None]
        out = _with_share(out, share)
    return out


# Values as they are, gradients of something else.
_in_place_of = derivative_rules(
    lambda raw, clipped: clipped, jvp=lambda p, output, t: t[0], name="in_place_of"
)
_with_share = derivative_rules(
    lambda x, share: x, jvp=lambda p, output, t: t[0] * p[1], name="with_share"
)


def _clipped(rows: Array, max_norm: Any, norm_type: float) -> Array:
    wide = rows.astype(accumulator(rows.dtype))
    norms = vector_norm(wide, norm_type, (rows.ndim - 1,))[..., None]
    # PyTorch's norm has the table's dtype, and its limit and its scale more digits.
    norms = rounded_first(norms, real_of(rows.dtype))
    limit = lax.convert_element_type(max_norm, norms.dtype)
    scaled = (wide * (limit / (norms + 1e-7)).astype(wide.dtype)).astype(rows.dtype)
    return jnp.where(norms > limit, scaled, rows)


def _count_classes(tensor: Index, num_classes: int = -1) -> Array:
    _require_classes(jnp.asarray(tensor))
    if jnp.size(tensor) == 0:
        refuse("the number of classes of an empty array is unknown", hint="pass `num_classes=`")
    return jnp.max(jnp.asarray(tensor)) + 1


def _require_classes(tensor: Array) -> None:
    if category(tensor.dtype) != 1:
        refuse(f"`tensor` must hold integers, got {describe(tensor)}", error=TypeError)


def _classes_exist(*, tensor: Any, num_classes: int, **_: Any) -> Iterator[Requirement]:
    yield Requirement(tensor >= 0, "class numbers must not be negative, got {got}", tensor)
    if num_classes != -1:
        message = f"class numbers must be less than num_classes={num_classes}, got {{got}}"
        yield Requirement(tensor < num_classes, message, tensor)


@operator(
    promote=Promote.NONE,
    differentiable=False,
    measured={"num_classes": _count_classes},
    requires=_classes_exist,
)
def one_hot(tensor: Index, num_classes: int = -1) -> Array:
    """A 1 at each element's class number, and 0 elsewhere.

    Shapes: `[*n] -> [*n, num_classes]`, by default the greatest class number plus one, which
    `jit` cannot know. Dtypes: int64. A class that does not exist is a row of zeros under
    `jit` and on accelerators.

    >>> functx.nn.functional.one_hot(jnp.asarray([0, 2])).tolist()
    [[1, 0, 0], [0, 0, 1]]
    """
    tensor = jnp.asarray(tensor)
    _require_classes(tensor)
    if num_classes < 0:
        refuse(f"`num_classes` must be -1 or more, got {num_classes}", error=ValueError)
    classes = lax.iota(tensor.dtype, num_classes)
    return (tensor[..., None] == classes).astype(available(LONG))
