"""Operators on numbers of classes and tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, overload

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
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
    RealScalar,
    refuse,
    Requirement,
)

from .table_rows import is_table, rows_of_table


__all__ = ["embedding", "one_hot"]


def _rows_at_hand(input: Any, weight: Any, *_: Any, **__: Any) -> bool:
    return indices_at_hand(input, weight.shape[0])


@glanced(_rows_at_hand)
def _rows_exist(*, input: Any, weight: Any, **_: Any) -> Iterator[Requirement]:
    yield index_in_range(input, weight.shape[0], name="input")


_TABLE_FIRST = ("weight", "input", "padding_idx", "scale_grad_by_freq", "sparse")


def _table_may_come_first(args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """The arguments in the order of `torch.nn.functional.embedding`, also from that of
    `torch.embedding`.
    """
    if "indices" in kwargs:
        kwargs = {"input" if name == "indices" else name: x for name, x in kwargs.items()}
    elif len(args) < 2 or not is_table(args[0]) or is_table(args[1]):
        return args, kwargs
    if len(args) > len(_TABLE_FIRST) or not kwargs.keys().isdisjoint(_TABLE_FIRST[: len(args)]):
        return args, kwargs
    kwargs = dict(zip(_TABLE_FIRST, args, strict=False)) | kwargs
    if kwargs.get("padding_idx") == -1:
        del kwargs["padding_idx"]
    return (), kwargs


@overload
def embedding(
    input: Index,
    weight: ArrayLike,
    padding_idx: int | None = None,
    max_norm: RealScalar | None = None,
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
    other_signatures=_table_may_come_first,
    aliases=("embedding",),
)
def embedding(
    input: Index,
    weight: ArrayLike,
    padding_idx: int | None = None,
    max_norm: RealScalar | None = None,
    norm_type: float = 2.0,  # static: it chooses how to compute the norm
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Array:
    """Rows of a table: $y_i = W_{x_i}$ with $x$ the `input` and $W$ the `weight`.

    Shapes: `input` is `[*n]`, `weight` is `[rows, width]`, and the result is `[*n, width]`.

    - `padding_idx`: a row that gets no gradient; a negative number counts from the end.
    - `max_norm`: if not None, rows with a greater norm come scaled down to it. PyTorch scales the
      table in place; here `weight` is left alone. The gradient does not see the scaling.
    - `norm_type`: the order of that norm.
    - `scale_grad_by_freq`: whether to divide the gradient of a row by the number of times that
      `input` names it.
    - `sparse`: must be False, since gradients are dense.

    The order of `torch.embedding`, a floating table before an integer index, is understood too;
    there a `padding_idx` of -1 means none.
    Under `jit` and on accelerators, rows that do not exist are NaN (0 for integer tables).
    Errors: IndexError for rows that do not exist, in eager calls on the CPU, and for such a
    `padding_idx`; RuntimeError for a `weight` of another rank; ValueError for `sparse=True`;
    TypeError for dtypes.

    >>> functx.nn.functional.embedding(jnp.asarray([1, 1]), jnp.asarray([[1.0], [2.0]], "float32"))
    Array([[2.],
           [2.]], dtype=float32)
    """
    return rows_of_table(
        jnp.asarray(input), weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse
    )


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
    sizes_from_values={"num_classes": _count_classes},
    requires=_classes_exist,
)
def one_hot(tensor: Index, num_classes: int = -1) -> Array:
    """A 1 at the class number of each element, and 0 elsewhere.

    Shapes: `tensor: [*n] -> [*n, num_classes]`.

    - `tensor`: class numbers, integers from `[0, num_classes)`.
    - `num_classes`: the number of classes; by default, -1, it is the greatest class number plus
      one, which `jit` cannot know.

    Under `jit` and on accelerators, a class that does not exist gives a row of zeros.
    Dtypes: the result is int64.
    Errors: RuntimeError for classes that do not exist, in eager calls on the CPU, ValueError for
    another negative `num_classes`, TypeError for dtypes.

    >>> functx.nn.functional.one_hot(jnp.asarray([0, 2])).tolist()
    [[1, 0, 0], [0, 0, 1]]
    """
    tensor = jnp.asarray(tensor)
    _require_classes(tensor)
    if num_classes < 0:
        refuse(f"`num_classes` must be -1 or more, got {num_classes}", error=ValueError)
    classes = lax.iota(tensor.dtype, num_classes)
    return (tensor[..., None] == classes).astype(available(LONG))
