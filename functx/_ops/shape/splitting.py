"""One array cut along a dimension into several."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, overload, TypeAlias

import jax
import numpy as np
from jax import Array, core

from functx._core import (
    ArrayLike,
    category,
    check_number_of_pieces,
    describe,
    Dim,
    operator,
    peek,
    Promote,
    refuse,
    slice_bounds,
    split_at,
    Splits,
)


__all__ = [
    "chunk",
    "dsplit",
    "hsplit",
    "split",
    "split_with_sizes",
    "tensor_split",
    "unbind",
    "vsplit",
]

_POSITIONS: dict[str, str] = dict.fromkeys(("sections", "indices"), "indices_or_sections")
_Pieces: TypeAlias = tuple[Array, ...]


def _splits(tensor: Any, split_size_or_sections: int | tuple[int, ...], dim: int) -> Splits:
    size = _size(tensor, dim)
    if isinstance(split_size_or_sections, tuple):
        return _of_sizes(split_size_or_sections, size, dim, "split_size_or_sections")
    step = split_size_or_sections
    if step < 0 or (step == 0 and size):
        refuse(f"`split_size_or_sections` must be positive, got {step}")
    return _behind_one_another(_equal(size, step) or (0,), dim)


@operator(promote=Promote.NO_OPMATH, splits=_splits, aliases=("split_copy",))
def split(
    tensor: ArrayLike, split_size_or_sections: int | tuple[int, ...], dim: Dim = 0
) -> tuple[Array, ...]:
    """Cuts an array into pieces of one size along `dim`, or into pieces of given sizes.

    - `tensor`: an array of any dtype, which the pieces keep.
    - `split_size_or_sections`: the size of each piece but the last, which may be smaller; or the
      sizes of all pieces, which add up to the size of `dim`.
    - `dim`: the dimension that is cut.

    Shapes: `[..., n, ...] -> [..., size, ...]` each, in a tuple.
    Errors: RuntimeError for sizes that do not add up, negative ones and 0-d arrays; IndexError if
    `tensor` does not have `dim`.

    >>> [x.shape for x in functx.split(jnp.zeros(5, "float32"), 2)]
    [(2,), (2,), (1,)]
    >>> [x.shape for x in functx.split(jnp.zeros(5, "float32"), [1, 4])]
    [(1,), (4,)]
    """
    return split_at(tensor, _splits(tensor, split_size_or_sections, dim))


def _sized_splits(input: Any, split_sizes: tuple[int, ...], dim: int) -> Splits:
    return _of_sizes(split_sizes, _size(input, dim), dim, "split_sizes")


@operator(promote=Promote.NO_OPMATH, splits=_sized_splits, aliases=("split_with_sizes_copy",))
def split_with_sizes(
    input: ArrayLike, split_sizes: tuple[int, ...], dim: Dim = 0
) -> tuple[Array, ...]:
    """Cuts an array into pieces of given sizes, behind one another along `dim`.

    - `input`: an array of any dtype, which the pieces keep.
    - `split_sizes`: the sizes of the pieces, which add up to the size of `dim`.
    - `dim`: the dimension that is cut.

    Shapes: `[..., n, ...] -> [..., split_sizes[i], ...]` each, in a tuple.
    Errors: RuntimeError for sizes that do not add up, negative ones and 0-d arrays; IndexError if
    `input` does not have `dim`.

    >>> [x.shape for x in functx.split_with_sizes(jnp.zeros(5, "float32"), [1, 4])]
    [(1,), (4,)]
    """
    return split_at(input, _sized_splits(input, split_sizes, dim))


def _chunk_splits(input: Any, chunks: int, dim: int) -> Splits:
    size = _size(input, dim)
    if chunks <= 0:
        refuse(f"`chunks` must be positive, got {chunks}")
    if size == 0:
        check_number_of_pieces(chunks)
        return _behind_one_another((0,) * chunks, dim)
    return _behind_one_another(_equal(size, -(-size // chunks)), dim)


@operator(promote=Promote.NO_OPMATH, splits=_chunk_splits)
def chunk(input: ArrayLike, chunks: int, dim: Dim = 0) -> tuple[Array, ...]:
    r"""Cuts an array along `dim` into at most `chunks` pieces of one size.

    - `input`: an array of any dtype, which the pieces keep.
    - `chunks`: how many pieces. There are fewer where fewer of their size hold all $n$ elements.
    - `dim`: the dimension that is cut.

    Shapes: $[\ldots, n, \ldots] \to [\ldots, \lceil n / \mathrm{chunks} \rceil, \ldots]$ each, in a
    tuple; the last piece may be smaller.
    Errors: RuntimeError unless `chunks` is positive and for 0-d arrays, IndexError if `input` does
    not have `dim`.

    >>> [x.shape for x in functx.chunk(jnp.zeros(6, "float32"), 4)]
    [(2,), (2,), (2,)]
    """
    return split_at(input, _chunk_splits(input, chunks, dim))


def _positions_form(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Replaces an array of positions by its ints, as in `tensor_split(x, tensor_indices)`."""
    name = "indices_or_sections"
    if len(args) > 1:
        return (args[0], _ints(args[1]), *args[2:]), kwargs
    return args, kwargs | {name: _ints(kwargs[name])} if name in kwargs else kwargs


