"""Batches of arrays that differ in the sizes of some dimensions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.core import Tracer

from functx._core import describe, explain_unknown_keywords, fail
from functx._transforms.sparse_arrays import StoredValues

from .lengths import Buckets, index_dtype, padded_length, require_buckets


@jax.tree_util.register_pytree_node_class
class Nested(StoredValues):
    """A batch of arrays that differ in the size of one dimension, or of several.

    It is made by `functx.nested.nested` or `functx.nested.from_padded`, and comes out of
    `functx.nested.vmap`. It is a pytree of padded values and of lengths, so that it passes `jit`,
    `grad`, `jvp` and `vmap` like an array: gradients are batches of the same lengths. What stands
    in the padding is nobody's business: no result shows it.

    - `lengths`: how long each array is, `[batch]`; a tuple of those where several dimensions are
      ragged.
    - `dims`: the ragged dimensions of each array, without that of the batch.
    - `names`: what their sizes are called, or None. Batches in which a size has one name have the
      same lengths there.

    Dtype: `dtype`, that of the arrays.

    >>> x = functx.nested.nested([jnp.ones(3, "float32"), jnp.ones(1, "float32")], name="n")
    >>> x
    Nested(f32[2,n], n=[3, 1])
    >>> len(x), x.dims, x.names, x.dtype
    (2, (0,), ('n',), dtype('float32'))
    """

    def __init__(
        self,
        values: Any,
        lengths: Sequence[Any],
        dims: tuple[int, ...],
        names: tuple[str | None, ...],
        filled: tuple[bool, ...],
    ):
        """Users call `functx.nested.nested`: nothing is looked at here.

        - `values`: the padded arrays, those of the batch stacked in front.
        - `lengths`: for each ragged dimension, of each array.
        - `dims`: the ragged dimensions of each array.
        - `names`: what their sizes are called.
        - `filled`: for each, whether no array is empty along it.
        """
        self._values, self._lengths = values, tuple(lengths)
        self.dims, self.names, self.filled = dims, names, filled

    @property
    def lengths(self) -> Any:
        """How long each array is: int `[batch]`, or a tuple of those for several dimensions."""
        return self._lengths[0] if len(self._lengths) == 1 else self._lengths

    @property
    def dtype(self) -> Any:
        """That of the arrays."""
        return self._values.dtype

    @property
    def mask(self) -> Array:
        """Where the padded arrays have elements of their own: bool, in the shape of `padded()`.

        >>> functx.nested.nested([jnp.ones(2), jnp.ones(1)]).mask
        Array([[ True,  True],
               [ True, False]], dtype=bool)
        """
        values, lead = self._values, self._lengths[0].ndim
        mask = jnp.ones(values.shape, bool)
        for dim, lengths in zip(self.dims, self._lengths, strict=True):
            places = lax.broadcasted_iota(lengths.dtype, values.shape, lead + dim)
            mask &= places < lax.expand_dims(lengths, range(lead, values.ndim))
        return mask

    def padded(self, fill: Any = 0) -> Array:
        """The arrays, stacked, each with `fill` behind its end.

        - `fill`: a number, in the dtype of the arrays.

        Shapes: `[batch, *sizes]`, with the size that the batch is padded to in ragged dimensions.

        >>> functx.nested.nested([jnp.asarray([1, 2]), jnp.asarray([3])]).padded(-1).tolist()
        [[1, 2], [3, -1]]
        """
        return jnp.where(self.mask, self._values, jnp.asarray(fill, self.dtype))

    def unbind(self) -> list[Array]:
        """The arrays, one by one. Refused with a RuntimeError where the lengths are being traced.

        >>> [x.shape for x in functx.nested.nested([jnp.ones((2, 4)), jnp.ones((1, 4))]).unbind()]
        [(2, 4), (1, 4)]
        """
        if any(isinstance(n, Tracer) for n in self._lengths):
            fail(
                "Nested.unbind",
                "the lengths are being traced, and shapes cannot depend on them",
                hint="write what is to be done for one sequence, and map it by functx.nested.vmap; "
                "or use padded() and mask",
            )
        if self._lengths[0].ndim != 1:
            fail("Nested.unbind", f"there must be one dimension of a batch, got {self!r}")
        lengths = [np.asarray(n) for n in self._lengths]
        arrays = []
        for i in range(self._values.shape[0]):
            index = [slice(None)] * (self._values.ndim - 1)
            for dim, own in zip(self.dims, lengths, strict=True):
                index[dim] = slice(int(own[i]))
            arrays.append(self._values[(i, *index)])
        return arrays

    def __len__(self) -> int:
        return self._values.shape[0]

    def __iter__(self) -> Iterator[Array]:
        return iter(self.unbind())

    def __repr__(self) -> str:
        values = self._values
        if not hasattr(values, "shape") or not hasattr(self._lengths[0], "ndim"):
            return f"Nested({values}, {self._lengths})"
        shown = [str(n) for n in values.shape]
        letters = _letters(self.names)
        for dim, letter in zip(self.dims, letters, strict=True):
            shown[self._lengths[0].ndim + dim] = letter
        sizes = {
            letter: "traced" if isinstance(n, Tracer) else _few(np.asarray(n))
            for letter, n in zip(letters, self._lengths, strict=True)
        }
        listed = ", ".join(f"{letter}={n}" for letter, n in sizes.items())
        kind = describe(jax.ShapeDtypeStruct((), values.dtype)).partition("[")[0]
        return f"Nested({kind}[{','.join(shown)}], {listed})"

    def tree_flatten(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The values and the lengths, for JAX."""
        info = {"dims": self.dims, "names": self.names, "filled": self.filled}
        return (self._values, *self._lengths), info

    @classmethod
    def tree_unflatten(cls, info: dict[str, Any], children: Sequence[Any]) -> Self:
        """The batch of values and lengths, for JAX."""
        values, *lengths = children
        return cls(values, lengths, **info)


