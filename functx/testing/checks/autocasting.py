"""Autocast beside casts by hand: values, cotangents and their derivatives."""

from __future__ import annotations

import functools as ft
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from functx._amp.regions import AutocastContext, RegionRequest
from functx._core import Autocast, joined
from functx._core.context.autocast_regions import AutocastRegion
from functx._core.operators.autocasting import autocast_policy, is_autocast
from functx.testing.dtypes import HALVES
from functx.testing.opinfo import OpInfo, Sample

from .cases import (
    ArrayFunction,
    differentiable_case,
    jvp_of,
    random_like,
    vjp_of,
    whole_program,
)
from .compare import assert_close, Closeness, VALUES
from .programs import CheckProgram, CheckSteps
from .sample_selection import arguments


# A region by each of the two lists, with the dtype that it has by default there.
REGIONS = (
    AutocastRegion(np.dtype("float16"), "gpu"),
    AutocastRegion(jax.numpy.dtype("bfloat16"), "cpu"),
)


ROUNDED = Closeness(2**17, 2**17, halves=3)  # of float32: two units of the last place in bfloat16


def cast_somewhere(info: OpInfo, dtype: str) -> bool:
    """Whether autocast casts arrays of this dtype, by either list."""
    if info.spec is None or dtype not in ("float32", *HALVES):
        return False
    return any(autocast_policy(info.spec, region) is not Autocast.KEEP for region in REGIONS)


def _is_function(x: Any) -> bool:
    """Whether `x` is a function of a user; JAX's names of dtypes can be called, too."""
    return callable(x) and not isinstance(x, type) and not hasattr(x, "dtype")


def check_autocast(info: OpInfo, sample: Sample) -> CheckSteps:
    """In autocast an operator is itself of arrays cast by its declaration, derivatives too."""
    if any(map(_is_function, (*sample.args, *sample.kwargs.values()))):
        return False  # the operators of a function that is given are cast one by one
    case = differentiable_case(info, sample)
    if case is not None and not info.differentiable:
        case = None
    program, arrays = whole_program(info, sample)
    f, xs = (program.f, arrays) if case is None else (case.f, case.xs)
    requests, what = [], []
    for region in REGIONS:
        policy = autocast_policy(_spec(info), region)
        if policy is Autocast.KEEP:
            continue
        inside = ft.partial(_in_region, region, f)
        if policy is Autocast.BANNED:
            _check_banned(inside, xs, f"{info.id}{sample!r}")
            continue
        by_hand = ft.partial(_cast_by_hand, _target(info, sample, policy, region, xs), f)
        outputs = jax.eval_shape(by_hand, *xs)
        tangents = [] if case is None else random_like([*xs, *outputs], seed=17)
        cotangents = [] if case is None else random_like(outputs, seed=19)
        for function in (inside, by_hand):
            compared = CheckProgram(ft.partial(_all_of, function, len(xs), len(cotangents)))
            requests.append(compared(*xs, *cotangents, *tangents))
        computed = region.lower.name if policy is Autocast.LOWER else "float32"
        what.append((f"{info.id}{sample!r} by the list for {region.device}s", computed))
    if not requests:
        return False
    results = yield requests
    for i, (words, dtype) in enumerate(what):
        pair = results[2 * i : 2 * i + 2]
        if dtype in HALVES:  # XLA may hand on more digits than a half has, where it fuses casts
            pair = jax.tree.map(lambda x, dtype=dtype: _rounded(x, dtype), pair)
        assert_close(*pair, what=words, close=VALUES if dtype not in HALVES else ROUNDED)


def _rounded(x: Any, dtype: str) -> np.ndarray:
    """Of single precision, what a half holds; beside it the dtype that came, for it to compare."""
    x = np.asarray(x)
    with np.errstate(over="ignore", invalid="ignore"):
        return x.astype(dtype).astype(x.dtype) if x.dtype == np.float32 else x


def _spec(info: OpInfo) -> Any:
    assert info.spec is not None
    return info.spec


def _in_region(region: AutocastRegion, f: ArrayFunction, *xs: Any) -> Any:
    with AutocastContext(RegionRequest(region.lower, True, region.device)):
        return f(*xs)


def _cast_by_hand(dtype: Any, f: ArrayFunction, *xs: Any) -> Any:
    return f(*[x.astype(dtype) if dtype is not None and is_autocast(x) else x for x in xs])


def _target(
    info: OpInfo, sample: Sample, policy: Autocast, region: AutocastRegion, xs: Sequence[Any]
) -> Any:
    """The dtype that a reader of the declaration casts to."""
    cast = [np.dtype(x.dtype) for x in xs if is_autocast(x)]
    if not cast or (policy is Autocast.FLOAT32 and arguments(info, sample).get("dtype")):
        return None
    named = {Autocast.LOWER: region.lower, Autocast.FLOAT32: np.dtype("float32")}
    return named[policy] if policy in named else joined(cast)


def _all_of(f: ArrayFunction, n: int, m: int, *args: Any) -> Any:
    """The outputs; the cotangents of the inputs; and the tangents of these, along all."""
    xs, cotangents, tangents = args[:n], args[n : n + m], args[n + m :]
    if not tangents:
        return f(*xs)
    pull = vjp_of(f, n)
    return f(*xs), pull(*xs, *cotangents), jvp_of(pull, n + m)(*xs, *cotangents, *tangents)


def _check_banned(inside: ArrayFunction, xs: Sequence[Any], what: str) -> None:
    if not any(map(is_autocast, xs)):
        return
    try:
        jax.eval_shape(inside, *xs)
    except RuntimeError as error:
        assert "unsafe in an autocast region" in str(error), what
    else:
        raise AssertionError(f"{what} is not refused in an autocast region")
