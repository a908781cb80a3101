"""JAX's strict settings: users who forbid themselves implicit promotion still call operators."""

from __future__ import annotations

import jax

import functx
from functx.testing.opinfo import OpInfo, Sample

from .cases import differentiable_case, jvp_of, sized, vjp_of, whole_function


def check_strict_promotion(info: OpInfo, sample: Sample) -> None:
    """Operators, batched and differentiated, promote as ever where JAX is told not to promote."""
    sample = sized(info, sample)
    with jax.numpy_rank_promotion("raise"), jax.numpy_dtype_promotion("strict"):
        f, arrays = whole_function(info, sample)
        jax.eval_shape(f, *arrays)
        if arrays:
            several = [jax.ShapeDtypeStruct((2, *x.shape), x.dtype) for x in arrays]
            jax.eval_shape(functx.vmap(f, randomness="same"), *several)
        case = differentiable_case(info, sample)
        if case is not None:
            pullback = vjp_of(case.f, len(case.xs))
            twice = vjp_of(pullback, len(case.xs) + len(case.cotangents))
            jax.eval_shape(jvp_of(case.f, len(case.xs)), *case.xs, *case.tangents)
            jax.eval_shape(twice, *case.xs, *case.cotangents, *case.tangents)
