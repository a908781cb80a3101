"""The methods of PyTorch's arrays that give views, by name, as functions of a view.

Each gives a view, a tuple of views, or a plain array where PyTorch gives a copy. What cuts an array
into pieces is read off the operators' declarations.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any

import jax
from jax import core

from functx._core import (
    canonical_dim,
    canonical_dims,
    canonical_shape,
    describe,
    OPERATORS,
    refuse,
    REGISTRY,
    slice_bounds,
)
from functx._core.operators.tracing import canonicalize

from .views import View


Viewed = View | tuple[View, ...] | jax.Array
ViewMethod = Callable[..., Viewed]


def _sizes(sizes: tuple[Any, ...], named: Any, name: str) -> tuple[Any, ...]:
    """The shape that `x.view(2, 3)`, `x.view((2, 3))` or `x.view(size=(2, 3))` gives."""
    if (named is None) == (not sizes):
        if named is None:
            return ()
        refuse(f"`{name}` is given twice", error=TypeError)
    given = named if named is not None else sizes
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        given = sizes[0]
    return canonical_shape(given, name)


def _reshaped(view: View, shape: tuple[Any, ...]) -> View | None:
    """The view in a shape that may have a -1, which the operator fills in and checks."""
    found = jax.eval_shape(lambda x: OPERATORS["reshape"](x, shape), view.like)
    return view.reshaped(tuple(found.shape))


def _view(view: View, *sizes: Any, size: Any = None, dtype: Any = None) -> View:
    """Refuses a shape that no view of these elements has."""
    if dtype is not None or (len(sizes) == 1 and isinstance(sizes[0], (str, type))):
        refuse(
            "a view of the same bytes in another dtype cannot be written",
            hint="functx.view(x, dtype=...) copies; view_as_real and view_as_complex are views",
        )
    shape = _sizes(sizes, size, "size")
    found = _reshaped(view, shape)
    if found is None:
        refuse(
            f"`size` {list(shape)} is not compatible with sizes {list(view.shape)} and strides "
            f"{list(view.geometry.strides)}: its elements do not lie in that order",
            hint="x.reshape(...) copies in that case, and writes to the copy are not seen in x",
        )
    return found


def _reshape(view: View, *sizes: Any, shape: Any = None) -> Viewed:
    wanted = _sizes(sizes, shape, "shape")
    found = _reshaped(view, wanted)
    return OPERATORS["reshape"](view.read(), wanted) if found is None else found


def _as_operator(name: str, view: View, *args: Any, **kwargs: Any) -> Viewed:
    """A view in the shape that the operator `name` gives, or what that gives, a copy."""
    call = OPERATORS[name]
    shape = jax.eval_shape(lambda x: call(x, *args, **kwargs), view.like).shape
    found = view.reshaped(tuple(shape))
    return call(view.read(), *args, **kwargs) if found is None else found


def _transpose(view: View, dim0: int, dim1: int) -> View:
    order = list(range(len(view.shape)))
    a, b = canonical_dim(dim0, len(order), "dim0"), canonical_dim(dim1, len(order), "dim1")
    if order:
        order[a], order[b] = b, a
    return view.permuted(tuple(order))


def _t(view: View) -> View:
    if len(view.shape) > 2:
        refuse(f"`t` takes at most 2 dimensions, got {describe(view.like)}")
    return view.permuted(tuple(reversed(range(len(view.shape)))))


def _reversed(view: View) -> View:
    return view.permuted(tuple(reversed(range(len(view.shape)))))


def _matrix_transposed(view: View) -> View:
    if len(view.shape) < 2:
        refuse(f"a matrix has at least 2 dimensions, got {describe(view.like)}")
    return _transpose(view, -2, -1)


def _permute(view: View, *dims: Any, **named: Any) -> View:
    wanted = _sizes(dims, named.pop("dims", None), "dims")
    order = canonical_dims(wanted, len(view.shape), "dims") or ()
    if named or len(order) != len(view.shape):
        refuse(f"`dims` must name {len(view.shape)} dimensions, got {list(wanted)}")
    return view.permuted(order)


def _movedim(view: View, source: Any, destination: Any) -> View:
    dims = jax.eval_shape(lambda x: OPERATORS["movedim"](x, source, destination), view.like)
    ndim = len(dims.shape)
    here, there = canonical_dims(source, ndim) or (), canonical_dims(destination, ndim) or ()
    rest = iter([d for d in range(ndim) if d not in here])
    moved = dict(zip(there, here, strict=True))
    return view.permuted(tuple(moved[d] if d in moved else next(rest) for d in range(ndim)))


def _select(view: View, dim: int, index: Any) -> View:
    return view.selected(dim, index)


def _narrow(view: View, dim: int, start: Any, length: Any) -> View:
    jax.eval_shape(lambda x: OPERATORS["narrow"](x, dim, start, length), view.like)
    dim = canonical_dim(dim, len(view.shape))
    return view.sliced(dim, start + view.shape[dim] if start < 0 else start, length)


def sliced(view: View, dim: int, where: slice) -> View:
    """A dimension from `start` to `stop`, which may be None or negative, in positive steps."""
    step = 1 if where.step is None else where.step
    if not isinstance(step, int) or step < 1:
        refuse(f"the step of a slice must be a positive int, got {step}", error=ValueError)
    dim = canonical_dim(dim, len(view.shape))
    begin, end = slice_bounds(where.start, where.stop, view.shape[dim])
    size = core.max_dim(0, -((begin - end) // step) if step > 1 else end - begin)
    return view.sliced(dim, begin, size, step)


def _slice(view: View, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> View:
    return sliced(view, dim, slice(start, end, step))


def _squeeze(view: View, dim: Any = None) -> View:
    dims = canonical_dims(dim, len(view.shape))
    return view.squeezed(tuple(range(len(view.shape))) if dims is None else dims)


def _unsqueeze(view: View, dim: int) -> View:
    return view.inserted(canonical_dim(dim, len(view.shape) + 1))


def _expand(view: View, *sizes: Any, size: Any = None) -> View:
    return view.expanded(_sizes(sizes, size, "size"))


def _diagonal(view: View, offset: int = 0, dim1: int = 0, dim2: int = 1) -> View:
    ndim = len(view.shape)
    return view.diagonal(offset, canonical_dim(dim1, ndim), canonical_dim(dim2, ndim))


def _as_strided(view: View, size: Any, stride: Any, storage_offset: Any = None) -> View:
    found = view.strided(canonical_shape(size), canonical_shape(stride, "stride"), storage_offset)
    jax.eval_shape(found.steps[-1].read, jax.ShapeDtypeStruct(view.storage.shape, view.dtype))
    return found


def _unfold(view: View, dimension: int, size: int, step: int) -> View:
    found = jax.eval_shape(lambda x: OPERATORS["unfold"](x, dimension, size, step), view.like)
    if not view.shape:
        return view.strided((size,), (1,), None)
    dim, strides = canonical_dim(dimension, len(view.shape)), view.geometry.strides
    windows = (*strides[:dim], strides[dim] * step, *strides[dim + 1 :], strides[dim])
    return view.strided(tuple(found.shape), windows, None)


def _pieces(name: str, view: View, *args: Any, **kwargs: Any) -> tuple[View, ...]:
    """The pieces that the operator `name` cuts an array into."""
    spec = REGISTRY[name]
    given = spec.arguments((view.like, *args), kwargs)
    canonicalize(spec, given)
    assert spec.splits is not None
    cut = spec.splits(**spec.parameters.defaults | given)
    if not cut.keepdim:
        return tuple(view.selected(cut.dim, int(start)) for start in cut.starts)
    bounds = zip(cut.starts, cut.sizes, strict=True)
    return tuple(view.sliced(cut.dim, start, size) for start, size in bounds)


def _like(method: ViewMethod) -> ViewMethod:
    """The method that takes its shape of another array."""
    return lambda view, other: method(view, *other.shape)


VIEW_METHODS: dict[str, ViewMethod] = {
    "adjoint": lambda view: _matrix_transposed(view).conjugated(),
    "as_strided": _as_strided,
    "broadcast_to": _expand,
    "conj": View.conjugated,
    "detach": View.detached,
    "diagonal": _diagonal,
    "expand": _expand,
    "expand_as": _like(_expand),
    "flatten": ft.partial(_as_operator, "flatten"),
    "moveaxis": _movedim,
    "movedim": _movedim,
    "narrow": _narrow,
    "permute": _permute,
    "ravel": ft.partial(_as_operator, "ravel"),
    "reshape": _reshape,
    "reshape_as": _like(_reshape),
    "select": _select,
    "slice": _slice,
    "squeeze": _squeeze,
    "swapaxes": _transpose,
    "swapdims": _transpose,
    "t": _t,
    "transpose": _transpose,
    "unflatten": ft.partial(_as_operator, "unflatten"),
    "unfold": _unfold,
    "unsqueeze": _unsqueeze,
    "view": _view,
    "view_as": _like(_view),
    "view_as_complex": View.as_complex,
    "view_as_real": View.as_real,
}
# Attributes that are views, without a call.
VIEW_ATTRIBUTES: dict[str, Callable[[View], View]] = {
    "H": lambda view: _t(view).conjugated(),
    "T": _reversed,
    "data": View.detached,
    "imag": lambda view: view.part("imag"),
    "mH": lambda view: _matrix_transposed(view).conjugated(),
    "mT": _matrix_transposed,
    "real": lambda view: view.part("real"),
}
# What a method with a suffix changes is the array's own view.
METADATA_METHODS = (
    "as_strided_",
    "squeeze_",
    "swapaxes_",
    "swapdims_",
    "t_",
    "transpose_",
    "unsqueeze_",
)


def view_method(name: str) -> ViewMethod | None:
    """The function of a view that a method's name stands for, or None."""
    if name in VIEW_METHODS:
        return VIEW_METHODS[name]
    if name in REGISTRY and REGISTRY[name].splits is not None:
        return ft.partial(_pieces, name)
    return None
