"""Which checks there are, where each applies, and how a cell is run."""

from __future__ import annotations

import dataclasses
import functools as ft
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import jax.numpy as jnp

from functx._core import category, Device, Promote
from functx.testing.opinfo import OpInfo, Sample

from . import batching, composition, forward, numeric, randomness, scanning


Applies = Callable[[OpInfo, str], bool]


@dataclasses.dataclass(frozen=True)
class Check:
    """A named check. `run` returns False for a sample in which there is nothing to check."""

    name: str
    run: Callable[[OpInfo, Sample], Any]
    applies: Applies
    samples: int | None  # how many of an operator's samples it looks at; None: all

    @property
    def summary(self) -> str:
        """What the check asserts, in a line."""
        function = self.run.func if isinstance(self.run, ft.partial) else self.run
        return (function.__doc__ or "").strip().partition("\n")[0]


def _always(info: OpInfo, dtype: str) -> bool:
    return True


def _with_reference(info: OpInfo, dtype: str) -> bool:
    return info.reference is not None


def _differentiable(info: OpInfo, dtype: str) -> bool:
    return info.differentiable and category(jnp.dtype(dtype)) >= 2


def _in_double(info: OpInfo, dtype: str) -> bool:
    return _differentiable(info, dtype) and dtype in ("float64", "complex128")


def _in_one_dtype(info: OpInfo, dtype: str) -> bool:
    return dtype == forward.sample_dtype(info)


def _promoting(info: OpInfo, dtype: str) -> bool:
    spec = info.spec
    return spec is not None and len(spec.promoting) > 0 and spec.promote is not Promote.SAME


def _refusing(info: OpInfo, dtype: str) -> bool:
    has_any = next(iter(info.refusals(info.make(dtype))), None) is not None
    return has_any and _in_one_dtype(info, dtype)


def _random(info: OpInfo, dtype: str) -> bool:
    return info.random


def _with_moments(info: OpInfo, dtype: str) -> bool:
    return info.moments is not None


def _taking_arrays(info: OpInfo, dtype: str) -> bool:
    return info.spec is None or len(info.spec.traced) > info.spec.random


def _not_random_taking_arrays(info: OpInfo, dtype: str) -> bool:
    return not info.random and _taking_arrays(info, dtype)


# Over vmap, the inner maps replaced by loops (T10 and T14 of the composition matrix).
OVER_VMAP = [
    ("vjp", "vmap"),
    ("jvp", "vmap"),
    ("vmap", "vjp", "vmap"),
    ("vmap", "jvp", "vmap"),
    ("vjp", "vmap", "vmap"),
    ("jvp", "vmap", "vmap"),
    ("vjp", "vjp", "vmap"),
    ("jvp", "jvp", "vmap"),
    ("jvp", "vjp", "vmap"),
]
# The outermost derivative by the other mode (T1 to T4 and T11).
PROJECTIONS = [("grad",), ("vjp",), ("vjp", "vjp"), ("vjp", "jvp")]
# The outermost vmap by a loop (T5, T6, T7, T12, T13), with proof of a batching rule (T8, T9).
BATCHED = [("vjp",), ("jvp",), ("vjp", "vjp"), ("jvp", "vjp"), ("grad",)]
BATCHING_RULES = [("jvp",), ("vjp",)]


def _composed(
    run: Callable[..., Any], prefix: str, stacks: Iterable[tuple[str, ...]]
) -> Iterator[Check]:
    for transforms in stacks:
        name = prefix + "_".join(transforms)
        yield Check(name, ft.partial(run, transforms=transforms), _differentiable, 1)


CHECKS: dict[str, Check] = {
    check.name: check
    for check in [
        Check("reference", forward.check_reference, _with_reference, None),
        Check("dtypes", forward.check_dtypes, _always, None),
        Check("promotion", forward.check_promotion, _promoting, 2),
        Check("refusals", forward.check_refusals, _refusing, 1),
        Check("jit", forward.check_jit, _always, 3),
        Check("x64_off", forward.check_x64_off, _in_one_dtype, 2),
        Check("layouts", forward.check_layouts, _not_random_taking_arrays, 1),
        Check("keys", randomness.check_keys, _random, 2),
        Check("lanes", randomness.check_lanes, _random, 1),
        Check("moments", randomness.check_moments, _with_moments, None),
        Check("vmap", batching.check_vmap, _taking_arrays, 2),
        Check("vmap_eager", batching.check_vmap_eager, _not_random_taking_arrays, 1),
        Check("vmap_rule", batching.check_no_loop, _taking_arrays, 1),
        *_composed(composition.check_projection, "", PROJECTIONS),
        *_composed(composition.check_batched, "vmap_", BATCHED),
        *_composed(composition.check_batching_rule, "rule_vmap_", BATCHING_RULES),
        Check("vmap_pullback", composition.check_batched_cotangents, _differentiable, 1),
        *_composed(composition.check_over_vmap, "", OVER_VMAP),
        Check("hessian_in_scan", scanning.check_hessian_in_scan, _differentiable, 1),
        Check("gradient", numeric.check_gradient, _in_double, 4),
        Check("second_gradient", numeric.check_second_gradient, _in_double, 2),
    ]
}


# Checks by finite differences, which single precision is too coarse for.
IN_DOUBLE = tuple(name for name, check in CHECKS.items() if check.applies is _in_double)


class CheckFailed(AssertionError):
    """A cell in which no sample has anything to check."""


def cells(
    infos: Iterable[OpInfo], dtypes: Iterable[str], checks: Iterable[str]
) -> Iterator[tuple[OpInfo, str, str]]:
    """The (operator, dtype, check) triples that apply, operator by operator."""
    checks, dtypes = list(checks), list(dtypes)
    for info in infos:
        for dtype, name in itertools.product(dtypes, checks):
            if dtype in info.accepted and CHECKS[name].applies(info, dtype):
                yield info, dtype, name


def run_cell(
    info: OpInfo,
    dtype: str,
    name: str,
    *,
    device: Device | None = None,
    samples: int | None = None,
) -> None:
    """Runs a check over an operator's samples in one dtype; raises at the first that fails.

    `samples` bounds how many. A cell in which no sample has anything to check fails too.
    """
    check = CHECKS[name]
    bounds = [n for n in (check.samples, samples) if n is not None]
    drawn = info.draw(dtype, device=device)
    looked_at = 0
    for sample in drawn:
        if check.run(info, sample) is not False:
            looked_at += 1
        if bounds and looked_at >= min(bounds):
            break
    if looked_at == 0:
        raise CheckFailed(f"{info.id}-{dtype}-{name}: no sample has anything to check")
