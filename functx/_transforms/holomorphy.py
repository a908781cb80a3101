"""Which functions of complex arguments have a Jacobian that one pass per element can give.

A function of complex arguments has a complex derivative if that is the same along 1 and along i
(the Cauchy-Riemann equations). Dtypes say which pairs of input and output need it, and one more
product, along i, says whether it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from functx._core import describe, fail, Requirement
from functx._core.context.user_contexts import checking_values
from functx._core.jax_compat import staging_trace
from functx._core.operators.concrete_values import peek
from functx._core.operators.value_requirements import check_inside

from .arguments import kind_of, kind_of_dtype, leaves_with_paths
from .outputs import path_of_output
from .tangents import LeafType


def require_reverse_pairs(
    who: str, values: tuple[Any, ...], paths: tuple[str, ...], output: Any
) -> None:
    """Refuses complex outputs of real inputs: a pullback gives a row's real part only."""
    _require(
        who,
        values,
        paths,
        output,
        lambda out, x: out == "complex" and x == "real",
        "use jacfwd, or as_real=True",
    )


def require_forward_pairs(
    who: str, values: tuple[Any, ...], paths: tuple[str, ...], output: Any
) -> None:
    """Refuses real outputs of complex inputs: the derivative along 1 hides that along i."""
    _require(
        who,
        values,
        paths,
        output,
        lambda out, x: out == "real" and x == "complex",
        "use jacrev or grad, or as_real=True",
    )


def require_holomorphic_pairs(
    who: str, values: tuple[Any, ...], paths: tuple[str, ...], output: Any
) -> None:
    """Refuses real functions of complex inputs, which have no complex Hessian."""
    _require(
        who,
        values,
        paths,
        output,
        lambda out, x: out != x,
        "use hvp, or as_real=True",
    )


def _require(
    who: str, values: tuple[Any, ...], paths: tuple[str, ...], output: Any, bad: Any, hint: str
) -> None:
    kinds = {kind_of(x) for x in jax.tree.leaves(values)}
    if len(kinds) == 1 and kinds == {kind_of(y) for y in jax.tree.leaves(output)}:
        return
    for path, y in jax.tree_util.tree_leaves_with_path(output):
        for at, x in leaves_with_paths(values, paths):
            if bad(kind_of(y), kind_of(x)):
                fail(
                    who,
                    f"`{path_of_output(path)}` is {kind_of(y)}, {describe(y)}, while `{at}` is "
                    f"{kind_of(x)}, {describe(x)}",
                    hint=hint,
                    error=TypeError,
                )


Blocks = Sequence[Sequence[jax.Array]]


def holomorphic_rows(
    who: str,
    pull: Callable[..., list[Any]],
    outputs: Sequence[LeafType],
    inputs: Sequence[LeafType],
    blocks: Blocks,
) -> Blocks:
    """Jacobians by rows, `[output][input]`, if the pullback along i is i times that along 1."""
    if not any(map(_is_complex, outputs)):
        return blocks
    weights = [_weights(y) for y in outputs]
    along_i = pull(
        *(w * 1j if _is_complex(y) else w for w, y in zip(weights, outputs, strict=True))
    )
    predicted = [
        sum(
            jnp.tensordot(w, of_output[i], w.ndim)
            for w, of_output in zip(weights, blocks, strict=True)
        )
        for i in range(len(inputs))
    ]
    return _judged(who, inputs, predicted, along_i, blocks)


def holomorphic_columns(
    who: str,
    push: Callable[..., list[Any]],
    outputs: Sequence[LeafType],
    inputs: Sequence[LeafType],
    blocks: Blocks,
) -> Blocks:
    """Jacobians by columns, `[output][input]`, if the tangent along i is i times that along 1."""
    weights = [_weights(x) for x in inputs]
    along_i = push(*(w * 1j if _is_complex(x) else w for w, x in zip(weights, inputs, strict=True)))
    predicted = [
        sum(jnp.tensordot(block, v, v.ndim) for block, v in zip(of_output, weights, strict=True))
        for of_output in blocks
    ]
    return _judged(who, outputs, predicted, along_i, blocks)


def _is_complex(x: LeafType) -> bool:
    return kind_of_dtype(x.dtype) == "complex"


def _weights(x: LeafType) -> jax.Array:
    """A direction along which different derivatives agree by accident only."""
    if not _is_complex(x):
        return jnp.zeros(x.shape, x.dtype)
    return jnp.asarray(np.random.default_rng(0).uniform(0.5, 1.5, x.shape), x.dtype)


def _judged(
    who: str, ends: Sequence[LeafType], along_1: Any, along_i: Sequence[Any], blocks: Blocks
) -> Blocks:
    holds = [
        _agree(lax.stop_gradient(a * 1j), lax.stop_gradient(b))
        for end, a, b in zip(ends, along_1, along_i, strict=True)
        if _is_complex(end)
    ]
    if not holds:
        return blocks
    ok = jnp.stack(holds).all()
    known = peek(ok)
    if known is not None:
        if known.all():
            return blocks
        fail(who, _NOT_HOLOMORPHIC, hint=_REMEDY, error=ValueError)
    if checking_values.value and staging_trace() is not None:
        check_inside(who, [Requirement(ok, _NOT_HOLOMORPHIC, error=ValueError, hint=_REMEDY)])
    # A program being recorded cannot raise: it gives NaN, as reads out of range do.
    return [[jnp.where(ok, block, jnp.nan) for block in of_output] for of_output in blocks]


_NOT_HOLOMORPHIC = (
    "`func` is not holomorphic here: its derivatives along 1 and along i are not the same complex "
    "number"
)
_REMEDY = "as_real=True gives the Jacobian of real and imaginary parts"


def _agree(a: jax.Array, b: jax.Array) -> jax.Array:
    """Whether both are the same but for rounding, which cancellation may have magnified."""
    scale = jnp.maximum(jnp.abs(a).max(initial=0), jnp.abs(b).max(initial=0))
    distance = jnp.abs(a - b).max(initial=0)
    return ~(distance > 4 * np.sqrt(np.finfo(a.dtype).eps) * scale)


def as_real_function(
    function: Callable[..., Any], values: tuple[Any, ...], has_aux: bool
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """`function` and its arguments, with a last dimension of (real, imaginary) where complex."""
    leaves, structure = jax.tree.flatten(values)
    complexes = [kind_of(x) == "complex" for x in leaves]

    def of_pairs(*pairs: Any) -> Any:
        parts = [
            lax.complex(x[..., 0], x[..., 1]) if split else x
            for x, split in zip(jax.tree.leaves(pairs), complexes, strict=True)
        ]
        out = function(*structure.unflatten(parts))
        return (_as_pairs(out[0]), out[1]) if has_aux else _as_pairs(out)

    return of_pairs, _as_pairs(values)


def _as_pairs(tree: Any) -> Any:
    return jax.tree.map(
        lambda x: jnp.stack([jnp.real(x), jnp.imag(x)], -1) if kind_of(x) == "complex" else x, tree
    )
