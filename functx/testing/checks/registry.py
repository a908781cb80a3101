"""Which checks there are, where each applies, and how a cell is run."""

from __future__ import annotations

import dataclasses
import functools as ft
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, get_args, Literal, TypeAlias

import jax.numpy as jnp

from functx._core import available, category
from functx.testing.opinfo import no_conventions, OpInfo, Sample
from functx.testing.options import names_of

from . import (
    batching,
    composition,
    distributions,
    forward,
    limits,
    linearity,
    lowering,
    numeric,
    randomness,
    scanning,
    sharding,
)
from .conventions import check_conventions
from .coverage import (
    few,
    few_eager,
    first_of_sets,
    first_whole,
    Select,
    telling,
    telling_of_options,
    whole_entry,
)
from .dtypes import check_dtypes
from .extremal import check_extremal, in_two_precisions, of_wide_range
from .garbage import check_garbage
from .halves import check_halves, in_a_half
from .names import require_checks, require_dtypes, require_entries, require_profile
from .own_rules import has_own_rules
from .refusals import check_refusals, refusals
from .sizes import check_sizes, has_sizes
from .strictness import check_strict_promotion


Applies = Callable[[OpInfo, str], bool]
Profile: TypeAlias = Literal["quick", "full", "exhaustive"]
PROFILES: tuple[Profile, ...] = get_args(Profile)


LOOK_AT_DERIVED = ("reference", "moments", "distribution")  # the checks that look at those too


@dataclasses.dataclass(frozen=True)
class Check:
    """A named check: `run` is plain, or yields requests for programs (see `programs`).

    `samples` chooses what it looks at: a function of the samples, or how many; None: all.
    The quick profile runs it `within` fewer dtypes, `quick` says for which entries, and there
    `quick_samples` chooses, if given.
    """

    name: str  #: as in `CHECKS`
    run: Callable[[OpInfo, Sample], Any]  #: raises where something is wrong
    applies: Applies  #: whether it has something to say of an entry in a dtype
    samples: Select | int | None  #: what it looks at
    within: Applies  #: the dtypes, of an entry, in which the quick profile runs it
    quick: Callable[[OpInfo], bool] = lambda info: True  #: the entries for which it does
    quick_samples: Select | None = None  #: what it looks at there, if that is less

    @property
    def summary(self) -> str:
        """What the check asserts, in a line."""
        function = self.run.func if isinstance(self.run, ft.partial) else self.run
        return (function.__doc__ or "").strip().partition("\n")[0]

    def select(
        self, info: OpInfo, samples: Sequence[Sample], profile: Profile = "quick"
    ) -> list[Sample]:
        """Those of an entry's samples that the check looks at."""
        if self.name not in LOOK_AT_DERIVED:
            samples = [sample for sample in samples if not sample.derived]
        if profile == "quick" and self.quick_samples is not None:
            return self.quick_samples(info, samples)
        if self.samples is None or (profile == "exhaustive" and self.samples in (telling, 1)):
            return list(samples)
        if isinstance(self.samples, int):
            return list(samples[: self.samples])
        return self.samples(info, samples)


def _always(info: OpInfo, dtype: str) -> bool:
    return True


def _with_reference(info: OpInfo, dtype: str) -> bool:
    return info.reference is not None


def _differentiable(info: OpInfo, dtype: str) -> bool:
    return info.differentiable and category(jnp.dtype(dtype)) >= 2


def _in_double(info: OpInfo, dtype: str) -> bool:
    return _differentiable(info, dtype) and dtype in ("float64", "complex128")


def _with_limits(info: OpInfo, dtype: str) -> bool:
    return _in_double(info, dtype)


def _in_one_dtype(info: OpInfo, dtype: str) -> bool:
    return dtype == forward.sample_dtype(info)


def _refusing(info: OpInfo, dtype: str) -> bool:
    return _in_one_dtype(info, dtype) and next(refusals(info), None) is not None


def _declared(info: OpInfo, dtype: str) -> bool:
    return info.spec is not None and _in_one_dtype(info, dtype)


def _with_sizes(info: OpInfo, dtype: str) -> bool:
    return has_sizes(info) and _in_one_dtype(info, dtype)


def _with_conventions(info: OpInfo, dtype: str) -> bool:
    return info.conventions is not no_conventions and _in_one_dtype(info, dtype)


def _in_64_bits(info: OpInfo, dtype: str) -> bool:
    """What was recorded from PyTorch has 64 bits."""
    return available("int64").name == "int64"


def _in_two_precisions(info: OpInfo, dtype: str) -> bool:
    return in_two_precisions(info, dtype) and _in_64_bits(info, dtype)


def _random(info: OpInfo, dtype: str) -> bool:
    return info.random


def _with_moments(info: OpInfo, dtype: str) -> bool:
    return info.moments is not None


