"""Arrays of numbers, lists of them, and what other libraries hold, in PyTorch's dtypes."""

from __future__ import annotations

from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np

from functx._core.devices.placement import as_device, place
from functx._core.errors import describe, foreign_hint, refuse, Refused
from functx._core.foreign_keywords import explain_unknown_keywords
from functx._core.numbers.conversion import converted
from functx._core.numbers.dtypes import (
    as_dtype,
    available,
    category,
    default_of,
    DTypeLike,
    is_numeric,
    LONG,
)
from functx._core.numbers.promotion import joined
from functx._core.numbers.weak_types import is_weak, strong
from functx._core.numbers.wide_integers import refuse_wide

from .dlpack import of_dlpack, speaks_dlpack


_CATEGORIES = {bool: 0, int: 1, float: 2, complex: 3}
_WIDEST = (np.dtype(bool), LONG, np.dtype("float64"), np.dtype("complex128"))
_ARRAYS = (jax.Array, np.ndarray, np.generic)


@explain_unknown_keywords()
def tensor(data: Any, *, dtype: DTypeLike = None, device: Any = None) -> jax.Array:
    """A new array from a number, nested lists, or an array of any library, which is copied.

    - `data`: a number, nested sequences of numbers, or an array.
    - `dtype`: the dtype of the result. None is that of an array; for Python numbers bool, int64, or
      the default dtype of floats or complex numbers, whatever their size.
    - `device`: where the result lives: `"cpu"`, `"gpu"`, `"cuda:0"`, a `jax.Device` or a
      `Sharding`. None leaves an array where it is, and is JAX's default device otherwise.

    Shapes: those of the nesting or of the array.
    Errors: RuntimeError for integers that the dtype cannot hold, TypeError for what is no number,
    ValueError for lists of several lengths.

    >>> functx.tensor([[1, 2.5], [3, 4]])
    Array([[1. , 2.5],
           [3. , 4. ]], dtype=float32)
    """
    return _made("tensor", "data", data, dtype, device, copy=True)


@explain_unknown_keywords()
def asarray(
    obj: Any, *, dtype: DTypeLike = None, device: Any = None, copy: bool | None = None
) -> jax.Array:
    """An array from a number, lists or an array of any library, copied only where needed.

    - `obj`: a number, nested sequences of numbers, or an array. A `jax.Array` is not copied, nor is
      an array of another library that speaks DLPack: a PyTorch tensor stays on its device and
      shares its memory, where that is dense and in a dtype of JAX, and must not be written to from
      then on. NumPy's arrays are copied.
    - `dtype`: the dtype of the result. None is that of an array; for Python numbers bool, int64, or
      the default dtype of floats or complex numbers.
    - `device`: where the result lives: `"cpu"`, `"gpu"`, `"cuda:0"`, a `jax.Device` or a
      `Sharding`. None leaves an array where it is, and is JAX's default device otherwise.
    - `copy`: True always copies, False never; None copies where needed.

    Shapes: those of the nesting or of the array.
    Errors: RuntimeError for integers that the dtype cannot hold, TypeError for what is no number
    and for a tensor that requires grad, ValueError for lists of several lengths and for
    `copy=False` where a copy is needed.

    >>> functx.asarray([0.5, 1])
    Array([0.5, 1. ], dtype=float32)
    """
    return _made("asarray", "obj", obj, dtype, device, copy=copy)


@explain_unknown_keywords()
def as_tensor(data: Any, dtype: DTypeLike = None, device: Any = None) -> jax.Array:
    """An array from a number, lists or an array of any library, copied only where needed.

    - `data`: what `asarray` takes: a number, nested sequences of numbers, or an array. An array of
      JAX, or of another library that speaks DLPack, is not copied where its memory can be shared.
    - `dtype`: the dtype of the result. None is that of an array; for Python numbers bool, int64, or
      the default dtype of floats or complex numbers.
    - `device`: where the result lives: `"cpu"`, `"gpu"`, `"cuda:0"`, a `jax.Device` or a
      `Sharding`. None leaves an array where it is, and is JAX's default device otherwise.

    Shapes: those of the nesting or of the array.
    Errors: RuntimeError for integers that the dtype cannot hold, TypeError for what is no number
    and for a tensor that requires grad, ValueError for lists of several lengths.

    >>> functx.as_tensor(np.ones(2, "float32"))
    Array([1., 1.], dtype=float32)
    """
    return _made("as_tensor", "data", data, dtype, device)


