"""Sums, means and maxima of rows of a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, overload

import jax.numpy as jnp
from jax import Array, lax
from jax.core import max_dim

from functx._core import (
    Accepts,
    accumulator,
    ArrayLike,
    category,
    describe,
    Index,
    index_in_range,
    known,
    operator,
    Promote,
    RealScalar,
    refuse,
    Requirement,
    Size,
    UnpromotedArray,
)
from functx._core.context.user_contexts import lookups_are_sought
from functx._core.numbers.bitwise_comparison import ordered_bits

from .bag_sums import LEAST, sums_of_bags, sums_of_equal_bags
from .table_rows import check_table, is_table, rows_of_table


__all__ = ["embedding_bag"]


def _rows_and_bags_exist(
    *, input: Any, weight: Any, offsets: Any, **_: Any
) -> Iterator[Requirement]:
    yield index_in_range(input, weight.shape[0], name="input")
    if offsets is not None and offsets.ndim == 1 and offsets.size:
        first = offsets[:1]
        yield Requirement(first == 0, "`offsets` must begin with 0, got {got}", first)
        inside = (offsets >= 0) & (offsets <= input.size)
        message = f"`offsets` must lie in [0, {input.size}], got {{got}}"
        yield Requirement(inside, message, offsets)


def _table_may_come_first(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The arguments in their present order, also from PyTorch's older one."""
    if len(args) > 1 and is_table(args[0]) and not is_table(args[1]):
        args = (args[1], args[0], *args[2:])
    return args, kwargs


