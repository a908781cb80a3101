"""Whether a sparse derivative is the function's own: a product of both with a random vector."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import scipy.sparse as sp
from jax.core import Tracer

from functx._core import fail
from functx._transforms.tangents import leaf_types

from .calls import DerivativeCall
from .patterns import SparsityPattern


def require_agreement(
    call: DerivativeCall, pattern: SparsityPattern, entries: Any, kind: str
) -> None:
    """Refuses entries that are not those of the function's derivative.

    A product of the function's own is compared, element by element, with that of the entries, by
    half of the digits that the dtype has; where the function's own is NaN there is nothing to see.
    """
    leaves = jax.tree.leaves(call.values)
    if any(isinstance(x, Tracer) for x in [*leaves, entries]):
        fail(
            call.who,
            "`check` compares values, and the call is being traced",
            hint="check one call outside of jit and vmap",
        )
    rng = np.random.default_rng(17)
    reverse = kind == "row"
    if reverse:
        output, pull = jax.vjp(call.function, *call.values)
        types, structure = leaf_types(output)
        own = lambda vectors: pull(structure.unflatten(vectors))
    else:
        types = call.inputs
        own = lambda vectors: jax.jvp(
            call.function, call.values, call.structure.unflatten(vectors)
        )[1]
    vectors = [rng.standard_normal(x.shape).astype(x.dtype) for x in types]
    flat = lambda xs: np.concatenate([np.ravel(x).astype(np.float64) for x in jax.tree.leaves(xs)])
    want, vector = flat(own(vectors)), flat(vectors)
    values = np.zeros(0) if entries is None else np.asarray(entries).astype(np.float64)
    matrix = sp.csr_array((values, (pattern.rows, pattern.columns)), shape=pattern.shape)
    matrix = sp.csr_array(matrix.T) if reverse else matrix
    got, size = matrix @ vector, abs(matrix) @ abs(vector) + abs(want)
    digits = max(float(jax.numpy.finfo(x.dtype).eps) for x in (*types, *call.inputs)) ** 0.5
    wrong = np.flatnonzero((abs(got - want) > digits * size) | (np.isnan(got) & ~np.isnan(want)))
    if wrong.size:
        lines = "columns" if reverse else "rows"
        fail(
            call.who,
            f"the pattern lacks entries: times a random vector, {wrong.size} {lines} differ from "
            f"the function's own product, the first {wrong[:5].tolist()}",
            hint="functx.sparsity.jacobian_pattern or hessian_pattern traces one that lacks none",
        )
