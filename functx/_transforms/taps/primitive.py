"""Two primitives: the identity that a hook waits behind, and its tangent, transposed by the hook.

Forward mode passes through both. Where the tangent is transposed, the cotangents go through the
hook of the tap; it is traced as any code is, so that its derivative is that of what it computes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax.numpy as jnp
from jax import Array
from jax.interpreters import ad, batching, mlir

from functx._core.jax_compat import hold_weakly
from functx._core.primitives.by_reference import Primitive
from functx._core.primitives.mapped_axes import axis_of, MappedAxis
from functx._core.primitives.taylor_mode import along_curves
from functx._core.rules.tangent_types import inexact
from functx._transforms.numbers import array_of_program


Cotangents: TypeAlias = tuple[Array | None, ...]  # `None` where no gradient arrives
CotangentHook: TypeAlias = Callable[[Cotangents], Cotangents]


@dataclasses.dataclass(frozen=True, eq=False)
class Tap:
    """The meaning of one tap of several arrays, compared by identity.

    - `hook`: from the cotangents of all operands to what takes their place, in JAX's convention.
    - `order`: which derivative the hook belongs to, the innermost being the first; `None` is all.
    - `name` and `tree`: what users call the tap, and the tree that its operands are leaves of.
    - `carriers`: so many of the last operands have tangents even where they are constant, for
      what hooks send one another from tap to tap along with the cotangents.
    """

    hook: CotangentHook | None = None
    order: int | None = None
    name: str | None = None
    tree: Any = None
    carriers: int = 0

    def __repr__(self) -> str:
        return self.name or "tap"

    def over_lanes(self, axis: MappedAxis) -> Tap:
        """The same along a new first axis of all operands: the hook sees one lane at a time."""
        hook = self.hook
        return self if hook is None else dataclasses.replace(self, hook=axis.map(hook, 0))


hold_weakly(Tap)

tap_point = Primitive("tap", __name__, multiple_results=True)
# The tangents of those of a tap's `count` operands that `which` numbers.
tap_tangent = Primitive("tap_tangent", __name__, multiple_results=True)


def _identity(*xs: Any, **_: Any) -> list[Any]:
    return list(xs)


def _values_jvp(
    primals: Sequence[Array], input_tangents: Sequence[Any], *, tap: Tap, depth: int
) -> tuple[list[Array], list[Any]]:
    outputs: list[Array] = tap_point.bind(*primals, tap=tap, depth=depth + 1)
    input_tangents = list(input_tangents)
    if tap.hook is None or tap.order not in (None, depth + 1):
        return outputs, input_tangents
    first = len(input_tangents) - tap.carriers
    which = tuple(
        i
        for i, (x, dot) in enumerate(zip(primals, input_tangents, strict=True))
        if inexact(x) and (i >= first or type(dot) is not ad.Zero)
    )
    active = [ad.instantiate_zeros(input_tangents[i]) for i in which]
    moved: list[Array] = tap_tangent.bind(*active, tap=tap, which=which, count=len(input_tangents))
    for i, dot in zip(which, moved, strict=True):
        input_tangents[i] = dot
    return outputs, input_tangents


def _tangents_jvp(
    tangents: Sequence[Array], input_tangents: Sequence[Any], **params: Any
) -> tuple[list[Array], list[Any]]:
    # What is differentiated here is a tangent of forward mode, which no hook belongs to.
    moved: list[Array] = tap_tangent.bind(*tangents, **params)
    return moved, list(input_tangents)


def _values_transpose(cotangents: Sequence[Any], *operands: Any, tap: Tap, depth: int) -> list[Any]:
    tap = tap if tap.order in (None, depth + 1) else Tap()
    count = len(operands)
    return _tangents_transpose(
        cotangents, *operands, tap=tap, which=tuple(range(count)), count=count
    )


def _tangents_transpose(
    cotangents: Sequence[Any], *operands: Any, tap: Tap, which: tuple[int, ...], count: int
) -> list[Any]:
    given: list[Array | None] = [None] * count
    for i, ct in zip(which, cotangents, strict=True):
        given[i] = None if type(ct) is ad.Zero else jnp.asarray(ct)
    if tap.hook is not None and any(ct is not None for ct in given):
        given = list(tap.hook(tuple(given)))
    return [_of(x, given[i]) for x, i in zip(operands, which, strict=True)]


def _of(operand: Any, cotangent: Array | None) -> Any:
    if not ad.is_undefined_primal(operand):
        return None
    return ad.Zero(operand.aval) if cotangent is None else cotangent


def _batched(
    primitive: Primitive,
) -> Callable[..., tuple[list[Array], list[int | None]]]:
    def rule(
        axis_data: Any,
        operands: Sequence[Array],
        dims: Sequence[int | None],
        *,
        tap: Tap,
        **params: Any,
    ) -> tuple[list[Array], list[int | None]]:
        if all(d is None for d in dims):
            same: list[Array] = primitive.bind(*operands, tap=tap, **params)
            return same, [None] * len(same)
        axis = axis_of(axis_data)
        alike = [
            jnp.broadcast_to(x, (axis.size, *jnp.shape(x))) if d is None else jnp.moveaxis(x, d, 0)
            for x, d in zip(map(array_of_program, operands), dims, strict=True)
        ]
        outputs: list[Array] = primitive.bind(*alike, tap=tap.over_lanes(axis), **params)
        return outputs, [0] * len(outputs)

    return rule


ad.primitive_jvps[tap_point] = _values_jvp
ad.primitive_jvps[tap_tangent] = _tangents_jvp
ad.primitive_transposes[tap_point] = _values_transpose
ad.primitive_transposes[tap_tangent] = _tangents_transpose
for _primitive in (tap_point, tap_tangent):
    _primitive.def_impl(_identity)
    _primitive.def_abstract_eval(_identity)
    batching.fancy_primitive_batchers[_primitive] = _batched(_primitive)
    mlir.register_lowering(_primitive, lambda _, *xs, **__: xs)
along_curves(tap_point, tap_tangent)
