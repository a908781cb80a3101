"""Integers and bools handled as if they were something else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

from functx._core import category
from functx.testing.calls import Calls, Given, replaced
from functx.testing.variations import poked

from .mutant import Mutant, planted
from .numpy_arithmetic import as_numpy, constant, on_leaves, where
from .subject import Subject
from .values import elementwise


def integer_mutants(subject: Subject) -> Iterator[Mutant]:
    """In each kind of integer that the operator accepts."""
    wide = subject.takes("int64", "int32")
    if wide is not None:
        big = [2**24 + 1, 2**25 + 3, -(2**24) - 5]
        yield from _mutant(subject, "integers in float32", wide, _in_float32, big)
        info = np.iinfo(wide)
        if any(elementwise(subject, target) for target in subject.targets):
            edge = _off_at_edges
            yield from _mutant(subject, "wrong at the extremes", wide, edge, [info.max, info.min])
    if "uint8" in subject.info.accepted:
        yield from _mutant(subject, "uint8 as int8", "uint8", _as_kind("uint8", "int8"), [200, 255])
    if "bool" in subject.info.accepted:
        yield from _mutant(subject, "bool as int32", "bool", _as_kind("bool", "int32"), [True])


def _mutant(
    subject: Subject,
    kind: str,
    dtype: str,
    mistake: Callable[[Calls, Given], Any],
    values: list[Any],
) -> Iterator[Mutant]:
    """The mutant, if its mistake shows in whole results once `values` are put into a sample."""
    op = planted(subject.calls, lambda given: True, mistake)
    touches = lambda sample: subject.shows(sample, op, refused=False)
    for sample in subject.samples(dtype):
        if any(category(y.dtype) >= 2 for y in subject.output(sample) or ()):
            continue
        for target, x in subject.arrays(sample).items():
            if x.dtype != np.dtype(dtype) or not x.size:
                continue
            if touches(subject.with_arrays(sample, {target: poked(x, values)})):
                cells = (("reference", dtype), ("dtypes", dtype))
                yield Mutant(kind, dtype, op, cells, touches)
                return


def _changed(op: Calls, given: Given, change: Callable[[Any], Any]) -> Given:
    for target, x in op.arrays(given).items():
        if op.spec is None or target.partition("[")[0] in op.spec.promoting:
            given = replaced(given, target, change(as_numpy(x)))
    return given


def _in_float32(op: Calls, given: Given) -> Any:
    def narrowed(x: Any) -> Any:
        if category(x.dtype) != 1:
            return x
        rounded, top = x.astype("float32"), np.float32(np.iinfo(x.dtype).max)
        below = np.nextafter(top, np.float32(0))  # `top` itself may be one too many
        return where(rounded < top, rounded, below).astype(x.dtype)

    return on_leaves(narrowed, op(_changed(op, given, narrowed)))


def _off_at_edges(op: Calls, given: Given) -> Any:
    masks = []
    for x in map(as_numpy, op.arrays(given).values()):
        if category(x.dtype) == 1:
            info = jnp.iinfo(x.dtype)
            masks.append((x == info.max) | (x == info.min))
    out = op(given)
    for mask in masks:
        out = on_leaves(lambda y, m=mask: _off(y, m), out)
    return out


def _off(y: Any, mask: Any) -> Any:
    if category(y.dtype) >= 2 or jnp.broadcast_shapes(y.shape, mask.shape) != y.shape:
        return y
    other = ~y if category(y.dtype) == 0 else y - constant(1, y)
    return where(mask, other, y)


def _as_kind(dtype: str, other: str) -> Callable[[Calls, Given], Any]:
    def mistake(op: Calls, given: Given) -> Any:
        change = lambda x: x.astype(other) if x.dtype == dtype else x
        back = lambda y: y.astype(dtype) if y.dtype == other == "int8" else y
        return on_leaves(back, op(_changed(op, given, change)))

    return mistake
