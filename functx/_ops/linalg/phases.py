"""Refuses gradients that depend on the phase of complex eigenvectors or singular vectors."""

from __future__ import annotations

import functools as ft
from typing import Any

import jax.numpy as jnp
from jax import Array

from functx._core import Requirement
from functx._core.context.user_contexts import checking_values
from functx._core.operators.value_requirements import check_inside
from functx._core.rules.custom_derivatives import derivative_rules


def with_free_phase(name: str, *vectors: Array) -> tuple[Array, ...]:
    r"""`vectors`, in columns; inside `functx.debug.checked`, their gradient must not see phases.

    That of a loss that $v_k e^{i \phi}$ leaves as it is has $\operatorname{Im} \sum_i v_{ik}
    c_{ik} = 0$ for each $k$, summed over all `vectors`, which have their phases in common.
    """
    if not checking_values.value or not jnp.iscomplexobj(vectors[0]):
        return vectors

    def vjp(primals: Any, output: Any, cotangents: Any) -> tuple[Array, ...]:
        both = [v * c for v, c in zip(primals, cotangents, strict=True)]
        turn = jnp.imag(ft.reduce(jnp.add, [jnp.sum(x, -2) for x in both]))
        size = ft.reduce(jnp.add, [jnp.sum(jnp.abs(x), -2) for x in both])
        depends = jnp.abs(turn) > _NOISE * (1 + size)
        check_inside(name, [Requirement(~depends, _DEPENDS, got=turn, hint=_HINT)])
        return cotangents

    identity = derivative_rules(
        lambda *vectors: vectors, jvp=lambda p, o, tangents: tangents, vjp=vjp, name=name
    )
    return identity(*vectors)


_NOISE = 1e-2  # as much as PyTorch lets pass, and more of large gradients
_DEPENDS = (
    "the gradient must not depend on the phase of complex vectors, which is arbitrary; "
    "turning the phase of one of them changes the loss by {got} per radian"
)
_HINT = "use what all phases share: abs(V), V * V[:1].conj(), or projectors V @ V.mH"
