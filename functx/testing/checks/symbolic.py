"""Programs that `jax.export` makes once for arrays of all sizes."""

from __future__ import annotations

import functools as ft
import string
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import functx
from functx._core import category, describe
from functx._core.operators.roles import RoleKind
from functx.testing.opinfo import FixedSizes, OpInfo, Sample

from .compare import assert_close, closeness, DERIVATIVES
from .own_rules import codes_within, functions_within
from .programs import CheckProgram, CheckSteps
from .resizing import ChosenSizes, is_sized, Resizable, SizePlace, SizePlaces


_SYMBOLS = "bs" + "".join(c for c in string.ascii_lowercase if c not in "bs")


def takes_sizes(info: OpInfo) -> bool:
    """Whether an operator has an argument whose size may change: an array, or a size itself."""
    if info.spec is None:
        return True
    roles = info.spec.roles.values()
    return any(
        role.kind in (RoleKind.ARRAY, RoleKind.UNPROMOTED) or is_sized(role) for role in roles
    )


def first_with_sizes(info: OpInfo, samples: Sequence[Sample]) -> list[Sample]:
    """The first sample whose arrays have a dimension of more than one element, or no arrays."""
    plain = (s for s in samples if not s.values_only)
    return [s for s in plain if not s.arrays() or max(map(_longest, s.arrays())) > 1][:1]


def _longest(x: jax.Array) -> int:
    return max(x.shape, default=1) if x.size else 0


def chooses_by_size(info: OpInfo) -> bool:
    """Whether the code in the operator's own file asks what it does with a symbolic size."""
    asking = {"as_number", "as_scalar", "decided", "differ", "known", "known_sizes"}
    return any(f.__module__ == info.op.__module__ for f in _functions_with(info, asking))


def looks_at_sizes(info: OpInfo) -> bool:
    """Whether its code, wherever it is, looks at sizes, and values do not say more of it."""
    looks = next(_functions_with(info, {"shape", "size"}), None) is not None
    return looks and not (chooses_by_size(info) and not info.fixed_sizes)


def _functions_with(info: OpInfo, names: set[str]) -> Iterator[types.FunctionType]:
    """The functions of the operator's code, `_core` apart, in which one of these names is met."""
    for f in functions_within(info.op if info.spec is None else info.spec.rule):
        met = {name for code in codes_within(f.__code__) for name in code.co_names}
        if names & met and not f.__module__.startswith("functx._core"):
            yield f


def check_symbolic(info: OpInfo, sample: Sample) -> bool:
    """Value and pullback export with symbols for all sizes that may change.

    Not those that the entry says cannot be symbols: with these, no program exports.
    """
    call = Resizable(info, sample)
    groups = symbols(call)
    if groups:
        exported(call, groups)
    found = bool(groups)
    for fixed in info.fixed_sizes:
        never = _never(call, fixed)
        found |= bool(never)
        if never and _exports(call, never):
            at = f"{fixed.argument}{list(fixed.dims) or ''}"
            raise AssertionError(f"{info.id}{sample!r} exports with symbols for the sizes of {at}")
    return found


def _never(call: Resizable, fixed: FixedSizes) -> list[SizePlaces]:
    """The sizes that the entry says cannot be symbols, where all of them may change.

    Where some may not, or arrays are empty, the others may be free of what is said.
    """
    places, groups = call.fixed(fixed), call.groups()
    free = frozenset[SizePlace]().union(*groups)
    empty = any(x.size == 0 for x in call.arrays)
    if empty or any(call.sizes[place] != 1 for place in places - free):
        return []
    return [group for group in groups if group & places]


def _exports(call: Resizable, groups: Sequence[SizePlaces]) -> bool:
    try:
        exported(call, groups)
    except AssertionError:
        return False
    return True


def symbols(call: Resizable) -> list[SizePlaces]:
    """The sizes that may be symbols: places for each of them."""
    fixed = frozenset[SizePlace]().union(*map(call.fixed, call.info.fixed_sizes))
    return [places for places in call.groups() if not places & fixed]


