"""Which checks there are, and where each applies."""

from __future__ import annotations

import dataclasses
import functools as ft
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, get_args, Literal, TypeAlias

from functx.testing.opinfo import OpInfo, Sample

from . import (
    batching,
    composition,
    curves,
    distributions,
    eager,
    forward,
    graphs,
    limits,
    linearity,
    lowering,
    numeric,
    randomness,
    scanning,
    sharding,
    sparsity,
    symbolic,
)
from .applicability import (
    always,
    counting_sizes,
    declared,
    declared_differentiable,
    declared_in_double,
    declared_taking_arrays,
    differentiable,
    double,
    in_64_bits,
    in_double,
    in_double_or_yours,
    in_one_dtype,
    in_single,
    in_two_precisions,
    moving,
    never,
    not_random_taking_arrays,
    one_half,
    promoting,
    random,
    reading_values,
    refusing,
    resizable,
    sampled,
    some_dtypes,
    spelled,
    taking_arrays,
    with_conventions,
    with_devices,
    with_limits,
    with_moments,
    with_reference,
    with_sizes,
    with_tails,
)
from .autocasting import cast_somewhere, check_autocast
from .conventions import check_conventions, check_conventions_once
from .dtypes import check_dtypes
from .extremal import check_extremal, of_wide_range
from .garbage import check_garbage
from .halves import check_halves, in_a_half
from .own_rules import has_own_rules
from .refusals import check_refusals
from .sample_selection import (
    all_in_one_dtype,
    few,
    few_eager,
    first_and_edge,
    first_of_sets,
    first_whole,
    one_of_each_option,
    Select,
    telling,
    telling_of_derivatives,
    telling_of_own_batching,
    telling_of_own_derivatives,
    telling_of_reverse_rules,
    whole_entry,
)
from .sizes import check_sizes
from .spelling import check_spelling
from .storage import check_storage
from .strictness import check_strict_promotion
from .tails import check_tails
from .weak import check_weak, check_weak_derivatives


Applies = Callable[[OpInfo, str], bool]
Profile: TypeAlias = Literal["quick", "full", "exhaustive"]
PROFILES: tuple[Profile, ...] = get_args(Profile)


LOOK_AT_DERIVED = ("reference", "moments", "distribution")  # the checks that look at those too
_MORE = (telling, telling_of_derivatives, 1)  # of which the exhaustive profile looks at all


@dataclasses.dataclass(frozen=True)
class Check:
    """A named check: `run` is plain, or yields requests for programs (see `programs`).

    - `name`: the check's name in `CHECKS`.
    - `run`: a function of an entry and a sample that raises where the check fails.
    - `applies`: a function of an entry and a dtype: whether the check says something there.
    - `samples`: which samples it looks at: a function of the samples, how many, or None for all.
    - `within`: such a function: whether the quick profile runs it there.
    - `quick`: a function of an entry: whether the quick profile takes it.
    - `quick_samples`, `quick_run`: what that profile looks at and runs; None: `samples`, `run`.
    - `quick_first`: what that profile runs for an entry's first sample; None: `quick_run`.
    """

    name: str
    run: Callable[[OpInfo, Sample], Any]
    applies: Applies
    samples: Select | int | None
    within: Applies
    quick: Callable[[OpInfo], bool] = lambda info: True
    quick_samples: Select | None = None
    quick_run: Callable[[OpInfo, Sample], Any] | None = None
    quick_first: Callable[[OpInfo, Sample], Any] | None = None

    @property
    def summary(self) -> str:
        """What the check asserts, in a line."""
        function = self.run.func if isinstance(self.run, ft.partial) else self.run
        return (function.__doc__ or "").strip().partition("\n")[0]

    def run_in(self, profile: Profile, first: bool = False) -> Callable[[OpInfo, Sample], Any]:
        """What runs in a profile, with the first sample that it looks at or with another."""
        if profile == "quick":
            return (first and self.quick_first) or self.quick_run or self.run
        return self.run

    def select(
        self, info: OpInfo, samples: Sequence[Sample], profile: Profile = "quick"
    ) -> list[Sample]:
        """Those of an entry's samples that the check looks at."""
        if self.name not in LOOK_AT_DERIVED:
            samples = [sample for sample in samples if not sample.derived]
        if profile == "quick" and self.quick_samples is not None:
            return self.quick_samples(info, samples)
        if self.samples is None or (profile == "exhaustive" and self.samples in _MORE):
            return list(samples)
        if isinstance(self.samples, int):
            return list(samples[: self.samples])
        return self.samples(info, samples)