def is_nested(x: Any) -> bool:
    """Whether `x` is a batch of arrays that differ in sizes."""
    return isinstance(x, Nested)


def _letters(names: Sequence[str | None]) -> list[str]:
    """A letter for each size without a name."""
    free = (x for x in "nmklpqrstuvwxyzabcdefghij" if x not in names)
    return [name or next(free) for name in names]


def _few(lengths: np.ndarray) -> str:
    """Lengths in a line."""
    flat = lengths.tolist()
    if lengths.ndim == 1 and len(flat) > 8:
        return f"[{', '.join(map(str, flat[:6]))}, ..., {flat[-1]}]"
    return str(flat)


@explain_unknown_keywords()
def nested(
    arrays: Sequence[Any],
    *,
    dim: int | tuple[int, ...] = 0,
    name: str | tuple[str | None, ...] | None = None,
    buckets: Buckets = None,
) -> Nested:
    """A batch of arrays that differ in the size of a dimension, padded to one size.

    - `arrays`: a list of arrays of one dtype, whose shapes differ in `dim` alone. A size may be 0.
    - `dim`: the ragged dimension, negative counts from the end; or a tuple of several.
    - `name`: what the size is called, an identifier; of several dimensions a tuple. Batches that
      are made with one name have the same lengths there, and `functx.nested.vmap` takes it for one
      size: queries and keys of one sequence, tokens and targets.
    - `buckets`: the sizes to pad to. None is the size of the longest array, `"powers"` the next
      power of two, a list of ints the first of them that suffices. A compiled function is compiled
      once for each.

    Returns a `Nested`.
    Errors: ValueError for shapes that differ elsewhere, no arrays, and arrays longer than all
    buckets, TypeError for dtypes that differ, IndexError for a dimension out of range.

    >>> x = functx.nested.nested([jnp.zeros((3, 2)), jnp.zeros((5, 2))], buckets="powers")
    >>> x.padded().shape
    (2, 8, 2)
    """
    who = "nested.nested"
    require_buckets(who, buckets)
    if not isinstance(arrays, (list, tuple)) or not arrays:
        fail(who, f"`arrays` must be a list of arrays, got {describe(arrays)}", error=ValueError)
    arrays = [x if isinstance(x, jax.Array) else jnp.asarray(x) for x in arrays]
    first = arrays[0]
    dims = _canonical_dims(who, dim, first.ndim)
    names = _canonical_names(who, name, len(dims))
    for i, x in enumerate(arrays):
        if x.dtype != first.dtype:
            message = f"`arrays` must have one dtype, got {describe(first)} and {describe(x)}"
            fail(who, message, error=TypeError)
        if _others(x.shape, dims) != _others(first.shape, dims) or x.ndim != first.ndim:
            fail(
                who,
                f"`arrays` must have one shape but in dimension {dim}, got {describe(first)} and, "
                f"at position {i}, {describe(x)}",
                hint="`dim` takes a tuple of dimensions that differ",
                error=ValueError,
            )
    sizes = {d: [x.shape[d] for x in arrays] for d in dims}
    whole = {d: padded_length(who, max(of_dim), buckets) for d, of_dim in sizes.items()}
    values = jnp.stack(
        [jnp.pad(x, [(0, whole.get(d, n) - n) for d, n in enumerate(x.shape)]) for x in arrays]
    )
    lengths = [jnp.asarray(np.asarray(sizes[d])) for d in dims]
    return Nested(values, lengths, dims, names, tuple(min(sizes[d]) > 0 for d in dims))


