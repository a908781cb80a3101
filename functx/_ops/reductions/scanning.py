"""Running results along a dimension."""

from __future__ import annotations

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    category,
    decided,
    known,
)
from functx._core.rules.custom_derivatives import derivative_rules

from .ties import places


Parts = tuple[Array, ...]
Combine = Callable[[Parts, Parts], Parts]

_BLOCK = 8  # elements in a block: a vector of the processor


def scanned(scan: Callable[..., Array], input: Array, dim: int) -> Array:
    """`scan(input, axis=dim)`, which leaves a 0-d array as it is."""
    return scan(input, axis=dim) if input.ndim else input


def running(
    combine: Combine, parts: Parts, axis: int, *, backwards: bool = False, cheap: bool = True
) -> Parts:
    """What the associative `combine` makes of all elements up to each; `parts` describe them.

    Elements are combined within blocks, for all blocks at a time, and the last elements of the
    blocks likewise. Within a block, a `cheap` combination of one instruction or two is made anew
    for each element from all before it; any other, of the results for two elements, four and eight.
    As a symbolic size does not say how many blocks there are, its elements are combined one by one.
    """
    n = parts[0].shape[axis]
    if not known(n):
        return _one_by_one(combine, parts, axis, backwards)
    within = _with_each_before if cheap else _doubling
    if n <= _BLOCK:
        return within(combine, parts, axis, backwards)
    blocks = tuple(_blocks(x, axis, backwards) for x in parts)
    if n % _BLOCK:
        blocks = _computed(blocks, axis + 1)
    inside = _computed(within(combine, blocks, axis + 1, backwards), axis + 1)
    end = 0 if backwards else _BLOCK - 1
    last = tuple(lax.index_in_dim(x, end, axis + 1, keepdims=False) for x in inside)
    last = tuple(_extended(x, -1, axis, not backwards) for x in last)
    before = running(combine, _computed(last, axis), axis, backwards=backwards, cheap=cheap)
    before = _computed(tuple(_extended(x, 1, axis, backwards) for x in before), axis)
    before = tuple(jnp.expand_dims(x, axis + 1) for x in before)
    out = _from(1, axis, backwards, combine(before, inside), inside)
    return tuple(_joined(x, n, axis, backwards) for x in out)


def _one_by_one(combine: Combine, parts: Parts, axis: int, backwards: bool) -> Parts:
    moved = tuple(jnp.moveaxis(x, axis, 0) for x in parts)
    size = n = moved[0].shape[0]
    if not decided(lambda: n > 0, otherwise=False):  # one more, since a loop needs an element
        moved, n = tuple(_extended(x, 1, 0, at_end=not backwards) for x in moved), n + 1
    end = -1 if backwards else 0
    first = tuple(x[end] for x in moved)
    is_first = lax.iota(np.int32, n) == (n - 1 if backwards else 0)

    # XLA's loop takes all elements, since one less than a symbolic size may be none.
    def step(before: Parts, element: tuple[Array, Parts]) -> tuple[Parts, Parts]:
        starts, part = element
        now = combine(before, part)
        now = tuple(jnp.where(starts, x, y) for x, y in zip(part, now, strict=True))
        return now, now

    _, out = lax.scan(step, first, (is_first, moved), reverse=backwards)
    begin = n - size if backwards else 0
    out = (lax.slice_in_dim(x, begin, begin + size) for x in out)
    return tuple(jnp.moveaxis(x, 0, axis) for x in out)


def running_sum(x: Array, axis: int, *, backwards: bool = False) -> Array:
    """The sum of all elements up to each."""

    def forward(x: Array) -> Array:
        return running(lambda a, b: (a[0] + b[0],), (x,), axis, backwards=backwards)[0]

    if category(x.dtype) < 2:
        return forward(x)
    return derivative_rules(
        forward,
        jvp=lambda primals, output, tangents: running_sum(tangents[0], axis, backwards=backwards),
        vjp=lambda primals, output, cotangent: (
            running_sum(cotangent, axis, backwards=not backwards),
        ),
        name="running_sum",
    )(x)