def _ints(positions: Any) -> Any:
    """The ints in an array of positions; refuses values that tracing does not know."""
    if not isinstance(positions, (jax.Array, np.ndarray)):
        return positions
    if category(positions.dtype) != 1 or positions.ndim > 1:
        refuse(
            "`indices_or_sections` must be an int or integers in one dimension, "
            f"got {describe(positions)}"
        )
    values = peek(positions)
    if values is None:
        refuse(
            "the shapes of the outputs depend on `indices_or_sections`, whose values `jit` "
            "does not know",
            hint="pass an int or a tuple of ints",
        )
    lanes = values.reshape(-1, *positions.shape)
    if (lanes != lanes[:1]).any():
        refuse(
            "the lanes of `vmap` differ in where they split",
            hint="pass an int or a tuple of ints, or loop over the lanes",
        )
    return tuple(lanes[0].tolist()) if positions.ndim else int(lanes[0])


def _tensor_splits(input: Any, indices_or_sections: int | tuple[int, ...], dim: int) -> Splits:
    size = _size(input, dim)
    if not isinstance(indices_or_sections, tuple):
        sections = indices_or_sections
        if sections <= 0:
            refuse(f"`indices_or_sections` must be positive, got {sections}")
        check_number_of_pieces(sections)
        # One more in each of the first ones, as many as there are over.
        sizes = [(size + sections - 1 - i) // sections for i in range(sections)]
        return _behind_one_another(sizes, dim)
    cuts = zip((None, *indices_or_sections), (*indices_or_sections, None), strict=True)
    bounds = [slice_bounds(start, stop, size) for start, stop in cuts]
    return Splits([a for a, _ in bounds], [core.max_dim(b - a, 0) for a, b in bounds], dim)


@overload
def tensor_split(
    input: ArrayLike, indices_or_sections: int | Sequence[int] | Array, dim: Dim = 0
) -> tuple[Array, ...]: ...
@overload
def tensor_split(input: ArrayLike, *, sections: int, dim: Dim = 0) -> tuple[Array, ...]: ...
@overload
def tensor_split(
    input: ArrayLike, *, indices: Sequence[int], dim: Dim = 0
) -> tuple[Array, ...]: ...
@operator(
    promote=Promote.NO_OPMATH,
    other_signatures=_positions_form,
    splits=_tensor_splits,
    synonyms=_POSITIONS | {"tensor_indices_or_sections": "indices_or_sections"},
)
def tensor_split(
    input: ArrayLike, indices_or_sections: int | tuple[int, ...], dim: Dim = 0
) -> tuple[Array, ...]:
    """Cuts an array into pieces as equal as can be along `dim`, or before given positions.

    - `input`: an array of any dtype, which the pieces keep.
    - `indices_or_sections`: the number of pieces, of which the first are larger by one where `n` is
      no multiple; or the positions before which to cut, as in Python's slices. Positions may be an
      array, whose values have to be known: under `jit`, pass a tuple.
    - `dim`: the dimension that is cut.

    Shapes: `[..., n, ...] -> [..., size of the piece, ...]` each, in a tuple.
    Errors: RuntimeError unless the number of pieces is positive, for unknown values and for 0-d
    arrays; IndexError if `input` does not have `dim`.

    >>> [x.shape for x in functx.tensor_split(jnp.zeros(5, "float32"), 3)]
    [(2,), (2,), (1,)]
    >>> [x.shape for x in functx.tensor_split(jnp.zeros(5, "float32"), (1, 3))]
    [(1,), (2,), (2,)]
    """
    return split_at(input, _tensor_splits(input, indices_or_sections, dim))


def _across(input: Any, least: int, dim: int, indices_or_sections: Any) -> Splits:
    """The splits along `dim` of an array that must have at least `least` dimensions."""
    if input.ndim < least:
        refuse(f"`input` must have at least {least} dimensions, got {describe(input)}")
    size = input.shape[dim]
    sections = indices_or_sections
    if not isinstance(sections, tuple) and (sections <= 0 or size % sections):
        refuse(f"`indices_or_sections` must divide {size}, got {sections}")
    return _tensor_splits(input, indices_or_sections, dim)


def _hsplit_splits(input: Any, indices_or_sections: int | tuple[int, ...]) -> Splits:
    return _across(input, 1, 0 if input.ndim == 1 else 1, indices_or_sections)


@overload
def hsplit(input: ArrayLike, indices_or_sections: int | Sequence[int] | Array) -> _Pieces: ...
@overload
def hsplit(input: ArrayLike, *, sections: int) -> _Pieces: ...
@overload
def hsplit(input: ArrayLike, *, indices: Sequence[int]) -> _Pieces: ...
@operator(
    promote=Promote.NO_OPMATH,
    other_signatures=_positions_form,
    splits=_hsplit_splits,
    synonyms=_POSITIONS,
)
def hsplit(input: ArrayLike, indices_or_sections: int | tuple[int, ...]) -> _Pieces:
    """Cuts an array into pieces side by side, along dimension 1; a vector along dimension 0.

    - `input`: an array of at least 1 dimension. The pieces keep its dtype.
    - `indices_or_sections`: the number of equal pieces; or the positions before which to cut, as in
      Python's slices. Positions may be an array, whose values have to be known: under `jit`, pass a
      tuple.

    Shapes: `[m, n, ...] -> [m, size of the piece, ...]` each, in a tuple.
    Errors: RuntimeError if the number of pieces does not divide the size, for unknown values and
    for too few dimensions.

    >>> [x.shape for x in functx.hsplit(jnp.zeros((2, 4), "float32"), 2)]
    [(2, 2), (2, 2)]
    """
    return split_at(input, _hsplit_splits(input, indices_or_sections))


def _vsplit_splits(input: Any, indices_or_sections: int | tuple[int, ...]) -> Splits:
    return _across(input, 2, 0, indices_or_sections)


@overload
def vsplit(input: ArrayLike, indices_or_sections: int | Sequence[int] | Array) -> _Pieces: ...
@overload
def vsplit(input: ArrayLike, *, sections: int) -> _Pieces: ...
@overload
def vsplit(input: ArrayLike, *, indices: Sequence[int]) -> _Pieces: ...
@operator(
    promote=Promote.NO_OPMATH,
    other_signatures=_positions_form,
    splits=_vsplit_splits,
    synonyms=_POSITIONS,
)
def vsplit(input: ArrayLike, indices_or_sections: int | tuple[int, ...]) -> _Pieces:
    """Cuts an array into pieces on top of one another, along dimension 0.

    - `input`: an array of at least 2 dimensions. The pieces keep its dtype.
    - `indices_or_sections`: the number of equal pieces; or the positions before which to cut, as in
      Python's slices. Positions may be an array, whose values have to be known: under `jit`, pass a
      tuple.

    Shapes: `[m, n, ...] -> [size of the piece, n, ...]` each, in a tuple.
    Errors: RuntimeError if the number of pieces does not divide the size, for unknown values and
    for too few dimensions.

    >>> [x.shape for x in functx.vsplit(jnp.zeros((4, 3), "float32"), (1,))]
    [(1, 3), (3, 3)]
    """
    return split_at(input, _vsplit_splits(input, indices_or_sections))


def _dsplit_splits(input: Any, indices_or_sections: int | tuple[int, ...]) -> Splits:
    return _across(input, 3, 2, indices_or_sections)


@overload
def dsplit(input: ArrayLike, indices_or_sections: int | Sequence[int] | Array) -> _Pieces: ...
@overload
def dsplit(input: ArrayLike, *, sections: int) -> _Pieces: ...
@overload
def dsplit(input: ArrayLike, *, indices: Sequence[int]) -> _Pieces: ...
@operator(
    promote=Promote.NO_OPMATH,
    other_signatures=_positions_form,
    splits=_dsplit_splits,
    synonyms=_POSITIONS,
)
def dsplit(input: ArrayLike, indices_or_sections: int | tuple[int, ...]) -> _Pieces:
    """Cuts an array into pieces behind one another, along dimension 2.

    - `input`: an array of at least 3 dimensions. The pieces keep its dtype.
    - `indices_or_sections`: the number of equal pieces; or the positions before which to cut, as in
      Python's slices. Positions may be an array, whose values have to be known: under `jit`, pass a
      tuple.

    Shapes: `[l, m, n, ...] -> [l, m, size of the piece, ...]` each, in a tuple.
    Errors: RuntimeError if the number of pieces does not divide the size, for unknown values and
    for too few dimensions.

    >>> [x.shape for x in functx.dsplit(jnp.zeros((1, 2, 4), "float32"), 2)]
    [(1, 2, 2), (1, 2, 2)]
    """
    return split_at(input, _dsplit_splits(input, indices_or_sections))


def _unbind_splits(input: Any, dim: int) -> Splits:
    if not input.ndim:
        refuse(f"`input` must have a dimension, got {describe(input)}", error=IndexError)
    n = input.shape[dim]
    check_number_of_pieces(n)
    return Splits(range(n), (1,) * n, dim, keepdim=False)


@operator(promote=Promote.NO_OPMATH, splits=_unbind_splits, aliases=("unbind_copy",))
def unbind(input: ArrayLike, dim: Dim = 0) -> tuple[Array, ...]:
    """The slices of an array along `dim`, without that dimension, in a tuple.

    - `input`: an array of any dtype, which the slices keep.
    - `dim`: the dimension that goes.

    Shapes: `[..., n, ...] -> [..., ...]` each, `n` times.
    Errors: IndexError if `input` does not have `dim`, and for 0-d arrays.

    >>> functx.unbind(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"), 1)
    (Array([1., 3.], dtype=float32), Array([2., 4.], dtype=float32))
    """
    return split_at(input, _unbind_splits(input, dim))


def _size(input: Any, dim: int) -> int:
    """The size of the dimension that is cut; refuses a 0-d array."""
    if not input.ndim:
        refuse(f"expected an array with a dimension to split, got {describe(input)}")
    return input.shape[dim]


def _of_sizes(sizes: tuple[int, ...], size: int, dim: int, name: str) -> Splits:
    """Splits into pieces of `sizes`, refused unless they add up; errors call the sizes `name`."""
    if sum(sizes) != size or min(sizes, default=0) < 0:
        refuse(
            f"`{name}` must hold non-negative sizes that add up to {size}, "
            f"got {describe(list(sizes))}"
        )
    return _behind_one_another(sizes, dim)


def _equal(size: int, step: int) -> tuple[int, ...]:
    """The sizes of pieces of `step` elements, of which the last may be smaller."""
    check_number_of_pieces(size // max(step, 1))
    return tuple(min(step, size - start) for start in range(0, size, step)) if size else ()


def _behind_one_another(sizes: Sequence[int], dim: int) -> Splits:
    """The splits into pieces of given sizes, each of which starts where the one before it ends."""
    return Splits([0, *itertools.accumulate(sizes)][:-1], sizes, dim)
