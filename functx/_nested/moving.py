"""Rules of primitives that move elements along dimensions, or make arrays of a size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core.shapes.symbolic_sizes import known
from functx._transforms.programs.walking import type_of

from .equations import CannotHonour, PaddedEquation, PaddingRule, require_known
from .sizes import taken


def size_as_value(equation: PaddedEquation) -> Sequence[Array]:
    """The size of the lane itself."""
    dtype = type_of(equation.eqn.outvars[0]).dtype
    return [jnp.asarray(equation.sizes.number(equation.params["dim"]), dtype)]


def of_longest(equation: PaddedEquation) -> Sequence[Array]:
    """Positions, or random bits, as many as the longest sequence takes."""
    return equation.bound(shape=equation.sizes.padded_shape(equation.params["shape"]))


def repeated(equation: PaddedEquation) -> Sequence[Array]:
    """Along the longest sequence, with no cotangents from what is beyond its own end."""
    shape, dims = equation.params["shape"], equation.params["broadcast_dimensions"]
    whole = equation.sizes.padded_shape(shape)
    result = lax.broadcast_in_dim(equation.operands[0], whole, dims)
    from_operand = {d for d, n in zip(dims, equation.shapes[0], strict=True) if not known(n)}
    new = any(not known(n) and d not in from_operand for d, n in enumerate(shape))
    return equation.gated([result]) if new and not equation.is_constant(0) else [result]


def reversed_(equation: PaddedEquation) -> Sequence[Array]:
    """Each sequence from its own end."""
    (x,), (shape,) = equation.operands, equation.shapes
    for dim in equation.params["dimensions"]:
        places = jnp.arange(x.shape[dim])
        own = equation.sizes.own(shape[dim])
        x = taken(x, dim, own - 1 - places)
    return equation.gated([x])


def sliced(equation: PaddedEquation) -> Sequence[Array]:
    """From the bounds of each sequence, which may depend on its length."""
    (x,), (shape,), (out,) = equation.operands, equation.shapes, equation.out_shapes
    starts, strides = equation.params["start_indices"], equation.params["strides"]
    for dim, (start, step) in enumerate(zip(starts, strides or (1,) * x.ndim, strict=True)):
        count = equation.sizes.padded(out[dim])
        if shape[dim] == out[dim]:
            continue
        if known(start) and int(start) + (count - 1) * step < x.shape[dim] and count:
            stop = int(start) + (count - 1) * step + 1
            x = lax.slice_in_dim(x, int(start), stop, step, axis=dim)
        else:
            x = taken(x, dim, equation.sizes.number(start) + step * jnp.arange(count))
    return equation.gated([x])


def sliced_at(equation: PaddedEquation) -> Sequence[Array]:
    """From places that are clamped to each sequence's own end."""
    x, *starts = equation.operands
    shape, (out,) = equation.shapes[0], equation.out_shapes
    fixed = [*starts]
    for dim, start in enumerate(starts):
        if known(shape[dim]) and known(out[dim]):
            continue
        fixed[dim] = jnp.zeros_like(start)
        if shape[dim] == out[dim]:
            continue
        last = equation.sizes.own(shape[dim]) - equation.sizes.own(out[dim])
        start = jnp.clip(start.astype(jnp.asarray(last).dtype), 0, jnp.maximum(last, 0))
        x = taken(x, dim, start + jnp.arange(equation.sizes.padded(out[dim])))
    whole = equation.sizes.padded_shape(out)
    return equation.gated([lax.dynamic_slice(x, fixed, whole)])


