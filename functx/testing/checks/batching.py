"""`vmap` against a loop, for every choice of which arguments are batched, and where."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import jaxprs_in_params

import functx
from functx.testing.opinfo import OpInfo, Sample

from .cases import Arrays, Function, sized, whole_function
from .compare import assert_close
from .programs import compiled


InDims = tuple[int | None, ...]


def check_vmap(info: OpInfo, sample: Sample) -> None:
    """`vmap(op)` equals a loop over the lanes, for every batching of the arguments."""
    sample = sized(info, sample)
    f, _ = whole_function(info, sample)
    lanes = [lane.arrays() for lane in sample.lanes]
    if lanes[0]:
        hold_batchings(f, lanes, f"vmap({info.id}){sample!r}", info, every_dim=True)


def check_vmap_eager(info: OpInfo, sample: Sample) -> None:
    """Un-jitted `vmap` over identical lanes: sizes that depend on values agree."""
    f, arrays = whole_function(info, sample)
    if arrays:
        got = functx.vmap(f)(*(jnp.stack([x, x]) for x in arrays))
        want = tuple(jnp.stack([y, y]) for y in f(*arrays))
        assert_close(got, want, what=f"vmap({info.id}){sample!r}", tolerances=info.tolerances)


def hold_batchings(
    f: Function, lanes: Sequence[Arrays], what: str, info: OpInfo, *, every_dim: bool = False
) -> None:
    """One program maps `f` over every batching; one more, called lane by lane, is the truth."""
    batchings = list(all_batchings(len(lanes[0]), every_dim))

    def mapped(stacks: list[dict[int, jax.Array]], first: Arrays) -> list[Any]:
        return [
            functx.vmap(f, in_dims)(
                *(x if d is None else s[d] for d, s, x in zip(in_dims, stacks, first, strict=True))
            )
            for in_dims in batchings
        ]

    stacks = [{d: jnp.stack(xs, d) for d in (0, -1)} for xs in zip(*lanes, strict=True)]
    got = compiled(mapped)(stacks, lanes[0])
    one = compiled(f)
    for in_dims, out in zip(batchings, got, strict=True):
        picked = [
            [x if d is not None else x0 for d, x, x0 in zip(in_dims, lane, lanes[0], strict=True)]
            for lane in lanes
        ]
        want = jax.tree.map(lambda *ys: jnp.stack(ys), *(one(*xs) for xs in picked))
        assert_close(out, want, what=f"{what}, in_dims={in_dims}", tolerances=info.tolerances)


def all_batchings(n: int, every_dim: bool) -> list[InDims]:
    """Which of `n` arguments are batched, and at which end.

    With `every_dim`, each choice of 0, -1 and None for up to two arguments. Else every
    subset of up to three arguments once (beyond, each alone, all but each, and all),
    the dimension alternating between the ends.
    """
    if every_dim and n <= 2:
        return [d for d in itertools.product((0, -1, None), repeat=n) if d.count(None) < n]
    if n <= 3:
        subsets = [s for s in itertools.product((True, False), repeat=n) if any(s)]
    else:
        alone = [tuple(i == j for j in range(n)) for i in range(n)]
        subsets = [*alone, *(tuple(not b for b in s) for s in alone), (True,) * n]
    ends = itertools.cycle((0, -1))
    return [tuple(next(ends) if b else None for b in subset) for subset in subsets]


def check_no_loop(info: OpInfo, sample: Sample) -> None:
    """Batching adds no loop: the program traced for five lanes is as long as for two."""
    sample = sized(info, sample)
    f, arrays = whole_function(info, sample)
    if arrays:
        assert_no_loop(f, arrays, f"vmap({info.id}){sample!r}")


def assert_no_loop(f: Function, arrays: Arrays, what: str) -> None:
    """The number of equations of `vmap(f)` does not depend on the number of lanes."""
    sizes = [
        count_equations(
            functx.vmap(f), *(jax.ShapeDtypeStruct((n, *x.shape), x.dtype) for x in arrays)
        )
        for n in (2, 5)
    ]
    assert sizes[0] == sizes[1], f"{what}: {sizes[0]} equations for 2 lanes, {sizes[1]} for 5"


def count_equations(f: Function, *args: Any) -> int:
    """How many primitive calls `f` makes, those inside of calls included."""

    def count(jaxpr: Any) -> int:
        inner = (sub for eqn in jaxpr.eqns for sub in jaxprs_in_params(eqn.params))
        return len(jaxpr.eqns) + sum(map(count, inner))

    return count(jax.make_jaxpr(f)(*args).jaxpr)