def check_symbolic_values(info: OpInfo, sample: Sample) -> CheckSteps:
    """A program exported with symbolic sizes gives what the operator gives, at several sizes."""
    call = Resizable(info, sample)
    groups = symbols(call)
    if not groups:
        return False
    program, asked = CheckProgram(exported(call, groups).call), []
    for sizes in _sizes_to_try(call, groups):
        carriers = [np.zeros(x.shape, x.dtype) for x in _carriers(groups, sizes)]
        arrays = [*call.values(sizes), *carriers]
        asked += [program(*arrays), CheckProgram(_whole(call, sizes))(*arrays)]
    results = yield asked
    for request, got, want in zip(asked[::2], results[::2], results[1::2], strict=True):
        for result in (got, want):
            if isinstance(result, Exception):
                raise result
        shapes = ", ".join(map(describe, request.args))
        what = f"{info.id}{sample!r}, exported with symbols, of {shapes}"
        assert_close(got[0], want[0], what=what, close=closeness(info, call.sample))
        assert_close(got[1], want[1], what=f"the pullback of {what}", close=DERIVATIVES)
    return True


def _sizes_to_try(call: Resizable, groups: Sequence[SizePlaces]) -> Iterator[dict[SizePlace, int]]:
    """Even sizes near the sample's own; and 1, or where that is refused, an odd one."""
    own = {place: call.sizes[place] for places in groups for place in places}
    even = {place: n + n % 2 for place, n in own.items()}
    least = dict(zip(groups, call.least_sizes(groups), strict=True))
    odd = {p: 1 if n == 1 else even[p] + 1 for places, n in least.items() for p in places}
    yield from (sizes for sizes in (even, odd) if call.takes(sizes))


def exported(call: Resizable, groups: Sequence[SizePlaces]) -> jax.export.Exported:
    """The values and the pullback of a call, with a symbol for each group of sizes."""
    names, least = _SYMBOLS[: len(groups)], call.least_sizes(groups)
    bounds = [f"{name} >= {n}" for name, n in zip(names, least, strict=True) if n > 1]
    symbols = jax.export.symbolic_shape(", ".join(names), constraints=bounds)
    sizes = {place: n for places, n in zip(groups, symbols, strict=True) for place in places}
    shapes = [*call.shapes(sizes), *_carriers(groups, sizes)]
    what = f"{call.info.id}{call.sample!r} of {', '.join(map(describe, shapes))}"
    try:
        return jax.export.export(jax.jit(_whole(call, sizes)))(*shapes)
    except Exception as error:
        raise AssertionError(f"{what} does not export: {type(error).__name__}: {error}") from error


def _carriers(groups: Sequence[SizePlaces], sizes: ChosenSizes) -> list[Any]:
    """Arguments that carry sizes: of those that no array has, an array each."""
    new = [min(places, key=str) for places in groups if all(isinstance(i, str) for i, _ in places)]
    return [jax.ShapeDtypeStruct((sizes[place],), np.bool_) for place in new]


def _whole(call: Resizable, sizes: ChosenSizes) -> Callable[..., Any]:
    """The outputs, and the cotangents of the floating inputs for cotangents of any numbers."""
    f, n = call.function(sizes), len(call.arrays)
    moving = [i for i, x in enumerate(call.arrays) if category(x.dtype) >= 2]
    still = not call.info.differentiable or call.sample.values_only

    def whole(*arrays: jax.Array) -> Any:
        arrays = arrays[:n]

        def moved(*xs: jax.Array) -> tuple[list[jax.Array], Any]:
            given = dict(zip(moving, xs, strict=True))
            outputs = f(*(given.get(i, x) for i, x in enumerate(arrays)))
            return [y for y in outputs if category(y.dtype) >= 2], outputs

        types = jax.eval_shape(f, *arrays)
        if still or not moving or all(category(y.dtype) < 2 for y in types):
            return f(*arrays), ()
        kept, pull, outputs = functx.vjp(moved, *(arrays[i] for i in moving), has_aux=True)
        return outputs, pull(list(map(_cotangent, kept)))

    return whole


def _cotangent(y: jax.Array) -> jax.Array:
    """Numbers of some variety, which the position of an element alone decides."""
    zero = jnp.zeros((), jnp.float32)
    places = (lax.broadcasted_iota(jnp.float32, y.shape, d) * (d + 0.7) for d in range(y.ndim))
    return jnp.cos(ft.reduce(jnp.add, places, zero)).astype(y.dtype)