@explain_unknown_keywords()
def from_padded(
    values: Any,
    lengths: Any,
    *,
    dim: int = 0,
    name: str | None = None,
    filled: bool | None = None,
) -> Nested:
    """The batch of arrays that someone else has padded.

    - `values`: `[batch, *sizes]`, of any dtype; what is behind the end of an array does not count.
    - `lengths`: how long each is, integers `[batch]`, from 0 to the padded size.
    - `dim`: the ragged dimension of each array, without that of the batch.
    - `name`: what its size is called, as `nested` takes it.
    - `filled`: whether no array is empty. By default the lengths tell; where they are being traced,
      some may be, and `vmap` records the function of an empty sequence, too.

    Returns a `Nested`.
    Errors: TypeError for lengths that are no integers, ValueError for a wrong number of them and
    for lengths out of range, as far as they are known.

    >>> functx.nested.from_padded(jnp.ones((2, 3), "float32"), jnp.asarray([3, 1]))
    Nested(f32[2,n], n=[3, 1])
    """
    who = "nested.from_padded"
    values, lengths = jnp.asarray(values), jnp.asarray(lengths)
    if not values.ndim:
        fail(
            who,
            f"`values` must have a dimension of the batch, got {describe(values)}",
            error=ValueError,
        )
    dims = _canonical_dims(who, dim, values.ndim - 1)
    names = _canonical_names(who, name, 1)
    if not jnp.issubdtype(lengths.dtype, jnp.integer):
        fail(who, f"`lengths` must be integers, got {describe(lengths)}", error=TypeError)
    if lengths.shape != values.shape[:1]:
        fail(
            who,
            f"`lengths` must have one entry for each of {values.shape[0]} arrays, got "
            f"{describe(lengths)}",
            error=ValueError,
        )
    size = values.shape[1 + dims[0]]
    known = not isinstance(lengths, Tracer)
    if known and lengths.size and not 0 <= int(lengths.min()) <= int(lengths.max()) <= size:
        message = f"`lengths` must be from 0 to {size}, got {_few(np.asarray(lengths))}"
        fail(who, message, error=ValueError)
    if known and filled and not bool((lengths > 0).all()):
        message = f"an array is empty, got `filled=True` and lengths {_few(np.asarray(lengths))}"
        fail(who, message, error=ValueError)
    if filled is None:
        filled = known and bool((lengths > 0).all())
    if not size:
        values = jnp.pad(values, [(0, int(d == 1 + dims[0])) for d in range(values.ndim)])
    lengths = lengths.astype(index_dtype())
    return Nested(values, [lengths], dims, names, (filled,))


def _canonical_dims(who: str, dim: Any, ndim: int) -> tuple[int, ...]:
    dims = dim if isinstance(dim, tuple) else (dim,)
    if not dims or not all(type(d) is int for d in dims):
        message = f"`dim` must be an int or a tuple of ints, got {describe(dim)}"
        fail(who, message, error=TypeError)
    if not all(-ndim <= d < ndim for d in dims):
        fail(
            who,
            f"`dim` must be a dimension of arrays of rank {ndim}, got {describe(dim)}",
            error=IndexError,
        )
    dims = tuple(d % ndim for d in dims)
    if len(set(dims)) < len(dims):
        fail(who, f"`dim` names a dimension twice, got {describe(dim)}", error=ValueError)
    return dims


def _canonical_names(who: str, name: Any, count: int) -> tuple[str | None, ...]:
    names = name if isinstance(name, tuple) else (name,) * (count if name is None else 1)
    if len(names) != count or not all(map(_is_name, names)):
        fail(
            who,
            f"`name` must be an identifier for each of {count} ragged dimensions, or None, got "
            f"{describe(name)}",
            error=ValueError,
        )
    return names


def _is_name(x: Any) -> bool:
    """Whether a size can be called so: JAX writes others with functions of these names."""
    functions = {"mod", "floordiv", "max", "min", "non_negative"}
    return x is None or (isinstance(x, str) and x.isidentifier() and x not in functions)


def _others(shape: Sequence[int], dims: Sequence[int]) -> list[int]:
    return [n for d, n in enumerate(shape) if d not in dims]