def padded(equation: PaddedEquation) -> Sequence[Array]:
    """With the value right behind the end of each sequence."""
    x, value = equation.operands
    shape, (out,) = equation.shapes[0], equation.out_shapes
    whole = equation.sizes.padded_shape(out)
    inside = None
    for dim, (low, _, interior) in enumerate(equation.params["padding_config"]):
        if shape[dim] == out[dim] and known(low) and not int(low) and not interior:
            continue
        count = equation.sizes.padded(out[dim])
        if known(shape[dim]) and known(out[dim]) and not x.shape[dim]:
            raise CannotHonour("it pads a dimension without elements, and another ragged one")
        places = jnp.arange(count) - equation.sizes.number(low)
        own, step = equation.sizes.own(shape[dim]), int(interior) + 1
        of_operand = (places >= 0) & (places < (own - 1) * step + 1) & (places % step == 0)
        x = taken(x, dim, places // step)
        of_operand = lax.broadcast_in_dim(of_operand, whole, [dim])
        inside = of_operand if inside is None else inside & of_operand
    if inside is None:
        return [x]
    return equation.gated([lax.select(inside, x, jnp.broadcast_to(value, whole))])


def concatenated(equation: PaddedEquation) -> Sequence[Array]:
    """Each piece right behind the own end of the one before it."""
    dim, pieces = equation.params["dimension"], equation.operands
    lengths = [shape[dim] for shape in equation.shapes]
    if known(*lengths[:-1]):
        return equation.bound()
    (out,) = equation.out_shapes
    whole = equation.sizes.padded_shape(out)
    places = jnp.arange(whole[dim])
    result: Any = None
    start: Any = 0
    for piece, length in zip(pieces, lengths, strict=True):
        if piece.shape[dim]:
            moved = taken(piece, dim, places - start)
            if result is not None:
                behind = lax.broadcast_in_dim(places >= start, whole, [dim])
                moved = lax.select(behind, moved, result)
            result = moved
        start = start + equation.sizes.own(length)
    return equation.gated([result])


def tiled(equation: PaddedEquation) -> Sequence[Array]:
    """Each sequence again and again from its own end."""
    (x,), (shape,), (out,) = equation.operands, equation.shapes, equation.out_shapes
    for dim, size in enumerate(out):
        if shape[dim] == size:
            continue
        places = jnp.arange(equation.sizes.padded(size))
        own = jnp.asarray(equation.sizes.own(shape[dim]), places.dtype)
        x = taken(x, dim, places % jnp.maximum(own, 1))
    return equation.gated([x])


def split(equation: PaddedEquation) -> Sequence[Array]:
    """Pieces of sizes that may depend on the length."""
    (x,), axis = equation.operands, equation.params["axis"]
    results, start = [], 0
    for size in equation.params["sizes"]:
        places = jnp.arange(equation.sizes.padded(size))
        results.append(taken(x, axis, places + equation.sizes.number(start)))
        start = start + size
    return equation.gated(results)


def of_leading_dimensions(kept: int, what: str) -> PaddingRule:
    """The rule of a primitive that works on the last `kept` dimensions, and else one by one."""

    def rule(equation: PaddedEquation) -> Sequence[Array]:
        count = len(equation.params["fft_lengths"]) if what == "fft" else kept
        lead = len(equation.shapes[0]) - count
        for shape in (*equation.shapes, *equation.out_shapes):
            require_known(shape[lead:], "the size of a dimension that it works along")
        operands = [equation.filled(i, 0) for i in range(len(equation.operands))]
        return equation.gated(equation.bound(operands))

    return rule


def triangular(equation: PaddedEquation) -> Sequence[Array]:
    """`triangular_solve`: right-hand sides of zeros are in padding, systems are of one size."""
    require_known(equation.shapes[0][-2:], "the size of the systems")
    operands = [equation.filled(i, 0) for i in range(2)]
    return equation.gated(equation.bound(operands))


_OF_MATRICES = """
cholesky eig eigh geqrf hessenberg householder_product lu qr schur svd tridiagonal
"""

MOVING: dict[str, PaddingRule] = {
    "dim_as_value": size_as_value,
    "iota": of_longest,
    "broadcast_in_dim": repeated,
    "rev": reversed_,
    "slice": sliced,
    "dynamic_slice": sliced_at,
    "pad": padded,
    "concatenate": concatenated,
    "tile": tiled,
    "split": split,
    "random_bits": of_longest,
    "fft": of_leading_dimensions(0, "fft"),
    **{name: of_leading_dimensions(2, name) for name in _OF_MATRICES.split()},
    "triangular_solve": triangular,
    "lu_pivots_to_permutation": of_leading_dimensions(1, "pivots"),
}
