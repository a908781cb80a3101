"""Programs lowered for platforms that need not be at hand."""

from __future__ import annotations

import functools as ft
import re
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import jaxprs_in_params

import functx
from functx.testing.opinfo import OpInfo, Sample

from .cases import (
    ArrayFunction,
    differentiable_case,
    DifferentiableCase,
    jvp_of,
    sized,
    vjp_of,
    whole_function,
)


PLATFORMS = ("cpu", "cuda", "tpu")


def check_lowering(info: OpInfo, sample: Sample, *, platform: str) -> None:
    """Values and pullbacks lower for the platform, and call neither the host nor CPU code there."""
    _assert_lowers(info, sample, plain_program(info, sample), platform)


def check_composed_lowering(info: OpInfo, sample: Sample, *, platform: str) -> bool | None:
    """Tangents, second derivatives, and these in maps and loops, lower for the platform."""
    if not sample.arrays():
        return False
    _assert_lowers(info, sample, _composed_program(info, sample), platform)


@ft.lru_cache(maxsize=16)
def plain_program(info: OpInfo, sample: Sample) -> Any:
    """A sample's values and pullback as one traced program, to be lowered for any platform."""
    f, arrays = whole_function(info, sized(info, sample))
    case, n = differentiable_case(info, sample), len(arrays)
    if case is None:
        return jax.jit(f).trace(*arrays)
    pullback = vjp_of(case.f, len(case.xs))
    both = lambda *xs: (f(*xs[:n]), pullback(*xs[n:]))
    return jax.jit(both).trace(*arrays, *case.xs, *case.cotangents)


@ft.lru_cache(maxsize=16)
def _composed_program(info: OpInfo, sample: Sample) -> Any:
    f, arrays = whole_function(info, sized(info, sample))
    case, n = differentiable_case(info, sample), len(arrays)
    derivatives = [] if case is None else _derivatives(case)
    each = lambda *xs: [derivative(*xs) for derivative in derivatives]

    def composed(*xs: jax.Array) -> Any:
        first, lanes = xs[n:], [jnp.stack([x, x]) for x in xs]
        looped = jax.lax.map(lambda lane: each(*lane), tuple(lanes[n:])) if derivatives else ()
        mapped = functx.vmap(each)(*lanes[n:]) if derivatives else ()
        return functx.vmap(f)(*lanes[:n]), each(*first), mapped, looped

    return jax.jit(composed).trace(*arrays, *([] if case is None else case.xs))


def _derivatives(case: DifferentiableCase) -> list[ArrayFunction]:
    """In one direction: of the function forwards, of its pullback in both modes."""
    pullback, n = vjp_of(case.f, len(case.xs)), len(case.xs)
    gradient = lambda *xs: pullback(*xs, *case.cotangents)
    pushed = [jvp_of(case.f, n), jvp_of(gradient, n), vjp_of(gradient, n)]
    in_direction = lambda push: lambda *xs: push(*xs, *case.tangents)
    return [in_direction(push) for push in pushed]


def _assert_lowers(info: OpInfo, sample: Sample, program: Any, platform: str) -> None:
    what = f"{info.id}{sample!r} for {platform}"
    try:
        text = lowered(program, platform)
    except Exception as error:
        called = ", ".join(sorted(set(_callbacks(program.jaxpr.jaxpr))))
        host = f" calls back to the host ({called})" if called else " does not lower"
        raise AssertionError(f"{what}{host}: {error}") from error
    targets = targets_of(text)
    if back := [name for name in targets if "callback" in name]:
        raise AssertionError(f"{what} calls back to the host: {', '.join(sorted(back))}")
    if any(map(_kernel, targets)) and (same := _kernels_of_cpus(program) & targets):
        raise AssertionError(f"{what} calls what CPUs have: {', '.join(sorted(same))}")


def lowered(program: Any, platform: str) -> str:
    """A traced program as StableHLO for a platform; NotImplementedError of what it has not."""
    return program.lower(lowering_platforms=(platform,)).as_text()


def _callbacks(jaxpr: Any) -> Iterator[str]:
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        if "callback" in name or name == "debug_print":
            yield name
        for inner in jaxprs_in_params(equation.params):
            yield from _callbacks(inner)


def targets_of(text: str) -> set[str]:
    """The names of what a module calls outside of itself."""
    return set(re.findall(r'custom_call @"?([\w.$]+)', text))


def _kernel(target: str) -> bool:
    """Whether a library defines it. What XLA knows on every platform is named otherwise."""
    return re.fullmatch(r"[a-z]\w*", target) is not None and target != "annotate_device_placement"


def _kernels_of_cpus(program: Any) -> set[str]:
    try:
        return set(filter(_kernel, targets_of(lowered(program, "cpu"))))
    except NotImplementedError:  # a kernel of an accelerator alone
        return set()