@explain_unknown_keywords()
def from_numpy(ndarray: np.ndarray) -> jax.Array:
    """A copy of a NumPy array as a `jax.Array`.

    - `ndarray`: the NumPy array. Later changes to it do not reach the result.

    Shapes and dtypes: those of `ndarray`; 64-bit dtypes become 32-bit ones while
    `functx.enable_x64` is off.
    Errors: TypeError for any other object, OverflowError for integers that do not fit 32 bits then.

    >>> functx.from_numpy(np.arange(3, dtype="int16"))
    Array([0, 1, 2], dtype=int16)
    """
    return _made("from_numpy", "ndarray", ndarray, None, None, copy=True, only=np.ndarray)


@explain_unknown_keywords()
def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> jax.Array:
    """The array of another library that speaks DLPack, without a copy where memory can be shared.

    - `ext_tensor`: an array with a method `__dlpack__`, which must not be written to from then on.
    - `device`: where the result lives: `"cpu"`, `"gpu"`, `"cuda:0"`, a `jax.Device` or a
      `Sharding`. None leaves the array where it is.
    - `copy`: True always copies, False never; None copies where needed.

    Shapes and dtypes: those of `ext_tensor`; 64-bit dtypes become 32-bit ones while
    `functx.enable_x64` is off.
    Errors: TypeError for an object without `__dlpack__` and for a tensor that requires grad,
    ValueError for `copy=False` where a copy is needed, OverflowError for integers that do not fit.

    >>> functx.from_dlpack(np.arange(3, dtype="int16"))
    Array([0, 1, 2], dtype=int16)
    """
    try:
        if not speaks_dlpack(ext_tensor):
            _refuse_kind("ext_tensor", ext_tensor, "an array that speaks DLPack")
        where = None if device is None else as_device(device)
        return of_dlpack("ext_tensor", ext_tensor, copy, where)
    except Refused as refused:
        worded = refused.by("from_dlpack")
    raise worded


@explain_unknown_keywords()
def frombuffer(buffer: Any, *, dtype: DTypeLike, count: int = -1, offset: int = 0) -> jax.Array:
    r"""A vector of the numbers that a buffer of bytes holds.

    - `buffer`: an object with the buffer protocol, such as `bytes`. Later changes to it do not
      reach the result.
    - `dtype`: the dtype of the numbers, and of the result.
    - `count`: how many numbers to read; -1 is all.
    - `offset`: the byte at which to begin.

    Shapes: `[count]`.
    Errors: TypeError for an object that is no buffer, ValueError for a buffer that is too small or
    does not hold whole numbers.

    >>> functx.frombuffer(b"\x01\x00\x02\x00", dtype="int16")
    Array([1, 2], dtype=int16)
    """
    try:
        try:
            values = np.frombuffer(buffer, as_dtype(dtype), count, offset)
        except (TypeError, ValueError) as error:
            refuse(f"`buffer` cannot be read: {error}", error=type(error))
        return jnp.array(_of_array("buffer", values, None, None), copy=True)
    except Refused as refused:
        worded = refused.by("frombuffer")
    raise worded


def _made(
    who: str,
    name: str,
    given: Any,
    dtype: Any,
    device: Any,
    *,
    copy: bool | None = None,
    only: type | None = None,
) -> jax.Array:
    try:
        if only is not None and not isinstance(given, only):
            _refuse_kind(name, given, f"a {only.__module__}.{only.__qualname__}")
        target = None if dtype is None else as_dtype(dtype)
        if not isinstance(given, _ARRAYS) and hasattr(type(given), "__jax_array__"):
            given = given.__jax_array__()
        if isinstance(given, _ARRAYS):
            out = _of_array(name, given, target, copy)
        elif speaks_dlpack(given):
            shared = of_dlpack(name, given, copy)
            out = _of_array(name, shared, target, None if copy else copy)
        elif copy is False:
            what = f"`{name}` cannot become an array without a copy, got {describe(given)}"
            refuse(what, hint="copy=None makes one", error=ValueError)
        else:
            out = _of_numbers(name, given, target)
        return out if device is None else place(out, as_device(device))
    except Refused as refused:
        worded = refused.by(who)
    raise worded


