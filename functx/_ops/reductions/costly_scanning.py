"""Running results along a dimension, for combinations that cost much."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import jax.numpy as jnp
from jax import Array, lax

from functx._core import known

from .scanning import Combine, Parts, running


_BLOCK = 8


def running_costly(combine: Combine, parts: Parts, axis: int) -> Parts:
    """What `combine` makes of all elements up to each, where a combination must not be made twice.

    Elements are combined one by one within blocks, for all blocks at a time, and the last elements
    of the blocks likewise: on a CPU, twice as fast as `lax.associative_scan`.
    """
    n = parts[0].shape[axis]
    if n == 0:
        return parts
    if not known(n):
        return running(combine, parts, axis)
    if n <= _BLOCK:
        each = (_between(parts, i, i + 1, axis) for i in range(n))
        return _joined(list(itertools.accumulate(each, combine)), axis)
    whole = n - n % _BLOCK
    blocks = tuple(_blocks(x, whole, axis) for x in parts)
    each = (_squeezed(_between(blocks, i, i + 1, axis + 1), axis + 1) for i in range(_BLOCK))
    inside = list(itertools.accumulate(each, combine))
    last = _between(inside[-1], 0, whole // _BLOCK - 1, axis)
    before = running_costly(combine, last, axis)
    inside = [_onto(combine, before, each, axis) for each in inside]
    out = tuple(
        jnp.stack(column, axis + 1).reshape(*x.shape[:axis], whole, *x.shape[axis + 1 :])
        for column, x in zip(zip(*inside, strict=True), parts, strict=True)
    )
    if whole == n:
        return out
    rest = [_between(parts, i, i + 1, axis) for i in range(whole, n)]
    rest = itertools.accumulate([_between(out, whole - 1, whole, axis), *rest], combine)
    return _joined([out, *list(rest)[1:]], axis)


def _onto(combine: Combine, before: Parts, each: Parts, axis: int) -> Parts:
    """Each element combined with what comes `before` its block; the first block stays as it is."""
    first, others = _between(each, 0, 1, axis), _between(each, 1, None, axis)
    return _joined([first, combine(before, others)], axis)


def _blocks(x: Array, whole: int, axis: int) -> Array:
    head = lax.slice_in_dim(x, 0, whole, axis=axis)
    return head.reshape(*x.shape[:axis], whole // _BLOCK, _BLOCK, *x.shape[axis + 1 :])


def _squeezed(parts: Parts, axis: int) -> Parts:
    return tuple(lax.squeeze(x, [axis]) for x in parts)


def _between(parts: Parts, start: int, stop: int | None, axis: int) -> Parts:
    return tuple(lax.slice_in_dim(x, start, stop, axis=axis) for x in parts)


def _joined(pieces: Sequence[Parts], axis: int) -> Parts:
    return tuple(lax.concatenate(column, axis) for column in zip(*pieces, strict=True))
