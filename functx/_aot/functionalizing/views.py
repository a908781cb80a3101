"""Views: a storage, the steps from it, and where their elements lie in it."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import canonical_dim, decided, describe, peek, real_of, refuse, Size

from .geometry import Layout, packed_strides
from .steps import (
    AsReal,
    ComplexPart,
    Conjugate,
    Detach,
    Diagonal,
    Expand,
    Permute,
    Reshape,
    SelectAt,
    Slice,
    Strided,
    ViewStep,
)
from .storage import Storage


@dataclasses.dataclass(frozen=True, eq=False)
class View:
    """What one mutable array reads and writes. The methods make further views of the storage."""

    storage: Storage
    geometry: Layout
    dtype: np.dtype
    steps: tuple[ViewStep, ...] = ()

    @classmethod
    def of(cls, storage: Storage) -> View:
        """The view of the whole storage."""
        shape = tuple(storage.shape)
        return cls(storage, Layout(shape, packed_strides(shape)), np.dtype(storage.dtype))

    @property
    def shape(self) -> tuple[Size, ...]:
        """The sizes of the view."""
        return self.geometry.shape

    @property
    def like(self) -> jax.ShapeDtypeStruct:
        """The shape and the dtype of the view."""
        return jax.ShapeDtypeStruct(self.shape, self.dtype)

    def read(self) -> jax.Array:
        """The elements, as they are after all writes so far."""
        value = self.storage.read()
        for step in self.steps:
            value = step.read(value)
        return value

    def write(self, value: jax.Array) -> None:
        """Replaces the elements, for the storage and all views of it."""
        wholes = [self.storage.read()]
        for step in self.steps[:-1]:
            wholes.append(step.read(wholes[-1]))
        for step, whole in zip(reversed(self.steps), reversed(wholes), strict=False):
            value = step.write(whole, value)
        self.storage.write(value)

    def check_writable(self) -> None:
        """Refuses a view of which several elements are one, and a write that leaks a tracer."""
        self.storage.check_writable()
        if any(map(_overlaps, self.steps)):
            refuse(
                f"more than one element of the written {describe(self.like)} refers to a single "
                "memory location",
                hint="it is a view of what `expand` or overlapping strides gave: write to what "
                "that was made of, or to functx.aot.mutable(x.clone())",
            )

    def is_view_of_same(self, other: View) -> bool:
        """Whether both are the same elements of one storage in the same order, for certain."""
        if self.storage is not other.storage or len(self.steps) != len(other.steps):
            return False
        return all(map(_same_step, self.steps, other.steps))

    def after(self, step: ViewStep, geometry: Layout, dtype: Any = None) -> View:
        """The view one step further."""
        return View(self.storage, geometry, np.dtype(dtype or self.dtype), (*self.steps, step))

    def permuted(self, order: tuple[int, ...]) -> View:
        """The dimensions in another order."""
        if order == tuple(range(len(order))):
            return self
        return self.after(Permute(order), self.geometry.permuted(order))

    def reshaped(self, shape: tuple[Size, ...]) -> View | None:
        """The same elements in another shape, or None where no view has them in that order."""
        geometry = self.geometry.reshaped(shape)
        if geometry is None or shape == self.shape:
            return self if geometry is not None else None
        return self.after(Reshape(shape), geometry)

    def inserted(self, dim: int) -> View:
        """With a further dimension of size 1."""
        geometry = self.geometry.inserted(dim)
        return self.after(Reshape(geometry.shape), geometry)

    def squeezed(self, dims: tuple[int, ...]) -> View:
        """Without those of the dimensions that have size 1."""
        gone = tuple(d for d in dims if self.shape[d] == 1)
        geometry = self.geometry.without(gone)
        return self.after(Reshape(geometry.shape), geometry) if gone else self

    def sliced(self, dim: int, start: Size, size: Size, step: int = 1) -> View:
        """Every `step`-th element of a dimension, from `start`, `size` of them."""
        if step == 1 and size == self.shape[dim]:
            return self
        stride = self.geometry.strides[dim]
        geometry = self.geometry.with_dim(dim, size, stride * step, stride * start)
        return self.after(Slice(dim, start, size, step), geometry)

    def selected(self, dim: int, index: Any) -> View:
        """One element of a dimension; `index` is an int or a 0-d integer array."""
        if not self.shape:
            refuse("a 0-d array cannot be indexed: x.item() is its number", error=IndexError)
        dim, n = canonical_dim(dim, len(self.shape)), self.shape[dim]
        known = index if isinstance(index, int) else peek(index)
        outside = (
            None
            if known is None
            else decided(lambda: bool(np.any((known >= n) | (known < -n))), otherwise=False)
        )
        if outside:
            refuse(
                f"the index {describe(index)} is out of bounds for dimension {dim} of size {n}",
                error=IndexError,
            )
        stride = self.geometry.strides[dim]
        if isinstance(index, int):
            index = index + n if index < 0 else index
            return self.after(SelectAt(dim, index), self.geometry.without((dim,), index * stride))
        index = jnp.where(index < 0, index + n, index)
        return self.after(SelectAt(dim, index), self.geometry.without((dim,), None))

    def diagonal(self, offset: int, dim1: int, dim2: int) -> View:
        """A diagonal of two dimensions, as the last one."""
        step = Diagonal(offset, dim1, dim2)
        shape = jax.eval_shape(step.read, self.like).shape
        strides = self.geometry.strides
        by = offset * strides[dim2] if offset >= 0 else -offset * strides[dim1]
        kept = self.geometry.without((dim1, dim2), by)
        stride = strides[dim1] + strides[dim2]
        return self.after(step, Layout(shape, (*kept.strides, stride), kept.offset))

    def expanded(self, shape: tuple[Size, ...]) -> View:
        """Repeated along new leading dimensions and those of size 1; -1 keeps a size."""
        new = len(shape) - len(self.shape)
        if new < 0:
            refuse(f"`size` must have at least {len(self.shape)} entries, got {list(shape)}")
        sizes, strides = list(shape[:new]), [0] * new
        for n, here, stride in zip(shape[new:], self.shape, self.geometry.strides, strict=True):
            n = here if n == -1 else n
            if n != here and here != 1:
                refuse(f"`size` must agree with {describe(self.like)}, got {list(shape)}")
            sizes.append(n)
            strides.append(stride if n == here else 0)
        if -1 in sizes:
            refuse(f"`size` must be given for new dimensions, got {list(shape)}")
        geometry = Layout(tuple(sizes), tuple(strides), self.geometry.offset)
        sides = zip(geometry.shape[new:], self.shape, strict=True)
        repeats = any(n != 1 for n in sizes[:new]) or any(n != here for n, here in sides)
        return self.after(Expand(geometry.shape, repeats and 0 not in sizes), geometry)

    def strided(
        self, shape: tuple[Size, ...], strides: tuple[Size, ...], offset: Size | None
    ) -> View:
        """Elements of the whole storage at regular distances."""
        if self.dtype != self.storage.dtype or any(
            isinstance(s, (Conjugate, Detach)) for s in self.steps
        ):
            refuse(
                f"strides count elements of the storage, and this view, {describe(self.like)}, has "
                f"parts, conjugates or constants of {self.storage.dtype} in place of them",
                hint="x.clone() is an array of its own: functx.aot.mutable(x.clone())",
            )
        offset = self.geometry.offset if offset is None else offset
        if offset is None:
            refuse("`storage_offset` must be given for a view at a traced index")
        whole = View.of(self.storage)
        return whole.after(Strided(shape, strides, offset), Layout(shape, strides, offset))

    def part(self, part: Literal["real", "imag"]) -> View:
        """The real or the imaginary parts; real numbers are their own real part."""
        if self.dtype.kind != "c":
            if part == "imag":
                refuse(f"`imag` takes complex arrays, got {describe(self.like)}")
            return self
        offset = self.geometry.moved(self.geometry.offset)
        offset = offset if offset is None or part == "real" else offset + 1
        strides = tuple(2 * step for step in self.geometry.strides)
        geometry = Layout(self.shape, strides, offset)
        return self.after(ComplexPart(part), geometry, real_of(self.dtype))

    def as_real(self) -> View:
        """Complex numbers as pairs of real ones, in a further dimension of size 2."""
        if self.dtype.kind != "c":
            refuse(f"complex arrays alone have parts, got {describe(self.like)}")
        parts = self.part("real").geometry
        geometry = Layout((*self.shape, 2), (*parts.strides, 1), parts.offset)
        return self.after(AsReal(), geometry, real_of(self.dtype))

    def as_complex(self) -> View:
        """Pairs of real numbers, in the last dimension, as complex ones."""
        strides, fits = self.geometry.strides, {4: "complex64", 8: "complex128"}
        pairs = self.shape[-1:] == (2,) and strides[-1] == 1
        even = all(step % 2 == 0 for step in strides[:-1])
        if not pairs or not even or self.dtype.kind != "f" or self.dtype.itemsize not in fits:
            refuse(
                "pairs of float32 or float64 numbers, side by side in a last dimension of size 2, "
                f"are complex ones, got {describe(self.like)}"
            )
        offset = None if self.geometry.offset is None else self.geometry.offset // 2
        halves = tuple(step // 2 for step in strides[:-1])
        geometry = Layout(self.shape[:-1], halves, offset)
        return self.after(AsReal(inverse=True), geometry, fits[self.dtype.itemsize])

    def conjugated(self) -> View:
        """The conjugates of complex numbers; real numbers are their own."""
        return self.after(Conjugate(), self.geometry) if self.dtype.kind == "c" else self

    def detached(self) -> View:
        """The same elements without a derivative."""
        return self.after(Detach(), self.geometry)


def _overlaps(step: ViewStep) -> bool:
    """Whether a step shows one element in two places; symbolic strides leave it open."""
    if isinstance(step, Expand):
        return step.repeats
    if not isinstance(step, Strided):
        return False
    try:
        if any(n == 0 for n in step.shape):
            return False
        reach = 0
        for stride, n in sorted(zip(step.strides, step.shape, strict=True)):
            if n != 1 and stride <= reach:
                break
            reach += stride * (n - 1)
        else:
            return False
    except jax.errors.InconclusiveDimensionOperation:
        return True
    places = np.zeros((), int)  # strides that are not nested may still be apart
    for stride, n in zip(step.strides, step.shape, strict=True):
        places = places[..., None] + stride * np.arange(n)
    return np.unique(places).size < places.size


def _same_step(step: ViewStep, other: ViewStep) -> bool:
    if isinstance(step, SelectAt) and isinstance(other, SelectAt):
        if not isinstance(step.index, int) or not isinstance(other.index, int):
            return step.index is other.index and step.dim == other.dim
    return step == other
