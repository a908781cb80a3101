"""The steps from a storage to a view: how each reads an array, and how it writes back exactly.

A step is a value: it holds what its name says, and no array but a traced index. `read` makes the
view's array of the array before the step. `write` gives the array before the step, with the
elements of the view replaced: so it has the exact derivative in both arguments, to any order.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, Protocol

import jax
import jax.numpy as jnp
from jax import lax

from functx._core import OPERATORS, Size

from .storage import hidden_from_derivatives


class ViewStep(Protocol):
    """One step from an array to a view of it."""

    def read(self, whole: jax.Array) -> jax.Array:
        """The view of `whole`."""
        ...

    def write(self, whole: jax.Array, part: jax.Array) -> jax.Array:
        """`whole` with `part` in the place of its view."""
        ...


@dataclasses.dataclass(frozen=True)
class Reshape:
    """The elements in another shape."""

    shape: tuple[Size, ...]

    def read(self, whole: jax.Array) -> jax.Array:
        """The elements of `whole` in row-major order."""
        return jnp.reshape(whole, self.shape)

    def write(self, whole: jax.Array, part: jax.Array) -> jax.Array:
        """The elements of `part` in the shape of `whole`."""
        return jnp.reshape(part, whole.shape)


@dataclasses.dataclass(frozen=True)
class Permute:
    """The dimensions in another order."""

    order: tuple[int, ...]

    def read(self, whole: jax.Array) -> jax.Array:
        """`whole` with its dimensions in the order."""
        return lax.transpose(whole, self.order)

    def write(self, whole: jax.Array, part: jax.Array) -> jax.Array:
        """`part` with its dimensions back in their places."""
        return lax.transpose(part, sorted(range(part.ndim), key=self.order.__getitem__))


@dataclasses.dataclass(frozen=True)
class Slice:
    """Every `step`-th element of one dimension, from `start`, `size` of them."""

    dim: int
    start: Size
    size: Size
    step: int = 1

    def read(self, whole: jax.Array) -> jax.Array:
        """The elements of the slice."""
        stop = self.start if self.size == 0 else self.start + (self.size - 1) * self.step + 1
        return lax.slice_in_dim(whole, self.start, stop, self.step, self.dim)

    def write(self, whole: jax.Array, part: jax.Array) -> jax.Array:
        """`whole` with `part` in the slice."""
        if self.size == 0:
            return whole
        if self.step == 1:
            return lax.dynamic_update_slice_in_dim(whole, part, self.start, self.dim)
        places = self.start + self.step * jnp.arange(self.size)
        at = (*[slice(None)] * self.dim, places)
        return whole.at[at].set(part, unique_indices=True, indices_are_sorted=True)


@dataclasses.dataclass(frozen=True)
class SelectAt:
    """One element of a dimension, which is gone; the index may be a traced integer."""

    dim: int
    index: Any

    def read(self, whole: jax.Array) -> jax.Array:
        """The part at the index."""
        return lax.dynamic_index_in_dim(whole, self.index, self.dim, keepdims=False)

    def write(self, whole: jax.Array, part: jax.Array) -> jax.Array:
        """`whole` with `part` at the index."""
        return lax.dynamic_update_index_in_dim(whole, part, self.index, self.dim)


@dataclasses.dataclass(frozen=True)
class Diagonal:
    """A diagonal of two dimensions, which becomes the last one."""

    offset: int
    dim1: int
    dim2: int

    def read(self, whole: jax.Array) -> jax.Array:
        """The diagonal."""
        return OPERATORS["diagonal"](whole, self.offset, self.dim1, self.dim2)

    def write(self, whole: jax.Array, part: jax.Array) -> jax.Array:
        """`whole` with `part` on the diagonal."""
        return OPERATORS["diagonal_scatter"](whole, part, self.offset, self.dim1, self.dim2)


@dataclasses.dataclass(frozen=True)
class Expand:
    """Elements repeated along new dimensions and those of size 1, to be read; or none repeated."""

    shape: tuple[Size, ...]
    repeats: bool

    def read(self, whole: jax.Array) -> jax.Array:
        """`whole`, repeated."""
        return jnp.broadcast_to(whole, self.shape)

    def write(self, whole: jax.Array, part: jax.Array) -> jax.Array:
        """The elements, none of which is repeated: a view that repeats them refuses before."""
        return jnp.reshape(part, whole.shape)


@dataclasses.dataclass(frozen=True)
class Strided:
    """Elements of the flat storage at regular distances."""

    shape: tuple[Size, ...]
    strides: tuple[Size, ...]
    offset: Size

    def read(self, whole: jax.Array) -> jax.Array:
        """The elements at the distances."""
        return OPERATORS["as_strided"](whole, self.shape, self.strides, self.offset)

    def write(self, whole: jax.Array, part: jax.Array) -> jax.Array:
        """`whole` with `part` at the distances."""
        return OPERATORS["as_strided_scatter"](whole, part, self.shape, self.strides, self.offset)


@dataclasses.dataclass(frozen=True)
class ComplexPart:
    """The real or the imaginary part of complex numbers."""

    part: Literal["real", "imag"]

    def read(self, whole: jax.Array) -> jax.Array:
        """The part."""
        return lax.real(whole) if self.part == "real" else lax.imag(whole)

    def write(self, whole: jax.Array, part: jax.Array) -> jax.Array:
        """`whole` with the other part as it was."""
        if self.part == "real":
            return lax.complex(part, lax.imag(whole))
        return lax.complex(lax.real(whole), part)


@dataclasses.dataclass(frozen=True)
class AsReal:
    """Complex numbers as pairs of real ones, or the other way round."""

    inverse: bool = False

    def read(self, whole: jax.Array) -> jax.Array:
        """The numbers in the other form."""
        if self.inverse:
            return lax.complex(whole[..., 0], whole[..., 1])
        return jnp.stack([lax.real(whole), lax.imag(whole)], axis=-1)

    def write(self, whole: jax.Array, part: jax.Array) -> jax.Array:
        """The numbers of `part` in the form of `whole`."""
        return AsReal(not self.inverse).read(part)


@dataclasses.dataclass(frozen=True)
class Conjugate:
    """The conjugates of complex numbers."""

    def read(self, whole: jax.Array) -> jax.Array:
        """The conjugates."""
        return lax.conj(whole)

    def write(self, whole: jax.Array, part: jax.Array) -> jax.Array:
        """The conjugates of what is written."""
        return lax.conj(part)


@dataclasses.dataclass(frozen=True)
class Detach:
    """The same elements without a derivative; writes are hidden from that of the array."""

    def read(self, whole: jax.Array) -> jax.Array:
        """The elements as constants."""
        return lax.stop_gradient(whole)

    def write(self, whole: jax.Array, part: jax.Array) -> jax.Array:
        """What is written, with the derivative of `whole`."""
        return hidden_from_derivatives(whole, part)