def _of_array(name: str, given: Any, target: np.dtype | None, copy: bool | None) -> jax.Array:
    if not is_numeric(given.dtype):
        _refuse_kind(name, given, "an array of numbers")
    refuse_wide(name, given)
    target = available(given.dtype) if target is None else target
    alike = isinstance(given, jax.Array) and given.dtype == target
    if copy is False and (not alike or is_weak(given)):
        kind = "weakly typed " * is_weak(given)
        what = f"`{name}` cannot become {target.name} without a copy, got {kind}{describe(given)}"
        refuse(what, hint="copy=None makes one", error=ValueError)
    out = strong(jnp.asarray(given))
    out = out if out.dtype == target else converted(out, target)
    return jnp.array(out, copy=True) if copy and out is given else out


def _of_numbers(name: str, given: Any, target: np.dtype | None) -> jax.Array:
    leaves: list[Any] = []
    _collect(name, given, leaves)
    kinds = {type(leaf) for leaf in leaves}
    if kinds <= _CATEGORIES.keys():
        kind = max((_CATEGORIES[kind] for kind in kinds), default=2)
        return _of_host(name, given, default_of(kind) if target is None else target, kind)
    dtypes = [
        default_of(_CATEGORIES[type(leaf)]) if type(leaf) in _CATEGORIES else np.dtype(leaf.dtype)
        for leaf in leaves
    ]
    refuse_wide(name, leaves)
    try:
        with jax.numpy_dtype_promotion("standard"):
            out = jnp.asarray(given)
    except (TypeError, ValueError):
        _refuse_ragged(name, given)
    return converted(out, available(joined(dtypes)) if target is None else target)


def _of_host(name: str, given: Any, target: np.dtype, kind: int) -> jax.Array:
    """Of Python's numbers alone, of this category, which must fit."""
    try:
        values = np.asarray(given, _WIDEST[kind])
    except ValueError:
        _refuse_ragged(name, given)
    except OverflowError:
        if kind == 1:
            refuse_wide(name, given)
        widest = _WIDEST[kind].name
        refuse(f"`{name}` must fit {widest}, got {describe(given)}", error=OverflowError)
    if kind == 3 and category(target) < 3:
        refuse(f"`{name}` must be real for {target.name}, got {describe(given)}", error=TypeError)
    if category(target) == 1 and values.size:
        limits, least = np.iinfo(target), values.min()
        # PyTorch lets negative numbers wrap in uint8.
        fits = least >= (limits.min or -limits.max) and values.max() <= limits.max
        if not fits:
            wide = kind == 1 and target != LONG and target == available(LONG)
            refuse(
                f"`{name}` must fit {target.name}, got {describe(given)}",
                hint="functx.enable_x64() gives 64-bit integers" if wide else "",
            )
    with np.errstate(over="ignore"):
        if category(target) == 1:
            values = values.astype(LONG)
        return jnp.asarray(values.astype(target))


def _collect(name: str, given: Any, leaves: list[Any]) -> None:
    if isinstance(given, (list, tuple)):
        for item in given:
            _collect(name, item, leaves)
    elif type(given) in _CATEGORIES or (isinstance(given, _ARRAYS) and is_numeric(given.dtype)):
        leaves.append(given)
    else:
        _refuse_kind(name, given, "a number, an array, or a sequence of them")


def _refuse_kind(name: str, given: Any, wanted: str) -> NoReturn:
    what = f"`{name}` must be {wanted}, got {describe(given)}"
    refuse(what, hint=foreign_hint(given), error=TypeError)


def _refuse_ragged(name: str, given: Any) -> NoReturn:
    what = f"`{name}` must be rectangular, got sequences of several lengths: {describe(given)}"
    refuse(what, error=ValueError)