def _sampled(info: OpInfo, dtype: str) -> bool:
    return info.sampler is not None


def _taking_arrays(info: OpInfo, dtype: str) -> bool:
    return info.spec is None or len(info.spec.traced) > info.spec.random


def _not_random_taking_arrays(info: OpInfo, dtype: str) -> bool:
    return not info.random and _taking_arrays(info, dtype)


def _with_devices(info: OpInfo, dtype: str) -> bool:
    here = _in_one_dtype(info, dtype) and _taking_arrays(info, dtype)
    return here and sharding.enough_devices()


# The quick profile looks at values in these dtypes, and at derivatives in double precision.
_VALUES = ("float32", "float64", "bfloat16", "complex64", "int64", "uint8", "bool")


def _some_dtypes(info: OpInfo, dtype: str) -> bool:
    return dtype in _VALUES or _in_one_dtype(info, dtype)


def _double(info: OpInfo, dtype: str) -> bool:
    return dtype == ("float64" if "float64" in info.accepted else info.accepted[-1])


def _one_half(info: OpInfo, dtype: str) -> bool:
    return dtype == ("bfloat16" if "bfloat16" in info.accepted else "float16")


def _never(info: OpInfo) -> bool:
    return False


# Over vmap, the inner maps replaced by loops (T10 and T14 of the composition matrix).
OVER_VMAP = [("vjp", "vmap"), ("jvp", "vmap")]
DEEP_OVER_VMAP = [
    ("vjp", "vjp", "vmap"),
    ("jvp", "vjp", "vmap"),
    ("vmap", "vjp", "vmap"),
    ("vmap", "jvp", "vmap"),
    ("vjp", "vmap", "vmap"),
    ("jvp", "vmap", "vmap"),
    ("jvp", "jvp", "vmap"),
]
# The outermost derivative by the other mode (T1 to T4 and T11). In double precision differences
# say as much of both modes.
PROJECTIONS = [("grad",), ("vjp",), ("vjp", "vjp"), ("vjp", "jvp")]
# The outermost vmap by a loop (T5, T6, T7, T12, T13), with proof of a batching rule (T8, T9).
BATCHED = [("vjp",), ("jvp",)]
BATCHED_TWICE = [("vjp", "vjp"), ("jvp", "vjp")]
BATCHING_RULES = [("jvp",), ("vjp",)]


def _deep(name: str, run: Any, quick: Callable[[OpInfo], bool] = has_own_rules) -> Check:
    return Check(name, run, _differentiable, first_of_sets, _double, quick)


def _composed(
    run: Callable[..., Any],
    prefix: str,
    stacks: Iterable[tuple[str, ...]],
    quick: Callable[[OpInfo], bool] = has_own_rules,
) -> Iterator[Check]:
    for transforms in stacks:
        composed = ft.partial(run, transforms=transforms)
        yield _deep(prefix + "_".join(transforms), composed, quick)


def _always_quick(info: OpInfo) -> bool:
    return True


def _telling_of_own_rules(info: OpInfo, samples: Sequence[Sample]) -> list[Sample]:
    """Where JAX derives the second derivative from the first, few show what can be wrong of it."""
    return (telling_of_options if has_own_rules(info) else first_of_sets)(info, samples)


def _lowered(
    prefix: str,
    run: Callable[..., Any],
    applies: Applies,
    quick: Callable[[OpInfo], bool] = _always_quick,
) -> Iterator[Check]:
    """Of the platforms, those that this process need not have."""
    for platform in lowering.PLATFORMS[1:]:
        on_platform = ft.partial(run, platform=platform)
        here = lambda info, dtype: applies(info, dtype) and _in_one_dtype(info, dtype)
        yield Check(prefix + platform, on_platform, here, 1, _in_one_dtype, quick)


