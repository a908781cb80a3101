"""Batched derivatives, with `vmap`, against one derivative after the other."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from functx import jvp, vmap
from functx._transforms.arguments import kind_of
from functx.testing.hiding import of_findings

from .analytical import Pull
from .comparison import failed, failed_by, Tolerances
from .point import ArrayTuple, Point
from .precision import in_double


__tracebackhide__ = of_findings


LANES = 2


def hold_batched_reverse(
    point: Point, pull: Pull, which: Sequence[int], tolerances: Tolerances
) -> None:
    """`vmap` over cotangents of each output gives what a loop gives."""
    random = np.random.default_rng(1)
    for i in which:
        lanes = normal_like(point.outputs[i], random, LANES)
        looped, mapped = _both_ways(
            point.who,
            lambda cotangent, i=i: pull(point.cotangents({i: cotangent})),
            lanes,
            "gradcheck or gradgradcheck failed while testing batched gradient computation",
            "check_batched_grad=False leaves this out",
        )
        for j in range(len(point.inputs)):
            _require_same(point.who, i, j, mapped[j], looped[j], tolerances, "")


def hold_batched_forward(point: Point, which: Sequence[int], tolerances: Tolerances) -> None:
    """`vmap` over tangents of each input gives what a loop gives."""
    random = np.random.default_rng(2)
    for j, x in enumerate(point.inputs):
        push = ft.partial(_tangents, point, j, which)
        looped, mapped = _both_ways(
            point.who,
            push,
            normal_like(x, random, LANES),
            "gradcheck failed while testing batched gradient computation with forward-mode AD",
            "check_batched_forward_grad=False leaves this out",
        )
        for i, result, expected in zip(which, mapped, looped, strict=True):
            _require_same(point.who, i, j, result, expected, tolerances, " with forward-mode AD")


def _tangents(point: Point, j: int, which: Sequence[int], tangent: Any) -> ArrayTuple:
    """Of the outputs `which`, where only input `j` moves."""
    xs = point.inputs
    tangents = jvp(lambda x: point(*xs[:j], x, *xs[j + 1 :]), (xs[j],), (tangent,))[1]
    return tuple(tangents[i] for i in which)


def normal_like(x: Any, random: np.random.Generator, *lanes: int) -> Any:
    """Normal numbers in the shape and dtype of `x`, behind dimensions for `lanes`."""
    shape = (*lanes, *x.shape)
    drawn: Any = random.normal(size=shape)
    if kind_of(x) == "complex":
        drawn = drawn + 1j * random.normal(size=shape)
    return jnp.asarray(np.asarray(drawn, x.dtype))


def _both_ways(
    who: str, linear: Callable[[Any], ArrayTuple], lanes: Any, failure: str, hint: str
) -> tuple[list[np.ndarray], Sequence[Any]]:
    looped = zip(*[linear(lane) for lane in lanes], strict=True)
    try:
        mapped = vmap(linear)(lanes)
    except Exception as error:  # whatever it is, the loop did not raise it
        failed_by(who, error, f"{failure}. While computing batched gradients, got: {error}", hint)
    return [np.stack([np.asarray(one) for one in each]) for each in looped], mapped


def _require_same(
    who: str, i: int, j: int, got: Any, expected: Any, tolerances: Tolerances, mode: str
) -> None:
    if not tolerances.same(in_double(got), in_double(expected)):
        failed(
            who,
            "gradcheck or gradgradcheck failed while testing batched gradient computation"
            f"{mode}, for output {i} and input {j}\ngot:\n{got}\nexpected:\n{expected}",
        )
