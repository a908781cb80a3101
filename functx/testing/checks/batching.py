"""`vmap` against a loop, for every choice of which arguments are batched, and where."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

import functx
from functx.testing.opinfo import OpInfo, Sample

from .cases import ArrayFunction, ArrayList, sized, stacked, whole_function, whole_program
from .compare import assert_close, Closeness, closeness
from .own_rules import own_parts
from .programs import CheckProgram, CheckSteps, equations_of


InDims = tuple[int | None, ...]


def check_vmap(info: OpInfo, sample: Sample) -> CheckSteps:
    """`vmap(op)` equals a loop over the lanes, for every array batched alone, and for all."""
    return (yield from _check_vmap(info, sample, few_batchings))


def check_vmap_once(info: OpInfo, sample: Sample) -> CheckSteps:
    """The same; one alone where JAX derives the batching of the whole program."""
    own = "batching" in own_parts(info, sample)
    return (yield from _check_vmap(info, sample, few_batchings if own else two_batchings))


def check_vmap_every_dim(info: OpInfo, sample: Sample) -> CheckSteps:
    """`vmap(op)` equals a loop over the lanes, for every batching of the arguments."""
    return (yield from _check_vmap(info, sample, all_batchings))


def _check_vmap(info: OpInfo, sample: Sample, choose: Callable[[int], list[InDims]]) -> CheckSteps:
    sample = sized(info, sample)
    one, _ = whole_program(info, sample)
    lanes = [lane.arrays() for lane in sample.lanes]
    if not lanes[0]:
        return False
    what, close = f"vmap({info.id}){sample!r}", closeness(info, sample)
    yield from hold_batchings(one, lanes, what, close, choose(len(lanes[0])))
    return True


def check_vmap_eager(info: OpInfo, sample: Sample) -> bool:
    """Un-jitted `vmap` over identical lanes: sizes that depend on values agree."""
    f, arrays = whole_function(info, sample)
    if not arrays:
        return False
    got = functx.vmap(f)(*stacked([arrays, arrays]))
    want = tuple(np.stack([y, y]) for y in map(np.asarray, f(*arrays)))
    assert_close(got, want, what=f"vmap({info.id}){sample!r}", close=closeness(info, sample))
    return True


def hold_batchings(
    one: CheckProgram,
    lanes: Sequence[ArrayList],
    what: str,
    close: Closeness,
    batchings: Sequence[InDims],
) -> CheckSteps:
    """A program maps `one` over every batching; itself, called lane by lane, is the truth."""

    def mapped(stacks: dict[int, ArrayList], first: ArrayList) -> list[Any]:
        return [
            functx.vmap(one.f, in_dims)(
                *(
                    x if d is None else stacks[d][i]
                    for i, (d, x) in enumerate(zip(in_dims, first, strict=True))
                )
            )
            for in_dims in batchings
        ]

    stacks = {d: stacked(lanes, d) for d in (0, -1)}
    asked = [CheckProgram(mapped)(stacks, lanes[0])]
    for in_dims in batchings:
        for lane in lanes:
            parts = zip(in_dims, lane, lanes[0], strict=True)
            asked.append(one(*(x if d is not None else x0 for d, x, x0 in parts)))
    got, *rows = yield asked
    for i, (in_dims, out) in enumerate(zip(batchings, got, strict=True)):
        picked = rows[i * len(lanes) : (i + 1) * len(lanes)]
        want = jax.tree.map(lambda *ys: np.stack([np.asarray(y) for y in ys]), *picked)
        assert_close(out, want, what=f"{what}, in_dims={in_dims}", close=close)


def few_batchings(n: int) -> list[InDims]:
    """Each of `n` arguments alone, and all of them, the dimension alternating between the ends."""
    if n == 1:
        return [(0,), (-1,)]
    alone = [tuple(-(i % 2) if i == j else None for j in range(n)) for i in range(n)]
    return [*alone, tuple(-(i % 2) for i in range(1, n + 1))]


def two_batchings(n: int) -> list[InDims]:
    """The first and the last of `few_batchings`: one argument alone, and all of them."""
    found = few_batchings(n)
    return [found[0], found[-1]]


def all_batchings(n: int) -> list[InDims]:
    """Each choice of 0, -1 and None for up to two arguments.

    Else every subset of up to three arguments once (beyond, each alone, all but each, and
    all), the dimension alternating between the ends.
    """
    if n <= 2:
        return [d for d in itertools.product((0, -1, None), repeat=n) if d.count(None) < n]
    if n <= 3:
        subsets = [s for s in itertools.product((True, False), repeat=n) if any(s)]
    else:
        alone = [tuple(i == j for j in range(n)) for i in range(n)]
        subsets = [*alone, *(tuple(not b for b in s) for s in alone), (True,) * n]
    ends = itertools.cycle((0, -1))
    return [tuple(next(ends) if b else None for b in subset) for subset in subsets]


def check_no_loop(info: OpInfo, sample: Sample) -> bool:
    """Batching adds no loop: the program traced for five lanes is as long as for two."""
    sample = sized(info, sample)
    f, arrays = whole_function(info, sample)
    if not arrays:
        return False
    assert_no_loop(f, arrays, f"vmap({info.id}){sample!r}")
    return True


def assert_no_loop(f: ArrayFunction, arrays: ArrayList, what: str) -> None:
    """The number of equations of `vmap(f)` does not depend on the number of lanes."""
    sizes = [
        count_equations(
            functx.vmap(f), *(jax.ShapeDtypeStruct((n, *x.shape), x.dtype) for x in arrays)
        )
        for n in (2, 5)
    ]
    assert sizes[0] == sizes[1], f"{what}: {sizes[0]} equations for 2 lanes, {sizes[1]} for 5"


def count_equations(f: ArrayFunction, *args: Any) -> int:
    """How many primitive calls `f` makes, those inside of calls included."""
    return equations_of(jax.make_jaxpr(f)(*args).jaxpr)