CHECKS: dict[str, Check] = {
    check.name: check
    for check in [
        Check("reference", forward.check_reference, _with_reference, None, _some_dtypes),
        Check("dtypes", check_dtypes, _in_64_bits, whole_entry, _some_dtypes),
        Check("conventions", check_conventions, _with_conventions, whole_entry, _in_one_dtype),
        Check("refusals", check_refusals, _refusing, whole_entry, _in_one_dtype),
        Check("garbage", check_garbage, _declared, 1, _in_one_dtype),
        Check("sizes", check_sizes, _with_sizes, 1, _in_one_dtype),
        Check("strict", check_strict_promotion, _declared, few, _in_one_dtype),
        Check("jit", forward.check_jit, _always, few_eager, _in_one_dtype),
        Check(
            "x64_off",
            forward.check_x64_off,
            _in_one_dtype,
            telling,
            _in_one_dtype,
            quick_samples=telling_of_options,
        ),
        Check("layouts", forward.check_layouts, _not_random_taking_arrays, 1, _in_one_dtype),
        Check("varying", sharding.check_varying, _not_random_taking_arrays, 1, _in_one_dtype),
        Check(
            "shard_map",
            sharding.check_shard_map,
            _not_random_taking_arrays,
            1,
            _in_one_dtype,
            _never,
        ),
        Check("sharded", sharding.check_sharded, _with_devices, 1, _in_one_dtype, _never),
        *_lowered("lowers_", lowering.check_lowering, _always),
        *_lowered("composed_lowers_", lowering.check_composed_lowering, _taking_arrays, _never),
        Check("keys", randomness.check_keys, _random, 2, _in_one_dtype),
        Check("lanes", randomness.check_lanes, _random, 1, _in_one_dtype),
        Check("moments", randomness.check_moments, _with_moments, None, _in_one_dtype),
        Check("distribution", distributions.check_distribution, _sampled, None, _in_one_dtype),
        Check("vmap", batching.check_vmap, _taking_arrays, telling, _in_one_dtype),
        Check("vmap_dims", batching.check_vmap_every_dim, _taking_arrays, 2, _in_one_dtype, _never),
        Check("vmap_eager", batching.check_vmap_eager, _not_random_taking_arrays, 1, _in_one_dtype),
        Check("vmap_rule", batching.check_no_loop, _taking_arrays, first_of_sets, _in_one_dtype),
        *_composed(composition.check_projection, "", PROJECTIONS, _never),
        *_composed(composition.check_batched, "vmap_", BATCHED, _always_quick),
        *_composed(composition.check_batched, "vmap_", BATCHED_TWICE, _never),
        *_composed(composition.check_batched, "vmap_", [("grad",)], _never),
        *_composed(composition.check_batching_rule, "rule_vmap_", BATCHING_RULES),
        _deep("vmap_pullback", composition.check_batched_cotangents),
        *_composed(composition.check_over_vmap, "", OVER_VMAP),
        *_composed(composition.check_over_vmap, "", DEEP_OVER_VMAP, _never),
        _deep("pullback_at_zero", linearity.check_pullback_at_zero),
        _deep("hessian_in_scan", scanning.check_hessian_in_scan, _never),
        Check(
            "extremal",
            check_extremal,
            _in_two_precisions,
            telling,
            _in_two_precisions,
            of_wide_range,
            quick_samples=first_whole,
        ),
        Check("halves", check_halves, in_a_half, telling, _one_half, quick_samples=first_of_sets),
        Check("gradient", numeric.check_gradient, _in_double, telling, _double),
        Check(
            "second_gradient",
            numeric.check_second_gradient,
            _in_double,
            telling,
            _double,
            quick_samples=_telling_of_own_rules,
        ),
        Check("limits", limits.check_limits, _with_limits, first_of_sets, _double, _never),
    ]
}

# Checks by finite differences, which single precision is too coarse for.
IN_DOUBLE = tuple(name for name, check in CHECKS.items() if check.applies is _in_double)


def cells(
    infos: Iterable[OpInfo],
    dtypes: str | Iterable[str] | None = None,
    checks: str | Iterable[str] | None = None,
    profile: Profile = "quick",
) -> Iterator[tuple[OpInfo, str, str]]:
    """The (operator, dtype, check) triples of a profile that apply, operator by operator.

    `dtypes` and `checks` are one name each, or several.
    Dtypes and checks that are named run wherever they apply, also where the quick profile would
    leave them out. With 64 bit off, dtypes that have them are left out. A dtype, check or profile
    that there is not is a ValueError, as is a gap of such a check.
    """
    infos = list(infos)
    dtypes = None if dtypes is None else names_of(dtypes)
    checks = None if checks is None else names_of(checks)
    require_entries("cells", infos, CHECKS)
    require_dtypes("cells", "`dtypes`", dtypes or (), infos)
    require_checks("cells", "`checks`", checks or (), CHECKS)
    require_profile("cells", profile, PROFILES)
    return _cells(infos, dtypes, checks, profile)


def _cells(
    infos: Sequence[OpInfo],
    dtypes: Sequence[str] | None,
    checks: Sequence[str] | None,
    profile: Profile,
) -> Iterator[tuple[OpInfo, str, str]]:
    any_dtype = profile != "quick" or dtypes is not None
    any_check = profile != "quick" or checks is not None

    def runs(check: Check, info: OpInfo, dtype: str) -> bool:
        try:
            here = check.applies(info, dtype) and (any_dtype or check.within(info, dtype))
            return here and (any_check or check.quick(info))
        except Exception:  # of the entry, as it draws: the cell fails with it when it is run
            return True

    for info in infos:
        for dtype in info.accepted if dtypes is None else dtypes:
            if dtype not in info.accepted or available(dtype).name != dtype:
                continue  # not available: 64 bit is off
            for name in CHECKS if checks is None else checks:
                if runs(CHECKS[name], info, dtype):
                    yield info, dtype, name
