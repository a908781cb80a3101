"""Rules of primitives that order elements: padding comes after all of them."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax import Array

from .equations import PaddedEquation, PaddingRule, require_known
from .reducing import lowest


def ordered(equation: PaddedEquation) -> Sequence[Array]:
    """By a first key that says what is padding."""
    dim = equation.params["dimension"]
    if dim not in equation.ragged():
        return equation.bound()
    mask = equation.sizes.mask(equation.shapes[0])
    assert mask is not None
    operands = [equation.filled(i, 0) for i in range(len(equation.operands))]
    keys = equation.params["num_keys"] + 1
    eqn = equation.eqn
    params = {**eqn.params, "num_keys": keys}
    results = eqn.primitive.bind((~mask).astype(jnp.int32), *operands, **params)
    return equation.gated(results[1:])


def greatest(equation: PaddedEquation) -> Sequence[Array]:
    """Of equal elements the first are taken, so that padding is none of them."""
    (x,) = equation.operands
    require_known([equation.params["k"]], "the number of elements that it takes")
    return equation.gated(equation.bound([equation.filled(0, lowest(x.dtype))]))


ORDERING: dict[str, PaddingRule] = {"sort": ordered, "top_k": greatest}
