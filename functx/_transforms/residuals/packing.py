"""Pullbacks whose residuals have gone through the hooks of a region."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import core

from functx._core import describe, fail, foreign_hint
from functx._transforms.arguments import kind_of
from functx._transforms.tangents import LeafType

from .hooks import hooks_here, ResidualHook
from .standing_for import standing_for


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class PackedResidual:
    """One residual as `pack` returned it."""

    arrays: tuple[Any, ...]
    others: tuple[Any, ...] = dataclasses.field(metadata={"static": True})
    structure: Any = dataclasses.field(metadata={"static": True})
    like: LeafType = dataclasses.field(metadata={"static": True})
    original: Any  # has the tangents, if it is traced: someone outside may differentiate; or None

    @classmethod
    def of(cls, residual: Any, pack: ResidualHook) -> PackedResidual:
        residual = residual if isinstance(residual, jax.Array) else jnp.asarray(residual)
        traced = isinstance(residual, core.Tracer)
        got = pack(jax.lax.stop_gradient(residual) if traced else residual)
        leaves, structure = jax.tree.flatten(got)
        of_array = [isinstance(x, (jax.Array, np.ndarray)) for x in leaves]
        return cls(
            tuple(x for x, is_array in zip(leaves, of_array, strict=True) if is_array),
            tuple(_ARRAY if is_array else x for x, is_array in zip(leaves, of_array, strict=True)),
            structure,
            LeafType.of(residual),
            residual if traced else None,
        )

    def restored(self, unpack: ResidualHook) -> jax.Array:
        arrays = iter(self.arrays)
        leaves = [next(arrays) if x is _ARRAY else x for x in self.others]
        value = unpack(self.structure.unflatten(leaves))
        if kind_of(value) == "other":
            fail(
                "residual_hooks",
                f"`unpack` must return an array like the residual, {self.like!r}, got "
                f"{describe(value)}",
                hint=foreign_hint(value),
                error=TypeError,
            )
        if LeafType.of(value) != self.like:
            fail(
                "residual_hooks",
                f"`unpack` must return {self.like!r}, like the residual, got {describe(value)}",
                error=ValueError if np.shape(value) != self.like.shape else TypeError,
            )
        value = jnp.asarray(value)
        return value if self.original is None else standing_for(self.original, value)


class _Array:
    """Where an array was among the leaves of what `pack` returned."""


_ARRAY = _Array()


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class PackedPull:
    """What `jax.vjp` or `jax.linearize` returned, with its residuals packed; a pytree of these."""

    residuals: tuple[Any, ...]
    structure: Any = dataclasses.field(metadata={"static": True})
    unpack: ResidualHook = dataclasses.field(metadata={"static": True})

    def __call__(self, *args: Any) -> Any:
        leaves = [
            x.restored(self.unpack) if isinstance(x, PackedResidual) else x for x in self.residuals
        ]
        return self.structure.unflatten(leaves)(*args)


def packed(pull: Any) -> Any:
    """`pull`, a pytree of its residuals, packed if the caller is in a region of hooks."""
    hooks = hooks_here()
    if hooks is None:
        return pull
    leaves, structure = jax.tree.flatten(pull)
    kinds = ("real", "complex", "integer") if hooks.integers else ("real", "complex")
    pack = hooks.pack
    residuals = [
        PackedResidual.of(x, pack) if kind_of(x) in kinds and np.ndim(x) else x for x in leaves
    ]
    return PackedPull(tuple(residuals), structure, hooks.unpack)
