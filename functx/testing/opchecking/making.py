"""The checks of one call: which there are, and what each makes of a target."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import jax

from functx._core import available, describe
from functx.testing.checks.cases import differentiable_case, DifferentiableCase
from functx.testing.checks.compare import assert_close, closeness
from functx.testing.checks.lowering import PLATFORMS
from functx.testing.checks.programs import ProgramCall, run_requests
from functx.testing.checks.registry import CHECKS, IN_DOUBLE
from functx.testing.checks.running import run_together, Running
from functx.testing.checks.sharding import DEVICES, enough_devices
from functx.testing.gradients.gradcheck import gradcheck
from functx.testing.gradients.second_order import gradgradcheck

from .target import is_inexact, Target


DerivativeModes: TypeAlias = tuple[str, ...]
ErrorOrSkipped: TypeAlias = Exception | bool  # what went wrong; False if there was nothing to check

# Of functx's operators, of meshes, of settings, of exports and of platforms that not everybody has.
_LOWERED = tuple(f"{kind}lowers_{p}" for p in PLATFORMS[1:] for kind in ("", "composed_"))
_ON_REQUEST = (
    "dtypes",
    "x64_off",
    "varying",
    "shard_map",
    "sharded",
    "strict",
    "extremal",
    "limits",
    "jet",
    "taylor",
    "laplacian",
    "sparsity",
    "graph",
    "partition",
    "symbolic",
    "symbolic_values",
    *_LOWERED,
)
_OF_ENTRIES: tuple[str, ...] = (
    "reference",
    "dtypes",
    "conventions",
    "refusals",
    "moments",
    "distribution",
    "tails",
)
_OF_DECLARATIONS: tuple[str, ...] = (
    "garbage",
    "sizes",
    "spelling",
    "storage",
    "weak",
    "weak_derivatives",
    "keys",
    "lanes",
    "autocast",
)
FIRST = ("call", "repeat")
PROBES = ("forward", "reverse")
BY_DIFFERENCES = (*IN_DOUBLE, "gradcheck", "gradgradcheck")
_WHOLE = 40  # numbers that are moved one by one; of more, projections are looked at


def compositions(target: Target, asked: Iterable[str] | None) -> list[str]:
    """The checks of the registry that apply, but for differences, or those `asked` for."""
    info, dtype = target.info(), target.sample_dtype
    names = [name for name in CHECKS if name not in BY_DIFFERENCES]
    if asked is not None:
        return [name for name in names if name in asked]
    return [n for n in names if n not in _ON_REQUEST and CHECKS[n].applies(info, dtype)]


def inapplicable(target: Target, names: Iterable[str]) -> dict[str, str]:
    """Those of the checks of the registry that say nothing of the target, each with the reason."""
    why = {name: "it looks at what an entry of functx's database states" for name in _OF_ENTRIES}
    why |= {name: "it looks at what an operator of functx declares" for name in _OF_DECLARATIONS}
    if not enough_devices():
        why["sharded"] = f"it needs {DEVICES} devices, and there are {jax.device_count()}"
    why["halves"] = "it holds an operator in a half against the same in float32"
    if target.sample_dtype != "float32":
        why["extremal"] = f"it holds float32 against float64, the call is in {target.sample_dtype}"
    elif available("float64") != "float64":
        why["extremal"] = "it holds float32 against float64, which functx.enable_x64() turns on"
    return {name: why[name] for name in names if name in why}


def composed(target: Target, names: Sequence[str]) -> dict[str, ErrorOrSkipped]:
    """What comes of checks of the registry, their programs compiled together."""
    info, sample = target.info(), target.sample()
    running = [Running(name, info, sample) for name in names]
    run_together(running)
    return {r.check: r.error if r.error is not None else r.something for r in running}


def outcome_of(target: Target, check: str, modes: DerivativeModes) -> ErrorOrSkipped:
    """What comes of one check, whichever it is."""
    if check in CHECKS:
        return composed(target, [check])[check]
    try:
        _OWN[check](target, modes)
    except Exception as error:
        return error
    return True


def check_call(target: Target, modes: DerivativeModes) -> None:
    """The function takes its arguments and returns an array."""
    if not target(*target.arrays):
        args, kwargs = target.call(target.arrays)
        got = describe(target.func(*args, **kwargs))
        raise AssertionError(f"{target.name} must return at least one array of numbers, got {got}")


def check_repeat(target: Target, modes: DerivativeModes) -> None:
    """Called twice, it gives the same."""
    first, second = (target(*target.arrays) for _ in "ab")
    # What is drawn anew moves with the arguments, too, and must not excuse itself.
    close = dataclasses.replace(closeness(target.info(), target.sample()), scale=0)
    assert_close(second, first, what=f"{target.written()}, called again", close=close)


def check_forward(target: Target, modes: DerivativeModes) -> None:
    """It has tangents."""
    case = _case(target)
    if case is not None:
        _result(case.pushed(*case.xs, *case.tangents))


def check_reverse(target: Target, modes: DerivativeModes) -> None:
    """It has gradients."""
    case = _case(target)
    if case is not None:
        _result(case.pulled(*case.xs, *case.cotangents))


def _result(request: ProgramCall) -> Any:
    """Compiled: JAX refuses some derivatives no earlier."""
    [result] = run_requests([request])
    if isinstance(result, Exception):
        raise result
    return result


def _case(target: Target) -> DifferentiableCase | None:
    return differentiable_case(target.info(), target.sample())


def refusal_to_trace(target: Target) -> Exception | None:
    """Why JAX cannot trace the function, if it cannot."""
    try:
        jax.eval_shape(target, *target.arrays)
    except Exception as error:
        return error
    return None


def check_gradcheck(target: Target, modes: DerivativeModes) -> None:
    """Derivatives are those of the values, element by element."""
    forward, reverse = ("forward" in modes), ("reverse" in modes)
    gradcheck(
        target,
        tuple(target.arrays),
        check_forward_ad=forward,
        check_backward_ad=reverse,
        check_grad_dtypes=True,
        fast_mode=_many(target),
    )


def check_gradgradcheck(target: Target, modes: DerivativeModes) -> None:
    """Second derivatives are those of the gradient, element by element."""
    gradgradcheck(
        target,
        tuple(target.arrays),
        check_fwd_over_rev="forward" in modes,
        check_grad_dtypes=True,
        fast_mode=_many(target),
    )


def _many(target: Target) -> bool:
    return sum(x.size for x in target.arrays if is_inexact(x)) > _WHOLE


_OWN: dict[str, Callable[[Target, DerivativeModes], None]] = {
    "call": check_call,
    "repeat": check_repeat,
    "forward": check_forward,
    "reverse": check_reverse,
    "gradcheck": check_gradcheck,
    "gradgradcheck": check_gradgradcheck,
}
NAMES = (*FIRST, *PROBES, *CHECKS, "gradcheck", "gradgradcheck")