def running_product(x: Array, axis: int) -> Array:
    """The product of all elements up to each. Derivatives divide by no element."""

    def forward(x: Array) -> Array:
        return running(lambda a, b: (a[0] * b[0],), (x,), axis)[0]

    def jvp(primals: tuple, output: Array, tangents: tuple) -> Array:
        return _recurrence(primals[0], previous(output, axis, first=1) * tangents[0], axis)

    def vjp(primals: tuple, output: Array, cotangent: Array) -> tuple:
        slope = _transposed(primals[0], cotangent, axis)
        return (previous(output, axis, first=1) * slope,)

    if category(x.dtype) < 2:
        return forward(x)
    return derivative_rules(forward, jvp=jvp, vjp=vjp, name="running_product")(x)


def running_maximum(x: Array, axis: int) -> Array:
    """The greatest of all elements up to each, where an element costs many instructions."""
    n = x.shape[axis]
    if (
        known(n) and n % _BLOCK == 0
    ):  # padded blocks are held in memory, not computed for each element anew
        x = _extended(x, 1, axis, at_end=True)
    out = running(lambda a, b: (lax.max(a[0], b[0]),), (x,), axis)[0]
    return lax.slice_in_dim(out, 0, n, axis=axis)


def last_greatest(x: Array, axis: int) -> Array:
    """The position of the greatest of all integers up to each, the last one of equals."""
    where = places(x, axis)
    if where.dtype == np.int32 and x.dtype.itemsize <= 4 and x.dtype != np.uint32:
        return _greatest_pair(x.astype(np.int32), where, axis)
    reached = x == running_maximum(x, axis)
    return running_maximum(jnp.where(reached, where, 0), axis)


def _greatest_pair(x: Array, where: Array, axis: int) -> Array:
    """`where` of the greatest `x` up to each, for equals the greatest: both as one 64-bit integer.

    64-bit integers are used here alone, whatever the user chose: none goes in or comes out.
    """
    with jax.enable_x64(True):
        pairs = lax.bitcast_convert_type(jnp.stack([where, x], -1), np.dtype(np.int64))
        found = lax.bitcast_convert_type(running_maximum(pairs, axis), np.dtype(np.int32))
        return lax.index_in_dim(found, 0, x.ndim, keepdims=False)


def running_choice(x: Array, index: Array, axis: int) -> Array:
    """The elements of `x` at `index`, which never falls and never exceeds its own position."""

    def forward(x: Array, index: Array) -> Array:
        return jnp.take_along_axis(x, index, axis=axis, mode="promise_in_bounds")

    return derivative_rules(
        forward,
        jvp=lambda primals, output, tangents: running_choice(tangents[0], primals[1], axis),
        vjp=lambda primals, output, cotangent: (_chosen(cotangent, primals[1], axis), None),
        name="running_choice",
    )(x, index)


def _chosen(cotangent: Array, index: Array, axis: int) -> Array:
    """The transposed map: the sum of `cotangent` over the one stretch that chose each element."""

    def forward(cotangent: Array, index: Array) -> Array:
        add = lambda x, y: (y[0] + jnp.where(x[1] == y[1], x[0], 0), y[1])
        sums = running(add, (cotangent, index), axis, backwards=True)[0]
        return jnp.where(places(cotangent, axis) == index, sums, 0)

    return derivative_rules(
        forward,
        jvp=lambda primals, output, tangents: _chosen(tangents[0], primals[1], axis),
        vjp=lambda primals, output, cotangent: (
            running_choice(
                jnp.where(places(cotangent, axis) == primals[1], cotangent, 0), primals[1], axis
            ),
            None,
        ),
        name="chosen",
    )(cotangent, index)


def _recurrence(factor: Array, term: Array, axis: int, *, backwards: bool = False) -> Array:
    r"""$h_i = a_i\, h_{i-1} + b_i$ from $h_{-1} = 0$, where $a$ is `factor` and $b$ is `term`."""

    def forward(a: Array, b: Array) -> Array:
        step = lambda x, y: (x[0] * y[0], y[0] * x[1] + y[1])
        return running(step, (a, b), axis, backwards=backwards, cheap=False)[1]

    def jvp(primals: tuple, output: Array, tangents: tuple) -> Array:
        (a, _), (da, db) = primals, tangents
        term = da * previous(output, axis, backwards=backwards) + db
        return _recurrence(a, term, axis, backwards=backwards)

    def vjp(primals: tuple, output: Array, cotangent: Array) -> tuple:
        slope = _transposed(primals[0], cotangent, axis, backwards=backwards)
        return slope * previous(output, axis, backwards=backwards), slope

    return derivative_rules(forward, jvp=jvp, vjp=vjp, name="recurrence")(factor, term)