@overload
def embedding_bag(
    input: Index,
    weight: ArrayLike,
    offsets: Index | None = None,
    max_norm: RealScalar | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: Literal["mean", "sum", "max"] = "mean",
    sparse: bool = False,
    per_sample_weights: UnpromotedArray | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Array: ...
@overload
def embedding_bag(
    weight: ArrayLike,
    input: Index,
    offsets: Index | None = None,
    max_norm: RealScalar | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: Literal["mean", "sum", "max"] = "mean",
    sparse: bool = False,
    per_sample_weights: UnpromotedArray | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Array: ...
@operator(
    promote=Promote.NO_OPMATH,
    accepts=Accepts.FLOATING,
    requires=_rows_and_bags_exist,
    other_signatures=_table_may_come_first,
)
def embedding_bag(
    input: Index,
    weight: ArrayLike,
    offsets: Index | None = None,
    max_norm: RealScalar | None = None,
    norm_type: float = 2.0,  # static: it chooses how to compute the norm
    scale_grad_by_freq: bool = False,
    mode: Literal["mean", "sum", "max"] = "mean",
    sparse: bool = False,
    per_sample_weights: UnpromotedArray | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Array:
    """The mean, the sum or the maximum of rows of a table, for each bag of row numbers.

    Shapes: `input: [B, n]`, or `input: [n]` and `offsets: [B]`, and `weight: [rows, width]` give
    `[B, width]`.

    - `input`: the numbers of the rows, integers. It may come after `weight`, as it once did.
    - `weight`: the table.
    - `offsets`: where each bag begins in `input`, starting with 0. It is needed where `input` has
      one dimension; with two, each row of `input` is a bag.
    - `max_norm`: if not None, rows with a greater norm come scaled down to it. PyTorch scales the
      table in place; here `weight` is left alone. The gradient does not see the scaling.
    - `norm_type`: the order of that norm.
    - `scale_grad_by_freq`: whether to divide the gradient of a row by the number of times that
      `input` names it; not for `"max"`.
    - `mode`: `"mean"`, `"sum"` or `"max"`. An empty bag gives 0.
    - `sparse`: must be False, since gradients are dense.
    - `per_sample_weights`: a factor for each row, in the shape of `input` and the dtype of
      `weight`; for `"sum"` alone.
    - `include_last_offset`: whether `offsets` also holds where the last bag ends.
    - `padding_idx`: rows of this number are left out of their bags, and have no gradient.

    Under `jit` and on accelerators, rows that do not exist are NaN.
    Dtypes: that of `weight`; float16 and bfloat16 are summed in float32.
    Gradients: of equal maxima, the first gets the gradient.
    Errors: IndexError for rows that do not exist, in eager calls on the CPU, and for such a
    `padding_idx`; RuntimeError for `offsets` out of range and for shapes; ValueError for options;
    NotImplementedError for `per_sample_weights` in another mode; TypeError for dtypes.

    >>> table = jnp.asarray([[1.0], [2.0], [4.0]], "float32")
    >>> rows, offsets = jnp.asarray([0, 1, 2]), jnp.asarray([0, 2])
    >>> functx.nn.functional.embedding_bag(rows, table, offsets, mode="sum")
    Array([[3.],
           [4.]], dtype=float32)
    """
    index = jnp.asarray(input)
    _check(index, weight, offsets, mode, per_sample_weights, scale_grad_by_freq)
    bags = _bags(index, offsets, include_last_offset)
    plain = per_sample_weights is None and max_norm is None and not scale_grad_by_freq
    if mode != "max" and plain and _long_enough(index, weight, bags[1]):
        check_table(index, weight, padding_idx, sparse)
        return _sums_or_means(index, weight, offsets, *bags, mode, padding_idx)
    options = (max_norm, norm_type, scale_grad_by_freq, sparse)
    rows = rows_of_table(index, weight, padding_idx, *options)
    rows = rows.astype(accumulator(rows.dtype))
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.astype(rows.dtype)[..., None]
    counted = _counted(index, weight, padding_idx)
    reduce = {"sum": _sums, "mean": _means, "max": _maxima}[mode]
    width = weight.shape[-1]
    out = reduce(rows.reshape(index.size, width), counted.ravel(), *bags)
    return out.astype(weight.dtype)


def _check(
    index: Array,
    weight: Array,
    offsets: Array | None,
    mode: str,
    per_sample_weights: Array | None,
    scale_grad_by_freq: bool,
) -> None:
    if mode not in ("mean", "sum", "max"):
        refuse(f"`mode` must be 'mean', 'sum' or 'max', got {mode!r}", error=ValueError)
    if index.ndim not in (1, 2):
        refuse(f"`input` must have 1 or 2 dimensions, got {describe(index)}", error=ValueError)
    if (index.ndim == 1) != (offsets is not None):
        refuse(
            "`offsets` must be given for an input of 1 dimension, and for it alone, got "
            f"{describe(index)}",
            error=ValueError,
        )
    if offsets is not None and (offsets.ndim != 1 or category(offsets.dtype) != 1):
        refuse(f"`offsets` must be integers of 1 dimension, got {describe(offsets)}")
    if mode == "max" and scale_grad_by_freq:
        refuse("`scale_grad_by_freq` is for the modes 'mean' and 'sum'")
    if per_sample_weights is None:
        return
    if mode != "sum":
        refuse(
            f"`per_sample_weights` is for the mode 'sum', got {mode!r}", error=NotImplementedError
        )
    if per_sample_weights.shape != index.shape or per_sample_weights.dtype != weight.dtype:
        refuse(
            f"`per_sample_weights` must have the shape of `input`, {list(index.shape)}, and the "
            f"dtype of `weight`, got {describe(per_sample_weights)}",
            error=ValueError,
        )


def _bags(index: Array, offsets: Array | None, include_last: bool) -> tuple[Array | None, int]:
    """The bag of each row, and the number of bags. Rows after the last bag have none.

    The first is None where all bags have the same size.
    """
    if offsets is None:
        return None, index.shape[0]
    if include_last and not offsets.size:
        refuse("`offsets` must hold where the last bag ends for `include_last_offset`")
    begun = jnp.zeros(index.size, "int32").at[offsets].add(1, mode="drop")
    return jnp.cumsum(begun) - 1, offsets.size - include_last


def _counted(index: Array, weight: Array, padding_idx: int | None) -> Array:
    if padding_idx is None:
        return jnp.ones(index.shape, bool)
    return index != padding_idx % weight.shape[0]


def _long_enough(index: Array, weight: Array, number: Size) -> bool:
    """Whether bags have rows enough for sums that do not hold all rows in memory."""
    if lookups_are_sought.value:
        return False
    if not (known(number) and known(index.size) and weight.ndim == 2 and known(weight.shape[0])):
        return False
    return number > 0 and weight.shape[0] > 0 and index.size >= LEAST * number


def _sums_or_means(
    index: Array,
    weight: Array,
    offsets: Array | None,
    bags: Array | None,
    number: int,
    mode: str,
    padding_idx: int | None,
) -> Array:
    rows = weight.shape[0]
    beyond = jnp.where(index < 0, rows, index)
    padding = None if padding_idx is None else padding_idx % rows
    if offsets is None or bags is None:
        out = sums_of_equal_bags(weight, beyond, padding)
    else:
        out = sums_of_bags(weight, beyond, offsets, bags, number, padding)
    if mode == "mean":
        counted = _counted(index, weight, padding_idx)
        out = _share_of(out, counted.ravel(), bags, number)
    return out.astype(weight.dtype)


def _each_bag(x: Array, number: int) -> Array:
    """`[bags, rows of a bag, ...]` for bags of the same size."""
    return x.reshape(number, x.shape[0] // max_dim(number, 1), *x.shape[1:])


def _total(x: Array, bags: Array | None, number: int) -> Array:
    if bags is None:
        return jnp.sum(_each_bag(x, number), 1)
    total = jnp.zeros((_held(number), *x.shape[1:]), x.dtype).at[bags].add(x, mode="drop")
    return total[:number]


def _held(number: Size) -> Size:
    """How many rows hold the results of this many bags: at least one, since JAX gathers nothing
    from no row.
    """
    return max_dim(number, 1)


def _sums(rows: Array, counted: Array, bags: Array | None, number: int) -> Array:
    return _total(jnp.where(counted[:, None], rows, 0), bags, number)


def _means(rows: Array, counted: Array, bags: Array | None, number: int) -> Array:
    return _share_of(_sums(rows, counted, bags, number), counted, bags, number)


def _share_of(total: Array, counted: Array, bags: Array | None, number: int) -> Array:
    """Sums of bags by how many rows each has."""
    sizes = _total(counted.astype(total.dtype), bags, number)
    return total / jnp.maximum(sizes, 1)[:, None]


def _maxima(rows: Array, counted: Array, bags: Array | None, number: int) -> Array:
    if rows.shape[0] == 0:
        return jnp.zeros((number, rows.shape[1]), rows.dtype)
    keys = ordered_bits(lax.stop_gradient(rows))  # a NaN is the greatest
    seen = jnp.where(counted[:, None], keys, jnp.iinfo(keys.dtype).min)
    first = _first_maxima(seen, counted, bags, number)
    columns = jnp.broadcast_to(jnp.arange(rows.shape[1]), first.shape)
    return rows.at[first, columns].get(mode="fill", fill_value=0)


def _first_maxima(seen: Array, counted: Array, bags: Array | None, number: int) -> Array:
    """The row with the first maximum of each bag and column, or the number of rows where there is
    none.
    """
    nowhere = seen.shape[0]
    if bags is None:
        first = jnp.argmax(_each_bag(seen, number), 1)
        chosen = first + jnp.arange(number)[:, None] * (seen.shape[0] // max_dim(number, 1))
        return jnp.where(counted[chosen], chosen, nowhere)
    shape, least = (_held(number), seen.shape[1]), jnp.iinfo(seen.dtype).min
    greatest = jnp.full(shape, least, seen.dtype).at[bags].max(seen, mode="drop")
    chosen = counted[:, None] & (seen == greatest.at[bags].get(mode="fill", fill_value=0))
    place = jnp.where(chosen, jnp.arange(nowhere)[:, None], nowhere)
    return jnp.full(shape, nowhere, place.dtype).at[bags].min(place, mode="drop")[:number]