# Over vmap, the inner maps replaced by loops (T10 and T14 of the composition matrix).
OVER_VMAP = [
    ("vjp", "vmap"),
    ("jvp", "vmap"),
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
BATCHED_OTHERWISE = [("jvp",), ("vjp", "vjp"), ("jvp", "vjp"), ("grad",)]
BATCHING_RULES = [("jvp",), ("vjp",)]


def _declared(name: str, run: Any) -> Check:
    return Check(name, run, declared_in_double, first_of_sets, double, never)


def _deep(
    name: str, run: Any, quick: Callable[[OpInfo], bool] = has_own_rules, quick_run: Any = None
) -> Check:
    return Check(name, run, differentiable, first_of_sets, double, quick, quick_run=quick_run)


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


def _lowered(
    prefix: str,
    run: Callable[..., Any],
    applies: Applies,
    quick: Callable[[OpInfo], bool] = _always_quick,
) -> Iterator[Check]:
    """Of the platforms, those that this process need not have."""
    for platform in lowering.PLATFORMS[1:]:
        on_platform = ft.partial(run, platform=platform)
        here = lambda info, dtype: applies(info, dtype) and in_one_dtype(info, dtype)
        yield Check(prefix + platform, on_platform, here, 1, in_one_dtype, quick)


CHECKS: dict[str, Check] = {
    check.name: check
    for check in [
        Check(
            "reference",
            forward.check_reference,
            with_reference,
            None,
            some_dtypes,
            quick_samples=all_in_one_dtype,
        ),
        Check("dtypes", check_dtypes, in_64_bits, whole_entry, some_dtypes),
        Check(
            "conventions",
            check_conventions,
            with_conventions,
            whole_entry,
            in_one_dtype,
            quick_run=check_conventions_once,
        ),
        Check("refusals", check_refusals, refusing, whole_entry, in_one_dtype),
        Check("garbage", check_garbage, declared, 1, in_one_dtype),
        Check("sizes", check_sizes, with_sizes, 1, in_one_dtype),
        Check("strict", check_strict_promotion, declared, few, in_one_dtype, never),
        Check(
            "spelling",
            check_spelling,
            spelled,
            telling,
            in_one_dtype,
            quick_samples=one_of_each_option,
        ),
        Check("storage", check_storage, promoting, 1, in_one_dtype, moving),
        Check(
            "weak",
            check_weak,
            declared_taking_arrays,
            few,
            in_one_dtype,
            quick_samples=first_whole,
        ),
        Check(
            "weak_derivatives",
            check_weak_derivatives,
            declared_differentiable,
            first_of_sets,
            in_one_dtype,
            never,
        ),
        Check(
            "jit",
            forward.check_jit,
            always,
            few_eager,
            in_one_dtype,
            quick_samples=first_and_edge,
        ),
        Check(
            "x64_off",
            forward.check_x64_off,
            in_one_dtype,
            telling,
            in_one_dtype,
            quick_samples=one_of_each_option,
        ),
        Check(
            "layouts",
            forward.check_layouts,
            not_random_taking_arrays,
            1,
            in_one_dtype,
            reading_values,
        ),
        Check("varying", sharding.check_varying, not_random_taking_arrays, 1, in_one_dtype),
        Check(
            "shard_map",
            sharding.check_shard_map,
            not_random_taking_arrays,
            1,
            in_one_dtype,
            never,
        ),
        Check("sharded", sharding.check_sharded, with_devices, 1, in_one_dtype, never),
        *_lowered("lowers_", lowering.check_lowering, always),
        Check(
            "symbolic",
            symbolic.check_symbolic,
            resizable,
            telling,
            in_one_dtype,
            symbolic.looks_at_sizes,
            quick_samples=symbolic.first_with_sizes,
        ),
        Check(
            "symbolic_values",
            symbolic.check_symbolic_values,
            resizable,
            telling,
            in_one_dtype,
            symbolic.chooses_by_size,
            quick_samples=symbolic.first_with_sizes,
        ),
        *_lowered("composed_lowers_", lowering.check_composed_lowering, taking_arrays, never),
        Check("keys", randomness.check_keys, random, 2, in_one_dtype),
        Check("lanes", randomness.check_lanes, random, 1, in_one_dtype),
        Check("moments", randomness.check_moments, with_moments, None, in_one_dtype),
        Check("distribution", distributions.check_distribution, sampled, None, in_one_dtype),
        Check(
            "vmap",
            batching.check_vmap,
            taking_arrays,
            telling,
            in_one_dtype,
            quick_samples=telling_of_own_batching,
            quick_run=batching.check_vmap_once,
        ),
        Check("vmap_dims", batching.check_vmap_every_dim, taking_arrays, 2, in_one_dtype, never),
        Check(
            "vmap_eager",
            batching.check_vmap_eager,
            not_random_taking_arrays,
            1,
            in_one_dtype,
            counting_sizes,
        ),
        Check("vmap_rule", batching.check_no_loop, taking_arrays, first_of_sets, in_one_dtype),
        *_composed(composition.check_projection, "", PROJECTIONS, never),
        _deep(
            "vmap_vjp",
            ft.partial(composition.check_batched, transforms=("vjp",)),
            _always_quick,
            ft.partial(composition.check_batched_once, transforms=("vjp",)),
        ),
        *_composed(composition.check_batched, "vmap_", BATCHED_OTHERWISE, never),
        *_composed(composition.check_batching_rule, "rule_vmap_", BATCHING_RULES),
        _deep("vmap_pullback", composition.check_batched_cotangents),
        *_composed(composition.check_over_vmap, "", OVER_VMAP, never),
        _deep("pullback_at_zero", linearity.check_pullback_at_zero),
        _deep("hessian_in_scan", scanning.check_hessian_in_scan, never),
        Check("graph", graphs.check_graph, declared, first_of_sets, in_one_dtype, never),
        _deep("partition", graphs.check_partition, never),
        Check("eager", eager.check_eager, in_double_or_yours, first_of_sets, double, never),
        _deep("sparsity", sparsity.check_sparsity, never),
        Check("jet", curves.check_jet, declared_in_double, first_of_sets, double, never),
        _declared("taylor", curves.check_taylor),
        _declared("laplacian", curves.check_laplacian),
        Check(
            "extremal",
            check_extremal,
            in_two_precisions,
            telling,
            in_two_precisions,
            of_wide_range,
            quick_samples=first_whole,
        ),
        Check("tails", check_tails, with_tails, whole_entry, in_single),
        Check("autocast", check_autocast, cast_somewhere, first_of_sets, some_dtypes, never),
        Check("halves", check_halves, in_a_half, telling, one_half, quick_samples=first_of_sets),
        Check(
            "gradient",
            numeric.check_gradient,
            in_double,
            telling_of_derivatives,
            double,
            quick_samples=telling_of_own_derivatives,
        ),
        Check(
            "second_gradient",
            numeric.check_second_gradient,
            in_double,
            telling_of_derivatives,
            double,
            quick_samples=telling_of_reverse_rules,
            quick_run=numeric.check_second_gradient_once,
            quick_first=numeric.check_second_gradient_ruled,
        ),
        Check("limits", limits.check_limits, with_limits, first_of_sets, double, never),
    ]
}

# Checks by finite differences, which single precision is too coarse for.
IN_DOUBLE = tuple(name for name, check in CHECKS.items() if check.applies is in_double)