def _transposed(factor: Array, cotangent: Array, axis: int, *, backwards: bool = False) -> Array:
    """The transposed map of the recurrence on `cotangent`: a recurrence in the other direction."""
    factor = previous(factor, axis, backwards=not backwards)
    return _recurrence(factor, cotangent, axis, backwards=not backwards)


def previous(x: Array, axis: int, *, first: float = 0, backwards: bool = False) -> Array:
    """The predecessor of each element along `axis`; that of the first is `first`."""
    return _shifted(x, 1, axis, backwards, first)


def _with_each_before(combine: Combine, parts: Parts, axis: int, backwards: bool) -> Parts:
    out = parts
    for k in range(1, parts[0].shape[axis]):
        earlier = tuple(_shifted(x, k, axis, backwards) for x in parts)
        out = _from(k, axis, backwards, combine(earlier, out), out)
    return out


def _doubling(combine: Combine, parts: Parts, axis: int, backwards: bool) -> Parts:
    k = 1
    while k < parts[0].shape[axis]:
        earlier = tuple(_shifted(x, k, axis, backwards) for x in parts)
        parts = _computed(_from(k, axis, backwards, combine(earlier, parts), parts), axis)
        k *= 2
    return parts


def _from(start: int, axis: int, backwards: bool, later: Parts, earlier: Parts) -> Parts:
    """`later` from the position `start` on."""

    def choose(x: Array, y: Array) -> Array:
        places = lax.broadcasted_iota(np.int32, x.shape, axis)
        if backwards:
            return jnp.where(places < x.shape[axis] - start, x, y)
        return jnp.where(places >= start, x, y)

    return tuple(map(choose, later, earlier))


def _blocks(x: Array, axis: int, backwards: bool) -> Array:
    """The blocks along `axis`, and their elements along the next one; padding comes last."""
    count = -(-x.shape[axis] // _BLOCK)
    x = _extended(x, count * _BLOCK - x.shape[axis], axis, not backwards)
    return x.reshape(*x.shape[:axis], count, _BLOCK, *x.shape[axis + 1 :])


def _joined(x: Array, n: int, axis: int, backwards: bool) -> Array:
    x = x.reshape(*x.shape[:axis], x.shape[axis] * x.shape[axis + 1], *x.shape[axis + 2 :])
    return _extended(x, n - x.shape[axis], axis, not backwards)


def _shifted(x: Array, by: int, axis: int, backwards: bool, value: float = 0) -> Array:
    return _padded(x, (-by, by) if backwards else (by, -by), axis, value)


def _extended(x: Array, by: int, axis: int, at_end: bool) -> Array:
    """`x` with `by` more elements, or fewer if `by` is negative, at one of its ends."""
    return _padded(x, (0, by) if at_end else (by, 0), axis)


def _padded(x: Array, ends: tuple[int, int], axis: int, value: float = 0) -> Array:
    pads = [(*ends, 0) if i == axis else (0, 0, 0) for i in range(x.ndim)]
    return lax.pad(x, np.asarray(value, x.dtype), pads)


def _computed(parts: Parts, axis: int) -> Parts:
    """`parts`, computed once and held in memory.

    XLA computes a few instructions anew wherever their result is used, here for all elements of a
    block, of a block of blocks, and so on. It does not do so with the result of a gather; this one
    takes all rows in order, for each of the dimensions from `axis` on.
    """
    return tuple(_held(axis, x) for x in parts)


def _held(axis: int, x: Array) -> Array:
    if math.prod(x.shape[:axis]) == 1 and axis < x.ndim:  # XLA drops a gather of one row
        axis += 1

    def forward(x: Array) -> Array:
        rows = x.reshape(math.prod(x.shape[:axis]), *x.shape[axis:])
        place = lax.iota(np.int32, rows.shape[0])
        rows = rows.at[place].get(
            mode="promise_in_bounds", unique_indices=True, indices_are_sorted=True
        )
        return rows.reshape(x.shape)

    if category(x.dtype) < 2:
        return forward(x)
    return derivative_rules(
        forward,
        jvp=lambda primals, output, tangents: _held(axis, *tangents),
        vjp=lambda primals, output, cotangent: (_held(axis, cotangent),),
        name="held",
    )(x)
