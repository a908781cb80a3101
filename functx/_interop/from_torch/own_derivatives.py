"""Backward passes that a model's `autograd.Function`s have, imported with it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core.rules.custom_derivatives import derivative_rules
from functx._core.rules.tangent_types import inexact
from functx._transforms.functions.once import once_differentiable

from .forward import Forward


@dataclasses.dataclass(frozen=True)
class OwnBackward:
    """The results of a forward pass, with the derivative that the backward pass computes.

    The backward pass takes inputs, results, other saved arrays and cotangents of inexact results,
    and returns the cotangents of inputs, or None. Nothing in it is PyTorch's.
    """

    name: str
    backward: Forward
    once: bool  # whether it must not be differentiated

    def __call__(
        self, results: Sequence[Array], inputs: Sequence[Array], saved: Sequence[Array]
    ) -> tuple[Array, ...]:
        """`results`, which depend on `inputs` as the backward pass says, and on nothing else."""
        ruled = derivative_rules(
            lambda inputs, results, saved: results, vjp=self._vjp, name=self.name
        )
        fixed = [tuple(map(lax.stop_gradient, each)) for each in (results, saved)]
        return ruled(tuple(inputs), *fixed)

    def _vjp(self, primals: Any, output: Any, cotangent: Any) -> tuple[Any, None, None]:
        inputs, _, saved = primals
        given = [c for c, y in zip(cotangent, output, strict=True) if inexact(y)]
        run = once_differentiable(self._run) if self.once else self._run
        found = run(*inputs, *output, *saved, *given)
        pulled = [jnp.zeros_like(x) if c is None else c for x, c in zip(inputs, found, strict=True)]
        return tuple(pulled), None, None

    def _run(self, *leaves: Array) -> list[Array | None]:
        out, _ = self.backward({}, {}, leaves)
        return out


def as_it_is(results: Sequence[Array], *_: Any) -> tuple[Array, ...]:
    """`results`, whose derivatives are those of the forward pass."""
    return tuple(results)
